//===- Concat.cpp - Parts of a tensor, one after the other ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One concat of pointwise functions of arguments (or of arguments themselves).
// Each input is a pointwise pass that writes its part of the result.
//
//===----------------------------------------------------------------------===//

#include "Pointwise.h"

using namespace mlir;
using namespace fact;

namespace {
/// Passes that write one part of the result each.
using Parts = std::vector<Pointwise>;

class ConcatPlan : public Plan {
public:
  ConcatPlan(const Family &family, FusedOp fused,
             const MachineDescription &machine, Parts parts)
      : Plan(family, fused, machine), parts(std::move(parts)) {}

  static FailureOr<Parts> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

private:
  Parts parts;
};
} // namespace

FailureOr<Parts> ConcatPlan::read(FusedOp fused, EmitError emitError) {
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
  for (const Destination &input : getParts(concat, destination->view)) {
    if (getTensorType(input.value).getNumElements() == 0)
      continue;
    FailureOr<Pointwise> part =
        Pointwise::get(input.value, {input.view}, getResultBuffer(fused, 0),
                       hasOnly16BitResults(fused), emitError);
    if (failed(part))
      return failure();
    parts.push_back(std::move(*part));
  }
  if (parts.empty())
    return emitError() << "the result has no elements";
  return std::move(parts);
}

namespace {
class ConcatFamily : public FamilyOf<ConcatPlan> {
public:
  ConcatFamily() : FamilyOf(concatRule, "cuda", {&CudaPointwiseAttr::kind}) {}
};
} // namespace

SpaceAttrInterface ConcatPlan::getSpace() const {
  int64_t widest = 1;
  for (const Pointwise &part : parts)
    widest = std::max(widest, part.limitVector(8));
  return getPointwiseSpace(fused.getContext(), widest);
}

double ConcatPlan::predict(ScheduleAttr schedule) const {
  double seconds = 0;
  for (const Pointwise &part : parts)
    seconds += part.predictSeconds(cast<CudaPointwiseAttr>(schedule), machine);
  return 1e6 * seconds;
}

LogicalResult ConcatPlan::emit(ArrayRef<KernelVariant> variants,
                               KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Concat.cuh");
  for (auto [i, part] : llvm::enumerate(parts)) {
    std::string number = std::to_string(i);
    SmallVector<std::string> functors = part.printFunctors(os, "Body" + number);
    os << "using Part" << number << " = ";
    part.printKernel(os, functors, cast<CudaPointwiseAttr>(schedule), machine);
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
