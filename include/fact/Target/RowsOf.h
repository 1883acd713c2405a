//===- RowsOf.h - The rows of an op without anything around it --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_ROWSOF_H
#define FACT_TARGET_ROWSOF_H

#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Family.h"
#include "fact/Target/RegionOps.h"

namespace fact {
/// Rows along the middle of [outer, length, inner].
struct RowsOf {
  mlir::Type element;
  int64_t outer, length, inner;

  int64_t countRows() const { return outer * inner; }

  /// The rows of an op with a dimension `dim`.
  template <typename OpT> static RowsOf get(OpT op) {
    auto type = mlir::cast<mlir::RankedTensorType>(op.getOperand().getType());
    llvm::ArrayRef<int64_t> shape = type.getShape();
    int64_t dim = op.getDim();
    return RowsOf{type.getElementType(),
                  llvm::product_of(shape.take_front(dim)), shape[dim],
                  llvm::product_of(shape.drop_front(dim + 1))};
  }
  /// The rows of the region's only op, an `OpT` whose operand and result are
  /// the region's own.
  template <typename OpT>
  static mlir::FailureOr<RowsOf> read(FusedOp fused, EmitError emitError) {
    auto op = getOnly<OpT>(fused);
    if (!op || !llvm::hasSingleElement(fused.getBodyOps()) ||
        fused.getNumResults() != 1)
      return emitError() << "needs exactly one '" << OpT::getOperationName()
                         << "' and nothing else";
    if (failed(requireElements(fused, emitError)))
      return mlir::failure();
    return get(op);
  }
};
} // namespace fact

#endif // FACT_TARGET_ROWSOF_H
