//===- JsonTest.cpp - Text from outside -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat/Chat.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace fact::chat;

static std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

static std::string errorOf(const std::string &text) {
  std::string error;
  bool discarded = parseJson(text, error).is_discarded();
  EXPECT_EQ(discarded, !error.empty()) << text.substr(0, 100);
  return error;
}

TEST(ParseJson, GivesTheValue) {
  std::string error;
  EXPECT_EQ(parseJson("{\"a\": [1, 2.5, \"x\", null, true]}", error).dump(),
            "{\"a\":[1,2.5,\"x\",null,true]}");
  EXPECT_EQ(error, "");
  EXPECT_TRUE(parseJson("null", error).is_null());
}

TEST(ParseJson, SaysWhatIsWrong) {
  for (const char *text :
       {"", " ", "{", "}", "[1,]", "{\"a\":}", "nul", "'a'", "{} {}", "1e999",
        "\"\\ud800\"", "\"\\x\"", "\"\n\"", "NaN", "// a\n1"})
    EXPECT_NE(errorOf(text), "") << text;
}

TEST(ParseJson, RefusesInvalidUtf8) {
  for (const char *bytes : {"\x80", "\xff", "\xc0\xaf", "\xe0\x80\xaf",
                            "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc3"})
    EXPECT_NE(errorOf("\"" + std::string(bytes) + "\""), "");
  // Nor does the message have it.
  std::string error = errorOf("\"\xff\x1b[31m\"");
  EXPECT_EQ(error.find('\xff'), std::string::npos);
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(errorOf(repeat("[", 20) + repeat("]", 20)), "");
  for (size_t depth : {30, 1000, 2000000}) {
    EXPECT_NE(errorOf(repeat("[", depth) + repeat("]", depth)), "") << depth;
    EXPECT_NE(errorOf(repeat("[", depth)), "") << depth;
    EXPECT_NE(errorOf(repeat("{\"a\":", depth) + "1" + repeat("}", depth)), "")
        << depth;
  }
}

TEST(Sanitize, KeepsText) {
  EXPECT_EQ(sanitize("gemm, 128x64: \"%s\" {0} \\n", 100),
            "gemm, 128x64: \"%s\" {0} \\n");
  EXPECT_EQ(sanitize("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 100),
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(Sanitize, RemovesControlCharacters) {
  std::string text("a\0b\n\r\t\x1b[31m\x7f\xc2\x9b", 14);
  std::string clean = sanitize(text, 100);
  EXPECT_EQ(clean, "a b    [31m  ");
}

TEST(Sanitize, ReplacesInvalidUtf8) {
  EXPECT_EQ(sanitize("\x80", 9), "?");
  EXPECT_EQ(sanitize("\xc0\xaf", 9), "??");
  EXPECT_EQ(sanitize("\xed\xa0\x80", 9), "???");
  EXPECT_EQ(sanitize("\xf4\x90\x80\x80", 9), "????");
  EXPECT_EQ(sanitize("\xe0\x9f\xbf", 9), "???");
  EXPECT_EQ(sanitize("\xf0\x8f\xbf\xbf", 9), "????");
  EXPECT_EQ(sanitize("a\xe2\x82", 9), "a??");
}

TEST(Sanitize, KeepsWholeCharactersWithinTheLimit) {
  EXPECT_EQ(sanitize("abc", 2), "ab");
  EXPECT_EQ(sanitize("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(sanitize("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(sanitize("abc", 0), "");
}

TEST(Sanitize, EveryPairOfBytesBecomesValidUtf8) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      std::string text{char(first), char(second)};
      std::string clean = sanitize(text, 100);
      EXPECT_NO_THROW(nlohmann::json(clean).dump()) << first << " " << second;
    }
}
