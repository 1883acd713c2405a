//===- DiscoveryPrompt.cpp - What a model is told -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DiscoveryPrompt.h"
#include "SpaceLists.h"
#include "Standing.h"
#include "fact/Fusion/Problem.h"
#include "fact/Fusion/Retrieval.h"
#include "fact/Kernel/SchedulePage.h"
#include "fact/Tuning/ProbedMachines.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir;
using namespace fact;

/// Limit on the accepted patterns that are listed.
static constexpr size_t maxKeptLines = 64;

DiscoveryPrompt::DiscoveryPrompt(Block &block, const GraphText &graph,
                                 const Fusibility &fusibility,
                                 const Retrieval &retrieval)
    : block(block), graph(graph), fusibility(fusibility), retrieval(retrieval),
      forecast(fusibility, retrieval), plan(forecast.cover(block, {})),
      rulesUs(forecast.predict(plan)) {
  findOffers();
}

double DiscoveryPrompt::predictWith(ArrayRef<Proposal> kept) {
  return forecast.predict(kept) + forecast.predict(forecast.cover(block, kept));
}

bool DiscoveryPrompt::isOwn(const Proposal &pattern) const {
  return fact::isOwn(pattern, plan);
}

std::vector<Proposal> DiscoveryPrompt::complete(ArrayRef<Proposal> kept) const {
  std::vector<Proposal> all(kept.begin(), kept.end());
  llvm::append_range(all, forecast.cover(block, kept));
  return all;
}

std::vector<StandingPattern>
DiscoveryPrompt::compare(ArrayRef<Proposal> kept) const {
  std::vector<StandingPattern> shown;
  for (auto [proposal, pattern] :
       llvm::zip_equal(kept, compareWithRules(kept.size(), complete(kept), plan,
                                              fusibility)))
    if (isShown(proposal))
      shown.push_back(std::move(pattern));
  return shown;
}

std::vector<std::string>
DiscoveryPrompt::getProblems(ArrayRef<Proposal> all) const {
  std::vector<std::string> problems;
  for (const Proposal &proposal : all)
    problems.push_back(getProblemId(proposal, fusibility));
  return problems;
}

/// Whether the text has a line for an op of it; else it is one of a repeat.
bool DiscoveryPrompt::isShown(const Proposal &proposal) const {
  return llvm::any_of(proposal.ops,
                      [&](Operation *op) { return graph.isShown(op); });
}

//===----------------------------------------------------------------------===//
// Rules and spaces
//===----------------------------------------------------------------------===//

/// Adds the family that takes a group, if one does.
void DiscoveryPrompt::consider(Offer &offer, const OpGroup &group) {
  FusedOp fused = fusibility.outline(offer.rule->name, group);
  llvm::scope_exit erase([&] { fused->erase(); });
  Silence silence(fused);
  FailureOr<std::unique_ptr<Plan>> plan =
      fusibility.getTarget().plan(fused, silence);
  if (failed(plan) || failed((*plan)->checkSpace({}, silence)))
    return;
  const Family *family = &(*plan)->getFamily();
  if (!llvm::is_contained(offer.families, family))
    offer.families.push_back(family);
  auto space = dyn_cast<SpaceAttr>((*plan)->getSpace());
  if (space && !space.getKind()->parameters.empty() &&
      llvm::none_of(offer.spaces, [&](SpaceAttr known) {
        return known.getKind() == space.getKind();
      }))
    offer.spaces.push_back(space);
}

void DiscoveryPrompt::findOffers() {
  for (const Rule *rule : fusibility.getTarget().getRules()) {
    Offer offer{rule, {}, {}};
    for (Operation &op : block.without_terminator()) {
      if (!Fusibility::isFusible(&op) || !graph.isShown(&op))
        continue;
      OpGroup group;
      if (rule->seed)
        group = rule->seed(&op, Fusibility::isFusible);
      else
        group.insert(&op);
      if (!group.empty())
        consider(offer, group);
    }
    for (const Proposal &proposal : plan)
      if (proposal.rule == rule->name)
        consider(offer, proposal.ops);
    if (!offer.families.empty())
      offers.push_back(std::move(offer));
  }
}

std::vector<std::string> DiscoveryPrompt::getRules() const {
  std::vector<std::string> names;
  for (const Offer &offer : offers)
    names.push_back(offer.rule->name);
  return names;
}

std::string DiscoveryPrompt::writeRules() const {
  std::string text;
  for (const Offer &offer : offers) {
    text += "## " + offer.rule->name + "\n" + offer.rule->page + "\n";
    // Families of one rule may share a text.
    SmallVector<StringRef> limits;
    for (const Family *family : offer.families)
      if (StringRef own = family->getLimits();
          !own.empty() && !llvm::is_contained(limits, own))
        limits.push_back(own);
    for (StringRef own : limits)
      text +=
          ("Limits" +
           (limits.size() > 1
                ? " of one of its " + std::to_string(limits.size()) + " kernels"
                : std::string()) +
           ": " + own + "\n")
              .str();
  }
  return text;
}

std::string DiscoveryPrompt::writeSpaces() const {
  std::string text;
  SmallVector<const ScheduleKind *> seen;
  for (const Offer &offer : offers)
    for (SpaceAttr space : offer.spaces) {
      const ScheduleKind *kind = space.getKind();
      if (llvm::is_contained(seen, kind))
        continue;
      seen.push_back(kind);
      text += describeSchedule(fusibility.getTarget(), *kind) +
              "Default for one kernel of this graph:";
      for (const auto &[name, words] : getLists(space))
        text += " " + name + " [" + llvm::join(words, ", ") + "]";
      text += ".\n";
    }
  return text;
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

/// Quotes and truncates an entry's reason, which is untrusted text.
static std::string quoteReason(const std::string &reason) {
  constexpr size_t longest = 200;
  std::string text = chat::sanitize(reason, longest);
  std::replace(text.begin(), text.end(), '"', '\'');
  return ", \"" + text + "\"";
}

/// Whether a probed machine is of the target's architecture: the name of a host
/// begins with it ("x86_64, "), that of a GPU has it without a letter ("sm_90"
/// for "sm_90a").
static bool isOf(StringRef machine, const Target &target) {
  if (std::optional<Target::Processor> processor = target.getProcessor())
    return machine.starts_with(processor->architecture + ", ");
  return machine.contains(
      target.getMachine().architecture.rtrim("abcdefghijklmnopqrstuvwxyz"));
}

/// The best that kernels of each rule reached, and the rates that machines of
/// this architecture reached: published peaks are out of reach.
std::string DiscoveryPrompt::writeReached() const {
  constexpr size_t longest = 100;
  std::string text;
  for (const Offer &offer : offers)
    if (std::optional<registry::Reached> best =
            retrieval.findBestShare(offer.rule->name))
      text += llvm::formatv("{0}: at best {1:P0} of light, on {2}\n",
                            offer.rule->name, best->solShare,
                            chat::sanitize(best->machine, longest));
  for (const tuning::Ceilings &ceilings : tuning::listProbedMachines()) {
    if (!isOf(ceilings.machine, fusibility.getTarget()))
      continue;
    text += chat::sanitize(ceilings.machine, longest) + " reaches";
    for (const auto &[name, rate] : ceilings.rates)
      text += llvm::formatv(" {0} {1:F3} T/s,", name, rate.best() / 1e12);
    text += llvm::formatv(" and {0:F2} us per launch\n",
                          1e6 * ceilings.launchSeconds);
  }
  return text.empty() ? "Nothing is known.\n" : text;
}

/// A line per entry.
static std::string describe(const registry::Entry &entry) {
  std::string text = llvm::formatv(
      "{0} | {1} | {2} | {3}", entry.getId(), entry.problem.ops,
      entry.problem.getExtentsText(), registry::getName(entry.getStatus()));
  unsigned shown = 0;
  for (const registry::Schedule &schedule : entry.schedules) {
    if (++shown > 3)
      break;
    if (schedule.status == registry::Status::Accepted)
      text += llvm::formatv(" | {0}: {1:F1} us, {2:P0} of light", schedule.key,
                            schedule.us, schedule.solShare);
    else
      text += " | " + schedule.key + ": " + registry::getName(schedule.status) +
              (schedule.reason.empty() ? "" : quoteReason(schedule.reason));
  }
  return text + describeGains(entry.gains, /*withMachine=*/true);
}

/// The entries of the same type nearest to the groups that the rules would
/// make, each once.
std::string DiscoveryPrompt::writeEntries() const {
  constexpr size_t nearest = 3;
  std::string text;
  llvm::SmallPtrSet<const registry::Entry *, 16> seen;
  for (const Proposal &proposal : plan) {
    FusedOp fused = fusibility.outline(proposal.rule, proposal.ops);
    llvm::scope_exit erase([&] { fused->erase(); });
    std::string dtype = getProblem(fused, fusibility.getTarget()).dtype, lines;
    size_t count = 0;
    for (const registry::Match &match : retrieval.find(fused)) {
      if (match.entry->problem.dtype != dtype || count++ == nearest)
        continue;
      if (seen.insert(match.entry).second)
        lines += describe(*match.entry) + "\n";
    }
    if (!lines.empty())
      text += "Near " + proposal.rule + " of " + graph.getIds(proposal.ops) +
              ":\n" + lines;
  }
  if (text.empty())
    return "Nothing near this graph: every strategy is NEW.\n";
  return "Entry | ops | extents (`tensors`: traffic beside the factors of a "
         "product, in tensors of the result's size) | status | schedules\n" +
         text;
}

//===----------------------------------------------------------------------===//
// Groupings
//===----------------------------------------------------------------------===//

/// What is known of a kernel's speed beside its prediction: what was measured
/// of it in this run, and what its form gained in a whole program, here or as
/// the registry knows.
std::string DiscoveryPrompt::describeKernel(const Proposal &proposal) const {
  FusedOp fused = fusibility.outline(proposal.rule, proposal.ops);
  llvm::scope_exit erase([&] { fused->erase(); });
  const registry::Measurements *known =
      measured
          ? measured->find(getProblem(fused, fusibility.getTarget()).getId())
          : nullptr;
  std::string text;
  if (known) {
    const registry::Measurements::Attempt &best = *known->getBest();
    size_t verified = llvm::count_if(
        known->attempts, [](const registry::Measurements::Attempt &attempt) {
          return attempt.isAccepted();
        });
    text = llvm::formatv(" predicted, {0:F2} us measured, {1}; {2}; best {3}; "
                         "{4} of {5} schedules verified",
                         best.us, describeShares(*known, best.us),
                         describeWork(*known), best.key, verified,
                         known->attempts.size());
    if (!known->gains.empty())
      return text + describeGains(known->gains, /*withMachine=*/false);
  }
  for (const registry::Match &match : retrieval.find(fused))
    if (match.relation == registry::Relation::Reuse)
      return text + describeGains(match.entry->gains, /*withMachine=*/true);
  return text;
}

std::string DiscoveryPrompt::writeLine(const Proposal &proposal) {
  return llvm::formatv("{0} {1}: {2:F2} us{3}\n", proposal.rule,
                       graph.getIds(proposal.ops), forecast.predict(proposal),
                       describeKernel(proposal));
}

/// The rules' own grouping, without what repeats.
std::string DiscoveryPrompt::writePlan() {
  std::string text;
  for (const Proposal &proposal : plan)
    if (isShown(proposal))
      text += writeLine(proposal);
  return text +
         llvm::formatv("All kernels together: {0:F2} us\n", rulesUs).str();
}

std::string DiscoveryPrompt::write(unsigned answers) {
  return fill(answers, "");
}

std::string DiscoveryPrompt::write(unsigned answers, ArrayRef<Proposal> kept,
                                   const MeasuredGrouping &measured) {
  this->measured = &measured;
  llvm::scope_exit forget([&] { this->measured = nullptr; });
  std::string kernels, programs;
  for (const Proposal &proposal : complete(kept))
    if (isShown(proposal))
      kernels += writeLine(proposal);
  if (const registry::GroupingRace &race = measured.getRace(); race.us > 0)
    programs = llvm::formatv(
        "Whole programs, called in turn: this grouping {0:F2} us, the rules' "
        "{1:F2} us, ratio {2:F3} ({3:F3} to {4:F3}).\n",
        race.us, race.rulesUs, race.ratio, race.low, race.high);
  else
    programs = "The rules' grouping was not timed beside it: it is the same, "
               "or could not be.\n";
  return fill(answers, fillPrompt(getPrompt("regroup.md"),
                                  {{"kernels", std::move(kernels)},
                                   {"programs", std::move(programs)}}));
}

std::string DiscoveryPrompt::fill(unsigned answers, std::string measured) {
  const Target &target = fusibility.getTarget();
  return fillPrompt(
      getPrompt("discover.md"),
      {{"rules", writeRules()},
       {"schedules", writeSpaces()},
       {"example", chat::getPatternExample(getExampleSpace(target))},
       {"machine", describeMachine(target.getMachine())},
       {"reached", writeReached()},
       {"registry", writeEntries()},
       {"graph", graph.getText().str()},
       {"plan", writePlan()},
       {"measured", std::move(measured)},
       {"answers", countAnswers(answers)}});
}

std::string
DiscoveryPrompt::writeFeedback(StringRef problem,
                               ArrayRef<chat::JudgedProposal> judged,
                               ArrayRef<Proposal> kept, unsigned answers) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!problem.empty())
    os << "Your answer could not be used: " << problem << "\n";
  size_t rejected = 0;
  for (auto [i, verdict] : llvm::enumerate(judged))
    if (!verdict.accepted && ++rejected <= maxVerdicts)
      os << "Pattern " << i << " ("
         << chat::sanitize(verdict.what, maxVerdictBytes) << ") was rejected: "
         << chat::sanitize(verdict.reason, maxVerdictBytes) << "\n";
  if (rejected > maxVerdicts)
    os << rejected - maxVerdicts << " more patterns were rejected.\n";
  if (!kept.empty()) {
    os << "Accepted so far, with predicted times and, where a program was "
          "measured with another form of the kernel, what this one gains:\n";
    size_t lines = 0, left = 0;
    for (const Proposal &proposal : kept) {
      if (!isShown(proposal))
        continue;
      if (++lines <= maxKeptLines)
        os << writeLine(proposal);
      else
        ++left;
    }
    if (left)
      os << "and " << left << " more\n";
    double us = predictWith(kept);
    os << llvm::formatv("With these, and the rules for all other ops, the "
                        "graph is predicted to take {0:F2} us; by the rules "
                        "alone {1:F2} us.\n",
                        us, rulesUs);
    if (isSlower(us, rulesUs))
      os << "Your grouping is slower than the rules alone: revise the patterns "
            "that lose, or leave those ops to the rules.\n";
  }
  os << "Answer in the same form. Accepted patterns stand, unless a legal "
        "pattern of your next answer shares an op with them and replaces them; "
        "a pattern of the rule `rules` leaves its ops to the rules. "
        "Send {\"patterns\": []} when there is nothing to change. "
     << countAnswers(answers) << "\n";
  return text;
}
