//===- Decisions.cpp - Results that rounding can decide -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the values of a region that a candidate rounds, and those that may
// differ because a rounded one was compared, truncated or is near a pole. For
// these, the reference tracks errors, and reports for each element how far they
// may move it.
//
//===----------------------------------------------------------------------===//

#include "ElementText.h"
#include "fact/Analysis/Rounding.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Target/Reference.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fact;

namespace {
struct Knowledge {
  /// A candidate's value may differ by rounding.
  bool isRounded = false;
  /// It may differ by more.
  Doubt doubt = Doubt::None;
  /// It was rounded to 16 bits inside of the region: two candidates may have
  /// neighbors of each other.
  bool isNarrowed = false;
  /// A sum of products of 16-bit floats. Where large terms cancel, its error
  /// exceeds the tolerance of a wider result: tensor cores align terms to the
  /// largest and truncate them.
  bool isNarrowSum = false;
  /// A sum with a rounded term that is not strict. Where it cancels, its error
  /// is as large as that of the term.
  bool mayCancel = false;
  /// Such a sum was multiplied by what is no constant, so that its error may be
  /// large beside all elements of a row: lines between lines.
  bool scalesCancelled = false;
  /// It is computed of a strict product, with whose length the tolerance grows.
  bool isStrict = false;
};
} // namespace

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

bool fact::isStrictContraction(Operation *op) {
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  return contraction && !contraction.allowsTf32() &&
         getElementTypeOrSelf(op->getOperand(0).getType()).isF32();
}

/// What a value is a view or a cast of.
static Value getOrigin(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CastOp, ViewOpInterface>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether an op subtracts from a value the same one, rounded.
static bool isRemainderOfRounding(Operation *op) {
  return isa<SubOp>(op) &&
         !isNarrowFloat(getElementTypeOrSelf(op->getResult(0))) &&
         getOrigin(op->getOperand(0)) == getOrigin(op->getOperand(1));
}

static bool hasConstant(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp<ConstantOp>();
  });
}

/// The effect of an op on a rounded operand.
static Doubt getDoubt(Operation *op) {
  if (auto row = dyn_cast<RowOpInterface>(op))
    return row.getArithmetic().locates ? Doubt::Decides : Doubt::None;
  if (asksForNan(op))
    return Doubt::None;
  if (isa<CompareOp, FmodOp>(op))
    return Doubt::Decides;
  // These jump, and may be off by that.
  if (isa<SignOp, FloorOp, CeilOp, RoundOp>(op))
    return Doubt::Grows;
  // These have poles or a bounded domain.
  if (isa<DivOp, ReciprocalOp, SqrtOp, RsqrtOp, LogOp, Log1pOp, PowOp>(op))
    return Doubt::Grows;
  auto cast = dyn_cast<CastOp>(op);
  return cast && isFloat(cast.getOperand()) && !isFloat(cast) ? Doubt::Decides
                                                              : Doubt::None;
}

static Knowledge getKnowledge(Operation *op, ArrayRef<Knowledge> operands) {
  Knowledge knowledge;
  bool anyRounded = false, anyRoundedTerm = false, anyCancels = false;
  for (const Knowledge &operand : operands) {
    anyRounded |= operand.isRounded;
    anyRoundedTerm |= operand.isRounded && !operand.isStrict;
    anyCancels |= operand.mayCancel;
    knowledge.isNarrowSum |= operand.isNarrowSum;
    knowledge.scalesCancelled |= operand.scalesCancelled;
    knowledge.isStrict |= operand.isStrict;
    knowledge.isNarrowed |= operand.isNarrowed;
    knowledge.doubt = std::max(knowledge.doubt, operand.doubt);
  }
  knowledge.isRounded =
      isFloat(op->getResult(0)) && (anyRounded || !isExact(op));
  // Only a quotient's divisor causes a pole.
  if (isa<DivOp>(op) ? operands[1].isRounded : anyRounded)
    knowledge.doubt = std::max(knowledge.doubt, getDoubt(op));
  // The neighbors of a large angle are far apart.
  if (knowledge.isNarrowed && isa<SinOp, CosOp, ExpOp, Expm1Op>(op))
    knowledge.doubt = std::max(knowledge.doubt, Doubt::Grows);
  // In the middle between two 16-bit numbers, it has either sign.
  if (knowledge.isNarrowed && isRemainderOfRounding(op))
    knowledge.doubt = std::max(knowledge.doubt, Doubt::Grows);
  if (auto cast = dyn_cast<CastOp>(op))
    knowledge.isNarrowed |= anyRounded && isNarrowing(cast);
  bool isProduct = isa<MulOp, DivOp>(op);
  if (isa<AddOp, SubOp>(op))
    knowledge.mayCancel = anyCancels || (anyRoundedTerm && !hasConstant(op));
  else if (isExact(op) || (isProduct && hasConstant(op)))
    knowledge.mayCancel = anyCancels;
  else if (isa<MulOp>(op))
    knowledge.scalesCancelled |= anyCancels;
  if (isa<MatmulOp>(op))
    knowledge.isNarrowSum |=
        isNarrowFloat(getElementTypeOrSelf(op->getOperand(0).getType()));
  // NaN in a hidden key reaches the result of some candidates.
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  knowledge.isStrict |= isStrictContraction(op);
  if (contraction && contraction.averages())
    knowledge.doubt = std::max(knowledge.doubt, Doubt::Decides);
  return knowledge;
}

SmallVector<Doubt> fact::findDoubts(FusedOp fused) {
  llvm::DenseMap<Value, Knowledge> known;
  for (Operation &op : fused.getBodyOps()) {
    SmallVector<Knowledge> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    known[op.getResult(0)] = getKnowledge(&op, operands);
  }
  SmallVector<Doubt> doubts;
  for (Value yielded : fused.getYield()->getOperands()) {
    Knowledge knowledge = known.lookup(yielded);
    if ((knowledge.isNarrowSum || knowledge.scalesCancelled) &&
        isFloat(yielded) &&
        !isNarrowFloat(getElementTypeOrSelf(yielded.getType())))
      knowledge.doubt = std::max(knowledge.doubt, Doubt::Grows);
    doubts.push_back(knowledge.doubt);
  }
  return doubts;
}
