//===- RaiseRotary.cpp - Recognize rotary embeddings written out ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both parts of a pair are views of one tensor: chunks, slices with a step, or
// slices of a tensor that was reshaped into pairs. Parts are therefore compared
// as strided views of the same base.
//
//===----------------------------------------------------------------------===//

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-raise-rotary"

namespace fact {
#define GEN_PASS_DEF_RAISEROTARY
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// A value as a view of another one, possibly negated. Widening casts commute
/// with both.
struct SignedView {
  StridedView view;
  bool negative = false;

  static std::optional<SignedView> get(Value value) {
    SmallVector<Operation *> chain;
    while (Operation *op = value.getDefiningOp()) {
      auto cast = dyn_cast<CastOp>(op);
      if (!isa<ViewOpInterface>(op) && !isa<NegOp>(op) &&
          !(cast && isWidening(cast)))
        break;
      chain.push_back(op);
      value = op->getOperand(0);
    }
    SignedView result{StridedView::identity(value)};
    for (Operation *op : llvm::reverse(chain)) {
      if (isa<NegOp>(op))
        result.negative = !result.negative;
      if (!isa<ViewOpInterface>(op))
        continue;
      FailureOr<StridedView> applied =
          cast<ViewOpInterface>(op).applyView(result.view);
      if (failed(applied))
        return std::nullopt;
      result.view = std::move(*applied);
    }
    return result;
  }
};

/// How the two elements of a pair are placed in the last dimension.
struct Pairing {
  bool interleaved = false;

  /// Whether `part` is the first (0) or second (1) element of each pair of
  /// `whole`. Trailing dimensions of size 1 in `part` are ignored.
  bool isPart(const StridedView &part, const StridedView &whole,
              int64_t index) const {
    size_t last = whole.shape.size() - 1;
    int64_t half = whole.shape[last] / 2, stride = whole.strides[last];
    int64_t step = interleaved ? 1 : half;
    if (part.base != whole.base || part.shape.size() < whole.shape.size() ||
        !llvm::all_of(ArrayRef(part.shape).drop_front(last + 1),
                      [](int64_t size) { return size == 1; }) ||
        part.offset != whole.offset + index * step * stride ||
        part.shape[last] != half)
      return false;
    for (size_t i = 0; i < last; ++i)
      if (part.shape[i] != whole.shape[i] ||
          (part.shape[i] != 1 && part.strides[i] != whole.strides[i]))
        return false;
    return half == 1 ||
           part.strides[last] == (interleaved ? 2 * stride : stride);
  }

  /// The two parts that `value` concatenates: concat(first, second), or with
  /// `interleaved` stack(first, second, -1).flatten(-2).
  std::optional<std::pair<Value, Value>> split(Value value) const {
    auto type = typeOf(value);
    if (interleaved) {
      auto flatten = value.getDefiningOp<ReshapeOp>();
      if (!flatten)
        return std::nullopt;
      value = flatten.getOperand();
    }
    auto concat = value.getDefiningOp<ConcatOp>();
    int64_t rank = type.getRank();
    if (!concat || concat.getInputs().size() != 2 ||
        static_cast<int64_t>(concat.getDim()) != typeOf(value).getRank() - 1 ||
        rank < 1 || type.getShape().back() % 2)
      return std::nullopt;
    SmallVector<int64_t> shape(type.getShape());
    shape.back() /= 2;
    if (interleaved)
      shape.push_back(1);
    for (Value input : concat.getInputs())
      if (shapeOf(input) != ArrayRef<int64_t>(shape))
        return std::nullopt;
    return std::pair(concat.getInputs()[0], concat.getInputs()[1]);
  }

  /// The inverse of `split`, for tables of angles.
  Value join(Value first, Value second, OpBuilder &builder,
             Location loc) const {
    SmallVector<int64_t> shape(shapeOf(first)), joined(shape);
    joined.back() *= 2;
    if (!interleaved)
      return ConcatOp::create(builder, loc, ValueRange{first, second},
                              shape.size() - 1);
    shape.push_back(1);
    Value inputs[] = {reshapeTo(builder, loc, first, shape),
                      reshapeTo(builder, loc, second, shape)};
    Value stacked = ConcatOp::create(builder, loc, inputs, shape.size() - 1);
    return reshapeTo(builder, loc, stacked, joined);
  }
};

constexpr Pairing pairings[] = {{/*interleaved=*/false},
                                {/*interleaved=*/true}};

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

struct Product {
  Value factors[2];
  bool negative = false;
};

std::optional<Product> matchProduct(Value value, bool negative) {
  auto stripNegation = [&](Value value) {
    while (auto neg = value.getDefiningOp<NegOp>()) {
      negative = !negative;
      value = neg.getOperand();
    }
    return value;
  };
  auto mul = stripNegation(value).getDefiningOp<MulOp>();
  if (!mul)
    return std::nullopt;
  Product product{{mul.getLhs(), mul.getRhs()}};
  for (Value &factor : product.factors)
    factor = stripNegation(factor);
  product.negative = negative;
  return product;
}

/// a * b + c * d with any signs.
std::optional<std::pair<Product, Product>> matchProducts(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp>(op))
    return std::nullopt;
  auto first = matchProduct(op->getOperand(0), /*negative=*/false);
  auto second = matchProduct(op->getOperand(1), isa<SubOp>(op));
  if (!first || !second)
    return std::nullopt;
  return std::pair(*first, *second);
}

/// Whether `angles` are legal operands of `fact.rotary` for `x`.
bool areAngles(Value angles, RankedTensorType x) {
  auto shape = broadcastShapes({shapeOf(angles), x.getShape()});
  return typeOf(angles).getElementType() == x.getElementType() && shape &&
         ArrayRef<int64_t>(*shape) == x.getShape();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

struct RotaryPattern {
  void replace(Operation *op, Value x, Value cos, Value sin, Pairing pairing,
               ValueRange leaves, PatternRewriter &rewriter) const {
    Location loc = getFusedLocation(op, leaves);
    rewriter.replaceOp(
        op, RotaryOp::create(rewriter, loc, x, cos, sin, pairing.interleaved));
    if (raised)
      ++*raised;
  }

  Pass::Statistic *raised;
};

/// x * cos + rotate(x) * sin
template <typename OpT>
struct RaiseRotated : OpRewritePattern<OpT>, RotaryPattern {
  RaiseRotated(MLIRContext *context, Pass::Statistic *raised)
      : OpRewritePattern<OpT>(context), RotaryPattern{raised} {}

  /// Whether `rotated` is rotate(x), up to sign.
  static bool isRotation(Value rotated, const SignedView &x, Pairing pairing,
                         bool &negative) {
    auto parts = pairing.split(rotated);
    if (!parts)
      return false;
    auto first = SignedView::get(parts->first);
    auto second = SignedView::get(parts->second);
    if (!first || !second || first->negative == second->negative ||
        !pairing.isPart(first->view, x.view, 1) ||
        !pairing.isPart(second->view, x.view, 0))
      return false;
    negative = second->negative != x.negative;
    return true;
  }

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto products = matchProducts(op.getResult());
    if (!products)
      return failure();
    for (auto [straight, turned] :
         {*products, std::pair(products->second, products->first)})
      for (int i : {0, 1})
        for (int j : {0, 1})
          for (Pairing pairing : pairings) {
            Value x = straight.factors[i], cos = straight.factors[1 - i];
            Value rotated = turned.factors[j], sin = turned.factors[1 - j];
            bool negative = false;
            if (x.getType() != op.getType() || straight.negative ||
                !areAngles(cos, op.getType()) ||
                !areAngles(sin, op.getType()) || !pairing.split(rotated))
              continue;
            auto view = SignedView::get(x);
            if (!view || !isRotation(rotated, *view, pairing, negative) ||
                negative != turned.negative)
              continue;
            replace(op, x, cos, sin, pairing, {x, cos, sin}, rewriter);
            return success();
          }
    return failure();
  }
};

/// concat(x1 * cos1 - x2 * sin1, x2 * cos2 + x1 * sin2)
template <typename OpT>
struct RaiseHalves : OpRewritePattern<OpT>, RotaryPattern {
  RaiseHalves(MLIRContext *context, Pass::Statistic *raised)
      : OpRewritePattern<OpT>(context), RotaryPattern{raised} {}

  /// Removes the dimension of size 1 that stacking adds.
  static Value skipUnit(Value value, Pairing pairing) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    return pairing.interleaved && reshape &&
                   shapeOf(reshape.getOperand()) == shapeOf(value).drop_back()
               ? Value(reshape.getOperand())
               : value;
  }

  /// The tensor of shape `shape` whose parts are `first` and `second`.
  static Value findWhole(Value first, Value second, Pairing pairing,
                         ArrayRef<int64_t> shape, PatternRewriter &rewriter) {
    auto one = SignedView::get(first), two = SignedView::get(second);
    if (!one || !two || one->negative || two->negative)
      return {};
    int64_t last = shape.size() - 1;
    for (Value at = first;;) {
      auto whole = SignedView::get(at);
      if (!whole || whole->negative)
        return {};
      // The tensor itself, possibly reshaped, or a range of it, if a slice of a
      // slice was folded.
      auto isWhole = [&](const StridedView &view) {
        return pairing.isPart(one->view, view, 0) &&
               pairing.isPart(two->view, view, 1);
      };
      ArrayRef<int64_t> sizes = whole->view.shape;
      if (llvm::product_of(sizes) == llvm::product_of(shape)) {
        FailureOr<StridedView> view = whole->view.reshape(shape);
        if (succeeded(view) && isWhole(*view))
          return reshapeTo(rewriter, at.getLoc(), at, shape);
      } else if (sizes.size() == shape.size() &&
                 sizes.drop_back() == shape.drop_back() &&
                 sizes.back() > shape.back() && whole->view.strides.back()) {
        int64_t start = (one->view.offset - whole->view.offset) /
                        whole->view.strides.back();
        if (start >= 0 && start + shape[last] <= sizes.back() &&
            isWhole(whole->view.slice(last, start, shape[last], 1)))
          return sliceOf(rewriter, at.getLoc(), at, last, start, shape[last]);
      }
      Operation *op = at.getDefiningOp();
      auto cast = dyn_cast_or_null<CastOp>(op);
      if (!op || (!isa<ViewOpInterface>(op) && !(cast && isWidening(cast))))
        return {};
      at = op->getOperand(0);
    }
  }

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!isa<FloatType>(type.getElementType()))
      return failure();
    for (Pairing pairing : pairings) {
      auto parts = pairing.split(op.getResult());
      if (!parts)
        continue;
      auto first = matchProducts(skipUnit(parts->first, pairing));
      auto second = matchProducts(skipUnit(parts->second, pairing));
      if (!first || !second)
        continue;
      // x1 * cos1 - x2 * sin1: the negative product is the second.
      if (first->first.negative)
        std::swap(first->first, first->second);
      if (first->first.negative || !first->second.negative ||
          second->first.negative || second->second.negative)
        continue;
      for (int i : {0, 1})
        for (int j : {0, 1}) {
          Value x1 = first->first.factors[i], x2 = first->second.factors[j];
          Value cos1 = first->first.factors[1 - i];
          Value sin1 = first->second.factors[1 - j];
          // x2 * cos2 + x1 * sin2, in any order.
          auto factorOf = [&](const Product &product, Value x) {
            return product.factors[0] == x   ? product.factors[1]
                   : product.factors[1] == x ? product.factors[0]
                                             : Value();
          };
          Value cos2 = factorOf(second->first, x2);
          Value sin2 = factorOf(second->second, x1);
          if (!cos2 || !sin2) {
            cos2 = factorOf(second->second, x2);
            sin2 = factorOf(second->first, x1);
          }
          if (!cos2 || !sin2)
            continue;
          auto areHalves = [&](Value angles, Value others) {
            return typeOf(angles).getRank() &&
                   shapeOf(angles).back() == type.getShape().back() / 2 &&
                   typeOf(angles).getRank() <= type.getRank() &&
                   typeOf(angles).getElementType() == type.getElementType() &&
                   angles.getType() == others.getType();
          };
          if (!areHalves(cos1, cos2) || !areHalves(sin1, sin2))
            continue;
          Value x = findWhole(x1, x2, pairing, type.getShape(), rewriter);
          if (!x)
            continue;
          Location loc = op.getLoc();
          x = rewriter.createOrFold<CastOp>(loc, type, x);
          replace(op, x, pairing.join(cos1, cos2, rewriter, loc),
                  pairing.join(sin1, sin2, rewriter, loc), pairing,
                  {x, cos1, cos2, sin1, sin2}, rewriter);
          return success();
        }
    }
    return failure();
  }
};

struct RaiseRotaryPass : fact::impl::RaiseRotaryBase<RaiseRotaryPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRaiseRotaryPatterns(patterns, &raised);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateRaiseRotaryPatterns(RewritePatternSet &patterns,
                                       Pass::Statistic *raised) {
  patterns.add<RaiseRotated<AddOp>, RaiseRotated<SubOp>, RaiseHalves<ConcatOp>,
               RaiseHalves<ReshapeOp>>(patterns.getContext(), raised);
}
