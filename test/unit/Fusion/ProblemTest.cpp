//===- ProblemTest.cpp - What tells the problems of regions apart ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Problem.h"
#include "TestTarget.h"
#include "fact/Kernel/Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;

namespace {
/// A family that only has a rule.
class RuleOnly : public Family {
public:
  explicit RuleOnly(const Rule &rule) : Family(rule, "cuda", {}) {}
  FailureOr<std::unique_ptr<Plan>> plan(FusedOp, const MachineDescription &,
                                        EmitError) const override {
    return failure();
  }
};

/// What a plug-in may say of its regions.
const Rule ownRule{"own_rule",
                   "Anything.",
                   nullptr,
                   true,
                   false,
                   false,
                   false,
                   false,
                   [](FusedOp fused) {
                     return ProblemExtents{
                         {"operands", int64_t(fused.getInputs().size())},
                         {"nothing", 0}};
                   }};

class ProblemTest : public testing::Test {
protected:
  ProblemTest() {
    DialectRegistry dialects;
    dialects.insert<FactDialect, func::FuncDialect>();
    registerTarget<TestTarget>(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
    auto &registry =
        KernelRegistry::get(*context.getLoadedDialect<FactDialect>());
    for (const Rule *rule :
         {&gemmEpilogueRule, &groupedGemmRule, &attentionRule, &rowwiseRule,
          &pointwiseRule, &ownRule})
      registry.addFamily(std::make_unique<RuleOnly>(*rule));
    target = createTarget(&context, *findMachine("h200"));
  }

  /// The problem of a region with f32 arguments %a0, %a1, ... of these shapes,
  /// and a body whose result is %r.
  registry::Problem get(StringRef rule, ArrayRef<StringRef> shapes,
                        StringRef body, StringRef result) {
    std::string arguments, types, inputs, block;
    for (auto [i, shape] : llvm::enumerate(shapes)) {
      std::string type = ("tensor<" + shape + "xf32>").str();
      std::string comma = i ? ", " : "";
      arguments += comma + "%x" + std::to_string(i) + ": " + type;
      inputs += comma + "%x" + std::to_string(i);
      types += comma + type;
      block += comma + "%a" + std::to_string(i) + ": " + type;
    }
    std::string type = ("tensor<" + result + "xf32>").str();
    std::string text = "func.func @f(" + arguments +
                       ") {\n  %f = fact.fused \"" + rule.str() + "\" ins(" +
                       inputs + " : " + types + ") {\n  ^bb0(" + block +
                       "):\n" + body.str() + "    fact.yield %r : " + type +
                       "\n  } : " + type + "\n  return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    FusedOp found;
    if (module)
      module->walk([&](FusedOp fused) { found = fused; });
    EXPECT_TRUE(found) << text;
    return found ? getProblem(found, *target) : registry::Problem();
  }

  /// The problem of a product of matrices, followed by `more`, which makes %r
  /// of %p.
  registry::Problem
  getProduct(StringRef more = "    %r = fact.exp %p : (tensor<8x32xf32>) -> "
                              "tensor<8x32xf32>\n",
             StringRef result = "8x32") {
    return get("gemm_epilogue", {"8x16", "32x16"},
               ("    %p = fact.matmul %a0, %a1 transpose_b : "
                "(tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>\n" +
                more)
                   .str(),
               result);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Target> target;
};
} // namespace

TEST_F(ProblemTest, ReductionsHaveKindsAndDirections) {
  auto reduce = [&](StringRef kind, StringRef dim, StringRef result) {
    return getProduct(("    %r = fact.reduce " + kind + " %p dims [" + dim +
                       "] : (tensor<8x32xf32>) -> tensor<" + result + "xf32>\n")
                          .str(),
                      result);
  };
  registry::Problem rows = reduce("sum", "1", "8");
  EXPECT_EQ(rows.ops, "matmul.nt,reduce.sum.rows");
  EXPECT_EQ(rows.format, 2);
  EXPECT_EQ(reduce("sum", "0", "32").ops, "matmul.nt,reduce.sum.columns");
  EXPECT_EQ(reduce("max", "1", "8").ops, "matmul.nt,reduce.max.rows");
  EXPECT_NE(reduce("max", "1", "8").getId(), rows.getId());
  // Columns may be written as the rows of a permuted value.
  EXPECT_EQ(
      getProduct("    %t = fact.permute %p [1, 0] : (tensor<8x32xf32>) -> "
                 "tensor<32x8xf32>\n"
                 "    %r = fact.reduce sum %t dims [1] : "
                 "(tensor<32x8xf32>) -> tensor<32xf32>\n",
                 "32")
          .ops,
      "matmul.nt,reduce.sum.columns");
  EXPECT_EQ(get("rowwise", {"4x8x16"},
                "    %r = fact.reduce min %a0 dims [1] : (tensor<4x8x16xf32>) "
                "-> tensor<4x16xf32>\n",
                "4x16")
                .ops,
            "reduce.min.mixed");
  EXPECT_EQ(get("rowwise", {"1x8x16"},
                "    %r = fact.reduce min %a0 dims [1] : (tensor<1x8x16xf32>) "
                "-> tensor<1x16xf32>\n",
                "1x16")
                .ops,
            "reduce.min.columns");
}

TEST_F(ProblemTest, RowsHaveDirections) {
  auto softmax = [&](StringRef dim) {
    return get(
        "rowwise", {"8x16"},
        ("    %r = fact.softmax %a0 dim " + dim + " : tensor<8x16xf32>\n")
            .str(),
        "8x16");
  };
  EXPECT_EQ(softmax("1").ops, "softmax");
  EXPECT_EQ(softmax("0").ops, "softmax.columns");
  EXPECT_EQ(softmax("1").getExtentsText(), "columns=16 rows=8 tensors=2");
  EXPECT_EQ(softmax("0").getExtentsText(), "columns=8 rows=16 tensors=2");
  EXPECT_EQ(get("rowwise", {"8x16"},
                "    %r = fact.norm rms %a0 eps 1.0e-5 : (tensor<8x16xf32>) "
                "-> tensor<8x16xf32>\n",
                "8x16")
                .ops,
            "rms_norm");
}

TEST_F(ProblemTest, ContractionsHaveLayouts) {
  auto multiply = [&](StringRef a, StringRef b, StringRef views,
                      StringRef words, StringRef types) {
    return get("gemm_epilogue", {a, b},
               (views + "    %r = fact.matmul " + words + " : " + types +
                " -> tensor<8x32xf32>\n")
                   .str(),
               "8x32")
        .ops;
  };
  StringRef plain = "(tensor<8x16xf32>, tensor<16x32xf32>)";
  StringRef linear = "(tensor<8x16xf32>, tensor<32x16xf32>)";
  EXPECT_EQ(multiply("8x16", "16x32", "", "%a0, %a1", plain), "matmul.nn");
  EXPECT_EQ(multiply("8x16", "32x16", "", "%a0, %a1 transpose_b", linear),
            "matmul.nt");
  EXPECT_EQ(multiply("16x8", "16x32", "", "%a0, %a1 transpose_a",
                     "(tensor<16x8xf32>, tensor<16x32xf32>)"),
            "matmul.tn");
  // What memory has counts, not how it is written.
  StringRef permuted = "    %t = fact.permute %a1 [1, 0] : (tensor<32x16xf32>) "
                       "-> tensor<16x32xf32>\n";
  EXPECT_EQ(multiply("8x16", "32x16", permuted, "%a0, %t", plain), "matmul.nt");
  permuted = "    %t = fact.permute %a1 [1, 0] : (tensor<16x32xf32>) -> "
             "tensor<32x16xf32>\n";
  EXPECT_EQ(multiply("8x16", "16x32", permuted, "%a0, %t transpose_b", linear),
            "matmul.nn");
  // Every second column.
  StringRef slice = "    %t = fact.slice %a0 dim 1 start 0 step 2 : "
                    "(tensor<8x32xf32>) -> tensor<8x16xf32>\n";
  EXPECT_EQ(multiply("8x32", "16x32", slice, "%t, %a1", plain), "matmul.sn");
  // A part of packed rows is as contiguous as the whole.
  slice = "    %t = fact.slice %a0 dim 1 start 16 : (tensor<8x48xf32>) -> "
          "tensor<8x16xf32>\n";
  EXPECT_EQ(multiply("8x48", "16x32", slice, "%t, %a1", plain), "matmul.nn");
}

TEST_F(ProblemTest, AVectorHasOneLayout) {
  auto multiply = [&](StringRef shape, StringRef word) {
    return get("gemm_epilogue", {shape, "16x32"},
               ("    %r = fact.matmul %a0, %a1 " + word + " : (tensor<" +
                shape + "xf32>, tensor<16x32xf32>) -> tensor<1x32xf32>\n")
                   .str(),
               "1x32")
        .ops;
  };
  EXPECT_EQ(multiply("1x16", ""), "matmul.nn");
  EXPECT_EQ(multiply("16x1", "transpose_a"), "matmul.nn");
}

TEST_F(ProblemTest, ExtentsOfContractions) {
  registry::Problem product = getProduct();
  EXPECT_EQ(product.rule, "gemm_epilogue");
  EXPECT_EQ(product.dtype, "f32");
  EXPECT_EQ(product.architecture, "sm_90a");
  EXPECT_EQ(product.getExtentsText(), "batch=1 k=16 m=8 n=32 tensors=1");
  // The residual is read, and batches that share a factor are rows.
  registry::Problem residual =
      get("gemm_epilogue", {"2x4x16", "32x16", "2x4x32"},
          "    %p = fact.matmul %a0, %a1 transpose_b : (tensor<2x4x16xf32>, "
          "tensor<32x16xf32>) -> tensor<2x4x32xf32>\n"
          "    %r = fact.add %p, %a2 : (tensor<2x4x32xf32>, "
          "tensor<2x4x32xf32>) -> tensor<2x4x32xf32>\n",
          "2x4x32");
  EXPECT_EQ(residual.getExtentsText(), "batch=1 k=16 m=8 n=32 tensors=2");
  registry::Problem batched =
      get("gemm_epilogue", {"2x4x16", "2x16x32"},
          "    %r = fact.matmul %a0, %a1 : (tensor<2x4x16xf32>, "
          "tensor<2x16x32xf32>) -> tensor<2x4x32xf32>\n",
          "2x4x32");
  EXPECT_EQ(batched.getExtentsText(), "batch=2 k=16 m=4 n=32 tensors=1");
}

TEST_F(ProblemTest, RulesSayTheirExtents) {
  StringRef products =
      "    %p = fact.matmul %a0, %a1 transpose_b : (tensor<8x16xf32>, "
      "tensor<32x16xf32>) -> tensor<8x32xf32>\n"
      "    %q = fact.matmul %a0, %a2 transpose_b : (tensor<8x16xf32>, "
      "tensor<32x16xf32>) -> tensor<8x32xf32>\n"
      "    %r = fact.add %p, %q : (tensor<8x32xf32>, tensor<8x32xf32>) -> "
      "tensor<8x32xf32>\n";
  auto getText = [&](StringRef rule) {
    return get(rule, {"8x16", "32x16", "32x16"}, products, "8x32")
        .getExtentsText();
  };
  EXPECT_EQ(getText("grouped_gemm"), "batch=1 k=16 m=8 n=64 tensors=1");
  // No extent is 0.
  EXPECT_EQ(getText("own_rule"), "nothing=1 operands=3");
  // A rule that the target has no family for: those of the anchor.
  EXPECT_EQ(getText("other_rule"), "batch=1 k=16 m=8 n=32 tensors=1");
}

TEST_F(ProblemTest, AttentionHasNoTensorsBesideItsOwn) {
  registry::Problem problem =
      get("attention", {"2x4x8x16", "2x2x32x16"},
          "    %r = fact.attention %a0, %a1, %a1 causal scale 0.25 : "
          "(tensor<2x4x8x16xf32>, tensor<2x2x32x16xf32>, "
          "tensor<2x2x32x16xf32>) -> tensor<2x4x8x16xf32>\n",
          "2x4x8x16");
  EXPECT_EQ(problem.ops, "causal_attention");
  EXPECT_EQ(problem.getExtentsText(),
            "batch=2 head=16 heads=4 keys=32 kv_heads=2 queries=8");
}

TEST_F(ProblemTest, NoAnchor) {
  registry::Problem problem =
      get("pointwise", {"8x16"},
          "    %t = fact.reshape %a0 : (tensor<8x16xf32>) -> tensor<128xf32>\n"
          "    %r = fact.exp %t : (tensor<128xf32>) -> tensor<128xf32>\n",
          "128");
  EXPECT_EQ(problem.ops, "exp");
  EXPECT_EQ(problem.getExtentsText(), "elements=128 tensors=2");
}
