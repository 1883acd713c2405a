//===- Contractions.h - Products of matrices and attention ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `A::at(v, batch, row, column)` is an element of an operand; the emitter
// writes its address, with transposes and broadcasts.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_CONTRACTIONS_H
#define FACT_REFERENCE_CONTRACTIONS_H

#include "Rows.h"

namespace fact {
namespace reference {

/// A bound on the error of a sum of products, by the sums of their magnitudes
/// and of their squares.
template <class Format>
FACT_FUNCTION double error_of_sum(int64_t count, double, double magnitude,
                                  double) {
  return growth_of<Format>(count) * magnitude;
}
/// Magnitudes add up to about sqrt(count) times the sum of random products, so
/// that kernels of TF32, whose errors are 2^-12 of the root of the squares,
/// would be within the bound. Partial sums, whose rounding is the error, are as
/// large as that root, or as the sum.
template <>
FACT_FUNCTION double error_of_sum<StrictF32>(int64_t count, double sum,
                                             double magnitude, double squares) {
  double reach = math::fabs(sum) + 4 * math::sqrt(squares);
  double growth = growth_of<F32>(count);
  return (growth < 0x1p-15 ? growth : 0x1p-15) *
         (reach < magnitude ? reach : magnitude);
}

/// A sum of products.
template <class E> struct Dot;
template <> struct Dot<double> {
  double sum = 0;
  FACT_FUNCTION void add(double x, double y) { sum += x * y; }
  FACT_FUNCTION void merge(const Dot &other) { sum += other.sum; }
  template <class Format> FACT_FUNCTION double total(int64_t) const {
    return Format::range(sum);
  }
};
template <> struct Dot<Tracked<double>> {
  double sum = 0, magnitude = 0, squares = 0, error = 0;
  bool undecided = false;
  FACT_FUNCTION void add(Tracked<double> x, Tracked<double> y) {
    double product = x.value * y.value;
    sum += product;
    magnitude += math::fabs(product);
    squares += product * product;
    error += math::fabs(x.value) * error_of(y) +
             error_of(x) * (math::fabs(y.value) + error_of(y));
    undecided = undecided || x.undecided || y.undecided;
  }
  FACT_FUNCTION void merge(const Dot &other) {
    sum += other.sum;
    magnitude += other.magnitude;
    squares += other.squares;
    error += other.error;
    undecided = undecided || other.undecided;
  }
  template <class Format>
  FACT_FUNCTION Tracked<double> total(int64_t count) const {
    return Make<Tracked<double>>::of(
        Format::range(sum),
        error + error_of_sum<Format>(count, sum, magnitude, squares),
        undecided);
  }
};

struct MatmulSize {
  int64_t batches, m, n, k;
};

/// Two factors, for Dot.
template <class E> struct Factors {
  E x, y;
};
template <class E> struct DotOfFactors : Dot<E> {
  FACT_FUNCTION void add(const Factors<E> &term) {
    Dot<E>::add(term.x, term.y);
  }
};

/// One element of a product, by a team.
template <class A, class B, class Format, class Values, class E>
struct MatmulElement {
  Values v;
  E *out;
  MatmulSize size;
  FACT_FUNCTION void operator()(int64_t i) const {
    int64_t batch = i / size.n / size.m, row = i / size.n % size.m;
    int64_t column = i % size.n;
    auto dot = Team::fold(size.k, DotOfFactors<E>(), [&](int64_t k) {
      return Factors<E>{A::at(v, batch, row, k), B::at(v, batch, k, column)};
    });
    if (Team::first() == 0)
      out[i] = dot.template total<Format>(size.k);
  }
};

#ifdef __CUDACC__
/// A block of 16 x 16 threads computes 64 x 64 elements, 4 x 4 per thread.
/// `AlongK` says whether an operand is contiguous along k.
template <class A, class B, bool AlongKOfA, bool AlongKOfB, class Format,
          class Values, class E>
__global__ void matmul_kernel(Values v, E *out, MatmulSize size,
                              int64_t first) {
  __shared__ uint64_t memory[2 * 16 * 65 * sizeof(E) / sizeof(uint64_t)];
  E(*a_tile)[65] = reinterpret_cast<E(*)[65]>(memory);
  E(*b_tile)[65] = a_tile + 16;
  int64_t row_tiles = (size.m + 63) / 64;
  int64_t tile = first + blockIdx.x;
  int64_t row = tile % row_tiles * 64;
  int64_t batch = tile / row_tiles % size.batches;
  int64_t column = tile / row_tiles / size.batches * 64;
  int thread = threadIdx.y * 16 + threadIdx.x;
  Dot<E> dots[4][4];
  for (int64_t k0 = 0; k0 < size.k; k0 += 16) {
    for (int e = thread; e < 64 * 16; e += 256) {
      int64_t i = AlongKOfA ? e / 16 : e % 64, k = AlongKOfA ? e % 16 : e / 64;
      a_tile[k][i] = row + i < size.m && k0 + k < size.k
                         ? A::at(v, batch, row + i, k0 + k)
                         : Make<E>::of(0);
      i = AlongKOfB ? e / 16 : e % 64;
      k = AlongKOfB ? e % 16 : e / 64;
      b_tile[k][i] = column + i < size.n && k0 + k < size.k
                         ? B::at(v, batch, k0 + k, column + i)
                         : Make<E>::of(0);
    }
    __syncthreads();
    int count = size.k - k0 < 16 ? int(size.k - k0) : 16;
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          dots[i][j].add(a_tile[k][threadIdx.y * 4 + i],
                         b_tile[k][threadIdx.x + 16 * j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int64_t r = row + threadIdx.y * 4 + i, c = column + threadIdx.x + 16 * j;
      if (r < size.m && c < size.n)
        out[(batch * size.m + r) * size.n + c] =
            dots[i][j].template total<Format>(size.k);
    }
}
#endif

/// out[batch][i][j] = sum over k of a[batch][i][k] b[batch][k][j].
template <class A, class B, bool AlongKOfA, bool AlongKOfB, class Format,
          class Values, class E>
void matmul(const Values &v, E *out, MatmulSize size, Stream stream) {
  if (size.batches * size.m * size.n == 0)
    return;
#ifdef __CUDACC__
  // Few long sums: tiles would leave most of the device idle, for seconds.
  int64_t elements = size.batches * size.m * size.n;
  if (elements <= 64 * 64 && size.k >= 4096) {
    for_rows(MatmulElement<A, B, Format, Values, E>{v, out, size}, 0, elements,
             stream);
    return;
  }
  int64_t tiles = (size.m + 63) / 64 * ((size.n + 63) / 64) * size.batches;
  for_grids(tiles, [&](int64_t first, unsigned blocks) {
    matmul_kernel<A, B, AlongKOfA, AlongKOfB, Format>
        <<<blocks, dim3(16, 16), 0, stream>>>(v, out, size, first);
  });
#else
  (void)stream;
  for (int64_t batch = 0; batch < size.batches; ++batch)
    for (int64_t i = 0; i < size.m; ++i)
      for (int64_t j0 = 0; j0 < size.n; j0 += 8) {
        Dot<E> dots[8];
        int64_t count = size.n - j0 < 8 ? size.n - j0 : 8;
        for (int64_t k = 0; k < size.k; ++k) {
          E a = A::at(v, batch, i, k);
          for (int64_t j = 0; j < count; ++j)
            dots[j].add(a, B::at(v, batch, k, j0 + j));
        }
        for (int64_t j = 0; j < count; ++j)
          *out++ = dots[j].template total<Format>(size.k);
      }
#endif
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct AttentionSize {
  int64_t batches, heads, key_heads, queries, keys, head, value_head;
  double scale;
  bool causal;
  /// The relative error of rounding the probabilities to the operands' type.
  double rounding;
};

/// Queries of a head that a team computes together, so that a device loads keys
/// and values once for all of them; and queries whose scores are kept at a
/// time.
#ifdef __CUDACC__
constexpr int attention_group = 8;
constexpr int64_t attention_rows = 2048;
#else
constexpr int attention_group = 1;
constexpr int64_t attention_rows = 1;
#endif

/// A group of queries: their scores, the softmax of these, and the sums of
/// values. The result of a query that sees no key is 0. The value of a hidden
/// key is not added: where it is NaN or infinite, candidates that multiply it
/// by 0 differ from those that skip it, and the result is undecided.
template <class Q, class K, class V, class Mask, class Format, class Values,
          class E>
struct Attention {
  Values v;
  E *out;
  E *scores;
  AttentionSize size;
  int64_t first;

  static constexpr int group = attention_group;

  /// What is known of a query after its softmax.
  struct Softmax {
    double sum, shift;
    bool empty, undecided;
  };
  /// A sum of weighted values.
  struct Total {
    double value = 0, magnitude = 0, error = 0;
    bool undecided = false;
  };

  /// Groups of one head.
  FACT_FUNCTION int64_t groups() const {
    return (size.queries + group - 1) / group;
  }
  FACT_FUNCTION int64_t seen(int64_t query) const {
    return size.causal && query + 1 < size.keys ? query + 1 : size.keys;
  }

  FACT_FUNCTION E score_of(const Dot<E> &dot, E mask) const {
    E product = dot.template total<Format>(size.head);
    double value = value_of(product) * size.scale + value_of(mask);
    double error = error_of(product) * math::fabs(size.scale) + error_of(mask) +
                   4 * Format::unit * math::fabs(value);
    return Make<E>::of(Format::range(value), is_finite(error) ? error : 0,
                       is_undecided(product) || is_undecided(mask));
  }

  /// Turns the scores of a query into weights.
  FACT_FUNCTION Softmax soften(E *score, int64_t count) const {
    using Largest = ExtremeOf<double, op::Greater>;
    Largest largest = Team::fold(count, Largest(), [&](int64_t key) {
      return Placed<E>{score[key], key};
    });
    bool empty = count == 0 || largest.value == -infinity();
    double base = empty ? 0 : largest.value;
    Team::each(count, [&](int64_t key) {
      score[key] = Make<E>::of(math::exp(value_of(score[key]) - base));
    });
    Sum sum = Team::fold(count, Sum(),
                         [&](int64_t key) { return value_of(score[key]); });
    double shift = math::expm1(2 * largest.worst) + growth_of<Format>(count) +
                   2 * Format::unit * math::fabs(base) + 2 * size.rounding;
    return {sum.value, shift, empty, largest.undecided != 0};
  }

  FACT_FUNCTION static void add(Total &total, double weight, E value) {
    if (weight < 0x1p-100) {
      total.undecided = total.undecided || !is_finite(value_of(value));
      return;
    }
    total.value += weight * value_of(value);
    total.magnitude += weight * math::fabs(value_of(value));
    total.error += weight * error_of(value);
    total.undecided = total.undecided || is_undecided(value);
  }

  FACT_FUNCTION void operator()(int64_t index) const {
    int64_t query = index % groups() * group,
            head = index / groups() % size.heads,
            batch = index / groups() / size.heads;
    int64_t key_head = head / (size.heads / size.key_heads);
    int64_t rest = size.queries - query;
    int count = rest < group ? static_cast<int>(rest) : group;
    E *score = scores + (index - first) * group * size.keys;
    Team::each(seen(query + count - 1), [&](int64_t key) {
      Dot<E> dots[group];
      for (int64_t i = 0; i < size.head; ++i) {
        E factor = K::at(v, batch, key_head, key, i);
        for (int j = 0; j < group; ++j)
          if (j < count)
            dots[j].add(Q::at(v, batch, head, query + j, i), factor);
      }
      for (int j = 0; j < group; ++j)
        if (j < count && key < seen(query + j))
          score[j * size.keys + key] =
              score_of(dots[j], Mask::at(v, batch, head, query + j, key));
    });
    Softmax softmax[group];
    for (int j = 0; j < group; ++j)
      if (j < count)
        softmax[j] = soften(score + j * size.keys, seen(query + j));
    int64_t row = (batch * size.heads + head) * size.queries + query;
    Team::each(size.value_head, [&](int64_t column) {
      Total totals[group];
      for (int64_t key = 0; key < size.keys; ++key) {
        E value = V::at(v, batch, key_head, key, column);
        for (int j = 0; j < group; ++j)
          if (j < count) {
            bool hidden = key >= seen(query + j);
            add(totals[j], hidden ? 0 : value_of(score[j * size.keys + key]),
                value);
          }
      }
      for (int j = 0; j < group; ++j)
        if (j < count)
          out[(row + j) * size.value_head + column] =
              result_of(totals[j], softmax[j]);
    });
  }

  FACT_FUNCTION static E result_of(const Total &total, const Softmax &softmax) {
    double value = softmax.empty ? 0 : total.value / softmax.sum;
    double error =
        (total.error + total.magnitude * softmax.shift) / softmax.sum;
    return Make<E>::of(Format::range(value), is_finite(error) ? error : 0,
                       softmax.undecided || total.undecided);
  }
};

template <class Q, class K, class V, class Mask, class Format, class Values,
          class E>
void attention(const Values &v, E *out, E *scores, AttentionSize size,
               Stream stream) {
  using Groups = Attention<Q, K, V, Mask, Format, Values, E>;
  Groups groups{v, out, scores, size, 0};
  int64_t all = size.batches * size.heads * groups.groups();
  constexpr int64_t most = attention_rows / attention_group;
  for (int64_t first = 0; first < all; first += most) {
    groups.first = first;
    for_rows(groups, first, all - first < most ? all - first : most, stream);
  }
}

} // namespace reference
} // namespace fact

#endif // FACT_REFERENCE_CONTRACTIONS_H
