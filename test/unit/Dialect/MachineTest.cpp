//===- MachineTest.cpp - Peaks of contractions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using runtime::ElementType;

namespace {
using Precision = Float32Precision;

TEST(Machine, PeaksAreByTypeAndPrecision) {
  for (StringRef name : {"h100", "h200"}) {
    const MachineDescription &machine = *findMachine(name);
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F32), 67e12);
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, Precision::High),
              494.7e12);
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, Precision::Medium),
              989e12);
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F64, Precision::High), 67e12);
    for (ElementType narrow : {ElementType::F16, ElementType::BF16})
      EXPECT_EQ(machine.getMatrixFlops(narrow), 989e12);
  }
}

TEST(Machine, LessPrecisionIsNoSlower) {
  for (const MachineDescription &machine : getMachineTable()) {
    double highest = machine.getMatrixFlops(ElementType::F32);
    double high = machine.getMatrixFlops(ElementType::F32, Precision::High);
    double medium = machine.getMatrixFlops(ElementType::F32, Precision::Medium);
    EXPECT_LE(highest, high) << machine.name.str();
    EXPECT_LE(high, medium) << machine.name.str();
  }
}

MachineDescription parseMachine(MLIRContext &context, StringRef peaks) {
  std::string text =
      ("#fact.machine<\"mine\", {architecture = \"sm_90a\", multiprocessors = "
       "114 : i64, shared_memory_bytes = 232448 : i64, cache_bytes = 1024 : "
       "i64, bandwidth = 2.0e12 : f64, scalar_flops = 3.0e13 : f64, " +
       peaks + "}>")
          .str();
  auto machine = dyn_cast_or_null<MachineAttr>(parseAttribute(text, &context));
  EXPECT_TRUE(machine);
  return machine ? machine.getDescription() : *findMachine("host");
}

TEST(Machine, FiguresOfCostModelsMayBeLeftOut) {
  MLIRContext context;
  context.loadDialect<FactDialect>();
  std::string peaks =
      "matrix_flops_16 = 7.0e14 : f64, matrix_flops_32 = 5.0e13 : f64, "
      "matrix_flops_64 = 2.5e13 : f64";
  EXPECT_EQ(parseMachine(context, peaks).clock, MachineDescription().clock);
  EXPECT_EQ(parseMachine(context, peaks + ", clock = 1.0e9 : f64").clock, 1e9);
  EXPECT_EQ(parseMachine(context, peaks + ", launch_seconds = 5.0e-6 : f64")
                .launchSeconds,
            5e-6);
}

TEST(Machine, TextWithoutTf32IsRead) {
  MLIRContext context;
  context.loadDialect<FactDialect>();
  std::string peaks =
      "matrix_flops_16 = 7.0e14 : f64, matrix_flops_32 = 5.0e13 : f64, "
      "matrix_flops_64 = 2.5e13 : f64";
  MachineDescription machine = parseMachine(context, peaks);
  EXPECT_EQ(machine.getMatrixFlops(ElementType::BF16), 7e14);
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F32), 5e13);
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F64), 2.5e13);
  // A bound that holds: matrix units have no faster TF32 than 16-bit types.
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, Precision::High), 7e14);
  machine = parseMachine(context, peaks + ", matrix_flops_tf32 = 3.5e14 : f64");
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, Precision::High), 3.5e14);
}

TEST(Precision, IsThatOfTheModule) {
  MLIRContext context;
  context.loadDialect<FactDialect>();
  auto parse = [&](StringRef attributes) {
    return parseSourceString<ModuleOp>(
        ("module " + attributes +
         " { %0 = fact.constant dense<1.0> : tensor<2xf32>\n"
         "%1 = fact.neg %0 : (tensor<2xf32>) -> tensor<2xf32> }")
            .str(),
        &context);
  };
  auto get = [&](OwningOpRef<ModuleOp> module) {
    return getFloat32Precision(&module->getBody()->back());
  };
  auto with = [](StringRef name) {
    return "attributes {fact.float32_matmul_precision = \"" + name.str() +
           "\"}";
  };
  EXPECT_EQ(get(parse("")), Precision::Highest);
  EXPECT_EQ(get(parse(with("highest"))), Precision::Highest);
  EXPECT_EQ(get(parse(with("high"))), Precision::High);
  EXPECT_EQ(get(parse(with("medium"))), Precision::Medium);
  // An op that is in no module yet has the operands of one.
  OwningOpRef<ModuleOp> module = parse(with("high"));
  Operation *detached = module->getBody()->back().clone();
  EXPECT_EQ(getFloat32Precision(detached), Precision::High);
  detached->destroy();
}
} // namespace
