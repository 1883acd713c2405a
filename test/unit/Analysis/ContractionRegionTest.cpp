//===- ContractionRegionTest.cpp - Regions as products of one lhs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/ContractionRegion.h"
#include "RegionFixture.h"
#include "RegionText.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

using Form = ContractionRegion::Form;
using Kind = ContractionRegion::Kind;
using Shape = SmallVector<int64_t>;
using Numbers = SmallVector<unsigned>;

namespace {
class Contraction : public RegionFixture {
protected:
  static ContractionRegion::Options as(Kind kind) {
    ContractionRegion::Options options;
    options.kind = kind;
    return options;
  }
  static ContractionRegion::Options unfolded() {
    ContractionRegion::Options options;
    options.foldBatches = false;
    return options;
  }

  FusedOp
  parse(const std::vector<std::string> &arguments, const std::string &body,
        const std::vector<std::pair<std::string, std::string>> &results) {
    return RegionFixture::parse(tensors(arguments), body + yield(results));
  }
  ContractionRegion read(FusedOp fused,
                         const ContractionRegion::Options &options = {}) {
    FailureOr<ContractionRegion> region =
        ContractionRegion::get(fused, options, report(fused));
    EXPECT_TRUE(succeeded(region)) << message;
    return succeeded(region) ? *region : ContractionRegion();
  }
  std::string refusal(FusedOp fused,
                      const ContractionRegion::Options &options = {}) {
    EXPECT_TRUE(failed(ContractionRegion::get(fused, options, report(fused))));
    return message;
  }

  /// Two products of %0 (8x4) with %1 and %2, of these columns; then `body`.
  FusedOp
  parseTwo(int64_t first, int64_t second, const std::string &body,
           const std::vector<std::pair<std::string, std::string>> &results) {
    std::string n = std::to_string(first), p = std::to_string(second);
    return parse({"8x4", "4x" + n, "4x" + p},
                 op("p0", "matmul %0, %1", {"8x4", "4x" + n}, "8x" + n) +
                     op("p1", "matmul %0, %2", {"8x4", "4x" + p}, "8x" + p) +
                     body,
                 results);
  }
};
} // namespace

static const std::string product =
    op("p0", "matmul %0, %1", {"8x4", "4x6"}, "8x6");
static const std::string folded =
    op("p0", "matmul %0, %1", {"2x8x4", "4x6"}, "2x8x6");
static const std::string batched =
    op("p0", "matmul %0, %1", {"2x8x4", "2x4x6"}, "2x8x6");

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

TEST_F(Contraction, Plain) {
  FusedOp fused = parse({"8x4", "4x6"}, product, {{"p0", "8x6"}});
  ContractionRegion region = read(fused);
  EXPECT_TRUE(region.isPlain());
  EXPECT_EQ(region.m, 8);
  EXPECT_EQ(region.k, 4);
  EXPECT_EQ(region.batches, 1);
  ASSERT_EQ(region.products.size(), 1u);
  EXPECT_EQ(region.products[0].n, 6);
  EXPECT_EQ(region.lhs.base, fused.getBody().getArgument(0));
  EXPECT_EQ(region.lhs.strides, (Shape{4, 1}));
  EXPECT_EQ(region.products[0].rhs.shape, (Shape{4, 6}));
  ASSERT_EQ(region.segments.size(), 1u);
  EXPECT_EQ(region.segments[0].results, Numbers{0});
}

TEST_F(Contraction, BatchesThatShareTheRhsAreRows) {
  ContractionRegion region =
      read(parse({"2x8x4", "4x6"}, folded, {{"p0", "2x8x6"}}));
  EXPECT_EQ(region.m, 16);
  EXPECT_EQ(region.batches, 1);
  EXPECT_EQ(region.lhs.shape, (Shape{2, 8, 4}));
  EXPECT_EQ(region.products[0].rhs.strides, (Shape{0, 6, 1}));
}

TEST_F(Contraction, BatchesStayApartWhereAsked) {
  ContractionRegion region =
      read(parse({"2x8x4", "4x6"}, folded, {{"p0", "2x8x6"}}), unfolded());
  EXPECT_EQ(region.m, 8);
  EXPECT_EQ(region.batches, 2);
  EXPECT_EQ(region.getRows(), 16);
}

TEST_F(Contraction, BatchesOfTheRhsAreNotRows) {
  ContractionRegion region =
      read(parse({"2x8x4", "2x4x6"}, batched, {{"p0", "2x8x6"}}));
  EXPECT_EQ(region.m, 8);
  EXPECT_EQ(region.batches, 2);
  EXPECT_EQ(region.products[0].rhs.strides, (Shape{24, 6, 1}));
}

TEST_F(Contraction, TransposedFactors) {
  ContractionRegion region = read(parse(
      {"4x8", "6x4"},
      op("p0", "matmul %0, %1 transpose_a transpose_b", {"4x8", "6x4"}, "8x6"),
      {{"p0", "8x6"}}));
  EXPECT_EQ(region.m, 8);
  EXPECT_EQ(region.lhs.shape, (Shape{8, 4}));
  EXPECT_EQ(region.lhs.strides, (Shape{1, 8}));
  EXPECT_EQ(region.products[0].rhs.shape, (Shape{4, 6}));
  EXPECT_EQ(region.products[0].rhs.strides, (Shape{1, 4}));
}

TEST_F(Contraction, PermutedAndSlicedFactors) {
  FusedOp fused = parse(
      {"8x2x4", "10x4"},
      op("p", "permute %0 [1, 0, 2]", {"8x2x4"}, "2x8x4") +
          op("s", "slice %1 dim 0 start 3", {"10x4"}, "6x4") +
          op("p0", "matmul %p, %s transpose_b", {"2x8x4", "6x4"}, "2x8x6"),
      {{"p0", "2x8x6"}});
  ContractionRegion region = read(fused);
  EXPECT_EQ(region.lhs.base, fused.getBody().getArgument(0));
  EXPECT_EQ(region.lhs.strides, (Shape{4, 8, 1}));
  EXPECT_EQ(region.products[0].rhs.base, fused.getBody().getArgument(1));
  EXPECT_EQ(region.products[0].rhs.offset, 12);
}

TEST_F(Contraction, ConstantFactorsAreAnOption) {
  FusedOp fused = parse({"8x4"},
                        "%w = fact.constant dense<1.0> : tensor<4x6xf32>\n" +
                            op("p0", "matmul %0, %w", {"8x4", "4x6"}, "8x6"),
                        {{"p0", "8x6"}});
  EXPECT_EQ(refusal(fused), "the rhs of 'fact.matmul' must be an argument of "
                            "the region or a view of one, and is computed by "
                            "'fact.constant'");
  ContractionRegion::Options options;
  options.constantFactors = true;
  EXPECT_EQ(read(fused, options).products[0].n, 6);
}

TEST_F(Contraction, RefusesFactorsWithoutStrides) {
  EXPECT_EQ(
      refusal(parse({"4x8x2", "4x6"},
                    op("p", "permute %0 [1, 0, 2]", {"4x8x2"}, "8x4x2") +
                        op("q", "reshape %p", {"8x4x2"}, "16x4") +
                        op("p0", "matmul %q, %1", {"16x4", "4x6"}, "16x6"),
                    {{"p0", "16x6"}})),
      "the lhs of 'fact.matmul' is reshaped in a way that strides cannot "
      "describe");
}

TEST_F(Contraction, RefusesComputedFactors) {
  EXPECT_EQ(refusal(parse({"8x4", "4x6"},
                          op("r", "relu %0", {"8x4"}, "8x4") +
                              op("p0", "matmul %r, %1", {"8x4", "4x6"}, "8x6"),
                          {{"p0", "8x6"}})),
            "the lhs of 'fact.matmul' must be an argument of the region or a "
            "view of one, and is computed by 'fact.relu'");
}

//===----------------------------------------------------------------------===//
// Reductions and results
//===----------------------------------------------------------------------===//

TEST_F(Contraction, ReducesRows) {
  ContractionRegion region =
      read(parse({"8x4", "4x6"},
                 product + op("p1", "relu %p0", {"8x6"}, "8x6") +
                     op("p2", "reduce max %p1 dims [1]", {"8x6"}, "8"),
                 {{"p1", "8x6"}, {"p2", "8"}}));
  ASSERT_EQ(region.reductions.size(), 1u);
  EXPECT_TRUE(region.reductions[0].ofRows);
  EXPECT_EQ(region.reductions[0].op.getKind(), ReduceKind::max);
  EXPECT_EQ(region.reductions[0].products, Numbers{0});
  ASSERT_EQ(region.results.size(), 2u);
  EXPECT_EQ(region.results[0].form, Form::Full);
  EXPECT_EQ(region.results[1].form, Form::PerRow);
  EXPECT_FALSE(region.isPlain());
}

TEST_F(Contraction, ReducesColumnsOfAllBatches) {
  ContractionRegion region = read(
      parse({"2x8x4", "4x6"},
            folded + op("p1", "reduce sum %p0 dims [0, 1]", {"2x8x6"}, "6") +
                op("p2", "neg %p1", {"6"}, "6"),
            {{"p2", "6"}}));
  EXPECT_FALSE(region.reductions[0].ofRows);
  EXPECT_EQ(region.results[0].form, Form::PerColumn);
  EXPECT_EQ(region.results[0].products, Numbers{0});
}

TEST_F(Contraction, ReducesColumnsOfEachBatch) {
  FusedOp fused =
      parse({"2x8x4", "4x6"},
            folded + op("p1", "reduce sum %p0 dims [1]", {"2x8x6"}, "2x6"),
            {{"p1", "2x6"}});
  ContractionRegion region = read(fused, unfolded());
  EXPECT_FALSE(region.reductions[0].ofRows);
  EXPECT_EQ(region.results[0].form, Form::PerColumn);
  EXPECT_EQ(refusal(fused),
            "'fact.reduce' must be over whole rows of a product, of 6 "
            "elements, or over whole columns, of 16");
}

TEST_F(Contraction, ReducesColumnsThroughAPermute) {
  ContractionRegion region =
      read(parse({"8x4", "4x6"},
                 product + op("p1", "permute %p0 [1, 0]", {"8x6"}, "6x8") +
                     op("p2", "reduce sum %p1 dims [1]", {"6x8"}, "6"),
                 {{"p2", "6"}}));
  EXPECT_FALSE(region.reductions[0].ofRows);
  EXPECT_EQ(region.reductions[0].input, region.products[0].matmul.getResult());
}

TEST_F(Contraction, SizesOfOneDoNotMoveAReduction) {
  ContractionRegion region =
      read(parse({"1x8x4", "4x6"},
                 op("p0", "matmul %0, %1", {"1x8x4", "4x6"}, "1x8x6") +
                     op("p1", "reduce sum %p0 dims [1]", {"1x8x6"}, "1x6"),
                 {{"p1", "1x6"}}));
  EXPECT_FALSE(region.reductions[0].ofRows);
}

TEST_F(Contraction, RefusesPlacesOfExtremes) {
  EXPECT_EQ(refusal(parse({"8x4", "4x6"},
                          product + op("p1", "reduce argmax %p0 dims [1]",
                                       {"8x6"}, "8xi64"),
                          {{"p1", "8xi64"}})),
            "reduces products by sum, mean, prod, max or min, not by 'argmax'");
}

TEST_F(Contraction, RefusesReductionsOfReductions) {
  EXPECT_EQ(
      refusal(parse(
          {"8x4", "4x6"},
          product + op("p1", "reduce sum %p0 dims [1] keep", {"8x6"}, "8x1") +
              op("p2", "sub %p0, %p1", {"8x6", "8x1"}, "8x6") +
              op("p3", "reduce sum %p2 dims [1]", {"8x6"}, "8"),
          {{"p3", "8"}})),
      "a 'fact.reduce' reads another one, which is complete only after "
      "the last tile");
}

TEST_F(Contraction, RefusesResultsThatWaitForAReduction) {
  EXPECT_EQ(
      refusal(parse(
          {"8x4", "4x6"},
          product + op("p1", "reduce sum %p0 dims [1] keep", {"8x6"}, "8x1") +
              op("p2", "div %p0, %p1", {"8x6", "8x1"}, "8x6"),
          {{"p2", "8x6"}})),
      "a result of type 'tensor<8x6xf32>' reads a reduction of the "
      "product, which is complete only after the last tile");
}

TEST_F(Contraction, RefusesResultsOfAnotherSize) {
  EXPECT_EQ(refusal(parse({"8x4", "4x6", "8x3"},
                          product + op("p1", "relu %2", {"8x3"}, "8x3"),
                          {{"p0", "8x6"}, {"p1", "8x3"}})),
            "a result of type 'tensor<8x3xf32>' must have the size of the "
            "product, or be computed from a reduction of it");
}

//===----------------------------------------------------------------------===//
// Several products
//===----------------------------------------------------------------------===//

TEST_F(Contraction, Gated) {
  ContractionRegion region =
      read(parseTwo(6, 6,
                    op("p2", "silu %p0", {"8x6"}, "8x6") +
                        op("p3", "mul %p2, %p1", {"8x6", "8x6"}, "8x6"),
                    {{"p3", "8x6"}}),
           as(Kind::Gated));
  ASSERT_EQ(region.segments.size(), 1u);
  EXPECT_EQ(region.segments[0].products, (Numbers{0, 1}));
  EXPECT_EQ(region.results[0].products, (Numbers{0, 1}));
}

TEST_F(Contraction, Grouped) {
  ContractionRegion region =
      read(parseTwo(6, 10, op("p2", "reduce sum %p0 dims [1]", {"8x6"}, "8"),
                    {{"p1", "8x10"}, {"p0", "8x6"}, {"p2", "8"}}),
           as(Kind::Grouped));
  ASSERT_EQ(region.segments.size(), 2u);
  EXPECT_EQ(region.segments[0].n, 6);
  EXPECT_EQ(region.segments[0].results, (Numbers{1, 2}));
  EXPECT_EQ(region.segments[0].reductions, Numbers{0});
  EXPECT_EQ(region.segments[1].n, 10);
  EXPECT_EQ(region.segments[1].results, Numbers{0});
}

TEST_F(Contraction, RefusesOtherNumbersOfProducts) {
  EXPECT_EQ(refusal(parseTwo(6, 6, "", {{"p0", "8x6"}, {"p1", "8x6"}})),
            "needs exactly one 'fact.matmul', not 2");
  FusedOp one = parse({"8x4", "4x6"}, product, {{"p0", "8x6"}});
  EXPECT_EQ(refusal(one, as(Kind::Gated)),
            "needs exactly two 'fact.matmul', not 1");
  EXPECT_EQ(refusal(one, as(Kind::Grouped)),
            "needs two or more 'fact.matmul', not 1");
}

TEST_F(Contraction, RefusesAnotherLhs) {
  EXPECT_EQ(
      refusal(parse({"8x4", "4x6", "8x4"},
                    product + op("p1", "matmul %2, %1", {"8x4", "4x6"}, "8x6"),
                    {{"p0", "8x6"}, {"p1", "8x6"}}),
              as(Kind::Grouped)),
      "all 'fact.matmul' must have the same lhs");
}

TEST_F(Contraction, RefusesOtherBatches) {
  EXPECT_EQ(refusal(parse({"8x4", "4x6", "2x4x6"},
                          product + op("p1", "matmul %0, %2", {"8x4", "2x4x6"},
                                       "2x8x6"),
                          {{"p0", "8x6"}, {"p1", "2x8x6"}}),
                    as(Kind::Grouped)),
            "all 'fact.matmul' must have the same batches, not "
            "'tensor<8x6xf32>' and 'tensor<2x8x6xf32>'");
}

TEST_F(Contraction, RefusesBatchesOfSomeRightSides) {
  EXPECT_EQ(refusal(parse({"2x8x4", "4x6", "2x4x6"},
                          folded + op("p1", "matmul %0, %2", {"2x8x4", "2x4x6"},
                                      "2x8x6"),
                          {{"p0", "2x8x6"}, {"p1", "2x8x6"}}),
                    as(Kind::Grouped)),
            "every rhs must have batches, or none");
}

TEST_F(Contraction, RefusesOneWeightTwice) {
  EXPECT_EQ(
      refusal(parse({"8x4", "4x6"},
                    product + op("p1", "matmul %0, %1", {"8x4", "4x6"}, "8x6") +
                        op("p2", "mul %p0, %p1", {"8x6", "8x6"}, "8x6"),
                    {{"p2", "8x6"}}),
              as(Kind::Gated)),
      "needs two different weights, and both 'fact.matmul' have the same "
      "rhs");
}

TEST_F(Contraction, RefusesWeightsOfTwoTypes) {
  EXPECT_EQ(
      refusal(parseTwo(6, 1, op("p2", "mul %p0, %p1", {"8x6", "8x1"}, "8x6"),
                       {{"p2", "8x6"}}),
              as(Kind::Gated)),
      "needs two weights of the same type, not 'tensor<4x6xf32>' and "
      "'tensor<4x1xf32>'");
}

TEST_F(Contraction, RefusesProductsApartAsGated) {
  EXPECT_EQ(refusal(parseTwo(6, 6, "", {{"p0", "8x6"}, {"p1", "8x6"}}),
                    as(Kind::Gated)),
            "needs a result that combines both products");
}

TEST_F(Contraction, RefusesCombinedProductsAsGrouped) {
  EXPECT_EQ(
      refusal(parseTwo(6, 6, op("p2", "mul %p0, %p1", {"8x6", "8x6"}, "8x6"),
                       {{"p2", "8x6"}, {"p1", "8x6"}}),
              as(Kind::Grouped)),
      "result 0 must read one product, not 2");
}

TEST_F(Contraction, RefusesReductionsOfTwoWidths) {
  EXPECT_EQ(
      refusal(parseTwo(6, 1,
                       op("p2", "mul %p0, %p1", {"8x6", "8x1"}, "8x6") +
                           op("p3", "reduce sum %p2 dims [1]", {"8x6"}, "8"),
                       {{"p3", "8"}}),
              as(Kind::Grouped)),
      "combines products of 6 and of 1 columns");
}

TEST_F(Contraction, RefusesProductsThatNothingReads) {
  EXPECT_EQ(refusal(parseTwo(6, 6, "", {{"p0", "8x6"}}), as(Kind::Grouped)),
            "no result reads product 1");
}

TEST_F(Contraction, RefusesResultsThatReadNoProduct) {
  EXPECT_EQ(refusal(parseTwo(4, 4, op("p2", "relu %0", {"8x4"}, "8x4"),
                             {{"p0", "8x4"}, {"p1", "8x4"}, {"p2", "8x4"}}),
                    as(Kind::Grouped)),
            "result 2 reads no product");
}
