//===- Compile.cpp - All stages in order ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/Compile.h"
#include "FoldedProgram.h"
#include "Groupings.h"
#include "Reproducer.h"
#include "RunTuner.h"
#include "StageDisplay.h"
#include "fact/Agent/Regrouping.h"
#include "fact/Conversion/Passes.h"
#include "fact/Driver/DescribeDiscovery.h"
#include "fact/Driver/DescribeGraph.h"
#include "fact/Driver/DescribeTarget.h"
#include "fact/Driver/DescribeTuning.h"
#include "fact/Driver/Pipelines.h"
#include "fact/Support/PathLock.h"
#include "fact/Support/WholeFile.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fact;
namespace json = llvm::json;
namespace fs = llvm::sys::fs;

namespace {
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : module(module), options(options), agent(options.discovery),
        recorder(module.getContext(), [this](Diagnostic &diagnostic) {
          display.yield();
          recordError(diagnostic);
          // Whoever prints diagnostics still does.
          return failure();
        }) {
    agent.target = options.target;
    agent.memory = &memory;
    agent.progress = [this](const std::string &text) {
      display.setDetail(text);
    };
  }

  /// Runs all stages; the summary is written whether they succeed or not.
  LogicalResult run();

private:
  using Clock = std::chrono::steady_clock;

  LogicalResult runStages();
  LogicalResult runPasses(StringRef stage, const char *what,
                          function_ref<void(OpPassManager &)> build);
  LogicalResult discoverKernels();
  LogicalResult lockBundle();
  LogicalResult bundle();
  LogicalResult writeProgram(ModuleOp program, const Target &target,
                             StringRef folder, BundleSummary &contents,
                             bool keepProducts = false);
  OwningOpRef<ModuleOp> groupByRules();
  void bundleRules(const Target &target);
  void bundleFolded(const Target &target);
  void bundleBeside(ModuleOp other, const Target &target, StringRef name,
                    StringRef consequence, bool keepProducts);
  LogicalResult tune();
  bool measuresForms() const;
  std::optional<double> ratioToRules() const;
  LogicalResult regroupKernels(bool &again);
  LogicalResult refineKernels(bool &again);
  LogicalResult writeFile(StringRef file, StringRef text);
  LogicalResult writeText();
  LogicalResult writeSummary();
  void recordError(Diagnostic &diagnostic);
  unsigned countOps() const;
  bool hasTorch() const;
  void finishStage(StringRef stage, Clock::time_point start) {
    display.end();
    // Rounds of refinement run stages again: add up their times.
    double before = stages.getNumber(stage).value_or(0);
    stages[stage] =
        before + std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::string bundleFolder() const {
    if (!options.bundle.empty())
      return StringRef(options.bundle).rtrim('/').str();
    SmallString<256> folder(options.output);
    llvm::sys::path::replace_extension(folder, "bundle");
    return folder.str().str();
  }

  ModuleOp module;
  const CompileOptions &options;
  /// Held from the first bundle until the library is linked.
  PathLock lock;
  /// One run of the agent, from discovery to the last round of refinement.
  DiscoveryOptions agent;
  AgentMemory memory;
  json::Object stages, ops;
  /// The graph of the last stage that succeeded, for reports.
  json::Object graph;
  json::Array regroupings, refinements, errors;
  DiscoveryReport report;
  /// What tuning says about it.
  json::Object measured;
  BundleSummary summary;
  /// The graph before it was grouped, if other programs are measured too.
  OwningOpRef<ModuleOp> unfused;
  bool differsFromRules = false;
  bool isFinished = false, triedSummary = false;
  StageDisplay display;
  ScopedDiagnosticHandler recorder;
};
} // namespace

/// Counts ops that compute, and views; not weights and constants.
unsigned Compilation::countOps() const {
  unsigned count = 0;
  module->walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    StringRef name = op->getName().stripDialect();
    if (dialect == "torch")
      count += name.starts_with("aten.") || name.starts_with("prims.");
    else if (dialect == "fact")
      count +=
          !isa<WeightOp, GetWeightOp, ConstantOp, YieldOp, PrepareOp, FusedOp>(
              op);
  });
  return count;
}

bool Compilation::hasTorch() const {
  return module
      ->walk([](Operation *op) {
        auto isTorch = [](Type type) {
          return type.getDialect().getNamespace() == "torch";
        };
        bool torch = op->getName().getDialectNamespace() == "torch" ||
                     llvm::any_of(op->getResultTypes(), isTorch);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            torch |= llvm::any_of(block.getArgumentTypes(), isTorch);
        return torch ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult
Compilation::runPasses(StringRef stage, const char *what,
                       function_ref<void(OpPassManager &)> build) {
  Clock::time_point start = Clock::now();
  display.begin(what);
  PassManager manager(module.getContext());
  build(manager);
  LogicalResult result = manager.run(module);
  finishStage(stage, start);
  return result;
}

LogicalResult Compilation::discoverKernels() {
  Clock::time_point start = Clock::now();
  display.begin("grouping ops into kernels");
  module.getContext()->loadDialect<FactDialect>();
  // An agent's grouping is measured against that of the rules, and both against
  // a program with folded norms.
  if (options.alternatives > 0)
    unfused = module.clone();
  LogicalResult result = discover(module, agent, report);
  if (isLanguageModel(agent))
    keepGrouping(agent);
  finishStage("discover", start);
  return result;
}

/// The rules' grouping of the model, if an agent has made another one.
OwningOpRef<ModuleOp> Compilation::groupByRules() {
  if (!unfused || agent.agent == "rules")
    return {};
  OwningOpRef<ModuleOp> grouped = unfused->clone();
  DiscoveryOptions rules = agent;
  rules.agent = "rules";
  rules.memory = nullptr;
  DiscoveryReport ignored;
  // The agent's grouping covers what the rules do not.
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(discover(*grouped, rules, ignored)) ||
      isSameGrouping(*grouped, module))
    return {};
  return grouped;
}

/// Keeps others from writing or tuning the bundle until the library is linked.
/// The tuner that this process starts takes the lock over.
LogicalResult Compilation::lockBundle() {
  if (lock.isHeld())
    return success();
  std::string folder = bundleFolder();
  StringRef parent = llvm::sys::path::parent_path(folder);
  if (!parent.empty())
    if (std::error_code error = fs::create_directories(parent))
      return module.emitError("cannot write '")
             << folder << "': " << error.message();
  if (std::string message = lock.acquire(folder, "fact-compile");
      !message.empty())
    return module.emitError(message);
  lock.lend();
  return success();
}

LogicalResult Compilation::bundle() {
  if (failed(lockBundle()))
    return failure();
  Clock::time_point start = Clock::now();
  MachineAttr machine = getTargetMachine(module);
  if (!machine)
    return module.emitError("the module has no 'fact.target': run "
                            "--fact-discover first");
  FailureOr<MachineAttr> asked = machine;
  if (!options.target.empty())
    asked = MachineAttr::resolve(module.getContext(), options.target,
                                 [&] { return module.emitError(); });
  if (failed(asked))
    return failure();
  if (*asked != machine)
    return module.emitError("the module's kernels are for '")
           << machine.getName() << "', but the target is '" << options.target
           << "'; compile the text of an earlier stage, or use --target="
           << machine.getName();
  std::unique_ptr<Target> target =
      createTarget(module.getContext(), machine.getDescription());
  display.begin("writing the bundle");
  // A clone, because refinement still needs the regions.
  OwningOpRef<ModuleOp> program = module.clone();
  LogicalResult result =
      writeProgram(*program, *target, bundleFolder(), summary);
  if (succeeded(result)) {
    bundleRules(*target);
    bundleFolded(*target);
  }
  finishStage("bundle", start);
  return result;
}

/// Does what may fail without harm; `error` is the first that it reports.
static LogicalResult attempt(MLIRContext *context, std::string &error,
                             function_ref<LogicalResult()> work) {
  ScopedDiagnosticHandler collect(context, [&](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (isError && error.empty())
      error = diagnostic.str();
    // Others see the rest.
    return success(isError);
  });
  return work();
}

/// Writes the bundle of the rules' grouping inside of the agent's, which is
/// complete without it.
void Compilation::bundleRules(const Target &target) {
  OwningOpRef<ModuleOp> rules = groupByRules();
  differsFromRules = static_cast<bool>(rules);
  if (rules)
    bundleBeside(*rules, target, "rules",
                 "the agent's grouping is not measured against that of the "
                 "rules",
                 /*keepProducts=*/false);
}

/// Writes the bundle of the program with norms folded into products, if there
/// is one that is worth to be measured.
void Compilation::bundleFolded(const Target &target) {
  if (!unfused)
    return;
  OwningOpRef<ModuleOp> folded =
      foldNorms(*unfused, module, agent, target, options.alternatives);
  if (folded)
    bundleBeside(*folded, target, "folded",
                 "norms are not measured folded into products",
                 /*keepProducts=*/true);
}

/// Writes another program's bundle inside of this one, which is complete
/// without it.
void Compilation::bundleBeside(ModuleOp other, const Target &target,
                               StringRef name, StringRef consequence,
                               bool keepProducts) {
  std::string error;
  LogicalResult result = attempt(module.getContext(), error, [&] {
    BundleSummary contents;
    return writeProgram(other, target, (bundleFolder() + "/" + name).str(),
                        contents, keepProducts);
  });
  if (failed(result))
    module.emitWarning(consequence) << ": " << error;
}

/// The program's time over that of the rules' program; nothing where they
/// differ and were not compared.
std::optional<double> Compilation::ratioToRules() const {
  std::optional<double> ratio = measured.getNumber("ratio");
  return ratio || differsFromRules ? ratio : 1;
}

/// Whether the tuner measures programs and forms of kernels beside each other.
bool Compilation::measuresForms() const {
  return llvm::none_of(options.tunerArguments, [](StringRef argument) {
    return argument == "--untuned" || argument == "--no-alternatives";
  });
}

/// Makes the program of a module's kernels, and writes its bundle.
LogicalResult Compilation::writeProgram(ModuleOp program, const Target &target,
                                        StringRef folder,
                                        BundleSummary &contents,
                                        bool keepProducts) {
  // Measures every schedule that refinement proposed, whatever --candidates
  // says.
  BundleOptions bundleOptions{options.name, options.candidates,
                              /*wholeLists=*/!refinements.empty(),
                              options.products};
  PassManager manager(module.getContext());
  buildProgramPipeline(manager, options.alternatives,
                       options.discovery.patterns, keepProducts);
  return success(
      succeeded(manager.run(program)) &&
      succeeded(writeBundle(program, target, folder, bundleOptions, contents)));
}

/// Asks a language model for another grouping, by what was measured of this
/// one. A new grouping is tuned, and stays if its program is faster beside the
/// rules' than that of the grouping before.
LogicalResult Compilation::regroupKernels(bool &again) {
  if (!unfused || !isLanguageModel(agent) || !measuresForms())
    return success();
  Clock::time_point start = Clock::now();
  display.begin("revising the grouping of ops");
  OwningOpRef<ModuleOp> next = unfused->clone();
  DiscoveryOptions revision = agent;
  revision.measured = bundleFolder();
  revision.measuredEps = options.refineEps;
  DiscoveryReport round;
  LogicalResult result = discover(*next, revision, round);
  finishStage("discover", start);
  if (failed(result))
    return failure();
  report.add(round);
  if (isSameGrouping(*next, module)) {
    keepGrouping(agent);
    return success();
  }
  again = true;
  takeSearches(*next, module);
  OwningOpRef<ModuleOp> before = module.clone();
  DiscoveryReport reported = report;
  std::optional<double> ratioBefore = ratioToRules();
  auto tuneGrouping = [&](ModuleOp grouping) {
    module.getBodyRegion().takeBody(grouping.getBodyRegion());
    summary = BundleSummary();
    return success(succeeded(bundle()) && succeeded(tune()));
  };
  report.standing = round.standing;
  report.covered = round.covered;
  report.predictedUs = round.predictedUs;
  std::string error;
  bool isTuned = succeeded(
      attempt(module.getContext(), error, [&] { return tuneGrouping(*next); }));
  std::optional<double> ratio =
      isTuned ? ratioToRules() : std::optional<double>();
  bool stays =
      settleGrouping(agent, ratio && ratioBefore && *ratio < *ratioBefore) &&
      isTuned;
  json::Object entry{{"stays", stays}};
  if (ratio)
    entry["ratio"] = *ratio;
  if (ratioBefore)
    entry["ratio_before"] = *ratioBefore;
  if (!isTuned) {
    entry["failure"] = error;
    module.emitWarning("the revised grouping is dropped: ") << error;
  }
  regroupings.push_back(std::move(entry));
  if (stays)
    return success();
  report = std::move(reported);
  return tuneGrouping(*before);
}

/// Runs one more round if a kernel is worth it: another bundle, tuned with the
/// measurements of the last one.
LogicalResult Compilation::refineKernels(bool &again) {
  RefinementOptions refinement;
  refinement.agent = agent;
  refinement.bundle = bundleFolder();
  refinement.eps = options.refineEps;
  refinement.window = options.refineWindow;
  RefinementReport round;
  display.begin("choosing more schedules");
  LogicalResult refined = refine(module, refinement, round);
  display.end();
  if (failed(refined))
    return failure();
  again |= round.nominated > 0;
  report.addRequests(round.agent);
  report.transcript = round.agent.transcript;
  refinements.push_back(json::Object{{"kernels", round.nominated},
                                     {"schedules", round.points},
                                     {"within_eps", round.withinEps},
                                     {"without_gain", round.withoutGain},
                                     {"exhausted", round.exhausted},
                                     {"calls", round.agent.calls},
                                     {"tokens_in", round.agent.tokensIn},
                                     {"tokens_out", round.agent.tokensOut},
                                     {"fallback", round.agent.fallback}});
  if (!round.nominated)
    return success();
  summary = BundleSummary();
  return success(succeeded(bundle()) && succeeded(tune()));
}

/// Runs `fact-tune bundle -o output`, which reports its own errors.
LogicalResult Compilation::tune() {
  Clock::time_point start = Clock::now();
  std::vector<std::string> arguments{bundleFolder(), "-o", options.output};
  // What each form gains, for the model that revises the grouping.
  if (options.refine && unfused && isLanguageModel(agent) && measuresForms())
    arguments.push_back("--ablate");
  // Of several of one option, fact-tune takes the last.
  if (options.tried && refinements.empty())
    arguments.insert(arguments.end(),
                     {"--candidates", std::to_string(*options.tried)});
  llvm::append_range(arguments, options.tunerArguments);
  LogicalResult result =
      runTuner(module, options.tuner, arguments, agent.keyVariable);
  finishStage("tune", start);
  if (failed(result))
    return failure();
  measured = describeTuning(bundleFolder());
  countMeasured(report, bundleFolder());
  return success();
}

/// Writes the file completely or not at all.
LogicalResult Compilation::writeFile(StringRef file, StringRef text) {
  if (file == "-") {
    llvm::outs() << text;
    return success();
  }
  auto fail = [&](std::error_code error) {
    return module.emitError("cannot write '")
           << file << "': " << error.message();
  };
  if (!fs::exists(file) || fs::is_regular_file(file)) {
    if (int code = writeWholeFile(file.str(), text))
      return fail(std::error_code(code, std::generic_category()));
    return success();
  }
  // Devices and pipes cannot be replaced by a rename.
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (error)
    return fail(error);
  stream << text;
  stream.close();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return fail(error);
  }
  return success();
}

/// Writes the module at the stage where the compilation stopped.
LogicalResult Compilation::writeText() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  return writeFile(options.output, text);
}

/// Keeps an error for the summary, as it is printed.
void Compilation::recordError(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Location loc, const Diagnostic &each) {
    if (auto line = loc->findInstanceOf<FileLineColLoc>())
      os << line.getFilename().getValue() << ":" << line.getLine() << ": ";
    os << each;
  };
  print(diagnostic.getLocation(), diagnostic);
  for (Diagnostic &note : diagnostic.getNotes()) {
    os << "\n  note: ";
    print(note.getLocation(), note);
  }
  errors.push_back(json::fixUTF8(text));
}

LogicalResult Compilation::writeSummary() {
  triedSummary = true;
  if (options.summary.empty())
    return success();
  json::Array kernels;
  for (const BundleSummary::Kernel &kernel : summary.kernels)
    kernels.push_back(json::Object{{"name", kernel.name},
                                   {"rule", kernel.rule},
                                   {"ops", json::Array(kernel.ops)},
                                   {"candidates", kernel.candidates},
                                   {"steps", kernel.steps},
                                   {"sol_us", kernel.microseconds}});
  ops["kernels"] = summary.steps;
  MachineAttr machine = getTargetMachine(module);
  json::Object root{
      {"target", machine ? machine.getName() : options.target},
      {"ops", std::move(ops)},
      {"kernels", std::move(kernels)},
      {"stages", std::move(stages)},
      {"discovery", describeDiscovery(report, std::move(measured))},
      {"regrouping", std::move(regroupings)},
      {"refinement", std::move(refinements)},
      {"alternatives", summary.alternatives},
      {"workspace_bytes", summary.workspaceBytes},
      {"bundle", bundleFolder()},
      {"library", options.output},
      {"graph", std::move(graph)},
      {"errors", std::move(errors)},
      {"failed", !isFinished}};
  if (machine)
    root["machine"] = describeMachine(machine);
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", json::Value(std::move(root))) << "\n";
  return writeFile(options.summary, text);
}

LogicalResult Compilation::run() {
  if (succeeded(runStages()))
    return success();
  if (!triedSummary)
    (void)writeSummary();
  return failure();
}

LogicalResult Compilation::runStages() {
  auto stopsAfter = [&](Stage stage) { return options.stopAfter == stage; };
  auto finish = [&] {
    isFinished = true;
    return writeSummary();
  };
  auto stop = [&] {
    return success(succeeded(writeText()) && succeeded(finish()));
  };
  bool fused = false;
  module->walk([&](FusedOp) { fused = true; });
  ops["imported"] = countOps();
  Reproducer reproducer(module, options.command, options.input);
  auto importTorch = [&] {
    return runPasses("import", "importing PyTorch's ops",
                     [](OpPassManager &manager) {
                       manager.addPass(createConvertTorchToFact());
                     });
  };
  if (hasTorch() && failed(reproducer.run("import", importTorch)))
    return failure();
  if (stopsAfter(Stage::import))
    return stop();
  auto raise = [&] {
    return runPasses("raise", "raising ops", buildRaisePipeline);
  };
  if (!fused && failed(reproducer.run("raise", raise)))
    return failure();
  ops["raised"] = countOps();
  graph = describeGraph(module);
  if (stopsAfter(Stage::raise))
    return stop();
  // Hand-written kernels without a target are checked, and the remaining ops
  // are grouped.
  if ((!fused || !getTargetMachine(module)) &&
      failed(reproducer.run("discover", [&] { return discoverKernels(); })))
    return failure();
  graph = describeGraph(module);
  if (stopsAfter(Stage::discover))
    return stop();
  if (failed(reproducer.run("bundle", [&] { return bundle(); })))
    return failure();
  if (stopsAfter(Stage::bundle))
    return finish();
  if (failed(tune()))
    return failure();
  for (unsigned i = 0; i < options.refine; ++i) {
    bool again = false;
    if (failed(regroupKernels(again)) || failed(refineKernels(again)))
      return failure();
    if (!again)
      break;
  }
  return finish();
}

LogicalResult fact::compile(ModuleOp module, const CompileOptions &options) {
  return Compilation(module, options).run();
}
