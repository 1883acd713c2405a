//===- scalars.cu - Checks functions of Scalars.cuh and Math.cuh *- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that stand in for CUDA's own, over all numbers of 16 bits and many
// of f32, against those of C in f64. Prints one line per function.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/Math.cuh"
#include "fact/cutlass/Scalars.cuh"
#include <cmath>
#include <cstdio>
#include <vector>

namespace {
struct Pair {
  float x, y;
};

struct Sine {
  FACT_DEVICE float apply(Pair p) { return fact::sine(p.x); }
  static double define(double x, double) { return std::sin(x); }
};
struct Cosine {
  FACT_DEVICE float apply(Pair p) { return fact::cosine(p.x); }
  static double define(double x, double) { return std::cos(x); }
};
struct NegativeInverse {
  FACT_DEVICE float apply(Pair p) { return fact::has_negative_inverse(p.x); }
  static double define(double x, double) { return 1 / float(x) < 0; }
};
struct Log1p {
  FACT_DEVICE float apply(Pair p) { return fact::fast_log1p(p.x); }
  static double define(double x, double) { return std::log1p(x); }
};
struct Root {
  FACT_DEVICE float apply(Pair p) { return fact::fast_sqrt(p.x); }
  static double define(double x, double) { return std::sqrt(x); }
};
struct Power {
  FACT_DEVICE float apply(Pair p) { return fact::fast_pow(p.x, p.y); }
  static double define(double x, double y) { return std::pow(x, y); }
};
struct Quotient {
  FACT_DEVICE float apply(Pair p) { return fact::divide_by_shared(p.x, p.y); }
  static double define(double x, double y) { return x / y; }
};
struct Maximum {
  FACT_DEVICE float apply(Pair p) { return fact::shared_maximum(p.x, p.y); }
  static double define(double x, double y) { return fact::nan_maximum(x, y); }
};
struct Minimum {
  FACT_DEVICE float apply(Pair p) { return fact::shared_minimum(p.x, p.y); }
  static double define(double x, double y) { return fact::nan_minimum(x, y); }
};
} // namespace

template <class F> __global__ void compute(Pair const *pairs, float *results) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  results[i] = F::apply(pairs[i]);
}

/// The error in units of the last place of f32, infinite where only one of two
/// is a number. Zeros have signs. What f32 cannot hold is infinite, what it
/// holds with fewer digits may be 0.
static double get_error(float found, double exact) {
  if (std::isnan(found) || std::isnan(exact))
    return std::isnan(found) && std::isnan(exact) ? 0 : INFINITY;
  if (std::fabs(exact) > 3.4028234e38)
    return std::isinf(found) && (found < 0) == (exact < 0) ? 0 : INFINITY;
  if (std::fabs(exact) < 0x1p-126)
    return std::fabs(found) <= 0x1p-126 &&
                   std::signbit(found) == std::signbit(exact)
               ? 0
               : INFINITY;
  return std::fabs(found - exact) / std::ldexp(1, std::ilogb(exact) - 23);
}

/// Prints whether the largest error is at most `most`.
template <class F>
static void check(char const *name, std::vector<Pair> const &pairs,
                  double most) {
  constexpr int threads = 128;
  int count = int(pairs.size()) / threads * threads;
  Pair *operands;
  float *results;
  cudaMalloc(reinterpret_cast<void **>(&operands), count * sizeof(Pair));
  cudaMalloc(reinterpret_cast<void **>(&results), count * sizeof(float));
  for (int i = 0; i < count; ++i)
    operands[i] = pairs[i];
  compute<F><<<count / threads, threads>>>(operands, results);
  double worst = 0;
  Pair at{};
  for (int i = 0; i < count; ++i) {
    double error =
        get_error(results[i], F::define(operands[i].x, operands[i].y));
    if (error > worst)
      worst = error, at = operands[i];
  }
  cudaFree(operands);
  cudaFree(results);
  if (worst <= most)
    std::printf("%s right\n", name);
  else
    std::printf("%s wrong by %g ulp at %.9g, %.9g\n", name, worst, at.x, at.y);
}

int main() {
  // All of bf16, all of f16, and numbers of f32 between.
  std::vector<Pair> numbers, pairs;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    numbers.push_back({__uint_as_float(bits << 16), 0});
    numbers.push_back({__half2float(__ushort_as_half(uint16_t(bits))), 0});
    numbers.push_back(
        {__uint_as_float(bits << 16 | (bits * 40503u & 65535)), 0});
  }
  std::vector<float> some = {0.0f,  -0.0f,    1,         -1,   2,
                             -2,    3,        -3,        0.5f, 2.5f,
                             -1.5f, INFINITY, -INFINITY, NAN,  1e4f};
  for (uint32_t bits = 0; bits < 65536; bits += 271)
    some.push_back(__uint_as_float(bits << 16));
  for (float x : some)
    for (float y : some)
      pairs.push_back({x, y});
  check<Sine>("sine", numbers, 2);
  check<Cosine>("cosine", numbers, 2);
  check<NegativeInverse>("sign of the inverse", numbers, 0);
  // An eighth of the last place of f16.
  check<Log1p>("log1p", numbers, 1024);
  check<Root>("root", numbers, 1024);
  check<Power>("power", pairs, 1024);
  // Numbers of all digits, of which none is too small.
  std::vector<Pair> dividends;
  for (uint32_t i = 0; i < 100000; ++i) {
    uint32_t x = i * 2654435761u, y = (i + 7) * 2246822519u;
    if ((x >> 23 & 255) < 127 - 100)
      continue;
    dividends.push_back({__uint_as_float(x), __uint_as_float(y)});
  }
  check<Quotient>("quotient", dividends, 0.5000001);
  check<Quotient>("quotient of any numbers", pairs, 1.5);
  check<Maximum>("maximum", pairs, 0);
  check<Minimum>("minimum", pairs, 0);
}
