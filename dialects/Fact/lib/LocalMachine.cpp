//===- LocalMachine.cpp - The machine that runs this program --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/LocalMachine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

// The part of cuda.h that is needed. FACT is built without the CUDA toolkit,
// and the driver's interface is stable.
namespace {
using CuResult = int;
using CuDevice = int;

enum CuDeviceAttribute {
  clockKilohertz = 13,
  multiprocessorCount = 16,
  memoryClockKilohertz = 36,
  memoryBusBits = 37,
  cacheSize = 38,
  capabilityMajor = 75,
  capabilityMinor = 76,
  sharedMemoryPerBlockOptIn = 97,
};

struct Driver {
  CuResult (*init)(unsigned flags);
  CuResult (*getCount)(int *count);
  CuResult (*get)(CuDevice *device, int ordinal);
  CuResult (*getName)(char *name, int length, CuDevice device);
  CuResult (*getAttribute)(int *value, CuDeviceAttribute attribute,
                           CuDevice device);

  /// Whether the library has all of the functions.
  bool load(llvm::sys::DynamicLibrary &library) {
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          library.getAddressOfSymbol(name));
      return function != nullptr;
    };
    return find(init, "cuInit") && find(getCount, "cuDeviceGetCount") &&
           find(get, "cuDeviceGet") && find(getName, "cuDeviceGetName") &&
           find(getAttribute, "cuDeviceGetAttribute");
  }
};
} // namespace

std::optional<LocalGpu> fact::findLocalGpu(std::string &reason) {
  std::string error;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &error);
  Driver driver;
  if (!library.isValid() || !driver.load(library)) {
    reason = "no NVIDIA driver (libcuda.so.1)";
    return std::nullopt;
  }
  int count = 0;
  CuDevice device = 0;
  CuResult result = driver.init(/*flags=*/0);
  if (result == 0)
    result = driver.getCount(&count);
  if (result == 0 && count > 0)
    result = driver.get(&device, /*ordinal=*/0);
  constexpr CuResult noDevice = 100;
  if (result == noDevice || (result == 0 && count == 0)) {
    reason = "the NVIDIA driver shows no GPU to this process";
    return std::nullopt;
  }
  char name[256] = {};
  if (result == 0)
    result = driver.getName(name, sizeof(name) - 1, device);
  if (result != 0) {
    reason =
        "the NVIDIA driver fails with CUDA error " + std::to_string(result);
    return std::nullopt;
  }
  auto ask = [&](CuDeviceAttribute attribute) {
    int value = 0;
    return driver.getAttribute(&value, attribute, device) == 0 ? value : 0;
  };
  LocalGpu gpu;
  gpu.name = name;
  gpu.major = ask(capabilityMajor);
  gpu.minor = ask(capabilityMinor);
  gpu.multiprocessors = ask(multiprocessorCount);
  gpu.sharedMemoryBytes = ask(sharedMemoryPerBlockOptIn);
  gpu.cacheBytes = ask(cacheSize);
  // The driver counts cycles such that every kind of memory transfers twice.
  double memoryClock = 1e3 * ask(memoryClockKilohertz);
  gpu.bandwidth = 2 * memoryClock * ask(memoryBusBits) / 8;
  gpu.clock = 1e3 * ask(clockKilohertz);
  return gpu;
}

//===----------------------------------------------------------------------===//
// GPUs as machines
//===----------------------------------------------------------------------===//

std::string LocalGpu::describe() const {
  return llvm::formatv("{0} (compute capability {1}.{2})", name, major, minor);
}

/// Letters and digits in lower case, other characters as one dash, without the
/// vendor: "geforce-rtx-4090".
static std::string normalize(StringRef name) {
  std::string result;
  for (char c : name.lower())
    if (llvm::isAlnum(c))
      result += c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  StringRef words(result);
  words.consume_front("nvidia-");
  return words.rtrim('-').str();
}

/// The architecture of a GPU among the built-in ones, or empty.
static StringRef findArchitecture(const LocalGpu &gpu) {
  std::string plain = llvm::formatv("sm_{0}{1}", gpu.major, gpu.minor);
  for (StringRef architecture : getGpuArchitectures())
    if (architecture == plain || architecture == plain + "a")
      return architecture;
  return {};
}

/// Whether the words of a GPU's name include those of the machine's, as in
/// "a100-sxm4-80gb" and "geforce-rtx-4090" (the machine is rtx4090).
static bool hasName(const LocalGpu &gpu, const MachineDescription &machine) {
  std::string words = "-" + normalize(gpu.name) + "-";
  // The number of a GeForce is a word of its own in the driver's name.
  for (size_t at = 0; (at = words.find("-rtx-", at)) != std::string::npos; ++at)
    if (llvm::isDigit(words[at + strlen("-rtx-")]))
      words.erase(at + strlen("-rtx"), 1);
  return StringRef(words).contains(("-" + machine.name + "-").str());
}

/// Whether the figures of a machine hold for a GPU. Variants of a product have
/// fewer multiprocessors (H100 PCIe) or more bandwidth (H100 NVL).
static bool holdsFor(const MachineDescription &machine, const LocalGpu &gpu) {
  return gpu.multiprocessors == machine.multiprocessors &&
         gpu.bandwidth <= 1.05 * machine.bandwidth;
}

FailureOr<MachineAttr>
fact::toMachine(MLIRContext *context, const LocalGpu &gpu,
                llvm::function_ref<InFlightDiagnostic()> emitError) {
  StringRef architecture = findArchitecture(gpu);
  if (architecture.empty()) {
    InFlightDiagnostic diagnostic =
        emitError() << "no kernels for " << gpu.describe() << ", only for ";
    llvm::interleaveComma(getGpuArchitectures(), diagnostic);
    diagnostic << "; target 'host' compiles for the processor";
    if (gpu.major >= 8)
      diagnostic << ", and a '.json' file can describe the GPU with the "
                    "figures of a base and an 'architecture' that nvcc knows";
    return diagnostic;
  }
  for (const MachineDescription &machine : getMachineTable())
    if (machine.architecture == architecture && hasName(gpu, machine) &&
        holdsFor(machine, gpu))
      return MachineAttr::get(context, machine.name, DictionaryAttr());

  const MachineDescription &base = *findMachine(architecture);
  MachineDescription machine = base;
  auto take = [](auto &figure, auto found) {
    if (found > 0)
      figure = found;
  };
  take(machine.multiprocessors, gpu.multiprocessors);
  take(machine.sharedMemoryBytes, gpu.sharedMemoryBytes);
  take(machine.cacheBytes, gpu.cacheBytes);
  take(machine.bandwidth, gpu.bandwidth);
  take(machine.clock, gpu.clock);
  double scale = double(machine.multiprocessors) / base.multiprocessors *
                 (machine.clock / base.clock);
  for (double &peak : machine.matrixFlops)
    peak *= scale;
  machine.scalarFlops *= scale;
  return MachineAttr::get(context, normalize(gpu.name),
                          getFigures(context, machine));
}

FailureOr<MachineAttr>
fact::resolveLocalMachine(MLIRContext *context,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  std::string reason;
  if (std::optional<LocalGpu> gpu = findLocalGpu(reason))
    return toMachine(context, *gpu, emitError);
  return MachineAttr::get(context, "host", DictionaryAttr());
}
