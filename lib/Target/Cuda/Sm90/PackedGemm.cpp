//===- PackedGemm.cpp - Several products of one lhs as one GEMM -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackedGemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

LogicalResult PackedGemmAnalysis::checkProducts(ArrayRef<MatmulOp> matmuls) {
  MatmulOp first = matmuls.front();
  for (MatmulOp matmul : matmuls)
    if (matmul.getLhs() != first.getLhs() ||
        matmul.getTransposeA() != first.getTransposeA())
      return emitError() << (matmuls.size() == 2 ? "both" : "all")
                         << " 'fact.matmul' must have the same lhs";
  Type element = first.getLhs().getType().getElementType();
  if (!isFloat16(element))
    return emitError() << "takes f16 or bf16 operands, not " << element;
  return success();
}

FailureOr<StridedView> PackedGemmAnalysis::getArgumentView(Value value,
                                                           StringRef name) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view))
    return emitError() << name
                       << " is reshaped in a way that strides cannot say";
  if (!isa<BlockArgument>(view->base))
    return emitError() << name << " must be an argument of the region, and is "
                       << "computed by '"
                       << view->base.getDefiningOp()->getName() << "'";
  return view;
}

/// TMA moves matrices whose strides are multiples of 16 bytes.
FailureOr<MatrixTensor>
PackedGemmAnalysis::requireTma(const MatrixTensor &tensor, StringRef name) {
  if (tensor.isAligned(16))
    return tensor;
  return emitError() << "strides and offset of " << name
                     << " must be multiples of 16 bytes, and a row has "
                     << tensor.leadingDimension << " elements of "
                     << tensor.element;
}

FailureOr<MatrixTensor> PackedGemmAnalysis::getLhs(MatmulOp matmul) {
  int64_t k = matmul.getK(),
          m = matmul.getType().getNumElements() / matmul.getN();
  FailureOr<StridedView> view = getArgumentView(matmul.getLhs(), "the lhs");
  if (failed(view))
    return failure();
  if (matmul.getTransposeA()) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, view->shape.size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    view = view->permute(order);
  }
  view = view->reshape({m, k});
  FailureOr<MatrixTensor> tensor = failure();
  if (succeeded(view))
    tensor = MatrixTensor::get(*view, getBuffer(view->base));
  // A single row still has a leading dimension.
  if (succeeded(tensor) && tensor->kind == MatrixTensor::RowVector && m == 1)
    tensor = MatrixTensor{MatrixTensor::RowMajor, tensor->buffer,
                          tensor->element, k, 0, tensor->offset};
  if (failed(tensor) || !tensor->isMatrix())
    return emitError() << "the lhs must be one matrix with contiguous rows or "
                          "columns once its batches are folded into rows";
  return requireTma(*tensor, "the lhs");
}

FailureOr<MatrixTensor> PackedGemmAnalysis::getWeight(MatmulOp matmul) {
  FailureOr<StridedView> view = getArgumentView(matmul.getRhs(), "a weight");
  if (failed(view))
    return failure();
  FailureOr<MatrixTensor> tensor = failure();
  if (matmul.getTransposeB() && view->shape.size() == 2)
    tensor = MatrixTensor::get(view->permute({1, 0}), getBuffer(view->base));
  if (failed(tensor) || tensor->kind != MatrixTensor::ColumnMajor)
    return emitError() << "a weight must be a matrix [N, K] with contiguous "
                          "rows under 'transpose_b', not "
                       << matmul.getRhs().getType();
  if (matmul.getN() % 8 || matmul.getK() % 8)
    return emitError() << "needs N and K to be multiples of 8, not "
                       << matmul.getN() << " and " << matmul.getK();
  // The kernel names what it packs by one bit for each operand.
  if (tensor->buffer >= 32)
    return emitError() << "a weight must be one of the first 32 operands";
  packed.insert(tensor->buffer);
  return requireTma(*tensor, "a weight");
}

FailureOr<MatrixTensor>
PackedGemmAnalysis::getResult(unsigned index, ArrayRef<int64_t> space,
                              Value &value) {
  Value yielded = fused.getYield()->getOperand(index);
  RankedTensorType type = getTensorType(yielded);
  if (!isFloat16(type.getElementType()))
    return emitError() << "the result must be f16 or bf16, not " << type;
  if (type.getNumElements() != space[0] * space[1])
    return emitError() << "the result of type " << type
                       << " has not the size of the products";
  FailureOr<Destination> destination = getDestination(yielded, emitError);
  if (failed(destination))
    return failure();
  value = destination->value;
  FailureOr<StridedView> view = destination->view.reshape(space);
  int64_t buffer = getResultBuffer(fused, index);
  FailureOr<MatrixTensor> tensor = failure();
  if (succeeded(view) && space[0] == 1)
    tensor = MatrixTensor{MatrixTensor::RowMajor, buffer,
                          type.getElementType(), space[1], 0, 0};
  else if (succeeded(view))
    tensor = MatrixTensor::get(*view, buffer);
  if (failed(tensor) || tensor->kind != MatrixTensor::RowMajor)
    return emitError() << "the result must have contiguous rows, and its "
                          "last views permute them";
  return requireTma(*tensor, "the result");
}

FailureOr<SmallVector<MatrixTensor>>
PackedGemmAnalysis::getOperands(const ScalarFunction &function,
                                unsigned leading) {
  SmallVector<MatrixTensor> operands;
  for (const ScalarFunction::Argument &argument :
       function.getArguments().drop_front(leading)) {
    FailureOr<MatrixTensor> tensor = getEpilogueOperand(argument, emitError);
    if (failed(tensor))
      return failure();
    if (packed.contains(tensor->buffer))
      return emitError() << "the epilogue reads a weight, which is packed";
    operands.push_back(*tensor);
  }
  return operands;
}

SpaceAttrInterface
fact::getPackedGemmSpace(MLIRContext *context, int64_t m, int64_t n,
                         const MachineDescription &machine) {
  using K = KernelSchedule;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<int64_t> swizzles) {
    return Sm90GemmAttr::getSpace(context, tiles, clusters,
                                  {K::cooperative, K::pingpong}, swizzles);
  };
  // Small tiles where large ones would leave multiprocessors idle.
  double tiles = std::ceil(m / 128.0) * std::ceil(n / 128.0);
  if (tiles < 2 * machine.multiprocessors)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}},
                 {{1, 1}, {2, 1}}, {1});
  return space(
      {{128, 256, 64}, {256, 128, 64}, {128, 192, 64}, {128, 128, 64}},
      {{2, 1}, {1, 2}}, {1, 4, 8});
}
