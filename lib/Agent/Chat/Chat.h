//===- Chat.h - Ask a chat model ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No LLVM: what a server sends is read here, and leaves as plain data.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_AGENT_CHAT_CHAT_H
#define FACT_AGENT_CHAT_CHAT_H

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fact {
namespace chat {

struct Message {
  /// "system", "user" or "assistant".
  std::string role;
  std::string content;
};

struct Request {
  std::vector<Message> messages;
  /// The JSON schema of the answer, as text.
  std::string schema;
};

struct Reply {
  std::string content;
  /// Why the content is of no use, for people; it is then what came of it.
  std::string error;
  /// Of all sendings: what the server says, and at least what was sent and
  /// received.
  int64_t tokensIn = 0;
  int64_t tokensOut = 0;
  /// How often the request was sent again.
  unsigned retries = 0;
  double seconds = 0;
};

class Model {
public:
  virtual ~Model() = default;
  virtual Reply complete(const Request &request) = 0;
};

struct HttpOptions {
  /// Up to and without `/chat/completions`, but for a query.
  std::string url;
  std::string model;
  std::string key;
  /// Seconds for one request, sendings included.
  double timeout = 180;
  /// What the user may change it with.
  std::string timeoutOption = "llm-timeout";
  unsigned retries = 4;
  /// Before the first sending again; doubled each time, or what the server
  /// asks for.
  double retryDelay = 0.5;
  unsigned answerTokens = 8192;
  /// What all sendings of a request and their answers may use; an answer counts
  /// as `answerTokens` before it is there.
  int64_t tokens = std::numeric_limits<int64_t>::max();
  size_t answerBytes = 4 << 20;
};

/// A server that speaks OpenAI's chat completions, by libcurl: certificates are
/// verified, proxies of the environment respected (but for this machine),
/// redirects not followed. A key that comes back is taken out.
/// docs/trust.md says in which forms.
std::unique_ptr<Model> createHttpModel(const HttpOptions &options);

/// Where requests go: the path is added to that of the endpoint, before its
/// query.
std::string getCompletionsUrl(const std::string &url);

/// What is wrong with the options, or empty.
std::string checkHttpOptions(const HttpOptions &options);

/// The body of a request.
nlohmann::json toJson(const Request &request, const HttpOptions &options);

/// The content of a response's body, or its error.
Reply readCompletion(const std::string &body);

/// The text with "(key)" for the secret, as it is, within base64 or with its
/// characters escaped as JSON escapes them, several times over; also for a
/// beginning of it at the end. A secret of less than 8 characters is left alone.
std::string hideSecret(const std::string &text, const std::string &secret);

/// Parses text from outside: no exceptions, no deep nesting, no invalid UTF-8.
/// A discarded value on failure, with the reason.
nlohmann::json parseJson(const std::string &text, std::string &error);

/// Text that cannot harm a terminal, a log or a JSON file: valid UTF-8 without
/// control characters, and at most `limit` bytes.
std::string sanitise(const std::string &text, size_t limit);

} // namespace chat
} // namespace fact

#endif // FACT_AGENT_CHAT_CHAT_H
