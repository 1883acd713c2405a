//===- RowsTest.cpp - What row ops say of themselves ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpFixture.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class Rows : public OpFixture {
protected:
  RowOpInterface softmax(ArrayRef<int64_t> shape, int64_t dim) {
    return SoftmaxOp::create(builder, loc, type(shape), argument(shape), dim);
  }
  RowOpInterface norm(NormKind kind, ArrayRef<int64_t> shape, int64_t dims,
                      bool hasWeight, bool hasBias) {
    ArrayRef<int64_t> row = shape.take_back(dims);
    return NormOp::create(
        builder, loc, type(shape), NormKindAttr::get(&context, kind),
        argument(shape), hasWeight ? argument(row) : Value(),
        hasBias ? argument(row) : Value(), builder.getF64FloatAttr(1e-5),
        builder.getI64IntegerAttr(dims));
  }
  RowOpInterface reduce(ReduceKind kind, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> dims, bool keep) {
    SmallVector<int64_t> result;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (!llvm::is_contained(dims, int64_t(dim)))
        result.push_back(size);
      else if (keep)
        result.push_back(1);
    }
    bool isPlace = kind == ReduceKind::argmax || kind == ReduceKind::argmin;
    auto resultType = RankedTensorType::get(
        result, isPlace ? Type(builder.getI64Type()) : builder.getF32Type());
    return ReduceOp::create(builder, loc, resultType, kind, argument(shape),
                            dims, keep);
  }
};
} // namespace

TEST_F(Rows, Dimensions) {
  RowOpInterface op = softmax({4, 6, 5}, 1);
  EXPECT_EQ(op.getRowDims(), SmallVector<int64_t>({1}));
  EXPECT_EQ(op.getRowLength(), 6);
  op = norm(NormKind::layer, {4, 6, 5}, 2, true, true);
  EXPECT_EQ(op.getRowDims(), SmallVector<int64_t>({1, 2}));
  EXPECT_EQ(op.getRowLength(), 30);
  op = reduce(ReduceKind::sum, {4, 6, 5}, {0, 2}, false);
  EXPECT_EQ(op.getRowDims(), SmallVector<int64_t>({0, 2}));
  EXPECT_EQ(op.getRowLength(), 20);
  EXPECT_EQ(reduce(ReduceKind::sum, {4, 6}, {}, false).getRowLength(), 1);
}

TEST_F(Rows, Demand) {
  // One element needs its row.
  RowOpInterface op = softmax({4, 6, 5}, 1);
  SmallVector<ElementSets> demand =
      op.getDemand(box({{2, 1}, {3, 1}, {4, 1}}, {4, 6, 5}));
  std::vector<int64_t> column;
  for (int64_t i = 0; i < 6; ++i)
    column.push_back((2 * 6 + i) * 5 + 4);
  EXPECT_EQ(positions(demand[0]), column);

  // And its own weight and bias.
  op = norm(NormKind::layer, {4, 6, 5}, 2, true, true);
  demand = op.getDemand(box({{2, 2}, {3, 1}, {1, 2}}, {4, 6, 5}));
  EXPECT_EQ(positions(demand[0]), range(60, 60));
  EXPECT_EQ(positions(demand[1]), range(16, 2));
  EXPECT_EQ(positions(demand[2]), range(16, 2));

  for (bool keep : {false, true}) {
    op = reduce(ReduceKind::max, {4, 6, 5}, {0, 2}, keep);
    demand = op.getDemand(keep ? box({{0, 1}, {2, 1}, {0, 1}}, {1, 6, 1})
                               : box({{2, 1}}, {6}));
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 4; ++i)
      llvm::append_range(rows, range((i * 6 + 2) * 5, 5));
    EXPECT_EQ(positions(demand[0]), rows);
    EXPECT_EQ(op.getFlops(whole({6})), 120);
  }
}

TEST_F(Rows, Arithmetic) {
  RowArithmetic arithmetic = softmax({4, 6}, 1).getArithmetic();
  EXPECT_TRUE(arithmetic.findsLargest && arithmetic.mayVanish);
  EXPECT_FALSE(arithmetic.reduces);
  auto subtractsMean = [&](NormKind kind) {
    return norm(kind, {4, 6}, 1, false, false).getArithmetic().subtractsMean;
  };
  EXPECT_TRUE(subtractsMean(NormKind::layer));
  EXPECT_FALSE(subtractsMean(NormKind::rms));
  using Kind = ReduceKind;
  for (Kind kind : {Kind::sum, Kind::mean, Kind::prod, Kind::max, Kind::min,
                    Kind::argmax, Kind::argmin}) {
    arithmetic = reduce(kind, {4, 6}, {1}, false).getArithmetic();
    EXPECT_TRUE(arithmetic.reduces);
    EXPECT_EQ(arithmetic.chooses, kind == Kind::max || kind == Kind::min);
    EXPECT_EQ(arithmetic.locates, kind == Kind::argmax || kind == Kind::argmin);
    EXPECT_EQ(arithmetic.findsLargest,
              kind == Kind::max || kind == Kind::argmax);
    EXPECT_EQ(arithmetic.multiplies, kind == Kind::prod);
    EXPECT_FALSE(arithmetic.mayVanish || arithmetic.subtractsMean);
  }
}

TEST_F(Rows, ScaleEffects) {
  ScaleEffect effect = softmax({4, 6}, 1).getScaleEffect({3});
  EXPECT_EQ(effect.exponent, 3);
  EXPECT_EQ(effect.exponentOperands, SmallVector<unsigned>({0}));
  EXPECT_FALSE(effect.computesExponent);
  EXPECT_EQ(effect.result, 1);

  // Squares of a row are summed; the result has the scale of the parameters.
  effect = norm(NormKind::rms, {4, 6}, 1, true, true).getScaleEffect({3, 2, 5});
  EXPECT_EQ(effect.term, 9);
  EXPECT_EQ(effect.terms, 6);
  EXPECT_EQ(effect.result, valueSpread * 2 + 5);
  effect = norm(NormKind::rms, {4, 6}, 1, false, true).getScaleEffect({3, 5});
  EXPECT_EQ(effect.result, valueSpread + 5);

  auto resultOf = [&](ReduceKind kind) {
    return reduce(kind, {4, 6}, {1}, false).getScaleEffect({3}).result;
  };
  EXPECT_EQ(resultOf(ReduceKind::sum), 18);
  EXPECT_EQ(resultOf(ReduceKind::mean), 3);
  EXPECT_EQ(resultOf(ReduceKind::max), 3);
  EXPECT_EQ(resultOf(ReduceKind::prod), 4096);
}
