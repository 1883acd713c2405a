//===- LLVMStatistic.h - Pass statistics as LLVM has them -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's header lays statistics out by NDEBUG, and libMLIR constructs those of
// FACT's passes. Included first where FACT has assertions and LLVM has none,
// whose constructor would leave FACT's members uninitialized.
//
//===----------------------------------------------------------------------===//

#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
