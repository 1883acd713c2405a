//===- Concat.cpp - Parts of a tensor, one after the other ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One concat of pointwise functions of arguments (or of arguments themselves).
// Each input is a pointwise pass that writes its part of the result.
//
//===----------------------------------------------------------------------===//

#include "Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
class ConcatRealiser : public CutlassRealiser {
public:
  using CutlassRealiser::CutlassRealiser;

  StringRef getRule() const override { return "concat"; }
  std::vector<const ScheduleKind *> getScheduleKinds() const override {
    return {&CudaPointwiseAttr::kind};
  }

  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    return analyse(fused, emitError);
  }

  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttr schedule) const override;
  LogicalResult emit(FusedOp fused, ScheduleAttr schedule,
                     StringRef symbol, KernelCode &code) const override;

private:
  using Parts = std::vector<Pointwise>;
  FailureOr<Parts> analyse(FusedOp fused, EmitError emitError) const;
  FailureOr<Parts> analyse(FusedOp fused) const {
    return analyse(fused, [&] { return fused.emitError(); });
  }
};
} // namespace

FailureOr<ConcatRealiser::Parts>
ConcatRealiser::analyse(FusedOp fused, EmitError emitError) const {
  auto concat = getOnly<ConcatOp>(fused);
  if (!concat || fused.getNumResults() != 1)
    return emitError() << "needs exactly one 'fact.concat' and one result";
  FailureOr<Destination> destination =
      getDestination(fused.getYield()->getOperand(0), emitError);
  if (failed(destination))
    return failure();
  if (destination->value != concat.getResult())
    return emitError() << "the result must be that of 'fact.concat'";

  Parts parts;
  int64_t start = 0, dim = concat.getDim();
  for (Value input : concat.getInputs()) {
    int64_t size = getTensorType(input).getDimSize(dim);
    StridedView view = destination->view.slice(dim, start, size, /*step=*/1);
    start += size;
    if (getTensorType(input).getNumElements() == 0)
      continue;
    FailureOr<Pointwise> part =
        Pointwise::get(input, {view}, getResultBuffer(fused, 0),
                       hasOnly16BitResults(fused), emitError);
    if (failed(part))
      return failure();
    parts.push_back(std::move(*part));
  }
  if (parts.empty())
    return emitError() << "the result has no elements";
  return std::move(parts);
}

SpaceAttrInterface ConcatRealiser::getDefaultSpace(FusedOp fused) const {
  FailureOr<Parts> parts = analyse(fused);
  if (failed(parts))
    return {};
  int64_t widest = 1;
  for (const Pointwise &part : *parts)
    widest = std::max(widest, part.limitVector(8));
  return getPointwiseSpace(fused.getContext(), widest);
}

double
ConcatRealiser::predictMicroseconds(FusedOp fused,
                                    ScheduleAttr schedule) const {
  FailureOr<Parts> parts = analyse(fused);
  auto pointwiseSchedule = dyn_cast<CudaPointwiseAttr>(schedule);
  if (failed(parts) || !pointwiseSchedule)
    return INFINITY;
  double seconds = 0;
  for (Pointwise &part : *parts)
    seconds += part.predictSeconds(pointwiseSchedule, machine);
  return 1e6 * seconds;
}

LogicalResult ConcatRealiser::emit(FusedOp fused,
                                   ScheduleAttr schedule,
                                   StringRef symbol, KernelCode &code) const {
  FailureOr<Parts> parts = analyse(fused);
  if (failed(parts))
    return failure();
  auto pointwiseSchedule = dyn_cast<CudaPointwiseAttr>(schedule);
  if (!pointwiseSchedule)
    return fused.emitError("concatenations run with #fact.cuda_pointwise, not ")
           << schedule;
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Concat.cuh");
  for (auto [i, part] : llvm::enumerate(*parts)) {
    std::string number = std::to_string(i);
    SmallVector<std::string> functors =
        part.printFunctors(os, "Body" + number);
    os << "using Part" << number << " = ";
    part.printKernel(os, functors, pointwiseSchedule, machine);
    os << ";\n\n";
  }
  os << "using Kernel = Concat<";
  llvm::interleaveComma(llvm::seq<size_t>(0, parts->size()), os,
                        [&](size_t i) { os << "Part" << i; });
  os << ">;\n";
  printFooter(os, symbol);
  return success();
}

std::unique_ptr<Realiser>
fact::createConcatRealiser(const MachineDescription &machine) {
  return std::make_unique<ConcatRealiser>(machine);
}
