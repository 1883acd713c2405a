//===- Magnitude.cpp - Magnitudes of a region's values --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Magnitude.h"
#include "fact/Analysis/Rounding.h"
#include "fact/Dialect/Fact/Types.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;

namespace {
/// The magnitude of a value's elements.
struct Magnitude {
  double rms = 0;
  /// Whether the value has rounding errors.
  bool isComputed = false;
  /// Whether a computed value was rounded to 16 bits, or computed from operands
  /// in TF32: candidates may round it to the other neighbor.
  bool isRounded = false;
  /// Whether it is computed of a sum, whose terms may cancel.
  bool isOfSum = false;
  /// How many times larger a relative error is than that of one operation.
  double growth = 1;
  /// How many varying factors it is a product of. Of two or more, a few
  /// elements are far beyond the rms.
  unsigned factors = 0;

  /// The magnitude of its largest elements, where that of numbers of a normal
  /// distribution counts as their rms.
  double getPeak() const {
    return rms * std::pow(3, std::max(factors, 1u) - 1);
  }
};

class MagnitudeAnalysis {
public:
  explicit MagnitudeAnalysis(FusedOp fused) : fused(fused) {}
  MagnitudeEffect run(ArrayRef<double> scales);

private:
  Magnitude of(Value value) const { return values.lookup(value); }
  Magnitude propagate(Operation *op);
  double scaleAfter(Operation *op);
  unsigned countFactors(Operation *op);
  double scaleAfterScatter(ScatterOp op, double source, double update);
  double apply(const ScaleEffect &own, Operation *op);
  void requireSmall(Value value, double limit);
  void requireSums(double rms, double length);
  void amplify(double magnitude, const Magnitude &from);
  void step(const Magnitude &from, double bound = 1);
  void grow(double factor, const Magnitude &from);

  FusedOp fused;
  DenseMap<Value, Magnitude> values;
  /// The growth that the current op adds.
  double growth = 1;
  bool holds = true;
};
} // namespace

static constexpr double largestF32 = 3e38;
/// How far the rms of a sum may be beyond the largest value of the type that it
/// is stored in. Where it is much farther, only sums that cancelled are finite.
static constexpr double largestOverflow = 64;
/// Larger exponents test nothing more.
static constexpr double largestExponent = 1024;
/// Of an f32 few digits are left, of what was rounded before almost none.
static constexpr double largestGrowth = 8192, largestRoundedGrowth = 256;

static bool isNarrow(Value value) {
  return isNarrowFloat(getElementTypeOrSelf(value.getType()));
}

/// Whether a value is only stored, so that an overflow to infinity is correct.
static bool isOnlyStored(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<YieldOp>(user) ||
           ((isa<ViewOpInterface>(user) || isa<CastOp>(user)) &&
            isOnlyStored(user->getResult(0)));
  });
}

/// Requires that partial sums of this many values fit in f32, in any order.
void MagnitudeAnalysis::requireSums(double rms, double length) {
  holds = holds && rms * valueSpread * length < largestF32;
}

void MagnitudeAnalysis::requireSmall(Value value, double limit) {
  holds = holds && of(value).rms <= limit;
}

/// Accounts for errors of an operand that are so many times larger in the
/// result, relative to it.
void MagnitudeAnalysis::grow(double factor, const Magnitude &from) {
  if (from.isComputed)
    growth = std::max(growth, std::min(factor * from.growth,
                                       from.isRounded ? largestRoundedGrowth
                                                      : largestGrowth));
}

/// Accounts for an exponential of values of this magnitude.
void MagnitudeAnalysis::amplify(double magnitude, const Magnitude &from) {
  if (magnitude > largestExponent || (from.isRounded && magnitude > 16))
    holds = false;
  grow(magnitude, from);
}

/// Accounts for a function that is steep at 0 and bounded: where a large sum
/// cancels, the rounding errors of its terms are left.
void MagnitudeAnalysis::step(const Magnitude &from, double bound) {
  if (!from.isComputed)
    return;
  double steepness = from.rms / bound;
  holds = holds && steepness <= largestExponent;
  grow(steepness, from);
}

/// The operand of a difference of which the other one is the whole part.
static std::optional<unsigned> findWhole(Operation *op) {
  if (isa<SubOp>(op))
    for (unsigned i : {0u, 1u})
      if (Operation *part = op->getOperand(1 - i).getDefiningOp())
        if (isa<FloorOp, CeilOp, RoundOp>(part) &&
            part->getOperand(0) == op->getOperand(i))
          return i;
  return std::nullopt;
}

static std::optional<double> getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  return std::abs(dense.getSplatValue<APFloat>().convertToDouble());
}

static double getConstantMagnitude(ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !isa<FloatType>(dense.getElementType()))
    return 1;
  // Infinities are intended, as in masks. A splat has one element, whatever its
  // shape.
  double largest = 0;
  auto values = dense.getValues<APFloat>();
  for (const APFloat &value : llvm::make_range(
           values.begin(),
           dense.isSplat() ? std::next(values.begin()) : values.end()))
    if (value.isFinite())
      largest = std::max(largest, std::abs(value.convertToDouble()));
  return largest;
}

/// Applies the effect that a contraction or a row op declares.
double MagnitudeAnalysis::apply(const ScaleEffect &own, Operation *op) {
  requireSums(own.term, own.terms);
  Magnitude from;
  from.isComputed = own.computesExponent;
  for (unsigned number : own.exponentOperands) {
    from.isComputed |= of(op->getOperand(number)).isComputed;
    from.isRounded |= of(op->getOperand(number)).isRounded;
    from.growth = std::max(from.growth, of(op->getOperand(number)).growth);
  }
  amplify(own.exponent, from);
  return own.result;
}

/// All updates may go to one place.
double MagnitudeAnalysis::scaleAfterScatter(ScatterOp op, double source,
                                            double update) {
  double count = double(op.getIndices().getType().getNumElements());
  double larger = std::max(source, update);
  switch (op.getKind()) {
  case ScatterKind::sum:
    requireSums(larger, count + 1);
    return source + update * count;
  case ScatterKind::prod: {
    double product = source * std::pow(1 + update, count);
    requireSums(product, 1);
    return product;
  }
  case ScatterKind::set:
  case ScatterKind::max:
  case ScatterKind::min:
    return larger;
  }
  llvm_unreachable("unknown kind of scatter");
}

double MagnitudeAnalysis::scaleAfter(Operation *op) {
  SmallVector<double> scales;
  for (Value operand : op->getOperands())
    scales.push_back(of(operand).rms);
  auto rms = [&](unsigned i) { return scales[i]; };
  return TypeSwitch<Operation *, double>(op)
      .Case([](ConstantOp constant) { return getConstantMagnitude(constant); })
      .Case<AddOp, SubOp>([&](auto) {
        // What is behind the point has the error of the whole number.
        if (std::optional<unsigned> whole = findWhole(op)) {
          grow(rms(*whole), of(op->getOperand(*whole)));
          return 1.0;
        }
        return rms(0) + rms(1);
      })
      .Case([&](MulOp) { return rms(0) * rms(1); })
      // Some divisors are far smaller than the rms.
      .Case([&](DivOp div) {
        std::optional<double> divisor = getSplat(div.getRhs());
        return divisor && *divisor > 0 ? rms(0) / *divisor : rms(0) * 1e3;
      })
      .Case<ReciprocalOp, RsqrtOp>([](auto) { return 1e3; })
      .Case<SqrtOp>([&](auto) { return std::sqrt(rms(0)); })
      .Case<LogOp, Log1pOp>([](auto) { return 100.0; })
      .Case<ExpOp, Expm1Op>([&](auto exp) {
        // The largest elements are all that counts of the result.
        Magnitude argument = of(exp.getOperand());
        amplify(rms(0), argument);
        grow(argument.getPeak(), argument);
        // Exponentials of more are infinite, or 0.
        growth = std::min(growth, 104 * argument.growth);
        return std::exp(valueSpread * rms(0));
      })
      .Case([&](PowOp pow) {
        std::optional<double> power = getSplat(pow.getRhs());
        amplify(power ? *power : rms(1) * 10, of(pow.getRhs()));
        return std::pow(1 + valueSpread * rms(0), power ? *power : rms(1));
      })
      // Errors of computed angles grow with the angles.
      .Case<SinOp, CosOp>([&](auto angle) {
        amplify(rms(0), of(angle.getOperand()));
        return 1.0;
      })
      .Case([&](FmodOp fmod) {
        const Magnitude &lhs = of(fmod.getLhs());
        if (lhs.isComputed)
          holds &= rms(0) * 1e3 <= (lhs.isRounded ? 16 : largestExponent);
        grow(rms(1) > 0 ? rms(0) / rms(1) : 1, lhs);
        return std::min(rms(0), rms(1));
      })
      .Case<ErfOp, TanhOp, SigmoidOp>([&](auto function) {
        step(of(function.getOperand()));
        return 1.0;
      })
      .Case([&](ClampOp clamp) {
        double bound = std::numeric_limits<double>::infinity();
        if (clamp.getMin() && clamp.getMax())
          bound = std::max(std::abs(clamp.getMin()->convertToDouble()),
                           std::abs(clamp.getMax()->convertToDouble()));
        if (bound > 0 && bound < rms(0))
          step(of(clamp.getOperand()), bound);
        return std::min(rms(0), bound);
      })
      // The reference marks elements that rounding decides.
      .Case<SignOp, CompareOp>([](auto) { return 1.0; })
      .Case<ContractionOpInterface, RowOpInterface>(
          [&](auto typed) { return apply(typed.getScaleEffect(scales), op); })
      .Case([&](RotaryOp) { return rms(0) * (rms(1) + rms(2)); })
      .Case([&](ScatterOp scatter) {
        return scaleAfterScatter(scatter, rms(0), rms(2));
      })
      .Default([&](Operation *) {
        return scales.empty() ? 0 : *llvm::max_element(scales);
      });
}

unsigned MagnitudeAnalysis::countFactors(Operation *op) {
  if (isa<ConstantOp>(op))
    return 0;
  // What is bounded, and sums of many products, have no such elements.
  if (isa<ContractionOpInterface, RowOpInterface, SinOp, CosOp, ErfOp, TanhOp,
          SigmoidOp>(op))
    return 1;
  unsigned sum = 0, most = 0;
  for (Value operand : op->getOperands()) {
    sum += of(operand).factors;
    most = std::max(most, of(operand).factors);
  }
  return isa<MulOp>(op) ? sum : most;
}

Magnitude MagnitudeAnalysis::propagate(Operation *op) {
  Magnitude result;
  bool rounds = !isa<ViewOpInterface>(op) &&
                !isa<ConstantOp, ConcatOp, GatherOp, NegOp, AbsOp, ReluOp>(op);
  growth = 1;
  result.isOfSum =
      isa<AddOp, SubOp, ContractionOpInterface, RowOpInterface>(op);
  for (Value operand : op->getOperands()) {
    result.isComputed |= of(operand).isComputed;
    result.isRounded |= of(operand).isRounded;
    result.isOfSum |= of(operand).isOfSum;
    growth = std::max(growth, of(operand).growth);
  }
  // Contractions round operands that the region computed; casts round what they
  // narrow.
  if (auto cast = dyn_cast<CastOp>(op))
    rounds = result.isRounded |=
        isNarrowing(cast) && !isOnlyStored(op->getResult(0));
  if (auto contraction = dyn_cast<ContractionOpInterface>(op)) {
    result.isRounded |= contraction.allowsTf32();
    for (Value operand : op->getOperands())
      result.isRounded |= of(operand).isComputed && isNarrow(operand);
  }
  result.isComputed |= rounds;
  result.rms = scaleAfter(op);
  result.growth = growth;
  result.factors = countFactors(op);
  return result;
}

MagnitudeEffect MagnitudeAnalysis::run(ArrayRef<double> scales) {
  for (auto [argument, scale] :
       llvm::zip(fused.getBody().getArguments(), scales)) {
    values[argument].rms = scale;
    values[argument].factors = 1;
  }
  for (Operation &op : fused.getBodyOps()) {
    if (op.getNumResults() != 1)
      continue;
    Value result = op.getResult(0);
    values[result] = propagate(&op);
    Type element = getElementTypeOrSelf(result.getType());
    if (!isa<FloatType>(element))
      continue;
    double largest = runtime::largestFinite(toElementType(element));
    if (!isOnlyStored(result))
      requireSmall(result, largestF32 / valueSpread);
    else if (of(result).isOfSum)
      requireSmall(result, largest * largestOverflow);
    // A value that a contraction or a cast rounds must fit in the narrower
    // type.
    bool narrows =
        isa<CastOp>(op) ||
        llvm::any_of(result.getUsers(), llvm::IsaPred<ContractionOpInterface>);
    if (narrows && !isOnlyStored(result) && isNarrowFloat(element))
      requireSmall(result, largest / valueSpread);
  }
  MagnitudeEffect effect{holds, {}};
  for (Value result : fused.getYield()->getOperands())
    effect.amplifications.push_back(of(result).growth > 1 ? of(result).growth
                                                          : 0);
  return effect;
}

MagnitudeEffect fact::getMagnitudeEffect(FusedOp fused,
                                         ArrayRef<double> scales) {
  return MagnitudeAnalysis(fused).run(scales);
}
