//===- RowStatistics.cpp - Statistics that take a product's place ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowStatistics.h"
#include "fact/Analysis/RowExponentials.h"

using namespace mlir;
using namespace fact;

SmallVector<Operation *> fact::getExponentialsOf(Operation *user) {
  Operation *last = user;
  while (isa<SubOp, ExpOp, CastOp>(last) && last->hasOneUse())
    last = *last->user_begin();
  auto sum = dyn_cast<ReduceOp>(last);
  if (!isa<SubOp>(user) || !sum)
    return {};
  std::optional<RowExponentials> found = RowExponentials::get(sum);
  return found ? found->ops : SmallVector<Operation *>();
}

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

bool fact::areBetterReduced(StringRef rule, const OpGroup &before,
                            ArrayRef<Operation *> reductions,
                            const Fusibility &fusibility) {
  OpGroup together = before, alone;
  together.insert(reductions.begin(), reductions.end());
  for (Operation *op : reductions)
    if (!before.contains(op))
      alone.insert(op);
  int64_t most = 0;
  for (Operation *op : before)
    most = std::max(most, countElements(op->getResult(0)));
  if (llvm::any_of(Fusibility::getOutputs(together),
                   [&](Value output) { return countElements(output) >= most; }))
    return false;
  std::optional<double> one = fusibility.predict(rule, together);
  std::optional<double> first = fusibility.predict(rule, before);
  std::optional<double> second = fusibility.predictBest(alone);
  return one && first && (!second || *one < *first + *second);
}
