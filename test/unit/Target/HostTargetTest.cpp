//===- HostTargetTest.cpp - Host kernels against their references ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test emits every schedule of a default space, runs it, and compares it
// with the reference that the naive lowering makes from the same region.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace fact::test;
using llvm::formatv;

static const std::string types[] = {"f32", "bf16", "f16"};

static std::string tensor(std::initializer_list<int64_t> shape,
                          const std::string &type) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type;
}
static std::string T(const std::string &type) { return "tensor<" + type + ">"; }

//===----------------------------------------------------------------------===//
// gemm_epilogue
//===----------------------------------------------------------------------===//

/// x @ w^T + bias, gelu, plus a residual.
static double checkLinear(int64_t m, int64_t n, int64_t k,
                          const std::string &type, bool timed = false) {
  std::string x = tensor({m, k}, type), w = tensor({n, k}, type),
              bias = tensor({n}, type), y = tensor({m, n}, type);
  std::string body =
      formatv("%0 = fact.matmul %a0, %a1 transpose_b : ({0}, {1}) -> {3}\n"
              "%1 = fact.add %0, %a2 : ({3}, {2}) -> {3}\n"
              "%2 = fact.gelu %1 approximate tanh : ({3}) -> {3}\n"
              "%3 = fact.add %2, %a3 : ({3}, {3}) -> {3}\n"
              "fact.yield %3 : {3}",
              T(x), T(w), T(bias), T(y));
  return checkRegion("gemm_epilogue", {x, w, bias, y}, body, {y}, 1.0, timed);
}

TEST(Gemm, OddSizes) {
  // Each size with each other one, but not all triples.
  const int64_t sizes[] = {1, 7, 33};
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 3; ++n)
      checkLinear(sizes[m], sizes[n], sizes[(m + n) % 3], "f32");
}

TEST(Gemm, StorageTypes) {
  for (const std::string &type : types) {
    checkLinear(50, 100, 64, type);
    checkLinear(5, 30, 17, type);
  }
}

TEST(Gemm, LongSumsInBlocks) {
  checkLinear(50, 40, 1100, "f32");
  checkLinear(13, 30, 1601, "bf16");
}

TEST(Gemm, Double) {
  checkRegion(
      "gemm_epilogue", {"9x11xf64", "11x13xf64"},
      "%0 = fact.matmul %a0, %a1 : (tensor<9x11xf64>, tensor<11x13xf64>) "
      "-> tensor<9x13xf64>\nfact.yield %0 : tensor<9x13xf64>",
      {"9x13xf64"});
}

TEST(Gemm, Transposes) {
  for (bool a : {false, true})
    for (bool c : {false, true}) {
      std::string x = a ? "19x9xf32" : "9x19xf32";
      std::string w = c ? "21x19xf32" : "19x21xf32";
      checkRegion(
          "gemm_epilogue", {x, w},
          formatv("%0 = fact.matmul %a0, %a1 {0} {1} : ({2}, {3}) -> "
                  "tensor<9x21xf32>\n"
                  "%1 = fact.relu %0 : (tensor<9x21xf32>) -> tensor<9x21xf32>\n"
                  "fact.yield %1 : tensor<9x21xf32>",
                  a ? "transpose_a" : "", c ? "transpose_b" : "", T(x), T(w))
              .str(),
          {"9x21xf32"});
    }
}

TEST(Gemm, BatchesOnTheLeftAreRows) {
  checkRegion("gemm_epilogue",
              {"3x5x16xbf16", "24x16xbf16", "24xbf16", "3x1x24xbf16"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<3x5x16xbf16>, tensor<24x16xbf16>) -> tensor<3x5x24xbf16>
    %1 = fact.add %0, %a2 : (tensor<3x5x24xbf16>, tensor<24xbf16>) -> tensor<3x5x24xbf16>
    %2 = fact.mul %1, %a3 : (tensor<3x5x24xbf16>, tensor<3x1x24xbf16>) -> tensor<3x5x24xbf16>
    fact.yield %2 : tensor<3x5x24xbf16>)",
              {"3x5x24xbf16"});
}

/// A convolution of two images, with or without zeros around them and with
/// channels last or first.
static void checkConvolution(const std::string &image,
                             const std::string &permute,
                             const std::string &type, int64_t zeros) {
  std::string filters = "21x54x" + type, bias = "21x" + type;
  int64_t h = 9 + 2 * zeros, w = 7 + 2 * zeros;
  int64_t oh = (h - 3) / 2 + 1, ow = w - 4;
  std::string last = formatv("tensor<2x9x7x6x{0}>", type);
  std::string body =
      permute.empty()
          ? formatv("%0 = fact.reshape %a0 : ({0}) -> {0}\n", last).str()
          : formatv("%0 = fact.permute %a0 {0} : ({1}) -> {2}\n", permute,
                    T(image), last)
                .str();
  std::string tall = formatv("tensor<2x{0}x7x6x{1}>", h, type);
  std::string padded = formatv("tensor<2x{0}x{1}x6x{2}>", h, w, type);
  if (zeros)
    body += formatv(
        "%c0 = fact.constant dense<0.0> : tensor<2x{0}x7x6x{1}>\n"
        "%1 = fact.concat %c0, %0, %c0 dim 1 : (tensor<2x{0}x7x6x{1}>, {2}, "
        "tensor<2x{0}x7x6x{1}>) -> {3}\n"
        "%c1 = fact.constant dense<0.0> : tensor<2x{4}x{0}x6x{1}>\n"
        "%2 = fact.concat %c1, %1, %c1 dim 2 : (tensor<2x{4}x{0}x6x{1}>, {3}, "
        "tensor<2x{4}x{0}x6x{1}>) -> {5}\n",
        zeros, type, last, tall, h, padded);
  // 3 x 3 taps, every second row, every second column of a window.
  body += formatv(
      "%3 = fact.windows %{0} dim 1 kernel [3, 3] strides [2, 1] dilations "
      "[1, 2] : ({1}) -> tensor<2x{2}x{3}x3x3x6x{4}>\n"
      "%4 = fact.reshape %3 : (tensor<2x{2}x{3}x3x3x6x{4}>) -> "
      "tensor<2x{2}x{3}x54x{4}>\n"
      "%5 = fact.matmul %4, %a1 transpose_b : (tensor<2x{2}x{3}x54x{4}>, "
      "tensor<21x54x{4}>) -> tensor<2x{2}x{3}x21x{4}>\n"
      "%6 = fact.add %5, %a2 : (tensor<2x{2}x{3}x21x{4}>, tensor<21x{4}>) -> "
      "tensor<2x{2}x{3}x21x{4}>\n"
      "fact.yield %6 : tensor<2x{2}x{3}x21x{4}>",
      zeros ? 2 : 0, padded, oh, ow, type);
  checkRegion("gemm_epilogue", {image, filters, bias}, body,
              {formatv("2x{0}x{1}x21x{2}", oh, ow, type)});
}

TEST(Gemm, Convolutions) {
  for (int64_t zeros : {0, 1, 3}) {
    checkConvolution("2x9x7x6xf32", "", "f32", zeros);
    checkConvolution("2x6x9x7xf32", "[0, 2, 3, 1]", "f32", zeros);
    checkConvolution("2x6x7x9xbf16", "[0, 3, 2, 1]", "bf16", zeros);
  }
  checkConvolution("2x6x9x7xf16", "[0, 2, 3, 1]", "f16", 2);
}

/// A register tile that ends with repetitions of the last row, which lies as
/// far behind its first row as if all were neighbors.
TEST(Gemm, RowsAtTheEndAreNoNeighbors) {
  checkRegion("gemm_epilogue", {"5x1x5x11xbf16", "1x10xbf16"}, R"(
    %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<5x1x5x11xbf16>) -> tensor<5x5x11x1xbf16>
    %1 = fact.windows %0 dim 1 kernel [2, 5] strides [1, 1] dilations [1, 1] : (tensor<5x5x11x1xbf16>) -> tensor<5x4x7x2x5x1xbf16>
    %2 = fact.reshape %1 : (tensor<5x4x7x2x5x1xbf16>) -> tensor<5x4x7x10xbf16>
    %3 = fact.matmul %2, %a1 transpose_b : (tensor<5x4x7x10xbf16>, tensor<1x10xbf16>) -> tensor<5x4x7x1xbf16>
    fact.yield %3 : tensor<5x4x7x1xbf16>)",
              {"5x4x7x1xbf16"});
}

TEST(Gemm, BatchedRightSide) {
  checkRegion("gemm_epilogue", {"2x3x10x12xf32", "3x12x14xf32", "f32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<2x3x10x12xf32>, tensor<3x12x14xf32>) -> tensor<2x3x10x14xf32>
    %1 = fact.mul %0, %a2 : (tensor<2x3x10x14xf32>, tensor<f32>) -> tensor<2x3x10x14xf32>
    fact.yield %1 : tensor<2x3x10x14xf32>)",
              {"2x3x10x14xf32"});
}

TEST(Gemm, ViewsOfOperands) {
  // Heads in the middle of both operands, and a slice.
  checkRegion("gemm_epilogue", {"2x10x3x8xf32", "2x11x3x16xf32"}, R"(
    %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<2x10x3x8xf32>) -> tensor<2x3x10x8xf32>
    %1 = fact.permute %a1 [0, 2, 1, 3] : (tensor<2x11x3x16xf32>) -> tensor<2x3x11x16xf32>
    %2 = fact.slice %1 dim 3 start 8 : (tensor<2x3x11x16xf32>) -> tensor<2x3x11x8xf32>
    %3 = fact.matmul %0, %2 transpose_b : (tensor<2x3x10x8xf32>, tensor<2x3x11x8xf32>) -> tensor<2x3x10x11xf32>
    fact.yield %3 : tensor<2x3x10x11xf32>)",
              {"2x3x10x11xf32"});
}

TEST(Gemm, SameOperandTwice) {
  checkRegion("gemm_epilogue", {"20x20xf32"}, R"(
    %0 = fact.matmul %a0, %a0 transpose_b : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    %1 = fact.sub %0, %a0 : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    fact.yield %1 : tensor<20x20xf32>)",
              {"20x20xf32"});
}

TEST(Gemm, ColumnsConstantsAndSeveralResults) {
  checkRegion("gemm_epilogue", {"10x8xf32", "8x12xf32", "10x1xf32"}, R"(
    %c = fact.constant dense<0.5> : tensor<f32>
    %v = fact.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : tensor<12xf32>
    %0 = fact.matmul %a0, %a1 : (tensor<10x8xf32>, tensor<8x12xf32>) -> tensor<10x12xf32>
    %1 = fact.mul %0, %c : (tensor<10x12xf32>, tensor<f32>) -> tensor<10x12xf32>
    %2 = fact.add %1, %a2 : (tensor<10x12xf32>, tensor<10x1xf32>) -> tensor<10x12xf32>
    %3 = fact.mul %2, %v : (tensor<10x12xf32>, tensor<12xf32>) -> tensor<10x12xf32>
    %4 = fact.reshape %3 : (tensor<10x12xf32>) -> tensor<2x5x12xf32>
    %5 = fact.compare gt %1, %a2 : (tensor<10x12xf32>, tensor<10x1xf32>) -> tensor<10x12xi1>
    fact.yield %4, %0, %5 : tensor<2x5x12xf32>, tensor<10x12xf32>, tensor<10x12xi1>)",
              {"2x5x12xf32", "10x12xf32", "10x12xi1"});
}

TEST(Gemm, ReshapeBeforeTheEpilogue) {
  checkRegion("gemm_epilogue",
              {"10x8xf16", "8x12xf16", "2x5x12xf16", "2x1x12xf16"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<10x8xf16>, tensor<8x12xf16>) -> tensor<10x12xf16>
    %1 = fact.reshape %0 : (tensor<10x12xf16>) -> tensor<2x5x12xf16>
    %2 = fact.add %1, %a2 : (tensor<2x5x12xf16>, tensor<2x5x12xf16>) -> tensor<2x5x12xf16>
    %3 = fact.mul %2, %a3 : (tensor<2x5x12xf16>, tensor<2x1x12xf16>) -> tensor<2x5x12xf16>
    fact.yield %3 : tensor<2x5x12xf16>)",
              {"2x5x12xf16"});
}

TEST(Gemm, ReductionsOfRows) {
  // Sums, extremes and means of what the epilogue gives, beside the product.
  for (const std::string &type : types)
    checkRegion(
        "gemm_epilogue",
        {tensor({50, 40}, type), tensor({37, 40}, type), tensor({37}, type),
         tensor({50, 1}, type)},
        formatv(R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<50x40x{0}>, tensor<37x40x{0}>) -> tensor<50x37x{0}>
    %1 = fact.add %0, %a2 : (tensor<50x37x{0}>, tensor<37x{0}>) -> tensor<50x37x{0}>
    %2 = fact.reduce mean %1 dims [1] keep : (tensor<50x37x{0}>) -> tensor<50x1x{0}>
    %3 = fact.mul %2, %a3 : (tensor<50x1x{0}>, tensor<50x1x{0}>) -> tensor<50x1x{0}>
    %4 = fact.reduce max %0 dims [1] : (tensor<50x37x{0}>) -> tensor<50x{0}>
    fact.yield %3, %4, %1 : tensor<50x1x{0}>, tensor<50x{0}>, tensor<50x37x{0}>)",
                type)
            .str(),
        {tensor({50, 1}, type), tensor({50}, type), tensor({50, 37}, type)});
  // Batches are rows; K in blocks.
  checkRegion("gemm_epilogue", {"2x30x1100xf32", "1100x20xf32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<2x30x1100xf32>, tensor<1100x20xf32>) -> tensor<2x30x20xf32>
    %1 = fact.reduce sum %0 dims [2] : (tensor<2x30x20xf32>) -> tensor<2x30xf32>
    %2 = fact.reduce min %0 dims [2] : (tensor<2x30x20xf32>) -> tensor<2x30xf32>
    %3 = fact.sub %1, %2 : (tensor<2x30xf32>, tensor<2x30xf32>) -> tensor<2x30xf32>
    fact.yield %3 : tensor<2x30xf32>)",
              {"2x30xf32"});
}

TEST(Gemm, ReductionsOfColumns) {
  checkRegion("gemm_epilogue", {"101x40xf32", "37x40xf32", "37xf32"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<101x40xf32>, tensor<37x40xf32>) -> tensor<101x37xf32>
    %1 = fact.relu %0 : (tensor<101x37xf32>) -> tensor<101x37xf32>
    %2 = fact.reduce sum %1 dims [0] : (tensor<101x37xf32>) -> tensor<37xf32>
    %3 = fact.add %2, %a2 : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %4 = fact.reduce mean %1 dims [0] keep : (tensor<101x37xf32>) -> tensor<1x37xf32>
    fact.yield %3, %1, %4 : tensor<37xf32>, tensor<101x37xf32>, tensor<1x37xf32>)",
              {"37xf32", "101x37xf32", "1x37xf32"});
  checkRegion("gemm_epilogue", {"3x40x17xbf16", "24x17xbf16"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<3x40x17xbf16>, tensor<24x17xbf16>) -> tensor<3x40x24xbf16>
    %1 = fact.reduce max %0 dims [0, 1] : (tensor<3x40x24xbf16>) -> tensor<24xbf16>
    fact.yield %1 : tensor<24xbf16>)",
              {"24xbf16"});
  // A batch of one product beside the reduced dimension.
  checkRegion("gemm_epilogue", {"1x40x17xf32", "24x17xf32"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<1x40x17xf32>, tensor<24x17xf32>) -> tensor<1x40x24xf32>
    %1 = fact.reduce sum %0 dims [1] : (tensor<1x40x24xf32>) -> tensor<1x24xf32>
    fact.yield %1 : tensor<1x24xf32>)",
              {"1x24xf32"});
}

//===----------------------------------------------------------------------===//
// gated_gemm
//===----------------------------------------------------------------------===//

/// silu(x @ gate^T + bias) * (x @ up^T).
static double checkGated(int64_t m, int64_t n, int64_t k,
                         const std::string &type, bool timed = false) {
  std::string x = tensor({m, k}, type), w = tensor({n, k}, type),
              bias = tensor({n}, type), y = tensor({m, n}, type);
  return checkRegion(
      "gated_gemm", {x, w, w, bias},
      formatv("%0 = fact.matmul %a0, %a1 transpose_b : ({0}, {1}) -> {3}\n"
              "%1 = fact.add %0, %a3 : ({3}, {2}) -> {3}\n"
              "%2 = fact.silu %1 : ({3}) -> {3}\n"
              "%3 = fact.matmul %a0, %a2 transpose_b : ({0}, {1}) -> {3}\n"
              "%4 = fact.mul %2, %3 : ({3}, {3}) -> {3}\n"
              "fact.yield %4 : {3}",
              T(x), T(w), T(bias), T(y))
          .str(),
      {y}, 1.0, timed);
}

TEST(GatedGemm, Sizes) {
  for (const std::string &type : types) {
    checkGated(50, 100, 64, type);
    checkGated(1, 33, 17, type);
  }
  checkGated(13, 30, 1100, "f32");
}

TEST(GatedGemm, HalvesOfOneWeight) {
  // Batches, a weight stored [K, 2 N], and a second result.
  checkRegion("gated_gemm", {"2x9x16xf32", "16x40xf32"}, R"(
    %g = fact.slice %a1 dim 1 start 0 : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %u = fact.slice %a1 dim 1 start 20 : (tensor<16x40xf32>) -> tensor<16x20xf32>
    %0 = fact.matmul %a0, %g : (tensor<2x9x16xf32>, tensor<16x20xf32>) -> tensor<2x9x20xf32>
    %1 = fact.matmul %a0, %u : (tensor<2x9x16xf32>, tensor<16x20xf32>) -> tensor<2x9x20xf32>
    %2 = fact.gelu %1 : (tensor<2x9x20xf32>) -> tensor<2x9x20xf32>
    %3 = fact.mul %0, %2 : (tensor<2x9x20xf32>, tensor<2x9x20xf32>) -> tensor<2x9x20xf32>
    fact.yield %3, %1 : tensor<2x9x20xf32>, tensor<2x9x20xf32>)",
              {"2x9x20xf32", "2x9x20xf32"});
}

TEST(GatedGemm, WeightThatIsAlsoRead) {
  checkRegion("gated_gemm", {"20x20xf32", "20x20xf32", "20x20xf32"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    %1 = fact.matmul %a0, %a2 transpose_b : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    %2 = fact.mul %0, %1 : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    %3 = fact.add %2, %a2 : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    fact.yield %3 : tensor<20x20xf32>)",
              {"20x20xf32"});
}

//===----------------------------------------------------------------------===//
// grouped_gemm
//===----------------------------------------------------------------------===//

TEST(GroupedGemm, QueriesKeysValues) {
  // Widths differ; a bias, an activation, and heads in the result.
  for (const std::string &type : types)
    checkRegion("grouped_gemm",
                {tensor({2, 25, 48}, type), tensor({64, 48}, type),
                 tensor({17, 48}, type), tensor({32, 48}, type),
                 tensor({64}, type), tensor({17}, type)},
                formatv(R"(
    %q = fact.matmul %a0, %a1 transpose_b : (tensor<2x25x48x{0}>, tensor<64x48x{0}>) -> tensor<2x25x64x{0}>
    %k = fact.matmul %a0, %a2 transpose_b : (tensor<2x25x48x{0}>, tensor<17x48x{0}>) -> tensor<2x25x17x{0}>
    %v = fact.matmul %a0, %a3 transpose_b : (tensor<2x25x48x{0}>, tensor<32x48x{0}>) -> tensor<2x25x32x{0}>
    %0 = fact.add %q, %a4 : (tensor<2x25x64x{0}>, tensor<64x{0}>) -> tensor<2x25x64x{0}>
    %1 = fact.mul %k, %a5 : (tensor<2x25x17x{0}>, tensor<17x{0}>) -> tensor<2x25x17x{0}>
    %2 = fact.relu %1 : (tensor<2x25x17x{0}>) -> tensor<2x25x17x{0}>
    %3 = fact.reshape %v : (tensor<2x25x32x{0}>) -> tensor<2x25x4x8x{0}>
    fact.yield %0, %2, %3, %1 : tensor<2x25x64x{0}>, tensor<2x25x17x{0}>, tensor<2x25x4x8x{0}>, tensor<2x25x17x{0}>)",
                        type)
                    .str(),
                {tensor({2, 25, 64}, type), tensor({2, 25, 17}, type),
                 tensor({2, 25, 4, 8}, type), tensor({2, 25, 17}, type)});
  // More columns than one tile has, K in blocks, and one weight of an
  // activation.
  checkRegion("grouped_gemm", {"7x1100xf32", "500x1100xf32", "300x1100xf32"},
              R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<7x1100xf32>, tensor<500x1100xf32>) -> tensor<7x500xf32>
    %1 = fact.matmul %a0, %a2 transpose_b : (tensor<7x1100xf32>, tensor<300x1100xf32>) -> tensor<7x300xf32>
    fact.yield %0, %1 : tensor<7x500xf32>, tensor<7x300xf32>)",
              {"7x500xf32", "7x300xf32"});
}

TEST(GroupedGemm, BatchedRightSides) {
  checkRegion("grouped_gemm", {"3x10x12xf32", "3x12x14xf32", "3x12x9xf32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<3x10x12xf32>, tensor<3x12x14xf32>) -> tensor<3x10x14xf32>
    %1 = fact.matmul %a0, %a2 : (tensor<3x10x12xf32>, tensor<3x12x9xf32>) -> tensor<3x10x9xf32>
    fact.yield %1, %0 : tensor<3x10x9xf32>, tensor<3x10x14xf32>)",
              {"3x10x9xf32", "3x10x14xf32"});
}

//===----------------------------------------------------------------------===//
// pointwise
//===----------------------------------------------------------------------===//

/// One result for each function of `names`, on `value`.
static std::string applyAll(std::initializer_list<const char *> names,
                            const std::string &value, const std::string &x,
                            std::vector<std::string> &results) {
  std::string body, yielded, yieldedTypes;
  for (const char *name : names) {
    body += formatv("%{0} = fact.{0} {1} : ({2}) -> {2}\n", name, value, T(x));
    yielded += (yielded.empty() ? "%" : ", %") + std::string(name);
    yieldedTypes += (yieldedTypes.empty() ? "" : ", ") + T(x);
    results.push_back(x);
  }
  return body + "fact.yield " + yielded + " : " + yieldedTypes;
}

TEST(Pointwise, EveryFunction) {
  for (const std::string &type : types) {
    std::string x = tensor({13, 37}, type);
    for (double scale : {0.01, 1.0, 10.0}) {
      std::vector<std::string> results;
      std::string body =
          applyAll({"neg", "abs", "sin", "cos", "erf", "tanh", "sigmoid",
                    "relu", "silu", "mish", "softplus", "gelu"},
                   "%a0", x, results);
      checkRegion("pointwise", {x}, body, results, scale);
    }
  }
}

TEST(Pointwise, Exponential) {
  for (double scale : {0.01, 1.0, 10.0})
    checkRegion("pointwise", {"1000xf32"}, R"(
      %0 = fact.exp %a0 : (tensor<1000xf32>) -> tensor<1000xf32>
      fact.yield %0 : tensor<1000xf32>)",
                {"1000xf32"}, scale);
}

// Angles that vectors reduce, and others, which libm does.
TEST(Pointwise, Angles) {
  for (double scale : {1.0, 1000.0, 4000.0, 1e7}) {
    std::vector<std::string> results;
    std::string body = applyAll({"sin", "cos"}, "%a0", "1003xf32", results);
    checkRegion("pointwise", {"1003xf32"}, body, results, scale);
  }
}

// Remainders of quotients that are small, of more digits than f32 has, and
// none.
TEST(Pointwise, Remainders) {
  for (double scale : {1.0, 1e5})
    checkRegion("pointwise", {"40x37xf32", "37xf32"}, R"(
      %c = fact.constant dense<0.75> : tensor<f32>
      %z = fact.constant dense<0x7F800000> : tensor<f32>
      %s = fact.constant dense<0.0009765625> : tensor<f32>
      %0 = fact.fmod %a0, %a1 : (tensor<40x37xf32>, tensor<37xf32>) -> tensor<40x37xf32>
      %1 = fact.fmod %a0, %c : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      %3 = fact.fmod %a0, %s : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      %4 = fact.fmod %a0, %z : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      fact.yield %0, %1, %3, %4 : tensor<40x37xf32>, tensor<40x37xf32>, tensor<40x37xf32>, tensor<40x37xf32>)",
                {"40x37xf32", "40x37xf32", "40x37xf32", "40x37xf32"}, scale);
}

// Rows of every length up to two vectors, and some more.
TEST(Pointwise, Ends) {
  for (int64_t columns : {1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 63, 67}) {
    std::string x = tensor({3, columns}, "f32"), bias = tensor({3, 1}, "f32");
    checkRegion("pointwise", {x, bias},
                formatv("%0 = fact.add %a0, %a1 : ({0}, {1}) -> {0}\n"
                        "fact.yield %0 : {0}",
                        T(x), T(bias))
                    .str(),
                {x});
  }
}

TEST(Pointwise, PositiveFunctions) {
  for (double scale : {0.1, 1.0, 100.0}) {
    std::vector<std::string> results;
    std::string body = applyAll({"log", "sqrt", "rsqrt", "reciprocal"},
                                "%positive", "500xf32", results);
    checkRegion("pointwise", {"500xf32"},
                "%c = fact.constant dense<0.001> : tensor<f32>\n"
                "%0 = fact.abs %a0 : (tensor<500xf32>) -> tensor<500xf32>\n"
                "%positive = fact.add %0, %c : (tensor<500xf32>, tensor<f32>) "
                "-> tensor<500xf32>\n" +
                    body,
                results, scale);
  }
}

TEST(Pointwise, BroadcastsAndSeveralResults) {
  checkRegion("pointwise", {"4x5x6xf32", "5x1xf32", "6xf32"}, R"(
    %0 = fact.add %a0, %a1 : (tensor<4x5x6xf32>, tensor<5x1xf32>) -> tensor<4x5x6xf32>
    %1 = fact.mul %0, %a2 : (tensor<4x5x6xf32>, tensor<6xf32>) -> tensor<4x5x6xf32>
    %2 = fact.compare lt %0, %1 : (tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> tensor<4x5x6xi1>
    %3 = fact.select %2, %0, %1 : (tensor<4x5x6xi1>, tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
    fact.yield %3, %2 : tensor<4x5x6xf32>, tensor<4x5x6xi1>)",
              {"4x5x6xf32", "4x5x6xi1"});
}

TEST(Pointwise, PermutedCopies) {
  checkRegion("pointwise", {"3x7x4x10xbf16"}, R"(
    %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<3x7x4x10xbf16>) -> tensor<3x4x7x10xbf16>
    %1 = fact.reshape %0 : (tensor<3x4x7x10xbf16>) -> tensor<12x70xbf16>
    fact.yield %1 : tensor<12x70xbf16>)",
              {"12x70xbf16"});
  checkRegion("pointwise", {"33x17xf32"}, R"(
    %0 = fact.permute %a0 [1, 0] : (tensor<33x17xf32>) -> tensor<17x33xf32>
    fact.yield %0 : tensor<17x33xf32>)",
              {"17x33xf32"});
  // Blocks that end beyond a multiple of their size, along both dimensions, and
  // another dimension between them.
  for (const std::string &type : {"f32", "bf16", "f64", "i64"})
    checkRegion(
        "pointwise", {tensor({2, 21, 3, 37}, type), tensor({37, 3, 21}, type)},
        formatv("%0 = fact.permute %a0 [0, 3, 2, 1] : ({0}) -> {1}\n"
                "%1 = fact.mul %0, %a1 : ({1}, {2}) -> {1}\n"
                "fact.yield %1 : {1}",
                T(tensor({2, 21, 3, 37}, type)),
                T(tensor({2, 37, 3, 21}, type)), T(tensor({37, 3, 21}, type)))
            .str(),
        {tensor({2, 37, 3, 21}, type)}, 4.0);
  checkRegion("pointwise", {"4x70xf32", "4x70xi1"}, R"(
    %0 = fact.permute %a0 [1, 0] : (tensor<4x70xf32>) -> tensor<70x4xf32>
    %1 = fact.permute %a1 [1, 0] : (tensor<4x70xi1>) -> tensor<70x4xi1>
    fact.yield %0, %1 : tensor<70x4xf32>, tensor<70x4xi1>)",
              {"70x4xf32", "70x4xi1"});
}

TEST(Pointwise, SlicesAndExpansion) {
  // Rotary halves: x[..., :8] * cos - x[..., 8:] * sin.
  checkRegion("pointwise", {"2x3x5x16xf32", "5x8xf32", "5x8xf32"}, R"(
    %0 = fact.slice %a0 dim 3 start 0 : (tensor<2x3x5x16xf32>) -> tensor<2x3x5x8xf32>
    %1 = fact.slice %a0 dim 3 start 8 : (tensor<2x3x5x16xf32>) -> tensor<2x3x5x8xf32>
    %2 = fact.mul %0, %a1 : (tensor<2x3x5x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5x8xf32>
    %3 = fact.mul %1, %a2 : (tensor<2x3x5x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5x8xf32>
    %4 = fact.sub %2, %3 : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
    fact.yield %4 : tensor<2x3x5x8xf32>)",
              {"2x3x5x8xf32"});
  checkRegion("pointwise", {"3x1x5xi64"}, R"(
    %0 = fact.expand %a0 : (tensor<3x1x5xi64>) -> tensor<3x4x5xi64>
    fact.yield %0 : tensor<3x4x5xi64>)",
              {"3x4x5xi64"});
}

TEST(Pointwise, GathersRows) {
  // An embedding, and what is added to it.
  for (const std::string &type : types)
    checkRegion("pointwise",
                {tensor({9, 21}, type), "2x7xi64", tensor({7, 21}, type)},
                formatv(R"(
    %i = fact.abs %a1 : (tensor<2x7xi64>) -> tensor<2x7xi64>
    %0 = fact.gather %a0, %i dim 0 : (tensor<9x21x{0}>, tensor<2x7xi64>) -> tensor<2x7x21x{0}>
    %1 = fact.add %0, %a2 : (tensor<2x7x21x{0}>, tensor<7x21x{0}>) -> tensor<2x7x21x{0}>
    fact.yield %1 : tensor<2x7x21x{0}>)",
                        type)
                    .str(),
                {tensor({2, 7, 21}, type)});
}

TEST(Pointwise, GathersColumns) {
  // Each element of a row has its own index; those outside give 0.
  checkRegion("pointwise", {"5x19xi64", "40xi32"}, R"(
    %0 = fact.gather %a0, %a1 dim 1 : (tensor<5x19xi64>, tensor<40xi32>) -> tensor<5x40xi64>
    fact.yield %0 : tensor<5x40xi64>)",
              {"5x40xi64"}, 4.0);
  // Of views, and seen through views.
  checkRegion("pointwise", {"4x6x11xf32", "3xi64"}, R"(
    %i = fact.abs %a1 : (tensor<3xi64>) -> tensor<3xi64>
    %t = fact.permute %a0 [2, 0, 1] : (tensor<4x6x11xf32>) -> tensor<11x4x6xf32>
    %0 = fact.gather %t, %i dim 1 : (tensor<11x4x6xf32>, tensor<3xi64>) -> tensor<11x3x6xf32>
    %1 = fact.permute %0 [1, 2, 0] : (tensor<11x3x6xf32>) -> tensor<3x6x11xf32>
    %2 = fact.slice %1 dim 2 start 1 step 2 : (tensor<3x6x11xf32>) -> tensor<3x6x5xf32>
    fact.yield %2 : tensor<3x6x5xf32>)",
              {"3x6x5xf32"});
}

static void checkRotary(const std::string &type, const char *order,
                        const std::string &angle) {
  std::string x = "2x3x5x16x" + type, y = "2x5x3x16x" + type;
  checkRegion(
      "pointwise", {x, angle, angle},
      formatv("%0 = fact.rotary %a0, %a1, %a2 {0} : ({1}, {2}, {2}) -> {1}\n"
              "%1 = fact.permute %0 [0, 2, 1, 3] : ({1}) -> {3}\n"
              "fact.yield %1 : {3}",
              order, T(x), T(angle), T(y))
          .str(),
      {y});
}

TEST(Pointwise, Rotary) {
  for (const char *order : {"", "interleaved"}) {
    for (const char *angle : {"5x16xf32", "2x1x5x16xf32", "5x1xf32", "f32"})
      checkRotary("f32", order, angle);
    checkRotary("bf16", order, "5x16xbf16");
    checkRotary("f16", order, "5x16xf16");
  }
}

TEST(Pointwise, Concatenations) {
  checkRegion("pointwise", {"4x3xbf16", "4x5xbf16"}, R"(
    %e = fact.exp %a1 : (tensor<4x5xbf16>) -> tensor<4x5xbf16>
    %0 = fact.concat %a0, %e, %a0 dim 1 : (tensor<4x3xbf16>, tensor<4x5xbf16>, tensor<4x3xbf16>) -> tensor<4x11xbf16>
    fact.yield %0 : tensor<4x11xbf16>)",
              {"4x11xbf16"});
  // In more tiles than one, into a permuted result, beside another result.
  checkRegion("pointwise", {"700x33xf32", "200x33xf32"}, R"(
    %0 = fact.concat %a0, %a1 dim 0 : (tensor<700x33xf32>, tensor<200x33xf32>) -> tensor<900x33xf32>
    %1 = fact.permute %0 [1, 0] : (tensor<900x33xf32>) -> tensor<33x900xf32>
    %2 = fact.neg %a0 : (tensor<700x33xf32>) -> tensor<700x33xf32>
    fact.yield %1, %2 : tensor<33x900xf32>, tensor<700x33xf32>)",
              {"33x900xf32", "700x33xf32"});
}

TEST(Pointwise, Bits) {
  for (const char *type : {"i8", "i32", "i64"})
    checkRegion("pointwise", {tensor({50}, type), tensor({50}, type)},
                formatv(R"(
    %0 = fact.and %a0, %a1 : ({0}, {0}) -> {0}
    %1 = fact.xor %0, %a1 : ({0}, {0}) -> {0}
    %2 = fact.or %1, %a0 : ({0}, {0}) -> {0}
    %3 = fact.shift_left %a0, %a1 : ({0}, {0}) -> {0}
    %4 = fact.shift_right %a0, %a1 : ({0}, {0}) -> {0}
    fact.yield %2, %3, %4 : {0}, {0}, {0})",
                        T(tensor({50}, type)))
                    .str(),
                {tensor({50}, type), tensor({50}, type), tensor({50}, type)},
                40.0);
}

TEST(Pointwise, Booleans) {
  std::string type = "50xi1";
  checkRegion("pointwise", {type, type}, R"(
    %0 = fact.maximum %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %1 = fact.minimum %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %2 = fact.compare lt %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %3 = fact.compare ge %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %4 = fact.add %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %5 = fact.sign %a0 : (tensor<50xi1>) -> tensor<50xi1>
    fact.yield %0, %1, %2, %3, %4, %5 : tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>)",
              {type, type, type, type, type, type});
}

TEST(Pointwise, Casts) {
  checkRegion("pointwise", {"40xf32", "40xi1", "40xi32"}, R"(
    %0 = fact.cast %a0 : (tensor<40xf32>) -> tensor<40xbf16>
    %1 = fact.cast %0 : (tensor<40xbf16>) -> tensor<40xf32>
    %2 = fact.cast %a1 : (tensor<40xi1>) -> tensor<40xf32>
    %3 = fact.cast %a2 : (tensor<40xi32>) -> tensor<40xf32>
    %4 = fact.add %1, %2 : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %5 = fact.add %4, %3 : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %6 = fact.cast %5 : (tensor<40xf32>) -> tensor<40xf16>
    fact.yield %5, %6 : tensor<40xf32>, tensor<40xf16>)",
              {"40xf32", "40xf16"});
}

TEST(Pointwise, Scalar) {
  checkRegion("pointwise", {"f32"}, R"(
    %0 = fact.exp %a0 : (tensor<f32>) -> tensor<f32>
    fact.yield %0 : tensor<f32>)",
              {"f32"});
}

//===----------------------------------------------------------------------===//
// rowwise
//===----------------------------------------------------------------------===//

TEST(Rowwise, Norms) {
  for (const std::string &type : types)
    for (const char *kind : {"layer", "rms"})
      for (int64_t columns : {1, 7, 33, 768}) {
        std::string x = tensor({3, 5, columns}, type),
                    w = tensor({columns}, type);
        checkRegion("rowwise", {x, x, w, w},
                    formatv("%0 = fact.add %a0, %a1 : ({1}, {1}) -> {1}\n"
                            "%1 = fact.norm {0} %0 weight %a2 bias %a3 eps "
                            "1.0e-05 : ({1}, {2}, {2}) -> {1}\n"
                            "fact.yield %0, %1 : {1}, {1}",
                            kind, T(x), T(w))
                        .str(),
                    {x, x});
      }
}

TEST(Rowwise, NormOverTwoDimensionsWithoutWeights) {
  checkRegion("rowwise", {"4x6x10xf32"}, R"(
    %0 = fact.norm layer %a0 eps 1.0e-05 dims 2 : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    fact.yield %0 : tensor<4x6x10xf32>)",
              {"4x6x10xf32"});
}

TEST(Rowwise, Softmax) {
  for (const std::string &type : types)
    for (int64_t columns : {1, 7, 33, 5000}) {
      std::string x = tensor({9, columns}, type);
      checkRegion("rowwise", {x, x},
                  formatv("%c = fact.constant dense<0.25> : tensor<{1}>\n"
                          "%0 = fact.mul %a0, %c : ({0}, tensor<{1}>) -> {0}\n"
                          "%1 = fact.softmax %0 dim 1 : {0}\n"
                          "%2 = fact.mul %1, %a1 : ({0}, {0}) -> {0}\n"
                          "fact.yield %2, %0 : {0}, {0}",
                          T(x), type)
                      .str(),
                  {x, x});
    }
}

TEST(Rowwise, Places) {
  // Rectified rows have many smallest elements, of which the first counts; rows
  // of one element and rows shorter than a register are all ends.
  for (const std::string &type : types)
    for (int64_t columns : {1, 3, 35, 64}) {
      std::string x = tensor({6, columns}, type);
      checkRegion(
          "rowwise", {x},
          formatv(
              "%0 = fact.relu %a0 : ({0}) -> {0}\n"
              "%1 = fact.reduce argmin %0 dims [1] : ({0}) -> tensor<6xi64>\n"
              "fact.yield %1 : tensor<6xi64>",
              T(x))
              .str(),
          {"6xi64"});
      checkRegion("rowwise", {x},
                  formatv("%0 = fact.reduce argmax %a0 dims [1] keep : ({0}) "
                          "-> tensor<6x1xi64>\n"
                          "fact.yield %0 : tensor<6x1xi64>",
                          T(x))
                      .str(),
                  {"6x1xi64"});
    }
  // The root of a negative number is NaN, which is the extreme of both.
  for (const char *kind : {"argmax", "argmin"})
    checkRegion(
        "rowwise", {"20x9xf32"},
        formatv("%0 = fact.sqrt %a0 : (tensor<20x9xf32>) -> tensor<20x9xf32>\n"
                "%1 = fact.reduce {0} %0 dims [1] : (tensor<20x9xf32>) -> "
                "tensor<20xi64>\n"
                "fact.yield %1 : tensor<20xi64>",
                kind)
            .str(),
        {"20xi64"});
}

TEST(Rowwise, Reductions) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"}) {
    SCOPED_TRACE(kind);
    checkRegion(
        "rowwise", {"5x6x35xf32"},
        formatv("%0 = fact.mul %a0, %a0 : (tensor<5x6x35xf32>, "
                "tensor<5x6x35xf32>) -> tensor<5x6x35xf32>\n"
                "%1 = fact.reduce {0} %0 dims [2] : (tensor<5x6x35xf32>) -> "
                "tensor<5x6xf32>\n"
                "%2 = fact.exp %1 : (tensor<5x6xf32>) -> tensor<5x6xf32>\n"
                "fact.yield %2 : tensor<5x6xf32>",
                kind)
            .str(),
        {"5x6xf32"}, 0.2);
  }
  // x / sum(|x|), with the reduction used along the row.
  checkRegion("rowwise", {"5x35xbf16"}, R"(
    %0 = fact.abs %a0 : (tensor<5x35xbf16>) -> tensor<5x35xbf16>
    %1 = fact.reduce sum %0 dims [1] keep : (tensor<5x35xbf16>) -> tensor<5x1xbf16>
    %2 = fact.div %a0, %1 : (tensor<5x35xbf16>, tensor<5x1xbf16>) -> tensor<5x35xbf16>
    fact.yield %2, %1 : tensor<5x35xbf16>, tensor<5x1xbf16>)",
              {"5x35xbf16", "5x1xbf16"});
  checkRegion("rowwise", {"4x3x5xf64"}, R"(
    %0 = fact.reduce mean %a0 dims [0, 1, 2] : (tensor<4x3x5xf64>) -> tensor<f64>
    fact.yield %0 : tensor<f64>)",
              {"f64"});
}

// Rows that are adjacent in memory, of any number: fewer than a register holds,
// and a few more than a vector has lanes.
TEST(Rowwise, RowsInLanes) {
  for (const std::string &type : {"f32", "bf16", "f64"})
    for (int64_t inner : {3, 37, 130}) {
      if (type != "f32" && inner != 37)
        continue;
      std::string x = tensor({2, 70, inner}, type),
                  rows = tensor({2, inner, 70}, type),
                  each = tensor({2, inner}, type), w = tensor({70}, type),
                  places = tensor({2, inner}, "i64");
      SCOPED_TRACE(x);
      std::string begin = formatv(
          "%p = fact.permute %a0 [0, 2, 1] : ({0}) -> {1}\n", T(x), T(rows));
      for (const char *kind : {"sum", "mean", "max", "min", "prod"})
        checkRegion("rowwise", {x, each},
                    begin +
                        formatv("%0 = fact.reduce {2} %p dims [2] : ({0}) "
                                "-> {1}\n"
                                "%1 = fact.add %0, %a1 : ({1}, {1}) -> {1}\n"
                                "fact.yield %1 : {1}",
                                T(rows), T(each), kind)
                            .str(),
                    {each}, 0.2);
      for (const char *kind : {"argmax", "argmin"})
        checkRegion("rowwise", {x},
                    begin + formatv("%0 = fact.sqrt %p : ({0}) -> {0}\n"
                                    "%1 = fact.reduce {2} %0 dims [2] : ({0}) "
                                    "-> {1}\n"
                                    "fact.yield %1 : {1}",
                                    T(rows), T(places), kind)
                                .str(),
                    {places});
      checkRegion("rowwise", {x},
                  begin +
                      formatv("%0 = fact.softmax %p dim 2 : {1}\n"
                              "%1 = fact.mul %0, %p : ({1}, {1}) -> {1}\n"
                              "%2 = fact.permute %1 [0, 2, 1] : ({1}) -> {0}\n"
                              "fact.yield %2 : {0}",
                              T(x), T(rows))
                          .str(),
                  {x});
      for (const char *kind : {"layer", "rms"})
        checkRegion(
            "rowwise", {x, w, w},
            begin + formatv("%0 = fact.norm {2} %p weight %a1 bias %a2 "
                            "eps 1.0e-05 : ({1}, {3}, {3}) -> {1}\n"
                            "%1 = fact.permute %0 [0, 2, 1] : ({1}) -> {0}\n"
                            "fact.yield %1 : {0}",
                            T(x), T(rows), kind, T(w))
                        .str(),
            {x});
    }
}

TEST(Rowwise, Integers) {
  for (const char *kind : {"sum", "prod", "max", "min", "argmax", "argmin"})
    for (const std::string x : {"6x35xi64", "6x3xi32"}) {
      std::string result =
          kind[0] == 'a' || x == "6x35xi64" ? "6xi64" : "6xi32";
      checkRegion("rowwise", {x},
                  formatv("%0 = fact.add %a0, %a0 : ({0}, {0}) -> {0}\n"
                          "%1 = fact.reduce {1} %0 dims [1] : ({0}) -> {2}\n"
                          "fact.yield %1 : {2}",
                          T(x), kind, T(result))
                      .str(),
                  {result}, 4.0);
    }
  for (const char *kind : {"max", "min", "argmax", "argmin"}) {
    std::string result = kind[0] == 'a' ? "6xi64" : "6xi1";
    checkRegion(
        "rowwise", {"6x35xi1"},
        formatv("%0 = fact.reduce {0} %a0 dims [1] : (tensor<6x35xi1>) -> {1}\n"
                "fact.yield %0 : {1}",
                kind, T(result))
            .str(),
        {result});
  }
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// scan and sort
//===----------------------------------------------------------------------===//

// Rows of whole vectors, with a remainder, and shorter than one; neighboring
// rows in the lanes of a vector.
TEST(Scan, AnyDimension) {
  struct {
    const char *kind, *type;
    int64_t dim;
  } scans[] = {{"sum", "3x37x5xf32", 1}, {"sum", "2x3xf32", 1},
               {"sum", "5x64xbf16", 1},  {"prod", "4x100xf32", 0},
               {"prod", "2x19xf32", 1},  {"max", "3x37xf32", 1},
               {"min", "3x6x2xf64", 1},  {"max", "4x45xi64", 1},
               {"sum", "130xi32", 0}};
  for (auto [kind, type, dim] : scans)
    checkRegion("scan", {type},
                formatv("%0 = fact.scan {0} %a0 dim {1} : {2}\n"
                        "fact.yield %0 : {2}",
                        kind, dim, T(type))
                    .str(),
                {type});
}

// Short rows, long ones, few places of long ones, and the last place alone.
TEST(Sort, AnyRows) {
  struct {
    const char *type;
    int64_t dim, count;
    const char *places, *last;
  } sorts[] = {{"3x37x5xf32", 1, 20, "3x20x5xi64", "3x1x5xi64"},
               {"3x70x2xf32", 1, 70, "3x70x2xi64", "3x1x2xi64"},
               {"4x129xi64", 1, 8, "4x8xi64", "4x1xi64"},
               {"2x300xf32", 1, 70, "2x70xi64", "2x1xi64"},
               {"64xbf16", 0, 64, "64xi64", "1xi64"},
               {"2x21xi1", 1, 21, "2x21xi64", "2x1xi64"},
               {"2x90xf64", 1, 90, "2x90xi64", "2x1xi64"}};
  for (auto [type, dim, count, places, last] : sorts)
    for (const char *order : {"", "descending "}) {
      std::string sort =
          formatv("%0 = fact.argsort %a0 dim {0} {1}count {2} : ({3}) -> {4}\n",
                  dim, order, count, T(type), T(places));
      checkRegion("sort", {type},
                  formatv("{0}fact.yield %0 : {1}", sort, T(places)).str(),
                  {places});
      checkRegion("sort", {type},
                  formatv("{0}%1 = fact.slice %0 dim {1} start {2} : ({3}) -> "
                          "{4}\nfact.yield %1 : {4}",
                          sort, dim, count - 1, T(places), T(last))
                      .str(),
                  {last});
    }
}

//===----------------------------------------------------------------------===//
// generic
//===----------------------------------------------------------------------===//

TEST(Generic, AnyOps) {
  checkRegion("generic", {"4x3xbf16", "4x5xbf16", "8x6xbf16"}, R"(
    %0 = fact.concat %a0, %a1 dim 1 : (tensor<4x3xbf16>, tensor<4x5xbf16>) -> tensor<4x8xbf16>
    %1 = fact.matmul %0, %a2 : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
    %2 = fact.reduce max %1 dims [0] : (tensor<4x6xbf16>) -> tensor<6xbf16>
    %3 = fact.softmax %1 dim 0 : tensor<4x6xbf16>
    %4 = fact.matmul %3, %1 transpose_a : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<6x6xbf16>
    fact.yield %2, %4, %0 : tensor<6xbf16>, tensor<6x6xbf16>, tensor<4x8xbf16>)",
              {"6xbf16", "6x6xbf16", "4x8xbf16"});
  checkRegion("generic", {"3x4xi32", "3x4xi1"}, R"(
    %0 = fact.reduce sum %a0 dims [1] keep : (tensor<3x4xi32>) -> tensor<3x1xi32>
    %1 = fact.reduce max %a1 dims [0] : (tensor<3x4xi1>) -> tensor<4xi1>
    fact.yield %0, %1 : tensor<3x1xi32>, tensor<4xi1>)",
              {"3x1xi32", "4xi1"});
}

TEST(Generic, Scans) {
  checkRegion("generic", {"3x37x5xf32", "40xbf16", "3x9xi64"}, R"(
    %0 = fact.scan sum %a0 dim 0 : tensor<3x37x5xf32>
    %1 = fact.scan prod %a0 dim 1 : tensor<3x37x5xf32>
    %2 = fact.scan max %a0 dim 2 : tensor<3x37x5xf32>
    %3 = fact.scan logsumexp %a1 dim 0 : tensor<40xbf16>
    %4 = fact.scan min %a2 dim 1 : tensor<3x9xi64>
    fact.yield %0, %1, %2, %3, %4 : tensor<3x37x5xf32>, tensor<3x37x5xf32>, tensor<3x37x5xf32>, tensor<40xbf16>, tensor<3x9xi64>)",
              {"3x37x5xf32", "3x37x5xf32", "3x37x5xf32", "40xbf16", "3x9xi64"});
}

TEST(Generic, Sorts) {
  checkRegion("generic", {"3x37x5xf32", "64xbf16", "2x33xi64"}, R"(
    %0 = fact.argsort %a0 dim 1 descending count 20 : (tensor<3x37x5xf32>) -> tensor<3x20x5xi64>
    %1 = fact.argsort %a1 dim 0 : (tensor<64xbf16>) -> tensor<64xi64>
    %2 = fact.argsort %a2 dim 1 : (tensor<2x33xi64>) -> tensor<2x33xi64>
    fact.yield %0, %1, %2 : tensor<3x20x5xi64>, tensor<64xi64>, tensor<2x33xi64>)",
              {"3x20x5xi64", "64xi64", "2x33xi64"});
  // Long rows, which are sorted one by one.
  checkRegion("generic", {"3x70x2xf32", "4x129xi64"}, R"(
    %0 = fact.argsort %a0 dim 1 descending : (tensor<3x70x2xf32>) -> tensor<3x70x2xi64>
    %1 = fact.argsort %a1 dim 1 count 8 : (tensor<4x129xi64>) -> tensor<4x8xi64>
    fact.yield %0, %1 : tensor<3x70x2xi64>, tensor<4x8xi64>)",
              {"3x70x2xi64", "4x8xi64"});
  // NaN is the largest, both zeros are equal, and equal keys keep their order.
  for (const char *order : {"", "descending "})
    checkRegion(
        "generic", {"3x40xf32", "2x21xi32", "2x21xi1", "5x30xbf16"},
        formatv("%c = fact.constant dense<0.0> : tensor<f32>\n"
                "%0 = fact.sqrt %a0 : ({1}) -> {1}\n"
                "%1 = fact.argsort %0 dim 1 {0}: ({1}) -> tensor<3x40xi64>\n"
                "%2 = fact.mul %a0, %c : ({1}, tensor<f32>) -> {1}\n"
                "%3 = fact.argsort %2 dim 1 {0}: ({1}) -> tensor<3x40xi64>\n"
                "%4 = fact.argsort %a1 dim 1 {0}: ({2}) -> tensor<2x21xi64>\n"
                "%5 = fact.argsort %a2 dim 1 {0}: ({3}) -> tensor<2x21xi64>\n"
                "%6 = fact.floor %a3 : ({4}) -> {4}\n"
                "%7 = fact.argsort %6 dim 1 {0}: ({4}) -> tensor<5x30xi64>\n"
                "fact.yield %1, %3, %4, %5, %7 : tensor<3x40xi64>, "
                "tensor<3x40xi64>, tensor<2x21xi64>, tensor<2x21xi64>, "
                "tensor<5x30xi64>",
                order, T("3x40xf32"), T("2x21xi32"), T("2x21xi1"),
                T("5x30xbf16"))
            .str(),
        {"3x40xi64", "3x40xi64", "2x21xi64", "2x21xi64", "5x30xi64"}, 4.0);
}

TEST(Generic, Scatters) {
  checkRegion("generic", {"3x7x5xf32", "40xi64", "3x40x5xf32"}, R"(
    %0 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<3x7x5xf32>, tensor<40xi64>, tensor<3x40x5xf32>) -> tensor<3x7x5xf32>
    %1 = fact.scatter sum %a0, %a1, %a2 dim 1 : (tensor<3x7x5xf32>, tensor<40xi64>, tensor<3x40x5xf32>) -> tensor<3x7x5xf32>
    %2 = fact.scatter max %a0, %a1, %a2 dim 1 : (tensor<3x7x5xf32>, tensor<40xi64>, tensor<3x40x5xf32>) -> tensor<3x7x5xf32>
    fact.yield %0, %1, %2 : tensor<3x7x5xf32>, tensor<3x7x5xf32>, tensor<3x7x5xf32>)",
              {"3x7x5xf32", "3x7x5xf32", "3x7x5xf32"});
}

TEST(Target, DescribesItself) {
  mlir::DialectRegistry registry;
  fact::registerAllTargets(registry);
  mlir::MLIRContext context(registry);
  std::unique_ptr<fact::Target> target =
      fact::createTarget(&context, *fact::findMachine("host"));
  EXPECT_EQ(target->getKind(), "host");
  EXPECT_EQ(target->getCommands().link.back(), "{output}");
  bool hasKernelHeader = false;
  for (const auto &[path, text] : target->getBundleFiles()) {
    hasKernelHeader |= path == "include/fact/Runtime/Kernel.h";
    EXPECT_FALSE(llvm::StringRef(path).ends_with(".cu"));
    EXPECT_FALSE(text.empty());
  }
  EXPECT_TRUE(hasKernelHeader);
}

//===----------------------------------------------------------------------===//
// Throughput: printed, not asserted
//===----------------------------------------------------------------------===//

TEST(Throughput, Gemm) {
  double time = checkLinear(512, 1024, 256, "f32", /*timed=*/true);
  std::printf("linear, gelu, add 512x1024x256 f32: %.1f GFLOP/s\n",
              2.0 * 512 * 1024 * 256 / time * 1e-3);
}

TEST(Throughput, PlainGemm) {
  double time = checkRegion("gemm_epilogue",
                            {"512x256xf32", "1024x256xf32", "1024xf32"}, R"(
    %0 = fact.matmul %a0, %a1 transpose_b : (tensor<512x256xf32>, tensor<1024x256xf32>) -> tensor<512x1024xf32>
    %1 = fact.add %0, %a2 : (tensor<512x1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
    fact.yield %1 : tensor<512x1024xf32>)",
                            {"512x1024xf32"}, 1.0, true);
  std::printf("linear 512x1024x256 f32: %.1f GFLOP/s\n",
              2.0 * 512 * 1024 * 256 / time * 1e-3);
}

TEST(Throughput, GatedGemm) {
  double time = checkGated(512, 512, 256, "f32", /*timed=*/true);
  std::printf("gated 512x512x256 f32: %.1f GFLOP/s\n",
              4.0 * 512 * 512 * 256 / time * 1e-3);
}

TEST(Throughput, Attention) {
  double time =
      checkAttention(4, 4, 512, 512, 64, 64, "causal", "f32", "", true);
  std::printf("attention 2x4x512x64 causal f32: %.1f us, %.1f GFLOP/s\n", time,
              2.0 * 2 * 4 * 512 * 512 * 64 / time * 1e-3);
}

TEST(Throughput, Norm) {
  double time =
      checkRegion("rowwise", {"4096x768xf32", "768xf32", "768xf32"}, R"(
    %1 = fact.norm layer %a0 weight %a1 bias %a2 eps 1.0e-05 : (tensor<4096x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<4096x768xf32>
    fact.yield %1 : tensor<4096x768xf32>)",
                  {"4096x768xf32"}, 1.0, true);
  std::printf("norm 4096x768 f32: %.1f GB/s\n",
              2.0 * 4096 * 768 * 4 / time * 1e-3);
}
