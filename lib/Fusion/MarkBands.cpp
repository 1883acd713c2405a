//===- MarkBands.cpp - Bands of the operands of products ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MarkBands.h"
#include "fact/Analysis/Bands.h"

using namespace mlir;
using namespace fact;

/// Whether the marks of a kernel leave work out.
static bool leavesOut(FusedOp fused) {
  BandAnalysis inside;
  return llvm::any_of(fused.getBody().getOps<MatmulOp>(), [&](MatmulOp matmul) {
    return inside.getNonzero(matmul.getLhs()).isBounded() ||
           inside.getNonzero(matmul.getRhs()).isBounded() ||
           inside.getUsed(matmul.getResult()).isBounded();
  });
}

void fact::markBands(FusedOp fused) {
  setOperandBands(fused, {});
  if (fused.getBody().getOps<MatmulOp>().empty())
    return;
  BandAnalysis outside;
  SmallVector<Band> bands;
  for (Value operand : fused.getInputs())
    bands.push_back(getElementTypeOrSelf(operand.getType()).isInteger(1)
                        ? outside.getTrue(operand).value_or(Band())
                        : outside.getNonzero(operand));
  setOperandBands(fused, bands);
  if (!leavesOut(fused))
    return setOperandBands(fused, {});
  for (Value operand : fused.getInputs())
    for (Operation *weight : outside.getWeights(operand))
      cast<WeightOp>(weight).setBaked(true);
}
