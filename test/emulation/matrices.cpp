//===- matrices.cpp - Matrix instructions on a CPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emulation.h"
#include <algorithm>

namespace emulation {

void loadMatrices(uint32_t address, uint32_t *const *results, int count,
                  bool transposed) {
  auto *addresses = static_cast<const uint32_t *>(
      exchange(fullMask, &address, sizeof(address)));
  int at = lane();
  for (int i = 0; i < count; ++i) {
    uint16_t pair[2];
    for (int j = 0; j < 2; ++j) {
      int row = transposed ? at % 4 * 2 + j : at / 4;
      int column = transposed ? at / 4 : at % 4 * 2 + j;
      auto *elements =
          checked<const uint16_t>(fromShared(addresses[8 * i + row]), 16);
      pair[j] = elements[column];
    }
    *results[i] = pair[0] | uint32_t(pair[1]) << 16;
  }
}

static float element(Factor factor, const uint32_t *words, int index) {
  uint32_t bits;
  if (factor == Factor::TF32) {
    // The tensor cores ignore the low bits.
    bits = words[index] & ~0x1fffu;
  } else {
    bits = words[index / 2] >> (index % 2 * 16) & 0xffff;
    if (factor == Factor::F16) {
      __half_raw raw;
      raw.x = static_cast<unsigned short>(bits);
      return __half2float(__half(raw));
    }
    bits <<= 16;
  }
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void multiply(Factor factor, float *d, const uint32_t *a, int aWords,
              const uint32_t *b, const float *c) {
  struct Factors {
    uint32_t a[4], b[2];
  } own = {};
  std::copy(a, a + aWords, own.a);
  std::copy(b, b + aWords / 2, own.b);
  auto *all =
      static_cast<const Factors *>(exchange(fullMask, &own, sizeof(own)));
  // Elements per word, and words of A per half of its rows.
  int pack = factor == Factor::TF32 ? 1 : 2, halves = aWords / 2;
  int group = lane() / 4, inGroup = lane() % 4;
  for (int i = 0; i < 4; ++i) {
    int row = group + i / 2 * 8, column = inGroup * 2 + i % 2;
    double sum = 0;
    for (int half = 0; half < halves; ++half)
      for (int k = 0; k < 4 * pack; ++k) {
        const Factors &left = all[row % 8 * 4 + k / pack];
        const Factors &right = all[column * 4 + k / pack];
        int word = half * 2 + row / 8;
        sum += double(element(factor, left.a + word, k % pack)) *
               element(factor, right.b + half, k % pack);
      }
    d[i] = static_cast<float>(sum + c[i]);
  }
}

void multiplyWarpgroup(Factor factor, float *const *d, int n, const uint32_t *a,
                       uint64_t b, bool adds) {
  if (b >> 49)
    fail("a descriptor of wgmma has a swizzle or an offset");
  auto start = static_cast<uint32_t>(b & 0x3fff) << 4;
  auto alongK = static_cast<uint32_t>(b >> 16 & 0x3fff) << 4;
  auto alongN = static_cast<uint32_t>(b >> 32 & 0x3fff) << 4;
  auto *all = static_cast<const uint32_t (*)[4]>(
      exchange(fullMask, a, 4 * sizeof(uint32_t)));
  for (int i = 0; i < n / 2; ++i) {
    int row = lane() / 4 + i / 2 % 2 * 8;
    auto column = static_cast<uint32_t>(i / 4 * 8 + lane() % 4 * 2 + i % 2);
    double sum = adds ? *d[i] : 0;
    // A word of K is one element of TF32, or two of bf16.
    int pack = factor == Factor::TF32 ? 1 : 2;
    for (uint32_t k = 0; k < 8; ++k) {
      auto *right = reinterpret_cast<const uint32_t *>(
          fromShared(start + column / 8 * alongN + k / 4 * alongK +
                     column % 8 * 16 + k % 4 * 4));
      const uint32_t *left =
          all[row % 8 * 4 + static_cast<int>(k) % 4] + k / 4 * 2 + row / 8;
      for (int part = 0; part < pack; ++part)
        sum +=
            double(element(factor, left, part)) * element(factor, right, part);
    }
    *d[i] = static_cast<float>(sum);
  }
}

void multiplyDoubles(double *d, double a, double b, const double *c) {
  double own[] = {a, b};
  auto *all =
      static_cast<const double (*)[2]>(exchange(fullMask, own, sizeof(own)));
  for (int i = 0; i < 2; ++i) {
    int row = lane() / 4, column = lane() % 4 * 2 + i;
    d[i] = c[i];
    for (int k = 0; k < 4; ++k)
      d[i] += all[row * 4 + k][0] * all[column * 4 + k][1];
  }
}

} // namespace emulation
