//===- FactToLinalg.cpp - The naive lowering of every FACT op -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers each op to the loops that define it: clear rather than fast.
//
//===----------------------------------------------------------------------===//

#include "fact/Conversion/FactToLinalg.h"
#include "ElementBuilder.h"
#include "fact/Conversion/Passes.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace fact {
#define GEN_PASS_DEF_CONVERTFACTTOLINALG
#include "fact/Conversion/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FactToLinalgTypeConverter::FactToLinalgTypeConverter(bool wide) {
  addConversion([](Type type) { return type; });
  addConversion([wide](RankedTensorType type) -> Type {
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (!element)
      return type;
    if (wide)
      return type.clone(Float64Type::get(type.getContext()));
    return type.clone(getComputeType(element));
  });
  auto materialize = [](OpBuilder &builder, RankedTensorType type,
                        ValueRange inputs, Location loc) -> Value {
    if (inputs.size() != 1)
      return {};
    return ElementBuilder(builder, loc)
        .convertElements(inputs[0], type.getElementType());
  };
  addSourceMaterialization(materialize);
  addTargetMaterialization(materialize);
}

/// Whether a value is already rounded to its storage type: loaded from memory,
/// or cast.
static bool isRounded(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewOpInterface>(op))
      return isa<CastOp, fact::ConstantOp, GetWeightOp>(op) ||
             !isa<FactDialect>(op->getDialect());
    value = op->getOperand(0);
  }
  return true;
}

/// Rounds an operand of a contraction to its storage type.
static Value roundOperand(ElementBuilder &b, Value original, Value computed) {
  Type storage = getElementTypeOrSelf(original.getType());
  if (storage.getIntOrFloatBitWidth() != 16 || isRounded(original))
    return computed;
  return b.round(computed, storage);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct LowerPointwise : OpInterfaceConversionPattern<PointwiseOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(PointwiseOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<CastOp>(op))
      return failure(); // LowerCast
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(
        op->getResult(0).getType());
    rewriter.replaceOp(
        op, b.mapBroadcast(type, operands, [&](auto &b, ValueRange x) {
          return op.buildScalar(b, b.getLoc(), x);
        }));
    return success();
  }
};

/// A cast between floats rounds to the narrower storage type, whatever types
/// both are computed in.
struct LowerCast : OpConversionPattern<CastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(CastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Type from = op.getOperand().getType().getElementType();
    Type to = op.getType().getElementType();
    Type computed = type.getElementType();
    bool narrows = isa<FloatType>(from) && isa<FloatType>(to) &&
                   to.getIntOrFloatBitWidth() <= from.getIntOrFloatBitWidth() &&
                   from != to;
    rewriter.replaceOp(
        op, b.mapBroadcast(type, adaptor.getOperand(),
                           [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                             ElementBuilder nested(b, b.getLoc());
                             if (narrows)
                               return nested.convertScalar(
                                   nested.convertScalar(x[0], to), computed);
                             if (isa<FloatType>(from) && isa<FloatType>(to))
                               return nested.convertScalar(x[0], computed);
                             return nested.convertScalar(
                                 op.buildScalar(b, b.getLoc(), x), computed);
                           }));
    return success();
  }
};

struct LowerMatmul : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(MatmulOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Value lhs = roundOperand(b, op.getLhs(), adaptor.getLhs());
    Value rhs = roundOperand(b, op.getRhs(), adaptor.getRhs());

    // Loops: batch dimensions, M, then K and N; the one along which the right
    // operand is contiguous is innermost.
    int64_t batches = type.getRank() - 2;
    bool reduceLast = op.getTransposeB();
    AffineExpr m = b.getAffineDimExpr(batches);
    AffineExpr k = b.getAffineDimExpr(batches + (reduceLast ? 2 : 1));
    AffineExpr n = b.getAffineDimExpr(batches + (reduceLast ? 1 : 2));
    auto map = [&](Value operand, AffineExpr row, AffineExpr column,
                   bool transposed) {
      ArrayRef<int64_t> shape = tensorType(operand).getShape().drop_back(2);
      SmallVector<AffineExpr> results(
          b.broadcastMap(shape, type.getShape().drop_back(2)).getResults());
      if (transposed)
        std::swap(row, column);
      results.push_back(row);
      results.push_back(column);
      return AffineMap::get(batches + 3, 0, results, getContext());
    };
    SmallVector<AffineExpr> results;
    for (int64_t i = 0; i < batches; ++i)
      results.push_back(b.getAffineDimExpr(i));
    results.push_back(m);
    results.push_back(n);
    SmallVector<IteratorType> iterators(batches + 3, IteratorType::parallel);
    iterators[batches + (reduceLast ? 2 : 1)] = IteratorType::reduction;
    rewriter.replaceOp(
        op, b.contract(type, lhs, rhs,
                       {map(lhs, m, k, op.getTransposeA()),
                        map(rhs, k, n, op.getTransposeB()),
                        AffineMap::get(batches + 3, 0, results, getContext())},
                       iterators));
    return success();
  }
};

/// See `computedAttrName`.
struct ReadComputed : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Type to = getElementTypeOrSelf(op.getResult(0).getType());
    rewriter.replaceOp(op, b.convertElements(adaptor.getInputs()[0], to));
    return success();
  }
};

struct ConvertFactToLinalgPass
    : fact::impl::ConvertFactToLinalgBase<ConvertFactToLinalgPass> {
  using ConvertFactToLinalgBase::ConvertFactToLinalgBase;
  void runOnOperation() override {
    Steps steps = sequential ? Steps::Sequential : Steps::Parallel;
    if (failed(convertFactToLinalg(getOperation(), wide, steps)))
      signalPassFailure();
  }
};
} // namespace

void fact::populateFactToLinalgPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        Steps steps) {
  patterns.add<LowerPointwise, LowerCast, LowerMatmul, ReadComputed>(
      converter, patterns.getContext());
  populateIndexingPatterns(converter, patterns);
  populateRowPatterns(converter, patterns, steps);
  populateScanPatterns(converter, patterns, steps);
  populateScatterPatterns(converter, patterns, steps);
  populateSortPatterns(converter, patterns, steps);
  populateViewPatterns(converter, patterns);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// A cast to f32 and back, which rounds and which no folder removes.
static Value roundYielded(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<FloatType>(type.getElementType()) ||
      type.getElementTypeBitWidth() != 16)
    return value;
  Value computed =
      CastOp::create(builder, loc, type.clone(builder.getF32Type()), value);
  return CastOp::create(builder, loc, type, computed);
}

void fact::inlineFactRegions(Operation *root, bool wide) {
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> regions;
  root->walk([&](Operation *op) {
    if (isa<FusedOp, PrepareOp>(op))
      regions.push_back(op);
  });
  for (Operation *op : regions) {
    Block &body = op->getRegion(0).front();
    Operation *yield = body.getTerminator();
    rewriter.inlineBlockBefore(&body, op, op->getOperands());
    rewriter.setInsertionPoint(yield);
    SmallVector<Value> results;
    for (Value value : yield->getOperands())
      results.push_back(wide || isa<PrepareOp>(op)
                            ? value
                            : roundYielded(rewriter, op->getLoc(), value));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
  }
}

LogicalResult fact::convertFactToLinalg(Operation *root, bool wide,
                                        Steps steps) {
  inlineFactRegions(root, wide);
  FactToLinalgTypeConverter converter(wide);
  RewritePatternSet patterns(root->getContext());
  populateFactToLinalgPatterns(converter, patterns, steps);
  ConversionTarget target(*root->getContext());
  target.addLegalDialect<arith::ArithDialect, linalg::LinalgDialect,
                         math::MathDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
  target.addIllegalDialect<FactDialect>();
  target.addLegalOp<WeightOp, GetWeightOp>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [](Operation *op) { return !op->hasAttr(computedAttrName); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(root, target, std::move(patterns));
}
