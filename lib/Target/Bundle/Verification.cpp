//===- Verification.cpp - Operands and tolerances of verification ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "Magnitude.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/Rounding.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Target/Reference.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace fact;

void fact::setType(tuning::Tensor &tensor, Type type) {
  auto ranked = cast<RankedTensorType>(type);
  tensor.type = toElementType(ranked.getElementType());
  tensor.shape = ranked.getShape().vec();
}

static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

/// The length of the sums of an op.
static int64_t getSumLength(Operation *op) {
  if (auto contraction = dyn_cast<ContractionOpInterface>(op))
    return contraction.getSumLength();
  if (auto row = dyn_cast<RowOpInterface>(op))
    return row.getRowLength();
  // All updates may go to one place.
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return 1 + scatter.getIndices().getType().getNumElements();
  return 1;
}

/// Whether an op averages values by scores, as attention does.
static bool averages(Operation *op) {
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  return contraction && contraction.averages();
}

/// The relative error of one rounding to a narrow float; 0 for other types.
static double getRounding(Type type) {
  return isNarrowFloat(type) ? runtime::roundingOf(toElementType(type)) : 0;
}

/// The ops of the region that a result depends on, in order.
static SmallVector<Operation *> getSlice(FusedOp fused, Value result) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> work{result};
  while (!work.empty())
    if (Operation *op = work.pop_back_val().getDefiningOp();
        op && needed.insert(op))
      llvm::append_range(work, op->getOperands());
  SmallVector<Operation *> slice;
  for (Operation &op : fused.getBodyOps())
    if (needed.contains(&op))
      slice.push_back(&op);
  return slice;
}

/// The coarsest rounding inside of a slice: at casts, and of a contraction's
/// operands that the region computed. Two kernels may round such a value to
/// different neighbors.
static double getInnerRounding(ArrayRef<Operation *> slice) {
  double rounding = 0;
  for (Operation *op : slice) {
    if (isa<CastOp>(op))
      rounding = std::max(rounding, getRounding(getElement(op->getResult(0))));
    if (!isa<ContractionOpInterface>(op))
      continue;
    for (Value operand : op->getOperands())
      if (averages(op) || operand.getDefiningOp())
        rounding = std::max(rounding, getRounding(getElement(operand)));
  }
  return rounding;
}

/// Whether a slice has a contraction of f32 that may round operands to TF32, or
/// one that may not.
static bool hasProduct(ArrayRef<Operation *> slice, bool tf32) {
  return llvm::any_of(slice, [&](Operation *op) {
    auto contraction = dyn_cast<ContractionOpInterface>(op);
    return contraction && contraction.allowsTf32() == tf32 &&
           getElement(op->getOperand(0)).isF32();
  });
}

/// The precision of the arithmetic: f64 only if all of it is f64.
static double getEpsilon(Value result, ArrayRef<Operation *> slice) {
  bool isDouble = getElement(result).isF64();
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<FloatType>(getElement(operand)))
        isDouble = isDouble && (type.isF64() || isa<CastOp>(op));
  // Transcendental functions of doubles are accurate to a few ulp.
  return isDouble ? 16 * 0x1p-52 : 0x1p-23;
}

namespace {
/// How much exponentials amplify relative errors of their computed arguments.
struct Amplification {
  /// With operands of normal trials.
  double normal = 0;
  /// With large operands.
  double large = 0;
};
} // namespace

/// How many results of contractions a value multiplies with each other, and
/// operands with those (not what is added to them), of which the first counts
/// as none: elements of one operand are seldom beyond 5, products of two reach
/// 15 among millions. Masks and integers are exact and do not count. The
/// contractions of attention are two: errors of scores are multiplied by
/// values.
static int64_t getDegree(Value value, ArrayRef<Operation *> slice) {
  struct Factors {
    int64_t products = 0, operands = 0;
  };
  llvm::DenseMap<Value, Factors> known;
  auto find = [&](Value operand) {
    auto found = known.find(operand);
    if (found != known.end())
      return found->second;
    bool isVarying =
        isa<BlockArgument>(operand) && isa<FloatType>(getElement(operand)) &&
        cast<RankedTensorType>(operand.getType()).getNumElements() > 1;
    return Factors{0, isVarying ? 1 : 0};
  };
  for (Operation *op : slice) {
    bool contracts = averages(op) || isa<ContractionOpInterface>(op);
    Factors factors{averages(op) ? 2 : contracts, 0};
    for (Value operand : op->getOperands()) {
      Factors other = find(operand);
      if (contracts)
        other.operands = 0;
      if (isa<MulOp, DivOp>(op)) {
        factors.products += other.products;
        factors.operands += other.operands;
      } else if (other.products > 0 && factors.products == 0) {
        factors = other;
      } else if (other.products > 0 || factors.products == 0) {
        factors.products = std::max(factors.products, other.products);
        factors.operands = std::max(factors.operands, other.operands);
      }
    }
    factors.products = std::min<int64_t>(factors.products, 4);
    factors.operands = std::min<int64_t>(factors.operands, 4);
    for (Value result : op->getResults())
      known[result] = factors;
  }
  auto [products, operands] = find(value);
  return std::min<int64_t>(
      products ? products + std::max<int64_t>(operands - 1, 0) : 0, 4);
}

/// The relative error of rounding a factor to TF32, to nearest.
static constexpr double tf32Rounding = 0x1p-11;
/// The largest error of a strict sum of products. Above 65,536 terms the square
/// root of the length would let kernels of TF32 pass.
static constexpr double largestStrictError = 0x1p-15;

/// Errors of f32 sums grow with the square root of their length; a 16-bit
/// result or a rounding inside of the region adds its own. A product of factors
/// in TF32 has an error of 0.56 roundings (0.39 per factor, over mantissas from
/// 1 to 2); where both factors were truncated it would have 1.44. Integers and
/// booleans are exact. The rows of an attention average different numbers of
/// values, so each row has its own scale. The absolute error of an exponent, as
/// of a score, which grows with it, is the relative error of its exponential;
/// below `valueSpread`, the factors of 4 and 16 include it. Of TF32 they do
/// not: the errors of both products add up as independent ones, and so does
/// what a function makes of the error of its argument that it bounds, as tanh.
static void setTolerance(FusedOp fused, Value value,
                         const Amplification &amplification,
                         tuning::Result &result) {
  SmallVector<Operation *> slice = getSlice(fused, value);
  int64_t length = 1;
  bool hasAverages = false;
  for (Operation *op : slice) {
    length = std::max(length, getSumLength(op));
    hasAverages |= averages(op);
  }
  double sum = getEpsilon(value, slice) * (2 + std::sqrt(double(length)));
  bool hasTf32 = hasProduct(slice, /*tf32=*/true);
  if (!hasTf32 && hasProduct(slice, /*tf32=*/false))
    sum = std::min(sum, largestStrictError);
  double exponents = std::max(amplification.normal / valueSpread, 1.0);
  double rounding =
      std::max(getRounding(getElement(value)),
               getInnerRounding(slice) * std::min(exponents, 16.0));
  double tf32 = hasTf32 ? tf32Rounding : 0;
  // Not std::hypot, which rounds differently on some processors.
  double products = std::sqrt(1 + amplification.normal * amplification.normal);
  // Each factor's error is multiplied by the other factors, of which some among
  // millions of elements are large in all.
  double tails = std::pow(3, std::max<int64_t>(getDegree(value, slice) - 1, 0));
  result.norm = std::max({4 * sum * exponents, 2 * rounding, tf32 * products});
  result.element = std::max(
      {16 * sum * exponents, 4 * rounding, 8 * tf32 * products * tails});
  result.large = std::max(16 * sum, 8 * tf32) * amplification.large;
  if (hasAverages && !result.shape.empty() && result.shape.back() >= 16)
    result.rows = result.shape.back();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// The uses of an argument behind views, casts, concatenations and rotations.
struct Uses {
  /// (op, operand number)
  SmallVector<std::pair<Operation *, unsigned>> direct;
};
} // namespace

static void collectUses(Value value, Uses &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    bool passes = isa<ViewOpInterface>(user) || isa<CastOp, ConcatOp>(user) ||
                  (isa<RotaryOp>(user) && use.getOperandNumber() == 0);
    if (passes)
      collectUses(user->getResult(0), uses);
    else
      uses.direct.emplace_back(user, use.getOperandNumber());
  }
}

/// Whether a value, or any value computed from it, has a wanted use.
static bool reaches(Value value, function_ref<bool(OpOperand &)> isWanted) {
  // Each value once: recurrences have exponentially many paths.
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t i = 0; i < found.size(); ++i)
    for (OpOperand &use : found[i].getUses()) {
      if (isWanted(use))
        return true;
      if (use.getOwner()->getNumResults() == 1)
        found.insert(use.getOwner()->getResult(0));
    }
  return false;
}

/// Whether it reaches an operand of a contraction with one of these roles.
static bool reachesRole(Value value, ArrayRef<OperandRole> roles) {
  return reaches(value, [&](OpOperand &use) {
    auto contraction = dyn_cast<ContractionOpInterface>(use.getOwner());
    return contraction &&
           llvm::is_contained(
               roles, contraction.getOperandRole(use.getOperandNumber()));
  });
}

/// The magnitude of scores whose queries and keys have magnitude 1.
static double getScoreScale(ContractionOpInterface attention) {
  SmallVector<double> scales;
  for (unsigned i = 0; i < attention->getNumOperands(); ++i)
    scales.push_back(attention.getOperandRole(i) == OperandRole::Mask ? 0 : 1);
  return attention.getScaleEffect(scales).exponent;
}

/// The smallest scale that a contraction requires of the operand. Queries, or
/// queries and keys in one tensor, make scores near 1: if scores are larger,
/// one key has nearly all of the weight of its row, and a mistake at other keys
/// does not show. Powers of two, so that usual scales need none.
static double getScale(const Uses &uses) {
  double scale = 1, scores = 1;
  bool isKey = false;
  for (auto [user, number] : uses.direct) {
    auto contraction = dyn_cast<ContractionOpInterface>(user);
    if (!contraction)
      continue;
    scale = std::min(scale, contraction.getOperandScale(number));
    OperandRole role = contraction.getOperandRole(number);
    isKey |= role == OperandRole::Key;
    if (role == OperandRole::Query)
      scores = std::max(scores, getScoreScale(contraction));
  }
  double exponent = std::log2(scores) / (isKey ? 2 : 1);
  return std::min(scale, std::exp2(-std::round(exponent)));
}

/// Makes keys of attention and operands of a maximum negative in one trial, far
/// enough that an exponential vanishes. In a tensor with queries, keys and
/// values, the keys are the middle third.
static void describeSign(const Uses &uses, tuning::Operand &operand) {
  bool isKey = false, isOther = false, isRow = false;
  for (auto [user, number] : uses.direct) {
    if (auto row = dyn_cast<RowOpInterface>(user))
      isRow |= row.getArithmetic().findsLargest;
    auto contraction = dyn_cast<ContractionOpInterface>(user);
    if (!contraction || !contraction.averages())
      continue;
    OperandRole role = contraction.getOperandRole(number);
    (role == OperandRole::Key ? isKey : isOther) = true;
    if (role == OperandRole::Mask)
      operand.mask = true;
  }
  if (isKey && isOther)
    operand.middle = 4;
  else if (isKey)
    operand.negative = 8;
  else if (isRow)
    operand.negative = 160;
}

/// Whether a sum is subtracted from its own values: equal ones leave nothing
/// but rounding errors.
static bool subtractsMeans(FusedOp fused) {
  return llvm::any_of(fused.getBodyOps(), [&](Operation &op) {
    if (auto row = dyn_cast<RowOpInterface>(op))
      return row.getArithmetic().subtractsMean;
    return isa<SubOp>(op) &&
           llvm::any_of(getSlice(fused, op.getResult(0)), [](Operation *term) {
             auto row = dyn_cast<RowOpInterface>(term);
             return row && row.getArithmetic().reduces;
           });
  });
}

/// Fast scalar functions of a GPU are instructions with `.ftz`, which flush
/// denormals of f32 and bf16 to 0. Denormals of f16 are normal in f32.
/// Attention is compiled with fast functions; other regions use them if all
/// results have 16 bits. Tensor cores truncate factors of f32 to TF32, which
/// has fewer denormals.
static bool mayFlushDenormals(FusedOp fused, const Target &target, Type type) {
  bool isNormalInF32 =
      isNarrowFloat(type) &&
      runtime::smallestPositive(toElementType(type)) >= 0x1p-126;
  if (target.getKind() != "cuda" || isNormalInF32)
    return false;
  return llvm::any_of(fused.getBodyOps(),
                      [&](Operation &op) {
                        return averages(&op) ||
                               (type.isF32() &&
                                isa<ContractionOpInterface>(op));
                      }) ||
         llvm::all_of(fused.getYield()->getOperands(), [](Value result) {
           return getRounding(getElement(result)) > 0;
         });
}

/// Whether an op that a value is computed by is as asked for. What it is
/// computed from is looked at too, behind ops that are `followed`.
static bool anyProducer(Value value,
                        llvm::function_ref<bool(Operation *)> asked,
                        llvm::function_ref<bool(Operation *)> followed) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *op = found[i].getDefiningOp();
    if (!op)
      continue;
    if (asked(op))
      return true;
    if (followed(op))
      found.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Whether a value is computed with rounding on the way from the operands.
static bool isRounded(Value value) {
  return anyProducer(
      value, [](Operation *op) { return !isExact(op); },
      [](Operation *) { return true; });
}

/// Whether a value may be so small that some kernels compute 0: a function with
/// an asymptote at 0, a quotient, or a difference of rounded values.
static bool mayVanish(Value value) {
  return anyProducer(
      value,
      [](Operation *op) {
        auto row = dyn_cast<RowOpInterface>(op);
        return isa<ExpOp, SigmoidOp, SiluOp, GeluOp, MishOp, SoftplusOp, TanhOp,
                   DivOp, ReciprocalOp, PowOp>(op) ||
               (row && row.getArithmetic().mayVanish) ||
               (isa<AddOp, SubOp>(op) &&
                llvm::any_of(op->getOperands(), isRounded));
      },
      llvm::IsaPred<ViewOpInterface, CastOp, MulOp, NegOp>);
}

/// Whether rounding to TF32 may decide the sign of a value near 0.
static bool hasRoundedSign(Value value) {
  return anyProducer(
      value, [](Operation *op) { return hasProduct(op, /*tf32=*/true); },
      llvm::IsaPred<ViewOpInterface, CastOp, MulOp, NegOp, AddOp, SubOp>);
}

/// Whether a use is a product with a value that may vanish: 0 times infinity is
/// NaN, but a tiny number times infinity is not, and has the number's sign.
static bool multipliesWhatVanishes(OpOperand &use) {
  auto product = dyn_cast<MulOp>(use.getOwner());
  if (!product)
    return false;
  Value other = product->getOperand(1 - use.getOperandNumber());
  return mayVanish(other) || hasRoundedSign(other);
}

static bool isProduct(OpOperand &use) {
  if (auto scatter = dyn_cast<ScatterOp>(use.getOwner()))
    return scatter.getKind() == ScatterKind::prod;
  auto row = dyn_cast<RowOpInterface>(use.getOwner());
  return row && row.getArithmetic().multiplies;
}

/// The largest exponent of 2 of an operand whose elements are multiplied; 0 if
/// they are not, or too few to overflow. A sum of `length` uniform exponents
/// has the deviation `spread * sqrt(length / 3)`; six of them stay within the
/// range of the type, so that a product overflows in no order of its factors.
static double getFactors(const Uses &uses, runtime::ElementType type) {
  int64_t length = 0;
  for (auto [user, number] : uses.direct)
    if (isProduct(user->getOpOperand(number)))
      length = std::max(length, getSumLength(user));
  if (length <= 16)
    return 0;
  double largest = std::min(runtime::largestFinite(type), 0x1p127);
  double range = 0.8 * std::log2(largest);
  return std::min(2.0, range / 6 / std::sqrt(double(length) / 3));
}

/// The dimension of a tensor that a use indexes, if any.
static std::optional<int64_t> getIndexedSize(OpOperand &use) {
  if (use.getOperandNumber() != 1)
    return std::nullopt;
  if (auto gather = dyn_cast<GatherOp>(use.getOwner()))
    return gather.getSource().getType().getDimSize(gather.getDim());
  if (auto scatter = dyn_cast<ScatterOp>(use.getOwner()))
    return scatter.getType().getDimSize(scatter.getDim());
  return std::nullopt;
}

/// Special values whose result docs/precision.md leaves open: whether attention
/// sees values of hidden keys, the effect of infinite scores, the product of an
/// infinity and a factor that vanishes.
static tuning::Words getAvoided(FusedOp fused, const Target &target,
                                BlockArgument argument, bool holdsLargest,
                                bool equalRowsCancel) {
  tuning::Words avoided;
  bool isKeyOrValue =
      reachesRole(argument, {OperandRole::Key, OperandRole::Value});
  bool isMask = reachesRole(argument, {OperandRole::Mask});
  bool isQuery = reachesRole(argument, {OperandRole::Query});
  if (isKeyOrValue || isMask)
    avoided.push_back("nan");
  bool isBesideVanishing = reaches(argument, multipliesWhatVanishes);
  if (isKeyOrValue || isMask || isQuery || isBesideVanishing)
    avoided.push_back("+inf");
  if (isKeyOrValue || isQuery || isBesideVanishing)
    avoided.push_back("-inf");
  if (mayFlushDenormals(fused, target, getElement(argument)) ||
      reaches(argument, isProduct))
    avoided.push_back("denormal");
  if (!holdsLargest)
    avoided.push_back("largest");
  if (equalRowsCancel)
    avoided.push_back("equal");
  return avoided;
}

/// Integers: indices are in bounds, others have both signs.
static void describeIntegers(const Uses &uses, Value argument,
                             tuning::Operand &operand) {
  operand.high = 16;
  for (auto [user, number] : uses.direct)
    if (auto size = getIndexedSize(user->getOpOperand(number))) {
      operand.high = *size;
      operand.outside = true;
    }
  // Delicate: computed indices, shift counts, divisors and exponents.
  // Converted: floats do not represent large integers exactly.
  bool isDelicate = reaches(argument, [](OpOperand &use) {
    return getIndexedSize(use) ||
           isa<ShiftLeftOp, ShiftRightOp, DivOp, FmodOp, PowOp>(use.getOwner());
  });
  bool isConverted = reaches(
      argument, [](OpOperand &use) { return isa<CastOp>(use.getOwner()); });
  operand.uniform = true;
  operand.low = isDelicate ? 0 : -16;
  operand.wide = !isDelicate && !isConverted;
}

namespace {
/// The largest operands that do not overflow the region's arithmetic.
struct LargeOperands {
  double factor = 0;
  /// Of each result.
  SmallVector<double> amplifications;
  /// Whether the largest values of the operands' types do not overflow either.
  bool holdsLargest = false;
};
} // namespace

/// The effect of operands that are `factor` times as large as usual.
static MagnitudeEffect getEffectOfFactor(FusedOp fused, double factor) {
  SmallVector<double> scales;
  for (BlockArgument argument : fused.getBody().getArguments()) {
    Uses uses;
    collectUses(argument, uses);
    bool isFloat = isa<FloatType>(getElement(argument));
    scales.push_back(isFloat ? getScale(uses) * factor : 1);
  }
  return getMagnitudeEffect(fused, scales);
}

static LargeOperands findLargeOperands(FusedOp fused) {
  SmallVector<double> largest;
  for (BlockArgument argument : fused.getBody().getArguments()) {
    auto type = dyn_cast<FloatType>(getElement(argument));
    double bound = type && type.isF64() ? 1e150 : 3e38;
    largest.push_back(
        type ? std::min(runtime::largestFinite(toElementType(type)), bound)
             : 1);
  }
  LargeOperands result;
  for (double factor : {1024., 256., 64., 32., 16., 8.}) {
    MagnitudeEffect effect = getEffectOfFactor(fused, factor);
    if (effect.holds) {
      result.factor = factor;
      result.amplifications = effect.amplifications;
      break;
    }
  }
  result.holdsLargest = getMagnitudeEffect(fused, largest).holds;
  return result;
}

static tuning::Part toPart(const Placement::Rows &rows) {
  return {uint64_t(rows.begin), uint64_t(rows.end), uint64_t(rows.pitch),
          uint64_t(rows.spare)};
}

/// Whether a kernel may leave out products with 0, of a float operand or of
/// what the kernel computes: 0 times infinity is 0 there.
static bool leavesOutZeros(FusedOp fused, ArrayRef<Band> bands) {
  for (auto [operand, band] : llvm::zip(fused.getInputs(), bands))
    if (band.isBounded() && isa<FloatType>(getElement(operand)))
      return true;
  BandAnalysis analysis;
  return llvm::any_of(fused.getBody().getOps<MatmulOp>(), [&](MatmulOp op) {
    ProductBands factors = ProductBands::get(op, /*foldsBatches=*/false);
    Value product = op.getResult();
    return factors.lhs.isBounded() || factors.rhs.isBounded() ||
           analysis.getUsed(product) !=
               analysis.getUsed(product, /*selects=*/true);
  });
}

static void describeBand(const Band &band, bool hasZeros,
                         tuning::Operand &operand) {
  if (band.isBounded())
    operand.band = {band.lower, band.upper};
  if (!runtime::isFloat(operand.type) || !hasZeros)
    return;
  for (const char *word : {"nan", "+inf", "-inf"})
    if (!llvm::is_contained(operand.avoid, word))
      operand.avoid.push_back(word);
}

std::vector<tuning::Operand> fact::describeOperands(FusedOp fused,
                                                    const Target &target) {
  LargeOperands large = findLargeOperands(fused);
  bool equalRowsCancel = subtractsMeans(fused);
  SmallVector<Band> bands = getOperandBands(fused);
  bool hasZeros = leavesOutZeros(fused, bands);
  std::vector<tuning::Operand> operands;
  for (BlockArgument argument : fused.getBody().getArguments()) {
    Uses uses;
    collectUses(argument, uses);
    tuning::Operand &operand = operands.emplace_back();
    setType(operand, argument.getType());
    if (std::optional<Placement::Rows> rows = Placement::getRead(argument))
      operand.part = toPart(*rows);
    if (runtime::isFloat(operand.type)) {
      operand.scale = getScale(uses);
      operand.factors = getFactors(uses, operand.type);
      operand.large = large.factor;
      describeSign(uses, operand);
      operand.avoid = getAvoided(fused, target, argument, large.holdsLargest,
                                 equalRowsCancel);
    } else if (runtime::isInteger(operand.type)) {
      describeIntegers(uses, argument, operand);
    }
    describeBand(bands.empty() ? Band() : bands[argument.getArgNumber()],
                 hasZeros, operand);
  }
  return operands;
}

std::vector<tuning::Result> fact::describeResults(FusedOp fused) {
  // Normal trials have operands of up to twice their scale.
  MagnitudeEffect normal = getEffectOfFactor(fused, 2);
  LargeOperands large = findLargeOperands(fused);
  std::vector<tuning::Result> results;
  for (auto [number, value, doubt] :
       llvm::enumerate(fused.getYield()->getOperands(), findDoubts(fused))) {
    Amplification amplification{normal.amplifications[number], 0};
    if (large.factor)
      amplification.large = large.amplifications[number];
    tuning::Result &result = results.emplace_back();
    setType(result, value.getType());
    setTolerance(fused, value, amplification, result);
    result.undecided = doubt != Doubt::None;
    if (std::optional<Placement> placement = Placement::get(value))
      result.part =
          toPart(placement->getRows(cast<RankedTensorType>(value.getType())));
  }
  return results;
}
