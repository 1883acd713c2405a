//===- RowOperand.cpp - What a row kernel reads ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowOperand.h"
#include <cmath>

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Index spaces
//===----------------------------------------------------------------------===//

SmallVector<int64_t> fact::getCommonShape(ArrayRef<int64_t> shape,
                                          ArrayRef<Value> values) {
  int64_t elements = llvm::product_of(shape);
  // Elements of the dimensions after each one, of all tensors that the values
  // are reached from without a change of their order.
  llvm::SmallSetVector<int64_t, 8> after;
  auto addShape = [&](ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    after.insert(count);
    for (int64_t size : llvm::reverse(sizes))
      after.insert(count *= size);
  };
  addShape(shape);
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert_range(values);
  auto follow = [&](Operation *op) {
    if (!isa_and_nonnull<ReshapeOp, PointwiseOpInterface>(op))
      return;
    reached.insert_range(op->getOperands());
    reached.insert_range(op->getResults());
  };
  for (size_t i = 0; i < reached.size(); ++i) {
    Value value = reached[i];
    auto type = getTensorType(value);
    if (type.getNumElements() != elements)
      continue;
    addShape(type.getShape());
    follow(value.getDefiningOp());
    llvm::for_each(value.getUsers(), follow);
  }

  SmallVector<int64_t> sorted = after.takeVector(), common;
  llvm::sort(sorted, std::greater<int64_t>());
  for (auto [outer, inner] :
       llvm::zip(sorted, ArrayRef<int64_t>(sorted).drop_front())) {
    if (outer % inner)
      return SmallVector<int64_t>(shape);
    common.push_back(outer / inner);
  }
  return common;
}

RowSpace RowSpace::getCommon(const RowRegion &region) {
  RowSpace matrix = getMatrix(region);
  RowSpace space{
      getCommonShape(matrix.shape, {region.getInput(), region.getOutput()}), 0};
  for (int64_t rows = 1; rows < region.rows; ++space.rowDims)
    rows *= space.shape[space.rowDims];
  return space.rowDims > 0 ? space : matrix;
}

SmallVector<int64_t> RowSpace::getRowStrides() const {
  SmallVector<int64_t> strides =
      rowMajorStrides(ArrayRef<int64_t>(shape).take_front(rowDims));
  strides.resize(shape.size(), 0);
  return strides;
}

RowSpace RowSpace::dropColumns() const {
  RowSpace space{SmallVector<int64_t>(ArrayRef(shape).take_front(rowDims)),
                 rowDims};
  space.shape.push_back(1);
  return space;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

FailureOr<RowOperand> RowOperand::get(const ScalarFunction::Argument &argument,
                                      const RowSpace &space,
                                      EmitError emitError) {
  Type element = getTensorType(argument.value).getElementType();
  if (element.isF64() || !(isa<FloatType>(element) || element.isInteger(1)))
    return emitError() << "operands must be f16, bf16, f32 or i1, not "
                       << argument.value.getType();
  ArrayRef<int64_t> shape = space.shape;
  int64_t rows = llvm::product_of(shape.take_front(space.rowDims));
  int64_t columns = llvm::product_of(shape.drop_front(space.rowDims));
  int64_t buffer = getBuffer(argument.value);
  FailureOr<StridedView> matrix = argument.view.reshape({rows, columns});
  if (succeeded(matrix)) {
    FailureOr<MatrixTensor> tensor = MatrixTensor::get(*matrix, buffer);
    if (succeeded(tensor) && tensor->kind != MatrixTensor::ColumnMajor)
      return RowOperand{*tensor, std::nullopt, tensor->isMatrix()};
  }
  auto take = [&](size_t begin, size_t end) {
    StridedView view = argument.view;
    view.shape.assign(shape.begin() + begin, shape.begin() + end);
    view.strides.assign(argument.view.strides.begin() + begin,
                        argument.view.strides.begin() + end);
    collapseDimensions(view);
    return view;
  };
  MatrixTensor tensor{MatrixTensor::RowMajor, buffer, element};
  tensor.offset = argument.view.offset;
  RowOperand operand{tensor, std::pair(take(0, space.rowDims),
                                       take(space.rowDims, shape.size()))};
  const auto &[rowView, columnView] = *operand.table;
  operand.isFull = !llvm::is_contained(rowView.strides, 0) &&
                   !llvm::is_contained(columnView.strides, 0);
  operand.elements = getTensorType(argument.value).getNumElements();
  // Rows lie together, or the elements are few and come from the cache.
  bool hasRows = columnView.strides.size() == 1 &&
                 columnView.strides.front() == 1 && columns >= 16;
  if (operand.isFull ? hasRows : rows * columns >= 2 * operand.elements)
    return operand;
  return emitError() << "an operand of type " << argument.value.getType()
                     << " is neither a matrix, a row, a column nor a "
                        "scalar of the rows";
}

bool RowOperand::allowsVector(int64_t vector) const {
  if (getStorageBytes(tensor.element) * vector > 16)
    return false;
  if (table && !isFull)
    return true;
  if (table)
    return tensor.offset % vector == 0 &&
           llvm::all_of(table->first.strides,
                        [&](int64_t stride) { return stride % vector == 0; });
  bool isOnePerRow = tensor.kind == MatrixTensor::ColumnVector ||
                     tensor.kind == MatrixTensor::Scalar;
  return isOnePerRow ||
         (tensor.leadingDimension % vector == 0 && tensor.offset % vector == 0);
}

double RowOperand::countBytes(const RowRegion &region) const {
  return isFull ? countMatrixBytes(tensor, region.rows, region.columns) : 0;
}

/// Of a table: from a column's element to the next one's.
static int64_t getColumnStride(const RowOperand &operand) {
  const StridedView &columns = operand.table->second;
  return columns.strides.empty() ? 0 : columns.strides.back();
}

double RowOperand::countLines(int64_t vector) const {
  constexpr double line = 128, warp = 32;
  double bytes = getStorageBytes(tensor.element);
  if (!table) {
    bool isOnePerRow = tensor.kind == MatrixTensor::ColumnVector ||
                       tensor.kind == MatrixTensor::Scalar;
    return isOnePerRow ? 0 : bytes * warp / line;
  }
  double stride = std::abs(getColumnStride(*this));
  double span = std::max(1.0, vector * stride * bytes * warp / line);
  if (stride <= 1)
    return span / vector;
  // One access for each 16 bytes between the elements (RowTable.cuh), or one
  // for each element.
  bool readsBetween =
      vector > 1 && stride <= 4 && elements % (16 / int64_t(bytes)) == 0;
  double accesses =
      readsBetween ? std::ceil(vector * stride * bytes / 16) : vector;
  return accesses * std::min(warp, span) / vector;
}

void RowOperand::print(raw_ostream &os, bool streams) const {
  if (!table) {
    streams &= tensor.kind == MatrixTensor::RowMajor;
    os << (streams ? "Streamed<" : "") << tensor << (streams ? ">" : "");
    return;
  }
  os << "RowTable<" << tensor.buffer << ", " << getElementName(tensor.element);
  for (const StridedView &view : {table->first, table->second}) {
    os << ", Extents<";
    llvm::interleaveComma(view.shape, os);
    os << ">, ";
    printStrides(os, view);
  }
  bool isSpread = getColumnStride(*this) > 1;
  if (tensor.offset || isSpread)
    os << ", " << tensor.offset;
  if (isSpread)
    os << ", " << elements;
  os << '>';
}
