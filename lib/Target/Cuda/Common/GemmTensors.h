//===- GemmTensors.h - A contraction's tensors as matrices ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GEMMTENSORS_H
#define FACT_LIB_TARGET_CUDA_GEMMTENSORS_H

#include "Emission.h"
#include "fact/Analysis/ContractionRegion.h"

namespace fact {
/// How kernels address the tensors of a GEMM.
enum class Addressing {
  /// By TMA: floats of up to 32 bits in contiguous rows, which factors may have
  /// as columns, at multiples of 16 bytes.
  Tma,
  /// The same, and results and operands of the epilogue may have contiguous
  /// columns, too.
  TmaColumns,
  /// Element by element: any type and any strides.
  Any
};

/// The tensors of a contraction as kernels address them.
class GemmTensors {
public:
  GemmTensors(FusedOp fused, const ContractionRegion &region,
              EmitError emitError, Addressing addressing = Addressing::Tma)
      : fused(fused), region(region), emitError(emitError),
        addressing(addressing) {}

protected:
  /// The first factor; refuses products that kernels cannot count.
  mlir::FailureOr<MatrixTensor> getLhs();
  mlir::FailureOr<MatrixTensor>
  getRhs(const ContractionRegion::Product &product);

  /// A result of the product's size; `value` is what it holds before the views
  /// at its end.
  mlir::FailureOr<MatrixTensor>
  getResult(const ContractionRegion::Result &result, mlir::Value &value);

  /// An operand of the epilogue.
  mlir::FailureOr<MatrixTensor>
  getOperand(const ScalarFunction::Argument &argument);

  /// The shape [rows, columns], after the batches where there are some.
  llvm::SmallVector<int64_t> getShape(int64_t rows, int64_t columns) const;
  /// The index space of an epilogue: the same in the order of the product's
  /// rows, with all dimensions of batches where they may lie at several
  /// strides.
  llvm::SmallVector<int64_t> getIndexSpace() const;

  /// Checks that M, N, K and the batches are numbers of 32 bits.
  mlir::LogicalResult requireExtents();
  /// The same of all rows, which are windows.
  mlir::LogicalResult requireWindows();

  /// How the matrix units multiply the factors.
  MatrixRate getRate() const;

  /// Checks that strides and offset are multiples of 16 bytes where TMA needs
  /// them. A plain product is exempt: cuBLAS takes any.
  mlir::LogicalResult requireAlignment(const MatrixTensor &tensor,
                                       llvm::StringRef name);

  FusedOp fused;
  const ContractionRegion &region;
  EmitError emitError;
  Addressing addressing;

  /// Whether the region is one product, whose result is stored as it is, or
  /// through views: `values` are what the region stores.
  bool isOnlyProduct(mlir::ArrayRef<mlir::Value> values) const {
    return region.products.size() == 1 && values.size() == 1 &&
           region.results.size() == 1 &&
           values.front() == region.products.front().matmul.getResult();
  }

private:
  /// A view whose dimensions but the last are the product's rows, as
  /// [batches, m, columns].
  mlir::FailureOr<StridedView> getMatrices(const StridedView &view,
                                           int64_t columns) const;
  bool hasWholeUnits(const ContractionRegion::Result &result,
                     const MatrixTensor &tensor) const;
  bool usesTma() const { return addressing != Addressing::Any; }
  /// Whether a matrix that is no factor lies as kernels address it. TMA's
  /// columns have 16 bytes or a multiple.
  bool isAddressed(const MatrixTensor &matrix) const {
    return !usesTma() || matrix.kind == MatrixTensor::RowMajor ||
           (matrix.kind == MatrixTensor::ColumnMajor &&
            addressing == Addressing::TmaColumns &&
            region.m * getStorageBytes(matrix.element) % 16 == 0);
  }
  /// A view of shape [batches..., rows, columns] where any strides will do.
  mlir::FailureOr<MatrixTensor> getStrided(const StridedView &view,
                                           int64_t rows, int64_t columns,
                                           int64_t buffer) const;
  mlir::FailureOr<MatrixTensor> getFactor(const StridedView &view, int64_t rows,
                                          int64_t columns,
                                          llvm::StringRef name);
};

/// The matrix of a factor that all batches share.
StridedView dropBatches(const StridedView &factor);

/// Whether tiles of a region whose batches became rows have fewer rows than
/// tiles of the batches: a batch of 8 rows wastes most of a tile.
bool savesTiles(const ContractionRegion &swapped);

/// What `AnalysisT(fused, region, emitError, arguments...).run()` makes of a
/// region. Folded batches make one large product; where the rest of the region
/// does not allow them, as in a sequence that is transposed before a projection
/// and not after it, the batched form may do.
template <typename AnalysisT, typename... Arguments>
auto readFolded(FusedOp fused, ContractionRegion::Kind kind,
                EmitError emitError, Arguments... arguments)
    -> decltype(std::declval<AnalysisT>().run()) {
  auto read =
      [&](bool foldBatches, bool swapBatches,
          EmitError emitError) -> decltype(std::declval<AnalysisT>().run()) {
    ContractionRegion::Options options;
    options.kind = kind;
    options.foldBatches = foldBatches;
    options.swapBatches = swapBatches;
    mlir::FailureOr<ContractionRegion> region =
        ContractionRegion::get(fused, options, emitError);
    if (failed(region) || (swapBatches && !savesTiles(*region)))
      return mlir::failure();
    return AnalysisT(fused, *region, emitError, arguments...).run();
  };
  bool hasBatches =
      llvm::any_of(fused.getBody().getOps<MatmulOp>(), [](MatmulOp matmul) {
        return matmul.getType().getNumElements() !=
               matmul.getM() * matmul.getN();
      });
  if (hasBatches) {
    auto folded =
        read(/*foldBatches=*/true, /*swapBatches=*/false, Silence(fused));
    if (succeeded(folded))
      return folded;
    auto swapped =
        read(/*foldBatches=*/false, /*swapBatches=*/true, Silence(fused));
    if (succeeded(swapped))
      return swapped;
  }
  return read(/*foldBatches=*/false, /*swapBatches=*/false, emitError);
}
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GEMMTENSORS_H
