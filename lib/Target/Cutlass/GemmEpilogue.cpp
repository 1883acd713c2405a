//===- GemmEpilogue.cpp - A contraction and the pointwise ops after it ----===//
//
// One matmul whose operands are arguments (or views of them), then any graph of
// pointwise ops. The graph becomes one functor for each result; what it reads
// becomes matrices, vectors and scalars relative to the product.
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
  ScalarFunction epilogue;

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

    SmallVector<int64_t> space = shape(m, n);
    SmallVector<Value> values;
    SmallVector<MatrixTensor> results;
    if (failed(getResults(space, values, results, emitError)))
      return failure();
    ScalarFunction::Options options;
    options.fast = hasOnly16BitResults(fused);
    options.leading = {matmul.getResult()};
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get(values, space, options, emitError);
    if (failed(epilogue))
      return failure();
    SmallVector<MatrixTensor> operands;
    if (failed(getOperands(*epilogue, operands, emitError)))
      return failure();
    return Gemm{m,        n,       k,       batches, *a, *b,
                operands, results, std::move(*epilogue)};
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

  /// TMA moves matrices whose strides are multiples of 16 bytes.
  static FailureOr<MatrixTensor> requireTma(const MatrixTensor &tensor,
                                            StringRef name,
                                            EmitError emitError) {
    if (tensor.isAligned(16))
      return tensor;
    return emitError() << "strides and offset of " << name
                       << " must be multiples of 16 bytes, and a row has "
                       << tensor.leadingDimension << " elements of "
                       << tensor.element;
  }

  LogicalResult getResults(ArrayRef<int64_t> space, SmallVector<Value> &values,
                           SmallVector<MatrixTensor> &results,
                           EmitError emitError) {
    for (auto [i, yielded] :
         llvm::enumerate(fused.getYield()->getOperands())) {
      if (!isa<FloatType>(getTensorType(yielded).getElementType()) ||
          getTensorType(yielded).getElementType().isF64())
        return emitError() << "results must be f16, bf16 or f32, not "
                           << yielded.getType();
      if (getTensorType(yielded).getNumElements() != llvm::product_of(space))
        return emitError() << "a result of type " << yielded.getType()
                           << " has not the size of the product";
      FailureOr<Destination> destination = getDestination(yielded, emitError);
      if (failed(destination))
        return failure();
      FailureOr<StridedView> view = destination->view.reshape(space);
      FailureOr<MatrixTensor> tensor = failure();
      if (succeeded(view)) {
        // A single row still has a leading dimension.
        if (space[space.size() - 2] == 1)
          tensor = MatrixTensor{MatrixTensor::RowMajor, 0,
                                getTensorType(yielded).getElementType(),
                                space.back(), 0, 0};
        else
          tensor = MatrixTensor::get(*view, 0);
      }
      if (failed(tensor) || tensor->kind != MatrixTensor::RowMajor)
        return emitError() << "a result must have contiguous rows, and its "
                              "last views permute them";
      tensor->buffer = getResultBuffer(fused, i);
      if (failed(requireTma(*tensor, "a result", emitError)))
        return failure();
      values.push_back(destination->value);
      results.push_back(*tensor);
    }
    return success();
  }

  LogicalResult getOperands(const ScalarFunction &epilogue,
                            SmallVector<MatrixTensor> &operands,
                            EmitError emitError) {
    int64_t matrices = 0;
    for (const ScalarFunction::Argument &argument :
         epilogue.getArguments().drop_front()) {
      Type element = getTensorType(argument.value).getElementType();
      if (!isa<FloatType>(element) || element.isF64())
        return emitError() << "operands of the epilogue must be f16, bf16 or "
                              "f32, not "
                           << argument.value.getType();
      FailureOr<MatrixTensor> tensor =
          MatrixTensor::get(argument.view, getBuffer(argument.value));
      if (failed(tensor) || tensor->kind == MatrixTensor::ColumnMajor)
        return emitError() << "an operand of type " << argument.value.getType()
                           << " is neither a matrix, a row, a column nor a "
                              "scalar of the product";
      if (tensor->kind != MatrixTensor::Scalar &&
          tensor->kind != MatrixTensor::ColumnVector &&
          failed(requireTma(*tensor, "an operand of the epilogue", emitError)))
        return failure();
      matrices += tensor->isMatrix();
      operands.push_back(*tensor);
    }
    if (matrices + int64_t(fused.getNumResults()) > 5)
      return emitError() << "shared memory holds at most five matrices beside "
                            "the product, not "
                         << matrices + int64_t(fused.getNumResults());
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

/// The figures are fitted to measured GEMMs (K of 768 to 9728, with and without
/// epilogues) and are good to about 10%, which is enough to choose what to
/// compile.
double fact::predictGemm(const GemmWork &work, Sm90GemmAttr schedule,
                         const MachineDescription &machine) {
  const Extents &tile = schedule.getTile();
  const Extents &cluster = schedule.getCluster();
  bool pingpong = schedule.getKernel() == KernelSchedule::pingpong;
  bool splitsK = schedule.getKernel() == KernelSchedule::stream_k;

  // Whole clusters are launched, so an odd number of tiles wastes some.
  double tiles =
      double(divideUp(divideUp(work.m, tile[0]), cluster[0]) * cluster[0]) *
      (divideUp(divideUp(work.n, tile[1]), cluster[1]) * cluster[1]) *
      work.batches;
  double waves = splitsK ? std::max(tiles / machine.multiprocessors, 0.25) + 0.2
                         : std::ceil(tiles / machine.multiprocessors);

  // Products: the bytes that enter shared memory for each one decide.
  double area = double(tile[0]) * tile[1];
  double efficiency = 1 / (1 + 19 * (tile[0] + tile[1]) / area);
  if (cluster[0] * cluster[1] == 1)
    efficiency *= 0.98;
  double rate = machine.matrixFlops16 / machine.multiprocessors;
  double steps = divideUp(work.k, tile[2]);
  double products = 2 * area * steps * tile[2] / (rate * efficiency);

  // The epilogue: issue slots of 128 lanes at 1.7 GHz. Ping-pong hides half of
  // them behind the other warpgroup's products.
  double epilogue = area * work.slots / (128 * 1.7e9);
  double time = waves * (products + (pingpong ? 0.5 : 1.0) * epilogue);
  if (splitsK)
    time += 4e-6 + area * 4 * 2 * machine.multiprocessors / machine.bandwidth;
  // Filling the pipeline: each tile pays, unless the other warpgroup works
  // meanwhile.
  time += launchSeconds + 1e-6 + (pingpong ? 0 : 0.7e-6 * waves);
  time += 0.55 * work.epilogueBytes / machine.bandwidth;

  // Visiting columns together keeps operands in the cache, when there are many;
  // where there are few it was measured to cost 5% to 100%.
  double operandBytes = 2.0 * (double(work.m) + work.n) * work.k;
  int64_t swizzle = schedule.getSwizzle();
  if (swizzle > 1)
    time *= operandBytes > machine.cacheBytes && work.n >= 4096 ? 0.99 : 1.15;
  // Blocks that differ along the short side of the tile share the long one.
  if ((tile[0] > tile[1] && cluster[1] > 1) ||
      (tile[0] < tile[1] && cluster[0] > 1))
    time *= 0.998;
  return std::max(time, work.bytes / machine.bandwidth);
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
  SmallVector<std::string> functors;
  for (size_t i = 0; i < gemm->results.size(); ++i) {
    if (epilogue.isIdentity(i)) {
      functors.push_back("Identity");
      continue;
    }
    functors.push_back(gemm->results.size() == 1 ? std::string("Epilogue")
                                                 : "Epilogue" +
                                                       std::to_string(i));
    epilogue.printFunctor(os, functors.back(), names, i);
    os << '\n';
  }

  os << "using Kernel = Gemm<\n";
  printProblem(os, *gemm);
  os << "    ";
  printOperands(os, gemm->operands);
  os << ",\n    Results<";
  llvm::interleave(
      llvm::zip_equal(functors, gemm->results),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", " << std::get<1>(result)
           << '>';
      },
      [&] { os << ",\n            "; });
  os << ">,\n    ";
  printSchedule(os, gemmSchedule);
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

std::unique_ptr<Realiser>
fact::createGemmEpilogueRealiser(const MachineDescription &machine) {
  return std::make_unique<GemmEpilogueRealiser>(machine);
}
