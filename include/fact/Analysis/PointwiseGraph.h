//===- PointwiseGraph.h - What is computed per point ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The region reader for everything that is computed element by element: whole
// pointwise kernels, and the pointwise ops before and after a contraction or a
// row op.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_POINTWISEGRAPH_H
#define FACT_ANALYSIS_POINTWISEGRAPH_H

#include "fact/Dialect/Fact/Fact.h"
#include <vector>

namespace fact {
/// How some values of a region are computed at one point of an index space:
/// pointwise ops down to leaves, which are read. Views between pointwise ops
/// move to the leaves, so that a view of a computed value is the same
/// computation on views of its operands.
class PointwiseGraph {
public:
  /// An index of a gather that a value is read through: the element is at the
  /// view's position plus the index times `stride`. An index outside of
  /// [0, size) reads NaN, or 0 for integers.
  struct Index {
    unsigned node;
    int64_t stride, size;
  };

  /// Points where `lower <= coordinate < upper`; the coordinate is a sum over
  /// those of the point, as a position is.
  struct Bound {
    StridedView coordinate;
    int64_t lower, upper;
  };

  /// Points whose coordinate is less than `before` read `distance` elements
  /// further: rolled tensors are two parts of one.
  struct Shift {
    StridedView coordinate;
    int64_t before, distance;
  };

  /// A value that is read and not computed: an argument of the region, a
  /// constant in memory, an anchor, which the kernel has at hand, or a
  /// coordinate of the point.
  struct Leaf {
    mlir::Value value;
    /// The value's elements in the index space. Dimensions of size 1 have
    /// stride 0.
    StridedView view;
    bool isAnchor = false;
    /// The gathers that the value is read through.
    std::vector<Index> indices = {};
    /// The part of a concatenation that the value is: other points read zero,
    /// and nothing from memory.
    std::vector<Bound> bounds = {};
    /// Where the parts of a concatenation are views of the same value, which
    /// lie elsewhere.
    std::vector<Shift> shifts = {};
    /// Whether the leaf is the position that `view` says, not an element there.
    bool isCoordinate = false;
  };

  /// One value per point.
  struct Node {
    /// The op that computes it from `operands`: a pointwise op; a constant of
    /// equal elements, without operands; a norm (see `appliesNormWeights`),
    /// whose operands are the normalized value, weight and bias; a
    /// concatenation, whose operands are the coordinate and the parts. Null for
    /// a leaf.
    mlir::Operation *op = nullptr;
    llvm::SmallVector<unsigned> operands;
    unsigned leaf = 0;
    /// Where each part of a concatenation ends.
    llvm::SmallVector<int64_t> ends = {};
  };

  struct Options {
    /// Whether the kernel has `value` at hand; `view` are its elements in the
    /// index space, null where strides cannot describe them.
    llvm::function_ref<bool(mlir::Value value, const StridedView *view)>
        isAnchor = nullptr;
    /// Whether the graph reads the sources of gathers, whose leaves have the
    /// indices.
    bool readsGathers = false;
    /// Whether the graph reads the parts of concatenations, each where it is.
    bool readsConcats = false;
    /// Whether constants of different elements lie in memory. Those of equal
    /// elements never need to.
    bool readsConstants = false;
    /// Whether an anchor that a norm computes lacks the norm's weight and bias.
    bool appliesNormWeights = false;
  };

  /// Reads the graph of `results`, which have as many elements as the index
  /// space, in the same row-major order.
  static mlir::FailureOr<PointwiseGraph>
  read(llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<int64_t> indexSpace,
       const Options &options, EmitError emitError);

  llvm::ArrayRef<Leaf> getLeaves() const { return leaves; }
  llvm::MutableArrayRef<Leaf> getLeaves() { return leaves; }
  /// Operands come before their users.
  llvm::ArrayRef<Node> getNodes() const { return nodes; }
  /// The node of each result.
  llvm::ArrayRef<unsigned> getResults() const { return results; }

private:
  class Reader;

  llvm::SmallVector<Leaf> leaves;
  llvm::SmallVector<Node> nodes;
  llvm::SmallVector<unsigned> results;
};
} // namespace fact

#endif // FACT_ANALYSIS_POINTWISEGRAPH_H
