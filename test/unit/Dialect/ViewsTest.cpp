//===- ViewsTest.cpp - The two ways in which views say what they read -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace fact;

namespace {
class Views : public testing::Test {
protected:
  Views() : builder(&context) {
    context.loadDialect<FactDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  Value argument(ArrayRef<int64_t> shape) {
    return UnrealizedConversionCastOp::create(builder, builder.getUnknownLoc(),
                                              type(shape), ValueRange())
        .getResult(0);
  }
  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(builder, builder.getUnknownLoc(), type(shape),
                             value);
  }
  Value permute(Value value, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> shape;
    for (int64_t dim : dims)
      shape.push_back(shapeOf(value)[dim]);
    return PermuteOp::create(builder, builder.getUnknownLoc(), type(shape),
                             value, dims);
  }
  Value slice(Value value, int64_t dim, int64_t start, int64_t size,
              int64_t step) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape[dim] = size;
    return SliceOp::create(builder, builder.getUnknownLoc(), type(shape), value,
                           dim, start, step);
  }
  Value expand(Value value, ArrayRef<int64_t> shape) {
    return ExpandOp::create(builder, builder.getUnknownLoc(), type(shape),
                            value);
  }

  Value windows(Value value, int64_t dim, ArrayRef<int64_t> kernel,
                ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
    return WindowsOp::create(builder, builder.getUnknownLoc(), value, dim,
                             kernel, strides, dilations);
  }

  /// The element of the argument that `value` has at `index`, in row-major
  /// order, by one map after another.
  static int64_t follow(Value value, SmallVector<int64_t> index) {
    while (auto view = value.getDefiningOp<ViewOpInterface>()) {
      SmallVector<AffineExpr> exprs, source;
      for (int64_t at : index)
        exprs.push_back(getAffineConstantExpr(at, view.getContext()));
      index.clear();
      for (AffineExpr expr : view.getSourceIndex(exprs))
        index.push_back(cast<AffineConstantExpr>(expr).getValue());
      value = view->getOperand(0);
      for (auto [at, size] : llvm::zip_equal(index, shapeOf(value)))
        EXPECT_TRUE(at >= 0 && at < size);
    }
    int64_t position = 0;
    for (auto [at, size] : llvm::zip_equal(index, shapeOf(value)))
      position = position * size + at;
    return position;
  }

  /// Compares both for each element; true where strides can say the chain.
  bool agree(Value value) {
    EXPECT_TRUE(succeeded(verify(*module)));
    FailureOr<StridedView> view = StridedView::get(value);
    if (failed(view))
      return false;
    EXPECT_EQ(ArrayRef(view->shape), shapeOf(value));
    SmallVector<int64_t> index(view->shape.size(), 0);
    for (int64_t i = 0,
                 e = cast<RankedTensorType>(value.getType()).getNumElements();
         i < e; ++i) {
      int64_t rest = i, position = view->offset;
      for (size_t dim = index.size(); dim-- > 0;) {
        index[dim] = rest % view->shape[dim];
        rest /= view->shape[dim];
        position += index[dim] * view->strides[dim];
      }
      EXPECT_EQ(position, follow(value, index)) << i;
    }
    return true;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(Views, Alone) {
  Value x = argument({4, 6, 5});
  EXPECT_TRUE(agree(x));
  EXPECT_TRUE(agree(reshape(x, {24, 5})));
  EXPECT_TRUE(agree(reshape(x, {2, 2, 1, 30})));
  EXPECT_TRUE(agree(permute(x, {2, 0, 1})));
  EXPECT_TRUE(agree(slice(x, 1, 1, 3, 2)));
  EXPECT_TRUE(agree(slice(x, 2, 4, 1, 1)));
  EXPECT_TRUE(agree(expand(x, {3, 4, 6, 5})));
  EXPECT_TRUE(agree(expand(argument({1, 6, 1}), {2, 4, 6, 5})));
  EXPECT_TRUE(agree(expand(argument({}), {2, 3})));
  EXPECT_TRUE(agree(reshape(argument({1}), {})));
  EXPECT_TRUE(agree(windows(x, 0, {3, 2}, {1, 2}, {1, 3})));
  EXPECT_TRUE(agree(windows(x, 2, {5}, {1}, {1})));
}

TEST_F(Views, Chains) {
  // Queries of a packed projection, by heads.
  Value packed = slice(argument({2, 7, 36}), 2, 12, 12, 1);
  EXPECT_TRUE(agree(permute(reshape(packed, {2, 7, 3, 4}), {0, 2, 1, 3})));
  EXPECT_TRUE(agree(slice(slice(argument({20}), 0, 1, 9, 2), 0, 2, 3, 3)));
  EXPECT_TRUE(agree(permute(expand(argument({3, 1}), {5, 3, 4}), {2, 0, 1})));
  EXPECT_TRUE(agree(reshape(expand(argument({3, 1}), {3, 4}), {3, 2, 2})));
}

TEST_F(Views, Windows) {
  // Whole windows of one dimension lie together.
  Value signal = windows(argument({2, 9, 4}), 1, {3}, {2}, {1});
  EXPECT_TRUE(agree(reshape(signal, {2, 4, 12})));
  Value image = argument({2, 9, 8, 4});
  EXPECT_FALSE(
      agree(reshape(windows(image, 1, {3, 3}, {1, 1}, {1, 1}), {2, 7, 6, 36})));
  Value gaps = windows(argument({2, 9, 4}), 1, {3}, {1}, {2});
  EXPECT_FALSE(agree(reshape(gaps, {2, 5, 12})));
  EXPECT_TRUE(
      agree(windows(permute(image, {0, 3, 1, 2}), 2, {2, 3}, {2, 1}, {1, 2})));
}

TEST_F(Views, WhatStridesCannotSay) {
  EXPECT_FALSE(agree(reshape(permute(argument({4, 6}), {1, 0}), {24})));
  EXPECT_FALSE(agree(reshape(slice(argument({4, 6}), 1, 0, 3, 1), {12})));
  EXPECT_FALSE(agree(reshape(expand(argument({3, 1}), {3, 4}), {12})));
}

TEST_F(Views, RandomChains) {
  std::mt19937 random(7);
  auto pick = [&](int64_t below) { return int64_t(random() % below); };
  unsigned said = 0;
  for (int chain = 0; chain < 300; ++chain) {
    SmallVector<int64_t> shape;
    for (int64_t i = 0, rank = pick(4); i <= rank; ++i)
      shape.push_back(1 + pick(4));
    Value value = argument(shape);
    for (int64_t i = 0, length = 1 + pick(4); i < length; ++i) {
      shape.assign(shapeOf(value).begin(), shapeOf(value).end());
      int64_t dim = shape.empty() ? 0 : pick(shape.size());
      switch (shape.empty() ? 3 : pick(4)) {
      case 0: {
        auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
        std::shuffle(dims.begin(), dims.end(), random);
        value = permute(value, dims);
        break;
      }
      case 1: {
        int64_t start = pick(shape[dim]), step = 1 + pick(2);
        int64_t most = (shape[dim] - start + step - 1) / step;
        value = slice(value, dim, start, 1 + pick(most), step);
        break;
      }
      case 2:
        // Merges two dimensions, or splits one.
        if (pick(2) && dim + 1 < int64_t(shape.size())) {
          shape[dim] *= shape[dim + 1];
          shape.erase(shape.begin() + dim + 1);
        } else if (shape[dim] % 2 == 0) {
          shape[dim] /= 2;
          shape.insert(shape.begin() + dim + 1, 2);
        }
        value = reshape(value, shape);
        break;
      default:
        for (int64_t &size : shape)
          if (size == 1 && pick(2))
            size = 3;
        if (pick(2) && shape.size() < 5)
          shape.insert(shape.begin(), 2);
        value = expand(value, shape);
      }
    }
    said += agree(value);
  }
  // Most chains have strides.
  EXPECT_GT(said, 200u);
}
