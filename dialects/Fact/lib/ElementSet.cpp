//===- ElementSet.cpp - Sets of elements of a tensor ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/ElementSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <optional>

using namespace llvm;
using namespace fact;

/// The maximum number of boxes per set, and of sets per union.
static constexpr size_t limit = 64;

static int64_t countSteps(ArrayRef<Run> runs) {
  int64_t count = 1;
  for (const Run &run : runs)
    count *= run.count;
  return count;
}

/// The distance from the first position to the last.
static int64_t getExtent(ArrayRef<Run> runs) {
  int64_t extent = 0;
  for (const Run &run : runs)
    extent += (run.count - 1) * run.stride;
  return extent;
}

//===----------------------------------------------------------------------===//
// One set
//===----------------------------------------------------------------------===//

ElementSet ElementSet::whole(ArrayRef<int64_t> shape) {
  ElementSet set;
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  set.runs.push_back({count, 1});
  set.normalize();
  return set;
}

int64_t ElementSet::size() const { return countSteps(runs); }
int64_t ElementSet::last() const { return offset + getExtent(runs); }

void ElementSet::normalize() {
  llvm::erase_if(runs, [](const Run &run) { return run.count == 1; });
  llvm::sort(runs,
             [](const Run &a, const Run &b) { return a.stride > b.stride; });
  SmallVector<Run, 4> merged;
  for (const Run &run : runs) {
    if (!merged.empty() && merged.back().stride == run.count * run.stride)
      merged.back() = {merged.back().count * run.count, run.stride};
    else
      merged.push_back(run);
  }
  runs = std::move(merged);
}

Coordinates Coordinates::range(int64_t first, int64_t count) {
  return {first, {Run{count, 1}}};
}

int64_t Coordinates::size() const { return countSteps(runs); }
int64_t Coordinates::last() const { return first + getExtent(runs); }

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
/// Splits one box off a set. The rest of the set becomes further sets.
class BoxTaker {
public:
  BoxTaker(const ElementSet &set, ArrayRef<int64_t> shape)
      : set(set), shape(shape), pending(set.runs.rbegin(), set.runs.rend()) {
    strides.resize(shape.size());
    box.resize(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = stride;
      box[i].first = set.offset / stride % shape[i];
      stride *= shape[i];
    }
  }

  /// Places runs by increasing stride, because the room for a run depends on
  /// the runs inside of it.
  Box take(SmallVectorImpl<ElementSet> &rest) {
    while (!pending.empty()) {
      Run run = pending.front();
      pending.erase(pending.begin());
      int64_t taken = place(run);
      if (taken == run.count)
        continue;
      ElementSet left;
      left.offset = set.offset + taken * run.stride;
      left.runs.append(done.begin(), done.begin() + doneBefore);
      left.runs.push_back({run.count - taken, run.stride});
      left.runs.append(pending.begin() + added, pending.end());
      left.normalize();
      rest.push_back(std::move(left));
    }
    return std::move(box);
  }

private:
  /// Assigns steps of `run` to one dimension. If they fill the dimension more
  /// than once, the multiples become a run of the next outer one. Returns the
  /// number of steps assigned.
  int64_t place(Run run) {
    doneBefore = done.size();
    added = 0;
    size_t dim = shape.size();
    while (dim-- > 0)
      if (shape[dim] != 1 && strides[dim] <= run.stride &&
          run.stride / strides[dim] < shape[dim])
        break;
    // No dimension has room for a step.
    if (dim == size_t(-1) || run.stride % strides[dim] != 0)
      return 1;
    int64_t step = run.stride / strides[dim], size = shape[dim];
    int64_t used = box[dim].last();
    int64_t fitting = (size - 1 - used) / step + 1;
    auto give = [&](int64_t count) {
      if (count == 1)
        return;
      box[dim].runs.push_back({count, step});
      done.push_back({count, run.stride});
    };
    if (run.count <= fitting) {
      give(run.count);
      return run.count;
    }
    if (size % step != 0 || used >= step || run.count < size / step) {
      give(fitting);
      return fitting;
    }
    int64_t turn = size / step, turns = run.count / turn;
    give(turn);
    if (turns > 1) {
      pending.insert(pending.begin(), {turns, size * strides[dim]});
      added = 1;
    }
    return turns * turn;
  }

  const ElementSet &set;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t, 4> strides;
  SmallVector<Run, 4> pending, done;
  size_t doneBefore = 0, added = 0;
  Box box;
};
} // namespace

void fact::forEachBox(const ElementSet &set, ArrayRef<int64_t> shape,
                      function_ref<void(const Box &)> visit) {
  if (set.size() == 0)
    return;
  SmallVector<ElementSet> work = {set};
  for (size_t boxes = 0; !work.empty() && boxes < limit; ++boxes) {
    ElementSet next = work.pop_back_val();
    Box box = BoxTaker(next, shape).take(work);
    visit(box);
  }
}

ElementSet fact::flatten(const Box &box, ArrayRef<int64_t> shape) {
  ElementSet set;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    set.offset += box[i].first * stride;
    for (const Run &run : box[i].runs)
      set.runs.push_back({run.count, run.stride * stride});
    stride *= shape[i];
  }
  set.normalize();
  return set;
}

//===----------------------------------------------------------------------===//
// Unions
//===----------------------------------------------------------------------===//

/// Whether the positions of both sets, modulo `period`, lie in disjoint ranges.
static bool areApart(const ElementSet &a, const ElementSet &b, int64_t period) {
  auto getRange = [&](const ElementSet &set) {
    SmallVector<Run, 4> inside;
    for (const Run &run : set.runs)
      if (run.stride % period != 0)
        inside.push_back(run);
    int64_t first = set.offset % period;
    return std::make_pair(first, first + getExtent(inside));
  };
  auto [firstA, lastA] = getRange(a);
  auto [firstB, lastB] = getRange(b);
  return lastA < period && lastB < period && (lastA < firstB || lastB < firstA);
}

/// Whether the sets are known to be disjoint.
static bool areApart(const ElementSet &a, const ElementSet &b) {
  if (a.last() < b.offset || b.last() < a.offset)
    return true;
  for (const ElementSet *set : {&a, &b})
    for (const Run &run : set->runs)
      if (run.stride > 1 && areApart(a, b, run.stride))
        return true;
  return false;
}

/// Removes the run with a stride from a list and returns its count; 1 if there
/// is none.
static int64_t takeRun(SmallVectorImpl<Run> &runs, int64_t stride) {
  auto *found =
      find_if(runs, [&](const Run &run) { return run.stride == stride; });
  if (found == runs.end())
    return 1;
  int64_t count = found->count;
  runs.erase(found);
  return count;
}

/// Whether all positions are distinct: each stride exceeds the extent of the
/// runs inside of it.
static bool isDistinct(ArrayRef<Run> runs) {
  int64_t inside = 0;
  for (const Run &run : reverse(runs)) {
    if (inside >= run.stride)
      return false;
    inside += (run.count - 1) * run.stride;
  }
  return true;
}

/// The union of two sets, if it is one set: one continues the other along one
/// run, and all other runs are equal.
static std::optional<ElementSet> join(const ElementSet &a,
                                      const ElementSet &b) {
  if (b.offset < a.offset)
    return join(b, a);
  if (a.runs.size() == 1 && a.runs.front().stride == 1 && b.last() <= a.last())
    return a;
  if (a.runs == b.runs && a.offset == b.offset)
    return a;
  SmallVector<int64_t, 8> strides;
  for (const ElementSet *set : {&a, &b})
    for (const Run &run : set->runs)
      strides.push_back(run.stride);
  for (int64_t stride : strides) {
    int64_t distance = b.offset - a.offset;
    if (distance % stride != 0)
      continue;
    SmallVector<Run, 4> restA = a.runs, restB = b.runs;
    int64_t countA = takeRun(restA, stride), countB = takeRun(restB, stride);
    int64_t steps = distance / stride;
    if (restA != restB || steps > countA)
      continue;
    ElementSet joined;
    joined.offset = a.offset;
    joined.runs = restA;
    joined.runs.push_back({std::max(countA, steps + countB), stride});
    joined.normalize();
    if (isDistinct(joined.runs))
      return joined;
  }
  return std::nullopt;
}

void ElementSets::add(ElementSet set) {
  if (set.size() == 0)
    return;
  for (size_t i = 0; i < sets.size();) {
    if (std::optional<ElementSet> joined = join(sets[i], set)) {
      set = std::move(*joined);
      sets.erase(sets.begin() + i);
      i = 0;
    } else {
      ++i;
    }
  }
  int64_t overlapping = 0;
  for (const ElementSet &other : sets)
    if (!areApart(set, other))
      overlapping += other.size();
  if (overlapping >= set.size())
    return;
  if (overlapping != 0)
    llvm::erase_if(
        sets, [&](const ElementSet &other) { return !areApart(set, other); });
  if (sets.size() < limit)
    sets.push_back(std::move(set));
}

double ElementSets::count() const {
  double count = 0;
  for (const ElementSet &set : sets)
    count += double(set.size());
  return count;
}
