//===- Chat.h - Ask a chat model --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sends requests to a chat server and parses its replies, without LLVM.
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
  /// Why there is no usable answer; `content` is then the start of what was
  /// received.
  std::string error;
  /// Tokens of all attempts: the server's count, but at least an estimate from
  /// the bytes sent and received.
  int64_t tokensIn = 0;
  int64_t tokensOut = 0;
  unsigned retries = 0;
  double seconds = 0;
};

class Model {
public:
  virtual ~Model() = default;
  virtual Reply complete(const Request &request) = 0;
};

struct HttpOptions {
  /// The endpoint without `/chat/completions`; may have a query.
  std::string url;
  std::string model;
  std::string key;
  /// Seconds per request, retries included.
  double timeout = 180;
  /// The option that sets `timeout`, for diagnostics.
  std::string timeoutOption = "llm-timeout";
  unsigned retries = 4;
  /// Seconds before the first retry, doubled each time; at least the server's
  /// Retry-After.
  double retryDelay = 0.5;
  unsigned answerTokens = 8192;
  /// Token budget of a request with its retries. An answer counts as
  /// `answerTokens` until it has arrived.
  int64_t tokens = std::numeric_limits<int64_t>::max();
  size_t answerBytes = 4 << 20;
};

/// A client of OpenAI's chat completions, on libcurl. Verifies certificates,
/// honors the environment's proxies (except for loopback), follows no
/// redirects, and redacts a key that the server echoes, in the forms that
/// docs/trust.md lists.
std::unique_ptr<Model> createHttpModel(const HttpOptions &options);

/// The URL of requests: the endpoint with `/chat/completions` appended to its
/// path, before the query.
std::string getCompletionsUrl(const std::string &url);

/// An error in the options, or empty.
std::string checkHttpOptions(const HttpOptions &options);

/// The body of a request.
nlohmann::json toJson(const Request &request, const HttpOptions &options);

/// The content of a response's body, or its error.
Reply readCompletion(const std::string &body);

/// Replaces a secret by "(key)": verbatim, within base64, escaped as in JSON
/// (also repeatedly), and a prefix of it at the end of the text. Secrets of
/// less than 8 characters are not replaced.
std::string hideSecret(const std::string &text, const std::string &secret);

/// Parses untrusted JSON. Throws nothing; rejects deep nesting and invalid
/// UTF-8. On failure, returns a discarded value and sets `error`.
nlohmann::json parseJson(const std::string &text, std::string &error);

/// Text that cannot harm a terminal, a log or a JSON file: valid UTF-8 without
/// control characters, and at most `limit` bytes.
std::string sanitize(const std::string &text, size_t limit);

} // namespace chat
} // namespace fact

#endif // FACT_AGENT_CHAT_CHAT_H
