//===- Gathering.h - Operands that are read through gathers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GATHERING_H
#define FACT_LIB_TARGET_CUDA_GATHERING_H

#include "Emission.h"

namespace fact {
/// The arguments of a scalar function as a kernel reads them: some are leading
/// values, which the kernel has at hand, the others are views of one index
/// space, which may be moved by indices.
struct GatheringReads {
  const ScalarFunction &function;
  size_t leading;
  llvm::ArrayRef<StridedView> views;

  const ScalarFunction::Argument &getArgument(size_t operand) const {
    return function.getArguments()[leading + operand];
  }
  bool isGathered(size_t operand) const {
    return !getArgument(operand).indices.empty();
  }
  /// Whether neighbors along a dimension read the same element.
  bool isConstant(size_t operand, size_t dim) const;
  /// The same for an index. One that a leading value decides may differ.
  bool isConstant(const PointwiseGraph::Index &index, size_t dim) const;
  /// Whether a leading value decides where some operand is read.
  bool dependsOnLeading() const;

  /// Prints the functors of all indices. Returns their names by the number of
  /// the function's result.
  llvm::SmallVector<std::string>
  printFunctors(llvm::raw_ostream &os, llvm::StringRef name,
                llvm::ArrayRef<std::string> argumentNames) const;
  /// `Strided<...>`, in `Gathered<..., IndexOf<...>>` where indices move it, or
  /// in `Streamed<...>` if `streams` and it is read once.
  void print(llvm::raw_ostream &os, size_t operand,
             llvm::ArrayRef<std::string> functors, bool streams) const;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GATHERING_H
