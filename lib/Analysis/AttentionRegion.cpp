//===- AttentionRegion.cpp - Attention with the views around it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/AttentionRegion.h"

using namespace mlir;
using namespace fact;

/// The one attention of a region that has only views beside it.
static FailureOr<AttentionOp> findAttention(FusedOp fused,
                                            EmitError emitError) {
  auto attentions = llvm::to_vector(fused.getBody().getOps<AttentionOp>());
  if (attentions.size() != 1)
    return emitError() << "needs exactly one 'fact.attention', not "
                       << attentions.size();
  for (Operation &op : fused.getBodyOps())
    if (!isa<AttentionOp, ViewOpInterface>(op))
      return emitError() << "takes only views beside 'fact.attention', not '"
                         << op.getName() << "'";
  if (fused.getNumResults() != 1)
    return emitError() << "must have one result, not " << fused.getNumResults();
  return attentions.front();
}

static FailureOr<StridedView> readOperand(Value value, StringRef name,
                                          EmitError emitError) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view) || !isa<BlockArgument>(view->base))
    return emitError() << name
                       << " of 'fact.attention' is reshaped in a way that "
                          "strides cannot describe";
  return view;
}

FailureOr<AttentionRegion> AttentionRegion::get(FusedOp fused,
                                                EmitError emitError) {
  FailureOr<AttentionOp> op = findAttention(fused, emitError);
  if (failed(op))
    return failure();
  AttentionRegion region;
  FailureOr<StridedView> query =
      readOperand(op->getQuery(), "the query", emitError);
  FailureOr<StridedView> key = readOperand(op->getKey(), "the key", emitError);
  FailureOr<StridedView> value =
      readOperand(op->getValue(), "the value", emitError);
  if (failed(query) || failed(key) || failed(value))
    return failure();
  region.query = *query;
  region.key = *key;
  region.value = *value;
  region.batches = query->shape[0];
  region.heads = query->shape[1];
  region.keyHeads = key->shape[1];
  region.queries = query->shape[2];
  region.keys = key->shape[2];
  region.headSize = query->shape[3];
  region.valueSize = value->shape[3];
  region.causal = op->getCausal();
  region.tf32 = op->getTf32();
  region.scale = op->getScale().convertToDouble();
  region.element = op->getType().getElementType();

  if (op->getMask()) {
    FailureOr<StridedView> mask =
        readOperand(op->getMask(), "the mask", emitError);
    if (failed(mask))
      return failure();
    region.mask = mask->broadcastTo(
        {region.batches, region.heads, region.queries, region.keys});
  }
  FailureOr<StridedView> destination = StridedView::getDestination(
      op->getResult(), fused.getYield()->getOperand(0));
  if (failed(destination))
    return emitError() << "the views after 'fact.attention' scatter its result "
                          "in a way that strides cannot describe";
  region.destination = *destination;
  return region;
}
