//===- Rules.cpp - Built-in rules -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Rules.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/WindowedView.h"

using namespace mlir;
using namespace fact;

using IsFree = llvm::function_ref<bool(Operation *)>;

/// A seed of one op, if it is of one of these types.
template <typename... OpTs>
static OpGroup growFrom(Operation *op, IsFree isFree) {
  OpGroup group;
  if (isa<OpTs...>(op) && isFree(op))
    group.insert(op);
  return group;
}

/// silu(x gate^T) * (x up^T): x is read once, and neither product is stored.
/// `root` is the last of the pointwise ops that combine both products.
static OpGroup combineProducts(Operation *root, IsFree isFree) {
  if (!isa<PointwiseOpInterface>(root) || root->getNumOperands() < 2)
    return {};
  OpGroup group;
  group.insert(root);
  SmallVector<MatmulOp> products;
  // All ops that only this value uses, up to the products.
  for (size_t i = 0; i < group.size(); ++i)
    for (Value operand : group[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      auto matmul = dyn_cast_or_null<MatmulOp>(op);
      if ((!matmul && !isa_and_nonnull<PointwiseOpInterface>(op)) ||
          !isFree(op) || group.contains(op) ||
          !llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return group.contains(user); }))
        continue;
      if (matmul && products.size() == 2)
        return {};
      if (matmul)
        products.push_back(matmul);
      group.insert(op);
    }
  if (products.size() != 2 || products[0].getLhs() != products[1].getLhs() ||
      products[0].getTf32() != products[1].getTf32())
    return {};
  // The kernel packs both factors together: weights once, other values on each
  // launch, which costs more than it saves when there are few rows.
  MatmulOp first = products.front();
  int64_t rows = first.getType().getNumElements() / first.getN();
  bool packsOnce = llvm::all_of(
      products, [](MatmulOp product) { return isFixed(product.getRhs()); });
  if (!packsOnce && rows < 2 * first.getK())
    return {};
  return group;
}

/// Products of one value with several weights, which read the value once. The
/// first product in the block is the anchor.
static OpGroup gatherProducts(Operation *op, IsFree isFree) {
  auto first = dyn_cast<MatmulOp>(op);
  if (!first)
    return {};
  OpGroup group;
  for (Operation *user : first.getLhs().getUsers()) {
    auto matmul = dyn_cast<MatmulOp>(user);
    if (!matmul || matmul.getLhs() != first.getLhs() ||
        matmul.getTf32() != first.getTf32() || !isFree(matmul) ||
        !isFixed(matmul.getRhs()))
      continue;
    if (matmul->isBeforeInBlock(first))
      return {};
    group.insert(matmul);
  }
  return group.size() < 2 ? OpGroup() : group;
}

/// A reduction and the windows that it reduces, with the pointwise ops between
/// them.
static OpGroup gatherWindows(Operation *op, IsFree isFree) {
  auto reduce = dyn_cast<ReduceOp>(op);
  WindowsOp windows = reduce ? getReducedWindows(reduce) : WindowsOp();
  if (!windows || !isFree(reduce) || !isFree(windows))
    return {};
  OpGroup group;
  group.insert(reduce);
  for (size_t i = 0; i < group.size(); ++i)
    for (Value operand : group[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer == windows ||
          (isa_and_nonnull<PointwiseOpInterface>(producer) &&
           group[i] != windows && isFree(producer) && producer->hasOneUse()))
        group.insert(producer);
    }
  return group.contains(windows) ? group : OpGroup();
}

/// Ops on rows, but for reductions of windows, which have a rule of their own.
static OpGroup growFromRows(Operation *op, IsFree isFree) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (reduce && getReducedWindows(reduce))
    return {};
  return growFrom<NormOp, SoftmaxOp, ReduceOp>(op, isFree);
}

/// A few places of a row take less time than all.
static ProblemExtents getSortExtents(FusedOp fused) {
  ProblemExtents extents = getAnchorExtents(fused);
  for (auto op : fused.getBody().getOps<ArgsortOp>())
    extents["places"] = op.getType().getDimSize(op.getDim());
  return extents;
}

/// The sizes of the windows beside those of the reduction.
static ProblemExtents getWindowExtents(FusedOp fused) {
  ProblemExtents extents = getAnchorExtents(fused);
  for (auto windows : fused.getBody().getOps<WindowsOp>()) {
    ArrayRef<int64_t> shape = windows.getOperand().getType().getShape();
    extents["inner"] = shape.back();
    extents["window"] = windows.getKernel().back();
    extents["stride"] = windows.getStrides().back();
  }
  return extents;
}

/// The columns of all products are those of one.
static ProblemExtents getGroupedExtents(FusedOp fused) {
  ProblemExtents extents = getAnchorExtents(fused);
  int64_t columns = 0;
  for (auto matmul : fused.getBody().getOps<MatmulOp>())
    columns += matmul.getN();
  extents["n"] = columns;
  extents["tensors"] =
      countTensors(fused, extents["batch"] * extents["m"] * columns);
  return extents;
}

/// Attention writes one result and reads nothing beside its operands.
static ProblemExtents getAttentionExtents(FusedOp fused) {
  ProblemExtents extents = getAnchorExtents(fused);
  extents.erase("tensors");
  return extents;
}

const Rule fact::gemmEpilogueRule{
    "gemm_epilogue",
    "One `matmul`, the views before it, and any graph of pointwise ops after "
    "it: bias (a vector), residual (the result's shape), scale, activation, "
    "casts, several results. Also a `reduce` (not argmax or argmin) of whole "
    "rows or whole columns, and pointwise ops on its result. Other operands "
    "broadcast to the result. Gain: the product and the values in between are "
    "not stored. Not allowed: a second matmul, a softmax or norm, an op that "
    "reads both the product and a reduction of it.",
    growFrom<MatmulOp>};

const Rule fact::gatedGemmRule{
    "gated_gemm",
    "Two `matmul` of one lhs with weights of one type, and the pointwise ops "
    "that combine both products into one result: silu(x g^T) * (x u^T). Gain: "
    "x is read once and neither product is stored. Best if both weights are "
    "`w:` or `p`.",
    combineProducts};

const Rule fact::groupedGemmRule{
    "grouped_gemm",
    "Several `matmul` of one lhs with different weights, each with its own "
    "pointwise ops and its own results. Gain: x is read once, and one wide "
    "product fills the machine.",
    gatherProducts,
    /*forward=*/true,
    /*backward=*/false,
    /*sideways=*/false,
    /*takesReshapes=*/false,
    /*isLastResort=*/false,
    getGroupedExtents};

const Rule fact::thinGemmRule{
    "thin_gemm",
    "One `matmul` of at most 8 rows, 8 columns or 8 terms per sum (a matrix "
    "times a vector, an outer product, dot products), or of windows of images "
    "with at most 32 filters, with batches or without, the views before it and "
    "any graph of pointwise ops after it. Gain: the larger factor is read "
    "once, at the speed of memory, and the product is not stored.",
    growFrom<MatmulOp>};

const Rule fact::attentionRule{
    "attention",
    "One `attention`, causal or not, with a mask operand or without, the "
    "views before it (slices of a packed QKV, reshape, permute, a mask that "
    "broadcasts) and the permute and reshape after it, whose layout it writes. "
    "Gain: no layout change is a copy.",
    growFrom<AttentionOp>,
    /*forward=*/true,
    /*backward=*/false,
    /*sideways=*/false,
    /*takesReshapes=*/true,
    /*isLastResort=*/false,
    getAttentionExtents};

const Rule fact::windowsRule{
    "windows",
    "One `reduce` (not argmax or argmin) over the places in the windows of one "
    "`windows`, with operands that are the same for all windows (a depthwise "
    "filter) or without; constants around the tensor, cheap pointwise ops "
    "before it, and any graph of pointwise ops after the reduction. Gain: "
    "neither windows nor padding are stored, and the tensor is read once.",
    gatherWindows,
    /*forward=*/true,
    /*backward=*/true,
    /*sideways=*/false,
    /*takesReshapes=*/false,
    /*isLastResort=*/false,
    getWindowExtents,
    /*leavesEpilogues=*/true};

const Rule fact::rowwiseRule{
    "rowwise",
    "`norm`, `softmax` or `reduce` over the last dimensions, the pointwise "
    "ops before it (a residual add) and after it, several results. Gain: rows "
    "stay on the chip.",
    growFromRows,
    /*forward=*/true,
    /*backward=*/true};

const Rule fact::reductionRule{
    "reduction",
    "One `norm`, `softmax` or `reduce` over any dimensions, of rows of any "
    "length and any element type, the pointwise ops and views before it and "
    "after it. Several reductions over the same dimensions are one kernel; "
    "over the last dimension, if a row fits on the chip. Reads its operands "
    "once if they fit on the chip, else once per pass: a sum is one pass, a "
    "softmax three. For rows that do not fit on the chip or do not lie "
    "together.",
    growFromRows,
    /*forward=*/true,
    /*backward=*/true};

const Rule fact::scanRule{
    "scan",
    "One `scan` over any dimension, the pointwise ops and views before it and "
    "after it, and several results; on the host, also scans over the same "
    "dimension of what it gives, and the ops between them. Gain: a row is read "
    "once, and values in between are not stored.",
    growFrom<ScanOp>,
    /*forward=*/true,
    /*backward=*/true};

const Rule fact::sortRule{
    "sort",
    "One `argsort` over any dimension, and at most a `slice` of the last of "
    "its places. Gain: rows are sorted on the chip, and the first places, or "
    "one, are found without a sort of all.",
    growFrom<ArgsortOp>,
    /*forward=*/true,
    /*backward=*/false,
    /*sideways=*/false,
    /*takesReshapes=*/false,
    /*isLastResort=*/false,
    getSortExtents};

const Rule fact::scatterRule{
    "scatter",
    "One `scatter` along any dimension; on the host, also the pointwise ops "
    "and views before it. Gain: the updates of a row apply in order, and those "
    "of different rows in parallel where the target can.",
    growFrom<ScatterOp>,
    /*forward=*/false,
    /*backward=*/true};

const Rule fact::pointwiseRule{
    "pointwise",
    "Pointwise ops and views with results of one size, as many as possible; "
    "where the target reads them in place, pads, concats and gathers too. For "
    "ops that no other rule takes.",
    /*seed=*/nullptr,
    /*forward=*/true,
    /*backward=*/true,
    /*sideways=*/true};

const Rule fact::concatRule{
    "concat",
    "One `concat`, pointwise ops on its pieces, and the permutes and reshapes "
    "after it, whose layout it writes.",
    /*seed=*/nullptr,
    /*forward=*/true,
    /*backward=*/true};

const Rule fact::genericRule{"generic",
                             "Any one op; slow. The last resort.",
                             /*seed=*/nullptr,
                             /*forward=*/false,
                             /*backward=*/false,
                             /*sideways=*/false,
                             /*takesReshapes=*/false,
                             /*isLastResort=*/true};
