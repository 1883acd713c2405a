//===- Tensors.cpp - DLPack tensors against what a program expects --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensors.h"
#include "fact/Runtime/Device.h"
#include <algorithm>

namespace fact {
namespace runtime {

std::string describeShape(const int64_t *shape, int64_t rank) {
  std::string text = "[";
  for (int64_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

static std::string describeType(DLDataType type) {
  const char *code = "type";
  switch (type.code) {
  case kDLInt:
    code = "i";
    break;
  case kDLUInt:
    code = "u";
    break;
  case kDLFloat:
    code = "f";
    break;
  case kDLBfloat:
    code = "bf";
    break;
  case kDLComplex:
    code = "complex";
    break;
  case kDLBool:
    return "i1";
  default:
    break;
  }
  std::string text = code + std::to_string(type.bits);
  return type.lanes == 1 ? text : text + "x" + std::to_string(type.lanes);
}

static std::string describeDevice(DLDevice device) {
  std::string name;
  if (device.device_type == kDLCPU)
    name = "cpu";
  else if (device.device_type == kDLCUDA)
    name = "cuda";
  else
    name = "device type " + std::to_string(int(device.device_type));
  return name + ":" + std::to_string(device.device_id);
}

static uint8_t codeOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, Smallest, Dlpack, ...)                     \
  case ElementType::Type:                                                      \
    return Dlpack;
#include "fact/Runtime/ElementTypes.def"
  }
  return kDLInt;
}

DLDataType dataTypeOf(ElementType type) {
  return {codeOf(type), static_cast<uint8_t>(8 * bytesOf(type)), 1};
}

static bool hasType(DLDataType found, ElementType expected) {
  DLDataType type = dataTypeOf(expected);
  // Exporters use different type codes for booleans.
  bool sameCode =
      found.code == type.code || (isBoolean(expected) && found.code == kDLUInt);
  return sameCode && found.bits == type.bits && found.lanes == 1;
}

bool isRowMajor(const DLTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t expected = 1;
  bool rowMajor = true;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0)
      return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected)
      rowMajor = false;
    expected *= tensor.shape[i];
  }
  return rowMajor;
}

bool isAligned(const void *data, ElementType type) {
  return reinterpret_cast<uintptr_t>(data) %
             device::requiredAlignment(bytesOf(type)) ==
         0;
}

bool hasShape(const DLTensor &tensor, const TensorSpec &expected) {
  return tensor.ndim == static_cast<int32_t>(expected.rank) &&
         std::equal(expected.shape, expected.shape + expected.rank,
                    tensor.shape);
}

std::string mismatch(const DLTensor &tensor, const TensorSpec &expected,
                     int32_t ordinal) {
  auto wanted = [&] { return describeShape(expected.shape, expected.rank); };
  if (tensor.ndim > 0 && !tensor.shape)
    return "has no shape (a null pointer); expected " + wanted();
  if (!hasShape(tensor, expected))
    return "has shape " + describeShape(tensor.shape, tensor.ndim) +
           "; expected " + wanted();
  if (!hasType(tensor.dtype, expected.type))
    return "has type " + describeType(tensor.dtype) + "; expected " +
           nameOf(expected.type);
  if (static_cast<int32_t>(tensor.device.device_type) != device::type() ||
      tensor.device.device_id != ordinal)
    return "is on " + describeDevice(tensor.device) + "; expected " +
           device::name() + ":" + std::to_string(ordinal);
  if (!tensor.data && expected.elements() != 0)
    return "has no data (a null pointer)";
  return "";
}

} // namespace runtime
} // namespace fact
