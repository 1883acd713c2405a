// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t heads = 2, queries = 16, keys = 2000, depth = 32;
/// Keys are read in tiles.
constexpr int64_t padded = 2048;

static void tile(int64_t index, void *const *buffers, void *workspace) {
  const bf16 *q = operand<bf16>(buffers, 0) + index * depth;
  const bf16 *k = operand<bf16>(buffers, 1);
  const bf16 *v = operand<bf16>(buffers, 2);
  bf16 *y = result<bf16>(buffers, 3) + index * depth;
  float *score = static_cast<float *>(workspace);
  float largest = -INFINITY;
  for (int64_t key = 0; key < padded; ++key) {
    float sum = 0;
    for (int64_t d = 0; d < depth && key < keys; ++d)
      sum += load(q[d]) * load(k[key * depth + d]);
    score[key] = key < keys ? sum * 0.17677669529663687f : -INFINITY;
    largest =
        score[key] > largest || score[key] != score[key] ? score[key] : largest;
  }
  float total = 0, out[depth] = {};
  for (int64_t key = 0; key < padded; ++key) {
    float power = std::exp(score[key] - largest);
    total += power;
    for (int64_t d = 0; d < depth && key < keys; ++d)
      out[d] += power * load(v[key * depth + d]);
  }
  for (int64_t d = 0; d < depth; ++d)
    y[d] = round16(out[d] / total);
}

KERNEL(4, padded * sizeof(float), heads *queries)
