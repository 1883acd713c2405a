//===- Rows.h - Reductions, softmax and norms -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `X::at(v, row, i)` is element i of a row; the emitter writes its address.
// `unit` is the relative error of one operation of a candidate: 2^-23, or 2^-52
// for f64. `range` limits a value to the range of the type that a candidate
// computes in.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_ROWS_H
#define FACT_REFERENCE_ROWS_H

#include "Launch.h"
#include "Pointwise.h"

namespace fact {
namespace reference {

struct F32 {
  static constexpr double unit = 0x1p-23;
  FACT_FUNCTION static double range(double x) { return in_range_of_f32(x); }
};
struct F64 {
  static constexpr double unit = 0x1p-52;
  FACT_FUNCTION static double range(double x) { return x; }
};

/// F32, and factors of products may be rounded to TF32.
struct TF32 : F32 {};

/// F32, and factors of products may not be rounded.
struct StrictF32 : F32 {};

/// A bound on the error of a sum, relative to the sum of magnitudes: errors
/// grow like a random walk.
template <class Format> FACT_FUNCTION double growth_of(int64_t count) {
  return Format::unit * (4 + 2 * math::sqrt(static_cast<double>(count)));
}
template <> FACT_FUNCTION double growth_of<TF32>(int64_t count) {
  return growth_of<F32>(count) + 2 * 0x1p-11;
}

//===----------------------------------------------------------------------===//
// Folds over a row
//===----------------------------------------------------------------------===//

/// A sum, the sum of its terms' magnitudes, and that of their errors.
struct Sum {
  double value = 0, magnitude = 0, error = 0;
  uint64_t undecided = 0;
  template <class E> FACT_FUNCTION void add(E x) {
    value += value_of(x);
    if constexpr (!IsSame<E, double>::value) {
      magnitude += math::fabs(value_of(x));
      error += error_of(x);
      undecided |= is_undecided(x);
    }
  }
  FACT_FUNCTION void merge(const Sum &other) {
    value += other.value;
    magnitude += other.magnitude;
    error += other.error;
    undecided |= other.undecided;
  }
};

struct Product {
  double value = 1, largest = 1;
  uint64_t undecided = 0;
  template <class E> FACT_FUNCTION void add(E x) {
    value *= value_of(x);
    largest *= math::fabs(value_of(x)) + error_of(x);
    undecided |= is_undecided(x);
  }
  FACT_FUNCTION void merge(const Product &other) {
    value *= other.value;
    largest *= other.largest;
    undecided |= other.undecided;
  }
};

/// Integers wrap around.
struct IntegerSum {
  uint64_t value = 0, undecided = 0;
  template <class E> FACT_FUNCTION void add(E x) {
    value += static_cast<uint64_t>(value_of(x));
    undecided |= is_undecided(x);
  }
  FACT_FUNCTION void merge(const IntegerSum &other) {
    value += other.value;
    undecided |= other.undecided;
  }
};
struct IntegerProduct {
  uint64_t value = 1, undecided = 0;
  template <class E> FACT_FUNCTION void add(E x) {
    value *= static_cast<uint64_t>(value_of(x));
    undecided |= is_undecided(x);
  }
  FACT_FUNCTION void merge(const IntegerProduct &other) {
    value *= other.value;
    undecided |= other.undecided;
  }
};

/// The extreme element by `Better` (op::Greater or op::Less), the first of
/// equal ones, and how close the others are. NaN is the extreme of both.
template <class T, class Better> struct Extreme {
  T value = 0;
  /// -1 while there is none.
  int64_t place = -1;
  /// The error of the extreme, the largest of all errors, and how far beyond
  /// the extreme another element may lie.
  double error = 0, worst = 0, rival = -infinity();
  uint64_t undecided = 0;

  FACT_FUNCTION static bool is_better(T x, T y) {
    if (x != x || y != y)
      return x != x && y == y;
    return Better::of(x, y);
  }
  FACT_FUNCTION double ahead(const Extreme &other) const {
    double distance =
        static_cast<double>(other.value) - static_cast<double>(value);
    return Better::of(1, 0) ? distance : -distance;
  }
  FACT_FUNCTION void merge(Extreme other) {
    if (other.place < 0)
      return;
    if (place < 0) {
      *this = other;
      return;
    }
    bool wins = is_better(other.value, value) ||
                (!is_better(value, other.value) && other.place < place);
    Extreme winner = wins ? other : *this, loser = wins ? *this : other;
    // Rivals are kept relative to the extreme, so they move with it.
    double shift = winner.ahead(loser);
    winner.rival =
        larger(winner.rival, shift + larger(loser.error, loser.rival));
    winner.worst = larger(winner.worst, loser.worst);
    winner.undecided |= loser.undecided;
    *this = winner;
  }
  FACT_FUNCTION bool is_close() const { return worst > 0 && rival >= -error; }
};

/// An element with its place, for Extreme.
template <class E> struct Placed {
  E element;
  int64_t place;
};
template <class T, class Better> struct ExtremeOf : Extreme<T, Better> {
  template <class E> FACT_FUNCTION void add(Placed<E> x) {
    Extreme<T, Better> one;
    one.value = value_of(x.element);
    one.place = x.place;
    one.error = one.worst = error_of(x.element);
    one.undecided = is_undecided(x.element);
    this->merge(one);
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// out[row] from the elements of a row. E is the element type of both.
template <class X, class Values, class E, class Format, bool IsMean>
struct ReduceSum {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    Sum sum =
        Team::fold(size, Sum(), [&](int64_t i) { return X::at(v, row, i); });
    if (Team::first() != 0)
      return;
    double count = IsMean ? static_cast<double>(size) : 1;
    double value = Format::range(sum.value) / count;
    double error = sum.error + growth_of<Format>(size) * sum.magnitude;
    out[row] = Make<E>::of(value, error / count, sum.undecided);
  }
};

template <class X, class Values, class E, class Format> struct ReduceProduct {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    Product product = Team::fold(size, Product(),
                                 [&](int64_t i) { return X::at(v, row, i); });
    if (Team::first() != 0)
      return;
    double error =
        product.largest - math::fabs(product.value) +
        2 * Format::unit * static_cast<double>(size) * product.largest;
    out[row] =
        Make<E>::of(Format::range(product.value), error, product.undecided);
  }
};

template <class X, class Values, class E, class Fold> struct ReduceIntegers {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    Fold fold =
        Team::fold(size, Fold(), [&](int64_t i) { return X::at(v, row, i); });
    if (Team::first() == 0)
      out[row] =
          Make<E>::of(static_cast<decltype(value_of(out[row]))>(fold.value), 0,
                      fold.undecided);
  }
};

/// The extreme value, or its place.
template <class X, class Values, class From, class E, class Better,
          bool IsPlace>
struct ReduceExtreme {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    using T = decltype(value_of(From()));
    ExtremeOf<T, Better> found =
        Team::fold(size, ExtremeOf<T, Better>(), [&](int64_t i) {
          return Placed<From>{X::at(v, row, i), i};
        });
    if (Team::first() != 0)
      return;
    if constexpr (IsPlace)
      out[row] =
          Make<E>::of(found.place, 0, found.undecided || found.is_close());
    else
      out[row] = Make<E>::of(found.value, found.worst, found.undecided);
  }
};

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

/// out[place] = exp(x - max) / sum over each row; `Place::at(row, i)` is the
/// index of element i of a row.
template <class X, class Place, class Values, class E, class Format>
struct Softmax {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    auto element = [&](int64_t i) { return X::at(v, row, i); };
    ExtremeOf<double, op::Greater> largest =
        Team::fold(size, ExtremeOf<double, op::Greater>(),
                   [&](int64_t i) { return Placed<E>{element(i), i}; });
    Sum sum = Team::fold(size, Sum(), [&](int64_t i) {
      return math::exp(value_of(element(i)) - largest.value);
    });
    double shift = math::expm1(2 * largest.worst);
    Team::each(size, [&](int64_t i) {
      double distance = value_of(element(i)) - largest.value;
      double value = Format::range(math::exp(distance)) / sum.value;
      double error =
          value * (shift + growth_of<Format>(size) +
                   2 * Format::unit *
                       (math::fabs(distance) + math::fabs(largest.value)));
      out[Place::at(row, i)] =
          Make<E>::of(value, is_finite(error) ? error : 0, largest.undecided);
    });
  }
};

/// (x - mean) / sqrt(variance + eps) or x / sqrt(mean(x x) + eps), times
/// weight, plus bias. `Weight` and `Bias` are 1 and 0 where the op has none.
template <class X, class Weight, class Bias, class Values, class E,
          class Format, bool IsLayer>
struct Norm {
  Values v;
  E *out;
  int64_t size;
  double epsilon;
  FACT_FUNCTION void operator()(int64_t row) const {
    auto element = [&](int64_t i) { return X::at(v, row, i); };
    double count = static_cast<double>(size), mean = 0, off = 0;
    uint64_t undecided = 0;
    Sum sum = Team::fold(size, Sum(), element);
    undecided |= sum.undecided;
    if (IsLayer) {
      mean = Format::range(sum.value) / count;
      off = (sum.error + growth_of<Format>(size) * sum.magnitude) / count;
    }
    Sum squares = Team::fold(size, Sum(), [&](int64_t i) {
      double distance = value_of(element(i)) - mean;
      return Make<E>::of(distance * distance, 2 * math::fabs(distance) *
                                                  (error_of(element(i)) + off));
    });
    double variance = Format::range(squares.value) / count + epsilon;
    double deviation = math::sqrt(variance);
    double relative =
        (squares.error + growth_of<Format>(size) * squares.magnitude) / count /
        variance;
    Team::each(size, [&](int64_t i) {
      E x = element(i), weight = Weight::at(v, i), bias = Bias::at(v, i);
      double normal = (value_of(x) - mean) / deviation;
      double error =
          (error_of(x) + off + 2 * Format::unit * math::fabs(value_of(x))) /
              deviation +
          math::fabs(normal) * (relative + 4 * Format::unit);
      double scaled = normal * value_of(weight);
      double value = scaled + value_of(bias);
      error = error * (math::fabs(value_of(weight)) + error_of(weight)) +
              math::fabs(normal) * error_of(weight) + error_of(bias) +
              2 * Format::unit * (math::fabs(scaled) + math::fabs(value));
      out[row * size + i] =
          Make<E>::of(Format::range(value), is_finite(error) ? error : 0,
                      undecided || is_undecided(weight) || is_undecided(bias));
    });
  }
};

} // namespace reference
} // namespace fact

#endif // FACT_REFERENCE_ROWS_H
