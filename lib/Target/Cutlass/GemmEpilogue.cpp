//===- GemmEpilogue.cpp - A contraction and the pointwise ops after it ----===//
//
// One matmul whose operands are arguments (or views of them), then any graph of
// pointwise ops. The graph becomes one functor for each result; what it reads
// becomes matrices, vectors and scalars relative to the product. Reductions over
// the columns may follow, whose results have one element a row.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
/// A region as a GEMM: everything but the schedule.
struct Gemm {
  int64_t m, n, k, batches;
  MatrixTensor a, b;
  SmallVector<MatrixTensor> operands, results;
  /// The functors of all results, then of what is reduced.
  ScalarFunction epilogue;

  /// Reductions over columns, and results made of them, one element a row.
  SmallVector<ReduceOp> reductions;
  SmallVector<MatrixTensor> rowOperands, rowResults;
  std::optional<ScalarFunction> rowEpilogue;

  bool isBatched() const { return batches > 1; }
  SmallVector<int64_t> getIndexSpace() const {
    return isBatched() ? SmallVector<int64_t>{batches, m, n}
                       : SmallVector<int64_t>{m, n};
  }
  int64_t countMatrices() const {
    return llvm::count_if(operands, [](const MatrixTensor &operand) {
      return operand.isMatrix();
    });
  }
};

/// Reads a region as a GEMM, first with batches folded into M, then batched.
class GemmAnalysis {
public:
  GemmAnalysis(FusedOp fused, EmitError emitError)
      : fused(fused), emitError(emitError) {}

  FailureOr<Gemm> run() {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    matmul = getOnly<MatmulOp>(fused);
    if (!matmul)
      return emitError() << "needs exactly one 'fact.matmul'";
    Type element = matmul.getType().getElementType();
    if (!isFloat16(element))
      return emitError() << "takes f16 or bf16 operands, not " << element;

    FailureOr<StridedView> lhs = getOperand(matmul.getLhs(),
                                            matmul.getTransposeA());
    FailureOr<StridedView> rhs = getOperand(matmul.getRhs(),
                                            matmul.getTransposeB());
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

    Gemm gemm{m, n, k, batches, *a, *b, {}, {}, {}, {}, {}, {}, {}};
    SmallVector<int64_t> space = gemm.getIndexSpace();
    SmallVector<Value> values, rowValues;
    if (failed(getReductions(gemm, emitError)) ||
        failed(getResults(gemm, values, rowValues, emitError)))
      return failure();
    for (ReduceOp reduction : gemm.reductions)
      values.push_back(reduction.getOperand());
    ScalarFunction::Options options;
    options.fast = hasOnly16BitResults(fused);
    options.leading = {matmul.getResult()};
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get(values, space, options, emitError);
    if (failed(epilogue))
      return failure();
    gemm.epilogue = std::move(*epilogue);
    if (failed(getOperands(gemm, emitError)) ||
        failed(getRowEpilogue(gemm, rowValues, options, emitError)))
      return failure();
    return std::move(gemm);
  }

  /// Reductions of whole rows of the product.
  LogicalResult getReductions(Gemm &gemm, EmitError emitError) {
    for (auto reduce : fused.getBody().front().getOps<ReduceOp>()) {
      RankedTensorType type = getTensorType(reduce.getOperand());
      int64_t count = reduce.getDims().size();
      bool trailing = true;
      for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
        trailing &= dim == type.getRank() - count + int64_t(i);
      int64_t over = llvm::product_of(type.getShape().take_back(count));
      if (!trailing || over != gemm.n ||
          type.getNumElements() != gemm.m * gemm.n * gemm.batches)
        return emitError() << "reduces whole rows of the product, of " << gemm.n
                           << " elements; columns would need sums across all "
                              "row tiles";
      if (reduce.getKind() > ReduceKind::prod)
        return emitError() << "takes sums, means, products and extremes of "
                              "rows, not '"
                           << stringifyReduceKind(reduce.getKind()) << "'";
      if (gemm.isBatched())
        return emitError() << "reduces rows of one product, not of "
                           << gemm.batches << " batches";
      gemm.reductions.push_back(reduce);
    }
    return success();
  }

  /// Results of one element a row, from what the reductions give.
  LogicalResult getRowEpilogue(Gemm &gemm, ArrayRef<Value> values,
                               ScalarFunction::Options options,
                               EmitError emitError) {
    if (values.empty() && gemm.reductions.empty())
      return success();
    if (gemm.results.empty())
      return emitError() << "needs a result of the product's size beside what "
                            "is reduced";
    if (values.empty())
      return emitError() << "no result is made of a reduction alone";
    options.leading.clear();
    for (ReduceOp reduction : gemm.reductions)
      options.leading.push_back(reduction.getResult());
    options.rowValues = options.leading;
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get(values, {gemm.m, 1}, options, emitError);
    if (failed(epilogue))
      return failure();
    for (const ScalarFunction::Argument &argument :
         epilogue->getArguments().drop_front(options.leading.size())) {
      Type element = getTensorType(argument.value).getElementType();
      FailureOr<MatrixTensor> tensor =
          MatrixTensor::get(argument.view, getBuffer(argument.value));
      if (failed(tensor) || tensor->isMatrix() || !isa<FloatType>(element) ||
          element.isF64())
        return emitError() << "an operand of type " << argument.value.getType()
                           << " is neither a column nor a scalar of floats for "
                              "the reduced rows";
      gemm.rowOperands.push_back(*tensor);
    }
    gemm.rowEpilogue = std::move(*epilogue);
    return success();
  }

  FailureOr<MatrixTensor> getMatrix(const StridedView &view,
                                    ArrayRef<int64_t> shape, StringRef name,
                                    EmitError emitError) {
    FailureOr<StridedView> matrix = view.reshape(shape);
    if (failed(matrix))
      return emitError() << name << " of 'fact.matmul' has batches that one "
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
    return (matmul.getN() % 8 || matmul.getK() % 8) &&
           fused.getNumResults() == 1 &&
           fused.getYield()->getOperand(0) == matmul.getResult();
  }

  /// TMA moves matrices whose strides are multiples of 16 bytes.
  FailureOr<MatrixTensor> requireTma(const MatrixTensor &tensor,
                                     StringRef name, EmitError emitError) {
    if (tensor.isAligned(16) || isForCublas())
      return tensor;
    return emitError() << "strides and offset of " << name
                       << " must be multiples of 16 bytes, and a row has "
                       << tensor.leadingDimension << " elements of "
                       << tensor.element;
  }

  LogicalResult getResults(Gemm &gemm, SmallVector<Value> &values,
                           SmallVector<Value> &rowValues, EmitError emitError) {
    for (auto [i, yielded] :
         llvm::enumerate(fused.getYield()->getOperands())) {
      RankedTensorType type = getTensorType(yielded);
      if (!isa<FloatType>(type.getElementType()) ||
          type.getElementType().isF64())
        return emitError() << "results must be f16, bf16 or f32, not " << type;
      bool isRow = !gemm.reductions.empty() && type.getNumElements() == gemm.m;
      SmallVector<int64_t> space =
          isRow ? SmallVector<int64_t>{gemm.m, 1} : gemm.getIndexSpace();
      if (type.getNumElements() != llvm::product_of(space))
        return emitError() << "a result of type " << type
                           << " has not the size of the product";
      FailureOr<Destination> destination = getDestination(yielded, emitError);
      if (failed(destination))
        return failure();
      FailureOr<MatrixTensor> tensor =
          getResult(*destination, space, isRow, emitError);
      if (failed(tensor))
        return failure();
      tensor->buffer = getResultBuffer(fused, i);
      (isRow ? rowValues : values).push_back(destination->value);
      (isRow ? gemm.rowResults : gemm.results).push_back(*tensor);
    }
    return success();
  }

  FailureOr<MatrixTensor> getResult(const Destination &destination,
                                    ArrayRef<int64_t> space, bool isRow,
                                    EmitError emitError) {
    Type element = getTensorType(destination.value).getElementType();
    FailureOr<StridedView> view = destination.view.reshape(space);
    FailureOr<MatrixTensor> tensor = failure();
    int64_t rows = space[space.size() - 2];
    if (succeeded(view)) {
      // A single row still has a leading dimension.
      if (isRow && (rows == 1 || view->strides[0] == 1))
        tensor = MatrixTensor{MatrixTensor::ColumnVector, 0, element, 0, 0,
                              view->offset};
      else if (rows == 1)
        tensor = MatrixTensor{MatrixTensor::RowMajor, 0, element, space.back(),
                              0, 0};
      else
        tensor = MatrixTensor::get(*view, 0);
    }
    if (failed(tensor) || tensor->kind != (isRow ? MatrixTensor::ColumnVector
                                                 : MatrixTensor::RowMajor))
      return emitError() << "a result must have contiguous rows, and its "
                            "last views permute them";
    if (isRow)
      return tensor;
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

class GemmEpilogueRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;

  StringRef getRule() const override { return "gemm_epilogue"; }

  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireHopper(emitError)))
      return failure();
    return GemmAnalysis(fused, emitError).run();
  }

  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  SmallVector<ScheduleAttrInterface>
  getFixedSchedules(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttrInterface schedule) const override;
  LogicalResult emitVariants(FusedOp fused, ArrayRef<KernelVariant> variants,
                             KernelCode &code) const override;

private:
  FailureOr<Gemm> analyse(FusedOp fused) const {
    return GemmAnalysis(fused, [&] { return fused.emitError(); }).run();
  }
};
} // namespace

static constexpr double launchSeconds = 3e-6;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

SpaceAttrInterface GemmEpilogueRealiser::getDefaultSpace(FusedOp fused) const {
  MLIRContext *context = fused.getContext();
  FailureOr<Gemm> gemm = analyse(fused);
  if (failed(gemm))
    return {};
  using K = KernelSchedule;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<K> kernels, ArrayRef<int64_t> swizzles) {
    return cast<SpaceAttrInterface>(Sm90GemmSpaceAttr::get(
        context, tiles, clusters, kernels, swizzles));
  };
  int64_t tiles =
      divideUp(gemm->m, 128) * divideUp(gemm->n, 128) * gemm->batches;
  // Few tiles: smaller ones fill the machine, and splitting K helps.
  if (tiles < 2 * machine.multiprocessors)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64},
                  {64, 64, 128}, {64, 32, 128}},
                 {{1, 1}, {2, 1}}, {K::pingpong, K::cooperative, K::stream_k},
                 {1});
  // Each further matrix takes up to 32 KiB of staging beside the tiles.
  if (gemm->countMatrices() + int64_t(gemm->results.size()) > 2)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}},
                 {{2, 1}, {1, 2}, {1, 1}}, {K::pingpong, K::cooperative},
                 {1, 4});
  SmallVector<Extents> large{{128, 256, 64}, {256, 128, 64}, {128, 128, 64},
                             {128, 192, 64}};
  if (gemm->n % 512 == 0)
    large.push_back({64, 256, 64});
  // Wide products revisit A often: wide bands keep it in the cache.
  SmallVector<int64_t> swizzles{1, 4};
  if (gemm->n >= 4096)
    swizzles.push_back(8);
  return space(large, {{2, 1}, {1, 2}}, {K::pingpong, K::cooperative},
               swizzles);
}

SmallVector<ScheduleAttrInterface>
GemmEpilogueRealiser::getFixedSchedules(FusedOp fused) const {
  auto schedule =
      cast<ScheduleAttrInterface>(Attribute(CublasGemmAttr::get(fused.getContext())));
  ScopedDiagnosticHandler quiet(fused.getContext(),
                                [](Diagnostic &) { return success(); });
  if (succeeded(schedule.verifySchedule(fused, machine,
                                        [&] { return fused.emitError(); })))
    return {schedule};
  return {};
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double
GemmEpilogueRealiser::predictMicroseconds(FusedOp fused,
                                          ScheduleAttrInterface schedule) const {
  FailureOr<Gemm> gemm = analyse(fused);
  if (failed(gemm))
    return INFINITY;
  double epilogueBytes =
      gemm->batches * countMatrixBytes(gemm->operands, gemm->m, gemm->n);
  double bytes = epilogueBytes;
  for (const MatrixTensor &result : gemm->results)
    bytes += double(gemm->m) * gemm->n * gemm->batches *
             getElementBytes(result.element);
  bytes += 2.0 * gemm->batches *
           (double(gemm->m) * gemm->k + double(gemm->k) * gemm->n);

  auto gemmSchedule = dyn_cast<Sm90GemmAttr>(schedule);
  if (!gemmSchedule) {
    double flops = 2.0 * gemm->m * gemm->n * gemm->k * gemm->batches;
    return 1e6 * (std::max(flops / (0.77 * machine.matrixFlops16),
                           bytes / machine.bandwidth) +
                  2 * launchSeconds);
  }
  double slots = 5 + gemm->epilogue.getCost() + 2.0 * gemm->operands.size() +
                 4.0 * (gemm->results.size() - 1);
  return 1e6 * predictGemm({gemm->m, gemm->n, gemm->k, gemm->batches, bytes,
                            epilogueBytes, slots},
                           gemmSchedule, machine);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static void printProblem(raw_ostream &os, const Gemm &gemm) {
  os << "    Problem<" << gemm.m << ", " << gemm.n << ", " << gemm.k;
  if (gemm.isBatched())
    os << ", " << gemm.batches;
  os << ">,\n    " << gemm.a << ",\n    " << gemm.b << ",\n";
}

static LogicalResult emitCublas(FusedOp fused, Attribute schedule,
                                const Gemm &gemm, StringRef symbol,
                                KernelCode &code) {
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "CublasGemm.cuh");
  os << "using Kernel = CublasGemm<\n";
  printProblem(os, gemm);
  os << "    Operands<>,\n    " << gemm.results.front() << ">;\n";
  printFooter(os, symbol);
  code.link = {"-lcublasLt"};
  return success();
}

/// What GemmEpilogue.cuh calls a reduction.
static StringRef getReductionWord(ReduceOp reduce) {
  switch (reduce.getKind()) {
  case ReduceKind::mean:
    return "RowMean";
  case ReduceKind::max:
    return "RowMax";
  case ReduceKind::min:
    return "RowMin";
  case ReduceKind::prod:
    return "RowProduct";
  default:
    return "RowSum";
  }
}

/// Prints the functors of results of one element a row, and returns their names.
static SmallVector<std::string> printRowFunctors(raw_ostream &os, Gemm &gemm) {
  SmallVector<std::string> functors;
  if (!gemm.rowEpilogue)
    return functors;
  SmallVector<std::string> leading;
  for (size_t i = 0; i < gemm.reductions.size(); ++i)
    leading.push_back("reduced" + std::to_string(i));
  SmallVector<StringRef> words(leading.begin(), leading.end());
  for (size_t i = 0; i < gemm.rowResults.size(); ++i) {
    functors.push_back("RowResult" + std::to_string(i));
    gemm.rowEpilogue->printFunctor(
        os, functors.back(), getArgumentNames(*gemm.rowEpilogue, words), i);
    os << '\n';
  }
  return functors;
}

LogicalResult
GemmEpilogueRealiser::emitVariants(FusedOp fused,
                                   ArrayRef<KernelVariant> variants,
                                   KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  FailureOr<Gemm> gemm = analyse(fused);
  if (failed(gemm))
    return failure();
  if (isa<CublasGemmAttr>(schedule))
    return emitCublas(fused, schedule, *gemm, symbol, code);
  auto gemmSchedule = dyn_cast<Sm90GemmAttr>(schedule);
  if (!gemmSchedule)
    return fused.emitError("a GEMM runs with #fact.sm90_gemm or "
                           "#fact.cublas_gemm, not ")
           << schedule;

  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Gemm.cuh");

  ScalarFunction &epilogue = gemm->epilogue;
  SmallVector<std::string> names = getArgumentNames(epilogue, {"accumulator"});
  size_t resultCount = gemm->results.size();
  SmallVector<std::string> functors;
  for (size_t i = 0; i < resultCount + gemm->reductions.size(); ++i) {
    if (epilogue.isIdentity(i)) {
      functors.push_back("Identity");
      continue;
    }
    functors.push_back(i >= resultCount
                           ? "Reduced" + std::to_string(i - resultCount)
                       : resultCount == 1 ? std::string("Epilogue")
                                          : "Epilogue" + std::to_string(i));
    epilogue.printFunctor(os, functors.back(), names, i);
    os << '\n';
  }
  SmallVector<std::string> rowFunctors = printRowFunctors(os, *gemm);

  os << "using Kernel = Gemm<\n";
  printProblem(os, *gemm);
  os << "    ";
  printOperands(os, gemm->operands);
  os << ",\n    ";
  printResults(os, ArrayRef(functors).take_front(resultCount), gemm->results);
  os << ",\n    ";
  printSchedule(os, gemmSchedule);
  if (gemm->rowEpilogue) {
    os << ",\n    RowEpilogue<\n        Reductions<";
    llvm::interleaveComma(
        llvm::zip_equal(ArrayRef(functors).drop_front(resultCount),
                        gemm->reductions),
        os, [&](auto reduction) {
          os << "RowReduction<" << std::get<0>(reduction) << ", "
             << getReductionWord(std::get<1>(reduction)) << '>';
        });
    os << ">,\n        ";
    printOperands(os, gemm->rowOperands);
    os << ",\n        ";
    printResults(os, rowFunctors, gemm->rowResults);
    os << '>';
  }
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

std::unique_ptr<Realiser>
fact::createGemmEpilogueRealiser(const MachineDescription &machine) {
  return std::make_unique<GemmEpilogueRealiser>(machine);
}
