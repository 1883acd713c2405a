//===- PointwiseGraphTest.cpp - Graphs that regions are read into ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/PointwiseGraph.h"
#include "RegionFixture.h"

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class PointwiseGraphTest : public RegionFixture {
protected:
  /// The graph as text: a line per leaf, a line per node, the results. Empty
  /// where the region is refused.
  std::string read(FusedOp fused, const PointwiseGraph::Options &options = {},
                   ArrayRef<int64_t> indexSpace = {}) {
    SmallVector<Value> results(fused.getYield()->getOperands());
    if (indexSpace.empty())
      indexSpace = cast<RankedTensorType>(results.front().getType()).getShape();
    message.clear();
    FailureOr<PointwiseGraph> graph =
        PointwiseGraph::read(results, indexSpace, options, report(fused));
    if (failed(graph))
      return "";
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const PointwiseGraph::Leaf &leaf : graph->getLeaves()) {
      os << (leaf.isAnchor ? "anchor " : "leaf ") << getName(leaf.value) << ' '
         << strides(leaf.view);
      os << '\n';
    }
    for (const PointwiseGraph::Node &node : graph->getNodes()) {
      if (!node.op)
        os << "read " << node.leaf;
      else
        os << node.op->getName().stripDialect();
      for (unsigned operand : node.operands)
        os << " %" << operand;
      os << '\n';
    }
    for (unsigned result : graph->getResults())
      os << "=> %" << result << '\n';
    return text;
  }

private:
  static std::string getName(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return std::to_string(argument.getArgNumber());
    return value.getDefiningOp()->getName().stripDialect().str();
  }
};
} // namespace

TEST_F(PointwiseGraphTest, ViewsMoveToTheLeaves) {
  FusedOp fused = parse({"tensor<4x6xf32>", "tensor<6x4xf32>"}, R"(
    %2 = fact.permute %1 [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
    %3 = fact.add %0, %2 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %4 = fact.slice %3 dim 1 start 1 step 2 : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %5 = fact.exp %4 : (tensor<4x3xf32>) -> tensor<4x3xf32>
    fact.yield %5 : tensor<4x3xf32>)");
  EXPECT_EQ(read(fused), "leaf 0 +1 4:6 3:2\n"
                         "leaf 1 +4 4:1 3:8\n"
                         "read 0\nread 1\nadd %0 %1\nexp %2\n=> %3\n");
}

TEST_F(PointwiseGraphTest, OneComputationAtTwoViews) {
  FusedOp fused = parse({"tensor<8xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    %2 = fact.slice %1 dim 0 start 0 : (tensor<8xf32>) -> tensor<4xf32>
    %3 = fact.slice %1 dim 0 start 4 : (tensor<8xf32>) -> tensor<4xf32>
    %4 = fact.mul %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = fact.add %4, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    fact.yield %5 : tensor<4xf32>)");
  EXPECT_EQ(read(fused), "leaf 0 +0 4:1\n"
                         "leaf 0 +4 4:1\n"
                         "read 0\nexp %0\nread 1\nexp %2\n"
                         "mul %1 %3\nadd %4 %1\n=> %5\n");
}

TEST_F(PointwiseGraphTest, BroadcastLeaves) {
  FusedOp fused = parse({"tensor<2x3x4xf32>", "tensor<4xf32>",
                         "tensor<2x1x1xf32>", "tensor<f32>"},
                        R"(
    %4 = fact.add %0, %1 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %5 = fact.mul %4, %2 : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
    %6 = fact.mul %5, %3 : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    fact.yield %6 : tensor<2x3x4xf32>)");
  EXPECT_EQ(read(fused), "leaf 0 +0 2:12 3:4 4:1\n"
                         "leaf 1 +0 2:0 3:0 4:1\n"
                         "leaf 2 +0 2:1 3:0 4:0\n"
                         "leaf 3 +0 2:0 3:0 4:0\n"
                         "read 0\nread 1\nadd %0 %1\nread 2\nmul %2 %3\n"
                         "read 3\nmul %4 %5\n=> %6\n");
  // Rows 0 to 2 of a [6, 4] matrix have one scale, rows 3 to 5 another.
  EXPECT_EQ(read(fused, {}, {6, 4}), "");
  EXPECT_EQ(message, "an operand of type 'tensor<2x1x1xf32>' is read through "
                     "views that strides cannot describe");
}

TEST_F(PointwiseGraphTest, ResultsShareNodesAndTheIndexSpace) {
  FusedOp fused = parse({"tensor<2x3x1xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
    %2 = fact.reshape %1 : (tensor<2x3x1xf32>) -> tensor<6xf32>
    %3 = fact.neg %2 : (tensor<6xf32>) -> tensor<6xf32>
    fact.yield %1, %3 : tensor<2x3x1xf32>, tensor<6xf32>)");
  EXPECT_EQ(read(fused, {}, {6, 1}), "leaf 0 +0 6:1 1:0\n"
                                     "read 0\nexp %0\nneg %1\n=> %1\n=> %2\n");
}

TEST_F(PointwiseGraphTest, Anchors) {
  FusedOp fused = parse({"tensor<4x6xf32>", "tensor<6x5xf32>"}, R"(
    %2 = fact.matmul %0, %1 : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
    %3 = fact.permute %2 [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %4 = fact.permute %3 [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %5 = fact.exp %4 : (tensor<4x5xf32>) -> tensor<4x5xf32>
    fact.yield %5 : tensor<4x5xf32>)");
  EXPECT_EQ(read(fused), "");
  EXPECT_EQ(message, "'fact.matmul' is not a pointwise op or a view");
  PointwiseGraph::Options options;
  auto isProduct = [](Value value, const StridedView *) {
    return value.getDefiningOp<MatmulOp>() != nullptr;
  };
  options.isAnchor = isProduct;
  EXPECT_EQ(read(fused, options), "anchor matmul +0 4:5 5:1\n"
                                  "read 0\nexp %0\n=> %1\n");
  // A view of a value may be the anchor.
  auto isPermuted = [](Value value, const StridedView *view) {
    return value.getDefiningOp<PermuteOp>() && view && view->isRowMajor();
  };
  options.isAnchor = isPermuted;
  EXPECT_EQ(read(fused, options), "anchor permute +0 4:5 5:1\n"
                                  "read 0\nexp %0\n=> %1\n");
}

TEST_F(PointwiseGraphTest, AnchorWithoutStrides) {
  FusedOp fused = parse({"tensor<4x6xf32>"}, R"(
    %1 = fact.exp %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = fact.permute %1 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %3 = fact.reshape %2 : (tensor<6x4xf32>) -> tensor<24xf32>
    fact.yield %3 : tensor<24xf32>)");
  PointwiseGraph::Options options;
  auto isExp = [](Value value, const StridedView *view) {
    bool isExp = value.getDefiningOp<ExpOp>() != nullptr;
    EXPECT_EQ(view == nullptr, isExp);
    return isExp;
  };
  options.isAnchor = isExp;
  EXPECT_EQ(read(fused, options), "");
  EXPECT_EQ(message, "an operand of type 'tensor<4x6xf32>' is read through "
                     "views that strides cannot describe");
}

TEST_F(PointwiseGraphTest, NormWeights) {
  FusedOp fused =
      parse({"tensor<4x6xf32>", "tensor<6xf32>", "tensor<6xf32>"}, R"(
    %3 = fact.norm layer %0 weight %1 bias %2 eps 1.0e-05 : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    %4 = fact.exp %3 : (tensor<4x6xf32>) -> tensor<4x6xf32>
    fact.yield %4 : tensor<4x6xf32>)");
  PointwiseGraph::Options options;
  auto isNorm = [](Value value, const StridedView *) {
    return value.getDefiningOp<NormOp>() != nullptr;
  };
  options.isAnchor = isNorm;
  EXPECT_EQ(read(fused, options), "anchor norm +0 4:6 6:1\n"
                                  "read 0\nexp %0\n=> %1\n");
  options.appliesNormWeights = true;
  EXPECT_EQ(read(fused, options), "anchor norm +0 4:6 6:1\n"
                                  "leaf 1 +0 4:0 6:1\n"
                                  "leaf 2 +0 4:0 6:1\n"
                                  "read 0\nread 1\nread 2\nnorm %0 %1 %2\n"
                                  "exp %3\n=> %4\n");
}

TEST_F(PointwiseGraphTest, Constants) {
  FusedOp splat = parse({"tensor<2x2xf32>"}, R"(
    %1 = fact.constant dense<2.0> : tensor<2x2xf32>
    %2 = fact.permute %1 [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = fact.add %0, %2 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    fact.yield %3 : tensor<2x2xf32>)");
  EXPECT_EQ(read(splat), "leaf 0 +0 2:2 2:1\n"
                         "read 0\nconstant\nadd %0 %1\n=> %2\n");
  FusedOp different = parse({"tensor<2xf32>"}, R"(
    %1 = fact.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %2 = fact.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    fact.yield %2 : tensor<2xf32>)");
  EXPECT_EQ(read(different), "");
  EXPECT_EQ(message, "a constant with different elements must be an operand of "
                     "the kernel");
  PointwiseGraph::Options options;
  options.readsConstants = true;
  EXPECT_EQ(read(different, options), "leaf 0 +0 2:1\n"
                                      "leaf constant +0 2:1\n"
                                      "read 0\nread 1\nadd %0 %1\n=> %2\n");
  FusedOp elsewhere = parse({"tensor<2xf32>"}, R"(
    %1 = fact.constant dense_resource<somewhere> : tensor<2xf32>
    %2 = fact.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    fact.yield %2 : tensor<2xf32>)");
  EXPECT_EQ(read(elsewhere, options), "");
  EXPECT_EQ(message, "a constant of type 'tensor<2xf32>' must have its "
                     "elements in the IR");
}

TEST_F(PointwiseGraphTest, Gathers) {
  const char *body = R"(
    %2 = fact.neg %1 : (tensor<3xi64>) -> tensor<3xi64>
    %3 = fact.gather %0, %2 dim 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    %4 = fact.permute %3 [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    fact.yield %4 : tensor<4x3xf32>)";
  FusedOp fused = parse({"tensor<9x4xf32>", "tensor<3xi64>"}, body);
  EXPECT_EQ(read(fused), "");
  EXPECT_EQ(message, "'fact.gather' is not a pointwise op or a view");
  PointwiseGraph::Options options;
  options.readsGathers = true;
  EXPECT_EQ(read(fused, options), "leaf 1 +0 4:0 3:1\nleaf 0 +0 4:1 3:0\n"
                                  "read 0\nneg %0\nread 1\n=> %2\n");
}

TEST_F(PointwiseGraphTest, GatherOfAComputedSource) {
  FusedOp fused = parse({"tensor<9x4xf32>", "tensor<3xi64>"}, R"(
    %2 = fact.exp %0 : (tensor<9x4xf32>) -> tensor<9x4xf32>
    %3 = fact.gather %2, %1 dim 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    fact.yield %3 : tensor<3x4xf32>)");
  PointwiseGraph::Options options;
  options.readsGathers = true;
  EXPECT_EQ(read(fused, options), "");
  EXPECT_EQ(message, "the source of 'fact.gather' must be an argument of the "
                     "region, or gathered from one");
}

/// Without sharing, 2^64 nodes.
TEST_F(PointwiseGraphTest, SharesNodesThatNoStridesDescribe) {
  std::string body = "%v0 = fact.expand %0 : (tensor<1x1xf32>) -> "
                     "tensor<4x6xf32>\n";
  for (int i = 0; i < 64; ++i) {
    std::string at = "%v" + std::to_string(i);
    body += "%v" + std::to_string(i + 1) + " = fact.add " + at + ", " + at +
            " : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>\n";
  }
  FusedOp fused = parse({"tensor<1x1xf32>"}, body + R"(
    %p = fact.permute %v64 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %r = fact.reshape %p : (tensor<6x4xf32>) -> tensor<24xf32>
    fact.yield %r : tensor<24xf32>)");
  FailureOr<PointwiseGraph> graph =
      PointwiseGraph::read(yielded(fused), {24}, {}, report(fused));
  ASSERT_TRUE(succeeded(graph));
  EXPECT_EQ(graph->getNodes().size(), 65u);
}
