//===- HostGemmTest.cpp - Host products against their references ----------===//
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
using fact::Band;
using fact::FusedOp;
using llvm::formatv;

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
  // Each size with each other one, but not all triples. One row or one column
  // is a sum of rows.
  const int64_t sizes[] = {2, 7, 33};
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
  // Register tiles of vectors with half as many lanes.
  checkLinear(50, 100, 64, "f64");
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

TEST(Gemm, FewRowsOfWholeAndPartialPanels) {
  auto check = [](int64_t batches, int64_t m, int64_t n, int64_t k,
                  const std::string &type) {
    std::string x = tensor({batches, m, k}, type),
                w = tensor({batches, k, n}, type),
                y = tensor({batches, m, n}, type);
    checkRegion("gemm_epilogue", {x, w, y},
                formatv("%0 = fact.matmul %a0, %a1 : ({0}, {1}) -> {2}\n"
                        "%1 = fact.sub %0, %a2 : ({2}, {2}) -> {2}\n"
                        "fact.yield %1 : {2}",
                        T(x), T(w), T(y))
                    .str(),
                {y});
  };
  for (const std::string &type : types) {
    check(1, 2, 64, 19, type);
    check(3, 5, 96, 33, type);
    check(1, 7, 192, 1100, type);
    // The last panel is not whole.
    check(2, 7, 43, 40, type);
    check(3, 1, 37, 517, type);
    // Panels that are packed several at once, and what is left.
    check(2, 9, 811, 5, type);
  }
  check(2, 6, 48, 21, "f64");
  // More columns than a tile that reads them in place.
  check(1, 1, 4203, 7, "f32");
  check(1, 8, 2051, 6, "f32");
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

/// A product, times a third operand.
static std::string getBandedBody(int64_t batches, int64_t m, int64_t n,
                                 int64_t k) {
  return formatv("%0 = fact.matmul %a0, %a1 : ({0}, {1}) -> {2}\n"
                 "%1 = fact.mul %0, %a2 : ({2}, {3}) -> {2}\n"
                 "fact.yield %1 : {2}",
                 T(tensor({batches, m, k}, "f32")),
                 T(tensor({batches, k, n}, "f32")),
                 T(tensor({batches, m, n}, "f32")), T(tensor({m, n}, "f32")))
      .str();
}

static void checkBands(int64_t batches, int64_t m, int64_t n, int64_t k,
                       Band lhs, Band rhs, Band factor = {}) {
  std::string y = tensor({batches, m, n}, "f32");
  checkRegion("gemm_epilogue",
              {tensor({batches, m, k}, "f32"), tensor({batches, k, n}, "f32"),
               tensor({m, n}, "f32")},
              getBandedBody(batches, m, n, k), {y}, 1.0, /*timed=*/false,
              {lhs, rhs, factor});
}

TEST(Gemm, Bands) {
  Band all, lower{-Band::none, 0}, upper{1, Band::none}, narrow{-3, 2};
  // One chain, several chains, and several blocks of K.
  checkBands(2, 37, 43, 40, lower, all);
  checkBands(1, 37, 43, 300, narrow, narrow, upper);
  checkBands(2, 37, 43, 1100, lower, all);
  checkBands(1, 30, 50, 1100, all, {-Band::none, -20});
  checkBands(1, 61, 52, 1100, all, upper, lower);
  // No row reaches the terms of the first block, or any.
  checkBands(1, 37, 43, 1100, {1000, 1010}, all);
  checkBands(1, 9, 30, 40, {Band::none - 1, Band::none}, all);
  // Blocks of K that begin behind the last row, and within its register tile:
  // a half, a third or less of 1024.
  for (int64_t rows : {511, 341})
    checkBands(1, rows, 17, 1024, {-Band::none, 1}, all);
  // Few rows, and tiles that pack blocks.
  checkBands(1, 5, 100, 300, lower, upper);
  // Streams, whose first blocks of K no row reaches, or no column.
  checkBands(1, 5, 100, 600, lower, all);
  checkBands(1, 4, 600, 600, all, {-Band::none, -200});
  checkBands(1, 4, 3000, 64, all, all, lower);
  checkBands(9, 200, 200, 210, lower, lower);
}

TEST(Gemm, TermsOutsideOfBandsTakeNoTime) {
  auto predict = [](Band lhs, Band rhs, Band factor) {
    std::string square = tensor({1, 512, 512}, "f32");
    RegionText region("gemm_epilogue",
                      {square, square, tensor({512, 512}, "f32")},
                      getBandedBody(1, 512, 512, 512), {square});
    FusedOp fused = region.get();
    fact::setOperandBands(fused, {lhs, rhs, factor});
    HostPlanOf plan(fused);
    return plan->predict(plan->getSpace().enumerate().front());
  };
  Band all, lower{-Band::none, 0};
  double whole = predict(all, all, all);
  EXPECT_LT(predict(lower, all, all), 0.7 * whole);
  EXPECT_LT(predict(all, lower, all), 0.7 * whole);
  EXPECT_LT(predict(all, all, lower), 0.7 * whole);
  // A sixth of the terms.
  EXPECT_LT(predict(lower, lower, all), 0.4 * whole);
  EXPECT_GT(predict(lower, all, all), 0.4 * whole);
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

/// Windows that are a few pixels apart, also across rows and small images.
TEST(Gemm, WindowsApart) {
  for (auto [down, across] : {std::pair(1, 2), std::pair(2, 2), std::pair(1, 3),
                              std::pair(2, 4), std::pair(1, 5)})
    for (int64_t channels : {1, 3}) {
      int64_t oh = 4 / down + 1, ow = 10 / across + 1, k = 6 * channels;
      std::string image = tensor({4, channels, 6, 13}, "f32");
      std::string last = tensor({4, 6, 13, channels}, "f32");
      std::string windows = tensor({4, oh, ow, 2, 3, channels}, "f32");
      std::string rows = tensor({4, oh, ow, k}, "f32");
      std::string filters = tensor({k, 5}, "f32");
      std::string result = tensor({4, oh, ow, 5}, "f32");
      std::string body =
          formatv("%0 = fact.permute %a0 [0, 2, 3, 1] : ({0}) -> {1}\n"
                  "%1 = fact.windows %0 dim 1 kernel [2, 3] strides [{2}, {3}] "
                  "dilations [1, 1] : ({1}) -> {4}\n",
                  T(image), T(last), down, across, T(windows))
              .str() +
          formatv("%2 = fact.reshape %1 : ({0}) -> {1}\n"
                  "%3 = fact.matmul %2, %a1 : ({1}, {2}) -> {3}\n"
                  "fact.yield %3 : {3}",
                  T(windows), T(rows), T(filters), T(result))
              .str();
      checkRegion("gemm_epilogue", {image, filters}, body, {result});
    }
}

/// Results whose columns are contiguous in memory, as those of convolutions of
/// images with channels first are: pieces of a register tile's rows, and rows
/// at the ends of pieces that no multiple of them has.
TEST(Gemm, ResultsByColumns) {
  struct Case {
    const char *type;
    int64_t rows, n, k;
  };
  for (auto [given, rows, n, k] :
       {Case{"f32", 5, 33, 20}, Case{"f32", 49, 33, 300},
        Case{"bf16", 100, 5, 20}, Case{"f64", 49, 20, 20}}) {
    std::string type = given;
    std::string x = tensor({3, rows, k}, type), w = tensor({k, n}, type);
    std::string bias = tensor({n}, type), beside = tensor({3, n, rows}, type);
    std::string product = tensor({3, rows, n}, type);
    checkRegion("gemm_epilogue", {x, w, bias, beside, product},
                formatv("%0 = fact.matmul %a0, %a1 : ({0}, {1}) -> {2}\n"
                        "%1 = fact.add %0, %a2 : ({2}, {3}) -> {2}\n"
                        "%2 = fact.permute %a3 [0, 2, 1] : ({4}) -> {2}\n"
                        "%3 = fact.mul %1, %2 : ({2}, {2}) -> {2}\n"
                        "%4 = fact.add %3, %a4 : ({2}, {2}) -> {2}\n"
                        "%5 = fact.permute %4 [0, 2, 1] : ({2}) -> {4}\n"
                        "fact.yield %5, %1 : {4}, {2}",
                        T(x), T(w), T(product), T(bias), T(beside))
                    .str(),
                {beside, product});
    checkRegion("gemm_epilogue", {x, w, bias},
                formatv("%0 = fact.matmul %a0, %a1 : ({0}, {1}) -> {2}\n"
                        "%1 = fact.add %0, %a2 : ({2}, {3}) -> {2}\n"
                        "%2 = fact.permute %1 [0, 2, 1] : ({2}) -> {4}\n"
                        "fact.yield %2 : {4}",
                        T(x), T(w), T(product), T(bias), T(beside))
                    .str(),
                {beside});
  }
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
  // Panels that a tile packs several at once, and what is left.
  checkRegion("gemm_epilogue", {"133x133xf32"}, R"(
    %0 = fact.matmul %a0, %a0 : (tensor<133x133xf32>, tensor<133x133xf32>) -> tensor<133x133xf32>
    fact.yield %0 : tensor<133x133xf32>)",
              {"133x133xf32"});
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

TEST(Gemm, ReductionsOfFewRowsInPlace) {
  checkRegion("gemm_epilogue", {"3x40xf32", "40x37xf32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<3x40xf32>, tensor<40x37xf32>) -> tensor<3x37xf32>
    %1 = fact.reduce max %0 dims [1] : (tensor<3x37xf32>) -> tensor<3xf32>
    fact.yield %1, %0 : tensor<3xf32>, tensor<3x37xf32>)",
              {"3xf32", "3x37xf32"});
  checkRegion("gemm_epilogue", {"5x40xf32", "40x37xf32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<5x40xf32>, tensor<40x37xf32>) -> tensor<5x37xf32>
    %1 = fact.reduce sum %0 dims [0] : (tensor<5x37xf32>) -> tensor<37xf32>
    fact.yield %1 : tensor<37xf32>)",
              {"37xf32"});
  // Several panels of columns and blocks of K.
  checkRegion("gemm_epilogue", {"8x300xf32", "300x1100xf32"}, R"(
    %0 = fact.matmul %a0, %a1 : (tensor<8x300xf32>, tensor<300x1100xf32>) -> tensor<8x1100xf32>
    %1 = fact.reduce max %0 dims [1] : (tensor<8x1100xf32>) -> tensor<8xf32>
    fact.yield %1 : tensor<8xf32>)",
              {"8xf32"});
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
