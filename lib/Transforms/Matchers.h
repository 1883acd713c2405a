//===- Matchers.h - Small matchers of the raising passes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Companions of mlir's m_Op: patterns are written as nested calls, such as
//
//   matchPattern(value, m_Either<AddOp>(m_Mean(mean), m_Number(eps)))
//
// Only these matchers decide what is looked through: the order of operands,
// broadcasts and widening casts, but never a narrowing cast.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TRANSFORMS_MATCHERS_H
#define FACT_LIB_TRANSFORMS_MATCHERS_H

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace fact {
//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return typeOf(tensor).getShape();
}

/// Whether every value of the operand's type can be represented in the
/// result's.
bool isWidening(CastOp cast);

/// Looks through widening casts.
mlir::Value skipWidening(mlir::Value value);

/// Casts to the type that values are computed in: f64 for f64, else f32.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value);

/// Whether the value depends on weights and constants alone, so that it is
/// computed at load.
bool isFunctionOfWeights(mlir::Value value);

/// A value that broadcasts to the result of a permute by `dims`, as one that
/// broadcasts to its operand.
mlir::Value permuteBack(mlir::OpBuilder &builder, mlir::Value value,
                        mlir::ArrayRef<int64_t> dims);

/// Replaces a pointwise op by the permute by `dims` of the same op on operands
/// that are permuted back.
void movePermute(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                 mlir::ArrayRef<int64_t> dims);

/// Whether the rows of a product are windows of a result, or of it between
/// zeros: channels come last.
bool feedsWindows(mlir::Operation *op);

/// Reshapes `value` to a shape that differs in dimensions of size 1 only;
/// returns the value itself if the shapes are equal.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value expandTo(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value permuteTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, llvm::ArrayRef<int64_t> dims);
mlir::Value sliceOf(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, int64_t dim, int64_t start,
                    int64_t size);
/// Swaps the last two dimensions.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value);
/// Builds a rank-0 constant.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       double value, mlir::Type element);

/// The location of an op that replaces `root` and its exclusive producers down
/// to `leaves`: all of their Python lines.
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

/// Matches the value that another part of the pattern bound.
inline auto m_Same(const mlir::Value &value) { return match::Same{value}; }
/// Matches a splat constant.
inline auto m_Number(double &value) { return match::Number{value}; }
inline auto m_Equals(double value) { return match::Equals{value}; }
/// Matches a binary op with its operands in either order.
template <typename OpT, typename First, typename Second>
auto m_Either(First first, Second second) {
  return match::Either<OpT, First, Second>{first, second};
}
/// Matches any op of a type, and binds it.
template <typename OpT> auto m_Bind(OpT &op) { return match::Bind<OpT>{op}; }

/// A mean over the trailing `dims` dimensions of `operand`, which keep size 1:
/// a reduction, a sum divided by the count, or either one reshaped to this
/// form.
struct RowMean {
  mlir::Value operand;
  int64_t dims = 0;

  static std::optional<RowMean> get(mlir::Value value);
};

/// A product of factors x, 1 / y and 1 / sqrt(y), in any nesting of products
/// and quotients.
struct Factors {
  llvm::SmallVector<mlir::Value> numerators, denominators, inverseRoots;

  static Factors get(mlir::Value product);
};
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_MATCHERS_H
