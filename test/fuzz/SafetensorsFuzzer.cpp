//===- SafetensorsFuzzer.cpp - Any bytes as a weights file ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reader refuses with a message, or every tensor is inside of the bytes.
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

using namespace fact::runtime;

/// Mostly keeps the length before the header right: few bytes would read on
/// otherwise.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  if (limit < 8 || size < 8 || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  uint64_t length = 0;
  std::memcpy(&length, data, 8);
  bool wasRight = length <= size - 8;
  uint64_t rest = wasRight ? size - 8 - length : 0;
  size_t mutated = LLVMFuzzerMutate(data + 8, size - 8, limit - 8);
  uint64_t header = rest < mutated ? mutated - rest : mutated;
  std::memcpy(data, &header, 8);
  return mutated + 8;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // On the heap, where the sanitizer sees each byte beyond it.
  std::vector<char> bytes(data, data + size);
  bytes.shrink_to_fit();
  try {
    for (const auto &[name, tensor] :
         readSafetensors(bytes.data(), bytes.size())) {
      if (tensor.data < bytes.data() ||
          tensor.bytes > size_t(bytes.data() + size - tensor.data))
        std::abort();
      unsigned sum = 0;
      for (uint64_t i = 0; i < tensor.bytes; ++i)
        sum += static_cast<unsigned char>(tensor.data[i]);
      volatile unsigned seen = sum;
      (void)seen;
    }
  } catch (const std::runtime_error &problem) {
    if (!*problem.what())
      std::abort();
  }
  return 0;
}
