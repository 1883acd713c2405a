//===- Placement.h - A result that is a part of its buffer ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_PLACEMENT_H
#define FACT_DIALECT_FACT_PLACEMENT_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// A concatenation whose other operands are all `ub.poison`. A kernel that
/// yields one, or a permutation of it, writes `value` to its place in the
/// buffer of the result and leaves the rest of the buffer alone: other kernels
/// write there, unless the concatenation is marked as unused.
struct Placement {
  /// A unit attribute of the concatenation: nobody writes or reads what is
  /// behind `value`. (Of `ub.poison` it would be lost, or spread to others,
  /// where constants are merged.)
  static constexpr llvm::StringLiteral unusedName = "fact.unused";

  mlir::Value value;
  /// The range that `value` has of a dimension of the result.
  int64_t dim, start, size;
  /// The elements behind it that nobody writes or reads: a kernel that stores
  /// whole units of memory may write there.
  int64_t spare = 0;

  /// The bytes [begin, end) of each row of `pitch` bytes, and `spare` ones
  /// behind them.
  struct Rows {
    int64_t begin, end, pitch, spare = 0;
  };
  /// Where `value` lies in the row-major memory of the result.
  Rows getRows(mlir::RankedTensorType result) const;

  static void markUnused(ConcatOp concat);

  /// Whether an op may have the attribute with this value; if not, emits an
  /// error.
  static mlir::LogicalResult verifyUnused(mlir::Operation *op,
                                          mlir::Attribute value);

  /// What a region reads of the memory of an argument, if that is not all of
  /// it: slices along one dimension and elements of rows, and nothing else.
  static std::optional<Rows> getRead(mlir::BlockArgument argument);

  static std::optional<Placement> get(ConcatOp concat);

  /// The placement that a yielded value ends in, with `dim` of that value.
  static std::optional<Placement> get(mlir::Value yielded);

  /// The value that a kernel writes for a yielded one: that which is placed,
  /// else the yielded one itself.
  static mlir::Value getWritten(mlir::Value yielded);

  /// Whether any result of a region is a part of its buffer.
  static bool isIn(FusedOp fused);
};
} // namespace fact

#endif // FACT_DIALECT_FACT_PLACEMENT_H
