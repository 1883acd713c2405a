//===- AnnotateSpeedOfLight.cpp - Write the speed of light beside ops -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    FailureOr<MachineAttr> machine = chooseMachine(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    warnOfUncounted(getOperation());
    MachineDescription description = machine->getDescription();
    Builder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!hasSpeedOfLight(op))
        return;
      SpeedOfLight light = getSpeedOfLight(op);
      NamedAttrList flops, figures;
      for (const auto &[type, count] : light.getFlopsByType())
        if (count > 0)
          flops.set(type, builder.getI64IntegerAttr(int64_t(count)));
      figures.set("flops", flops.getDictionary(&getContext()));
      figures.set("bytes", builder.getI64IntegerAttr(int64_t(light.bytes)));
      figures.set("us",
                  builder.getF64FloatAttr(light.getMicroseconds(description)));
      op->setAttr("fact.sol", figures.getDictionary(&getContext()));
    });
  }
};
} // namespace
