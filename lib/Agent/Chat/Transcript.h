//===- Transcript.h - Conversations, to read and to repeat --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_CHAT_TRANSCRIPT_H
#define FACT_AGENT_CHAT_TRANSCRIPT_H

#include "Chat.h"
#include "fact/Tuning/Learn.h"

namespace fact {
namespace chat {

/// What the compiler said of a proposal.
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

/// All that was said about one graph. No keys.
struct Conversation {
  /// Changes when the graph or the task does.
  std::string graph;
  std::vector<Round> rounds;
  /// What refinement was told, for the same to come of it at another moment.
  std::vector<patterns::Measurements> measurements;
};

struct Transcript {
  std::string model;
  std::string target;
  std::vector<Conversation> conversations;
};

/// Writes aside and renames. Says what went wrong, or nothing.
std::string writeTranscript(const std::string &path,
                            const Transcript &transcript);
std::string readTranscript(const std::string &path, Transcript &transcript);

/// Gives the answers of a transcript in their order.
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
