//===- DescribeTarget.h - A machine and its kernels as JSON -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_DESCRIBETARGET_H
#define FACT_DRIVER_DESCRIBETARGET_H

#include "fact/Dialect/Fact/Fact.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace fact {
/// The figures of a machine, by the names of a file that describes one.
llvm::json::Object describeMachine(MachineAttr machine);

/// Prints the machine that `target` names ("auto": the local one, empty: the
/// host), why it is the one of `auto`, and the families that serve it:
///
///   {"machine": {"name": "h200", "architecture": "sm_90a", ...},
///    "built_in": true, "reason": "NVIDIA H200 (compute capability 9.0)",
///    "families": [{"rule": "gemm_epilogue", "architecture": "sm_90a",
///                  "schedules": ["sm90_gemm", ...]}, ...]}
///
/// `machine` is what a file that describes a machine contains.
mlir::LogicalResult describeTarget(mlir::MLIRContext *context,
                                   llvm::StringRef target,
                                   llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_DRIVER_DESCRIBETARGET_H
