//===- DestinationTest.cpp - Where the results of a region land -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Destination.h"
#include "RegionFixture.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

using DestinationTest = RegionFixture;

TEST_F(DestinationTest, StripsPermutesAndReshapes) {
  FusedOp fused = parse({"tensor<6x4xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %2 = fact.reshape %1 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %3 = fact.permute %2 [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
    fact.yield %3 : tensor<3x2x4xf32>)");
  SmallVector<Destination> all = getDestinations(yielded(fused));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(strides(all[0].view), "+0 3:8 2:4 4:1");
  EXPECT_EQ(all[1].value, get<ReshapeOp>(fused).getResult());
  EXPECT_EQ(strides(all[1].view), "+0 2:4 3:8 4:1");
  // Rows of [6, 4] lie at no one stride.
  EXPECT_TRUE(failed(getDestination(yielded(fused), report(fused))));
  EXPECT_EQ(message, "the views after the last op put the elements of "
                     "'tensor<2x3x4xf32>' where strides cannot describe them");
}

TEST_F(DestinationTest, WholeChain) {
  FusedOp fused = parse({"tensor<6x4xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %2 = fact.permute %1 [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %3 = fact.reshape %2 : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
    fact.yield %3 : tensor<2x2x6xf32>)");
  FailureOr<Destination> destination =
      getDestination(yielded(fused), report(fused));
  ASSERT_TRUE(succeeded(destination));
  EXPECT_EQ(destination->value, get<ExpOp>(fused).getResult());
  EXPECT_EQ(strides(destination->view), "+0 6:1 4:6");
}

TEST_F(DestinationTest, OneIndexSpace) {
  FusedOp fused = parse(
      {"tensor<2x6xf32>", "tensor<12xf32>", "tensor<3x4xf32>", "tensor<5xf32>"},
      "fact.yield %0 : tensor<2x6xf32>");
  SmallVector<StridedView> views;
  for (Value argument : fused.getBody().getArguments())
    views.push_back(StridedView::identity(argument));
  MutableArrayRef<StridedView> all = views;
  EXPECT_TRUE(succeeded(shareIndexSpace(all.take_front(2), report(fused))));
  EXPECT_EQ(strides(views[1]), "+0 2:6 6:1");
  // Half a transposed [4, 3] matrix is not a row at one stride.
  views[2] = views[2].permute({1, 0});
  EXPECT_TRUE(failed(shareIndexSpace(all.take_front(3), report(fused))));
  EXPECT_EQ(message, "results lie too differently for one index space");
  SmallVector<StridedView> other{views[0], views[3]};
  EXPECT_TRUE(failed(shareIndexSpace(other, report(fused))));
  EXPECT_EQ(message, "all results must have the same number of elements");
}

TEST_F(DestinationTest, PartsOfAConcatenation) {
  FusedOp fused = parse({"tensor<2x3xf32>", "tensor<2x5xf32>"}, R"(
    %2 = fact.concat %0, %1 dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    %3 = fact.permute %2 [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
    fact.yield %3 : tensor<8x2xf32>)");
  FailureOr<Destination> destination =
      getDestination(yielded(fused), report(fused));
  ASSERT_TRUE(succeeded(destination));
  SmallVector<Destination> parts = getParts(get<ConcatOp>(fused), *destination);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].value, fused.getBody().getArgument(1));
  EXPECT_EQ(strides(parts[0].view), "+0 2:1 3:2");
  EXPECT_EQ(strides(parts[1].view), "+6 2:1 5:2");
}

/// Two phases of a transposed convolution, without the first element and the
/// last, with channels before pixels.
TEST_F(DestinationTest, CroppedPhases) {
  FusedOp fused = parse({"tensor<4x3xf32>", "tensor<4x3xf32>"}, R"(
    %2 = fact.concat %0, %1 dim 1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
    %3 = fact.reshape %2 : (tensor<4x6xf32>) -> tensor<8x3xf32>
    %4 = fact.slice %3 dim 0 start 1 : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %5 = fact.permute %4 [1, 0] : (tensor<6x3xf32>) -> tensor<3x6xf32>
    fact.yield %5 : tensor<3x6xf32>)");
  Destination cropped = getCropped(yielded(fused));
  EXPECT_TRUE(cropped.value.getDefiningOp<ReshapeOp>());
  EXPECT_EQ(strides(cropped.view), "+-1 8:1 3:6");
  FailureOr<SmallVector<Destination>> parts =
      getSplitParts(get<ConcatOp>(fused), cropped, report(fused));
  ASSERT_TRUE(succeeded(parts));
  ASSERT_EQ(parts->size(), 2u);
  for (auto [i, part] : llvm::enumerate(*parts)) {
    EXPECT_EQ(part.value, fused.getBody().getArgument(i));
    EXPECT_EQ(strides(part.view), i ? "+0 4:2 3:6" : "+-1 4:2 3:6");
    ASSERT_EQ(part.bounds.size(), 1u);
    EXPECT_EQ(strides(part.bounds[0].coordinate),
              i ? "+1 4:2 3:0" : "+0 4:2 3:0");
    EXPECT_EQ(part.bounds[0].lower, 1);
    EXPECT_EQ(part.bounds[0].upper, 7);
  }
}

TEST_F(DestinationTest, HalvesOfARotaryEmbedding) {
  for (const char *order : {"", " interleaved"}) {
    FusedOp fused =
        parse({"tensor<2x8xf32>", "tensor<8xf32>", "tensor<1xf32>"},
              "%3 = fact.rotary %0, %1, %2" + std::string(order) +
                  " : (tensor<2x8xf32>, tensor<8xf32>, tensor<1xf32>) -> "
                  "tensor<2x8xf32>\nfact.yield %3 : tensor<2x8xf32>");
    auto rotary = get<RotaryOp>(fused);
    SmallVector<Destination> halves =
        expandRotary(rotary, StridedView::identity(rotary));
    ASSERT_EQ(halves.size(), 2u);
    EXPECT_TRUE(halves[0].value.getDefiningOp<SubOp>());
    EXPECT_TRUE(halves[1].value.getDefiningOp<AddOp>());
    bool interleaved = rotary.getInterleaved();
    EXPECT_EQ(strides(halves[0].view),
              interleaved ? "+0 2:8 4:2" : "+0 2:8 4:1");
    EXPECT_EQ(strides(halves[1].view),
              interleaved ? "+1 2:8 4:2" : "+4 2:8 4:1");
    // The sine broadcasts along the pairs: it is not sliced.
    auto turned = halves[0].value.getDefiningOp()->getOperand(1);
    EXPECT_EQ(turned.getDefiningOp<MulOp>()->getOperand(1),
              fused.getBody().getArgument(2));
  }
}
