//===- AttentionTensors.h - Attention in its buffers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_ATTENTIONTENSORS_H
#define FACT_LIB_TARGET_CUDA_ATTENTIONTENSORS_H

#include "Emission.h"
#include "fact/Analysis/AttentionRegion.h"

namespace fact {
/// A tensor of an attention in its buffer: [batch, head, row, column], or
/// [batch, head, query, key] of the mask.
struct AttentionTensor {
  int64_t buffer;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape, strides;
  int64_t offset;

  /// The stride of a dimension. That of one element is arbitrary: `single`.
  int64_t getStride(unsigned dim, int64_t single) const {
    return shape[dim] == 1 ? single : strides[dim];
  }
  /// Prints the arguments of a tensor's template: its buffer and element type,
  /// `strides`, and an offset if it has one.
  void print(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> strides) const;
};

/// What every CUDA family reads of an attention.
struct AttentionTensors {
  AttentionRegion region;
  AttentionTensor query, key, value, result;
  std::optional<AttentionTensor> mask = {};

  static mlir::FailureOr<AttentionTensors> get(FusedOp fused,
                                               EmitError emitError);
  /// Prints the mask's template, which all families have: `Mask<...>`.
  void printMask(llvm::raw_ostream &os) const;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_ATTENTIONTENSORS_H
