//===- ProveMasks.cpp - Masks whose value is known ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Masks.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-prove-masks"

namespace fact {
#define GEN_PASS_DEF_PROVEMASKS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
enum class Verdict {
  /// Query i sees keys 0..i and no others, in every batch and head.
  causal,
  /// The part hides no score and changes none.
  nothing,
  other
};

/// Classifies one known part of a mask, by whether it hides each score or
/// leaves it unchanged.
Verdict classify(const KnownTensor &known, int64_t queries, int64_t keys,
                 function_ref<bool(double)> hides,
                 function_ref<bool(double)> leaves) {
  if (llvm::all_of(known.elements, leaves))
    return Verdict::nothing;
  if (known.shape.size() < 2 || known.shape.back() != keys ||
      known.shape[known.shape.size() - 2] != queries)
    return Verdict::other;
  int64_t key = 0, query = 0;
  for (double value : known.elements) {
    if (key <= query ? !leaves(value) : !hides(value))
      return Verdict::other;
    if (++key == keys) {
      key = 0;
      query = query + 1 == queries ? 0 : query + 1;
    }
  }
  return Verdict::causal;
}

/// The verdicts on parts of masks. One mask often serves all blocks of a model,
/// so each part is evaluated once. Parts are known by their values, so nothing
/// may be erased while this lives.
class MaskProofs {
public:
  struct Proof {
    Verdict verdict = Verdict::other;
    llvm::SetVector<Operation *> weights;
  };

  const Proof &classify(Value part, bool hiddenValue, bool isCondition,
                        AttentionOp op);

private:
  DenseMap<std::tuple<Value, unsigned, int64_t, int64_t>, Proof> proofs;
};

/// Removes the parts of a mask whose value is known to be causal, or to hide
/// nothing. Without `shared`, each mask is evaluated anew.
struct ProveMask : OpRewritePattern<AttentionOp> {
  ProveMask(MLIRContext *context, Pass::Statistic *causal,
            MaskProofs *shared = nullptr)
      : OpRewritePattern(context), causal(causal), shared(shared) {}

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override;

  Pass::Statistic *causal;
  MaskProofs *shared;
};

struct ProveMasksPass : fact::impl::ProveMasksBase<ProveMasksPass> {
  void runOnOperation() override {
    MaskProofs proofs;
    RewritePatternSet patterns(&getContext());
    patterns.add<ProveMask>(&getContext(), &causal, &proofs);
    // A walk erases nothing.
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

/// Classifies a summand, or a condition that hides scores where it equals
/// `hiddenValue`.
const MaskProofs::Proof &MaskProofs::classify(Value part, bool hiddenValue,
                                              bool isCondition,
                                              AttentionOp op) {
  int64_t queries = shapeOf(op.getQuery())[2], keys = shapeOf(op.getKey())[2];
  auto [entry, isNew] = proofs.try_emplace({part, hiddenValue, queries, keys});
  Proof &proof = entry->second;
  if (!isNew)
    return proof;
  FailureOr<KnownTensor> known = evaluateConstant(part);
  if (failed(known))
    return proof;
  if (isCondition)
    proof.verdict = ::classify(
        *known, queries, keys,
        [&](double value) { return (value != 0) == hiddenValue; },
        [&](double value) { return (value != 0) != hiddenValue; });
  else
    proof.verdict = ::classify(*known, queries, keys, isHidden,
                               [](double value) { return value == 0; });
  proof.weights = std::move(known->weights);
  return proof;
}

LogicalResult ProveMask::matchAndRewrite(AttentionOp op,
                                         PatternRewriter &rewriter) const {
  if (!op.getMask())
    return failure();
  MaskProofs own;
  MaskProofs &proofs = shared ? *shared : own;
  Mask mask = Mask::decompose(op.getMask());
  bool isCausal = op.getCausal(), changed = mask.empty();
  // Drops a proven part and bakes the weights that were read.
  auto drop = [&](Value part, bool hiddenValue, bool isCondition) {
    const MaskProofs::Proof &proof =
        proofs.classify(part, hiddenValue, isCondition, op);
    if (proof.verdict == Verdict::other)
      return false;
    isCausal |= proof.verdict == Verdict::causal;
    changed = true;
    for (Operation *weight : proof.weights)
      rewriter.modifyOpInPlace(weight,
                               [&] { cast<WeightOp>(weight).setBaked(true); });
    return true;
  };
  llvm::erase_if(mask.terms, [&](const Mask::Term &term) {
    return drop(term.value, /*hiddenValue=*/true, /*isCondition=*/false);
  });
  llvm::erase_if(mask.choices, [&](const Mask::Choice &choice) {
    return drop(choice.condition, choice.hidesWhenTrue, /*isCondition=*/true);
  });
  if (!changed)
    return failure();
  Value rest = mask.build(rewriter, op.getMask().getLoc(),
                          op.getType().getElementType());
  if (causal && isCausal && !op.getCausal())
    ++*causal;
  rewriter.modifyOpInPlace(op, [&] {
    op.setCausal(isCausal);
    op.getMaskMutable().assign(rest ? ValueRange(rest) : ValueRange());
  });
  return success();
}

void fact::populateProveMasksPatterns(RewritePatternSet &patterns,
                                      Pass::Statistic *causal) {
  patterns.add<ProveMask>(patterns.getContext(), causal);
}
