//===- MemrefCall.h - A model as a function on memrefs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_RUNTIME_MEMREFCALL_H
#define FACT_RUNTIME_MEMREFCALL_H

namespace fact {
namespace runtime {

/// Runs the library's model on MLIR's memref descriptors: its inputs, weights
/// and outputs, each in the order of the generated header. All calls share one
/// instance, created by the first call; it takes weights from other addresses,
/// and weights that changed in place, without being told. Returns 0; a failure
/// is printed to standard error and is what `last_error` returns.
int callWithMemrefs(void *const *descriptors);

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_MEMREFCALL_H
