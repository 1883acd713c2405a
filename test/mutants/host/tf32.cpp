// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"
#include <cstring>

constexpr int64_t rows = 33, columns = 70, depth = 70;

static float gelu(float x) {
  return 0.5f * x * (1 + std::erf(x * 0.70710678f));
}

/// What the arithmetic keeps of an operand: the nearest TF32 number.
static float kept(float x) {
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
  const float *bias = operand<float>(buffers, 2);
  float *y = result<float>(buffers, 3) + row * columns;
  for (int64_t column = 0; column < columns; ++column) {
    float sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += kept(x[k]) * kept(w[column * depth + k]);
    y[column] = gelu(sum + bias[column]);
  }
}

KERNEL(4, 0, rows)
