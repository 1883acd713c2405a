//===- StagedReduction.cpp - Reductions over any dimension ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of one tensor over the same dimensions, each of a pointwise
// function of the operands and of the reductions before it, and pointwise ops
// on all of that. A softmax is two such reductions. Columns are read in vectors
// wherever their dimension lies.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
/// Results of one form: those of all elements, or of one element per column.
struct ReductionResults {
  SmallVector<Value> values;
  SmallVector<StridedView> views;
  SmallVector<int64_t> buffers;
};

struct StagedReduction {
  /// The region with softmax written out.
  std::unique_ptr<RegionCopy> region;
  SmallVector<ReduceOp> stages;
  /// What stages reduce, then the full results; and the results of columns.
  std::optional<ScalarFunction> body, columnBody;
  /// Views of [outer, length, inner], of [outer, inner] those of columns.
  SmallVector<StridedView> operands, columnOperands;
  ReductionResults full, column;
  int64_t outer = 1, length = 1, inner = 1;
  /// Neighboring columns of a thread; elements of a row where `inner` is 1.
  int64_t vector = 1;

  bool folds() const { return inner == 1; }
  /// Vectors that are reduced together, and threads' columns.
  int64_t getLength() const { return folds() ? length / vector : length; }
  int64_t countColumns() const {
    return outer * (folds() ? 1 : inner / vector);
  }
  int64_t countPasses() const {
    return stages.size() + !full.views.empty();
  }
  /// Of one element of all operands.
  int64_t getOperandBytes() const {
    int64_t bytes = 0;
    for (const StridedView &operand : operands)
      bytes += getStorageBytes(getTensorType(operand.base).getElementType());
    return bytes;
  }
  /// Of the registers that hold one vector of all operands.
  int64_t getHeldBytes() const {
    int64_t bytes = 0;
    for (const StridedView &operand : operands)
      bytes += std::max<int64_t>(
          4, vector *
                 getStorageBytes(getTensorType(operand.base).getElementType()));
    return bytes;
  }
  int64_t getResultBytes() const {
    int64_t bytes = 0;
    for (Value value : full.values)
      bytes += getStorageBytes(getTensorType(value).getElementType());
    return bytes;
  }
};

class StagedReductionPlan : public Plan {
public:
  StagedReductionPlan(const Family &family, FusedOp fused,
                      const MachineDescription &machine,
                      StagedReduction reduction)
      : Plan(family, fused, machine), reduction(std::move(reduction)) {}

  static FailureOr<StagedReduction> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t countBlocks(CudaReductionAttr schedule) const {
    return llvm::divideCeilSigned(reduction.countColumns(),
                                  schedule.getColumns()) *
           schedule.getSplits();
  }

  StagedReduction reduction;
};

class StagedReductionFamily : public FamilyOf<StagedReductionPlan> {
public:
  StagedReductionFamily()
      : FamilyOf(reductionRule, "cuda", {&CudaReductionAttr::kind}) {}
};
} // namespace

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

/// exp(x - max(x)) over its sum.
static void writeOut(SoftmaxOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getType());
  auto cast = [&](Value value, Type element) -> Value {
    if (getTensorType(value).getElementType() == element)
      return value;
    return CastOp::create(b, getTensorType(value).clone(element), value);
  };
  int64_t dim = op.getDim();
  Value x = cast(op.getOperand(), getComputeType(type.getElementType()));
  Value largest = ReduceOp::create(b, ReduceKind::max, x, dim, /*keep=*/true);
  Value weights = ExpOp::create(b, SubOp::create(b, x, largest));
  Value sum = ReduceOp::create(b, ReduceKind::sum, weights, dim, /*keep=*/true);
  Value result = DivOp::create(b, weights, sum);
  op.replaceAllUsesWith(cast(result, type.getElementType()));
  op.erase();
}

/// Reads the reductions of a region in their order.
static LogicalResult readStages(StagedReduction &reduction,
                                EmitError emitError) {
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps()))
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      writeOut(liftPermute(softmax));
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps())) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduction.stages.push_back(liftPermute(reduce));
    else if (!isa<PointwiseOpInterface, ViewOpInterface, ConstantOp>(op))
      return emitError() << "'" << op.getName()
                         << "' is not a softmax, reduction, pointwise op or "
                            "view";
  }
  if (reduction.stages.empty())
    return emitError() << "needs a softmax or a reduction";
  ReduceOp first = reduction.stages.front();
  ArrayRef<int64_t> shape = getTensorType(first.getOperand()).getShape();
  for (ReduceOp stage : reduction.stages)
    if (getTensorType(stage.getOperand()).getShape() != shape ||
        stage.getDims() != first.getDims())
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
    ReduceOp first = reduction.stages.front();
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
  LogicalResult arrange(MutableArrayRef<StridedView> views,
                        ArrayRef<int64_t> order, ArrayRef<int64_t> newShape);
  bool movesInVectors(int64_t vector) const;

  SmallVector<int64_t> getKeptShape() const {
    return llvm::map_to_vector(kept, [&](int64_t dim) { return shape[dim]; });
  }
  /// The operand that has most elements.
  const StridedView &getLargest() const;

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
    FailureOr<StridedView> view = destination->view.reshape(
        count == elements ? shape : getKeptShape());
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
  SmallVector<Value> values;
  for (ReduceOp stage : reduction.stages) {
    values.push_back(stage.getOperand());
    options.leading.push_back(stage.getResult());
  }
  llvm::append_range(values, reduction.full.values);
  auto getViews = [&](const ScalarFunction &function) {
    return llvm::map_to_vector(
        function.getArguments().drop_front(options.leading.size()),
        [](const ScalarFunction::Argument &argument) { return argument.view; });
  };

  ScalarFunction::Options perElement = options;
  perElement.rowValues = options.leading;
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
  if (reduction.column.values.empty())
    return success();
  FailureOr<ScalarFunction> columnBody = ScalarFunction::get(
      reduction.column.values, getKeptShape(), options, emitError);
  if (failed(columnBody))
    return failure();
  reduction.columnOperands = getViews(*columnBody);
  reduction.columnBody = std::move(*columnBody);
  return success();
}

const StridedView &ReductionReader::getLargest() const {
  auto count = [](const StridedView &view) {
    int64_t elements = 1;
    for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
      elements *= stride ? size : 1;
    return elements;
  };
  return *llvm::max_element(reduction.operands,
                            [&](const auto &a, const auto &b) {
                              return count(a) < count(b);
                            });
}

/// Orders dimensions as the largest operand has them in memory. The reduced
/// ones must lie together.
LogicalResult ReductionReader::orderDimensions() {
  const StridedView &largest = getLargest();
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    order.push_back(dim);
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    // Dimensions that are broadcast come first; those of size 1 stay where
    // they are among their neighbors.
    auto key = [&](int64_t dim) {
      return largest.strides[dim] == 0 ? INT64_MAX : largest.strides[dim];
    };
    return key(a) > key(b);
  });
  llvm::erase_if(order, [&](int64_t dim) { return shape[dim] == 1; });
  auto isReduced = [&](int64_t dim) { return llvm::is_contained(dims, dim); };
  auto first = llvm::find_if(order, isReduced);
  auto last = std::find_if_not(first, order.end(), isReduced);
  if (first == order.end() || std::any_of(last, order.end(), isReduced))
    return emitError() << "the reduced dimensions do not lie together in "
                          "memory, or have one element";
  // Places are counted in the order of the dimensions.
  if (!std::is_sorted(first, last) &&
      llvm::any_of(reduction.stages, [](ReduceOp stage) {
        return cast<RowOpInterface>(*stage).getArithmetic().locates;
      }))
    return emitError() << "places are counted in another order than memory's";
  auto getSize = [&](auto begin, auto end) {
    int64_t size = 1;
    for (; begin != end; ++begin)
      size *= shape[*begin];
    return size;
  };
  reduction.outer = getSize(order.begin(), first);
  reduction.length = getSize(first, last);
  reduction.inner = getSize(last, order.end());
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

LogicalResult ReductionReader::arrange(MutableArrayRef<StridedView> views,
                                       ArrayRef<int64_t> order,
                                       ArrayRef<int64_t> newShape) {
  for (StridedView &view : views) {
    FailureOr<StridedView> arranged = view.permute(order).reshape(newShape);
    if (failed(arranged))
      return emitError() << "an operand or result of type "
                         << view.base.getType()
                         << " lies in another order than the others";
    view = *arranged;
  }
  return success();
}

/// Whether a thread can take so many neighboring elements: those of the largest
/// operand are one access, and no others are more than one.
bool ReductionReader::movesInVectors(int64_t vector) const {
  if ((reduction.folds() ? reduction.length : reduction.inner) % vector)
    return false;
  for (auto *list : {&reduction.operands, &reduction.full.views})
    for (const StridedView &view : *list)
      if (getStorageBytes(getTensorType(view.base).getElementType()) * vector >
          16)
        return false;
  const StridedView &largest = getLargest();
  size_t unit = reduction.folds() ? 1 : 2;
  for (auto [dim, stride] : llvm::enumerate(largest.strides))
    if (largest.shape[dim] != 1 &&
        (dim == unit ? stride != 1 : stride % vector != 0))
      return false;
  return largest.offset % vector == 0;
}

LogicalResult ReductionReader::readViews() {
  SmallVector<int64_t> space{reduction.outer, reduction.length,
                             reduction.inner};
  SmallVector<int64_t> columns{reduction.outer, reduction.inner};
  if (failed(arrange(reduction.operands, order, space)) ||
      failed(arrange(reduction.full.views, order, space)) ||
      failed(arrange(reduction.columnOperands, keptOrder, columns)) ||
      failed(arrange(reduction.column.views, keptOrder, columns)))
    return failure();
  for (int64_t vector : {8, 4, 2})
    if (reduction.vector == 1 && movesInVectors(vector))
      reduction.vector = vector;
  if (!reduction.folds())
    return success();
  auto identity = llvm::to_vector(llvm::seq<int64_t>(0, 3));
  space = {reduction.outer, reduction.getLength(), reduction.vector};
  return success(succeeded(arrange(reduction.operands, identity, space)) &&
                 succeeded(arrange(reduction.full.views, identity, space)));
}

FailureOr<StagedReduction> StagedReductionPlan::read(FusedOp fused,
                                                     EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  StagedReduction reduction;
  reduction.region = std::make_unique<RegionCopy>(fused);
  if (failed(readStages(reduction, emitError)) ||
      failed(ReductionReader(fused, reduction, emitError).read()))
    return failure();
  // Rows that lie together belong to `rowwise`, one row op at a time.
  auto isRow = [](Operation &op) { return isa<SoftmaxOp, ReduceOp>(op); };
  if (reduction.folds() && llvm::count_if(fused.getBodyOps(), isRow) > 1)
    return emitError() << "several reductions must not be over the last "
                          "dimension in memory";
  if (reduction.length >= INT32_MAX)
    return emitError() << "reduces less than 2^31 elements, not "
                       << reduction.length;
  return std::move(reduction);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult StagedReductionPlan::checkLimits(ScheduleAttr schedule,
                                               EmitError emitError) const {
  auto own = cast<CudaReductionAttr>(schedule);
  int64_t lanes = own.getLanes(), threads = own.getColumns() * lanes;
  if (threads < 32 || threads > 1024)
    return emitError() << "a block has 32 to 1024 threads, not " << threads;
  if (own.getSplits() > 1) {
    if (reduction.countPasses() > 1)
      return emitError() << "only one reduction without results of all "
                            "elements can be split";
    if (lanes * own.getSplits() > reduction.getLength())
      return emitError() << "a column of " << reduction.getLength()
                         << " elements cannot be shared by " << own.getSplits()
                         << " splits of " << lanes << " lanes";
  }
  if (own.isHeld()) {
    if (reduction.countPasses() == 1)
      return emitError() << "a single pass has nothing to hold";
    int64_t limit = threads > 512 ? 128 : 256;
    int64_t bytes = llvm::divideCeilSigned(reduction.getLength(), lanes) *
                    reduction.getHeldBytes();
    if (bytes > limit)
      return emitError() << "a thread holds at most " << limit
                         << " bytes of operands, not " << bytes;
  }
  if (countBlocks(own) >= INT32_MAX)
    return emitError() << "has too many columns for one grid: "
                       << reduction.countColumns();
  // The state of a place is a value and a number.
  return requireSharedMemory(threads * reduction.vector * 16, machine,
                             emitError);
}

SpaceAttrInterface StagedReductionPlan::getSpace() const {
  int64_t length = reduction.getLength();
  int64_t longest = llvm::PowerOf2Ceil(length);
  llvm::SmallSetVector<int64_t, 4> columns, lanes, splits;
  SmallVector<ReductionOperands> operands{ReductionOperands::read};
  bool isMultiPass = reduction.countPasses() > 1;
  if (reduction.folds()) {
    // A warp's loads are neighbors; short rows share a block.
    int64_t most = std::clamp<int64_t>(longest / 2, 1, isMultiPass ? 1024 : 512);
    lanes.insert(most);
    lanes.insert(std::max<int64_t>(1, most / 4));
    for (int64_t count : lanes)
      columns.insert(std::max<int64_t>(1, 128 / count));
  } else {
    // 128 bytes of a row are one line; short columns share a block.
    int64_t bytes = reduction.vector * reduction.getOperandBytes();
    int64_t line = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(128 / bytes), 1,
        llvm::PowerOf2Ceil(reduction.inner / reduction.vector));
    int64_t least = std::max(line, 128 / std::min<int64_t>(longest, 128));
    columns.insert(least);
    columns.insert(std::min<int64_t>(256, 4 * least));
    for (int64_t threads : {256, 512, 1024})
      lanes.insert(std::clamp<int64_t>(threads / least, 1, longest));
  }
  if (isMultiPass)
    operands.push_back(ReductionOperands::held);
  splits.insert(1);
  if (!isMultiPass) {
    int64_t blocks = llvm::divideCeilSigned(reduction.countColumns(),
                                            columns.front());
    int64_t missing =
        llvm::divideCeilSigned(8 * machine.multiprocessors, blocks);
    int64_t most = length / (8 * lanes.front());
    splits.insert(std::clamp<int64_t>(std::min(missing, most), 1, 1024));
  }
  return CudaReductionAttr::getSpace(
      fused.getContext(), columns.getArrayRef(), lanes.getArrayRef(),
      splits.getArrayRef(), operands);
}

double StagedReductionPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaReductionAttr>(schedule);
  double elements =
      double(reduction.outer) * reduction.length * reduction.inner;
  double passes = own.isHeld() ? 1 : reduction.countPasses();
  double bytes = elements * (passes * reduction.getOperandBytes() +
                             reduction.getResultBytes());
  double threads = double(own.getColumns()) * own.getLanes();
  double blocks = double(countBlocks(own));
  // Bytes in flight: up to four vectors per thread, all of what is held.
  double steps = llvm::divideCeilSigned(
      reduction.getLength(), own.getLanes() * own.getSplits());
  double inFlight = std::min(steps, own.isHeld() ? 16.0 : 4.0) *
                    reduction.vector * reduction.getOperandBytes();
  double resident =
      std::min(blocks, machine.multiprocessors * std::floor(2048 / threads));
  double wanted = 32e3 * machine.multiprocessors;
  double efficiency =
      0.9 * std::min(1.0, resident * threads * inFlight / wanted);
  // Parts of lines, and idle lanes.
  double line = std::min(own.getColumns() * reduction.vector, reduction.inner) *
                reduction.getOperandBytes();
  if (own.getColumns() * reduction.vector < reduction.inner && line < 64)
    efficiency *= line / 64;
  efficiency *= double(reduction.getLength()) /
                (steps * own.getLanes() * own.getSplits());
  double barriers = 2e-8 * llvm::Log2_64(own.getLanes()) *
                    std::ceil(blocks / (machine.multiprocessors *
                                        std::floor(2048 / threads)));
  return 1e6 * (bytes / (machine.bandwidth * std::max(efficiency, 1e-3)) +
                barriers * reduction.stages.size() +
                machine.launchSeconds * (own.getSplits() > 1 ? 2 : 1));
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// What ReductionStages.cuh calls a reduction. A boolean is 0 or 1, and a sum
/// of both is 1.
static StringRef getWord(ReduceKind kind, bool isBoolean) {
  switch (kind) {
  case ReduceKind::sum:
    return isBoolean ? "Folded<RunningMaximum>" : "Folded<RunningSum>";
  case ReduceKind::mean:
    return "Folded<RunningSum, true>";
  case ReduceKind::max:
    return "Folded<RunningMaximum>";
  case ReduceKind::min:
    return "Folded<RunningMinimum>";
  case ReduceKind::prod:
    return isBoolean ? "Folded<RunningMinimum>" : "Folded<RunningProduct>";
  case ReduceKind::argmax:
    return "Place<RunningMaximum>";
  case ReduceKind::argmin:
    return "Place<RunningMinimum>";
  }
  llvm_unreachable("all kinds are above");
}

/// `Operands<Strided<...>, ...>`.
static void printViews(raw_ostream &os, ArrayRef<StridedView> views) {
  os << "Operands<";
  llvm::interleave(
      views,
      [&](const StridedView &view) {
        printStrided(os, view, getBuffer(view.base));
      },
      [&] { os << ",\n             "; });
  os << ">";
}

/// `Results<Result<functor, Strided<...>>, ...>`.
static void printReductionResults(raw_ostream &os,
                                  ArrayRef<std::string> functors,
                                  const ReductionResults &results) {
  os << "Results<";
  llvm::interleave(
      llvm::zip_equal(functors, results.views, results.buffers),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", ";
        printStrided(os, std::get<1>(result), std::get<2>(result));
        os << ">";
      },
      [&] { os << ",\n            "; });
  os << ">";
}

LogicalResult StagedReductionPlan::emit(ArrayRef<KernelVariant> variants,
                                        KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaReductionAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "StagedReduction.cuh");

  SmallVector<std::string> names;
  for (size_t i = 0; i < reduction.stages.size(); ++i)
    names.push_back("reduced" + std::to_string(i));
  SmallVector<StringRef> leading(names.begin(), names.end());
  auto print = [&](const ScalarFunction &function, StringRef name,
                   size_t count) {
    SmallVector<std::string> functors;
    for (size_t i = 0; i < count; ++i) {
      functors.push_back((name + Twine(i)).str());
      function.printFunctor(os, functors.back(),
                            getArgumentNames(function, leading), i);
      os << '\n';
    }
    return functors;
  };
  size_t stages = reduction.stages.size();
  SmallVector<std::string> functors =
      print(*reduction.body, "Body", stages + reduction.full.views.size());
  SmallVector<std::string> columnFunctors;
  if (reduction.columnBody)
    columnFunctors =
        print(*reduction.columnBody, "Column", reduction.column.views.size());

  os << llvm::formatv(
      "using Kernel = StagedReduction<\n    ReductionShape<{0}, {1}, {2}{3}>,"
      "\n    Stages<",
      reduction.outer, reduction.getLength(),
      reduction.folds() ? reduction.vector : reduction.inner,
      reduction.folds() ? ", true" : "");
  llvm::interleave(
      llvm::enumerate(reduction.stages),
      [&](auto stage) {
        ReduceOp op = stage.value();
        Type element = getTensorType(op.getOperand()).getElementType();
        os << "Stage<" << getWord(op.getKind(), element.isInteger(1)) << ", "
           << getScalarName(getComputeType(element)) << ", "
           << functors[stage.index()] << ">";
      },
      [&] { os << ",\n           "; });
  os << ">,\n    ";
  printViews(os, reduction.operands);
  os << ",\n    ";
  printReductionResults(os, ArrayRef(functors).drop_front(stages),
                        reduction.full);
  os << ",\n    ";
  printViews(os, reduction.columnOperands);
  os << ",\n    ";
  printReductionResults(os, columnFunctors, reduction.column);
  os << llvm::formatv(",\n    ReductionSchedule<{0}, {1}, {2}, {3}, {4}>>;\n",
                      reduction.vector, own.getColumns(), own.getLanes(),
                      own.getSplits(), own.isHeld());
  printFooter(os, symbol);
  return success();
}

void fact::registerStagedReductionFamily(DialectRegistry &registry) {
  registerFamily<StagedReductionFamily>(registry);
}
