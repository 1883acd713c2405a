//===- Commands.cpp - Compile and link commands, and their logs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "fact/Runtime/Cpu.h"
#include <algorithm>
#include <charconv>
#include <sstream>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Flags that every source of a library needs, whatever the bundle's command
/// says.
Words Tuner::compileFlags(bool candidate) const {
  Words flags = {"-I" + (bundle.folder / "include").string()};
  if (!bundle.target.cuda) {
    flags.push_back("-fPIC");
    return flags;
  }
  flags.insert(flags.end(), {"-Xcompiler", "-fPIC"});
  bool verbose = std::any_of(
      bundle.compile.begin(), bundle.compile.end(),
      [](const std::string &word) { return contains(word, "ptxas"); });
  if (candidate && !verbose)
    flags.insert(flags.end(), {"-Xptxas", "-v"});
  return flags;
}

Command Tuner::compileCommand(const KernelSource &kernel,
                              const fs::path &output, const fs::path &log,
                              bool candidate) const {
  Words flags = compileFlags(candidate);
  flags.insert(flags.end(), kernel.flags.begin(), kernel.flags.end());
  Command command;
  command.words = options.launcher;
  Words words =
      bundle.expand(bundle.compile, kernel.source, {}, flags, {}, output);
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.log = log;
  command.timeoutSeconds = options.compileTimeout;
  return command;
}

Command Tuner::linkCommand(const Words &inputs, const Words &link,
                           const fs::path &output, const fs::path &log) const {
  Command command;
  command.words = bundle.expand(bundle.link, {}, inputs, {}, link, output);
  command.log = log;
  command.timeoutSeconds = options.compileTimeout;
  return command;
}

/// Identifies what an object was built from. Contains no path, so a moved or
/// copied bundle keeps its results, and no name, so models share kernels.
std::string Tuner::builtFrom(const KernelSource &kernel) const {
  ContentHash hash;
  hash.add(headersHash).add(compiler).add(toolsHash);
  hash.add(readFile(kernel.file()));
  for (const Words *words :
       {&kernel.flags, &kernel.link, &bundle.compile, &bundle.link}) {
    hash.add(std::to_string(words->size()));
    for (const std::string &word : *words)
      hash.add(word);
  }
  return hash.text();
}

/// Nothing of names and places: headers count by content, the compiler by its
/// version. The host compiler of nvcc does not count, so that an object can be
/// measured on another machine than the one that compiled it; the verifier
/// judges the linked kernel in any case.
std::string Tuner::objectKey(const KernelSource &kernel, bool candidate,
                             const std::string &headers) const {
  ContentHash hash;
  hash.add(compiler).add(runtime::cpuArchitecture());
  hash.add(inheritedFlags(bundle.target.cuda));
  hash.addIncluded(kernel.source, bundle.folder / "include");
  hash.add(cutlassHash).add(headers);
  Words command(bundle.compile.begin() + 1, bundle.compile.end());
  for (const Words &words : {command, compileFlags(candidate), kernel.flags}) {
    hash.add(std::to_string(words.size()));
    for (const std::string &word : words)
      hash.add(word.compare(0, 2, "-I") == 0 ? "-I" : word);
  }
  return hash.add(readFile(kernel.source)).text();
}

std::string Tuner::stampOf(const KernelSource &kernel) const {
  return ContentHash().add(builtFrom(kernel)).add(cutlassHash).text();
}

/// A reference that is an object already is linked into each candidate's
/// library.
std::string Tuner::stampOf(const Kernel &kernel, size_t index) const {
  std::string stamp = stampOf(kernel.candidates[index]);
  if (kernel.reference.source.empty())
    stamp += " " + stampOf(kernel.reference);
  return stamp;
}

static std::string stampText(const std::string &inputs, Files files) {
  std::string text = inputs + "\n";
  for (const fs::path &file : files)
    text += ContentHash().add(readFile(file)).text() + "\n";
  return text;
}

void writeStamp(const fs::path &stamp, const std::string &inputs, Files files) {
  writeFile(stamp, stampText(inputs, files));
}

bool isFresh(const fs::path &stamp, const std::string &inputs, Files files) {
  std::error_code code;
  for (const fs::path &file : files)
    if (!fs::is_regular_file(file, code))
      return false;
  if (!fs::is_regular_file(stamp, code))
    return false;
  std::string text = readFile(stamp);
  // Reads files only if the rest matches.
  return text.compare(0, inputs.size() + 1, inputs + "\n") == 0 &&
         text == stampText(inputs, files);
}

std::string readLog(const fs::path &log) {
  std::error_code code;
  return fs::is_regular_file(log, code) ? readFile(log) : "";
}

std::string mainMessage(const fs::path &log) {
  std::istringstream lines(readLog(log));
  std::string line, last, error;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '$')
      continue;
    last = line;
    // The compiler's own message about its linker comes last and is not
    // informative.
    bool says = contains(line, "error") || contains(line, "undefined") ||
                contains(line, "cannot find");
    if (error.empty() && says && !contains(line, "linker command failed"))
      error = line;
  }
  std::string message = error.empty() ? last : error;
  return message.size() > 300 ? message.substr(0, 297) + "..." : message;
}

void checkEnvironment(const Command &command, const Outcome &outcome) {
  if (outcome.kind == Outcome::NotStarted)
    throw Failure("cannot run '" + command.words[0] + "': " + outcome.text() +
                  "; install it or put it on PATH (the bundle's commands, or "
                  "--launcher, name it)");
  if (outcome.succeeded())
    return;
  std::string log = readLog(command.log);
  for (const char *full : {"No space left on device", "Disk quota exceeded",
                           "File too large", "File size limit exceeded"})
    if (contains(log, full))
      throw Failure(std::string(full) + " while running\n  " + command.text() +
                    "\nfree some space (in the bundle's build/ or in TMPDIR) "
                    "and run the same command again: finished work is kept");
}

Outcome runChecked(const Command &command) {
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  return outcome;
}

void runLinker(const Command &command, const std::string &what) {
  writeFile(command.log, "$ " + command.text() + "\n");
  Outcome outcome = runChecked(command);
  if (!outcome.succeeded())
    throw Failure("cannot link " + what + " (" + outcome.text() +
                  "): " + mainMessage(command.log) +
                  "\n  the linker's messages are in " + command.log.string());
}

/// The number right before the first of these words in a line; 0 if there is
/// none.
static int numberBefore(const std::string &line, const std::string &words) {
  size_t end = line.find(words);
  if (end == std::string::npos)
    return 0;
  size_t before = line.substr(0, end).find_last_not_of("0123456789");
  size_t begin = before == std::string::npos ? 0 : before + 1;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

std::string findSpills(const std::string &log) {
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    if (contains(line, "C7510") || contains(line, "C7511"))
      return line;
    if (numberBefore(line, " bytes spill stores") > 0 ||
        numberBefore(line, " bytes spill loads") > 0)
      return line.substr(line.find_first_not_of(" \t"));
  }
  return "";
}

std::string findWarnings(const std::string &log) {
  int registers = 0;
  std::vector<std::string> findings;
  auto add = [&](std::string finding) {
    finding.erase(0, finding.find_first_not_of(" \t"));
    if (!finding.empty() &&
        std::find(findings.begin(), findings.end(), finding) == findings.end())
      findings.push_back(std::move(finding));
  };
  add(findSpills(log));
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    if (contains(line, "Used "))
      registers = std::max(registers, numberBefore(line, " registers"));
    // The location is the same for all candidates of a kernel.
    size_t at = line.find("warning");
    if (at != std::string::npos && line[0] != '$' &&
        !contains(line, "warning generated") &&
        !contains(line, "warnings generated"))
      add(line.substr(at));
  }
  if (registers)
    findings.insert(findings.begin(), std::to_string(registers) + " registers");
  std::string text;
  for (const std::string &finding : findings)
    text += (text.empty() ? "" : "; ") + finding;
  return text.size() > 300 ? text.substr(0, 297) + "..." : text;
}

std::string Tuner::findCompiler() {
  Command command;
  command.words =
      bundle.expand({bundle.compile[0], "--version"}, {}, {}, {}, {}, {});
  command.captureOutput = true;
  command.timeoutSeconds = 60;
  Outcome outcome = runChecked(command);
  if (!outcome.succeeded())
    throw Failure("'" + command.text() + "' ended with " + outcome.text());
  return identifyCompiler(outcome.output);
}

} // namespace tuning
} // namespace fact
