//===- Elements.h - A DAG of pointwise ops at one element ---------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_LIB_TARGET_HOST_ELEMENTS_H
#define FACT_LIB_TARGET_HOST_ELEMENTS_H

#include "KernelBuilder.h"
#include "fact/Analysis/Destination.h"

namespace fact::host {
/// How each element of a value comes from elements in memory: pointwise ops and
/// views down to arguments, constants, and values that the kernel computes
/// itself (anchors). Views move to the leaves, so a view of a computed value is
/// the same computation on views of its operands. A gather reads a leaf at an
/// index that is computed like any other element.
class Elements {
public:
  struct Leaf {
    Value value;
    /// The value's elements in the index space of the root.
    StridedView view;
    bool isAnchor = false;
    /// What a gather adds to the view's position: its index times this.
    int64_t indexStride = 0;
  };
  /// Where a leaf's element (or the first of some neighbours) is.
  struct Place {
    Value pointer, offset;
    int64_t stride;
  };

  /// Plans the elements of `root`, or says what stands in the way. `isAnchor`
  /// tells whether the kernel itself has `value` at such a view; `gathers`,
  /// whether it can say where leaves are.
  static mlir::FailureOr<Elements>
  plan(Value root,
       llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
       EmitError emitError, bool gathers = false);

  llvm::ArrayRef<Leaf> getLeaves() const { return leaves; }
  llvm::MutableArrayRef<Leaf> getLeaves() { return leaves; }

  /// The root at one element (or `width` neighbours), from its leaves. `locate`
  /// is asked for the leaves that gathers read.
  Value build(KernelBuilder &b, int64_t width,
              llvm::function_ref<Value(const Leaf &)> read,
              llvm::function_ref<Place(const Leaf &)> locate = nullptr) const;

  /// The number of pointwise ops for each element.
  int64_t getOpCount() const;

private:
  struct Node {
    mlir::Operation *op = nullptr; // null for a leaf
    llvm::SmallVector<unsigned> operands;
    unsigned leaf = 0;
  };
  class Planner;

  Value buildGather(KernelBuilder &b, const Node &node, Value index,
                    int64_t width, const Place &place) const;
  /// Whether all of a row's elements have one value of this node.
  bool isUniform(const Node &node) const;

  llvm::SmallVector<Leaf> leaves;
  llvm::SmallVector<Node> nodes; // operands before users; the root is last
};

/// Elements with their leaves as rows and columns.
struct RowElements {
  Elements elements;
  llvm::SmallVector<RowView> leaves;

  static mlir::FailureOr<RowElements> get(const Elements &elements,
                                          int64_t rows, int64_t columns,
                                          EmitError emitError);

  /// Where each leaf's row begins.
  llvm::SmallVector<Value> rowOffsets(KernelBuilder &b, Value row) const;
  /// The root at one column of such a row (or `width` neighbours), with
  /// `anchor(value)` for what the kernel has itself.
  Value build(KernelBuilder &b, llvm::ArrayRef<Value> rowOffsets, Value column,
              int64_t width, llvm::function_ref<Value(Value)> anchor) const;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_ELEMENTS_H
