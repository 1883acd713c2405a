//===- Processor.h - Machines that are processors ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_PROCESSOR_H
#define FACT_DIALECT_FACT_PROCESSOR_H

#include "fact/Dialect/Fact/Machine.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace fact {
/// Whether it is "host" or LLVM's name of a processor that runs 64-bit code.
bool isProcessor(llvm::StringRef name);

/// The machine of such a processor, or null. Its figures bound what all cores
/// do together: those of this machine for "host", or more than most machines
/// have.
const MachineDescription *findProcessor(llvm::StringRef name);

/// Bytes of the vectors that kernels use, by the features of fact/Runtime/Cpu.h
/// that a processor has.
int64_t getVectorBytes(llvm::function_ref<bool(const char *feature)> has);
} // namespace fact

#endif // FACT_DIALECT_FACT_PROCESSOR_H
