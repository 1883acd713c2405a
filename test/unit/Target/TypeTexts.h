//===- TypeTexts.h - Types of tensors as text -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_TARGET_TYPETEXTS_H
#define FACT_TEST_UNIT_TARGET_TYPETEXTS_H

#include <cstdint>
#include <initializer_list>
#include <string>

namespace fact::test {
/// What most kernels store.
inline const std::string types[] = {"f32", "bf16", "f16"};

/// "4x8xf32".
inline std::string tensor(std::initializer_list<int64_t> shape,
                          const std::string &type) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type;
}

/// "tensor<4x8xf32>".
inline std::string T(const std::string &type) { return "tensor<" + type + ">"; }
} // namespace fact::test

#endif // FACT_TEST_UNIT_TARGET_TYPETEXTS_H
