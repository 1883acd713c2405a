// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 96, columns = 96;

static void tile(int64_t column, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + column;
  double sum = 0;
  float largest = -INFINITY;
  int64_t place = 0;
  for (int64_t row = 0; row < rows; ++row) {
    float value = x[row * columns];
    sum += value;
    if (largest == largest && (value > largest || value != value)) {
      largest = value;
      place = row;
    }
  }
  result<float>(buffers, 1)[column] = static_cast<float>(sum / rows);
  result<float>(buffers, 2)[column] = largest;
  result<int64_t>(buffers, 3)[column] = place;
}

KERNEL(4, 0, columns)
