//===- RaiseAttention.cpp - Recognize attention that is written out -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Masks.h"
#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "fact-raise-attention"

namespace fact {
#define GEN_PASS_DEF_RAISEATTENTION
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// The scale and the mask between q k^T and the softmax.
struct Scores {
  MatmulOp product;
  double scale = 1;
  Mask mask;
  /// The leading dimensions that masks broadcast to. Before and after, they may
  /// be merged or split.
  std::optional<SmallVector<int64_t>> leading;

  /// Records that `part` of the mask applies to scores of shape `shape`. False
  /// if another part applies to other leading dimensions.
  bool isMaskedBy(Value part, ArrayRef<int64_t> shape) {
    if (typeOf(part).getRank() <= 2)
      return true;
    ArrayRef<int64_t> sizes = shape.drop_back(2);
    if (!leading)
      leading.emplace(sizes);
    return ArrayRef<int64_t>(*leading) == sizes;
  }
};

/// Walks from the softmax's operand to the product. Every op on the way must
/// have one use; otherwise it would be computed twice.
LogicalResult matchScores(Value value, Scores &scores) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse())
    return failure();
  auto scaleBy = [&](Value rest, double factor) {
    scores.scale *= factor;
    return matchScores(rest, scores);
  };
  // One operand leads to the scores, the other is a summand.
  auto addTo = [&](Value rest, Value other, double sign) -> LogicalResult {
    if (rest.getType() != value.getType() || !(scores.scale > 0))
      return failure();
    Scores trial = scores;
    trial.mask.terms.push_back({other, sign * scores.scale});
    if (!trial.isMaskedBy(other, shapeOf(value)) ||
        failed(matchScores(rest, trial)))
      return failure();
    scores = std::move(trial);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](MatmulOp product) {
        scores.product = product;
        return success();
      })
      .Case([&](CastOp cast) -> LogicalResult {
        if (!isWidening(cast))
          return failure();
        return matchScores(cast.getOperand(), scores);
      })
      .Case([&](ReshapeOp reshape) -> LogicalResult {
        ArrayRef<int64_t> from = shapeOf(reshape.getOperand());
        ArrayRef<int64_t> to = shapeOf(value);
        if (from.size() < 2 || to.size() < 2 ||
            from.take_back(2) != to.take_back(2))
          return failure();
        return matchScores(reshape.getOperand(), scores);
      })
      .Case([&](MulOp mul) -> LogicalResult {
        if (auto factor = getSplatConstant(mul.getRhs()))
          return scaleBy(mul.getLhs(), *factor);
        if (auto factor = getSplatConstant(mul.getLhs()))
          return scaleBy(mul.getRhs(), *factor);
        return failure();
      })
      .Case([&](DivOp div) -> LogicalResult {
        auto divisor = getSplatConstant(div.getRhs());
        return divisor ? scaleBy(div.getLhs(), 1 / *divisor) : failure();
      })
      .Case([&](AddOp add) -> LogicalResult {
        if (succeeded(addTo(add.getLhs(), add.getRhs(), 1)))
          return success();
        return addTo(add.getRhs(), add.getLhs(), 1);
      })
      .Case([&](SubOp sub) { return addTo(sub.getLhs(), sub.getRhs(), -1); })
      .Case([&](SelectOp select) -> LogicalResult {
        std::optional<Mask::Choice> choice = Mask::Choice::get(select);
        if (!choice || choice->rest.getType() != value.getType() ||
            !(scores.scale > 0) ||
            !scores.isMaskedBy(choice->condition, shapeOf(value)))
          return failure();
        // After the scaling, the fill value must still hide scores.
        if (isHidden(choice->fill) ? !isHidden(choice->fill * scores.scale)
                                   : scores.scale < 1)
          return failure();
        scores.mask.choices.push_back(*choice);
        return matchScores(choice->rest, scores);
      })
      .Default([](Operation *) { return failure(); });
}

/// Takes the factor out of q * scale. In 16 bits, the product q * scale would
/// be rounded as an operand, so the result is more accurate without it.
Value takeScale(Value operand, double &scale) {
  while (Operation *op = operand.getDefiningOp()) {
    double factor;
    Value rest;
    if (matchPattern(operand, m_Either<MulOp>(m_Number(factor),
                                              matchers::m_Any(&rest))) &&
        rest.getType() == operand.getType())
      scale *= factor;
    else if (matchPattern(
                 op, m_Op<DivOp>(matchers::m_Any(&rest), m_Number(factor))) &&
             rest.getType() == operand.getType())
      scale /= factor;
    else
      break;
    operand = rest;
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// How the leading dimensions, of any number, become `[batch, heads]`: the
/// first is the batch, the others are heads. The last `shared` of them are
/// query heads that read one key head.
struct Heads {
  SmallVector<int64_t> leading;
  size_t first = 0, shared = 0;

  static std::optional<Heads> get(Value query, Value key, Value value) {
    auto leadingOf = [](Value tensor) { return shapeOf(tensor).drop_back(2); };
    auto leading =
        broadcastShapes({leadingOf(query), leadingOf(key), leadingOf(value)});
    if (!leading)
      return std::nullopt;
    Heads heads{*leading};
    size_t rank = heads.leading.size();
    heads.first = rank > 1 ? 1 : 0;
    auto isOne = [&](Value tensor, size_t fromEnd) {
      ArrayRef<int64_t> sizes = leadingOf(tensor);
      return fromEnd >= sizes.size() || sizes[sizes.size() - 1 - fromEnd] == 1;
    };
    while (heads.shared < rank - heads.first && isOne(key, heads.shared) &&
           isOne(value, heads.shared))
      ++heads.shared;
    return heads;
  }

  /// Reshapes `[leading..., rows, columns]` to `[batch, heads, rows, columns]`.
  Value merge(Value tensor, bool isQuery, OpBuilder &builder) const {
    Location loc = tensor.getLoc();
    SmallVector<int64_t> full(leading);
    if (!isQuery)
      std::fill(full.end() - shared, full.end(), 1);
    ArrayRef<int64_t> leading = full;
    SmallVector<int64_t> merged{llvm::product_of(leading.take_front(first)),
                                llvm::product_of(leading.drop_front(first))};
    llvm::append_range(full, shapeOf(tensor).take_back(2));
    llvm::append_range(merged, shapeOf(tensor).take_back(2));
    return reshapeTo(builder, loc, expandTo(builder, loc, tensor, full),
                     merged);
  }

  /// Reshapes the mask, which broadcasts: only dimensions that are merged must
  /// be expanded first.
  Value mergeMask(Value mask, OpBuilder &builder) const {
    ArrayRef<int64_t> shape = shapeOf(mask);
    if (leading.size() <= 2)
      return mask;
    // Prepends dimensions of size 1 up to the rank of the scores.
    SmallVector<int64_t> full(leading.size() + 2 - shape.size(), 1);
    llvm::append_range(full, shape);
    Location loc = mask.getLoc();
    mask = reshapeTo(builder, loc, mask, full);
    auto heads = MutableArrayRef(full).drop_front(first).drop_back(2);
    if (llvm::any_of(heads, [](int64_t size) { return size != 1; }))
      llvm::copy(ArrayRef(leading).drop_front(first), heads.begin());
    mask = expandTo(builder, loc, mask, full);
    SmallVector<int64_t> merged{full.front(), llvm::product_of(heads)};
    llvm::append_range(merged, ArrayRef(full).take_back(2));
    return reshapeTo(builder, loc, mask, merged);
  }
};

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The softmax that defines `operand`, through at most one rounding to the type
/// of the values: probabilities are an operand of a contraction, and round as
/// such.
SoftmaxOp matchProbabilities(Value operand) {
  if (auto cast = operand.getDefiningOp<CastOp>();
      cast && cast->hasOneUse() && !isWidening(cast) &&
      isa<FloatType>(typeOf(cast.getOperand()).getElementType()))
    operand = cast.getOperand();
  auto softmax = operand.getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax->hasOneUse() ||
      static_cast<int64_t>(softmax.getDim()) != softmax.getType().getRank() - 1)
    return {};
  return softmax;
}

/// matmul(softmax(scores), v)
struct RaiseWrittenOut : OpRewritePattern<MatmulOp> {
  RaiseWrittenOut(MLIRContext *context, Pass::Statistic *raised)
      : OpRewritePattern(context), raised(raised) {}

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    SoftmaxOp softmax = matchProbabilities(op.getLhs());
    if (!softmax || op.getTransposeA())
      return failure();
    Scores scores;
    if (failed(matchScores(softmax.getOperand(), scores)))
      return failure();
    MatmulOp product = scores.product;
    Value query = product.getLhs(), key = product.getRhs(), value = op.getRhs();
    Type element = op.getType().getElementType();
    // A product of widened operands equals the product of 16-bit operands in
    // f32.
    if (typeOf(query).getElementType() != element) {
      query = skipWidening(query);
      key = skipWidening(key);
    }
    double scale = scores.scale;
    query = takeScale(query, scale);
    key = takeScale(key, scale);
    for (Value operand : {query, key})
      if (typeOf(operand).getElementType() != element)
        return failure();

    // If there are reshapes between, all operands get the leading dimensions of
    // the masks.
    ArrayRef<int64_t> from = shapeOf(product).drop_back(2);
    ArrayRef<int64_t> to = shapeOf(softmax).drop_back(2);
    ArrayRef<int64_t> leading = scores.leading ? *scores.leading : from;
    auto keeps = [&](Value operand, ArrayRef<int64_t> sizes) {
      return leading == sizes || shapeOf(operand).drop_back(2) == sizes;
    };
    if (!keeps(query, from) || !keeps(key, from) || !keeps(value, to))
      return failure();
    SmallVector<Value> leaves{query, key, value};
    scores.mask.appendLeaves(leaves);
    Location loc = getFusedLocation(op, leaves);
    if (product.getTransposeA())
      query = transposed(rewriter, loc, query);
    if (!product.getTransposeB())
      key = transposed(rewriter, loc, key);
    if (op.getTransposeB())
      value = transposed(rewriter, loc, value);
    auto arrange = [&](Value operand, ArrayRef<int64_t> sizes) {
      if (leading == sizes)
        return operand;
      SmallVector<int64_t> shape(leading);
      llvm::append_range(shape, shapeOf(operand).take_back(2));
      return reshapeTo(rewriter, loc, operand, shape);
    };
    query = arrange(query, from);
    key = arrange(key, from);
    value = arrange(value, to);
    std::optional<Heads> heads = Heads::get(query, key, value);
    assert(heads && "products have checked that batches broadcast");
    Value mask = scores.mask.build(rewriter, loc, element);
    query = heads->merge(query, /*isQuery=*/true, rewriter);
    key = heads->merge(key, /*isQuery=*/false, rewriter);
    value = heads->merge(value, /*isQuery=*/false, rewriter);
    Value attention = AttentionOp::create(
        rewriter, loc, query, key, value,
        mask ? heads->mergeMask(mask, rewriter) : Value(),
        rewriter.getF64FloatAttr(scale), /*causal=*/UnitAttr(),
        product.getTf32() ? op.getTf32Attr() : UnitAttr());
    rewriter.replaceOp(op, reshapeTo(rewriter, loc, attention, shapeOf(op)));
    if (raised)
      ++*raised;
    return success();
  }

  Pass::Statistic *raised;
};

/// Repeated heads: reshape(expand(x)), where a dimension of size 1 is expanded
/// and becomes the fastest part of a dimension, under permutations.
struct RepeatedHeads {
  Value source;
  int64_t times = 1;
  /// The shape without repetitions, and the permutations, innermost last.
  SmallVector<int64_t> shape;
  SmallVector<PermuteOp> permutes;

  static std::optional<RepeatedHeads> get(Value value, int64_t dim) {
    RepeatedHeads heads;
    for (auto permute = value.getDefiningOp<PermuteOp>(); permute;
         permute = value.getDefiningOp<PermuteOp>()) {
      heads.permutes.push_back(permute);
      dim = permute.getDims()[dim];
      value = permute.getOperand();
    }
    auto reshape = value.getDefiningOp<ReshapeOp>();
    Value wide = reshape ? Value(reshape.getOperand()) : value;
    auto expand = wide.getDefiningOp<ExpandOp>();
    if (!expand)
      return std::nullopt;
    heads.source = expand.getOperand();
    ArrayRef<int64_t> to = shapeOf(expand), from = shapeOf(heads.source);
    int64_t added = to.size() - from.size(), repeated = -1;
    for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
      if (to[i] == (i < added ? 1 : from[i - added]))
        continue;
      if (repeated >= 0)
        return std::nullopt;
      repeated = i;
    }
    if (repeated < 0)
      return std::nullopt;
    heads.times = to[repeated];
    heads.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
    if (heads.shape[dim] % heads.times ||
        llvm::product_of(ArrayRef(heads.shape).drop_front(dim + 1)) !=
            llvm::product_of(to.drop_front(repeated + 1)))
      return std::nullopt;
    heads.shape[dim] /= heads.times;
    return heads;
  }

  Value build(OpBuilder &builder, Location loc) const {
    Value value = reshapeTo(builder, loc, source, shape);
    for (PermuteOp permute : llvm::reverse(permutes))
      value = permuteTo(builder, loc, value, permute.getDims());
    return value;
  }
};

/// Reads repeated keys and values once per group of query heads.
struct GroupHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto key = RepeatedHeads::get(op.getKey(), 1);
    auto value = RepeatedHeads::get(op.getValue(), 1);
    if (!key || !value || key->times != value->times)
      return failure();
    Value keys = key->build(rewriter, op.getKey().getLoc());
    Value values = value->build(rewriter, op.getValue().getLoc());
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().set(keys);
      op.getValueMutable().set(values);
    });
    return success();
  }
};

struct RaiseAttentionPass : fact::impl::RaiseAttentionBase<RaiseAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRaiseAttentionPatterns(patterns, &raised);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateRaiseAttentionPatterns(RewritePatternSet &patterns,
                                          Pass::Statistic *raised) {
  patterns.add<RaiseWrittenOut>(patterns.getContext(), raised);
  patterns.add<GroupHeads>(patterns.getContext());
}
