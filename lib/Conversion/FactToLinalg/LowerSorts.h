//===- LowerSorts.h - Sorted rows -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_CONVERSION_FACTTOLINALG_LOWERSORTS_H
#define FACT_LIB_CONVERSION_FACTTOLINALG_LOWERSORTS_H

#include "ElementBuilder.h"

namespace fact {
struct SortedRows {
  Value keys;
  /// Where each key was before, as i64.
  Value places;
};

/// Sorts dimension 1 of a tensor [before, size, after]. Equal keys keep their
/// order.
SortedRows sortRows(ElementBuilder &b, Value keys, bool descending,
                    Steps steps);
} // namespace fact

#endif // FACT_LIB_CONVERSION_FACTTOLINALG_LOWERSORTS_H
