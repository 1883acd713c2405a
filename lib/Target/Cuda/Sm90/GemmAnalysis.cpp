//===- GemmAnalysis.cpp - A region as a GEMM ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmAnalysis.h"
#include "GemmTensors.h"
#include "fact/Analysis/Bands.h"

using namespace mlir;
using namespace fact;

namespace {
class GemmAnalysis : GemmTensors {
public:
  using GemmTensors::GemmTensors;

  FailureOr<Gemm> run() {
    if (getRate() == MatrixRate::F64 && !region.isPlain())
      return emitError() << "a product of f64 runs in cuBLAS, without an "
                            "epilogue";
    if (failed(checkReductions()))
      return failure();
    std::optional<WindowsTensor> windows;
    FailureOr<MatrixTensor> a = region.windows ? getWindows(windows) : getLhs();
    FailureOr<MatrixTensor> b = getRhs(region.products.front());
    if (failed(a) || failed(b))
      return failure();
    int64_t n = region.products.front().n;
    int64_t k = windows ? windows->getDepth() : region.k;
    Gemm gemm{getRate(),
              region.m,
              n,
              k,
              region.batches,
              *a,
              *b,
              {},
              {},
              {},
              {},
              {},
              /*isPlain=*/false,
              windows};
    if (windows && failed(checkFilters(gemm)))
      return failure();
    for (const ContractionRegion::Reduction &reduction : region.reductions)
      (reduction.ofRows ? gemm.rows : gemm.columns).add(reduction, region);
    for (const ContractionRegion::Result &result : region.results)
      if (failed(addResult(gemm, result)))
        return failure();
    gemm.isPlain = !windows && isOnlyProduct(ofProduct);
    if (failed(makeEpilogue(gemm)) ||
        failed(makeReducedEpilogue(gemm.rows, MatrixTensor::ColumnVector,
                                   {region.batches, region.m}, ofRows)) ||
        failed(makeReducedEpilogue(gemm.columns, MatrixTensor::RowVector,
                                   {region.batches, n}, ofColumns)))
      return failure();
    if (!windows)
      findBands(gemm);
    // No other kernel takes windows.
    if (windows && failed(gemm.checkTma(emitError)))
      return failure();
    return std::move(gemm);
  }

private:
  FailureOr<MatrixTensor> getWindows(std::optional<WindowsTensor> &windows);
  LogicalResult checkFilters(const Gemm &gemm);
  LogicalResult checkReductions();
  LogicalResult addResult(Gemm &gemm, const ContractionRegion::Result &result);
  FailureOr<MatrixTensor>
  getReducedResult(const ContractionRegion::Result &result,
                   MatrixTensor::Kind vector, int64_t elements, Value &value);
  LogicalResult makeEpilogue(Gemm &gemm);
  void findBands(Gemm &gemm);
  bool isMirrored(const Gemm &gemm) const;
  LogicalResult getOperands(Gemm &gemm);
  LogicalResult makeReducedEpilogue(ReducedEpilogue &reduced,
                                    MatrixTensor::Kind vector,
                                    ArrayRef<int64_t> space,
                                    ArrayRef<Value> values);
  ScalarFunction::Options getOptions() {
    ScalarFunction::Options options;
    options.fast = hasOnly16BitResults(fused);
    options.fastGeluOfLeading = getRate() == MatrixRate::TF32;
    return options;
  }

  /// The stored values: of the product's size, per row, and per column.
  SmallVector<Value> ofProduct, ofRows, ofColumns;
};
} // namespace

void ReducedEpilogue::add(const ContractionRegion::Reduction &reduction,
                          const ContractionRegion &region) {
  std::optional<unsigned> maximum;
  // Its number among the reductions of rows.
  if (reduction.maximum)
    maximum = llvm::find(reductions, region.reductions[*reduction.maximum].op) -
              reductions.begin();
  reductions.push_back(reduction.op);
  exponentials.push_back({maximum, reduction.isGuarded});
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The lhs as windows, and the pixels of their innermost dimension.
FailureOr<MatrixTensor>
GemmAnalysis::getWindows(std::optional<WindowsTensor> &windows) {
  if (failed(requireWindows()))
    return failure();
  if (getRate() != MatrixRate::Bits16 && getRate() != MatrixRate::TF32)
    return emitError() << "multiplies windows of f16, bf16 and, as 'tf32', f32";
  FailureOr<WindowsTensor> tensor =
      WindowsTensor::get(*region.windows,
                         /*groups=*/region.isShared() ? 1 : region.batches,
                         region.products.front().n, emitError);
  if (failed(tensor))
    return failure();
  windows = *tensor;
  return MatrixTensor{MatrixTensor::RowMajor,
                      tensor->buffer,
                      tensor->element,
                      tensor->dims.back().stride,
                      0,
                      tensor->offset};
}

LogicalResult GemmAnalysis::checkFilters(const Gemm &gemm) {
  if (gemm.b.kind != MatrixTensor::ColumnMajor)
    return emitError() << "the filters of windows must be contiguous along "
                          "their taps and channels";
  if (!region.isShared() &&
      gemm.b.batchStride != gemm.n * gemm.b.leadingDimension)
    return emitError() << "the filters of " << gemm.batches
                       << " groups must follow each other";
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult GemmAnalysis::checkReductions() {
  for (const ContractionRegion::Reduction &reduction : region.reductions) {
    // Batches are a dimension of the grid that combines the tiles.
    if (region.batches > 65535)
      return emitError() << "reduces at most 65535 batches, not "
                         << region.batches;
    // Partial results are logarithms, of which each step rounds.
    if (reduction.maximum && getRate() == MatrixRate::F32)
      return emitError()
             << "sums exponentials of 16-bit and TF32 products, not "
                "of strict f32";
    if (!reduction.ofRows && region.m == 1)
      return emitError() << "reduces columns of two or more elements, not of "
                            "one";
    // A tile has rows of one batch. Its reduction takes as long as 16 steps
    // along K of 128 bytes, and hides behind as many: 8192 batches of 20 rows
    // took 286 us with two steps, and 48 of 5 rows 48 us with 16.
    int64_t rows = llvm::alignTo(region.m, 64);
    int64_t bytes = region.k * getStorageBytes(region.getElementType());
    if (!reduction.ofRows && region.batches > 1 && 2 * rows > 3 * region.m &&
        bytes < int64_t{16} * 128)
      return emitError() << "reduces columns that fill two thirds of tiles of "
                            "64 rows, or long sums, not "
                         << region.m << " elements of " << rows;
  }
  return success();
}

LogicalResult GemmAnalysis::addResult(Gemm &gemm,
                                      const ContractionRegion::Result &result) {
  using Form = ContractionRegion::Form;
  Type element = getTensorType(result.yielded).getElementType();
  if (!isa<FloatType>(element) ||
      (element.isF64() && gemm.rate != MatrixRate::F64))
    return emitError() << "results must be f16, bf16 or f32, not "
                       << result.yielded.getType();
  Value value;
  auto add = [&](FailureOr<MatrixTensor> tensor,
                 SmallVector<MatrixTensor> &results,
                 SmallVector<Value> &values) -> LogicalResult {
    if (failed(tensor))
      return failure();
    results.push_back(*tensor);
    values.push_back(value);
    return success();
  };
  switch (result.form) {
  case Form::Full:
    return add(getResult(result, value), gemm.results, ofProduct);
  case Form::PerRow:
    return add(
        getReducedResult(result, MatrixTensor::ColumnVector, gemm.m, value),
        gemm.rows.results, ofRows);
  case Form::PerColumn:
    return add(getReducedResult(result, MatrixTensor::RowVector, gemm.n, value),
               gemm.columns.results, ofColumns);
  }
  llvm_unreachable("all forms are handled");
}

/// A result with one element per row or per column, contiguous within a batch.
FailureOr<MatrixTensor>
GemmAnalysis::getReducedResult(const ContractionRegion::Result &result,
                               MatrixTensor::Kind vector, int64_t elements,
                               Value &value) {
  FailureOr<Destination> destination =
      getDestination(result.yielded, emitError);
  if (failed(destination))
    return failure();
  value = destination->value;
  FailureOr<StridedView> view =
      destination->view.reshape({region.batches, elements});
  if (failed(view) || (elements != 1 && view->strides[1] != 1))
    return emitError() << "a reduced result must be contiguous, and its last "
                          "views permute it";
  return MatrixTensor{vector,
                      getResultBuffer(fused, result.number),
                      getTensorType(value).getElementType(),
                      0,
                      region.batches == 1 ? 0 : view->strides[0],
                      view->offset};
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

static TileBand toTileBand(const Band &band) {
  static_assert(Band::none == TileBand::none);
  return {int(band.lower), int(band.upper)};
}

/// Finds bands in the terms of the kernel's product.
void GemmAnalysis::findBands(Gemm &gemm) {
  if (std::max({gemm.m, gemm.n, gemm.k}) >= TileBand::none / 2)
    return;
  if (region.isSwapped)
    return;
  MatmulOp matmul = region.products.front().matmul;
  bool foldsBatches = gemm.m != matmul.getM();
  ProductBands bands = ProductBands::get(matmul, foldsBatches);
  gemm.bands.a = toTileBand(bands.lhs);
  gemm.bands.b = toTileBand(bands.rhs);
  gemm.bands.d = toTileBand(bands.result);
  if (foldsBatches)
    return;
  gemm.bands.mirrored = isMirrored(gemm);
  if (gemm.bands.mirrored)
    gemm.bands.d.upper = 0;
}

/// Whether the only result equals its transpose: a product of a matrix and its
/// own transpose, and of each element alone. Strict f32 rounds the two
/// differently, and tiles on the diagonal store both.
bool GemmAnalysis::isMirrored(const Gemm &gemm) const {
  const StridedView &lhs = region.lhs, &rhs = region.products.front().rhs;
  auto exchange = [](SmallVector<int64_t> numbers) {
    std::swap(numbers.back(), numbers[numbers.size() - 2]);
    return numbers;
  };
  auto list = [](const auto &numbers) {
    return SmallVector<int64_t>(numbers.begin(), numbers.end());
  };
  return gemm.rate != MatrixRate::F32 && lhs.base == rhs.base &&
         lhs.offset == rhs.offset &&
         list(lhs.shape) == exchange(list(rhs.shape)) &&
         list(lhs.strides) == exchange(list(rhs.strides)) &&
         gemm.results.size() == 1 && gemm.results.front().isMatrix() &&
         gemm.countReductions() == 0 && !gemm.bands.d.is_bounded() &&
         llvm::all_of(gemm.operands, [](const MatrixTensor &operand) {
           return operand.kind == MatrixTensor::Scalar;
         });
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The functors of all results of the product's size, then of the values that
/// are reduced over rows, then over columns.
LogicalResult GemmAnalysis::makeEpilogue(Gemm &gemm) {
  if (gemm.rate == MatrixRate::F64)
    return success();
  SmallVector<Value> values = ofProduct;
  for (bool ofRows : {true, false})
    for (const ContractionRegion::Reduction &reduction : region.reductions)
      if (reduction.ofRows == ofRows)
        values.push_back(reduction.input);
  ScalarFunction::Options options = getOptions();
  options.leading = {region.products.front().matmul.getResult()};
  FailureOr<ScalarFunction> epilogue =
      ScalarFunction::get(values, getIndexSpace(), options, emitError);
  if (failed(epilogue))
    return failure();
  gemm.epilogue = std::move(*epilogue);
  return getOperands(gemm);
}

LogicalResult GemmAnalysis::getOperands(Gemm &gemm) {
  int64_t matrices = 0;
  for (const ScalarFunction::Argument &argument :
       gemm.epilogue.getArguments().drop_front()) {
    FailureOr<MatrixTensor> tensor = getOperand(argument);
    if (failed(tensor))
      return failure();
    if (tensor->kind != MatrixTensor::Scalar &&
        tensor->kind != MatrixTensor::ColumnVector &&
        failed(requireAlignment(*tensor, "an operand of the epilogue")))
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

/// The functors of results per row or per column, and the operands that they
/// read at [batch, row] or [batch, column].
LogicalResult GemmAnalysis::makeReducedEpilogue(ReducedEpilogue &reduced,
                                                MatrixTensor::Kind vector,
                                                ArrayRef<int64_t> space,
                                                ArrayRef<Value> values) {
  if (reduced.reductions.empty())
    return success();
  if (values.empty())
    return emitError() << "no result is computed from a reduction alone";
  ScalarFunction::Options options = getOptions();
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
    if (!isa<FloatType>(element) || element.isF64() || (!isVector && !isScalar))
      return emitError() << "an operand of a reduced result must be f16, bf16 "
                            "or f32, with one element per reduction or one "
                            "for all, not "
                         << argument.value.getType();
    reduced.operands.push_back({isVector ? vector : MatrixTensor::Scalar,
                                getBuffer(argument.value), element, 0,
                                batchStride, view.offset});
  }
  reduced.function = std::move(*function);
  return success();
}

/// Rows at several strides as windows of one tap.
static WindowedView getWindowsOfRows(const StridedView &lhs) {
  WindowedView windows;
  windows.image = lhs;
  // The first dimension has the images, unless there are more than TMA counts.
  ArrayRef<int64_t> rows = ArrayRef(lhs.shape).drop_front().drop_back();
  llvm::append_range(windows.counts,
                     rows.take_back(std::min<size_t>(rows.size(), 3)));
  windows.zeros.assign(windows.counts.size(), 0);
  for (auto *numbers : {&windows.kernel, &windows.strides, &windows.dilations})
    numbers->assign(windows.counts.size(), 1);
  return windows;
}

/// An lhs at strides that is no matrix, as windows: those that overlap, and the
/// pixels of images whose lines have fewer than a tile has rows, as of a 1x1
/// convolution of every second pixel.
static std::optional<WindowedView>
findWindows(const ContractionRegion &region) {
  MatmulOp matmul = region.products.front().matmul;
  FailureOr<StridedView> rows =
      region.lhs.reshape({region.getRows(), region.k});
  if (matmul.getTransposeA() ||
      (succeeded(rows) && succeeded(MatrixTensor::get(*rows, /*buffer=*/0))))
    return std::nullopt;
  FailureOr<WindowedView> windows = WindowedView::get(matmul.getLhs());
  if (succeeded(windows) && windows->getRows() == region.getRows())
    return *windows;
  ArrayRef<int64_t> shape = region.lhs.shape;
  if (!region.isShared() || shape.size() < 4 || shape[shape.size() - 2] >= 64)
    return std::nullopt;
  return getWindowsOfRows(region.lhs);
}

/// Whether batches of `m` rows fill tiles of 128 well.
static bool fillsTiles(int64_t m) {
  return 100 * int64_t(llvm::alignTo(m, 128)) <= 115 * m;
}

/// Reads some leading dimensions of batches that share B, such as images, as
/// batches and the others as rows: where a result has its channels first. Means
/// of images would be read as well, but their convolutions were measured slower
/// by more than another kernel for the means takes.
static FailureOr<Gemm> readImages(FusedOp fused, const Gemm::Forms &forms,
                                  int64_t dims) {
  ContractionRegion::Options options;
  options.windows = forms.windows;
  for (options.batchDims = 1; int64_t(options.batchDims) <= dims;
       ++options.batchDims) {
    FailureOr<ContractionRegion> region =
        ContractionRegion::get(fused, options, Silence(fused));
    if (failed(region) || !region->reductions.empty() || !fillsTiles(region->m))
      continue;
    if (!region->windows && forms.windows)
      region->windows = findWindows(*region);
    FailureOr<Gemm> gemm =
        GemmAnalysis(fused, *region, Silence(fused), Addressing::TmaColumns)
            .run();
    if (succeeded(gemm))
      return gemm;
  }
  return failure();
}

FailureOr<Gemm> Gemm::read(FusedOp fused, const Forms &forms,
                           EmitError emitError) {
  Addressing addressing =
      forms.columns ? Addressing::TmaColumns : Addressing::Tma;
  ContractionRegion::Options options;
  options.windows = true;
  FailureOr<ContractionRegion> region = failure();
  if (forms.windows)
    region = ContractionRegion::get(fused, options, Silence(fused));
  bool hasWindows = succeeded(region) && region->windows;
  if (succeeded(region) && !hasWindows)
    region->windows = findWindows(*region);
  if (succeeded(region) && region->windows) {
    FailureOr<Gemm> gemm =
        GemmAnalysis(fused, *region, Silence(fused), addressing).run();
    if (succeeded(gemm))
      return gemm;
  }
  auto matmuls = fused.getBody().getOps<MatmulOp>();
  if (forms.columns && !matmuls.empty()) {
    int64_t dims = (*matmuls.begin()).getType().getRank() - 2;
    FailureOr<Gemm> gemm = failure();
    if (dims > 0 && !hasWindows && succeeded(region)) {
      region->windows = std::nullopt;
      gemm = GemmAnalysis(fused, *region, Silence(fused), addressing).run();
    }
    if (failed(gemm) && dims > 0)
      gemm = readImages(fused, forms, dims);
    if (succeeded(gemm))
      return gemm;
  }
  if (hasWindows)
    return GemmAnalysis(fused, *region, emitError, addressing).run();
  return readFolded<GemmAnalysis>(fused, ContractionRegion::Kind::Single,
                                  emitError, addressing);
}

bool fact::isCopied(const MatrixTensor &factor, bool isLhs) {
  auto alongK = isLhs ? MatrixTensor::RowMajor : MatrixTensor::ColumnMajor;
  return factor.element.isF32() &&
         (factor.kind != alongK || !factor.isAligned(16));
}

void fact::printFactor(raw_ostream &os, const MatrixTensor &factor, bool isLhs,
                       SizeList &sizes) {
  bool copies = isCopied(factor, isLhs);
  os << (copies ? "Copied<" : "");
  factor.print(os, sizes);
  os << (copies ? ">" : "");
}

bool Gemm::readsColumns() const {
  return rate == MatrixRate::TF32 && !windows &&
         a.kind == MatrixTensor::ColumnMajor && a.isAligned(16);
}

LogicalResult Gemm::checkTma(EmitError emitError) const {
  SmallVector<MatrixTensor> tensors(results);
  if (rate == MatrixRate::Bits16 || windows)
    tensors.append({a, b});
  for (const MatrixTensor &tensor : tensors)
    if (!tensor.isAligned(16))
      return emitError() << "needs strides and offsets that are multiples of "
                            "16 bytes for TMA, and a row has "
                         << tensor.leadingDimension << " elements of "
                         << tensor.element;
  return success(llvm::all_of(results, [&](const MatrixTensor &result) {
    return succeeded(result.requireWholeUnits(emitError));
  }));
}
