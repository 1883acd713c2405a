//===- Session.h - A run with a model -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_SESSION_H
#define FACT_LIB_AGENT_SESSION_H

#include "Chat/Transcript.h"
#include "fact/Fusion/Agent.h"
#include <mutex>

namespace fact {
/// All that was said and used in a run: one transcript, one budget. Passes of
/// nested modules may share it on several threads.
class Session {
public:
  /// Names the file and starts it (`llm`), or reads it (`replay`); once. Says
  /// what went wrong, or nothing.
  std::string open(const AgentOptions &options);

  /// Starts a conversation; `append` and `judge` go on with it.
  size_t begin(llvm::StringRef graph, llvm::StringRef model,
               llvm::StringRef target);
  /// Takes the next recorded conversation about a graph; none: there is none.
  std::optional<chat::Conversation> take(llvm::StringRef graph);

  void setMeasurements(size_t conversation,
                       std::vector<patterns::Measurements> measurements);
  void append(size_t conversation, chat::Round round);
  /// What the compiler said of the last answer.
  void judge(size_t conversation, std::vector<chat::JudgedProposal> verdicts);

  void use(double seconds, int64_t tokens);
  double getSeconds() const { return seconds; }
  int64_t getTokens() const { return tokens; }

  /// The file that repeats the run, and what went wrong with it, told once.
  std::string getPath() const { return path; }
  std::string takeProblem() { return std::exchange(problem, ""); }

private:
  void save();

  std::mutex mutex;
  bool opened = false, writes = false;
  std::string path, problem, told;
  chat::Transcript transcript;
  /// What `replay` has not repeated yet.
  chat::Transcript recorded;
  double seconds = 0;
  int64_t tokens = 0;
};
} // namespace fact

#endif // FACT_LIB_AGENT_SESSION_H
