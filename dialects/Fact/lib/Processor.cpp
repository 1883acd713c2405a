//===- Processor.cpp - Machines that are processors -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Processor.h"
#include "fact/Runtime/Cpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <mutex>
#include <unistd.h>

using namespace fact;
using llvm::StringRef;

static bool isX86(StringRef name) {
  return llvm::X86::parseArchX86(name, /*Only64Bit=*/true) !=
         llvm::X86::CK_None;
}

bool fact::isProcessor(StringRef name) {
  return name == "host" || isX86(name) || llvm::AArch64::parseCpu(name);
}

// Light must bound every kernel, since a kernel that is faster is refused. A
// virtual machine does not say how fast its clock is, and some drivers leave
// out what a core adds for a short time.
static constexpr double leastClock = 4e9;

// More than most machines have, for a processor that is not this one.
static constexpr int64_t mostCores = 128;

// What one core gets from memory or a shared cache, at most. Kernels are
// measured with cold caches.
static constexpr double bytesPerCycle = 16;

/// The processors that the operating system runs, whether this process may use
/// them or not: kernels may be measured by another one.
static int64_t countCores() {
  return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

/// The fastest core's cycles per second, if the operating system tells.
static double readClock(int64_t cores) {
  double fastest = 0;
  for (int64_t core = 0; core < cores; ++core) {
    auto text = llvm::MemoryBuffer::getFileAsStream(
        "/sys/devices/system/cpu/cpu" + std::to_string(core) +
        "/cpufreq/cpuinfo_max_freq");
    int64_t kilohertz = 0;
    if (!text || (*text)->getBuffer().consumeInteger(10, kilohertz))
      break;
    fastest = std::max(fastest, 1e3 * static_cast<double>(kilohertz));
  }
  return fastest;
}

/// Units per core that multiply and add a vector per cycle.
static int64_t countVectorUnits(StringRef name) {
  // AVX2, AVX-512; without fused instructions, as many that multiply and that
  // add.
  if (isX86(name))
    return 2;
  bool hasTwo = llvm::any_of(
      llvm::ArrayRef<StringRef>{"neoverse-n", "neoverse-e", "cortex-a",
                                "ampere", "thunderx", "a64fx", "tsv"},
      [&](StringRef family) { return name.starts_with(family); });
  return hasTwo ? 2 : 4;
}

int64_t fact::getVectorBytes(llvm::function_ref<bool(const char *)> has) {
  return has("avx512f") ? 64 : has("avx2") ? 32 : 16;
}

static int64_t getVectorBytesOf(StringRef name) {
  if (name == "host")
    return getVectorBytes(runtime::hasCpuFeature);
  llvm::SmallVector<StringRef> listed;
  llvm::StringMap<bool> features;
  if (isX86(name))
    llvm::X86::getFeaturesForCPU(name, listed);
  for (StringRef feature : listed) {
    features[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, features);
  }
  return getVectorBytes(
      [&](const char *feature) { return features.lookup(feature); });
}

static MachineDescription describeProcessor(StringRef name) {
  bool isHost = name == "host";
  MachineDescription machine;
  machine.name = machine.architecture = name;
  machine.multiprocessors = isHost ? countCores() : mostCores;
  machine.sharedMemoryBytes = 0;
  machine.cacheBytes = int64_t(32) << 20;
  machine.clock = leastClock;
  if (isHost)
    machine.clock = std::max(machine.clock, readClock(machine.multiprocessors));
  double cycles = machine.clock * static_cast<double>(machine.multiprocessors);
  machine.bandwidth = bytesPerCycle * cycles;
  // A multiplication and an addition of each lane. Narrow types are computed in
  // f32.
  double lanes = static_cast<double>(getVectorBytesOf(name)) / 4;
  double units = static_cast<double>(
      countVectorUnits(isHost ? llvm::sys::getHostCPUName() : name));
  double flops = 2 * units * lanes * cycles;
  machine.matrixFlops = {flops, flops, flops, flops / 2};
  machine.scalarFlops = flops;
  // A call of the thread pool whose workers are awake.
  machine.launchSeconds = 0.3e-6;
  return machine;
}

const MachineDescription *fact::findProcessor(StringRef name) {
  if (!isProcessor(name))
    return nullptr;
  static std::mutex mutex;
  static llvm::StringMap<MachineDescription> known;
  std::lock_guard<std::mutex> guard(mutex);
  auto [entry, isNew] = known.try_emplace(name);
  if (isNew)
    entry->second = describeProcessor(entry->first());
  return &entry->second;
}
