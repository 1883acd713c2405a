//===- Scans.h - Scans, sorts and scatters ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread computes one row, element by element. `X::at(v, row, i)` is
// element i of a row, `Place::at(row, i)` its index in the result.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_SCANS_H
#define FACT_REFERENCE_SCANS_H

#include "Rows.h"

namespace fact {
namespace reference {

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Folds that return what they have added so far, as an element.
template <class Format> struct RunningSum : Sum {
  template <class E> FACT_FUNCTION E get(int64_t count) const {
    return Make<E>::of(Format::range(value),
                       error + growth_of<Format>(count) * magnitude, undecided);
  }
};

template <class Format> struct RunningProduct : Product {
  template <class E> FACT_FUNCTION E get(int64_t count) const {
    double error = largest - math::fabs(value) +
                   2 * Format::unit * static_cast<double>(count) * largest;
    return Make<E>::of(Format::range(value), error, undecided);
  }
};

/// IntegerSum or IntegerProduct.
template <class Fold> struct RunningInteger : Fold {
  template <class E> FACT_FUNCTION E get(int64_t) const {
    return Make<E>::of(static_cast<decltype(value_of(E()))>(this->value), 0,
                       this->undecided);
  }
};

template <class T, class Better> struct RunningExtreme {
  ExtremeOf<T, Better> extreme;
  int64_t count = 0;
  template <class E> FACT_FUNCTION void add(E x) {
    extreme.add(Placed<E>{x, count++});
  }
  template <class E> FACT_FUNCTION E get(int64_t) const {
    return Make<E>::of(extreme.value, extreme.worst, extreme.undecided);
  }
};

/// log(sum(exp(x))) as the largest element and a sum of exponentials of
/// distances from it.
template <class Format> struct RunningLogSumExp {
  double largest = -infinity(), sum = 0, worst = 0, reach = 0;
  uint64_t undecided = 0;
  template <class E> FACT_FUNCTION void add(E element) {
    double x = value_of(element);
    worst = larger(worst, error_of(element));
    undecided |= is_undecided(element);
    if (x != x || largest != largest) {
      largest = not_a_number();
    } else if (x > largest) {
      sum = sum * math::exp(largest - x) + 1;
      largest = x;
    } else if (is_finite(largest)) {
      sum += math::exp(x - largest);
    }
  }
  template <class E> FACT_FUNCTION E get(int64_t count) {
    double value = is_finite(largest) ? largest + math::log(sum) : largest;
    if (is_finite(value))
      reach = larger(reach, math::fabs(value));
    double error = worst + growth_of<Format>(count) * (1 + reach);
    return Make<E>::of(Format::range(value), error, undecided);
  }
};

template <class X, class Place, class Values, class E, class Fold> struct Scan {
  Values v;
  E *out;
  int64_t size;
  FACT_FUNCTION void operator()(int64_t row) const {
    Fold fold;
    for (int64_t i = 0; i < size; ++i) {
      fold.add(X::at(v, row, i));
      out[Place::at(row, i)] = fold.template get<E>(i + 1);
    }
  }
};

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// The places of the first `count` elements of each row in sorted order, by a
/// heap of them, in which the last one is on top.
template <class X, class Place, class Values, class From, class E,
          bool Descending>
struct Argsort {
  Values v;
  E *out;
  int64_t size, count;

  /// Whether element i of a row comes before element j. NaN is the largest;
  /// equal elements keep their order.
  FACT_FUNCTION bool precedes(int64_t row, int64_t i, int64_t j) const {
    auto x = value_of(X::at(v, row, i)), y = value_of(X::at(v, row, j));
    if (x != x || y != y) {
      if (x != x && y != y)
        return i < j;
      return Descending ? x != x : y != y;
    }
    if (x == y)
      return i < j;
    return Descending ? x > y : x < y;
  }
  FACT_FUNCTION int64_t get(int64_t row, int64_t slot) const {
    return value_of(out[Place::at(row, slot)]);
  }
  FACT_FUNCTION void set(int64_t row, int64_t slot, int64_t place) const {
    out[Place::at(row, slot)] = Make<E>::of(place);
  }

  /// Moves the element of a slot down, in a heap of `length` elements.
  FACT_FUNCTION void sift(int64_t row, int64_t slot, int64_t length) const {
    int64_t place = get(row, slot);
    for (int64_t child; (child = 2 * slot + 1) < length; slot = child) {
      if (child + 1 < length &&
          precedes(row, get(row, child), get(row, child + 1)))
        ++child;
      if (precedes(row, get(row, child), place))
        break;
      set(row, slot, get(row, child));
    }
    set(row, slot, place);
  }

  FACT_FUNCTION void operator()(int64_t row) const {
    for (int64_t i = 0; i < count; ++i)
      set(row, i, i);
    for (int64_t slot = count / 2; slot-- > 0;)
      sift(row, slot, count);
    // The first of the elements that are not among the results.
    int64_t next = -1;
    for (int64_t i = count; i < size; ++i) {
      int64_t left = i;
      if (precedes(row, i, get(row, 0))) {
        left = get(row, 0);
        set(row, 0, i);
        sift(row, 0, count);
      }
      if (next < 0 || precedes(row, left, next))
        next = left;
    }
    for (int64_t last = count; last-- > 1;) {
      int64_t place = get(row, 0);
      set(row, 0, get(row, last));
      set(row, last, place);
      sift(row, 0, last);
    }
    if constexpr (!IsSame<E, i64>::value)
      mark(row, next);
  }

  /// Marks places whose element rounding may exchange with a neighbor.
  FACT_FUNCTION void mark(int64_t row, int64_t next) const {
    double worst = 0;
    bool undecided = false;
    for (int64_t i = 0; i < size; ++i) {
      From x = X::at(v, row, i);
      worst = larger(worst, error_of(x));
      undecided |= is_undecided(x);
    }
    auto is_close = [&](int64_t i, int64_t j) {
      double x = static_cast<double>(value_of(X::at(v, row, i)));
      double y = static_cast<double>(value_of(X::at(v, row, j)));
      return worst > 0 && math::fabs(x - y) <= 2 * worst;
    };
    bool was_close = false;
    for (int64_t p = 0; p < count; ++p) {
      int64_t after = p + 1 < count ? get(row, p + 1) : next;
      bool close = after >= 0 && is_close(get(row, p), after);
      out[Place::at(row, p)] =
          Make<E>::of(get(row, p), 0, undecided || close || was_close);
      was_close = close;
    }
  }
};

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Combines `out`, which is [before, size, after] and holds the source, with
/// updates [before, count, after] in their order. Computes one column.
template <class Indices, class Updates, class Combine, class Values, class E>
struct Scatter {
  Values v;
  E *out;
  int64_t size, count, after;
  FACT_FUNCTION void operator()(int64_t column) const {
    int64_t before = column / after, last = column % after;
    bool undecided = false;
    for (int64_t update = 0; update < count; ++update) {
      auto place = Indices::at(v, update);
      int64_t index = value_of(place);
      undecided |= is_undecided(place);
      if (index < 0 || index >= size)
        continue;
      E &element = out[(before * size + index) * after + last];
      element = Combine::of(
          element, Updates::at(v, (before * count + update) * after + last));
    }
    // An update may belong to any other row.
    for (int64_t i = 0; undecided && i < size; ++i) {
      E &element = out[(before * size + i) * after + last];
      element = Make<E>::of(value_of(element), error_of(element), true);
    }
  }
};

} // namespace reference
} // namespace fact

#endif // FACT_REFERENCE_SCANS_H
