//===- Cpu.h - Features of processors that code may need --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor features that host code may use beyond its architecture's
// baseline, by LLVM's names. The compiler enables no others, a bundle lists
// those that it enabled, and worker and library check them before they run it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_CPU_H
#define FACT_RUNTIME_CPU_H

#include <cstdint>
#include <cstring>
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace fact {
namespace runtime {

/// The CPUID bit of a feature, and the registers (in XCR0) that the operating
/// system must save for it.
struct X86Feature {
  const char *name;
  uint32_t leaf, subleaf;
  enum Register : uint8_t { eax, ebx, ecx, edx } reg;
  uint8_t bit;
  uint32_t state;
};

inline constexpr X86Feature x86Features[] = {
    {"sse3", 1, 0, X86Feature::ecx, 0, 0},
    {"ssse3", 1, 0, X86Feature::ecx, 9, 0},
    {"fma", 1, 0, X86Feature::ecx, 12, 0x6},
    {"cx16", 1, 0, X86Feature::ecx, 13, 0},
    {"sse4.1", 1, 0, X86Feature::ecx, 19, 0},
    {"sse4.2", 1, 0, X86Feature::ecx, 20, 0},
    {"movbe", 1, 0, X86Feature::ecx, 22, 0},
    {"popcnt", 1, 0, X86Feature::ecx, 23, 0},
    {"avx", 1, 0, X86Feature::ecx, 28, 0x6},
    {"f16c", 1, 0, X86Feature::ecx, 29, 0x6},
    {"bmi", 7, 0, X86Feature::ebx, 3, 0},
    {"avx2", 7, 0, X86Feature::ebx, 5, 0x6},
    {"bmi2", 7, 0, X86Feature::ebx, 8, 0},
    {"avx512f", 7, 0, X86Feature::ebx, 16, 0xe6},
    {"avx512dq", 7, 0, X86Feature::ebx, 17, 0xe6},
    {"avx512cd", 7, 0, X86Feature::ebx, 28, 0xe6},
    {"avx512bw", 7, 0, X86Feature::ebx, 30, 0xe6},
    {"avx512vl", 7, 0, X86Feature::ebx, 31, 0xe6},
    {"avx512vbmi", 7, 0, X86Feature::ecx, 1, 0xe6},
    {"avx512vnni", 7, 0, X86Feature::ecx, 11, 0xe6},
    {"avx512fp16", 7, 0, X86Feature::edx, 23, 0xe6},
    {"avxvnni", 7, 1, X86Feature::eax, 4, 0x6},
    {"avx512bf16", 7, 1, X86Feature::eax, 5, 0xe6},
    {"sahf", 0x80000001, 0, X86Feature::ecx, 0, 0},
    {"lzcnt", 0x80000001, 0, X86Feature::ecx, 5, 0},
};

/// The AT_HWCAP and AT_HWCAP2 bits of a feature.
struct ArmFeature {
  const char *name;
  uint64_t hwcap, hwcap2;
};

inline constexpr ArmFeature armFeatures[] = {
    {"crc", 1u << 7, 0},
    {"lse", 1u << 8, 0},
    {"fullfp16", 1u << 9 | 1u << 10, 0},
    {"rdm", 1u << 12, 0},
    {"jsconv", 1u << 13, 0},
    {"complxnum", 1u << 14, 0},
    {"rcpc", 1u << 15, 0},
    {"dotprod", 1u << 20, 0},
    {"sve", 1u << 22, 0},
    {"fp16fml", 1u << 23, 0},
    {"sve2", 1u << 22, 1u << 1},
    {"i8mm", 0, 1u << 13},
    {"bf16", 0, 1u << 14},
};

/// The architecture of this program, as in LLVM's target triple.
inline const char *cpuArchitecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

/// Whether this processor has a feature of its architecture's list, and the
/// operating system supports it.
inline bool hasCpuFeature(const char *name) {
#if defined(__x86_64__)
  for (const X86Feature &feature : x86Features) {
    if (std::strcmp(feature.name, name) != 0)
      continue;
    uint32_t registers[4];
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[0],
                           &registers[1], &registers[2], &registers[3]) ||
        !(registers[feature.reg] >> feature.bit & 1))
      return false;
    if (!feature.state)
      return true;
    uint32_t saves, high;
    bool usesXsave =
        __get_cpuid(1, &registers[0], &registers[1], &saves, &registers[3]) &&
        (saves >> 27 & 1);
    if (!usesXsave)
      return false;
    __asm__("xgetbv" : "=a"(saves), "=d"(high) : "c"(0));
    return (saves & feature.state) == feature.state;
  }
#elif defined(__aarch64__)
  for (const ArmFeature &feature : armFeatures)
    if (std::strcmp(feature.name, name) == 0)
      return (getauxval(AT_HWCAP) & feature.hwcap) == feature.hwcap &&
             (getauxval(AT_HWCAP2) & feature.hwcap2) == feature.hwcap2;
#else
  (void)name;
#endif
  return false;
}

/// Why code for `architecture` with `count` features cannot run here; empty if
/// it can.
inline std::string describeMissingCpu(const char *architecture,
                                      const char *const *features,
                                      size_t count) {
  if (std::strcmp(architecture, cpuArchitecture()) != 0)
    return std::string("it was compiled for ") + architecture +
           ", but this processor is " + cpuArchitecture();
  std::string missing;
  for (size_t i = 0; i < count; ++i)
    if (!hasCpuFeature(features[i]))
      missing += (missing.empty() ? "" : ", ") + std::string(features[i]);
  if (missing.empty())
    return "";
  return "it was compiled for a processor with " + missing +
         ", which this one lacks; compile the model on this machine, or with a "
         "target that both have";
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_CPU_H
