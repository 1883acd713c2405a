//===- Session.h - The transcript and budget of a run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_SESSION_H
#define FACT_LIB_AGENT_SESSION_H

#include "Chat/Transcript.h"
#include "fact/Fusion/Agent.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

namespace fact {
/// The transcript and the budget of a run. Passes on nested modules may share
/// it across threads.
class Session {
public:
  /// Creates the transcript (`llm`) or reads it (`replay`), on the first call
  /// only. Returns an error, or empty.
  std::string open(const AgentOptions &options);

  /// Starts a conversation and returns its index.
  size_t begin(llvm::StringRef graph, llvm::StringRef model,
               llvm::StringRef target);
  /// Removes and returns the next recorded conversation about a graph, if any.
  std::optional<chat::Conversation> take(llvm::StringRef graph);
  /// Whether `take` would return one.
  bool isRecorded(llvm::StringRef graph);

  void setMeasurements(size_t conversation,
                       std::vector<registry::Measurements> measurements);
  void append(size_t conversation, chat::Round round);
  /// Records the verdicts on the last answer.
  void judge(size_t conversation, std::vector<chat::JudgedProposal> verdicts);

  /// Charges the budget.
  void use(double seconds, int64_t tokens);
  double getSeconds() const { return seconds; }
  int64_t getTokens() const { return tokens; }

  /// A pattern of a grouping as text, which outlives graphs and contexts:
  /// attributes as MLIR prints them.
  struct Pattern {
    std::string rule;
    std::vector<std::string> ops;
    std::string strategy, space;
    int64_t priority = 0;
    std::string rationale;
  };
  using Grouping = std::vector<Pattern>;

  /// Remembers the grouping of a graph that this round proposes.
  void remember(llvm::StringRef graph, Grouping grouping);
  /// The grouping that stands for a graph. Equal graphs are told apart by their
  /// order: one that was remembered in this round comes before this one.
  Grouping recall(llvm::StringRef graph);
  /// Ends a round of grouping: its proposals stand, or those of the round
  /// before.
  void endRound(bool stays);
  /// The same after a round on measurements: `replay` repeats what was decided.
  /// Returns whether the new grouping stays.
  bool settle(bool stays);

  /// The transcript's path.
  std::string getPath() const { return path; }
  /// The last error of writing the transcript, returned once; or empty.
  std::string takeProblem() { return std::exchange(problem, ""); }

private:
  void save();

  std::mutex mutex;
  bool opened = false, writes = false;
  std::string path, problem, told;
  chat::Transcript transcript;
  /// Conversations that `replay` has not used yet.
  chat::Transcript recorded;
  size_t replayedRounds = 0;
  /// Groupings by graph: those that stand, and those of this round.
  llvm::StringMap<std::vector<Grouping>> standing, proposed;
  double seconds = 0;
  int64_t tokens = 0;
};
} // namespace fact

#endif // FACT_LIB_AGENT_SESSION_H
