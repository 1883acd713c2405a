//===- ElementSetTest.cpp - Sets against lists of positions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/ElementSet.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace fact;

static void list(int64_t position, llvm::ArrayRef<Run> runs,
                 std::set<int64_t> &positions) {
  if (runs.empty()) {
    EXPECT_TRUE(positions.insert(position).second) << position << " is twice";
    return;
  }
  for (int64_t i = 0; i < runs.front().count; ++i)
    list(position + i * runs.front().stride, runs.drop_front(), positions);
}

static std::set<int64_t> list(const ElementSet &set) {
  std::set<int64_t> positions;
  list(set.offset, set.runs, positions);
  return positions;
}

/// A slice of each dimension, as a random part of a tensor.
static ElementSet takePart(std::mt19937 &random,
                           llvm::ArrayRef<int64_t> shape) {
  Box box;
  for (int64_t size : shape) {
    int64_t step = 1 + random() % 3, first = random() % size;
    int64_t count = 1 + random() % ((size - 1 - first) / step + 1);
    box.push_back({first, {Run{count, step}}});
  }
  return flatten(box, shape);
}

TEST(ElementSet, BoxesOfAnotherShapeAreTheSameElements) {
  std::mt19937 random(7);
  const std::vector<std::vector<int64_t>> shapes = {
      {24}, {4, 6}, {6, 4}, {2, 3, 4}, {2, 2, 3, 2}, {1, 8, 1, 3}, {3, 8}};
  for (int i = 0; i < 4000; ++i) {
    const auto &from = shapes[random() % shapes.size()];
    const auto &to = shapes[random() % shapes.size()];
    ElementSet set = takePart(random, from);
    std::set<int64_t> found;
    forEachBox(set, to, [&](const Box &box) {
      for (size_t dim = 0; dim < to.size(); ++dim) {
        EXPECT_GE(box[dim].first, 0);
        EXPECT_LT(box[dim].last(), to[dim]);
      }
      for (int64_t position : list(flatten(box, to)))
        EXPECT_TRUE(found.insert(position).second) << position << " is twice";
    });
    EXPECT_EQ(found, list(set));
  }
}

TEST(ElementSet, UnionsCountNothingTwice) {
  std::mt19937 random(11);
  const std::vector<std::vector<int64_t>> shapes = {{24}, {4, 6}, {2, 3, 4}};
  int exact = 0, tried = 2000;
  for (int i = 0; i < tried; ++i) {
    ElementSets sets;
    std::set<int64_t> all;
    for (int part = 0; part < 3; ++part) {
      ElementSet set = takePart(random, shapes[random() % shapes.size()]);
      all.merge(list(set));
      sets.add(set);
    }
    std::set<int64_t> found;
    for (const ElementSet &set : sets.getSets())
      for (int64_t position : list(set)) {
        EXPECT_TRUE(found.insert(position).second) << position << " is twice";
        EXPECT_TRUE(all.count(position)) << position << " is in no part";
      }
    EXPECT_EQ(sets.count(), double(found.size()));
    exact += found == all;
  }
  EXPECT_GT(exact, tried / 4);
}

TEST(ElementSet, SlicesThatMeetAreOne) {
  ElementSets sets;
  // Columns 0..59 and 40..99 of ten rows.
  sets.add(flatten({Coordinates::range(0, 10), Coordinates::range(0, 60)},
                   {10, 100}));
  sets.add(flatten({Coordinates::range(0, 10), Coordinates::range(40, 60)},
                   {10, 100}));
  EXPECT_EQ(sets.count(), 1000);
  ASSERT_EQ(sets.getSets().size(), 1u);
  // Every second element, and the others.
  ElementSets halves;
  halves.add({0, {fact::Run{50, 2}}});
  halves.add({1, {fact::Run{50, 2}}});
  EXPECT_EQ(halves.count(), 100);
}
