//===- KernelRunner.cpp - Emits, links and runs host kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelRunner.h"
#include "Threads.h"
#include "fact/Target/Reference.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace fact;
using namespace fact::test;

//===----------------------------------------------------------------------===//
// Regions and objects
//===----------------------------------------------------------------------===//

static std::string tensorList(ArrayRef<std::string> types) {
  std::string text;
  for (const std::string &type : types)
    text += (text.empty() ? "tensor<" : ", tensor<") + type + ">";
  return text;
}

RegionText::RegionText(StringRef rule, ArrayRef<std::string> operands,
                       StringRef body, ArrayRef<std::string> results) {
  DialectRegistry registry;
  registerAllTargets(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<FactDialect>();
  std::string text, names, arguments;
  for (auto [i, type] : llvm::enumerate(operands)) {
    std::string number = std::to_string(i);
    text += "%x" + number + " = builtin.unrealized_conversion_cast to tensor<" +
            type + ">\n";
    names += (i ? ", %x" : "%x") + number;
    arguments += (i ? ", %a" : "%a") + number + ": tensor<" + type + ">";
  }
  std::string count =
      results.size() > 1 ? ":" + std::to_string(results.size()) : "";
  text += "%r" + count + " = fact.fused \"" + rule.str() + "\" ins(" + names +
          " : " + tensorList(operands) + ") {\n^bb0(" + arguments + "):\n" +
          body.str() + "\n} : " + tensorList(results) + "\n";
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  EXPECT_TRUE(module) << text;
}

FusedOp RegionText::get() {
  return module ? *module->getOps<FusedOp>().begin() : FusedOp();
}

/// References are sources.
static void compile(StringRef source, StringRef object) {
  llvm::ErrorOr<std::string> compiler =
      llvm::sys::findProgramByName(FACT_TEST_COMPILER);
  ASSERT_TRUE(bool(compiler)) << "no " << FACT_TEST_COMPILER;
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      *compiler,
      {*compiler, "-std=c++17", "-O1", "-fPIC", "-I" FACT_INCLUDE_DIR,
       "-I" FACT_REFERENCE_INCLUDE_DIR, "-c", source, "-o", object},
      std::nullopt, {}, 0, 0, &message);
  EXPECT_EQ(status, 0) << message;
}

LoadedKernel::LoadedKernel(const KernelCode &code, StringRef symbol) {
  llvm::SmallString<128> source, object, shared;
  llvm::sys::fs::createTemporaryFile("fact", code.isObject ? "o" : "cpp",
                                     source);
  llvm::sys::fs::createTemporaryFile("fact", "so", shared);
  {
    std::error_code error;
    llvm::raw_fd_ostream os(source, error);
    os << code.text;
  }
  object = source;
  if (!code.isObject) {
    object += ".o";
    compile(source, object);
    llvm::sys::fs::remove(source);
  }
  // The linker alone starts faster than the compiler's driver.
  llvm::ErrorOr<std::string> linker = std::errc::no_such_file_or_directory;
  for (const char *name : {"ld.lld-22", "ld.lld", "ld", "c++"})
    if (!linker)
      linker = llvm::sys::findProgramByName(name);
  std::string message;
  int status = llvm::sys::ExecuteAndWait(
      *linker, {*linker, "-shared", object, "-o", shared}, std::nullopt, {}, 0,
      0, &message);
  EXPECT_EQ(status, 0) << message;
  // Finds symbols that neither libm nor libc has.
  library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  if (library)
    kernel =
        static_cast<const FactKernel *>(dlsym(library, symbol.str().c_str()));
  EXPECT_NE(kernel, nullptr);
  llvm::sys::fs::remove(object);
  llvm::sys::fs::remove(shared);
}

LoadedKernel::~LoadedKernel() {
  if (library)
    dlclose(library);
}

std::vector<char> LoadedKernel::pack(const std::vector<void *> &buffers) const {
  std::vector<char> packed(kernel->packed_bytes);
  forEachTile(kernel->pack_tiles, [&](uint64_t tile, int) {
    kernel->pack(tile, buffers.data(), packed.data());
  });
  return packed;
}

void LoadedKernel::runPacked(std::vector<void *> buffers) const {
  // Garbage, as in a model; NaN in every floating-point type.
  std::vector<std::vector<char>> workspaces(
      countThreads(), std::vector<char>(kernel->workspace_bytes, '\xff'));
  forEachTile(kernel->tiles, [&](uint64_t tile, int thread) {
    kernel->tile(tile, buffers.data(), workspaces[thread].data());
  });
}

void LoadedKernel::run(std::vector<void *> buffers) const {
  ASSERT_EQ(kernel->abi, uint32_t(FACT_KERNEL_ABI));
  ASSERT_EQ(kernel->buffer_count, buffers.size());
  std::vector<char> packed;
  if (kernel->packed_operand >= 0) {
    packed = pack(buffers);
    buffers[kernel->packed_operand] = packed.data();
    // What was packed is not read again.
    for (size_t i = 0; i < buffers.size(); ++i)
      if (i < 32 && kernel->packed_with >> i & 1)
        buffers[i] = nullptr;
  }
  runPacked(buffers);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static int64_t elementBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

Buffer::Buffer(Type element, int64_t count) : element(element), count(count) {
  size_t page = getpagesize(), size = count * elementBytes(element);
  size_t pages = llvm::alignTo(size, page) + page;
  void *mapped = mmap(nullptr, pages, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    llvm::report_fatal_error("no memory for a buffer");
  char *fence = static_cast<char *>(mapped) + pages - page;
  mprotect(fence, page, PROT_NONE);
  bytes = {fence - size, [=](char *) { munmap(mapped, pages); }};
}

void Buffer::set(int64_t index, double value) {
  char *at = bytes.get() + index * elementBytes(element);
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool lossy;
    number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                   &lossy);
    uint64_t bits = number.bitcastToAPInt().getZExtValue();
    std::memcpy(at, &bits, elementBytes(element));
    return;
  }
  int64_t number = element.isInteger(1) ? value > 0 : std::llround(3 * value);
  std::memcpy(at, &number, elementBytes(element));
}

double Buffer::at(int64_t index) const {
  const char *from = bytes.get() + index * elementBytes(element);
  uint64_t bits = 0;
  std::memcpy(&bits, from, elementBytes(element));
  unsigned width = elementBytes(element) * 8;
  llvm::APInt number(width, bits);
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(type.getFloatSemantics(), number);
    bool lossy;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
  return number.getSExtValue();
}

void Buffer::fillNormal(unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, scale);
  for (int64_t i = 0; i < count; ++i)
    set(i, normal(random));
}

void Buffer::clearOutside(const Band &band, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t diagonal = i % columns - i / columns % rows;
    if (diagonal < band.lower || diagonal > band.upper)
      set(i, 0);
  }
}

void Buffer::poison() {
  std::memset(bytes.get(), 0xff, count * elementBytes(element));
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static Tolerance toleranceOf(Type element) {
  if (element.isF64())
    return {1e-12, 1e-11};
  if (element.isF32())
    return {2e-6, 2e-5};
  if (element.isF16())
    return {1e-3, 1e-2};
  if (element.isBF16())
    return {5e-3, 5e-2};
  return {0, 0};
}

static void compare(const Buffer &out, const Buffer &reference,
                    const Buffer *doubt, Tolerance tolerance,
                    const std::string &what) {
  auto isOpen = [&](int64_t i) { return doubt && std::isinf(doubt->at(i)); };
  double error = 0, total = 0;
  for (int64_t i = 0; i < out.size(); ++i) {
    if (isOpen(i))
      continue;
    double difference = out.at(i) - reference.at(i);
    error += difference * difference;
    total += reference.at(i) * reference.at(i);
  }
  EXPECT_LE(std::sqrt(error), tolerance.norm * std::sqrt(total)) << what;
  double rms = std::sqrt(total / out.size());
  for (int64_t i = 0; i < out.size(); ++i) {
    if (isOpen(i))
      continue;
    double difference = std::abs(out.at(i) - reference.at(i));
    double bound = tolerance.element * (std::abs(reference.at(i)) + rms);
    ASSERT_TRUE(difference <= bound)
        << what << ", element " << i << ": " << out.at(i) << " and not "
        << reference.at(i);
  }
}

static Type referenceType(Type element) {
  if (!isa<FloatType>(element))
    return element;
  if (element.getIntOrFloatBitWidth() == 16)
    return Float32Type::get(element.getContext());
  return Float64Type::get(element.getContext());
}

/// The best of several runs, in microseconds.
static double measure(const LoadedKernel &kernel, std::vector<void *> buffers) {
  std::vector<char> packed;
  if (kernel.get()->packed_operand >= 0) {
    packed = kernel.pack(buffers);
    buffers[kernel.get()->packed_operand] = packed.data();
  }
  double best = 1e30;
  for (int i = 0; i < 10; ++i) {
    auto start = std::chrono::steady_clock::now();
    kernel.runPacked(buffers);
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

fact::test::HostPlanOf::HostPlanOf(FusedOp fused, StringRef machine)
    : target(createTarget(fused.getContext(), *findMachine(machine))) {
  FailureOr<std::unique_ptr<Plan>> found =
      target->plan(fused, [&] { return fused.emitError(); });
  if (succeeded(found))
    plan = std::move(*found);
}

double fact::test::checkRegion(StringRef rule, ArrayRef<std::string> operands,
                               StringRef body, ArrayRef<std::string> results,
                               double scale, bool timed, ArrayRef<Band> bands) {
  RegionText region(rule, operands, body, results);
  FusedOp fused = region.get();
  if (!fused)
    return 0;
  setOperandBands(fused, bands);
  HostPlanOf plan(fused);
  if (!plan) {
    ADD_FAILURE() << "no plan of " << body.str();
    return 0;
  }

  std::vector<Buffer> inputs, expected, actual;
  unsigned seed = 1;
  auto add = [](std::vector<Buffer> &buffers, Type type, bool reference) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    buffers.emplace_back(reference ? referenceType(element) : element,
                         tensor.getNumElements());
    buffers.back().poison();
  };
  for (Type type : fused.getInputs().getTypes()) {
    add(inputs, type, false);
    inputs.back().fillNormal(seed++, scale);
    if (bands.empty())
      continue;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    inputs.back().clearOutside(bands[inputs.size() - 1],
                               shape[shape.size() - 2], shape.back());
  }
  for (Type type : fused->getResultTypes()) {
    add(expected, type, true);
    add(actual, type, false);
  }
  // How far rounding may move them follows the results of the reference.
  SmallVector<std::optional<size_t>> doubts;
  for (auto [type, doubt] :
       llvm::zip_equal(fused->getResultTypes(), findDoubts(fused))) {
    doubts.push_back(std::nullopt);
    if (doubt == Doubt::None)
      continue;
    doubts.back() = expected.size();
    Type wide = Float32Type::get(fused.getContext());
    add(expected, cast<RankedTensorType>(type).clone(wide), false);
  }
  auto pointers = [&](std::vector<Buffer> &outputs) {
    std::vector<void *> all;
    for (Buffer &buffer : inputs)
      all.push_back(buffer.data());
    for (Buffer &buffer : outputs)
      all.push_back(buffer.data());
    return all;
  };

  KernelCode code;
  if (failed(emitReference(fused, "reference", code))) {
    ADD_FAILURE() << "no reference for " << body.str();
    return 0;
  }
  LoadedKernel reference(code, "reference");
  if (!reference.get())
    return 0;
  reference.run(pointers(expected));

  double best = 1e30;
  std::vector<ScheduleAttr> schedules = plan->getSpace().enumerate();
  llvm::append_range(schedules, plan->getFixedSchedules());
  for (ScheduleAttr schedule : schedules) {
    std::string what = schedule.getKey();
    EXPECT_TRUE(succeeded(plan->check(schedule, [&] {
      return fused.emitError();
    }))) << what;
    KernelCode candidate;
    if (failed(plan->emit(KernelVariant{schedule, "candidate"}, candidate))) {
      ADD_FAILURE() << "not emitted: " << what;
      continue;
    }
    LoadedKernel kernel(candidate, "candidate");
    if (!kernel.get())
      continue;
    for (Buffer &buffer : actual)
      buffer.poison();
    int races = countRaces();
    kernel.run(pointers(actual));
    EXPECT_EQ(countRaces(), races) << what << ", tiles of " << body.str();
    for (size_t i = 0; i < actual.size(); ++i) {
      Type element = cast<RankedTensorType>(fused->getResult(i).getType())
                         .getElementType();
      compare(actual[i], expected[i],
              doubts[i] ? &expected[*doubts[i]] : nullptr, toleranceOf(element),
              what);
    }
    // Times under a sanitizer say nothing.
    if (!timed || countThreads() > 1)
      continue;
    double time = measure(kernel, pointers(actual));
    llvm::outs() << "  " << what << ": " << llvm::format("%.1f", time)
                 << " us, predicted "
                 << llvm::format("%.1f", plan->predict(schedule)) << "\n";
    best = std::min(best, time);
  }
  return best;
}
