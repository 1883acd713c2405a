//===- ElementBuilder.h - linalg.generic the way it reads -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_CONVERSION_FACTTOLINALG_ELEMENTBUILDER_H
#define FACT_LIB_CONVERSION_FACTTOLINALG_ELEMENTBUILDER_H

#include "fact/Conversion/FactToLinalg.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace fact {
using mlir::AffineMap;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// Builds loops over elements of static tensors.
class ElementBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Body =
      llvm::function_ref<Value(mlir::ImplicitLocOpBuilder &, ValueRange)>;
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : ImplicitLocOpBuilder(loc, builder) {}

  /// result[i] = body(inputs[map(i)]...).
  Value map(mlir::RankedTensorType result, ValueRange inputs,
            llvm::ArrayRef<AffineMap> maps, Body body);

  /// result[i] = body(inputs[i]...), with NumPy broadcasting.
  Value mapBroadcast(mlir::RankedTensorType result, ValueRange inputs,
                     Body body);

  /// Combines `input` over `dims`, which are removed, starting at `initial`.
  Value reduce(Value input, llvm::ArrayRef<int64_t> dims, Value initial,
               Body body);

  /// A contraction: sums of products. Maps are over the loops of `iterators`;
  /// `result` is zero-initialized.
  Value contract(mlir::RankedTensorType result, Value lhs, Value rhs,
                 llvm::ArrayRef<AffineMap> maps,
                 llvm::ArrayRef<mlir::utils::IteratorType> iterators);

  /// Converts the element type; 16-bit floats are converted through f32.
  Value convertScalar(Value value, Type to);
  Value convertElements(Value tensor, Type to);

  /// Rounds values to `storage` without changing their type.
  Value round(Value tensor, Type storage);

  Value constant(double value, Type type);
  Value reshape(Value tensor, llvm::ArrayRef<int64_t> shape);
  /// Merges the dimensions before `dim` and those after it:
  /// [before, size, after].
  Value reshapeAround(Value tensor, int64_t dim);

  /// The map that reads `from` in a loop over `to`, with NumPy broadcasting.
  AffineMap broadcastMap(llvm::ArrayRef<int64_t> from,
                         llvm::ArrayRef<int64_t> to);
};

inline mlir::RankedTensorType tensorType(Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Both operands combined, as floats, integers or booleans.
Value addScalars(mlir::ImplicitLocOpBuilder &b, ValueRange x);
Value maximumScalars(mlir::ImplicitLocOpBuilder &b, ValueRange x);
Value minimumScalars(mlir::ImplicitLocOpBuilder &b, ValueRange x);
Value multiplyScalars(mlir::ImplicitLocOpBuilder &b, ValueRange x);

/// Index arithmetic; constants are folded.
struct IndexBuilder {
  mlir::ImplicitLocOpBuilder &b;

  Value constant(int64_t value) const {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) const {
    return b.createOrFold<mlir::arith::AddIOp>(x, y);
  }
  Value sub(Value x, Value y) const {
    return b.createOrFold<mlir::arith::SubIOp>(x, y);
  }
  Value min(Value x, Value y) const {
    return b.createOrFold<mlir::arith::MinSIOp>(x, y);
  }
  Value max(Value x, Value y) const {
    return b.createOrFold<mlir::arith::MaxSIOp>(x, y);
  }
  Value isLess(Value x, Value y) const {
    return b.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt,
                                               x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return b.createOrFold<mlir::arith::SelectOp>(condition, x, y);
  }
  Value shiftLeft(Value x, Value bits) const {
    return b.createOrFold<mlir::arith::ShLIOp>(x, bits);
  }
  Value shiftRight(Value x, Value bits) const {
    return b.createOrFold<mlir::arith::ShRUIOp>(x, bits);
  }
};

/// Lowers an op in the order of `steps`.
template <typename OpT> struct SteppedPattern : mlir::OpConversionPattern<OpT> {
  SteppedPattern(const mlir::TypeConverter &converter,
                 mlir::MLIRContext *context, Steps steps)
      : mlir::OpConversionPattern<OpT>(converter, context), steps(steps) {}

  Steps steps;
};

void populateIndexingPatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
void populateRowPatterns(const mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns, Steps steps);
void populateScanPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns, Steps steps);
void populateScatterPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns, Steps steps);
void populateSortPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns, Steps steps);
void populateViewPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
} // namespace fact

#endif // FACT_LIB_CONVERSION_FACTTOLINALG_ELEMENTBUILDER_H
