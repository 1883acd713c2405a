//===- WindowReductionRegion.cpp - Reads a reduction of windows -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pointwise.h"
#include "WindowReduction.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Placement.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// What was read
//===----------------------------------------------------------------------===//

int64_t WindowAxis::countRead(int64_t windows, int64_t taps) const {
  llvm::SmallDenseSet<int64_t> read;
  for (int64_t window = 0; window < windows; ++window)
    for (int64_t tap = 0; tap < taps; ++tap)
      read.insert(window * stride + tap * dilation);
  return read.size();
}

const StridedView &WindowReduction::getLargestImage() const {
  return *llvm::max_element(images, [](const auto &a, const auto &b) {
    return countBytes(a) < countBytes(b);
  });
}

int64_t WindowReduction::getImageBytes() const {
  return getStorageBytes(
      getTensorType(getLargestImage().base).getElementType());
}

bool WindowReduction::areImagesAligned(int64_t vector) const {
  const StridedView &image = getLargestImage();
  size_t unit = image.strides.size() - (hasLanes() ? 1 : 2);
  for (auto [dim, stride] : llvm::enumerate(image.strides))
    if (dim == unit ? stride != 1 : stride % vector != 0)
      return false;
  return image.offset % vector == 0;
}

double WindowReduction::getBytes() const {
  double bytes = 0;
  for (auto *list : {&images, &taps, &operands, &results})
    for (const StridedView &view : *list)
      bytes += countBytes(view);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

namespace {
/// Reads tensors in the index space of the reduction's operand, then orders
/// their dimensions as the kernel has them.
class WindowReader {
public:
  WindowReader(FusedOp fused, WindowReduction &reduction, ReduceOp reduce,
               WindowsOp windows, EmitError emitError)
      : fused(fused), reduction(reduction), reduce(reduce), windows(windows),
        padded(PaddedImage::get(windows, /*onlyZeros=*/false)),
        emitError(emitError),
        shape(getTensorType(reduce.getOperand()).getShape()),
        dim(windows.getDim()), count(windows.getKernel().size()) {
    for (int64_t i = 0; i < int64_t(shape.size()); ++i)
      if (!llvm::is_contained(reduce.getDims(), i))
        kept.push_back(i);
  }

  LogicalResult read() {
    if (failed(readTaps()) || failed(readImages()) || failed(readAxes()) ||
        failed(readResults()))
      return failure();
    arrange();
    return checkStores();
  }

private:
  LogicalResult findWindows(const StridedView &view);
  LogicalResult readTaps();
  LogicalResult readImages();
  LogicalResult readAxes();
  LogicalResult readResults();
  LogicalResult checkStores() const;
  void arrange();
  void collapseOuter();

  SmallVector<int64_t> getKeptShape() const {
    return llvm::map_to_vector(kept, [&](int64_t i) { return shape[i]; });
  }
  bool isAxis(int64_t place) const {
    return place >= dim && place < dim + count;
  }
  bool isTap(int64_t place) const {
    return place >= dim + count && place < dim + 2 * count;
  }
  /// The dimension of the windows' operand that a dimension of them is of.
  int64_t toImage(int64_t place) const {
    return place < dim + count ? place : place - count;
  }
  int64_t getImageStride(const StridedView &view, int64_t i) const {
    return places[i] < 0 ? 0 : view.strides[toImage(places[i])];
  }
  static SmallVector<StridedView> getViews(const ScalarFunction &function,
                                           size_t leading) {
    return llvm::map_to_vector(
        function.getArguments().drop_front(leading),
        [](const ScalarFunction::Argument &argument) { return argument.view; });
  }

  FusedOp fused;
  WindowReduction &reduction;
  ReduceOp reduce;
  WindowsOp windows;
  PaddedImage padded;
  EmitError emitError;
  /// Of the reduction's operand, whose dimensions those of the windows are:
  /// `places[i]` is a dimension of the windows, -1 if they are the same for all
  /// of it.
  ArrayRef<int64_t> shape;
  int64_t dim, count;
  SmallVector<int64_t> kept, places;
  /// For each axis of the kernel that is not trivial, its dimension of the
  /// windows' operand.
  SmallVector<int64_t> axes;
  /// The dimensions of the index space that are outer ones, and the lanes' (-1:
  /// none).
  SmallVector<int64_t> outer;
  int64_t lane = -1;
};
} // namespace

/// Finds the dimensions of the windows in the index space.
LogicalResult WindowReader::findWindows(const StridedView &view) {
  ArrayRef<int64_t> sizes = windows.getType().getShape();
  SmallVector<int64_t> strides = rowMajorStrides(sizes);
  llvm::SmallDenseSet<int64_t> found;
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t place = -1;
    if (size > 1 && view.strides[i] != 0)
      for (auto [w, stride] : llvm::enumerate(strides))
        if (sizes[w] == size && stride == view.strides[i])
          place = w;
    if (size > 1 && view.strides[i] != 0 && place < 0)
      break;
    places.push_back(place);
    if (place >= 0)
      found.insert(place);
  }
  size_t wanted = llvm::count_if(sizes, [](int64_t size) { return size > 1; });
  if (places.size() != shape.size() || found.size() != wanted ||
      view.offset != 0)
    return emitError() << "the dimensions of windows must be dimensions of "
                          "what is reduced";
  for (auto [i, place] : llvm::enumerate(places)) {
    bool isReduced = !llvm::is_contained(kept, int64_t(i));
    if (shape[i] > 1 && isReduced != isTap(place))
      return emitError() << "the reduced dimensions must be the places in a "
                            "window";
  }
  return success();
}

LogicalResult WindowReader::readTaps() {
  Value reduced = reduce.getOperand();
  auto isWindows = [&](Value value, const StridedView *) {
    return value == windows.getResult();
  };
  PointwiseGraph::Options reads;
  reads.isAnchor = isWindows;
  FailureOr<PointwiseGraph> graph =
      PointwiseGraph::read(reduced, shape, reads, emitError);
  if (failed(graph))
    return failure();
  const PointwiseGraph::Leaf *anchor = nullptr;
  for (const PointwiseGraph::Leaf &leaf : graph->getLeaves())
    if (leaf.isAnchor) {
      if (anchor)
        return emitError() << "reads windows through two views";
      anchor = &leaf;
    }
  if (!anchor)
    return emitError() << "the reduced elements are not those of windows";
  if (failed(findWindows(anchor->view)))
    return failure();

  ScalarFunction::Options options;
  options.leading = {windows.getResult()};
  options.rowValues = options.leading;
  options.rowStrides = anchor->view.strides;
  FailureOr<ScalarFunction> tap =
      ScalarFunction::get(reduced, shape, options, emitError);
  if (failed(tap))
    return failure();
  reduction.taps = getViews(*tap, 1);
  reduction.tap = std::move(*tap);
  for (const StridedView &view : reduction.taps)
    for (int64_t i : kept)
      if (shape[i] > 1 && isAxis(places[i]) && view.strides[i] != 0)
        return emitError() << "an operand of type " << view.base.getType()
                           << " must be the same for all windows of an image";
  return success();
}

LogicalResult WindowReader::readImages() {
  ArrayRef<int64_t> sizes = getTensorType(padded.source).getShape();
  FailureOr<ScalarFunction> load =
      ScalarFunction::get(padded.source, sizes, {}, emitError);
  if (failed(load))
    return failure();
  // Threads that share an element compute it again.
  constexpr double highestCost = 24;
  if (load->getCost() > highestCost)
    return emitError() << "the pointwise ops before windows must cost at most "
                       << highestCost << " instructions, not "
                       << load->getCost();
  reduction.images = getViews(*load, 0);
  reduction.load = std::move(*load);
  reduction.fill = padded.fill;
  if (reduction.images.empty() ||
      countBytes(reduction.getLargestImage()) <
          double(llvm::product_of(sizes)) * reduction.getImageBytes())
    return emitError() << "all elements of an image must be in memory";
  for (StridedView &view : reduction.images)
    view = view.permute(padded.order);
  return success();
}

/// Chooses the role of each dimension in the kernel.
LogicalResult WindowReader::readAxes() {
  ArrayRef<int64_t> sizes = getTensorType(padded.source).getShape();
  SmallVector<WindowAxis> found;
  for (int64_t i = 0; i < count; ++i) {
    WindowAxis axis;
    axis.count = windows.getType().getDimSize(dim + i);
    axis.size = sizes[padded.order[dim + i]];
    axis.low = padded.low[dim + i];
    axis.kernel = windows.getKernel()[i];
    axis.stride = windows.getStrides()[i];
    axis.dilation = windows.getDilations()[i];
    if (axis.isTrivial())
      continue;
    found.push_back(axis);
    axes.push_back(dim + i);
  }
  if (found.size() > reduction.axes.size())
    return emitError() << "windows have at most " << reduction.axes.size()
                       << " dimensions, not " << found.size();
  llvm::copy(found, reduction.axes.end() - found.size());

  const StridedView &image = reduction.getLargestImage();
  bool areColumnsNeighbors = !axes.empty() && image.strides[axes.back()] == 1;
  for (int64_t i : kept) {
    if (shape[i] == 1 || isAxis(places[i]))
      continue;
    if (!areColumnsNeighbors && lane < 0 && getImageStride(image, i) == 1)
      lane = i;
    else
      outer.push_back(i);
  }
  if (lane >= 0)
    reduction.lanes = shape[lane];
  for (int64_t size : shape)
    if (size >= INT32_MAX)
      return emitError() << "dimensions have less than 2^31 elements, not "
                         << size;
  return success();
}

LogicalResult WindowReader::readResults() {
  SmallVector<int64_t> keptShape = getKeptShape();
  SmallVector<Value> values;
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    int64_t elements = getTensorType(destination->value).getNumElements();
    if (elements != llvm::product_of(keptShape))
      return emitError() << "a result of type " << yielded.getType()
                         << " must have one element per window";
    FailureOr<StridedView> view = destination->view.reshape(keptShape);
    if (failed(view))
      return emitError() << "the views of a result of type "
                         << yielded.getType() << " merge its dimensions";
    values.push_back(destination->value);
    reduction.results.push_back(*view);
    reduction.resultBuffers.push_back(getResultBuffer(fused, i));
  }
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  options.leading = {reduce.getResult()};
  FailureOr<ScalarFunction> body =
      ScalarFunction::get(values, keptShape, options, emitError);
  if (failed(body))
    return failure();
  reduction.operands = getViews(*body, 1);
  reduction.body = std::move(*body);
  return success();
}

/// Orders the dimensions of views as the kernel has them.
void WindowReader::arrange() {
  auto make = [&](StridedView &view, const auto &getStride,
                  auto getAxisStride) {
    StridedView made{view.base, view.offset, {}, {}};
    auto add = [&](int64_t size, int64_t stride) {
      made.shape.push_back(size);
      made.strides.push_back(size == 1 ? 0 : stride);
    };
    for (int64_t i : outer)
      add(shape[i], getStride(i));
    size_t missing = reduction.axes.size() - axes.size();
    for (size_t a = 0; a < reduction.axes.size(); ++a)
      if (a < missing)
        add(1, 0);
      else
        getAxisStride(a, axes[a - missing], add);
    add(reduction.lanes, lane < 0 ? 0 : getStride(lane));
    view = made;
  };
  for (StridedView &view : reduction.images)
    make(
        view, [&](int64_t i) { return getImageStride(view, i); },
        [&](size_t a, int64_t axis, const auto &add) {
          add(reduction.axes[a].size, view.strides[axis]);
        });
  // Windows along an axis are a dimension of the index space, if there are
  // several.
  auto getWindowStride = [&](int64_t axis, const auto &getStride) -> int64_t {
    for (int64_t i : kept)
      if (shape[i] > 1 && places[i] == axis)
        return getStride(i);
    return 0;
  };
  for (StridedView &view : reduction.taps) {
    StridedView whole = view;
    make(
        view, [&](int64_t i) { return whole.strides[i]; },
        [&](size_t a, int64_t, auto add) { add(reduction.axes[a].count, 0); });
    for (size_t a = 0; a < reduction.axes.size(); ++a) {
      int64_t stride = 0, missing = reduction.axes.size() - axes.size();
      for (size_t i = 0; i < shape.size(); ++i)
        if (int64_t(a) >= missing && shape[i] > 1 &&
            places[i] == axes[a - missing] + count)
          stride = whole.strides[i];
      view.shape.push_back(reduction.axes[a].kernel);
      view.strides.push_back(stride);
    }
  }
  for (auto *list : {&reduction.operands, &reduction.results})
    for (StridedView &view : *list) {
      auto getStride = [&, whole = view](int64_t i) {
        return whole.strides[llvm::find(kept, i) - kept.begin()];
      };
      make(view, getStride, [&](size_t a, int64_t axis, auto add) {
        add(reduction.axes[a].count, getWindowStride(axis, getStride));
      });
    }
  for (int64_t i : outer)
    reduction.outer.push_back(shape[i]);
  collapseOuter();
}

/// Merges outer dimensions that are contiguous in all views; there is at least
/// one.
void WindowReader::collapseOuter() {
  auto all = {&reduction.images, &reduction.taps, &reduction.operands,
              &reduction.results};
  for (size_t d = reduction.outer.size(); d-- > 1;) {
    int64_t size = reduction.outer[d];
    bool merges = llvm::all_of(all, [&](auto *list) {
      return llvm::all_of(*list, [&](const StridedView &view) {
        return view.strides[d - 1] == view.strides[d] * size;
      });
    });
    if (!merges)
      continue;
    for (auto *list : all)
      for (StridedView &view : *list) {
        view.shape[d] *= view.shape[d - 1];
        view.shape.erase(view.shape.begin() + d - 1);
        view.strides.erase(view.strides.begin() + d - 1);
      }
    reduction.outer[d] *= reduction.outer[d - 1];
    reduction.outer.erase(reduction.outer.begin() + d - 1);
  }
  if (!reduction.outer.empty())
    return;
  reduction.outer.push_back(1);
  for (auto *list : all)
    for (StridedView &view : *list) {
      view.shape.insert(view.shape.begin(), 1);
      view.strides.insert(view.strides.begin(), 0);
    }
}

/// Stores across lanes, or across columns where there are no lanes, fill a
/// sector of 32 bytes by one element each, where a pass that transposes in
/// tiles reads and writes the result once more. Of small results, its launch
/// would take longer.
LogicalResult WindowReader::checkStores() const {
  constexpr int64_t mostBytes = 4 << 20, fewNeighbors = 8;
  int64_t neighbors =
      reduction.hasLanes() ? reduction.lanes : reduction.getColumns().count;
  if (neighbors < fewNeighbors)
    return success();
  for (const StridedView &result : reduction.results) {
    RankedTensorType type = getTensorType(result.base);
    int64_t bytes = getStorageBytes(type);
    int64_t stride = reduction.hasLanes() ? result.strides.back()
                                          : *(result.strides.end() - 2);
    if (stride != 1 && bytes > mostBytes)
      return emitError() << "a result of type " << type
                         << " lies across the image, which costs more than a "
                            "kernel that transposes it";
  }
  return success();
}

FailureOr<WindowReduction> WindowReduction::read(FusedOp fused,
                                                 EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  auto windows = getOnly<WindowsOp>(fused);
  auto reduce = getOnly<ReduceOp>(fused);
  if (!windows || !reduce)
    return emitError() << "needs exactly one 'fact.windows' and one "
                          "'fact.reduce'";
  auto isPlacement = [](Operation &op) {
    auto concat = dyn_cast<ConcatOp>(op);
    return isa<ub::PoisonOp>(op) || (concat && Placement::get(concat));
  };
  for (Operation &op : fused.getBodyOps())
    if (!isa<PointwiseOpInterface, ViewOpInterface, ConstantOp, ReduceOp>(op) &&
        !SplatPadding::get(&op) && !isPlacement(op))
      return emitError() << "'" << op.getName()
                         << "' is not a pointwise op, a view or padding";
  if (reduce.getArithmetic().locates)
    return emitError() << "places in windows are not counted";
  WindowReduction reduction;
  reduction.kind = reduce.getKind();
  reduction.element = getTensorType(reduce.getOperand()).getElementType();
  WindowReader reader(fused, reduction, reduce, windows, emitError);
  if (failed(reader.read()))
    return failure();
  return std::move(reduction);
}
