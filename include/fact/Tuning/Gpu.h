//===- Gpu.h - The GPU that fact-tune runs on -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_GPU_H
#define FACT_TUNING_GPU_H

#include <optional>
#include <string>

namespace fact {
namespace tuning {

struct ComputeCapability {
  int major = 0, minor = 0;
};

/// The first GPU that the driver shows to this process, the one that workers
/// use; none without a driver or a GPU.
std::optional<ComputeCapability> findGpu();

/// Whether machine code for an architecture runs on a GPU: for "sm_90a", only
/// on that compute capability; for "sm_80", on 8.0 and later ones of 8. Bundles
/// have no PTX, which other GPUs would need.
bool runsOn(const std::string &architecture, ComputeCapability gpu);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_GPU_H
