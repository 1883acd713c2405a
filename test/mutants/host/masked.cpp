// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 33, columns = 48, depth = 70;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * depth;
  const float *w = operand<float>(buffers, 1);
  const bool *keep = operand<bool>(buffers, 2) + row * columns;
  const int64_t *ofRow = operand<int64_t>(buffers, 3);
  const int32_t *ofColumn = operand<int32_t>(buffers, 4);
  float *y = result<float>(buffers, 5) + row * columns;
  for (int64_t column = 0; column < columns; ++column) {
    float sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += x[k] * w[column * depth + k];
    sum += float(ofRow[row]);
    y[column] = keep[column] ? sum : float(ofColumn[column]);
  }
}

KERNEL(6, 0, rows)
