//===- AttentionRegionTest.cpp - Regions as attention ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/AttentionRegion.h"
#include "RegionFixture.h"
#include "RegionText.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

using Shape = SmallVector<int64_t>;

namespace {
class Attention : public RegionFixture {
protected:
  FusedOp
  parse(const std::vector<std::string> &arguments, const std::string &body,
        const std::vector<std::pair<std::string, std::string>> &results) {
    return RegionFixture::parse(tensors(arguments), body + yield(results));
  }
  FailureOr<AttentionRegion> read(FusedOp fused) {
    return AttentionRegion::get(fused, report(fused));
  }
  std::string refusal(FusedOp fused) {
    EXPECT_TRUE(failed(read(fused)));
    return message;
  }
};
} // namespace

/// Attention of 2 batches, 4 heads, 6 queries, 5 keys of 8 and 3 columns.
static std::string attention(const std::string &words = "",
                             const std::string &keyHeads = "4",
                             const std::vector<std::string> &mask = {},
                             const std::string &precision = "") {
  std::vector<std::string> operands{"2x4x6x8", "2x" + keyHeads + "x5x8",
                                    "2x" + keyHeads + "x5x3"};
  operands.insert(operands.end(), mask.begin(), mask.end());
  return op("o", "attention %0, %1, %2 " + words + " scale 0.5 " + precision,
            operands, "2x4x6x3");
}

TEST_F(Attention, GroupedHeads) {
  FailureOr<AttentionRegion> region =
      read(parse({"2x4x6x8", "2x2x5x8", "2x2x5x3"}, attention("causal", "2"),
                 {{"o", "2x4x6x3"}}));
  ASSERT_TRUE(succeeded(region));
  EXPECT_EQ(region->batches, 2);
  EXPECT_EQ(region->heads, 4);
  EXPECT_EQ(region->keyHeads, 2);
  EXPECT_EQ(region->getGroup(), 2);
  EXPECT_EQ(region->queries, 6);
  EXPECT_EQ(region->keys, 5);
  EXPECT_EQ(region->headSize, 8);
  EXPECT_EQ(region->valueSize, 3);
  EXPECT_TRUE(region->causal);
  EXPECT_FALSE(region->tf32);
  EXPECT_EQ(region->scale, 0.5);
  EXPECT_FALSE(region->mask);
  EXPECT_EQ(region->destination.strides, (Shape{72, 18, 3, 1}));
}

TEST_F(Attention, Precision) {
  FailureOr<AttentionRegion> region =
      read(parse({"2x4x6x8", "2x4x5x8", "2x4x5x3"},
                 attention("", "4", {}, "tf32"), {{"o", "2x4x6x3"}}));
  ASSERT_TRUE(succeeded(region));
  EXPECT_TRUE(region->tf32);
}

/// Queries, keys and values are slices of one projection [batch, time, 3 * 16],
/// with 2 heads of 8 columns each; the result has the heads side by side.
TEST_F(Attention, SlicesOfOneProjection) {
  std::string body;
  for (int i = 0; i < 3; ++i) {
    std::string n = std::to_string(i);
    body +=
        op("s" + n, "slice %0 dim 2 start " + std::to_string(16 * i),
           {"2x6x48"}, "2x6x16") +
        op("r" + n, "reshape %s" + n, {"2x6x16"}, "2x6x2x8") +
        op("t" + n, "permute %r" + n + " [0, 2, 1, 3]", {"2x6x2x8"}, "2x2x6x8");
  }
  body += op("o", "attention %t0, %t1, %t2 scale 1.0",
             {"2x2x6x8", "2x2x6x8", "2x2x6x8"}, "2x2x6x8") +
          op("w", "permute %o [0, 2, 1, 3]", {"2x2x6x8"}, "2x6x2x8") +
          op("y", "reshape %w", {"2x6x2x8"}, "2x6x16");
  FusedOp fused = parse({"2x6x48"}, body, {{"y", "2x6x16"}});
  FailureOr<AttentionRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  for (auto [view, offset] :
       {std::pair(&region->query, 0), std::pair(&region->key, 16),
        std::pair(&region->value, 32)}) {
    EXPECT_EQ(view->base, fused.getBody().getArgument(0));
    EXPECT_EQ(view->offset, offset);
    EXPECT_EQ(view->strides, (Shape{288, 8, 48, 1}));
  }
  EXPECT_EQ(region->destination.strides, (Shape{96, 8, 16, 1}));
}

TEST_F(Attention, MaskThatRepeats) {
  FusedOp fused =
      parse({"2x4x6x8", "2x4x5x8", "2x4x5x3", "2x1x1x5"},
            attention("mask %3", "4", {"2x1x1x5"}), {{"o", "2x4x6x3"}});
  FailureOr<AttentionRegion> region = read(fused);
  ASSERT_TRUE(succeeded(region));
  ASSERT_TRUE(region->mask);
  EXPECT_EQ(region->mask->base, fused.getBody().getArgument(3));
  EXPECT_EQ(region->mask->shape, (Shape{2, 4, 6, 5}));
  EXPECT_EQ(region->mask->strides, (Shape{5, 0, 0, 1}));
}

TEST_F(Attention, RefusesNone) {
  EXPECT_EQ(
      refusal(parse({"8x4"}, op("p0", "permute %0 [1, 0]", {"8x4"}, "4x8"),
                    {{"p0", "4x8"}})),
      "needs exactly one 'fact.attention', not 0");
}

TEST_F(Attention, RefusesOtherOps) {
  EXPECT_EQ(
      refusal(parse({"2x4x6x8", "2x4x5x8", "2x4x5x3"},
                    attention() + op("p1", "relu %o", {"2x4x6x3"}, "2x4x6x3"),
                    {{"p1", "2x4x6x3"}})),
      "takes only views beside 'fact.attention', not 'fact.relu'");
}

TEST_F(Attention, RefusesSeveralResults) {
  EXPECT_EQ(refusal(parse({"2x4x6x8", "2x4x5x8", "2x4x5x3"}, attention(),
                          {{"o", "2x4x6x3"}, {"o", "2x4x6x3"}})),
            "must have one result, not 2");
}

TEST_F(Attention, RefusesOperandsWithoutStrides) {
  EXPECT_EQ(
      refusal(parse({"2x4x6x8", "4x8x10", "2x4x5x3"},
                    op("p", "permute %1 [2, 0, 1]", {"4x8x10"}, "10x4x8") +
                        op("k", "reshape %p", {"10x4x8"}, "2x4x5x8") +
                        op("o", "attention %0, %k, %2 scale 1.0",
                           {"2x4x6x8", "2x4x5x8", "2x4x5x3"}, "2x4x6x3"),
                    {{"o", "2x4x6x3"}})),
      "the key of 'fact.attention' is reshaped in a way that strides "
      "cannot describe");
}

TEST_F(Attention, RefusesScatteredResults) {
  EXPECT_EQ(refusal(parse({"2x4x6x8", "2x4x5x8", "2x4x5x3"},
                          attention() + op("p1", "slice %o dim 2 start 0",
                                           {"2x4x6x3"}, "2x4x2x3"),
                          {{"p1", "2x4x2x3"}})),
            "the views after 'fact.attention' scatter its result in a way that "
            "strides cannot describe");
}
