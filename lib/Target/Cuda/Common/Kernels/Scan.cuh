//===- Scan.cuh - Running reductions ---------------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element i of a row is the reduction of its elements 0 to i. Rows lie along
// the middle of [outer, length, inner].
//
//   // running sums of 4096 rows
//   #include "fact/cutlass/Scan.cuh"
//
//   namespace fact::scan_0 {
//   using Kernel = Scan<RowsOf<4096, 1000, 1>, f32, RunningSum,
//                       ScanSchedule<128, 1, 8>>;  // lanes, splits, vector
//   FACT_KERNEL(scan_0, Kernel)
//   } // namespace fact::scan_0
//
// `lanes` threads share a row and take eight elements each at a time; the
// result of all before them is carried on. Where there are too few rows to fill
// the machine, `splits` blocks share a row: a first kernel reduces what each
// has, and the second starts from what is before it. All is combined in a fixed
// order.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCAN_CUH
#define FACT_CUTLASS_SCAN_CUH

#include "Scalars.cuh"
#include "Vector.cuh"
#include <cmath>
#include <limits>

namespace fact {

/// Rows of `Length` elements; neighbors of a row are `Inner` elements apart.
template <int64_t Outer, int64_t Length, int64_t Inner> struct RowsOf {
  static constexpr int64_t outer = Outer, length = Length, inner = Inner;
  static constexpr int64_t count = Outer * Inner;

  /// The first element of a row, where rows have `Size` elements.
  template <int64_t Size = Length> FACT_DEVICE int64_t begin(int64_t row) {
    return row / Inner * (Size * Inner) + row % Inner;
  }
};

//===----------------------------------------------------------------------===//
// Operations. A NaN is the extreme of both kinds.
//===----------------------------------------------------------------------===//

struct RunningSum {
  template <class T> FACT_DEVICE T identity() { return T(0); }
  template <class T> FACT_DEVICE T apply(T a, T b) { return a + b; }
};

struct RunningProduct {
  template <class T> FACT_DEVICE T identity() { return T(1); }
  template <class T> FACT_DEVICE T apply(T a, T b) { return a * b; }
};

struct RunningMaximum {
  template <class T> FACT_DEVICE T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return -T(INFINITY);
    else
      return std::numeric_limits<T>::min();
  }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return nan_maximum(a, b);
    else
      return a > b ? a : b;
  }
  /// Whether `next` is the extreme of both, and not `before`.
  template <class T> FACT_DEVICE bool exceeds(T next, T before) {
    return !(next <= before) && before == before;
  }
};

struct RunningMinimum {
  template <class T> FACT_DEVICE T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return T(INFINITY);
    else
      return std::numeric_limits<T>::max();
  }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return nan_minimum(a, b);
    else
      return a < b ? a : b;
  }
  /// Whether `next` is the extreme of both, and not `before`.
  template <class T> FACT_DEVICE bool exceeds(T next, T before) {
    return !(next >= before) && before == before;
  }
};

/// log(exp(a) + exp(b)), shifted by the larger, so that no exponential
/// overflows. If both are the same infinity, their difference is NaN.
struct RunningLogSumExp {
  template <class T> FACT_DEVICE T identity() { return -T(INFINITY); }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    T larger = RunningMaximum::apply(a, b);
    T distance = RunningMinimum::apply(a, b) - larger;
    return distance != distance ? larger : larger + log1p(exp(distance));
  }
};

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <int Lanes, int Splits, int Vector> struct ScanSchedule {
  static constexpr int threads = 256, lanes = Lanes, splits = Splits;
  /// Elements per access.
  static constexpr int vector = Vector;
  static_assert((Lanes & (Lanes - 1)) == 0 && Lanes <= threads,
                "lanes are a power of two");
};

template <class Rows, class Element, class Operation, class Schedule>
class Scan;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scan_totals_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::template run<true>(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scan_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::template run<false>(state);
}

template <class Rows, class Element, class Operation, class Schedule>
class Scan {
  using Value = Compute<Element>;
  static constexpr int threads = Schedule::threads;
  static constexpr int lanes = Schedule::lanes;
  static constexpr int splits = Schedule::splits;
  static constexpr int vector = Schedule::vector;
  static constexpr int slots = threads / lanes;
  static constexpr int items = 8;
  static constexpr int64_t tile = lanes * items;
  static constexpr int64_t groups = (Rows::count + slots - 1) / slots;
  /// Elements per split: whole tiles.
  static constexpr int64_t chunk =
      ((Rows::length + splits - 1) / splits + tile - 1) / tile * tile;

  static_assert(vector == 1 || (Rows::inner == 1 && Rows::length % vector == 0),
                "vectors need contiguous rows of whole vectors");

public:
  static constexpr int buffer_count = 2;
  static constexpr uint64_t workspace_bytes =
      splits > 1 ? uint64_t(Rows::count) * splits * sizeof(Value) : 0;
  static constexpr int block_threads = threads;

  struct State {
    Element const *input;
    Element *output;
    Value *totals;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    for (int i = 0; i < buffer_count; ++i)
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
    state = {static_cast<Element const *>(buffers[0]),
             static_cast<Element *>(buffers[1]),
             static_cast<Value *>(workspace)};
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    static_assert(groups * splits < INT32_MAX, "too many rows for one grid");
    dim3 const grid(unsigned(groups * splits));
    if constexpr (splits > 1)
      if (int error = launch_kernel(&scan_totals_kernel<Scan>, grid, dim3(1),
                                    dim3(threads), 0, state, stream))
        return error;
    return launch_kernel(&scan_kernel<Scan>, grid, dim3(1), dim3(threads), 0,
                         state, stream);
  }

  template <bool TotalsOnly> FACT_DEVICE void run(State const &state) {
    __shared__ Value scratch[2][threads];
    int64_t const split = blockIdx.x % splits;
    // Neighboring threads read neighboring elements.
    bool constexpr contiguous = Rows::inner == 1;
    int const lane = contiguous ? threadIdx.x % lanes : threadIdx.x / slots;
    int const slot = contiguous ? threadIdx.x / lanes : threadIdx.x % slots;
    int64_t const row = int64_t(blockIdx.x / splits) * slots + slot;
    bool const active = row < Rows::count;
    int64_t const begin = Rows::begin(active ? row : 0);

    Value carry = Operation::template identity<Value>();
    if (!TotalsOnly && splits > 1 && active)
      for (int64_t before = 0; before < split; ++before)
        carry = Operation::apply(carry, state.totals[row * splits + before]);

    int64_t const end =
        (split + 1) * chunk < Rows::length ? (split + 1) * chunk : Rows::length;
    for (int64_t first = split * chunk; first < end; first += tile) {
      int64_t const place = first + lane * items;
      Value values[items];
      load(state.input + begin, active ? place : end, end, values);
#pragma unroll
      for (int i = 1; i < items; ++i)
        values[i] = Operation::apply(values[i - 1], values[i]);
      Value total,
          before = scan_lanes(scratch, values[items - 1], lane, slot, total);
      before = Operation::apply(carry, before);
      carry = Operation::apply(carry, total);
      if (TotalsOnly || !active)
        continue;
#pragma unroll
      for (int i = 0; i < items; ++i)
        values[i] = Operation::apply(before, values[i]);
      store(state.output + begin, place, end, values);
    }
    if (TotalsOnly && active && lane == 0)
      state.totals[row * splits + split] = carry;
  }

private:
  /// The reduction of what lies in the lanes before this one; `total` is that
  /// of all lanes. Ends with all reads of `scratch` done.
  FACT_DEVICE Value scan_lanes(Value (&scratch)[2][threads], Value value,
                               int lane, int slot, Value &total) {
    int current = 0;
    scratch[0][lane * slots + slot] = value;
    __syncthreads();
#pragma unroll
    for (int distance = 1; distance < lanes; distance *= 2) {
      if (lane >= distance)
        value = Operation::apply(
            scratch[current][(lane - distance) * slots + slot], value);
      current ^= 1;
      scratch[current][lane * slots + slot] = value;
      __syncthreads();
    }
    total = scratch[current][(lanes - 1) * slots + slot];
    Value before = lane > 0 ? scratch[current][(lane - 1) * slots + slot]
                            : Operation::template identity<Value>();
    __syncthreads();
    return before;
  }

  /// Elements from `place` on; past `end`, what changes nothing.
  FACT_DEVICE void load(Element const *row, int64_t place, int64_t end,
                        Value *values) {
    if constexpr (vector > 1) {
#pragma unroll
      for (int i = 0; i < items; i += vector)
        if (place + i < end)
          load_vector<vector>(row + place + i, values + i);
        else
#pragma unroll
          for (int j = 0; j < vector; ++j)
            values[i + j] = Operation::template identity<Value>();
    } else {
#pragma unroll
      for (int i = 0; i < items; ++i)
        values[i] = place + i < end ? widen(row[(place + i) * Rows::inner])
                                    : Operation::template identity<Value>();
    }
  }

  FACT_DEVICE void store(Element *row, int64_t place, int64_t end,
                         Value const *values) {
#pragma unroll
    for (int i = 0; i < items; i += vector) {
      if (place + i >= end)
        continue;
      if constexpr (vector > 1)
        store_vector<vector>(row + place + i, values + i);
      else
        row[(place + i) * Rows::inner] = narrow<Element>(values[i]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCAN_CUH
