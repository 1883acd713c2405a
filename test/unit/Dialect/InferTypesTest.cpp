//===- InferTypesTest.cpp - Ops that are built without a result type ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpFixture.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class InferTypes : public OpFixture {
protected:
  using OpFixture::argument;
  Value argument(ArrayRef<int64_t> shape, Type element) {
    return UnrealizedConversionCastOp::create(
               builder, loc, RankedTensorType::get(shape, element),
               ValueRange())
        .getResult(0);
  }

  /// Expects that the verifier accepts the inferred type, that it is the one of
  /// this shape, and that the verifier refuses another one.
  template <typename OpT>
  void expect(OpT op, ArrayRef<int64_t> shape, Type element = Type()) {
    auto type =
        RankedTensorType::get(shape, element ? element : builder.getF32Type());
    EXPECT_EQ(op.getType(), type);
    EXPECT_TRUE(succeeded(verify(op)));

    SmallVector<int64_t> other(shape);
    other.push_back(3);
    op->getResult(0).setType(type.clone(ArrayRef<int64_t>(other)));
    std::string error = collect([&] { EXPECT_TRUE(failed(verify(op))); });
    EXPECT_NE(error.find("result is "), std::string::npos) << error;
    EXPECT_NE(error.find(", but should be "), std::string::npos) << error;
    op->getResult(0).setType(type);
  }

  /// The diagnostics that `function` emits.
  template <typename Function> std::string collect(Function function) {
    std::string errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str();
      return success();
    });
    function();
    return errors;
  }

  /// The diagnostic of an inference that fails. Without a location there is
  /// none.
  template <typename OpT>
  std::string refuse(ValueRange operands,
                     typename OpT::Properties properties = {}) {
    auto infer = [&](std::optional<Location> location) {
      SmallVector<Type> types;
      EXPECT_TRUE(failed(
          OpT::inferReturnTypes(&context, location, operands, DictionaryAttr(),
                                OpaqueProperties(&properties), {}, types)));
    };
    EXPECT_EQ(collect([&] { infer(std::nullopt); }), "");
    return collect([&] { infer(loc); });
  }
};
} // namespace

TEST_F(InferTypes, PointwiseOps) {
  Value x = argument({4, 1, 8}), y = argument({6, 1});
  expect(ExpOp::create(builder, loc, x), {4, 1, 8});
  expect(AddOp::create(builder, loc, x, y), {4, 6, 8});
  expect(GeluOp::create(builder, loc, y), {6, 1});
  expect(
      ClampOp::create(builder, loc, x, builder.getF64FloatAttr(0), FloatAttr()),
      {4, 1, 8});
  auto compare = CompareOp::create(builder, loc, Predicate::lt, x, y);
  expect(compare, {4, 6, 8}, builder.getI1Type());
  expect(SelectOp::create(builder, loc, compare, x, y), {4, 6, 8});
}

TEST_F(InferTypes, PointwiseOpsReportOperandsThatDoNotFit) {
  Value x = argument({4, 8}), half = argument({4, 8}, builder.getF16Type());
  EXPECT_EQ(refuse<AddOp>({x, argument({3})}),
            "'fact.add' op operand shapes do not broadcast: "
            "'tensor<4x8xf32>', 'tensor<3xf32>'");
  EXPECT_EQ(refuse<AddOp>({x, half}),
            "'fact.add' op operands need one element type, not "
            "'tensor<4x8xf32>', 'tensor<4x8xf16>'; only a float of rank 0 may "
            "be wider");
  Value condition = argument({4, 8}, builder.getI1Type());
  EXPECT_EQ(refuse<SelectOp>({condition, x, half}),
            "'fact.select' op (C1) selects between 'tensor<4x8xf32>' and "
            "'tensor<4x8xf16>'; both need one element type");
}

TEST_F(InferTypes, AWiderScalarDoesNotWidenTheResult) {
  Value half = argument({4}, builder.getF16Type());
  Value wide = argument({}, builder.getF64Type());
  expect(MulOp::create(builder, loc, wide, half), {4}, builder.getF16Type());
  expect(MulOp::create(builder, loc, half, wide), {4}, builder.getF16Type());
  expect(MulOp::create(builder, loc, wide, argument({})), {},
         builder.getF32Type());
  Value condition = argument({2, 1}, builder.getI1Type());
  expect(SelectOp::create(builder, loc, condition, wide, half), {2, 4},
         builder.getF16Type());
  // A narrower scalar, and a wider one of rank 1, are refused.
  refuse<MulOp>({argument({4}), argument({}, builder.getF16Type())});
  refuse<MulOp>({half, argument({1})});
}

TEST_F(InferTypes, Contractions) {
  expect(MatmulOp::create(builder, loc, argument({3, 1, 8, 4}),
                          argument({2, 5, 8}), /*transpose_a=*/true,
                          /*transpose_b=*/true),
         {3, 2, 4, 5});
  expect(AttentionOp::create(builder, loc, argument({2, 4, 16, 8}),
                             argument({2, 2, 12, 8}), argument({2, 2, 12, 6}),
                             argument({16, 12}), builder.getF64FloatAttr(1),
                             UnitAttr()),
         {2, 4, 16, 6});
  EXPECT_EQ(refuse<MatmulOp>({argument({4, 8}), argument({7, 5})}),
            "'fact.matmul' op (C2) contracted sizes differ: 8 and 7");
}

TEST_F(InferTypes, Rows) {
  Value x = argument({4, 6, 8});
  auto softmax = SoftmaxOp::create(builder, loc, x, 1);
  EXPECT_EQ(softmax.getType(), type({4, 6, 8}));
  EXPECT_TRUE(succeeded(verify(softmax)));
  expect(NormOp::create(builder, loc, NormKind::layer, x, argument({6, 8}),
                        /*bias=*/Value(), llvm::APFloat(1e-5),
                        /*dims=*/uint64_t(2)),
         {4, 6, 8});
  auto reduce = [&](ReduceKind kind, ArrayRef<int64_t> dims, bool keep) {
    return ReduceOp::create(builder, loc, kind, x, dims, keep);
  };
  expect(reduce(ReduceKind::sum, {0, 2}, /*keep=*/false), {6});
  expect(reduce(ReduceKind::sum, {0, 2}, /*keep=*/true), {1, 6, 1});
  expect(reduce(ReduceKind::argmax, {1}, /*keep=*/false), {4, 8},
         builder.getI64Type());
  expect(RotaryOp::create(builder, loc, x, argument({8}), argument({6, 8})),
         {4, 6, 8});
  expect(ArgsortOp::create(builder, loc, x, /*dim=*/1, /*descending=*/true,
                           builder.getI64IntegerAttr(2)),
         {4, 2, 8}, builder.getI64Type());
}

TEST_F(InferTypes, IndicesAndViews) {
  Value x = argument({4, 6, 8});
  Value indices = argument({2, 3}, builder.getI64Type());
  expect(GatherOp::create(builder, loc, x, indices, 1), {4, 2, 3, 8});
  expect(ScatterOp::create(builder, loc, ScatterKind::sum, x, indices,
                           argument({4, 2, 3, 8}), 1),
         {4, 6, 8});
  expect(PermuteOp::create(builder, loc, x, ArrayRef<int64_t>{2, 0, 1}),
         {8, 4, 6});
  expect(
      ConcatOp::create(builder, loc, ValueRange{x, argument({4, 1, 8}), x}, 1),
      {4, 13, 8});
  expect(WindowsOp::create(builder, loc, x, 1, ArrayRef<int64_t>{2, 3},
                           ArrayRef<int64_t>{2, 1}, ArrayRef<int64_t>{1, 2}),
         {4, 3, 4, 2, 3});
  ConcatOp::Properties properties;
  properties.dim = builder.getI64IntegerAttr(1);
  EXPECT_EQ(refuse<ConcatOp>({x, argument({3, 6, 8})}, properties),
            "'fact.concat' op (C2) cannot concatenate 'tensor<4x6x8xf32>' and "
            "'tensor<3x6x8xf32>' along dim 1; all else but the size of this "
            "dim must be equal");
  EXPECT_EQ(refuse<ConcatOp>({}, properties),
            "'fact.concat' op (C1) needs an operand");
}
