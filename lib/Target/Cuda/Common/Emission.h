//===- Emission.h - What the emitters of kernels share ----------*- C++ -*-===//
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

/// Whether a type is a float of 16 bits.
inline bool isFloat16(mlir::Type element) {
  return mlir::isa<mlir::Float16Type, mlir::BFloat16Type>(element);
}
mlir::LogicalResult requireFloat16(mlir::Type element, EmitError emitError);

/// The position of a block argument among the kernel's buffers; results follow.
inline int64_t getBuffer(mlir::Value argument) {
  return mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
}
inline int64_t getResultBuffer(FusedOp fused, int64_t index) {
  return fused.getInputs().size() + index;
}

/// Whether all results that floats decide are stored in 16-bit floats, so that
/// the cheap scalar definitions are exact enough.
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

/// Extents and strides of an emitted kernel: numbers in its text, or arguments,
/// which the text names by their places.
class SizeList {
public:
  enum Kind { Numbers, Arguments };
  explicit SizeList(Kind kind) : kind(kind) {}

  bool areArguments() const { return kind == Arguments; }
  llvm::ArrayRef<int64_t> getArguments() const { return arguments; }
  /// The text of a size.
  std::string print(int64_t size) {
    return areArguments() ? printArgument(size) : std::to_string(size);
  }
  /// The text of a size that is an argument in any case.
  std::string printArgument(int64_t size);
  /// Makes code that ends with the arguments `last`, one for each variant, of
  /// which the list has the first.
  void finish(llvm::ArrayRef<int64_t> last, KernelCode &code) const;

private:
  Kind kind;
  llvm::SmallVector<int64_t> arguments;
};

/// The layout of one tensor of a kernel that works on matrices, [batches, rows,
/// columns]; the kinds are templates of Kernel.cuh.
struct MatrixTensor {
  enum Kind {
    RowMajor,
    ColumnMajor,
    RowVector,
    ColumnVector,
    Scalar,
    /// Any strides.
    StridedMatrix
  } kind;
  int64_t buffer;
  mlir::Type element;
  /// The stride of the rows of a StridedMatrix.
  int64_t leadingDimension = 0;
  int64_t batchStride = 0;
  int64_t offset = 0;
  /// Of a StridedMatrix. Where batches do not lie at one stride, `batchStride`
  /// is between runs of inner ones.
  int64_t columnStride = 0;
  int64_t innerBatches = 1, innerBatchStride = 0;
  /// Whether the last 16 bytes of each row of a result may be written whole.
  bool hasWholeUnits = true;

  /// Reads a view of shape [batches, rows, columns] (or [rows, columns]). Fails
  /// where no kind describes its strides.
  static mlir::FailureOr<MatrixTensor> get(const StridedView &view,
                                           int64_t buffer);
  /// Reads a view of shape [batches..., rows, columns] as a StridedMatrix.
  /// Fails where batches lie at more than two strides.
  static mlir::FailureOr<MatrixTensor> getStrided(const StridedView &view,
                                                  int64_t buffer);

  bool isMatrix() const {
    return kind == RowMajor || kind == ColumnMajor || kind == StridedMatrix;
  }
  /// Whether strides and offset are multiples of `bytes`.
  bool isAligned(int64_t bytes) const;
  /// Checks that TMA writes nothing that another kernel writes. An H200 loaded
  /// the elements of a row alone, but stored whole units of 16 bytes: behind
  /// rows of 515 bf16 it wrote five more, behind rows of 515 f32 one.
  mlir::LogicalResult requireWholeUnits(EmitError emitError) const;
  void print(llvm::raw_ostream &os) const;
  void print(llvm::raw_ostream &os, SizeList &sizes) const;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const MatrixTensor &tensor) {
  tensor.print(os);
  return os;
}

/// Names for a functor's arguments: the given ones, then operand<buffer>.
llvm::SmallVector<std::string>
getArgumentNames(const ScalarFunction &function,
                 llvm::ArrayRef<llvm::StringRef> leading);

/// Prints a functor for each of the first `count` results, `name` with the
/// result's number if there are several; returns their names. A result that is
/// the first argument has `Identity`, which is not printed.
llvm::SmallVector<std::string>
printFunctors(llvm::raw_ostream &os, const ScalarFunction &function,
              llvm::ArrayRef<llvm::StringRef> leading, llvm::StringRef name,
              size_t count);

/// `Operands<...>` of an emitted kernel.
void printOperands(llvm::raw_ostream &os, llvm::ArrayRef<MatrixTensor> operands,
                   SizeList &sizes);
void printOperands(llvm::raw_ostream &os,
                   llvm::ArrayRef<MatrixTensor> operands);

/// `Results<Result<functor, tensor>, ...>`.
void printResults(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                  llvm::ArrayRef<MatrixTensor> results, SizeList &sizes);
void printResults(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                  llvm::ArrayRef<MatrixTensor> results);

/// The same for views of the region's arguments and results.
void printOperands(llvm::raw_ostream &os, llvm::ArrayRef<StridedView> operands);
void printResults(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                  llvm::ArrayRef<StridedView> results, FusedOp fused);

/// The bytes of a view, each element once.
double countBytes(const StridedView &view);

/// Bytes of the matrices of m x n elements among operands.
double countMatrixBytes(llvm::ArrayRef<MatrixTensor> operands, int64_t m,
                        int64_t n);

/// `Strided<buffer, element, Strides<...>, offset>` of an emitted kernel, or
/// another template of the same arguments.
void printStrided(llvm::raw_ostream &os, const StridedView &view,
                  int64_t buffer, llvm::StringRef word = "Strided");
/// The same for a tensor that is read; `Streamed<...>` if `streams` and each of
/// its elements is read once, beside its neighbors.
void printRead(llvm::raw_ostream &os, const StridedView &view, int64_t buffer,
               bool streams);
/// Whether one argument of a function alone reads a tensor.
bool isReadByOne(const ScalarFunction &function, mlir::Value tensor);
/// Whether a kernel reads so much, and stores so little, that operands that it
/// reads once should leave the cache first: they would push out all else. Data
/// that both halves of the cache use takes twice its size. (Kernels that store
/// as much as they read take 4% longer if their operands leave first.)
bool passesThroughCache(double read, double stored,
                        const MachineDescription &machine);
/// `Strides<...>`.
void printStrides(llvm::raw_ostream &os, const StridedView &view);

/// Prints the beginning of an emitted file: the region as a comment, the
/// schedule, includes, and the namespace.
void printHeader(llvm::raw_ostream &os, FusedOp fused, mlir::Attribute schedule,
                 llvm::StringRef symbol, llvm::StringRef header);
/// The same for a kernel that is of no particular size; `key` is what its
/// object has of the schedule.
void printSizedHeader(llvm::raw_ostream &os, llvm::StringRef key,
                      llvm::StringRef symbol, llvm::StringRef header);
/// Prints the end of an emitted file: the exported symbol, and the number of
/// sizes that the kernel takes.
void printFooter(llvm::raw_ostream &os, llvm::StringRef symbol,
                 size_t sizes = 0);

/// Prints a float constant as a struct `name` with a static member `value`.
void printConstant(llvm::raw_ostream &os, llvm::StringRef name, double value);

/// Checks that a block can have this much shared memory.
mlir::LogicalResult requireSharedMemory(int64_t bytes,
                                        const MachineDescription &machine,
                                        EmitError emitError);

/// One registration per family, in the file that has it, and one for all
/// families of an architecture.
void registerThinRowsFamily(mlir::DialectRegistry &registry);
void registerThinGemmFamily(mlir::DialectRegistry &registry);
void registerRowwiseFamily(mlir::DialectRegistry &registry);
void registerScanFamily(mlir::DialectRegistry &registry);
void registerSortFamily(mlir::DialectRegistry &registry);
void registerScatterFamily(mlir::DialectRegistry &registry);
void registerStagedReductionFamily(mlir::DialectRegistry &registry);
void registerWindowReductionFamily(mlir::DialectRegistry &registry);
void registerPointwiseFamily(mlir::DialectRegistry &registry);
void registerConcatFamily(mlir::DialectRegistry &registry);
void registerGenericFamilies(mlir::DialectRegistry &registry);
void registerSm80AttentionFamily(mlir::DialectRegistry &registry);
void registerSm80Families(mlir::DialectRegistry &registry);
void registerSm90Families(mlir::DialectRegistry &registry);
void registerSm100Families(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_EMISSION_H
