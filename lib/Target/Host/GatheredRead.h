//===- GatheredRead.h - Neighbors that are read through gathers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_GATHEREDREAD_H
#define FACT_LIB_TARGET_HOST_GATHEREDREAD_H

#include "KernelBuilder.h"
#include "fact/Analysis/PointwiseGraph.h"

namespace fact::host {
/// Neighbors of a leaf that is read through gathers. An index out of range
/// reads as 0, so that the load is safe, and gives NaN, or 0 for integers.
class GatheredRead {
public:
  /// `stride` is the distance of two neighbors beside what the indices say.
  GatheredRead(KernelBuilder &b, Type storage, int64_t stride, int64_t width)
      : b(b), storage(storage), stride(stride), width(width) {}

  /// One index for all neighbors.
  void addShared(Value index, const PointwiseGraph::Index &gather);
  /// A vector of indices, which `mayCount` up or down.
  void add(Value indices, const PointwiseGraph::Index &gather, bool mayCount);
  /// What is known of the vectors of indices: that they count up or down by
  /// one, that all are in range, or that each has to be checked.
  enum class Order { unknown, up, down, inside, checked };
  /// Whether the indices count by `step`, 1 or -1, and neighbors lie beside
  /// each other in memory; null if they cannot. True for reads without vectors.
  Value isRun(int64_t step);
  /// Whether `isRun` can hold.
  bool canRun(int64_t step) const {
    return indices.empty() || llvm::is_contained(getSteps(), step);
  }
  /// Writes the distances of the neighbors into a table, which has a number of
  /// 64 bits per column, from `column` on. For reads whose neighbors are no
  /// distance apart but by their indices.
  void tabulate(Value table, Value column);
  /// The distance of the neighbor of a run that comes first in memory.
  Value getFirst();
  /// Takes the distances for reads of `order`, which is no run, from such a
  /// table, here.
  void readTable(Value table, Value column, Order order);
  /// Takes that of a run from elsewhere.
  void setFirst(Value distance) { firstOfRun = distance; }
  /// Decides here where the neighbors are, for reads of several rows, and
  /// returns whether all indices are in range.
  Value locate();
  /// The neighbors in memory from `offset`.
  Value build(Value pointer, Value offset, Order order = Order::unknown);

private:
  struct Indices {
    Value vector;
    int64_t stride, size;
    bool mayCount;
  };
  /// The distances of the neighbors from the offset.
  struct Distances {
    /// A vector, where an instruction gathers; otherwise one number each.
    Value vector;
    llvm::SmallVector<Value> each;
    /// Whether the indices are in range.
    Value inside;
  };

  /// As 64 bits.
  Value widen(Value index);
  /// An index, or 0 if it is not in [0, size); and whether it is.
  std::pair<Value, Value> getSafe(Value index, int64_t size);
  /// `found` where `inside`.
  Value orNothing(Value inside, Value found);
  Distances findDistances();
  /// Each neighbor from its own place.
  Value readEach(Value pointer, Value offset, Order order);
  /// The steps between two indices of a run: neighbors whose indices count up
  /// or down, as those of a reversed row do, and that lie beside each other in
  /// memory.
  llvm::SmallVector<int64_t, 2> getSteps() const;
  /// Only the indices tell, when the kernel runs: reads a run of one of the
  /// steps at once, or else each neighbor.
  Value readRun(llvm::ArrayRef<int64_t> steps, Value pointer, Value offset);
  /// A run of neighbors that are `distance`, 1 or -1, apart in memory.
  Value read(int64_t distance, Value pointer, Value offset);
  int64_t getDistance(int64_t step) const {
    return stride + step * indices.front().stride;
  }
  /// The numbers of the neighbors, times `step`.
  Value count(int64_t step);

  KernelBuilder &b;
  Type storage;
  int64_t stride, width;
  /// What the shared indices add to the offset, and whether they are in range;
  /// null where there are none.
  Value sharedOffset, inside;
  llvm::SmallVector<Indices> indices;
  /// Found by `locate`, or read from a table.
  std::optional<Distances> located;
  /// Given by `setFirst`.
  Value firstOfRun;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_GATHEREDREAD_H
