//===- Table.h - A constant array and its size ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_RUNTIME_TABLE_H
#define FACT_RUNTIME_TABLE_H

#include <cstdint>

namespace fact {
namespace runtime {

template <typename T> struct Table {
  const T *data;
  uint32_t size;
  constexpr const T &operator[](uint32_t i) const { return data[i]; }
  constexpr const T *begin() const { return data; }
  constexpr const T *end() const { return data + size; }
};

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_TABLE_H
