//===- ScheduleTest.cpp - Schedules of a kind that a test declares --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Sizes and parameters
//===----------------------------------------------------------------------===//

TEST(Sizes, ContainAndDescribe) {
  Sizes few = Sizes::oneOf({64, 128, 256});
  EXPECT_EQ(few.describe(), "64, 128 or 256");
  EXPECT_TRUE(few.contains(128));
  EXPECT_FALSE(few.contains(192));

  Sizes range = Sizes::between(3, 8);
  EXPECT_EQ(range.describe(), "3 to 8");
  EXPECT_TRUE(range.contains(3) && range.contains(8));
  EXPECT_FALSE(range.contains(2) || range.contains(9));

  Sizes multiples = Sizes::multiplesOf(16, 256);
  EXPECT_EQ(multiples.describe(), "a multiple of 16 up to 256");
  EXPECT_TRUE(multiples.contains(16) && multiples.contains(256));
  EXPECT_FALSE(multiples.contains(0) || multiples.contains(24) ||
               multiples.contains(272));

  EXPECT_EQ(Sizes::any().describe(), "1 or more");
  EXPECT_FALSE(Sizes::any().contains(0));
  EXPECT_FALSE(Sizes::any().contains(int64_t(1) << 31));
  EXPECT_EQ(Sizes::multiplesOf(4).describe(), "a multiple of 4");
}

static const Parameter tile = Parameter::extents(
    "tile", "rows x columns",
    {{"rows", Sizes::oneOf({8, 16})}, {"columns", Sizes::multiplesOf(4, 64)}});
static const Parameter order =
    Parameter::word("order", "which runs first", {"rows", "columns"});

TEST(Parameter, Text) {
  std::string error;
  EXPECT_EQ(tile.describe(), "rows 8 or 16, columns a multiple of 4 up to 64");
  EXPECT_EQ(order.describe(), "rows or columns");
  ASSERT_TRUE(tile.parse("8x12", error));
  EXPECT_EQ(*tile.parse("8x12", error), (Extents{8, 12}));
  EXPECT_EQ(tile.format({8, 12}), "8x12");
  EXPECT_EQ(*order.parse("columns", error), Extents{1});
  EXPECT_EQ(order.format({1}), "columns");
  for (const char *text : {"", "8", "8x", "x8", "8x8x8", "-8x8", "+8x8", "8 x8",
                           "ax8", "99999999999999999999x8"}) {
    error.clear();
    EXPECT_FALSE(tile.parse(text, error)) << text;
    EXPECT_EQ(error, "'tile' is " + tile.describe() + ", not '" + text + "'");
  }
  EXPECT_FALSE(order.parse("row", error));
  EXPECT_EQ(error, "'order' is rows or columns, not 'row'");
}

TEST(Parameter, Steps) {
  EXPECT_EQ(tile.getSteps({8, 4}),
            (std::vector<Extents>{{4, 4}, {16, 4}, {8, 2}, {8, 8}}));
  // Nothing is halved to 0, nothing large is doubled, and words have no half.
  EXPECT_EQ(tile.getSteps({1, 1}), (std::vector<Extents>{{2, 1}, {1, 2}}));
  EXPECT_TRUE(tile.getSteps({int64_t(1) << 40, 1}).empty());
  EXPECT_TRUE(order.getSteps({1}).empty());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// A kind that no target of FACT has.
const ScheduleKind loops{
    "test_loops",
    "loops of a test",
    {tile, order,
     Parameter::number("unroll", "iterations in one", Sizes::between(1, 8))},
    "`unroll` divides the columns.",
    {"8x12", "16x4"},
    [](MutableArrayRef<Extents> values) {
      values[2] = {std::min(values[2][0], values[0][1])};
    }};

class ScheduleTest : public testing::Test {
protected:
  ScheduleTest() {
    context.getOrLoadDialect<FactDialect>()->addScheduleKind(loops);
  }

  template <typename AttrT> AttrT parse(StringRef text) {
    return dyn_cast_or_null<AttrT>(parseAttribute(text, &context));
  }
  static std::string print(Attribute attribute) {
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    return text;
  }

  /// What is wrong with a schedule; nothing: it is legal.
  std::string check(StringRef text) {
    std::string reason;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      reason = diagnostic.str();
      return success();
    });
    LogicalResult legal = parse<ScheduleAttr>(text).checkValues(
        [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_EQ(succeeded(legal), reason.empty());
    return reason;
  }

  MLIRContext context;
};
} // namespace

TEST_F(ScheduleTest, RoundTrips) {
  StringRef text = "#fact.test_loops<tile = 8x12, order = columns, unroll = 2>";
  auto schedule = parse<ScheduleAttr>(text);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(print(schedule), text);
  EXPECT_EQ(schedule.getKey(),
            "test_loops<tile = 8x12, order = columns, unroll = 2>");
  EXPECT_EQ(schedule.getKind(), &loops);
  EXPECT_EQ(schedule,
            parse<ScheduleAttr>("#fact.test_loops<unroll = 2, order = columns, "
                                "tile = 8x12>"));
  EXPECT_EQ(print(schedule.with(2, {4})),
            "#fact.test_loops<tile = 8x12, order = columns, unroll = 4>");
}

TEST_F(ScheduleTest, ValuesAndLimitsAreChecked) {
  auto text = [](StringRef tile, StringRef unroll) {
    return ("#fact.test_loops<tile = " + tile +
            ", order = rows, unroll = " + unroll + ">")
        .str();
  };
  EXPECT_EQ(check(text("8x12", "2")), "");
  EXPECT_EQ(check(text("9x12", "2")), "tile rows is 8 or 16, not 9");
  EXPECT_EQ(check(text("8x10", "2")),
            "tile columns is a multiple of 4 up to 64, not 10");
  EXPECT_EQ(check(text("8x12", "9")), "unroll is 1 to 8, not 9");
  EXPECT_EQ(check(text("8x12", "-1")), "unroll is 1 to 8, not -1");
}

TEST_F(ScheduleTest, SpacesAreProducts) {
  StringRef text = "#fact.test_loops_space<tile = [8x4, 16x8], order = [rows], "
                   "unroll = [1, 8]>";
  auto space = parse<SpaceAttr>(text);
  ASSERT_TRUE(space);
  EXPECT_EQ(print(space), text);
  EXPECT_EQ(space.countPoints(), 4u);
  EXPECT_EQ(space, SpaceAttr::get(&context, loops, space.getLists()));
  std::vector<std::string> keys;
  for (ScheduleAttr point : space.enumerate())
    keys.push_back(point.getKey());
  // The last list runs fastest; values that depend on others follow them.
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "test_loops<tile = 8x4, order = rows, unroll = 1>",
                      "test_loops<tile = 8x4, order = rows, unroll = 4>",
                      "test_loops<tile = 16x8, order = rows, unroll = 1>",
                      "test_loops<tile = 16x8, order = rows, unroll = 8>"}));
}

TEST_F(ScheduleTest, EmptyListsHaveNoPoints) {
  auto space = parse<SpaceAttr>(
      "#fact.test_loops_space<tile = [], order = [rows], unroll = [1]>");
  ASSERT_TRUE(space);
  EXPECT_EQ(space.countPoints(), 0u);
  EXPECT_TRUE(space.enumerate().empty());
}

TEST_F(ScheduleTest, KindsDescribeThemselves) {
  EXPECT_EQ(
      loops.describe(),
      "loops of a test.\n"
      "\n"
      "- `tile`: rows x columns (rows 8 or 16, columns a multiple of 4 up "
      "to 64).\n"
      "- `order`: which runs first (rows or columns).\n"
      "- `unroll`: iterations in one (1 to 8).\n"
      "\n"
      "`unroll` divides the columns.\n");
  EXPECT_EQ(loops.find("order"), 1u);
  EXPECT_FALSE(loops.find("orders"));
}

TEST_F(ScheduleTest, OtherContextsDoNotKnowTheKind) {
  MLIRContext other;
  other.loadDialect<FactDialect>();
  ScopedDiagnosticHandler silence(&other,
                                  [](Diagnostic &) { return success(); });
  EXPECT_FALSE(parseAttribute(
      "#fact.test_loops<tile = 8x12, order = rows, unroll = 2>", &other));
}
