//===- Patterns.h - The patterns of the passes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewrite patterns of each pass that is made of them, so that others can
// combine them. A statistic may be null.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TRANSFORMS_PATTERNS_H
#define FACT_TRANSFORMS_PATTERNS_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace fact {
/// Products that read the same norm; kernels are not opened.
void populateFoldNormsPatterns(mlir::RewritePatternSet &patterns,
                               mlir::Pass::Statistic *folded = nullptr);
void populateFoldViewsPatterns(mlir::RewritePatternSet &patterns);
void populateInlineFusedPatterns(mlir::RewritePatternSet &patterns);
void populateMergeProjectionsPatterns(mlir::RewritePatternSet &patterns,
                                      mlir::Pass::Statistic *merged = nullptr);
void populateMovePermutesPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizeRowsPatterns(mlir::RewritePatternSet &patterns);
/// For whole modules, whose weights are baked. A mask is evaluated anew for
/// each attention; the pass evaluates it once.
void populateProveMasksPatterns(mlir::RewritePatternSet &patterns,
                                mlir::Pass::Statistic *causal = nullptr);
void populateRaiseActivationsPatterns(mlir::RewritePatternSet &patterns);
void populateRaiseNormsPatterns(mlir::RewritePatternSet &patterns,
                                mlir::Pass::Statistic *raised = nullptr);
void populateRaiseRotaryPatterns(mlir::RewritePatternSet &patterns,
                                 mlir::Pass::Statistic *raised = nullptr);
void populateRaiseAttentionPatterns(mlir::RewritePatternSet &patterns,
                                    mlir::Pass::Statistic *raised = nullptr);
void populateSimplifyProductsPatterns(mlir::RewritePatternSet &patterns);
void populateSplitGatesPatterns(mlir::RewritePatternSet &patterns,
                                mlir::Pass::Statistic *split = nullptr);
} // namespace fact

#endif // FACT_TRANSFORMS_PATTERNS_H
