//===- Files.cpp - Files and the failure type -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string content;
  char part[4096];
  // A string throws when it runs out of memory; a string stream would end
  // early.
  while (file.read(part, sizeof(part)) || file.gcount() > 0)
    content.append(part, static_cast<size_t>(file.gcount()));
  if (!file.eof())
    throw Failure("cannot read " + path.string() + ": " + std::strerror(errno));
  return content;
}

std::string describeWriteError(int code, const fs::path &path) {
  std::string text = std::strerror(code);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    text += "; free some space there, or move the bundle, and run the same "
            "command again: finished work is kept";
  if (code == EACCES || code == EROFS || code == EPERM)
    text += "; fact-tune writes into " + path.parent_path().string() +
            ": make it writable, or name another place";
  return text;
}

void writeFile(const fs::path &path, const std::string &content,
               Synchronize synchronize) {
  if (int code = writeWholeFile(path, content, synchronize))
    throw Failure("cannot write " + path.string() + ": " +
                  describeWriteError(code, path));
}

void createFolder(const fs::path &path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    throw Failure("cannot create the folder " + path.string() + ": " +
                  describeWriteError(code.value(), path));
}

std::vector<fs::path> listFiles(const fs::path &folder) {
  constexpr auto options = fs::directory_options::follow_directory_symlink;
  std::vector<fs::path> files;
  // A missing folder and a dangling link have no files.
  auto check = [](const fs::path &path, std::error_code code) {
    if (code && code != std::errc::no_such_file_or_directory)
      throw Failure("cannot list " + path.string() + ": " + code.message());
  };
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, options, code), end;
  while (!code && entry != end) {
    fs::path path = entry->path();
    if (entry->is_regular_file(code))
      files.push_back(path);
    check(path, code);
    entry.increment(code);
  }
  check(folder, code);
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace tuning
} // namespace fact
