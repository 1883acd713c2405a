//===- Types.cpp - Element types of tensors -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;
using runtime::ElementType;

static unsigned getBits(ElementType element) {
  return runtime::isBoolean(element) ? 1 : 8 * runtime::bytesOf(element);
}

template <typename T> static T get(MLIRContext *context, ElementType element) {
  if constexpr (std::is_same_v<T, IntegerType>)
    return IntegerType::get(context, getBits(element));
  else
    return T::get(context);
}

template <typename T> static bool is(Type type, ElementType element) {
  if constexpr (std::is_same_v<T, IntegerType>)
    return type.isSignlessInteger(getBits(element));
  else
    return isa<T>(type);
}

std::optional<ElementType> fact::findElementType(Type element) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, Smallest, Dlpack, Safetensors, Mlir)       \
  if (is<Mlir>(element, ElementType::Type))                                    \
    return ElementType::Type;
#include "fact/Runtime/ElementTypes.def"
  return std::nullopt;
}

ElementType fact::toElementType(Type element) {
  std::optional<ElementType> found = findElementType(element);
  assert(found && "the dialect allows only types of the table in tensors");
  return *found;
}

Type fact::toType(MLIRContext *context, ElementType element) {
  switch (element) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, Smallest, Dlpack, Safetensors, Mlir)       \
  case ElementType::Type:                                                      \
    return get<Mlir>(context, element);
#include "fact/Runtime/ElementTypes.def"
  }
  llvm_unreachable("all element types are in the table");
}

StringRef fact::getElementName(Type element) {
  return runtime::nameOf(toElementType(element));
}

Type fact::getComputeType(Type element) {
  std::optional<ElementType> found = findElementType(element);
  if (!found || runtime::computeTypeOf(*found) == *found)
    return element;
  return toType(element.getContext(), runtime::computeTypeOf(*found));
}

bool fact::isNarrowFloat(Type element) {
  std::optional<ElementType> found = findElementType(element);
  return found && runtime::isNarrowFloat(*found);
}

int64_t fact::getStorageBytes(Type elementOrTensor) {
  if (auto tensor = dyn_cast<RankedTensorType>(elementOrTensor))
    return tensor.getNumElements() * getStorageBytes(tensor.getElementType());
  return llvm::divideCeil(elementOrTensor.getIntOrFloatBitWidth(), 8);
}
