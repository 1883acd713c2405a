//===- Pointwise.cpp - Pointwise graphs and copies over strided tensors ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any graph of pointwise ops and views, whose operands may be gathered by
// indices (embeddings), and rotary embeddings, which are two such graphs: one
// for each half of the pairs that they turn.
//
//===----------------------------------------------------------------------===//

#include "PointwiseTiling.h"
#include <cmath>

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// One index space
//===----------------------------------------------------------------------===//

FailureOr<Pointwise> Pointwise::get(ArrayRef<Value> values,
                                    SmallVector<StridedView> results,
                                    ArrayRef<int64_t> resultBuffers, bool fast,
                                    EmitError emitError) {
  if (failed(shareIndexSpace(results, emitError)))
    return failure();
  ScalarFunction::Options options;
  options.fast = fast;
  options.readsGathers = true;
  FailureOr<ScalarFunction> body =
      ScalarFunction::get(values, results.front().shape, options, emitError);
  if (failed(body))
    return failure();

  SmallVector<StridedView> views;
  for (const ScalarFunction::Argument &argument : body->getArguments()) {
    views.push_back(argument.view);
    if (auto gather = argument.value.getDefiningOp<GatherOp>())
      for (Value operand : gather->getOperands())
        if (!isa<BlockArgument>(skipReshapes(operand)))
          return emitError() << "source and indices of 'fact.gather' must be "
                                "arguments of the region";
  }
  size_t operands = views.size();
  llvm::append_range(views, results);
  collapseDimensions(views);
  if (views.front().shape.size() > 8)
    return emitError() << "needs " << views.front().shape.size()
                       << " dimensions even after collapsing, more than 8";
  return Pointwise{
      SmallVector<StridedView>(ArrayRef(views).take_front(operands)),
      SmallVector<StridedView>(ArrayRef(views).drop_front(operands)),
      SmallVector<int64_t>(resultBuffers), std::move(*body), nullptr};
}

int64_t Pointwise::limitVector(int64_t vector) const {
  while (getShape().back() % vector != 0)
    vector /= 2;
  return vector;
}

double fact::countBytes(const StridedView &view) {
  double bytes = getStorageBytes(getTensorType(view.base).getElementType());
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
    if (stride != 0)
      bytes *= size;
  return bytes;
}

/// The traffic of a pass along the last dimension, over the bytes that it
/// needs: elements that are not neighbors in memory cost whole sectors, which
/// a block finds again where the dimension is short.
static double getSectorWaste(const StridedView &view) {
  double sector =
      32.0 / getStorageBytes(getTensorType(view.base).getElementType());
  double stride = std::abs(view.strides.back());
  return std::max(
      1.0, std::min({stride, sector, double(view.shape.back()) / 16}));
}

double Pointwise::getBytes() const {
  double bytes = 0;
  for (auto *list : {&operands, &results})
    for (const StridedView &view : *list)
      bytes += countBytes(view);
  return bytes;
}

double Pointwise::predictSeconds(CudaPointwiseAttr schedule,
                                 const MachineDescription &machine) const {
  double efficiency = 0.9;
  if (schedule.getVector() == 4)
    efficiency = 0.88;
  else if (schedule.getVector() < 4)
    efficiency = 0.75;
  if (schedule.getThreads() != 256)
    efficiency *= 0.99;
  double bytes = 0, slots = 6 + body.getCost();
  for (auto *list : {&operands, &results})
    for (const StridedView &view : *list) {
      double waste = getSectorWaste(view);
      bytes += countBytes(view) * waste;
      // Lines that a warp touches one after the other.
      if (waste > 1)
        slots += 64;
    }
  double memory = bytes / (machine.bandwidth * efficiency);
  double compute =
      getElements() * slots / (machine.multiprocessors * 128 * machine.clock);
  return std::max(memory, compute) + machine.launchSeconds;
}

SmallVector<std::string> Pointwise::printFunctors(raw_ostream &os,
                                                  StringRef name) const {
  return fact::printFunctors(os, body, {}, name, results.size());
}

static void printGathered(raw_ostream &os, const StridedView &view,
                          GatherOp gather) {
  RankedTensorType source = getTensorType(gather.getSource());
  RankedTensorType indices = getTensorType(gather.getIndices());
  int64_t dim = gather.getDim();
  os << "Gathered<" << getBuffer(skipReshapes(gather.getSource())) << ", "
     << getElementName(source.getElementType()) << ", ";
  printStrides(os, view);
  os << ", " << view.offset << ",\n                      Indices<"
     << getBuffer(skipReshapes(gather.getIndices())) << ", "
     << getElementName(indices.getElementType()) << ", "
     << indices.getNumElements() << ", " << source.getDimSize(dim) << ", "
     << llvm::product_of(source.getShape().drop_front(dim + 1)) << ">>";
}

void Pointwise::printResults(raw_ostream &os,
                             ArrayRef<std::string> functors) const {
  os << "Results<";
  llvm::interleave(
      llvm::zip_equal(functors, results, resultBuffers),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", ";
        printStrided(os, std::get<1>(result), std::get<2>(result));
        os << '>';
      },
      [&] { os << ",\n            "; });
  os << '>';
}

void Pointwise::printKernel(raw_ostream &os, ArrayRef<std::string> functors,
                            CudaPointwiseAttr schedule,
                            const MachineDescription &machine) const {
  os << "Pointwise<\n    Extents<";
  llvm::interleaveComma(getShape(), os);
  os << ">,\n    Operands<";
  llvm::interleave(
      operands,
      [&](const StridedView &operand) {
        if (auto gather = operand.base.getDefiningOp<GatherOp>())
          printGathered(os, operand, gather);
        else
          printStrided(os, operand, getBuffer(operand.base));
      },
      [&] { os << ",\n             "; });
  os << ">,\n    ";
  printResults(os, functors);
  // Two vectors in flight hide latency once every multiprocessor is full.
  int64_t threads = schedule.getThreads();
  int64_t vector = limitVector(schedule.getVector());
  bool many = getElements() / (threads * vector) > 16 * machine.multiprocessors;
  os << ",\n    PointwiseSchedule<" << threads << ", " << vector << ", "
     << (many ? 2 : 1) << ">>";
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

  SmallVector<Value> values;
  SmallVector<StridedView> views;
  for (const Destination &half : expandRotary(rotary, destination->view)) {
    values.push_back(half.value);
    views.push_back(half.view);
  }
  int64_t buffer = getResultBuffer(copy, 0);
  FailureOr<Pointwise> pointwise =
      Pointwise::get(values, std::move(views), {buffer, buffer},
                     hasOnly16BitResults(copy), emitError);
  if (succeeded(pointwise))
    pointwise->region = std::move(region);
  return pointwise;
}

/// The region over the index space of the yielded values, or with the last
/// views as strides of the results.
static FailureOr<Pointwise> getPointwise(FusedOp fused, bool stripViews,
                                         EmitError emitError) {
  SmallVector<Value> values;
  SmallVector<StridedView> results;
  SmallVector<int64_t> buffers;
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    Destination destination{yielded, StridedView::identity(yielded)};
    if (stripViews) {
      FailureOr<Destination> stripped = getDestination(yielded, emitError);
      if (failed(stripped))
        return failure();
      destination = *stripped;
    }
    values.push_back(destination.value);
    results.push_back(destination.view);
    buffers.push_back(getResultBuffer(fused, i));
  }
  return Pointwise::get(values, std::move(results), buffers,
                        hasOnly16BitResults(fused), emitError);
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
  {
    Silence silence(fused);
    FailureOr<Pointwise> direct =
        getPointwise(fused, /*stripViews=*/false, silence);
    if (succeeded(direct))
      return direct;
  }
  return getPointwise(fused, /*stripViews=*/true, emitError);
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
