//===- Http.cpp - Chat completions over HTTP ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat.h"
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cmath>
#include <curl/curl.h>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

using namespace fact::chat;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Requests and responses as JSON
//===----------------------------------------------------------------------===//

json fact::chat::toJson(const Request &request, const HttpOptions &options) {
  json messages = json::array();
  for (const Message &message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  json body{{"model", options.model},
            {"messages", std::move(messages)},
            {"temperature", 0},
            {"max_tokens", options.answerTokens}};
  if (!request.schema.empty())
    body["response_format"] = {{"type", "json_schema"},
                               {"json_schema",
                                {{"name", "fact_answer"},
                                 {"strict", true},
                                 {"schema", json::parse(request.schema)}}}};
  return body;
}

static const json *find(const json *object, const char *key) {
  if (!object || !object->is_object())
    return nullptr;
  auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

static std::string getString(const json *value) {
  return value && value->is_string() ? value->get<std::string>() : "";
}

static int64_t getCount(const json *value) {
  if (!value || !value->is_number())
    return 0;
  double number = value->get<double>();
  return number > 0 && number < 1e12 ? int64_t(number) : 0;
}

Reply fact::chat::readCompletion(const std::string &body) {
  Reply reply;
  json value = parseJson(body, reply.error);
  if (value.is_discarded()) {
    reply.error = "the response cannot be read: " + reply.error;
    return reply;
  }
  const json *usage = find(&value, "usage");
  reply.tokensIn = getCount(find(usage, "prompt_tokens"));
  reply.tokensOut = getCount(find(usage, "completion_tokens"));
  const json *choices = find(&value, "choices");
  if (!choices || !choices->is_array() || choices->empty()) {
    std::string said = getString(find(find(&value, "error"), "message"));
    reply.error = "the response has no 'choices'" +
                  (said.empty() ? "" : ": " + sanitize(said, 300));
    return reply;
  }
  const json &choice = choices->front();
  std::string finish = getString(find(&choice, "finish_reason"));
  const json *content = find(find(&choice, "message"), "content");
  if (finish == "length") {
    reply.content = getString(content);
    reply.error = "the answer was cut off after " +
                  std::to_string(reply.tokensOut) +
                  " tokens; allow more with llm-answer-tokens";
    return reply;
  }
  if (!content || !content->is_string()) {
    reply.error = "the response has no content" +
                  (finish.empty() ? "" : " (" + sanitize(finish, 60) + ")");
    return reply;
  }
  reply.content = content->get<std::string>();
  return reply;
}

//===----------------------------------------------------------------------===//
// The connection
//===----------------------------------------------------------------------===//

/// A part of a URL, or empty.
static std::string getPart(const std::string &url, CURLUPart part) {
  std::string value;
  if (CURLU *parts = curl_url()) {
    char *text = nullptr;
    if (!curl_url_set(parts, CURLUPART_URL, url.c_str(), 0) &&
        !curl_url_get(parts, part, &text, 0)) {
      value = text;
      curl_free(text);
    }
    curl_url_cleanup(parts);
  }
  return value;
}

/// Whether a host is this machine, by its address: 127.example.com is not.
static bool isLoopback(const std::string &host) {
  in_addr address;
  return host == "localhost" || host == "[::1]" ||
         (inet_pton(AF_INET, host.c_str(), &address) == 1 &&
          ntohl(address.s_addr) >> 24 == 127);
}

static bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

std::string fact::chat::checkHttpOptions(const HttpOptions &options) {
  if (options.url.empty())
    return "no endpoint: give llm-url=http://127.0.0.1:8080/v1 or the like";
  bool secure = startsWith(options.url, "https://");
  // A query may have a secret.
  std::string shown =
      sanitize(options.url.substr(0, options.url.find('?')), 200);
  if (!secure && !startsWith(options.url, "http://"))
    return "'" + shown +
           "' is not an endpoint: it must begin with http:// or https://";
  // Not quoted: the user or the password may be a secret.
  if (!getPart(options.url, CURLUPART_USER).empty() ||
      !getPart(options.url, CURLUPART_PASSWORD).empty())
    return "the endpoint must not contain a user or password: give the key in "
           "a variable or a file";
  std::string host = getPart(options.url, CURLUPART_HOST);
  if (host.empty())
    return "'" + shown + "' has no host";
  if (options.model.empty())
    return "no model: give llm-model=NAME";
  for (unsigned char c : options.key)
    if (c <= 0x20 || c >= 0x7f)
      return "the key has characters that an HTTP header cannot carry";
  if (!options.key.empty() && !secure && !isLoopback(host))
    return "refusing to send the key to '" + sanitize(host, 200) +
           "' in the clear: use https://, or unset the key";
  return "";
}

namespace {
using Clock = std::chrono::steady_clock;

/// One exchange with the server.
struct Exchange {
  CURLcode result = CURLE_OK;
  long status = 0;
  double retryAfter = 0;
  std::string body;
  bool tooLarge = false;
  size_t limit = 0;
  /// Whether anything of the request left this machine.
  bool sent = false;
};

size_t receive(char *data, size_t size, size_t count, void *user) {
  auto &exchange = *static_cast<Exchange *>(user);
  size_t bytes = size * count;
  if (exchange.body.size() + bytes > exchange.limit) {
    exchange.tooLarge = true;
    return 0;
  }
  exchange.body.append(data, bytes);
  return bytes;
}

class HttpModel : public Model {
public:
  explicit HttpModel(const HttpOptions &options) : options(options) {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)initialized;
  }

  Reply complete(const Request &request) override;

private:
  Exchange send(const std::string &body, double seconds) const;
  std::string findLimit(size_t bytes, const Reply &used) const;

  const HttpOptions options;
};
} // namespace

std::string fact::chat::getCompletionsUrl(const std::string &url) {
  const std::string method = "/chat/completions";
  std::string base = url.substr(0, url.find_first_of("?#"));
  std::string query = url.substr(base.size());
  query.erase(std::min(query.find('#'), query.size()));
  while (!base.empty() && base.back() == '/')
    base.pop_back();
  if (base.size() < method.size() ||
      base.compare(base.size() - method.size(), method.size(), method) != 0)
    base += method;
  return base + query;
}

Exchange HttpModel::send(const std::string &body, double seconds) const {
  Exchange exchange;
  exchange.limit = options.answerBytes;
  CURL *handle = curl_easy_init();
  if (!handle) {
    exchange.result = CURLE_FAILED_INIT;
    return exchange;
  }
  curl_slist *headers = nullptr;
  headers = curl_slist_append(headers, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Accept: application/json");
  // No waiting for "100 Continue".
  headers = curl_slist_append(headers, "Expect:");
  if (!options.key.empty())
    headers = curl_slist_append(
        headers, ("Authorization: Bearer " + options.key).c_str());
  long milliseconds = long(std::clamp(1000 * seconds, 1.0, 1e9));
  curl_easy_setopt(handle, CURLOPT_URL, getCompletionsUrl(options.url).c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  // Requests to loopback bypass the environment's proxies.
  if (isLoopback(getPart(options.url, CURLUPART_HOST)))
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                   curl_off_t(body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   std::min(milliseconds, 10000L));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "fact");
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  exchange.result = curl_easy_perform(handle);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange.status);
  curl_off_t uploaded = 0;
  curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  exchange.sent = uploaded > 0;
  curl_off_t wait = 0;
  if (!curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &wait) && wait > 0)
    exchange.retryAfter = double(wait);
  curl_slist_free_all(headers);
  curl_easy_cleanup(handle);
  return exchange;
}

static std::string formatSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", seconds);
  return text;
}

/// Whether the same request may succeed a moment later.
static bool isTransient(const Exchange &exchange) {
  switch (exchange.result) {
  case CURLE_OK:
    return exchange.status == 429 || exchange.status >= 500;
  case CURLE_COULDNT_CONNECT:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_GOT_NOTHING:
  case CURLE_PARTIAL_FILE:
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
    return true;
  default:
    return false;
  }
}

static std::string describe(const Exchange &exchange,
                            const HttpOptions &options) {
  if (exchange.tooLarge)
    return "the answer is larger than " + std::to_string(exchange.limit) +
           " bytes (llm-answer-bytes)";
  if (exchange.result == CURLE_OPERATION_TIMEDOUT)
    return "no answer within " + formatSeconds(options.timeout) + " s (" +
           options.timeoutOption + ")";
  if (exchange.result != CURLE_OK)
    return curl_easy_strerror(exchange.result);
  Reply said = readCompletion(exchange.body);
  return "HTTP status " + std::to_string(exchange.status) +
         (said.error.empty() ? "" : ": " + said.error);
}

/// Keeps the start of a failed answer, for the transcript.
static void keepBeginning(const Exchange &exchange, Reply &reply) {
  constexpr size_t kept = 1 << 16;
  if (reply.content.empty())
    reply.content = exchange.body.substr(0, kept);
  else if (reply.content.size() > kept)
    reply.content.resize(kept);
}

/// Removes or renames a field that the server rejects; false: none is left to
/// change.
static bool concede(const std::string &said, json &body) {
  auto isAbout = [&](const char *field, const char *word) {
    return body.contains(field) && said.find(word) != std::string::npos;
  };
  if (isAbout("max_tokens", "max_completion_tokens")) {
    body["max_completion_tokens"] = body["max_tokens"];
    body.erase("max_tokens");
    return true;
  }
  // Reasoning models accept only their default temperature.
  if (isAbout("temperature", "temperature"))
    return body.erase("temperature");
  // Some servers support no schemas; the prompt includes it too.
  return body.erase("response_format");
}

/// Graphs have about three bytes per token.
static int64_t estimateTokens(size_t bytes) { return int64_t(bytes / 3); }

/// Adds the tokens of one attempt to `total`: the server's count, but at least
/// an estimate from the bytes sent and received. After a lost connection,
/// counts a whole answer, which the server may have written.
static void countTokens(const Exchange &exchange, size_t bytes,
                        const HttpOptions &options, const Reply &said,
                        Reply &total) {
  if (!exchange.sent)
    return;
  total.tokensIn += std::max(said.tokensIn, estimateTokens(bytes));
  int64_t least = exchange.result != CURLE_OK ? int64_t(options.answerTokens)
                  : exchange.status == 200 ? estimateTokens(said.content.size())
                                           : 0;
  total.tokensOut += std::max(said.tokensOut, least);
}

/// Why the next attempt would exceed the token budget, or empty.
std::string HttpModel::findLimit(size_t bytes, const Reply &used) const {
  int64_t request = estimateTokens(bytes);
  int64_t left = options.tokens - used.tokensIn - used.tokensOut;
  if (request <= left && int64_t(options.answerTokens) <= left - request)
    return "";
  return "the request has about " + std::to_string(request) +
         " tokens and its answer up to " +
         std::to_string(options.answerTokens) +
         " (llm-answer-tokens), but llm-tokens leaves " +
         std::to_string(std::max<int64_t>(left, 0));
}

Reply HttpModel::complete(const Request &request) {
  Clock::time_point start = Clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  json body = toJson(request, options);
  Reply reply, used;
  double delay = options.retryDelay;
  std::minstd_rand random(std::random_device{}());
  for (unsigned retries = 0;;) {
    std::string text =
        body.dump(-1, ' ', false, json::error_handler_t::replace);
    std::string limit = findLimit(text.size(), used);
    if (!limit.empty()) {
      reply.error += (reply.error.empty() ? "" : "; ") + limit;
      return reply;
    }
    double left = options.timeout - elapsed();
    Exchange exchange = send(text, std::max(left, 0.001));
    if (exchange.result == CURLE_OK && exchange.status == 200) {
      reply = readCompletion(exchange.body);
    } else {
      reply = Reply();
      reply.error = describe(exchange, options);
    }
    countTokens(exchange, text.size(), options, reply, used);
    reply.tokensIn = used.tokensIn;
    reply.tokensOut = used.tokensOut;
    if (!reply.error.empty())
      keepBeginning(exchange, reply);
    reply.content = hideSecret(reply.content, options.key);
    reply.error = hideSecret(reply.error, options.key);
    reply.retries = retries;
    reply.seconds = elapsed();
    bool refused = exchange.result == CURLE_OK &&
                   (exchange.status == 400 || exchange.status == 422);
    if (refused && concede(exchange.body, body)) {
      ++retries;
      continue;
    }
    if (!isTransient(exchange) || retries >= options.retries)
      return reply;
    // Jitter of up to a quarter, so that clients do not retry in lockstep.
    double wait = std::max(delay, exchange.retryAfter) *
                  (1 + 0.25 * double(random()) / double(random.max()));
    if (elapsed() + wait >= options.timeout)
      return reply;
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    delay = std::min(2 * delay, 30.0);
    ++retries;
  }
}

std::unique_ptr<Model> fact::chat::createHttpModel(const HttpOptions &options) {
  return std::make_unique<HttpModel>(options);
}
