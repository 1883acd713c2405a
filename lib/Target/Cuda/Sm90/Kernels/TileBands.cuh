//===- TileBands.cuh - Tiles of a product of banded matrices ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps along K that a tile of a product needs if its factors are 0 outside
// of a band, or if only a band of the product is used, and an order of the
// tiles that begins with the long ones. Plain C++: the kernels follow it, and
// the compiler's predictions count by it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_TILEBANDS_CUH
#define FACT_CUTLASS_TILEBANDS_CUH

#ifdef __CUDACC__
#define FACT_ANYWHERE __host__ __device__ __forceinline__
#else
#define FACT_ANYWHERE inline
#endif

namespace fact {

/// The elements [i, j] of a matrix with `lower <= j - i <= upper`.
struct TileBand {
  /// No bound. Sums of it and of any extent are numbers of 32 bits.
  static constexpr int none = 1 << 29;
  int lower = -none, upper = none;

  FACT_ANYWHERE bool is_bounded() const {
    return lower > -none || upper < none;
  }
};

/// The extents of a cluster's tile. Kernels know them when they are compiled:
/// dividing by other numbers takes longer than a step.
struct TileExtents {
  int m, n, k;
};
template <int M, int N, int K> struct StaticTileExtents {
  static constexpr int m = M, n = N, k = K;
};

/// A tile of a cluster; or the steps along K of one.
struct TilePlace {
  int row, column;
};
struct TileSteps {
  int begin, count;
};

/// Where the search for a tile goes on: positions only grow.
struct TileCursor {
  int column = 0, begin = 0;
  bool is_rest = false;
};

/// The position of a cluster's tile of a wave. Tiles get shorter, so every
/// other wave runs backwards: what took a long tile takes a short one next.
FACT_ANYWHERE unsigned get_tile_position(unsigned wave, unsigned cluster,
                                         unsigned clusters) {
  return wave * clusters + (wave % 2 ? clusters - 1 - cluster : cluster);
}

struct TileBands {
  /// The bands of A[M, K] and B[K, N] outside of which they are 0, and the part
  /// of D[M, N] that is used.
  TileBand a, b, d;
  /// D equals its transpose: tiles outside of its band are not computed, and
  /// the others are stored twice.
  bool mirrored = false;
  /// The number of tiles, and K.
  int rows = 1, columns = 1, k = 1;

  template <class Tile>
  FACT_ANYWHERE void set_problem(Tile tile, int m, int n, int depth) {
    rows = (m + tile.m - 1) / tile.m;
    columns = (n + tile.n - 1) / tile.n;
    k = depth;
  }

  /// Rounds down.
  FACT_ANYWHERE static int divide(int value, int unit) {
    return value >= 0 ? value / unit : -((unit - 1 - value) / unit);
  }
  FACT_ANYWHERE static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
  }

  /// The rows [first, end) of a column's tiles that D's band reaches.
  template <class Tile>
  FACT_ANYWHERE int get_first(Tile tile, int column) const {
    return clamp(divide(column * tile.n - d.upper, tile.m), 0, rows);
  }
  template <class Tile> FACT_ANYWHERE int get_end(Tile tile, int column) const {
    int end = divide((column + 1) * tile.n - 1 - d.lower, tile.m) + 1;
    return clamp(end, get_first(tile, column), rows);
  }

  /// The tiles that are computed in each batch.
  template <class Tile> FACT_ANYWHERE int count_tiles(Tile tile) const {
    if (!mirrored)
      return rows * columns;
    int count = 0;
    for (int column = 0; column < columns; ++column)
      count += get_end(tile, column) - get_first(tile, column);
    return count;
  }

  /// The tile at a position of the order, which is none before the cursor's.
  template <class Tile>
  FACT_ANYWHERE TilePlace get_place(Tile tile, int position,
                                    TileCursor &cursor) const {
    bool longer_below = a.upper < TileBand::none;
    // Column by column: what is used, then the rest.
    while (d.is_bounded()) {
      int first = get_first(tile, cursor.column);
      int end = get_end(tile, cursor.column);
      int used = end - first, place = position - cursor.begin;
      int count = cursor.is_rest ? rows - used : used;
      if (place < count && cursor.is_rest)
        return {place < first ? place : place + used, cursor.column};
      if (place < count)
        return {longer_below ? end - 1 - place : first + place, cursor.column};
      cursor.begin += count;
      if (++cursor.column == columns)
        cursor = {0, cursor.begin, true};
    }
    if (a.is_bounded()) {
      int row = position / columns;
      return {longer_below ? rows - 1 - row : row, position % columns};
    }
    int column = position / rows;
    bool longer_behind = b.lower > -TileBand::none;
    return {position % rows, longer_behind ? columns - 1 - column : column};
  }

  /// The steps along K of a tile, at least one: what no factor reaches adds 0,
  /// and what is not used may be anything.
  template <class Tile>
  FACT_ANYWHERE TileSteps get_steps(Tile tile, TilePlace place) const {
    int m = place.row * tile.m, n = place.column * tile.n;
    int low = 0, high = k;
    auto raise = [&](int bound) { low = bound > low ? bound : low; };
    auto lower = [&](int bound) { high = bound < high ? bound : high; };
    raise(m + a.lower);
    raise(n - b.upper);
    lower(m + tile.m + a.upper);
    lower(n + tile.n - b.lower);
    int begin = clamp(low / tile.k, 0, (k - 1) / tile.k);
    bool is_used = place.row >= get_first(tile, place.column) &&
                   place.row < get_end(tile, place.column);
    if (!is_used || high <= low)
      return {begin, 1};
    return {begin, (high + tile.k - 1) / tile.k - begin};
  }
};

} // namespace fact

#endif // FACT_CUTLASS_TILEBANDS_CUH
