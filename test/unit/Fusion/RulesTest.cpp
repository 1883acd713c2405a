//===- RulesTest.cpp - What the rules group -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FusionFixture.h"
#include "fact/Fusion/Retrieval.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;

namespace {
class RulesTest : public FusionFixture {
protected:
  /// The rule of each proposal and its ops, in the order of the proposals.
  std::vector<std::string> propose(Block &block,
                                   const GroupedBlock *decided = nullptr) {
    DiscoveryOptions options;
    options.patterns = {"/nonexistent"};
    Retrieval retrieval(*module, options, *target);
    Fusibility fusibility(*target);
    GroupedBlock nothing(block);
    proposals = createRulesAgent(retrieval)->propose(
        decided ? *decided : nothing, fusibility);
    std::vector<std::string> text;
    for (const Proposal &proposal : proposals) {
      std::vector<std::string> names;
      for (Operation &op : block)
        if (proposal.ops.contains(&op))
          names.push_back(op.getName().stripDialect().str());
      text.push_back(proposal.rule + ": " + llvm::join(names, " "));
    }
    return text;
  }

  std::vector<Proposal> proposals;
};

using Groups = std::vector<std::string>;

/// An MLP with a residual, and a norm of the result.
const char *mlp = R"(
fact.weight @w1 : tensor<1024x512xbf16>
fact.weight @b1 : tensor<1024xbf16>
fact.weight @w2 : tensor<512x1024xbf16>
func.func @main(%x: tensor<2048x512xbf16>) -> tensor<2048x512xbf16> {
  %w1 = fact.get_weight @w1 : tensor<1024x512xbf16>
  %b1 = fact.get_weight @b1 : tensor<1024xbf16>
  %w2 = fact.get_weight @w2 : tensor<512x1024xbf16>
  %0 = fact.matmul %x, %w1 transpose_b : (tensor<2048x512xbf16>, tensor<1024x512xbf16>) -> tensor<2048x1024xbf16>
  %1 = fact.add %0, %b1 : (tensor<2048x1024xbf16>, tensor<1024xbf16>) -> tensor<2048x1024xbf16>
  %2 = fact.gelu %1 : (tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
  %3 = fact.matmul %2, %w2 transpose_b : (tensor<2048x1024xbf16>, tensor<512x1024xbf16>) -> tensor<2048x512xbf16>
  %4 = fact.add %3, %x : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %5 = fact.norm rms %4 eps 1.0e-05 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %5 : tensor<2048x512xbf16>
}
)";
} // namespace

TEST_F(RulesTest, AnchorsGrowToTheirEpilogues) {
  Block &block = parse(mlp);
  EXPECT_EQ(propose(block),
            (Groups{"gemm_epilogue: matmul add gelu",
                    "gemm_epilogue: matmul add", "rowwise: norm"}));
  // The first is worth most.
  for (size_t i = 1; i < proposals.size(); ++i)
    EXPECT_GT(proposals[i - 1].priority, proposals[i].priority);
}

TEST_F(RulesTest, WhatIsDecidedIsLeftAlone) {
  Block &block = parse(mlp);
  GroupedBlock decided(block);
  decided.add(group({find(block, "add")[0], find(block, "gelu")[0]}));
  EXPECT_EQ(propose(block, &decided),
            (Groups{"gemm_epilogue: matmul add", "gemm_epilogue: matmul",
                    "rowwise: norm"}));
}

TEST_F(RulesTest, ProductsOfOneValueAreGated) {
  Block &block = parse(R"(
fact.weight @g : tensor<4096x1024xbf16>
fact.weight @u : tensor<4096x1024xbf16>
func.func @main(%x: tensor<4096x1024xbf16>) -> tensor<4096x4096xbf16> {
  %g = fact.get_weight @g : tensor<4096x1024xbf16>
  %u = fact.get_weight @u : tensor<4096x1024xbf16>
  %0 = fact.matmul %x, %g transpose_b : (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<4096x4096xbf16>
  %1 = fact.matmul %x, %u transpose_b : (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<4096x4096xbf16>
  %2 = fact.silu %0 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %3 = fact.mul %2, %1 : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %3 : tensor<4096x4096xbf16>
})");
  EXPECT_EQ(propose(block), (Groups{"gated_gemm: matmul matmul silu mul"}));
}

TEST_F(RulesTest, EveryOpButReshapesGetsAKernel) {
  Block &block = parse(R"(
func.func @main(%x: tensor<64x32xf32>, %i: tensor<8xi64>) -> (tensor<8x32xf32>, tensor<32x64xf32>) {
  %0 = fact.gather %x, %i dim 0 : (tensor<64x32xf32>, tensor<8xi64>) -> tensor<8x32xf32>
  %1 = fact.reshape %0 : (tensor<8x32xf32>) -> tensor<4x64xf32>
  %2 = fact.exp %1 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %3 = fact.reshape %2 : (tensor<4x64xf32>) -> tensor<8x32xf32>
  %4 = fact.permute %x [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %3, %4 : tensor<8x32xf32>, tensor<32x64xf32>
})");
  propose(block);
  for (Operation &op : block.without_terminator()) {
    int groups = llvm::count_if(proposals, [&](const Proposal &proposal) {
      return proposal.ops.contains(&op);
    });
    EXPECT_LE(groups, 1) << op.getName().getStringRef().str();
    if (!isa<ReshapeOp>(op))
      EXPECT_EQ(groups, 1) << op.getName().getStringRef().str();
  }
}

TEST_F(RulesTest, AskedTwiceTheySayTheSame) {
  Block &block = parse(mlp);
  Groups first = propose(block);
  EXPECT_EQ(propose(block), first);
}
