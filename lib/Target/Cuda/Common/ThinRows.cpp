//===- ThinRows.cpp - Many rows times few filters -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last convolution of a network that makes images, the first one of a
// network for digits, products of coordinates: each row is short, or a window
// of an image. Threads have whole rows, and no sum is shared.
//
//===----------------------------------------------------------------------===//

#include "ProductResults.h"
#include "fact/Analysis/ContractionRegion.h"

using namespace mlir;
using namespace fact;

namespace {
/// result[place, n] = sum over terms of rows[place, term] * filters[n, term].
struct ThinRows {
  /// Zeros outside of the image along one dimension of it.
  struct Bound {
    int64_t place, term, step, dilation, zeros, extent;
  };

  int64_t count, k, filterCount;
  /// The shape of the rows, and of the terms of each.
  SmallVector<int64_t> places, terms;
  /// Of the rows: over [places..., terms...].
  StridedView rows;
  SmallVector<Bound> bounds;
  /// Over [n, term].
  StridedView filters;
  /// Over [places..., n].
  ProductResults values;

  /// The bytes of an element of the rows.
  int64_t getElementBytes() const {
    return getStorageBytes(getTensorType(rows.base).getElementType());
  }
  bool isStaged() const;
  bool isFlat() const;
  int64_t getVector() const;
};

class ThinRowsPlan : public Plan {
public:
  ThinRowsPlan(const Family &family, FusedOp fused,
               const MachineDescription &machine, ThinRows product)
      : Plan(family, fused, machine), product(std::move(product)) {}

  static FailureOr<ThinRows> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t getSharedBytes(int64_t rows, int64_t terms) const;

  ThinRows product;
};

class ThinRowsFamily : public FamilyOf<ThinRowsPlan> {
public:
  ThinRowsFamily()
      : FamilyOf(thinGemmRule, "cuda", {&CudaThinRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Windows of images of few channels, with zeros around these, are "
           "the rows of a product of at most 32 columns, if there are many.";
  }
};
} // namespace

/// What TMA loads of a pixel at least.
static constexpr int64_t channelBytes = 16;
/// Fewer rows do not fill a machine.
static constexpr int64_t leastRows = 32768;
static constexpr int64_t blockThreads = 128;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Neighboring threads have neighboring rows: if these are neighbors in memory,
/// each thread may read its own.
bool ThinRows::isStaged() const {
  int64_t step = rows.strides[places.size() - 1];
  return step * getElementBytes() > 8;
}

/// Whether rows follow each other in memory, and fit into one run of terms.
bool ThinRows::isFlat() const {
  return isStaged() && terms.size() == 1 && k <= 64 &&
         rows.offset * getElementBytes() % 16 == 0 && rows.isRowMajor();
}

/// Terms per access when rows are staged: up to 16 bytes.
int64_t ThinRows::getVector() const {
  if (isFlat())
    return 16 / getElementBytes();
  if (!isStaged() || rows.strides.back() != 1)
    return 1;
  auto isAligned = [&](int64_t vector) {
    bool aligned = rows.offset % vector == 0 && terms.back() % vector == 0;
    for (int64_t stride : ArrayRef(rows.strides).drop_back())
      aligned &= stride % vector == 0;
    return aligned;
  };
  int64_t vector = 16 / getElementBytes();
  while (vector > 1 && !isAligned(vector))
    vector /= 2;
  return vector;
}

/// Reads windows of images as rows by strides, within bounds.
static void readWindows(const WindowedView &windows, ThinRows &product) {
  const StridedView &image = windows.image;
  size_t batches = windows.getBatchRank(), rank = windows.counts.size();
  product.places.assign(image.shape.begin(), image.shape.begin() + batches);
  StridedView &rows = product.rows;
  rows.base = image.base;
  rows.offset = image.offset;
  SmallVector<int64_t> termStrides;
  rows.strides.assign(image.strides.begin(), image.strides.begin() + batches);
  for (size_t i = 0; i < rank; ++i) {
    int64_t stride = image.strides[batches + i];
    int64_t extent = image.shape[batches + i];
    int64_t last = (windows.counts[i] - 1) * windows.strides[i] +
                   (windows.kernel[i] - 1) * windows.dilations[i] -
                   windows.zeros[i];
    if (windows.zeros[i] || last >= extent)
      product.bounds.push_back({int64_t(product.places.size()), int64_t(i),
                                windows.strides[i], windows.dilations[i],
                                windows.zeros[i], extent});
    product.places.push_back(windows.counts[i]);
    product.terms.push_back(windows.kernel[i]);
    rows.strides.push_back(windows.strides[i] * stride);
    termStrides.push_back(windows.dilations[i] * stride);
    rows.offset -= windows.zeros[i] * stride;
  }
  product.terms.push_back(windows.getChannels());
  termStrides.push_back(image.strides.back());
  llvm::append_range(rows.strides, termStrides);
}

FailureOr<ThinRows> ThinRowsPlan::read(FusedOp fused, EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  ContractionRegion::Options options;
  options.foldBatches = false;
  options.windows = true;
  FailureOr<ContractionRegion> region =
      ContractionRegion::get(fused, options, emitError);
  if (failed(region))
    return failure();
  MatmulOp matmul = region->products.front().matmul;
  if (matmul.getType().getElementType().isF64())
    return emitError() << "takes f16, bf16 or f32 operands, not f64";
  if (!region->reductions.empty())
    return emitError() << "reduces no product";
  if (!region->isShared())
    return emitError() << "all batches must have the same rhs";
  ThinRows product;
  product.count = region->getRows();
  product.k = region->k;
  product.filterCount = matmul.getN();
  if (!region->windows && failed(requireThin(product.count, product.filterCount,
                                             product.k, emitError)))
    return failure();
  if (product.filterCount > filterLimit)
    return emitError() << "a product of "
                       << (region->windows ? "windows" : "short rows")
                       << " has at most " << filterLimit << " columns, not "
                       << product.filterCount;
  if (product.count < leastRows || product.count >= INT32_MAX)
    return emitError() << "needs " << leastRows << " rows to fill the machine, "
                       << "and fewer than 2^31, not " << product.count;

  if (region->windows) {
    readWindows(*region->windows, product);
    // Matrix units multiply the others several times as fast.
    int64_t bytes = region->windows->getChannels() * product.getElementBytes();
    if (bytes >= channelBytes)
      return emitError() << "windows have less than " << channelBytes
                         << " bytes of channels, not " << bytes;
  } else {
    product.places.assign(region->lhs.shape.begin(),
                          region->lhs.shape.end() - 1);
    product.terms = {product.k};
    product.rows = region->lhs;
    // Lanes share longer sums.
    if (product.k > 16 * std::min(product.filterCount, thinLimit))
      return emitError() << "the rows of a product of " << product.filterCount
                         << " columns have too many terms: " << product.k;
  }
  product.rows.shape = product.places;
  llvm::append_range(product.rows.shape, product.terms);
  if (product.places.size() > 7)
    return emitError() << "rows lie in at most 7 dimensions, not "
                       << product.places.size();
  const StridedView &rhs = region->products.front().rhs;
  product.filters = {rhs.base,
                     rhs.offset,
                     {product.filterCount, product.k},
                     {rhs.strides.end()[-1], rhs.strides.end()[-2]}};
  SmallVector<int64_t> space(product.places);
  space.push_back(product.filterCount);
  FailureOr<ProductResults> values =
      ProductResults::get(fused, matmul, space, emitError);
  if (failed(values))
    return failure();
  product.values = std::move(*values);
  return std::move(product);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// As `Shared` of ThinRows.cuh.
int64_t ThinRowsPlan::getSharedBytes(int64_t rows, int64_t terms) const {
  int64_t run = std::min(product.k, terms);
  int64_t place =
      llvm::alignTo(8 + 4 * std::max<int64_t>(1, product.bounds.size()), 8);
  int64_t bytes =
      run * (4 * llvm::alignTo(product.filterCount, 4) + place) + place;
  if (product.isStaged())
    bytes += rows * blockThreads *
             ((product.isFlat() ? 0 : place) + 4 * (run + 1 - run % 2));
  return bytes;
}

LogicalResult ThinRowsPlan::checkLimits(ScheduleAttr schedule,
                                        EmitError emitError) const {
  auto own = cast<CudaThinRowsAttr>(schedule);
  int64_t sums = own.getRows() * product.filterCount;
  if (sums > 64)
    return emitError() << "a thread has at most 64 sums, and " << own.getRows()
                       << " rows of " << product.filterCount << " have "
                       << sums;
  if (product.isFlat() && own.getTerms() < product.k)
    return emitError() << "a block reads whole rows of " << product.k
                       << " terms";
  if (int64_t vector = product.getVector();
      !product.isFlat() && own.getTerms() % vector)
    return emitError() << own.getTerms() << " terms are not whole vectors of "
                       << vector;
  int64_t bytes = getSharedBytes(own.getRows(), own.getTerms());
  if (bytes > 48 * 1024)
    return emitError() << "a block reads at most 48 KB at a time, and would "
                          "read "
                       << bytes << " bytes";
  return success();
}

SpaceAttrInterface ThinRowsPlan::getSpace() const {
  return CudaThinRowsAttr::getSpace(fused.getContext(), {1, 2, 4},
                                    {16, 32, 64});
}

/// Memory bounds short rows; instructions bound the others.
double ThinRowsPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaThinRowsAttr>(schedule);
  double width = llvm::alignTo(product.filterCount, 4);
  bool isFlat = product.isFlat(), isStaged = product.isStaged();
  // Per row and term: products, a share of the filters and of the loop, and
  // how the term is read.
  double reads = isFlat ? 10 : isStaged ? 24 : 3;
  reads += 4.0 * product.bounds.size();
  if (isStaged && !isFlat)
    reads = 1 + reads / product.getVector();
  double steps = product.filterCount + (width / 4 + 2) / own.getRows() + reads;
  // Beside these, each row has an epilogue.
  double perRow = 40.0 + 12.0 * product.filterCount;
  double lanes = 128.0 * machine.multiprocessors * machine.clock;
  double issued = product.count * (product.k * steps + perRow) / (0.7 * lanes);
  // Few resident threads hide little, and few rows leave some multiprocessors
  // without any. A thread has its sums twice, in registers.
  double threads = double(product.count) / own.getRows();
  double registers = 32.0 + 2.0 * own.getRows() * product.filterCount;
  double blocks = std::floor(double(machine.sharedMemoryBytes) /
                             getSharedBytes(own.getRows(), own.getTerms()));
  double resident = std::min({2048.0, threads / machine.multiprocessors,
                              65536 / registers, blocks * blockThreads});
  issued *= std::max(1.0, 768 / resident);
  // Windows overlap: an image is read once, and else from the caches.
  double whole = getTensorType(product.rows.base).getNumElements();
  double bytes = std::min(whole, double(product.count) * product.k) *
                 product.getElementBytes();
  for (const auto *list : {&product.values.operands, &product.values.results})
    for (const StridedView &view : *list)
      bytes += countBytes(view);
  double moved = bytes / (0.85 * machine.bandwidth);
  return 1e6 * (std::max(issued, moved) + 0.2 * std::min(issued, moved) +
                machine.launchSeconds);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

LogicalResult ThinRowsPlan::emit(ArrayRef<KernelVariant> variants,
                                 KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaThinRowsAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "ThinRows.cuh");
  const ProductResults &values = product.values;
  SmallVector<std::string> functors = printFunctors(
      os, values.epilogue, {"accumulator"}, "Epilogue", values.results.size());
  auto printList = [&](StringRef word, ArrayRef<int64_t> numbers) {
    os << word << '<';
    llvm::interleaveComma(numbers, os);
    os << '>';
  };
  os << "using Kernel = ThinRows<\n    ";
  printList("Extents", product.places);
  os << ", ";
  printList("Extents", product.terms);
  os << ", " << product.filterCount << ",\n    RowsOf<"
     << getBuffer(product.rows.base) << ", "
     << getElementName(getTensorType(product.rows.base).getElementType())
     << ", ";
  ArrayRef<int64_t> strides = product.rows.strides;
  printList("Strides", strides.take_front(product.places.size()));
  os << ", ";
  printList("Strides", strides.drop_front(product.places.size()));
  os << ", " << product.rows.offset;
  for (const ThinRows::Bound &bound : product.bounds) {
    os << ",\n           ";
    printList("RowBound", {bound.place, bound.term, bound.step, bound.dilation,
                           bound.zeros, bound.extent});
  }
  os << ">,\n    ";
  printStrided(os, product.filters, getBuffer(product.filters.base));
  os << ",\n    ";
  printOperands(os, values.operands);
  os << ",\n    ";
  printResults(os, functors, values.results, fused);
  os << ",\n    ThinRowsSchedule<" << own.getRows() << ", " << own.getTerms()
     << ", " << product.getVector() << ", "
     << (product.isFlat()     ? "RowReads::Flat"
         : product.isStaged() ? "RowReads::Staged"
                              : "RowReads::Own")
     << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerThinRowsFamily(DialectRegistry &registry) {
  registerFamily<ThinRowsFamily>(registry);
}
