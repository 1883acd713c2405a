//===- RowReducer.h - Reductions of the elements of a row -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_ROWREDUCER_H
#define FACT_LIB_TARGET_HOST_ROWREDUCER_H

#include "KernelBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fact::host {
/// Writes loops that reduce rows of `columns` elements of type `compute`.
class RowReducer {
public:
  /// The element at a column (`width` 0), or `width` neighbors.
  using Element = llvm::function_ref<Value(Value column, int64_t width)>;

  RowReducer(KernelBuilder &b, Type compute, int64_t columns);

  Value reduce(ReduceKind kind, Element element);
  Value sum(Element element);

  Value combine(mlir::vector::CombiningKind kind, Value x, Value y);
  /// Elements per iteration of a loop over a row.
  int64_t getLanes() const { return lanes; }

private:
  Value scalar(double value) { return b.constant(value, compute); }
  Value reduceRow(Value initial, mlir::vector::CombiningKind kind,
                  Element element);
  /// The column of the first extreme element.
  Value findExtreme(bool largest, Element element);
  /// The largest or the smallest value of the type; infinity for floats.
  Value extreme(bool largest);
  mlir::vector::CombiningKind extremeKind(bool largest) const;
  mlir::arith::CmpIPredicate integerOrder(bool largest) const;

  KernelBuilder &b;
  Type compute;
  int64_t columns, lanes;
  bool isFloat;
  mlir::arith::FastMathFlags flags;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_ROWREDUCER_H
