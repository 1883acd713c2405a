//===- ChangedKernel.h - Kernels whose region was changed -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_CHANGEDKERNEL_H
#define FACT_LIB_FUSION_CHANGEDKERNEL_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Gives `kernel` a space: that which was chosen for `before`, of which it is a
/// changed copy, where it is legal, else the default. False if no family takes
/// the kernel. Without `before` the kernel is new.
inline bool renewSpace(FusedOp before, FusedOp kernel,
                       const Fusibility &fusibility) {
  const Target &target = fusibility.getTarget();
  if (before) {
    mlir::FailureOr<std::unique_ptr<Plan>> plan =
        target.plan(before, Silence(before));
    if (succeeded(plan) && before.getSpaceAttr() == (*plan)->getSpace())
      kernel.removeSpaceAttr();
  }
  // Another family may take the kernel.
  mlir::FailureOr<std::unique_ptr<Plan>> plan =
      target.plan(kernel, Silence(kernel));
  if (failed(plan))
    return false;
  if (!kernel.getSpaceAttr())
    kernel.setSpaceAttr((*plan)->getSpace());
  return !fusibility.check(kernel, Silence(kernel));
}

/// The time of the best schedule, with its launch; nothing if there is none.
inline std::optional<double> predictLaunch(FusedOp kernel,
                                           const Fusibility &fusibility) {
  std::optional<double> microseconds = fusibility.predict(kernel);
  if (!microseconds)
    return std::nullopt;
  return *microseconds +
         1e6 * fusibility.getTarget().getMachine().launchSeconds;
}
} // namespace fact

#endif // FACT_LIB_FUSION_CHANGEDKERNEL_H
