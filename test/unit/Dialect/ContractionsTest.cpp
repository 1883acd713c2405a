//===- ContractionsTest.cpp - What contractions say of themselves ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpFixture.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class Contractions : public OpFixture {
protected:
  ContractionOpInterface matmul(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                                ArrayRef<int64_t> result, bool transposeA,
                                bool transposeB) {
    return MatmulOp::create(builder, loc, type(result), argument(lhs),
                            argument(rhs), transposeA, transposeB);
  }
  /// 4 query heads of 2 key heads.
  ContractionOpInterface attention(int64_t queries, int64_t keys, bool causal,
                                   Value mask = Value()) {
    return AttentionOp::create(
        builder, loc, type({2, 4, queries, 6}), argument({2, 4, queries, 8}),
        argument({2, 2, keys, 8}), argument({2, 2, keys, 6}), mask,
        builder.getF64FloatAttr(0.5),
        causal ? builder.getUnitAttr() : UnitAttr());
  }
};
} // namespace

TEST_F(Contractions, DemandOfMatmul) {
  // [batch 3, M 4, K 8] and [K 8, N 5]: one row of one matrix.
  auto op = matmul({3, 4, 8}, {8, 5}, {3, 4, 5}, false, false);
  EXPECT_EQ(counts(op, box({{1, 1}, {2, 1}, {0, 5}}, {3, 4, 5})),
            (std::vector<double>{8, 40}));
  SmallVector<ElementSets> demand =
      op.getDemand(box({{1, 1}, {2, 1}, {3, 2}}, {3, 4, 5}));
  EXPECT_EQ(positions(demand[0]), range(48, 8));
  std::vector<int64_t> columns;
  for (int64_t k = 0; k < 8; ++k)
    columns.insert(columns.end(), {k * 5 + 3, k * 5 + 4});
  EXPECT_EQ(positions(demand[1]), columns);

  // Transposed, with batches that broadcast on either side.
  op = matmul({1, 8, 4}, {3, 5, 8}, {3, 4, 5}, true, true);
  demand = op.getDemand(box({{1, 2}, {2, 1}, {3, 2}}, {3, 4, 5}));
  std::vector<int64_t> column;
  for (int64_t k = 0; k < 8; ++k)
    column.push_back(k * 4 + 2);
  EXPECT_EQ(positions(demand[0]), column);
  EXPECT_EQ(demand[1].count(), 2 * 2 * 8);
}

TEST_F(Contractions, DemandOfAttention) {
  SmallVector<int64_t> shape{2, 4, 16, 6};
  // Queries 3 and 4 of the last head of batch 1.
  ElementSets wanted = box({{1, 1}, {3, 1}, {3, 2}, {0, 6}}, shape);
  EXPECT_EQ(counts(attention(16, 12, false), wanted),
            (std::vector<double>{2 * 8, 12 * 8, 12 * 6}));
  // Query 4 sees 5 keys.
  EXPECT_EQ(counts(attention(16, 12, true), wanted),
            (std::vector<double>{2 * 8, 5 * 8, 5 * 6}));
  EXPECT_EQ(counts(attention(16, 12, false, argument({4, 16, 12})), wanted),
            (std::vector<double>{2 * 8, 12 * 8, 12 * 6, 2 * 12}));
  EXPECT_EQ(counts(attention(16, 12, true, argument({16, 12})), wanted),
            (std::vector<double>{2 * 8, 5 * 8, 5 * 6, 4 + 5}));
  // Two query heads share a key head.
  SmallVector<ElementSets> demand =
      attention(16, 12, false)
          .getDemand(box({{0, 1}, {2, 2}, {0, 1}, {0, 6}}, shape));
  EXPECT_EQ(positions(demand[1]), range(12 * 8, 12 * 8));
}

TEST_F(Contractions, Flops) {
  auto op = matmul({3, 4, 8}, {8, 5}, {3, 4, 5}, false, false);
  EXPECT_EQ(op.getFlops(whole({3, 4, 5})), 2 * 3 * 4 * 5 * 8);
  EXPECT_EQ(op.getFlops(box({{0, 1}, {0, 1}, {0, 1}}, {3, 4, 5})), 2 * 8);

  EXPECT_EQ(attention(16, 12, false).getFlops(whole({2, 4, 16, 6})),
            2.0 * 2 * 4 * 16 * 12 * (8 + 6));
  // 1 + 2 + ... + 12 keys, then 12 for each query.
  EXPECT_EQ(attention(16, 12, true).getFlops(whole({2, 4, 16, 6})),
            2.0 * 2 * 4 * (78 + 4 * 12) * (8 + 6));
}

TEST_F(Contractions, LengthsOfSums) {
  EXPECT_EQ(matmul({8, 4}, {8, 5}, {4, 5}, true, false).getSumLength(), 8);
  EXPECT_EQ(matmul({4, 7}, {5, 7}, {4, 5}, false, true).getSumLength(), 7);
  // Scores sum over 8 elements, results over keys.
  EXPECT_EQ(attention(16, 12, false).getSumLength(), 12);
  EXPECT_EQ(attention(16, 3, false).getSumLength(), 8);
}

TEST_F(Contractions, OperandsForVerification) {
  auto op = matmul({4, 16}, {16, 5}, {4, 5}, false, false);
  EXPECT_EQ(op.getOperandRole(0), OperandRole::Data);
  EXPECT_EQ(op.getOperandRole(1), OperandRole::Weight);
  EXPECT_EQ(op.getOperandScale(0), 1);
  EXPECT_EQ(op.getOperandScale(1), 0.25);
  EXPECT_FALSE(op.averages());

  op = attention(16, 12, false, argument({16, 12}));
  const OperandRole roles[] = {OperandRole::Query, OperandRole::Key,
                               OperandRole::Value, OperandRole::Mask};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(op.getOperandRole(i), roles[i]);
    EXPECT_EQ(op.getOperandScale(i), 1);
  }
  EXPECT_TRUE(op.averages());
}

TEST_F(Contractions, ScaleEffects) {
  auto op = matmul({4, 16}, {16, 5}, {4, 5}, false, false);
  ScaleEffect effect = op.getScaleEffect({2, 3});
  EXPECT_EQ(effect.result, 24);
  EXPECT_EQ(effect.term, 6);
  EXPECT_EQ(effect.terms, 16);
  EXPECT_EQ(effect.exponent, 0);
  // With weights of the op's own scale, results are as large as the data.
  EXPECT_EQ(op.getScaleEffect({1, op.getOperandScale(1)}).result, 1);

  effect = attention(16, 12, false).getScaleEffect({2, 3, 5});
  EXPECT_EQ(effect.result, 5);
  EXPECT_DOUBLE_EQ(effect.exponent, 2 * 3 * std::sqrt(8.0) * 0.5);
  EXPECT_TRUE(effect.computesExponent);
  effect =
      attention(16, 12, false, argument({16, 12})).getScaleEffect({2, 3, 5, 7});
  EXPECT_DOUBLE_EQ(effect.exponent, 2 * 3 * std::sqrt(8.0) * 0.5 + 7);
}
