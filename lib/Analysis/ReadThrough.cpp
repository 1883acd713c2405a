//===- ReadThrough.cpp - Values behind reshapes and permutes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/ReadThrough.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace fact;

Value fact::skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

bool fact::isFixed(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(
        argument.getOwner()->getParentOp());
    return function &&
           function.getArgAttr(argument.getArgNumber(), fixedArgument);
  }
  return isa<GetWeightOp, ConstantOp, PrepareOp>(value.getDefiningOp());
}

ReducedOperand ReducedOperand::get(ReduceOp reduce) {
  ReducedOperand operand{reduce.getOperand(),
                         SmallVector<int64_t>(reduce.getDims())};
  auto permute = operand.value.getDefiningOp<PermuteOp>();
  if (!permute)
    return operand;
  SmallVector<int64_t> kept, reduced;
  for (auto [i, dim] : llvm::enumerate(permute.getDims()))
    (llvm::is_contained(operand.dims, i) ? reduced : kept).push_back(dim);
  // A permute that also reorders the kept dimensions is not read through.
  if (!llvm::is_sorted(kept))
    return operand;
  llvm::sort(reduced);
  return {permute.getOperand(), reduced};
}
