//===- Elements.cpp - Code for a pointwise graph at one element -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

FailureOr<Elements>
Elements::plan(Value root,
               llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
               EmitError emitError, bool gathers) {
  auto isAnchorHere = [&](Value value, const StridedView *view) {
    return view && isAnchor(value, *view);
  };
  PointwiseGraph::Options options;
  options.isAnchor = isAnchorHere;
  options.readsConstants = true;
  options.readsGathers = gathers;
  FailureOr<PointwiseGraph> graph = PointwiseGraph::read(
      root, cast<RankedTensorType>(root.getType()).getShape(), options,
      emitError);
  if (failed(graph))
    return failure();
  Elements elements;
  elements.graph = std::move(*graph);
  return elements;
}

/// A constant of equal elements, which needs no memory.
static Value buildSplat(KernelBuilder &b, fact::ConstantOp constant,
                        int64_t width) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  Type storage = elements.getElementType();
  Type type = b.withWidth(getComputeType(storage), width);
  if (isa<FloatType>(storage)) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return b.constant(number.convertToDouble(), type);
  }
  // A double does not hold each integer of 64 bits.
  return b.constant(b.getIntegerAttr(getElementTypeOrSelf(type),
                                     elements.getSplatValue<APInt>()),
                    type);
}

SmallVector<bool>
Elements::findNodes(llvm::function_ref<bool(const Leaf &)> isWanted) const {
  SmallVector<bool> found;
  for (const Node &node : graph.getNodes()) {
    bool all = llvm::all_of(node.operands,
                            [&](unsigned operand) { return found[operand]; });
    if (!node.op) {
      const Leaf &leaf = getLeaves()[node.leaf];
      all = isWanted(leaf) &&
            llvm::all_of(leaf.indices, [&](const PointwiseGraph::Index &index) {
              return found[index.node];
            });
    }
    found.push_back(all);
  }
  return found;
}

/// Whether neighbors in a row are one element.
static bool isUniform(const Elements::Leaf &leaf) {
  return leaf.view.strides.empty() || leaf.view.strides.back() == 0;
}

/// Whether all rows have the same elements.
static bool isOfAllRows(const Elements::Leaf &leaf) {
  if (leaf.view.strides.empty())
    return !leaf.isAnchor;
  return !leaf.isAnchor &&
         llvm::all_of(ArrayRef(leaf.view.strides).drop_back(),
                      [](int64_t stride) { return stride == 0; });
}

/// Whether an element is no float that the region is given.
static bool isNoFloat(const Elements::Leaf &leaf) {
  auto type = cast<RankedTensorType>(leaf.value.getType());
  return !isa<FloatType>(type.getElementType()) ||
         leaf.value.getDefiningOp<fact::ConstantOp>();
}

SmallVector<const Elements::Leaf *> Elements::getGathersForAllRows() const {
  SmallVector<bool> ofAll = findNodes(isOfAllRows),
                    uniform = findNodes(isUniform);
  SmallVector<const Leaf *> found;
  for (const Leaf &leaf : getLeaves()) {
    auto differs = [&](const PointwiseGraph::Index &index) {
      return !uniform[index.node];
    };
    auto isShared = [&](const PointwiseGraph::Index &index) {
      return uniform[index.node] || ofAll[index.node];
    };
    if (llvm::any_of(leaf.indices, differs) &&
        llvm::all_of(leaf.indices, isShared))
      found.push_back(&leaf);
  }
  return found;
}

std::optional<GatherTable> GatherTable::get(KernelBuilder &b,
                                            const Elements &elements,
                                            int64_t columns, int64_t lanes) {
  constexpr int64_t most = 1 << 14;
  SmallVector<const Elements::Leaf *> leaves = elements.getGathersForAllRows();
  SmallVector<bool> uniform = elements.findNodes(isUniform);
  auto isApart = [](const Elements::Leaf *leaf) { return !isUniform(*leaf); };
  // Leaves that differ in other dimensions alone have the same distances.
  auto haveSameColumns = [&](const Elements::Leaf *x, const Elements::Leaf *y) {
    auto getColumns = [&](const Elements::Leaf *leaf) {
      SmallVector<std::tuple<unsigned, int64_t, int64_t>> found;
      for (const PointwiseGraph::Index &index : leaf->indices)
        if (!uniform[index.node])
          found.push_back({index.node, index.stride, index.size});
      return found;
    };
    return getColumns(x) == getColumns(y);
  };
  SmallVector<const Elements::Leaf *> distinct;
  SmallVector<size_t> numbers;
  for (const Elements::Leaf *leaf : leaves) {
    auto same = llvm::find_if(distinct, [&](const Elements::Leaf *other) {
      return haveSameColumns(leaf, other);
    });
    numbers.push_back(same - distinct.begin());
    if (same == distinct.end())
      distinct.push_back(leaf);
  }
  int64_t count = distinct.size();
  if (leaves.empty() || columns < 2 || columns * count > most ||
      llvm::any_of(leaves, isApart))
    return std::nullopt;
  GatherTable table;
  table.columns = columns;
  table.width = std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(columns));
  auto allocate = [&](int64_t numbers) {
    return b.scratch(b.getI64Type(), numbers);
  };
  int64_t vectors = table.countVectors();
  table.ends = allocate(vectors);
  table.orders = allocate(vectors);
  SmallVector<Places> places;
  for (int64_t i = 0; i < count; ++i)
    places.push_back({allocate(vectors), allocate(columns)});
  for (auto [leaf, number] : llvm::zip_equal(leaves, numbers))
    table.places[leaf] = places[number];
  return table;
}

ElementsBuilder::ElementsBuilder(KernelBuilder &b, const Elements &elements,
                                 int64_t width)
    : b(b), elements(elements), width(width),
      uniform(elements.findNodes(isUniform)),
      ofAllRows(elements.findNodes(isOfAllRows)),
      noFloats(elements.findNodes(isNoFloat)) {}

GatheredRead ElementsBuilder::startGather(const Elements::Leaf &leaf,
                                          ArrayRef<Value> values) {
  Type storage = cast<RankedTensorType>(leaf.value.getType()).getElementType();
  GatheredRead gathered(b, storage, leaf.view.strides.back(), width);
  for (const PointwiseGraph::Index &index : leaf.indices)
    if (isVector(index))
      gathered.add(values[index.node], index,
                   /*mayCount=*/noFloats[index.node]);
  return gathered;
}

Value ElementsBuilder::readGathered(const Elements::Leaf &leaf,
                                    ArrayRef<Value> values,
                                    const Elements::Place &place) {
  auto known = gathers.find(&leaf);
  bool isShared = known != gathers.end();
  GatheredRead gathered = isShared ? known->second : startGather(leaf, values);
  for (const PointwiseGraph::Index &index : leaf.indices)
    if (!isVector(index))
      gathered.addShared(
          width ? b.lane(values[index.node], 0) : values[index.node], index);
  return gathered.build(place.pointer, place.offset,
                        isShared ? order : Order::unknown);
}

Value ElementsBuilder::buildNode(const Elements::Node &node,
                                 ArrayRef<Value> values, Read read,
                                 Locate locate) {
  if (!node.op) {
    const Elements::Leaf &leaf = elements.getLeaves()[node.leaf];
    return leaf.indices.empty() ? read(leaf)
                                : readGathered(leaf, values, locate(leaf));
  }
  if (auto constant = dyn_cast<fact::ConstantOp>(node.op))
    return buildSplat(b, constant, width);
  SmallVector<Value> operands;
  for (unsigned operand : node.operands)
    operands.push_back(values[operand]);
  return cast<PointwiseOpInterface>(node.op).buildScalar(b, b.getLoc(),
                                                         operands);
}

Value ElementsBuilder::build(Read read, Locate locate) {
  SmallVector<Value> values;
  for (auto [number, node] : llvm::enumerate(elements.getNodes())) {
    Value known = shared.lookup(number);
    values.push_back(known ? known : buildNode(node, values, read, locate));
  }
  return values[elements.getResult()];
}

SmallVector<Value> ElementsBuilder::buildTogether(
    int64_t rows,
    llvm::function_ref<Value(const Elements::Leaf &, int64_t)> read) {
  ArrayRef<Elements::Node> nodes = elements.getNodes();
  SmallVector<unsigned> uses(nodes.size());
  for (const Elements::Node &node : nodes)
    for (unsigned operand : node.operands)
      ++uses[operand];
  // The product that an addition alone reads, among its operands.
  auto findProduct = [&](const Elements::Node &node) -> std::optional<size_t> {
    if (!isa_and_nonnull<fact::AddOp>(node.op))
      return std::nullopt;
    for (auto [i, operand] : llvm::enumerate(node.operands))
      if (uses[operand] == 1 && isa_and_nonnull<fact::MulOp>(nodes[operand].op))
        return i;
    return std::nullopt;
  };
  SmallVector<SmallVector<Value>> values(rows);
  for (const Elements::Node &node : nodes) {
    std::optional<size_t> product = findProduct(node);
    for (int64_t row = 0; row < rows; ++row) {
      SmallVector<Value> &known = values[row];
      if (product &&
          isa<FloatType>(getElementTypeOrSelf(known[node.operands[0]]))) {
        const Elements::Node &factors = nodes[node.operands[*product]];
        known.push_back(math::FmaOp::create(
            b, known[factors.operands[0]], known[factors.operands[1]],
            known[node.operands[1 - *product]]));
        continue;
      }
      known.push_back(buildNode(
          node, known,
          [&](const Elements::Leaf &leaf) { return read(leaf, row); },
          /*locate=*/nullptr));
    }
  }
  return llvm::map_to_vector(
      values, [&](ArrayRef<Value> row) { return row[elements.getResult()]; });
}

Value ElementsBuilder::holdsForAll(
    llvm::function_ref<Value(GatheredRead &)> condition) {
  Value all;
  for (auto &[leaf, gathered] : gathers) {
    Value own = condition(gathered);
    all = all ? arith::AndIOp::create(b, all, own) : own;
  }
  return all;
}

void ElementsBuilder::branch(ArrayRef<Order> runs,
                             llvm::function_ref<void()> rows) {
  auto buildFor = [&](Order chosen) {
    order = chosen;
    rows();
  };
  if (runs.empty()) {
    Value inside =
        holdsForAll([](GatheredRead &gathered) { return gathered.locate(); });
    return b.ifThen(
        inside, [&] { buildFor(Order::inside); },
        [&] { buildFor(Order::checked); });
  }
  Value isRun = holdsForAll([&](GatheredRead &gathered) {
    return gathered.isRun(getStep(runs.front()));
  });
  b.ifThen(
      isRun, [&] { buildFor(runs.front()); },
      [&] { branch(runs.drop_front(), rows); });
}

void ElementsBuilder::shareNodes(Read read, Locate locate) {
  SmallVector<Value> values;
  shared.clear();
  gathers.clear();
  for (auto [number, node] : llvm::enumerate(elements.getNodes())) {
    values.push_back(ofAllRows[number] ? buildNode(node, values, read, locate)
                                       : Value());
    if (ofAllRows[number])
      shared[number] = values.back();
  }
  if (!width)
    return;
  for (const Elements::Leaf *leaf : elements.getGathersForAllRows())
    gathers.insert({leaf, startGather(*leaf, values)});
}

bool ElementsBuilder::canRun(Order order) const {
  return llvm::all_of(gathers, [&](const auto &entry) {
    return entry.second.canRun(getStep(order));
  });
}

SmallVector<GatheredRead::Order> ElementsBuilder::getOrders() const {
  SmallVector<Order> orders;
  for (Order order : {Order::up, Order::down})
    if (canRun(order))
      orders.push_back(order);
  return orders;
}

void ElementsBuilder::branchBy(Value number, ArrayRef<Order> orders,
                               llvm::function_ref<void(Order)> segment) {
  if (orders.size() == 1)
    return segment(orders.front());
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                            b.integer(static_cast<int64_t>(orders.front())));
  b.ifThen(
      isFirst, [&] { segment(orders.front()); },
      [&] { branchBy(number, orders.drop_front(), segment); });
}

Value ElementsBuilder::findOrder() {
  auto numberOf = [&](Order order) {
    return b.integer(static_cast<int64_t>(order));
  };
  Value inside =
      holdsForAll([](GatheredRead &gathered) { return gathered.locate(); });
  Value number = arith::SelectOp::create(b, inside, numberOf(Order::inside),
                                         numberOf(Order::checked));
  SmallVector<Order> orders = getOrders();
  for (Order order : llvm::reverse(orders)) {
    Value isRun = holdsForAll(
        [&](GatheredRead &gathered) { return gathered.isRun(getStep(order)); });
    number = arith::SelectOp::create(b, isRun, numberOf(order), number);
  }
  return number;
}

void ElementsBuilder::tabulate(ReadAt read, LocateAt locate,
                               GatherTable &table) {
  using Predicate = arith::CmpIPredicate;
  Type number = b.getI64Type();
  Value none = b.integer(0);
  // The number of the segment, its order, and where its leaves' runs are.
  SmallVector<Value> begin{b.integer(-1), none};
  begin.append(elements.getGathersForAllRows().size(), none);
  SmallVector<Value> end = b.loop(
      none, b.integer(table.countVectors()), 1, begin,
      [&](Value vector, ValueRange before) {
        Value column = table.getColumn(b, vector);
        shareNodes([&](const auto &leaf) { return read(leaf, column); },
                   [&](const auto &leaf) { return locate(leaf, column); });
        SmallVector<Value> now{Value(), findOrder()};
        Value continues =
            arith::CmpIOp::create(b, Predicate::eq, now[1], before[1]);
        for (auto &[leaf, gathered] : gathers) {
          gathered.tabulate(table.places.lookup(leaf).columns, column);
          Value place = none;
          for (Order order : getOrders()) {
            Value isOrder =
                arith::CmpIOp::create(b, Predicate::eq, now[1],
                                      b.integer(static_cast<int64_t>(order)));
            Value first =
                b.sub(gathered.getFirst(), b.mul(column, getStep(order)));
            place = arith::SelectOp::create(b, isOrder, first, place);
          }
          continues = arith::AndIOp::create(
              b, continues,
              arith::CmpIOp::create(b, Predicate::eq, place,
                                    before[now.size()]));
          now.push_back(place);
        }
        now[0] = arith::SelectOp::create(b, continues, before[0],
                                         b.add(before[0], 1));
        b.store(b.add(vector, 1), table.ends, number, now[0]);
        b.store(now[1], table.orders, number, now[0]);
        for (auto [i, entry] : llvm::enumerate(gathers))
          b.store(now[2 + i], table.places.lookup(entry.first).runs, number,
                  now[0]);
        return now;
      });
  table.count = b.add(end.front(), 1);
}

void ElementsBuilder::shareRows(ReadAt read, LocateAt locate,
                                const GatherTable &table,
                                llvm::function_ref<void(Value)> rows) {
  Type number = b.getI64Type();
  auto share = [&](Value column) {
    shareNodes([&](const auto &leaf) { return read(leaf, column); },
               [&](const auto &leaf) { return locate(leaf, column); });
  };
  // Whether gathers can be runs does not depend on the column.
  share(b.integer(0));
  SmallVector<Order> orders = getOrders();
  orders.append({Order::inside, Order::checked});
  b.loop(
      b.integer(0), table.count, 1, b.integer(0),
      [&](Value segment, ValueRange begin) -> SmallVector<Value> {
        Value end = b.load(table.ends, number, segment);
        branchBy(b.load(table.orders, number, segment), orders, [&](Order own) {
          // Here, and not in each row: a result that is written could be a
          // table.
          SmallVector<Value> places;
          for (auto &[leaf, gathered] : gathers)
            places.push_back(
                b.load(table.places.lookup(leaf).runs, number, segment));
          b.loop(begin.front(), end, 1, [&](Value vector) {
            Value column = table.getColumn(b, vector);
            share(column);
            order = own;
            for (auto [entry, place] : llvm::zip_equal(gathers, places))
              if (isRun(own))
                entry.second.setFirst(
                    b.add(place, b.mul(column, getStep(own))));
              else
                entry.second.readTable(table.places.lookup(entry.first).columns,
                                       column, own);
            rows(column);
          });
        });
        return {end};
      });
}

void ElementsBuilder::shareRows(Read read, Locate locate,
                                llvm::function_ref<void()> rows) {
  shareNodes(read, locate);
  if (gathers.empty())
    return rows();
  branch(getOrders(), rows);
}

Value Elements::build(KernelBuilder &b, int64_t width,
                      llvm::function_ref<Value(const Leaf &)> read,
                      llvm::function_ref<Place(const Leaf &)> locate) const {
  return ElementsBuilder(b, *this, width).build(read, locate);
}

/// A value that would be computed so often is better stored.
static constexpr double leastRepeats = 4;

/// The elements of a leaf that are not others again.
static double countDistinct(const RowView &view, int64_t columns) {
  double count = view.columnStride ? columns : 1;
  for (auto [size, stride] : llvm::zip_equal(view.rowShape, view.rowStrides))
    count *= stride ? size : 1;
  return count;
}

bool RowElements::repeats(int64_t rows, int64_t columns) const {
  // The leaves that each node is computed from.
  std::vector<llvm::SmallBitVector> read;
  for (const Elements::Node &node : elements.getNodes()) {
    llvm::SmallBitVector &own = read.emplace_back(leaves.size());
    if (!node.op)
      own.set(node.leaf);
    for (unsigned operand : node.operands)
      own |= read[operand];
    if (!isa_and_nonnull<PointwiseOpInterface>(node.op) || isa<CastOp>(node.op))
      continue;
    double distinct = 1;
    bool varies = false;
    for (unsigned leaf : own.set_bits()) {
      bool isAnchor = elements.getLeaves()[leaf].isAnchor;
      distinct *= isAnchor ? double(rows) * columns
                           : countDistinct(leaves[leaf], columns);
      varies |= leaves[leaf].columnStride != 0;
    }
    // A value of a whole row is computed outside of the loop over it.
    if (varies && distinct * leastRepeats <= double(rows) * columns)
      return true;
  }
  return false;
}

FailureOr<RowElements> RowElements::get(const Elements &elements, int64_t rows,
                                        int64_t columns, EmitError emitError,
                                        int64_t lanes) {
  RowElements result{elements, {}};
  for (const Elements::Leaf &leaf : elements.getLeaves()) {
    FailureOr<RowView> view = RowView::get(leaf.view, rows, columns, lanes);
    if (failed(view))
      return emitError() << "an operand of type " << leaf.value.getType()
                         << " must lie in rows of " << columns
                         << " elements at one stride";
    result.leaves.push_back(*view);
  }
  return result;
}

SmallVector<Value> RowElements::rowOffsets(KernelBuilder &b, Value row) const {
  SmallVector<Value> offsets;
  for (const RowView &view : leaves)
    offsets.push_back(b.rowOffset(view, row));
  return offsets;
}

Value RowElements::build(KernelBuilder &b, ArrayRef<Value> rowOffsets,
                         Value column, int64_t width,
                         llvm::function_ref<Value(Value)> anchor,
                         Neighbors neighbors) const {
  ArrayRef<Elements::Leaf> all = elements.getLeaves();
  return elements.build(b, width, [&](const Elements::Leaf &leaf) {
    if (leaf.isAnchor)
      return anchor(leaf.value);
    size_t at = &leaf - all.data();
    int64_t stride = leaves[at].columnStride;
    Type storage =
        cast<RankedTensorType>(leaf.value.getType()).getElementType();
    Value pointer = b.getPointer(leaf.value);
    Value place = b.add(rowOffsets[at], b.columnOffset(leaves[at], column));
    if (neighbors == Neighbors::rows)
      stride = leaves[at].getRowStride();
    else if (stride == 1)
      b.prefetchAhead(leaf.value, pointer, place, width);
    return b.load(pointer, storage, place, width, stride);
  });
}
