//===- ProgramCheck.h - A composed program against references ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the program that verified kernels compose: the order of steps, memory
// that values share, prepared and packed weights, constants, and the binding of
// arguments.
//
// On random inputs and weights, the program's steps run one at a time, with
// separate memory for every value. Each result is compared with the kernel's
// reference on the same operands, so errors do not add up along the program,
// and the tolerance of one kernel suffices. The library's outputs must then
// equal the results of these steps bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_PROGRAMCHECK_H
#define FACT_LIB_RUNTIME_PROGRAMCHECK_H

#include "LoadedModel.h"
#include "WorkerJob.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <string>
#include <vector>

namespace fact {
namespace runtime {

struct ProgramCheck {
  std::vector<Argument> inputs, weights;
  /// One job per kernel of the library.
  std::vector<Job> jobs;
  /// Time limit for references of further steps of the same kernel.
  double seconds = 2;
};

/// Rejects the library if it computes anything else. Returns how many steps
/// were compared with references.
uint64_t checkProgram(const FactLibrary &library, const Program &program,
                      const ProgramCheck &check);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PROGRAMCHECK_H
