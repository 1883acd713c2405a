//===- Rules.h - The rules that FACT brings -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several architectures implement them, with a family each.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_KERNEL_RULES_H
#define FACT_KERNEL_RULES_H

#include "fact/Kernel/Family.h"

namespace fact {
extern const Rule gemmEpilogueRule;
extern const Rule gatedGemmRule;
extern const Rule groupedGemmRule;
extern const Rule attentionRule;
extern const Rule rowwiseRule;
extern const Rule pointwiseRule;
extern const Rule concatRule;
extern const Rule genericRule;
} // namespace fact

#endif // FACT_KERNEL_RULES_H
