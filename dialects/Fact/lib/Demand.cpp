//===- Demand.cpp - Which elements an op needs of its operands ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include <cmath>

using namespace mlir;
using namespace fact;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static Coordinates wholeDim(int64_t size) {
  return Coordinates::range(0, size);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The elements that a box reads of a tensor of `shape`, which broadcasts to
/// the shape of the box.
static ElementSet readBroadcast(ArrayRef<int64_t> shape,
                                ArrayRef<Coordinates> box) {
  Box read;
  for (auto [size, coordinates] :
       llvm::zip_equal(shape, box.take_back(shape.size())))
    read.push_back(size == 1 ? wholeDim(1) : coordinates);
  return flatten(read, shape);
}

/// The coordinates in [begin, end), relative to `begin`: those steps of the
/// outermost run that lie inside entirely.
static Coordinates clip(const Coordinates &coordinates, int64_t begin,
                        int64_t end) {
  Coordinates clipped = coordinates;
  clipped.first -= begin;
  if (coordinates.first >= begin && coordinates.last() < end)
    return clipped;
  if (coordinates.runs.empty())
    return Coordinates::range(0, 0);
  auto *outer = llvm::max_element(clipped.runs, [](const Run &a, const Run &b) {
    return a.stride < b.stride;
  });
  int64_t inner = coordinates.last() - coordinates.first -
                  (outer->count - 1) * outer->stride;
  // The first step that starts inside, and the first that ends outside.
  int64_t first = std::max<int64_t>(
      0, (begin - coordinates.first + outer->stride - 1) / outer->stride);
  int64_t room = end - 1 - inner - coordinates.first;
  int64_t stop =
      room < 0 ? 0 : std::min(outer->count, room / outer->stride + 1);
  if (stop <= first)
    return Coordinates::range(0, 0);
  clipped.first += first * outer->stride;
  outer->count = stop - first;
  return clipped;
}

/// The values of `expr` over a box. `expr` is a constant, or a dimension times
/// a step plus a start; none for other forms.
static std::optional<Coordinates> evaluate(AffineExpr expr, const Box &box) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Coordinates::range(constant.getValue(), /*count=*/1);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return box[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  std::optional<Coordinates> values = evaluate(binary.getLHS(), box);
  if (!number || !values || number.getValue() < 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    values->first += number.getValue();
    return values;
  }
  if (expr.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  values->first *= number.getValue();
  for (Run &run : values->runs)
    run.stride *= number.getValue();
  return values;
}

/// The expected number of distinct rows, of `size`, that random indices select.
static int64_t countSelectedRows(int64_t size, int64_t indices) {
  if (size <= 1)
    return size;
  double unselected = std::pow(1.0 - 1.0 / double(size), double(indices));
  return std::max<int64_t>(1, int64_t(double(size) * (1.0 - unselected)));
}

/// The number of keys that each query attends to, summed over `queries`. With
/// `causal`, query i attends to keys 0 to i.
static double countSeenKeys(const Coordinates &queries, int64_t keys,
                            bool causal) {
  if (!causal)
    return double(queries.size()) * double(keys);
  if (queries.runs.empty())
    return double(std::min(queries.first + 1, keys));
  Coordinates inner = queries;
  Run run = inner.runs.pop_back_val();
  if (!inner.runs.empty()) {
    double sum = 0;
    for (int64_t i = 0; i < run.count; ++i, inner.first += run.stride)
      sum += countSeenKeys(inner, keys, causal);
    return sum;
  }
  // Queries that attend to a part of the keys come first, then those that
  // attend to all.
  int64_t unseen = std::max<int64_t>(0, keys - queries.first);
  int64_t growing =
      std::min<int64_t>(llvm::divideCeil(unseen, run.stride), run.count);
  double first = double(queries.first + 1), count = double(growing);
  return count * first + double(run.stride) * count * (count - 1) / 2 +
         double(run.count - growing) * double(keys);
}

namespace {
/// Collects the elements that one op reads of each operand.
class OperandDemand {
public:
  explicit OperandDemand(Operation *op)
      : op(op), demands(op->getNumOperands()) {}

  void add(unsigned operand, const ElementSet &set) {
    demands[operand].add(set);
  }
  void read(unsigned operand, const Box &box) {
    add(operand, flatten(box, getShape(op->getOperand(operand))));
  }
  /// The same for an operand that broadcasts to the shape of the box.
  void readBroadcast(unsigned operand, ArrayRef<Coordinates> box) {
    add(operand, ::readBroadcast(getShape(op->getOperand(operand)), box));
  }
  SmallVector<ElementSets> take() { return std::move(demands); }

private:
  Operation *op;
  SmallVector<ElementSets> demands;
};
} // namespace

/// Visits the elements `result` as boxes of `shape`.
static void visitBoxes(const ElementSets &result, ArrayRef<int64_t> shape,
                       function_ref<void(const Box &)> visit) {
  for (const ElementSet &set : result.getSets())
    forEachBox(set, shape, visit);
}

//===----------------------------------------------------------------------===//
// Pointwise ops, views and rows
//===----------------------------------------------------------------------===//

SmallVector<ElementSets>
fact::detail::getBroadcastDemand(Operation *op, const ElementSets &result) {
  OperandDemand demand(op);
  visitBoxes(result, getShape(op->getResult(0)), [&](const Box &box) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      demand.readBroadcast(i, box);
  });
  return demand.take();
}

SmallVector<ElementSets>
fact::detail::getViewDemand(Operation *op, const ElementSets &result) {
  SmallVector<AffineExpr> source = cast<ViewOpInterface>(op).getSourceExprs();
  OperandDemand demand(op);
  visitBoxes(result, getShape(op->getResult(0)), [&](const Box &box) {
    Box operand;
    for (auto [expr, size] :
         llvm::zip_equal(source, getShape(op->getOperand(0))))
      operand.push_back(evaluate(expr, box).value_or(wholeDim(size)));
    demand.read(0, operand);
  });
  return demand.take();
}

/// A reshape keeps the positions of elements.
SmallVector<ElementSets> ReshapeOp::getDemand(const ElementSets &result) {
  return {result};
}

SmallVector<ElementSets> fact::detail::getRowDemand(Operation *op,
                                                    const ElementSets &result) {
  SmallVector<int64_t> rowDims = cast<RowOpInterface>(op).getRowDims();
  ArrayRef<int64_t> from = getShape(op->getOperand(0));
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  bool keepsDims = from.size() == shape.size();
  OperandDemand demand(op);
  visitBoxes(result, shape, [&](const Box &box) {
    Box rows;
    const auto *next = box.begin();
    for (auto [dim, size] : llvm::enumerate(from)) {
      bool isRow = llvm::is_contained(rowDims, int64_t(dim));
      rows.push_back(isRow ? wholeDim(size) : *next);
      next += !isRow || keepsDims;
    }
    demand.read(0, rows);
    // Parameters have the shape of a row.
    for (unsigned i = 1; i < op->getNumOperands(); ++i) {
      Box parameters;
      for (int64_t dim : rowDims)
        parameters.push_back(box[dim]);
      demand.read(i, parameters);
    }
  });
  return demand.take();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

SmallVector<ElementSets> MatmulOp::getDemand(const ElementSets &result) {
  OperandDemand demand(*this);
  visitBoxes(result, getType().getShape(), [&](const Box &box) {
    ArrayRef<Coordinates> batch = ArrayRef(box).drop_back(2);
    auto factor = [&](unsigned operand, const Coordinates &kept,
                      bool isTransposed) {
      ArrayRef<int64_t> own =
          getShape((*this)->getOperand(operand)).drop_back(2);
      Box read;
      for (auto [size, coordinates] :
           llvm::zip_equal(own, batch.take_back(own.size())))
        read.push_back(size == 1 ? wholeDim(1) : coordinates);
      Coordinates contracted = wholeDim(getK());
      read.push_back(isTransposed ? contracted : kept);
      read.push_back(isTransposed ? kept : contracted);
      demand.read(operand, read);
    };
    factor(0, box[box.size() - 2], getTransposeA());
    factor(1, box.back(), !getTransposeB());
  });
  return demand.take();
}

double MatmulOp::getFlops(const ElementSets &result) {
  return 2.0 * result.count() * double(getK());
}

/// The shape of the result as [batch, key heads, query heads per key head,
/// queries, columns].
static SmallVector<int64_t> getGroupedShape(AttentionOp attention) {
  ArrayRef<int64_t> shape = getShape(attention.getResult());
  int64_t heads = getShape(attention.getKey())[1];
  return {shape[0], heads, shape[1] / std::max<int64_t>(heads, 1), shape[2],
          shape[3]};
}

/// Reads the mask of an attention for one box of its grouped shape.
static void readMask(AttentionOp attention, const Box &box,
                     OperandDemand &demand) {
  const Coordinates &queries = box[3];
  SmallVector<int64_t> grouped = getGroupedShape(attention);
  int64_t keys = getShape(attention.getKey())[2];
  // Heads as [key heads, query heads per key head], as in the box.
  SmallVector<int64_t> shape(getShape(attention.getMask()));
  if (shape.size() >= 3) {
    auto *heads = shape.end() - 3;
    bool isShared = *heads == 1;
    *heads = isShared ? 1 : grouped[2];
    shape.insert(heads, isShared ? 1 : grouped[1]);
  }
  auto readRows = [&](const Coordinates &rows, int64_t count) {
    demand.add(3, readBroadcast(
                      shape, {box[0], box[1], box[2], rows, wholeDim(count)}));
  };
  if (!attention.getCausal())
    return readRows(queries, keys);
  // The mask below the diagonal, approximated by at most 33 bands of rows. The
  // last row is the longest and comes first.
  readRows(Coordinates::range(queries.last(), 1),
           std::min(keys, queries.last() + 1));
  if (queries.runs.size() != 1)
    return;
  Run run = queries.runs.front();
  int64_t rows = run.count - 1, step = llvm::divideCeil(rows, 32);
  for (int64_t i = 0; i < rows; i += step) {
    int64_t first = queries.first + i * run.stride;
    readRows({first, {Run{std::min(step, rows - i), run.stride}}},
             std::min(keys, first + 1));
  }
}

SmallVector<ElementSets> AttentionOp::getDemand(const ElementSets &result) {
  SmallVector<int64_t> shape = getGroupedShape(*this);
  int64_t keys = getShape(getKey())[2], depth = getShape(getQuery())[3];
  SmallVector<int64_t> queryShape = shape;
  queryShape.back() = depth;
  OperandDemand demand(*this);
  visitBoxes(result, shape, [&](const Box &box) {
    const Coordinates &batch = box[0], &head = box[1], &group = box[2],
                      &queries = box[3], &columns = box[4];
    Coordinates seen =
        wholeDim(getCausal() ? std::min(keys, queries.last() + 1) : keys);
    demand.add(
        0, flatten({batch, head, group, queries, wholeDim(depth)}, queryShape));
    demand.read(1, {batch, head, seen, wholeDim(depth)});
    demand.read(2, {batch, head, seen, columns});
    if (getMask())
      readMask(*this, box, demand);
  });
  return demand.take();
}

double AttentionOp::getFlops(const ElementSets &result) {
  int64_t keys = getShape(getKey())[2];
  SmallVector<int64_t> shape = getGroupedShape(*this);
  ArrayRef<int64_t> rows = ArrayRef(shape).drop_back();
  auto countKeys = [&](const Box &box) {
    return double(box[0].size() * box[1].size() * box[2].size()) *
           countSeenKeys(box[3], keys, getCausal());
  };
  // Pairs of query and key that have a score, and terms of the result's sums.
  double scores = 0, products = 0;
  ElementSets wanted;
  visitBoxes(result, shape, [&](const Box &box) {
    products += countKeys(box) * double(box[4].size());
    wanted.add(flatten(Box(ArrayRef(box).drop_back()), rows));
  });
  visitBoxes(wanted, rows, [&](const Box &box) { scores += countKeys(box); });
  double depth = double(getShape(getQuery())[3]);
  return 2.0 * (scores * depth + products);
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

SmallVector<ElementSets> ConcatOp::getDemand(const ElementSets &result) {
  OperandDemand demand(*this);
  visitBoxes(result, getType().getShape(), [&](const Box &box) {
    int64_t begin = 0, dim = getDim();
    for (auto [i, input] : llvm::enumerate(getInputs())) {
      int64_t end = begin + getShape(input)[dim];
      Box operand = box;
      operand[dim] = clip(box[dim], begin, end);
      demand.read(i, operand);
      begin = end;
    }
  });
  return demand.take();
}

double ConcatOp::getFlops(const ElementSets &) { return 0; }

SmallVector<ElementSets> GatherOp::getDemand(const ElementSets &result) {
  int64_t dim = getDim(), rank = getShape(getIndices()).size();
  OperandDemand demand(*this);
  visitBoxes(result, getType().getShape(), [&](const Box &box) {
    ArrayRef<Coordinates> all = box;
    ElementSet read =
        flatten(Box(all.slice(dim, rank)), getShape(getIndices()));
    Box source(all.take_front(dim));
    source.push_back(
        wholeDim(countSelectedRows(getShape(getSource())[dim], read.size())));
    llvm::append_range(source, all.drop_front(dim + rank));
    demand.read(0, source);
    demand.add(1, read);
  });
  return demand.take();
}

double GatherOp::getFlops(const ElementSets &) { return 0; }

/// Reads all of the source: which of its elements are replaced is not known.
SmallVector<ElementSets> ScatterOp::getDemand(const ElementSets &) {
  OperandDemand demand(*this);
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    Box whole;
    for (int64_t size : getShape(operand))
      whole.push_back(wholeDim(size));
    demand.read(i, whole);
  }
  return demand.take();
}

double ScatterOp::getFlops(const ElementSets &) {
  return getKind() == ScatterKind::set
             ? 0
             : double(llvm::product_of(getShape(getUpdates())));
}

SmallVector<ElementSets> RotaryOp::getDemand(const ElementSets &result) {
  ArrayRef<int64_t> shape = getType().getShape();
  // Both elements of each pair are read.
  SmallVector<int64_t> paired(shape);
  int64_t half = paired.pop_back_val() / 2;
  paired.append({getInterleaved() ? half : 2, getInterleaved() ? 2 : half});
  OperandDemand demand(*this);
  visitBoxes(result, shape, [&](const Box &box) {
    for (unsigned i : {1, 2})
      demand.readBroadcast(i, box);
    forEachBox(flatten(box, shape), paired, [&](Box pairs) {
      pairs[pairs.size() - (getInterleaved() ? 1 : 2)] = wholeDim(2);
      demand.add(0, flatten(pairs, paired));
    });
  });
  return demand.take();
}

double RotaryOp::getFlops(const ElementSets &result) { return result.count(); }
