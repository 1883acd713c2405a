//===- TensorBytes.cpp - Values of tensors as bytes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorBytes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace fact;

FailureOr<std::string> fact::serialize(ElementsAttr attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return failure();
    return std::string(blob->getData().begin(), blob->getData().end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return failure();
  std::string bytes;
  auto append = [&](const APInt &value) {
    uint64_t word = value.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word),
                 (value.getBitWidth() + 7) / 8);
  };
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &value : dense.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : dense.getValues<APInt>())
      append(value);
  return bytes;
}

uint64_t fact::hashBytes(StringRef bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}
