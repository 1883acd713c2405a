//===- Masks.cpp - What is done to scores before a softmax ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Masks.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace fact;

/// The lowest finite value of a type.
static double lowestOf(FloatType type) {
  llvm::APFloat lowest =
      llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
  bool inexact;
  lowest.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return lowest.convertToDouble();
}

std::optional<Mask::Choice> Mask::Choice::get(SelectOp select) {
  auto element = dyn_cast<FloatType>(select.getType().getElementType());
  if (!element)
    return std::nullopt;
  // No score is below the lowest finite value of its type.
  auto hides = [&](Value value, double &fill) {
    return m_Number(fill).match(value) &&
           (isHidden(fill) || fill <= lowestOf(element));
  };
  Choice choice;
  choice.condition = select.getCondition();
  double other;
  bool left = hides(select.getLhs(), choice.fill);
  if (left == hides(select.getRhs(), left ? other : choice.fill))
    return std::nullopt;
  choice.hidesWhenTrue = left;
  choice.rest = left ? select.getRhs() : select.getLhs();
  return choice;
}

static void decomposeInto(Value value, Mask &mask) {
  if (auto add = value.getDefiningOp<AddOp>()) {
    decomposeInto(add.getLhs(), mask);
    return decomposeInto(add.getRhs(), mask);
  }
  if (auto select = value.getDefiningOp<SelectOp>())
    if (auto choice = Mask::Choice::get(select);
        choice && isHidden(choice->fill)) {
      mask.choices.push_back(*choice);
      return decomposeInto(choice->rest, mask);
    }
  if (getSplatConstant(value) != 0.0)
    mask.terms.push_back({value});
}

Mask Mask::decompose(Value value) {
  Mask mask;
  decomposeInto(value, mask);
  return mask;
}

void Mask::appendLeaves(SmallVectorImpl<Value> &leaves) const {
  for (const Term &term : terms)
    leaves.push_back(term.value);
  for (const Choice &choice : choices)
    leaves.push_back(choice.condition);
}

namespace {
/// Builds masks in a type that can represent all parts.
class MaskBuilder {
public:
  MaskBuilder(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc),
        wide(element.isF64() ? element : Type(builder.getF32Type())) {}

  Value widen(Value value) {
    return builder.createOrFold<CastOp>(loc, typeOf(value).clone(wide), value);
  }

  Value add(const Mask::Term &term, Value mask) {
    Value value = term.value;
    if (term.factor != 1) {
      value = widen(value);
      value = MulOp::create(builder, loc, value,
                            makeScalar(builder, loc, term.factor, wide));
    }
    if (!mask)
      return value;
    mask = widen(mask);
    value = widen(value);
    return AddOp::create(builder, loc, mask, value);
  }

  /// Infinity is the same in every type. With a finite fill, a row in which
  /// every key is hidden is uniform, so the fill must absorb any score.
  Value choose(const Mask::Choice &choice, Value mask, Type element) {
    bool finite = !std::isinf(choice.fill);
    double fill = choice.fill;
    if (finite && !isHidden(fill))
      fill = lowestOf(cast<FloatType>(wide));
    Type type = finite ? wide : mask ? typeOf(mask).getElementType() : element;
    if (mask && finite)
      mask = widen(mask);
    Value rest = mask ? mask : makeScalar(builder, loc, 0, type);
    Value hidden = makeScalar(builder, loc, fill, type);
    return SelectOp::create(builder, loc, choice.condition,
                            choice.hidesWhenTrue ? hidden : rest,
                            choice.hidesWhenTrue ? rest : hidden);
  }

private:
  OpBuilder &builder;
  Location loc;
  Type wide;
};
} // namespace

Value Mask::build(OpBuilder &builder, Location loc, Type element) const {
  MaskBuilder masks(builder, loc, element);
  Value mask;
  for (const Term &term : terms)
    mask = masks.add(term, mask);
  for (const Choice &choice : choices)
    mask = masks.choose(choice, mask, element);
  return mask;
}
