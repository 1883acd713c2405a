//===- TensorBytes.h - Values of tensors as bytes ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_TENSORBYTES_H
#define FACT_LIB_TARGET_BUNDLE_TENSORBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace fact {
/// The bytes of a tensor as libraries receive it: little-endian elements,
/// booleans one byte each. Fails for an attribute that has no values.
llvm::FailureOr<std::string> serialize(mlir::ElementsAttr attr);

/// FNV-1a of 64 bits, which a library compares when weights are loaded.
uint64_t hashBytes(llvm::StringRef bytes);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_TENSORBYTES_H
