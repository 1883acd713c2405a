//===- AnnotateSpeedOfLight.cpp - Write the speed of light beside ops -----===//

#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Transforms/Passes.h"

namespace fact {
#define GEN_PASS_DEF_ANNOTATESPEEDOFLIGHT
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct AnnotateSpeedOfLightPass
    : fact::impl::AnnotateSpeedOfLightBase<AnnotateSpeedOfLightPass> {
  using AnnotateSpeedOfLightBase::AnnotateSpeedOfLightBase;

  void runOnOperation() override {
    FailureOr<MachineAttr> machine =
        chooseMachine(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    MachineDescription description = machine->getDescription();
    Builder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!hasSpeedOfLight(op))
        return;
      SpeedOfLight light = getSpeedOfLight(op);
      op->setAttr("fact.sol",
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr(
                           "flops", builder.getI64IntegerAttr(int64_t(light.getFlops()))),
                       builder.getNamedAttr(
                           "bytes", builder.getI64IntegerAttr(int64_t(light.bytes))),
                       builder.getNamedAttr(
                           "us", builder.getF64FloatAttr(
                                     light.getMicroseconds(description)))}));
    });
  }
};
} // namespace
