//===- Demand.cpp - Which elements of a tensor are needed -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Demand.h"
#include "llvm/ADT/TypeSwitch.h"
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
// Boxes of operands
//===----------------------------------------------------------------------===//

/// The elements of a tensor of shape `shape` that a box reads, to whose shape
/// it broadcasts.
static ElementSet readBroadcast(ArrayRef<int64_t> shape,
                                ArrayRef<Coordinates> box) {
  Box read;
  for (auto [size, coordinates] :
       llvm::zip_equal(shape, box.take_back(shape.size())))
    read.push_back(size == 1 ? wholeDim(1) : coordinates);
  return flatten(read, shape);
}

/// Those of `coordinates` in [begin, end), counted from `begin`: as many turns
/// of the outermost run as lie inside.
static Coordinates clip(Coordinates coordinates, int64_t begin, int64_t end) {
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
  // The first turn that starts inside, and the first that ends outside.
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

/// The values of `expr` where its dimension has the coordinates of a box: a
/// number, or a dimension times a step plus a start. None for other forms.
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

/// How many of `size` rows as many random indices name. Each may be named
/// twice, so it is fewer than there are indices.
static int64_t countNamedRows(int64_t size, int64_t indices) {
  if (size <= 1)
    return size;
  double unnamed = std::pow(1.0 - 1.0 / double(size), double(indices));
  return std::max<int64_t>(1, int64_t(double(size) * (1.0 - unnamed)));
}

double fact::countSeenKeys(const Coordinates &queries, int64_t keys,
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
  // Steps before all keys are seen, and those after.
  int64_t unseen = std::max<int64_t>(0, keys - queries.first);
  int64_t growing =
      std::min<int64_t>(llvm::divideCeil(unseen, run.stride), run.count);
  double first = double(queries.first + 1), count = double(growing);
  return count * first + double(run.stride) * count * (count - 1) / 2 +
         double(run.count - growing) * double(keys);
}

SmallVector<int64_t> fact::getGroupedShape(AttentionOp attention) {
  ArrayRef<int64_t> shape = getShape(attention.getResult());
  int64_t heads = getShape(attention.getKey())[1];
  return {shape[0], heads, shape[1] / std::max<int64_t>(heads, 1), shape[2],
          shape[3]};
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

namespace {
/// Finds what one op needs of its operands.
class OperandDemand {
public:
  explicit OperandDemand(Operation *op)
      : op(op), demands(op->getNumOperands()) {}

  SmallVector<ElementSets> run(const ElementSets &result) {
    shape = llvm::to_vector(getShape(op->getResult(0)));
    if (auto attention = dyn_cast<AttentionOp>(op))
      shape = getGroupedShape(attention);
    for (const ElementSet &set : result.getSets()) {
      // The same positions under another shape.
      if (isa<ReshapeOp>(op))
        demands[0].add(set);
      else
        forEachBox(set, shape, [&](const Box &box) { visit(box); });
    }
    return std::move(demands);
  }

private:
  void visit(const Box &box) {
    TypeSwitch<Operation *>(op)
        .Case<ViewOpInterface, ConcatOp, MatmulOp, AttentionOp, SoftmaxOp,
              NormOp, ReduceOp, GatherOp, RotaryOp>(
            [&](auto typed) { read(typed, box); })
        .Case([&](PointwiseOpInterface) {
          for (unsigned i = 0; i < op->getNumOperands(); ++i)
            readBroadcast(i, box);
        })
        .Default([&](Operation *) {
          for (unsigned i = 0; i < op->getNumOperands(); ++i)
            demands[i].add(ElementSet::whole(getShape(op->getOperand(i))));
        });
  }

  void readBox(unsigned operand, const Box &box) {
    demands[operand].add(flatten(box, getShape(op->getOperand(operand))));
  }
  void readBroadcast(unsigned operand, ArrayRef<Coordinates> box) {
    demands[operand].add(
        ::readBroadcast(getShape(op->getOperand(operand)), box));
  }

  void read(ViewOpInterface view, const Box &box) {
    Box operand;
    for (auto [expr, size] : llvm::zip_equal(view.getSourceExprs(),
                                             getShape(op->getOperand(0))))
      operand.push_back(evaluate(expr, box).value_or(wholeDim(size)));
    readBox(0, operand);
  }

  void read(ConcatOp concat, const Box &box) {
    int64_t begin = 0, dim = concat.getDim();
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      int64_t end = begin + getShape(op->getOperand(i))[dim];
      Box operand = box;
      operand[dim] = clip(box[dim], begin, end);
      readBox(i, operand);
      begin = end;
    }
  }

  void read(MatmulOp matmul, const Box &box) {
    ArrayRef<Coordinates> batch = ArrayRef(box).drop_back(2);
    auto factor = [&](unsigned operand, const Coordinates &kept,
                      bool isTransposed) {
      Box read(batch);
      Coordinates contracted = wholeDim(matmul.getK());
      read.push_back(isTransposed ? contracted : kept);
      read.push_back(isTransposed ? kept : contracted);
      ArrayRef<int64_t> shape = getShape(op->getOperand(operand));
      Box own(ArrayRef<Coordinates>(read).take_back(shape.size()));
      for (size_t i = 0; i + 2 < shape.size(); ++i)
        if (shape[i] == 1)
          own[i] = wholeDim(1);
      readBox(operand, own);
    };
    factor(0, box[box.size() - 2], matmul.getTransposeA());
    factor(1, box.back(), !matmul.getTransposeB());
  }

  void read(AttentionOp attention, const Box &box) {
    const Coordinates &batch = box[0], &head = box[1], &group = box[2],
                      &queries = box[3], &columns = box[4];
    int64_t keys = getShape(attention.getKey())[2];
    int64_t depth = getShape(attention.getQuery())[3];
    bool causal = attention.getCausal();
    Coordinates seen =
        wholeDim(causal ? std::min(keys, queries.last() + 1) : keys);
    SmallVector<int64_t> queryShape = shape;
    queryShape.back() = depth;
    demands[0].add(
        flatten({batch, head, group, queries, wholeDim(depth)}, queryShape));
    readBox(1, {batch, head, seen, wholeDim(depth)});
    readBox(2, {batch, head, seen, columns});
    if (!attention.getMask())
      return;
    // Heads as [key heads, query heads of each], as in the box.
    SmallVector<int64_t> maskShape(getShape(attention.getMask()));
    if (maskShape.size() >= 3) {
      auto *heads = maskShape.end() - 3;
      bool isShared = *heads == 1;
      *heads = isShared ? 1 : shape[2];
      maskShape.insert(heads, isShared ? 1 : shape[1]);
    }
    auto readMask = [&](const Coordinates &rows, int64_t count) {
      demands[3].add(::readBroadcast(
          maskShape, {batch, head, group, rows, wholeDim(count)}));
    };
    if (!causal)
      return readMask(queries, keys);
    // A staircase below the diagonal; the last row sees most.
    readMask(Coordinates::range(queries.last(), 1), seen.size());
    if (queries.runs.size() != 1)
      return;
    Run run = queries.runs.front();
    int64_t rows = run.count - 1, step = llvm::divideCeil(rows, 32);
    for (int64_t i = 0; i < rows; i += step) {
      int64_t first = queries.first + i * run.stride;
      readMask({first, {Run{std::min(step, rows - i), run.stride}}},
               std::min(keys, first + 1));
    }
  }

  void read(SoftmaxOp softmax, Box box) {
    box[softmax.getDim()] = wholeDim(shape[softmax.getDim()]);
    readBox(0, box);
  }

  void read(NormOp norm, const Box &box) {
    size_t kept = box.size() - norm.getDims();
    Box operand = box;
    for (size_t i = kept; i < box.size(); ++i)
      operand[i] = wholeDim(shape[i]);
    readBox(0, operand);
    for (unsigned i = 1; i < op->getNumOperands(); ++i)
      readBox(i, Box(ArrayRef<Coordinates>(box).drop_front(kept)));
  }

  void read(ReduceOp reduce, const Box &box) {
    Box operand;
    const auto *kept = box.begin();
    for (auto [dim, size] : llvm::enumerate(getShape(reduce.getOperand()))) {
      bool isReduced = llvm::is_contained(reduce.getDims(), dim);
      operand.push_back(isReduced ? wholeDim(size) : *kept);
      kept += !isReduced || reduce.getKeep();
    }
    readBox(0, operand);
  }

  void read(GatherOp gather, const Box &box) {
    int64_t dim = gather.getDim(), rank = getShape(gather.getIndices()).size();
    Box indices(ArrayRef<Coordinates>(box).slice(dim, rank));
    Box source(ArrayRef<Coordinates>(box).take_front(dim));
    ElementSet named = flatten(indices, getShape(gather.getIndices()));
    source.push_back(wholeDim(
        countNamedRows(getShape(gather.getSource())[dim], named.size())));
    llvm::append_range(source,
                       ArrayRef<Coordinates>(box).drop_front(dim + rank));
    readBox(0, source);
    demands[1].add(named);
  }

  void read(RotaryOp rotary, const Box &box) {
    for (unsigned i : {1, 2})
      readBroadcast(i, box);
    // Both of each pair.
    SmallVector<int64_t> paired = shape;
    int64_t half = paired.pop_back_val() / 2;
    bool interleaved = rotary.getInterleaved();
    paired.append({interleaved ? half : 2, interleaved ? 2 : half});
    forEachBox(flatten(box, shape), paired, [&](Box pairs) {
      pairs[pairs.size() - (interleaved ? 1 : 2)] = wholeDim(2);
      demands[0].add(flatten(pairs, paired));
    });
  }

  Operation *op;
  SmallVector<int64_t> shape;
  SmallVector<ElementSets> demands;
};
} // namespace

SmallVector<ElementSets> fact::getDemand(Operation *op,
                                         const ElementSets &result) {
  return OperandDemand(op).run(result);
}

//===----------------------------------------------------------------------===//
// Many ops
//===----------------------------------------------------------------------===//

void DemandAnalysis::addWhole(Value value) {
  ElementSets whole;
  whole.add(ElementSet::whole(getShape(value)));
  add(value, whole);
}

void DemandAnalysis::add(Value value, const ElementSets &sets) {
  if (sets.getSets().empty())
    return;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ViewOpInterface>(op))
    return add(op->getOperand(0), getDemand(op, sets).front());
  addStored(value, sets);
}

void DemandAnalysis::addStored(Value value, const ElementSets &sets) {
  auto [place, isNew] = demands.try_emplace(value);
  if (isNew)
    values.push_back(value);
  place->second.add(sets);
}
