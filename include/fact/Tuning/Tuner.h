//===- Tuner.h - From a bundle to measured winners --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_TUNER_H
#define FACT_TUNING_TUNER_H

#include "fact/Tuning/Alternatives.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Ceilings.h"
#include "fact/Tuning/Database.h"
#include "fact/Tuning/Process.h"
#include "fact/Tuning/Workshop.h"
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

struct Options {
  std::vector<std::filesystem::path> bundles;
  /// Empty: the environment's FACT_CUTLASS_DIR.
  std::filesystem::path cutlass;
  /// Empty: <bundle>/<name>.so.
  std::filesystem::path output;
  /// Empty: <bundle>/tuning.sqlite.
  std::filesystem::path database;
  /// The folder of compiled objects: see findObjects.
  std::filesystem::path objects;
  /// 0: as many as processors and memory allow.
  unsigned jobs = 0;
  /// Objects to try per kernel, each with all of its candidates, best predicted
  /// time first. Three lose 0.8% at most on average of the products of
  /// docs/benchmarks/gemm-ranking.md.
  size_t candidates = 3;
  /// The same where plain products of the kernel's sizes rank its candidates;
  /// 0: they do not.
  size_t best = 2;
  /// After the first of them: tries those near the best one, until so many in a
  /// row gain nothing. 0: tries none.
  size_t searchWindow = 0;
  /// And until a kernel is this near to what the machine reaches.
  double searchEps = 0.05;
  /// And no longer than this, in seconds; 0: no limit.
  double searchSeconds = 0;
  /// The seed of the operands that candidates are verified on.
  uint64_t seed = 0;
  double compileTimeout = 600;
  double runTimeout = 120;
  /// What takes longer than a millisecond on a GPU is timed without pauses
  /// after half a second of load, instead of with one before each run.
  bool sustained = false;
  /// Prefixes of compile commands and of worker commands.
  Words launcher, runLauncher;
  std::string only;
  bool list = false, dryRun = false, noLink = false, retune = false;
  /// Compiles what tuning would compile, and runs nothing.
  bool compileOnly = false;
  /// Compiles the plain products of kernels, and runs nothing.
  bool products = false;
  /// Takes the best predicted candidates without measuring.
  bool untuned = false;
  /// Which of them: the first, the second, ..., or the last if there are fewer.
  size_t rank = 1;
  /// Links without verifying the linked library.
  bool noCheck = false;
  /// Runs the winners under compute-sanitizer.
  bool sanitize = false;
  /// Ships the program as it was fused, and measures no alternatives.
  bool noAlternatives = false;
  /// Measures what each decision between forms of a kernel gains.
  bool ablate = false;
  /// Measures the machine's ceilings, and tunes nothing.
  bool probe = false;
  /// Per load; 0: as the device needs.
  double probeSeconds = 0;
  /// Of the memory that is moved to measure bandwidth; 0: beyond all caches.
  uint64_t probeBytes = 0;
};

struct Progress;
struct Ranking;
struct WorkerReport;

/// The search of one kernel.
struct KernelResult {
  const Kernel *kernel = nullptr;
  /// By position in Kernel::candidates; empty if there was no attempt.
  std::vector<std::optional<Attempt>> attempts;
  std::vector<bool> reused;
  /// Position of the winner; -1 if there is none yet.
  int winner = -1;
  /// The tools of compute-sanitizer that found nothing in the winner.
  std::vector<std::string> sanitized;

  const Attempt &best() const { return *attempts[winner]; }
};

/// A program that was timed as a whole, in turn with others.
struct ProgramTime {
  /// As describeForms names it.
  std::string name;
  size_t steps = 0;
  uint64_t workspaceBytes = 0;
  /// The sum of its steps, each measured alone.
  double sumUs = 0;
  /// The median of its calls, with a 95% interval.
  double us = 0, usLow = 0, usHigh = 0;
  /// The median of its time over that of the first program in the same round.
  double ratio = 1, ratioLow = 1, ratioHigh = 1;
  bool ships = false;
};

/// Programs that were timed in turn.
struct Race {
  std::vector<ProgramTime> programs;
  size_t rounds = 0;
  Conditions conditions;
};

/// What a kernel's form gains: the shipped program against the one in which
/// this kernel alone has the next best form.
struct Ablation {
  std::string kernel, form, other;
  /// The time of the other program over that of the shipped one.
  double ratio = 1, ratioLow = 1, ratioHigh = 1;
};

struct StageTimes {
  double worker = 0, compileAndMeasure = 0, programs = 0, link = 0, check = 0,
         total = 0;
};

/// Objects that a bundle needed: how many were compiled for it, and how many
/// were in the cache.
struct ObjectCounts {
  size_t compiled = 0, cached = 0;
};

struct TuningResult {
  std::string machine, compiler;
  uint64_t seed = 0;
  /// If the machine was probed.
  std::optional<Ceilings> ceilings;
  /// The kernels that ship, and those that were tuned for other programs.
  std::vector<KernelResult> kernels, others;
  /// Without programs if there was nothing to choose between.
  Race race;
  std::vector<Ablation> ablations;
  /// The agent's grouping and the rules', if the bundle has both.
  Race groupings;
  /// The program that would ship and the one with folded norms, if the bundle
  /// has both.
  Race folded;
  StageTimes seconds;
  ObjectCounts objects;
  std::filesystem::path library, header;
  /// Whether the library's kernels were verified as they were linked.
  bool checked = false;
};

/// Compiles, verifies and measures; then composes the library. The caller holds
/// the bundle's PathLock, and prepares, starts and finishes several bundles
/// together.
class Tuner {
public:
  Tuner(const Bundle &bundle, const Options &options, Workshop &shop);
  ~Tuner();

  /// Finds the compiler and the machine, and builds the measuring worker.
  void prepare();

  /// --probe, after prepare: measures the machine's ceilings and keeps them.
  void probe();

  /// Schedules the search of every kernel; the workshop's scheduler runs them.
  /// A Failure in a callback ends the work on this bundle only, unless it is
  /// the last one.
  void start();

  /// Chooses the winners. Throws a Failure if a kernel has no candidate left,
  /// or if the search failed.
  TuningResult finish();

  /// --compile-only and --products, in place of the three: schedule the
  /// compilers alone.
  void compileAll();
  void compileProducts();

  /// Ends the work on this bundle.
  void fail(const std::string &why);
  /// Why it ended; empty if it did not.
  const std::string &getFailure() const { return failure; }
  const ObjectCounts &getObjects() const { return objects; }
  Progress getProgress() const;

  /// --list and --dry-run: only prints.
  void show();

  /// Writes and links the library from the winners, and verifies it. A winner
  /// that fails is recorded as failed, and the next best replaces it.
  void compose(TuningResult &result);

  /// Times the library of this bundle, which an agent grouped, and that of the
  /// rules' grouping of the same model, in turn. The agent's ships if it is
  /// surely faster. Without programs if they cannot be timed.
  Race raceGroupings(const std::filesystem::path &agents, const Bundle &rules,
                     const std::filesystem::path &rulesLibrary);

  /// Times a library of this model and that of its program with norms folded
  /// into products, in turn, if both agree on inputs whose means are far from
  /// zero. The folded one ships if it is surely faster. Without programs if
  /// they do not agree or cannot be timed.
  Race raceFolded(const std::filesystem::path &library, const Bundle &folded,
                  const std::filesystem::path &foldedLibrary);

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
  /// The key of its object in the cache. `headers` identifies those beside the
  /// source.
  std::string objectKey(const KernelSource &kernel, bool candidate,
                        const std::string &headers = "") const;

  // The workshop.
  /// Runs a part of a callback; see `start`.
  void attempt(const std::function<void()> &work);
  Scheduler::Callback guarded(Scheduler::Callback done);
  /// Runs what is scheduled, and throws what ended the work on this bundle.
  void runScheduled();
  void compile(const std::string &key, const Command &command,
               const std::filesystem::path &object, Workshop::Compiled done);
  /// The same for a kernel, which may include CUTLASS.
  std::string stampOf(const KernelSource &kernel) const;
  std::string stampOf(const Kernel &kernel, size_t index) const;

  // Stages.
  /// What compiling alone needs.
  void findTools();
  /// Compiles a source into the cache alone.
  void compileIntoCache(const Kernel &kernel, const KernelSource &source,
                        bool isCandidate, const std::string &name);
  void printTools() const;
  void addSearch(const Kernel &kernel);
  bool isWanted(const Kernel &kernel) const;
  std::string findCompiler();
  void findEnvironment();
  void buildWorker();
  /// Compiles and links a program of the runtime, unless it is there.
  std::filesystem::path buildProgram(const std::string &name, const char *what,
                                     const std::vector<std::string> &sources);
  /// Schedules a compiler per object that is missing.
  std::vector<std::string>
  compileRuntime(const std::vector<std::filesystem::path> &sources,
                 const char *what);
  /// A command that reports on its standard output, behind the launcher of
  /// workers. Its log, which is begun here, gets all else.
  Command workerCommand(const Words &words, const std::filesystem::path &log,
                        double timeoutSeconds) const;
  std::string askMachine();
  void checkArchitecture() const;

  // Plain products.
  std::string hashOfProduct(const Kernel &kernel) const;
  /// The order of a kernel's candidates by all that is known.
  Ranking rankCandidates(const Kernel &kernel) const;
  /// Takes the products that were compiled, and measures them; then starts the
  /// search.
  void measureProducts(Search &search);
  std::map<size_t, std::filesystem::path>
  takeProducts(const Kernel &kernel) const;
  void dropProducts(const Kernel &kernel) const;
  void rankByProducts(Search &search, const std::vector<size_t> &measured);
  void judgeProducts(Search &search, const std::vector<size_t> &measured,
                     const Outcome &outcome);
  std::string jobOfProduct(const Kernel &kernel, size_t index,
                           const std::filesystem::path &library) const;

  // One kernel's search.
  /// `hash` is that of the kernel, or of its product.
  AttemptKey keyOf(const std::string &hash, const Candidate &candidate) const;
  AttemptKey keyOf(const Kernel &kernel, const Candidate &candidate) const {
    return keyOf(kernel.hash, candidate);
  }
  /// Schedules a command of a search, with the priority of its kernel.
  void scheduleBuild(const Search &search, Command command,
                     Scheduler::Callback done);
  void tryNext(Search &search);
  void tryCandidate(Search &search, size_t index);
  void buildReference(Search &search);
  void linkReference(Search &search);
  void finishReference(Search &search);
  void failReference(Search &search, const Outcome &outcome);
  void buildCandidate(Search &search, size_t index);
  void compileCandidate(Search &search, size_t index);
  void linkCandidate(Search &search, size_t index);
  void failBuild(Search &search, size_t index, Attempt attempt);
  void finishBuild(Search &search, size_t index);
  void measureCandidate(Search &search, size_t index, double delaySeconds = 0);
  std::string jobOf(const Kernel &kernel, size_t index,
                    const std::filesystem::path &reference,
                    const std::filesystem::path &library) const;
  /// Removes results of the reference from another process, which may belong to
  /// another reference. Returns why it cannot, or "".
  std::string removeExpected(const Kernel &kernel) const;
  /// Throws that: what cannot be removed would be compared with.
  void forgetExpected(const Kernel &kernel) const;
  void judge(Search &search, size_t index, const Outcome &outcome,
             const std::filesystem::path &log);
  void finishAttempt(Search &search, size_t index, Attempt attempt,
                     bool reused = false);
  void conclude(Search &search);
  /// Tries candidates near the best one. False if the search is over.
  bool searchOn(Search &search);
  /// Runs one worker on several jobs of a kernel.
  void measureTogether(const Kernel &kernel, const std::string &mode,
                       const Words &jobs, const std::filesystem::path &log,
                       Scheduler::Callback judge);
  /// Measures candidates near the best again, in turn.
  void measureFinals(Search &search);
  void judgeFinals(Search &search, const std::vector<size_t> &finalists,
                   const Outcome &outcome);
  void chooseWinner(Search &search);
  [[noreturn]] void reportFailures();

  // The winners under compute-sanitizer.
  void requireSanitizer();
  bool canRun(const Kernel &kernel, size_t index) const;
  std::string sanitize(Search &search, const char *tool,
                       std::filesystem::path &log);
  void sanitizeWinners();

  // The program.
  bool measuresAlternatives() const {
    return !options.untuned && !options.noAlternatives;
  }
  /// Whether a library cannot do without the kernel.
  bool isRequired(const Kernel &kernel) const;
  /// The time of the kernel's winner; infinite if it has none.
  double timeOf(uint32_t kernel) const;
  double sumOf(const Bundle &program) const;
  /// Makes the program of these forms the one that is linked and verified.
  void setProgram(const Forms &forms);
  /// The results of the kernels of the program, and of the others.
  void takeKernels(TuningResult &result) const;
  /// Links programs, and times them in turn. Empty if they
  /// cannot be timed.
  Race racePrograms(const std::vector<Forms> &programs);
  /// Times the libraries of a race's programs. False if that is not possible,
  /// which it prints.
  bool timeLibraries(const std::vector<std::filesystem::path> &libraries,
                     const std::string &arguments, Race &race);
  /// A program of the bundle's model, in a library of its own.
  struct Contender {
    const char *name;
    const Bundle &program;
    std::filesystem::path library;
  };
  /// Times two programs in turn; the second ships if it is surely faster.
  /// `agreement` is how far their results may differ, if they are compared.
  Race raceLibraries(const Contender &standing, const Contender &challenger,
                     std::optional<double> agreement = std::nullopt);
  Forms chooseByRace(TuningResult &result);
  void ablate(const Forms &chosen, TuningResult &result);
  void chooseProgram(TuningResult &result);

  // The library.
  void takePredicted(Search &search);
  void replaceWinner(Search &search, Attempt failed);
  void ensureWinnerObjects();
  void linkLibrary(const TuningResult &result,
                   const std::filesystem::path &output,
                   const std::filesystem::path &name);
  void buildReferences();
  /// Stores the choices of kernels that were linked without one.
  void takeChoices(const WorkerReport &report);
  WorkerReport runCheck(const std::filesystem::path &library, int only);
  /// False if a winner failed and was replaced, or lacks its choice: the
  /// library must be linked again.
  bool checkLibrary(const std::filesystem::path &library);

  std::filesystem::path buildFolder(const Kernel &kernel) const;
  std::filesystem::path objectOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path libraryOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path buildLogOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path objectStampOf(const Kernel &kernel, size_t index) const;
  std::filesystem::path libraryStampOf(const Kernel &kernel,
                                       size_t index) const;
  bool isFreshObject(const Kernel &kernel, size_t index) const;
  /// Moves a compiled object to its final place.
  void adoptObject(const Kernel &kernel, size_t index,
                   const std::filesystem::path &compiled) const;
  /// The reference's library for a measurement of the candidate.
  std::filesystem::path referenceOf(const Kernel &kernel, size_t index) const;

  void progress(const Kernel &kernel, const std::string &what,
                const std::string &text) const;
  void reportObject(const Kernel &kernel, const std::string &name,
                    const Outcome &outcome, bool isCached) const;

  const Bundle &bundle;
  const Options &options;
  Workshop &shop;
  /// Precedes names of kernels if there are several bundles.
  std::string label;
  std::filesystem::path build;
  std::filesystem::path workerPath;
  std::filesystem::path sanitizer;
  std::string compiler, machine;
  /// A hash of the bundle's headers and versions.
  std::string headersHash;
  /// Hashes of the host compiler and flags of the environment, of the headers
  /// outside of the bundle (CUTLASS), and of the verifier's sources.
  std::string toolsHash, cutlassHash, verifierHash;
  std::unique_ptr<Database> database;
  /// Of the machine, if it was probed.
  std::optional<Ceilings> ceilings;
  std::vector<std::unique_ptr<Search>> searches;
  /// The bundle with the program that is linked, and the searches of its
  /// kernels, in its order.
  Bundle shipped;
  std::vector<Search *> linked;
  StageTimes seconds;
  ObjectCounts objects;
  std::chrono::steady_clock::time_point begin, searchBegin;
  std::string failure;
};

/// Replaces the library `to` by a copy of another one, completely or not at
/// all, and not while somebody else links to it.
void replaceLibrary(const std::filesystem::path &from,
                    const std::filesystem::path &to);

/// The runtime sources of a worker, of a probe and of a library.
std::vector<std::string> workerSources(bool cuda);
std::vector<std::string> probeSources(bool cuda);
std::vector<std::string> librarySources(bool cuda);

/// Findings of ptxas in a compiler's log: serialized wgmma (C7510, C7511) and
/// spilled registers. Empty if there are none.
std::string findSpills(const std::string &log);

/// The first error in a log of a compute-sanitizer tool: empty if there is
/// none, nullopt if the tool did not finish.
std::optional<std::string> findSanitizerError(const std::string &log);

/// What the compiler reported about a candidate, in a line of at most 300
/// characters: registers, spills, warnings. Empty if there is nothing.
std::string findWarnings(const std::string &log);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_TUNER_H
