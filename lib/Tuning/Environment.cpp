//===- Environment.cpp - What results depend on beside the bundle ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle only names the tools and headers that compile its kernels. A hash of
// both is part of every key, so that a result is reused only where it would be
// the same.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <cstdlib>
#include <sstream>
#include <sys/stat.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

fs::path cacheFolder() {
  auto folder = [](const char *name) -> fs::path {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (fs::path cache = folder("FACT_CACHE_DIR"); !cache.empty())
    return cache;
  if (fs::path cache = folder("XDG_CACHE_HOME"); !cache.empty())
    return cache / "fact";
  fs::path home = folder("HOME");
  return home.empty() ? home : home / ".cache" / "fact";
}

//===----------------------------------------------------------------------===//
// Trees of headers
//===----------------------------------------------------------------------===//

/// A hash of the names, sizes and modification times of all files: unchanged as
/// long as no file is written.
static std::string hashOfTimes(const fs::path &folder) {
  ContentHash hash;
  for (const fs::path &path : listFiles(folder)) {
    struct stat file;
    if (stat(path.c_str(), &file) != 0)
      continue;
    std::ostringstream line;
    line << path.string() << ' ' << file.st_size;
    for (const timespec &time : {file.st_mtim, file.st_ctim})
      line << ' ' << time.tv_sec << '.' << time.tv_nsec;
    hash.add(line.str());
  }
  return hash.text();
}

std::string hashOfTree(const fs::path &folder) {
  fs::path cache = cacheFolder(), known;
  std::string times = hashOfTimes(folder);
  std::error_code code;
  if (!cache.empty()) {
    known = cache / "trees" / ContentHash().add(folder.string()).text();
    std::string text = fs::is_regular_file(known, code) ? readFile(known) : "";
    std::istringstream words(text);
    std::string knownTimes, content;
    if (words >> knownTimes >> content && knownTimes == times)
      return content;
  }
  std::string content = ContentHash().addFolder(folder).text();
  if (known.empty())
    return content;
  // A cache that cannot be written is not an error.
  fs::create_directories(known.parent_path(), code);
  writeWholeFile(known, times + " " + content + "\n");
  return content;
}

//===----------------------------------------------------------------------===//
// Compilers
//===----------------------------------------------------------------------===//

std::string inheritedFlags(bool cuda) {
  std::vector<const char *> names = {
      "CPATH",         "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH",  "LIBRARY_PATH",
      "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS"};
  if (cuda)
    names.insert(names.end(),
                 {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"});
  std::string text;
  for (const char *name : names)
    if (const char *value = std::getenv(name))
      text += std::string(name) + "=" + value + "\n";
  return text;
}

std::string hostCompilerOf(const Words &compile) {
  Words words = compile;
  for (const char *name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char *value = std::getenv(name)) {
      std::istringstream more(value);
      std::string word;
      while (more >> word)
        words.push_back(word);
    }
  const char *variable = std::getenv("NVCC_CCBIN");
  std::string found = variable ? variable : "";
  for (size_t i = 0; i < words.size(); ++i)
    for (const char *option : {"-ccbin", "--compiler-bindir"}) {
      std::string prefix = std::string(option) + "=";
      if (words[i] == option && i + 1 < words.size())
        found = words[i + 1];
      else if (words[i].compare(0, prefix.size(), prefix) == 0)
        found = words[i].substr(prefix.size());
    }
  std::error_code code;
  if (!found.empty() && fs::is_directory(found, code))
    found = (fs::path(found) / "g++").string();
  return found.empty() ? "g++" : found;
}

static bool isNotice(const std::string &line) {
  for (const char *notice : {"InstalledDir", "Copyright", "Built on",
                             "This is free software", "warranty"})
    if (contains(line, notice))
      return true;
  return line.empty();
}

std::string identifyCompiler(const std::string &version) {
  std::istringstream lines(version);
  std::string line, text;
  while (std::getline(lines, line))
    if (!isNotice(line))
      text += (text.empty() ? "" : "; ") + line;
  return text;
}

/// The output of `--version`; "" if there is no such program, which the
/// compiler itself reports.
static std::string versionOf(const std::string &program) {
  Command command;
  command.words = {program, "--version"};
  command.captureOutput = true;
  command.timeoutSeconds = 60;
  return runCommand(command).output;
}

void Tuner::findEnvironment() {
  ContentHash tools;
  tools.add(inheritedFlags(bundle.target.cuda));
  if (bundle.target.cuda)
    tools.add(versionOf(hostCompilerOf(bundle.compile)));
  toolsHash = tools.text();

  ContentHash headers;
  for (const std::string &word : bundle.compile)
    if (word.compare(0, 2, "-I") == 0 && word != "-I{bundle}/include")
      headers.add(hashOfTree(
          bundle.expand({word.substr(2)}, {}, {}, {}, {}, {}).front()));
  cutlassHash = headers.text();

  ContentHash verifier;
  verifier.add(hashOfHeaders(bundle.folder / "runtime"));
  for (const std::string &name : workerSources(bundle.target.cuda))
    verifier.add(name).add(readLog(bundle.folder / "runtime" / name));
  verifierHash = verifier.text();
}

} // namespace tuning
} // namespace fact
