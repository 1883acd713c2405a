//===- Agent.h - Agents that propose what to fuse ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_AGENT_H
#define FACT_FUSION_AGENT_H

#include "fact/Fusion/Fusibility.h"
#include "mlir/IR/DialectInterface.h"
#include <functional>
#include <map>
#include <mutex>

namespace fact {
/// A group of ops, the rule for it, and the space to search. Typed data, never
/// code.
struct Proposal {
  std::string rule;
  OpGroup ops;
  /// The registry entry to build on, and how; null: discovery decides.
  StrategyAttr strategy = {};
  /// Null: the rule's default.
  SpaceAttrInterface space = {};
  /// Larger first.
  int64_t priority = 0;
  std::string rationale = {};
  /// Whether statistics and remarks tell its verdict. Not that of a repeat of
  /// another one, or of one that was accepted in an earlier round.
  bool counts = true;
};

/// The outcome of a proposal.
struct Verdict {
  /// None: accepted.
  std::optional<Obstacle> obstacle;
  /// The diagnostic of a rejected proposal, and the op that it is about, or
  /// null.
  std::string reason;
  mlir::Operation *op = nullptr;
};

/// What became of a model's patterns of one strategy, each repeated layer once.
struct PatternCounts {
  unsigned proposed = 0;
  /// Legal in the first answer about a graph, and in a later one.
  unsigned legalFirst = 0, legalRepaired = 0;
  /// After tuning, of the patterns of the program: those with a verified
  /// kernel, and those measured to be faster than what the rules make of the
  /// same ops.
  unsigned verified = 0, faster = 0;
  /// Shares of the requests: each is divided equally among the patterns of its
  /// answer.
  double tokens = 0, seconds = 0;
};

/// A pattern of a model in the final grouping.
struct StandingPattern {
  /// "new"
  std::string strategy;
  /// Whether the rules would not make the same kernel.
  bool isOwn = false;
  /// The ids of problems: its own; and, for the smallest set of whole kernels
  /// with the pattern that is also one of the rules' grouping, those of both.
  std::string problem;
  std::vector<std::string> kernels, rulesKernels;
};

/// Counts of discovery, for statistics, summaries and benchmarks.
struct DiscoveryReport {
  std::string agent;
  /// What the agent itself proposed, each repeated layer once.
  unsigned proposed = 0;
  unsigned accepted = 0;
  /// Rejected proposals by the name of their obstacle.
  std::map<std::string, unsigned> rejected;
  /// Groups that the rules made of ops that the agent left over, and those of
  /// functions that run when weights are loaded, which agents do not see.
  unsigned covered = 0;
  unsigned prepared = 0;
  /// A language model's patterns by strategy: "new". All of them, and those
  /// that the rules would not make.
  std::map<std::string, PatternCounts> strategies, ownStrategies;
  std::vector<StandingPattern> standing;
  /// The predicted time of the last graph that a language model grouped, and
  /// that of the rules' grouping; 0 without a model.
  double predictedUs = 0, rulesUs = 0;
  /// Rounds with an agent, requests to its model, and retries after failures of
  /// the server.
  unsigned rounds = 0;
  unsigned calls = 0;
  unsigned retries = 0;
  int64_t tokensIn = 0;
  int64_t tokensOut = 0;
  double seconds = 0;
  /// Of all requests: their time, and their price by the options' prices.
  double modelSeconds = 0;
  double price = 0;
  /// Why the rules took over from another agent; empty: they did not.
  std::string fallback;
  /// The transcript that replays this run.
  std::string transcript;

  /// Adds the requests of a later conversation; `add`, also what it proposed.
  void addRequests(const DiscoveryReport &later);
  void add(const DiscoveryReport &later);

  unsigned getRejected() const {
    unsigned sum = 0;
    for (const auto &[reason, count] : rejected)
      sum += count;
    return sum;
  }
};

/// Proposes groups of ops of one block. Fusibility checks every proposal before
/// the graph changes.
class Agent {
public:
  virtual ~Agent() = default;

  /// Proposes groups of ops that are in no decided group, for the first round
  /// or, after `review` asked for another one, in place of the last.
  virtual std::vector<Proposal> propose(const GroupedBlock &decided,
                                        const Fusibility &fusibility) = 0;

  /// Receives the verdicts in the order of the proposals. True asks for another
  /// round.
  virtual bool review(llvm::ArrayRef<Verdict> verdicts) { return false; }
};

/// State that agents keep between passes, or between the stages of a
/// compilation, such as the conversation with a model.
class AgentMemory {
public:
  /// The state under a key, created on first use.
  template <typename StateT> std::shared_ptr<StateT> get(std::string key) {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<void> &state = states[std::move(key)];
    if (!state)
      state = std::make_shared<StateT>();
    return std::static_pointer_cast<StateT>(state);
  }

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<void>> states;
};

struct AgentOptions {
#define FACT_AGENT_OPTION(type, field, flag, value, initial, help)             \
  type field = initial;
#include "fact/Fusion/AgentOptions.def"

  /// The bundle that has the measurements of the grouping to revise, and the
  /// share above the least time within which a program needs no revision.
  /// Empty: the first grouping.
  std::string measured;
  double measuredEps = 0;

  /// Discovery and refinement that share one are one run: one transcript and
  /// one budget. Null: a run of its own.
  AgentMemory *memory = nullptr;

  /// Told what an agent waits for, and "" when it goes on. May be empty.
  std::function<void(const std::string &)> progress;
};

class Retrieval;

/// The embedded rules: deterministic, offline, and complete (every op that has
/// a kernel gets one).
std::unique_ptr<Agent> createRulesAgent(const Retrieval &retrieval);

/// The agents of a context beside the rules, by name.
class AgentRegistry : public mlir::DialectInterface::Base<AgentRegistry> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AgentRegistry)
  /// Returns null after an error that names what is wrong with the options.
  using CreateAgent = std::unique_ptr<Agent> (*)(mlir::ModuleOp module,
                                                 const AgentOptions &options,
                                                 const Retrieval &retrieval,
                                                 DiscoveryReport &report);

  explicit AgentRegistry(mlir::Dialect *dialect) : Base(dialect) {}

  /// The registry of a dialect, created on first use.
  static AgentRegistry &get(FactDialect &dialect);

  void add(llvm::StringRef name, CreateAgent create);

  /// The memory of passes with an agent. Contexts of one tool may share it.
  AgentMemory &getMemory() { return *memory; }
  void setMemory(std::shared_ptr<AgentMemory> shared) {
    memory = std::move(shared);
  }

  /// The factory of the options' agent, null for the rules. The diagnostic
  /// about an unknown agent lists the known ones.
  static mlir::FailureOr<CreateAgent> find(mlir::ModuleOp module,
                                           const AgentOptions &options);

private:
  std::map<std::string, CreateAgent> agents;
  std::shared_ptr<AgentMemory> memory = std::make_shared<AgentMemory>();
};
} // namespace fact

#endif // FACT_FUSION_AGENT_H
