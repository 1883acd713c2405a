//===- AbsoluteError.h - Uses that tolerate absolute errors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_ABSOLUTEERROR_H
#define FACT_ANALYSIS_ABSOLUTEERROR_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Whether every use of a value of a region tolerates an error that is small
/// relative to 1 or to an operand, but not to the value itself: the value, or
/// sums, products and activation functions of it, are stored in 16 bits or
/// rounded to them as a contraction's operand. A logarithm, a quotient or a
/// comparison does not tolerate it: near 0, an absolute error is a large
/// relative one. `whereStored`: values that are no more exact may also be
/// stored in wider floats.
bool toleratesAbsoluteError(mlir::Value value, bool whereStored = false);
} // namespace fact

#endif // FACT_ANALYSIS_ABSOLUTEERROR_H
