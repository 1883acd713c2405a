//===- Tuner.cpp - From a bundle to measured winners ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Tuner.h"
#include "Search.h"
#include "fact/Runtime/Cpu.h"
#include "fact/Tuning/Gpu.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

//===----------------------------------------------------------------------===//
// Setup
//===----------------------------------------------------------------------===//

Tuner::Tuner(const Bundle &bundle, const Options &options, Workshop &shop)
    : bundle(bundle), options(options), shop(shop),
      build(bundle.folder / "build"), workerPath(build / "worker") {
  if (options.bundles.size() > 1)
    label = bundle.folder.filename().string() + "/";
  createFolder(build);
  database = std::make_unique<Database>(options.database.empty()
                                            ? bundle.folder / "tuning.sqlite"
                                            : options.database);
  ContentHash headers;
  headers.addFolder(bundle.folder / "include");
  for (const auto &[name, version] : bundle.versions)
    headers.add(name).add(version);
  headersHash = headers.text();
}

Tuner::~Tuner() {
  shop.scheduler.clear();
  // What is left is removed by the next run before it verifies anything.
  for (auto &search : searches)
    removeExpected(search->kernel());
}

//===----------------------------------------------------------------------===//
// The workshop
//===----------------------------------------------------------------------===//

void Tuner::fail(const std::string &why) {
  if (!failure.empty())
    return;
  failure = why;
  --shop.bundles;
}

void Tuner::attempt(const std::function<void()> &work) {
  if (!failure.empty())
    return;
  try {
    work();
  } catch (const Interruption &) {
    throw;
  } catch (const std::exception &problem) {
    fail(problem.what());
    if (shop.bundles == 0)
      throw;
  }
}

Scheduler::Callback Tuner::guarded(Scheduler::Callback done) {
  return [this, done = std::move(done)](const Outcome &outcome) {
    attempt([&] { done(outcome); });
  };
}

void Tuner::runScheduled() {
  shop.scheduler.run();
  if (!failure.empty())
    throw Failure(failure);
}

void Tuner::compile(const std::string &key, const Command &command,
                    const fs::path &object, Workshop::Compiled done) {
  if (!failure.empty())
    return;
  auto counted = [this, command, done = std::move(done)](const Outcome &outcome,
                                                         bool isCached) {
    attempt([&] {
      checkEnvironment(command, outcome);
      if (outcome.succeeded())
        ++(isCached ? objects.cached : objects.compiled);
      done(outcome, isCached);
    });
  };
  shop.compile({key, command, object, std::move(counted)});
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

fs::path Tuner::buildFolder(const Kernel &kernel) const {
  return build / kernel.name;
}
fs::path Tuner::objectOf(const Kernel &kernel, size_t index) const {
  const Candidate &candidate = kernel.candidates[index];
  return candidate.object.empty()
             ? buildFolder(kernel) /
                   (std::to_string(builtAs(kernel, index)) + ".o")
             : candidate.object;
}
fs::path Tuner::libraryOf(const Kernel &kernel, size_t index) const {
  return buildFolder(kernel) / (std::to_string(builtAs(kernel, index)) + ".so");
}
fs::path Tuner::buildLogOf(const Kernel &kernel, size_t index) const {
  return buildFolder(kernel) /
         (std::to_string(builtAs(kernel, index)) + ".log");
}

fs::path Tuner::objectStampOf(const Kernel &kernel, size_t index) const {
  return buildFolder(kernel) /
         (std::to_string(builtAs(kernel, index)) + ".o.stamp");
}
fs::path Tuner::libraryStampOf(const Kernel &kernel, size_t index) const {
  return buildFolder(kernel) /
         (std::to_string(builtAs(kernel, index)) + ".so.stamp");
}
bool Tuner::isFreshObject(const Kernel &kernel, size_t index) const {
  return isFresh(objectStampOf(kernel, index),
                 stampOf(kernel.candidates[index]), {objectOf(kernel, index)});
}
void Tuner::adoptObject(const Kernel &kernel, size_t index,
                        const fs::path &compiled) const {
  fs::path object = objectOf(kernel, index);
  fs::rename(compiled, object);
  writeStamp(objectStampOf(kernel, index), stampOf(kernel.candidates[index]),
             {object});
}

fs::path Tuner::referenceOf(const Kernel &kernel, size_t index) const {
  return kernel.reference.source.empty() ? libraryOf(kernel, index)
                                         : buildFolder(kernel) / "reference.so";
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

/// A worker for another architecture would have to be cross-compiled, and would
/// not start.
void Tuner::checkArchitecture() const {
  const std::string &gpu = bundle.target.architecture;
  if (bundle.target.cuda && options.runLauncher.empty())
    if (std::optional<ComputeCapability> found = findGpu();
        found && !runsOn(gpu, *found))
      throw Failure("the bundle is for " + gpu + ", but the GPU of this " +
                    "machine is sm_" + std::to_string(found->major) +
                    std::to_string(found->minor) +
                    "; tune it where such a GPU is, or compile the model " +
                    "with --target=auto");
  const Processor &needed = bundle.target.processor;
  if (needed.architecture.empty() || !options.runLauncher.empty() ||
      needed.architecture == runtime::cpuArchitecture())
    return;
  throw Failure("the bundle is for '" + needed.name + "' (" +
                needed.architecture + "), but this machine is " +
                runtime::cpuArchitecture() +
                "; tune it on such a machine, or name an emulator with "
                "--run-launcher");
}

void Tuner::printTools() const {
  std::string prefix = label.empty() ? "" : label + " ";
  if (!machine.empty())
    std::printf("%smachine   %s\n", prefix.c_str(), machine.c_str());
  std::printf("%scompiler  %s\n", prefix.c_str(), compiler.c_str());
}

void Tuner::prepare() {
  begin = Clock::now();
  checkArchitecture();
  if (options.sanitize)
    requireSanitizer();
  compiler = findCompiler();
  findEnvironment();
  buildWorker();
  machine = askMachine();
  ceilings = findCeilings(machine);
  seconds.worker = secondsSince(begin);
  printTools();
  std::printf("seed      %llu\n",
              static_cast<unsigned long long>(options.seed));
}

bool Tuner::isRequired(const Kernel &kernel) const {
  return options.only.empty() ? kernel.used : kernel.name == options.only;
}

bool Tuner::isWanted(const Kernel &kernel) const {
  return isRequired(kernel) ||
         (options.only.empty() && kernel.usedByAlternative &&
          measuresAlternatives());
}

void Tuner::addSearch(const Kernel &kernel) {
  searches.push_back(std::make_unique<Search>());
  Search &search = *searches.back();
  search.result.kernel = &kernel;
  search.result.attempts.resize(kernel.candidates.size());
  search.result.reused.resize(kernel.candidates.size());
  search.ranking = rankCandidates(kernel);
  createFolder(buildFolder(kernel));
  forgetExpected(kernel);
}

void Tuner::start() {
  searchBegin = Clock::now();
  for (const Kernel &kernel : bundle.kernels) {
    if (!isWanted(kernel))
      continue;
    addSearch(kernel);
    if (!options.untuned)
      continue;
    Search &search = *searches.back();
    // The requested one first, then those that are predicted to be slower.
    std::vector<size_t> &order = search.ranking.order;
    std::rotate(order.begin(),
                order.begin() + std::min(options.rank - 1, order.size() - 1),
                order.end());
    takePredicted(search);
  }
  if (!options.untuned)
    for (auto &search : searches)
      measureProducts(*search);
}

TuningResult Tuner::finish() {
  runScheduled();
  bool failed = false;
  for (auto &search : searches) {
    chooseWinner(*search);
    failed =
        failed || (search->result.winner < 0 && isRequired(search->kernel()));
  }
  if (failed)
    reportFailures();
  setProgram({});
  if (options.sanitize)
    sanitizeWinners();
  seconds.compileAndMeasure = secondsSince(searchBegin);

  TuningResult result;
  result.machine = machine;
  result.compiler = compiler;
  result.seed = options.seed;
  result.ceilings = ceilings;
  takeKernels(result);
  seconds.total = secondsSince(begin);
  result.seconds = seconds;
  result.objects = objects;
  return result;
}

void Tuner::show() {
  compiler = findCompiler();
  findEnvironment();
  for (const Kernel &kernel : bundle.kernels) {
    if (!options.only.empty() && kernel.name != options.only)
      continue;
    Ranking ranking = rankCandidates(kernel);
    std::printf("%s  %s  %.4g us at the speed of light, %zu candidates%s\n",
                kernel.name.c_str(), kernel.rule.c_str(), kernel.solUs,
                ranking.order.size(),
                kernel.used                ? ""
                : kernel.usedByAlternative ? ", for an alternative"
                                           : ", not used");
    if (kernel.strategy)
      std::printf("  strategy %s\n", kernel.strategy->text().c_str());
    if (options.dryRun)
      ranking.order.resize(ranking.first);
    std::set<size_t> objects;
    for (size_t index : ranking.order) {
      const Candidate &candidate = kernel.candidates[index];
      // Includes results from any machine.
      std::optional<Attempt> known = database->find(keyOf(kernel, candidate));
      std::string result = "not tried";
      if (known)
        result = known->status == "ok" ? format("%.4g us", known->us)
                                       : known->status;
      std::printf("  #%-3zu %-12s %s\n", index, result.c_str(),
                  candidate.key.c_str());
      if (options.dryRun && !candidate.source.empty() &&
          objects.insert(builtAs(kernel, index)).second)
        std::printf("       %s\n",
                    compileCommand(candidate, objectOf(kernel, index), "", true)
                        .text()
                        .c_str());
    }
  }
}

//===----------------------------------------------------------------------===//
// The winners
//===----------------------------------------------------------------------===//

void Tuner::chooseWinner(Search &search) {
  if (!search.error.empty())
    return;
  KernelResult &result = search.result;
  for (size_t i = 0; i < result.attempts.size(); ++i) {
    const std::optional<Attempt> &attempt = result.attempts[i];
    if (attempt && attempt->status == "ok" &&
        (result.winner < 0 || attempt->us < result.best().us))
      result.winner = static_cast<int>(i);
  }
}

/// Without measurements: takes the best predicted candidate that has not
/// failed.
void Tuner::takePredicted(Search &search) {
  for (size_t index : search.ranking.order) {
    std::optional<Attempt> &attempt = search.result.attempts[index];
    if (attempt)
      continue;
    search.result.winner = static_cast<int>(index);
    attempt.emplace();
    attempt->kernel = search.kernel().name;
    attempt->status = "untuned";
    return;
  }
}

void Tuner::replaceWinner(Search &search, Attempt failed) {
  KernelResult &result = search.result;
  const Kernel &kernel = search.kernel();
  size_t index = static_cast<size_t>(result.winner);
  failed.kernel = kernel.name;
  database->record(keyOf(kernel, kernel.candidates[index]), failed);
  progress(kernel, "refused #" + std::to_string(index),
           failed.status + ": " + failed.detail);
  result.attempts[index] = std::move(failed);
  result.reused[index] = false;
  result.winner = -1;
  if (options.untuned)
    takePredicted(search);
  else
    chooseWinner(search);
  if (result.winner < 0 && !options.untuned) {
    conclude(search);
    runScheduled();
    chooseWinner(search);
  }
  if (result.winner < 0)
    reportFailures();
}

void Tuner::reportFailures() {
  std::string message;
  for (auto &each : searches) {
    const KernelResult &result = each->result;
    bool isLinked =
        std::find(linked.begin(), linked.end(), each.get()) != linked.end();
    if (result.winner >= 0 || !(isLinked || isRequired(*result.kernel)))
      continue;
    message += (message.empty() ? "" : "\n") + std::string("kernel '") +
               result.kernel->name + "' ";
    if (!each->error.empty()) {
      message += "cannot be verified: " + each->error;
      continue;
    }
    message += "has no candidate left:";
    bool allTooFast = true;
    for (size_t i = 0; i < result.attempts.size(); ++i) {
      const std::optional<Attempt> &attempt = result.attempts[i];
      if (!attempt)
        continue;
      allTooFast = allTooFast && attempt->status == "too_fast";
      message += "\n  #" + std::to_string(i) + " " +
                 result.kernel->candidates[i].key + "\n      " +
                 attempt->status + ": " + attempt->detail + "\n      see " +
                 attempt->log;
    }
    if (!allTooFast)
      message += "\n  these kernels are FACT's own, and so is the mistake: "
                 "please report it with the files above";
    else
      message += "\n  every one beats the speed of light: the machine "
                 "description the model was compiled for (" +
                 bundle.target.text() + ") is not this machine";
  }
  throw Failure(message);
}

} // namespace tuning
} // namespace fact
