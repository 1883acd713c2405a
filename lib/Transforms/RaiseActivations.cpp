//===- RaiseActivations.cpp - Recognize activations written out -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-raise-activations"

namespace fact {
#define GEN_PASS_DEF_RAISEACTIVATIONS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// Whether `value` equals `wanted` up to a rounding to f32.
bool isNearly(double value, double wanted) {
  return std::abs(value / wanted - 1) < 0x1p-22;
}

/// `factor * x`, as a product or as a quotient.
bool isMultiple(Value value, Value x, double wanted) {
  double factor;
  if (matchPattern(value, m_Either<MulOp>(m_Same(x), m_Number(factor))))
    return isNearly(factor, wanted);
  return matchPattern(value, m_Op<DivOp>(m_Same(x), m_Number(factor))) &&
         isNearly(1 / factor, wanted);
}

/// Matches 1 + f(u) and returns u.
template <typename Function> Value matchOnePlus(Value value) {
  Function function;
  if (!matchPattern(value, m_Either<AddOp>(m_Bind(function), m_Equals(1))))
    return {};
  return function.getOperand();
}

bool isCube(Value value, Value x) {
  Factors factors = Factors::get(value);
  return factors.numerators.size() == 3 && factors.denominators.empty() &&
         factors.inverseRoots.empty() &&
         llvm::all_of(factors.numerators,
                      [&](Value factor) { return factor == x; });
}

/// sqrt(2 / pi) * (x + 0.044715 * x^3)
bool isTanhArgument(Value value, Value x) {
  double outer, inner;
  Value sum, cube;
  auto multiple = [](Value &value, double &factor) {
    return m_Either<MulOp>(m_Number(factor), matchers::m_Any(&value));
  };
  if (!matchPattern(value, multiple(sum, outer)) ||
      !isNearly(outer, std::sqrt(2 / M_PI)))
    return false;
  // The factors of 0.044715 * x^3 may come in any order.
  Value rest;
  if (!matchPattern(sum, m_Either<AddOp>(m_Same(x), matchers::m_Any(&rest))))
    return false;
  if (matchPattern(rest, multiple(cube, inner)))
    return isNearly(inner, 0.044715) && isCube(cube, x);
  Factors factors = Factors::get(rest);
  if (factors.numerators.size() != 4 || !factors.denominators.empty() ||
      !factors.inverseRoots.empty())
    return false;
  unsigned count = 0;
  for (Value factor : factors.numerators) {
    if (factor == x)
      ++count;
    else if (!m_Number(inner).match(factor) || !isNearly(inner, 0.044715))
      return false;
  }
  return count == 3;
}

/// x * sigmoid(x), x / (1 + exp(-x)), and both forms of gelu.
template <typename OpT> struct RaiseActivation : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Factors factors = Factors::get(op.getResult());
    if (!factors.inverseRoots.empty())
      return failure();
    // Apart from constants, there are x and one more factor.
    double scale = 1, number;
    llvm::erase_if(factors.numerators, [&](Value factor) {
      bool known = m_Number(number).match(factor);
      scale *= known ? number : 1;
      return known;
    });
    llvm::erase_if(factors.denominators, [&](Value factor) {
      bool known = m_Number(number).match(factor);
      scale /= known ? number : 1;
      return known;
    });
    auto matches = [&](Value x, Value other) -> Operation * {
      if (x.getType() != op.getType())
        return nullptr;
      Location loc = getFusedLocation(op, {x});
      if (scale == 1 && matchPattern(other, m_Op<SigmoidOp>(m_Same(x))))
        return SiluOp::create(rewriter, loc, op.getType(), x);
      auto gelu = [&](GeluKind kind) {
        return GeluOp::create(rewriter, loc, op.getType(), x, kind);
      };
      Value erf = matchOnePlus<ErfOp>(other);
      if (scale == 0.5 && erf && isMultiple(erf, x, std::sqrt(0.5)))
        return gelu(GeluKind::none);
      Value tanh = matchOnePlus<TanhOp>(other);
      if (scale == 0.5 && tanh && isTanhArgument(tanh, x))
        return gelu(GeluKind::tanh);
      return nullptr;
    };
    Operation *activation = nullptr;
    ArrayRef<Value> over = factors.numerators, under = factors.denominators;
    if (over.size() == 2 && under.empty()) {
      activation = matches(over[0], over[1]);
      if (!activation)
        activation = matches(over[1], over[0]);
    } else if (over.size() == 1 && under.size() == 1 && scale == 1 &&
               over[0].getType() == op.getType()) {
      Value exponent = matchOnePlus<ExpOp>(under[0]);
      if (exponent && matchPattern(exponent, m_Op<NegOp>(m_Same(over[0]))))
        activation = SiluOp::create(rewriter, getFusedLocation(op, {over[0]}),
                                    op.getType(), over[0]);
    }
    if (!activation)
      return failure();
    rewriter.replaceOp(op, activation);
    return success();
  }
};

struct RaiseActivationsPass
    : fact::impl::RaiseActivationsBase<RaiseActivationsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRaiseActivationsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateRaiseActivationsPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseActivation<MulOp>, RaiseActivation<DivOp>>(
      patterns.getContext());
}
