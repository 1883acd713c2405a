//===- ProbedMachines.h - The machines whose ceilings are known -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_PROBEDMACHINES_H
#define FACT_TUNING_PROBEDMACHINES_H

#include "fact/Tuning/Ceilings.h"
#include <vector>

namespace fact {
namespace tuning {

/// The ceilings that the cache has, by the machine's name. Throws nothing:
/// broken files are skipped.
std::vector<Ceilings> listProbedMachines();

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_PROBEDMACHINES_H
