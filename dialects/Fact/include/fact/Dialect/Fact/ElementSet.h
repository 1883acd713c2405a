//===- ElementSet.h - Sets of elements of a tensor --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of strides, which is exact for all that views can say. Where a union is
// not one of these, elements are left out: what is counted is in the set.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_DIALECT_FACT_ELEMENTSET_H
#define FACT_DIALECT_FACT_ELEMENTSET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace fact {
/// `count` steps of `stride`.
struct Run {
  int64_t count;
  int64_t stride;
  bool operator==(const Run &other) const {
    return count == other.count && stride == other.stride;
  }
};

/// Positions `offset + i0 * runs[0].stride + ...` of a row-major tensor, which
/// are distinct. A reshape does not change them.
struct ElementSet {
  int64_t offset = 0;
  /// The largest stride first; none of one step, none that goes on another.
  llvm::SmallVector<Run, 4> runs;

  static ElementSet whole(llvm::ArrayRef<int64_t> shape);
  int64_t size() const;
  /// The last position.
  int64_t last() const;
  void normalise();
};

/// The indices `first + i0 * runs[0].stride + ...` of one dimension.
struct Coordinates {
  int64_t first = 0;
  llvm::SmallVector<Run, 2> runs;

  static Coordinates range(int64_t first, int64_t count);
  int64_t size() const;
  int64_t last() const;
};

/// Every combination of coordinates of each dimension.
using Box = llvm::SmallVector<Coordinates, 4>;

/// The set as boxes of a shape, without overlap; all but what would take too
/// many of them.
void forEachBox(const ElementSet &set, llvm::ArrayRef<int64_t> shape,
                llvm::function_ref<void(const Box &)> visit);
ElementSet flatten(const Box &box, llvm::ArrayRef<int64_t> shape);

/// A union of sets without overlap. What cannot be told apart from another set
/// is left out.
class ElementSets {
public:
  void add(ElementSet set);
  void add(const ElementSets &other) {
    for (const ElementSet &set : other.sets)
      add(set);
  }
  llvm::ArrayRef<ElementSet> getSets() const { return sets; }
  double count() const;

private:
  llvm::SmallVector<ElementSet, 1> sets;
};

} // namespace fact

#endif // FACT_DIALECT_FACT_ELEMENTSET_H
