//===- Interleaving.h - Tensors between each other's elements ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One half of interleaved pairs, or one channel of a few, is not contiguous,
// but all of them together are: kernels move them together.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TARGET_CUDA_INTERLEAVING_H
#define FACT_LIB_TARGET_CUDA_INTERLEAVING_H

#include "Emission.h"

namespace fact {
/// Whether the elements of an operand along its last dimension are few apart,
/// and those between them are inside of the tensor too.
bool isInterleaved(const StridedView &operand);

/// Whether an operand is picked from the same elements as one before it.
bool isPickedBefore(llvm::ArrayRef<StridedView> operands, size_t operand);

/// Elements per access if vectors along the last dimension are `Picked` from
/// the elements that they span; 1 if they are read one by one.
int64_t getPickedWidth(const StridedView &operand, int64_t vector);

/// Prints an operand, `Picked<...>` if it can be.
void printPicked(llvm::raw_ostream &os, const StridedView &operand,
                 int64_t buffer, int64_t vector);

/// How many results in a row fill the elements between each other along a
/// dimension, so that they are stored as one; 1 if they do not.
int64_t getRunLength(llvm::ArrayRef<StridedView> results,
                     llvm::ArrayRef<int64_t> buffers, size_t dim);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_INTERLEAVING_H
