//===- Measure.h - What the tuning worker asks of a device ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random operands, poisoned results, comparison with a reference, and timing
// with a cold cache. Implemented by HostMeasure.cpp and CudaMeasure.cu, which
// only the worker links.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_MEASURE_H
#define FACT_RUNTIME_MEASURE_H

#include "fact/Runtime/ElementType.h"
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace fact {
namespace runtime {

/// How an operand is filled.
struct Fill {
  enum class Values : uint8_t {
    /// Normal times `scale`.
    Normal,
    /// Uniform in [low, high): integers for integer types, reals otherwise.
    Uniform,
    /// `low` or the last integer below `high`, nothing between; with `outside`,
    /// occasionally the next one beyond.
    Bounds,
    /// Any integer of the type.
    AllBits,
    /// Few distinct values; with `equalRows`, every other row has one value
    /// only.
    Ties,
    /// -infinity in every other row, normal values in the rest.
    HiddenRows,
    /// Powers of two with real exponents, uniform in [-high, high), of either
    /// sign: values that are multiplied.
    Factors,
  };
  enum class Sign : uint8_t {
    Any,
    Positive,
    Negative,
    /// The second third of each row is negative: the keys, between queries and
    /// values.
    NegativeMiddle,
  };
  Values values = Values::Normal;
  Sign sign = Sign::Any;
  double low = 0;
  double high = 0;
  double scale = 1;
  /// The share of booleans that are true.
  double trueShare = 0.5;
  /// Elements of a row.
  uint64_t row = 1;
  bool equalRows = true;
  bool outside = false;
  /// The kernel reads elements [begin, end) of each `pitch`, or all where it is
  /// 0. Other floats are NaN, which shows in the results of a kernel that uses
  /// them.
  uint64_t begin = 0, end = 0, pitch = 0;
};

/// Elements [begin, end) of each `pitch`; none where it is 0.
struct Columns {
  uint64_t begin = 0, end = 0, pitch = 0;

  FACT_HOST_DEVICE bool contain(uint64_t index) const {
    return pitch && index % pitch - begin < end - begin;
  }
};

/// With `scale` the rms of the element's row, or `leastScale` if that is
/// larger: |out - ref| <= norm * |ref| over the result, and per element |out -
/// ref| <= element * (|ref| + scale). Errors below the smallest positive number
/// of the result's type are ignored. NaN must be NaN, an infinity the same
/// infinity, and integers and booleans equal.
struct Tolerance {
  double norm = 0;
  double element = 0;
  /// Elements that share a scale; 0: all.
  uint64_t row = 0;
  double leastScale = 0;
  /// Not compared: the reference has NaN there, a kernel anything.
  Columns spare;
};

struct Comparison {
  uint64_t elements = 0;
  /// Elements with infinite doubt, which rounding may decide either way: not
  /// compared.
  uint64_t undecided = 0;
  /// Elements whose reference is NaN or infinite.
  uint64_t referenceNotFinite = 0;
  /// NaN or infinite where the reference is not, or vice versa, unless the
  /// result type overflows.
  uint64_t otherClass = 0;
  /// Beyond the element tolerance; for integers, different.
  uint64_t beyond = 0;
  /// The first position of another class or beyond the tolerance; -1 if none.
  int64_t firstBad = -1;
  double errorSquares = 0;
  double referenceSquares = 0;
  /// Sum of squares that norms are relative to, if the reference's is smaller.
  double leastSquares = 0;
  /// The largest |out - ref| / (|ref| + scale).
  double worstElement = 0;

  double normError() const {
    if (errorSquares == 0)
      return 0;
    double squares =
        referenceSquares > leastSquares ? referenceSquares : leastSquares;
    return squares > 0 ? std::sqrt(errorSquares / squares) : HUGE_VAL;
  }
  uint64_t finite() const { return elements - undecided - referenceNotFinite; }
  /// Over the finite elements of the reference that were compared.
  double referenceRms() const {
    double count = static_cast<double>(finite());
    return count > 0 ? std::sqrt(referenceSquares / count) : 0;
  }
  void setLeastScale(double scale) {
    leastSquares = scale * scale * static_cast<double>(finite());
  }
};

namespace measure {

bool fill(void *data, ElementType type, uint64_t elements, const Fill &fill,
          uint64_t seed);

/// `doubt` is how far rounding alone may move each element, if that may be far;
/// it may be null.
bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, const float *doubt, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison);

/// Sets `same` to whether every byte of the range is `byte`.
bool allBytesAre(const void *data, int byte, uint64_t bytes, bool &same);

/// Adds a checksum of the elements that are not `spare` to `*sum`, which is in
/// device memory. All NaNs count as equal. Enqueued on `stream`.
bool addChecksum(const void *data, ElementType type, uint64_t elements,
                 const Columns &spare, uint64_t *sum, void *stream);

/// Bytes that can be allocated.
bool availableBytes(uint64_t &bytes);

/// What the device does at the moment; 0 where it does not say.
struct Load {
  double megahertz = 0, watts = 0;
};
Load readLoad();

/// One timed run: `prepare` and `finish` are not timed, and on a device all
/// three are enqueued.
struct TimedRun {
  bool coldCache = true;
  /// How long a device does nothing before each run. A processor does not rest:
  /// it would wake up slowly.
  double restUs = 0;
  /// Set while the last run is on the device, if not null.
  Load *load = nullptr;
  std::function<bool(int run, void *stream)> prepare, launch, finish;
};

/// Microseconds of each of `runs` launches, with the last-level cache flushed
/// before each if `coldCache` is set.
bool time(int runs, const TimedRun &run, std::vector<double> &microseconds);

} // namespace measure

//===----------------------------------------------------------------------===//
// Shared by both implementations
//===----------------------------------------------------------------------===//

namespace detail {

FACT_HOST_DEVICE inline uint64_t mixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

FACT_HOST_DEVICE inline double applySign(double value, const Fill &fill,
                                         uint64_t index) {
  switch (fill.sign) {
  case Fill::Sign::Any:
    return value;
  case Fill::Sign::Positive:
    return fabs(value);
  case Fill::Sign::Negative:
    return -fabs(value);
  case Fill::Sign::NegativeMiddle:
    return index % fill.row * 3 / fill.row == 1 ? -fabs(value) : fabs(value);
  }
  return value;
}

/// The value of element `index`: a pure function, so that every thread can
/// make its own elements.
FACT_HOST_DEVICE inline double randomElement(ElementType type, const Fill &fill,
                                             uint64_t seed, uint64_t index) {
  using Values = Fill::Values;
  if (fill.pitch && isFloat(type) &&
      index % fill.pitch - fill.begin >= fill.end - fill.begin)
    return NAN;
  uint64_t key = mixBits(seed);
  uint64_t bits = mixBits(index ^ key);
  double unit = static_cast<double>(bits >> 11) * 1.1102230246251565e-16;
  if (isBoolean(type))
    return unit < fill.trueShare;
  if (fill.values == Values::Ties) {
    // No integers and no zero: where functions jump, a rounding error is as
    // large as the jump.
    uint64_t row = index / fill.row;
    bool equal = fill.equalRows && row % 2 == 0;
    uint64_t choice = equal ? mixBits(~row ^ key) % 4 : bits % 4;
    const double values[] = {0.7109375, 0.35546875, 1.421875,
                             equal ? 0.35546875 : -0.7109375};
    // One row in four is as small as the eps that keeps divisors from 0.
    double scale = !equal && row % 4 == 3 ? fill.scale / 256 : fill.scale;
    return applySign(values[choice] * scale, fill, index);
  }
  if (fill.values == Values::Bounds) {
    bool beyond = fill.outside && (bits & 15) == 0;
    return bits >> 63 ? fill.low - beyond : ceil(fill.high) - 1 + beyond;
  }
  if (fill.values == Values::AllBits) {
    // Doubles represent all integers of 53 bits; the largest are among them.
    uint32_t width = 8 * bytesOf(type);
    double largest = static_cast<double>(1ull << (width < 53 ? width - 1 : 52));
    double value = floor((2 * unit - 1) * largest);
    return (bits & 7) == 0 ? (bits >> 63 ? -largest : largest - 1) : value;
  }
  if (fill.values == Values::Uniform) {
    double value = fill.low + unit * (fill.high - fill.low);
    return isFloat(type) ? value : floor(value);
  }
  if (fill.values == Values::Factors) {
    double size = exp2((2 * unit - 1) * fill.high);
    return applySign(bits & 1 ? -size : size, fill, index);
  }
  // Box-Muller transform; the first uniform is in (0, 1].
  float first =
      (static_cast<float>(bits >> 40) + 1.0f) * 5.9604644775390625e-8f;
  float second =
      static_cast<float>((bits >> 8) & 0xffffffu) * 5.9604644775390625e-8f;
  float normal = sqrtf(-2.0f * logf(first)) * cosf(6.2831853f * second);
  if (fill.values == Values::HiddenRows && index / fill.row % 2 == 0)
    return -HUGE_VAL;
  return applySign(static_cast<double>(normal) * fill.scale, fill, index);
}

/// The contribution of one element to a checksum.
FACT_HOST_DEVICE inline uint64_t
elementChecksum(const void *data, ElementType type, uint64_t index) {
  uint64_t bits = elementBits(data, type, index);
  if (isFloat(type) && isNan(loadElement(data, type, index)))
    bits = ~0ull;
  return mixBits(bits ^ mixBits(index));
}

/// The comparison of one thread; `firstBad` keeps the smallest position.
struct PartialComparison {
  uint64_t undecided = 0, referenceNotFinite = 0, otherClass = 0, beyond = 0;
  uint64_t firstBad = ~0ull;
  double errorSquares = 0, referenceSquares = 0, worstElement = 0;
};

/// Whether a non-finite value is right: NaN for NaN, an infinity for itself or
/// for a value that may round beyond the largest finite one.
FACT_HOST_DEVICE inline bool isSameClass(double found, double expected,
                                         double slack, ElementType type) {
  if (isNan(found) || isNan(expected))
    return isNan(found) && isNan(expected);
  if ((found > 0) != (expected > 0))
    return false;
  if (isInfinite(expected))
    return isInfinite(found);
  return fabs(expected) + slack >= overflowThreshold(type);
}

/// How far rounding alone may move an element; infinite where rounding decides.
FACT_HOST_DEVICE inline double doubtAt(const float *doubt, uint64_t index) {
  return doubt ? static_cast<double>(doubt[index]) : 0;
}

FACT_HOST_DEVICE inline void
compareElement(const void *result, ElementType resultType,
               const void *reference, ElementType referenceType,
               const float *doubt, uint64_t index, const Tolerance &tolerance,
               double scale, PartialComparison &partial) {
  if (tolerance.spare.contain(index)) {
    ++partial.referenceNotFinite;
    return;
  }
  double doubted = doubtAt(doubt, index);
  if (isInfinite(doubted)) {
    ++partial.undecided;
    return;
  }
  double expected = loadElement(reference, referenceType, index);
  double found = loadElement(result, resultType, index);
  bool bad = false;
  if (!isFloat(resultType)) {
    double difference = found - expected;
    partial.errorSquares += difference * difference;
    partial.referenceSquares += expected * expected;
    // By their bits: a double has not all values of 64 bits.
    bad = elementBits(result, resultType, index) !=
          elementBits(reference, resultType, index);
    if (bad)
      partial.worstElement = 1;
    partial.beyond += bad;
  } else {
    double unit = fabs(expected) + scale;
    // Tolerances are for what rounding does to well-conditioned values.
    if (doubted <= tolerance.norm * unit)
      doubted = 0;
    partial.referenceNotFinite += !isFinite(expected);
    if (!isFinite(expected) || !isFinite(found)) {
      bad = !isSameClass(found, expected, tolerance.element * unit + doubted,
                         resultType);
      partial.otherClass += bad;
    } else {
      double error = fabs(found - expected);
      error = error > doubted ? error - doubted : 0;
      if (error < smallestPositive(resultType))
        error = 0;
      partial.errorSquares += error * error;
      partial.referenceSquares += expected * expected;
      double ratio = error > 0 ? (unit > 0 ? error / unit : 1e300) : 0;
      if (ratio > partial.worstElement)
        partial.worstElement = ratio;
      bad = ratio > tolerance.element;
      partial.beyond += bad;
    }
  }
  if (bad && index < partial.firstBad)
    partial.firstBad = index;
}

} // namespace detail
} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_MEASURE_H
