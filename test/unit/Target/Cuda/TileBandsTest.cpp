//===- TileBandsTest.cpp - Tiles of products of banded matrices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels/TileBands.cuh"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace fact;

namespace {
bool isInside(const TileBand &band, int row, int column) {
  return band.lower <= column - row && column - row <= band.upper;
}

/// Bands of small matrices, with bounds on either side, on both or on none.
TileBands makeBands(std::mt19937 &random, TileExtents &tile) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  auto pickBand = [&] {
    TileBand band;
    if (pick(0, 1))
      band.lower = pick(-20, 20);
    if (pick(0, 1))
      band.upper = std::max(pick(-20, 20), band.lower);
    return band;
  };
  TileBands bands;
  bands.a = pickBand();
  bands.b = pickBand();
  bands.d = pickBand();
  tile.m = pick(1, 6);
  tile.n = pick(1, 6);
  tile.k = pick(1, 5);
  bands.rows = pick(1, 5);
  bands.columns = pick(1, 5);
  bands.k = pick(1, 24);
  return bands;
}

/// Whether the steps of a tile have all products that are not 0 and are used.
bool hasAllProducts(const TileBands &bands, TileExtents tile, int row,
                    int column) {
  TileSteps steps = bands.get_steps(tile, {row, column});
  int begin = steps.begin * tile.k;
  int end = begin + steps.count * tile.k;
  for (int i = row * tile.m; i < (row + 1) * tile.m; ++i)
    for (int j = column * tile.n; j < (column + 1) * tile.n; ++j)
      for (int k = 0; k < bands.k; ++k)
        if (isInside(bands.d, i, j) && isInside(bands.a, i, k) &&
            isInside(bands.b, k, j) && (k < begin || k >= end))
          return false;
  return true;
}
} // namespace

TEST(TileBands, StepsHaveAllProducts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    TileExtents tile;
    TileBands bands = makeBands(random, tile);
    for (int row = 0; row < bands.rows; ++row)
      for (int column = 0; column < bands.columns; ++column) {
        TileSteps steps = bands.get_steps(tile, {row, column});
        int k_tiles = (bands.k + tile.k - 1) / tile.k;
        ASSERT_GE(steps.begin, 0);
        ASSERT_GE(steps.count, 1);
        ASSERT_LE(steps.begin + steps.count, k_tiles);
        ASSERT_TRUE(hasAllProducts(bands, tile, row, column))
            << "trial " << trial;
      }
  }
}

TEST(TileBands, EachTileHasOnePlace) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    TileExtents tile;
    TileBands bands = makeBands(random, tile);
    bands.mirrored = trial % 2;
    std::set<std::pair<int, int>> found;
    TileCursor cursor;
    for (int i = 0; i < bands.count_tiles(tile); ++i) {
      TilePlace place = bands.get_place(tile, i, cursor);
      ASSERT_TRUE(place.row >= 0 && place.row < bands.rows);
      ASSERT_TRUE(place.column >= 0 && place.column < bands.columns);
      ASSERT_TRUE(found.insert({place.row, place.column}).second);
    }
    // A mirrored product leaves out what its band does not reach, a masked one
    // nothing.
    for (int row = 0; row < bands.rows; ++row)
      for (int column = 0; column < bands.columns; ++column) {
        bool isNeeded = !bands.mirrored;
        for (int i = 0; i < tile.m; ++i)
          for (int j = 0; j < tile.n; ++j)
            isNeeded |=
                isInside(bands.d, row * tile.m + i, column * tile.n + j);
        ASSERT_EQ(found.count({row, column}), isNeeded) << "trial " << trial;
      }
  }
}

TEST(TileBands, HalfOfATriangleIsLeftOut) {
  TileBands bands;
  bands.a.upper = 0;
  TileExtents tile{128, 128, 64};
  bands.set_problem(tile, 4096, 4096, 4096);
  TileCursor cursor;
  int steps = 0, last = 64;
  for (int i = 0; i < bands.count_tiles(tile); ++i) {
    TilePlace place = bands.get_place(tile, i, cursor);
    int count = bands.get_steps(tile, place).count;
    EXPECT_EQ(count, 2 * (place.row + 1));
    EXPECT_LE(count, last) << "the long tiles come first";
    last = count;
    steps += count;
  }
  EXPECT_EQ(steps, 32 * 32 * 33);
}
