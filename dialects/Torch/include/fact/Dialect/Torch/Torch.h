//===- Torch.h - The import shim of torch-mlir ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_TORCH_TORCH_H
#define FACT_DIALECT_TORCH_TORCH_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "fact/Dialect/Torch/TorchDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fact/Dialect/Torch/TorchTypes.h.inc"

#endif // FACT_DIALECT_TORCH_TORCH_H
