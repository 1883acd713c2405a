//===- Problem.cpp - What a region asks of the registry -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Problem.h"
#include "fact/Analysis/Bands.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;

static bool isContraction(Operation &op) {
  return isa<ContractionOpInterface>(op);
}

static std::string getName(Operation &op) {
  if (auto tensorOp = dyn_cast<TensorOpInterface>(op))
    return tensorOp.getProblemName();
  return op.getName().stripDialect().str();
}

static std::string getOps(FusedOp fused) {
  bool contracts = llvm::any_of(fused.getBodyOps(), isContraction);
  std::string ops;
  for (Operation &op : fused.getBodyOps()) {
    bool isFree = contracts ? isa<ViewOpInterface>(op) : isa<ReshapeOp>(op);
    if (isFree || isa<ConstantOp>(op))
      continue;
    ops += (ops.empty() ? "" : ",") + getName(op);
    // Less is multiplied, so it takes less time.
    auto matmul = dyn_cast<MatmulOp>(op);
    if (isContraction(op) && !getOperandBands(fused).empty())
      ops += registry::Problem::banded;
    else if (matmul && matmul.getLhs() == matmul.getRhs() &&
             matmul.getTransposeA() != matmul.getTransposeB())
      ops += registry::Problem::mirrored;
  }
  return ops.empty() ? "reshape" : ops;
}

/// What a contraction multiplies, else the first floating-point type read or
/// written.
static Type getElementType(FusedOp fused) {
  for (Operation &op : fused.getBodyOps())
    if (isContraction(op))
      return getElementTypeOrSelf(op.getOperand(0));
  SmallVector<Type> types(fused.getInputs().getTypes());
  llvm::append_range(types, fused.getResultTypes());
  for (Type type : types)
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      return getElementTypeOrSelf(type);
  return getElementTypeOrSelf(types.front());
}

registry::Problem fact::getProblem(FusedOp fused, const Target &target) {
  registry::Problem problem;
  problem.rule = fused.getRule().str();
  problem.architecture = target.getMachine().architecture;
  problem.ops = getOps(fused);
  llvm::raw_string_ostream(problem.dtype) << getElementType(fused);
  const Rule *rule = target.findRule(fused.getRule());
  problem.extents = (rule ? rule->getExtents : getAnchorExtents)(fused);
  // An empty tensor takes as long as a small one.
  for (auto &[name, extent] : problem.extents)
    extent = std::max<int64_t>(extent, 1);
  return problem;
}
