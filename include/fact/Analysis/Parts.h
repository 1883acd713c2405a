//===- Parts.h - Slices and joins that are memory ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_PARTS_H
#define FACT_ANALYSIS_PARTS_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// The byte offset of a slice in the row-major memory of its operand, if its
/// elements are contiguous there: it takes a range of the outermost dimension
/// that is larger than 1.
std::optional<int64_t> getPartOffset(SliceOp slice);

/// The byte offset of each operand in the row-major memory of the result, if
/// operands are contiguous there; else nothing.
llvm::SmallVector<int64_t> getPartOffsets(ConcatOp concat);
} // namespace fact

#endif // FACT_ANALYSIS_PARTS_H
