//===- Tensors.h - DLPack tensors and what a program expects ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_TENSORS_H
#define FACT_LIB_RUNTIME_TENSORS_H

#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <string>

namespace fact {
namespace runtime {

/// "[4, 8]"
std::string describeShape(const int64_t *shape, int64_t rank);

DLDataType dataTypeOf(ElementType type);

bool isRowMajor(const DLTensor &tensor);

inline char *dataOf(const DLTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.byte_offset;
}

/// Whether `data` has the alignment that kernels need.
bool isAligned(const void *data, ElementType type);

/// Whether a tensor, whose shape is no null pointer, has the expected one.
bool hasShape(const DLTensor &tensor, const TensorSpec &expected);

/// Describes what is wrong with the shape, type, device and data of `tensor`,
/// or returns "".
std::string mismatch(const DLTensor &tensor, const TensorSpec &expected,
                     int32_t ordinal);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_TENSORS_H
