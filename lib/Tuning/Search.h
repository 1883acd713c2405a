//===- Search.h - What the parts of the tuner share -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TUNING_SEARCH_H
#define FACT_LIB_TUNING_SEARCH_H

#include "fact/Tuning/ContentHash.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/Tuner.h"
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

namespace fact {
namespace tuning {

// The order of candidates: Ranking.cpp.

/// The position of the first candidate that shares this one's object:
/// candidates share an object if the compiler sees no difference.
size_t builtAs(const Kernel &kernel, size_t index);

/// Moves the next batch to the front of the remaining ranking and returns its
/// end: `count` objects, each with all of its candidates.
size_t selectBatch(const Kernel &kernel, std::vector<size_t> &ranking,
                   size_t begin, size_t count);

/// Microseconds of plain products, by the positions of the candidates that they
/// stand for.
using ProductTimes = std::map<size_t, double>;

/// The order in which candidates are tried.
struct Ranking {
  std::vector<size_t> order;
  /// How many of them are tried at first.
  size_t first = 0;
};

/// Without times, the compiler's order, and `options.candidates` objects first.
/// With times, the `options.best` fastest objects first, with two candidates
/// each; beside them the compiler's first choice, and those without a time that
/// the compiler's order has first.
Ranking rank(const Kernel &kernel, const Options &options,
             const ProductTimes &times);

/// The search of one kernel.
struct Tuner::Search {
  KernelResult result;
  Ranking ranking;
  size_t next = 0;
  size_t pending = 0;
  enum { NotBuilt, Building, Ready, Broken } reference = NotBuilt;
  /// Candidates that are built and wait for the reference.
  std::vector<size_t> waiting;
  /// Candidates that wait for an object, by the candidate that builds it.
  std::map<size_t, std::vector<size_t>> building;
  /// By the candidate that was compiled.
  std::map<size_t, double> compileSeconds;
  /// Candidates whose objects come from the cache.
  std::set<size_t> cached;
  std::map<size_t, std::string> spills;
  /// How often workers died, by candidate.
  std::map<size_t, int> deaths;
  bool spillsTried = false;
  /// The best time when candidates near it were chosen, how many those were,
  /// and how many attempts gained nothing since.
  double searchedUs = std::numeric_limits<double>::infinity();
  size_t searched = 0, sinceGain = 0;
  bool finalsDone = false;
  /// Why the kernel itself, rather than a candidate, failed.
  std::string error;

  const Kernel &kernel() const { return *result.kernel; }
};

// Inputs of results outside of the bundle: Environment.cpp.

/// Where files are kept across bundles; empty if the environment names no home.
std::filesystem::path cacheFolder();

/// The date in UTC: TuningReport.cpp.
std::string today();

/// The hash of all files below a folder, cached until one of them changes.
std::string hashOfTree(const std::filesystem::path &folder);

/// Flags that compilers read from the environment.
std::string inheritedFlags(bool cuda);

/// What `--version` of a compiler says of it, in one line: no places, no
/// notices, and not when one of its builds for several processors was made.
std::string identifyCompiler(const std::string &version);

/// The host compiler that an nvcc command uses.
std::string hostCompilerOf(const Words &compile);

// The runtime: RuntimeObjects.cpp.

/// The headers beside the runtime's sources.
std::string hashOfHeaders(const std::filesystem::path &folder);

/// Throws a Failure if the bundle lacks one of them.
std::vector<std::filesystem::path>
runtimePaths(const Bundle &bundle, const std::vector<std::string> &names);

// Commands and their outputs: Commands.cpp.

bool contains(const std::string &text, const std::string &part);

using Files = std::initializer_list<std::filesystem::path>;

/// Records what the files were built from, and their hashes.
void writeStamp(const std::filesystem::path &stamp, const std::string &inputs,
                Files files);

/// Whether the files exist, are unchanged, and were built from `inputs`.
bool isFresh(const std::filesystem::path &stamp, const std::string &inputs,
             Files files);

/// Empty if there is no log.
std::string readLog(const std::filesystem::path &log);

/// The most informative line of a compiler's log.
std::string mainMessage(const std::filesystem::path &log);

/// Stops the run for failures that are not the candidate's fault.
void checkEnvironment(const Command &command, const Outcome &outcome);

/// Runs a command, and stops the run likewise.
Outcome runChecked(const Command &command);

/// Links something essential, such as "the library".
void runLinker(const Command &command, const std::string &what);

// Reports of workers: Measurement.cpp.

/// The last JSON line of a worker, and the phase before it.
struct WorkerReport {
  std::string phase = "start";
  /// The kernel of the library that was being verified; -1 for none.
  int kernel = -1;
  std::string status, detail;
  nlohmann::json values;

  /// Ended by the machine (out of memory), not by the candidate.
  bool disturbed = false;
  /// Ended without a report, or by a device error, which may be the machine's
  /// fault.
  bool died = false;
};

/// How often a worker that the machine ended is restarted, and how long to wait
/// for memory before that.
constexpr int disturbedTries = 4;
double secondsBeforeTry(int number);

/// A worker that ended without a verdict crashed or hung; that, with its phase,
/// becomes the verdict.
WorkerReport readReport(const Outcome &outcome);

/// The choice in a worker's report; throws a Failure if it is malformed.
std::string choiceIn(const nlohmann::json &value);

/// Regime, clock and power in a worker's report.
Conditions conditionsIn(const nlohmann::json &report);

/// The candidates that are measured again in turn, the fastest first:
/// Finals.cpp.
std::vector<size_t> findFinalists(const KernelResult &result);

/// Describes the content of the program's inputs and weights; or says why only
/// the kernels can be verified: CheckLibrary.cpp.
std::string describeArguments(const Bundle &bundle, std::string &why);

/// In how many parameters two schedules differ, by their keys; all, if they are
/// of different kinds: SearchOn.cpp.
size_t countDifferences(const std::string &key, const std::string &other);

/// The verdict on a candidate whose compiler failed: Search.cpp.
Attempt compileFailure(const Outcome &outcome,
                       const std::filesystem::path &log);

/// A number in a progress message: Search.cpp.
std::string format(const char *pattern, double value);

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_SEARCH_H
