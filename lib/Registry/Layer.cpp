//===- Layer.cpp - The files of a folder of the registry ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Registry/EntryFile.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace fact {
namespace registry {

namespace fs = std::filesystem;

static constexpr size_t maximumFileBytes = 32 << 20;

fs::path getFileName(const Problem &problem) {
  return fs::path(problem.rule) /
         (problem.dtype + "-" + problem.architecture + ".json");
}

Error listFiles(const fs::path &layer, std::vector<fs::path> &files) {
  std::error_code code;
  auto fail = [&](const fs::path &folder) {
    return "cannot list " + folder.string() + ": " + code.message();
  };
  fs::file_status status = fs::status(layer, code);
  if (status.type() == fs::file_type::not_found)
    return "";
  std::vector<fs::path> folders;
  for (fs::directory_iterator each(layer, code), end; !code && each != end;
       each.increment(code)) {
    std::error_code ignored;
    if (each->is_directory(ignored))
      folders.push_back(each->path());
  }
  if (code)
    return fail(layer);
  for (const fs::path &folder : folders) {
    for (fs::directory_iterator each(folder, code), end; !code && each != end;
         each.increment(code))
      if (each->path().extension() == ".json")
        files.push_back(each->path());
    if (code)
      return fail(folder);
  }
  std::sort(files.begin(), files.end());
  return "";
}

static Error readText(const fs::path &file, std::string &text) {
  std::error_code code;
  fs::file_status status = fs::status(file, code);
  if (status.type() == fs::file_type::not_found)
    return std::strerror(ENOENT);
  if (code)
    return code.message();
  if (status.type() != fs::file_type::regular)
    return "is not a file";
  uintmax_t size = fs::file_size(file, code);
  if (!code && size > maximumFileBytes)
    return "has " + std::to_string(size) + " bytes, more than " +
           std::to_string(maximumFileBytes);
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::strerror(errno);
  text.assign(std::istreambuf_iterator<char>(stream), {});
  return stream.bad() ? std::strerror(errno) : "";
}

Error readFile(const fs::path &layer, const fs::path &file,
               std::vector<Entry> &entries) {
  std::string text;
  Error error = readText(file, text);
  if (error.empty())
    error = parseFile(text, entries);
  if (error.empty() && !entries.empty()) {
    fs::path right = layer / getFileName(entries.front().problem);
    if (right.lexically_normal() != file.lexically_normal()) {
      entries.clear();
      error = "holds what belongs into " + right.string();
    }
  }
  for (Entry &entry : entries)
    entry.file = file;
  return error.empty() ? "" : file.string() + ": " + error;
}

} // namespace registry
} // namespace fact
