//===- Search.h - What the parts of the tuner share -------------*- C++ -*-===//

#ifndef FACT_LIB_TUNING_SEARCH_H
#define FACT_LIB_TUNING_SEARCH_H

#include "fact/Tuning/Tuner.h"
#include <initializer_list>

namespace fact {
namespace tuning {

/// The search of one kernel.
struct Tuner::Search {
  KernelResult result;
  /// Positions of candidates, best predicted time first.
  std::vector<size_t> ranking;
  size_t next = 0;
  size_t pending = 0;
  enum { NotBuilt, Building, Ready, Broken } reference = NotBuilt;
  /// Built candidates that wait for the reference.
  std::vector<size_t> waiting;
  /// Candidates that wait for an object, by the one that it is built as.
  std::map<size_t, std::vector<size_t>> building;
  /// By the candidate that was compiled.
  std::map<size_t, double> compileSeconds;
  std::map<size_t, std::string> spills;
  bool spillsTried = false;
  /// Why the kernel itself, rather than a candidate, is bad.
  std::string error;

  const Kernel &kernel() const { return *result.kernel; }
};

// Commands and what they leave behind: Commands.cpp.

bool contains(const std::string &text, const std::string &part);

/// Whether the files are there and were built from what the stamp says.
bool isFresh(const std::filesystem::path &stamp, const std::string &expected,
             std::initializer_list<std::filesystem::path> files);

/// Empty when there is no log.
std::string readLog(const std::filesystem::path &log);

/// The line of a compiler's log that says most.
std::string mainMessage(const std::filesystem::path &log);

/// Conditions that are no candidate's fault stop the run.
void checkEnvironment(const Command &command, const Outcome &outcome);

// What the user sees of a search: Search.cpp.

void progress(const Kernel &kernel, const std::string &what,
              const std::string &text);
std::string format(const char *pattern, double value);

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_SEARCH_H
