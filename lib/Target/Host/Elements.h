//===- Elements.h - Code for a pointwise graph at one element ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_ELEMENTS_H
#define FACT_LIB_TARGET_HOST_ELEMENTS_H

#include "GatheredRead.h"
#include "fact/Analysis/Destination.h"
#include "llvm/ADT/MapVector.h"

namespace fact::host {
/// Elements that may be computed on the way where one thread or few do the
/// rest; more are a kernel of their own, which uses all.
inline constexpr int64_t mostComputed = 1 << 16;

/// One value of a region at one element, or at a vector of neighbors, computed
/// from elements in memory and from anchors, which the kernel computes itself.
class Elements {
public:
  using Node = PointwiseGraph::Node;
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

  llvm::ArrayRef<Node> getNodes() const { return graph.getNodes(); }
  /// The number of the root's node.
  unsigned getResult() const { return graph.getResults().front(); }
  /// For each node, whether all leaves that it is computed from are wanted.
  llvm::SmallVector<bool>
  findNodes(llvm::function_ref<bool(const Leaf &)> isWanted) const;
  /// The leaves that rows of the index space, which are along its last
  /// dimension, gather by the same indices, which differ in a row.
  llvm::SmallVector<const Leaf *> getGathersForAllRows() const;

  /// Whether the root is read and not computed.
  bool isLeaf() const { return !getNodes()[getResult()].op; }

  /// Whether it takes more than reading and constants.
  bool computes() const { return countOps() > 0; }
  int64_t countOps() const {
    return llvm::count_if(getNodes(), [](const Node &node) {
      return node.op && !mlir::isa<ConstantOp>(node.op);
    });
  }

  /// The root at one element (`width` 0) or at `width` neighbors. `locate` is
  /// asked for leaves that are read through gathers.
  Value build(KernelBuilder &b, int64_t width,
              llvm::function_ref<Value(const Leaf &)> read,
              llvm::function_ref<Place(const Leaf &)> locate = nullptr) const;

private:
  PointwiseGraph graph;
};

/// Where neighbors are that rows gather by the same indices: what rows would
/// find out again and again is found once for a tile. Columns are in vectors,
/// of which the last may share columns with the one before it. Vectors that
/// continue one run, or whose indices are in no order, are a segment: a
/// reversed row is one, and a padded one has few.
struct GatherTable {
  int64_t columns, width;
  /// The number of segments; of each, the end of its vectors, and the order of
  /// its indices, a number of `GatheredRead::Order`.
  Value count, ends, orders;
  /// Where a leaf reads: of each segment that is a run, the place of column 0
  /// if the run had it; and the place of each column.
  struct Places {
    Value runs, columns;
  };
  llvm::DenseMap<const Elements::Leaf *, Places> places;

  int64_t countVectors() const { return (columns + width - 1) / width; }
  Value getColumn(KernelBuilder &b, Value vector) const {
    return b.min(b.mul(vector, width), columns - width);
  }
  /// A table for rows of so many columns, in vectors of up to `lanes`; none
  /// where rows share no gather, or the table would not stay in a cache.
  static std::optional<GatherTable> get(KernelBuilder &b,
                                        const Elements &elements,
                                        int64_t columns, int64_t lanes);
};

/// Builds elements of one column, or of neighbors in some, for several rows.
class ElementsBuilder {
public:
  using Read = llvm::function_ref<Value(const Elements::Leaf &)>;
  using Locate = llvm::function_ref<Elements::Place(const Elements::Leaf &)>;

  ElementsBuilder(KernelBuilder &b, const Elements &elements, int64_t width);

  int64_t getWidth() const { return width; }
  /// As `Elements::build`.
  Value build(Read read, Locate locate);
  /// The same for several rows, given to `read` by number, node by node: what
  /// they read of the same places is read once, and is used soon. Additions
  /// to products do not round these first.
  llvm::SmallVector<Value> buildTogether(
      int64_t rows,
      llvm::function_ref<Value(const Elements::Leaf &, int64_t)> read);
  /// Builds `rows`, which calls `build` for several rows, after what is the
  /// same for all rows: `read` and `locate` give it. Where rows gather by the
  /// same vectors of indices, `rows` is built for each order of these that
  /// the kernel may find.
  void shareRows(Read read, Locate locate, llvm::function_ref<void()> rows);

  using ReadAt = llvm::function_ref<Value(const Elements::Leaf &, Value)>;
  using LocateAt =
      llvm::function_ref<Elements::Place(const Elements::Leaf &, Value)>;
  /// Fills a table; `read` and `locate` are given a column.
  void tabulate(ReadAt read, LocateAt locate, GatherTable &table);
  /// Builds `rows(column)` for all columns, segment by segment, as `shareRows`
  /// does.
  void shareRows(ReadAt read, LocateAt locate, const GatherTable &table,
                 llvm::function_ref<void(Value)> rows);

private:
  using Order = GatheredRead::Order;

  /// Whether neighbors have indices of their own.
  bool isVector(const PointwiseGraph::Index &index) const {
    return width && !uniform[index.node];
  }
  Value buildNode(const Elements::Node &node, llvm::ArrayRef<Value> values,
                  Read read, Locate locate);
  /// A read by the indices of a leaf that are vectors; `values` are those of
  /// the nodes.
  GatheredRead startGather(const Elements::Leaf &leaf,
                           llvm::ArrayRef<Value> values);
  Value readGathered(const Elements::Leaf &leaf, llvm::ArrayRef<Value> values,
                     const Elements::Place &place);
  /// Builds what all rows have in common.
  void shareNodes(Read read, Locate locate);
  bool canRun(Order order) const;
  static int64_t getStep(Order order) { return order == Order::up ? 1 : -1; }
  static bool isRun(Order order) {
    return order == Order::up || order == Order::down;
  }
  /// The orders that a vector of the gathers may have.
  llvm::SmallVector<Order> getOrders() const;
  /// The order of the gathers' indices, as a number.
  Value findOrder();
  /// Builds `segment` for each of these orders, as a number tells.
  void branchBy(Value number, llvm::ArrayRef<Order> orders,
                llvm::function_ref<void(Order)> segment);
  /// Builds `rows` for each of these orders, by branches, and for those of
  /// indices that are no runs.
  void branch(llvm::ArrayRef<Order> runs, llvm::function_ref<void()> rows);
  /// Whether a condition holds for the gathers of all rows.
  Value holdsForAll(llvm::function_ref<Value(GatheredRead &)> condition);

  KernelBuilder &b;
  const Elements &elements;
  int64_t width;
  /// Of each node, whether it is one value for neighbors in a row, whether rows
  /// have the same, and whether no float that the region is given decides it.
  llvm::SmallVector<bool> uniform, ofAllRows, noFloats;
  /// What `shareRows` built: nodes by number, and the gathers of leaves by
  /// vectors that all rows share.
  llvm::DenseMap<unsigned, Value> shared;
  llvm::MapVector<const Elements::Leaf *, GatheredRead> gathers;
  /// Of those gathers.
  Order order = Order::unknown;
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

  /// Whether more than casts are computed several times from the same elements,
  /// as by rows that share an operand.
  bool repeats(int64_t rows, int64_t columns) const;
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
