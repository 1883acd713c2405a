//===- Concat.cpp - Parts of a tensor, one after the other ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One concat of pointwise functions of arguments (or of arguments themselves).
// One pass selects the part that each element comes from; where that costs too
// much, each input is a pass that writes its part of the result, in tiles where
// the input is transposed. Transposed inputs of one shape are one pass, which
// writes parts that lie between each other together: the phases of a transposed
// convolution.
//
//===----------------------------------------------------------------------===//

#include "PointwiseTiling.h"

using namespace mlir;
using namespace fact;

namespace {
/// Passes that write the result: all of it, or one part of it each.
using Parts = std::vector<Pointwise>;

class ConcatPlan : public Plan {
public:
  ConcatPlan(const Family &family, FusedOp fused,
             const MachineDescription &machine, Parts parts)
      : Plan(family, fused, machine), parts(std::move(parts)) {
    for (const Pointwise &part : this->parts)
      tilings.push_back(PointwiseTiling::get(part));
  }

  static FailureOr<Parts> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t getWidestVector() const;
  /// The schedule of parts that are not transposed.
  CudaPointwiseAttr getPlain(ScheduleAttr schedule) const;

  Parts parts;
  /// One for each part that is transposed.
  SmallVector<std::optional<PointwiseTiling>> tilings;
};
} // namespace

/// The inputs of the concatenation, each with its part of where the result of
/// the region lands.
static FailureOr<SmallVector<Destination>> getInputs(FusedOp fused,
                                                     EmitError emitError) {
  auto concat = getOnly<ConcatOp>(fused);
  if (!concat || fused.getNumResults() != 1)
    return emitError() << "needs exactly one 'fact.concat' and one result";
  Value yielded = fused.getYield()->getOperand(0);
  Destination last = getDestinations(yielded).back();
  if (last.value.getDefiningOp<SliceOp>())
    last = getCropped(yielded);
  // What is not stored is read all the same.
  if (2 * llvm::product_of(last.view.shape) >
      3 * getTensorType(yielded).getNumElements())
    return emitError() << "a slice of the result is smaller than two thirds of "
                          "it";
  FailureOr<SmallVector<Destination>> inputs = SmallVector<Destination>();
  if (last.value == concat.getResult())
    inputs = getParts(concat, last);
  else if (auto split = last.value.getDefiningOp<ReshapeOp>();
           split && split.getOperand() == concat.getResult())
    inputs = getSplitParts(concat, last, emitError);
  else
    return emitError() << "the result must be that of 'fact.concat'";
  if (succeeded(inputs))
    llvm::erase_if(*inputs, [](const Destination &input) {
      return getTensorType(input.value).getNumElements() == 0;
    });
  return inputs;
}

/// All inputs in one pass, if they have one shape and are transposed, and are
/// few enough for the registers that hold a tile of each.
static std::optional<Pointwise> getUnited(FusedOp fused,
                                          ArrayRef<Destination> inputs) {
  if (inputs.size() < 2)
    return std::nullopt;
  for (const Destination &input : inputs)
    if (input.view.shape != inputs.front().view.shape)
      return std::nullopt;
  Silence silence(fused);
  SmallVector<int64_t> buffers(inputs.size(), getResultBuffer(fused, 0));
  FailureOr<Pointwise> united =
      Pointwise::get(inputs, buffers, hasOnly16BitResults(fused), silence);
  if (failed(united) || !PointwiseTiling::get(*united))
    return std::nullopt;
  int64_t bytes = 0;
  for (const StridedView &operand : united->operands)
    bytes += getStorageBytes(getTensorType(operand.base).getElementType());
  if (bytes > 64)
    return std::nullopt;
  return std::move(*united);
}

/// The whole result in one pass that selects parts, if that does not cost too
/// much and no part is transposed.
static std::optional<Pointwise> getWhole(FusedOp fused, const Parts &parts) {
  if (llvm::any_of(parts, [](const Pointwise &part) {
        return PointwiseTiling::get(part).has_value();
      }))
    return std::nullopt;
  Silence silence(fused);
  auto concat = getOnly<ConcatOp>(fused);
  Destination last = getDestinations(fused.getYield()->getOperand(0)).back();
  if (last.value != concat.getResult())
    return std::nullopt;
  FailureOr<Pointwise> whole = Pointwise::get(
      last, getResultBuffer(fused, 0), hasOnly16BitResults(fused), silence);
  if (failed(whole) || failed(checkConcats(*whole, silence)))
    return std::nullopt;
  return std::move(*whole);
}

FailureOr<Parts> ConcatPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<SmallVector<Destination>> inputs = getInputs(fused, emitError);
  if (failed(inputs))
    return failure();
  Parts parts;
  if (std::optional<Pointwise> united = getUnited(fused, *inputs)) {
    parts.push_back(std::move(*united));
    return std::move(parts);
  }
  for (const Destination &input : *inputs) {
    FailureOr<Pointwise> part =
        Pointwise::get(input, getResultBuffer(fused, 0),
                       hasOnly16BitResults(fused), emitError);
    if (failed(part))
      return failure();
    parts.push_back(std::move(*part));
  }
  if (std::optional<Pointwise> whole = getWhole(fused, parts)) {
    parts.clear();
    parts.push_back(std::move(*whole));
  }
  return std::move(parts);
}

namespace {
class ConcatFamily : public FamilyOf<ConcatPlan> {
public:
  ConcatFamily()
      : FamilyOf(concatRule, "cuda",
                 {&CudaPointwiseAttr::kind, &CudaTileAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly one concat and one result, which is the concat or a "
           "view of it: no op after it.";
  }
};
} // namespace

int64_t ConcatPlan::getWidestVector() const {
  int64_t widest = 1;
  for (const Pointwise &part : parts)
    widest = std::max(widest, part.limitVector(8));
  return widest;
}

CudaPointwiseAttr ConcatPlan::getPlain(ScheduleAttr schedule) const {
  if (auto plain = dyn_cast_if_present<CudaPointwiseAttr>(schedule))
    return plain;
  SpaceAttrInterface space = CudaPointwiseAttr::getSpace(
      fused.getContext(), {256}, {getWidestVector()});
  return cast<CudaPointwiseAttr>(space.enumerate().front());
}

SpaceAttrInterface ConcatPlan::getSpace() const {
  for (const std::optional<PointwiseTiling> &tiling : tilings)
    if (tiling)
      return tiling->getSpace(fused.getContext());
  return getPointwiseSpace(fused.getContext(), getWidestVector());
}

SmallVector<ScheduleAttr> ConcatPlan::getFixedSchedules() const {
  if (llvm::none_of(tilings, [](auto &tiling) { return tiling.has_value(); }))
    return {};
  return {getPlain(ScheduleAttr())};
}

LogicalResult ConcatPlan::checkLimits(ScheduleAttr schedule,
                                      EmitError emitError) const {
  auto tile = dyn_cast<CudaTileAttr>(schedule);
  if (!tile)
    return success();
  bool isTiled = false;
  for (const std::optional<PointwiseTiling> &tiling : tilings) {
    if (tiling && failed(tiling->check(tile, machine, emitError)))
      return failure();
    isTiled |= tiling.has_value();
  }
  if (!isTiled)
    return emitError() << "no input is transposed: use cuda_pointwise";
  return success();
}

double ConcatPlan::predict(ScheduleAttr schedule) const {
  auto tile = dyn_cast<CudaTileAttr>(schedule);
  double seconds = 0;
  for (auto [part, tiling] : llvm::zip_equal(parts, tilings))
    seconds += tile && tiling
                   ? tiling->predictSeconds(tile, machine)
                   : part.predictSeconds(getPlain(schedule), machine);
  return 1e6 * seconds;
}

LogicalResult ConcatPlan::emit(ArrayRef<KernelVariant> variants,
                               KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Concat.cuh");
  auto tile = dyn_cast<CudaTileAttr>(schedule);
  for (auto [i, part, tiling] : llvm::enumerate(parts, tilings)) {
    std::string number = std::to_string(i);
    SmallVector<std::string> functors = part.printFunctors(os, "Body" + number);
    os << "using Part" << number << " = ";
    if (tile && tiling)
      tiling->printKernel(os, functors, tile);
    else
      part.printKernel(os, functors, getPlain(schedule), machine);
    os << ";\n\n";
  }
  os << "using Kernel = Concat<";
  llvm::interleaveComma(llvm::seq<size_t>(0, parts.size()), os,
                        [&](size_t i) { os << "Part" << i; });
  os << ">;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerConcatFamily(DialectRegistry &registry) {
  registerFamily<ConcatFamily>(registry);
}
