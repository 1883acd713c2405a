//===- Emission.h - What the emitters of kernels share ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_EMISSION_H
#define FACT_LIB_TARGET_CUDA_EMISSION_H

#include "ScalarFunction.h"
#include "Schedules.h"
#include "fact/Analysis/Destination.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "fact/Kernel/Target.h"
#include "fact/Target/RegionOps.h"

namespace fact {
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether the matrix units' kernels take operands of a type.
inline bool isFloat16(mlir::Type element) {
  return mlir::isa<mlir::Float16Type, mlir::BFloat16Type>(element);
}

/// The position of a block argument among the kernel's buffers; results follow.
inline int64_t getBuffer(mlir::Value argument) {
  return mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
}
inline int64_t getResultBuffer(FusedOp fused, int64_t index) {
  return fused.getInputs().size() + index;
}

/// Whether all results are stored in 16-bit floats, so that the cheap scalar
/// definitions are exact enough.
bool hasOnly16BitResults(FusedOp fused);

/// A copy of a region that shares nothing with it, to be changed at will.
class RegionCopy {
public:
  explicit RegionCopy(FusedOp fused);
  FusedOp get() { return copy; }

private:
  mlir::OwningOpRef<mlir::func::FuncOp> scope;
  FusedOp copy;
};

/// One tensor of a kernel that works on matrices, `[batches, rows, columns]`:
/// how it lies in its buffer, in the words of Kernel.cuh.
struct MatrixTensor {
  enum Kind { RowMajor, ColumnMajor, RowVector, ColumnVector, Scalar } kind;
  int64_t buffer;
  mlir::Type element;
  int64_t leadingDimension = 0;
  int64_t batchStride = 0;
  int64_t offset = 0;

  /// Reads a view of shape [batches, rows, columns] (or [rows, columns]). Fails
  /// where no word describes its strides.
  static mlir::FailureOr<MatrixTensor> get(const StridedView &view,
                                           int64_t buffer);

  bool isMatrix() const { return kind == RowMajor || kind == ColumnMajor; }
  /// Whether strides and offset are multiples of `bytes`.
  bool isAligned(int64_t bytes) const;
  void print(llvm::raw_ostream &os) const;
};

/// What a GEMM's epilogue reads beside its products, as its visitors read it;
/// the diagnostic says what they cannot.
mlir::FailureOr<MatrixTensor>
getEpilogueOperand(const ScalarFunction::Argument &argument,
                   EmitError emitError);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const MatrixTensor &tensor) {
  tensor.print(os);
  return os;
}

/// Names for a functor's arguments: the given ones, then operand<buffer>.
llvm::SmallVector<std::string>
getArgumentNames(const ScalarFunction &function,
                 llvm::ArrayRef<llvm::StringRef> leading);

/// `Operands<...>` of an emitted kernel.
void printOperands(llvm::raw_ostream &os,
                   llvm::ArrayRef<MatrixTensor> operands);

/// `Results<Result<functor, tensor>, ...>`.
void printResults(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                  llvm::ArrayRef<MatrixTensor> results);

/// Bytes of the matrices of m x n elements among operands.
double countMatrixBytes(llvm::ArrayRef<MatrixTensor> operands, int64_t m,
                        int64_t n);

/// The beginning of an emitted file: the region as a comment, the schedule,
/// includes, and the namespace.
void printHeader(llvm::raw_ostream &os, FusedOp fused, mlir::Attribute schedule,
                 llvm::StringRef symbol, llvm::StringRef header);
/// Its end: the exported symbol.
void printFooter(llvm::raw_ostream &os, llvm::StringRef symbol);

/// A schedule as `GemmSchedule<Tile<...>, ...>`.
void printSchedule(llvm::raw_ostream &os, Sm90GemmAttr schedule);

/// The end of a file of GEMMs that differ only in their swizzle, of which the
/// first was printed as `Kernel`.
void printGemmVariants(llvm::raw_ostream &os,
                       llvm::ArrayRef<KernelVariant> variants);

/// What a GEMM kernel has to do, for the cost model.
struct GemmWork {
  int64_t m, n, k, batches;
  /// What memory must move at least, and what of it are the epilogue's matrices.
  double bytes, epilogueBytes;
  /// Issue slots of the epilogue for one element of the product.
  double slots;
};

/// The seconds of a launch.
constexpr double launchSeconds = 3e-6;

/// The seconds a GEMM takes with this schedule.
double predictGemm(const GemmWork &work, Sm90GemmAttr schedule,
                   const MachineDescription &machine);

/// A float constant as `struct name { static constexpr float value = ...; };`.
void printConstant(llvm::raw_ostream &os, llvm::StringRef name, double value);

/// A plan of Hopper GEMMs, where schedules that differ only in their swizzle are
/// one object.
class Sm90GemmPlan : public Plan {
public:
  using Plan::Plan;

  std::string getObjectKey(ScheduleAttr schedule) const override;

protected:
  /// What the region says of its schedules.
  struct Limits {
    /// Bytes of an element of the operands.
    int64_t elementBytes = 2;
    /// Results whose tiles are staged in shared memory together.
    int64_t results = 1;
    /// Tile N is a multiple of it.
    int64_t tileColumns = 16;
    /// Why K cannot be split over blocks; empty where it can.
    llvm::StringRef noStreamK;
  };
  /// Several products have one result each, and a tile is of one product.
  static Limits getPackedGemmLimits() {
    return {2, 1, 16,
            "several products run as a cooperative or a pingpong kernel, not "
            "as stream_k"};
  }
  mlir::LogicalResult checkGemm(Sm90GemmAttr schedule, const Limits &limits,
                                EmitError emitError) const;
};

/// Whether a block can have so much shared memory.
mlir::LogicalResult requireSharedMemory(int64_t bytes,
                                        const MachineDescription &machine,
                                        EmitError emitError);

/// One registration per family, in the file that has it.
void registerGemmEpilogueFamily(mlir::DialectRegistry &registry);
void registerGatedGemmFamily(mlir::DialectRegistry &registry);
void registerGroupedGemmFamily(mlir::DialectRegistry &registry);
void registerAttentionFamily(mlir::DialectRegistry &registry);
void registerRowwiseFamily(mlir::DialectRegistry &registry);
void registerPointwiseFamily(mlir::DialectRegistry &registry);
void registerConcatFamily(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_EMISSION_H
