//===- Measure.h - What the tuning worker asks of a device ------*- C++ -*-===//
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
  /// Uniform in [low, high): integers for integer types, reals otherwise.
  bool uniform = false;
  double low = 0;
  double high = 0;
  /// Normal times `scale`, for everything else; booleans are fair coins.
  double scale = 1;
};

/// |out - ref| <= norm * |ref| over the result, and for each element
/// |out - ref| <= element * (|ref| + rms(ref)). An error below the smallest
/// positive number of the result's type is none. Integers and booleans are
/// equal except for a share of `mismatch`.
struct Tolerance {
  double norm = 0;
  double element = 0;
  double mismatch = 0;
};

struct Comparison {
  uint64_t elements = 0;
  /// Elements whose reference is NaN or infinite: not compared.
  uint64_t referenceNotFinite = 0;
  /// NaN (which is also what an unwritten element is), or infinite without
  /// being an overflow of the result type.
  uint64_t notFinite = 0;
  /// Beyond the element tolerance; for integers, different.
  uint64_t beyond = 0;
  /// A position that is not finite or beyond, -1 when there is none.
  int64_t firstBad = -1;
  double errorSquares = 0;
  double referenceSquares = 0;
  /// The largest |out - ref| / (|ref| + rms(ref)).
  double worstElement = 0;

  double normError() const {
    if (errorSquares == 0)
      return 0;
    return referenceSquares > 0 ? std::sqrt(errorSquares / referenceSquares)
                                : HUGE_VAL;
  }
};

namespace measure {

bool fill(void *data, ElementType type, uint64_t elements, const Fill &fill,
          uint64_t seed);

bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison);

/// True in `same` when every byte of the range is `byte`.
bool allBytesAre(const void *data, int byte, uint64_t bytes, bool &same);

/// An order-independent checksum, to see that operands stayed as they were.
bool checksum(const void *data, uint64_t bytes, uint64_t &sum);

/// Microseconds of each of `runs` calls of `launch`, the last-level cache
/// emptied before each.
bool time(int runs, const std::function<bool(void *stream)> &launch,
          std::vector<double> &microseconds);

} // namespace measure

//===----------------------------------------------------------------------===//
// What both implementations share
//===----------------------------------------------------------------------===//

namespace detail {

FACT_HOST_DEVICE inline uint64_t mixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// The value of element `index`: a pure function, so that every thread can
/// make its own elements.
FACT_HOST_DEVICE inline double randomElement(ElementType type, const Fill &fill,
                                             uint64_t seed, uint64_t index) {
  uint64_t bits = mixBits(index ^ mixBits(seed));
  if (type == ElementType::I1)
    return static_cast<double>(bits >> 63);
  if (fill.uniform) {
    double unit = static_cast<double>(bits >> 11) * 1.1102230246251565e-16;
    double value = fill.low + unit * (fill.high - fill.low);
    return isFloat(type) ? value : floor(value);
  }
  // Box and Muller; the first uniform is in (0, 1].
  float first = (static_cast<float>(bits >> 40) + 1.0f) * 5.9604644775390625e-8f;
  float second = static_cast<float>((bits >> 8) & 0xffffffu) *
                 5.9604644775390625e-8f;
  float normal = sqrtf(-2.0f * logf(first)) * cosf(6.2831853f * second);
  return static_cast<double>(normal) * fill.scale;
}

/// What one thread has seen; `bad` keeps the smallest position.
struct PartialComparison {
  uint64_t referenceNotFinite = 0, notFinite = 0, beyond = 0;
  uint64_t firstBad = ~0ull;
  double errorSquares = 0, referenceSquares = 0, worstElement = 0;
};

FACT_HOST_DEVICE inline void
compareElement(const void *result, ElementType resultType,
               const void *reference, ElementType referenceType, uint64_t index,
               double elementTolerance, double referenceRms,
               PartialComparison &partial) {
  double expected = loadElement(reference, referenceType, index);
  double found = loadElement(result, resultType, index);
  if (!isFloat(resultType)) {
    bool equal = resultType == ElementType::I64
                     ? static_cast<const int64_t *>(result)[index] ==
                           static_cast<const int64_t *>(reference)[index]
                     : found == expected;
    double difference = found - expected;
    partial.errorSquares += difference * difference;
    partial.referenceSquares += expected * expected;
    if (!equal) {
      ++partial.beyond;
      partial.worstElement = 1;
      if (index < partial.firstBad)
        partial.firstBad = index;
    }
    return;
  }
  if (!isFinite(expected)) {
    ++partial.referenceNotFinite;
    return;
  }
  if (!isFinite(found)) {
    // Half a unit in the last place of the largest value may round either way.
    bool overflow = isInfinite(found) && (found > 0) == (expected > 0) &&
                    fabs(expected) > 0.99 * largestFinite(resultType);
    if (overflow)
      return;
    ++partial.notFinite;
    if (index < partial.firstBad)
      partial.firstBad = index;
    return;
  }
  double error = fabs(found - expected);
  if (error < smallestPositive(resultType))
    error = 0;
  double unit = fabs(expected) + referenceRms;
  partial.errorSquares += error * error;
  partial.referenceSquares += expected * expected;
  if (error > 0) {
    double ratio = unit > 0 ? error / unit : 1e300;
    if (ratio > partial.worstElement)
      partial.worstElement = ratio;
  }
  if (error > elementTolerance * unit) {
    ++partial.beyond;
    if (index < partial.firstBad)
      partial.firstBad = index;
  }
}

} // namespace detail
} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_MEASURE_H
