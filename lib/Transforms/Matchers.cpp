//===- Matchers.cpp - Small matchers that the raising passes share --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Analysis/WindowedView.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool fact::isWidening(CastOp cast) {
  auto from = dyn_cast<FloatType>(cast.getOperand().getType().getElementType());
  auto to = dyn_cast<FloatType>(cast.getType().getElementType());
  return from && to && from.getWidth() < to.getWidth();
}

Value fact::skipWidening(Value value) {
  for (auto cast = value.getDefiningOp<CastOp>(); cast && isWidening(cast);
       cast = value.getDefiningOp<CastOp>())
    value = cast.getOperand();
  return value;
}

Value fact::widen(OpBuilder &builder, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  Type wide = type.getElementType().isF64() ? type.getElementType()
                                            : Type(builder.getF32Type());
  return builder.createOrFold<CastOp>(loc, type.clone(wide), value);
}

bool fact::isFunctionOfWeights(Value value) {
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !isa<FactDialect>(op->getDialect()) || isa<FusedOp>(op))
      return false;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

bool fact::feedsWindows(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto windows = dyn_cast<WindowsOp>(user);
    return (windows && windows.getDim() == 1) ||
           (ZeroPadding::get(user) && feedsWindows(user));
  });
}

Value fact::reshapeTo(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<int64_t> shape) {
  return builder.createOrFold<ReshapeOp>(loc, typeOf(value).clone(shape),
                                         value);
}

Value fact::expandTo(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> shape) {
  return builder.createOrFold<ExpandOp>(loc, typeOf(value).clone(shape), value);
}

Value fact::permuteTo(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<int64_t> dims) {
  return builder.createOrFold<PermuteOp>(loc, value, dims);
}

Value fact::sliceOf(OpBuilder &builder, Location loc, Value value, int64_t dim,
                    int64_t start, int64_t size) {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[dim] = size;
  return builder.createOrFold<SliceOp>(
      loc, typeOf(value).clone(ArrayRef<int64_t>(shape)), value, dim, start,
      /*step=*/1);
}

Value fact::transposed(OpBuilder &builder, Location loc, Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  return permuteTo(builder, loc, value, dims);
}

Value fact::makeScalar(OpBuilder &builder, Location loc, double value,
                       Type element) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      builder, loc, type,
      DenseElementsAttr::get(type,
                             Attribute(builder.getFloatAttr(element, value))));
}

Location fact::getFusedLocation(Operation *root, ValueRange leaves) {
  llvm::SmallSetVector<Operation *, 16> replaced;
  llvm::SmallPtrSet<Operation *, 8> kept;
  for (Value leaf : leaves)
    if (leaf && leaf.getDefiningOp())
      kept.insert(leaf.getDefiningOp());
  replaced.insert(root);
  for (unsigned i = 0; i < replaced.size(); ++i)
    for (Value operand : replaced[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (op && !kept.contains(op) && !isa<ConstantOp, GetWeightOp>(op) &&
          llvm::all_of(op->getUsers(), [&](Operation *user) {
            return replaced.contains(user);
          }))
        replaced.insert(op);
    }
  // In program order.
  SmallVector<Location> locations;
  for (Operation *op : llvm::reverse(replaced))
    locations.push_back(op->getLoc());
  return FusedLoc::get(root->getContext(), locations);
}

//===----------------------------------------------------------------------===//
// Means of rows
//===----------------------------------------------------------------------===//

/// Whether `op` reduces exactly its last dimensions.
static bool reducesTrailing(ReduceOp op) {
  int64_t rank = typeOf(op.getOperand()).getRank();
  int64_t count = op.getDims().size();
  return count &&
         llvm::equal(op.getDims(), llvm::seq<int64_t>(rank - count, rank));
}

std::optional<RowMean> RowMean::get(Value value) {
  auto kept = typeOf(value);
  // A sum multiplied by the reciprocal of the count, or divided by the count.
  double factor = 1;
  ReduceOp reduce;
  auto skipReshape = [](Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    return reshape ? Value(reshape.getOperand()) : value;
  };
  Value inner = skipReshape(value), sum = inner;
  if (matchPattern(inner, m_Op<DivOp>(matchers::m_Any(&sum), m_Number(factor))))
    factor = 1 / factor;
  else if (!matchPattern(
               inner, m_Either<MulOp>(matchers::m_Any(&sum), m_Number(factor))))
    sum = inner;
  if (!matchPattern(skipReshape(sum), m_Bind(reduce)) ||
      !reducesTrailing(reduce))
    return std::nullopt;

  int64_t dims = reduce.getDims().size(), count = 1;
  SmallVector<int64_t> shape(shapeOf(reduce.getOperand()));
  for (int64_t &size : MutableArrayRef(shape).take_back(dims)) {
    count *= size;
    size = 1;
  }
  // Reshapes keep the order of elements, so only the last shape matters.
  if (kept.getShape() != ArrayRef<int64_t>(shape))
    return std::nullopt;
  bool isMean = reduce.getKind() == ReduceKind::mean && sum == inner;
  // The reciprocal of the count may be rounded to f32.
  bool isSum = reduce.getKind() == ReduceKind::sum &&
               std::abs(factor * count - 1) < 0x1p-23;
  if (!isMean && !isSum)
    return std::nullopt;
  return RowMean{reduce.getOperand(), dims};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void collect(Value value, bool inverted, Factors &factors,
                    unsigned depth) {
  if (depth) {
    if (auto mul = value.getDefiningOp<MulOp>()) {
      collect(mul.getLhs(), inverted, factors, depth - 1);
      return collect(mul.getRhs(), inverted, factors, depth - 1);
    }
    if (auto div = value.getDefiningOp<DivOp>()) {
      collect(div.getLhs(), inverted, factors, depth - 1);
      return collect(div.getRhs(), !inverted, factors, depth - 1);
    }
    if (auto reciprocal = value.getDefiningOp<ReciprocalOp>())
      return collect(reciprocal.getOperand(), !inverted, factors, depth - 1);
  }
  if (auto rsqrt = value.getDefiningOp<RsqrtOp>(); rsqrt && !inverted)
    factors.inverseRoots.push_back(rsqrt.getOperand());
  else if (auto sqrt = value.getDefiningOp<SqrtOp>(); sqrt && inverted)
    factors.inverseRoots.push_back(sqrt.getOperand());
  else if (!m_Equals(1).match(value))
    (inverted ? factors.denominators : factors.numerators).push_back(value);
}

Factors Factors::get(Value product) {
  Factors factors;
  collect(product, /*inverted=*/false, factors, /*depth=*/4);
  return factors;
}

Value fact::permuteBack(OpBuilder &builder, Value value,
                        ArrayRef<int64_t> dims) {
  auto permute = value.getDefiningOp<PermuteOp>();
  if (permute && permute.getDims() == dims)
    return permute.getOperand();
  if (typeOf(value).getRank() == 0)
    return value;
  SmallVector<int64_t> shape(dims.size() - shapeOf(value).size(), 1);
  llvm::append_range(shape, shapeOf(value));
  Value whole = builder.createOrFold<ReshapeOp>(
      value.getLoc(), typeOf(value).clone(shape), value);
  return permuteTo(builder, value.getLoc(), whole,
                   invertPermutationVector(dims));
}

void fact::movePermute(PatternRewriter &rewriter, Operation *op,
                       ArrayRef<int64_t> dims) {
  auto type = typeOf(op->getResult(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(permuteBack(rewriter, operand, dims));
  SmallVector<int64_t> shape =
      applyPermutation(type.getShape(), invertPermutationVector(dims));
  Operation *moved =
      rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                      TypeRange(Type(type.clone(shape))), op->getAttrs());
  rewriter.replaceOpWithNewOp<PermuteOp>(op, moved->getResult(0), dims);
}
