//===- Forecast.h - Predicted times of groupings ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_FORECAST_H
#define FACT_LIB_AGENT_FORECAST_H

#include "fact/Fusion/Agent.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
/// Predicts the time of legal groups by the cost models of their families, so
/// that groupings can be compared before anything is compiled.
class Forecast {
public:
  Forecast(const Fusibility &fusibility, const Retrieval &retrieval)
      : fusibility(fusibility), retrieval(retrieval) {}

  /// Microseconds of the group's kernel with the best schedule of its default
  /// space, launch included.
  double predict(const Proposal &proposal);
  /// The sum over several kernels.
  double predict(llvm::ArrayRef<Proposal> proposals);

  /// What the rules make of the ops of a block that are in none of `groups`.
  std::vector<Proposal> cover(mlir::Block &block,
                              llvm::ArrayRef<Proposal> groups) const;

private:
  const Fusibility &fusibility;
  const Retrieval &retrieval;
  /// By problem: equal layers are predicted once.
  llvm::StringMap<double> known;
};
} // namespace fact

#endif // FACT_LIB_AGENT_FORECAST_H
