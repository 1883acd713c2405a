//===- Reference.h - Naive kernels to verify candidates with ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reference is written to be obviously right: one loop per op, doubles
// throughout, 64-bit indices, no code shared with candidates.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_REFERENCE_H
#define FACT_REFERENCE_REFERENCE_H

#include "Contractions.h"
#include "Elements.h"
#include "Launch.h"
#include "Pointwise.h"
#include "Rows.h"
#include "Scans.h"

#endif // FACT_REFERENCE_REFERENCE_H
