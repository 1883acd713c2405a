//===- Destination.cpp - Where the results of a region land ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Destination.h"
#include "fact/Dialect/Fact/Placement.h"

using namespace mlir;
using namespace fact;

/// The value that a view at the end of a region, or a placement, moves; null
/// for other ops.
static Value getMoved(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, PermuteOp>(op))
    return op->getOperand(0);
  auto concat = dyn_cast_if_present<ConcatOp>(op);
  std::optional<Placement> placement =
      concat ? Placement::get(concat) : std::nullopt;
  return placement ? placement->value : Value();
}

SmallVector<Destination> fact::getDestinations(Value yielded) {
  SmallVector<Destination> destinations;
  for (Value value = yielded;; value = getMoved(value)) {
    FailureOr<StridedView> view = StridedView::getDestination(value, yielded);
    if (failed(view))
      return destinations;
    destinations.push_back({value, *view});
    if (!getMoved(value))
      return destinations;
  }
}

FailureOr<Destination> fact::getDestination(Value yielded,
                                            EmitError emitError) {
  Destination last = getDestinations(yielded).back();
  if (getMoved(last.value))
    return emitError() << "the views after the last op put the elements of "
                       << last.value.getType()
                       << " where strides cannot describe them";
  return last;
}

/// What a permute does to positions, undone.
static SmallVector<int64_t> invert(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> order(dims.size());
  for (auto [i, dim] : llvm::enumerate(dims))
    order[dim] = i;
  return order;
}

/// Applies a function, which may fail, to the positions and to all coordinates.
template <typename FunctionT>
static LogicalResult transform(Destination &destination, FunctionT function) {
  FailureOr<StridedView> view = function(destination.view);
  if (failed(view))
    return failure();
  destination.view = *view;
  for (PointwiseGraph::Bound &bound : destination.bounds) {
    FailureOr<StridedView> coordinate = function(bound.coordinate);
    if (failed(coordinate))
      return failure();
    bound.coordinate = *coordinate;
  }
  return success();
}

/// The destination before a slice: of all elements of its operand.
static void uncrop(Destination &destination, SliceOp slice) {
  int64_t dim = slice.getDim(), start = slice.getStart();
  int64_t size = destination.view.shape[dim];
  auto whole = cast<RankedTensorType>(slice.getOperand().getType());
  (void)transform(destination, [&](StridedView view) -> FailureOr<StridedView> {
    view.shape[dim] = whole.getDimSize(dim);
    view.offset -= start * view.strides[dim];
    return view;
  });
  StridedView coordinate;
  coordinate.shape.assign(whole.getShape().begin(), whole.getShape().end());
  coordinate.strides.assign(whole.getRank(), 0);
  coordinate.strides[dim] = 1;
  destination.bounds.push_back({coordinate, start, start + size});
}

Destination fact::getCropped(Value yielded) {
  Destination destination{yielded, StridedView::identity(yielded)};
  while (true) {
    Operation *op = destination.value.getDefiningOp();
    Destination next = destination;
    if (isa_and_nonnull<ReshapeOp>(op)) {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      if (failed(transform(next, [&](const StridedView &view) {
            return view.reshape(type.getShape());
          })))
        return destination;
    } else if (auto permute = dyn_cast_if_present<PermuteOp>(op)) {
      SmallVector<int64_t> order = invert(permute.getDims());
      (void)transform(next,
                      [&](const StridedView &view) -> FailureOr<StridedView> {
                        return view.permute(order);
                      });
    } else if (auto slice = dyn_cast_if_present<SliceOp>(op);
               slice && slice.getStep() == 1) {
      uncrop(next, slice);
    } else {
      return destination;
    }
    next.value = op->getOperand(0);
    destination = std::move(next);
  }
}

LogicalResult fact::shareIndexSpace(MutableArrayRef<StridedView> views,
                                    EmitError emitError) {
  SmallVector<int64_t> space = views.front().shape;
  for (StridedView &view : views) {
    if (llvm::product_of(view.shape) != llvm::product_of(space))
      return emitError() << "all results must have the same number of elements";
    FailureOr<StridedView> reshaped = view.reshape(space);
    if (failed(reshaped))
      return emitError() << "results lie too differently for one index space";
    view = *reshaped;
  }
  return success();
}

SmallVector<Destination> fact::getParts(ConcatOp concat,
                                        const Destination &result) {
  SmallVector<Destination> parts;
  int64_t start = 0, dim = concat.getDim();
  for (Value input : concat.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    Destination part = result;
    part.value = input;
    (void)transform(part,
                    [&](const StridedView &view) -> FailureOr<StridedView> {
                      return view.slice(dim, start, size, /*step=*/1);
                    });
    parts.push_back(std::move(part));
    start += size;
  }
  return parts;
}

/// Dimensions of which those of both shapes are products, if there are such.
static FailureOr<SmallVector<int64_t>> refine(SmallVector<int64_t> one,
                                              SmallVector<int64_t> other) {
  SmallVector<int64_t> shape;
  while (true) {
    for (SmallVector<int64_t> *each : {&one, &other})
      while (!each->empty() && each->back() == 1)
        each->pop_back();
    if (one.empty() || other.empty())
      break;
    int64_t size = std::min(one.back(), other.back());
    if (one.back() % size != 0 || other.back() % size != 0)
      return failure();
    shape.push_back(size);
    one.back() /= size;
    other.back() /= size;
  }
  std::reverse(shape.begin(), shape.end());
  return shape;
}

/// The elements [start, start + size) of dimensions [first, last) together, as
/// a box of them.
static FailureOr<StridedView> getBox(StridedView view, int64_t first,
                                     int64_t last, int64_t start,
                                     int64_t size) {
  int64_t inner =
      llvm::product_of(ArrayRef(view.shape).slice(first, last - first));
  for (int64_t dim = first; dim < last; ++dim) {
    int64_t extent = view.shape[dim];
    inner /= extent;
    int64_t index = start / inner;
    start %= inner;
    if (size < inner) {
      view = view.slice(dim, index, /*size=*/1, /*step=*/1);
      continue;
    }
    if (start != 0 || size % inner != 0 || index + size / inner > extent)
      return failure();
    return view.slice(dim, index, size / inner, /*step=*/1);
  }
  return failure();
}

FailureOr<SmallVector<Destination>>
fact::getSplitParts(ConcatOp concat, const Destination &result,
                    EmitError emitError) {
  ArrayRef<int64_t> shape = concat.getType().getShape();
  int64_t dim = concat.getDim();
  FailureOr<SmallVector<int64_t>> refined =
      refine(SmallVector<int64_t>(shape), result.view.shape);
  Destination split = result;
  if (failed(refined) || failed(transform(split, [&](const StridedView &view) {
        return view.reshape(*refined);
      })))
    return emitError() << "the view after 'fact.concat' splits and joins its "
                          "dimensions at once";
  // The dimension after those with so many elements, from `begin` on.
  auto skip = [&](size_t begin, int64_t elements) {
    for (int64_t run = 1; run < elements; ++begin)
      run *= split.view.shape[begin];
    return begin;
  };
  int64_t first = skip(0, llvm::product_of(shape.take_front(dim)));
  int64_t last = skip(first, shape[dim]), start = 0;
  SmallVector<Destination> parts;
  for (Value input : concat.getInputs()) {
    ArrayRef<int64_t> wanted =
        cast<RankedTensorType>(input.getType()).getShape();
    Destination part = split;
    part.value = input;
    if (failed(transform(
            part, [&](const StridedView &view) -> FailureOr<StridedView> {
              FailureOr<StridedView> box =
                  getBox(view, first, last, start, wanted[dim]);
              return succeeded(box) ? box->reshape(wanted) : box;
            })))
      return emitError() << "input " << parts.size() << " of 'fact.concat' "
                         << "lands where strides cannot describe it";
    parts.push_back(std::move(part));
    start += wanted[dim];
  }
  return parts;
}

/// The first or second elements of all pairs in the last dimension; `value`
/// itself where it broadcasts along it.
static Value getHalf(OpBuilder &builder, RotaryOp rotary, Value value,
                     bool second) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = rotary.getType().getShape().back();
  if (type.getRank() == 0 || type.getShape().back() != size)
    return value;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = size / 2;
  bool interleaved = rotary.getInterleaved();
  int64_t start = !second ? 0 : interleaved ? 1 : size / 2;
  return SliceOp::create(builder, rotary.getLoc(), type.clone(shape), value,
                         type.getRank() - 1, start, interleaved ? 2 : 1);
}

SmallVector<Destination> fact::expandRotary(RotaryOp rotary,
                                            const StridedView &view) {
  OpBuilder builder(rotary);
  Location loc = rotary.getLoc();
  auto half = [&](Value value, bool second) {
    return getHalf(builder, rotary, value, second);
  };
  Value first = half(rotary.getOperand(), false);
  Value second = half(rotary.getOperand(), true);
  Type type = first.getType();
  auto multiply = [&](Value x, Value factor) -> Value {
    return MulOp::create(builder, loc, type, x, factor);
  };
  Value difference = SubOp::create(
      builder, loc, type, multiply(first, half(rotary.getCos(), false)),
      multiply(second, half(rotary.getSin(), false)));
  Value sum = AddOp::create(builder, loc, type,
                            multiply(second, half(rotary.getCos(), true)),
                            multiply(first, half(rotary.getSin(), true)));

  int64_t dim = view.shape.size() - 1, size = view.shape.back() / 2;
  bool interleaved = rotary.getInterleaved();
  int64_t step = interleaved ? 2 : 1;
  return {{difference, view.slice(dim, 0, size, step)},
          {sum, view.slice(dim, interleaved ? 1 : size, size, step)}};
}
