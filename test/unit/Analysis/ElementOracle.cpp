//===- ElementOracle.cpp - What a kernel needs, element by element --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementOracle.h"
#include <algorithm>

using namespace mlir;
using namespace fact;
using namespace fact::test;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Calls `visit` with every index of a shape, in row-major order.
static void
forEachIndex(ArrayRef<int64_t> shape,
             llvm::function_ref<void(std::vector<int64_t> &)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t dim = shape.size();
    while (dim-- > 0) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
    if (dim == size_t(-1))
      return;
  }
}

static int64_t positionOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (auto [size, i] : llvm::zip_equal(shape, index))
    position = position * size + i;
  return position;
}

static std::vector<int64_t> indexOf(ArrayRef<int64_t> shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0; position /= shape[i])
    index[i] = position % shape[i];
  return index;
}

void ElementOracle::mark(Value value, const Index &index) {
  std::vector<bool> &marked = marks[value.getAsOpaquePointer()];
  marked.resize(typeOf(value).getNumElements());
  marked[positionOf(typeOf(value).getShape(), index)] = true;
}

void ElementOracle::markBroadcast(Value value, const Index &index) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  Index own(index.end() - shape.size(), index.end());
  for (auto [size, i] : llvm::zip_equal(shape, own))
    i = size == 1 ? 0 : i;
  mark(value, own);
}

void ElementOracle::visitAttention(AttentionOp op, const Index &index) {
  int64_t keys = op.getKey().getType().getDimSize(2);
  int64_t group = op.getQuery().getType().getDimSize(1) /
                  op.getKey().getType().getDimSize(1);
  int64_t depth = op.getQuery().getType().getDimSize(3);
  for (int64_t d = 0; d < depth; ++d)
    mark(op.getQuery(), {index[0], index[1], index[2], d});
  for (int64_t key = 0; key < keys; ++key) {
    if (op.getCausal() && key > index[2])
      continue;
    int64_t head = index[1] / group;
    for (int64_t d = 0; d < depth; ++d)
      mark(op.getKey(), {index[0], head, key, d});
    mark(op.getValue(), {index[0], head, key, index[3]});
    if (op.getMask())
      markBroadcast(op.getMask(), {index[0], index[1], index[2], key});
    bool &scored = scores[{index[0], index[1], index[2], key}];
    matrixFlops += 2.0 + (scored ? 0.0 : 2.0 * double(depth));
    scored = true;
  }
}

void ElementOracle::visitMatmul(MatmulOp matmul, const Index &index) {
  for (int64_t k = 0; k < matmul.getK(); ++k) {
    Index lhs = index, rhs = index;
    size_t rank = index.size();
    lhs[rank - 1] = k;
    rhs[rank - 2] = k;
    if (matmul.getTransposeA())
      std::swap(lhs[rank - 1], lhs[rank - 2]);
    if (matmul.getTransposeB())
      std::swap(rhs[rank - 1], rhs[rank - 2]);
    // Neither factor has a size of 1 where its own index is not 0.
    markBroadcast(matmul.getLhs(), lhs);
    markBroadcast(matmul.getRhs(), rhs);
  }
  matrixFlops += 2.0 * double(matmul.getK());
}

void ElementOracle::visit(Operation *op, const Index &index) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  /// The operand's elements that agree with `index` where `isFree` is not set.
  auto markFree = [&](Value value, llvm::function_ref<bool(size_t)> isFree,
                      Index at) {
    SmallVector<int64_t> free;
    for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape()))
      free.push_back(isFree(dim) ? size : 1);
    forEachIndex(free, [&](Index &i) {
      Index element = at;
      for (size_t dim = 0; dim < free.size(); ++dim)
        element[dim] = isFree(dim) ? i[dim] : at[dim];
      mark(value, element);
    });
  };
  Value first = op->getOperand(0);
  if (isa<ReshapeOp>(op)) {
    mark(first, indexOf(typeOf(first).getShape(), positionOf(shape, index)));
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    Index from(index.size());
    for (auto [i, dim] : llvm::zip_equal(index, permute.getDims()))
      from[dim] = i;
    mark(first, from);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    Index from = index;
    int64_t &i = from[slice.getDim()];
    i = slice.getStart() + i * slice.getStep();
    mark(first, from);
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    Index from = index;
    int64_t &i = from[concat.getDim()];
    for (Value input : concat.getInputs()) {
      int64_t size = typeOf(input).getDimSize(concat.getDim());
      if (i < size)
        return mark(input, from);
      i -= size;
    }
  } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    markFree(first, [&](size_t dim) { return dim == softmax.getDim(); }, index);
  } else if (auto norm = dyn_cast<NormOp>(op)) {
    size_t kept = shape.size() - norm.getDims();
    markFree(first, [&](size_t dim) { return dim >= kept; }, index);
    for (Value value : op->getOperands().drop_front())
      mark(value, Index(index.begin() + kept, index.end()));
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Index at;
    size_t next = 0;
    auto isReduced = [&](size_t dim) {
      return llvm::is_contained(reduce.getDims(), int64_t(dim));
    };
    for (size_t dim = 0; dim < typeOf(first).getShape().size(); ++dim) {
      at.push_back(isReduced(dim) ? 0 : index[next]);
      next += !isReduced(dim) || reduce.getKeep();
    }
    markFree(first, isReduced, at);
  } else if (auto rotary = dyn_cast<RotaryOp>(op)) {
    int64_t half = shape.back() / 2;
    Index pair = index;
    pair.back() = rotary.getInterleaved()
                      ? index.back() ^ 1
                      : (index.back() + half) % shape.back();
    mark(first, index);
    mark(first, pair);
    markBroadcast(rotary.getCos(), index);
    markBroadcast(rotary.getSin(), index);
  } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
    visitMatmul(matmul, index);
  } else if (auto attention = dyn_cast<AttentionOp>(op)) {
    visitAttention(attention, index);
  } else {
    for (Value operand : op->getOperands())
      markBroadcast(operand, index);
  }
}

ElementOracle::ElementOracle(FusedOp fused) {
  for (Value value : fused.getYield()->getOperands()) {
    forEachIndex(typeOf(value).getShape(),
                 [&](Index &index) { mark(value, index); });
    bytes += double(typeOf(value).getNumElements() *
                    typeOf(value).getElementTypeBitWidth() / 8);
  }
  auto count = [&](Value value) {
    std::vector<bool> &marked = marks[value.getAsOpaquePointer()];
    return double(std::count(marked.begin(), marked.end(), true));
  };
  for (Operation &op : llvm::reverse(fused.getBodyOps())) {
    std::vector<bool> needed = marks[op.getResult(0).getAsOpaquePointer()];
    ArrayRef<int64_t> shape = typeOf(op.getResult(0)).getShape();
    scores.clear();
    // What this op alone reads of its operand.
    std::vector<bool> others;
    if (isa<SoftmaxOp, NormOp, ReduceOp>(op))
      std::swap(others, marks[op.getOperand(0).getAsOpaquePointer()]);
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i])
        visit(&op, indexOf(shape, i));
    if (isa<PointwiseOpInterface, RotaryOp>(op))
      scalarFlops += count(op.getResult(0));
    if (!isa<SoftmaxOp, NormOp, ReduceOp>(op))
      continue;
    scalarFlops += count(op.getOperand(0));
    std::vector<bool> &own = marks[op.getOperand(0).getAsOpaquePointer()];
    own.resize(std::max(own.size(), others.size()));
    for (size_t i = 0; i < others.size(); ++i)
      own[i] = own[i] || others[i];
  }
  for (Value argument : fused.getBody().getArguments())
    bytes +=
        count(argument) * double(typeOf(argument).getElementTypeBitWidth() / 8);
}
