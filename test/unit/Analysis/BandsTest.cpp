//===- BandsTest.cpp - Bands of values, against their elements ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Bands.h"
#include "RegionFixture.h"

using namespace mlir;
using namespace fact;

namespace {
using BandsTest = fact::test::RegionFixture;

constexpr int64_t none = Band::none;
const Band lower{-none, 1}, upper{-2, none}, both{-2, 1};
} // namespace

TEST(BandTest, ElementsOfSmallMatrices) {
  // Every combination agrees with its elements.
  const Band bands[] = {lower, upper, both, {0, 0}, {2, none}, Band()};
  auto has = [](const Band &band, int i, int j) {
    return band.lower <= j - i && j - i <= band.upper;
  };
  for (const Band &a : bands)
    for (const Band &b : bands) {
      Band product = a.multiply(b);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          EXPECT_EQ(has(a.intersect(b), i, j), has(a, i, j) && has(b, i, j));
          EXPECT_TRUE(has(a.unite(b), i, j) || !(has(a, i, j) || has(b, i, j)));
          EXPECT_EQ(has(a.transpose(), i, j), has(a, j, i));
          if (std::optional<Band> rest = a.complement())
            EXPECT_EQ(has(*rest, i, j), !has(a, i, j));
          for (int k = 0; k < 6; ++k)
            EXPECT_TRUE(has(product, i, j) || !has(a, i, k) || !has(b, k, j));
        }
    }
  EXPECT_FALSE(both.complement());
  EXPECT_EQ(lower.countElements(3, 3), 8);
}

TEST_F(BandsTest, MarksReachFactorsThroughPermutes) {
  FusedOp fused = parse({"tensor<2x4x6xf32>", "tensor<4x8xf32>"}, R"(
    %2 = fact.permute %0 [0, 2, 1] : (tensor<2x4x6xf32>) -> tensor<2x6x4xf32>
    %3 = fact.neg %2 : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %4 = fact.matmul %3, %1 : (tensor<2x6x4xf32>, tensor<4x8xf32>) -> tensor<2x6x8xf32>
    fact.yield %4 : tensor<2x6x8xf32>)");
  setOperandBands(fused, {lower, Band()});
  auto matmul = get<MatmulOp>(fused);
  BandAnalysis analysis;
  EXPECT_EQ(analysis.getNonzero(matmul.getLhs()), lower.transpose());
  EXPECT_FALSE(analysis.getNonzero(matmul.getRhs()).isBounded());
  EXPECT_FALSE(analysis.getNonzero(matmul.getResult()).isBounded());
  EXPECT_FALSE(analysis.getUsed(matmul.getResult()).isBounded());
}

TEST_F(BandsTest, ProductsOfBandsAreBands) {
  FusedOp fused = parse({"tensor<4x4xf32>", "tensor<4x4xf32>"}, R"(
    %2 = fact.matmul %0, %1 transpose_b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    fact.yield %2 : tensor<4x4xf32>)");
  setOperandBands(fused, {both, both});
  EXPECT_EQ(BandAnalysis().getNonzero(yielded(fused)),
            both.multiply(both.transpose()));
}

TEST_F(BandsTest, UsedByBothSidesOfASelect) {
  // What the mask hides of the product shows elsewhere.
  std::string body = R"(
    %3 = fact.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = fact.select %2, %3, %0 : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
)";
  std::vector<std::string> types = {"tensor<4x4xf32>", "tensor<4x4xf32>",
                                    "tensor<4x4xi1>"};
  FusedOp fused = parse(types, body + "fact.yield %4 : tensor<4x4xf32>");
  setOperandBands(fused, {Band(), Band(), lower});
  EXPECT_EQ(BandAnalysis().getUsed(get<MatmulOp>(fused).getResult()), lower);
  fused = parse(types, body + R"(
    %5 = fact.add %3, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    fact.yield %5 : tensor<4x4xf32>)");
  setOperandBands(fused, {Band(), Band(), lower});
  EXPECT_FALSE(
      BandAnalysis().getUsed(get<MatmulOp>(fused).getResult()).isBounded());
}

TEST_F(BandsTest, FactorsOfZeroHideNumbersOnly) {
  // log(0) * 0 is NaN; what a select hides may be anything.
  auto getUsed = [&](StringRef function, StringRef mask) {
    FusedOp fused =
        parse({"tensor<4x4xf32>", "tensor<4x4xf32>", "tensor<4x4xf32>",
               "tensor<4x4xi1>"},
              "%4 = fact.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
              "tensor<4x4xf32>\n%5 = fact." +
                  function.str() + " : (tensor<4x4xf32>" +
                  (function.contains(',') ? ", tensor<4x4xf32>" : "") +
                  ") -> tensor<4x4xf32>\n%6 = fact." + mask.str() +
                  "fact.yield %6 : tensor<4x4xf32>");
    setOperandBands(fused, {Band(), Band(), lower, lower});
    return BandAnalysis().getUsed(get<MatmulOp>(fused).getResult());
  };
  StringRef times = "mul %5, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
                    "tensor<4x4xf32>\n";
  StringRef select = "select %3, %5, %0 : (tensor<4x4xi1>, tensor<4x4xf32>, "
                     "tensor<4x4xf32>) -> tensor<4x4xf32>\n";
  for (StringRef total : {"exp %4", "tanh %4", "div %4, %0"}) {
    EXPECT_EQ(getUsed(total, times), lower) << total.str();
    EXPECT_EQ(getUsed(total, select), lower) << total.str();
  }
  for (StringRef partial : {"log %4", "rsqrt %4", "div %0, %4"}) {
    EXPECT_FALSE(getUsed(partial, times).isBounded()) << partial.str();
    EXPECT_EQ(getUsed(partial, select), lower) << partial.str();
  }
}

TEST_F(BandsTest, BroadcastsHaveNoBand) {
  FusedOp fused = parse({"tensor<4x4xf32>", "tensor<4x1xf32>"}, R"(
    %2 = fact.add %0, %1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    fact.yield %2 : tensor<4x4xf32>)");
  setOperandBands(fused, {lower, Band()});
  EXPECT_FALSE(BandAnalysis().getNonzero(yielded(fused)).isBounded());
}

TEST_F(BandsTest, UsesAreFollowedOnce) {
  // As many ways lead from the product to the result as 2 to the 64.
  std::string body =
      "%3 = fact.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
      "tensor<4x4xf32>\n";
  int last = 3;
  for (int i = 0; i < 64; ++i, ++last)
    body += "%" + std::to_string(last + 1) + " = fact.mul %" +
            std::to_string(last) + ", %" + std::to_string(last) +
            " : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n";
  std::string result = "%" + std::to_string(last + 1);
  FusedOp fused =
      parse({"tensor<4x4xf32>", "tensor<4x4xf32>", "tensor<4x4xi1>"},
            body + result + " = fact.select %2, %" + std::to_string(last) +
                ", %0 : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> "
                "tensor<4x4xf32>\nfact.yield " +
                result + " : tensor<4x4xf32>");
  setOperandBands(fused, {Band(), Band(), lower});
  EXPECT_EQ(BandAnalysis().getUsed(get<MatmulOp>(fused).getResult()), lower);
}

TEST_F(BandsTest, SlicesShiftBands) {
  FusedOp fused = parse({"tensor<6x8xf32>", "tensor<6x8xf32>"}, R"(
    %2 = fact.slice %0 dim 1 start 3 : (tensor<6x8xf32>) -> tensor<6x5xf32>
    %3 = fact.slice %1 dim 0 start 2 : (tensor<6x8xf32>) -> tensor<4x8xf32>
    %4 = ub.poison : tensor<6x3xf32>
    %5 = fact.concat %2, %4 dim 1 : (tensor<6x5xf32>, tensor<6x3xf32>) -> tensor<6x8xf32>
    %6 = fact.concat %4, %2 dim 1 : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x8xf32>
    fact.yield %5, %3, %6 : tensor<6x8xf32>, tensor<4x8xf32>, tensor<6x8xf32>)");
  setOperandBands(fused, {lower, both});
  BandAnalysis analysis;
  EXPECT_EQ(analysis.getNonzero(yielded(fused, 0)), (Band{-none, -2}));
  EXPECT_EQ(analysis.getNonzero(yielded(fused, 1)), (Band{0, 3}));
  EXPECT_FALSE(analysis.getNonzero(yielded(fused, 2)).isBounded());
}
