//===- LanguageModel.h - The agent that asks a chat model ---------*- C++ -*-===//

#ifndef FACT_AGENT_LANGUAGEMODEL_H
#define FACT_AGENT_LANGUAGEMODEL_H

#include "Chat/Answer.h"
#include "Chat/Transcript.h"
#include "fact/Agent/Discovery.h"

namespace fact {
/// The agents `llm` and `replay`. Null after an error that names what is wrong
/// with the options.
std::unique_ptr<Agent>
createLanguageModelAgent(mlir::ModuleOp module, const DiscoveryOptions &options,
                         const Retrieval &retrieval, DiscoveryReport &report);

class GraphText;

/// What a model proposes, about the ops of a graph; an error says what there is
/// none of. Whether one kernel can take them is for Fusibility to say.
mlir::FailureOr<Proposal>
resolvePattern(const chat::Pattern &pattern, const GraphText &graph,
               const Retrieval &retrieval, const GroupedBlock &decided,
               const Fusibility &fusibility, EmitError emitError);

/// A conversation within the limits of the options: it counts, keeps the
/// transcript, and ends with a warning when no answer is to be had.
class Dialogue {
public:
  Dialogue(mlir::ModuleOp module, const DiscoveryOptions &options,
           DiscoveryReport &report)
      : module(module), options(options), report(report) {}

  /// Reads the options; an error names what is wrong with them.
  mlir::LogicalResult open();

  /// Starts over with a new graph and task.
  void begin(llvm::StringRef graph, llvm::StringRef target);

  /// Asks, with all that was said before. Null: there is no answer, and the
  /// user was told.
  const chat::Reply *ask(std::string message, const std::string &schema);

  /// Keeps what the compiler said of the last answer.
  void record(std::vector<chat::JudgedProposal> verdicts);

  /// Whether another request is within the limits.
  bool canAsk() const;

  /// Warns that the rules do the work, and why.
  void giveUp(const llvm::Twine &reason);

private:
  mlir::LogicalResult readKey(std::string &key);
  std::string defaultTranscript() const;
  void save();

  mlir::ModuleOp module;
  const DiscoveryOptions &options;
  DiscoveryReport &report;
  chat::HttpOptions http;
  chat::Transcript transcript;
  /// What `replay` repeats, and the rounds of the conversation at hand.
  chat::Transcript recorded;
  size_t repeated = 0;
  std::unique_ptr<chat::Model> model;
  std::vector<chat::Message> messages;
  double seconds = 0;
  bool closed = false;
};

/// Fills in `{{name}}` of a prompt's text.
std::string
fillPrompt(llvm::StringRef prompt,
           llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> values);
/// The text of a prompt file, and of one `## section` of it.
llvm::StringRef getPrompt(llvm::StringRef file);
llvm::StringRef getPromptSection(llvm::StringRef file, llvm::StringRef section);
/// The machine in a few lines, and its schedules on a page.
std::string describeMachine(const MachineDescription &machine);
std::string describeSchedules(const MachineDescription &machine);
} // namespace fact

#endif // FACT_AGENT_LANGUAGEMODEL_H
