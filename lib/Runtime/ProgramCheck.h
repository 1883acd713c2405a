//===- ProgramCheck.h - A composed program against references ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a library are right one by one; this is about what is made of
// them: the order of steps, memory that values share, prepared and packed
// weights, constants, the binding of arguments.
//
// On random inputs and weights, the program's steps run once more with memory
// of their own for every value. Each result is compared with what the kernel's
// reference makes of the same operands, so errors do not add up along the
// program, and the tolerance of one kernel is enough. The library's outputs are
// then the same bits as those of the last steps: the kernels are the same, and
// nothing else may matter.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_PROGRAMCHECK_H
#define FACT_LIB_RUNTIME_PROGRAMCHECK_H

#include "WorkerJob.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// What an input or a weight holds.
struct Argument {
  Fill fill;
  /// A baked weight's value; empty for others.
  std::string path;
};

struct ProgramCheck {
  std::vector<Argument> inputs, weights;
  /// Of each kernel of the library.
  std::vector<Job> jobs;
  /// For references of steps beyond the first of each kernel.
  double seconds = 2;
};

/// Rejects the library when it computes anything else. Returns how many steps
/// were compared with references.
uint64_t checkProgram(const FactLibrary &library, const Program &program,
                      const ProgramCheck &check);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PROGRAMCHECK_H
