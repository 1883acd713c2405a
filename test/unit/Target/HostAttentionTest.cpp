//===- HostAttentionTest.cpp - Host attention -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test emits every schedule of a default space, runs it, and compares it
// with the reference that the naive lowering makes from the same region.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "TypeTexts.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace fact::test;
using llvm::formatv;

static double checkAttention(int64_t heads, int64_t shared, int64_t queries,
                             int64_t keys, int64_t depth, int64_t columns,
                             const std::string &flags, const std::string &type,
                             const std::string &mask = "", bool timed = false) {
  std::string q = tensor({2, heads, queries, depth}, type),
              k = tensor({2, shared, keys, depth}, type),
              v = tensor({2, shared, keys, columns}, type),
              y = tensor({2, heads, queries, columns}, type);
  std::vector<std::string> operands{q, k, v};
  std::string maskWord, maskType;
  if (!mask.empty()) {
    operands.push_back(mask);
    maskWord = "mask %a3";
    maskType = ", " + T(mask);
  }
  return checkRegion("attention", operands,
                     formatv("%0 = fact.attention %a0, %a1, %a2 {0} {1} scale "
                             "0.125 : ({2}, {3}, {4}{5}) -> {6}\n"
                             "fact.yield %0 : {6}",
                             maskWord, flags, T(q), T(k), T(v), maskType, T(y))
                         .str(),
                     {y}, 1.0, timed);
}

TEST(Attention, Sizes) {
  for (const std::string &type : types)
    for (const char *flags : {"", "causal"}) {
      checkAttention(2, 2, 33, 33, 16, 16, flags, type);
      checkAttention(1, 1, 7, 40, 9, 13, flags, type);
      checkAttention(2, 2, 1, 21, 8, 5, flags, type);
      checkAttention(1, 1, 10, 10, 64, 64, flags, type);
    }
}

TEST(Attention, GroupedHeads) {
  checkAttention(6, 2, 20, 20, 8, 8, "causal", "f32");
  checkAttention(4, 1, 20, 30, 8, 8, "", "bf16");
}

TEST(Attention, FewQueries) {
  for (const std::string &type : types)
    for (const char *flags : {"", "causal"}) {
      checkAttention(2, 2, 1, 64, 64, 64, flags, type);
      checkAttention(8, 2, 1, 131, 37, 43, flags, type);
      checkAttention(6, 2, 2, 33, 12, 3, flags, type);
      checkAttention(5, 1, 2, 1, 1, 1, flags, type);
      checkAttention(3, 1, 1, 1100, 7, 150, flags, type);
    }
  checkAttention(4, 2, 1, 35, 9, 7, "", "f64");
  checkAttention(4, 2, 2, 35, 16, 16, "", "f32", "2x35xf32");
  checkAttention(4, 2, 2, 35, 16, 16, "causal", "f32", "2x4x1x35xf32");
  checkAttention(4, 2, 1, 35, 16, 16, "", "bf16", "2x1x1x1xbf16");
}

TEST(Attention, Masks) {
  checkAttention(2, 2, 18, 22, 8, 8, "", "f32", "18x22xf32");
  checkAttention(2, 2, 18, 22, 8, 8, "causal", "f32", "2x1x1x22xf32");
  checkAttention(2, 2, 18, 22, 8, 8, "", "f16", "1x2x18x22xf16");
}

TEST(Attention, Double) { checkAttention(2, 2, 18, 22, 9, 7, "causal", "f64"); }

TEST(Attention, ViewsOfOneProjection) {
  // [batch, time, 3, heads, depth] split into q, k, v, and heads merged again.
  checkRegion("attention", {"2x19x96xbf16"}, R"(
    %p = fact.reshape %a0 : (tensor<2x19x96xbf16>) -> tensor<2x19x3x4x8xbf16>
    %t = fact.permute %p [2, 0, 3, 1, 4] : (tensor<2x19x3x4x8xbf16>) -> tensor<3x2x4x19x8xbf16>
    %q1 = fact.slice %t dim 0 start 0 : (tensor<3x2x4x19x8xbf16>) -> tensor<1x2x4x19x8xbf16>
    %k1 = fact.slice %t dim 0 start 1 : (tensor<3x2x4x19x8xbf16>) -> tensor<1x2x4x19x8xbf16>
    %v1 = fact.slice %t dim 0 start 2 : (tensor<3x2x4x19x8xbf16>) -> tensor<1x2x4x19x8xbf16>
    %q = fact.reshape %q1 : (tensor<1x2x4x19x8xbf16>) -> tensor<2x4x19x8xbf16>
    %k = fact.reshape %k1 : (tensor<1x2x4x19x8xbf16>) -> tensor<2x4x19x8xbf16>
    %v = fact.reshape %v1 : (tensor<1x2x4x19x8xbf16>) -> tensor<2x4x19x8xbf16>
    %o = fact.attention %q, %k, %v causal scale 0.35 : (tensor<2x4x19x8xbf16>, tensor<2x4x19x8xbf16>, tensor<2x4x19x8xbf16>) -> tensor<2x4x19x8xbf16>
    %m = fact.permute %o [0, 2, 1, 3] : (tensor<2x4x19x8xbf16>) -> tensor<2x19x4x8xbf16>
    %r = fact.reshape %m : (tensor<2x19x4x8xbf16>) -> tensor<2x19x32xbf16>
    fact.yield %r : tensor<2x19x32xbf16>)",
              {"2x19x32xbf16"});
}

TEST(Attention, TilesOfSeveralGroupsCopyTheirValues) {
  for (const std::string &type : types)
    for (const char *flags : {"", "causal"})
      checkRegion("attention", {tensor({1, 150, 48}, type)},
                  formatv(R"(
    %p = fact.reshape %a0 : (tensor<1x150x48x{0}>) -> tensor<1x150x3x2x8x{0}>
    %t = fact.permute %p [2, 0, 3, 1, 4] : (tensor<1x150x3x2x8x{0}>) -> tensor<3x1x2x150x8x{0}>
    %q1 = fact.slice %t dim 0 start 0 : (tensor<3x1x2x150x8x{0}>) -> tensor<1x1x2x150x8x{0}>
    %k1 = fact.slice %t dim 0 start 1 : (tensor<3x1x2x150x8x{0}>) -> tensor<1x1x2x150x8x{0}>
    %v1 = fact.slice %t dim 0 start 2 : (tensor<3x1x2x150x8x{0}>) -> tensor<1x1x2x150x8x{0}>
    %q = fact.reshape %q1 : (tensor<1x1x2x150x8x{0}>) -> tensor<1x2x150x8x{0}>
    %k = fact.reshape %k1 : (tensor<1x1x2x150x8x{0}>) -> tensor<1x2x150x8x{0}>
    %v = fact.reshape %v1 : (tensor<1x1x2x150x8x{0}>) -> tensor<1x2x150x8x{0}>
    %o = fact.attention %q, %k, %v {1} scale 0.35 : (tensor<1x2x150x8x{0}>, tensor<1x2x150x8x{0}>, tensor<1x2x150x8x{0}>) -> tensor<1x2x150x8x{0}>
    fact.yield %o : tensor<1x2x150x8x{0}>)",
                          type, flags)
                      .str(),
                  {tensor({1, 2, 150, 8}, type)});
}

// Throughput: printed, not asserted.
TEST(Throughput, Attention) {
  double time =
      checkAttention(4, 4, 512, 512, 64, 64, "causal", "f32", "", true);
  std::printf("attention 2x4x512x64 causal f32: %.1f us, %.1f GFLOP/s\n", time,
              2.0 * 2 * 4 * 512 * 512 * 64 / time * 1e-3);
}
