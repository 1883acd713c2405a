//===- Dialogue.h - A conversation within limits ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_DIALOGUE_H
#define FACT_LIB_AGENT_DIALOGUE_H

#include "Chat/Answer.h"
#include "Session.h"

namespace fact {
/// Of one rejection, as a model reads it: diagnostics may quote the model's own
/// words, or names of the graph.
inline constexpr size_t maxReasonBytes = 2000;

class GraphText;

/// What a model proposes, about the ops of a graph; an error says what there is
/// none of. Whether one kernel can take them is for Fusibility to say.
mlir::FailureOr<Proposal>
resolvePattern(const chat::Pattern &pattern, const GraphText &graph,
               const Retrieval &retrieval, const GroupedBlock &decided,
               const Fusibility &fusibility, EmitError emitError);

/// Conversations of a session within the limits of the options: counts, keeps
/// the transcript, and ends with a warning when no answer is to be had.
class Dialogue {
public:
  Dialogue(mlir::ModuleOp module, const AgentOptions &options,
           DiscoveryReport &report)
      : module(module), options(options), report(report),
        session(getSession(options)) {}

  /// Whether the agent of the options is a language model, or a recorded one.
  static bool isHeldBy(const AgentOptions &options) {
    return options.agent == "llm" || options.agent == "replay";
  }

  /// Reads the options; an error names what is wrong with them.
  mlir::LogicalResult open();

  /// Starts over with a new graph and task.
  void begin(llvm::StringRef graph, llvm::StringRef target);

  /// What was measured when the conversation that is repeated took place, and
  /// what is now.
  std::vector<patterns::Measurements> getMeasurements() const;
  void setMeasurements(std::vector<patterns::Measurements> measured);

  /// Asks, with all that was said before. None: there is no answer, and the
  /// user was told.
  std::optional<std::string> ask(std::string message,
                                 const std::string &schema);

  /// Keeps what the compiler said of the last answer.
  void record(std::vector<chat::JudgedProposal> verdicts);

  /// Whether another request is within the limits.
  bool canAsk() const;

  /// Warns that the rules do the work, and why.
  void giveUp(const llvm::Twine &reason);

private:
  static std::shared_ptr<Session> getSession(const AgentOptions &options);
  bool isReplay() const { return options.agent == "replay"; }
  mlir::LogicalResult readKey(std::string &key);
  chat::Reply complete(const chat::Request &request);
  void warnOfTranscript();

  mlir::ModuleOp module;
  const AgentOptions &options;
  DiscoveryReport &report;
  std::shared_ptr<Session> session;
  chat::HttpOptions http;
  /// Of the conversation at hand: its place in the session, what `replay`
  /// repeats, and how often it was asked.
  size_t conversation = 0;
  std::optional<chat::Conversation> recorded;
  std::unique_ptr<chat::Model> model;
  std::vector<chat::Message> messages;
  unsigned said = 0;
  bool closed = false;
};

/// Fills in `{{name}}` of a prompt's text.
std::string
fillPrompt(llvm::StringRef prompt,
           llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> values);
/// The text of a prompt file.
llvm::StringRef getPrompt(llvm::StringRef file);
/// The machine in a few lines, and its schedules on a page.
std::string describeMachine(const MachineDescription &machine);
std::string describeSchedules(const Target &target);
/// A list that a space of the target's first rule may have, to show.
chat::SpaceLists getExampleSpace(const Target &target);
} // namespace fact

#endif // FACT_LIB_AGENT_DIALOGUE_H
