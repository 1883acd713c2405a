//===- StagedReductionRegion.cpp - Reads reductions of one tensor ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedReduction.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The softmax of a permuted tensor as a permuted softmax.
static SoftmaxOp liftPermute(SoftmaxOp op) {
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  if (!permute)
    return op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto lifted = SoftmaxOp::create(b, permute.getOperand(),
                                  permute.getDims()[op.getDim()]);
  op.replaceAllUsesWith(
      PermuteOp::create(b, lifted, permute.getDims()).getResult());
  op.erase();
  return lifted;
}

/// The reduction of a permuted tensor as that of the tensor itself, so that it
/// is over the dimensions of the pointwise ops around it.
static ReduceOp liftPermute(ReduceOp op) {
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  if (!permute)
    return op;
  SmallVector<int64_t> dims, kept;
  for (auto [i, dim] : llvm::enumerate(permute.getDims()))
    (llvm::is_contained(op.getDims(), int64_t(i)) ? dims : kept).push_back(dim);
  // Places are counted in the order of the dimensions.
  if (!llvm::is_sorted(kept) || !llvm::is_sorted(dims))
    return op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto lifted = ReduceOp::create(b, op.getKind(), permute.getOperand(), dims,
                                 /*keep=*/false);
  Value result = lifted;
  if (result.getType() != op.getType())
    result = ReshapeOp::create(b, op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
  return lifted;
}

static Value castTo(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (getTensorType(value).getElementType() == element)
    return value;
  return CastOp::create(b, getTensorType(value).clone(element), value);
}

/// exp(x - max(x)) times the reciprocal of its sum, one per column, in the
/// words of a log-softmax of the same x, which may be beside it: a region
/// computes in f32 what it does not store.
static void writeOut(SoftmaxOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t dim = op.getDim();
  Value x = op.getOperand();
  Value largest = ReduceOp::create(b, ReduceKind::max, x, dim, /*keep=*/true);
  Value weights = ExpOp::create(b, SubOp::create(b, x, largest));
  Value sum = ReduceOp::create(b, ReduceKind::sum, weights, dim, /*keep=*/true);
  Value result = MulOp::create(b, weights, ReciprocalOp::create(b, sum));
  op.replaceAllUsesWith(result);
  op.erase();
}

/// The mean and the variance around it, or the mean of squares, in the
/// dimensions of what a permute before the norm permutes.
static void writeOut(NormOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getType());
  Type element = getComputeType(type.getElementType());
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  int64_t rank = type.getRank(), leading = rank - op.getDims();
  SmallVector<int64_t> order =
      permute ? SmallVector<int64_t>(permute.getDims())
              : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> inverse = invertPermutationVector(order);
  auto dims = llvm::to_vector(ArrayRef<int64_t>(order).drop_front(leading));
  llvm::sort(dims);

  Value x =
      castTo(b, permute ? permute.getOperand() : op.getOperand(), element);
  auto mean = [&](Value value) -> Value {
    return ReduceOp::create(b, ReduceKind::mean, value, dims, /*keep=*/true);
  };
  if (op.getKind() == NormKind::layer)
    x = SubOp::create(b, x, mean(x));
  Value eps = ConstantOp::create(
      b, DenseElementsAttr::get(
             RankedTensorType::get({}, element),
             b.getFloatAttr(element, op.getEps().convertToDouble())));
  Value scale =
      RsqrtOp::create(b, AddOp::create(b, mean(MulOp::create(b, x, x)), eps));
  Value result = MulOp::create(b, x, scale);
  // Weights of a row's elements, one dimension for each of the tensor's.
  auto spread = [&](Value weight) -> Value {
    SmallVector<int64_t> shape(leading, 1);
    llvm::append_range(shape, type.getShape().drop_front(leading));
    Value spread =
        ReshapeOp::create(b, getTensorType(weight).clone(shape), weight);
    return castTo(b, PermuteOp::create(b, spread, inverse), element);
  };
  if (Value weight = op.getWeight())
    result = MulOp::create(b, result, spread(weight));
  if (Value bias = op.getBias())
    result = AddOp::create(b, result, spread(bias));
  result = castTo(b, result, type.getElementType());
  if (permute)
    result = PermuteOp::create(b, result, order);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// Adds the reductions of a region, each to the first pass that can compute it.
static void addStages(StagedReduction &reduction) {
  // Passes that come before a value is known.
  llvm::DenseMap<Value, int64_t> before;
  for (Operation &op : reduction.region->get().getBodyOps()) {
    int64_t pass = 0;
    for (Value operand : op.getOperands())
      pass = std::max(pass, before.lookup(operand));
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduction.stages.push_back({reduce, pass++});
    for (Value result : op.getResults())
      before[result] = pass;
  }
  llvm::sort(reduction.stages, [](const auto &a, const auto &b) {
    return a.pass != b.pass ? a.pass < b.pass : a.op->isBeforeInBlock(b.op);
  });
}

/// Reads the reductions of a region.
static LogicalResult readStages(StagedReduction &reduction,
                                EmitError emitError) {
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps()))
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      writeOut(liftPermute(softmax));
    else if (auto norm = dyn_cast<NormOp>(op))
      writeOut(norm);
  FusedOp region = reduction.region->get();
  IRRewriter rewriter(region.getContext());
  DominanceInfo dominance(region);
  eliminateCommonSubExpressions(rewriter, dominance, region);
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps())) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      liftPermute(reduce);
    else if (!isa<PointwiseOpInterface, ViewOpInterface, ConstantOp, GatherOp>(
                 op))
      return emitError() << "'" << op.getName()
                         << "' is not a norm, softmax, reduction, pointwise "
                            "op, gather or view";
  }
  addStages(reduction);
  if (reduction.stages.empty())
    return emitError() << "needs a norm, a softmax or a reduction";
  ReduceOp first = reduction.stages.front().op;
  ArrayRef<int64_t> shape = getTensorType(first.getOperand()).getShape();
  for (auto [op, pass] : reduction.stages)
    if (getTensorType(op.getOperand()).getShape() != shape ||
        op.getDims() != first.getDims())
      return emitError() << "all reductions must be over the same dimensions "
                            "of tensors of one shape";
  return success();
}

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
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(dims, dim))
        kept.push_back(dim);
  }

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
  for (auto [op, pass] : reduction.stages) {
    values.push_back(op.getOperand());
    options.leading.push_back(op.getResult());
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
/// all columns, such as one value per row in a sum over all rows: what is
/// reduced, or the outer columns, becomes two dimensions.
bool ReductionReader::splitDimensions() {
  if (reduction.isApart())
    return false;
  int64_t outer = reduction.outer, length = reduction.length, count = 1;
  for (int64_t dim : order) {
    count *= shape[dim];
    if (count < outer) {
      reduction.outer = count;
      reduction.middle = outer / count;
    } else if (count > outer && count < outer * length) {
      reduction.repeats = count / outer;
      reduction.length = length / reduction.repeats;
    } else {
      continue;
    }
    if (!arrangeAll())
      return true;
    reduction.outer = outer;
    reduction.length = length;
    reduction.repeats = reduction.middle = 1;
  }
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
  for (int64_t vector : {8, 4, 2})
    if (reduction.vector == 1 && movesInVectors(vector))
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

FailureOr<StagedReduction> StagedReduction::read(FusedOp fused,
                                                 EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  StagedReduction reduction;
  reduction.region = std::make_unique<RegionCopy>(fused);
  if (failed(readStages(reduction, emitError)) ||
      failed(ReductionReader(fused, reduction, emitError).read()))
    return failure();
  // Rows that lie together belong to `rowwise`, one row op at a time, unless
  // one read serves several: one pass, or rows that stay in registers.
  auto isRow = [](Operation &op) {
    return isa<NormOp, SoftmaxOp, ReduceOp>(op);
  };
  constexpr int64_t lanes = 1024, most = 128;
  int64_t held = llvm::divideCeil(reduction.getLength(), lanes) *
                 reduction.getHeldBytes(reduction.vector);
  if (reduction.folds() && held > most && reduction.countPasses() > 1 &&
      llvm::count_if(fused.getBodyOps(), isRow) > 1)
    return emitError() << "a row of several passes stays in registers, at most "
                       << most << " bytes in each of " << lanes
                       << " threads, not " << held;
  if (reduction.repeats * reduction.length >= INT32_MAX)
    return emitError() << "reduces less than 2^31 elements, not "
                       << reduction.repeats * reduction.length;
  return std::move(reduction);
}
