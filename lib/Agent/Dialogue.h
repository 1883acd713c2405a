//===- Dialogue.h - A conversation within limits ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_DIALOGUE_H
#define FACT_LIB_AGENT_DIALOGUE_H

#include "Chat/Answer.h"
#include "Session.h"

namespace fact {
/// Limit on the reason of a rejection: diagnostics may quote the model's answer
/// or names of the graph.
inline constexpr size_t maxReasonBytes = 2000;

/// Limits on what is sent back: an answer may have thousands of wrong
/// proposals.
inline constexpr size_t maxVerdicts = 16, maxVerdictBytes = 600;

class GraphText;

/// Turns a model's pattern into a proposal on the ops of a graph. Unknown ids,
/// entries and parameters are errors; Fusibility checks the rest.
mlir::FailureOr<Proposal>
resolvePattern(const chat::Pattern &pattern, const GraphText &graph,
               const Retrieval &retrieval, const GroupedBlock &decided,
               const Fusibility &fusibility, EmitError emitError);

/// Conversations of a session within the limits of the options. Counts
/// requests, writes the transcript, and warns when there is no usable answer.
class Dialogue {
public:
  Dialogue(mlir::ModuleOp module, const AgentOptions &options,
           DiscoveryReport &report)
      : module(module), options(options), report(report),
        session(getSession(options)) {}

  /// The agents that hold one.
  static constexpr llvm::StringLiteral agents[] = {"llm", "replay"};
  /// Whether the agent of the options is a language model, or a recorded one.
  static bool isHeldBy(const AgentOptions &options) {
    return llvm::is_contained(agents, options.agent);
  }

  /// Checks the options and opens the session; emits an error on failure.
  mlir::LogicalResult open();

  /// Whether a conversation may begin: for `replay`, whether one is recorded.
  bool canBegin(llvm::StringRef graph) const {
    return !isReplay() || session->isRecorded(graph);
  }

  /// Starts a conversation about a graph.
  void begin(llvm::StringRef graph, llvm::StringRef target);

  /// The measurements of the replayed conversation; empty without one.
  std::vector<registry::Measurements> getMeasurements() const;
  /// Records the measurements of this conversation.
  void setMeasurements(std::vector<registry::Measurements> measured);

  /// Sends the conversation so far and `message`. None: there was no answer,
  /// and a warning says why.
  std::optional<std::string> ask(std::string message,
                                 const std::string &schema);

  /// The tokens and seconds of the last request.
  int64_t getLastTokens() const { return lastTokens; }
  double getLastSeconds() const { return lastSeconds; }

  /// Records the verdicts on the last answer.
  void record(std::vector<chat::JudgedProposal> verdicts);

  /// Whether another request is within the limits.
  bool canAsk() const;

  /// The answers that may still follow, as far as `llm-rounds` says.
  unsigned countLeft() const {
    return options.rounds > said ? options.rounds - said : 0;
  }

  /// Ends the conversation, with a warning that the rules do the rest.
  void giveUp(const llvm::Twine &reason);

  /// The run that the options' memory keeps.
  static std::shared_ptr<Session> getSession(const AgentOptions &options);
  Session &getRun() { return *session; }

private:
  bool isReplay() const { return options.agent == "replay"; }
  mlir::LogicalResult readKey(std::string &key);
  chat::Reply complete(const chat::Request &request);
  chat::Reply waitForReply(const chat::Request &request);
  void warnOfTranscript();

  mlir::ModuleOp module;
  const AgentOptions &options;
  DiscoveryReport &report;
  std::shared_ptr<Session> session;
  chat::HttpOptions http;
  /// The current conversation: its index in the session, the recording that
  /// `replay` uses, and the number of requests.
  size_t conversation = 0;
  std::optional<chat::Conversation> recorded;
  std::unique_ptr<chat::Model> model;
  std::vector<chat::Message> messages;
  unsigned said = 0;
  int64_t lastTokens = 0;
  double lastSeconds = 0;
  bool closed = false;
};

/// Replaces each `{{name}}` of a prompt.
std::string
fillPrompt(llvm::StringRef prompt,
           llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> values);
/// The text of a prompt file.
llvm::StringRef getPrompt(llvm::StringRef file);
/// "2 more answers of yours are read."
std::string countAnswers(unsigned answers);
/// The machine and its schedules, for prompts.
std::string describeMachine(const MachineDescription &machine);
std::string describeSchedules(const Target &target);
/// An example list for a space of the target's first rule.
chat::SpaceLists getExampleSpace(const Target &target);
} // namespace fact

#endif // FACT_LIB_AGENT_DIALOGUE_H
