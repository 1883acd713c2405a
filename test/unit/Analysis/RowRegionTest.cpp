//===- RowRegionTest.cpp - Norms, softmax and reductions in regions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/RowRegion.h"
#include "RegionFixture.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class RowRegionTest : public RegionFixture {
protected:
  FailureOr<RowRegion> read(FusedOp fused) {
    message.clear();
    return RowRegion::read(fused, report(fused));
  }
};
} // namespace

TEST_F(RowRegionTest, Norm) {
  FusedOp fused = parse({"tensor<2x3x4x5xf32>", "tensor<4x5xf32>"}, R"(
    %2 = fact.exp %0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
    %3 = fact.norm rms %2 weight %1 eps 1.0e-05 dims 2 : (tensor<2x3x4x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4x5xf32>
    %4 = fact.reshape %3 : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
    fact.yield %4, %2 : tensor<6x20xf32>, tensor<2x3x4x5xf32>)");
  FailureOr<RowRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  EXPECT_EQ(region->op, get<NormOp>(fused).getOperation());
  EXPECT_EQ(region->rows, 6);
  EXPECT_EQ(region->columns, 20);
  EXPECT_EQ(region->getInput(), get<ExpOp>(fused).getResult());
  EXPECT_EQ(region->getOutput(), get<NormOp>(fused).getResult());
  EXPECT_EQ(region->getWeight(), fused.getBody().getArgument(1));
  EXPECT_FALSE(region->getBias());
  EXPECT_FALSE(region->isReduction());
  ASSERT_EQ(region->results.size(), 2u);
  EXPECT_TRUE(region->results[0].isFull);
  EXPECT_TRUE(region->results[1].isFull);
  EXPECT_EQ(region->results[0].yielded, yielded(fused));
}

TEST_F(RowRegionTest, Softmax) {
  FusedOp fused = parse({"tensor<2x3x4xf32>"}, R"(
    %1 = fact.softmax %0 dim 2 : tensor<2x3x4xf32>
    fact.yield %1 : tensor<2x3x4xf32>)");
  FailureOr<RowRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  EXPECT_EQ(region->rows, 6);
  EXPECT_EQ(region->columns, 4);
  EXPECT_FALSE(region->getWeight());
  EXPECT_FALSE(region->isReduction());
}

TEST_F(RowRegionTest, ReductionWithFullAndPerRowResults) {
  FusedOp fused = parse({"tensor<2x3x4xf32>"}, R"(
    %1 = fact.reduce sum %0 dims [1, 2] keep : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
    %2 = fact.sub %0, %1 : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
    fact.yield %2, %1 : tensor<2x3x4xf32>, tensor<2x1x1xf32>)");
  FailureOr<RowRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  EXPECT_EQ(region->rows, 2);
  EXPECT_EQ(region->columns, 12);
  EXPECT_TRUE(region->isReduction());
  ASSERT_EQ(region->results.size(), 2u);
  EXPECT_TRUE(region->results[0].isFull);
  EXPECT_FALSE(region->results[1].isFull);
}

/// With one column, a result is full.
TEST_F(RowRegionTest, OneColumn) {
  FusedOp fused = parse({"tensor<6x1xf32>"}, R"(
    %1 = fact.reduce max %0 dims [1] : (tensor<6x1xf32>) -> tensor<6xf32>
    fact.yield %1 : tensor<6xf32>)");
  FailureOr<RowRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  EXPECT_EQ(region->rows, 6);
  EXPECT_EQ(region->columns, 1);
  EXPECT_TRUE(region->results[0].isFull);
}

TEST_F(RowRegionTest, RefusesNoneAndTwoRowOps) {
  FusedOp none = parse({"tensor<2x4xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    fact.yield %1 : tensor<2x4xf32>)");
  EXPECT_TRUE(failed(read(none)));
  EXPECT_EQ(message, "needs exactly one norm, softmax or reduction, not 0");
  FusedOp two = parse({"tensor<2x4xf32>"}, R"(
    %1 = fact.softmax %0 dim 1 : tensor<2x4xf32>
    %2 = fact.softmax %1 dim 1 : tensor<2x4xf32>
    fact.yield %2 : tensor<2x4xf32>)");
  EXPECT_TRUE(failed(read(two)));
  EXPECT_EQ(message, "needs exactly one norm, softmax or reduction, not 2");
}

TEST_F(RowRegionTest, RefusesOtherDimensions) {
  FusedOp softmax = parse({"tensor<2x3x4xf32>"}, R"(
    %1 = fact.softmax %0 dim 1 : tensor<2x3x4xf32>
    fact.yield %1 : tensor<2x3x4xf32>)");
  EXPECT_TRUE(failed(read(softmax)));
  EXPECT_EQ(message, "'fact.softmax' must be over the last dimensions of "
                     "'tensor<2x3x4xf32>', not over 1");
  FusedOp reduce = parse({"tensor<2x3x4xf32>"}, R"(
    %1 = fact.reduce sum %0 dims [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
    fact.yield %1 : tensor<3xf32>)");
  EXPECT_TRUE(failed(read(reduce)));
  EXPECT_EQ(message, "'fact.reduce' must be over the last dimensions of "
                     "'tensor<2x3x4xf32>', not over 0, 2");
}

TEST_F(RowRegionTest, RefusesResultsOfOtherSizes) {
  FusedOp fused = parse({"tensor<6x4xf32>"}, R"(
    %1 = fact.softmax %0 dim 1 : tensor<6x4xf32>
    %2 = fact.slice %1 dim 1 start 0 : (tensor<6x4xf32>) -> tensor<6x2xf32>
    fact.yield %2 : tensor<6x2xf32>)");
  EXPECT_TRUE(failed(read(fused)));
  EXPECT_EQ(message, "a result of type 'tensor<6x2xf32>' must have 6 rows of 4 "
                     "elements or of one");
}
