//===- MachineTest.cpp - Peaks of contractions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Processor.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using runtime::ElementType;

namespace {
TEST(Machine, PeaksAreByTypeAndPrecision) {
  for (StringRef name : {"h100", "h200"}) {
    const MachineDescription &machine = *findMachine(name);
    // Three products of TF32 parts are faster than the f32 units.
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F32), 494.7e12 / 3);
    EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, /*tf32=*/true),
              494.7e12);
    for (bool tf32 : {false, true}) {
      EXPECT_EQ(machine.getMatrixFlops(ElementType::F64, tf32), 67e12);
      for (ElementType narrow : {ElementType::F16, ElementType::BF16})
        EXPECT_EQ(machine.getMatrixFlops(narrow, tf32), 989e12);
    }
  }
  // A processor has no TF32.
  const MachineDescription &host = *findMachine("host");
  EXPECT_EQ(host.getMatrixFlops(ElementType::F32),
            host.matrixFlops[size_t(MatrixRate::F32)]);
}

double countFlopsPerCycle(StringRef name) {
  const MachineDescription &machine = *findMachine(name);
  return machine.getMatrixFlops(ElementType::F32) /
         (machine.clock * static_cast<double>(machine.multiprocessors));
}

// The same wherever they are compiled for.
TEST(Machine, ProcessorsHaveTheFiguresOfTheirVectors) {
  EXPECT_EQ(countFlopsPerCycle("x86-64"), 16);
  EXPECT_EQ(countFlopsPerCycle("x86-64-v3"), 32);
  EXPECT_EQ(countFlopsPerCycle("x86-64-v4"), 64);
  EXPECT_EQ(countFlopsPerCycle("neoverse-n1"), 16);
  EXPECT_EQ(countFlopsPerCycle("neoverse-v1"), 32);
  for (StringRef name : {"x86-64-v3", "neoverse-n1"}) {
    const MachineDescription &machine = *findMachine(name);
    EXPECT_EQ(machine.name, name);
    EXPECT_EQ(machine.multiprocessors, 128) << name.str();
    EXPECT_EQ(machine.clock, 4e9) << name.str();
  }
}

// Figures of any processor would make every kernel slow beside them.
TEST(Machine, TheHostHasTheFiguresOfItsCores) {
  const MachineDescription &host = *findMachine("host");
  double cores = static_cast<double>(host.multiprocessors);
  EXPECT_GE(cores, 1);
  EXPECT_GE(host.clock, 4e9);
  EXPECT_LE(host.clock, 8e9);
  EXPECT_GE(countFlopsPerCycle("host"), 16);
  EXPECT_LE(countFlopsPerCycle("host"), 64);
  EXPECT_EQ(host.getMatrixFlops(ElementType::F64),
            host.getMatrixFlops(ElementType::F32) / 2);
  EXPECT_EQ(host.bandwidth, 16 * host.clock * cores);
}

TEST(Machine, LessPrecisionIsNoSlower) {
  for (const MachineDescription &machine : getMachineTable()) {
    double strict = machine.getMatrixFlops(ElementType::F32);
    double tf32 = machine.getMatrixFlops(ElementType::F32, /*tf32=*/true);
    EXPECT_LE(strict, tf32) << machine.name.str();
    EXPECT_LE(tf32, machine.getMatrixFlops(ElementType::BF16))
        << machine.name.str();
  }
}

TEST(Machine, NamesAndArchitectures) {
  auto find = [](StringRef text) {
    const MachineDescription *machine = findMachine(text);
    return machine ? (machine->name + " " + machine->architecture).str() : "";
  };
  EXPECT_EQ(find("a10"), "a10 sm_86");
  EXPECT_EQ(find("sm_80"), "a100 sm_80");
  EXPECT_EQ(find("sm_86"), "sm_86 sm_86");
  EXPECT_EQ(find("sm_90"), "h200 sm_90a");
  EXPECT_EQ(find("sm_90a"), "h200 sm_90a");
  EXPECT_EQ(find("sm_100"), "b200 sm_100a");
  EXPECT_EQ(find("sm_120"), "rtx-pro-6000 sm_120");
  EXPECT_EQ(find("sm_75"), "");
}

// A kernel on any of its machines is no faster than the light of `--target` by
// architecture.
TEST(Machine, AnArchitectureBoundsItsMachines) {
  for (const MachineDescription &machine : getMachineTable()) {
    const MachineDescription &bound = *findMachine(machine.architecture);
    EXPECT_EQ(bound.architecture, machine.architecture);
    EXPECT_EQ(bound.sharedMemoryBytes, machine.sharedMemoryBytes);
    EXPECT_GE(bound.bandwidth, machine.bandwidth) << machine.name.str();
    EXPECT_GE(bound.scalarFlops, machine.scalarFlops) << machine.name.str();
    for (auto [most, peak] : llvm::zip(bound.matrixFlops, machine.matrixFlops))
      EXPECT_GE(most, peak) << machine.name.str();
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
  EXPECT_EQ(machine.getPeak(MatrixRate::F32), 7e14 / 3);
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F64), 2.5e13);
  // A bound that holds: matrix units have no faster TF32 than 16-bit types.
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, /*tf32=*/true), 7e14);
  machine = parseMachine(context, peaks + ", matrix_flops_tf32 = 3.5e14 : f64");
  EXPECT_EQ(machine.getMatrixFlops(ElementType::F32, /*tf32=*/true), 3.5e14);
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
    return allowsTf32(&module->getBody()->back());
  };
  auto with = [](StringRef name) {
    return "attributes {fact.float32_matmul_precision = \"" + name.str() +
           "\"}";
  };
  EXPECT_FALSE(get(parse("")));
  EXPECT_FALSE(get(parse(with("highest"))));
  EXPECT_TRUE(get(parse(with("high"))));
  EXPECT_TRUE(get(parse(with("medium"))));
}
} // namespace
