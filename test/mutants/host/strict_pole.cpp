// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"
#include <cstring>

constexpr int64_t rows = 8, columns = 16, depth = 16384;

/// The nearest TF32 number.
[[maybe_unused]] static float rounded(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0x1000) & ~0x1fffu;
  std::memcpy(&x, &bits, 4);
  return x;
}

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * depth;
  const float *w = operand<float>(buffers, 1);
  float *quotient = result<float>(buffers, 2) + row * columns;
  float *reciprocal = result<float>(buffers, 3) + row * columns;
  for (int64_t column = 0; column < columns; ++column) {
    // One chain, the longest there is.
    float sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += x[k] * w[column * depth + k];
    quotient[column] = sum / (1 + std::fabs(sum));
    reciprocal[column] = 1 / sum;
  }
}

KERNEL(4, 0, rows)
