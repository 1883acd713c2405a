//===- CpuTest.cpp - Code for named processors ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What needs no processor of that name: its features, its spaces, the objects
// that LLVM writes for it. test/matrix runs them.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Cpu.h"
#include "HostPlan.h"
#include "KernelRunner.h"
#include "ObjectEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;
using namespace fact::test;
using llvm::formatv;

static const char *const processors[] = {"x86-64-v2",   "x86-64-v3",
                                         "x86-64-v4",   "cooperlake",
                                         "neoverse-n1", "neoverse-v1"};

TEST(Cpu, FeaturesFollowTheName) {
  const Cpu &v2 = Cpu::get("x86-64-v2"), &v3 = Cpu::get("x86-64-v3"),
            &v4 = Cpu::get("x86-64-v4"), &n1 = Cpu::get("neoverse-n1"),
            &v1 = Cpu::get("neoverse-v1");
  EXPECT_EQ(v2.getVectorBytes(), 16);
  EXPECT_EQ(v2.getVectorRegisters(), 16);
  EXPECT_FALSE(v2.convertsHalf());
  EXPECT_FALSE(v2.hasFusedMultiplyAdd());
  EXPECT_EQ(v3.getVectorBytes(), 32);
  EXPECT_TRUE(v3.has("avx2") && v3.has("fma") && v3.convertsHalf());
  EXPECT_EQ(v4.getVectorBytes(), 64);
  EXPECT_EQ(v4.getVectorRegisters(), 32);
  EXPECT_FALSE(v4.has("avx512bf16"));
  EXPECT_TRUE(Cpu::get("cooperlake").has("avx512bf16"));
  EXPECT_EQ(n1.getVectorBytes(), 16);
  EXPECT_TRUE(n1.has("fullfp16") && !n1.has("sve") && n1.hasLaneMultiply());
  EXPECT_TRUE(v1.has("sve") && v1.has("bf16"));
  for (const Cpu *cpu : {&v2, &v3, &v4})
    EXPECT_EQ(cpu->getArchitecture(), "x86_64");
  for (const Cpu *cpu : {&n1, &v1})
    EXPECT_EQ(cpu->getArchitecture(), "aarch64");
}

TEST(Cpu, TheHostHasItsOwnFeatures) {
  const Cpu &host = Cpu::get("host");
  EXPECT_EQ(host.getArchitecture(), runtime::cpuArchitecture());
  for (const std::string &feature : host.getFeatures())
    EXPECT_TRUE(runtime::hasCpuFeature(feature.c_str())) << feature;
}

TEST(Cpu, MissingFeaturesAreNamed) {
  using runtime::describeMissingCpu;
  const char *unknown[] = {"warp-drive"};
  const char *own = runtime::cpuArchitecture();
  EXPECT_EQ(describeMissingCpu(own, nullptr, 0), "");
  EXPECT_NE(describeMissingCpu(own, unknown, 1).find("with warp-drive, which"),
            std::string::npos);
  EXPECT_NE(describeMissingCpu("pdp11", nullptr, 0).find("compiled for pdp11"),
            std::string::npos);
}

// However many vector units there are.
TEST(Cpu, AByteTakesAsLongAsTenOperations) {
  for (const char *name : processors) {
    const MachineDescription &machine = *findMachine(name);
    double flops = machine.getMatrixFlops(runtime::ElementType::F32);
    EXPECT_DOUBLE_EQ(getTrafficSeconds(machine, 6.0) * flops, 60) << name;
  }
}

// What a machine's file says of memory counts, and of arithmetic does not.
TEST(Cpu, BytesFollowTheBandwidthOfTheMachine) {
  for (const char *name : processors) {
    MachineDescription machine = *findMachine(name);
    double usual = getTrafficSeconds(machine, 6.0);
    for (double &flops : machine.matrixFlops)
      flops *= 2;
    EXPECT_EQ(getTrafficSeconds(machine, 6.0), usual) << name;
    machine.bandwidth /= 4;
    EXPECT_DOUBLE_EQ(getTrafficSeconds(machine, 6.0), 4 * usual) << name;
  }
}

TEST(Cpu, EveryPointOfAGemmSpaceIsLegal) {
  for (const char *name : processors)
    for (int64_t rows : {1, 2, 3, 5, 7, 33, 200})
      for (int64_t columns : {1, 30, 100, 130, 1000}) {
        // A sum of rows.
        if (rows == 1 || columns == 1)
          continue;
        std::string x = formatv("{0}x17xf32", rows),
                    w = formatv("17x{0}xf32", columns),
                    y = formatv("{0}x{1}xf32", rows, columns);
        RegionText region(
            "gemm_epilogue", {x, w},
            formatv("%0 = fact.matmul %a0, %a1 : (tensor<{0}>, tensor<{1}>) -> "
                    "tensor<{2}>\nfact.yield %0 : tensor<{2}>",
                    x, w, y)
                .str(),
            {y});
        FusedOp fused = region.get();
        HostPlanOf plan(fused, name);
        ASSERT_TRUE(plan);
        for (ScheduleAttr schedule : plan->getSpace().enumerate())
          EXPECT_TRUE(succeeded(
              plan->check(schedule, [&] { return fused.emitError(); })))
              << name << ": " << schedule.getKey();
      }
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// Emits the first schedule of a region for each processor.
static void emitEverywhere(StringRef rule, ArrayRef<std::string> operands,
                           StringRef body, ArrayRef<std::string> results) {
  for (const char *name : processors) {
    RegionText region(rule, operands, body, results);
    FusedOp fused = region.get();
    ASSERT_TRUE(fused);
    HostPlanOf plan(fused, name);
    ASSERT_TRUE(plan) << name << "\n" << body.str();
    KernelCode code;
    EXPECT_TRUE(succeeded(plan->emit(
        KernelVariant{plan->getSpace().enumerate().front(), "candidate"},
        code)))
        << name << "\n"
        << body.str();
  }
}

TEST(Cpu, NarrowFloatsNeedNoLibrary) {
  // Each of these called __truncsfbf2 or __extendhfsf2 somewhere.
  for (const char *type : {"bf16", "f16"}) {
    std::string y = formatv("7x{0}", type);
    emitEverywhere("generic", {"7xi1", "7xi32", "7xi64", "7xf64", y},
                   formatv(R"(
      %0 = fact.cast %a0 : (tensor<7xi1>) -> tensor<{0}>
      %1 = fact.cast %a1 : (tensor<7xi32>) -> tensor<{0}>
      %2 = fact.cast %a2 : (tensor<7xi64>) -> tensor<{0}>
      %3 = fact.cast %a3 : (tensor<7xf64>) -> tensor<{0}>
      %4 = fact.cast %a4 : (tensor<{0}>) -> tensor<7xi32>
      fact.yield %0, %1, %2, %3, %4 : tensor<{0}>, tensor<{0}>, tensor<{0}>, tensor<{0}>, tensor<7xi32>)",
                           y)
                       .str(),
                   {y, y, y, y, "7xi32"});
    std::string x = formatv("7x33x{0}", type);
    emitEverywhere("generic", {x},
                   formatv(R"(
      %0 = fact.reduce mean %a0 dims [1] : (tensor<{0}>) -> tensor<{1}>
      %1 = fact.reshape %0 : (tensor<{1}>) -> tensor<7x1x{2}>
      %2 = fact.expand %1 : (tensor<7x1x{2}>) -> tensor<{0}>
      fact.yield %2 : tensor<{0}>)",
                           x, y, type)
                       .str(),
                   {x});
    // One element of each row lives throughout a loop.
    std::string z = formatv("24x1x{0}", type), w = formatv("24x6x{0}", type);
    emitEverywhere("pointwise", {z},
                   formatv(R"(
      %0 = fact.expand %a0 : (tensor<{0}>) -> tensor<{1}>
      fact.yield %0 : tensor<{1}>)",
                           z, w)
                       .str(),
                   {w});
  }
}

TEST(Cpu, GatedGemmOfOneRow) {
  emitEverywhere(
      "gated_gemm", {"1x17xbf16", "33x17xbf16", "33x17xbf16"},
      R"(%0 = fact.matmul %a0, %a1 transpose_b : (tensor<1x17xbf16>, tensor<33x17xbf16>) -> tensor<1x33xbf16>
         %1 = fact.gelu %0 : (tensor<1x33xbf16>) -> tensor<1x33xbf16>
         %2 = fact.matmul %a0, %a2 transpose_b : (tensor<1x17xbf16>, tensor<33x17xbf16>) -> tensor<1x33xbf16>
         %3 = fact.mul %1, %2 : (tensor<1x33xbf16>, tensor<1x33xbf16>) -> tensor<1x33xbf16>
         fact.yield %3 : tensor<1x33xbf16>)",
      {"1x33xbf16"});
}

TEST(Cpu, UnknownFunctionsAreErrors) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  auto emit = [&](StringRef called) {
    std::string text = formatv("func.func private @{0}(f32) -> f32\n"
                               "func.func @tile(%x: f32) -> f32 {{\n"
                               "  %0 = call @{0}(%x) : (f32) -> f32\n"
                               "  return %0 : f32\n}",
                               called);
    auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    KernelCode code;
    return emitObject(*module, "kernel", {}, Cpu::get("x86-64-v2"),
                      Effort::plainLoops, code);
  };
  EXPECT_TRUE(succeeded(emit("sinf"))) << message;
  EXPECT_TRUE(failed(emit("__truncsfbf2")));
  EXPECT_NE(message.find("kernel 'kernel' calls '__truncsfbf2' on 'x86-64-v2'"),
            std::string::npos)
      << message;
}

//===----------------------------------------------------------------------===//
// Conversions of 16-bit floats
//===----------------------------------------------------------------------===//

/// `convert(in, out, count)` with the conversion expanded as for a processor
/// that has no instructions for it, compiled for this one.
static KernelCode emitConversion(StringRef from, StringRef op, StringRef to) {
  std::string text = formatv(R"(
    define void @convert(ptr %in, ptr %out, i64 %count) {{
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %next, %loop ]
      %from = getelementptr {0}, ptr %in, i64 %i
      %to = getelementptr {2}, ptr %out, i64 %i
      %x = load {0}, ptr %from
      %y = {1} {0} %x to {2}
      store {2} %y, ptr %to
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %count
      br i1 %more, label %loop, label %done
    done:
      ret void
    })",
                             from, op, to);
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  expandNarrowFloats(*module, Cpu::get("x86-64-v2"));
  std::unique_ptr<llvm::TargetMachine> machine =
      Cpu::get("host").createMachine(llvm::CodeGenOptLevel::Default);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager emission;
  machine->addPassesToEmitFile(emission, os, nullptr,
                               llvm::CodeGenFileType::ObjectFile);
  emission.run(*module);
  KernelCode code;
  code.text.assign(bytes.begin(), bytes.end());
  code.isObject = true;
  return code;
}

template <typename In, typename Out>
static std::vector<Out> convertAll(const LoadedKernel &kernel,
                                   const std::vector<In> &in) {
  std::vector<Out> out(in.size());
  using Convert = void (*)(const void *, void *, int64_t);
  auto convert = reinterpret_cast<Convert>(
      const_cast<void *>(static_cast<const void *>(kernel.get())));
  convert(in.data(), out.data(), static_cast<int64_t>(in.size()));
  return out;
}

static const llvm::fltSemantics &semanticsOf(StringRef type) {
  return type == "half" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

TEST(NarrowFloats, AllWiden) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  for (StringRef type : {"half", "bfloat"}) {
    LoadedKernel kernel(emitConversion(type, "fpext", "float"), "convert");
    std::vector<float> out = convertAll<uint16_t, float>(kernel, all);
    for (size_t i = 0; i < all.size(); ++i) {
      llvm::APFloat value(semanticsOf(type), llvm::APInt(16, i));
      bool lossy;
      value.convert(llvm::APFloat::IEEEsingle(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      float expected = value.convertToFloat();
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(out[i])) << type.str() << " " << i;
      else
        EXPECT_EQ(std::memcmp(&out[i], &expected, 4), 0)
            << type.str() << " " << i;
    }
  }
}

/// Every number of a 16-bit type, those halfway to the next, and a little
/// beside both.
template <typename Real>
static std::vector<Real> interestingNumbers(StringRef type) {
  std::vector<Real> numbers;
  Real infinity = std::numeric_limits<Real>::infinity();
  for (uint32_t i = 0; i < 0x7fff; i += 1) {
    bool lossy;
    auto number = [&](uint32_t bits) {
      llvm::APFloat value(semanticsOf(type), llvm::APInt(16, bits));
      value.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &lossy);
      return value.convertToDouble();
    };
    double x = number(i), next = number(i + 1);
    if (!std::isfinite(next))
      next = 2 * x;
    for (double each : {x, x / 2 + next / 2}) {
      Real real = static_cast<Real>(each);
      for (Real beside : {real, std::nextafter(real, infinity),
                          std::nextafter(real, -infinity)}) {
        numbers.push_back(beside);
        numbers.push_back(-beside);
      }
    }
  }
  numbers.push_back(std::numeric_limits<Real>::quiet_NaN());
  numbers.push_back(std::numeric_limits<Real>::max());
  numbers.push_back(std::numeric_limits<Real>::denorm_min());
  return numbers;
}

template <typename Real>
static void checkNarrowing(StringRef from, StringRef type) {
  LoadedKernel kernel(emitConversion(from, "fptrunc", type), "convert");
  std::vector<Real> in = interestingNumbers<Real>(type);
  std::vector<uint16_t> out = convertAll<Real, uint16_t>(kernel, in);
  size_t wrong = 0;
  for (size_t i = 0; i < in.size() && wrong < 5; ++i) {
    llvm::APFloat value(in[i]);
    bool lossy;
    value.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven,
                  &lossy);
    llvm::APFloat result(semanticsOf(type), llvm::APInt(16, out[i]));
    bool right = value.isNaN() ? result.isNaN() : value.bitwiseIsEqual(result);
    wrong += !right;
    EXPECT_TRUE(right) << from.str() << " " << in[i] << " to " << type.str()
                       << ": " << out[i];
  }
}

TEST(NarrowFloats, RoundingIsExact) {
  for (StringRef type : {"half", "bfloat"}) {
    checkNarrowing<float>("float", type);
    checkNarrowing<double>("double", type);
  }
}
