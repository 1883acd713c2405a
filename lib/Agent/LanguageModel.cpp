//===- LanguageModel.cpp - The agent that asks a chat model ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One prompt per round. An answer is parsed into typed data (Chat/Answer), then
// resolved to proposals on ops of the graph. Rejected ones go back to the model
// with the compiler's diagnostics, until all are accepted or a limit is
// reached.
//
//===----------------------------------------------------------------------===//

#include "fact/Agent/LanguageModel.h"
#include "Dialogue.h"
#include "GraphText.h"
#include "SpaceLists.h"
#include "fact/Fusion/Retrieval.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir;
using namespace fact;

namespace {
class LanguageModelAgent : public Agent {
public:
  LanguageModelAgent(ModuleOp module, const AgentOptions &options,
                     const Retrieval &retrieval, DiscoveryReport &report)
      : retrieval(retrieval), report(report),
        dialogue(module, options, report) {}

  LogicalResult open() { return dialogue.open(); }

  std::vector<Proposal> propose(const GroupedBlock &decided,
                                const Fusibility &fusibility) override;
  bool review(ArrayRef<Verdict> verdicts) override;

private:
  std::string writePrompt(const GroupedBlock &decided,
                          const Fusibility &fusibility) const;
  std::string writeEntries(const GroupedBlock &decided,
                           const Fusibility &fusibility) const;
  std::string writeFeedback(const GroupedBlock &decided) const;
  FailureOr<Proposal> resolve(const chat::Pattern &pattern,
                              const GroupedBlock &decided,
                              const Fusibility &fusibility,
                              std::string &reason);
  std::vector<Proposal> read(const std::string &content,
                             const GroupedBlock &decided,
                             const Fusibility &fusibility);

  const Retrieval &retrieval;
  DiscoveryReport &report;
  Dialogue dialogue;
  std::unique_ptr<GraphText> graph;
  std::string schema;
  /// The ops of a proposal, and the index of its pattern in the answer.
  struct Asked {
    size_t pattern;
    OpGroup ops;
  };
  /// The last answer: its parse error, the verdicts on its patterns in order,
  /// and the proposals for them.
  std::string problem;
  std::vector<chat::JudgedProposal> judged;
  std::vector<Asked> asked;
  size_t points = 0;
  Block *block = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

/// Quotes and truncates an entry's reason, which is untrusted text.
static std::string quoteReason(const std::string &reason) {
  constexpr size_t longest = 200;
  std::string text = chat::sanitize(reason, longest);
  std::replace(text.begin(), text.end(), '"', '\'');
  return ", \"" + text + "\"";
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
  return text;
}

/// The entries nearest to the groups that the rules would make, each once.
std::string
LanguageModelAgent::writeEntries(const GroupedBlock &decided,
                                 const Fusibility &fusibility) const {
  constexpr size_t nearest = 3;
  std::string text;
  llvm::SmallPtrSet<const registry::Entry *, 16> seen;
  for (const Proposal &proposal :
       createRulesAgent(retrieval)->propose(decided, fusibility)) {
    FusedOp fused = fusibility.outline(proposal.rule, proposal.ops);
    std::vector<registry::Match> matches = retrieval.find(fused);
    fused->erase();
    for (size_t i = 0; i < std::min(nearest, matches.size()); ++i)
      if (seen.insert(matches[i].entry).second)
        text += describe(*matches[i].entry) + "\n";
  }
  return text.empty() ? "Nothing near this graph.\n"
                      : "Entry | ops | extents | status | schedules\n" + text;
}

std::string
LanguageModelAgent::writePrompt(const GroupedBlock &decided,
                                const Fusibility &fusibility) const {
  const Target &target = fusibility.getTarget();
  const MachineDescription &machine = target.getMachine();
  std::string rules;
  std::vector<std::string> names;
  for (const Rule *rule : target.getRules()) {
    rules += "## " + rule->name + "\n" + rule->page + "\n";
    names.push_back(rule->name);
  }
  // This schema does not list the op ids, which are in the graph.
  return fillPrompt(
      getPrompt("discover.md"),
      {{"graph", graph->getText().str()},
       {"machine", describeMachine(machine)},
       {"rules", rules},
       {"schedules", describeSchedules(target)},
       {"registry", writeEntries(decided, fusibility)},
       {"schema", chat::getPatternSchema(names)},
       {"example", chat::getPatternExample(getExampleSpace(target))}});
}

/// The verdicts on the last answer, and the request for the next one.
std::string
LanguageModelAgent::writeFeedback(const GroupedBlock &decided) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!problem.empty())
    os << "Your answer could not be used: " << problem << "\n";
  for (auto [i, verdict] : llvm::enumerate(judged))
    if (!verdict.accepted)
      os << "Pattern " << i << " (" << verdict.what
         << ") was rejected: " << verdict.reason << "\n";
  if (decided.size()) {
    os << "Accepted, and taken:";
    for (size_t i = 0; i < decided.size(); ++i)
      if (llvm::any_of(decided[i],
                       [&](Operation *op) { return graph->isShown(op); }))
        os << " " << graph->getIds(decided[i]) << ";";
    os << "\n";
  }
  os << "Send patterns for ops that are not taken, in the same form, "
        "correcting what was rejected. Send {\"patterns\": []} when there is "
        "nothing to add.\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

FailureOr<Proposal>
fact::resolvePattern(const chat::Pattern &pattern, const GraphText &graph,
                     const Retrieval &retrieval, const GroupedBlock &decided,
                     const Fusibility &fusibility, EmitError emitError) {
  if (!pattern.error.empty())
    return emitError() << pattern.error;
  Proposal proposal;
  proposal.rule = pattern.rule;
  proposal.priority = pattern.priority;
  proposal.rationale = pattern.rationale.empty()
                           ? "by the model, without a rationale"
                           : pattern.rationale;
  for (const std::string &id : pattern.ops) {
    Operation *op = graph.find(id);
    if (!op)
      return emitError() << "there is no op '" << id << "' in the graph";
    proposal.ops.insert(op);
  }
  MLIRContext *context = proposal.ops.front()->getContext();
  StrategyKind kind = StrategyKind::create;
  if (!pattern.strategy.empty())
    kind = *symbolizeStrategyKind(pattern.strategy);
  if (kind == StrategyKind::reuse && !pattern.space.empty())
    return emitError() << "REUSE searches the schedules of its entry, so "
                          "'space' must be []; a pattern with a space is ADAPT "
                          "or NEW";
  proposal.strategy = StrategyAttr::get(context, StrategyKind::create, "");
  if (pattern.space.empty() && kind == StrategyKind::create)
    return proposal;
  // The rule's default space, which has the parameters, needs a legal region.
  // Discovery rejects an illegal one, with the reason.
  if (fusibility.check(pattern.rule, proposal.ops, {}, decided, emitError))
    return proposal;
  FusedOp fused = fusibility.outline(pattern.rule, proposal.ops);
  llvm::scope_exit erase([&] { fused->erase(); });
  if (kind != StrategyKind::create) {
    FailureOr<Advice> advice =
        retrieval.advise(fused, kind, pattern.entry, emitError);
    if (failed(advice))
      return failure();
    proposal.strategy = advice->strategy;
    proposal.space = advice->space;
  }
  if (pattern.space.empty())
    return proposal;
  FailureOr<std::unique_ptr<Plan>> plan =
      fusibility.getTarget().plan(fused, emitError);
  if (failed(plan))
    return failure();
  FailureOr<SpaceAttrInterface> space =
      replaceLists((*plan)->getSpace(), pattern.space, emitError);
  if (failed(space))
    return failure();
  proposal.space = *space;
  return proposal;
}

/// The proposal of a pattern, or failure and a reason.
FailureOr<Proposal> LanguageModelAgent::resolve(const chat::Pattern &pattern,
                                                const GroupedBlock &decided,
                                                const Fusibility &fusibility,
                                                std::string &reason) {
  Location loc = block->getParentOp()->getLoc();
  FailureOr<Proposal> proposal = [&]() -> FailureOr<Proposal> {
    ScopedDiagnosticHandler handler(
        loc.getContext(), [&](Diagnostic &diagnostic) {
          if (reason.empty())
            reason = chat::sanitize(diagnostic.str(), maxReasonBytes);
          return success();
        });
    FailureOr<Proposal> proposal =
        resolvePattern(pattern, *graph, retrieval, decided, fusibility,
                       [&] { return emitError(loc); });
    if (succeeded(proposal) && proposal->space &&
        (points += countPoints(proposal->space)) > maxPointsOfAnswer)
      return emitError(loc) << "the spaces of the answer have more than "
                            << maxPointsOfAnswer << " points in total";
    return proposal;
  }();
  if (succeeded(proposal)) {
    // Discovery judges the proposal, and gives the reason.
    reason.clear();
    return proposal;
  }
  ++report.proposed;
  ++report.rejected["answer"];
  StringRef name = pattern.rule.empty() ? "answer" : StringRef(pattern.rule);
  remark::failed(loc, remark::RemarkOpts::name(name).category("fact-discover"))
      << remark::add("rejected") << remark::reason("{0}", reason);
  return failure();
}

std::vector<Proposal> LanguageModelAgent::read(const std::string &content,
                                               const GroupedBlock &decided,
                                               const Fusibility &fusibility) {
  chat::PatternAnswer answer = chat::readPatterns(content);
  problem = answer.error;
  points = 0;
  // Patterns of equal priority stay in the order of the answer.
  std::multimap<int64_t, size_t, std::greater<>> byPriority;
  for (auto [i, pattern] : llvm::enumerate(answer.patterns)) {
    byPriority.emplace(pattern.priority, i);
    judged.push_back(
        {pattern.rule + ": " + llvm::join(pattern.ops, " "), false, ""});
  }
  std::vector<Proposal> proposals;
  for (auto [priority, index] : byPriority) {
    chat::Pattern pattern = answer.patterns[index];
    for (std::vector<std::string> &ops : graph->getRepeats(pattern.ops)) {
      pattern.ops = std::move(ops);
      FailureOr<Proposal> proposal =
          resolve(pattern, decided, fusibility, judged[index].reason);
      // An error in one is an error in all of its repeats.
      if (failed(proposal))
        break;
      asked.push_back({index, proposal->ops});
      proposals.push_back(std::move(*proposal));
    }
  }
  return proposals;
}

std::vector<Proposal>
LanguageModelAgent::propose(const GroupedBlock &decided,
                            const Fusibility &fusibility) {
  std::string message;
  if (block != &decided.getBlock()) {
    block = &decided.getBlock();
    graph = std::make_unique<GraphText>(*block,
                                        fusibility.getTarget().getMachine());
    std::vector<std::string> rules;
    for (const Rule *rule : fusibility.getTarget().getRules())
      rules.push_back(rule->name);
    std::vector<std::string> ids;
    for (Operation &op : *block)
      if (std::string id = graph->getId(&op);
          !id.empty() && graph->isShown(&op))
        ids.push_back(std::move(id));
    schema = chat::getPatternSchema(rules, ids);
    StringRef target = fusibility.getTarget().getMachine().name;
    dialogue.begin((graph->getHash() + "-" + target).str(), target);
    message = writePrompt(decided, fusibility);
  } else {
    message = writeFeedback(decided);
  }
  problem.clear();
  judged.clear();
  asked.clear();
  std::optional<std::string> answer = dialogue.ask(std::move(message), schema);
  if (!answer)
    return {};
  return read(*answer, decided, fusibility);
}

bool LanguageModelAgent::review(ArrayRef<Verdict> verdicts) {
  for (auto [asked, verdict] : llvm::zip_equal(this->asked, verdicts)) {
    chat::JudgedProposal &pattern = judged[asked.pattern];
    if (!verdict.obstacle || !pattern.reason.empty())
      continue;
    OpGroup meant = asked.ops;
    if (verdict.op) {
      meant.clear();
      meant.insert(verdict.op);
    }
    pattern.reason =
        chat::sanitize(graph->nameOps(verdict.reason, meant), maxReasonBytes);
  }
  bool satisfied = problem.empty();
  for (chat::JudgedProposal &pattern : judged)
    satisfied &= pattern.accepted = pattern.reason.empty();
  std::vector<chat::JudgedProposal> said = judged;
  if (!problem.empty())
    said.push_back({"the answer", false, problem});
  // Without an answer, `ask` has recorded why.
  if (!said.empty())
    dialogue.record(std::move(said));
  if (satisfied || !dialogue.canAsk()) {
    if (!problem.empty())
      dialogue.giveUp(problem);
    return false;
  }
  return true;
}

static std::unique_ptr<Agent>
createLanguageModelAgent(ModuleOp module, const AgentOptions &options,
                         const Retrieval &retrieval, DiscoveryReport &report) {
  auto agent =
      std::make_unique<LanguageModelAgent>(module, options, retrieval, report);
  if (failed(agent->open()))
    return nullptr;
  return agent;
}

namespace {
/// All contexts of one dialect registry are one run: one transcript, one
/// budget.
class LanguageModelExtension
    : public DialectExtension<LanguageModelExtension, FactDialect> {
public:
  void apply(MLIRContext *, FactDialect *dialect) const override {
    AgentRegistry &agents = AgentRegistry::get(*dialect);
    agents.setMemory(memory);
    for (StringRef name : Dialogue::agents)
      agents.add(name, createLanguageModelAgent);
  }

private:
  std::shared_ptr<AgentMemory> memory = std::make_shared<AgentMemory>();
};
} // namespace

void fact::registerLanguageModelAgents(DialectRegistry &registry) {
  registry.addExtensions<LanguageModelExtension>();
}
