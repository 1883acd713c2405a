//===- Reference.cuh - Naive kernels that say what is right -----*- CUDA -*-===//
//
// A reference is written for being obviously right. One kernel an op, wide
// types throughout, 64-bit indices, no CUTLASS, nothing of the other headers.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_REFERENCE_CUH
#define FACT_CUTLASS_REFERENCE_CUH

#include "Scalars.cuh"
#include "fact/Runtime/Kernel.h"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace fact {

using bf16 = __nv_bfloat16;
using f16 = __half;
using f32 = float;
using f64 = double;
using i64 = int64_t;
using i32 = int32_t;
using i8 = int8_t;
using i1 = bool;

namespace reference {

/// An element as a number of another type; 16-bit floats go through float.
template <class To, class From> __device__ To convert(From value) {
  return static_cast<To>(value);
}
template <class To> __device__ To convert(__nv_bfloat16 value) {
  return static_cast<To>(__bfloat162float(value));
}
template <class To> __device__ To convert(__half value) {
  return static_cast<To>(__half2float(value));
}

inline unsigned blocks_for(int64_t count, int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

//===----------------------------------------------------------------------===//
// One thread for each element
//===----------------------------------------------------------------------===//

template <class Function>
__global__ void for_each_kernel(int64_t count, Function function) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    function(i);
}

template <class Function>
void for_each(int64_t count, Function function, cudaStream_t stream) {
  if (count > 0)
    for_each_kernel<<<blocks_for(count, 256), 256, 0, stream>>>(count, function);
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// Element (i, k) of batch l of A is a[batch offset + i * a_row + k * a_column].
struct Matmul {
  int64_t m, n, k, batches;
  int64_t a_row, a_column, b_row, b_column;
  int rank; // batch dimensions, with a stride of 0 where an operand broadcasts
  int64_t sizes[6], a_strides[6], b_strides[6];
};

/// A block of 16 x 16 threads computes 64 x 64 elements, 4 x 4 a thread.
template <class A, class B, class Wide>
__global__ void matmul_kernel(const A *a, const B *b, Wide *c, Matmul p) {
  __shared__ Wide a_tile[16][65], b_tile[16][65];
  int64_t row_tiles = (p.m + 63) / 64;
  int64_t batch = blockIdx.x / row_tiles;
  int64_t row = (blockIdx.x % row_tiles) * 64;
  int64_t column = int64_t(blockIdx.y) * 64;
  c += batch * p.m * p.n;
  for (int64_t d = p.rank - 1, rest = batch; d >= 0; --d) {
    a += rest % p.sizes[d] * p.a_strides[d];
    b += rest % p.sizes[d] * p.b_strides[d];
    rest /= p.sizes[d];
  }

  int thread = threadIdx.y * 16 + threadIdx.x;
  Wide sums[4][4] = {};
  for (int64_t k0 = 0; k0 < p.k; k0 += 16) {
    for (int e = thread; e < 64 * 16; e += 256) {
      // Neighbouring threads read along the contiguous direction.
      int ai = p.a_column == 1 ? e / 16 : e % 64;
      int ak = p.a_column == 1 ? e % 16 : e / 64;
      int64_t i = row + ai, k = k0 + ak;
      a_tile[ak][ai] = i < p.m && k < p.k
                           ? convert<Wide>(a[i * p.a_row + k * p.a_column])
                           : Wide(0);
      int bj = p.b_row == 1 ? e / 16 : e % 64;
      int bk = p.b_row == 1 ? e % 16 : e / 64;
      int64_t j = column + bj;
      k = k0 + bk;
      b_tile[bk][bj] = j < p.n && k < p.k
                           ? convert<Wide>(b[k * p.b_row + j * p.b_column])
                           : Wide(0);
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          sums[i][j] += a_tile[k][threadIdx.y * 4 + i] *
                        b_tile[k][threadIdx.x + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int64_t r = row + threadIdx.y * 4 + i, s = column + threadIdx.x + 16 * j;
      if (r < p.m && s < p.n)
        c[r * p.n + s] = sums[i][j];
    }
}

template <class A, class B, class Wide>
void matmul(const A *a, const B *b, Wide *c, Matmul p, cudaStream_t stream) {
  dim3 grid(blocks_for(p.m, 64) * static_cast<unsigned>(p.batches),
            blocks_for(p.n, 64));
  matmul_kernel<<<grid, dim3(16, 16), 0, stream>>>(a, b, c, p);
}

//===----------------------------------------------------------------------===//
// Rows: sums are kept in double
//===----------------------------------------------------------------------===//

/// The sum (or the maximum) over a block of 256 threads, for all of them.
template <bool IsMaximum> __device__ double combine(double value) {
  __shared__ double shared[256];
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int distance = 128; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) {
      double other = shared[threadIdx.x + distance];
      shared[threadIdx.x] = IsMaximum ? nan_maximum(shared[threadIdx.x], other)
                                      : shared[threadIdx.x] + other;
    }
    __syncthreads();
  }
  return shared[0];
}

/// Over the middle dimension of [outer, size, inner].
template <class X, class Wide>
__global__ void softmax_kernel(const X *x, Wide *y, int64_t size,
                               int64_t inner) {
  int64_t row = blockIdx.x;
  int64_t base = row / inner * size * inner + row % inner;
  double maximum = -INFINITY;
  for (int64_t i = threadIdx.x; i < size; i += 256)
    maximum = nan_maximum(maximum, convert<double>(x[base + i * inner]));
  maximum = combine<true>(maximum);
  double sum = 0;
  for (int64_t i = threadIdx.x; i < size; i += 256)
    sum += exp(convert<double>(x[base + i * inner]) - maximum);
  sum = combine<false>(sum);
  for (int64_t i = threadIdx.x; i < size; i += 256)
    y[base + i * inner] = static_cast<Wide>(
        exp(convert<double>(x[base + i * inner]) - maximum) / sum);
}

template <class X, class Wide>
void softmax(const X *x, Wide *y, int64_t outer, int64_t size, int64_t inner,
             cudaStream_t stream) {
  softmax_kernel<<<static_cast<unsigned>(outer * inner), 256, 0, stream>>>(
      x, y, size, inner);
}

/// `weight` and `bias` may be null.
template <bool IsLayer, class X, class Weight, class Bias, class Wide>
__global__ void norm_kernel(const X *x, const Weight *weight, const Bias *bias,
                            Wide *y, int64_t size, double epsilon) {
  int64_t base = int64_t(blockIdx.x) * size;
  double mean = 0;
  if (IsLayer) {
    for (int64_t i = threadIdx.x; i < size; i += 256)
      mean += convert<double>(x[base + i]);
    mean = combine<false>(mean) / size;
  }
  double squares = 0;
  for (int64_t i = threadIdx.x; i < size; i += 256) {
    double distance = convert<double>(x[base + i]) - mean;
    squares += distance * distance;
  }
  double deviation = sqrt(combine<false>(squares) / size + epsilon);
  for (int64_t i = threadIdx.x; i < size; i += 256) {
    double value = (convert<double>(x[base + i]) - mean) / deviation;
    if (weight)
      value *= convert<double>(weight[i]);
    if (bias)
      value += convert<double>(bias[i]);
    y[base + i] = static_cast<Wide>(value);
  }
}

template <bool IsLayer, class X, class Weight, class Bias, class Wide>
void norm(const X *x, const Weight *weight, const Bias *bias, Wide *y,
          int64_t rows, int64_t size, double epsilon, cudaStream_t stream) {
  norm_kernel<IsLayer><<<static_cast<unsigned>(rows), 256, 0, stream>>>(
      x, weight, bias, y, size, epsilon);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

enum ReduceKind { Sum, Mean, Max, Min, Product, ArgMax, ArgMin };

/// Kept dimensions walk the results, reduced ones the elements of each.
struct Reduce {
  int64_t results, elements;
  int kept_rank, reduced_rank;
  int64_t kept_sizes[8], kept_strides[8], reduced_sizes[8], reduced_strides[8];
};

inline __device__ int64_t walk(int64_t index, int rank, const int64_t *sizes,
                               const int64_t *strides) {
  int64_t offset = 0;
  for (int d = rank - 1; d >= 0; --d) {
    offset += index % sizes[d] * strides[d];
    index /= sizes[d];
  }
  return offset;
}

/// One warp for each result. `Sum_` is double for floats, int64_t otherwise.
template <ReduceKind Kind, class Sum_, class X, class Y>
__global__ void reduce_kernel(const X *x, Y *y, Reduce p) {
  int64_t result = int64_t(blockIdx.x) * 8 + threadIdx.y;
  if (result >= p.results)
    return;
  int64_t base = walk(result, p.kept_rank, p.kept_sizes, p.kept_strides);
  auto apply = [](Sum_ a, Sum_ b) -> Sum_ {
    if (Kind == Max)
      return a > b || a != a ? a : b;
    if (Kind == Min)
      return a < b || a != a ? a : b;
    if (Kind == Product)
      return a * b;
    return a + b;
  };
  bool empty = true;
  Sum_ value = 0;
  for (int64_t i = threadIdx.x; i < p.elements; i += 32) {
    Sum_ element = convert<Sum_>(
        x[base + walk(i, p.reduced_rank, p.reduced_sizes, p.reduced_strides)]);
    value = empty ? element : apply(value, element);
    empty = false;
  }
  // Lane 0 always has an element. Lanes keep their own parts meanwhile.
  Sum_ total = __shfl_sync(0xffffffffu, value, 0);
  for (int lane = 1; lane < 32 && lane < p.elements; ++lane)
    total = apply(total, __shfl_sync(0xffffffffu, value, lane));
  if (Kind == Mean)
    total /= static_cast<Sum_>(p.elements);
  if (threadIdx.x == 0)
    y[result] = static_cast<Y>(total);
}

template <ReduceKind Kind, class Sum_, class X, class Y>
void reduce(const X *x, Y *y, Reduce p, cudaStream_t stream) {
  reduce_kernel<Kind, Sum_>
      <<<blocks_for(p.results, 8), dim3(32, 8), 0, stream>>>(x, y, p);
}

/// One thread for each result: the place of the first extreme element, in
/// row-major order over the reduced dimensions. NaN is the extreme of both.
template <ReduceKind Kind, class Wide, class X>
__global__ void find_kernel(const X *x, int64_t *y, Reduce p) {
  int64_t result = int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (result >= p.results)
    return;
  int64_t base = walk(result, p.kept_rank, p.kept_sizes, p.kept_strides);
  auto element = [&](int64_t i) {
    return convert<Wide>(
        x[base + walk(i, p.reduced_rank, p.reduced_sizes, p.reduced_strides)]);
  };
  int64_t best = 0;
  for (int64_t i = 1; i < p.elements; ++i) {
    Wide found = element(best), value = element(i);
    if (found == found &&
        (value != value || (Kind == ArgMax ? value > found : value < found)))
      best = i;
  }
  y[result] = best;
}

template <ReduceKind Kind, class Wide, class X>
void find(const X *x, int64_t *y, Reduce p, cudaStream_t stream) {
  find_kernel<Kind, Wide>
      <<<blocks_for(p.results, 256), 256, 0, stream>>>(x, y, p);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct Attention {
  int64_t batches, heads, key_heads, queries, keys, head, value_head;
  double scale;
  bool causal;
  /// The mask broadcasts to [batch, head, query, key] with these strides.
  int64_t mask_strides[4];
};

/// One block for each query: scores of 128 keys at a time, by an online
/// softmax, and each thread keeps up to four elements of the result.
template <class Q, class K, class V, class M, class Wide>
__global__ void attention_kernel(const Q *q, const K *k, const V *v,
                                 const M *mask, Wide *o, Attention p) {
  extern __shared__ double dynamic[];
  Wide *query = reinterpret_cast<Wide *>(dynamic);
  __shared__ Wide scores[128];
  int64_t row = blockIdx.x;
  int64_t t = row % p.queries, h = row / p.queries % p.heads,
          b = row / p.queries / p.heads;
  int64_t key_head = h / (p.heads / p.key_heads);
  q += row * p.head;
  k += (b * p.key_heads + key_head) * p.keys * p.head;
  v += (b * p.key_heads + key_head) * p.keys * p.value_head;
  for (int64_t i = threadIdx.x; i < p.head; i += 128)
    query[i] = convert<Wide>(q[i]);
  __syncthreads();

  Wide maximum = -INFINITY, sum = 0, result[4] = {};
  int64_t visible = p.causal && t + 1 < p.keys ? t + 1 : p.keys;
  for (int64_t first = 0; first < visible; first += 128) {
    int64_t key = first + threadIdx.x;
    Wide score = -INFINITY;
    if (key < visible) {
      score = 0;
      for (int64_t i = 0; i < p.head; ++i)
        score += query[i] * convert<Wide>(k[key * p.head + i]);
      score *= static_cast<Wide>(p.scale);
      if (mask)
        score += convert<Wide>(mask[b * p.mask_strides[0] +
                                    h * p.mask_strides[1] +
                                    t * p.mask_strides[2] +
                                    key * p.mask_strides[3]]);
    }
    __syncthreads();
    scores[threadIdx.x] = score;
    __syncthreads();
    int count = visible - first < 128 ? int(visible - first) : 128;
    Wide larger = maximum;
    for (int i = 0; i < count; ++i)
      larger = scores[i] > larger ? scores[i] : larger;
    if (larger == -INFINITY)
      continue;
    Wide rescale = exp(maximum - larger);
    maximum = larger;
    sum *= rescale;
    for (int e = 0; e < 4; ++e)
      result[e] *= rescale;
    for (int i = 0; i < count; ++i) {
      Wide probability = exp(scores[i] - maximum);
      sum += probability;
      for (int e = 0; e < 4; ++e) {
        int64_t column = threadIdx.x + 128 * e;
        if (column < p.value_head)
          result[e] += probability *
                       convert<Wide>(v[(first + i) * p.value_head + column]);
      }
    }
  }
  for (int e = 0; e < 4; ++e) {
    int64_t column = threadIdx.x + 128 * e;
    if (column < p.value_head)
      // A query that sees no key gives 0.
      o[row * p.value_head + column] = sum == 0 ? Wide(0) : result[e] / sum;
  }
}

template <class Q, class K, class V, class M, class Wide>
void attention(const Q *q, const K *k, const V *v, const M *mask, Wide *o,
               Attention p, cudaStream_t stream) {
  attention_kernel<<<static_cast<unsigned>(p.batches * p.heads * p.queries),
                     128, p.head * sizeof(double), stream>>>(q, k, v, mask, o,
                                                             p);
}

//===----------------------------------------------------------------------===//
// Exporting
//===----------------------------------------------------------------------===//

template <class Reference, int Buffers, uint64_t WorkspaceBytes>
struct Exported {
  struct State {
    void *buffers[Buffers];
    char *workspace;
  };

  static int bind(void *memory, void *const *buffers, void *workspace) {
    State &state = *static_cast<State *>(memory);
    for (int i = 0; i < Buffers; ++i)
      state.buffers[i] = buffers[i];
    state.workspace = static_cast<char *>(workspace);
    return cudaSuccess;
  }

  static int launch(void *memory, void *stream) {
    State &state = *static_cast<State *>(memory);
    Reference::run(state.buffers, state.workspace,
                   static_cast<cudaStream_t>(stream));
    return cudaGetLastError();
  }

  static constexpr FactKernel describe() {
    FactKernel kernel{};
    kernel.abi = FACT_KERNEL_ABI;
    kernel.buffer_count = Buffers;
    kernel.state_bytes = sizeof(State);
    kernel.workspace_bytes = WorkspaceBytes;
    kernel.bind = bind;
    kernel.launch = launch;
    kernel.packed_operand = -1;
    return kernel;
  }
};

} // namespace reference
} // namespace fact

#define FACT_REFERENCE(symbol, Reference, buffers, workspace_bytes)            \
  extern "C" const FactKernel symbol;                                          \
  const FactKernel symbol =                                                    \
      ::fact::reference::Exported<Reference, buffers,                          \
                                  workspace_bytes>::describe();

#endif // FACT_CUTLASS_REFERENCE_CUH
