// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 40, columns = 130;

static float larger(float a, float b) { return a != a || a > b ? a : b; }

static void tile(int64_t row, void *const *buffers, void *workspace) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  float *y = result<float>(buffers, 1) + row * columns;
  float *power = static_cast<float *>(workspace);
  float largest = -INFINITY;
  for (int64_t i = 0; i < columns; ++i)
    largest = larger(x[i], largest);
  for (int64_t i = 0; i < columns; ++i)
    power[i] = std::exp(x[i] - largest);
  float sum = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += power[i];
  for (int64_t i = 0; i < columns; ++i)
    y[i] = power[i] / sum;
}

KERNEL(2, columns * sizeof(float), rows)
