//===- Probe.h - What a machine reaches ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads that are bound by one resource of the machine each. Probe.cpp times
// them; HostProbe.cpp and CudaProbe.cu have those of their device.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_PROBE_H
#define FACT_LIB_RUNTIME_PROBE_H

#include "fact/Runtime/ElementType.h"
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fact {
namespace runtime {
namespace probe {

struct Load {
  /// The figures that it is a ceiling of, by their names in a machine file:
  /// "bandwidth", "matrix_flops_16".
  std::vector<std::string> figures;
  /// On the host; 0 on a device.
  int threads = 0;
  /// Bytes or operations of one round.
  double work = 0;
  /// Runs rounds, waits for them, and returns the seconds that they took;
  /// negative if they failed, with the device's last error.
  std::function<double(int64_t rounds)> run;
  /// Runs a few rounds, and says what is wrong with their results: a load that
  /// was not done has no rate.
  std::function<std::string()> verify;
};

/// `bytes` is the memory that is moved to measure bandwidth; 0: so much that no
/// cache holds it. Rejects if the device has no such memory.
std::vector<Load> getLoads(uint64_t bytes);

/// The cost of a kernel that does nothing, one of many, in seconds.
double measureLaunch();

/// Rounds that add the same products again and again must have added as many
/// times what one round adds.
inline std::string compareRounds(double one, double many, int64_t rounds) {
  double expected = one * static_cast<double>(rounds);
  if (one > 0 && std::abs(many - expected) <= 1e-3 * expected)
    return "";
  return "one round adds " + std::to_string(one) + ", and " +
         std::to_string(rounds) + " rounds " + std::to_string(many);
}

/// A pseudorandom word.
FACT_HOST_DEVICE constexpr uint32_t mixed(uint32_t x) {
  x = (x ^ 61u ^ (x >> 16)) * 9u;
  x = (x ^ (x >> 4)) * 0x27d4eb2du;
  return x ^ (x >> 15);
}

} // namespace probe
} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PROBE_H
