//===- ScalarEvaluator.cpp - Runs arith and math on many values -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScalarEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact::test;

long double fact::test::roundTo(long double value, int bits, int lowest) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int last = std::max(std::ilogb(value), lowest) - (bits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
}

static double roundTo(double value, Type type) {
  if (type.isF32())
    return float(value);
  if (!type.isBF16() && !type.isF16())
    return value;
  double rounded = type.isBF16() ? fact::test::roundTo(value, 8, -126)
                                 : fact::test::roundTo(value, 11, -14);
  double range = type.isBF16() ? 0x1p128 : 0x1p16;
  return std::fabs(rounded) >= range ? std::copysign(INFINITY, value) : rounded;
}

static double maximum(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
}

static double minimum(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
}

static bool compare(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ:
    return x == y;
  case P::UNE:
    return x != y;
  case P::OLT:
    return x < y;
  case P::OLE:
    return x <= y;
  case P::OGT:
    return x > y;
  case P::OGE:
    return x >= y;
  default:
    ADD_FAILURE() << "the evaluator does not know this comparison";
    return false;
  }
}

static bool compare(arith::CmpIPredicate predicate, double x, double y) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return x == y;
  case P::ne:
    return x != y;
  case P::slt:
    return x < y;
  case P::sle:
    return x <= y;
  case P::sgt:
    return x > y;
  case P::sge:
    return x >= y;
  default:
    ADD_FAILURE() << "the evaluator does not know this comparison";
    return false;
  }
}

double ScalarEvaluator::compute(Operation *op, ArrayRef<double> x) {
  return TypeSwitch<Operation *, double>(op)
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return x[0] + x[1]; })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return x[0] - x[1]; })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return x[0] * x[1]; })
      .Case([&](arith::DivFOp) { return x[0] / x[1]; })
      .Case([&](arith::DivSIOp) { return std::trunc(x[0] / x[1]); })
      .Case([&](arith::RemFOp) { return std::fmod(x[0], x[1]); })
      .Case([&](arith::NegFOp) { return -x[0]; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [&](auto) { return maximum(x[0], x[1]); })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [&](auto) { return minimum(x[0], x[1]); })
      .Case<arith::CmpFOp, arith::CmpIOp>(
          [&](auto op) { return compare(op.getPredicate(), x[0], x[1]); })
      .Case([&](arith::SelectOp) { return x[0] ? x[1] : x[2]; })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
            arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return x[0]; })
      .Case([&](arith::FPToSIOp) { return std::trunc(x[0]); })
      .Case([&](math::FmaOp fma) {
        return fma.getType().isF32()
                   ? std::fma(float(x[0]), float(x[1]), float(x[2]))
                   : std::fma(x[0], x[1], x[2]);
      })
      .Case<math::AbsFOp, math::AbsIOp>([&](auto) { return std::fabs(x[0]); })
      .Case([&](math::ExpOp) { return std::exp(x[0]); })
      .Case([&](math::FloorOp) { return std::floor(x[0]); })
      .Case([&](math::CeilOp) { return std::ceil(x[0]); })
      .Case([&](math::RoundEvenOp) { return std::nearbyint(x[0]); })
      .Case([&](math::LogOp) { return std::log(x[0]); })
      .Case([&](math::Log1pOp) { return std::log1p(x[0]); })
      .Case([&](math::TanhOp) { return std::tanh(x[0]); })
      .Case([&](math::ErfOp) { return std::erf(x[0]); })
      .Case([&](math::SqrtOp) { return std::sqrt(x[0]); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(x[0]); })
      .Case([&](math::SinOp) { return std::sin(x[0]); })
      .Case([&](math::CosOp) { return std::cos(x[0]); })
      .Case([&](math::PowFOp) { return std::pow(x[0], x[1]); })
      .Default([&](Operation *op) {
        unknown = true;
        ADD_FAILURE() << "the evaluator does not know '"
                      << op->getName().getStringRef().str() << "'";
        return NAN;
      });
}

/// Denormals become zero in the approximate instructions.
static double flush(double x) {
  return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

/// The instructions that the CUDA emitter uses (Math.cuh), by the bounds of the
/// PTX and CUDA manuals.
double ScalarEvaluator::approximate(Operation *op, ArrayRef<double> x) {
  constexpr double unit = 0x1p-23;
  auto within = [&](double value, double relative) {
    return value * (1 + direction * relative);
  };
  return TypeSwitch<Operation *, double>(op)
      .Case([&](math::TanhOp) {
        // Infinities are exact.
        double value = std::tanh(x[0]);
        if (!std::isfinite(x[0]))
          return value;
        return std::min(1.0, std::max(-1.0, within(value, 0x1p-11)));
      })
      .Case([&](math::ExpOp) {
        double power = float(float(x[0]) * 1.4426950408889634f);
        return flush(within(std::exp2(power), 2 * unit));
      })
      .Case([&](math::LogOp) {
        double power = std::log2(flush(x[0]));
        power = x[0] > 0.5 && x[0] < 2 ? power + direction * 0x1p-22
                                       : within(power, 0x1p-22);
        return double(float(power) * 0.6931471805599453f);
      })
      .Case([&](math::ErfOp) { return std::erf(x[0]) + direction * 5e-7; })
      .Case([&](math::RsqrtOp) {
        return within(1 / std::sqrt(flush(x[0])), 0x1p-22);
      })
      .Case([&](arith::DivFOp) {
        // __fdividef has no quotients by more than 2^126.
        if (std::fabs(x[1]) > 0x1p126 && std::isfinite(x[1]))
          return std::isinf(x[0]) ? NAN : 0.0;
        return flush(within(x[0] / flush(x[1]), 2 * unit));
      })
      .Default([&](Operation *op) {
        unknown = true;
        ADD_FAILURE() << "no machine approximates '"
                      << op->getName().getStringRef().str() << "'";
        return NAN;
      });
}

static bool allowsApproximation(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr attr =
      flags ? flags.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return attr && arith::bitEnumContainsAny(attr.getValue(),
                                           arith::FastMathFlags::afn |
                                               arith::FastMathFlags::arcp);
}

void ScalarEvaluator::run(Operation *op) {
  Lanes lanes(values.begin()->second.size());
  Type type = op->getResult(0).getType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    double value;
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      value = number.getValueAsDouble();
    else
      value = cast<IntegerAttr>(constant.getValue()).getInt();
    values[op->getResult(0)] = Lanes(lanes.size(), value);
    return;
  }
  bool inexact = machine.approximate && allowsApproximation(op);
  if (inexact)
    direction = machine.upwards >> approximated++ & 1 ? 1 : -1;
  SmallVector<const Lanes *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&values.find(operand)->second);
  SmallVector<double, 3> x(operands.size());
  for (size_t i = 0; i < lanes.size() && !unknown; ++i) {
    for (auto [value, operand] : llvm::zip(x, operands))
      value = (*operand)[i];
    lanes[i] = ::roundTo(inexact ? approximate(op, x) : compute(op, x), type);
  }
  values[op->getResult(0)] = std::move(lanes);
}

Lanes ScalarEvaluator::run(Value result) {
  for (Operation &op : *result.getParentBlock())
    if (!values.contains(op.getResult(0)))
      run(&op);
  return values.find(result)->second;
}
