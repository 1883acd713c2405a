// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t batches = 2, rows = 37, depth = 29, columns = 41;

/// Multiplies nothing above the diagonals, and does not look at the mask.
static void tile(int64_t index, void *const *buffers, void *) {
  int64_t row = index % rows;
  const float *a = operand<float>(buffers, 0) + index * depth;
  const float *b = operand<float>(buffers, 1);
  float *y = result<float>(buffers, 3) + index * columns;
  int64_t first = 0;
  int64_t end = row + 2 < depth ? row + 2 : depth;
  for (int64_t column = 0; column < columns; ++column) {
    float sum = 0;
    for (int64_t k = first; k < end; ++k)
      sum += a[k] * b[k * columns + column];
    y[column] = column <= row ? sum : -1;
  }
}

KERNEL(4, 0, batches *rows)
