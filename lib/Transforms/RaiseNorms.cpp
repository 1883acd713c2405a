//===- RaiseNorms.cpp - Recognize norms that are written out --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-raise-norms"

namespace fact {
#define GEN_PASS_DEF_RAISENORMS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// The square of a row's divisor: mean(squared * squared) + eps.
struct Spread {
  Value squared;
  int64_t dims = 0;
  double eps = 0;
  /// For a variance written as mean(x * x) - mean(x)^2, the mean that `squared`
  /// must be centered by.
  Value mean;
};

/// Matches x * x.
Value matchSquare(Value value) {
  auto mul = value.getDefiningOp<MulOp>();
  return mul && mul.getLhs() == mul.getRhs() ? mul.getLhs() : Value();
}

std::optional<Spread> matchSpread(Value value) {
  Spread spread;
  if (auto add = value.getDefiningOp<AddOp>()) {
    Value sum = add.getLhs(), eps = add.getRhs();
    if (getSplatConstant(sum))
      std::swap(sum, eps);
    if (!m_Number(spread.eps).match(eps) || !(spread.eps >= 0))
      return std::nullopt;
    value = sum;
  }
  if (auto sub = value.getDefiningOp<SubOp>()) {
    spread.mean = matchSquare(sub.getRhs());
    value = sub.getLhs();
    if (!spread.mean)
      return std::nullopt;
  }
  std::optional<RowMean> mean = RowMean::get(value);
  if (!mean)
    return std::nullopt;
  spread.squared = matchSquare(mean->operand);
  spread.dims = mean->dims;
  if (!spread.squared)
    return std::nullopt;
  return spread;
}

/// Matches x - mean(x), over the same dimensions as `spread`, and returns x.
Value matchCentered(Value value, const Spread &spread) {
  auto sub = value.getDefiningOp<SubOp>();
  if (!sub)
    return {};
  std::optional<RowMean> mean = RowMean::get(sub.getRhs());
  if (!mean || mean->operand != sub.getLhs() || mean->dims != spread.dims)
    return {};
  if (spread.mean)
    return spread.mean == sub.getRhs() && spread.squared == sub.getLhs()
               ? sub.getLhs()
               : Value();
  return spread.squared == value ? sub.getLhs() : Value();
}

/// Reshapes `parameter` for a norm over the last `dims` dimensions of `normed`;
/// null if it varies over other dimensions.
Value toParameter(Value parameter, RankedTensorType normed, int64_t dims,
                  OpBuilder &builder) {
  ArrayRef<int64_t> shape = shapeOf(parameter);
  ArrayRef<int64_t> wanted = normed.getShape().take_back(dims);
  if (shape.size() < wanted.size() ||
      shape.take_back(wanted.size()) != wanted ||
      !llvm::all_of(shape.drop_back(wanted.size()),
                    [](int64_t size) { return size == 1; }))
    return {};
  return reshapeTo(builder, parameter.getLoc(), parameter, wanted);
}

/// x * rsqrt(mean(x * x) + eps) and (x - mean(x)) * rsqrt(variance + eps), with
/// a weight anywhere among the factors.
template <typename OpT> struct RaiseNorm : OpRewritePattern<OpT> {
  RaiseNorm(MLIRContext *context, Pass::Statistic *raised)
      : OpRewritePattern<OpT>(context), raised(raised) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Factors factors = Factors::get(op.getResult());
    size_t count = factors.numerators.size();
    if (factors.inverseRoots.size() != 1 || !factors.denominators.empty() ||
        count < 1 || count > 2)
      return failure();
    std::optional<Spread> spread = matchSpread(factors.inverseRoots.front());
    if (!spread)
      return failure();
    for (size_t i = 0; i < count; ++i) {
      Value scaled = factors.numerators[i];
      Value other = count == 2 ? factors.numerators[1 - i] : Value();
      Value x = matchCentered(scaled, *spread);
      NormKind kind = x ? NormKind::layer : NormKind::rms;
      if (!x && !spread->mean && scaled == spread->squared)
        x = scaled;
      if (!x || x.getType() != op.getType())
        continue;
      Value weight =
          other ? toParameter(other, op.getType(), spread->dims, rewriter)
                : Value();
      if (other && !weight)
        continue;
      rewriter.replaceOp(
          op,
          NormOp::create(rewriter, getFusedLocation(op, {x, other}), kind, x,
                         weight, /*bias=*/Value(), llvm::APFloat(spread->eps),
                         static_cast<uint64_t>(spread->dims)));
      if (raised)
        ++*raised;
      return success();
    }
    return failure();
  }

  Pass::Statistic *raised;
};

/// norm(x) * weight and norm(x) + bias, where the norm has none yet.
template <typename OpT> struct AbsorbParameter : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  static constexpr bool isWeight = std::is_same_v<OpT, MulOp>;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (auto [normed, other] : {std::pair(op.getLhs(), op.getRhs()),
                                 std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = normed.template getDefiningOp<NormOp>();
      if (!norm || !norm->hasOneUse() || norm.getBias() ||
          (isWeight && norm.getWeight()) || norm.getType() != op.getType())
        continue;
      Value parameter =
          toParameter(other, norm.getType(), norm.getDims(), rewriter);
      if (!parameter)
        continue;
      Location loc = getFusedLocation(op, {norm.getOperand(), other});
      rewriter.replaceOp(
          op, NormOp::create(rewriter, loc, norm.getKind(), norm.getOperand(),
                             isWeight ? parameter : Value(norm.getWeight()),
                             isWeight ? Value(norm.getBias()) : parameter,
                             norm.getEps(), norm.getDims()));
      return success();
    }
    return failure();
  }
};

struct RaiseNormsPass : fact::impl::RaiseNormsBase<RaiseNormsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRaiseNormsPatterns(patterns, &raised);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateRaiseNormsPatterns(RewritePatternSet &patterns,
                                      Pass::Statistic *raised) {
  MLIRContext *context = patterns.getContext();
  patterns.add<RaiseNorm<MulOp>, RaiseNorm<DivOp>>(context, raised);
  patterns.add<AbsorbParameter<MulOp>, AbsorbParameter<AddOp>>(context);
}
