//===- ProgramRace.h - Whole programs, timed in turn ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times libraries of one model that differ in their programs, in one process.
// Calls follow each other without gaps: the times are of a busy machine.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_PROGRAMRACE_H
#define FACT_LIB_RUNTIME_PROGRAMRACE_H

#include "LoadedModel.h"
#include "Timing.h"
#include <vector>

namespace fact {
namespace runtime {

struct Racer {
  const FactLibrary *library;
  const Program *program;
};

/// How far the results of later programs are from those of the first, by the
/// norm of each result, on inputs whose means are 0, 1, 10 and 100 deviations
/// from zero: the largest of each, in this order. Infinite where one is NaN or
/// infinite and the other is not.
std::vector<double> compareFarMeans(const std::vector<Racer> &racers,
                                    const std::vector<Argument> &inputs,
                                    const std::vector<Argument> &weights);

/// As members of the worker's report: see describeRace and describeLoad.
std::string racePrograms(const std::vector<Racer> &racers,
                         const std::vector<Argument> &inputs,
                         const std::vector<Argument> &weights, bool sustained);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PROGRAMRACE_H
