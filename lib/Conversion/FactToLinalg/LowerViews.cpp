//===- LowerViews.cpp - Views, concatenation and constants ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBuilder.h"

using namespace mlir;
using namespace fact;

namespace {
struct LowerReshape : OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, b.reshape(adaptor.getOperand(), op.getType().getShape()));
    return success();
  }
};

struct LowerPermute : OpConversionPattern<PermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PermuteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    SmallVector<AffineExpr> source(op.getDims().size());
    for (auto [i, dim] : llvm::enumerate(op.getDims()))
      source[dim] = b.getAffineDimExpr(i);
    AffineMap map = AffineMap::get(source.size(), 0, source, getContext());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, b.map(type, adaptor.getOperand(), map,
                                 [](auto &, ValueRange x) { return x[0]; }));
    return success();
  }
};

struct LowerSlice : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(rewriter.getIndexAttr(size));
    offsets[op.getDim()] = rewriter.getIndexAttr(op.getStart());
    strides[op.getDim()] = rewriter.getIndexAttr(op.getStep());
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, adaptor.getOperand(), offsets, sizes, strides);
    return success();
  }
};

struct LowerExpand : OpConversionPattern<ExpandOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ExpandOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(
        op, b.mapBroadcast(type, adaptor.getOperand(),
                           [](auto &, ValueRange x) { return x[0]; }));
    return success();
  }
};

struct LowerWindows : OpConversionPattern<WindowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(WindowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    AffineMap map = AffineMap::get(op.getType().getRank(), 0,
                                   op.getSourceExprs(), getContext());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, b.map(type, adaptor.getOperand(), map,
                                 [](auto &, ValueRange x) { return x[0]; }));
    return success();
  }
};

struct LowerConcat : OpConversionPattern<ConcatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConcatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Value result = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    int64_t at = 0;
    for (Value input : adaptor.getInputs()) {
      SmallVector<OpFoldResult> sizes;
      for (int64_t size : tensorType(input).getShape())
        sizes.push_back(rewriter.getIndexAttr(size));
      offsets[op.getDim()] = rewriter.getIndexAttr(at);
      result = tensor::InsertSliceOp::create(rewriter, op.getLoc(), input,
                                             result, offsets, sizes, strides);
      at += tensorType(input).getDimSize(op.getDim());
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerConstant : OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    // As an array, one element repeated would be text of all its repetitions.
    if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
        splat && type.getRank() > 0) {
      Value scalar =
          arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
      scalar = b.convertScalar(scalar, type.getElementType());
      Value empty =
          tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
      rewriter.replaceOp(op, linalg::FillOp::create(b, scalar, empty));
      return success();
    }
    Value constant =
        arith::ConstantOp::create(b, cast<TypedAttr>(op.getValue()));
    rewriter.replaceOp(op, b.convertElements(constant, type.getElementType()));
    return success();
  }
};
} // namespace

void fact::populateViewPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns) {
  patterns.add<LowerReshape, LowerPermute, LowerSlice, LowerExpand,
               LowerWindows, LowerConcat, LowerConstant>(converter,
                                                         patterns.getContext());
}
