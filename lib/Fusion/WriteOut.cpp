//===- WriteOut.cpp - Raised ops in simpler ones --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WriteOut.h"
#include "Prepared.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace fact;

namespace {
class Writer : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value write(SoftmaxOp op);
  Value write(NormOp op);
  Value write(AttentionOp op);
  Value write(MatmulOp op);
  Value write(ReduceOp op);
  Value sumScaledRows(MatmulOp op);
  Value combineFew(ReduceOp op);
  Value transposeLast(Value value);

private:
  /// `value` with another element type.
  Value convert(Value value, Type element) {
    if (typeOf(value).getElementType() == element)
      return value;
    return CastOp::create(*this, typeOf(value).clone(element), value);
  }
  /// The value as kernels compute with it: 16-bit floats as f32.
  Value widen(Value value) {
    return convert(value, getComputeType(typeOf(value).getElementType()));
  }
  /// One number, of the element type of `like`.
  Value number(double number, Value like) {
    Type element = typeOf(like).getElementType();
    return ConstantOp::create(
        *this, DenseElementsAttr::get(RankedTensorType::get({}, element),
                                      getFloatAttr(element, number)));
  }
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims) {
    return ReduceOp::create(*this, kind, value, dims, /*keep=*/true);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    if (typeOf(value).getShape() == shape)
      return value;
    return ReshapeOp::create(*this, typeOf(value).clone(shape), value);
  }
  /// 0, 1, ... as a tensor of `shape`, which has one size above 1. In f32,
  /// which kernels of rows read; positions of queries and keys are exact in it.
  Value count(ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getF32Type());
    SmallVector<float> numbers(type.getNumElements());
    std::iota(numbers.begin(), numbers.end(), 0);
    return ConstantOp::create(*this,
                              DenseElementsAttr::get(type, ArrayRef(numbers)));
  }
  Value maskLater(Value scores);
  Value takePlace(Value value, ReduceOp reduce, WindowsOp windows,
                  ArrayRef<int64_t> place);
  Value combine(ReduceKind kind, Value a, Value b);
  Value outerProduct(MatmulOp op);
  Value sumOfRows(MatmulOp op);
  Value softmax(Value x, int64_t dim, Value largest);
};
} // namespace

/// exp(x - largest) over its sum.
Value Writer::softmax(Value x, int64_t dim, Value largest) {
  Value weights = ExpOp::create(*this, SubOp::create(*this, x, largest));
  return DivOp::create(*this, weights, reduce(ReduceKind::sum, weights, dim));
}

Value Writer::write(SoftmaxOp op) {
  Value x = widen(op.getOperand());
  int64_t dim = op.getDim();
  Value result = softmax(x, dim, reduce(ReduceKind::max, x, dim));
  return convert(result, op.getType().getElementType());
}

Value Writer::write(NormOp op) {
  SmallVector<int64_t> dims = op.getRowDims();
  Value x = widen(op.getOperand());
  if (op.getKind() == NormKind::layer)
    x = SubOp::create(*this, x, reduce(ReduceKind::mean, x, dims));
  Value variance = reduce(ReduceKind::mean, MulOp::create(*this, x, x), dims);
  Value shifted =
      AddOp::create(*this, variance, number(op.getEps().convertToDouble(), x));
  Value result = DivOp::create(*this, x, SqrtOp::create(*this, shifted));
  if (op.getWeight())
    result = MulOp::create(*this, result, widen(op.getWeight()));
  if (op.getBias())
    result = AddOp::create(*this, result, widen(op.getBias()));
  return convert(result, op.getType().getElementType());
}

/// -inf where a key comes after its query.
Value Writer::maskLater(Value scores) {
  ArrayRef<int64_t> shape = typeOf(scores).getShape();
  Value seen = CompareOp::create(*this, Predicate::le, count({1, shape[3]}),
                                 count({shape[2], 1}));
  return SelectOp::create(
      *this, seen, scores,
      number(-std::numeric_limits<double>::infinity(), scores));
}

/// Scores of 16-bit operands are f32: such operands are exact in TF32.
/// Probabilities are rounded to the operands' type, as attention rounds them.
Value Writer::write(AttentionOp op) {
  RankedTensorType type = op.getType();
  Type element = type.getElementType();
  ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  ArrayRef<int64_t> key = op.getKey().getType().getShape();
  // Query heads that share a key head are rows of one product.
  int64_t rows = query[1] / key[1] * query[2];
  Value q = reshape(op.getQuery(), {query[0], key[1], rows, query[3]});
  bool isTf32 = op.getTf32() || isNarrowFloat(element);
  Value scores =
      MatmulOp::create(*this, widen(q), widen(op.getKey()),
                       /*transpose_a=*/false, /*transpose_b=*/true, isTf32);
  scores = reshape(scores, {query[0], query[1], query[2], key[2]});
  scores = MulOp::create(*this, scores,
                         number(op.getScale().convertToDouble(), scores));
  if (op.getMask())
    scores = AddOp::create(*this, scores, widen(op.getMask()));
  if (op.getCausal())
    scores = maskLater(scores);

  Value weights;
  if (op.getMask()) {
    // A query whose scores are all -inf has a result of 0.
    Value largest = reduce(ReduceKind::max, scores, 3);
    Value none = CompareOp::create(
        *this, Predicate::eq, largest,
        number(-std::numeric_limits<double>::infinity(), scores));
    Value zero = number(0, scores);
    Value safe = SelectOp::create(*this, none, zero, largest);
    weights = SelectOp::create(*this, none, zero, softmax(scores, 3, safe));
  } else {
    weights = SoftmaxOp::create(*this, scores, 3);
  }
  weights =
      reshape(convert(weights, element), {query[0], key[1], rows, key[2]});
  Value result = MatmulOp::create(*this, weights, op.getValue(),
                                  /*transpose_a=*/false, /*transpose_b=*/false,
                                  op.getTf32());
  return reshape(result, type.getShape());
}

/// Whether a factor has some of a product's batches and broadcasts over others:
/// one stride does not describe that.
static bool broadcastsInPart(Value factor, MatmulOp op) {
  auto count = [](RankedTensorType type) {
    return llvm::product_of(type.getShape().drop_back(2));
  };
  int64_t own = count(cast<RankedTensorType>(factor.getType()));
  return own != 1 && own != count(op.getType());
}

/// Whether windows are among the views that a factor is made of: they are
/// elements many times over, which only kernels of windows do not copy.
static bool readsWindows(MatmulOp op) {
  return llvm::any_of(op->getOperands(), [](Value factor) {
    while (auto view = factor.getDefiningOp<ViewOpInterface>()) {
      if (isa<WindowsOp>(view))
        return true;
      factor = view->getOperand(0);
    }
    return false;
  });
}

/// Whether each product has one row, one column or one term per sum, of factors
/// in memory.
static bool isVectorProduct(MatmulOp op) {
  return (op.getM() == 1 || op.getN() == 1 || op.getK() == 1) &&
         !readsWindows(op);
}

/// The last two dimensions exchanged.
Value Writer::transposeLast(Value value) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  size_t rank = shape.size();
  std::swap(shape[rank - 1], shape[rank - 2]);
  // Dimensions of one element have no order.
  if (shape[rank - 1] == 1 || shape[rank - 2] == 1)
    return reshape(value, shape);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(dims[rank - 1], dims[rank - 2]);
  return PermuteOp::create(*this, typeOf(value).clone(shape), value, dims);
}

/// The products of each element of a column with each one of a row.
Value Writer::outerProduct(MatmulOp op) {
  auto lhs = op.getTransposeA() ? transposeLast(op.getLhs()) : op.getLhs();
  auto rhs = op.getTransposeB() ? transposeLast(op.getRhs()) : op.getRhs();
  Value products = MulOp::create(*this, widen(lhs), widen(rhs));
  return convert(products, op.getType().getElementType());
}

/// The sums of the products of a vector with each row of a matrix.
Value Writer::sumOfRows(MatmulOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getTransposeA())
    lhs = transposeLast(lhs);
  if (!op.getTransposeB())
    rhs = transposeLast(rhs);
  // Rows that are single lose their dimension.
  bool isDot = op.getM() == 1 && op.getN() == 1;
  auto asRows = [&](Value factor) {
    SmallVector<int64_t> shape(typeOf(factor).getShape());
    if (isDot)
      shape.erase(shape.end() - 2);
    return reshape(widen(factor), shape);
  };
  Value terms = MulOp::create(*this, asRows(lhs), asRows(rhs));
  Value sums = reduce(ReduceKind::sum, terms, typeOf(terms).getRank() - 1);
  sums = convert(sums, op.getType().getElementType());
  return reshape(sums, op.getType().getShape());
}

/// The same product, of factors that have all batches.
Value Writer::write(MatmulOp op) {
  if (isVectorProduct(op))
    return op.getK() == 1 ? outerProduct(op) : sumOfRows(op);
  auto expand = [&](Value factor) -> Value {
    if (!broadcastsInPart(factor, op))
      return factor;
    SmallVector<int64_t> shape(op.getType().getShape().drop_back(2));
    llvm::append_range(shape, typeOf(factor).getShape().take_back(2));
    return ExpandOp::create(*this, typeOf(factor).clone(shape), factor);
  };
  return MatmulOp::create(*this, expand(op.getLhs()), expand(op.getRhs()),
                          op.getTransposeA(), op.getTransposeB(), op.getTf32());
}

/// 16-bit terms are added in f32, as products add them.
Value Writer::sumScaledRows(MatmulOp op) {
  // Column k of the left factor, or row k of the right one.
  auto take = [&](Value factor, bool isLeft, bool isTransposed, int64_t k) {
    SmallVector<int64_t> shape(typeOf(factor).getShape());
    int64_t rank = shape.size(), dim = rank - (isLeft != isTransposed ? 1 : 2);
    shape[dim] = 1;
    Value part =
        SliceOp::create(*this, typeOf(factor).clone(shape), factor, dim, k);
    return widen(isTransposed ? transposeLast(part) : part);
  };
  Value sum;
  for (int64_t k = 0; k < op.getK(); ++k) {
    Value term =
        MulOp::create(*this, take(op.getLhs(), true, op.getTransposeA(), k),
                      take(op.getRhs(), false, op.getTransposeB(), k));
    sum = sum ? AddOp::create(*this, sum, term) : term;
  }
  return convert(sum, op.getType().getElementType());
}

/// The elements of `value`, of which `reduce` reduces a function, at one place
/// of each window, without the reduced dimensions.
Value Writer::takePlace(Value value, ReduceOp reduce, WindowsOp windows,
                        ArrayRef<int64_t> place) {
  int64_t rank = typeOf(reduce.getOperand()).getRank();
  SmallVector<int64_t> shape(typeOf(value).getShape()), kept;
  auto getDim = [&](int64_t dim) { return dim - rank + int64_t(shape.size()); };
  for (auto [i, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(reduce.getDims(), rank - shape.size() + i))
      kept.push_back(size);
  if (value == windows.getResult()) {
    Value part = windows.getOperand();
    for (auto [i, at] : llvm::enumerate(place)) {
      int64_t dim = windows.getDim() + i;
      SmallVector<int64_t> sizes(typeOf(part).getShape());
      sizes[dim] = shape[dim];
      part = createOrFold<SliceOp>(typeOf(part).clone(sizes), part, dim,
                                   at * windows.getDilations()[i],
                                   windows.getStrides()[i]);
    }
    return part;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<PointwiseOpInterface>(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(takePlace(operand, reduce, windows, place));
    return create(op->getLoc(), op->getName().getIdentifier(), operands,
                  TypeRange(Type(typeOf(value).clone(kept))), op->getAttrs())
        ->getResult(0);
  }
  for (auto [dim, at] : llvm::zip_equal(reduce.getDims(), place)) {
    int64_t own = getDim(dim);
    if (own < 0 || shape[own] == 1)
      continue;
    shape[own] = 1;
    value = SliceOp::create(*this, typeOf(value).clone(shape), value, own, at,
                            /*step=*/1);
  }
  return reshape(value, kept);
}

Value Writer::combine(ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case ReduceKind::max:
    return MaximumOp::create(*this, a, b);
  case ReduceKind::min:
    return MinimumOp::create(*this, a, b);
  case ReduceKind::prod:
    return MulOp::create(*this, a, b);
  default:
    return AddOp::create(*this, a, b);
  }
}

Value Writer::write(ReduceOp op) {
  WindowsOp windows = getReducedWindows(op);
  ArrayRef<int64_t> kernel = windows.getKernel();
  Value result;
  SmallVector<int64_t> place(kernel.size(), 0);
  int64_t count = llvm::product_of(kernel);
  for (int64_t tap = 0; tap < count; ++tap) {
    // Along the last dimension but one at first: what neighbors along that
    // share is then soon read again.
    int64_t rest = tap, dims = kernel.size();
    for (int64_t i = 0; i < dims; ++i) {
      int64_t dim = (2 * dims - 2 - i) % dims;
      place[dim] = rest % kernel[dim];
      rest /= kernel[dim];
    }
    Value part = takePlace(op.getOperand(), op, windows, place);
    result = result ? combine(op.getKind(), result, part) : part;
  }
  result = reshape(result, typeOf(op.getResult()).getShape());
  if (op.getKind() == ReduceKind::mean)
    result = DivOp::create(*this, result, number(double(count), result));
  return result;
}

/// Whether a permutation moves only dimensions of one element past others.
static bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  llvm::copy_if(dims, std::back_inserter(kept),
                [&](int64_t dim) { return shape[dim] != 1; });
  return llvm::is_sorted(kept);
}

/// Sums and products of 16-bit elements are computed in f32, as reductions
/// compute them. Slices are taken before a permutation that made rows of them.
Value Writer::combineFew(ReduceOp op) {
  Value operand = op.getOperand();
  SmallVector<int64_t> dims(op.getDims());
  auto permute = operand.getDefiningOp<PermuteOp>();
  if (permute) {
    operand = permute.getOperand();
    for (int64_t &dim : dims)
      dim = permute.getDims()[dim];
  }
  RankedTensorType type = typeOf(operand);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(dim);
  Value result;
  for (int64_t place = 0; place < count; ++place) {
    Value part = operand;
    int64_t rest = place;
    for (int64_t dim : llvm::reverse(dims)) {
      SmallVector<int64_t> shape(typeOf(part).getShape());
      shape[dim] = 1;
      part = createOrFold<SliceOp>(type.clone(shape), part, dim,
                                   rest % type.getDimSize(dim));
      rest /= type.getDimSize(dim);
    }
    part = op.getArithmetic().chooses ? part : widen(part);
    result = result ? combine(op.getKind(), result, part) : part;
  }
  if (op.getKind() == ReduceKind::mean)
    result = DivOp::create(*this, result, number(double(count), result));
  result = convert(result, type.getElementType());
  if (permute && !keepsOrder(typeOf(result).getShape(), permute.getDims()))
    result = PermuteOp::create(*this, result, permute.getDims());
  return reshape(result, op.getType().getShape());
}

/// Whether a reduction is over all places in windows, which are few.
static bool reducesWindows(ReduceOp op) {
  WindowsOp windows = getReducedWindows(op);
  if (!windows || op.getArithmetic().locates ||
      llvm::product_of(windows.getKernel()) > 128 ||
      op.getType().getElementType() != windows.getType().getElementType())
    return false;
  auto shape = cast<RankedTensorType>(op.getOperand().getType()).getShape();
  int64_t first = windows.getDim() + windows.getKernel().size();
  return shape.size() == size_t(windows.getType().getRank()) &&
         llvm::equal(
             op.getDims(),
             llvm::seq<int64_t>(first, first + windows.getKernel().size()));
}

bool fact::canWriteOut(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reducesWindows(reduce);
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return isVectorProduct(matmul) ||
           broadcastsInPart(matmul.getLhs(), matmul) ||
           broadcastsInPart(matmul.getRhs(), matmul);
  return isa<AttentionOp, NormOp, SoftmaxOp>(op);
}

Value fact::writeOut(OpBuilder &builder, Operation *op) {
  Writer writer(op->getLoc(), builder);
  return TypeSwitch<Operation *, Value>(op)
      .Case<AttentionOp, MatmulOp, NormOp, ReduceOp, SoftmaxOp>(
          [&](auto raised) { return writer.write(raised); })
      .Default([](Operation *) { return Value(); });
}

bool fact::isShort(MatmulOp op, int64_t mostTerms) {
  return op.getK() > 0 && op.getK() <= mostTerms && op.getM() > mostTerms &&
         op.getN() > mostTerms && !readsWindows(op);
}

/// Whether a value is computed from a product, element by element: its kernel
/// may reduce it.
static bool followsProduct(Value value) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *op = found[i].getDefiningOp();
    if (isa_and_nonnull<ContractionOpInterface>(op))
      return true;
    if (isa_and_nonnull<ViewOpInterface, PointwiseOpInterface>(op))
      found.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Whether the last dimension of a tensor in memory is reduced: kernels of rows
/// read it in vectors.
static bool readsRows(ReduceOp op) {
  Value operand = op.getOperand();
  int64_t last = op.getDims().back();
  if (auto permute = operand.getDefiningOp<PermuteOp>()) {
    operand = permute.getOperand();
    last = permute.getDims()[last];
  }
  if (last + 1 != cast<RankedTensorType>(operand.getType()).getRank())
    return false;
  while (auto view = operand.getDefiningOp<ViewOpInterface>())
    operand = view->getOperand(0);
  return !operand.getDefiningOp<PointwiseOpInterface>();
}

/// Whether a pointwise op combines the value, or a view of it, with more
/// elements: those of the row that it was computed from, which kernels of rows
/// hold.
static bool isBroadcast(Value value) {
  int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!isa<ViewOpInterface, PointwiseOpInterface>(user))
      return false;
    Value result = user->getResult(0);
    return cast<RankedTensorType>(result.getType()).getNumElements() > count ||
           (isa<ViewOpInterface>(user) && isBroadcast(result));
  });
}

bool fact::reducesFew(ReduceOp op, int64_t mostTerms) {
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  int64_t count = type.getNumElements() /
                  std::max<int64_t>(op.getType().getNumElements(), 1);
  return count > 1 && count <= mostTerms && !op.getArithmetic().locates &&
         !type.getElementType().isInteger(1) && !getReducedWindows(op) &&
         !readsRows(op) && !followsProduct(op.getOperand()) &&
         !isBroadcast(op.getResult());
}

bool fact::hasRowsToScale(MatmulOp op) {
  FailureOr<StridedView> rhs = StridedView::get(op.getRhs());
  return succeeded(rhs) &&
         rhs->strides.end()[op.getTransposeB() ? -2 : -1] == 1;
}

void fact::prepareRowsToScale(Block &block, const Target &target) {
  for (auto matmul : llvm::make_early_inc_range(block.getOps<MatmulOp>())) {
    if (!isShort(matmul, target.getMostTerms()) || hasRowsToScale(matmul))
      continue;
    Writer writer(matmul.getLoc(), matmul);
    Value rows = prepare(writer, matmul.getRhs(), [&](Value weight) {
      return matmul.getTransposeB() ? writer.transposeLast(weight) : weight;
    });
    if (!rows)
      continue;
    matmul.getRhsMutable().set(rows);
    matmul.setTransposeB(false);
  }
}

Value fact::sumScaledRows(OpBuilder &builder, MatmulOp op) {
  return Writer(op.getLoc(), builder).sumScaledRows(op);
}

Value fact::combineFew(OpBuilder &builder, ReduceOp op) {
  return Writer(op.getLoc(), builder).combineFew(op);
}
