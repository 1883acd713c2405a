//===- GemmAnalysis.cpp - A region as a GEMM ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmAnalysis.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace fact;

namespace {
/// Reads a region as a GEMM, first with batches folded into M, then batched.
class GemmAnalysis {
public:
  GemmAnalysis(FusedOp fused, EmitError emitError)
      : fused(fused), emitError(emitError) {}

  FailureOr<Gemm> run() {
    matmul = getOnly<MatmulOp>(fused);
    if (!matmul)
      return emitError() << "needs exactly one 'fact.matmul'";
    Type element = matmul.getType().getElementType();
    if (!isFloat16(element))
      return emitError() << "takes f16 or bf16 operands, not " << element;

    FailureOr<StridedView> lhs =
        getOperand(matmul.getLhs(), matmul.getTransposeA());
    FailureOr<StridedView> rhs =
        getOperand(matmul.getRhs(), matmul.getTransposeB());
    if (failed(lhs) || failed(rhs))
      return failure();

    // A failed folding is no error: the batched form may do.
    if (getBatches() > 1 && isBroadcast(*rhs)) {
      ScopedDiagnosticHandler quiet(fused.getContext(),
                                    [](Diagnostic &) { return success(); });
      auto ignore = [&] { return fused.emitError(); };
      FailureOr<Gemm> folded = get(*lhs, *rhs, /*fold=*/true, ignore);
      if (succeeded(folded))
        return folded;
    }
    return get(*lhs, *rhs, /*fold=*/false, emitError);
  }

private:
  /// An operand as [batch..., rows, columns] of the product's batch sizes.
  FailureOr<StridedView> getOperand(Value value, bool transposed) {
    FailureOr<StridedView> view = StridedView::get(value);
    if (failed(view))
      return emitError() << "an operand of 'fact.matmul' is reshaped in a way "
                            "that strides cannot say";
    if (!isa<BlockArgument>(view->base))
      return emitError() << "the operands of 'fact.matmul' must be arguments "
                            "of the region, and one is computed by '"
                         << view->base.getDefiningOp()->getName() << "'";
    int64_t rank = view->shape.size();
    if (transposed) {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(order[rank - 1], order[rank - 2]);
      view = view->permute(order);
    }
    SmallVector<int64_t> shape(matmul.getType().getShape().drop_back(2));
    shape.append(view->shape.end() - 2, view->shape.end());
    return view->broadcastTo(shape);
  }

  int64_t getBatches() {
    return llvm::product_of(matmul.getType().getShape().drop_back(2));
  }

  static bool isBroadcast(const StridedView &view) {
    for (size_t i = 0; i + 2 < view.shape.size(); ++i)
      if (view.shape[i] != 1 && view.strides[i] != 0)
        return false;
    return true;
  }

  FailureOr<Gemm> get(StridedView lhs, StridedView rhs, bool fold,
                      EmitError emitError) {
    int64_t batches = getBatches(), m = matmul.getM(), n = matmul.getN(),
            k = matmul.getK();
    if (fold) {
      // All batches of B are one.
      SmallVector<int64_t> order{int64_t(rhs.shape.size()) - 2,
                                 int64_t(rhs.shape.size()) - 1};
      rhs = rhs.permute(order);
      m *= batches;
      batches = 1;
    }
    auto shape = [&](int64_t rows, int64_t columns) {
      return batches > 1 ? SmallVector<int64_t>{batches, rows, columns}
                         : SmallVector<int64_t>{rows, columns};
    };
    FailureOr<MatrixTensor> a = getMatrix(lhs, shape(m, k), "lhs", emitError);
    FailureOr<MatrixTensor> b = getMatrix(rhs, shape(k, n), "rhs", emitError);
    if (failed(a) || failed(b))
      return failure();

    Gemm gemm{m, n, k, batches, *a, *b, {}, {}, {}, {}, {}, isPlain()};
    if (failed(getReductions(gemm, emitError)))
      return failure();
    Values values;
    if (failed(getResults(gemm, values, emitError)))
      return failure();
    for (const ReducedEpilogue *reduced : {&gemm.rows, &gemm.columns})
      for (ReduceOp reduction : reduced->reductions)
        values.ofProduct.push_back(ReducedOperand::get(reduction).value);
    ScalarFunction::Options options;
    options.fast = hasOnly16BitResults(fused);
    options.leading = {matmul.getResult()};
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get(values.ofProduct, shape(m, n), options, emitError);
    if (failed(epilogue))
      return failure();
    gemm.epilogue = std::move(*epilogue);
    if (failed(getOperands(gemm, emitError)) ||
        failed(getReducedEpilogue(gemm.rows, MatrixTensor::ColumnVector,
                                  {batches, m}, values.ofRows, options,
                                  emitError)) ||
        failed(getReducedEpilogue(gemm.columns, MatrixTensor::RowVector,
                                  {batches, n}, values.ofColumns, options,
                                  emitError)))
      return failure();
    return std::move(gemm);
  }

  /// Reductions of whole rows or columns of what has the product's size.
  LogicalResult getReductions(Gemm &gemm, EmitError emitError) {
    for (auto reduce : fused.getBody().front().getOps<ReduceOp>()) {
      // As [before, over, after], where what is reduced lies together.
      ReducedOperand operand = ReducedOperand::get(reduce);
      int64_t before = 1, over = 1, after = 1;
      bool together = true;
      for (auto [dim, size] :
           llvm::enumerate(getTensorType(operand.value).getShape())) {
        bool isReduced = llvm::is_contained(operand.dims, dim);
        together &= !isReduced || after == 1;
        (isReduced ? over : over == 1 ? before : after) *= size;
      }
      bool ofRows =
          after == 1 && over == gemm.n && before == gemm.batches * gemm.m;
      bool ofColumns =
          after == gemm.n && over == gemm.m && before == gemm.batches;
      if (!together || (!ofRows && !ofColumns))
        return emitError() << "reduces whole rows of the product, of " << gemm.n
                           << " elements, or whole columns, of " << gemm.m
                           << ", and 'fact.reduce' has other dimensions";
      if (reduce.getKind() > ReduceKind::prod)
        return emitError() << "takes sums, means, products and extremes of "
                              "rows or columns, not '"
                           << stringifyReduceKind(reduce.getKind()) << "'";
      // They are a dimension of the grid that combines the tiles.
      if (gemm.batches > 65535)
        return emitError() << "reduces at most 65535 batches, not "
                           << gemm.batches;
      (ofRows ? gemm.rows : gemm.columns).reductions.push_back(reduce);
    }
    return success();
  }

  /// Whether a value is computed from one of the reductions.
  static bool isMadeOf(ArrayRef<ReduceOp> reductions, Value value) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    (void)getBackwardSlice(value, &slice, options);
    return llvm::any_of(reductions,
                        [&](ReduceOp op) { return slice.contains(op); });
  }

  /// What the results of one element a row (or column) read and compute, by the
  /// position [batch, row].
  LogicalResult
  getReducedEpilogue(ReducedEpilogue &reduced, MatrixTensor::Kind vector,
                     ArrayRef<int64_t> space, ArrayRef<Value> values,
                     ScalarFunction::Options options, EmitError emitError) {
    if (reduced.reductions.empty())
      return success();
    if (values.empty())
      return emitError() << "no result is made of a reduction alone";
    options.leading.clear();
    for (ReduceOp reduction : reduced.reductions)
      options.leading.push_back(reduction.getResult());
    FailureOr<ScalarFunction> function =
        ScalarFunction::get(values, space, options, emitError);
    if (failed(function))
      return failure();
    for (const ScalarFunction::Argument &argument :
         function->getArguments().drop_front(options.leading.size())) {
      Type element = getTensorType(argument.value).getElementType();
      const StridedView &view = argument.view;
      int64_t batchStride = view.strides[0], stride = view.strides[1];
      bool isVector = stride == 1;
      bool isScalar = stride == 0 && batchStride == 0;
      if (!isa<FloatType>(element) || element.isF64() ||
          (!isVector && !isScalar))
        return emitError() << "an operand of type " << argument.value.getType()
                           << " has neither one element for each reduction "
                              "nor one of floats for all";
      reduced.operands.push_back({isVector ? vector : MatrixTensor::Scalar,
                                  getBuffer(argument.value), element, 0,
                                  batchStride, view.offset});
    }
    reduced.function = std::move(*function);
    return success();
  }

  FailureOr<MatrixTensor> getMatrix(const StridedView &view,
                                    ArrayRef<int64_t> shape, StringRef name,
                                    EmitError emitError) {
    FailureOr<StridedView> matrix = view.reshape(shape);
    if (failed(matrix))
      return emitError() << name
                         << " of 'fact.matmul' has batches that one "
                            "stride cannot walk";
    int64_t rank = shape.size();
    FailureOr<MatrixTensor> tensor =
        MatrixTensor::get(*matrix, getBuffer(matrix->base));
    // A single row still has a leading dimension.
    if (succeeded(tensor) && tensor->kind == MatrixTensor::RowVector &&
        shape[rank - 2] == 1) {
      tensor->kind = MatrixTensor::RowMajor;
      tensor->leadingDimension = shape[rank - 1];
    }
    if (failed(tensor) || !tensor->isMatrix())
      return emitError() << name
                         << " of 'fact.matmul' needs contiguous rows or "
                            "columns (and sizes above 1)";
    return requireTma(*tensor, name, emitError);
  }

  /// Whether only cuBLAS takes it: a plain product of sizes that no schedule of
  /// ours allows.
  bool isForCublas() {
    return (matmul.getN() % 8 || matmul.getK() % 8) && isPlain();
  }

  bool isPlain() {
    return fused.getNumResults() == 1 &&
           fused.getYield()->getOperand(0) == matmul.getResult();
  }

  /// TMA moves matrices whose strides are multiples of 16 bytes.
  FailureOr<MatrixTensor> requireTma(const MatrixTensor &tensor, StringRef name,
                                     EmitError emitError) {
    if (tensor.isAligned(16) || isForCublas())
      return tensor;
    return emitError() << "strides and offset of " << name
                       << " must be multiples of 16 bytes, and a row has "
                       << tensor.leadingDimension << " elements of "
                       << tensor.element;
  }

  /// What is stored, or reduced: of the product's size, or made of reductions.
  struct Values {
    SmallVector<Value> ofProduct, ofRows, ofColumns;
  };

  LogicalResult getResults(Gemm &gemm, Values &values, EmitError emitError) {
    for (OpOperand &operand : fused.getYield()->getOpOperands()) {
      Value yielded = operand.get();
      RankedTensorType type = getTensorType(yielded);
      if (!isa<FloatType>(type.getElementType()) ||
          type.getElementType().isF64())
        return emitError() << "results must be f16, bf16 or f32, not " << type;
      FailureOr<Destination> destination = getDestination(yielded, emitError);
      if (failed(destination))
        return failure();
      auto add = [&](FailureOr<MatrixTensor> tensor,
                     SmallVector<MatrixTensor> &results,
                     SmallVector<Value> &made) -> LogicalResult {
        if (failed(tensor))
          return failure();
        tensor->buffer = getResultBuffer(fused, operand.getOperandNumber());
        results.push_back(*tensor);
        made.push_back(destination->value);
        return success();
      };
      int64_t count = type.getNumElements();
      bool ofRows = isMadeOf(gemm.rows.reductions, yielded);
      bool ofColumns = isMadeOf(gemm.columns.reductions, yielded);
      LogicalResult added = failure();
      if (ofRows && count == gemm.batches * gemm.m)
        added = add(getReducedResult(*destination, MatrixTensor::ColumnVector,
                                     {gemm.batches, gemm.m}, emitError),
                    gemm.rows.results, values.ofRows);
      else if (ofColumns && count == gemm.batches * gemm.n)
        added = add(getReducedResult(*destination, MatrixTensor::RowVector,
                                     {gemm.batches, gemm.n}, emitError),
                    gemm.columns.results, values.ofColumns);
      else if (ofRows || ofColumns)
        return emitError() << "a result of the product's size reads a "
                              "reduction of it, which is known only when all "
                              "tiles are done";
      else
        added = add(getResult(gemm, *destination, emitError), gemm.results,
                    values.ofProduct);
      if (failed(added))
        return failure();
    }
    return success();
  }

  /// One element for each row or column, neighbours in memory.
  FailureOr<MatrixTensor> getReducedResult(const Destination &destination,
                                           MatrixTensor::Kind vector,
                                           ArrayRef<int64_t> space,
                                           EmitError emitError) {
    FailureOr<StridedView> view = destination.view.reshape(space);
    if (failed(view) || (space[1] != 1 && view->strides[1] != 1))
      return emitError() << "the elements of a reduced result must be "
                            "neighbours, and its last views permute them";
    return MatrixTensor{vector,
                        0,
                        getTensorType(destination.value).getElementType(),
                        0,
                        space[0] == 1 ? 0 : view->strides[0],
                        view->offset};
  }

  FailureOr<MatrixTensor> getResult(const Gemm &gemm,
                                    const Destination &destination,
                                    EmitError emitError) {
    RankedTensorType type = getTensorType(destination.value);
    SmallVector<int64_t> space{gemm.batches, gemm.m, gemm.n};
    if (type.getNumElements() != llvm::product_of(space))
      return emitError() << "a result of type " << type
                         << " has not the size of the product";
    FailureOr<StridedView> view = destination.view.reshape(space);
    FailureOr<MatrixTensor> tensor = failure();
    // A single row still has a leading dimension.
    if (succeeded(view) && gemm.m == 1 && view->strides[2] == 1)
      tensor = MatrixTensor{MatrixTensor::RowMajor,
                            0,
                            type.getElementType(),
                            gemm.n,
                            gemm.isBatched() ? view->strides[0] : 0,
                            view->offset};
    else if (succeeded(view))
      tensor = MatrixTensor::get(*view, 0);
    if (failed(tensor) || tensor->kind != MatrixTensor::RowMajor)
      return emitError() << "a result must have contiguous rows, and its "
                            "last views permute them";
    return requireTma(*tensor, "a result", emitError);
  }

  LogicalResult getOperands(Gemm &gemm, EmitError emitError) {
    int64_t matrices = 0;
    for (const ScalarFunction::Argument &argument :
         gemm.epilogue.getArguments().drop_front()) {
      FailureOr<MatrixTensor> tensor = getEpilogueOperand(argument, emitError);
      if (failed(tensor))
        return failure();
      if (tensor->kind != MatrixTensor::Scalar &&
          tensor->kind != MatrixTensor::ColumnVector &&
          failed(requireTma(*tensor, "an operand of the epilogue", emitError)))
        return failure();
      matrices += tensor->isMatrix();
      gemm.operands.push_back(*tensor);
    }
    matrices += gemm.results.size();
    if (matrices > 5)
      return emitError() << "shared memory holds at most five matrices beside "
                            "the product, not "
                         << matrices;
    return success();
  }

  FusedOp fused;
  EmitError emitError;
  MatmulOp matmul;
};
} // namespace

FailureOr<Gemm> fact::analyseGemm(FusedOp fused, EmitError emitError) {
  return GemmAnalysis(fused, emitError).run();
}
