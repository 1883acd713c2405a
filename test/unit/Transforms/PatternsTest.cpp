//===- PatternsTest.cpp - Patterns of passes in another's rewriting -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a toolchain makes of the patterns that a pass exports is what the pass
// makes.
//
//===----------------------------------------------------------------------===//

#include "fact/Transforms/Patterns.h"
#include "fact/Conversion/FactToLinalg.h"
#include "fact/Conversion/TorchToFact.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Torch/Torch.h"
#include "fact/InitAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;

namespace {
/// A pass, its patterns, and a function that both change.
struct Exported {
  const char *pass;
  void (*populate)(RewritePatternSet &);
  const char *text;
};

void PrintTo(const Exported &exported, std::ostream *os) {
  *os << exported.pass;
}

const Exported all[] = {
    {"func.func(fact-fold-norms)",
     [](RewritePatternSet &patterns) { populateFoldNormsPatterns(patterns); },
     R"mlir(
fact.weight @scale : tensor<8xbf16>
fact.weight @w : tensor<16x8xbf16>
func.func @f(%x: tensor<4x8xbf16>) -> tensor<4x16xbf16> {
  %g = fact.get_weight @scale : tensor<8xbf16>
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %0 = fact.norm rms %x weight %g eps 1.0e-5 : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  return %1 : tensor<4x16xbf16>
})mlir"},
    {"fact-fold-views", populateFoldViewsPatterns, R"mlir(
func.func @f(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>) -> tensor<2x8x8xf32> {
  %0 = fact.permute %k [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  %1 = fact.matmul %q, %0 : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
})mlir"},
    {"fact-inline-fused", populateInlineFusedPatterns, R"mlir(
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %1 = fact.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %1, %a : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
})mlir"},
    // The weight of the second product is defined after the first.
    {"func.func(fact-merge-projections)",
     [](RewritePatternSet &patterns) {
       populateMergeProjectionsPatterns(patterns);
     },
     R"mlir(
fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>
func.func @f(%x: tensor<1x6x4xf32>, %v: tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32> {
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %k0 = fact.matmul %x, %wk transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
})mlir"},
    // Windows are what makes the pass move anything.
    {"fact-move-permutes", populateMovePermutesPatterns, R"mlir(
func.func @f(%x: tensor<2x8x8x4xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x6x6x3x3x4xf32>) {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x8x8x4xf32>) -> tensor<2x4x8x8xf32>
  %1 = fact.relu %0 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x4xf32>) -> tensor<2x6x6x3x3x4xf32>
  return %1, %2 : tensor<2x4x8x8xf32>, tensor<2x6x6x3x3x4xf32>
})mlir"},
    {"fact-normalize-rows", populateNormalizeRowsPatterns, R"mlir(
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.softmax %x dim 0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
})mlir"},
    // Two attentions with one mask.
    {"fact-prove-masks",
     [](RewritePatternSet &patterns) { populateProveMasksPatterns(patterns); },
     R"mlir(
fact.weight @mask = dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>
func.func @f(%q: tensor<1x1x2x8xf32>, %k: tensor<1x1x2x8xf32>, %v: tensor<1x1x2x8xf32>) -> (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<2x2xf32>) {
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<2x2xf32>) -> tensor<1x1x2x8xf32>
  %1 = fact.attention %k, %q, %v mask %m scale 1.0 : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<2x2xf32>) -> tensor<1x1x2x8xf32>
  return %0, %1, %m : tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<2x2xf32>
})mlir"},
    {"fact-raise-activations", populateRaiseActivationsPatterns, R"mlir(
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.mul %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
})mlir"},
    {"fact-raise-norms",
     [](RewritePatternSet &patterns) { populateRaiseNormsPatterns(patterns); },
     R"mlir(
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = fact.constant dense<1.0e-06> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.add %1, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
})mlir"},
    {"fact-raise-rotary",
     [](RewritePatternSet &patterns) { populateRaiseRotaryPatterns(patterns); },
     R"mlir(
func.func @f(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %1 = fact.neg %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %3 = fact.concat %1, %2 dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %4 = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = fact.mul %3, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = fact.add %4, %5 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
})mlir"},
    {"fact-raise-attention",
     [](RewritePatternSet &patterns) {
       populateRaiseAttentionPatterns(patterns);
     },
     R"mlir(
func.func @f(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x2x4x4xf32>
  %2 = fact.matmul %1, %v : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %2 : tensor<1x2x4x8xf32>
})mlir"},
    {"fact-simplify-products", populateSimplifyProductsPatterns, R"mlir(
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %v: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = fact.matmul %0, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
})mlir"},
    {"fact-split-gates",
     [](RewritePatternSet &patterns) { populateSplitGatesPatterns(patterns); },
     R"mlir(
func.func @f(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = fact.mul %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
})mlir"},
};

class Patterns : public testing::Test {
protected:
  Patterns() {
    DialectRegistry dialects;
    registerAllDialects(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
    registerAllPasses();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      llvm::report_fatal_error("the test's module cannot be read");
    return module;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }

  std::string runPass(StringRef text, StringRef pass) {
    OwningOpRef<ModuleOp> module = parse(text);
    PassManager passes(&context);
    EXPECT_TRUE(succeeded(parsePassPipeline(pass, passes)));
    EXPECT_TRUE(succeeded(passes.run(*module)));
    return print(*module);
  }

  MLIRContext context;
};

class ExportedPatterns : public Patterns,
                         public testing::WithParamInterface<Exported> {};
} // namespace

TEST_P(ExportedPatterns, DoWhatThePassDoes) {
  const Exported &exported = GetParam();
  auto rewrite = [&](StringRef text, bool withPatterns) {
    OwningOpRef<ModuleOp> module = parse(text);
    RewritePatternSet patterns(&context);
    if (withPatterns)
      exported.populate(patterns);
    EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, std::move(patterns))));
    return print(*module);
  };
  std::string rewritten = rewrite(exported.text, /*withPatterns=*/true);
  EXPECT_NE(rewritten, rewrite(exported.text, /*withPatterns=*/false));
  // The driver also moves constants and drops what nothing uses.
  EXPECT_EQ(rewritten, rewrite(runPass(exported.text, exported.pass),
                               /*withPatterns=*/false));
}

INSTANTIATE_TEST_SUITE_P(Passes, ExportedPatterns, testing::ValuesIn(all),
                         [](const testing::TestParamInfo<Exported> &info) {
                           std::string name;
                           for (char letter : StringRef(info.param.pass))
                             if (llvm::isAlpha(letter))
                               name += letter;
                           return name;
                         });

/// The lowering to linalg converts types too: a conversion of one's own.
TEST_F(Patterns, LowerToLinalg) {
  StringRef text = R"mlir(
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fact.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})mlir";
  OwningOpRef<ModuleOp> module = parse(text);
  FactToLinalgTypeConverter converter(/*wide=*/false);
  RewritePatternSet patterns(&context);
  populateFactToLinalgPatterns(converter, patterns);
  ConversionTarget target(context);
  target.addIllegalDialect<FactDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  EXPECT_TRUE(
      succeeded(applyPartialConversion(*module, target, std::move(patterns))));
  EXPECT_EQ(print(*module), runPass(text, "convert-fact-to-linalg"));
}

static LogicalResult convertTorch(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TorchToFactTypeConverter converter;
  RewritePatternSet patterns(context);
  populateTorchToFactPatterns(patterns);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  ConversionTarget target(*context);
  target.addIllegalDialect<torch::TorchDialect>();
  target.addLegalDialect<FactDialect>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  target.addDynamicallyLegalOp<func::ReturnOp>(
      [&](func::ReturnOp op) { return converter.isLegal(op); });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Numbers, lists, values of several tensors and weights, one of them read by
/// two functions: all that is not one tensor for another.
TEST_F(Patterns, ConvertFromTorch) {
  StringRef text = R"mlir(
func.func @f(%x: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,12],f32>) {
  %w = torch.fact.weight {name = "w"} : -> !torch.vtensor<[4,8],f32>
  %two = torch.constant.int 2
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %w, %two : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>, !torch.int -> !torch.vtensor<[4,8],f32>
  %1 = torch.aten.chunk %0, %two, %one : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %2:2 = torch.prim.ListUnpack %1 : !torch.list<vtensor> -> !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  %3 = torch.prim.ListConstruct %2#1, %x : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,8],f32>) -> !torch.list<vtensor>
  %4 = torch.aten.cat %3, %one : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,12],f32>
  return %2#0, %4 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,12],f32>
}
func.func @g() -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4,8],f32>) {
  %v = torch.fact.weight {name = "v"} : -> !torch.vtensor<[4],f32>
  %w = torch.fact.weight {name = "w"} : -> !torch.vtensor<[4,8],f32>
  return %v, %w : !torch.vtensor<[4],f32>, !torch.vtensor<[4,8],f32>
})mlir";
  OwningOpRef<ModuleOp> module = parse(text);
  ASSERT_TRUE(succeeded(convertTorch(*module)));
  EXPECT_EQ(print(*module), runPass(text, "convert-torch-to-fact"));
}

TEST_F(Patterns, RefuseFromTorch) {
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parse(R"mlir(
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.no_such_op %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
})mlir");
  EXPECT_TRUE(failed(convertTorch(*module)));
  EXPECT_NE(error.find("failed to legalize operation 'torch.aten.no_such_op'"),
            std::string::npos)
      << error;
  // Another function declares the weight with another type.
  error.clear();
  module = parse(R"mlir(
func.func @f() -> !torch.vtensor<[4],f32> {
  %w = torch.fact.weight {name = "w"} : -> !torch.vtensor<[4],f32>
  return %w : !torch.vtensor<[4],f32>
}
func.func @g() -> !torch.vtensor<[8],f32> {
  %w = torch.fact.weight {name = "w"} : -> !torch.vtensor<[8],f32>
  return %w : !torch.vtensor<[8],f32>
})mlir");
  EXPECT_TRUE(failed(convertTorch(*module)));
  EXPECT_NE(error.find("\"w\""), std::string::npos) << error;
}
