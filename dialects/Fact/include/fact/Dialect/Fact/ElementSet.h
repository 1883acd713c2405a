//===- ElementSet.h - Sets of elements of a tensor --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets are sums of strides, which represents every view exactly. A union that
// has no such form is approximated from below: every counted element is in it,
// but some are left out.
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

/// The positions `offset + i0 * runs[0].stride + ...` of a row-major tensor.
/// All are distinct, and a reshape does not change them.
struct ElementSet {
  int64_t offset = 0;
  /// Largest stride first. Runs of one step are dropped, and a run that
  /// continues another is merged with it.
  llvm::SmallVector<Run, 4> runs;

  static ElementSet whole(llvm::ArrayRef<int64_t> shape);
  int64_t size() const;
  /// The last position.
  int64_t last() const;
  /// Brings `runs` into that form.
  void normalize();
};

/// The indices `first + i0 * runs[0].stride + ...` of one dimension.
struct Coordinates {
  int64_t first = 0;
  llvm::SmallVector<Run, 2> runs;

  static Coordinates range(int64_t first, int64_t count);
  int64_t size() const;
  int64_t last() const;
};

/// The product of the coordinates of each dimension.
using Box = llvm::SmallVector<Coordinates, 4>;

/// Visits the set as disjoint boxes of a shape. Elements beyond a maximum
/// number of boxes are left out.
void forEachBox(const ElementSet &set, llvm::ArrayRef<int64_t> shape,
                llvm::function_ref<void(const Box &)> visit);
ElementSet flatten(const Box &box, llvm::ArrayRef<int64_t> shape);

/// A union of disjoint sets. A set that may overlap another one is left out.
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
