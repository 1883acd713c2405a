//===- Elements.h - Code for a pointwise graph at one element ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_ELEMENTS_H
#define FACT_LIB_TARGET_HOST_ELEMENTS_H

#include "KernelBuilder.h"
#include "fact/Analysis/Destination.h"
#include "fact/Analysis/PointwiseGraph.h"

namespace fact::host {
/// Elements that may be computed on the way where one thread or few do the
/// rest; more are a kernel of their own, which uses all.
inline constexpr int64_t mostComputed = 1 << 16;

/// One value of a region at one element, or at a vector of neighbors, computed
/// from elements in memory and from anchors, which the kernel computes itself.
class Elements {
  using Node = PointwiseGraph::Node;

public:
  using Leaf = PointwiseGraph::Leaf;
  /// The address of a leaf's element, and the distance to its neighbor.
  struct Place {
    Value pointer, offset;
    int64_t stride;
  };

  /// Reads the graph of `root` over its own shape. `isAnchor` tells whether the
  /// kernel has `value` at such a view. A kernel that allows `gathers` gives
  /// `locate` to `build`.
  static mlir::FailureOr<Elements>
  plan(Value root,
       llvm::function_ref<bool(Value value, const StridedView &view)> isAnchor,
       EmitError emitError, bool gathers = false);

  llvm::ArrayRef<Leaf> getLeaves() const { return graph.getLeaves(); }
  llvm::MutableArrayRef<Leaf> getLeaves() { return graph.getLeaves(); }

  /// Whether the root is read and not computed.
  bool isLeaf() const {
    return !graph.getNodes()[graph.getResults().front()].op;
  }

  /// Whether it takes more than reading and constants.
  bool computes() const {
    return llvm::any_of(graph.getNodes(), [](const Node &node) {
      return node.op && !mlir::isa<ConstantOp>(node.op);
    });
  }

  /// The root at one element (`width` 0) or at `width` neighbors. `locate` is
  /// asked for leaves that are read through gathers.
  Value build(KernelBuilder &b, int64_t width,
              llvm::function_ref<Value(const Leaf &)> read,
              llvm::function_ref<Place(const Leaf &)> locate = nullptr) const;

private:
  /// A leaf that is read through gathers; `values` are those of the nodes.
  Value buildGather(KernelBuilder &b, const Leaf &leaf,
                    llvm::ArrayRef<Value> values, int64_t width,
                    const Place &place) const;
  /// Whether the node has one value for all elements of a row.
  bool isUniform(const Node &node) const;

  PointwiseGraph graph;
};

/// Elements whose leaves are addressed by row and column.
struct RowElements {
  Elements elements;
  llvm::SmallVector<RowView> leaves;

  /// `lanes` as of `RowView::get`.
  static mlir::FailureOr<RowElements> get(const Elements &elements,
                                          int64_t rows, int64_t columns,
                                          EmitError emitError,
                                          int64_t lanes = 0);

  /// The offset of each leaf's element at column 0 of a row.
  llvm::SmallVector<Value> rowOffsets(KernelBuilder &b, Value row) const;
  /// The root at one column of that row (`width` 0), or at `width` neighbors:
  /// columns, or rows of one column. `anchor` gives the anchors there.
  enum class Neighbors { columns, rows };
  Value build(KernelBuilder &b, llvm::ArrayRef<Value> rowOffsets, Value column,
              int64_t width, llvm::function_ref<Value(Value)> anchor,
              Neighbors neighbors = Neighbors::columns) const;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_ELEMENTS_H
