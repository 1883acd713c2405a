//===- Numerics.cpp - Arithmetic and magnitudes of ops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

int64_t MatmulOp::getSumLength() { return getK(); }

OperandRole MatmulOp::getOperandRole(unsigned operand) {
  return operand == 0 ? OperandRole::Data : OperandRole::Weight;
}

ScaleEffect MatmulOp::getScaleEffect(ArrayRef<double> operands) {
  ScaleEffect effect;
  effect.term = operands[0] * operands[1];
  effect.terms = double(getK());
  effect.result = effect.term * std::sqrt(effect.terms);
  return effect;
}

/// Scores are sums over the depth, results are sums over keys.
int64_t AttentionOp::getSumLength() {
  RankedTensorType key = getKey().getType();
  return std::max(key.getDimSize(2), key.getDimSize(3));
}

OperandRole AttentionOp::getOperandRole(unsigned operand) {
  constexpr OperandRole roles[] = {OperandRole::Query, OperandRole::Key,
                                   OperandRole::Value, OperandRole::Mask};
  return roles[operand];
}

ScaleEffect AttentionOp::getScaleEffect(ArrayRef<double> operands) {
  double depth = double(getQuery().getType().getDimSize(3));
  ScaleEffect effect;
  effect.exponent = operands[0] * operands[1] * std::sqrt(depth) *
                        std::abs(getScale().convertToDouble()) +
                    (getMask() ? operands[3] : 0);
  effect.exponentOperands = {0, 1};
  effect.computesExponent = true;
  // An average is no larger than its largest term.
  effect.result = effect.term = operands[2];
  return effect;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SmallVector<int64_t> SoftmaxOp::getRowDims() { return {int64_t(getDim())}; }

RowArithmetic SoftmaxOp::getArithmetic() {
  RowArithmetic arithmetic;
  arithmetic.findsLargest = true;
  arithmetic.mayVanish = true;
  return arithmetic;
}

ScaleEffect SoftmaxOp::getScaleEffect(ArrayRef<double> operands) {
  ScaleEffect effect;
  effect.exponent = operands[0];
  effect.exponentOperands = {0};
  effect.result = 1;
  return effect;
}

SmallVector<int64_t> NormOp::getRowDims() {
  int64_t rank = getType().getRank();
  return llvm::to_vector(llvm::seq<int64_t>(rank - getDims(), rank));
}

RowArithmetic NormOp::getArithmetic() {
  RowArithmetic arithmetic;
  arithmetic.subtractsMean = getKind() == NormKind::layer;
  return arithmetic;
}

ScaleEffect NormOp::getScaleEffect(ArrayRef<double> operands) {
  ScaleEffect effect;
  // The terms are squares.
  effect.term = operands[0] * operands[0];
  effect.terms = double(getRowLength());
  double weight = getWeight() ? operands[1] : 1;
  effect.result = valueSpread * weight + (getBias() ? operands.back() : 0);
  return effect;
}

SmallVector<int64_t> ReduceOp::getRowDims() {
  return llvm::to_vector(getDims());
}

RowArithmetic ReduceOp::getArithmetic() {
  ReduceKind kind = getKind();
  RowArithmetic arithmetic;
  arithmetic.reduces = true;
  arithmetic.chooses = kind == ReduceKind::max || kind == ReduceKind::min;
  arithmetic.locates = kind == ReduceKind::argmax || kind == ReduceKind::argmin;
  arithmetic.findsLargest =
      kind == ReduceKind::max || kind == ReduceKind::argmax;
  arithmetic.multiplies = kind == ReduceKind::prod;
  return arithmetic;
}

ScaleEffect ReduceOp::getScaleEffect(ArrayRef<double> operands) {
  double length = double(getRowLength());
  ScaleEffect effect;
  effect.result = operands[0];
  switch (getKind()) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    effect.term = operands[0];
    effect.terms = length;
    if (getKind() == ReduceKind::sum)
      effect.result *= length;
    break;
  case ReduceKind::prod:
    effect.result = effect.term = std::pow(1 + operands[0], length);
    break;
  default:
    break;
  }
  return effect;
}

SmallVector<int64_t> ScanOp::getRowDims() { return {int64_t(getDim())}; }

RowArithmetic ScanOp::getArithmetic() {
  RowArithmetic arithmetic;
  arithmetic.chooses = getKind() == ScanKind::max || getKind() == ScanKind::min;
  arithmetic.findsLargest = getKind() == ScanKind::max;
  arithmetic.multiplies = getKind() == ScanKind::prod;
  return arithmetic;
}

ScaleEffect ScanOp::getScaleEffect(ArrayRef<double> operands) {
  double length = double(getRowLength());
  ScaleEffect effect;
  effect.result = operands[0];
  switch (getKind()) {
  case ScanKind::sum:
    effect.term = operands[0];
    effect.terms = length;
    effect.result *= length;
    break;
  case ScanKind::prod:
    effect.result = effect.term = std::pow(1 + operands[0], length);
    break;
  case ScanKind::logsumexp:
    effect.term = 1;
    effect.terms = length;
    effect.result = operands[0] * valueSpread + std::log(length);
    break;
  case ScanKind::max:
  case ScanKind::min:
    break;
  }
  return effect;
}

SmallVector<int64_t> ArgsortOp::getRowDims() { return {int64_t(getDim())}; }

RowArithmetic ArgsortOp::getArithmetic() {
  RowArithmetic arithmetic;
  arithmetic.locates = true;
  return arithmetic;
}

ScaleEffect ArgsortOp::getScaleEffect(ArrayRef<double>) {
  ScaleEffect effect;
  effect.result = double(getRowLength());
  return effect;
}
