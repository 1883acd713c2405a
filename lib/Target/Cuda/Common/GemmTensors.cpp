//===- GemmTensors.cpp - A contraction's tensors as matrices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmTensors.h"
#include "fact/Dialect/Fact/Placement.h"

using namespace mlir;
using namespace fact;

SmallVector<int64_t> GemmTensors::getShape(int64_t rows,
                                           int64_t columns) const {
  if (region.batches > 1)
    return {region.batches, rows, columns};
  return {rows, columns};
}

FailureOr<StridedView> GemmTensors::getMatrices(const StridedView &view,
                                                int64_t columns) const {
  if (!region.isSwapped)
    return view.reshape({region.batches, region.m, columns});
  FailureOr<StridedView> rows =
      view.reshape({region.m, region.batches, columns});
  if (failed(rows))
    return failure();
  return rows->permute({1, 0, 2});
}

SmallVector<int64_t> GemmTensors::getIndexSpace() const {
  if (region.isSwapped)
    return {region.m, region.batches, region.products.front().n};
  SmallVector<int64_t> shape = getShape(region.m, region.products.front().n);
  if (usesTma() || region.windows || region.batches == 1)
    return shape;
  ArrayRef<int64_t> batches = ArrayRef(region.lhs.shape).drop_back(2);
  shape.erase(shape.begin());
  shape.insert(shape.begin(), batches.begin(), batches.end());
  return shape;
}

FailureOr<MatrixTensor> GemmTensors::getStrided(const StridedView &view,
                                                int64_t rows, int64_t columns,
                                                int64_t buffer) const {
  // Folded batches are rows, and have to lie as such.
  size_t rank = view.shape.size();
  if (usesTma() || rank < 2 || view.shape[rank - 2] != rows ||
      view.shape[rank - 1] != columns)
    return failure();
  return MatrixTensor::getStrided(view, buffer);
}

MatrixRate GemmTensors::getRate() const {
  return getMatrixRate(toElementType(region.getElementType()),
                       region.products.front().matmul.getTf32());
}

LogicalResult GemmTensors::requireAlignment(const MatrixTensor &tensor,
                                            StringRef name) {
  if (addressing == Addressing::Any || tensor.isAligned(16) || region.isPlain())
    return success();
  return emitError() << "strides and offset of " << name
                     << " must be multiples of 16 bytes, and a row has "
                     << tensor.leadingDimension << " elements of "
                     << tensor.element;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

StridedView fact::dropBatches(const StridedView &factor) {
  int64_t rank = factor.shape.size();
  return factor.permute({rank - 2, rank - 1});
}

FailureOr<MatrixTensor> GemmTensors::getFactor(const StridedView &view,
                                               int64_t rows, int64_t columns,
                                               StringRef name) {
  // A factor without batches serves all of them.
  FailureOr<StridedView> matrix =
      view.shape.size() == 2 ? view : view.reshape(getShape(rows, columns));
  FailureOr<MatrixTensor> strided = getStrided(
      failed(matrix) ? view : *matrix, rows, columns, getBuffer(view.base));
  if (failed(matrix) && succeeded(strided))
    return strided;
  if (failed(matrix))
    return emitError() << "the batches of " << name
                       << " must lie at one stride, and those of 'fact.matmul' "
                          "do not";
  FailureOr<MatrixTensor> tensor =
      MatrixTensor::get(*matrix, getBuffer(matrix->base));
  // A single row or column still has a leading dimension.
  if (succeeded(tensor) && tensor->kind == MatrixTensor::RowVector &&
      rows == 1) {
    tensor->kind = MatrixTensor::RowMajor;
    tensor->leadingDimension = columns;
  } else if (succeeded(tensor) && columns == 1 &&
             (tensor->kind == MatrixTensor::ColumnVector || rows == 1)) {
    tensor->kind = MatrixTensor::ColumnMajor;
    tensor->leadingDimension = rows;
  }
  if ((failed(tensor) || !tensor->isMatrix()) && succeeded(strided))
    return strided;
  if (failed(tensor) || !tensor->isMatrix())
    return emitError() << name
                       << " of 'fact.matmul' needs contiguous rows or columns";
  // Kernels copy factors of f32 that TMA cannot address.
  if (getRate() == MatrixRate::Bits16 &&
      failed(requireAlignment(*tensor, name)))
    return failure();
  return tensor;
}

bool fact::savesTiles(const ContractionRegion &swapped) {
  constexpr int64_t rows = 64;
  return swapped.batches * int64_t(llvm::alignTo(swapped.m, rows)) <
         swapped.m * int64_t(llvm::alignTo(swapped.batches, rows));
}

LogicalResult GemmTensors::requireExtents() {
  // Kernels count in 32 bits, and round up to whole tiles.
  constexpr int64_t most = INT32_MAX - 1023;
  auto require = [&](StringRef name, int64_t extent) -> LogicalResult {
    if (extent <= most)
      return success();
    return emitError() << name << " must be at most " << most << ", not "
                       << extent;
  };
  for (const ContractionRegion::Product &product : region.products)
    if (failed(require("N", product.n)))
      return failure();
  return success(succeeded(require("M", region.m)) &&
                 succeeded(require("K", region.k)) &&
                 succeeded(require("the number of batches", region.batches)));
}

LogicalResult GemmTensors::requireWindows() {
  if (failed(requireExtents()))
    return failure();
  if (region.getRows() > INT32_MAX)
    return emitError() << "counts windows in 32 bits, and there are "
                       << region.getRows();
  return success();
}

FailureOr<MatrixTensor> GemmTensors::getLhs() {
  if (failed(requireExtents()))
    return failure();
  StridedView lhs = region.lhs;
  if (region.isSwapped) {
    FailureOr<StridedView> matrices = getMatrices(lhs, region.k);
    if (failed(matrices))
      return emitError() << "the rows and batches of the lhs must lie at one "
                            "stride each";
    lhs = *matrices;
  }
  return getFactor(lhs, region.m, region.k, "the lhs");
}

FailureOr<MatrixTensor>
GemmTensors::getRhs(const ContractionRegion::Product &product) {
  bool isShared = region.batches == 1 || region.isSwapped ||
                  (usesTma() && region.isShared());
  StridedView rhs = isShared ? dropBatches(product.rhs) : product.rhs;
  return getFactor(rhs, region.k, product.n, "the rhs");
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

FailureOr<MatrixTensor>
GemmTensors::getResult(const ContractionRegion::Result &result, Value &value) {
  FailureOr<Destination> destination =
      getDestination(result.yielded, emitError);
  if (failed(destination))
    return failure();
  value = destination->value;
  int64_t buffer = getResultBuffer(fused, result.number);
  FailureOr<StridedView> view = getMatrices(destination->view, result.n);
  FailureOr<MatrixTensor> tensor = failure();
  // A single row still has a leading dimension.
  if (succeeded(view) && region.m == 1 && view->strides[2] == 1)
    tensor = MatrixTensor{MatrixTensor::RowMajor,
                          buffer,
                          getTensorType(value).getElementType(),
                          result.n,
                          region.batches > 1 ? view->strides[0] : 0,
                          view->offset};
  // So does a single column.
  else if (succeeded(view) && result.n == 1)
    tensor = MatrixTensor{MatrixTensor::RowMajor,
                          buffer,
                          getTensorType(value).getElementType(),
                          view->strides[1],
                          region.batches > 1 ? view->strides[0] : 0,
                          view->offset};
  else if (succeeded(view))
    tensor = MatrixTensor::get(*view, buffer);
  if (failed(tensor) || !tensor->isMatrix())
    tensor = getStrided(succeeded(view) ? *view : destination->view, region.m,
                        result.n, buffer);
  if (failed(tensor) || !isAddressed(*tensor))
    return emitError() << "a result must have contiguous rows"
                       << (addressing == Addressing::Tma ? "" : " or columns")
                       << (usesTma() ? " of whole 16 bytes" : "")
                       << ", and its last views permute them";
  if (failed(requireAlignment(*tensor, "a result")))
    return failure();
  tensor->hasWholeUnits = hasWholeUnits(result, *tensor);
  // cuBLAS takes a product alone.
  if (usesTma() && !isOnlyProduct(value) &&
      failed(tensor->requireWholeUnits(emitError)))
    return failure();
  return tensor;
}

/// Whether the rows of a result end at multiples of 16 bytes, or what is behind
/// them up to there is nobody's.
bool GemmTensors::hasWholeUnits(const ContractionRegion::Result &result,
                                const MatrixTensor &tensor) const {
  int64_t bytes = result.n * getStorageBytes(tensor.element);
  int64_t missing = llvm::alignTo(bytes, 16) - bytes;
  if (missing == 0 || tensor.kind != MatrixTensor::RowMajor)
    return true;
  std::optional<Placement> placement = Placement::get(result.yielded);
  RankedTensorType type = getTensorType(result.yielded);
  return placement && placement->dim + 1 == type.getRank() &&
         placement->size == result.n &&
         placement->getRows(type).spare >= missing;
}

//===----------------------------------------------------------------------===//
// Operands of epilogues
//===----------------------------------------------------------------------===//

FailureOr<MatrixTensor>
GemmTensors::getOperand(const ScalarFunction::Argument &argument) {
  Type type = argument.value.getType();
  int64_t buffer = getBuffer(argument.value);
  int64_t columns = argument.view.shape.back();
  FailureOr<StridedView> view = getMatrices(argument.view, columns);
  if (succeeded(view))
    view = view->reshape(getShape(region.m, columns));
  FailureOr<MatrixTensor> tensor = failure();
  if (succeeded(view))
    tensor = MatrixTensor::get(*view, buffer);
  if (!usesTma()) {
    if (failed(tensor) && !region.isSwapped)
      tensor = MatrixTensor::getStrided(argument.view, buffer);
    if (failed(tensor))
      return emitError() << "the batches of an operand of the epilogue must "
                            "lie at one stride or two, and those of type "
                         << type << " do not";
    return tensor;
  }
  if (cast<RankedTensorType>(type).getElementType().isF64())
    return emitError() << "operands of the epilogue must be f16, bf16, f32, i1 "
                          "or integers, not "
                       << type;
  if (failed(tensor) || (tensor->isMatrix() && !isAddressed(*tensor)))
    return emitError() << "an operand of the epilogue must be a row-major "
                       << (addressing == Addressing::Tma ? ""
                                                         : "or column-major ")
                       << "matrix, a row, a column or a scalar of the product, "
                          "and one of type "
                       << type << " is not";
  return tensor;
}
