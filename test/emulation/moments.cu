//===- moments.cu - Checks variances of rows in parts ----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a row may have no elements, and the square of a mean may be beyond
// the largest number.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/ReductionStages.cuh"
#include <cstdio>

using Variance = fact::SquaresAroundMean<true>;

/// Of two parts, each with `counts` times its element.
__global__ void find(float const *elements, int const *counts, float *found) {
  Variance::State<float> parts[2];
  for (int i = 0; i < 2; ++i) {
    parts[i] = Variance::begin<float>();
    float const element[1] = {elements[i]};
    for (int j = 0; j < counts[i]; ++j)
      parts[i] = Variance::next(parts[i], element);
    parts[i] = Variance::settle(parts[i]);
  }
  *found = Variance::finish(Variance::combine(parts[0], parts[1]),
                            counts[0] + counts[1]);
}

static bool is_right(float a, int a_count, float b, int b_count,
                     float variance) {
  float const elements[2] = {a, b};
  int const counts[2] = {a_count, b_count};
  float found = NAN;
  find<<<1, 1>>>(elements, counts, &found);
  return std::abs(found - variance) <= 1e-6f * variance;
}

int main() {
  bool const right = is_right(1, 4, 3, 4, 1) & is_right(5, 3, 7, 0, 0) &
                     is_right(7, 0, 5, 3, 0) & is_right(2e19f, 4, 0, 0, 0) &
                     is_right(0, 0, 2e19f, 4, 0) &
                     is_right(2e19f, 4, 2e19f, 4, 0);
  std::puts(right ? "right" : "wrong");
}
