// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t batches = 2, heads = 4, keyHeads = 4, queries = 20, keys = 24,
                  depth = 64;

static void tile(int64_t index, void *const *buffers, void *) {
  int64_t query = index % queries, head = index / queries % heads,
          batch = index / queries / heads;
  int64_t keyHead = head / (heads / keyHeads);
  const float *q = operand<float>(buffers, 0) + index * depth;
  const float *k =
      operand<float>(buffers, 1) + (batch * keyHeads + keyHead) * keys * depth;
  const float *v =
      operand<float>(buffers, 2) + (batch * keyHeads + keyHead) * keys * depth;
  const float *mask =
      operand<float>(buffers, 3) + (head * queries + query) * keys;
  float *y = result<float>(buffers, 4) + index * depth;
  double score[keys], largest = -INFINITY;
  for (int64_t key = 0; key < keys; ++key) {
    double sum = 0;
    for (int64_t d = 0; d < depth; ++d)
      sum += static_cast<double>(q[d]) * k[key * depth + d];
    score[key] = sum + mask[key];
    largest =
        score[key] > largest || score[key] != score[key] ? score[key] : largest;
  }
  double total = 0, out[depth] = {};
  for (int64_t key = 0; key < keys; ++key) {
    double power = largest == -INFINITY ? 0 : std::exp(score[key] - largest);
    total += power;
    for (int64_t d = 0; d < depth; ++d)
      out[d] += power * v[key * depth + d];
  }
  for (int64_t d = 0; d < depth; ++d)
    y[d] = static_cast<float>(largest == -INFINITY ? 0 : out[d] / total);
}

KERNEL(5, 0, batches * heads * queries)
