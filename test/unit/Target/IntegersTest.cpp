//===- IntegersTest.cpp - Integers that processors disagree on ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelRunner.h"
#include "fact/Target/Reference.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::test;
using llvm::formatv;

namespace {
template <typename Integer> struct Division {
  std::vector<Integer> x, y, quotients, rests;

  Division() {
    constexpr Integer least = std::numeric_limits<Integer>::min(),
                      most = std::numeric_limits<Integer>::max();
    for (Integer a : {Integer(0), Integer(1), Integer(-1), Integer(7),
                      Integer(-7), most, least})
      for (Integer b : {Integer(0), Integer(1), Integer(-1), Integer(3),
                        Integer(-3), most, least}) {
        x.push_back(a);
        y.push_back(b);
        bool wraps = a == least && b == -1;
        quotients.push_back(b == 0 ? 0 : wraps ? least : Integer(a / b));
        rests.push_back(b == 0 ? a : wraps ? 0 : Integer(a % b));
      }
  }
};

/// Runs a kernel of div and fmod and compares with the definition.
template <typename Integer>
void check(const KernelCode &code, const std::string &what) {
  Division<Integer> division;
  LoadedKernel kernel(code, "kernel");
  ASSERT_TRUE(kernel.get());
  std::vector<Integer> quotients(division.x.size()), rests(division.x.size());
  kernel.run(
      {division.x.data(), division.y.data(), quotients.data(), rests.data()});
  for (size_t i = 0; i < quotients.size(); ++i) {
    EXPECT_EQ(quotients[i], division.quotients[i])
        << what << ": " << int64_t(division.x[i]) << " / "
        << int64_t(division.y[i]);
    EXPECT_EQ(rests[i], division.rests[i])
        << what << ": " << int64_t(division.x[i]) << " % "
        << int64_t(division.y[i]);
  }
}

template <typename Integer> void checkType(const std::string &type) {
  std::string x = formatv("{0}x{1}", Division<Integer>().x.size(), type);
  std::string body =
      formatv("%0 = fact.div %a0, %a1 : (tensor<{0}>, tensor<{0}>) -> "
              "tensor<{0}>\n%1 = fact.fmod %a0, %a1 : (tensor<{0}>, "
              "tensor<{0}>) -> tensor<{0}>\nfact.yield %0, %1 : tensor<{0}>, "
              "tensor<{0}>",
              x);
  for (const char *rule : {"pointwise", "generic"}) {
    RegionText region(rule, {x, x}, body, {x, x});
    FusedOp fused = region.get();
    ASSERT_TRUE(fused);
    KernelCode reference;
    ASSERT_TRUE(succeeded(emitReference(fused, "kernel", reference)));
    check<Integer>(reference, "reference, " + type);
    HostPlanOf plan(fused);
    ASSERT_TRUE(plan);
    for (ScheduleAttr schedule : plan->getSpace().enumerate()) {
      KernelCode code;
      ASSERT_TRUE(
          succeeded(plan->emit(KernelVariant{schedule, "kernel"}, code)));
      check<Integer>(code, rule + (", " + type));
    }
  }
}
} // namespace

TEST(Integers, DivisionByZeroAndOverflow) {
  checkType<int8_t>("i8");
  checkType<int32_t>("i32");
  checkType<int64_t>("i64");
}

TEST(Integers, ConversionsOutsideOfTheType) {
  std::vector<float> x = {0.0f,      -0.0f, 1.9f,   -1.9f,   2147483520.0f,
                          3e9f,      -3e9f, 1e30f,  -1e30f,  INFINITY,
                          -INFINITY, NAN,   300.0f, -129.0f, -2147483648.0f};
  constexpr int32_t most = std::numeric_limits<int32_t>::max(),
                    least = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> words = {0,     0,     1,    -1,    2147483520,
                                most,  least, most, least, most,
                                least, 0,     300,  -129,  least};
  std::string type = std::to_string(x.size()) + "x";
  std::string body =
      formatv("%0 = fact.cast %a0 : (tensor<{0}f32>) -> tensor<{0}i32>\n"
              "%1 = fact.cast %a0 : (tensor<{0}f32>) -> tensor<{0}i8>\n"
              "fact.yield %0, %1 : tensor<{0}i32>, tensor<{0}i8>",
              type);
  for (const char *rule : {"pointwise", "generic"}) {
    RegionText region(rule, {type + "f32"}, body, {type + "i32", type + "i8"});
    FusedOp fused = region.get();
    ASSERT_TRUE(fused);
    HostPlanOf plan(fused);
    ASSERT_TRUE(plan);
    KernelCode code;
    ASSERT_TRUE(succeeded(plan->emit(
        KernelVariant{plan->getSpace().enumerate().front(), "kernel"}, code)));
    LoadedKernel kernel(code, "kernel");
    ASSERT_TRUE(kernel.get());
    std::vector<int32_t> out(x.size());
    std::vector<int8_t> bytes(x.size());
    kernel.run({x.data(), out.data(), bytes.data()});
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(out[i], words[i]) << rule << ": " << x[i];
      EXPECT_EQ(bytes[i], int8_t(words[i])) << rule << ": " << x[i];
    }
  }
}
