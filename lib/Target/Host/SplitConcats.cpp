//===- SplitConcats.cpp - What is computed of concatenations --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SplitConcats.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

static RankedTensorType resize(RankedTensorType type, int64_t dim,
                               int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

/// Elements [start, start + size) of a dimension; of a concatenation, those of
/// its parts.
static Value slice(ImplicitLocOpBuilder &b, Value value, int64_t dim,
                   int64_t start, int64_t size) {
  if (size == typeOf(value).getDimSize(dim))
    return value;
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat)
    return SliceOp::create(b, resize(typeOf(value), dim, size), value, dim,
                           start, /*step=*/1);
  SmallVector<Value> parts;
  bool isAlong = int64_t(concat.getDim()) == dim;
  for (Value input : concat.getInputs()) {
    int64_t own = typeOf(input).getDimSize(dim);
    int64_t from = isAlong ? std::clamp<int64_t>(start, 0, own) : start;
    int64_t to =
        isAlong ? std::clamp<int64_t>(start + size, 0, own) : start + size;
    if (from < to)
      parts.push_back(slice(b, input, dim, from, to - from));
    if (isAlong)
      start -= own;
  }
  if (parts.size() == 1)
    return parts.front();
  return ConcatOp::create(b, parts, concat.getDim());
}

/// The part of an operand that broadcasts to `rank` dimensions.
static Value sliceOperand(ImplicitLocOpBuilder &b, Value operand, int64_t rank,
                          int64_t dim, int64_t start, int64_t size) {
  int64_t own = dim - (rank - typeOf(operand).getRank());
  if (own < 0 || typeOf(operand).getDimSize(own) == 1)
    return operand;
  return slice(b, operand, own, start, size);
}

/// The parts of a pointwise op, by those of an operand that is a concatenation
/// of the result's shape; null if there is none.
static Value split(ImplicitLocOpBuilder &b, Operation *op) {
  RankedTensorType type = typeOf(op->getResult(0));
  ConcatOp concat;
  for (Value operand : op->getOperands())
    if (auto own = operand.getDefiningOp<ConcatOp>();
        own && own.getType().getShape() == type.getShape())
      concat = own;
  if (!concat || concat.getInputs().size() > mostParts)
    return Value();
  int64_t dim = concat.getDim(), start = 0;
  SmallVector<Value> parts;
  for (Value input : concat.getInputs()) {
    int64_t size = typeOf(input).getDimSize(dim);
    Operation *part = b.clone(*op);
    for (OpOperand &operand : part->getOpOperands()) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(part);
      operand.set(
          sliceOperand(b, operand.get(), type.getRank(), dim, start, size));
    }
    part->getResult(0).setType(resize(type, dim, size));
    // Another operand may be a concatenation along another dimension.
    Value further = split(b, part);
    parts.push_back(further ? further : part->getResult(0));
    start += size;
  }
  return ConcatOp::create(b, parts, dim);
}

void host::splitConcats(FusedOp fused) {
  for (Operation &op : llvm::make_early_inc_range(fused.getBodyOps())) {
    ImplicitLocOpBuilder b(op.getLoc(), &op);
    Value value;
    auto cut = dyn_cast<SliceOp>(op);
    if (cut && cut.getStep() == 1 && cut.getOperand().getDefiningOp<ConcatOp>())
      value = slice(b, cut.getOperand(), cut.getDim(), cut.getStart(),
                    cut.getType().getDimSize(cut.getDim()));
    else if (isa<PointwiseOpInterface>(op))
      value = split(b, &op);
    if (value)
      op.getResult(0).replaceAllUsesWith(value);
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(fused.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
