//===- Refinement.cpp - Search again where there is most to gain ----------===//

#include "fact/Agent/Refinement.h"
#include "LanguageModel.h"
#include "Spaces.h"
#include "fact/Analysis/Problem.h"
#include "fact/Patterns/Learn.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fact;
using patterns::Measurements;

namespace {
/// A kernel, its steps in the graph, and what was measured of it.
struct Kernel {
  const Measurements *measured = nullptr;
  SmallVector<FusedOp> steps;
  const Measurements::Attempt *best = nullptr;
  /// Attempts since the best one.
  unsigned sinceGain = 0;
  /// Schedules to try.
  SmallVector<ScheduleAttrInterface> next;

  FusedOp getRegion() const { return steps.front(); }
  /// Microseconds above the speed of light, over all its steps.
  double getGain() const {
    return (best->us - measured->solUs) * double(steps.size());
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
  void analyse();
  void nominate();
  void triage();
  LogicalResult readMeasurements();
  void ask();
  void takeNeighbours(Kernel &kernel);
  void take(Kernel &kernel, ArrayRef<ScheduleAttrInterface> wanted);
  const Realiser &getRealiser(const Kernel &kernel) const {
    return *target->findRealiser(kernel.getRegion().getRule());
  }

  ModuleOp module;
  const RefinementOptions &options;
  RefinementReport &report;
  std::unique_ptr<Target> target;
  /// Null: the rules propose.
  std::unique_ptr<Dialogue> dialogue;
  std::vector<Measurements> measurements;
  std::vector<Kernel> kernels;
  std::vector<Kernel *> nominees;
};
} // namespace

//===----------------------------------------------------------------------===//
// Measure, analyse, nominate
//===----------------------------------------------------------------------===//

/// What a repeated conversation was told, else what the tuner kept.
LogicalResult Refinement::readMeasurements() {
  report.agent.agent = options.agent.agent;
  const MachineDescription &machine = target->getMachine();
  if (options.agent.agent != "rules") {
    dialogue = std::make_unique<Dialogue>(module, options.agent, report.agent);
    if (failed(dialogue->open()))
      return failure();
    std::string ids;
    module.walk([&](FusedOp fused) {
      ids += getProblem(fused, machine.architecture).getId() + "\n";
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
        patterns::readMeasurements(options.bundle, options.results, error);
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
                           "has no 'fact.target': refinement "
                           "is of kernels; run --fact-discover "
                           "first");
  target = createTarget(machine.getDescription());
  if (failed(readMeasurements()))
    return failure();
  llvm::MapVector<StringRef, Kernel> byId;
  std::vector<std::string> ids;
  ids.reserve(measurements.size());
  for (const Measurements &measured : measurements)
    byId[ids.emplace_back(measured.problem.getId())].measured = &measured;
  module.walk([&](FusedOp fused) {
    auto found = byId.find(
        getProblem(fused, machine.getDescription().architecture).getId());
    if (found != byId.end() && target->findRealiser(fused.getRule()))
      found->second.steps.push_back(fused);
  });
  for (auto &[id, kernel] : byId)
    if (!kernel.steps.empty() && !kernel.measured->attempts.empty())
      kernels.push_back(std::move(kernel));
  if (kernels.empty())
    return mlir::emitError(module.getLoc(), "none of its kernels was measured "
                                            "in '")
           << options.bundle << "'";
  return success();
}

void Refinement::analyse() {
  // Less than a hundredth is noise.
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
    if (kernel.best->us <= (1 + options.eps) * kernel.measured->solUs)
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

/// Keeps what is legal and was not tried, the best predicted first.
void Refinement::take(Kernel &kernel, ArrayRef<ScheduleAttrInterface> wanted) {
  const Realiser &realiser = getRealiser(kernel);
  llvm::StringSet<> tried;
  for (const Measurements::Attempt &attempt : kernel.measured->attempts)
    tried.insert(attempt.key);
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  std::multimap<double, ScheduleAttrInterface> ranked;
  for (ScheduleAttrInterface schedule : wanted)
    if (tried.insert(schedule.getKey()).second &&
        succeeded(realiser.checkSchedule(
            kernel.getRegion(), schedule, target->getMachine(),
            [&] { return mlir::emitError(module.getLoc()); })))
      ranked.emplace(realiser.predictMicroseconds(kernel.getRegion(), schedule),
                     schedule);
  for (auto &[time, schedule] : ranked)
    if (kernel.next.size() < options.points)
      kernel.next.push_back(schedule);
}

/// The rules' own refinement: what is next to the best, then next to the
/// second best.
void Refinement::takeNeighbours(Kernel &kernel) {
  SpaceAttrInterface space =
      getRealiser(kernel).getDefaultSpace(kernel.getRegion());
  std::vector<const Measurements::Attempt *> fastest;
  for (const Measurements::Attempt &attempt : kernel.measured->attempts)
    if (attempt.isAccepted())
      fastest.push_back(&attempt);
  llvm::sort(fastest, [](const auto *a, const auto *b) {
    return std::tie(a->us, a->key) < std::tie(b->us, b->key);
  });
  for (size_t i = 0; i < std::min<size_t>(2, fastest.size()); ++i)
    if (auto schedule = parseSchedule(module.getContext(), fastest[i]->key))
      if (kernel.next.empty())
        take(kernel, getNeighbours(schedule, space));
}

static std::string describe(const Kernel &kernel) {
  const Measurements &measured = *kernel.measured;
  std::string text = llvm::formatv(
      "## {0}\n{1} | {2} | {3} steps | best {4:F1} us, {5:P0} of light "
      "({6:F1} us)\n",
      measured.kernel, measured.problem.ops, measured.problem.getExtentsText(),
      kernel.steps.size(), kernel.best->us, measured.solUs / kernel.best->us,
      measured.solUs);
  for (const Measurements::Attempt &attempt : measured.attempts)
    text += "- " + attempt.key + ": " +
            (attempt.isAccepted() ? llvm::formatv("{0:F1} us", attempt.us).str()
                                  : attempt.status) +
            (attempt.detail.empty() ? "" : ", " + attempt.detail) + "\n";
  return text;
}

void Refinement::ask() {
  std::string table;
  std::vector<std::string> names;
  for (const Kernel *kernel : nominees) {
    table += describe(*kernel);
    names.push_back(kernel->measured->kernel);
  }
  const MachineDescription &machine = target->getMachine();
  std::optional<std::string> content =
      dialogue->ask(fillPrompt(getPrompt("refine.md"),
                               {{"limit", std::to_string(options.points)},
                                {"machine", describeMachine(machine)},
                                {"kernels", table},
                                {"schedules", describeSchedules(machine)}}),
                    chat::getRefinementSchema(names));
  if (!content)
    return;
  chat::RefinementAnswer answer = chat::readRefinements(*content);
  std::vector<chat::JudgedProposal> verdicts;
  if (!answer.error.empty()) {
    verdicts.push_back({"the answer", false, answer.error});
    dialogue->giveUp(answer.error);
  }
  size_t points = 0;
  for (const chat::Refinement &wanted : answer.kernels) {
    chat::JudgedProposal &verdict = verdicts.emplace_back();
    verdict.what = wanted.kernel;
    ++report.agent.proposed;
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &why) {
      verdict.reason = why.str();
      return success();
    });
    auto refuse = [&] { return mlir::emitError(module.getLoc()); };
    auto found = llvm::find_if(nominees, [&](const Kernel *kernel) {
      return kernel->measured->kernel == wanted.kernel;
    });
    if (!wanted.error.empty() || found == nominees.end()) {
      refuse() << (wanted.error.empty() ? "there is no such kernel above"
                                        : wanted.error);
    } else {
      // What the answer leaves out stays as in the best so far.
      Kernel &kernel = **found;
      SpaceAttrInterface own =
          getRealiser(kernel).getDefaultSpace(kernel.getRegion());
      auto best = parseSchedule(module.getContext(), kernel.best->key);
      FailureOr<SpaceAttrInterface> space =
          replaceLists(own, getPoint(own, best), refuse);
      if (succeeded(space))
        space = replaceLists(*space, wanted.space, refuse);
      if (succeeded(space) &&
          (points += countPoints(*space)) > maxPointsOfAnswer)
        space = refuse() << "the spaces of an answer have " << maxPointsOfAnswer
                         << " points at most, all together";
      if (succeeded(space)) {
        take(kernel, space->enumerate());
        verdict.accepted = !kernel.next.empty();
        if (!verdict.accepted)
          refuse() << "all of its points are illegal or were tried";
      }
    }
    report.agent.accepted += verdict.accepted;
    report.agent.rejected["space"] += !verdict.accepted;
  }
  dialogue->record(std::move(verdicts));
}

void Refinement::triage() {
  if (dialogue && !nominees.empty())
    ask();
  for (Kernel *kernel : nominees)
    if (kernel->next.empty())
      takeNeighbours(*kernel);
  for (Kernel &kernel : kernels) {
    auto best = kernel.best
                    ? parseSchedule(module.getContext(), kernel.best->key)
                    : ScheduleAttrInterface();
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
      SmallVector<ScheduleAttrInterface> points{best};
      llvm::append_range(points, kernel.next);
      fused.removeScheduleAttr();
      fused.setSpaceAttr(SchedulesAttr::get(module.getContext(), points));
    }
  }
}

LogicalResult Refinement::run() {
  if (failed(measure()))
    return failure();
  analyse();
  nominate();
  triage();
  return success();
}

LogicalResult fact::refine(ModuleOp module, const RefinementOptions &options,
                           RefinementReport &report) {
  return Refinement(module, options, report).run();
}
