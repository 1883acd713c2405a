//===- Pointwise.cpp - Pointwise graphs and copies over strided tensors ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any graph of pointwise ops and views, whose operands may be gathered by
// indices (embeddings, resized images) or be parts of concatenations (padding),
// and rotary embeddings, which are two such graphs: one for each half of the
// pairs that they turn.
//
//===----------------------------------------------------------------------===//

#include "Interleaving.h"
#include "PointwiseTiling.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// One index space
//===----------------------------------------------------------------------===//

/// Puts the dimensions into the order in which a result lies in memory, so that
/// neighbors of the index space are stored together.
static void followStores(MutableArrayRef<StridedView> views,
                         const StridedView &result) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, result.shape.size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return result.strides[a] > result.strides[b];
  });
  for (StridedView &view : views)
    view = view.permute(order);
}

/// Whether a coordinate is inside at all points.
static bool isAlwaysInside(const PointwiseGraph::Bound &bound) {
  int64_t low = bound.coordinate.offset, high = low;
  for (auto [size, stride] :
       llvm::zip_equal(bound.coordinate.shape, bound.coordinate.strides))
    (stride < 0 ? low : high) += (size - 1) * stride;
  return low >= bound.lower && high < bound.upper;
}

/// Whether kernels can compute a coordinate of every point in 32 bits.
static bool fits32Bits(const StridedView &coordinate) {
  int64_t largest = std::abs(coordinate.offset);
  for (auto [size, stride] :
       llvm::zip_equal(coordinate.shape, coordinate.strides))
    largest += (size - 1) * std::abs(stride);
  return largest <= INT32_MAX;
}

FailureOr<Pointwise> Pointwise::get(ArrayRef<Destination> destinations,
                                    ArrayRef<int64_t> resultBuffers, bool fast,
                                    EmitError emitError) {
  SmallVector<Value> values;
  SmallVector<StridedView> results;
  for (const Destination &destination : destinations) {
    values.push_back(destination.value);
    results.push_back(destination.view);
  }
  if (failed(shareIndexSpace(results, emitError)))
    return failure();
  ScalarFunction::Options options;
  options.fast = fast;
  options.firstStored = 0;
  options.readsGathersAndConcats = true;
  FailureOr<ScalarFunction> body =
      ScalarFunction::get(values, results.front().shape, options, emitError);
  if (failed(body))
    return failure();

  SmallVector<StridedView> views;
  std::vector<std::vector<PointwiseGraph::Bound>> bounds;
  std::vector<std::vector<PointwiseGraph::Shift>> shifts;
  for (const ScalarFunction::Argument &argument : body->getArguments()) {
    if (argument.isCoordinate && !fits32Bits(argument.view))
      return emitError() << "coordinates of parts must fit 32 bits";
    views.push_back(argument.view);
    bounds.push_back(argument.bounds);
    shifts.push_back(argument.shifts);
  }
  size_t operands = views.size();
  llvm::append_range(views, results);
  for (const Destination &destination : destinations) {
    bounds.emplace_back();
    for (PointwiseGraph::Bound bound : destination.bounds) {
      FailureOr<StridedView> coordinate =
          bound.coordinate.reshape(results.front().shape);
      if (failed(coordinate))
        return emitError() << "results are cropped too differently for one "
                              "index space";
      bound.coordinate = *coordinate;
      if (!isAlwaysInside(bound))
        bounds.back().push_back(bound);
    }
  }
  SmallVector<StridedView *> coordinates;
  for (auto &list : bounds)
    for (PointwiseGraph::Bound &bound : list) {
      if (bound.upper > INT32_MAX || !fits32Bits(bound.coordinate))
        return emitError() << "coordinates of bounds must fit 32 bits";
      coordinates.push_back(&bound.coordinate);
    }
  for (auto &list : shifts)
    for (PointwiseGraph::Shift &shift : list) {
      if (std::abs(shift.before) > INT32_MAX || !fits32Bits(shift.coordinate))
        return emitError() << "coordinates of shifts must fit 32 bits";
      coordinates.push_back(&shift.coordinate);
    }
  for (const StridedView *coordinate : coordinates)
    views.push_back(*coordinate);
  followStores(views, results.front());
  collapseDimensions(views);
  if (views.front().shape.size() > 8)
    return emitError() << "needs " << views.front().shape.size()
                       << " dimensions even after collapsing, more than 8";
  for (auto [coordinate, view] : llvm::zip_equal(
           coordinates, ArrayRef(views).take_back(coordinates.size())))
    *coordinate = view;
  std::vector<std::vector<PointwiseGraph::Bound>> resultBounds(
      bounds.begin() + operands, bounds.end());
  bounds.resize(operands);
  return Pointwise{
      SmallVector<StridedView>(ArrayRef(views).take_front(operands)),
      SmallVector<StridedView>(ArrayRef(views).slice(operands, results.size())),
      std::move(bounds),
      std::move(shifts),
      std::move(resultBounds),
      SmallVector<int64_t>(resultBuffers),
      std::move(*body),
      nullptr};
}

bool Pointwise::readsParts() const {
  return llvm::any_of(bounds, [](const auto &list) { return !list.empty(); });
}

bool Pointwise::readsShifted() const {
  return llvm::any_of(shifts, [](const auto &list) { return !list.empty(); });
}

bool Pointwise::isCropped() const {
  return llvm::any_of(resultBounds,
                      [](const auto &list) { return !list.empty(); });
}

bool Pointwise::isPlain(size_t operand) const {
  const ScalarFunction::Argument &argument = getArgument(operand);
  return !argument.isCoordinate && argument.indices.empty() &&
         argument.bounds.empty() && argument.shifts.empty();
}

bool Pointwise::isPlain() const {
  return llvm::all_of(llvm::seq<size_t>(0, operands.size()),
                      [&](size_t operand) { return isPlain(operand); });
}

int64_t Pointwise::getWidestBytes() const {
  int64_t bytes = 1;
  // Three elements fill no access: a vector of them takes several anyway.
  auto add = [&](const StridedView &view, int64_t together) {
    int64_t one = getStorageBytes(getTensorType(view.base).getElementType());
    bytes = std::max(bytes, one * (together == 3 ? 1 : together));
  };
  int64_t run =
      getRunLength(results, resultBuffers, results.front().shape.size() - 1);
  for (const StridedView &result : results)
    add(result, run);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!getArgument(i).isCoordinate && operand.strides.back() == 1)
      add(operand, 1);
    else if (isPlain(i) && getPickedWidth(operand, 1) > 1)
      add(operand, operand.strides.back());
  return bytes;
}

bool Pointwise::sharesIndices() const {
  size_t last = getShape().size() - 1;
  bool differs = false;
  GatheringReads reads = getReads();
  for (const ScalarFunction::Argument &argument : body.getArguments())
    for (const PointwiseGraph::Index &index : argument.indices) {
      if (!reads.isConstant(index, 0))
        return false;
      differs |= !reads.isConstant(index, last);
    }
  return last > 0 && differs;
}

int64_t
Pointwise::getVectorsPerThread(int64_t threads, int64_t vector,
                               const MachineDescription &machine) const {
  // Loads in flight, each of which is a register or two.
  constexpr int64_t mostLoads = 32;
  if (sharesIndices()) {
    int64_t loads =
        vector * llvm::count_if(body.getArguments(), [](const auto &argument) {
          return !argument.indices.empty();
        });
    int64_t rows = std::clamp<int64_t>(mostLoads / loads, 2, 8);
    while (rows > 1 && (rows > getShape().front() ||
                        getElements() / (threads * vector * rows) <
                            4 * machine.multiprocessors))
      rows /= 2;
    return rows;
  }
  // Vectors in flight hide latency once every multiprocessor is full: two, or
  // more short ones.
  bool many = getElements() / (threads * vector) > 16 * machine.multiprocessors;
  int64_t count = !many ? 1 : vector * getWidestBytes() > 8 ? 2 : 4;
  int64_t loads = vector * llvm::count_if(shifts, [](const auto &list) {
                    return !list.empty();
                  });
  while (count > 1 && count * loads > mostLoads)
    count /= 2;
  return count;
}

/// Whether vectors of a shifted operand are contiguous and aligned, as
/// `Shifted` decides.
static bool movesInVectors(const StridedView &view,
                           ArrayRef<PointwiseGraph::Shift> shifts,
                           int64_t vector) {
  auto keeps = [&](const StridedView &of, int64_t begin) {
    return begin % vector == 0 &&
           llvm::all_of(ArrayRef(of.strides).drop_back(),
                        [&](int64_t stride) { return stride % vector == 0; });
  };
  return view.strides.back() == 1 && keeps(view, view.offset) &&
         llvm::all_of(shifts, [&](const PointwiseGraph::Shift &shift) {
           int64_t inner = shift.coordinate.strides.back();
           return shift.distance % vector == 0 &&
                  (inner == 0 ||
                   (inner == 1 && keeps(shift.coordinate, shift.before)));
         });
}

int64_t Pointwise::limitVector(int64_t vector) const {
  // Neighbors in a warp gather neighbors: longer vectors would spread them.
  bool gathers = sharesIndices();
  if (gathers)
    vector = std::min<int64_t>(vector, 2);
  int64_t bytes = getWidestBytes();
  while (vector > 1 && vector * bytes > 16)
    vector /= 2;
  // Several operands that are read element by element: neighbors in a warp
  // read neighbors, so that a load is one line.
  while (vector > 1 && vector * bytes > 4 &&
         llvm::count_if(llvm::zip_equal(operands, shifts), [&](auto operand) {
           auto &[view, moves] = operand;
           return !moves.empty() && view.strides.back() != 0 &&
                  !movesInVectors(view, moves, vector);
         }) > 1)
    vector /= 2;
  int64_t ofRows = vector, ofAll = vector;
  while (getShape().back() % ofRows != 0)
    ofRows /= 2;
  bool isContiguous = llvm::all_of(results, [](const StridedView &result) {
    return result.isRowMajor() && result.offset == 0;
  });
  if (!isContiguous || gathers || isCropped() || ofRows == vector ||
      ofRows * bytes >= 8)
    return ofRows;
  while (getElements() % ofAll != 0 || ofAll * bytes > 16)
    ofAll /= 2;
  return std::max(ofRows, ofAll);
}

SmallVector<std::string> Pointwise::printFunctors(raw_ostream &os,
                                                  StringRef name) const {
  SmallVector<std::string> functors =
      fact::printFunctors(os, body, {}, name, results.size());
  SmallVector<std::string> names = getArgumentNames(body, {});
  for (const ScalarFunction::Argument &argument : body.getArguments())
    for (const PointwiseGraph::Index &index : argument.indices) {
      functors.push_back(
          (name + "Index" + Twine(index.node - results.size())).str());
      body.printFunctor(os, functors.back(), names, index.node);
      os << '\n';
    }
  return functors;
}

void Pointwise::printResults(raw_ostream &os,
                             ArrayRef<std::string> functors) const {
  os << "Results<";
  llvm::interleave(
      llvm::zip(functors, results, resultBuffers, resultBounds),
      [&](auto result) {
        const auto &[functor, view, buffer, bounds] = result;
        os << "Result<" << functor << ", "
           << (bounds.empty() ? "" : "Guarded<");
        printStrided(os, view, buffer);
        printBounds(os, bounds);
        os << (bounds.empty() ? ">" : ">>");
      },
      [&] { os << ",\n            "; });
  os << '>';
}

void Pointwise::printKernel(raw_ostream &os, ArrayRef<std::string> functors,
                            CudaPointwiseAttr schedule,
                            const MachineDescription &machine) const {
  GatheringReads reads = getReads();
  int64_t threads = schedule.getThreads();
  int64_t vector = limitVector(schedule.getVector());
  os << "Pointwise<\n    Extents<";
  llvm::interleaveComma(getShape(), os);
  os << ">,\n    Operands<";
  llvm::interleave(
      llvm::seq<size_t>(0, operands.size()),
      [&](size_t operand) {
        if (isPlain(operand))
          printPicked(os, operands[operand],
                      getBuffer(getArgument(operand).value), vector);
        else
          reads.print(os, operand, functors);
      },
      [&] { os << ",\n             "; });
  os << ">,\n    ";
  printResults(os, functors);
  int64_t count = getVectorsPerThread(threads, vector, machine);
  os << ",\n    PointwiseSchedule<" << threads << ", " << vector << ", "
     << count << (sharesIndices() && count > 1 ? ", true>>" : ">>");
}

SpaceAttrInterface fact::getPointwiseSpace(MLIRContext *context,
                                           int64_t widestVector) {
  SmallVector<int64_t> vectors{widestVector};
  if (widestVector > 1)
    vectors.push_back(widestVector / 2);
  return CudaPointwiseAttr::getSpace(context, {128, 256, 512}, vectors);
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// A rotary embedding, as one pass over pairs that writes both halves.
static FailureOr<Pointwise> getRotary(FusedOp fused, EmitError emitError) {
  auto region = std::make_unique<RegionCopy>(fused);
  FusedOp copy = region->get();
  auto rotary = getOnly<RotaryOp>(copy);
  if (!rotary || copy.getNumResults() != 1)
    return emitError() << "needs exactly one 'fact.rotary' and one result";
  FailureOr<Destination> destination =
      getDestination(copy.getYield()->getOperand(0), emitError);
  if (failed(destination))
    return failure();
  if (destination->value != rotary.getResult())
    return emitError() << "the result must be that of 'fact.rotary'";

  int64_t buffer = getResultBuffer(copy, 0);
  FailureOr<Pointwise> pointwise =
      Pointwise::get(expandRotary(rotary, destination->view), {buffer, buffer},
                     hasOnly16BitResults(copy), emitError);
  if (succeeded(pointwise))
    pointwise->region = std::move(region);
  return pointwise;
}

namespace {
/// What a kernel computes at a point: the yielded values; those before the last
/// views, which are strides of the results; or the inputs of their last
/// concatenations, which are as large as each other.
enum class Computed { Yielded, BeforeViews, Parts };
} // namespace

/// The inputs of a concatenation, each with its part of the destination; the
/// destination itself where there is none.
static SmallVector<Destination> getPartsOf(const Destination &destination) {
  if (auto concat = destination.value.getDefiningOp<ConcatOp>())
    return getParts(concat, destination);
  return {destination};
}

static FailureOr<Pointwise> getPointwise(FusedOp fused, Computed computed,
                                         EmitError emitError) {
  SmallVector<Destination> results;
  SmallVector<int64_t> buffers;
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    Destination destination{yielded, StridedView::identity(yielded)};
    if (computed != Computed::Yielded) {
      FailureOr<Destination> stripped = getDestination(yielded, emitError);
      if (failed(stripped))
        return failure();
      destination = *stripped;
    }
    if (computed == Computed::Parts)
      llvm::append_range(results, getPartsOf(destination));
    else
      results.push_back(std::move(destination));
    buffers.resize(results.size(), getResultBuffer(fused, i));
  }
  FailureOr<Pointwise> pointwise =
      Pointwise::get(results, buffers, hasOnly16BitResults(fused), emitError);
  if (failed(pointwise) ||
      !(pointwise->readsParts() || pointwise->readsShifted()))
    return pointwise;
  if (failed(checkConcats(*pointwise, emitError)))
    return failure();
  for (auto concat : fused.getBody().getOps<ConcatOp>())
    if (pointwise->readsParts() &&
        2 * concat.getType().getNumElements() < pointwise->getElements())
      return emitError() << "reads each element of 'fact.concat' more than "
                            "twice, which costs more than a copy";
  if (pointwise->wastesSectors())
    return emitError() << "reads the parts of 'fact.concat' or other operands "
                          "across their rows";
  return pointwise;
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

namespace {
class PointwisePlan : public Plan {
public:
  PointwisePlan(const Family &family, FusedOp fused,
                const MachineDescription &machine, Pointwise pointwise)
      : Plan(family, fused, machine), pointwise(std::move(pointwise)),
        tiling(PointwiseTiling::get(this->pointwise)) {}

  static FailureOr<Pointwise> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    if (tiling)
      return tiling->getSpace(fused.getContext());
    return getPointwiseSpace(fused.getContext(), pointwise.limitVector(8));
  }
  /// A tile is not worth its barrier where one dimension is very short.
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  Pointwise pointwise;
  std::optional<PointwiseTiling> tiling;
};

class PointwiseFamily : public FamilyOf<PointwisePlan> {
public:
  PointwiseFamily()
      : FamilyOf(pointwiseRule, "cuda",
                 {&CudaPointwiseAttr::kind, &CudaTileAttr::kind}) {}

  StringRef getLimits() const override {
    return "All results have the same number of elements. Any views "
           "before, between and after the ops; pads, concats and gathers "
           "are read in place: the source of a gather comes from outside "
           "of the pattern, a concat has at most 16 parts, which are "
           "cheap to compute and lie row by row. A `rotary` has a pattern "
           "of its own, with views and one result. No matmul, reduce, "
           "softmax, norm, windows, scan, sort or scatter.";
  }
};
} // namespace

SmallVector<ScheduleAttr> PointwisePlan::getFixedSchedules() const {
  if (!tiling)
    return {};
  int64_t vector = pointwise.limitVector(8);
  return llvm::to_vector(
      CudaPointwiseAttr::getSpace(fused.getContext(), {256}, {vector})
          .enumerate());
}

LogicalResult PointwisePlan::checkLimits(ScheduleAttr schedule,
                                         EmitError emitError) const {
  auto tile = dyn_cast<CudaTileAttr>(schedule);
  if (!tile)
    return success();
  if (!tiling)
    return emitError() << "no operand is transposed: use cuda_pointwise";
  return tiling->check(tile, machine, emitError);
}

double PointwisePlan::predict(ScheduleAttr schedule) const {
  if (auto tile = dyn_cast<CudaTileAttr>(schedule))
    return 1e6 * tiling->predictSeconds(tile, machine);
  return 1e6 *
         pointwise.predictSeconds(cast<CudaPointwiseAttr>(schedule), machine);
}

FailureOr<Pointwise> PointwisePlan::read(FusedOp fused, EmitError emitError) {
  for (Value yielded : fused.getYield()->getOperands())
    if (getTensorType(yielded).getNumElements() == 0)
      return emitError() << "a result has no elements";
  if (!fused.getBody().front().getOps<RotaryOp>().empty())
    return getRotary(fused, emitError);
  for (Computed computed :
       {Computed::Yielded, Computed::BeforeViews, Computed::Parts}) {
    Silence silence(fused);
    FailureOr<Pointwise> pointwise = getPointwise(fused, computed, silence);
    if (succeeded(pointwise))
      return pointwise;
  }
  return getPointwise(fused, Computed::BeforeViews, emitError);
}

LogicalResult PointwisePlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  auto tile = dyn_cast<CudaTileAttr>(schedule);
  printHeader(os, fused, schedule, symbol,
              tile ? "TiledPointwise.cuh" : "Pointwise.cuh");
  SmallVector<std::string> functors = pointwise.printFunctors(os, "Body");
  os << "using Kernel = ";
  if (tile)
    tiling->printKernel(os, functors, tile);
  else
    pointwise.printKernel(os, functors, cast<CudaPointwiseAttr>(schedule),
                          machine);
  os << ";\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerPointwiseFamily(DialectRegistry &registry) {
  registerFamily<PointwiseFamily>(registry);
}
