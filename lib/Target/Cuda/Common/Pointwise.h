//===- Pointwise.h - One pointwise pass over strided tensors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_POINTWISE_H
#define FACT_LIB_TARGET_CUDA_POINTWISE_H

#include "Gathering.h"

namespace fact {
/// A pointwise graph over one index space: `Pointwise<...>` of Pointwise.cuh,
/// but for its schedule.
struct Pointwise {
  /// Collapsed views of one shape, the index space.
  llvm::SmallVector<StridedView> operands, results;
  /// Where each operand is read.
  std::vector<std::vector<PointwiseGraph::Bound>> bounds;
  std::vector<std::vector<PointwiseGraph::Shift>> shifts;
  /// Where each result is stored.
  std::vector<std::vector<PointwiseGraph::Bound>> resultBounds;
  llvm::SmallVector<int64_t> resultBuffers;
  ScalarFunction body;
  /// What the values belong to, where it is not the region itself.
  std::unique_ptr<RegionCopy> region;

  static mlir::FailureOr<Pointwise> get(llvm::ArrayRef<Destination> results,
                                        llvm::ArrayRef<int64_t> resultBuffers,
                                        bool fast, EmitError emitError);

  llvm::ArrayRef<int64_t> getShape() const { return results.front().shape; }
  int64_t getElements() const { return llvm::product_of(getShape()); }
  double getBytes() const;

  /// What the body says of an operand.
  const ScalarFunction::Argument &getArgument(size_t operand) const {
    return body.getArguments()[operand];
  }
  /// How operands are read.
  GatheringReads getReads() const {
    return {body, 0, operands, bounds, shifts};
  }
  /// Bytes of the widest element that is stored, or read in vectors, with those
  /// between it and the next one if they move together.
  int64_t getWidestBytes() const;
  /// Whether an operand is at strides, not gathered, guarded, shifted or
  /// computed.
  bool isPlain(size_t operand) const;
  /// Whether all operands are elements at strides.
  bool isPlain() const;
  /// Whether operands are parts of concatenations, of which one is selected.
  bool readsParts() const;
  /// Whether operands are read at shifted places.
  bool readsShifted() const;
  /// Whether some elements are not stored.
  bool isCropped() const;
  /// Whether an operand or a result is not read along its memory.
  bool wastesSectors() const;

  /// Whether a thread computes neighbors in the first dimension, because they
  /// are gathered by the same indices, which differ along rows.
  bool sharesIndices() const;
  /// How many vectors a thread computes.
  int64_t getVectorsPerThread(int64_t threads, int64_t vector,
                              const MachineDescription &machine) const;

  /// A vector has at most 16 bytes: one access, next to its neighbor's. One
  /// that does not divide the rows of the index space is halved until
  /// it does; where that leaves little and results are contiguous, until it
  /// divides all of them.
  int64_t limitVector(int64_t vector) const;

  double predictSeconds(CudaPointwiseAttr schedule,
                        const MachineDescription &machine) const;

  /// Prints the functors that results need, and returns one name for each.
  llvm::SmallVector<std::string> printFunctors(llvm::raw_ostream &os,
                                               llvm::StringRef name) const;
  /// `functors` are those of results, then those of indices.
  void printKernel(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                   CudaPointwiseAttr schedule,
                   const MachineDescription &machine) const;
  /// `Results<Result<functor, Strided<...>>, ...>`.
  void printResults(llvm::raw_ostream &os,
                    llvm::ArrayRef<std::string> functors) const;
};

/// Checks that it costs little to select the parts of concatenations for each
/// element.
mlir::LogicalResult checkConcats(const Pointwise &pointwise,
                                 EmitError emitError);

/// Schedules with this vector and half of it.
SpaceAttrInterface getPointwiseSpace(mlir::MLIRContext *context,
                                     int64_t widestVector);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_POINTWISE_H
