//===- Sanitize.cpp - Winners under compute-sanitizer ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification compares results. compute-sanitizer finds what results may not
// show: an out-of-bounds access that hits nothing, a race that is lost one time
// in a million, a read of uninitialized memory, a barrier that not all threads
// reach.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// In the order in which they run: an out-of-bounds access explains the
/// findings of the others.
static constexpr const char *sanitizerTools[] = {"memcheck", "racecheck",
                                                 "initcheck", "synccheck"};

/// The exit status that reports findings.
static constexpr int foundStatus = 97;

static fs::path findSanitizer() {
  std::vector<fs::path> folders;
  auto addAll = [&](const char *variable, const char *below) {
    const char *value = std::getenv(variable);
    std::istringstream list(value ? value : "");
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty())
        folders.push_back(fs::path(folder) / below);
  };
  addAll("PATH", "");
  addAll("CUDA_HOME", "bin");
  folders.push_back("/usr/local/cuda/bin");
  for (const fs::path &folder : folders) {
    fs::path program = folder / "compute-sanitizer";
    if (access(program.c_str(), X_OK) == 0)
      return program;
  }
  return {};
}

void Tuner::requireSanitizer() {
  if (!bundle.target.cuda)
    throw Failure("--sanitize: compute-sanitizer checks CUDA kernels, but the "
                  "kernels of " +
                  bundle.folder.string() +
                  " are for the host; compile the model for a GPU, or leave "
                  "out --sanitize");
  sanitizer = findSanitizer();
  if (sanitizer.empty())
    throw Failure("--sanitize: compute-sanitizer was found neither on PATH nor "
                  "in CUDA_HOME/bin nor in /usr/local/cuda/bin; it is a part "
                  "of the CUDA toolkit");
}

/// Whether the libraries of a candidate and of its reference exist and are
/// those that were verified.
bool Tuner::canRun(const Kernel &kernel, size_t index) const {
  std::error_code code;
  return isFresh(libraryStampOf(kernel, index),
                 stampOf(kernel, builtAs(kernel, index)),
                 {objectOf(kernel, index), libraryOf(kernel, index)}) &&
         fs::is_regular_file(referenceOf(kernel, index), code);
}

/// The text of a line that the tool wrote, without its prefix; empty for other
/// lines and for continuations.
static std::string toolLine(const std::string &line) {
  static const std::string marks = "========= ";
  if (line.compare(0, marks.size(), marks) != 0 ||
      line.size() == marks.size() || line[marks.size()] == ' ')
    return "";
  return line.substr(marks.size());
}

std::optional<std::string> findSanitizerError(const std::string &log) {
  std::istringstream lines(log);
  std::string first;
  bool summary = false;
  int errors = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string text = toolLine(line);
    if (text.empty() || contains(text, "COMPUTE-SANITIZER"))
      continue;
    // "ERROR SUMMARY: 2 errors", or for races "RACECHECK SUMMARY: 3 hazards
    // displayed (1 error, 2 warnings)".
    if (size_t at = text.find("SUMMARY: "); at != std::string::npos) {
      size_t inner = text.find('(', at);
      std::istringstream count(
          text.substr(inner == std::string::npos ? at + 9 : inner + 1));
      int found = 0;
      if (count >> found) {
        summary = true;
        errors += found;
      }
      continue;
    }
    if (first.empty() && text.compare(0, 8, "Warning:") != 0)
      first = text;
  }
  if (!summary)
    return std::nullopt;
  if (errors == 0)
    return "";
  return first.empty() ? std::to_string(errors) + " errors" : first;
}

/// Runs the verification of one winner under one tool; returns its finding, or
/// "".
std::string Tuner::sanitize(Search &search, const char *tool, fs::path &log) {
  const Kernel &kernel = search.kernel();
  size_t winner = static_cast<size_t>(search.result.winner);
  std::string name = std::to_string(winner) + "." + tool;
  fs::path job = buildFolder(kernel) / (name + ".job");
  const std::string &choice = search.result.best().choice;
  writeFile(job, jobOf(kernel, winner, referenceOf(kernel, winner),
                       libraryOf(kernel, winner)) +
                     (choice.empty() ? "" : "choice " + choice + "\n") +
                     "seconds 0\n");
  log = buildFolder(kernel) / (name + ".log");
  fs::path findings = buildFolder(kernel) / (name + ".findings");
  std::error_code absent;
  fs::remove(findings, absent);
  Command command =
      workerCommand({sanitizer.string(), "--tool", tool, "--error-exitcode",
                     std::to_string(foundStatus),
                     // The worker checks the results of device calls itself.
                     "--report-api-errors", "no", "--log-file",
                     findings.string(), workerPath.string(), job.string()},
                    // Instrumented code is up to a hundred times slower.
                    log, std::max(600.0, options.runTimeout));
  Outcome outcome = runChecked(command);
  std::string text = readLog(findings);
  writeFile(log, readLog(log) + text);
  std::string again =
      "\n  see " + log.string() + "\n  reproduce with: " + command.text();
  if (outcome.kind == Outcome::TimedOut)
    throw Failure("kernel '" + kernel.name + "' under " + tool + ": " +
                  outcome.text() + "; give it more time with --run-timeout" +
                  again);
  std::optional<std::string> found = findSanitizerError(text);
  if (!found)
    throw Failure(std::string("compute-sanitizer --tool ") + tool +
                  " does not work here (" + outcome.text() +
                  "): " + mainMessage(log) + again);
  if (!found->empty())
    return *found;
  WorkerReport report = readReport(outcome);
  return report.status == "ok" ? "" : report.status + ": " + report.detail;
}

/// A finding rejects the winner; then the next best candidate is checked.
void Tuner::sanitizeWinners() {
  for (auto &each : searches) {
    Search &search = *each;
    if (search.result.winner < 0)
      continue;
    std::vector<std::string> passed;
    while (passed.size() < std::size(sanitizerTools)) {
      const char *tool = sanitizerTools[passed.size()];
      fs::path log;
      std::string found = sanitize(search, tool, log);
      std::string what =
          std::string(tool) + " #" + std::to_string(search.result.winner);
      progress(search.kernel(), what, found.empty() ? "no finding" : found);
      if (found.empty()) {
        passed.push_back(tool);
        continue;
      }
      Attempt attempt;
      attempt.status = "wrong";
      attempt.detail = std::string("compute-sanitizer, ") + tool + ": " + found;
      attempt.log = log.string();
      replaceWinner(search, attempt);
      passed.clear();
    }
    search.result.sanitized = std::move(passed);
  }
}

} // namespace tuning
} // namespace fact
