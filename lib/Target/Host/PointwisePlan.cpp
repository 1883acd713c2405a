//===- PointwisePlan.cpp - Elementwise results in parts -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PointwisePlan.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// More results that take turns are written one by one.
static constexpr int64_t mostInTurns = 4;

SmallVector<StridedView> PointwisePlan::Part::getViews() const {
  SmallVector<StridedView> views;
  for (const Result &result : results) {
    views.push_back(result.destination);
    for (const Elements::Leaf &leaf : result.elements.getLeaves())
      views.push_back(leaf.view);
  }
  return views;
}

void PointwisePlan::Part::setViews(MutableArrayRef<StridedView> views) {
  collapseDimensions(views);
  shape = views.front().shape;
  size_t next = 0;
  for (Result &result : results) {
    result.destination = views[next++];
    for (Elements::Leaf &leaf : result.elements.getLeaves())
      leaf.view = views[next++];
  }
}

/// Gives all results and leaves one index space.
LogicalResult PointwisePlan::Part::shareIndexSpace(EmitError emitError) {
  SmallVector<StridedView> views = getViews();
  if (failed(fact::shareIndexSpace(views, emitError)))
    return failure();
  setViews(views);
  return success();
}

void PointwisePlan::Part::orderAsWritten() {
  ArrayRef<int64_t> strides = results.front().destination.strides;
  if (strides.empty() || strides.back() == 1)
    return;
  for (const Result &result : results)
    if (llvm::any_of(
            result.elements.getLeaves(),
            [](const Elements::Leaf &leaf) { return !leaf.indices.empty(); }))
      return;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, strides.size()));
  llvm::stable_sort(
      order, [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  SmallVector<StridedView> views = getViews();
  for (StridedView &view : views)
    view = view.permute(order);
  setViews(views);
}

void PointwisePlan::Part::splitShortRows() {
  constexpr int64_t leastColumns = 8;
  int64_t count = shape.back(), rank = shape.size();
  if (rank < 2 || count < 2 || count > mostInTurns ||
      shape[rank - 2] < leastColumns)
    return;
  for (const Result &result : results) {
    ArrayRef<int64_t> strides = result.destination.strides;
    if (strides[rank - 1] != 1 || strides[rank - 2] != count ||
        !result.elements.getGathersForAllRows().empty())
      return;
  }
  std::vector<Result> split;
  for (const Result &result : results)
    split.insert(split.end(), count, result);
  results = std::move(split);
  SmallVector<StridedView> views = getViews();
  size_t next = 0;
  for (auto [i, result] : llvm::enumerate(results))
    for (size_t e = next + 1 + result.elements.getLeaves().size(); next < e;
         ++next) {
      StridedView &view = views[next];
      view.shape.pop_back();
      view.offset += int64_t(i) % count * view.strides.pop_back_val();
    }
  setViews(views);
}

bool host::isTransposed(const Elements::Leaf &leaf, size_t dim) {
  int64_t last = leaf.view.strides.back();
  Type storage = cast<RankedTensorType>(leaf.value.getType()).getElementType();
  return leaf.indices.empty() && last != 0 && last != 1 &&
         leaf.view.strides[dim] == 1 && !storage.isInteger(1);
}

std::optional<size_t> PointwisePlan::Part::findTransposed() const {
  if (getBlockSize(getInner()) < 4)
    return std::nullopt;
  for (const Result &result : results)
    for (const Elements::Leaf &leaf : result.elements.getLeaves())
      for (size_t dim = 0; dim + 1 < shape.size(); ++dim)
        if (getBlockSize(shape[dim]) >= 4 && isTransposed(leaf, dim))
          return dim;
  return std::nullopt;
}

/// The distance of neighbors in memory.
static int64_t getDistance(const StridedView &view) {
  for (auto [size, stride] :
       llvm::reverse(llvm::zip_equal(view.shape, view.strides)))
    if (size != 1)
      return stride;
  return 0;
}

/// Whether a result is `count` elements behind another one, and lies like it.
static bool follows(const PointwisePlan::Result &result,
                    const PointwisePlan::Result &first, int64_t count) {
  const StridedView &own = result.destination, &other = first.destination;
  return result.number == first.number && own.shape == other.shape &&
         own.strides == other.strides && own.offset == other.offset + count &&
         result.elements.getGathersForAllRows().empty();
}

ArrayRef<PointwisePlan::Result>
host::getInTurns(ArrayRef<PointwisePlan::Result> results) {
  const PointwisePlan::Result &first = results.front();
  int64_t count = getDistance(first.destination);
  if (count < 1 || count > std::min<int64_t>(results.size(), mostInTurns))
    return results.take_front(1);
  ArrayRef<PointwisePlan::Result> found = results.take_front(count);
  for (auto [i, result] : llvm::enumerate(found))
    if (!follows(result, first, i))
      return results.take_front(1);
  return found;
}

bool PointwisePlan::isInTurns(const Result &piece) const {
  // The first part has the whole results.
  if (parts.size() < 2)
    return false;
  ArrayRef<Result> last = parts.back().results;
  int64_t count = last.size();
  return count < std::min(getDistance(piece.destination), mostInTurns) &&
         follows(piece, last.front(), count);
}

LogicalResult PointwisePlan::add(unsigned number,
                                 const Destination &destination, bool isPiece,
                                 EmitError emitError) {
  SmallVector<Destination> pieces;
  if (auto concat = destination.value.getDefiningOp<ConcatOp>())
    pieces = getParts(concat, destination);
  // A rotary embedding that is concatenated is a kernel of its own.
  auto rotary = destination.value.getDefiningOp<RotaryOp>();
  if (rotary && !isPiece)
    pieces = expandRotary(rotary, destination.view);
  for (const Destination &piece : pieces)
    if (failed(add(number, piece, /*isPiece=*/true, emitError)))
      return failure();
  if (!pieces.empty())
    return success();
  auto nothing = [](Value, const StridedView &) { return false; };
  FailureOr<Elements> elements =
      Elements::plan(destination.value, nothing, emitError, /*gathers=*/true);
  if (failed(elements))
    return failure();
  Result result{number, *elements, destination.view};
  if (isPiece && !isInTurns(result))
    parts.emplace_back();
  // The first part has the whole results.
  Part &part = isPiece ? parts.back() : parts.front();
  part.results.push_back(std::move(result));
  return success();
}

LogicalResult PointwisePlan::addResult(unsigned number, Value yielded,
                                       EmitError emitError) {
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(yielded.getParentBlock()->getParentOp());
    PointwisePlan trial = *this;
    if (succeeded(trial.add(number, destination, /*isPiece=*/false,
                            silence ? EmitError(*silence) : emitError))) {
      *this = std::move(trial);
      return success();
    }
  }
  return failure();
}

FailureOr<PointwisePlan> PointwisePlan::get(FusedOp fused,
                                            EmitError emitError) {
  PointwisePlan plan;
  plan.parts.emplace_back();
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands()))
    if (failed(plan.addResult(i, yielded, emitError)))
      return failure();
  llvm::erase_if(plan.parts,
                 [](const Part &part) { return part.results.empty(); });
  for (Part &part : plan.parts) {
    if (failed(part.shareIndexSpace(emitError)))
      return failure();
    part.orderAsWritten();
    part.splitShortRows();
  }
  return plan;
}
