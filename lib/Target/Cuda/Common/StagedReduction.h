//===- StagedReduction.h - Reductions of one tensor in a region -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_STAGEDREDUCTION_H
#define FACT_LIB_TARGET_CUDA_STAGEDREDUCTION_H

#include "Gathering.h"

namespace fact {
/// Results of one form: those of all elements, or of one element per column.
struct ReductionResults {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<StridedView> views;
  llvm::SmallVector<int64_t> buffers;
};

/// What ReductionStages.cuh calls a reduction of elements of this type.
llvm::StringRef getReductionWord(ReduceKind kind, mlir::Type element);

/// Reductions of one tensor over the same dimensions, as `StagedReduction` of
/// StagedReduction.cuh.
struct StagedReduction {
  static mlir::FailureOr<StagedReduction> read(FusedOp fused,
                                               EmitError emitError);

  /// How a reduction is computed beside one that it needs, of the same
  /// elements.
  enum class Joint { none, squaresAroundMean, exponentialsBelowMaximum };

  /// A reduction, and how many passes come before the one that computes it:
  /// those of one pass depend on earlier passes only.
  struct Stage {
    ReduceOp op;
    int64_t pass;
    /// The same where reductions are computed beside those that they need.
    int64_t jointPass;
    Joint joint = Joint::none;
    /// The stage beside which it is computed.
    size_t first = 0;

    int64_t getPass(bool joins) const { return joins ? jointPass : pass; }
  };

  /// The region with softmax written out.
  std::unique_ptr<RegionCopy> region;
  /// In the order of their passes.
  llvm::SmallVector<Stage> stages;
  /// What stages reduce, then the full results; and the results of columns.
  std::optional<ScalarFunction> body, columnBody;
  /// Views of [outer, length, inner], of [outer, inner] those of columns; if
  /// what is reduced lies in two places, or some tensor has two strides there
  /// or in `outer`, of [outer, repeats, middle, length, inner] and
  /// [outer, middle, inner].
  llvm::SmallVector<StridedView> operands, columnOperands;
  ReductionResults full, column;
  int64_t outer = 1, repeats = 1, middle = 1, length = 1, inner = 1;
  /// The most neighboring columns of a thread; elements of a row where `inner`
  /// is 1.
  int64_t vector = 1;

  bool folds() const { return inner == 1; }
  bool isApart() const { return repeats > 1 || middle > 1; }
  /// How operands are read, and those of columns.
  GatheringReads getReads() const { return {*body, stages.size(), operands}; }
  GatheringReads getColumnReads() const {
    return {*columnBody, stages.size(), columnOperands};
  }
  /// Vectors that are reduced together, and threads' columns.
  int64_t getLength() const {
    return repeats * (folds() ? length / vector : length);
  }
  int64_t countColumns(int64_t vector) const {
    return outer * middle * (folds() ? 1 : inner / vector);
  }
  /// The shape of operands, and of what has one element per column.
  llvm::SmallVector<int64_t> getShape() const {
    if (isApart())
      return {outer, repeats, middle, length, inner};
    return {outer, length, inner};
  }
  llvm::SmallVector<int64_t> getColumnShape() const {
    if (isApart())
      return {outer, middle, inner};
    return {outer, inner};
  }
  /// Passes over the elements. Columns that are not held join reductions.
  int64_t countPasses(bool joins) const {
    return stages.back().getPass(joins) + 1 + !full.views.empty();
  }
  /// Of one element of all operands that are not broadcast, which the cache
  /// has.
  int64_t getOperandBytes() const;
  /// Of the registers that hold one vector of all operands. Columns are held
  /// as stages compute with them. What a column shares is not held again.
  int64_t getHeldBytes(int64_t vector) const;
  /// Of a stage's state: a value, with its place if that is found; or what
  /// ReductionStages.cuh keeps of one that is joined.
  static int64_t getStateBytes(Stage stage, bool joins) {
    int64_t value = getStorageBytes(
        getComputeType(getTensorType(stage.op.getOperand()).getElementType()));
    switch (joins ? stage.joint : Joint::none) {
    case Joint::squaresAroundMean:
      return 4 * value;
    case Joint::exponentialsBelowMaximum:
      return 2 * value;
    case Joint::none:
      break;
    }
    return stage.op.getArithmetic().locates ? 2 * std::max<int64_t>(4, value)
                                            : value;
  }
  int64_t getResultBytes() const {
    int64_t bytes = 0;
    for (mlir::Value value : full.values)
      bytes += getStorageBytes(getTensorType(value).getElementType());
    return bytes;
  }
  /// What accesses of one element move beyond these: neighbors that lie apart
  /// in a result, or in an operand whose order is not that of the largest, fill
  /// a sector of 32 bytes each.
  int64_t getScatteredBytes() const;

  /// Leaves the stages alone, for another attempt to read the tensors.
  void forgetTensors() {
    body.reset();
    columnBody.reset();
    operands.clear();
    columnOperands.clear();
    full = column = {};
    outer = repeats = middle = length = inner = vector = 1;
  }

private:
  bool isSharedByColumn(size_t operand) const;
};

/// Reads the reductions of a region, with norms and softmaxes written out.
mlir::LogicalResult readStages(StagedReduction &reduction, EmitError emitError);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_STAGEDREDUCTION_H
