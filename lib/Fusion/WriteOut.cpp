//===- WriteOut.cpp - Raised ops in simpler ones --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WriteOut.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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

private:
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

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
  /// 0, 1, ... as a tensor of `shape`, which has one size above 1. In f32, which
  /// kernels of rows read; positions of queries and keys are exact in it.
  Value count(ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getF32Type());
    SmallVector<float> numbers(type.getNumElements());
    std::iota(numbers.begin(), numbers.end(), 0);
    return ConstantOp::create(*this,
                              DenseElementsAttr::get(type, ArrayRef(numbers)));
  }
  Value maskLater(Value scores);
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
  Value variance =
      reduce(ReduceKind::mean, MulOp::create(*this, x, x), dims);
  Value shifted = AddOp::create(*this, variance,
                                number(op.getEps().convertToDouble(), x));
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
  Value scores = MatmulOp::create(*this, widen(q), widen(op.getKey()),
                                  /*transpose_a=*/false, /*transpose_b=*/true,
                                  isTf32);
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
  weights = reshape(convert(weights, element), {query[0], key[1], rows, key[2]});
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

/// The same product, of factors that have all batches.
Value Writer::write(MatmulOp op) {
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

bool fact::canWriteOut(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return broadcastsInPart(matmul.getLhs(), matmul) ||
           broadcastsInPart(matmul.getRhs(), matmul);
  return isa<AttentionOp, NormOp, SoftmaxOp>(op);
}

Value fact::writeOut(OpBuilder &builder, Operation *op) {
  Writer writer(op->getLoc(), builder);
  return TypeSwitch<Operation *, Value>(op)
      .Case<AttentionOp, MatmulOp, NormOp, SoftmaxOp>(
          [&](auto raised) { return writer.write(raised); })
      .Default([](Operation *) { return Value(); });
}
