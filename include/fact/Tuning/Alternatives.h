//===- Alternatives.h - Which program of a bundle to ship -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle's program launches kernels as they were fused. An alternative
// replaces all launches of one kernel. Alternatives of different kernels do not
// overlap, so any choice of at most one per kernel is a program, and the times
// of its parts add up to its own.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_ALTERNATIVES_H
#define FACT_TUNING_ALTERNATIVES_H

#include "fact/Tuning/Bundle.h"
#include <functional>

namespace fact {
namespace tuning {

/// The alternatives that a program takes, at most one per kernel. Empty: the
/// program as it was fused.
using Forms = std::vector<const Alternative *>;

/// The bundle whose program has the chosen alternatives in place of their
/// kernels, with its memory planned again and no alternatives left. `used` is
/// set for the kernels of that program.
Bundle applyAlternatives(const Bundle &bundle, const Forms &forms);

/// "as fused", or "gated_gemm_1 apart, grouped_gemm_3 single".
std::string describeForms(const Bundle &bundle, const Forms &forms);

/// How many steps of the program launch a kernel.
size_t countLaunches(const Bundle &bundle, uint32_t kernel);

/// The forms of a program, and the time of the launches that they decide about.
struct RankedForms {
  Forms forms;
  double us = 0;
};

/// The `count` programs of least time, the best first, by dynamic programming
/// over the kernels with alternatives. `timeOf` is the time of one launch;
/// alternatives with a kernel of infinite time are not taken.
std::vector<RankedForms>
rankForms(const Bundle &bundle,
          const std::function<double(uint32_t kernel)> &timeOf, size_t count);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_ALTERNATIVES_H
