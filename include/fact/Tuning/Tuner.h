//===- Tuner.h - From a bundle to measured winners --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_TUNER_H
#define FACT_TUNING_TUNER_H

#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Database.h"
#include "fact/Tuning/Process.h"
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

struct Options {
  std::filesystem::path bundle;
  /// Empty: the environment's FACT_CUTLASS_DIR.
  std::filesystem::path cutlass;
  /// Empty: <bundle>/<name>.so.
  std::filesystem::path output;
  /// Empty: <bundle>/tuning.sqlite.
  std::filesystem::path database;
  /// 0: as many as processors and memory allow.
  unsigned jobs = 0;
  /// Candidates of each kernel to try, best predicted time first.
  size_t candidates = 12;
  /// Of the operands that candidates are verified on.
  uint64_t seed = 0;
  double compileTimeout = 600;
  double runTimeout = 120;
  /// Put before compile commands, and before worker commands.
  Words launcher, runLauncher;
  std::string only;
  bool list = false, dryRun = false, noLink = false, retune = false;
  /// Takes the best predicted candidates, without a measurement.
  bool untuned = false;
  /// Which of them: the first, the second, or the last where there are fewer.
  size_t rank = 1;
  /// Links without verifying what is linked.
  bool noCheck = false;
  /// Runs the winners under compute-sanitizer.
  bool sanitize = false;
};

struct WorkerReport;

/// How one kernel's search went.
struct KernelResult {
  const Kernel *kernel = nullptr;
  /// By position in Kernel::candidates; empty where none was made.
  std::vector<std::optional<Attempt>> attempts;
  std::vector<bool> reused;
  /// Position of the winner, -1 while there is none.
  int winner = -1;
  /// The tools of compute-sanitizer that found nothing in the winner.
  std::vector<std::string> sanitized;

  const Attempt &best() const { return *attempts[winner]; }
};

struct StageTimes {
  double worker = 0, compileAndMeasure = 0, link = 0, check = 0, total = 0;
};

struct TuningResult {
  std::string machine, compiler;
  uint64_t seed = 0;
  std::vector<KernelResult> kernels;
  StageTimes seconds;
  std::filesystem::path library, header;
  /// Whether the library's kernels were verified as they were linked.
  bool checked = false;
};

/// Compiles, verifies and measures; then composes the library. The caller holds
/// the bundle's PathLock.
class Tuner {
public:
  Tuner(const Bundle &bundle, const Options &options);
  ~Tuner();

  /// Throws a Failure when a kernel has no candidate left.
  TuningResult tune();

  /// --list and --dry-run: prints; compiles and measures nothing.
  void show();

  /// Writes and links the library from the winners, and verifies it. A winner
  /// that fails there is stored as failed, and the next best takes its place.
  void compose(TuningResult &result);

private:
  struct Search;

  // Commands.
  Words compileFlags(bool candidate) const;
  Command compileCommand(const KernelSource &kernel,
                         const std::filesystem::path &output,
                         const std::filesystem::path &log,
                         bool candidate) const;
  Command linkCommand(const Words &inputs, const Words &link,
                      const std::filesystem::path &output,
                      const std::filesystem::path &log) const;
  std::string builtFrom(const KernelSource &kernel) const;
  /// The same of a kernel, which may include CUTLASS.
  std::string stampOf(const KernelSource &kernel) const;
  std::string stampOf(const Kernel &kernel, size_t index) const;

  // Stages.
  std::string findCompiler();
  void findEnvironment();
  void buildWorker();
  std::vector<std::string>
  buildRuntimeObjects(const std::vector<std::filesystem::path> &sources,
                      const char *what);
  std::string askMachine();
  void checkArchitecture() const;

  // One kernel's search.
  AttemptKey keyOf(const Kernel &kernel, const Candidate &candidate) const;
  void tryNext(Search &search);
  void tryCandidate(Search &search, size_t index);
  void buildReference(Search &search);
  void buildCandidate(Search &search, size_t index);
  void linkCandidate(Search &search, size_t index);
  void failBuild(Search &search, size_t index, Attempt attempt);
  void finishBuild(Search &search, size_t index);
  void measureCandidate(Search &search, size_t index, double delaySeconds = 0);
  std::string jobOf(const Kernel &kernel, size_t index,
                    const std::filesystem::path &reference,
                    const std::filesystem::path &library) const;
  void forgetExpected(const Kernel &kernel) const;
  void judge(Search &search, size_t index, const Outcome &outcome,
             const std::filesystem::path &log);
  void finishAttempt(Search &search, size_t index, Attempt attempt,
                     bool reused = false);
  void conclude(Search &search);
  void chooseWinner(Search &search);
  [[noreturn]] void reportFailures();

  // The winners under compute-sanitizer.
  void requireSanitizer();
  bool canRun(const Kernel &kernel, size_t index) const;
  std::string sanitize(Search &search, const char *tool,
                       std::filesystem::path &log);
  void sanitizeWinners();

  // The library.
  void takePredicted(Search &search);
  void replaceWinner(Search &search, Attempt failed);
  void ensureWinnerObjects();
  void linkLibrary(const TuningResult &result,
                   const std::filesystem::path &output,
                   const std::filesystem::path &name);
  void buildReferences();
  /// Keeps what kernels chose that were linked without a choice.
  void takeChoices(const WorkerReport &report);
  WorkerReport runCheck(const std::filesystem::path &library, int only);
  /// False when a winner failed and was replaced, or lacks its choice: the
  /// library is to be linked again.
  bool checkLibrary(const std::filesystem::path &library);

  std::filesystem::path buildFolder(const Kernel &kernel) const;
  /// Candidates that differ in nothing the compiler sees share an object: the
  /// position of the first of them.
  size_t builtAs(const Kernel &kernel, size_t index) const;
  /// Moves the next batch to the front of what is left of the ranking, and
  /// returns its end: as many objects as the options say, each with all of its
  /// candidates.
  size_t selectBatch(const Kernel &kernel, std::vector<size_t> &ranking,
                     size_t begin) const;
  std::filesystem::path objectOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path libraryOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path buildLogOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path objectStampOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path libraryStampOf(const Kernel &kernel,
                                       size_t index) const;
  bool isFreshObject(const Kernel &kernel, size_t index) const;
  /// Moves a compiled object to its place.
  void adoptObject(const Kernel &kernel, size_t index,
                   const std::filesystem::path &compiled) const;
  /// Where a candidate's measurement finds the reference.
  std::filesystem::path referenceOf(const Kernel &kernel, size_t index) const;

  const Bundle &bundle;
  const Options &options;
  std::filesystem::path build;
  std::filesystem::path workerPath;
  std::filesystem::path sanitizer;
  unsigned jobs;
  std::string compiler, machine, headersHash;
  /// Host compiler and flags of the environment; CUTLASS's headers; the sources
  /// that verify.
  std::string toolsHash, cutlassHash, verifierHash;
  std::unique_ptr<Database> database;
  std::unique_ptr<Scheduler> scheduler;
  std::vector<std::unique_ptr<Search>> searches;
  StageTimes seconds;
};

/// The names of the runtime's sources that a worker and a library are made of.
std::vector<std::string> workerSources(bool cuda);
std::vector<std::string> librarySources(bool cuda);

/// "spills" findings of ptxas in a compiler's log: serialized wgmma (C7510,
/// C7511) and spilled registers. Empty when there are none.
std::string findSpills(const std::string &log);

/// The first error of a tool of compute-sanitizer, from its log: empty when there
/// is none, nothing when the tool did not run to its end.
std::optional<std::string> findSanitizerError(const std::string &log);

/// What a compiler had to say of a candidate that it compiled, in a line of at
/// most 300 characters: registers, spills, warnings. Empty when it said nothing.
std::string findWarnings(const std::string &log);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_TUNER_H
