//===- StagedReductionRegion.cpp - Reads the tensors of reductions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowOperand.h"
#include "StagedReduction.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

namespace {
/// Reads the tensors of a region, first in the index space of the reductions'
/// operand, then as [outer, length, inner] in the order of memory.
class ReductionReader {
public:
  ReductionReader(FusedOp fused, StagedReduction &reduction,
                  EmitError emitError)
      : fused(fused), reduction(reduction), emitError(emitError) {
    ReduceOp first = reduction.stages.front().op;
    shape.assign(getTensorType(first.getOperand()).getShape());
    dims.assign(first.getDims().begin(), first.getDims().end());
    findKept();
  }

  /// Reads in the dimensions that all reshapes of the reduced elements have in
  /// common, where those are more than the reductions'. Returns whether they
  /// are.
  bool refine();

  LogicalResult read() {
    if (failed(readResults()) || failed(readBodies()) ||
        failed(orderDimensions()))
      return failure();
    return readViews();
  }

private:
  LogicalResult readResults();
  LogicalResult readBodies();
  LogicalResult orderDimensions();
  LogicalResult readViews();
  /// Gives views the order and the shape of the kernel. Returns the type of
  /// one whose strides cannot have them.
  static Type arrange(MutableArrayRef<StridedView> views,
                      ArrayRef<int64_t> order, ArrayRef<int64_t> newShape);
  Type arrangeAll();
  bool splitDimensions();
  bool scatters() const;
  bool movesInVectors(int64_t vector) const;

  void findKept() {
    kept.clear();
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(dims, dim))
        kept.push_back(dim);
  }
  SmallVector<int64_t> getKeptShape() const {
    return llvm::map_to_vector(kept, [&](int64_t dim) { return shape[dim]; });
  }
  /// The operand that has most elements.
  size_t getLargest() const;

  FusedOp fused;
  StagedReduction &reduction;
  EmitError emitError;
  SmallVector<int64_t> shape, dims, kept;
  /// All dimensions and the kept ones by their strides, largest first.
  SmallVector<int64_t> order, keptOrder;
};
} // namespace

bool ReductionReader::refine() {
  SmallVector<Value> values;
  for (StagedReduction::Stage stage : reduction.stages)
    values.push_back(stage.op.getOperand());
  SmallVector<int64_t> common = getCommonShape(shape, values);
  if (common == shape)
    return false;
  SmallVector<int64_t> reduced;
  int64_t dim = shape.size() - 1, left = shape.back();
  for (int64_t i = common.size() - 1; i >= 0; --i) {
    while (left == 1 && dim > 0)
      left = shape[--dim];
    if (llvm::is_contained(dims, dim))
      reduced.insert(reduced.begin(), i);
    left /= common[i];
  }
  shape = std::move(common);
  dims = std::move(reduced);
  findKept();
  return true;
}

LogicalResult ReductionReader::readResults() {
  FusedOp copy = reduction.region->get();
  int64_t elements = llvm::product_of(shape);
  int64_t columns = llvm::product_of(getKeptShape());
  for (auto [i, yielded] : llvm::enumerate(copy.getYield()->getOperands())) {
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    int64_t count = getTensorType(yielded).getNumElements();
    if (count != elements && count != columns)
      return emitError() << "a result of type " << yielded.getType()
                         << " must have " << elements
                         << " elements, or one per column";
    ReductionResults &results =
        count == elements ? reduction.full : reduction.column;
    FailureOr<StridedView> view =
        destination->view.reshape(count == elements ? shape : getKeptShape());
    if (failed(view))
      return emitError() << "the views of a result of type "
                         << yielded.getType() << " merge its dimensions";
    results.values.push_back(destination->value);
    results.views.push_back(*view);
    results.buffers.push_back(getResultBuffer(fused, i));
  }
  return success();
}

LogicalResult ReductionReader::readBodies() {
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  // Concats do not reach here.
  options.readsGathersAndConcats = true;
  SmallVector<Value> values;
  for (StagedReduction::Stage &stage : reduction.stages) {
    values.push_back(stage.op.getOperand());
    options.leading.push_back(stage.op.getResult());
  }
  llvm::append_range(values, reduction.full.values);
  auto getViews = [&](const ScalarFunction &function) {
    return llvm::map_to_vector(
        function.getArguments().drop_front(options.leading.size()),
        [](const ScalarFunction::Argument &argument) { return argument.view; });
  };

  ScalarFunction::Options perElement = options;
  perElement.rowValues = options.leading;
  perElement.firstStored = reduction.stages.size();
  perElement.rowStrides.assign(shape.size(), 0);
  int64_t stride = 1;
  for (int64_t dim : llvm::reverse(kept)) {
    perElement.rowStrides[dim] = stride;
    stride *= shape[dim];
  }
  FailureOr<ScalarFunction> body =
      ScalarFunction::get(values, shape, perElement, emitError);
  if (failed(body))
    return failure();
  reduction.operands = getViews(*body);
  reduction.body = std::move(*body);
  if (reduction.operands.empty())
    return emitError() << "the reduced elements are constants";
  if (reduction.getReads().dependsOnLeading())
    return emitError() << "a reduction decides where an operand is gathered "
                          "from, which is read before it";
  if (reduction.column.values.empty())
    return success();
  options.firstStored = 0;
  FailureOr<ScalarFunction> columnBody = ScalarFunction::get(
      reduction.column.values, getKeptShape(), options, emitError);
  if (failed(columnBody))
    return failure();
  reduction.columnOperands = getViews(*columnBody);
  reduction.columnBody = std::move(*columnBody);
  return success();
}

size_t ReductionReader::getLargest() const {
  GatheringReads reads = reduction.getReads();
  auto count = [&](size_t operand) {
    int64_t elements = 1;
    for (auto [dim, size] : llvm::enumerate(reads.views[operand].shape))
      elements *= reads.isConstant(operand, dim) ? 1 : size;
    // Of equal ones, that which lies in place.
    return std::pair(elements, !reads.isGathered(operand));
  };
  auto all = llvm::to_vector(llvm::seq<size_t>(0, reads.views.size()));
  return *llvm::max_element(
      all, [&](size_t a, size_t b) { return count(a) < count(b); });
}

/// Orders dimensions as the largest operand has them in memory. The reduced
/// ones lie together, or in two places.
LogicalResult ReductionReader::orderDimensions() {
  const StridedView &largest = reduction.operands[getLargest()];
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    order.push_back(dim);
  // Dimensions that are broadcast come first.
  llvm::sort(order, [&](int64_t a, int64_t b) {
    auto key = [&](int64_t dim) {
      int64_t stride = largest.strides[dim];
      return std::pair(stride == 0 ? INT64_MIN : -stride, dim);
    };
    return key(a) < key(b);
  });
  llvm::erase_if(order, [&](int64_t dim) { return shape[dim] == 1; });
  auto isReduced = [&](int64_t dim) { return llvm::is_contained(dims, dim); };
  // Kept and reduced dimensions take turns, beginning with kept ones.
  constexpr size_t most = 5;
  SmallVector<int64_t, most> sizes{1};
  for (int64_t dim : order) {
    if (isReduced(dim) != (sizes.size() % 2 == 0))
      sizes.push_back(1);
    sizes.back() *= shape[dim];
  }
  if (sizes.size() < 2)
    return emitError() << "the reduced dimensions have one element";
  if (sizes.size() > most)
    return emitError() << "the reduced dimensions lie in more than two places "
                          "in memory";
  // Places are counted in the order of the dimensions.
  SmallVector<int64_t> reducedOrder;
  llvm::copy_if(order, std::back_inserter(reducedOrder), isReduced);
  if (!llvm::is_sorted(reducedOrder) &&
      llvm::any_of(reduction.stages, [](StagedReduction::Stage stage) {
        return cast<RowOpInterface>(*stage.op).getArithmetic().locates;
      }))
    return emitError() << "places are counted in another order than memory's";
  reduction.outer = sizes[0];
  if (sizes.size() > 3) {
    reduction.repeats = sizes[1];
    reduction.middle = sizes[2];
    sizes.erase(sizes.begin() + 1, sizes.begin() + 3);
  }
  reduction.length = sizes[1];
  reduction.inner = sizes.size() > 2 ? sizes[2] : 1;
  for (int64_t dim : order)
    if (!isReduced(dim))
      keptOrder.push_back(llvm::find(kept, dim) - kept.begin());
  // Views keep all of their dimensions.
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    if (shape[dim] == 1)
      order.push_back(dim);
  for (auto [i, dim] : llvm::enumerate(kept))
    if (shape[dim] == 1)
      keptOrder.push_back(i);
  return success();
}

Type ReductionReader::arrange(MutableArrayRef<StridedView> views,
                              ArrayRef<int64_t> order,
                              ArrayRef<int64_t> newShape) {
  for (StridedView &view : views) {
    FailureOr<StridedView> arranged = view.permute(order).reshape(newShape);
    if (failed(arranged))
      return view.base.getType();
    view = *arranged;
  }
  return {};
}

Type ReductionReader::arrangeAll() {
  auto operands = reduction.operands, columnOperands = reduction.columnOperands;
  auto full = reduction.full.views, column = reduction.column.views;
  SmallVector<int64_t> space = reduction.getShape();
  SmallVector<int64_t> columns = reduction.getColumnShape();
  for (auto [views, viewOrder, newShape] :
       {std::tuple(&operands, &order, &space),
        std::tuple(&full, &order, &space),
        std::tuple(&columnOperands, &keptOrder, &columns),
        std::tuple(&column, &keptOrder, &columns)})
    if (Type refused = arrange(*views, *viewOrder, *newShape))
      return refused;
  reduction.operands = std::move(operands);
  reduction.columnOperands = std::move(columnOperands);
  reduction.full.views = std::move(full);
  reduction.column.views = std::move(column);
  return {};
}

/// Arranges tensors that do not have one stride for all that is reduced, or for
/// all columns, such as one value per row in a sum over all rows, or weights of
/// channels in groups: what is reduced, the outer columns or both become two
/// dimensions.
bool ReductionReader::splitDimensions() {
  if (reduction.isApart())
    return false;
  const int64_t outer = reduction.outer, length = reduction.length;
  const SmallVector<int64_t> inMemory = order;
  // Numbers of dimensions that end in `outer` or in what is reduced, with their
  // elements; all of `outer` comes first in both.
  SmallVector<std::pair<size_t, int64_t>> outerEnds, lengthEnds;
  size_t outerDims = 0;
  int64_t count = 1;
  for (size_t i = 0; i < inMemory.size() && count < outer * length; ++i) {
    if (count < outer)
      outerDims = i + 1;
    count *= shape[inMemory[i]];
    if (count < outer)
      outerEnds.emplace_back(i + 1, count);
    else if (count > outer && count < outer * length)
      lengthEnds.emplace_back(i + 1, count);
  }
  outerEnds.insert(outerEnds.begin(), {outerDims, outer});
  lengthEnds.insert(lengthEnds.begin(), {outerDims, outer});
  for (auto [outerEnd, outerCount] : outerEnds)
    for (auto [lengthEnd, lengthCount] : lengthEnds) {
      reduction.outer = outerCount;
      reduction.middle = outer / outerCount;
      reduction.repeats = lengthCount / outer;
      reduction.length = length / reduction.repeats;
      // What is repeated stands before the columns in the middle.
      order = inMemory;
      std::rotate(order.begin() + outerEnd, order.begin() + outerDims,
                  order.begin() + lengthEnd);
      if (reduction.isApart() && !arrangeAll())
        return true;
    }
  order = inMemory;
  reduction.outer = outer;
  reduction.length = length;
  reduction.repeats = reduction.middle = 1;
  return false;
}

/// Whether a thread can take so many neighboring elements: those of the largest
/// operand are one access, and no others are more than one, but for those that
/// the cache has.
bool ReductionReader::movesInVectors(int64_t vector) const {
  if ((reduction.folds() ? reduction.length : reduction.inner) % vector)
    return false;
  auto isWide = [&](const StridedView &view) {
    return getStorageBytes(getTensorType(view.base).getElementType()) * vector >
           16;
  };
  GatheringReads reads = reduction.getReads();
  for (auto [i, view] : llvm::enumerate(reduction.operands)) {
    bool isBroadcast = false;
    for (auto [dim, size] : llvm::enumerate(view.shape))
      isBroadcast |= size > 1 && reads.isConstant(i, dim);
    if (!isBroadcast && isWide(view))
      return false;
  }
  if (llvm::any_of(reduction.full.views, isWide))
    return false;
  size_t operand = getLargest();
  size_t unit = reduction.getShape().size() - (reduction.folds() ? 2 : 1);
  const StridedView &largest = reduction.operands[operand];
  for (auto [dim, stride] : llvm::enumerate(largest.strides))
    if (largest.shape[dim] != 1 &&
        (dim == unit ? stride != 1 : stride % vector != 0))
      return false;
  for (const PointwiseGraph::Index &index : reads.getArgument(operand).indices)
    if (index.stride % vector != 0 || !reads.isConstant(index, unit))
      return false;
  return !isWide(largest) && largest.offset % vector == 0;
}

/// Whether neighbors are gathered one by one, and not from a table that stays
/// in the cache.
bool ReductionReader::scatters() const {
  constexpr int64_t smallTable = 32 << 10;
  GatheringReads reads = reduction.getReads();
  size_t unit = reduction.getShape().size() - (reduction.folds() ? 2 : 1);
  for (size_t i = 0; i < reads.views.size(); ++i)
    for (const PointwiseGraph::Index &index : reads.getArgument(i).indices)
      if (!reads.isConstant(index, unit) &&
          getStorageBytes(reads.views[i].base.getType()) > smallTable)
        return true;
  return false;
}

LogicalResult ReductionReader::readViews() {
  Type refused = arrangeAll();
  if (refused && !splitDimensions())
    return emitError() << "an operand or result of type " << refused
                       << " lies in another order than the others";
  if (scatters())
    return emitError() << "gathers neighbors one by one, which is as fast in a "
                          "kernel of its own";
  // Vectors of many operands would not fit into registers.
  constexpr int64_t mostBytes = 256;
  for (int64_t vector : {8, 4, 2})
    if (reduction.vector == 1 && movesInVectors(vector) &&
        reduction.getHeldBytes(vector) <= mostBytes)
      reduction.vector = vector;
  if (!reduction.folds())
    return success();
  SmallVector<int64_t> space = reduction.getShape();
  auto identity = llvm::to_vector(llvm::seq<int64_t>(0, space.size()));
  space.back() = reduction.vector;
  *std::prev(space.end(), 2) /= reduction.vector;
  return success(!arrange(reduction.operands, identity, space) &&
                 !arrange(reduction.full.views, identity, space));
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

int64_t StagedReduction::getOperandBytes() const {
  GatheringReads reads = getReads();
  int64_t bytes = 0, all = 0;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    int64_t size =
        getStorageBytes(getTensorType(operand.base).getElementType());
    bool isBroadcast = false;
    for (auto [dim, extent] : llvm::enumerate(operand.shape))
      isBroadcast |= extent > 1 && reads.isConstant(i, dim);
    all += size;
    bytes += isBroadcast ? 0 : size;
  }
  return bytes ? bytes : all;
}

int64_t StagedReduction::getScatteredBytes() const {
  auto count = [&](Type type, const StridedView &view) -> int64_t {
    size_t unit = view.shape.size() - 1;
    if (folds() && view.shape[unit] == 1)
      --unit;
    int64_t size = getStorageBytes(getElementTypeOrSelf(type));
    int64_t apart = std::abs(view.strides[unit]) * size;
    return view.shape[unit] > 1 ? std::clamp<int64_t>(apart, size, 32) - size
                                : 0;
  };
  int64_t bytes = 0;
  for (auto [value, view] : llvm::zip_equal(full.values, full.views))
    bytes += count(value.getType(), view);
  // The cache has what is broadcast.
  GatheringReads reads = getReads();
  for (auto [i, view] : llvm::enumerate(operands)) {
    bool isBroadcast = reads.isGathered(i);
    for (auto [dim, size] : llvm::enumerate(view.shape))
      isBroadcast |= size > 1 && reads.isConstant(i, dim);
    if (!isBroadcast)
      bytes += count(view.base.getType(), view);
  }
  return bytes;
}

bool StagedReduction::isSharedByColumn(size_t operand) const {
  GatheringReads reads = getReads();
  size_t last = operands[operand].shape.size() - 1;
  auto isConstant = [&](size_t dim) { return reads.isConstant(operand, dim); };
  return isConstant(1) && (!isApart() || isConstant(3)) &&
         (!folds() || isConstant(last));
}

int64_t StagedReduction::getHeldBytes(int64_t vector) const {
  GatheringReads reads = getReads();
  int64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (isSharedByColumn(i))
      continue;
    int64_t size =
        getStorageBytes(getTensorType(operand.base).getElementType());
    bool isConstant = reads.isConstant(i, operand.shape.size() - 1);
    int64_t count = folds() || !isConstant ? vector : 1;
    bytes += folds() ? std::max<int64_t>(4, count * size)
                     : count * std::max<int64_t>(4, size);
  }
  return bytes;
}

/// Reads the tensors in the dimensions of the reductions, else in those that
/// they have in common with what is around them.
static LogicalResult readTensors(FusedOp fused, StagedReduction &reduction,
                                 EmitError emitError) {
  {
    Silence silence(fused);
    ReductionReader own(fused, reduction, silence), common = own;
    if (common.refine())
      for (ReductionReader *reader : {&own, &common}) {
        if (succeeded(reader->read()))
          return success();
        reduction.forgetTensors();
      }
  }
  return ReductionReader(fused, reduction, emitError).read();
}

FailureOr<StagedReduction> StagedReduction::read(FusedOp fused,
                                                 EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  StagedReduction reduction;
  reduction.region = std::make_unique<RegionCopy>(fused);
  if (failed(readStages(reduction, emitError)) ||
      failed(readTensors(fused, reduction, emitError)))
    return failure();
  // Rows that lie together belong to `rowwise`, one row op at a time, unless
  // one read serves all: one pass of reductions, or rows that stay in
  // registers.
  auto isRow = [](Operation &op) {
    return isa<NormOp, SoftmaxOp, ReduceOp>(op);
  };
  constexpr int64_t lanes = 1024, most = 128;
  int64_t held = llvm::divideCeil(reduction.getLength(), lanes) *
                 reduction.getHeldBytes(reduction.vector);
  if (reduction.folds() && held > most &&
      reduction.stages.back().getPass(/*joins=*/true) > 0 &&
      llvm::count_if(fused.getBodyOps(), isRow) > 1)
    return emitError() << "a row of several passes stays in registers, at most "
                       << most << " bytes in each of " << lanes
                       << " threads, not " << held;
  if (reduction.repeats * reduction.length >= INT32_MAX)
    return emitError() << "reduces less than 2^31 elements, not "
                       << reduction.repeats * reduction.length;
  return std::move(reduction);
}
