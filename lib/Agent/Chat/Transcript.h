//===- Transcript.h - Recorded conversations --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_CHAT_TRANSCRIPT_H
#define FACT_AGENT_CHAT_TRANSCRIPT_H

#include "Chat.h"
#include "fact/Tuning/Learn.h"

namespace fact {
namespace chat {

/// The compiler's verdict on a proposal.
struct JudgedProposal {
  std::string what;
  bool accepted = false;
  std::string reason;
};

struct Round {
  Request request;
  Reply reply;
  std::vector<JudgedProposal> verdicts;
};

/// Every request and reply about one graph, without keys.
struct Conversation {
  /// A hash of the graph or of its kernels, and the machine.
  std::string graph;
  std::vector<Round> rounds;
  /// The measurements in its prompt, which a replay of refinement uses again.
  std::vector<registry::Measurements> measurements;
};

struct Transcript {
  std::string model;
  std::string target;
  std::vector<Conversation> conversations;
  /// Whether the new grouping of each round stayed, which measurements decide.
  std::vector<bool> settled;
};

/// Writes a temporary file and renames it. Both return an error, or empty.
std::string writeTranscript(const std::string &path,
                            const Transcript &transcript);
std::string readTranscript(const std::string &path, Transcript &transcript);

/// Returns the recorded replies of a conversation in order.
class ReplayModel : public Model {
public:
  explicit ReplayModel(const Conversation &conversation)
      : conversation(conversation) {}
  Reply complete(const Request &request) override;

private:
  const Conversation conversation;
  size_t next = 0;
};

} // namespace chat
} // namespace fact

#endif // FACT_AGENT_CHAT_TRANSCRIPT_H
