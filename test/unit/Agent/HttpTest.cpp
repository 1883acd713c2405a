//===- HttpTest.cpp - Requests and responses ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat/Chat.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace fact::chat;
using nlohmann::json;

static std::string check(const std::string &url, const std::string &key = "",
                         const std::string &model = "small") {
  HttpOptions options;
  options.url = url;
  options.key = key;
  options.model = model;
  return checkHttpOptions(options);
}

TEST(HttpOptions, Good) {
  for (const char *url : {"http://127.0.0.1:8080/v1", "http://localhost:8080",
                          "http://[::1]:80/v1", "https://models.example/v1",
                          "http://models.example/v1/"})
    EXPECT_EQ(check(url), "") << url;
}

TEST(HttpOptions, NoEndpoint) {
  for (const char *url :
       {"", "127.0.0.1:8080", "localhost", "ftp://a/v1", "file:///etc/passwd",
        "/v1", "http:/a", "http://", "http://a b/", "gopher://a", "httpsx://a",
        "http://a:99999999/"})
    EXPECT_NE(check(url), "") << url;
  EXPECT_EQ(check("http://127.0.0.1", "", ""), "no model: give llm-model=NAME");
}

TEST(HttpOptions, MessagesAreClean) {
  std::string error = check("x\x1b[31m\n\xff");
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_EQ(error.find('\xff'), std::string::npos);
}

TEST(HttpOptions, KeysGoToThisMachineOrOverTls) {
  for (const char *url :
       {"http://127.0.0.1:1/v1", "http://127.8.9.1/v1", "http://localhost:1/v1",
        "http://[::1]:1/v1", "https://models.example/v1"})
    EXPECT_EQ(check(url, "secret-key"), "") << url;
  for (const char *url :
       {"http://models.example/v1", "http://10.0.0.1/v1", "http://[::2]/v1",
        // These only look like it.
        "http://127.example.com/v1", "http://127.0.0.1.example.com/v1",
        "http://localhost.example.com/v1", "http://128.0.0.1/v1"}) {
    std::string error = check(url, "secret-key");
    EXPECT_NE(error.find("in the clear"), std::string::npos) << url << error;
    EXPECT_EQ(error.find("secret-key"), std::string::npos);
    EXPECT_EQ(check(url), "") << url;
  }
}

TEST(HttpOptions, KeysAreNoPartOfAnAddress) {
  for (const char *url :
       {"https://user:secret@models.example/v1",
        "https://secret@models.example", "https://:secret@models.example",
        "http://x@127.0.0.1:1/v1"}) {
    std::string error = check(url);
    EXPECT_NE(error.find("must not contain a user or password"),
              std::string::npos)
        << url;
    EXPECT_EQ(error.find("secret"), std::string::npos);
  }
}

TEST(HttpOptions, QueriesAreNotRepeated) {
  for (const char *url : {"ftp://a/v1?key=secret", "http://?key=secret",
                          "http://a b/?key=secret"}) {
    std::string error = check(url);
    EXPECT_NE(error, "") << url;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(HttpOptions, KeysFitIntoAHeader) {
  for (const char *key : {"a\nX-Other: 1", "a b", "\xc3\xa9", "a\r", "\x7f"}) {
    std::string error = check("https://a/v1", key);
    EXPECT_NE(error, "");
    EXPECT_EQ(error.find(key), std::string::npos);
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TEST(HttpRequest, GoesToTheEndpointsPath) {
  EXPECT_EQ(getCompletionsUrl("http://a/v1"), "http://a/v1/chat/completions");
  EXPECT_EQ(getCompletionsUrl("http://a//"), "http://a/chat/completions");
  EXPECT_EQ(getCompletionsUrl("http://a/chat/completions"),
            "http://a/chat/completions");
  EXPECT_EQ(getCompletionsUrl("https://a/v1?api-version=x/y&b=c"),
            "https://a/v1/chat/completions?api-version=x/y&b=c");
  EXPECT_EQ(getCompletionsUrl("https://a/chat/completions/?b"),
            "https://a/chat/completions?b");
  EXPECT_EQ(getCompletionsUrl("https://a?b#c?d"),
            "https://a/chat/completions?b");
  EXPECT_EQ(getCompletionsUrl("https://a/v1#c?d"),
            "https://a/v1/chat/completions");
}

TEST(HttpRequest, Body) {
  HttpOptions options;
  options.model = "small";
  options.key = "secret-key";
  options.answerTokens = 77;
  json body =
      toJson({{{"user", "hello \"you\""}}, "{\"type\": \"object\"}"}, options);
  EXPECT_EQ(body["model"], "small");
  EXPECT_EQ(body["max_tokens"], 77);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["messages"], json::parse(R"([{"role": "user",
                                     "content": "hello \"you\""}])"));
  EXPECT_EQ(body["response_format"]["type"], "json_schema");
  EXPECT_EQ(body["response_format"]["json_schema"]["schema"]["type"], "object");
  EXPECT_EQ(body.dump().find("secret-key"), std::string::npos);
  EXPECT_FALSE(toJson({{}, ""}, options).contains("response_format"));
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

static json makeResponse(const json &content, const char *finish = "stop") {
  return {{"choices",
           {{{"message", {{"role", "assistant"}, {"content", content}}},
             {"finish_reason", finish}}}},
          {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 4}}}};
}

TEST(ReadCompletion, Good) {
  Reply reply = readCompletion(makeResponse("{}\n\"").dump());
  EXPECT_EQ(reply.error, "");
  EXPECT_EQ(reply.content, "{}\n\"");
  EXPECT_EQ(reply.tokensIn, 10);
  EXPECT_EQ(reply.tokensOut, 4);
}

TEST(ReadCompletion, CutOff) {
  Reply reply = readCompletion(makeResponse("{\"pat", "length").dump());
  EXPECT_NE(reply.error.find("cut off after 4 tokens"), std::string::npos);
  EXPECT_EQ(reply.content, "{\"pat");
}

TEST(ReadCompletion, NoContent) {
  for (const json &content : {json(nullptr), json(5), json::array({"x"})})
    EXPECT_NE(readCompletion(makeResponse(content, "tool_calls").dump())
                  .error.find("no content (tool_calls)"),
              std::string::npos)
        << content;
}

TEST(ReadCompletion, WrongEverywhere) {
  for (const char *body :
       {"",
        "hello",
        "<html>502</html>",
        "[]",
        "5",
        "null",
        "\"x\"",
        "{}",
        "{\"choices\": []}",
        "{\"choices\": {}}",
        "{\"choices\": null}",
        "{\"choices\": [null]}",
        "{\"choices\": [5]}",
        "{\"choices\": [[]]}",
        "{\"choices\": [{}]}",
        "{\"choices\": [{\"message\": []}]}",
        "{\"choices\": [{\"message\": {\"content\": {}}}]}",
        "{\"choices\": [{\"message\": {}, \"finish_reason\": 5}]}",
        "{\"error\": \"x\"}",
        "{\"error\": {\"message\": 5}}"}) {
    Reply reply = readCompletion(body);
    EXPECT_NE(reply.error, "") << body;
    EXPECT_EQ(reply.content, "") << body;
  }
}

TEST(ReadCompletion, SaysWhatTheServerSaid) {
  Reply reply = readCompletion(
      R"({"error": {"message": "context too long\u001b[31m\n"}})");
  EXPECT_NE(reply.error.find("context too long [31m"), std::string::npos);
  std::string length(100000, 'x');
  EXPECT_LT(readCompletion(json{{"error", {{"message", length}}}}.dump())
                .error.size(),
            1000u);
  EXPECT_LT(readCompletion(length).error.size(), 1000u);
}

TEST(ReadCompletion, Counts) {
  for (const char *count : {"-1", "1e300", "\"5\"", "null", "[]", "1e12",
                            "99999999999999999999999"}) {
    std::string text = makeResponse("x").dump();
    text.replace(text.find("10"), 2, count);
    Reply reply = readCompletion(text);
    EXPECT_EQ(reply.content, "x") << count;
    EXPECT_EQ(reply.tokensIn, 0) << count;
  }
  json response = makeResponse("x");
  response["usage"] = "many";
  EXPECT_EQ(readCompletion(response.dump()).content, "x");
}
