//===- Matchers.h - Small matchers that the raising passes share --*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//
//
// Companions of mlir's m_Op: patterns are written as nested calls, such as
//
//   matchPattern(value, m_Either<AddOp>(m_Mean(mean), m_Number(eps)))
//
// What is seen through (order of operands, broadcasts, casts that lose nothing)
// is decided here and nowhere else. A narrowing cast is never seen through.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TRANSFORMS_MATCHERS_H
#define FACT_LIB_TRANSFORMS_MATCHERS_H

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace fact {
//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return typeOf(tensor).getShape();
}

/// Whether every value of the operand's type is one of the result's.
bool isWidening(CastOp cast);

/// The value under casts that lose nothing.
mlir::Value skipWidening(mlir::Value value);

/// `value` under a shape that differs in sizes of 1 only; the value itself
/// where the shapes are equal.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value expandTo(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value permuteTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, llvm::ArrayRef<int64_t> dims);
mlir::Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, int64_t dim, int64_t start,
                    int64_t size);
/// The last two dimensions swapped.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value);
/// A rank-0 constant.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       double value, mlir::Type element);

/// The location of an op that takes the place of `root` and of what only `root`
/// needs, down to `leaves`: every Python line that made it.
mlir::Location getFusedLocation(mlir::Operation *root, mlir::ValueRange leaves);

//===----------------------------------------------------------------------===//
// Matchers
//===----------------------------------------------------------------------===//

namespace match {
struct Same {
  const mlir::Value &value;
  bool match(mlir::Value found) { return found == value; }
};

struct Number {
  double &value;
  bool match(mlir::Value found) {
    std::optional<double> number = getSplatConstant(found);
    if (number)
      value = *number;
    return number.has_value();
  }
};

struct Equals {
  double value;
  bool match(mlir::Value found) { return getSplatConstant(found) == value; }
};

template <typename OpT, typename First, typename Second> struct Either {
  First first;
  Second second;
  bool match(mlir::Operation *op) {
    if (!mlir::isa<OpT>(op))
      return false;
    using mlir::detail::matchOperandOrValueAtIndex;
    return (matchOperandOrValueAtIndex(op, 0, first) &&
            matchOperandOrValueAtIndex(op, 1, second)) ||
           (matchOperandOrValueAtIndex(op, 1, first) &&
            matchOperandOrValueAtIndex(op, 0, second));
  }
};

template <typename OpT> struct Bind {
  OpT &op;
  bool match(mlir::Operation *found) {
    op = mlir::dyn_cast<OpT>(found);
    return op != nullptr;
  }
};
} // namespace match

/// The value that another part of the pattern bound.
inline auto m_Same(const mlir::Value &value) { return match::Same{value}; }
/// A number that is known, the same everywhere.
inline auto m_Number(double &value) { return match::Number{value}; }
inline auto m_Equals(double value) { return match::Equals{value}; }
/// An op of two operands, in either order.
template <typename OpT, typename First, typename Second>
auto m_Either(First first, Second second) {
  return match::Either<OpT, First, Second>{first, second};
}
/// Any op of a kind.
template <typename OpT> auto m_Bind(OpT &op) { return match::Bind<OpT>{op}; }

/// The mean over the trailing `dims` dimensions of `operand`, which stay with
/// size 1: as a reduction, as a sum over the count, or reshaped to have them.
struct RowMean {
  mlir::Value operand;
  int64_t dims = 0;

  static std::optional<RowMean> get(mlir::Value value);
};

/// A product of factors: x, 1 / y and 1 / sqrt(y), through any nesting of
/// products and quotients.
struct Factors {
  llvm::SmallVector<mlir::Value> numerators, denominators, inverseRoots;

  static Factors get(mlir::Value product);
};
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_MATCHERS_H
