//===- RowsOf.h - The rows of an op, as kernels name them -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_ROWSOF_H
#define FACT_LIB_TARGET_CUDA_ROWSOF_H

#include "Emission.h"
#include "fact/Target/RowsOf.h"

namespace fact {
/// As `RowsOf` of Scan.cuh.
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const RowsOf &rows) {
  return os << "RowsOf<" << rows.outer << ", " << rows.length << ", "
            << rows.inner << ">";
}
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_ROWSOF_H
