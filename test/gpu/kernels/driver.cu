//===- driver.cu - Checks and times one kernel ------------------*- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   driver <case> <library>
//
// loads the FactKernel of that name, runs it on random operands with poisoned
// results and guard bands, compares it with a naive kernel, measures it with a
// cold L2, and prints one line of a table. It exits with 1 on a wrong result.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/Kernel.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace fact;

static void check(int error, char const *what) {
  if (!error)
    return;
  std::fprintf(stderr, "%s: error %d (%s)\n", what, error,
               cudaGetErrorString(cudaError_t(error)));
  std::exit(1);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

__device__ inline uint32_t hash(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return uint32_t(x >> 32);
}

template <class Element>
__global__ void fill(Element *data, int64_t count, uint64_t seed, float scale,
                     float mean) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x) {
    float u = (hash(seed + 2 * i) + 1.0f) * 2.3283064e-10f;
    float v = hash(seed + 2 * i + 1) * 2.3283064e-10f;
    float normal = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v) * scale + mean;
    if constexpr (std::is_same_v<Element, bool>)
      data[i] = normal > 0;
    else if constexpr (std::is_same_v<Element, bf16>)
      data[i] = __float2bfloat16_rn(normal);
    else if constexpr (std::is_same_v<Element, f16>)
      data[i] = __float2half_rn(normal);
    else
      data[i] = static_cast<Element>(normal);
  }
}

/// How a result differs from its reference.
struct Difference {
  double squares, norm;
  unsigned long long wrong;
};

template <class Element>
__global__ void measure_difference(Element const *data, double const *expected,
                                   int64_t count, Difference *difference) {
  double squares = 0, norm = 0;
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x) {
    double distance = double(data[i]) - expected[i];
    squares += distance * distance;
    norm += expected[i] * expected[i];
  }
  atomicAdd(&difference->squares, squares);
  atomicAdd(&difference->norm, norm);
}

template <class Element>
__global__ void count_wrong(Element const *data, double const *expected,
                            int64_t count, double tolerance,
                            Difference *difference) {
  double rms = sqrt(difference->norm / count);
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x)
    // Not a comparison by >: an element that was never written is NaN.
    if (!(fabs(double(data[i]) - expected[i]) <=
          tolerance * (fabs(expected[i]) + rms)))
      atomicAdd(&difference->wrong, 1);
}

/// Device memory between two guard bands, all of it NaN at first.
struct Buffer {
  static constexpr int64_t guard = 4096;
  uint8_t *memory = nullptr;
  int64_t bytes = 0, elements = 0;
  bool is_result = false;
  std::function<Difference(Buffer const &, double const *, double)> compare;

  void *data() const { return memory + guard; }
  void poison() const {
    check(cudaMemset(memory, 0xff, bytes + 2 * guard), "poison");
  }
  bool guards_are_whole() const {
    std::vector<uint8_t> bands(2 * guard);
    cudaMemcpy(bands.data(), memory, guard, cudaMemcpyDeviceToHost);
    cudaMemcpy(bands.data() + guard, memory + guard + bytes, guard,
               cudaMemcpyDeviceToHost);
    return std::all_of(bands.begin(), bands.end(),
                       [](uint8_t byte) { return byte == 0xff; });
  }
};

template <class Element>
Difference compare(Buffer const &buffer, double const *expected,
                   double tolerance) {
  auto const *data = static_cast<Element const *>(buffer.data());
  Difference *difference;
  check(cudaMallocManaged(&difference, sizeof(Difference)), "malloc");
  *difference = {};
  measure_difference<<<512, 256>>>(data, expected, buffer.elements, difference);
  count_wrong<<<512, 256>>>(data, expected, buffer.elements, tolerance,
                            difference);
  check(cudaDeviceSynchronize(), "compare");
  Difference result = *difference;
  cudaFree(difference);
  return result;
}

template <class Element> Buffer allocate(int64_t elements) {
  Buffer buffer;
  buffer.elements = elements;
  buffer.bytes = elements * sizeof(Element);
  check(cudaMalloc(&buffer.memory, buffer.bytes + 2 * Buffer::guard), "malloc");
  buffer.poison();
  buffer.compare = compare<Element>;
  return buffer;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

struct Case {
  std::vector<Buffer> buffers;
  /// One for each result, in order: fills doubles.
  std::vector<std::function<void(double *)>> references;
  double flops = 0, bytes = 0;
  double tolerance = 0.005;

  template <class Element>
  Element *operand(int64_t elements, float scale = 1.0f, float mean = 0.0f) {
    Buffer buffer = allocate<Element>(elements);
    auto *data = static_cast<Element *>(buffer.data());
    fill<<<2048, 256>>>(data, elements, 1000003 * (buffers.size() + 1), scale,
                        mean);
    bytes += buffer.bytes;
    buffers.push_back(std::move(buffer));
    return data;
  }

  template <class Element> void result(int64_t elements) {
    buffers.push_back(allocate<Element>(elements));
    buffers.back().is_result = true;
    bytes += buffers.back().bytes;
  }

  /// A reference given element by element.
  template <class Function> void reference(int64_t elements, Function function);
};

template <class Function>
__global__ void evaluate(double *out, int64_t count, Function function) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < count;
       i += int64_t(gridDim.x) * blockDim.x)
    out[i] = function(i);
}

template <class Function>
void Case::reference(int64_t elements, Function function) {
  references.push_back(
      [=](double *out) { evaluate<<<4096, 256>>>(out, elements, function); });
}

/// A matrix of the reference, by its strides.
template <class Element> struct Matrix {
  Element const *data;
  int64_t row, column, batch;
  __device__ float at(int64_t l, int64_t i, int64_t j) const {
    return float(data[l * batch + i * row + j * column]);
  }
};

/// A tile of 16 by 16 results by as many threads.
template <class Element, class Function>
__global__ void gemm(double *out, int m, int n, int k, Matrix<Element> a,
                     Matrix<Element> b, Function epilogue) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  int x = threadIdx.x, y = threadIdx.y, l = blockIdx.z;
  int i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
  // Partial sums of 16 products keep the error of long reductions small.
  double sum = 0;
  for (int first = 0; first < k; first += 16) {
    __syncthreads();
    tile_a[y][x] = i < m && first + x < k ? a.at(l, i, first + x) : 0.0f;
    // The stored order of B decides which reads are coalesced.
    int kk = b.row == 1 ? first + x : first + y;
    int jj = b.row == 1 ? blockIdx.x * 16 + y : j;
    float value = kk < k && jj < n ? b.at(l, kk, jj) : 0.0f;
    if (b.row == 1)
      tile_b[x][y] = value;
    else
      tile_b[y][x] = value;
    __syncthreads();
    float part = 0;
    for (int s = 0; s < 16; ++s)
      part = fmaf(tile_a[y][s], tile_b[s][x], part);
    sum += part;
  }
  if (i < m && j < n)
    out[(int64_t(l) * m + i) * n + j] = epilogue(float(sum), l, i, j);
}

struct GemmSize {
  int m, n, k, batches;
};

template <class Element, class Function>
void gemm_reference(Case &test, GemmSize size, Matrix<Element> a,
                    Matrix<Element> b, Function epilogue) {
  test.flops = 2.0 * size.m * size.n * size.k * size.batches;
  test.references.push_back([=](double *out) {
    dim3 grid((size.n + 15) / 16, (size.m + 15) / 16, size.batches);
    gemm<<<grid, dim3(16, 16)>>>(out, size.m, size.n, size.k, a, b, epilogue);
  });
}

struct PlainProduct {
  __device__ double operator()(float x, int, int, int) const { return x; }
};

/// Combines the second product with the first, which lies in the result.
template <class Function> struct CombineProducts {
  double const *first;
  int n;
  Function combine;
  __device__ double operator()(float second, int, int i, int j) const {
    return combine(float(first[int64_t(i) * n + j]), second, i, j);
  }
};

/// combine(x * gate^T, x * up^T) of weights stored [N, K].
template <class Element, class Function>
void gated_reference(Case &test, int m, int n, int k, Element const *x,
                     Element const *gate, Element const *up, Function combine) {
  test.flops = 4.0 * m * n * k;
  test.references.push_back([=](double *out) {
    dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
    Matrix<Element> a{x, k, 1, 0};
    gemm<<<grid, block>>>(out, m, n, k, a, Matrix<Element>{gate, 1, k, 0},
                          PlainProduct{});
    gemm<<<grid, block>>>(out, m, n, k, a, Matrix<Element>{up, 1, k, 0},
                          CombineProducts<Function>{out, n, combine});
  });
}

struct AttentionSize {
  int batches, heads, key_heads, queries, keys, head_size;
  float scale;
  bool causal;
};

/// Q, K or V by its strides.
template <class Element> struct HeadView {
  Element const *data;
  int64_t row, head, batch;
  __device__ float at(int b, int h, int t, int d) const {
    return float(data[b * batch + h * head + t * row + d]);
  }
};

struct NothingAdded {
  __device__ float operator()(int, int, int, int) const { return 0; }
};

/// One block for each query; the result is [batch, query, head, head size].
/// `mask` gives what is added to the score of (batch, head, query, key).
template <class Element, class Mask>
__global__ void attention(double *out, AttentionSize size, HeadView<Element> q,
                          HeadView<Element> k, HeadView<Element> v, Mask mask) {
  extern __shared__ float scores[];
  __shared__ float reduction[128], query[256];
  int t = blockIdx.x, h = blockIdx.y, b = blockIdx.z, thread = threadIdx.x;
  int key_head = h / (size.heads / size.key_heads);
  int visible = size.causal ? min(t + 1, size.keys) : size.keys;

  for (int d = thread; d < size.head_size; d += 128)
    query[d] = q.at(b, h, t, d);
  __syncthreads();
  float maximum = -INFINITY;
  for (int s = thread; s < visible; s += 128) {
    float score = 0;
    for (int d = 0; d < size.head_size; ++d)
      score = fmaf(query[d], k.at(b, key_head, s, d), score);
    scores[s] = score * size.scale + mask(b, h, t, s);
    maximum = fmaxf(maximum, scores[s]);
  }
  reduction[thread] = maximum;
  __syncthreads();
  for (int i = 0; i < 128; ++i)
    maximum = fmaxf(maximum, reduction[i]);
  __syncthreads();
  // A query that sees no key gives 0.
  bool blind = maximum == -INFINITY;
  float sum = 0;
  for (int s = thread; s < visible; s += 128)
    sum += scores[s] = expf(scores[s] - maximum);
  reduction[thread] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 128; ++i)
    sum += reduction[i];
  for (int d = thread; d < size.head_size; d += 128) {
    float value = 0;
    for (int s = 0; s < visible; ++s)
      value = fmaf(scores[s], v.at(b, key_head, s, d), value);
    out[((int64_t(b) * size.queries + t) * size.heads + h) * size.head_size +
        d] = blind ? 0 : value / sum;
  }
}

template <class Element, class Mask = NothingAdded>
void attention_reference(Case &test, AttentionSize size, HeadView<Element> q,
                         HeadView<Element> k, HeadView<Element> v,
                         Mask mask = {}) {
  test.flops = 4.0 * size.batches * size.heads * size.queries * size.keys *
               size.head_size * (size.causal ? 0.5 : 1.0);
  test.references.push_back([=](double *out) {
    attention<<<dim3(size.queries, size.heads, size.batches), 128,
                size.keys * sizeof(float)>>>(out, size, q, k, v, mask);
  });
}

//===----------------------------------------------------------------------===//
// The table of cases
//===----------------------------------------------------------------------===//

static void gemm_plain(Case &test) {
  auto *a = test.operand<bf16>(4096 * 4096);
  auto *b = test.operand<bf16>(4096 * 4096, 0.0156f);
  test.result<bf16>(4096 * 4096);
  gemm_reference<bf16>(test, {4096, 4096, 4096, 1}, {a, 4096, 1, 0},
                       {b, 4096, 1, 0},
                       [=] __device__(float x, int, int, int) { return x; });
}

static void gemm_cublas(Case &test) { gemm_plain(test); }

static void gemm_cublas_bias(Case &test) {
  auto *x = test.operand<f16>(3 * 520 * 1024);
  auto *w = test.operand<f16>(264 * 1024, 0.03f);
  auto *bias = test.operand<f16>(264);
  test.result<f16>(3 * 520 * 264);
  gemm_reference<f16>(
      test, {520, 264, 1024, 3}, {x, 1024, 1, 520 * 1024}, {w, 1, 1024, 0},
      [=] __device__(float x, int, int, int j) { return x + float(bias[j]); });
}

static void gemm_up(Case &test) {
  auto *x = test.operand<bf16>(65536 * 768);
  auto *w = test.operand<bf16>(3072 * 768, 0.036f);
  auto *bias = test.operand<bf16>(3072);
  test.result<bf16>(65536 * 3072);
  gemm_reference<bf16>(
      test, {65536, 3072, 768, 1}, {x, 768, 1, 0}, {w, 1, 768, 0},
      [=] __device__(float acc, int, int, int j) {
        float x = acc + float(bias[j]);
        return 0.5f * x *
               (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
      });
}

static void gemm_down(Case &test) {
  auto *h = test.operand<bf16>(65536 * 3072);
  auto *w = test.operand<bf16>(768 * 3072, 0.018f);
  auto *bias = test.operand<bf16>(768);
  auto *residual = test.operand<bf16>(65536 * 768);
  test.result<bf16>(65536 * 768);
  gemm_reference<bf16>(
      test, {65536, 768, 3072, 1}, {h, 3072, 1, 0}, {w, 1, 3072, 0},
      [=] __device__(float x, int, int i, int j) {
        return x + float(bias[j]) + float(residual[i * 768 + j]);
      });
}

static void gemm_chain(Case &test) {
  auto *x = test.operand<bf16>(4096 * 4096);
  auto *w = test.operand<bf16>(4096 * 4096, 0.0156f);
  auto *bias = test.operand<bf16>(4096);
  auto *residual = test.operand<bf16>(4096 * 4096);
  test.result<bf16>(4096 * 4096);
  gemm_reference<bf16>(test, {4096, 4096, 4096, 1}, {x, 4096, 1, 0},
                       {w, 1, 4096, 0},
                       [=] __device__(float acc, int, int i, int j) {
                         float x = acc + float(bias[j]);
                         float mish = x * tanhf(x > 20 ? x : log1pf(expf(x)));
                         return tanhf(fminf(fmaxf(1.5f * mish, -2.0f), 2.0f) +
                                      float(residual[i * 4096 + j]));
                       });
}

static void gemm_batched(Case &test) {
  auto *a = test.operand<bf16>(128 * 512 * 1024);
  auto *b = test.operand<bf16>(int64_t(128) * 1024 * 2048, 0.03f);
  test.result<bf16>(128 * 512 * 2048);
  gemm_reference<bf16>(test, {512, 2048, 1024, 128}, {a, 1024, 1, 512 * 1024},
                       {b, 2048, 1, 1024 * 2048},
                       [=] __device__(float x, int, int, int) { return x; });
}

static void gemm_stream_k(Case &test) {
  auto *a = test.operand<f16>(8192 * 1536);
  auto *b = test.operand<f16>(3328 * 8192, 0.011f);
  test.result<f32>(1536 * 3328);
  gemm_reference<f16>(test, {1536, 3328, 8192, 1}, {a, 1, 1536, 0},
                      {b, 1, 8192, 0},
                      [=] __device__(float x, int, int, int) { return x; });
}

static void gemm_split_k(Case &test) {
  auto *a = test.operand<bf16>(256 * 65536);
  auto *b = test.operand<bf16>(65536 * 256, 0.0039f);
  test.result<bf16>(256 * 256);
  gemm_reference<bf16>(test, {256, 256, 65536, 1}, {a, 65536, 1, 0},
                       {b, 256, 1, 0},
                       [=] __device__(float x, int, int, int) { return x; });
}

static void gemm_operands(Case &test) {
  auto *a = test.operand<f16>(3 * 200 * 96);
  auto *b = test.operand<f16>(96 * 136, 0.1f);
  auto *row = test.operand<f16>(136);
  auto *column = test.operand<f32>(200);
  auto *scalar = test.operand<f32>(1, 1.0f, 2.0f);
  auto *first = test.operand<f16>(3 * 200 * 136);
  auto *second = test.operand<f16>(200 * 136);
  test.result<f16>(3 * 200 * 136);
  test.result<f32>(3 * 200 * 136);
  GemmSize size{200, 136, 96, 3};
  Matrix<f16> left{a, 96, 1, 200 * 96}, right{b, 136, 1, 0};
  gemm_reference<f16>(test, size, left, right,
                      [=] __device__(float x, int l, int i, int j) {
                        return (x + float(row[j])) * column[i] * *scalar +
                               float(first[(l * 200 + i) * 136 + j]) -
                               float(second[i * 136 + j]);
                      });
  gemm_reference<f16>(test, size, left, right,
                      [=] __device__(float x, int, int i, int j) {
                        return (x + float(row[j])) * column[i] * *scalar;
                      });
}

/// A strict product of f32 is as exact as IEEE f32, one in TF32 has operands of
/// 11 bits.
static constexpr double strict_tolerance = 1e-5, tf32_tolerance = 5e-4;

static void gemm_square(Case &test, double tolerance) {
  auto *a = test.operand<f32>(4096 * 4096);
  auto *b = test.operand<f32>(4096 * 4096, 0.0156f);
  test.result<f32>(4096 * 4096);
  test.tolerance = tolerance;
  gemm_reference<f32>(test, {4096, 4096, 4096, 1}, {a, 4096, 1, 0},
                      {b, 1, 4096, 0},
                      [=] __device__(float x, int, int, int) { return x; });
}

static void gemm_strict(Case &test) { gemm_square(test, strict_tolerance); }
static void gemm_tf32(Case &test) { gemm_square(test, tf32_tolerance); }
static void gemm_cublas_f32(Case &test) { gemm_square(test, strict_tolerance); }
static void gemm_cublas_tf32(Case &test) { gemm_square(test, tf32_tolerance); }

/// The products of examples/workloads/gemm_batched.py and gemm_large_k.py.
static void gemm_f32(Case &test, GemmSize size) {
  int64_t m = size.m, n = size.n, k = size.k, batches = size.batches;
  auto *a = test.operand<f32>(batches * m * k);
  auto *b = test.operand<f32>(batches * k * n);
  test.result<f32>(batches * m * n);
  test.tolerance = strict_tolerance;
  gemm_reference<f32>(test, size, {a, k, 1, m * k}, {b, n, 1, k * n},
                      PlainProduct{});
}
static void gemm_batched_f32(Case &test) {
  gemm_f32(test, {512, 2048, 1024, 128});
}
static void gemm_large_k_f32(Case &test) {
  gemm_f32(test, {256, 256, 524288, 1});
}

/// The first product of mini_gpt's MLP.
static void gemm_gelu_f32(Case &test) {
  auto *x = test.operand<f32>(65536 * 768);
  auto *w = test.operand<f32>(3072 * 768, 0.036f);
  auto *bias = test.operand<f32>(3072);
  test.result<f32>(65536 * 3072);
  test.tolerance = strict_tolerance;
  gemm_reference<f32>(test, {65536, 3072, 768, 1}, {x, 768, 1, 0},
                      {w, 1, 768, 0},
                      [=] __device__(float acc, int, int, int j) {
                        double x = double(acc) + bias[j];
                        return 0.5 * x * (1 + erf(x * 0.7071067811865476));
                      });
}

static void gemm_cublas_f64(Case &test) {
  auto *a = test.operand<f64>(130 * 67);
  auto *b = test.operand<f64>(130 * 67, 0.12f);
  test.result<f64>(130 * 130);
  test.tolerance = 1e-12;
  test.reference(130 * 130, [=] __device__(int64_t i) {
    double sum = 0;
    for (int k = 0; k < 67; ++k)
      sum += a[i / 130 * 67 + k] * b[i % 130 * 67 + k];
    return sum;
  });
}

static void gemm_strict_odd(Case &test) {
  auto *a = test.operand<f32>(3 * 97 * 200);
  auto *b = test.operand<f32>(97 * 136, 0.1f);
  auto *row = test.operand<f32>(136);
  auto *column = test.operand<f32>(200);
  auto *matrix = test.operand<f32>(3 * 200 * 136);
  test.result<f32>(3 * 200 * 136);
  test.tolerance = strict_tolerance;
  gemm_reference<f32>(
      test, {200, 136, 97, 3}, {a, 1, 200, 97 * 200}, {b, 136, 1, 0},
      [=] __device__(float x, int l, int i, int j) {
        return (x + row[j]) * column[i] + matrix[(l * 200 + i) * 136 + j];
      });
}

static void gemm_rows(Case &test) {
  auto *x = test.operand<bf16>(1000 * 264);
  auto *w = test.operand<bf16>(520 * 264, 0.06f);
  auto *bias = test.operand<bf16>(520);
  auto *scale = test.operand<f32>(1000);
  test.result<bf16>(1000 * 520);
  test.result<f32>(1000);
  test.result<bf16>(1000);
  gemm_reference<bf16>(test, {1000, 520, 264, 1}, {x, 264, 1, 0},
                       {w, 1, 264, 0},
                       [=] __device__(float x, int, int, int j) {
                         return fmaxf(x + float(bias[j]), 0.0f);
                       });
  auto product = [=] __device__(int64_t i, int64_t j) {
    double sum = 0;
    for (int k = 0; k < 264; ++k)
      sum += float(x[i * 264 + k]) * float(w[j * 264 + k]);
    return sum;
  };
  auto mean = [=] __device__(int64_t i) {
    double sum = 0;
    for (int j = 0; j < 520; ++j)
      sum += product(i, j) + float(bias[j]);
    return sum / 520;
  };
  test.reference(1000,
                 [=] __device__(int64_t i) { return mean(i) * scale[i]; });
  test.reference(1000, [=] __device__(int64_t i) {
    double largest = -INFINITY;
    for (int j = 0; j < 520; ++j)
      largest = fmax(largest, product(i, j));
    return largest - mean(i);
  });
}

static void gemm_columns(Case &test) {
  constexpr int b = 3, m = 4200, n = 328, k = 136;
  auto *x = test.operand<f16>(b * m * k);
  auto *w = test.operand<f16>(b * k * n, 0.1f);
  auto *residual = test.operand<f16>(b * m * n);
  auto *scale = test.operand<f32>(b * n);
  auto *shift = test.operand<f32>(1);
  test.result<f16>(b * m);
  test.result<f32>(b * n);
  test.result<f16>(b * n);
  auto product = [=] __device__(int64_t l, int64_t i, int64_t j) {
    double sum = 0;
    for (int p = 0; p < k; ++p)
      sum += float(x[(l * m + i) * k + p]) * float(w[(l * k + p) * n + j]);
    return sum;
  };
  auto shifted = [=] __device__(int64_t l, int64_t i, int64_t j) {
    return product(l, i, j) + float(residual[(l * m + i) * n + j]);
  };
  test.reference(b * m, [=] __device__(int64_t at) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      sum += shifted(at / m, at % m, j);
    return sum;
  });
  test.reference(b * n, [=] __device__(int64_t at) {
    double sum = 0;
    for (int i = 0; i < m; ++i)
      sum += shifted(at / n, i, at % n);
    return sum / m * scale[at];
  });
  test.reference(b * n, [=] __device__(int64_t at) {
    double smallest = INFINITY;
    for (int i = 0; i < m; ++i)
      smallest = fmin(smallest, product(at / n, i, at % n));
    return smallest + *shift;
  });
}

static void gemm_pooled(Case &test) {
  constexpr int b = 32, m = 512, n = 3072, k = 768;
  auto *x = test.operand<bf16>(b * m * k);
  auto *w = test.operand<bf16>(n * k, 0.036f);
  auto *bias = test.operand<bf16>(n);
  test.result<bf16>(b * n);
  test.flops = 2.0 * b * m * n * k;
  test.reference(b * n, [=] __device__(int64_t at) {
    int64_t l = at / n, j = at % n;
    double sum = 0;
    for (int i = 0; i < m; ++i) {
      float y = float(bias[j]);
      for (int p = 0; p < k; ++p)
        y = fmaf(float(x[(l * m + i) * k + p]), float(w[j * k + p]), y);
      sum +=
          0.5f * y * (1 + tanhf(0.7978845608f * (y + 0.044715f * y * y * y)));
    }
    return sum / m;
  });
}

static void gated_gemm(Case &test) {
  auto *x = test.operand<bf16>(int64_t(32768) * 4096);
  auto *gate = test.operand<bf16>(9728 * 4096, 0.0156f);
  auto *up = test.operand<bf16>(9728 * 4096, 0.0156f);
  test.result<bf16>(int64_t(32768) * 9728);
  gated_reference<bf16>(test, 32768, 9728, 4096, x, gate, up,
                        [=] __device__(float gate, float up, int, int) {
                          return gate / (1 + expf(-gate)) * up;
                        });
}

static void gated_gemm_bias(Case &test) {
  auto *x = test.operand<bf16>(328 * 136);
  auto *gate = test.operand<bf16>(200 * 136, 0.1f);
  auto *up = test.operand<bf16>(200 * 136, 0.1f);
  auto *gate_bias = test.operand<bf16>(200);
  auto *up_bias = test.operand<f32>(200);
  auto *scale = test.operand<f32>(328);
  auto *residual = test.operand<bf16>(328 * 200);
  test.result<bf16>(328 * 200);
  gated_reference<bf16>(test, 328, 200, 136, x, gate, up,
                        [=] __device__(float gate, float up, int i, int j) {
                          float g = gate + float(gate_bias[j]);
                          return g / (1 + expf(-g)) * (up + up_bias[j]) *
                                     scale[i] +
                                 float(residual[i * 200 + j]);
                        });
}

/// One product of several, of a weight stored [N, K].
template <class Element, class Function>
void grouped_reference(Case &test, GemmSize size, Element const *x,
                       Element const *weight, Function epilogue) {
  double flops = test.flops;
  gemm_reference<Element>(test, size, {x, size.k, 1, 0}, {weight, 1, size.k, 0},
                          epilogue);
  test.flops += flops;
}

static void grouped_gemm(Case &test) {
  auto *x = test.operand<bf16>(int64_t(32768) * 4096);
  auto *q = test.operand<bf16>(4096 * 4096, 0.0156f);
  auto *k = test.operand<bf16>(1024 * 4096, 0.0156f);
  auto *v = test.operand<bf16>(1024 * 4096, 0.0156f);
  auto *bias = test.operand<bf16>(4096);
  test.result<bf16>(int64_t(32768) * 4096);
  test.result<bf16>(32768 * 1024);
  test.result<bf16>(32768 * 1024);
  grouped_reference<bf16>(
      test, {32768, 4096, 4096, 1}, x, q,
      [=] __device__(float x, int, int, int j) { return x + float(bias[j]); });
  for (auto *weight : {k, v})
    grouped_reference<bf16>(test, {32768, 1024, 4096, 1}, x, weight,
                            PlainProduct{});
}

static void grouped_gemm_odd(Case &test) {
  auto *x = test.operand<f16>(200 * 104);
  auto *weights = test.operand<f16>((88 + 40) * 104, 0.1f);
  auto *last = test.operand<f16>(136 * 104, 0.1f);
  auto *bias = test.operand<f16>(88);
  auto *scale = test.operand<f32>(200);
  auto *residual = test.operand<f16>(200 * 136);
  auto *factor = test.operand<f32>(1, 0.0f, 1.5f);
  test.result<f16>(200 * 88);
  test.result<f16>(200 * 40);
  test.result<f16>(200 * 136);
  grouped_reference<f16>(test, {200, 88, 104, 1}, x, weights,
                         [=] __device__(float x, int, int, int j) {
                           return fmaxf(x + float(bias[j]), 0.0f);
                         });
  grouped_reference<f16>(
      test, {200, 40, 104, 1}, x, weights + 88 * 104,
      [=] __device__(float x, int, int i, int) { return x * scale[i]; });
  grouped_reference<f16>(test, {200, 136, 104, 1}, x, last,
                         [=] __device__(float x, int, int i, int j) {
                           return (x + float(residual[i * 136 + j])) * *factor;
                         });
}

static void gated_gemm_strict(Case &test) {
  auto *x = test.operand<f32>(1000 * 520);
  auto *gate = test.operand<f32>(328 * 520, 0.05f);
  auto *up = test.operand<f32>(328 * 520, 0.05f);
  test.result<f32>(1000 * 328);
  test.tolerance = strict_tolerance;
  gated_reference<f32>(test, 1000, 328, 520, x, gate, up,
                       [=] __device__(float gate, float up, int, int) {
                         return fmaxf(gate, 0.0f) * up;
                       });
}

static void gated_gemm_odd(Case &test) {
  auto *x = test.operand<f16>(200 * 104);
  auto *weights = test.operand<f16>(2 * 88 * 104, 0.1f);
  test.result<f16>(200 * 88);
  gated_reference<f16>(test, 200, 88, 104, x, weights, weights + 88 * 104,
                       [=] __device__(float gate, float up, int, int) {
                         return 0.5f * gate * (1 + erff(0.70710678f * gate)) *
                                up;
                       });
}

static void attention_packed(Case &test) {
  auto *qkv = test.operand<bf16>(int64_t(128) * 512 * 2304);
  test.result<bf16>(128 * 512 * 768);
  HeadView<bf16> q{qkv, 2304, 96, 512 * 2304}, k = q, v = q;
  k.data += 768;
  v.data += 1536;
  attention_reference(test, {128, 8, 8, 512, 512, 96, 0.1020620726f, true}, q,
                      k, v);
}

static void attention_grouped(Case &test) {
  auto *q = test.operand<bf16>(int64_t(16) * 2048 * 32 * 128);
  auto *k = test.operand<bf16>(int64_t(16) * 2048 * 8 * 128);
  auto *v = test.operand<bf16>(int64_t(16) * 2048 * 8 * 128);
  test.result<bf16>(int64_t(16) * 2048 * 32 * 128);
  attention_reference<bf16>(
      test, {16, 32, 8, 2048, 2048, 128, 0.08838834765f, false},
      {q, 4096, 128, 2048 * 4096}, {k, 1024, 128, 2048 * 1024},
      {v, 1024, 128, 2048 * 1024});
}

// Strongly negative scores: a key of zeros beyond the end would win.
static void attention_odd(Case &test) {
  auto *q = test.operand<f16>(2 * 6 * 300 * 40, 0.5f, 2.0f);
  auto *k = test.operand<f16>(2 * 3 * 170 * 40, 0.5f, -2.0f);
  auto *v = test.operand<f16>(2 * 3 * 170 * 40);
  test.result<f16>(2 * 300 * 240);
  attention_reference<f16>(test, {2, 6, 3, 300, 170, 40, 0.25f, true},
                           {q, 40, 300 * 40, 6 * 300 * 40},
                           {k, 40, 170 * 40, 3 * 170 * 40},
                           {v, 40, 170 * 40, 3 * 170 * 40});
}

static void attention_cross(Case &test) {
  auto *q = test.operand<bf16>(2 * 4 * 100 * 64, 0.5f, 2.0f);
  auto *k = test.operand<bf16>(2 * 2 * 333 * 64, 0.5f, -2.0f);
  auto *v = test.operand<bf16>(2 * 2 * 333 * 64);
  test.result<bf16>(2 * 100 * 256);
  attention_reference<bf16>(test, {2, 4, 2, 100, 333, 64, 0.125f, false},
                            {q, 64, 100 * 64, 4 * 100 * 64},
                            {k, 64, 333 * 64, 2 * 333 * 64},
                            {v, 64, 333 * 64, 2 * 333 * 64});
}

template <class Element, class Function>
__global__ void change(Element *data, int64_t count, Function function) {
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count)
    data[i] = Element(function(i, float(data[i])));
}

static void attention_mask(Case &test) {
  constexpr int heads = 6, queries = 300, keys = 333;
  auto *q = test.operand<bf16>(2 * heads * queries * 64, 0.5f, 2.0f);
  auto *k = test.operand<bf16>(2 * 3 * keys * 64, 0.5f, -2.0f);
  auto *v = test.operand<bf16>(2 * 3 * keys * 64);
  auto *mask = test.operand<f32>(heads * queries * keys, 3.0f);
  // Hidden keys; a query that sees none; one whose keys are all as far away as
  // can be, and so are equal.
  change<<<(heads * queries * keys + 255) / 256, 256>>>(
      mask, heads * queries * keys, [=] __device__(int64_t i, float value) {
        int query = i / keys % queries, key = i % keys;
        return query == 7               ? -INFINITY
               : query == 9             ? -3.402823466e38f
               : (query + key) % 5 == 0 ? -INFINITY
                                        : value;
      });
  test.result<bf16>(2 * queries * heads * 64);
  attention_reference<bf16>(
      test, {2, heads, 3, queries, keys, 64, 0.125f, false},
      {q, 64, queries * 64, heads * queries * 64},
      {k, 64, keys * 64, 3 * keys * 64}, {v, 64, keys * 64, 3 * keys * 64},
      [=] __device__(int, int h, int t, int s) {
        return mask[(int64_t(h) * queries + t) * keys + s];
      });
}

// A bias of 16 bits for each head, and a causal mask.
static void attention_bias(Case &test) {
  auto *q = test.operand<bf16>(int64_t(32) * 1024 * 16 * 64);
  auto *k = test.operand<bf16>(int64_t(32) * 1024 * 16 * 64);
  auto *v = test.operand<bf16>(int64_t(32) * 1024 * 16 * 64);
  auto *bias = test.operand<bf16>(16 * 1024 * 1024);
  test.result<bf16>(int64_t(32) * 1024 * 16 * 64);
  attention_reference<bf16>(
      test, {32, 16, 16, 1024, 1024, 64, 0.125f, true},
      {q, 1024, 64, 1024 * 1024}, {k, 1024, 64, 1024 * 1024},
      {v, 1024, 64, 1024 * 1024}, [=] __device__(int, int h, int t, int s) {
        return float(bias[(h * 1024 + t) * 1024 + s]);
      });
}

static void layer_norm(Case &test) {
  auto *x = test.operand<bf16>(65536 * 768, 2.0f, 3.0f);
  auto *weight = test.operand<bf16>(768);
  auto *bias = test.operand<bf16>(768);
  test.result<bf16>(65536 * 768);
  test.reference(65536 * 768, [=] __device__(int64_t i) {
    bf16 const *row = x + i / 768 * 768;
    double sum = 0, squares = 0;
    for (int j = 0; j < 768; ++j)
      sum += float(row[j]);
    double mean = sum / 768;
    for (int j = 0; j < 768; ++j)
      squares += (float(row[j]) - mean) * (float(row[j]) - mean);
    return (float(x[i]) - mean) / sqrt(squares / 768 + 1e-5) *
               float(weight[i % 768]) +
           float(bias[i % 768]);
  });
}

static void rms_norm(Case &test) {
  int64_t elements = int64_t(32768) * 4096;
  auto *x = test.operand<bf16>(elements);
  auto *residual = test.operand<bf16>(elements);
  auto *weight = test.operand<bf16>(4096);
  test.result<bf16>(elements);
  test.result<bf16>(elements);
  test.reference(elements, [=] __device__(int64_t i) {
    int64_t row = i / 4096 * 4096;
    float squares = 0;
    for (int64_t j = row; j < row + 4096; ++j) {
      float value = float(x[j]) + float(residual[j]);
      squares = fmaf(value, value, squares);
    }
    return double((float(x[i]) + float(residual[i])) *
                  rsqrtf(squares / 4096 + 1e-6f) * float(weight[i % 4096]));
  });
  test.reference(elements, [=] __device__(int64_t i) {
    return double(float(x[i]) + float(residual[i]));
  });
}

static void softmax_odd(Case &test) {
  auto *x = test.operand<f32>(10007 * 77);
  auto *scale = test.operand<f32>(1, 0.0f, 3.0f);
  test.result<f32>(10007 * 77);
  test.tolerance = 1e-5;
  test.reference(10007 * 77, [=] __device__(int64_t i) {
    float const *row = x + i / 77 * 77;
    double sum = 0;
    for (int j = 0; j < 77; ++j)
      sum += exp(double(row[j] - x[i]) * *scale);
    return 1 / sum;
  });
}

static void pointwise_gate(Case &test) {
  auto *x = test.operand<bf16>(int64_t(65536) * 6144);
  auto *scale = test.operand<f32>(3072);
  test.result<bf16>(65536 * 3072);
  test.reference(65536 * 3072, [=] __device__(int64_t i) {
    int64_t row = i / 3072, column = i % 3072;
    float gate = x[row * 6144 + column], up = x[row * 6144 + 3072 + column];
    return double(gate / (1 + expf(-gate)) * up * scale[column]);
  });
}

static void pointwise_mask(Case &test) {
  auto *mask = test.operand<bool>(31 * 77);
  auto *a = test.operand<i64>(31 * 53 * 77, 1000.0f);
  auto *b = test.operand<i64>(53, 1000.0f);
  test.result<i64>(31 * 53 * 77);
  test.result<f64>(31 * 53 * 77);
  test.tolerance = 1e-12;
  auto chosen = [=] __device__(int64_t i) {
    int64_t x = i / (53 * 77), y = i / 77 % 53, z = i % 77;
    return double(mask[x * 77 + z] ? a[i] : b[y]);
  };
  test.reference(31 * 53 * 77, chosen);
  test.reference(31 * 53 * 77,
                 [=] __device__(int64_t i) { return chosen(i) * chosen(i); });
}

static void pointwise_permute(Case &test) {
  int64_t elements = int64_t(16) * 2048 * 32 * 128;
  auto *x = test.operand<f16>(elements);
  test.result<f16>(elements);
  test.tolerance = 1e-12;
  test.reference(elements, [=] __device__(int64_t i) {
    int64_t d = i % 128, t = i / 128 % 2048, h = i / (128 * 2048) % 32,
            b = i / (int64_t(128) * 2048 * 32);
    return double(float(x[((b * 2048 + t) * 32 + h) * 128 + d]));
  });
}

static void row_reduce(Case &test) {
  auto *x = test.operand<bf16>(4096 * 1000);
  auto *y = test.operand<bf16>(4096 * 1000, 0.5f, 1.0f);
  auto *scale = test.operand<bf16>(4096);
  test.result<bf16>(4096 * 1000);
  test.result<f32>(4096);
  auto mean = [=] __device__(int64_t row) {
    double sum = 0;
    for (int64_t j = row * 1000; j < (row + 1) * 1000; ++j)
      sum += float(x[j]) * float(y[j]);
    return sum / 1000;
  };
  test.reference(4096 * 1000, [=] __device__(int64_t i) {
    return double(float(x[i]) * float(y[i])) - mean(i / 1000);
  });
  test.reference(
      4096, [=] __device__(int64_t i) { return mean(i) * float(scale[i]); });
}

static void row_arg_max(Case &test) {
  auto *x = test.operand<f16>(3000 * 5003);
  test.result<i64>(3000);
  test.tolerance = 1e-12;
  test.reference(3000, [=] __device__(int64_t row) {
    int best = 0;
    for (int j = 1; j < 5003; ++j)
      if (floorf(x[row * 5003 + j]) > floorf(x[row * 5003 + best]))
        best = j;
    return double(best);
  });
}

static void pointwise_gather(Case &test) {
  auto *table = test.operand<bf16>(50257 * 768);
  // A few normal deviations around the table's middle.
  auto *tokens = test.operand<i64>(32 * 512, 4000.0f, 25000.0f);
  auto *positions = test.operand<bf16>(512 * 768);
  test.result<bf16>(32 * 512 * 768);
  test.reference(32 * 512 * 768, [=] __device__(int64_t i) {
    return double(float(table[tokens[i / 768] * 768 + i % 768]) +
                  float(positions[i % (512 * 768)]));
  });
}

static void pointwise_rotary(Case &test) {
  auto *x = test.operand<bf16>(8 * 1024 * 6144);
  auto *cos = test.operand<bf16>(1024 * 128);
  auto *sin = test.operand<bf16>(1024 * 128);
  int64_t elements = 8 * 16 * 1024 * 128;
  test.result<bf16>(elements);
  test.reference(elements, [=] __device__(int64_t i) {
    int64_t d = i % 128, token = i / 128 % 1024, head = i / 131072 % 16,
            batch = i / 2097152;
    bf16 const *row = x + (batch * 1024 + token) * 6144 + head * 128;
    float turned = d < 64 ? -float(row[d + 64]) : float(row[d - 64]);
    return double(float(row[d]) * float(cos[token * 128 + d]) +
                  turned * float(sin[token * 128 + d]));
  });
}

static void concat(Case &test) {
  auto *a = test.operand<bf16>(4096 * 96);
  auto *b = test.operand<bf16>(4096 * 33);
  auto *c = test.operand<bf16>(4096 * 127);
  int64_t elements = 4096 * 256;
  test.result<bf16>(elements);
  test.tolerance = 1e-12;
  test.reference(elements, [=] __device__(int64_t i) {
    int64_t row = i / 256, column = i % 256;
    if (column < 96)
      return double(float(a[row * 96 + column]));
    if (column < 129)
      return fmax(double(float(b[row * 33 + column - 96])), 0.0);
    return double(float(c[row * 127 + column - 129]));
  });
}

static std::map<std::string, void (*)(Case &)> const cases = {
    {"gemm_plain", gemm_plain},
    {"gemm_cublas", gemm_cublas},
    {"gemm_cublas_bias", gemm_cublas_bias},
    {"gemm_up", gemm_up},
    {"gemm_down", gemm_down},
    {"gemm_chain", gemm_chain},
    {"gemm_batched", gemm_batched},
    {"gemm_stream_k", gemm_stream_k},
    {"gemm_split_k", gemm_split_k},
    {"gemm_operands", gemm_operands},
    {"gemm_strict", gemm_strict},
    {"gemm_strict_odd", gemm_strict_odd},
    {"gemm_strict_pingpong", gemm_strict_odd},
    {"gemm_strict_batched", gemm_batched_f32},
    {"gemm_strict_large_k", gemm_large_k_f32},
    {"gemm_strict_gelu", gemm_gelu_f32},
    {"gemm_tf32", gemm_tf32},
    {"gemm_cublas_f32", gemm_cublas_f32},
    {"gemm_cublas_tf32", gemm_cublas_tf32},
    {"gemm_cublas_f64", gemm_cublas_f64},
    {"gemm_cublas_batched", gemm_batched_f32},
    {"gemm_cublas_large_k", gemm_large_k_f32},
    {"gated_gemm_strict", gated_gemm_strict},
    {"gemm_rows", gemm_rows},
    {"gemm_columns", gemm_columns},
    {"gemm_pooled", gemm_pooled},
    {"gated_gemm", gated_gemm},
    {"gated_gemm_odd", gated_gemm_odd},
    {"gated_gemm_bias", gated_gemm_bias},
    {"grouped_gemm", grouped_gemm},
    {"grouped_gemm_odd", grouped_gemm_odd},
    {"attention_packed", attention_packed},
    {"attention_grouped", attention_grouped},
    {"attention_odd", attention_odd},
    {"attention_cross", attention_cross},
    {"attention_mask", attention_mask},
    {"attention_bias", attention_bias},
    {"layer_norm", layer_norm},
    {"rms_norm", rms_norm},
    {"softmax_odd", softmax_odd},
    {"row_reduce", row_reduce},
    {"row_arg_max", row_arg_max},
    {"pointwise_gate", pointwise_gate},
    {"pointwise_mask", pointwise_mask},
    {"pointwise_permute", pointwise_permute},
    {"pointwise_gather", pointwise_gather},
    {"pointwise_rotary", pointwise_rotary},
    {"concat", concat},
};

//===----------------------------------------------------------------------===//
// Checking and timing
//===----------------------------------------------------------------------===//

int main(int argc, char **argv) {
  if (argc != 3 || !cases.count(argv[1])) {
    std::fprintf(stderr, "usage: driver <case> <library>\n");
    return 2;
  }
  void *library = dlopen(argv[2], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  auto const *kernel = static_cast<FactKernel const *>(dlsym(library, argv[1]));
  if (!kernel || kernel->abi != FACT_KERNEL_ABI) {
    std::fprintf(stderr, "no kernel '%s' in %s\n", argv[1], argv[2]);
    return 2;
  }

  Case test;
  cases.at(argv[1])(test);
  if (kernel->buffer_count != test.buffers.size()) {
    std::fprintf(stderr, "the kernel has %u buffers, the case %zu\n",
                 kernel->buffer_count, test.buffers.size());
    return 2;
  }
  std::vector<void *> pointers;
  for (Buffer const &buffer : test.buffers)
    pointers.push_back(buffer.data());
  // Packed once, as weights are; what was packed must not be read again.
  Buffer packed = allocate<uint8_t>(kernel->packed_bytes + 256);
  if (kernel->packed_operand >= 0) {
    check(kernel->pack_on_device(nullptr, pointers.data(), packed.data(),
                                 nullptr),
          "pack");
    pointers[kernel->packed_operand] = packed.data();
    for (int i = 0; i < int(pointers.size()); ++i)
      if (kernel->packed_with >> i & 1 && i != kernel->packed_operand)
        pointers[i] = nullptr;
  }
  if (kernel->choice_bytes > 0) {
    std::vector<uint8_t> choice(kernel->choice_bytes);
    char const *problem = kernel->choose(choice.data());
    if (!problem)
      problem = kernel->adopt(choice.data());
    if (problem) {
      std::fprintf(stderr, "choice: %s\n", problem);
      return 1;
    }
  }
  Buffer workspace = allocate<uint8_t>(kernel->workspace_bytes + 256);
  void *state = std::aligned_alloc(64, (kernel->state_bytes + 63) / 64 * 64);
  check(kernel->bind(state, nullptr, pointers.data(), workspace.data()),
        "bind");

  std::vector<Buffer const *> results;
  std::vector<double *> expected;
  for (Buffer const &buffer : test.buffers) {
    if (!buffer.is_result)
      continue;
    double *values;
    check(cudaMalloc(&values, buffer.elements * sizeof(double)), "malloc");
    test.references[results.size()](values);
    check(cudaDeviceSynchronize(), "reference");
    results.push_back(&buffer);
    expected.push_back(values);
  }

  // Twice: the second run finds what the first left in workspace.
  bool right = true;
  double worst = 0;
  for (int run = 0; run < 2; ++run) {
    for (Buffer const *result : results)
      result->poison();
    check(kernel->launch(state, nullptr), "launch");
    check(cudaDeviceSynchronize(), "run");
    for (size_t i = 0; i < results.size(); ++i) {
      Difference difference =
          results[i]->compare(*results[i], expected[i], 10 * test.tolerance);
      double error = std::sqrt(difference.squares / difference.norm);
      right &= error <= test.tolerance && difference.wrong == 0 &&
               results[i]->guards_are_whole();
      worst = std::isnan(error) ? error : std::max(worst, error);
    }
    right &= workspace.guards_are_whole() && packed.guards_are_whole();
  }

  // Each launch finds a cold L2: 256 MB is five times a Hopper's.
  void *flush;
  int64_t flush_bytes = 256 << 20;
  check(cudaMalloc(&flush, flush_bytes), "malloc");
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  std::vector<float> times;
  for (int i = 0; i < 30; ++i) {
    cudaMemsetAsync(flush, i, flush_bytes);
    cudaEventRecord(start);
    kernel->launch(state, nullptr);
    cudaEventRecord(stop);
    check(cudaEventSynchronize(stop), "time");
    times.push_back(0);
    cudaEventElapsedTime(&times.back(), start, stop);
  }
  std::sort(times.begin(), times.end());
  double ms = times[times.size() / 2];

  // What a launch costs the host, with the queue empty at first.
  auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    kernel->launch(state, nullptr);
  double host_us = std::chrono::duration<double, std::micro>(
                       std::chrono::steady_clock::now() - before)
                       .count() /
                   100;
  check(cudaDeviceSynchronize(), "launches");

  std::printf("%-20s %-5s %9.2e %9.4f %9.1f %9.1f %8.1f\n", argv[1],
              right ? "ok" : "WRONG", worst, ms, test.flops / ms * 1e-9,
              test.bytes / ms * 1e-6, host_us);
  return right ? 0 : 1;
}
