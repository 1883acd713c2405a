//===- GemmPlan.cpp - Products of one lhs on packed panels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmPlan.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// The last two dimensions exchanged.
static StridedView transpose(const StridedView &view) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return view.permute(dims);
}

/// Whether all readers of `value` are right sides of matmuls, through views.
static bool isOnlyRightSide(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (isa<ViewOpInterface>(use.getOwner()))
      return isOnlyRightSide(use.getOwner()->getResult(0));
    return isa<MatmulOp>(use.getOwner()) && use.getOperandNumber() == 1;
  });
}

namespace {
class GemmPlanner {
public:
  GemmPlanner(FusedOp fused, const ContractionRegion &region,
              EmitError emitError)
      : fused(fused), region(region), emitError(emitError) {}

  FailureOr<GemmPlan> run() {
    if (failed(checkReductions()) || failed(planFactors()))
      return failure();
    choosePackedOperands();
    for (const ContractionRegion::Segment &segment : region.segments)
      if (failed(planSegment(segment)))
        return failure();
    return std::move(plan);
  }

private:
  using Form = GemmPlan::Form;

  LogicalResult checkReductions();
  LogicalResult planFactors();
  void choosePackedOperands();
  LogicalResult planSegment(const ContractionRegion::Segment &segment);
  FailureOr<GemmPlan::Reduction>
  planReduction(const ContractionRegion::Reduction &reduction);
  FailureOr<GemmPlan::Result>
  planResult(const ContractionRegion::Result &result);
  bool isProduct(Value value, const StridedView &view, int64_t n) const;
  bool isReduced(Value value, const StridedView &view, Form form) const;

  FusedOp fused;
  const ContractionRegion &region;
  EmitError emitError;
  GemmPlan plan;
};
} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

LogicalResult GemmPlanner::planFactors() {
  plan.k = region.k;
  plan.storage = region.getElementType();
  plan.compute = getComputeType(plan.storage);
  plan.batches = region.batches;
  plan.rows = region.getRows();
  plan.batchRows = region.m;
  plan.windows = region.windows;
  if (!plan.windows) {
    FailureOr<RowView> a = RowView::get(region.lhs, plan.rows, plan.k);
    if (failed(a))
      return emitError() << "needs the contracted dimension at one stride";
    plan.a = *a;
  }
  for (const ContractionRegion::Product &product : region.products) {
    // Batches of the products, folded or not.
    int64_t count = llvm::product_of(ArrayRef(product.rhs.shape).drop_back(2));
    FailureOr<RowView> b =
        RowView::get(transpose(product.rhs), count * product.n, plan.k);
    if (failed(b))
      return emitError() << "needs the contracted dimension at one stride";
    plan.products.push_back({product.matmul, product.n, *b});
  }
  if (plan.products.size() == 1 && !plan.windows) {
    MatmulOp matmul = plan.products.front().matmul;
    plan.bands = ProductBands::get(matmul, region.m != matmul.getM());
  }
  return success();
}

/// Packs the right sides before the first call if they are all operands that
/// nothing else reads.
void GemmPlanner::choosePackedOperands() {
  llvm::SmallSetVector<unsigned, 4> arguments;
  for (const ContractionRegion::Product &product : region.products) {
    auto argument = dyn_cast<BlockArgument>(product.rhs.base);
    // `packed_with` is a mask of 32 operands.
    if (!argument || !isOnlyRightSide(argument) ||
        argument.getArgNumber() >= 32)
      return;
    arguments.insert(argument.getArgNumber());
  }
  plan.packedOperands = llvm::to_vector(arguments);
  llvm::sort(plan.packedOperands);
}

//===----------------------------------------------------------------------===//
// Values after the products
//===----------------------------------------------------------------------===//

LogicalResult GemmPlanner::checkReductions() {
  bool ofRows = false, ofColumns = false;
  for (const ContractionRegion::Reduction &reduction : region.reductions) {
    (reduction.ofRows ? ofRows : ofColumns) = true;
    auto type = cast<RankedTensorType>(reduction.input.getType());
    if (!isa<FloatType>(type.getElementType()))
      return emitError() << "reduces floats after a product, not " << type;
    if (reduction.products.empty())
      return emitError() << "a 'fact.reduce' reads no product";
    if (reduction.maximum)
      return emitError() << "a sum of exponentials needs the maximum of its "
                            "row, which is complete only after the last tile";
    // A column that is reduced lies in one tile.
    if (!reduction.ofRows && region.batches > 1)
      return emitError() << "reduces columns of one product, not of "
                         << region.batches << " batches";
  }
  if (ofRows && ofColumns)
    return emitError() << "reduces rows or columns, and the region has both";
  return success();
}

/// Whether `value` is a product of width `n` in the order of the index space.
bool GemmPlanner::isProduct(Value value, const StridedView &view,
                            int64_t n) const {
  auto matmul = value.getDefiningOp<MatmulOp>();
  if (!matmul || matmul.getN() != n)
    return false;
  FailureOr<RowView> split = RowView::get(view, plan.rows, n);
  return succeeded(split) && split->isPlain(plan.rows, n, n, 1);
}

/// Whether `value` is a reduction in the order of the index space.
bool GemmPlanner::isReduced(Value value, const StridedView &view,
                            Form form) const {
  for (const ContractionRegion::Reduction &reduction : region.reductions)
    if (value == reduction.op.getResult() &&
        reduction.ofRows == (form == Form::PerRow))
      return view.offset == 0 && view.isRowMajor();
  return false;
}

FailureOr<GemmPlan::Reduction>
GemmPlanner::planReduction(const ContractionRegion::Reduction &reduction) {
  Type element = getElementTypeOrSelf(reduction.op.getResult().getType());
  if (getComputeType(element) != plan.compute) {
    (void)(emitError() << "reduces in " << element << " what is multiplied in "
                       << plan.compute);
    return failure();
  }
  FailureOr<Elements> elements = Elements::plan(
      reduction.input,
      [&](Value value, const StridedView &view) {
        return isProduct(value, view, reduction.n);
      },
      emitError);
  if (failed(elements))
    return failure();
  FailureOr<RowElements> input =
      RowElements::get(*elements, plan.rows, reduction.n, emitError);
  if (failed(input))
    return failure();
  return GemmPlan::Reduction{reduction.op, reduction.ofRows, *input};
}

FailureOr<GemmPlan::Result>
GemmPlanner::planResult(const ContractionRegion::Result &result) {
  Form form = result.form;
  int64_t rows = form == Form::PerColumn ? 1 : plan.rows;
  int64_t columns = form == Form::PerRow ? 1 : result.n;
  auto isAnchor = [&](Value value, const StridedView &view) {
    return form == Form::Full ? isProduct(value, view, result.n)
                              : isReduced(value, view, form);
  };
  SmallVector<Destination> destinations = getDestinations(result.yielded);
  for (auto [i, destination] : llvm::enumerate(llvm::reverse(destinations))) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(fused);
    EmitError report = silence ? EmitError(*silence) : emitError;
    FailureOr<Elements> elements =
        Elements::plan(destination.value, isAnchor, report);
    if (failed(elements))
      continue;
    FailureOr<RowView> target = RowView::get(destination.view, rows, columns);
    FailureOr<RowElements> split =
        RowElements::get(*elements, rows, columns, Silence(fused));
    if (succeeded(target) && succeeded(split))
      return GemmPlan::Result{result.number, form, *split, *target};
    (void)(report() << "needs results and their operands by rows of " << columns
                    << " columns");
  }
  return failure();
}

LogicalResult
GemmPlanner::planSegment(const ContractionRegion::Segment &segment) {
  GemmPlan::Segment planned{segment.n, segment.products, {}, {}};
  for (unsigned i : segment.reductions) {
    FailureOr<GemmPlan::Reduction> reduction =
        planReduction(region.reductions[i]);
    if (failed(reduction))
      return failure();
    planned.reductions.push_back(*reduction);
  }
  for (unsigned i : segment.results) {
    FailureOr<GemmPlan::Result> result = planResult(region.results[i]);
    if (failed(result))
      return failure();
    planned.results.push_back(*result);
  }
  plan.segments.push_back(std::move(planned));
  return success();
}

FailureOr<GemmPlan> GemmPlan::get(FusedOp fused, ContractionRegion::Kind kind,
                                  EmitError emitError) {
  ContractionRegion::Options options;
  options.kind = kind;
  options.constantFactors = true;
  options.windows = true;
  FailureOr<ContractionRegion> region =
      ContractionRegion::get(fused, options, emitError);
  if (failed(region))
    return failure();
  // Packing the matrix would take longer than reading it.
  bool isSingle = kind == ContractionRegion::Kind::Single && !region->windows;
  if (isSingle && region->k == 1)
    return emitError() << "a product of one term per sum is 'pointwise'";
  auto refuse = [&] {
    return emitError() << "a product of one row or one column is a 'rowwise' "
                          "sum";
  };
  if (isSingle && region->products.front().n == 1)
    return refuse();
  FailureOr<GemmPlan> plan = GemmPlanner(fused, *region, emitError).run();
  if (succeeded(plan) && isSingle && region->m == 1 && !plan->canStream())
    return refuse();
  return plan;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t GemmPlan::getColumns() const {
  int64_t columns = 0;
  for (const Segment &segment : segments)
    columns += segment.n;
  return columns;
}

int64_t GemmPlan::getMostProducts() const {
  size_t most = 1;
  for (const Segment &segment : segments)
    most = std::max(most, segment.products.size());
  return most;
}

/// Sums of more rows would not fit the first cache beside long pieces of rows,
/// and packing pays for more.
static constexpr int64_t mostStreamedRows = 8;

bool GemmPlan::canStream() const {
  if (windows || products.size() != 1 || batchRows > mostStreamedRows)
    return false;
  const RowView &b = products.front().b;
  return !b.rowStrides.empty() && b.rowStrides.back() == 1 &&
         b.columnStride != 1 && b.columnStride != 0;
}

bool GemmPlan::canBlock() const {
  return !windows && products.size() == 1 && !hasReductions(/*ofRows=*/true) &&
         !hasReductions(/*ofRows=*/false);
}

bool GemmPlan::canReadWindows() const {
  return windows && !hasReductions(/*ofRows=*/false) &&
         batchRows % llvm::product_of(windows->counts) == 0;
}

WindowBox WindowBox::get(const WindowedView &of, const GemmSizes &sizes) {
  WindowBox box;
  size_t dims = of.counts.size();
  box.spans.resize(dims);
  // Whole lines of an image, if there is room, then whole planes.
  int64_t room = sizes.rows;
  for (size_t d = dims; d-- > 0;) {
    int64_t step = d + 1 == dims ? sizes.micro[0] : 1;
    int64_t most = std::max(room / step, int64_t(1)) * step;
    int64_t parts = ceilDivide(of.counts[d], most);
    int64_t span = ceilDivide(ceilDivide(of.counts[d], parts), step) * step;
    box.spans[d] = std::min(span, of.counts[d]);
    room = parts == 1 ? room / of.counts[d] : 1;
  }
  for (size_t d = 0; d < dims; ++d) {
    box.boxes.push_back(ceilDivide(of.counts[d], box.spans[d]));
    box.pixels.push_back((box.spans[d] - 1) * of.strides[d] +
                         (of.kernel[d] - 1) * of.dilations[d] + 1);
  }
  return box;
}

GemmSizes GemmSizes::get(ScheduleAttr schedule) {
  auto getSizes = [](auto own) {
    return GemmSizes{own.getMicro(), own.getRows(), own.getColumns()};
  };
  if (auto blocked = dyn_cast<HostBlockedAttr>(schedule))
    return getSizes(blocked);
  if (auto windows = dyn_cast<HostWindowsAttr>(schedule))
    return getSizes(windows);
  return getSizes(cast<HostGemmAttr>(schedule));
}

bool GemmPlan::hasReductions(bool ofRows) const {
  return llvm::any_of(segments, [&](const Segment &segment) {
    return llvm::any_of(segment.reductions, [&](const Reduction &reduction) {
      return reduction.ofRows == ofRows;
    });
  });
}

double GemmPlan::getMultipliedShare(const Extents &micro) const {
  if (!bands.isBounded())
    return 1;
  // Larger tiles stand for several register tiles where there are many.
  constexpr int64_t mostTiles = 64;
  int64_t n = products.front().n;
  auto getStep = [](int64_t extent, int64_t tile) {
    return tile * ceilDivide(extent, tile * mostTiles);
  };
  int64_t rowStep = getStep(batchRows, micro[0]);
  int64_t columnStep = getStep(n, micro[1]);
  double terms = 0, all = 0;
  for (int64_t row = 0; row < batchRows; row += rowStep)
    for (int64_t column = 0; column < n; column += columnStep) {
      // As `GemmBuilder::getTerms`, of the register tile in the middle.
      int64_t i = row + (rowStep - micro[0]) / 2;
      int64_t j = column + (columnStep - micro[1]) / 2;
      int64_t low =
          std::max({i + bands.lhs.lower, j - bands.rhs.upper, int64_t(0)});
      int64_t high = std::min(
          {i + micro[0] + bands.lhs.upper, j + micro[1] - bands.rhs.lower, k});
      bool isUsed = j + micro[1] - 1 - i >= bands.result.lower &&
                    j - (i + micro[0] - 1) <= bands.result.upper;
      terms += isUsed ? std::max<int64_t>(high - low, 0) : 0;
      all += k;
    }
  return terms / all;
}

/// The length of equal parts of `total`, each at most `longest`.
static int64_t splitEvenly(int64_t total, int64_t longest) {
  int64_t parts = ceilDivide(total, longest);
  return parts <= 1 ? total : ceilDivide(ceilDivide(total, parts), 8) * 8;
}

int64_t GemmPlan::getLongestChain() const {
  // BLAS libraries have chains of 256 to 512 for matrices. Tiles of few rows do
  // less work per chain to pay for its addition.
  return batchRows < 8 || k <= 256 ? 256 : 128;
}

std::pair<int64_t, int64_t> GemmPlan::chooseBlocks(const Cpu &cpu,
                                                   int64_t columns) const {
  int64_t longest =
      cpu.getFirstCacheBytes() / 2 / (columns * getStorageBytes(compute));
  int64_t depth = splitEvenly(k, std::clamp<int64_t>(longest, 128, 512));
  return {depth, splitEvenly(depth, getLongestChain())};
}
