//===- Scatter.cpp - Elements written to computed places ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source is copied, and then one update after the other is applied, in
// their order. Indices and updates are computed where they are needed. Where
// neighboring updates share an index, they are applied in vectors.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "fact/Target/RegionOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

using vector::CombiningKind;

/// Updates per element that are added one by one in the type of the elements.
static constexpr int64_t longestChain = 64;

namespace {
/// Values over one index space, with the place in the result of each point: for
/// updates, the place if all indices were 0.
struct Places {
  StridedView destination;
  Elements values;
};

struct ScatterRegion {
  Places source, updates;
  /// Over the index space of the updates.
  Elements indices;

  static FailureOr<ScatterRegion> read(FusedOp fused, EmitError emitError);
};

class ScatterPlan : public HostPlan {
public:
  ScatterPlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, ScatterRegion region)
      : HostPlan(family, fused, machine), region(std::move(region)) {}

  static FailureOr<ScatterRegion> read(FusedOp fused, EmitError emitError) {
    return ScatterRegion::read(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override {
    return HostRowsAttr::getSpace(fused.getContext(), {1});
  }

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  ScatterRegion region;
};

class ScatterFamily : public FamilyOf<ScatterPlan> {
public:
  ScatterFamily() : FamilyOf(scatterRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Also the pointwise ops and views before the scatter, of at most "
           "65536 "
           "elements. Booleans are only set.";
  }
};

class ScatterBuilder {
public:
  ScatterBuilder(KernelBuilder &b, const ScatterRegion &region);

  void build();

private:
  bool isInPlace() const { return memory == element; }
  /// An element of the result so far, or several.
  Value load(Value offset, int64_t width, int64_t stride);
  void store(Value value, Value offset, int64_t stride);
  Value combine(Value x, Value y);
  void copySource();
  void applyUpdates();
  /// One element at `column`, or `width` of them, whose indices are `index`.
  void applyUpdate(Value target, Value index, Value update, Value column,
                   int64_t width);
  void copyResult();

  KernelBuilder &b;
  const ScatterRegion &region;
  ScatterOp op;
  Type element;
  /// What the result is kept in until all updates are applied.
  Type memory;
  Value pointer;
  /// The distance of neighboring indices in the result, and their number.
  int64_t indexStride, size;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// A view of the indices as one of the updates.
static StridedView spread(const StridedView &indices, ScatterOp op) {
  StridedView result = indices;
  result.shape = SmallVector<int64_t>(op.getUpdates().getType().getShape());
  result.strides.assign(result.shape.size(), 0);
  llvm::copy(indices.strides, result.strides.begin() + op.getDim());
  return result;
}

/// Where each update lands if its index is 0.
static StridedView getTargets(ScatterOp op) {
  StridedView source = StridedView::identity(op.getSource());
  StridedView result = source;
  result.shape = SmallVector<int64_t>(op.getUpdates().getType().getShape());
  int64_t dim = op.getDim(), count = op.getIndices().getType().getRank();
  result.strides.erase(result.strides.begin() + dim);
  result.strides.insert(result.strides.begin() + dim, count, 0);
  return result;
}

/// Gives values over one index space as few dimensions as possible.
static void collapse(StridedView &destination, ArrayRef<Elements *> values) {
  SmallVector<StridedView> views{destination};
  for (Elements *each : values)
    for (const Elements::Leaf &leaf : each->getLeaves())
      views.push_back(leaf.view);
  collapseDimensions(views);
  size_t next = 0;
  destination = views[next++];
  for (Elements *each : values)
    for (Elements::Leaf &leaf : each->getLeaves())
      leaf.view = views[next++];
}

FailureOr<ScatterRegion> ScatterRegion::read(FusedOp fused,
                                             EmitError emitError) {
  auto op = getOnly<ScatterOp>(fused);
  if (!op || fused.getYield()->getNumOperands() != 1 ||
      fused.getYield()->getOperand(0) != op.getResult())
    return emitError() << "needs exactly one 'fact.scatter', whose result is "
                          "the only one";
  if (failed(requireElements(fused, emitError)))
    return failure();
  if (op.getType().getElementType().isInteger(1) &&
      op.getKind() != ScatterKind::set)
    return emitError() << "combines numbers, not i1";
  auto nothing = [](Value, const StridedView &) { return false; };
  auto plan = [&](Value value) {
    return Elements::plan(value, nothing, emitError);
  };
  FailureOr<Elements> source = plan(op.getSource());
  FailureOr<Elements> indices = plan(op.getIndices());
  FailureOr<Elements> updates = plan(op.getUpdates());
  if (failed(source) || failed(indices) || failed(updates))
    return failure();
  for (const auto &[value, elements] :
       {std::pair(op.getSource(), &*source), {op.getUpdates(), &*updates}})
    if (elements->computes() && value.getType().getNumElements() > mostComputed)
      return emitError() << "computes at most " << mostComputed
                         << " elements, of which "
                         << value.getType().getNumElements() << " are needed";
  ScatterRegion region{{StridedView::identity(op.getSource()), *source},
                       {getTargets(op), *updates},
                       *indices};
  collapse(region.source.destination, &region.source.values);
  for (Elements::Leaf &leaf : region.indices.getLeaves())
    leaf.view = spread(leaf.view, op);
  collapse(region.updates.destination,
           {&region.updates.values, &region.indices});
  return region;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Long sums need f64, and 16-bit elements would be rounded by each update.
static Type getMemoryType(ScatterOp op) {
  Type element = op.getType().getElementType();
  bool isSum = op.getKind() == ScatterKind::sum;
  if (!isa<FloatType>(element) || !(isSum || op.getKind() == ScatterKind::prod))
    return element;
  int64_t count = op.getIndices().getType().getNumElements();
  int64_t size = op.getType().getDimSize(op.getDim());
  if (isSum && count > longestChain * size)
    return Float64Type::get(op.getContext());
  return getComputeType(element);
}

ScatterBuilder::ScatterBuilder(KernelBuilder &b, const ScatterRegion &region)
    : b(b), region(region), op(getOnly<ScatterOp>(b.getFused())),
      element(op.getType().getElementType()), memory(getMemoryType(op)),
      indexStride(StridedView::identity(op.getSource()).strides[op.getDim()]),
      size(op.getType().getDimSize(op.getDim())) {}

Value ScatterBuilder::load(Value offset, int64_t width, int64_t stride) {
  return b.load(pointer, memory, offset, width, stride);
}

/// Converts `value` from the type in which elements are computed.
static Value widen(KernelBuilder &b, Value value, Type type) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (getElementTypeOrSelf(value.getType()) == type)
    return value;
  return arith::ExtFOp::create(
      b, b.withWidth(type, vector ? vector.getNumElements() : 0), value);
}

void ScatterBuilder::store(Value value, Value offset, int64_t stride) {
  b.store(value, pointer, memory, offset, stride);
}

Value ScatterBuilder::combine(Value x, Value y) {
  bool isFloat = isa<FloatType>(element);
  auto reduce = [&](CombiningKind kind) {
    return vector::makeArithReduction(b, b.getLoc(), kind, x, y);
  };
  switch (op.getKind()) {
  case ScatterKind::set:
    break;
  case ScatterKind::sum:
    return reduce(CombiningKind::ADD);
  case ScatterKind::prod:
    return reduce(CombiningKind::MUL);
  case ScatterKind::max:
    return reduce(isFloat ? CombiningKind::MAXIMUMF : CombiningKind::MAXSI);
  case ScatterKind::min:
    return reduce(isFloat ? CombiningKind::MINIMUMF : CombiningKind::MINSI);
  }
  llvm_unreachable("combines nothing");
}

namespace {
/// The elements of a row of an index space.
class Row {
public:
  Row(KernelBuilder &b, const Elements &values, Value row)
      : b(b), values(values) {
    for (const Elements::Leaf &leaf : values.getLeaves())
      offsets.push_back(b.rowOffset(splitLast(leaf.view), row));
  }
  Value read(Value column, int64_t width) {
    return values.build(b, width, [&](const Elements::Leaf &leaf) {
      int64_t stride = leaf.view.strides.back();
      size_t at = &leaf - values.getLeaves().data();
      return b.load(b.getPointer(leaf.value), getElementTypeOrSelf(leaf.value),
                    b.add(offsets[at], b.mul(column, stride)), width, stride);
    });
  }

private:
  KernelBuilder &b;
  const Elements &values;
  SmallVector<Value> offsets;
};
} // namespace

/// Calls `body` for each row of an index space, with the offset in its
/// destination.
static void forEachRow(KernelBuilder &b, const StridedView &destination,
                       llvm::function_ref<void(Value row, Value offset)> body) {
  int64_t rows = llvm::product_of(ArrayRef(destination.shape).drop_back());
  b.loop(b.integer(0), b.integer(rows), 1, [&](Value row) {
    body(row, b.rowOffset(splitLast(destination), row));
  });
}

/// The argument that values are without any change; null if there is none.
static Value getCopied(const Places &places) {
  ArrayRef<Elements::Leaf> leaves = places.values.getLeaves();
  if (leaves.size() != 1 || leaves[0].view.offset != 0 ||
      leaves[0].view.strides != places.destination.strides ||
      !places.values.isLeaf())
    return {};
  return leaves[0].value;
}

void ScatterBuilder::copySource() {
  int64_t count = op.getType().getNumElements();
  Value copied = getCopied(region.source);
  if (copied && isInPlace()) {
    Value bytes = b.integer(count * getStorageBytes(element));
    LLVM::MemcpyOp::create(b, pointer, b.getPointer(copied), bytes,
                           /*isVolatile=*/false);
    return;
  }
  const StridedView &destination = region.source.destination;
  forEachRow(b, destination, [&](Value index, Value target) {
    Row row(b, region.source.values, index);
    b.columns(b.integer(0), b.integer(destination.shape.back()),
              b.getLoopLanes(getComputeType(element)),
              [&](Value column, int64_t width) {
                int64_t stride = destination.strides.back();
                store(widen(b, row.read(column, width), getComputeType(memory)),
                      b.add(target, b.mul(column, stride)), stride);
              });
  });
}

void ScatterBuilder::applyUpdate(Value target, Value index, Value update,
                                 Value column, int64_t width) {
  int64_t stride = region.updates.destination.strides.back();
  Value offset =
      b.add(b.add(target, b.mul(index, indexStride)), b.mul(column, stride));
  update = widen(b, update, getComputeType(memory));
  if (op.getKind() != ScatterKind::set)
    update = combine(load(offset, width, stride), update);
  store(update, offset, stride);
}

void ScatterBuilder::applyUpdates() {
  const StridedView &destination = region.updates.destination;
  int64_t columns = destination.shape.back();
  Value first = b.integer(0), end = b.integer(columns);
  // `body` for an index that is in range.
  auto withIndex = [&](Row &indices, Value column,
                       llvm::function_ref<void(Value)> body) {
    Value index = indices.read(column, 0);
    if (!index.getType().isInteger(64))
      index = arith::ExtSIOp::create(b, b.getI64Type(), index);
    // Compared as unsigned, so that a negative index fails the bound check.
    b.ifThen(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                                   b.integer(size)),
             [&] { body(index); });
  };
  // Neighbors of one index that go to one place go there one by one.
  bool isShared =
      (columns == 1 || destination.strides.back() != 0) &&
      llvm::all_of(region.indices.getLeaves(), [](const Elements::Leaf &leaf) {
        return leaf.view.strides.back() == 0;
      });
  // No more lanes than columns.
  int64_t lanes = std::min<int64_t>(b.getLoopLanes(getComputeType(memory)),
                                    llvm::bit_floor<uint64_t>(columns));
  forEachRow(b, destination, [&](Value number, Value target) {
    Row indices(b, region.indices, number);
    Row updates(b, region.updates.values, number);
    if (!isShared)
      return b.loop(first, end, 1, [&](Value column) {
        withIndex(indices, column, [&](Value index) {
          applyUpdate(target, index, updates.read(column, 0), column, 0);
        });
      });
    withIndex(indices, first, [&](Value index) {
      // Each element once.
      auto apply = [&](Value column, int64_t width, ValueRange) {
        applyUpdate(target, index, updates.read(column, width), column, width);
        return SmallVector<Value>();
      };
      b.columns(first, end, lanes, ValueRange(), apply,
                [](ValueRange) { return SmallVector<Value>(); });
    });
  });
}

/// Rounds to the type of the result.
void ScatterBuilder::copyResult() {
  Type compute = getComputeType(element);
  b.columns(b.integer(0), b.integer(op.getType().getNumElements()),
            b.getLoopLanes(compute), [&](Value at, int64_t width) {
              Value value = load(at, width, 1);
              if (compute != getComputeType(memory))
                value = arith::TruncFOp::create(b, b.withWidth(compute, width),
                                                value);
              b.store(value, b.getResultPointer(0), element, at);
            });
}

void ScatterBuilder::build() {
  b.beginTile();
  pointer = isInPlace() ? b.getResultPointer(0)
                        : b.scratch(memory, op.getType().getNumElements());
  copySource();
  applyUpdates();
  if (!isInPlace())
    copyResult();
  b.endFunction();
}

void ScatterPlan::build(KernelBuilder &b, ScheduleAttr) const {
  ScatterBuilder(b, region).build();
}

void host::registerScatterFamily(DialectRegistry &registry) {
  registerFamily<ScatterFamily>(registry);
}
