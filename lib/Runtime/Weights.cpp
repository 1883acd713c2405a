//===- Weights.cpp - The weights of one instance --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Weights.h"
#include "Tensors.h"
#include <map>
#include <stdexcept>

namespace fact {
namespace runtime {

static std::string hexadecimal(uint64_t value) {
  static const char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    text[i] = digits[value & 15];
  return text;
}

static std::string describe(const TensorSpec &tensor) {
  return std::string(nameOf(tensor.type)) + " " +
         describeShape(tensor.shape, tensor.rank);
}

/// `bytes` are host memory.
static std::string checkBaked(const WeightSpec &expected, const char *bytes) {
  uint64_t hash = fnv1a64(bytes, expected.tensor.bytes());
  if (!expected.baked || hash == expected.hash)
    return "";
  return "has another value than the one compiled in (hash " +
         hexadecimal(hash) + ", compiled for " + hexadecimal(expected.hash) +
         "); compile again with this one";
}

static void addMissing(const Program &program, const std::vector<bool> &given,
                       std::vector<std::string> &problems) {
  for (uint32_t i = 0; i < program.weights.size; ++i)
    if (!given[i])
      problems.push_back(
          std::string("'") + program.weights[i].tensor.name +
          "' is missing: " + describe(program.weights[i].tensor));
}

//===----------------------------------------------------------------------===//
// From memory
//===----------------------------------------------------------------------===//

std::string checkBakedValue(const WeightSpec &expected, const void *data) {
  if (!expected.baked)
    return "";
  std::vector<char> bytes(expected.tensor.bytes());
  if (!device::copyToHost(bytes.data(), data, bytes.size()))
    return std::string("could not be read: ") + device::lastError();
  return checkBaked(expected, bytes.data());
}

/// Describes why a tensor cannot be borrowed, or returns "".
static std::string checkTensor(const WeightSpec &expected,
                               const DLTensor &found, int32_t ordinal) {
  std::string wrong = mismatch(found, expected.tensor, ordinal);
  if (!wrong.empty())
    return wrong;
  if (!isRowMajor(found))
    return "is not row-major (strides " +
           describeShape(found.strides, found.ndim) +
           "); weights are borrowed, so pass a contiguous one";
  if (!isAligned(dataOf(found), expected.tensor.type))
    return "does not begin at a multiple of " +
           std::to_string(
               device::requiredAlignment(bytesOf(expected.tensor.type))) +
           " bytes";
  return checkBakedValue(expected, dataOf(found));
}

std::vector<std::string> takeTensors(const Program &program, int32_t ordinal,
                                     const FactNamedTensor *tensors,
                                     int64_t count, bool needAll,
                                     Weights &weights) {
  std::map<std::string, uint32_t> positions;
  for (uint32_t i = 0; i < program.weights.size; ++i)
    positions[program.weights[i].tensor.name] = i;
  std::vector<bool> given(program.weights.size);
  std::vector<std::string> problems;
  for (int64_t i = 0; i < count; ++i) {
    if (!tensors || !tensors[i].name || !tensors[i].tensor) {
      problems.push_back("weight " + std::to_string(i) +
                         " has no name or no tensor");
      if (!tensors)
        break;
      continue;
    }
    std::string name = tensors[i].name;
    auto position = positions.find(name);
    if (position == positions.end()) {
      problems.push_back("unknown weight '" + name + "'");
      continue;
    }
    uint32_t index = position->second;
    if (given[index]) {
      problems.push_back("duplicate weight '" + name + "'");
      continue;
    }
    given[index] = true;
    const DLTensor &tensor = *tensors[i].tensor;
    std::string wrong = checkTensor(program.weights[index], tensor, ordinal);
    if (!wrong.empty()) {
      problems.push_back("'" + name + "' " + wrong);
      continue;
    }
    weights.data[index] = dataOf(tensor);
    weights.owners[index] = nullptr;
  }
  if (needAll)
    addMissing(program, given, problems);
  return problems;
}

//===----------------------------------------------------------------------===//
// From a file
//===----------------------------------------------------------------------===//

static const char *fileTypeOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, Smallest, Dlpack, Safetensors, ...)        \
  case ElementType::Type:                                                      \
    return Safetensors;
#include "fact/Runtime/ElementTypes.def"
  }
  return "?";
}

static std::string checkFileTensor(const WeightSpec &expected,
                                   const FileTensor &found) {
  const TensorSpec &tensor = expected.tensor;
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (found.shape != shape)
    return "has shape " +
           describeShape(found.shape.data(),
                         static_cast<int64_t>(found.shape.size())) +
           "; expected " + describeShape(tensor.shape, tensor.rank);
  if (found.type != fileTypeOf(tensor.type))
    return "has type " + found.type + "; expected " + fileTypeOf(tensor.type);
  return checkBaked(expected, found.data);
}

/// Where kernels find the tensor, and the owner that keeps it there.
static void place(const FileTensor &tensor, ElementType type,
                  const std::shared_ptr<void> &mapping, char *&data,
                  std::shared_ptr<void> &owner) {
  if (device::type() == kDLCPU && isAligned(tensor.data, type)) {
    data = const_cast<char *>(tensor.data);
    owner = mapping;
    return;
  }
  void *memory = device::allocate(tensor.bytes);
  if (!memory)
    throw std::runtime_error(device::lastError());
  owner = std::shared_ptr<void>(memory, device::release);
  if (!device::copyToDevice(memory, tensor.data, tensor.bytes))
    throw std::runtime_error(device::lastError());
  data = static_cast<char *>(memory);
}

std::vector<std::string> takeFile(const Program &program,
                                  const SafetensorsFile &file, bool needAll,
                                  Weights &weights) {
  std::vector<bool> given(program.weights.size);
  std::vector<std::string> problems;
  std::map<std::string, FileTensor> others = file.tensors;
  for (uint32_t i = 0; i < program.weights.size; ++i) {
    const char *name = program.weights[i].tensor.name;
    auto found = file.tensors.find(name);
    if (found == file.tensors.end())
      continue;
    given[i] = true;
    others.erase(name);
    std::string wrong = checkFileTensor(program.weights[i], found->second);
    if (!wrong.empty())
      problems.push_back(std::string("'") + name + "' " + wrong);
  }
  if (needAll)
    addMissing(program, given, problems);
  else if (others.size() == file.tensors.size() && program.weights.size)
    problems.push_back("it holds no weight of this model");
  if (!problems.empty()) {
    // A checkpoint may hold more than a model needs, so these are not errors;
    // but one of them may be a missing weight under another name.
    for (const auto &entry : others)
      problems.push_back(
          "unknown weight '" + entry.first + "' (" + entry.second.type + " " +
          describeShape(entry.second.shape.data(),
                        static_cast<int64_t>(entry.second.shape.size())) +
          ")");
    return problems;
  }
  for (uint32_t i = 0; i < program.weights.size; ++i)
    if (given[i])
      place(file.tensors.at(program.weights[i].tensor.name),
            program.weights[i].tensor.type, file.mapping, weights.data[i],
            weights.owners[i]);
  return problems;
}

} // namespace runtime
} // namespace fact
