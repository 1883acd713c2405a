//===- Candidates.h - The schedules of a kernel to compile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_CANDIDATES_H
#define FACT_LIB_TARGET_BUNDLE_CANDIDATES_H

#include "fact/Kernel/Family.h"

namespace fact {
struct Candidate {
  ScheduleAttr schedule;
  /// Microseconds.
  double predicted;
  /// Whether it is one of the plan's fixed schedules.
  bool isFixed;
  /// The position in the space.
  size_t position;
};

/// The legal schedules to compile, best first, at most `limit`: the region's
/// schedule, or those of its space and the plan's fixed ones. A list of
/// schedules keeps its order; `wholeLists` takes all of it.
std::vector<Candidate> selectCandidates(const Plan &plan, size_t limit,
                                        bool wholeLists);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_CANDIDATES_H
