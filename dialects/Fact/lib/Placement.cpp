//===- Placement.cpp - A result that is a part of its buffer --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Placement.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace fact;

void Placement::markUnused(ConcatOp concat) {
  concat->setAttr(unusedName, UnitAttr::get(concat.getContext()));
}

LogicalResult Placement::verifyUnused(Operation *op, Attribute value) {
  if (isa<ConcatOp>(op) && isa<UnitAttr>(value))
    return success();
  return op->emitOpError("attribute '")
         << unusedName << "' is a unit attribute of 'fact.concat'";
}

Placement::Rows Placement::getRows(RankedTensorType result) const {
  int64_t bytes = getStorageBytes(result.getElementType()) *
                  llvm::product_of(result.getShape().drop_front(dim + 1));
  return {start * bytes, (start + size) * bytes, result.getDimSize(dim) * bytes,
          spare * bytes};
}

/// The size of the rows of a value that only gathers of one element of each
/// read from its flattened elements.
static std::optional<int64_t> getGatheredRow(ReshapeOp flat) {
  ArrayRef<int64_t> shape = flat.getOperand().getType().getShape();
  if (shape.empty())
    return std::nullopt;
  std::optional<int64_t> size;
  int64_t pitch = shape.back();
  for (Operation *user : flat->getUsers()) {
    auto gather = dyn_cast<GatherOp>(user);
    std::optional<int64_t> row = gather ? getRowSize(gather) : std::nullopt;
    if (!row || flat.getType().getRank() != 1 ||
        gather.getIndices() == flat.getResult() ||
        gather.getIndices().getType().getNumElements() * pitch !=
            flat.getType().getNumElements())
      return std::nullopt;
    size = std::max(size.value_or(0), *row);
  }
  return size;
}

std::optional<Placement::Rows> Placement::getRead(BlockArgument argument) {
  std::optional<Placement> read;
  for (Operation *user : argument.getUsers()) {
    int64_t dim, start, end;
    auto slice = dyn_cast<SliceOp>(user);
    auto flat = dyn_cast<ReshapeOp>(user);
    if (std::optional<int64_t> row =
            flat ? getGatheredRow(flat) : std::nullopt) {
      dim = flat.getOperand().getType().getRank() - 1;
      start = 0;
      end = *row;
    } else if (slice && slice.getStep() == 1) {
      dim = slice.getDim();
      start = slice.getStart();
      end = start + slice.getType().getDimSize(dim);
    } else {
      return std::nullopt;
    }
    if (!read)
      read = Placement{argument, dim, start, end - start};
    if (read->dim != dim)
      return std::nullopt;
    end = std::max(end, read->start + read->size);
    read->start = std::min(read->start, start);
    read->size = end - read->start;
  }
  auto type = cast<RankedTensorType>(argument.getType());
  if (!read || read->size == type.getDimSize(read->dim))
    return std::nullopt;
  return read->getRows(type);
}

std::optional<Placement> Placement::get(ConcatOp concat) {
  std::optional<Placement> placement;
  int64_t start = 0, dim = concat.getDim();
  bool isPart = false;
  for (Value input : concat.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    if (input.getDefiningOp<ub::PoisonOp>()) {
      isPart = true;
      if (placement && concat->hasAttr(unusedName))
        placement->spare += size;
    } else if (placement) {
      return std::nullopt;
    } else {
      placement = Placement{input, dim, start, size};
    }
    start += size;
  }
  return isPart ? placement : std::nullopt;
}

std::optional<Placement> Placement::get(Value yielded) {
  SmallVector<PermuteOp> permutes;
  while (auto permute = yielded.getDefiningOp<PermuteOp>()) {
    permutes.push_back(permute);
    yielded = permute.getOperand();
  }
  auto concat = yielded.getDefiningOp<ConcatOp>();
  std::optional<Placement> placement = concat ? get(concat) : std::nullopt;
  if (placement)
    for (PermuteOp permute : llvm::reverse(permutes))
      placement->dim = llvm::find(permute.getDims(), placement->dim) -
                       permute.getDims().begin();
  return placement;
}

Value Placement::getWritten(Value yielded) {
  std::optional<Placement> placement = get(yielded);
  return placement ? placement->value : yielded;
}

bool Placement::isIn(FusedOp fused) {
  return llvm::any_of(fused.getYield()->getOperands(),
                      [](Value yielded) { return get(yielded).has_value(); });
}
