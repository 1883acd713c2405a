//===- OrderSteps.cpp - Contiguous steps of unrolled loops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Analysis/UnrolledLoops.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "fact-order-steps"

namespace fact {
#define GEN_PASS_DEF_ORDERSTEPS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

/// Whether a range of one element in `dim` is not contiguous in memory.
static bool isScattered(Value whole, Value step, int64_t dim) {
  return shapeOf(step)[dim] == 1 &&
         llvm::any_of(shapeOf(whole).take_front(dim),
                      [](int64_t size) { return size != 1; });
}

/// The shape with dimension `dim` first.
static SmallVector<int64_t> withFirst(ArrayRef<int64_t> shape, int64_t dim) {
  SmallVector<int64_t> moved(shape);
  std::rotate(moved.begin(), moved.begin() + dim, moved.begin() + dim + 1);
  return moved;
}

/// Permutes the sliced value once, before the loop.
static void permuteSource(UnrolledLoop loop) {
  Value source = loop.getSource();
  int64_t dim = loop.getDim();
  OpBuilder builder(loop.slices.front());
  builder.setInsertionPointAfterValue(source);
  SmallVector<int64_t> dims = withFirst(
      llvm::to_vector(llvm::seq<int64_t>(shapeOf(source).size())), dim);
  Value permuted =
      permuteTo(builder, loop.slices.front().getLoc(), source, dims);
  for (SliceOp slice : loop.slices) {
    builder.setInsertionPoint(slice);
    RankedTensorType type = slice.getType();
    Value step = SliceOp::create(
        builder, slice.getLoc(), type.clone(withFirst(type.getShape(), dim)),
        permuted, /*dim=*/0, slice.getStart(), /*step=*/1);
    slice.getResult().replaceAllUsesWith(
        ReshapeOp::create(builder, slice.getLoc(), type, step));
    slice->erase();
  }
}

/// Concatenates along the outermost dimension and permutes once, after the
/// loop.
static void permuteResult(ConcatOp join) {
  OpBuilder builder(join);
  int64_t dim = join.getDim();
  SmallVector<Value> inputs;
  for (Value input : join.getInputs()) {
    RankedTensorType type = typeOf(input);
    inputs.push_back(
        ReshapeOp::create(builder, join.getLoc(),
                          type.clone(withFirst(type.getShape(), dim)), input));
  }
  Value joined = ConcatOp::create(builder, join.getLoc(), inputs, /*dim=*/0);
  // The inverse permutation: dimension 0 goes back to `dim`.
  SmallVector<int64_t> dims(
      llvm::to_vector(llvm::seq<int64_t>(shapeOf(joined).size())));
  std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + dim + 1);
  join.getResult().replaceAllUsesWith(
      permuteTo(builder, join.getLoc(), joined, dims));
  join->erase();
}

namespace {
struct OrderStepsPass : fact::impl::OrderStepsBase<OrderStepsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    UnrolledLoops unrolled(getOperation().getBody().front());
    for (const UnrolledLoop &loop : unrolled.getLoops()) {
      SliceOp slice = loop.slices.front();
      if (!isScattered(slice.getOperand(), slice, slice.getDim()))
        continue;
      permuteSource(loop);
      ++loops;
    }
    for (ConcatOp join : unrolled.getJoins()) {
      if (!llvm::all_of(join.getInputs(), [&](Value input) {
            return isScattered(join, input, join.getDim());
          }))
        continue;
      permuteResult(join);
      ++joins;
    }
  }
};
} // namespace
