//===- AnswerTest.cpp - What a model proposed -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat/Answer.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace fact::chat;
using nlohmann::json;

static const char *good =
    R"({"patterns": [{"ops": ["n0", "n1"], "rule": "gemm_epilogue",
  "strategy": "ADAPT", "entry": "gemm_epilogue/bf16/sm_90a#3",
  "space": [{"name": "tile", "values": ["128x128x64", "64x64x64"]},
            {"name": "swizzle", "values": [1, 2]}],
  "priority": 7, "rationale": "saves the product"}]})";

static void expectGood(const std::string &content) {
  PatternAnswer answer = readPatterns(content);
  ASSERT_EQ(answer.error, "");
  ASSERT_EQ(answer.patterns.size(), 1u);
  const Pattern &pattern = answer.patterns.front();
  EXPECT_EQ(pattern.error, "");
  EXPECT_EQ(pattern.ops, (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(pattern.rule, "gemm_epilogue");
  EXPECT_EQ(pattern.strategy, "adapt");
  EXPECT_EQ(pattern.entry, "gemm_epilogue/bf16/sm_90a#3");
  EXPECT_EQ(pattern.space, (SpaceLists{{"tile", {"128x128x64", "64x64x64"}},
                                       {"swizzle", {"1", "2"}}}));
  EXPECT_EQ(pattern.priority, 7);
  EXPECT_EQ(pattern.rationale, "saves the product");
}

/// The pattern of the good answer with one field replaced.
static Pattern readWith(const char *field, const json &value) {
  json answer = json::parse(good);
  answer["patterns"][0][field] = value;
  PatternAnswer read = readPatterns(answer.dump());
  EXPECT_EQ(read.error, "") << field << " = " << value;
  EXPECT_EQ(read.patterns.size(), 1u) << field << " = " << value;
  return read.patterns.empty() ? Pattern() : read.patterns.front();
}

//===----------------------------------------------------------------------===//
// Where the object is
//===----------------------------------------------------------------------===//

TEST(ReadPatterns, Alone) { expectGood(good); }

TEST(ReadPatterns, Fenced) {
  expectGood("```json\n" + std::string(good) + "\n```");
  expectGood("```\n" + std::string(good) + "\n```\n");
  expectGood("Here it is {as asked}:\n```json\n" + std::string(good) +
             "\n```\nThe end {really}.");
}

TEST(ReadPatterns, InTheSecondFence) {
  expectGood("```python\nfuse({1: 2})\n```\nand so\n```json\n" +
             std::string(good) + "\n```");
}

TEST(ReadPatterns, InProse) {
  expectGood("Sure! " + std::string(good) + " Anything else?");
}

TEST(ReadPatterns, AfterAMonologue) {
  expectGood("<think>perhaps {n0, n1} or {\"patterns\": 3}?</think>" +
             std::string(good));
}

TEST(ReadPatterns, TheLastWordCounts) {
  std::string draft = R"({"patterns": [{"ops": ["n7"], "rule": "pointwise"}]})";
  std::string open = "```json\n", close = "\n```\n";
  expectGood(open + draft + close + "Better:\n" + open + good + close);
  expectGood(draft + "\nBetter:\n" + open + good + close);
  expectGood("<think>\n" + open + draft + close + "</think>\n" + good);
  expectGood("<think>" + draft + "</think>\n" + open + good + close);
  expectGood(open + draft + close + "</think>" + good);
  // What does not read is none.
  expectGood(open + good + close + "It has\n" + open + "{patterns}" + close);
}

TEST(ReadPatterns, ThoughtsAreNoAnswer) {
  EXPECT_EQ(readPatterns("<think>" + std::string(good) + "</think> No.").error,
            "the answer has no JSON object");
}

TEST(ReadPatterns, AFenceInARationaleIsText) {
  json answer = json::parse(good);
  std::string fence = "```";
  answer["patterns"][0]["rationale"] = "as in " + fence + " and " + fence;
  PatternAnswer read = readPatterns(answer.dump(1));
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.patterns.size(), 1u);
}

TEST(ReadPatterns, NothingToAdd) {
  PatternAnswer answer = readPatterns("{\"patterns\": []}");
  EXPECT_EQ(answer.error, "");
  EXPECT_TRUE(answer.patterns.empty());
}

TEST(ReadPatterns, NoObject) {
  for (const char *text : {"", "I cannot help with that.", "}{", "[]", "null",
                           "```json\n```", "```", "```\n"}) {
    PatternAnswer answer = readPatterns(text);
    EXPECT_EQ(answer.error, "the answer has no JSON object") << text;
    EXPECT_TRUE(answer.patterns.empty());
  }
}

TEST(ReadPatterns, NotJson) {
  for (const char *text :
       {"{", "{patterns: []}", "{\"patterns\": [}", "{'patterns': []}",
        "{\"patterns\": [{\"ops\": [\"n0\", }"}) {
    PatternAnswer answer = readPatterns(text);
    EXPECT_NE(answer.error, "") << text;
    EXPECT_TRUE(answer.patterns.empty());
  }
}

TEST(ReadPatterns, NoList) {
  for (const char *text :
       {"{}", "{\"patterns\": {}}", "{\"patterns\": null}",
        "{\"patterns\": \"n0\"}", "{\"pattern\": []}", "{\"kernels\": []}"})
    EXPECT_EQ(readPatterns(text).error, "the answer needs a list 'patterns'")
        << text;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

TEST(ReadPatterns, OneBadPatternLeavesTheOthers) {
  json answer = json::parse(good);
  json one = answer["patterns"][0];
  answer["patterns"] = {one, 5, one, nullptr, json::array(), "x", one};
  PatternAnswer read = readPatterns(answer.dump());
  ASSERT_EQ(read.patterns.size(), 7u);
  for (size_t i : {0, 2, 6})
    EXPECT_EQ(read.patterns[i].error, "");
  for (size_t i : {1, 3, 4, 5})
    EXPECT_EQ(read.patterns[i].error, "is not an object");
}

TEST(ReadPatterns, OnlyOpsAndRuleAreNeeded) {
  PatternAnswer read =
      readPatterns(R"({"patterns": [{"ops": ["n0"], "rule": "pointwise"}]})");
  ASSERT_EQ(read.patterns.size(), 1u);
  EXPECT_EQ(read.patterns[0].error, "");
  EXPECT_EQ(read.patterns[0].priority, 0);
  EXPECT_TRUE(read.patterns[0].space.empty());
}

/// What every name must not be.
static const std::vector<json> notNames = {
    5,
    true,
    json::array(),
    json::object(),
    "a b",
    "$(touch x)",
    "`touch x`",
    "a;b",
    "a\nb",
    "a\"b",
    "a\\b",
    "%s",
    "{0}",
    "a>b",
    "@f",
    "\x1b[31m",
    "\xc3\xa9",
    std::string("a\0b", 3),
    std::string(100000, 'a'),
};

TEST(ReadPatterns, BadOps) {
  for (const json &value :
       {json(nullptr), json("n0"), json::array(), json(5), json::object(),
        json({"n0", 1}), json({"n0", ""}), json::array({json::array({"n0"})})})
    EXPECT_NE(readWith("ops", value).error, "") << value;
  for (const json &value : notNames)
    EXPECT_NE(readWith("ops", json::array({value})).error, "") << value;
  EXPECT_NE(readWith("ops", std::vector<std::string>(5000, "n0")).error, "");
  EXPECT_EQ(readWith("ops", std::vector<std::string>(4096, "n0")).error, "");
}

TEST(ReadPatterns, BadNames) {
  for (const char *field : {"rule", "strategy", "entry"})
    for (const json &value : notNames)
      EXPECT_NE(readWith(field, value).error, "") << field << " = " << value;
  EXPECT_EQ(readWith("rule", nullptr).error, "needs 'rule'");
  EXPECT_NE(readWith("rule", "").error, "");
}

TEST(ReadPatterns, StrategyAndEntryMayBeEmpty) {
  for (const char *field : {"strategy", "entry"})
    for (const json &value : {json(nullptr), json("")})
      EXPECT_EQ(readWith(field, value).error, "");
  for (const char *word : {"NEW", "new", "Reuse", "ADAPT"})
    EXPECT_EQ(readWith("strategy", word).error, "");
  EXPECT_NE(readWith("strategy", "create").error, "");
  EXPECT_NE(readWith("strategy", "REMOVE").error, "");
}

TEST(ReadPatterns, BothFormsOfASpace) {
  SpaceLists lists{{"tile", {"8x8", "16x4"}}};
  EXPECT_EQ(readWith("space", {{"tile", {"8x8", "16x4"}}}).space, lists);
  EXPECT_EQ(
      readWith("space",
               json::parse(R"([{"name": "tile", "values": ["8x8", "16x4"]}])"))
          .space,
      lists);
  for (const json &value : {json(nullptr), json::array(), json::object()}) {
    EXPECT_EQ(readWith("space", value).error, "") << value;
    EXPECT_TRUE(readWith("space", value).space.empty()) << value;
  }
}

TEST(ReadPatterns, BadSpaces) {
  for (const char *text : {"5",
                           "\"tile\"",
                           "[5]",
                           "[[]]",
                           R"([{"name": "tile"}])",
                           R"([{"values": ["1"]}])",
                           R"([{"name": "tile", "values": []}])",
                           R"([{"name": "tile", "values": "1"}])",
                           R"([{"name": 5, "values": ["1"]}])",
                           R"([{"name": "Tile", "values": ["1"]}])",
                           R"([{"name": "tile]", "values": ["1"]}])",
                           R"({"tile": []})",
                           R"({"tile": "8x8"})",
                           R"({"tile": [[1]]})",
                           R"({"": ["1"]})",
                           R"({"tile": [-1]})",
                           R"({"tile": [1.5]})",
                           R"({"tile": [1e300]})",
                           R"({"tile": [18446744073709551615]})",
                           R"({"tile": [true]})",
                           R"({"tile": [null]})",
                           R"({"tile": [""]})",
                           R"({"tile": ["1], kernel = [x"]})",
                           R"({"tile": ["8X8"]})",
                           R"({"tile": ["a b"]})",
                           R"({"tile": ["#fact.x"]})",
                           R"({"tile": ["../x"]})"})
    EXPECT_NE(readWith("space", json::parse(text)).error, "") << text;
  EXPECT_NE(readWith("space", {{"tile", std::vector<int>(65, 1)}}).error, "");
  EXPECT_EQ(readWith("space", {{"tile", std::vector<int>(64, 1)}}).error, "");
  json many;
  for (int i = 0; i < 17; ++i)
    many["p" + std::to_string(i)] = {"1"};
  EXPECT_NE(readWith("space", many).error, "");
  EXPECT_LE(readWith("space", many).space.size(), 16u);
}

TEST(ReadPatterns, PrioritiesAreClamped) {
  EXPECT_EQ(readWith("priority", 1e300).priority, 1000000);
  EXPECT_EQ(readWith("priority", -1e300).priority, -1000000);
  EXPECT_EQ(readWith("priority", INT64_MIN).priority, -1000000);
  EXPECT_EQ(readWith("priority", UINT64_MAX).priority, 1000000);
  EXPECT_EQ(readWith("priority", 2.7).priority, 2);
  for (const json &value :
       {json("7"), json(nullptr), json(true), json::array()})
    EXPECT_EQ(readWith("priority", value).priority, 0) << value;
}

TEST(ReadPatterns, RationalesAreCleaned) {
  EXPECT_EQ(readWith("rationale", "a\n\x1b[31mb").rationale, "a  [31mb");
  EXPECT_EQ(readWith("rationale", std::string(100000, 'a')).rationale,
            std::string(600, 'a'));
  for (const json &value : {json(5), json(nullptr), json::array({"x"})}) {
    EXPECT_EQ(readWith("rationale", value).rationale, "") << value;
    EXPECT_EQ(readWith("rationale", value).error, "") << value;
  }
}

TEST(ReadPatterns, UnknownFieldsAreIgnored) {
  EXPECT_EQ(readWith("code", "system(\"x\")").error, "");
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST(ReadPatterns, TooMany) {
  json one = json::parse(good)["patterns"][0];
  json answer{{"patterns", json::array()}};
  for (int i = 0; i < 4096; ++i)
    answer["patterns"].push_back(one);
  EXPECT_EQ(readPatterns(answer.dump()).patterns.size(), 4096u);
  answer["patterns"].push_back(one);
  PatternAnswer read = readPatterns(answer.dump());
  EXPECT_NE(read.error, "");
  EXPECT_TRUE(read.patterns.empty());
}

TEST(ReadPatterns, DeepNesting) {
  std::string deep(1000000, '[');
  EXPECT_NE(readPatterns("{\"patterns\": " + deep + "}").error, "");
  EXPECT_NE(readPatterns("{\"patterns\": [{\"ops\": " + deep + "}]}").error,
            "");
}

TEST(ReadPatterns, ManyFences) {
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += "```\n{}\n```\n";
  EXPECT_NE(readPatterns(text).error, "");
}

TEST(ReadPatterns, InvalidUtf8) {
  std::string text = good;
  text.insert(text.find("saves"), "\xff\xfe");
  PatternAnswer answer = readPatterns(text);
  EXPECT_NE(answer.error, "");
  EXPECT_EQ(answer.error.find('\xff'), std::string::npos);
}

TEST(ReadPatterns, NumbersBeyondEverything) {
  std::string text = good;
  text.replace(text.find("7,"), 1, std::string(5000, '9'));
  EXPECT_NE(readPatterns(text).error, "");
}

//===----------------------------------------------------------------------===//
// Refinements
//===----------------------------------------------------------------------===//

TEST(ReadRefinements, Good) {
  RefinementAnswer answer = readRefinements(
      R"({"kernels": [{"kernel": "gemm_epilogue_0", "rationale": "x",
          "space": [{"name": "tile", "values": ["8x8"]}]}]})");
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.kernels.size(), 1u);
  EXPECT_EQ(answer.kernels[0].error, "");
  EXPECT_EQ(answer.kernels[0].kernel, "gemm_epilogue_0");
  EXPECT_EQ(answer.kernels[0].space, (SpaceLists{{"tile", {"8x8"}}}));
  EXPECT_EQ(answer.kernels[0].rationale, "x");
}

TEST(ReadRefinements, Bad) {
  EXPECT_EQ(readRefinements("{\"patterns\": []}").error,
            "the answer needs a list 'kernels'");
  RefinementAnswer answer = readRefinements(
      R"({"kernels": [7, {"kernel": "../x y"}, {}, {"kernel": "a", "space": 5}]})");
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.kernels.size(), 4u);
  for (const Refinement &refinement : answer.kernels)
    EXPECT_NE(refinement.error, "");
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

/// The smallest value that a schema allows, with everything in it.
static json makeSample(const json &schema) {
  if (schema.contains("enum"))
    return schema["enum"][0];
  std::string type = schema["type"];
  if (type == "array")
    return json::array({makeSample(schema["items"])});
  if (type == "integer")
    return 3;
  if (type == "string")
    return "word";
  EXPECT_EQ(type, "object");
  EXPECT_EQ(schema["additionalProperties"], false);
  json value = json::object();
  for (const auto &[name, property] : schema["properties"].items())
    value[name] = makeSample(property);
  // Servers that are strict want all of them named.
  EXPECT_EQ(schema["required"].size(), value.size());
  for (const json &name : schema["required"])
    EXPECT_TRUE(value.contains(name));
  return value;
}

TEST(Schema, WhatItDescribesIsRead) {
  json sample =
      makeSample(json::parse(getPatternSchema({"gemm_epilogue", "rowwise"})));
  PatternAnswer answer = readPatterns(sample.dump());
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.patterns.size(), 1u);
  const Pattern &pattern = answer.patterns[0];
  EXPECT_EQ(pattern.error, "");
  EXPECT_EQ(pattern.rule, "gemm_epilogue");
  EXPECT_EQ(pattern.strategy, "reuse");
  EXPECT_EQ(pattern.entry, "word");
  EXPECT_EQ(pattern.space, (SpaceLists{{"word", {"word"}}}));
  EXPECT_EQ(pattern.priority, 3);
  EXPECT_EQ(pattern.rationale, "word");

  sample = makeSample(json::parse(getRefinementSchema({"k_0"})));
  RefinementAnswer refinements = readRefinements(sample.dump());
  ASSERT_EQ(refinements.kernels.size(), 1u);
  EXPECT_EQ(refinements.kernels[0].error, "");
  EXPECT_EQ(refinements.kernels[0].kernel, "k_0");
}

TEST(Schema, ListsOfASpaceEnd) {
  // Small models repeat themselves for as long as a schema lets them.
  json schema = json::parse(getPatternSchema({"rowwise"}));
  const json &space =
      schema["properties"]["patterns"]["items"]["properties"]["space"];
  EXPECT_LE(space["maxItems"], 16);
  EXPECT_LE(space["items"]["properties"]["values"]["maxItems"], 64);
}

TEST(Schema, OpsOfASmallGraphAreNamed) {
  auto getOps = [](size_t count) {
    std::vector<std::string> ids;
    for (size_t i = 0; i < count; ++i)
      ids.push_back("n" + std::to_string(i));
    json schema = json::parse(getPatternSchema({"rowwise"}, ids));
    return schema["properties"]["patterns"]["items"]["properties"]["ops"];
  };
  EXPECT_EQ(getOps(3)["items"]["enum"], json({"n0", "n1", "n2"}));
  EXPECT_EQ(getOps(3)["maxItems"], 3);
  for (size_t count : {0, 5000})
    EXPECT_EQ(getOps(count),
              json::parse(R"({"type": "array", "items": {"type": "string"}})"));
}

TEST(Schema, NamesAreEscaped) {
  EXPECT_NO_THROW((void)json::parse(getRefinementSchema({"a\"b\\", "c\n"})));
}
