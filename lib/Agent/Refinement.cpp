//===- Refinement.cpp - Search again where there is most to gain ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Agent/Refinement.h"
#include "Dialogue.h"
#include "MeasuredGrouping.h"
#include "SpaceLists.h"
#include "fact/Fusion/Problem.h"
#include "fact/Kernel/Neighbors.h"
#include "fact/Program/Kernels.h"
#include "fact/Tuning/Learn.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fact;
using registry::Measurements;

namespace {
/// A kernel, its steps in the graph, and its measurements.
struct Kernel {
  const Measurements *measured = nullptr;
  SmallVector<FusedOp> steps;
  std::unique_ptr<Plan> plan;
  const Measurements::Attempt *best = nullptr;
  /// Attempts since the last significant gain.
  unsigned sinceGain = 0;
  /// Schedules to try.
  SmallVector<ScheduleAttr> next;

  /// Microseconds above the least that the machine needs, over all its steps.
  double getGain() const {
    return (best->us - measured->getLeastUs()) * double(steps.size());
  }
};

class Refinement {
public:
  Refinement(ModuleOp module, const RefinementOptions &options,
             RefinementReport &report)
      : module(module), options(options), report(report) {}

  LogicalResult run();

private:
  LogicalResult measure();
  void analyze();
  void nominate();
  void triage();
  LogicalResult readMeasurements();
  std::string writePrompt(const std::string &schema) const;
  std::string read(const std::string &content);
  void ask();
  void takeNeighbors(Kernel &kernel);
  std::string take(Kernel &kernel, ArrayRef<ScheduleAttr> wanted);
  LogicalResult take(const chat::Refinement &wanted, size_t &points,
                     EmitError emitError);

  ModuleOp module;
  const RefinementOptions &options;
  RefinementReport &report;
  std::unique_ptr<Target> target;
  /// Null: neighbors of the best schedules are searched.
  std::unique_ptr<Dialogue> dialogue;
  std::vector<Measurements> measurements;
  std::vector<Kernel> kernels;
  std::vector<Kernel *> nominees;
};
} // namespace

//===----------------------------------------------------------------------===//
// Measure, analyze, nominate
//===----------------------------------------------------------------------===//

/// Reads the measurements of the replayed conversation, else of the bundle.
LogicalResult Refinement::readMeasurements() {
  report.agent.agent = options.agent.agent;
  const MachineDescription &machine = target->getMachine();
  if (failed(AgentRegistry::find(module, options.agent)))
    return failure();
  if (Dialogue::isHeldBy(options.agent)) {
    dialogue = std::make_unique<Dialogue>(module, options.agent, report.agent);
    if (failed(dialogue->open()))
      return failure();
    std::string ids;
    module.walk([&](FusedOp fused) {
      ids += getProblem(fused, *target).getId() + "\n";
    });
    dialogue->begin("refine-" +
                        llvm::utohexstr(llvm::xxh3_64bits(ids), true, 16) +
                        "-" + machine.name.str(),
                    machine.name);
    measurements = dialogue->getMeasurements();
  }
  if (measurements.empty()) {
    std::string error;
    measurements =
        registry::readMeasurements(options.bundle, options.results, error);
    if (!error.empty())
      return mlir::emitError(module.getLoc(), error);
  }
  if (dialogue)
    dialogue->setMeasurements(measurements);
  return success();
}

LogicalResult Refinement::measure() {
  MachineAttr machine = getTargetMachine(module);
  if (!machine)
    return mlir::emitError(module.getLoc(),
                           "the module has no 'fact.target': refinement needs "
                           "kernels; run --fact-discover first");
  target = createTarget(module.getContext(), machine.getDescription());
  if (failed(readMeasurements()))
    return failure();
  for (NamedKernel &named : getNamedKernels(module)) {
    FusedOp region = named.steps.front();
    std::string id = getProblem(region, *target).getId();
    // Two kernels may have one problem, so the name counts first. Another
    // bundle may give the kernel another name.
    auto isOfProblem = [&](const Measurements &measured) {
      return measured.problem.getId() == id && !measured.attempts.empty();
    };
    auto found = llvm::find_if(measurements, [&](const Measurements &measured) {
      return measured.kernel == named.name && isOfProblem(measured);
    });
    if (found == measurements.end())
      found = llvm::find_if(measurements, isOfProblem);
    if (found == measurements.end())
      continue;
    FailureOr<std::unique_ptr<Plan>> plan =
        target->plan(region, Silence(region));
    if (failed(plan))
      continue;
    Kernel kernel;
    kernel.plan = std::move(*plan);
    kernel.measured = &*found;
    kernel.steps = std::move(named.steps);
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty())
    return mlir::emitError(module.getLoc(), "no kernel of the module was "
                                            "measured in '")
           << options.bundle << "'";
  return success();
}

void Refinement::analyze() {
  // A gain of less than 1% is noise.
  constexpr double significant = 0.99;
  for (Kernel &kernel : kernels) {
    double gained = INFINITY;
    for (const Measurements::Attempt &attempt : kernel.measured->attempts) {
      ++kernel.sinceGain;
      if (!attempt.isAccepted())
        continue;
      if (attempt.us < significant * gained) {
        gained = attempt.us;
        kernel.sinceGain = 0;
      }
      if (!kernel.best || attempt.us < kernel.best->us)
        kernel.best = &attempt;
    }
    report.measured += kernel.best != nullptr;
  }
}

void Refinement::nominate() {
  for (Kernel &kernel : kernels) {
    if (!kernel.best)
      continue;
    if (kernel.best->us <= (1 + options.eps) * kernel.measured->getLeastUs())
      ++report.withinEps;
    else if (kernel.sinceGain >= options.window)
      ++report.withoutGain;
    else
      nominees.push_back(&kernel);
  }
  llvm::sort(nominees, [](const Kernel *a, const Kernel *b) {
    return std::tuple(-a->getGain(), a->measured->kernel) <
           std::tuple(-b->getGain(), b->measured->kernel);
  });
  if (nominees.size() > options.kernels)
    nominees.resize(options.kernels);
}

//===----------------------------------------------------------------------===//
// Triage
//===----------------------------------------------------------------------===//

static bool isFaster(const Measurements::Attempt *a,
                     const Measurements::Attempt *b) {
  return std::tie(a->us, a->key) < std::tie(b->us, b->key);
}

/// Keeps the legal schedules that were not tried, the best predicted first.
/// Returns why there is none, or empty.
std::string Refinement::take(Kernel &kernel, ArrayRef<ScheduleAttr> wanted) {
  llvm::StringSet<> tried;
  for (const Measurements::Attempt &attempt : kernel.measured->attempts)
    tried.insert(attempt.key);
  for (ScheduleAttr schedule : kernel.next)
    tried.insert(schedule.getKey());
  std::string illegal;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &why) {
    illegal = "; the last one: " + why.str();
    return success();
  });
  std::multimap<double, ScheduleAttr> ranked;
  for (ScheduleAttr schedule : wanted)
    if (tried.insert(schedule.getKey()).second &&
        succeeded(kernel.plan->check(
            schedule, [&] { return mlir::emitError(module.getLoc()); })))
      ranked.emplace(kernel.plan->predict(schedule), schedule);
  if (ranked.empty())
    return "all of its points are illegal or were tried" + illegal;
  if (kernel.next.size() >= options.points)
    return "the kernel already has " + std::to_string(options.points) +
           " new points";
  for (auto &[time, schedule] : ranked)
    if (kernel.next.size() < options.points)
      kernel.next.push_back(schedule);
  return "";
}

/// Refinement without a model: neighbors in the space of the best schedule,
/// then of the second best; when all were tried, one step outside of the space.
void Refinement::takeNeighbors(Kernel &kernel) {
  SpaceAttrInterface space = kernel.plan->getSpace();
  std::vector<const Measurements::Attempt *> fastest;
  for (const Measurements::Attempt &attempt : kernel.measured->attempts)
    if (attempt.isAccepted())
      fastest.push_back(&attempt);
  llvm::sort(fastest, isFaster);
  fastest.resize(std::min<size_t>(2, fastest.size()));
  for (auto getNext : {getNeighbors, getStepsAway})
    for (const Measurements::Attempt *attempt : fastest)
      if (auto schedule = parseSchedule(module.getContext(), attempt->key))
        if (kernel.next.empty())
          take(kernel, getNext(schedule, space));
}

/// The fastest attempts and the last failures.
static std::vector<const Measurements::Attempt *>
selectAttempts(const Measurements &measured) {
  constexpr size_t shown = 24;
  std::vector<const Measurements::Attempt *> fastest, failures;
  for (const Measurements::Attempt &attempt : measured.attempts)
    (attempt.isAccepted() ? fastest : failures).push_back(&attempt);
  llvm::sort(fastest, isFaster);
  fastest.resize(std::min(fastest.size(), shown));
  failures.erase(failures.begin(),
                 failures.end() - std::min(failures.size(), shown));
  llvm::append_range(fastest, failures);
  return fastest;
}

/// ", 96 tiles": how many tiles of a product's result a schedule makes, where
/// it has their size: as `tile`, or as `rows` and `columns`.
static std::string describeTiles(const registry::Problem &problem,
                                 ScheduleAttr schedule) {
  auto extentOf = [&](const char *name) {
    auto found = problem.extents.find(name);
    return found == problem.extents.end() ? 0 : found->second;
  };
  auto valueOf = [&](StringRef name, unsigned index) -> int64_t {
    std::optional<size_t> parameter = schedule.getKind()->find(name);
    return parameter ? schedule.getValues()[*parameter][index] : 0;
  };
  if (!schedule || extentOf("m") < 1 || extentOf("n") < 1)
    return "";
  int64_t rows = valueOf("tile", 0), columns = valueOf("tile", 1);
  if (!rows || !columns) {
    rows = valueOf("rows", 0);
    columns = valueOf("columns", 0);
  }
  if (rows < 1 || columns < 1)
    return "";
  return ", " +
         std::to_string(std::max<int64_t>(extentOf("batch"), 1) *
                        llvm::divideCeil(extentOf("m"), rows) *
                        llvm::divideCeil(extentOf("n"), columns)) +
         " tiles";
}

static std::string describe(const Kernel &kernel) {
  MLIRContext *context = kernel.plan->getRegion()->getContext();
  const Measurements &measured = *kernel.measured;
  std::string text = llvm::formatv(
      "## {0}\n{1} | {2} | {3} steps | {4} | best {5:F1} us, {6}{7}\n",
      measured.kernel, measured.problem.ops, measured.problem.getExtentsText(),
      kernel.steps.size(), describeWork(measured), kernel.best->us,
      describeShares(measured, kernel.best->us),
      describeGains(measured.gains, /*withMachine=*/false));
  std::vector<const Measurements::Attempt *> shown = selectAttempts(measured);
  for (const Measurements::Attempt *attempt : shown)
    text +=
        "- " + attempt->key + ": " +
        (attempt->isAccepted() ? llvm::formatv("{0:F1} us", attempt->us).str()
                               : attempt->status) +
        describeTiles(measured.problem, parseSchedule(context, attempt->key)) +
        (attempt->detail.empty() ? "" : ", ") +
        chat::sanitize(attempt->detail, 300) + "\n";
  if (size_t rest = measured.attempts.size() - shown.size())
    text += "- " + std::to_string(rest) + " more\n";
  return text;
}

std::string Refinement::writePrompt(const std::string &schema) const {
  std::string table;
  for (const Kernel *kernel : nominees)
    table += describe(*kernel);
  const MachineDescription &machine = target->getMachine();
  // One list of the first kernel's space shows what an answer looks like.
  const Kernel &first = *nominees.front();
  chat::SpaceLists space = getLists(first.plan->getSpace());
  space.resize(std::min<size_t>(1, space.size()));
  return fillPrompt(
      getPrompt("refine.md"),
      {{"limit", std::to_string(options.points)},
       {"machine", describeMachine(machine)},
       {"kernels", table},
       {"schedules", describeSchedules(*target)},
       {"answers", countAnswers(dialogue->countLeft())},
       {"schema", schema},
       {"example", chat::getRefinementExample(first.measured->kernel, space)}});
}

/// Adds the schedules that a model asks for; an error says why there are none.
LogicalResult Refinement::take(const chat::Refinement &wanted, size_t &points,
                               EmitError emitError) {
  if (!wanted.error.empty())
    return emitError() << wanted.error;
  auto found = llvm::find_if(nominees, [&](const Kernel *kernel) {
    return kernel->measured->kernel == wanted.kernel;
  });
  if (found == nominees.end())
    return emitError() << "there is no kernel '" << wanted.kernel
                       << "' to search";
  // Parameters that the answer omits keep the best schedule's values.
  Kernel &kernel = **found;
  SpaceAttrInterface own = kernel.plan->getSpace();
  auto best = parseSchedule(module.getContext(), kernel.best->key);
  FailureOr<SpaceAttrInterface> space =
      replaceLists(own, getPoint(own, best), emitError);
  if (succeeded(space))
    space = replaceLists(*space, wanted.space, emitError);
  if (failed(space))
    return failure();
  points += countPoints(*space);
  if (points > maxPointsOfAnswer)
    return emitError() << "the spaces of the answer have more than "
                       << maxPointsOfAnswer << " points in total";
  std::string reason = take(kernel, space->enumerate());
  if (!reason.empty())
    return emitError() << reason;
  return success();
}

/// Adds the legal schedules of an answer. Returns the rejections, with reasons,
/// for the model to correct.
std::string Refinement::read(const std::string &content) {
  chat::RefinementAnswer answer = chat::readRefinements(content);
  std::vector<chat::JudgedProposal> verdicts;
  std::string feedback;
  size_t points = 0, rejected = 0;
  for (auto [i, wanted] : llvm::enumerate(answer.kernels)) {
    chat::JudgedProposal verdict{wanted.kernel, false, ""};
    ++report.agent.proposed;
    {
      ScopedDiagnosticHandler handler(
          module.getContext(), [&](Diagnostic &why) {
            verdict.reason = chat::sanitize(why.str(), maxReasonBytes);
            return success();
          });
      verdict.accepted = succeeded(take(
          wanted, points, [&] { return mlir::emitError(module.getLoc()); }));
    }
    report.agent.accepted += verdict.accepted;
    report.agent.rejected["space"] += !verdict.accepted;
    if (!verdict.accepted && ++rejected <= maxVerdicts)
      feedback +=
          "Search " + std::to_string(i) + " (" +
          chat::sanitize(verdict.what, maxVerdictBytes) +
          ") was rejected: " + chat::sanitize(verdict.reason, maxVerdictBytes) +
          "\n";
    verdicts.push_back(std::move(verdict));
  }
  if (rejected > maxVerdicts)
    feedback += std::to_string(rejected - maxVerdicts) +
                " more searches were rejected.\n";
  if (!answer.error.empty()) {
    verdicts.push_back({"the answer", false, answer.error});
    feedback += "Your answer could not be used: " + answer.error + "\n";
  }
  dialogue->record(std::move(verdicts));
  if (!answer.error.empty() && !dialogue->canAsk())
    dialogue->giveUp(answer.error);
  return feedback;
}

void Refinement::ask() {
  std::vector<std::string> names;
  for (const Kernel *kernel : nominees)
    names.push_back(kernel->measured->kernel);
  std::string schema = chat::getRefinementSchema(names);
  std::string message = writePrompt(schema);
  do {
    ++report.agent.rounds;
    std::optional<std::string> content = dialogue->ask(message, schema);
    if (!content)
      return;
    message = read(*content);
    if (message.empty())
      return;
    message +=
        "Send searches in the same form, correcting what was rejected. "
        "What was accepted is kept. Send {\"kernels\": []} when there is "
        "nothing to add. " +
        countAnswers(dialogue->countLeft()) + "\n";
  } while (dialogue->canAsk());
}

void Refinement::triage() {
  if (dialogue && !nominees.empty())
    ask();
  for (Kernel *kernel : nominees)
    if (kernel->next.empty())
      takeNeighbors(*kernel);
  for (Kernel &kernel : kernels) {
    auto best = kernel.best
                    ? parseSchedule(module.getContext(), kernel.best->key)
                    : ScheduleAttr();
    if (!best)
      continue;
    bool nominated = llvm::is_contained(nominees, &kernel);
    report.exhausted += nominated && kernel.next.empty();
    report.nominated += !kernel.next.empty();
    report.points += kernel.next.size();
    for (FusedOp fused : kernel.steps) {
      if (kernel.next.empty()) {
        fused.setScheduleAttr(best);
        continue;
      }
      SmallVector<ScheduleAttr> points{best};
      llvm::append_range(points, kernel.next);
      fused.removeScheduleAttr();
      fused.setSpaceAttr(SchedulesAttr::get(module.getContext(), points));
    }
  }
}

LogicalResult Refinement::run() {
  if (!(options.eps >= 0))
    return mlir::emitError(module.getLoc(), "eps, a share above the speed of "
                                            "light, must be 0 or more, not ")
           << options.eps;
  if (failed(measure()))
    return failure();
  analyze();
  nominate();
  triage();
  return success();
}

LogicalResult fact::refine(ModuleOp module, const RefinementOptions &options,
                           RefinementReport &report) {
  return Refinement(module, options, report).run();
}
