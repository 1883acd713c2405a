//===- gathers.cu - Checks reads by indices that are out of range *- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread whose indices are all in range reads without checks. One index that
// is not, in any row of any thread, gives NaN there and nowhere else, and so
// does an index that is itself gathered.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/Pointwise.cuh"
#include <cmath>
#include <cstdio>
#include <vector>

using namespace fact;

namespace {
constexpr int rows = 5, columns = 24, size = 7;

struct Value {
  FACT_DEVICE float apply(int64_t, float gathered) { return gathered; }
};
struct Index {
  FACT_DEVICE int64_t apply(int64_t index, float) { return index; }
};
/// table[row, index[column]]
template <class Schedule>
using Direct =
    Pointwise<Extents<rows, columns>,
              Operands<Strided<0, i64, Strides<0, 1>>,
                       Gathered<Strided<1, f32, Strides<size, 0>>,
                                IndexOf<Index, 1, size, false>>>,
              Results<Result<Value, Strided<2, f32, Strides<columns, 1>>>>,
              Schedule>;

struct ChainedValue {
  FACT_DEVICE float apply(int64_t, int64_t, float gathered) { return gathered; }
};
struct First {
  FACT_DEVICE int64_t apply(int64_t index, int64_t, float) { return index; }
};
struct Second {
  FACT_DEVICE int64_t apply(int64_t, int64_t place, float) { return place; }
};
/// table[row, places[index[column]]]; a place that is not there is place 0.
template <class Schedule>
using Chained = Pointwise<
    Extents<rows, columns>,
    Operands<Strided<0, i64, Strides<0, 1>>,
             Gathered<Strided<3, i64, Strides<0, 0>>,
                      IndexOf<First, 1, size, false>>,
             Gathered<Strided<1, f32, Strides<size, 0>>,
                      IndexOf<Second, 1, size, false, true>>>,
    Results<Result<ChainedValue, Strided<2, f32, Strides<columns, 1>>>>,
    Schedule>;
} // namespace

template <class T> static T *allocate(std::vector<T> const &values) {
  T *memory;
  cudaMalloc(reinterpret_cast<void **>(&memory), values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i)
    memory[i] = values[i];
  return memory;
}

static bool finds(int64_t index) { return index >= 0 && index < size; }

/// `missing` is the column whose index is out of range, `beyond` that index.
template <class Kernel, bool IsChained>
static bool is_right(int missing, int64_t beyond) {
  std::vector<int64_t> index, places;
  std::vector<float> table, results(rows * columns, -1);
  for (int i = 0; i < columns; ++i)
    index.push_back(i == missing ? beyond : i * 5 % size);
  for (int i = 0; i < rows * size; ++i)
    table.push_back(float(i));
  for (int i = 0; i < size; ++i)
    places.push_back(i == 3 ? beyond : size - 1 - i);
  void *buffers[] = {allocate(index), allocate(table), allocate(results),
                     allocate(places)};
  typename Kernel::State state;
  bool right = Kernel::bind(state, buffers, nullptr) == 0 &&
               Kernel::launch(state, nullptr) == 0;
  for (int i = 0; i < rows * columns; ++i) {
    int64_t at = index[i % columns];
    if (IsChained)
      at = finds(at) ? places[at] : 0;
    float found = static_cast<float *>(buffers[2])[i];
    right &=
        finds(at) ? found == table[i / columns * size + at] : std::isnan(found);
  }
  for (void *buffer : buffers)
    cudaFree(buffer);
  return right;
}

template <template <class> class Kernel, bool IsChained>
static bool are_right() {
  bool right = true;
  for (int missing : {-1, 0, 13, columns - 1})
    for (int64_t beyond : {int64_t(size), int64_t(-1), int64_t(1) << 32}) {
      right &= is_right<Kernel<PointwiseSchedule<32, 1, 1>>, IsChained>(missing,
                                                                        beyond);
      right &= is_right<Kernel<PointwiseSchedule<32, 4, 2>>, IsChained>(missing,
                                                                        beyond);
      right &= is_right<Kernel<PointwiseSchedule<32, 2, 2, true>>, IsChained>(
          missing, beyond);
    }
  return right;
}

int main() {
  std::printf("direct %s, chained %s\n",
              are_right<Direct, false>() ? "right" : "wrong",
              are_right<Chained, true>() ? "right" : "wrong");
}
