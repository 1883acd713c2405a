//===- Rules.h - Built-in rules ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each architecture implements them with families of its own.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_KERNEL_RULES_H
#define FACT_KERNEL_RULES_H

#include "fact/Kernel/Family.h"

namespace fact {
extern const Rule gemmEpilogueRule;
extern const Rule gatedGemmRule;
extern const Rule groupedGemmRule;
extern const Rule thinGemmRule;
extern const Rule attentionRule;
extern const Rule windowsRule;
extern const Rule rowwiseRule;
extern const Rule reductionRule;
extern const Rule scanRule;
extern const Rule sortRule;
extern const Rule scatterRule;
extern const Rule pointwiseRule;
extern const Rule concatRule;
extern const Rule genericRule;

/// The rows, columns or terms of a thin product, and the filters of one whose
/// rows are windows. A thread keeps a sum for each; with more, arithmetic takes
/// longer than reading.
inline constexpr int64_t thinLimit = 8, filterLimit = 32;
} // namespace fact

#endif // FACT_KERNEL_RULES_H
