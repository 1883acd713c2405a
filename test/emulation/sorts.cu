//===- sorts.cu - Checks places of rows with many ties ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts and selects rows of a few different values, with NaNs, infinities and
// both zeros, and compares every place with a stable sort.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/SelectTogether.cuh"
#include "fact/cutlass/Sort.cuh"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace fact;

namespace {
/// Rows repeat a few values; the values of every third row are all equal.
template <class Element> Element draw(int64_t row, uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  int const drawn = row % 3 == 1 ? 4 : int(state >> 24) % 12;
  if constexpr (std::is_floating_point_v<Compute<Element>>) {
    double const values[] = {NAN,  -NAN, INFINITY, -INFINITY, 0.0,  -0.0,
                             0.25, -1.5, 3.0,      1e-7,      -2.0, 1000.0};
    return narrow<Element>(Compute<Element>(values[drawn]));
  } else {
    return Element(drawn * 21 - 120);
  }
}

template <class Value> bool is_before(Value x, Value y, bool descending) {
  // A NaN is the largest.
  bool const less = x < y || (x == x && y != y);
  bool const greater = x > y || (x != x && y == y);
  return descending ? greater : less;
}

template <class Kernel, class Rows, class Element, int64_t Count,
          bool Descending, bool OnlyLast>
bool is_right() {
  constexpr int64_t size = Rows::outer * Rows::length * Rows::inner;
  constexpr int64_t places = OnlyLast ? 1 : Count;
  Element *input;
  int64_t *output;
  void *workspace;
  cudaMalloc(reinterpret_cast<void **>(&input), size * sizeof(Element));
  cudaMalloc(reinterpret_cast<void **>(&output),
             Rows::count * places * sizeof(int64_t));
  cudaMalloc(&workspace, Kernel::workspace_bytes + 16);
  std::fill_n(output, Rows::count * places, -1);
  uint32_t state = 7;
  auto begin = [](int64_t row, int64_t length) {
    return row / Rows::inner * (length * Rows::inner) + row % Rows::inner;
  };
  for (int64_t row = 0; row < Rows::count; ++row)
    for (int64_t i = 0; i < Rows::length; ++i)
      input[begin(row, Rows::length) + i * Rows::inner] =
          draw<Element>(row, state);
  typename Kernel::State kernel;
  void *buffers[] = {input, output};
  bool right = Kernel::bind(kernel, buffers, workspace) == 0 &&
               Kernel::launch(kernel, nullptr) == 0 &&
               cudaDeviceSynchronize() == 0;
  for (int64_t row = 0; row < Rows::count; ++row) {
    std::vector<int64_t> order(Rows::length);
    std::iota(order.begin(), order.end(), 0);
    auto value = [&](int64_t place) {
      return widen(input[begin(row, Rows::length) + place * Rows::inner]);
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
      return is_before(value(x), value(y), Descending);
    });
    for (int64_t i = 0; i < places; ++i)
      right &= output[begin(row, places) + i * Rows::inner] ==
               order[OnlyLast ? Count - 1 : i];
  }
  cudaFree(input);
  cudaFree(output);
  cudaFree(workspace);
  return right;
}

template <class Rows, class Element, int64_t Count, bool Descending,
          class Schedule>
bool sorts() {
  return is_right<Sort<Rows, Element, Count, Descending, Schedule>, Rows,
                  Element, Count, Descending, false>();
}

template <class Rows, class Element, int64_t Count, bool Descending,
          bool OnlyLast, class Schedule>
bool selects() {
  return is_right<Select<Rows, Element, Count, Descending, OnlyLast, Schedule>,
                  Rows, Element, Count, Descending, OnlyLast>();
}

template <class Rows, class Element, int64_t Count, bool Descending,
          class Schedule>
bool selects_together() {
  return is_right<SelectTogether<Rows, Element, Count, Descending, Schedule>,
                  Rows, Element, Count, Descending, true>();
}

bool report(char const *name, std::initializer_list<bool> cases) {
  int wrong = 0, index = 0;
  for (bool right : cases) {
    if (!right)
      std::printf("%s: case %d is wrong\n", name, index), ++wrong;
    ++index;
  }
  return wrong == 0;
}
} // namespace

int main() {
  bool right = report(
      "sort",
      {// A row of a thread, of a warp, of several.
       sorts<RowsOf<9, 7, 1>, i8, 7, false, SortSchedule<32, 32, 128>>(),
       sorts<RowsOf<5, 1000, 1>, f32, 1000, true, SortSchedule<1024, 32, 4>>(),
       sorts<RowsOf<3, 900, 1>, bf16, 20, false, SortSchedule<1024, 8, 1>>(),
       sorts<RowsOf<2, 100, 5>, f64, 100, true, SortSchedule<128, 8, 8>>(),
       sorts<RowsOf<1, 500, 7>, i64, 500, false, SortSchedule<512, 4, 2>>(),
       // Merged, the last run without a partner.
       sorts<RowsOf<2, 5000, 1>, f16, 5000, false, SortSchedule<1024, 8, 1>>(),
       sorts<RowsOf<1, 2600, 3>, f32, 2100, true, SortSchedule<512, 4, 1>>(),
       sorts<RowsOf<1, 2500, 1>, i64, 2500, true, SortSchedule<256, 2, 1>>()});
  right &= report("select",
                  {// Held, read again, across memory, in parts.
                   selects<RowsOf<5, 1000, 1>, f32, 10, true, false,
                           SelectSchedule<128, 1, 1>>(),
                   selects<RowsOf<7, 501, 1>, bf16, 100, false, false,
                           SelectSchedule<8, 4, 1>>(),
                   selects<RowsOf<4, 3000, 1>, f16, 33, true, false,
                           SelectSchedule<32, 2, 1>>(),
                   selects<RowsOf<2, 300, 13>, bf16, 5, false, false,
                           SelectSchedule<16, 16, 1>>(),
                   selects<RowsOf<3, 700, 1>, i64, 64, true, false,
                           SelectSchedule<64, 1, 1>>(),
                   selects<RowsOf<3, 70, 1>, i1, 35, false, false,
                           SelectSchedule<32, 1, 1>>(),
                   selects<RowsOf<3, 5003, 1>, f32, 50, false, false,
                           SelectSchedule<64, 2, 7>>(),
                   selects<RowsOf<1, 1001, 6>, f16, 90, true, false,
                           SelectSchedule<32, 4, 3>>(),
                   // The last part has fewer elements than are wanted.
                   selects<RowsOf<3, 130, 1>, f32, 40, true, false,
                           SelectSchedule<32, 1, 3>>(),
                   selects<RowsOf<5, 901, 1>, f32, 451, false, true,
                           SelectSchedule<64, 1, 1>>(),
                   selects<RowsOf<2, 400, 9>, bf16, 200, true, true,
                           SelectSchedule<16, 8, 1>>(),
                   selects<RowsOf<3, 9000, 1>, f64, 9000, false, true,
                           SelectSchedule<128, 1, 1>>()});
  right &= report("select together",
                  {selects_together<RowsOf<3, 5001, 1>, f32, 2501, false,
                                    SelectSchedule<64, 1, 6>>(),
                   selects_together<RowsOf<1, 3000, 5>, bf16, 17, true,
                                    SelectSchedule<16, 4, 5>>(),
                   selects_together<RowsOf<2, 70000, 1>, f16, 35000, false,
                                    SelectSchedule<128, 2, 4>>(),
                   selects_together<RowsOf<1, 901, 1>, i64, 901, true,
                                    SelectSchedule<32, 1, 2>>()});
  if (right)
    std::printf("right\n");
}
