//===- PickElements.cpp - One element of each row of a product ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PickElements.h"
#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Analysis/RowExponentials.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <numeric>

using namespace mlir;
using namespace fact;

namespace {
/// gather(reshape(x), t + [0, n, 2 n, ...]): element t of each row of x. The op
/// says that t is in [0, n); else it may be an element of another row.
struct Pick {
  GatherOp gather;
  ReshapeOp flat;
  Value matrix, places;

  static std::optional<Pick> get(GatherOp gather);
};
} // namespace

/// Whether a value is 0, n, 2 n, ... for each of `count` rows.
static bool countsRows(Value value, int64_t count, int64_t n) {
  if (typeOf(value).getNumElements() != count)
    return false;
  FailureOr<KnownTensor> known = evaluateConstant(value);
  if (failed(known) || !known->weights.empty())
    return false;
  for (auto [i, number] : llvm::enumerate(known->elements))
    if (number != double(i) * n)
      return false;
  return true;
}

std::optional<Pick> Pick::get(GatherOp gather) {
  auto flat = gather.getSource().getDefiningOp<ReshapeOp>();
  auto add = gather.getIndices().getDefiningOp<AddOp>();
  if (!flat || !add || flat.getType().getRank() != 1 || !flat->hasOneUse())
    return std::nullopt;
  Value matrix = flat.getOperand();
  ArrayRef<int64_t> shape = typeOf(matrix).getShape();
  int64_t rows = llvm::product_of(shape.drop_back());
  if (shape.size() < 2 || !isa<FloatType>(typeOf(matrix).getElementType()) ||
      gather.getType().getNumElements() != rows ||
      getRowSize(gather) != shape.back())
    return std::nullopt;
  for (bool isSecond : {false, true}) {
    Value places = add->getOperand(!isSecond);
    if (typeOf(places).getNumElements() == rows &&
        countsRows(add->getOperand(isSecond), rows, shape.back()))
      return Pick{gather, flat, matrix, places};
  }
  return std::nullopt;
}

/// The ops that a product's kernel has if it stores no product: pointwise ops
/// and reductions of rows. Empty if something else reads a value of the
/// product's size, other than `picked`.
static OpGroup getReducedProduct(MatmulOp product, Operation *picked) {
  OpGroup ops;
  ops.insert(product);
  int64_t count = product.getType().getNumElements();
  for (size_t i = 0; i < ops.size(); ++i)
    for (Operation *user : ops[i]->getUsers()) {
      // What follows a reduction may be another kernel's.
      if (user == picked || ops.contains(user) ||
          typeOf(ops[i]->getResult(0)).getNumElements() != count)
        continue;
      auto reduce = dyn_cast<ReduceOp>(user);
      if (reduce && reduce.getDims().size() == 1 &&
          reduce.getDims().front() ==
              typeOf(reduce.getOperand()).getRank() - 1) {
        ops.insert(reduce);
        if (auto exponentials = RowExponentials::get(reduce))
          ops.insert(exponentials->ops.begin(), exponentials->ops.end());
        continue;
      }
      if (!isa<PointwiseOpInterface>(user) ||
          typeOf(user->getResult(0)).getNumElements() != count)
        return {};
      ops.insert(user);
    }
  return ops;
}

/// The product that a value is, or is computed from with vectors alone.
static MatmulOp getProduct(Value value) {
  int64_t count = typeOf(value).getNumElements();
  while (Operation *op = value.getDefiningOp()) {
    if (auto matmul = dyn_cast<MatmulOp>(op))
      return matmul;
    if (!isa<PointwiseOpInterface>(op))
      return {};
    Value next;
    for (Value operand : op->getOperands())
      if (typeOf(operand).getNumElements() == count)
        next = operand;
    if (!next)
      return {};
    value = next;
  }
  return {};
}

/// The elements as sums of rows.
static Value buildSum(ImplicitLocOpBuilder &builder, const Pick &pick,
                      OpGroup &ops) {
  auto add = [&](Value value) {
    ops.insert(value.getDefiningOp());
    return value;
  };
  RankedTensorType type = typeOf(pick.matrix);
  SmallVector<int64_t> perRow(type.getShape());
  perRow.back() = 1;
  SmallVector<int32_t> numbers(type.getShape().back());
  std::iota(numbers.begin(), numbers.end(), 0);
  auto columns = ConstantOp::create(
      builder,
      DenseElementsAttr::get(RankedTensorType::get(type.getShape().take_back(),
                                                   builder.getI32Type()),
                             ArrayRef(numbers)));
  auto zero = ConstantOp::create(
      builder,
      DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()),
                             builder.getZeroAttr(type.getElementType())));
  Value places = CastOp::create(
      builder, typeOf(pick.places).clone(builder.getI32Type()), pick.places);
  if (typeOf(places).getShape() != ArrayRef(perRow))
    places = ReshapeOp::create(builder, typeOf(places).clone(perRow), places);
  Value isPicked =
      add(CompareOp::create(builder, Predicate::eq, places, columns));
  Value row = add(SelectOp::create(builder, isPicked, pick.matrix, zero));
  return add(ReduceOp::create(builder, ReduceKind::sum, row, type.getRank() - 1,
                              /*keep=*/true));
}

/// Whether one kernel without a product beats one that stores it and one for
/// what is made of it. The elements that are picked are few.
static bool isFaster(const OpGroup &group, const OpGroup &picking,
                     const Fusibility &fusibility) {
  OpGroup product, rest = group, all = group;
  product.insert(group.front());
  rest.remove(group.front());
  all.insert(picking.begin(), picking.end());
  StringRef rule = gemmEpilogueRule.name;
  std::optional<double> one = fusibility.predict(rule, all);
  std::optional<double> stored = fusibility.predict(rule, product);
  std::optional<double> read = fusibility.predictBest(rest);
  return one && stored && read && *one < *stored + *read;
}

void fact::pickElements(Block &block, const Fusibility &fusibility) {
  for (GatherOp gather : llvm::to_vector(block.getOps<GatherOp>())) {
    std::optional<Pick> pick = Pick::get(gather);
    MatmulOp product = pick ? getProduct(pick->matrix) : MatmulOp();
    OpGroup group =
        product ? getReducedProduct(product, pick->flat) : OpGroup();
    // Without a reduction, the product's kernel has to store something.
    if (llvm::none_of(group, llvm::IsaPred<ReduceOp>))
      continue;
    // The gather would read the product that the kernel is not to store.
    ImplicitLocOpBuilder builder(gather.getLoc(), gather);
    RankedTensorType type = gather.getType(), flat = pick->flat.getType();
    Value indices = gather.getIndices();
    std::optional<int64_t> rowSize = getRowSize(gather);
    OpGroup added;
    Value result = buildSum(builder, *pick, added);
    if (result.getType() != type)
      result = ReshapeOp::create(builder, type, result);
    builder.setInsertionPoint(result.getDefiningOp());
    gather->replaceAllUsesWith(ValueRange(result));
    gather->erase();
    pick->flat->erase();
    if (isFaster(group, added, fusibility))
      continue;
    Value source = ReshapeOp::create(builder, flat, pick->matrix);
    auto again = GatherOp::create(builder, type, source, indices, /*dim=*/0);
    setRowSize(again, rowSize);
    result.replaceAllUsesWith(again);
  }
  // What was built, or read before, for nothing.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
