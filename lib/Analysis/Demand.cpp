//===- Demand.cpp - Which elements of a tensor are needed -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Demand.h"

using namespace mlir;
using namespace fact;

SmallVector<ElementSets> fact::getDemand(Operation *op,
                                         const ElementSets &result) {
  if (auto tensorOp = dyn_cast<TensorOpInterface>(op))
    return tensorOp.getDemand(result);
  return SmallVector<ElementSets>(op->getNumOperands());
}

void DemandAnalysis::addWhole(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  ElementSets whole;
  whole.add(ElementSet::whole(type.getShape()));
  add(value, whole);
}

void DemandAnalysis::add(Value value, const ElementSets &sets) {
  if (sets.getSets().empty())
    return;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ViewOpInterface>(op))
    return add(op->getOperand(0), getDemand(op, sets).front());
  addStored(value, sets);
}

void DemandAnalysis::addStored(Value value, const ElementSets &sets) {
  auto [place, isNew] = demands.try_emplace(value);
  if (isNew)
    values.push_back(value);
  place->second.add(sets);
}
