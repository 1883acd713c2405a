//===- DescribeGraph.h - A graph and its kernels as JSON --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_DESCRIBEGRAPH_H
#define FACT_DRIVER_DESCRIBEGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace fact {
/// Describes the FACT ops of a module's function, and the kernels that
/// discovery made of them:
///
///   {"inputs": [{"name": "x", "type": "4x64x256xf32"}],
///    "ops": [{"op": "matmul", "type": "4x64x768xf32", "line": "gpt.py:31",
///             "attributes": "transpose_b", "group": 0,
///             "operands": [{"input": "x"}, {"weight": "qkv.weight"}]}, ...],
///    "groups": [{"kernel": "gemm_epilogue_0", "rule": "gemm_epilogue"}, ...],
///    "outputs": [12]}
///
/// An operand is the index of an op, an input, a weight or a constant. Ops
/// outside of kernels (views) have no group; a group with `"prepare": true`
/// runs once per set of weights.
llvm::json::Object describeGraph(mlir::ModuleOp module);
} // namespace fact

#endif // FACT_DRIVER_DESCRIBEGRAPH_H
