//===- Diagonals.cpp - Matrices that are zero off the diagonal ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagonals.h"
#include "Matchers.h"

using namespace mlir;
using namespace fact;

/// The last two sizes, if they are those of a square matrix.
static int64_t getOrder(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.size() >= 2 && shape.back() == shape[shape.size() - 2]
             ? shape.back()
             : 0;
}

/// Whether a constant is zero off the diagonal.
static bool isDiagonalConstant(ConstantOp op) {
  FailureOr<KnownTensor> known = evaluateConstant(op);
  if (failed(known))
    return false;
  int64_t order = known->shape.back(), row = 0, column = 0;
  for (double value : known->elements) {
    if (row != column && value != 0)
      return false;
    if (++column == order) {
      column = 0;
      row = row + 1 == order ? 0 : row + 1;
    }
  }
  return true;
}

/// Whether a mask compares the numbers of rows with those of columns. Large
/// masks are not folded to constants.
static bool isDiagonalMask(CompareOp op) {
  if (op.getPredicate() != Predicate::eq ||
      !isa<IntegerType>(typeOf(op.getLhs()).getElementType()) ||
      shapeOf(op.getLhs()).size() > 2 || shapeOf(op.getRhs()).size() > 2)
    return false;
  auto isColumn = [&](Value value) {
    return shapeOf(value).size() == 2 && shapeOf(value).back() == 1;
  };
  int64_t order = getOrder(op);
  if (isColumn(op.getLhs()) == isColumn(op.getRhs()) ||
      typeOf(op.getLhs()).getNumElements() != order ||
      typeOf(op.getRhs()).getNumElements() != order)
    return false;
  FailureOr<KnownTensor> lhs = evaluateConstant(op.getLhs());
  FailureOr<KnownTensor> rhs = evaluateConstant(op.getRhs());
  if (failed(lhs) || failed(rhs) || !lhs->weights.empty() ||
      !rhs->weights.empty() || lhs->elements != rhs->elements)
    return false;
  // The numbers are distinct if they ascend.
  return std::is_sorted(lhs->elements.begin(), lhs->elements.end(),
                        std::less_equal<double>());
}

/// The operand of a view that leaves each matrix as it is, or transposes it.
static Value skipView(Value value) {
  int64_t order = getOrder(value);
  if (auto expand = value.getDefiningOp<ExpandOp>())
    return getOrder(expand.getOperand()) == order ? expand.getOperand()
                                                  : Value();
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    // Adds leading dimensions of size 1.
    Value operand = reshape.getOperand();
    return getOrder(operand) == order &&
                   shapeOf(operand).size() < shapeOf(value).size() &&
                   shapeOf(value).take_back(shapeOf(operand).size()) ==
                       shapeOf(operand)
               ? operand
               : Value();
  }
  if (auto permute = value.getDefiningOp<PermuteOp>()) {
    int64_t batch = permute.getDims().size() - 2;
    return llvm::equal(permute.getDims().drop_back(2),
                       llvm::seq<int64_t>(0, batch))
               ? Value(permute.getOperand())
               : Value();
  }
  return {};
}

static bool isDiagonal(Value value, unsigned depth) {
  if (depth == 0 || getOrder(value) < 2)
    return false;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return isDiagonalConstant(constant);
  if (auto compare = value.getDefiningOp<CompareOp>())
    return isDiagonalMask(compare);
  if (auto cast = value.getDefiningOp<CastOp>())
    return isDiagonal(cast.getOperand(), depth - 1);
  if (auto select = value.getDefiningOp<SelectOp>())
    return isa<FloatType>(typeOf(value).getElementType()) &&
           getSplatConstant(select.getRhs()) == 0.0 &&
           isDiagonal(select.getCondition(), depth - 1);
  if (auto mul = value.getDefiningOp<MulOp>())
    return isDiagonal(mul.getLhs(), depth - 1) ||
           isDiagonal(mul.getRhs(), depth - 1);
  Value viewed = skipView(value);
  return viewed && isDiagonal(viewed, depth - 1);
}

bool fact::isDiagonal(Value value) { return ::isDiagonal(value, /*depth=*/6); }

/// The diagonals of known matrices as a constant.
static Value buildConstant(OpBuilder &builder, Location loc, ConstantOp op) {
  FailureOr<KnownTensor> known = evaluateConstant(op);
  Type element = op.getType().getElementType();
  int64_t order = known->shape.back();
  SmallVector<Attribute> diagonal;
  for (size_t i = 0; i < known->elements.size(); i += order * order)
    for (int64_t k = 0; k < order; ++k) {
      double number = known->elements[i + k * (order + 1)];
      diagonal.push_back(
          isa<FloatType>(element)
              ? Attribute(builder.getFloatAttr(element, number))
              : Attribute(builder.getIntegerAttr(element, int64_t(number))));
    }
  auto type = RankedTensorType::get(ArrayRef<int64_t>(known->shape).drop_back(),
                                    element);
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(type, diagonal));
}

/// The diagonal of any tensor that broadcasts to the matrices, as a view.
static Value viewDiagonal(OpBuilder &builder, Location loc, Value value) {
  SmallVector<int64_t> shape(shapeOf(value));
  if (shape.size() < 2)
    return value;
  int64_t columns = shape.pop_back_val(), rows = shape.pop_back_val();
  if (rows == 1 || columns == 1) {
    shape.push_back(rows * columns);
    return reshapeTo(builder, loc, value, shape);
  }
  shape.push_back(rows * columns);
  Value flat = reshapeTo(builder, loc, value, shape);
  shape.back() = rows;
  return builder.createOrFold<SliceOp>(
      loc, typeOf(value).clone(ArrayRef<int64_t>(shape)), flat,
      /*dim=*/int64_t(shape.size()) - 1, /*start=*/0, /*step=*/columns + 1);
}

Value fact::buildDiagonal(OpBuilder &builder, Location loc, Value value) {
  if (!isDiagonal(value))
    return viewDiagonal(builder, loc, value);
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return buildConstant(builder, loc, constant);
  if (value.getDefiningOp<CompareOp>()) {
    auto type = RankedTensorType::get(getOrder(value), builder.getI1Type());
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
  }
  if (auto cast = value.getDefiningOp<CastOp>()) {
    Value diagonal = buildDiagonal(builder, loc, cast.getOperand());
    return builder.createOrFold<CastOp>(
        loc, typeOf(diagonal).clone(typeOf(value).getElementType()), diagonal);
  }
  if (auto select = value.getDefiningOp<SelectOp>()) {
    Value condition = buildDiagonal(builder, loc, select.getCondition());
    Value diagonal = buildDiagonal(builder, loc, select.getLhs());
    Value zero = makeScalar(builder, loc, 0, typeOf(value).getElementType());
    return builder.createOrFold<SelectOp>(loc, condition, diagonal, zero);
  }
  if (auto mul = value.getDefiningOp<MulOp>())
    return MulOp::create(builder, loc,
                         buildDiagonal(builder, loc, mul.getLhs()),
                         buildDiagonal(builder, loc, mul.getRhs()));
  return buildDiagonal(builder, loc, skipView(value));
}
