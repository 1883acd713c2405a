//===- Predecessors.h - Which steps have to follow which --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_PREDECESSORS_H
#define FACT_LIB_RUNTIME_PREDECESSORS_H

#include "MemoryPlan.h"
#include "fact/Runtime/Program.h"
#include <cstdint>
#include <vector>

namespace fact {
namespace runtime {

/// For each step of the program, the steps that it has to follow because they
/// use the same memory and one of them writes it; without those that another of
/// them follows. Steps that are not ordered by this may run at the same time.
std::vector<std::vector<uint32_t>> findPredecessors(const Program &program,
                                                    const MemoryPlan &plan);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PREDECESSORS_H
