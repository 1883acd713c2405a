//===- ThinGemm.cpp - Products with few rows, columns or terms ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix times a vector, an outer product, dot products: memory bounds them,
// and tensor cores would compute mostly padding. One kernel reads the wide
// factor once, along k or along its rows, whatever its strides and alignment.
//
//===----------------------------------------------------------------------===//

#include "ProductResults.h"
#include "fact/Analysis/ContractionRegion.h"

using namespace mlir;
using namespace fact;

namespace {
/// result[t, w] = sum over k of thin[t, k] * wide[w, k], for each batch.
struct ThinGemm {
  int64_t rows, columns, k;
  SmallVector<int64_t> batches;
  /// Over [batches..., rows, k] and [batches..., columns, k].
  StridedView thin, wide;
  /// Over [batches..., rows, columns].
  SmallVector<StridedView> operands, results;
  ScalarFunction epilogue;

  int64_t countBatches() const { return llvm::product_of(batches); }
  int64_t getElementBytes() const {
    return getStorageBytes(getTensorType(wide.base).getElementType());
  }
  /// Whether neighboring terms of a sum are neighbors in memory, rather than
  /// neighboring rows of the wide factor.
  bool isAlongK() const {
    return k > 1 && (columns == 1 || wide.strides.end()[-2] != 1);
  }
  int64_t getVector() const;
  double getBytes() const;
};

/// Sums by so many blocks and threads.
struct Shape {
  /// Terms that a thread adds at once, and rows of the wide factor per block.
  int64_t step, rowsPerBlock, blocks;
};

class ThinGemmPlan : public Plan {
public:
  ThinGemmPlan(const Family &family, FusedOp fused,
               const MachineDescription &machine, ThinGemm gemm)
      : Plan(family, fused, machine), gemm(std::move(gemm)) {}

  static FailureOr<ThinGemm> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  Shape getShape(int64_t lanes, int64_t splits) const;

  ThinGemm gemm;
};

class ThinGemmFamily : public FamilyOf<ThinGemmPlan> {
public:
  ThinGemmFamily() : FamilyOf(thinGemmRule, "cuda", {&CudaThinAttr::kind}) {}

  StringRef getLimits() const override {
    return "Each factor comes from outside of the pattern, directly or "
           "through views; a factor that the pattern would compute is of "
           "another pattern. Every result has the product's elements: no "
           "reduce, and no slice or expand of the product. f16, bf16 or "
           "f32.";
  }
};
} // namespace

static constexpr int64_t blockThreads = 256;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Elements per access: 16 bytes, where the wide factor allows it.
int64_t ThinGemm::getVector() const {
  size_t inner = wide.strides.size() - (isAlongK() ? 1 : 2);
  auto isAligned = [&](int64_t vector) {
    bool aligned = wide.strides[inner] == 1 && wide.offset % vector == 0 &&
                   wide.shape[inner] % vector == 0;
    for (auto [i, stride] : llvm::enumerate(wide.strides))
      aligned &= i == inner || stride % vector == 0;
    return aligned;
  };
  int64_t vector = 16 / getElementBytes();
  while (vector > 1 && !isAligned(vector))
    vector /= 2;
  return vector;
}

double ThinGemm::getBytes() const {
  double bytes = countBytes(thin) + countBytes(wide);
  for (const auto *list : {&operands, &results})
    for (const StridedView &view : *list)
      bytes += countBytes(view);
  return bytes;
}

/// Exchanges the last two dimensions.
static StridedView swapLast(const StridedView &view) {
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(view.shape.size())));
  std::swap(order.end()[-1], order.end()[-2]);
  return view.permute(order);
}

/// A factor as [batches..., rows, k].
static FailureOr<StridedView> readFactor(Value value, bool isTransposed,
                                         ArrayRef<int64_t> batches,
                                         StringRef name, EmitError emitError) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view) || !isa<BlockArgument>(view->base))
    return emitError() << name
                       << " of 'fact.matmul' must be an argument of the region "
                          "or a strided view of one";
  if (isTransposed)
    view = swapLast(*view);
  SmallVector<int64_t> shape(batches);
  shape.append(view->shape.end() - 2, view->shape.end());
  return view->broadcastTo(shape);
}

/// Makes batches that share the rhs rows of one product, if strides can.
static void foldBatches(StridedView &lhs, StridedView &rhs,
                        SmallVector<int64_t> &batches) {
  int64_t k = lhs.shape.back(), rows = 1;
  for (int64_t size : ArrayRef(lhs.shape).drop_back())
    rows *= size;
  FailureOr<StridedView> folded = lhs.reshape({rows, k});
  if (!isShared(rhs) || failed(folded))
    return;
  lhs = *folded;
  rhs.shape.erase(rhs.shape.begin(), rhs.shape.end() - 2);
  rhs.strides.erase(rhs.strides.begin(), rhs.strides.end() - 2);
  batches.clear();
}

/// Merges batch dimensions, where all tensors allow it; at least one is left.
static void collapseBatches(ThinGemm &gemm) {
  SmallVector<StridedView *> all{&gemm.thin, &gemm.wide};
  for (auto *list : {&gemm.operands, &gemm.results})
    for (StridedView &view : *list)
      all.push_back(&view);
  SmallVector<StridedView> batches;
  for (StridedView *view : all) {
    size_t count = view->shape.size() - 2;
    batches.push_back({view->base,
                       0,
                       {view->shape.begin(), view->shape.begin() + count},
                       {view->strides.begin(), view->strides.begin() + count}});
    if (count == 0) {
      batches.back().shape = {1};
      batches.back().strides = {0};
    }
  }
  collapseDimensions(batches);
  for (auto [view, batch] : llvm::zip_equal(all, batches)) {
    batch.shape.append(view->shape.end() - 2, view->shape.end());
    batch.strides.append(view->strides.end() - 2, view->strides.end());
    view->shape = batch.shape;
    view->strides = batch.strides;
    for (auto [size, stride] : llvm::zip_equal(view->shape, view->strides))
      stride = size == 1 ? 0 : stride;
  }
  gemm.batches.assign(gemm.thin.shape.begin(), gemm.thin.shape.end() - 2);
}

FailureOr<ThinGemm> ThinGemmPlan::read(FusedOp fused, EmitError emitError) {
  auto matmul = getOnly<MatmulOp>(fused);
  if (!matmul)
    return emitError() << "needs exactly one 'fact.matmul'";
  if (failed(requireElements(fused, emitError)))
    return failure();
  if (matmul.getType().getElementType().isF64())
    return emitError() << "takes f16, bf16 or f32 operands, not f64";
  ArrayRef<int64_t> shape = matmul.getType().getShape();
  SmallVector<int64_t> batches(shape.drop_back(2));
  FailureOr<StridedView> lhs = readFactor(
      matmul.getLhs(), matmul.getTransposeA(), batches, "the lhs", emitError);
  // As rows of k.
  FailureOr<StridedView> rhs = readFactor(
      matmul.getRhs(), !matmul.getTransposeB(), batches, "the rhs", emitError);
  if (failed(lhs) || failed(rhs))
    return failure();
  foldBatches(*lhs, *rhs, batches);

  int64_t m = lhs->shape.end()[-2], n = rhs->shape.end()[-2];
  int64_t k = lhs->shape.back();
  // Batches that share a factor are one product, also where strides cannot fold
  // them.
  int64_t count = llvm::product_of(batches);
  int64_t rows = isShared(*rhs) ? count * m : m;
  int64_t columns = isShared(*lhs) ? count * n : n;
  if (failed(requireThin(rows, columns, k, emitError)))
    return failure();
  SmallVector<int64_t> space(batches);
  space.append({m, n});
  FailureOr<ProductResults> results =
      ProductResults::get(fused, matmul, space, emitError);
  if (failed(results))
    return failure();
  ThinGemm gemm{m,
                n,
                k,
                batches,
                *lhs,
                *rhs,
                std::move(results->operands),
                std::move(results->results),
                std::move(results->epilogue)};
  if (n < m && n <= thinLimit) {
    std::swap(gemm.rows, gemm.columns);
    std::swap(gemm.thin, gemm.wide);
    for (auto *list : {&gemm.operands, &gemm.results})
      for (StridedView &view : *list)
        view = swapLast(view);
  }
  collapseBatches(gemm);
  return std::move(gemm);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Shape ThinGemmPlan::getShape(int64_t lanes, int64_t splits) const {
  bool isAlongK = gemm.isAlongK();
  int64_t vector = gemm.getVector();
  int64_t rowsPerBlock = blockThreads / lanes * (isAlongK ? 1 : vector);
  int64_t blocks =
      llvm::divideCeilSigned(gemm.rows, thinLimit) *
      llvm::divideCeilSigned(gemm.countBatches() * gemm.columns, rowsPerBlock) *
      splits;
  return {isAlongK ? vector : 1, rowsPerBlock, blocks};
}

LogicalResult ThinGemmPlan::checkLimits(ScheduleAttr schedule,
                                        EmitError emitError) const {
  auto own = cast<CudaThinAttr>(schedule);
  int64_t lanes = own.getLanes(), splits = own.getSplits();
  Shape shape = getShape(lanes, splits);
  if ((lanes > 1 || splits > 1) && lanes * splits * shape.step > gemm.k)
    return emitError() << "a sum of " << gemm.k << " terms cannot be shared by "
                       << splits << " splits of " << lanes << " lanes with "
                       << shape.step << " terms each";
  if (shape.blocks >= INT32_MAX)
    return emitError() << "has too many blocks for one grid: " << shape.blocks;
  return success();
}

SpaceAttrInterface ThinGemmPlan::getSpace() const {
  int64_t steps = std::max<int64_t>(1, gemm.k / getShape(1, 1).step);
  auto limit = [&](int64_t count) {
    while (count > steps)
      count /= 2;
    return count;
  };
  // Across k, more lanes leave less than a sector of each row to a warp.
  int64_t most = gemm.isAlongK() ? blockThreads : 64;
  llvm::SmallSetVector<int64_t, 3> lanes, splits;
  for (int64_t count : {int64_t(32), int64_t(8), most})
    lanes.insert(limit(count));
  splits.insert(1);
  // Two blocks per multiprocessor, with four steps per lane.
  int64_t missing = llvm::divideCeilSigned(2 * machine.multiprocessors,
                                           getShape(lanes.front(), 1).blocks);
  int64_t mostSplits =
      std::clamp<int64_t>(steps / (4 * lanes.front()), 1, 1024);
  for (int64_t count : {missing, 4 * missing})
    splits.insert(std::clamp<int64_t>(count, 1, mostSplits));
  return CudaThinAttr::getSpace(fused.getContext(), lanes.getArrayRef(),
                                splits.getArrayRef());
}

double ThinGemmPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaThinAttr>(schedule);
  Shape shape = getShape(own.getLanes(), own.getSplits());
  // Latency is hidden by threads, and by four loads of each in flight.
  double resident = 2.0 * blockThreads * machine.multiprocessors;
  double threads = double(shape.blocks) * blockThreads;
  int64_t wide = gemm.countBatches() * gemm.columns;
  double rows =
      double(wide) /
      (llvm::divideCeilSigned(wide, shape.rowsPerBlock) * shape.rowsPerBlock);
  double efficiency = 0.85 * std::min(1.0, threads * rows / resident);
  // Memory moves in pieces of 64 bytes. Those that begin anywhere within a line
  // of 128 bytes take one more: 5 rows with 1000 columns took 90 us where 30 of
  // these were predicted.
  if (!gemm.isAlongK()) {
    double piece = double(shape.rowsPerBlock * gemm.getElementBytes());
    bool isAligned = gemm.columns * gemm.getElementBytes() % 128 == 0;
    efficiency *= isAligned ? std::min(1.0, piece / 64) : piece / (piece + 128);
  }
  double seconds = gemm.getBytes() / (machine.bandwidth * efficiency);
  double steps =
      double(gemm.k) / (own.getLanes() * own.getSplits() * shape.step);
  seconds += 0.15e-6 * steps + machine.launchSeconds;
  // Sums meet in shared memory, and those of splits in a second kernel.
  seconds += own.getLanes() > 32 ? 0.5e-6 : 0;
  seconds += own.getSplits() > 1 ? machine.launchSeconds : 0;
  return 1e6 * seconds;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

LogicalResult ThinGemmPlan::emit(ArrayRef<KernelVariant> variants,
                                 KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaThinAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Thin.cuh");
  SmallVector<std::string> functors = printFunctors(
      os, gemm.epilogue, {"accumulator"}, "Epilogue", gemm.results.size());
  os << "using Kernel = Thin<\n    Extents<";
  llvm::interleaveComma(gemm.batches, os);
  os << ">, ThinProblem<" << gemm.rows << ", " << gemm.columns << ", " << gemm.k
     << ">,\n    ";
  for (const StridedView *factor : {&gemm.thin, &gemm.wide}) {
    printStrided(os, *factor, getBuffer(factor->base));
    os << ",\n    ";
  }
  printOperands(os, gemm.operands);
  os << ",\n    ";
  printResults(os, functors, gemm.results, fused);
  os << ",\n    ThinSchedule<" << own.getLanes() << ", " << own.getSplits()
     << ", " << gemm.getVector() << ", " << (gemm.isAlongK() ? "true" : "false")
     << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerThinGemmFamily(DialectRegistry &registry) {
  registerFamily<ThinGemmFamily>(registry);
}
