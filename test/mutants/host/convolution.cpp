// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t images = 2, height = 9, width = 11, channels = 5;
constexpr int64_t rows = 5, columns = 12, filters = 7;

/// A pixel's channel, 0 outside of the image.
static float pixel(const float *image, int64_t y, int64_t x, int64_t channel) {
  if (y < 0 || y >= height || x < 0 || x >= width)
    return 0;
  return image[(y * width + x) * channels + channel];
}

static void tile(int64_t index, void *const *buffers, void *) {
  int64_t number = index / rows, row = index % rows;
  const float *image =
      operand<float>(buffers, 0) + number * height * width * channels;
  const float *weights = operand<float>(buffers, 1);
  const float *bias = operand<float>(buffers, 2);
  float *y = result<float>(buffers, 3) + index * columns * filters;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t filter = 0; filter < filters; ++filter) {
      const float *weight = weights + filter * 3 * 2 * channels;
      float sum = 0;
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j)
          for (int64_t channel = 0; channel < channels; ++channel)
            sum += weight[(i * 2 + j) * channels + channel] *
                   pixel(image, row * 2 - 1 + i, column - 1 + j * 2, channel);
      y[column * filters + filter] = sum + bias[filter];
    }
}

KERNEL(4, 0, images *rows)
