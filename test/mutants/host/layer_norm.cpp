// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 32, columns = 200;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  const float *weight = operand<float>(buffers, 1);
  const float *bias = operand<float>(buffers, 2);
  float *y = result<float>(buffers, 3) + row * columns;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += x[i];
  double mean = sum / columns;
  for (int64_t i = 0; i < columns; ++i)
    squares += (x[i] - mean) * (x[i] - mean);
  double scale = 1 / std::sqrt(squares / columns + 1e-5);
  for (int64_t i = 0; i < columns; ++i)
    y[i] = static_cast<float>((x[i] - mean) * scale * weight[i] + bias[i]);
}

KERNEL(4, 0, rows)
