//===- HostTargetTest.cpp - The host target, and its kernel for any ops ---===//
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
