//===- Launch.h - Loops over elements and rows, on both targets -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A functor computes one element, or one row by a team: a block of threads on
// CUDA, one thread on the host. The same functors run on both.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_LAUNCH_H
#define FACT_REFERENCE_LAUNCH_H

#include "Elements.h"
#include "fact/Runtime/Kernel.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

namespace fact {
namespace reference {

#ifdef __CUDACC__
using Stream = cudaStream_t;
#else
struct Stream {};
#endif

/// The threads that compute a row together.
struct Team {
  static constexpr int threads = 256;

  FACT_FUNCTION static int64_t first() {
#ifdef __CUDA_ARCH__
    return threadIdx.x;
#else
    return 0;
#endif
  }
  FACT_FUNCTION static int64_t step() {
#ifdef __CUDA_ARCH__
    return threads;
#else
    return 1;
#endif
  }
  FACT_FUNCTION static void wait() {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }

  /// Calls `function` for each index below `count`; afterwards the whole team
  /// sees its writes.
  template <class Function>
  FACT_FUNCTION static void each(int64_t count, Function function) {
    for (int64_t i = first(); i < count; i += step())
      function(i);
    wait();
  }

  /// Adds `element(i)` for each index below `count` to a `Sum`, which can `add`
  /// an element and `merge` another sum. All threads return the total.
  template <class Sum, class Element>
  FACT_FUNCTION static Sum fold(int64_t count, Sum sum, Element element) {
    for (int64_t i = first(); i < count; i += step())
      sum.add(element(i));
#ifdef __CUDA_ARCH__
    __shared__ uint64_t memory[threads * sizeof(Sum) / sizeof(uint64_t)];
    Sum *sums = reinterpret_cast<Sum *>(memory);
    __syncthreads();
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int distance = threads / 2; distance > 0; distance /= 2) {
      if (threadIdx.x < distance)
        sums[threadIdx.x].merge(sums[threadIdx.x + distance]);
      __syncthreads();
    }
    sum = sums[0];
#endif
    return sum;
  }
};

#ifdef __CUDACC__
inline unsigned blocks_for(int64_t count, int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

/// Calls `launch(first, blocks)` for parts of `count` blocks that fit a grid.
template <class Launch> void for_grids(int64_t count, Launch launch) {
  constexpr int64_t most = INT32_MAX;
  for (int64_t first = 0; first < count; first += most)
    launch(first,
           static_cast<unsigned>(count - first < most ? count - first : most));
}

template <class Functor>
__global__ void elements_kernel(Functor functor, int64_t count) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    functor(i);
}
template <class Functor>
__global__ void __launch_bounds__(Team::threads)
    rows_kernel(Functor functor, int64_t first) {
  functor(first + blockIdx.x);
}
#endif

/// Runs `functor(i)` for each i below `count`.
template <class Functor>
void for_elements(Functor functor, int64_t count, Stream stream) {
#ifdef __CUDACC__
  if (count > 0)
    elements_kernel<<<blocks_for(count, 256), 256, 0, stream>>>(functor, count);
#else
  (void)stream;
  for (int64_t i = 0; i < count; ++i)
    functor(i);
#endif
}

/// Runs `functor(row)` by a team for each row of [first, first + count).
template <class Functor>
void for_rows(Functor functor, int64_t first, int64_t count, Stream stream) {
#ifdef __CUDACC__
  for_grids(count, [&](int64_t begin, unsigned blocks) {
    rows_kernel<<<blocks, Team::threads, 0, stream>>>(functor, first + begin);
  });
#else
  (void)stream;
  for (int64_t row = first; row < first + count; ++row)
    functor(row);
#endif
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Stores element i of `Source` in out[i]: results in their storage type,
/// intermediate values as they are computed.
template <class Source, class Values, class T> struct Store {
  Values v;
  T *out;
  FACT_FUNCTION void operator()(int64_t i) const {
    put(out[i], Source::at(v, i));
  }
  template <class From> FACT_FUNCTION static void put(T &to, From from) {
    if constexpr (IsSame<T, From>::value)
      to = from;
    else
      to = static_cast<T>(value_of(from));
  }
};
template <class Source, class Values, class T>
void store(const Values &v, T *out, int64_t count, Stream stream) {
  for_elements(Store<Source, Values, T>{v, out}, count, stream);
}

/// Stores how far rounding alone may move an element: infinitely where it
/// decides, else by the error if that `Grows` near poles.
template <class Source, bool Grows, class Values> struct StoreDoubt {
  Values v;
  float *out;
  FACT_FUNCTION void operator()(int64_t i) const {
    auto element = Source::at(v, i);
    double doubt = is_undecided(element) ? infinity()
                   : Grows               ? error_of(element)
                                         : 0;
    out[i] = static_cast<float>(doubt);
  }
};
template <class Source, bool Grows, class Values>
void store_doubt(const Values &v, float *out, int64_t count, Stream stream) {
  for_elements(StoreDoubt<Source, Grows, Values>{v, out}, count, stream);
}

//===----------------------------------------------------------------------===//
// Exporting
//===----------------------------------------------------------------------===//

template <class Region, int Buffers, uint64_t WorkspaceBytes> struct Exported {
#ifdef __CUDACC__
  struct State {
    void *buffers[Buffers];
    char *workspace;
  };
  static int bind(void *memory, const int64_t *, void *const *buffers,
                  void *workspace) {
    State &state = *static_cast<State *>(memory);
    for (int i = 0; i < Buffers; ++i)
      state.buffers[i] = buffers[i];
    state.workspace = static_cast<char *>(workspace);
    return cudaSuccess;
  }
  static int launch(void *memory, void *stream) {
    State &state = *static_cast<State *>(memory);
    Region::run(state.buffers, state.workspace, static_cast<Stream>(stream));
    return cudaGetLastError();
  }
#else
  static void tile(int64_t, void *const *buffers, void *workspace) {
    Region::run(buffers, static_cast<char *>(workspace), Stream());
  }
#endif

  static constexpr FactKernel describe() {
    FactKernel kernel{};
    kernel.abi = FACT_KERNEL_ABI;
    kernel.buffer_count = Buffers;
    kernel.workspace_bytes = WorkspaceBytes;
    kernel.packed_operand = -1;
#ifdef __CUDACC__
    kernel.state_bytes = sizeof(State);
    kernel.bind = bind;
    kernel.launch = launch;
#else
    kernel.tiles = 1;
    kernel.tile = tile;
#endif
    return kernel;
  }
};

} // namespace reference
} // namespace fact

#define FACT_REFERENCE(symbol, Region, buffers, workspace_bytes)               \
  extern "C" const FactKernel symbol;                                          \
  const FactKernel symbol =                                                    \
      ::fact::reference::Exported<Region, buffers,                             \
                                  workspace_bytes>::describe();

#endif // FACT_REFERENCE_LAUNCH_H
