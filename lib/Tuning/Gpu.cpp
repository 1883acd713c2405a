//===- Gpu.cpp - The GPU that fact-tune runs on ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Gpu.h"
#include <cstdlib>
#include <dlfcn.h>

namespace fact {
namespace tuning {

// The part of cuda.h that is needed. fact-tune is built without the CUDA
// toolkit, and the driver's interface is stable.
static constexpr int capabilityMajor = 75, capabilityMinor = 76;

std::optional<ComputeCapability> findGpu() {
  // Never closed: the driver cannot be unloaded.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return std::nullopt;
  auto init =
      reinterpret_cast<int (*)(unsigned flags)>(dlsym(library, "cuInit"));
  auto get = reinterpret_cast<int (*)(int *device, int ordinal)>(
      dlsym(library, "cuDeviceGet"));
  auto getAttribute =
      reinterpret_cast<int (*)(int *value, int attribute, int device)>(
          dlsym(library, "cuDeviceGetAttribute"));
  if (!init || !get || !getAttribute)
    return std::nullopt;
  int device = 0;
  ComputeCapability found;
  if (init(0) != 0 || get(&device, 0) != 0 ||
      getAttribute(&found.major, capabilityMajor, device) != 0 ||
      getAttribute(&found.minor, capabilityMinor, device) != 0)
    return std::nullopt;
  return found;
}

bool runsOn(const std::string &architecture, ComputeCapability gpu) {
  const std::string prefix = "sm_";
  if (architecture.compare(0, prefix.size(), prefix) != 0)
    return true;
  char *end = nullptr;
  long number = std::strtol(architecture.c_str() + prefix.size(), &end, 10);
  bool isExact = *end == 'a';
  return number / 10 == gpu.major &&
         (isExact ? number % 10 == gpu.minor : number % 10 <= gpu.minor);
}

} // namespace tuning
} // namespace fact
