//===- EntryFileTest.cpp - The JSON of the registry -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test/python/test_registry.py gives this reader and the JSON schema the same
// good and bad files; here is what no schema can say.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include <algorithm>
#include <random>

using namespace fact::registry;

namespace {

std::string parse(const std::string &text) {
  std::vector<Entry> entries;
  return parseFile(text, entries);
}

std::string sampleText() {
  return writeText(
      {sampleEntry(sampleProblem(), {accepted(10), failed("a\\", 2)}),
       sampleEntry(sampleProblem(8192), {accepted(20)})});
}

std::string replace(std::string text, const std::string &what,
                    const std::string &with) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(EntryFile, WhatIsWrittenIsRead) {
  std::vector<Entry> entries;
  ASSERT_EQ(parseFile(sampleText(), entries), "");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].problem, sampleProblem());
  EXPECT_EQ(entries[0].schedules[0].error, 0.00166);
  EXPECT_EQ(entries[0].schedules[1].reason, "a\\");
  EXPECT_EQ(writeText(entries), sampleText());
  std::reverse(entries.begin(), entries.end());
  EXPECT_EQ(writeText(entries), sampleText());
  EXPECT_EQ(writeText({}), "");
}

TEST(EntryFile, OneLineASchedule) {
  EXPECT_EQ(writeText({sampleEntry(sampleProblem(), {accepted(10)})}), R"({
  "format": 2,
  "rule": "gemm_epilogue",
  "dtype": "bf16",
  "architecture": "sm_90a",
  "entries": [
    {
      "ops": "matmul,add",
      "extents": {"batch": 1, "k": 512, "m": 4096, "n": 1024, "tensors": 1},
      "schedules": [
        {"key": "sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>", "status": "accepted", "us": 10.0, "sol_share": 0.75, "error": 0.00166, "machine": "NVIDIA H200", "versions": {"fact": "0.1.0"}, "date": "2026-11-15"}
      ]
    }
  ]
}
)");
}

/// Entries keep the format of their words when their file gets the new one.
TEST(EntryFile, Format1IsRead) {
  std::vector<Entry> entries;
  ASSERT_EQ(parseFile(replace(sampleText(), "\"format\": 2", "\"format\": 1"),
                      entries),
            "");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].problem, sampleFormat1());
  entries.push_back(sampleEntry(sampleProblem(), {accepted(10)}));
  std::string text = writeText(entries);
  EXPECT_NE(text.find("{\n  \"format\": 2,"), std::string::npos);
  EXPECT_NE(text.find("{\n      \"format\": 1,\n      \"ops\": "),
            std::string::npos);
  std::vector<Entry> again;
  ASSERT_EQ(parseFile(text, again), "");
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(writeText(again), text);
  EXPECT_EQ(std::count_if(
                again.begin(), again.end(),
                [](const Entry &entry) { return entry.problem.format == 1; }),
            2);
}

TEST(EntryFile, SaysWhatIsWrongAndWhere) {
  auto broken = [&](const std::string &what, const std::string &with) {
    return parse(replace(sampleText(), what, with));
  };
  EXPECT_EQ(broken("\"format\": 2", "\"format\": 3"),
            "$.format: expected an integer from 1 to 2, found 3");
  EXPECT_EQ(broken("\"ops\"", "\"format\": 3, \"ops\""),
            "$.entries[0].format: expected an integer from 1 to 2, found 3");
  EXPECT_EQ(broken("accepted", "splendid"),
            "$.entries[0].schedules[0].status: expected accepted, failed or "
            "pending, found \"splendid\"");
  EXPECT_EQ(broken("\"us\": 10.0, ", ""),
            "$.entries[0].schedules[0]: 'us' is missing");
  EXPECT_EQ(broken("\"us\": 10.0", "\"us\": -1"),
            "$.entries[0].schedules[0].us: expected a number from 0.001 to "
            "1000000000000.0, found -1");
  EXPECT_EQ(broken("\"m\": 4096", "\"m\": 0"),
            "$.entries[0].extents.m: expected an integer from 1 to "
            "281474976710656, found 0");
  EXPECT_EQ(broken("\"m\": 4096", "\"M\": 4096"),
            "$.entries[0].extents.M: expected a name of lower-case letters");
  std::string many;
  for (int i = 0; i < 16; ++i)
    many += "\"e" + std::to_string(i) + "\": 1, ";
  EXPECT_EQ(broken("\"m\": 4096", many + "\"m\": 4096"),
            "$.entries[0].extents: expected 1 to 16 members, found 21");
  // Which extents there are, and which schedules, is up to the rule.
  EXPECT_EQ(broken("\"m\": 4096", "\"height\": 4096"), "");
  EXPECT_EQ(broken("\"key\": \"sm90_gemm<", "\"key\": \"other_gemm<"), "");
  // Processors have names with hyphens.
  const std::string machine = "\"architecture\": \"sm_90a\"";
  EXPECT_EQ(broken(machine, "\"architecture\": \"x86-64-v3\""), "");
  EXPECT_EQ(broken(machine, "\"architecture\": \"-v3\""),
            "$.architecture: expected an architecture, found \"-v3\"");
  for (const char *date : {"2026-02-31", "2025-02-29", "2026-13-01",
                           "2026-00-10", "2026-04-00", "2026-11-5x"})
    EXPECT_EQ(broken("\"date\": \"2026-11-15\"",
                     std::string("\"date\": \"") + date + "\""),
              std::string("$.entries[0].schedules[0].date: expected a date "
                          "such as 2026-11-15, found \"") +
                  date + "\"");
  EXPECT_EQ(broken("\"date\": \"2026-11-15\"", "\"date\": \"2028-02-29\""), "");
  EXPECT_EQ(broken("\"ops\": \"matmul,add\"", "\"ops\": \"matmul, add\""),
            "$.entries[0].ops: expected names of ops with commas, found "
            "\"matmul, add\"");
  for (const char *ops : {"matmul.", ".nt", "matmul..nt", "matmul.,add"})
    EXPECT_EQ(broken("\"matmul,add\"", std::string("\"") + ops + "\""),
              std::string("$.entries[0].ops: expected names of ops with "
                          "commas, found \"") +
                  ops + "\"");
  EXPECT_EQ(broken("\"ops\"", "\"colour\": 1, \"ops\""),
            "$.entries[0]: unknown member \"colour\"");
  EXPECT_EQ(broken("\"dtype\": \"bf16\"", "\"dtype\": \"fp16\""),
            "$.dtype: expected one of f64, f32, f16, bf16, i64, i32, i8, i1, "
            "found \"fp16\"");
  EXPECT_EQ(parse("[]"), "$: expected an object, found []");
  EXPECT_NE(parse("").find("parse error"), std::string::npos);
}

TEST(EntryFile, NothingTwice) {
  EXPECT_EQ(parse(replace(sampleText(), "\"m\": 8192", "\"m\": 4096")),
            "$.entries[1]: the problem of " + sampleProblem().getId() +
                " is there twice");
  EXPECT_EQ(parse(replace(sampleText(), "\"format\": 2",
                          "\"format\": 2, \"format\": 2")),
            "member \"format\" is there twice");
  EXPECT_EQ(parse(replace(sampleText(), "swizzle = 2", "swizzle = 1")),
            "$.entries[0].schedules[1]: \"sm90_gemm<tile = 128x128x64, cluster "
            "= 2x1, kernel = pin... is there twice for \"NVIDIA H200\"");
}

TEST(EntryFile, TheBuiltInFilesAreAsWeWriteThem) {
  std::filesystem::path layer = FACT_SOURCE_DIR "/patterns";
  std::vector<std::filesystem::path> files;
  ASSERT_EQ(listFiles(layer, files), "");
  EXPECT_FALSE(files.empty());
  for (const std::filesystem::path &file : files) {
    std::vector<Entry> entries;
    ASSERT_EQ(readFile(layer, file, entries), "");
    EXPECT_EQ(writeText(entries), fact::tuning::readFile(file)) << file;
  }
}

TEST(EntryFile, HostileText) {
  std::string deep(1000000, '[');
  EXPECT_EQ(parse(deep), "is nested deeper than 16");
  EXPECT_EQ(parse("{\"a\":" + deep), "is nested deeper than 16");
  // The message can be printed.
  std::string error = parse("{\"\xff\xfe\": 1}");
  EXPECT_NE(error.find("ill-formed UTF-8"), std::string::npos) << error;
  EXPECT_TRUE(std::all_of(error.begin(), error.end(),
                          [](char c) { return c >= ' ' && c < 0x7f; }));
  EXPECT_NE(parse(std::string("{\0}", 3)).find("parse error"),
            std::string::npos);
  // Nothing cut short is taken for a whole file.
  std::string whole = sampleText();
  for (size_t length = 0; length + 2 < whole.size(); length += 7)
    EXPECT_NE(parse(whole.substr(0, length)), "") << length;
}

TEST(EntryFile, AnyChangedByteIsReadOrRefused) {
  std::string whole = sampleText();
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      text[random() % text.size()] = static_cast<char>(random());
    std::vector<Entry> entries;
    if (!parseFile(text, entries).empty())
      continue;
    // What was accepted can be written, and read again.
    std::vector<Entry> again;
    EXPECT_EQ(parseFile(writeText(entries), again), "");
  }
}

TEST(EntryFile, AHugeFileIsNotRead) {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path / "huge.json";
  fact::tuning::writeFile(file, "{}");
  std::filesystem::resize_file(file, uintmax_t(1) << 40); // takes no space
  std::vector<Entry> entries;
  EXPECT_EQ(readFile(folder.path, file, entries),
            file.string() + ": has 1099511627776 bytes, more than 33554432");
}

/// What is kept of two records, merged in both orders.
static Schedule keep(const Schedule &first, const Schedule &second) {
  std::vector<Entry> one = {sampleEntry(sampleProblem(), {first})},
                     other = {sampleEntry(sampleProblem(), {second})};
  std::vector<Entry> merged = merge(one, other);
  EXPECT_EQ(writeText(merged), writeText(merge(other, one)));
  EXPECT_EQ(merged[0].schedules.size(), 1u);
  return merged[0].schedules[0];
}

static Schedule dated(Schedule schedule, const char *date,
                      const char *verifier = nullptr) {
  schedule.date = date;
  if (verifier)
    schedule.versions["verifier"] = verifier;
  return schedule;
}

TEST(EntryFile, NewerEvidenceWins) {
  Schedule fast = dated(accepted(10), "2026-11-14");
  // Found wrong later, and found right again.
  Schedule wrong = dated(failed("wrong: 3 elements"), "2026-11-15");
  EXPECT_EQ(keep(fast, wrong).status, Status::Failed);
  Schedule mended = dated(accepted(12), "2026-11-16");
  EXPECT_EQ(keep(wrong, mended).status, Status::Accepted);
  // Measured slower later.
  EXPECT_EQ(keep(fast, mended).us, 12);
  // What works at times does not work; of one day the faster.
  EXPECT_EQ(keep(dated(accepted(10), "2026-11-15"), wrong).status,
            Status::Failed);
  EXPECT_EQ(keep(fast, dated(accepted(12), "2026-11-14")).us, 10);
  // A proposal is no evidence.
  Schedule pending = dated(failed("proposed"), "2026-11-20", "9");
  pending.status = Status::Pending;
  EXPECT_EQ(keep(fast, pending).status, Status::Accepted);
}

TEST(EntryFile, EvidenceOfAStricterVerifierWins) {
  Schedule wrong = dated(failed("wrong: 3 elements"), "2026-11-14", "10");
  for (const char *looser : {"9", "2", "", "many", "99999999999999999999"})
    EXPECT_EQ(keep(wrong, dated(accepted(10), "2026-11-20", looser)).status,
              Status::Failed)
        << looser;
  EXPECT_EQ(keep(wrong, dated(accepted(10), "2026-11-20")).status,
            Status::Failed);
  EXPECT_EQ(keep(wrong, dated(accepted(10), "2026-11-20", "10")).status,
            Status::Accepted);
  EXPECT_EQ(keep(wrong, dated(accepted(10), "2026-11-10", "11")).status,
            Status::Accepted);
}

TEST(EntryFile, MoreRunsAreStrongerEvidence) {
  Schedule few = accepted(10), many = accepted(12);
  few.runs = 5;
  many.runs = 60;
  many.usLow = 11.5;
  many.usHigh = 12.5;
  EXPECT_EQ(keep(few, many).us, 12);
  EXPECT_EQ(keep(few, many).usLow, 11.5);
  EXPECT_EQ(keep(many, accepted(9)).us, 12);
  // A newer day says more than runs do.
  EXPECT_EQ(keep(many, dated(few, "2026-11-16")).us, 10);
}

static Gain makeGain(const char *against, double ratio, double spread,
                     const char *date = "2026-11-15") {
  return {"fused",        against,       ratio, ratio - spread,
          ratio + spread, "NVIDIA H200", date};
}

TEST(EntryFile, GainsAreKeptByFormsAndMachine) {
  Entry entry = sampleEntry(sampleProblem(), {accepted(10)});
  entry.gains = {makeGain("single", 1.1, 0.01), makeGain("apart", 1.5, 0.02)};
  std::vector<Entry> read;
  ASSERT_EQ(parseFile(writeText({entry}), read), "");
  ASSERT_EQ(read[0].gains.size(), 2u);
  EXPECT_EQ(read[0].gains[0].against, "apart");
  EXPECT_EQ(read[0].gains[0].ratio, 1.5);
  EXPECT_EQ(read[0].gains[0].machine, "NVIDIA H200");
  EXPECT_EQ(writeText(read), writeText({entry}));

  // The newer one, and of one day the one that is known better, in any order.
  Entry other = sampleEntry(sampleProblem(), {accepted(10)});
  other.gains = {makeGain("single", 0.9, 0.1),
                 makeGain("apart", 0.8, 0.3, "2026-11-16")};
  std::vector<Entry> one = {entry}, two = {other};
  for (const std::vector<Entry> &merged : {merge(one, two), merge(two, one)}) {
    ASSERT_EQ(merged[0].gains.size(), 2u);
    EXPECT_EQ(merged[0].gains[0].ratio, 0.8);
    EXPECT_EQ(merged[0].gains[1].ratio, 1.1);
  }
}

TEST(EntryFile, ImpossibleTimesAreRefused) {
  for (double us : {0.0, -1.0, 1e-9, 0.0009, 1e13})
    EXPECT_NE(
        checkEntry(sampleEntry(sampleProblem(), {accepted(us)}))
            .find("$.entries[0].schedules[0].us: expected a number from 0.001 "
                  "to "),
        std::string::npos)
        << us;
  EXPECT_EQ(checkEntry(sampleEntry(sampleProblem(), {accepted(0.001)})), "");
  EXPECT_TRUE(isPossibleTime(10, 9));
  EXPECT_TRUE(isPossibleTime(10, 0));
  EXPECT_FALSE(isPossibleTime(10, 13));
  EXPECT_FALSE(isPossibleTime(0, 0));
  EXPECT_FALSE(isPossibleTime(1e-9, 0));
}

TEST(EntryFile, MergingDoesNotDependOnTheOrder) {
  // Every record that can be told apart, in many orders.
  std::vector<Entry> parts;
  for (int swizzle : {1, 2, 4})
    for (const char *machine : {"NVIDIA H200", "NVIDIA H100"}) {
      for (double us : {10.0, 11.0})
        for (const char *date : {"2026-11-14", "2026-11-15"})
          for (double error : {0.001, 0.002}) {
            Schedule schedule = accepted(us + swizzle, swizzle, machine);
            schedule.date = date;
            schedule.error = error;
            parts.push_back(sampleEntry(sampleProblem(), {schedule}));
          }
      Schedule bad = failed("hang", swizzle + 4);
      bad.machine = machine;
      parts.push_back(sampleEntry(sampleProblem(), {bad}));
      parts.push_back(sampleEntry(sampleProblem(8192), {bad}));
    }
  Schedule wrong = failed("wrong", 1);
  wrong.date = "2026-11-14";
  parts.push_back(sampleEntry(sampleProblem(), {wrong}));
  parts[3].example = "48_hopper_warp_specialized_gemm";
  parts[4].example = "49_hopper_gemm_with_collective_builder";
  std::string expected;
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    std::shuffle(parts.begin(), parts.end(), random);
    // As a chain, and as two halves.
    std::vector<Entry> chain, left, right;
    for (size_t j = 0; j < parts.size(); ++j) {
      chain = merge(chain, {parts[j]});
      std::vector<Entry> &half = j % 2 ? left : right;
      half = merge({parts[j]}, half);
    }
    std::string text = writeText(chain);
    if (expected.empty())
      expected = text;
    ASSERT_EQ(text, expected);
    ASSERT_EQ(writeText(merge(left, right)), expected);
    ASSERT_EQ(writeText(merge(right, left)), expected);
  }
  std::vector<Entry> entries;
  ASSERT_EQ(parseFile(expected, entries), "");
  const Schedule &best = *entries[0].getBest();
  EXPECT_EQ(best.us, 11);
  EXPECT_EQ(best.date, "2026-11-15");
  EXPECT_EQ(best.error, 0.001);
  EXPECT_EQ(entries[0].example, "49_hopper_gemm_with_collective_builder");
}

TEST(EntryFile, KeepsTheFastestOfEachMachine) {
  Entry entry = sampleEntry(
      sampleProblem(), {accepted(12, 1), accepted(10, 2), accepted(11, 4),
                        accepted(20, 1, "NVIDIA H100"), failed("hang", 8)});
  keepFastest(entry, 2);
  ASSERT_EQ(entry.schedules.size(), 4u);
  EXPECT_EQ(entry.schedules[0].us, 10);
  EXPECT_EQ(entry.schedules[1].us, 11);
  EXPECT_EQ(entry.schedules[2].us, 20);
  EXPECT_EQ(entry.schedules[3].status, Status::Failed);
}

} // namespace
