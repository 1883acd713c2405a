//===- SpacesTest.cpp - Spaces from lists of words ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SpaceLists.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Kernel/Neighbors.h"
#include "fact/Target/Targets.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using chat::SpaceLists;

namespace {
class SpacesTest : public testing::Test {
protected:
  SpacesTest() {
    DialectRegistry registry;
    registerAllTargets(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<FactDialect>();
  }

  SpaceAttrInterface space(StringRef text) {
    return cast<SpaceAttrInterface>(
        parseAttribute(("#fact." + text).str(), &context));
  }

  /// The space with lists replaced, or the error.
  std::string replace(StringRef base, const SpaceLists &lists) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text = diagnostic.str();
      return success();
    });
    FailureOr<SpaceAttrInterface> result =
        replaceLists(space(base), lists,
                     [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_EQ(failed(result), !text.empty());
    if (succeeded(result))
      llvm::raw_string_ostream(text) << *result;
    return text;
  }

  std::vector<std::string> neighbors(StringRef schedule, StringRef base) {
    std::vector<std::string> keys;
    for (ScheduleAttr next :
         getNeighbors(parseSchedule(&context, schedule), space(base)))
      keys.push_back(next.getKey());
    return keys;
  }

  MLIRContext context;
};
} // namespace

static const char *gemm =
    "host_gemm_space<micro = [8x8, 6x16, 4x16], rows = [64, 128], columns = "
    "[128]>";

TEST_F(SpacesTest, Lists) {
  EXPECT_EQ(getLists(space(gemm)),
            (SpaceLists{{"micro", {"8x8", "6x16", "4x16"}},
                        {"rows", {"64", "128"}},
                        {"columns", {"128"}}}));
}

TEST_F(SpacesTest, ReplaceSome) {
  EXPECT_EQ(replace(gemm, {{"rows", {"32"}}}),
            "#fact.host_gemm_space<micro = [8x8, 6x16, 4x16], rows = [32], "
            "columns = [128]>");
  EXPECT_EQ(
      replace(gemm, {}),
      "#fact.host_gemm_space<micro = [8x8, 6x16, 4x16], rows = [64, 128], "
      "columns = [128]>");
}

TEST_F(SpacesTest, UnknownLists) {
  EXPECT_EQ(replace(gemm, {{"tile", {"32"}}}),
            "a host_gemm space has no parameter 'tile'; it has 'micro', "
            "'rows', 'columns'");
}

TEST_F(SpacesTest, UnknownWords) {
  for (const char *word :
       {"x",     "8x",  "x8",    "8xx8", "1_0",  "inf", "99999999999999999999",
        "dense", "i32", "true",  "unit", "8x8x", "1e5", "1x1x1x1x1",
        "0",     "8",   "8x8x8", "-8x8", "+8x8", " 8x8"})
    EXPECT_NE(replace(gemm, {{"micro", {word}}}).find("invalid space"),
              std::string::npos)
        << word;
  EXPECT_NE(
      replace("sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel "
              "= [pingpong], swizzle = [1]>",
              {{"kernel", {"fast"}}})
          .find("invalid space"),
      std::string::npos);
}

TEST_F(SpacesTest, NumbersWithoutSense) {
  // They are read; no schedule of them is legal, and counting them is safe.
  for (const char *word :
       {"0x8", "8x0", "9223372036854775807x2", "4611686018427387904x4"}) {
    EXPECT_EQ(replace(gemm, {{"micro", {word}}}).find("#fact."), 0u) << word;
    auto points = space((Twine("host_gemm_space<micro = [") + word +
                         "], rows = [0, 9223372036854775807], columns = [128]>")
                            .str())
                      .enumerate();
    EXPECT_EQ(points.size(), 2u) << word;
  }
}

TEST_F(SpacesTest, TooManyPoints) {
  std::vector<std::string> values;
  for (int i = 1; i <= 64; ++i)
    values.push_back(std::to_string(i));
  EXPECT_EQ(replace(gemm, {{"rows", values}, {"columns", values}}),
            "its space has 12288 points; the limit is 4096");
}

TEST_F(SpacesTest, NextToASchedule) {
  // Rows are whole numbers of register tiles.
  EXPECT_EQ(
      neighbors("host_gemm<micro = 6x16, rows = 64, columns = 128>", gemm),
      (std::vector<std::string>{
          "host_gemm<micro = 8x8, rows = 64, columns = 128>",
          "host_gemm<micro = 4x16, rows = 64, columns = 128>",
          "host_gemm<micro = 6x16, rows = 126, columns = 128>"}));
  // What is in no list has all of it next to it.
  EXPECT_EQ(neighbors("host_gemm<micro = 8x8, rows = 32, columns = 128>", gemm),
            (std::vector<std::string>{
                "host_gemm<micro = 6x16, rows = 30, columns = 128>",
                "host_gemm<micro = 8x8, rows = 64, columns = 128>",
                "host_gemm<micro = 8x8, rows = 128, columns = 128>"}));
  // Another family's schedule has none.
  EXPECT_TRUE(neighbors("host_rows<grain = 2>", gemm).empty());
}

TEST_F(SpacesTest, SchedulesByKey) {
  EXPECT_TRUE(parseSchedule(&context, "host_rows<grain = 2>"));
  for (const char *key :
       {"", "host_rows", "host_rows<grain = 2", "host_rows<grain = 0>>",
        "machine<\"host\">", "host_rows<grain = 2> loc(\"x\")",
        "nothing<a = 1>", "host_gemm_space<micro = 8x8>",
        "host_rows<grain = -1>", "host_rows<grain = 99999999999999999999>"})
    EXPECT_FALSE(parseSchedule(&context, key)) << key;
  EXPECT_FALSE(parseSchedule(
      &context, "host_rows<grain = " + std::string(1000, ' ') + "2>"));
}
