//===- Indices.h - Indices of gathers and scatters --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_CONVERSION_TORCHTOFACT_INDICES_H
#define FACT_LIB_CONVERSION_TORCHTOFACT_INDICES_H

#include "TorchCall.h"

namespace fact {
namespace torchtofact {
/// A vector of constant indices.
Value makeIndices(TorchCall &call, ArrayRef<int64_t> numbers);
/// An argument with integers of 32 or 64 bits.
LogicalResult indices(TorchCall &call, unsigned index, StringRef name,
                      Value &result);
/// Replaces negative indices, which count from the end.
Value countFromFront(TorchCall &call, Value indices, int64_t size);

/// For each element of `shape`, the offset of dimension `dim`'s index in
/// row-major memory of shape `source`.
Value makeOffsets(TorchCall &call, ArrayRef<int64_t> source,
                  ArrayRef<int64_t> shape, int64_t dim);
/// The places of elements of `gather(x, dim, index)` in a flattened tensor of
/// shape `source`: each index replaces its own position along `dim`.
Value linearizeAlong(TorchCall &call, ArrayRef<int64_t> source, Value index,
                     int64_t dim);
/// `gather(x, dim, index)`, as a gather from the flattened tensor.
Value gatherElements(TorchCall &call, Value x, Value index, int64_t dim);

/// The dimensions of a tensor that `x[i, :, j]` indexes, as one.
struct IndexedDims {
  /// The tensor with dimensions in `order`, so that indexed ones follow each
  /// other, and its shape with these merged into dimension `dim`.
  Value permuted;
  SmallVector<int64_t> order, shape;
  int64_t dim;
  /// Places along `dim`; null if nothing is indexed.
  Value place;
};
/// `places` has a null value for each dimension that is not indexed.
LogicalResult mergeIndexed(TorchCall &call, Value x, ArrayRef<Value> places,
                           IndexedDims &result);
} // namespace torchtofact
} // namespace fact

#endif // FACT_LIB_CONVERSION_TORCHTOFACT_INDICES_H
