//===- Ceilings.h - What a machine was seen to reach ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rates that fact-tune --probe measured, kept per machine in the cache.
// Published peaks bound what a kernel can be; these say what is left to gain.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_CEILINGS_H
#define FACT_TUNING_CEILINGS_H

#include "fact/Tuning/Bundle.h"
#include <map>
#include <optional>
#include <string>

namespace fact {
namespace tuning {

/// Bytes or operations per second: of short runs after a pause, and after
/// seconds without one.
struct Rate {
  double cold = 0, sustained = 0;

  /// Neighbors disturb a rate, and nothing raises it.
  double best() const { return std::max(cold, sustained); }
};

struct Ceilings {
  std::string machine, date;
  /// By the names of a machine file: "bandwidth", "matrix_flops_16".
  std::map<std::string, Rate> rates;
  /// Of a host with several threads.
  std::map<std::string, Rate> oneThread;
  double launchSeconds = 0;

  /// The least time that the kernel's work takes at these rates; 0 if one of
  /// them, or the kernel's work, is not known.
  double getMicroseconds(const Kernel &kernel) const;
};

/// The ceilings in the report of a probe. Throws a Failure if it has none.
Ceilings readProbe(const std::string &machine, const std::string &report);

std::string print(const Ceilings &ceilings);
/// For people, one line per rate.
std::string writeTable(const Ceilings &ceilings);

/// Where the ceilings of a machine are kept; empty if there is no cache.
std::filesystem::path ceilingsFile(const std::string &machine);

/// Nothing if there is no such file, or if it is broken.
std::optional<Ceilings> readCeilings(const std::filesystem::path &file);

/// Nothing if the machine was not probed, or if the file is broken.
std::optional<Ceilings> findCeilings(const std::string &machine);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_CEILINGS_H
