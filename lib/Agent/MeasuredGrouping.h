//===- MeasuredGrouping.h - What was measured of a grouping -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_MEASUREDGROUPING_H
#define FACT_LIB_AGENT_MEASUREDGROUPING_H

#include "fact/Tuning/Learn.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fact {
/// The measurements of a bundle and of the rules' grouping in it.
class MeasuredGrouping {
public:
  /// Empty if the bundle was not tuned.
  static MeasuredGrouping read(llvm::StringRef bundle);

  /// Those of the agent's grouping.
  const std::vector<registry::Measurements> &getKernels() const {
    return kernels;
  }
  const registry::GroupingRace &getRace() const { return race; }

  /// Whose candidates were measured: both may search one problem differently.
  enum class Whose { agent, rules };

  /// The measurements of a problem that has an accepted attempt, or null: of
  /// one grouping, else of the other.
  const registry::Measurements *find(llvm::StringRef problem,
                                     Whose whose = Whose::agent) const;

  /// The best times of these problems together; none if one was not measured.
  std::optional<double> sum(llvm::ArrayRef<std::string> problems,
                            Whose whose = Whose::agent) const;
  /// Whether that is at most `1 + eps` times the least that can be hoped for.
  bool isWithin(double eps, llvm::ArrayRef<std::string> problems) const;

private:
  std::vector<registry::Measurements> kernels, rules;
  registry::GroupingRace race;
};

/// For prompts: "35% of light (12.0 us), 60% of what the machine reaches (20.4
/// us)", for a time in microseconds.
std::string describeShares(const registry::Measurements &measured, double us);
/// "0.123 GFLOP, 4.56 MB"
std::string describeWork(const registry::Measurements &measured);
/// "; fused over apart 1.080 (1.050 to 1.101)" for each, with the machine where
/// that is told.
std::string describeGains(llvm::ArrayRef<registry::Gain> gains,
                          bool withMachine);
} // namespace fact

#endif // FACT_LIB_AGENT_MEASUREDGROUPING_H
