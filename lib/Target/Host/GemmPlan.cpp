//===- GemmPlan.cpp - A region as products of one lhs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmPlan.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// The last two dimensions exchanged.
static StridedView transpose(const StridedView &view) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return view.permute(dims);
}

static bool isMemory(Value value) {
  return isa<BlockArgument>(value) || value.getDefiningOp<fact::ConstantOp>();
}

/// Whether nothing reads `value` but right sides of matmuls, through views.
static bool isOnlyRightSide(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (isa<ViewOpInterface>(use.getOwner()))
      return isOnlyRightSide(use.getOwner()->getResult(0));
    return isa<MatmulOp>(use.getOwner()) && use.getOperandNumber() == 1;
  });
}

namespace {
class GemmPlanner {
public:
  GemmPlanner(FusedOp fused, EmitError emitError)
      : fused(fused), emitError(emitError) {}

  FailureOr<GemmPlan> run() {
    if (failed(findProducts()) || failed(planLhs()) || failed(planRhs()) ||
        failed(planReductions()) || failed(planResults()) ||
        failed(makeSegments()))
      return failure();
    return std::move(plan);
  }

private:
  using Form = GemmPlan::Form;

  LogicalResult findProducts();
  LogicalResult planLhs();
  LogicalResult planRhs();
  LogicalResult planReductions();
  LogicalResult planResults();
  LogicalResult makeSegments();

  FailureOr<StridedView> getOperand(Value value, bool transposed, int64_t rows,
                                    int64_t columns);
  SmallVector<int64_t> getBatch() {
    return SmallVector<int64_t>(
        plan.products.front().matmul.getType().getShape().drop_back(2));
  }
  bool isProduct(Value value, const StridedView &view, int64_t n) const;
  bool isReduced(Value value, const StridedView &view, Form form) const;
  FailureOr<GemmPlan::Result> planResult(Value yielded, Form form, int64_t n,
                                         EmitError emitError);

  /// The products that elements are made of.
  SmallVector<unsigned> getProducts(const RowElements &elements) const;

  FusedOp fused;
  EmitError emitError;
  GemmPlan plan;
  std::vector<GemmPlan::Reduction> reductions;
  std::vector<GemmPlan::Result> results;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LogicalResult GemmPlanner::findProducts() {
  for (Operation &op : fused.getBodyOps())
    if (auto matmul = dyn_cast<MatmulOp>(op))
      plan.products.push_back({matmul, {}});
  if (plan.products.empty())
    return emitError() << "needs a 'fact.matmul'";
  MatmulOp first = plan.products.front().matmul;
  for (GemmPlan::Product &product : plan.products) {
    MatmulOp matmul = product.matmul;
    if (matmul.getLhs() != first.getLhs() ||
        matmul.getTransposeA() != first.getTransposeA())
      return emitError() << "all 'fact.matmul' must have the same lhs";
    if (matmul.getType().getShape().drop_back(2) !=
        first.getType().getShape().drop_back(2))
      return emitError() << "all 'fact.matmul' must have the same batches, not "
                         << first.getType() << " and " << matmul.getType();
  }
  plan.m = first.getM();
  plan.k = first.getK();
  plan.storage = first.getLhs().getType().getElementType();
  plan.compute = getComputeType(plan.storage);
  return success();
}

/// An operand as [batch..., rows, columns] of the product's batch sizes.
FailureOr<StridedView> GemmPlanner::getOperand(Value value, bool transposed,
                                               int64_t rows, int64_t columns) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view) || !isMemory(view->base))
    return emitError() << "needs the operands of 'fact.matmul' to be operands "
                          "of the region, or views of them that strides "
                          "describe";
  SmallVector<int64_t> shape = getBatch();
  shape.push_back(rows);
  shape.push_back(columns);
  return (transposed ? transpose(*view) : *view).expand(shape);
}

LogicalResult GemmPlanner::planLhs() {
  MatmulOp matmul = plan.products.front().matmul;
  FailureOr<StridedView> lhs =
      getOperand(matmul.getLhs(), matmul.getTransposeA(), plan.m, plan.k);
  if (failed(lhs))
    return failure();
  plan.rows = llvm::product_of(getBatch()) * plan.m;
  FailureOr<RowView> a = RowView::get(*lhs, plan.rows, plan.k);
  if (failed(a))
    return emitError() << "needs the contracted dimension at one stride";
  plan.a = *a;
  return success();
}

LogicalResult GemmPlanner::planRhs() {
  SmallVector<int64_t> batch = getBatch();
  int64_t count = llvm::product_of(batch);
  llvm::SmallSetVector<unsigned, 4> arguments;
  bool packs = true;
  for (auto [i, product] : llvm::enumerate(plan.products)) {
    int64_t n = product.matmul.getN();
    FailureOr<StridedView> rhs = getOperand(
        product.matmul.getRhs(), product.matmul.getTransposeB(), plan.k, n);
    if (failed(rhs))
      return failure();
    bool shared = true;
    for (size_t d = 0; d < batch.size(); ++d)
      shared &= batch[d] == 1 || rhs->strides[d] == 0;
    int64_t batches = shared ? 1 : count;
    if (i > 0 && batches != plan.batches)
      return emitError() << "needs every rhs with batches, or none";
    plan.batches = batches;
    FailureOr<RowView> b = RowView::get(transpose(*rhs), count * n, plan.k);
    if (failed(b))
      return emitError() << "needs the contracted dimension at one stride";
    product.b = *b;
    auto argument = dyn_cast<BlockArgument>(rhs->base);
    // `packed_with` has a bit for each of 32 operands.
    packs &=
        argument && isOnlyRightSide(argument) && argument.getArgNumber() < 32;
    if (packs)
      arguments.insert(argument.getArgNumber());
  }
  plan.batchRows = plan.rows / plan.batches;
  if (packs)
    plan.packedOperands = llvm::to_vector(arguments);
  llvm::sort(plan.packedOperands);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Whether it is a product of width `n`, row by row in the index space.
bool GemmPlanner::isProduct(Value value, const StridedView &view,
                            int64_t n) const {
  auto matmul = value.getDefiningOp<MatmulOp>();
  if (!matmul || matmul.getN() != n)
    return false;
  FailureOr<RowView> split = RowView::get(view, plan.rows, n);
  return succeeded(split) && split->isPlain(plan.rows, n, n, 1);
}

/// Whether it is a reduction, element by element in the index space.
bool GemmPlanner::isReduced(Value value, const StridedView &view,
                            Form form) const {
  for (const GemmPlan::Reduction &reduction : reductions)
    if (value == ReduceOp(reduction.op).getResult() &&
        reduction.ofRows == (form == Form::PerRow))
      return view.offset == 0 && view.isRowMajor();
  return false;
}

SmallVector<unsigned>
GemmPlanner::getProducts(const RowElements &elements) const {
  SmallVector<unsigned> found;
  for (const Elements::Leaf &leaf : elements.elements.getLeaves()) {
    if (!leaf.isAnchor)
      continue;
    for (auto [i, product] : llvm::enumerate(plan.products))
      if (leaf.value == MatmulOp(product.matmul).getResult())
        found.push_back(i);
    for (const GemmPlan::Reduction &reduction : reductions)
      if (leaf.value == ReduceOp(reduction.op).getResult())
        llvm::append_range(found, getProducts(reduction.input));
  }
  return found;
}

LogicalResult GemmPlanner::planReductions() {
  for (Operation &op : fused.getBodyOps()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce)
      continue;
    ReducedOperand operand = ReducedOperand::get(reduce);
    auto type = cast<RankedTensorType>(operand.value.getType());
    ReduceKind kind = reduce.getKind();
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin ||
        !isa<FloatType>(type.getElementType()))
      return emitError() << "takes sums, means, products and extremes of "
                            "floats after a product, not '"
                         << stringifyReduceKind(kind) << "' of " << type;
    if (type.getNumElements() % plan.rows)
      return emitError() << "takes reductions of the products' rows or "
                            "columns, not of "
                         << type;
    int64_t n = type.getNumElements() / plan.rows;
    int64_t rank = type.getRank(), count = operand.dims.size(), over = 1;
    bool trailing = true, leading = true;
    for (auto [i, dim] : llvm::enumerate(operand.dims)) {
      over *= type.getDimSize(dim);
      trailing &= dim == rank - count + int64_t(i);
      leading &= dim == int64_t(i);
    }
    bool ofRows = trailing && over == n;
    if (!ofRows && !(leading && over == plan.rows && plan.batches == 1))
      return emitError() << "reduces whole rows of " << n
                         << " or whole columns of " << plan.rows
                         << " elements, and 'fact.reduce' has other dimensions";
    FailureOr<Elements> elements = Elements::plan(
        operand.value,
        [&](Value value, const StridedView &view) {
          return isProduct(value, view, n);
        },
        emitError);
    if (failed(elements))
      return failure();
    FailureOr<RowElements> input =
        RowElements::get(*elements, plan.rows, n, emitError);
    if (failed(input))
      return failure();
    reductions.push_back({reduce, ofRows, *input});
  }
  return success();
}

FailureOr<GemmPlan::Result> GemmPlanner::planResult(Value yielded, Form form,
                                                    int64_t n,
                                                    EmitError emitError) {
  int64_t rows = form == Form::PerColumn ? 1 : plan.rows;
  int64_t columns = form == Form::PerRow ? 1 : n;
  auto isAnchor = [&](Value value, const StridedView &view) {
    return form == Form::Full ? isProduct(value, view, n)
                              : isReduced(value, view, form);
  };
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(llvm::reverse(destinations))) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(fused);
    EmitError report = silence ? EmitError(*silence) : emitError;
    FailureOr<Elements> elements =
        Elements::plan(destination.value, isAnchor, report);
    if (failed(elements))
      continue;
    FailureOr<RowView> target = RowView::get(destination.view, rows, columns);
    FailureOr<RowElements> split =
        RowElements::get(*elements, rows, columns, Silence(fused));
    if (succeeded(target) && succeeded(split))
      return GemmPlan::Result{0, form, *split, *target};
    (void)(report() << "needs results and their operands by rows of " << columns
                    << " columns");
  }
  return failure();
}

LogicalResult GemmPlanner::planResults() {
  for (auto [number, yielded] :
       llvm::enumerate(fused.getYield()->getOperands())) {
    auto type = cast<RankedTensorType>(yielded.getType());
    int64_t count = type.getNumElements();
    FailureOr<GemmPlan::Result> result = failure();
    // A reduced result, else one of the products' size, whose diagnostic says
    // what is wrong.
    for (const GemmPlan::Reduction &reduction : reductions) {
      int64_t n =
          cast<RankedTensorType>(ReduceOp(reduction.op).getOperand().getType())
              .getNumElements() /
          plan.rows;
      Form form = reduction.ofRows ? Form::PerRow : Form::PerColumn;
      if (failed(result) && count == (reduction.ofRows ? plan.rows : n))
        result = planResult(yielded, form, n, Silence(fused));
      if (succeeded(result) && getProducts(result->elements).empty())
        result = failure();
    }
    if (failed(result) && count % plan.rows == 0)
      result = planResult(yielded, Form::Full, count / plan.rows, emitError);
    else if (failed(result))
      return emitError() << "a result of type " << type
                         << " is neither of a product's size nor made of a "
                            "reduction alone";
    if (failed(result))
      return failure();
    result->number = number;
    results.push_back(*result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

LogicalResult GemmPlanner::makeSegments() {
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned i = 0; i < plan.products.size(); ++i)
    classes.insert(i);
  llvm::SmallSet<unsigned, 4> read;
  auto join = [&](const RowElements &elements) {
    SmallVector<unsigned> products = getProducts(elements);
    for (unsigned product : products) {
      classes.unionSets(products.front(), product);
      read.insert(product);
    }
    return products;
  };
  for (const GemmPlan::Reduction &reduction : reductions)
    if (join(reduction.input).empty())
      return emitError() << "a 'fact.reduce' reads no product";
  for (const GemmPlan::Result &result : results)
    if (join(result.elements).empty() && plan.products.size() > 1)
      return emitError() << "result " << result.number << " reads no product";
  if (read.size() != plan.products.size())
    return emitError() << "no result reads one of the products";

  DenseMap<unsigned, unsigned> numbers;
  for (unsigned i = 0; i < plan.products.size(); ++i) {
    unsigned leader = classes.getLeaderValue(i);
    auto [found, isNew] = numbers.try_emplace(leader, plan.segments.size());
    if (isNew)
      plan.segments.push_back({plan.products[i].matmul.getN(), {}, {}, {}});
    plan.segments[found->second].products.push_back(i);
  }
  auto segmentOf = [&](const RowElements &elements) -> GemmPlan::Segment & {
    SmallVector<unsigned> products = getProducts(elements);
    unsigned first = products.empty() ? 0 : products.front();
    return plan.segments[numbers.lookup(classes.getLeaderValue(first))];
  };
  for (const GemmPlan::Result &result : results)
    segmentOf(result.elements).results.push_back(result);
  for (const GemmPlan::Reduction &reduction : reductions)
    segmentOf(reduction.input).reductions.push_back(reduction);
  if (plan.hasReductions(true) && plan.hasReductions(false))
    return emitError() << "reduces rows or columns, and the region has both";
  return success();
}

FailureOr<GemmPlan> GemmPlan::get(FusedOp fused, EmitError emitError) {
  return GemmPlanner(fused, emitError).run();
}

int64_t GemmPlan::getColumns() const {
  int64_t columns = 0;
  for (const Segment &segment : segments)
    columns += segment.n;
  return columns;
}

int64_t GemmPlan::getMostProducts() const {
  size_t most = 1;
  for (const Segment &segment : segments)
    most = std::max(most, segment.products.size());
  return most;
}

bool GemmPlan::hasReductions(bool ofRows) const {
  return llvm::any_of(segments, [&](const Segment &segment) {
    return llvm::any_of(segment.reductions, [&](const Reduction &reduction) {
      return reduction.ofRows == ofRows;
    });
  });
}

/// The length of equal parts of `total`, each at most `longest`.
static int64_t splitEvenly(int64_t total, int64_t longest) {
  int64_t parts = ceilDivide(total, longest);
  return parts <= 1 ? total : ceilDivide(ceilDivide(total, parts), 8) * 8;
}

std::pair<int64_t, int64_t> GemmPlan::chooseBlocks(const Cpu &cpu,
                                                   int64_t columns) const {
  int64_t longest =
      cpu.getFirstCacheBytes() / 2 / (columns * getStorageBytes(compute));
  int64_t depth = splitEvenly(k, std::clamp<int64_t>(longest, 128, 512));
  // BLAS libraries have chains of 256 to 512 for matrices, and of K / 16 for a
  // single row, where time is that of reading B. Tiles of few rows have fewer
  // products in a chain to pay for its addition.
  int64_t chain = batchRows == 1 ? 64 : batchRows < 8 || k <= 256 ? 256 : 128;
  return {depth, splitEvenly(depth, chain)};
}
