//===- ContractionRegion.cpp - A region as products of one lhs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/ContractionRegion.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/RowExponentials.h"
#include "fact/Dialect/Fact/Placement.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fact;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
class ContractionReader {
public:
  ContractionReader(FusedOp fused, const ContractionRegion::Options &options,
                    EmitError emitError)
      : fused(fused), options(options), emitError(emitError) {}

  FailureOr<ContractionRegion> run() {
    if (failed(readProducts()) || failed(readFactors()) ||
        failed(readReductions()) || failed(readResults()) ||
        failed(makeSegments()))
      return failure();
    return std::move(region);
  }

private:
  using Kind = ContractionRegion::Kind;
  using Form = ContractionRegion::Form;

  /// The products and reductions that a value is computed from, ascending.
  struct Sources {
    SmallVector<unsigned> products, reductions;
  };

  LogicalResult readProducts();
  LogicalResult checkCount();
  LogicalResult checkWeights();
  LogicalResult readFactors();
  LogicalResult checkSource(Value base, StringRef name);
  bool readWindows();
  FailureOr<StridedView> readFactor(Value value, bool transposed,
                                    StringRef name);
  LogicalResult readReductions();
  LogicalResult readReduction(ReduceOp reduce);
  LogicalResult readResults();
  FailureOr<Form> readForm(RankedTensorType type, const Sources &sources,
                           int64_t n);
  LogicalResult makeSegments();

  Sources findSources(Value root) const;
  FailureOr<int64_t> getWidth(ArrayRef<unsigned> products);
  ArrayRef<int64_t> getBatchShape() const {
    return region.products.front().matmul.getType().getShape().drop_back(2);
  }

  FusedOp fused;
  const ContractionRegion::Options &options;
  EmitError emitError;
  ContractionRegion region;
};
} // namespace

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

LogicalResult ContractionReader::readProducts() {
  for (auto matmul : fused.getBody().getOps<MatmulOp>())
    region.products.push_back({matmul, matmul.getN(), {}});
  if (failed(checkCount()))
    return failure();
  MatmulOp first = region.products.front().matmul;
  for (const ContractionRegion::Product &product : region.products) {
    MatmulOp matmul = product.matmul;
    if (matmul.getLhs() != first.getLhs() ||
        matmul.getTransposeA() != first.getTransposeA())
      return emitError() << "all 'fact.matmul' must have the same lhs";
    if (matmul.getTf32() != first.getTf32())
      return emitError() << "all 'fact.matmul' must allow 'tf32', or none";
    if (matmul.getType().getShape().drop_back(2) != getBatchShape())
      return emitError() << "all 'fact.matmul' must have the same batches, not "
                         << first.getType() << " and " << matmul.getType();
  }
  return checkWeights();
}

LogicalResult ContractionReader::checkCount() {
  size_t count = region.products.size();
  switch (options.kind) {
  case Kind::Single:
    if (count != 1)
      return emitError() << "needs exactly one 'fact.matmul', not " << count;
    break;
  case Kind::Gated:
    if (count != 2)
      return emitError() << "needs exactly two 'fact.matmul', not " << count;
    break;
  case Kind::Grouped:
    if (count < 2)
      return emitError() << "needs two or more 'fact.matmul', not " << count;
    break;
  }
  return success();
}

LogicalResult ContractionReader::checkWeights() {
  if (options.kind != Kind::Gated)
    return success();
  Value first = region.products[0].matmul.getRhs();
  Value second = region.products[1].matmul.getRhs();
  if (first == second)
    return emitError() << "needs two different weights, and both "
                          "'fact.matmul' have the same rhs";
  if (first.getType() != second.getType())
    return emitError() << "needs two weights of the same type, not "
                       << first.getType() << " and " << second.getType();
  return success();
}

LogicalResult ContractionReader::checkSource(Value base, StringRef name) {
  Operation *op = base.getDefiningOp();
  if (op && !(options.constantFactors && isa<fact::ConstantOp>(op)))
    return emitError() << name
                       << " of 'fact.matmul' must be an argument of the region "
                          "or a view of one, and is computed by '"
                       << op->getName() << "'";
  return success();
}

/// A factor as [batch..., rows, columns] of the products' batch sizes.
FailureOr<StridedView>
ContractionReader::readFactor(Value value, bool transposed, StringRef name) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view))
    return emitError() << name
                       << " of 'fact.matmul' is reshaped in a way that strides "
                          "cannot describe";
  if (failed(checkSource(view->base, name)))
    return failure();
  if (transposed) {
    auto order =
        llvm::to_vector(llvm::seq<int64_t>(0, int64_t(view->shape.size())));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    view = view->permute(order);
  }
  SmallVector<int64_t> shape(getBatchShape());
  shape.append(view->shape.end() - 2, view->shape.end());
  return view->broadcastTo(shape);
}

bool fact::isShared(const StridedView &factor) {
  for (size_t i = 0; i + 2 < factor.shape.size(); ++i)
    if (factor.shape[i] != 1 && factor.strides[i] != 0)
      return false;
  return true;
}

/// Reads the lhs as windows, if it is such and strides cannot describe it.
bool ContractionReader::readWindows() {
  MatmulOp first = region.products.front().matmul;
  if (!options.windows || first.getTransposeA())
    return false;
  FailureOr<StridedView> strided = StridedView::get(first.getLhs());
  if (succeeded(strided) && isa<BlockArgument>(strided->base))
    return false;
  FailureOr<WindowedView> windows = WindowedView::get(first.getLhs());
  if (failed(windows) ||
      windows->getRows() != llvm::product_of(getBatchShape()) * first.getM())
    return false;
  region.windows = *windows;
  return true;
}

LogicalResult ContractionReader::readFactors() {
  MatmulOp first = region.products.front().matmul;
  if (readWindows()) {
    if (failed(checkSource(region.windows->image.base, "the lhs")))
      return failure();
  } else {
    FailureOr<StridedView> lhs =
        readFactor(first.getLhs(), first.getTransposeA(), "the lhs");
    if (failed(lhs))
      return failure();
    region.lhs = *lhs;
  }
  for (ContractionRegion::Product &product : region.products) {
    FailureOr<StridedView> rhs = readFactor(
        product.matmul.getRhs(), product.matmul.getTransposeB(), "the rhs");
    if (failed(rhs))
      return failure();
    product.rhs = *rhs;
    if (isShared(*rhs) != isShared(region.products.front().rhs))
      return emitError() << "every rhs must have batches, or none";
  }
  region.m = first.getM();
  region.k = first.getK();
  region.batches = llvm::product_of(getBatchShape());
  if (options.foldBatches && region.isShared()) {
    region.m *= region.batches;
    region.batches =
        llvm::product_of(getBatchShape().take_front(options.batchDims));
    region.m /= region.batches;
  } else if (options.swapBatches) {
    if (!region.isShared() || region.windows)
      return emitError() << "batches become rows where all of them have the "
                            "same rhs";
    std::swap(region.m, region.batches);
    region.isSwapped = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values after the products
//===----------------------------------------------------------------------===//

ContractionReader::Sources ContractionReader::findSources(Value root) const {
  Sources sources;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> pending{root};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && seen.insert(op).second && !isa<MatmulOp>(op))
      llvm::append_range(pending, op->getOperands());
  }
  for (auto [i, product] : llvm::enumerate(region.products))
    if (seen.contains(product.matmul))
      sources.products.push_back(i);
  for (auto [i, reduction] : llvm::enumerate(region.reductions))
    if (seen.contains(reduction.op))
      sources.reductions.push_back(i);
  return sources;
}

/// The columns of the products that a value reads; of the first where it reads
/// none.
FailureOr<int64_t> ContractionReader::getWidth(ArrayRef<unsigned> products) {
  int64_t n = region.products[products.empty() ? 0 : products.front()].n;
  for (unsigned product : products)
    if (region.products[product].n != n)
      return emitError() << "combines products of " << n << " and of "
                         << region.products[product].n << " columns";
  return n;
}

LogicalResult ContractionReader::readReductions() {
  for (auto reduce : fused.getBody().getOps<ReduceOp>())
    if (failed(readReduction(reduce)))
      return failure();
  return success();
}

LogicalResult ContractionReader::readReduction(ReduceOp reduce) {
  if (region.isSwapped)
    return emitError() << "reduces products whose rows are in order";
  ReduceKind kind = reduce.getKind();
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
    return emitError() << "reduces products by sum, mean, prod, max or min, "
                          "not by '"
                       << stringifyReduceKind(kind) << "'";
  ReducedOperand operand = ReducedOperand::get(reduce);
  std::optional<RowExponentials> exponentials = RowExponentials::get(reduce);
  std::optional<unsigned> maximum;
  if (exponentials) {
    for (auto [i, reduction] : llvm::enumerate(region.reductions))
      if (reduction.op == exponentials->maximum && reduction.ofRows)
        maximum = i;
    if (maximum)
      operand.value = exponentials->value;
  }
  Sources sources = findSources(operand.value);
  if (!sources.reductions.empty())
    return emitError() << "a 'fact.reduce' reads another one, which is "
                          "complete only after the last tile";
  FailureOr<int64_t> n = getWidth(sources.products);
  if (failed(n))
    return failure();
  // The reduced dimensions must lie together: [before, over, after].
  ArrayRef<int64_t> shape = getTensorType(operand.value).getShape();
  int64_t before = llvm::product_of(shape), over = 1, after = 1;
  if (!operand.dims.empty()) {
    before = llvm::product_of(shape.take_front(operand.dims.front()));
    after = llvm::product_of(shape.drop_front(operand.dims.back() + 1));
    for (int64_t dim : operand.dims)
      over *= shape[dim];
  }
  bool isWhole = before * over * after == llvm::product_of(shape);
  bool ofRows =
      isWhole && before == region.getRows() && over == *n && after == 1;
  bool ofColumns =
      isWhole && before == region.batches && over == region.m && after == *n;
  if (!ofRows && !ofColumns)
    return emitError() << "'fact.reduce' must be over whole rows of a product, "
                          "of "
                       << *n << " elements, or over whole columns, of "
                       << region.m;
  region.reductions.push_back({reduce, ofRows, operand.value, *n,
                               sources.products, maximum,
                               maximum && exponentials->isGuarded});
  return success();
}

/// The form of a result that is computed from these sources.
FailureOr<ContractionRegion::Form>
ContractionReader::readForm(RankedTensorType type, const Sources &sources,
                            int64_t n) {
  bool ofRows = false, ofColumns = false;
  for (unsigned i : sources.reductions)
    (region.reductions[i].ofRows ? ofRows : ofColumns) = true;
  int64_t count = type.getNumElements();
  if (ofRows && count == region.getRows())
    return Form::PerRow;
  if (ofColumns && count == region.batches * n)
    return Form::PerColumn;
  if (ofRows || ofColumns)
    return emitError() << "a result of type " << type
                       << " reads a reduction of the product, which is "
                          "complete only after the last tile";
  if (count == region.getRows() * n)
    return Form::Full;
  return emitError() << "a result of type " << type
                     << " must have the size of the product, or be computed "
                        "from a reduction of it";
}

LogicalResult ContractionReader::readResults() {
  for (OpOperand &operand : fused.getYield()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    Sources sources = findSources(operand.get());
    size_t count = sources.products.size();
    if (count == 0 && region.products.size() > 1)
      return emitError() << "result " << number << " reads no product";
    if (count > 1 && options.kind == Kind::Grouped)
      return emitError() << "result " << number
                         << " must read one product, not " << count;
    FailureOr<int64_t> n = getWidth(sources.products);
    if (failed(n))
      return failure();
    FailureOr<Form> form = readForm(
        getTensorType(Placement::getWritten(operand.get())), sources, *n);
    if (failed(form))
      return failure();
    region.results.push_back(
        {number, operand.get(), *form, *n, sources.products});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

LogicalResult ContractionReader::makeSegments() {
  llvm::EquivalenceClasses<unsigned> classes;
  for (const ContractionRegion::Result &result : region.results)
    for (unsigned product : result.products)
      classes.unionSets(result.products.front(), product);
  for (const ContractionRegion::Reduction &reduction : region.reductions)
    for (unsigned product : reduction.products)
      classes.unionSets(reduction.products.front(), product);

  llvm::SmallDenseMap<unsigned, unsigned> segmentOf;
  for (auto [i, product] : llvm::enumerate(region.products)) {
    if (!classes.contains(i))
      return emitError() << "no result reads product " << i;
    auto [segment, isNew] = segmentOf.try_emplace(classes.getLeaderValue(i),
                                                  region.segments.size());
    if (isNew)
      region.segments.push_back({product.n, {}, {}, {}});
    region.segments[segment->second].products.push_back(i);
  }
  // A single product also has the values that do not read it.
  auto getSegment =
      [&](ArrayRef<unsigned> products) -> ContractionRegion::Segment & {
    unsigned first = products.empty() ? 0 : products.front();
    return region.segments[segmentOf.lookup(classes.getLeaderValue(first))];
  };
  for (auto [i, reduction] : llvm::enumerate(region.reductions))
    getSegment(reduction.products).reductions.push_back(i);
  for (auto [i, result] : llvm::enumerate(region.results))
    getSegment(result.products).results.push_back(i);

  if (options.kind == Kind::Gated && region.segments.size() != 1)
    return emitError() << "needs a result that combines both products";
  return success();
}

FailureOr<ContractionRegion> ContractionRegion::get(FusedOp fused,
                                                    const Options &options,
                                                    EmitError emitError) {
  return ContractionReader(fused, options, emitError).run();
}

bool ContractionRegion::isShared() const {
  return fact::isShared(products.front().rhs);
}
