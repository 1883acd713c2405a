//===- operand_copies.cu - Checks the copies of f32 operands ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies operands of many sizes, strides and offsets, and compares with loops.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/OperandCopies.cuh"
#include <cstdio>
#include <vector>

using namespace fact::sm90;

namespace {
struct Case {
  int rows, k, batches;
  /// Of the operand, beyond what its elements take.
  int pitch, batch_pitch, offset;
};

float *on_device(std::vector<float> const &values) {
  float *memory;
  cudaMalloc(reinterpret_cast<void **>(&memory), values.size() * sizeof(float));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(float),
             cudaMemcpyHostToDevice);
  return memory;
}

__global__ void split(float const *x, float *small, int count) {
  for (int i = 0; i < count; ++i)
    small[i] = fact::small_part(x[i]);
}

template <bool AlongK, bool Splits> bool is_right(Case const &of) {
  using Copy = Conversion<void, AlongK, Splits>;
  int64_t stride = (AlongK ? of.k : of.rows) + of.pitch;
  int64_t batch_stride = (AlongK ? of.rows : of.k) * stride + of.batch_pitch;
  ConvertParams params{
      nullptr,    nullptr, of.rows,     of.k, (of.k + 3) / 4 * 4,
      of.batches, stride,  batch_stride};
  std::vector<float> from(of.offset + of.batches * batch_stride);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = 1.0f + float(i % 8191) / 7.0f;
  std::vector<float> expected, result(Copy::count_bytes(params) / 4 + 1, -1.0f);
  for (int batch = 0; batch < of.batches; ++batch)
    for (int row = 0; row < of.rows; ++row)
      for (int k = 0; k < params.depth; ++k)
        expected.push_back(
            k < of.k ? from[of.offset + batch * batch_stride +
                            (AlongK ? row * stride + k : k * stride + row)]
                     : 0.0f);
  float *source = on_device(from), *copy = on_device(result);
  params.from = source + of.offset;
  params.to = copy;
  int error = Copy::launch(params, nullptr);
  if (Splits) {
    std::vector<float> small(expected.size());
    float *x = on_device(expected), *y = on_device(small);
    split<<<1, 1>>>(x, y, int(small.size()));
    cudaMemcpy(small.data(), y, small.size() * sizeof(float),
               cudaMemcpyDeviceToHost);
    expected.insert(expected.end(), small.begin(), small.end());
  }
  // Nothing is written behind the copy.
  expected.push_back(-1.0f);
  cudaMemcpy(result.data(), copy, result.size() * sizeof(float),
             cudaMemcpyDeviceToHost);
  return !error && result == expected;
}
} // namespace

int main() {
  Case cases[] = {{64, 64, 1, 0, 0, 0},   {128, 192, 2, 0, 0, 0},
                  {100, 147, 3, 0, 0, 0}, {49, 30, 5, 3, 1, 1},
                  {1, 1, 1, 0, 0, 0},     {7, 3, 300, 0, 0, 2},
                  {130, 66, 2, 2, 0, 0},  {68, 4, 2, 4, 8, 4},
                  {3, 1000, 2, 0, 0, 0},  {1025, 5, 1, 0, 0, 3}};
  for (Case const &of : cases)
    if (!is_right<true, false>(of) || !is_right<true, true>(of) ||
        !is_right<false, false>(of) || !is_right<false, true>(of)) {
      std::printf("wrong: %d rows, k = %d, %d batches\n", of.rows, of.k,
                  of.batches);
      return 1;
    }
  std::printf("right\n");
  return 0;
}
