//===- RacesTest.cpp - The thread sanitizer sees what kernels access ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other tests of this program run the tiles of every kernel on threads and
// expect no race. These plant one: a tile that all threads run.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "Threads.h"
#include "gtest/gtest.h"

using namespace fact;
using namespace fact::test;

/// Races between threads that run the same tile of a region's first schedule,
/// with buffers of their own but for the last, which is the result.
static int plantRace(llvm::StringRef rule, llvm::StringRef type,
                     llvm::StringRef op) {
  std::string tensor = ("tensor<" + type + ">").str();
  std::string body = ("%0 = " + op + "\nfact.yield %0 : " + tensor).str();
  RegionText region(rule, {type.str()}, body, {type.str()});
  HostPlanOf plan(region.get());
  if (!plan) {
    ADD_FAILURE() << "no plan of " << body;
    return 0;
  }
  KernelCode code;
  if (failed(plan->emit(
          KernelVariant{plan->getSpace().enumerate().front(), "candidate"},
          code))) {
    ADD_FAILURE() << "not emitted: " << body;
    return 0;
  }
  LoadedKernel kernel(code, "candidate");
  auto result =
      llvm::cast<mlir::RankedTensorType>(region.get()->getResult(0).getType());
  Buffer shared(result.getElementType(), result.getNumElements());
  int before = countRaces();
  onEachThread([&](int) {
    Buffer own(result.getElementType(), result.getNumElements());
    std::vector<char> workspace(kernel.get()->workspace_bytes);
    void *buffers[] = {own.data(), shared.data()};
    kernel.get()->tile(0, buffers, workspace.data());
  });
  return countRaces() - before;
}

TEST(Races, LongVectors) {
  EXPECT_GT(plantRace("pointwise", "64x64xf32",
                      "fact.relu %a0 : (tensor<64x64xf32>) -> "
                      "tensor<64x64xf32>"),
            0);
}

TEST(Races, EndsOfRows) {
  // Shorter than a vector, so that the only store is masked.
  EXPECT_GT(plantRace("pointwise", "3xf32",
                      "fact.relu %a0 : (tensor<3xf32>) -> tensor<3xf32>"),
            0);
}

TEST(Races, HalfPrecision) {
  EXPECT_GT(plantRace("rowwise", "5x37xbf16",
                      "fact.softmax %a0 dim 1 : tensor<5x37xbf16>"),
            0);
}

TEST(Races, PlainLoops) {
  EXPECT_GT(plantRace("generic", "5x37xf32",
                      "fact.relu %a0 : (tensor<5x37xf32>) -> tensor<5x37xf32>"),
            0);
}

TEST(Races, NoneWithoutSharing) {
  int before = countRaces();
  onEachThread([](int) {
    volatile int own = 1;
    (void)own;
  });
  EXPECT_EQ(countRaces(), before);
}
