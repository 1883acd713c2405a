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
  /// Where each view is read; everywhere if there are none.
  llvm::ArrayRef<std::vector<PointwiseGraph::Bound>> bounds = {};
  /// Where each view lies at some of the points; in place if there are none.
  llvm::ArrayRef<std::vector<PointwiseGraph::Shift>> shifts = {};

  const ScalarFunction::Argument &getArgument(size_t operand) const {
    return function.getArguments()[leading + operand];
  }
  bool isGathered(size_t operand) const {
    return !getArgument(operand).indices.empty();
  }
  llvm::ArrayRef<PointwiseGraph::Bound> getBounds(size_t operand) const {
    if (bounds.empty())
      return {};
    return bounds[operand];
  }
  llvm::ArrayRef<PointwiseGraph::Shift> getShifts(size_t operand) const {
    if (shifts.empty())
      return {};
    return shifts[operand];
  }
  /// Whether neighbors along a dimension read the same element.
  bool isConstant(size_t operand, size_t dim) const;
  /// The same for an index. One that a leading value decides may differ.
  bool isConstant(const PointwiseGraph::Index &index, size_t dim) const;
  /// Whether an index depends on operands that are gathered themselves.
  bool isChained(const PointwiseGraph::Index &index) const;
  /// Whether a leading value decides where some operand is read.
  bool dependsOnLeading() const;

  /// Prints the functors of all indices. Returns their names by the number of
  /// the function's result.
  llvm::SmallVector<std::string>
  printFunctors(llvm::raw_ostream &os, llvm::StringRef name,
                llvm::ArrayRef<std::string> argumentNames) const;
  /// `Strided<...>`, in `Gathered<..., IndexOf<...>>` where indices move it, in
  /// `Shifted<..., Shift<...>>` where the point moves it, in
  /// `Guarded<..., Bound<...>>` within bounds, or in `Streamed<...>` if
  /// `streams` and it is read once; `Coordinate<...>` of a position.
  void print(llvm::raw_ostream &os, size_t operand,
             llvm::ArrayRef<std::string> functors, bool streams = false) const;
};

/// `, Bound<...>` for each.
void printBounds(llvm::raw_ostream &os,
                 llvm::ArrayRef<PointwiseGraph::Bound> bounds);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GATHERING_H
