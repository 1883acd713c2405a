//===- LanguageModel.cpp - The agent that asks a chat model ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One prompt per round. An answer is parsed into typed data (Chat/Answer), then
// resolved to proposals on ops of the graph. Rejected ones go back to the model
// with the compiler's diagnostics, and so does a grouping that is predicted to
// be slower than the rules', until there is nothing to say or a limit is
// reached. Proposals of a later answer replace those of an earlier one. With
// measurements of a grouping, the conversation starts from it, and ends before
// it begins where the program is near the least time of the machine.
//
//===----------------------------------------------------------------------===//

#include "fact/Agent/LanguageModel.h"
#include "DiscoveryPrompt.h"
#include "SpaceLists.h"
#include "fact/Fusion/Retrieval.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;

namespace {
class LanguageModelAgent : public Agent {
public:
  LanguageModelAgent(ModuleOp module, const AgentOptions &options,
                     const Retrieval &retrieval, DiscoveryReport &report)
      : options(options), retrieval(retrieval), report(report),
        dialogue(module, options, report) {}

  LogicalResult open() { return dialogue.open(); }

  std::vector<Proposal> propose(const GroupedBlock &decided,
                                const Fusibility &fusibility) override;
  bool review(ArrayRef<Verdict> verdicts) override;

private:
  FailureOr<Proposal> resolve(const chat::Pattern &pattern,
                              const GroupedBlock &decided,
                              const Fusibility &fusibility,
                              std::string &reason);
  std::vector<Proposal> read(const std::string &content,
                             const GroupedBlock &decided,
                             const Fusibility &fusibility);
  void release(const chat::Pattern &pattern);
  bool isOwn(const chat::Pattern &pattern) const;
  void count();
  std::string begin(const Fusibility &fusibility);
  std::string beginMeasured(const std::string &name, StringRef machine);
  void recall(const std::string &name);
  void remember();

  const AgentOptions &options;
  const Retrieval &retrieval;
  DiscoveryReport &report;
  Dialogue dialogue;
  std::unique_ptr<GraphText> graph;
  std::unique_ptr<DiscoveryPrompt> prompt;
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
  /// The strategies of its patterns ("new"), and whether the rules would not
  /// make the same kernels.
  std::vector<std::string> strategies;
  std::vector<bool> owns;
  /// The name of the graph in transcripts.
  std::string name;
  size_t points = 0;
  Block *block = nullptr;
  /// The proposals of the current round, and those that stand after it.
  std::vector<Proposal> sent, kept;
  unsigned rounds = 0;
  bool wasToldOfTime = false;
};
} // namespace

/// The rule of a pattern that leaves its ops to the rules.
static constexpr llvm::StringLiteral toTheRules = "rules";

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
    if (failed(proposal) || !proposal->space)
      return proposal;
    points += countPoints(proposal->space);
    if (points > maxPointsOfAnswer)
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

/// Whether the rules would not make the kernel of a pattern.
bool LanguageModelAgent::isOwn(const chat::Pattern &pattern) const {
  Proposal proposal;
  proposal.rule = pattern.rule;
  for (const std::string &id : pattern.ops)
    if (Operation *op = graph->find(id))
      proposal.ops.insert(op);
  return prompt->isOwn(proposal);
}

/// Gives up the accepted proposals that share an op with a pattern.
void LanguageModelAgent::release(const chat::Pattern &pattern) {
  for (const std::vector<std::string> &ids : graph->getRepeats(pattern.ops))
    llvm::erase_if(kept, [&](const Proposal &proposal) {
      return llvm::any_of(ids, [&](const std::string &id) {
        return proposal.ops.contains(graph->find(id));
      });
    });
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
    judged.push_back(
        {pattern.rule + ": " + llvm::join(pattern.ops, " "), false, ""});
    strategies.push_back(pattern.strategy.empty() ? "new" : pattern.strategy);
    owns.push_back(pattern.rule != toTheRules && isOwn(pattern));
    if (pattern.rule == toTheRules)
      release(pattern);
    else
      byPriority.emplace(pattern.priority, i);
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
      // A repeat of a layer is no proposal of the model's own.
      proposal->counts = asked.empty() || asked.back().pattern != index;
      asked.push_back({index, proposal->ops});
      proposals.push_back(std::move(*proposal));
    }
  }
  return proposals;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Continues from the grouping of the round before.
void LanguageModelAgent::recall(const std::string &name) {
  MLIRContext *context = block->getParentOp()->getContext();
  for (const Session::Pattern &pattern : dialogue.getRun().recall(name)) {
    Proposal &proposal = kept.emplace_back();
    proposal.rule = pattern.rule;
    for (const std::string &id : pattern.ops)
      proposal.ops.insert(graph->find(id));
    proposal.strategy = dyn_cast_or_null<StrategyAttr>(
        parseAttribute(pattern.strategy, context));
    if (!pattern.space.empty())
      proposal.space = dyn_cast_or_null<SpaceAttrInterface>(
          parseAttribute(pattern.space, context));
    proposal.priority = pattern.priority;
    proposal.rationale = pattern.rationale;
    proposal.counts = false;
  }
}

void LanguageModelAgent::remember() {
  auto print = [](Attribute attribute) {
    std::string text;
    if (attribute)
      llvm::raw_string_ostream(text) << attribute;
    return text;
  };
  Session::Grouping grouping;
  for (const Proposal &proposal : kept) {
    Session::Pattern &pattern = grouping.emplace_back();
    pattern.rule = proposal.rule;
    for (Operation *op : proposal.ops)
      pattern.ops.push_back(graph->getId(op));
    pattern.strategy = print(proposal.strategy);
    pattern.space = print(proposal.space);
    pattern.priority = proposal.priority;
    pattern.rationale = proposal.rationale;
  }
  dialogue.getRun().remember(name, std::move(grouping));
}

/// Starts the conversation about a measured grouping, and returns its first
/// message; empty: there is nothing to ask.
std::string LanguageModelAgent::beginMeasured(const std::string &name,
                                              StringRef machine) {
  std::string conversation = "regroup-" + name;
  // What was measured is told, whatever was predicted.
  wasToldOfTime = true;
  recall(name);
  MeasuredGrouping measured = MeasuredGrouping::read(options.measured);
  if (!dialogue.canBegin(conversation) ||
      (options.agent != "replay" &&
       measured.isWithin(options.measuredEps,
                         prompt->getProblems(prompt->complete(kept)))))
    return "";
  dialogue.begin(conversation, machine);
  dialogue.setMeasurements(measured.getKernels());
  return prompt->write(dialogue.countLeft(), kept, measured);
}

/// Starts with another block: returns the first message, or empty.
std::string LanguageModelAgent::begin(const Fusibility &fusibility) {
  kept.clear();
  rounds = 0;
  wasToldOfTime = false;
  const Target &target = fusibility.getTarget();
  graph = std::make_unique<GraphText>(*block, target.getMachine());
  prompt =
      std::make_unique<DiscoveryPrompt>(*block, *graph, fusibility, retrieval);
  std::vector<std::string> ids;
  for (Operation &op : *block)
    if (std::string id = graph->getId(&op); !id.empty() && graph->isShown(&op))
      ids.push_back(std::move(id));
  std::vector<std::string> rules = prompt->getRules();
  rules.push_back(toTheRules.str());
  schema = chat::getPatternSchema(rules, ids);
  StringRef machine = target.getMachine().name;
  name = (graph->getHash() + "-" + machine).str();
  if (!options.measured.empty())
    return beginMeasured(name, machine);
  dialogue.begin(name, machine);
  return prompt->write(dialogue.countLeft());
}

std::vector<Proposal>
LanguageModelAgent::propose(const GroupedBlock &decided,
                            const Fusibility &fusibility) {
  std::string message;
  if (block != &decided.getBlock()) {
    block = &decided.getBlock();
    message = begin(fusibility);
  } else {
    message =
        prompt->writeFeedback(problem, judged, kept, dialogue.countLeft());
  }
  problem.clear();
  judged.clear();
  asked.clear();
  strategies.clear();
  owns.clear();
  if (message.empty())
    return sent = kept;
  ++rounds;
  std::optional<std::string> answer = dialogue.ask(std::move(message), schema);
  sent.clear();
  if (answer)
    sent = read(*answer, decided, fusibility);
  // What was accepted before gives way to what is new.
  llvm::append_range(sent, kept);
  return sent;
}

/// Counts the patterns of the last answer by strategy.
void LanguageModelAgent::count() {
  double share = judged.empty() ? 0 : 1.0 / double(judged.size());
  for (auto [strategy, isOwn, verdict] :
       llvm::zip_equal(strategies, owns, judged)) {
    auto add = [&, &verdict = verdict](PatternCounts &counts) {
      ++counts.proposed;
      if (verdict.accepted)
        ++(rounds == 1 ? counts.legalFirst : counts.legalRepaired);
      counts.tokens += share * double(dialogue.getLastTokens());
      counts.seconds += share * dialogue.getLastSeconds();
    };
    add(report.strategies[strategy]);
    if (isOwn)
      add(report.ownStrategies[strategy]);
  }
}

bool LanguageModelAgent::review(ArrayRef<Verdict> verdicts) {
  for (auto [asked, verdict] : llvm::zip_first(this->asked, verdicts)) {
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
  kept.clear();
  for (auto [proposal, verdict] : llvm::zip_equal(sent, verdicts))
    if (!verdict.obstacle) {
      kept.push_back(proposal);
      kept.back().counts = false;
    }
  bool satisfied = problem.empty();
  for (chat::JudgedProposal &pattern : judged)
    satisfied &= pattern.accepted = pattern.reason.empty();
  count();
  std::vector<chat::JudgedProposal> said = judged;
  if (!problem.empty())
    said.push_back({"the answer", false, problem});
  // Without an answer, `ask` has recorded why.
  if (!said.empty())
    dialogue.record(std::move(said));
  report.predictedUs = prompt->predictWith(kept);
  report.rulesUs = prompt->predictRules();
  // A grouping that is slower than the rules' is sent back once.
  if (satisfied && !wasToldOfTime &&
      isSlower(report.predictedUs, report.rulesUs)) {
    wasToldOfTime = true;
    satisfied = false;
  }
  if (satisfied || !dialogue.canAsk()) {
    if (!problem.empty())
      dialogue.giveUp(problem);
    remember();
    llvm::append_range(report.standing, prompt->compare(kept));
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
