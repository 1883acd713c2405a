//===- Gemm.cpp - Matrix products on packed panels ------------------------===//
//
// B is packed once in panels of as many columns as the register tile has (by
// the runtime, through `pack`); the rows of A that a tile needs are packed by
// the tile itself. Packing also converts to f32, applies views and transposes,
// and fills up rows and columns with copies of the last, so that the inner loop
// has one form. A long K is taken in blocks, so that what a register tile reads
// stays in the first cache; sums wait in memory of the tile in between. After
// the last block the epilogue applies the pointwise ops to vectors and stores
// what is inside the result.
//
//===----------------------------------------------------------------------===//

#include "HostRealiser.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
struct GemmPlan {
  MatmulOp matmul;
  Type storage, compute;
  int64_t m, n, k;
  /// Products that share nothing: 1 when the right side has no batches, since
  /// then batches are rows.
  int64_t batches;
  /// Rows of the result over all batches, and of one batch.
  int64_t rows, batchRows;
  /// A by (row, k), B by (batch and k, n) with `k` the last row dimension.
  RowView a, b;
  int64_t strideAk, strideBk;
  /// The operand that `pack` packs, or -1 when tiles pack B themselves.
  int32_t packedOperand;

  struct Result {
    Elements elements;
    SmallVector<RowView> leaves;
    RowView destination;
  };
  std::vector<Result> results;

  static FailureOr<GemmPlan> get(FusedOp fused, EmitError emitError);

private:
  LogicalResult planOperands(FusedOp fused, EmitError emitError);
  FailureOr<Result> planResult(Value yielded, EmitError emitError) const;
};

class GemmRealiser : public HostRealiser {
public:
  using HostRealiser::HostRealiser;
  StringRef getRule() const override { return "gemm_epilogue"; }
  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    return LogicalResult(GemmPlan::get(fused, emitError));
  }
  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttrInterface schedule) const override;

protected:
  LogicalResult build(KernelBuilder &b,
                      ScheduleAttrInterface schedule) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// The last two dimensions exchanged.
static StridedView transpose(const StridedView &view) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return view.permute(dims);
}

static bool isMemory(Value value) {
  return isa<BlockArgument>(value) || value.getDefiningOp<fact::ConstantOp>();
}

/// Whether `base` is read by nothing but the chain of views that ends in
/// `value`, with its one use.
static bool isOnlyReadThrough(Value base, Value value) {
  while (value.hasOneUse()) {
    if (value == base)
      return true;
    value = value.getDefiningOp()->getOperand(0);
  }
  return false;
}

LogicalResult GemmPlan::planOperands(FusedOp fused, EmitError emitError) {
  FailureOr<StridedView> lhs = StridedView::get(matmul.getLhs());
  FailureOr<StridedView> rhs = StridedView::get(matmul.getRhs());
  if (failed(lhs) || failed(rhs) || !isMemory(lhs->base) ||
      !isMemory(rhs->base))
    return emitError() << "needs the operands of 'fact.matmul' to be operands "
                          "of the region, or views of them that strides "
                          "describe";
  if (matmul.getTransposeA())
    lhs = transpose(*lhs);
  if (matmul.getTransposeB())
    rhs = transpose(*rhs);

  SmallVector<int64_t> batch(matmul.getType().getShape().drop_back(2));
  auto withBatch = [&](int64_t rows, int64_t columns) {
    SmallVector<int64_t> shape(batch);
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  *lhs = lhs->expand(withBatch(m, k));
  *rhs = rhs->expand(withBatch(k, n));
  int64_t count = 1;
  bool shared = true;
  for (size_t i = 0; i < batch.size(); ++i) {
    count *= batch[i];
    shared &= batch[i] == 1 || rhs->strides[i] == 0;
  }
  rows = count * m;
  batches = shared ? 1 : count;
  batchRows = rows / batches;
  FailureOr<RowView> viewA = RowView::get(*lhs, rows, k);
  FailureOr<RowView> viewB = RowView::get(transpose(*rhs), count * n, k);
  if (failed(viewA) || failed(viewB))
    return emitError() << "needs the contracted dimension at one stride";
  a = *viewA;
  b = *viewB;
  strideAk = a.columnStride;
  strideBk = b.columnStride;
  auto argument = dyn_cast<BlockArgument>(rhs->base);
  packedOperand = argument && isOnlyReadThrough(argument, matmul.getRhs())
                      ? argument.getArgNumber()
                      : -1;
  return success();
}

FailureOr<GemmPlan::Result> GemmPlan::planResult(Value yielded,
                                                 EmitError emitError) const {
  // The product must appear row by row in the index space of the result.
  auto isProduct = [&](Value value, const StridedView &view) {
    if (value != MatmulOp(matmul).getResult())
      return false;
    FailureOr<RowView> split = RowView::get(view, rows, n);
    return succeeded(split) && split->isPlain(rows, n, n, 1);
  };
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(llvm::reverse(destinations))) {
    bool last = i + 1 == destinations.size();
    EmitError report = last ? emitError : EmitError(noDiagnostic);
    FailureOr<Elements> elements =
        Elements::plan(destination.value, isProduct, report);
    FailureOr<RowView> target = RowView::get(destination.view, rows, n);
    if (failed(elements))
      continue;
    Result result{*elements, {}, {}};
    bool split = succeeded(target);
    for (const Elements::Leaf &leaf : elements->getLeaves()) {
      FailureOr<RowView> view = RowView::get(leaf.view, rows, n);
      split &= succeeded(view);
      result.leaves.push_back(succeeded(view) ? *view : RowView());
    }
    if (!split) {
      (void)(report() << "needs results and their operands by rows of " << n
                      << " columns");
      continue;
    }
    result.destination = *target;
    return result;
  }
  return failure();
}

FailureOr<GemmPlan> GemmPlan::get(FusedOp fused, EmitError emitError) {
  GemmPlan plan;
  for (Operation &op : fused.getBodyOps()) {
    auto matmul = dyn_cast<MatmulOp>(op);
    if (!matmul)
      continue;
    if (plan.matmul)
      return emitError() << "takes one 'fact.matmul', and there are more";
    plan.matmul = matmul;
  }
  if (!plan.matmul)
    return emitError() << "needs a 'fact.matmul'";
  plan.m = plan.matmul.getM();
  plan.n = plan.matmul.getN();
  plan.k = plan.matmul.getK();
  plan.storage =
      cast<RankedTensorType>(plan.matmul.getLhs().getType()).getElementType();
  plan.compute = computeType(plan.storage);
  if (failed(plan.planOperands(fused, emitError)))
    return failure();
  for (Value yielded : fused.getYield()->getOperands()) {
    FailureOr<Result> result = plan.planResult(yielded, emitError);
    if (failed(result))
      return failure();
    plan.results.push_back(*result);
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static int64_t chooseDepth(const GemmPlan &plan, int64_t nr);

namespace {
/// Writes one kernel with one schedule.
class GemmBuilder {
public:
  GemmBuilder(KernelBuilder &b, const GemmPlan &plan, HostGemmAttr schedule)
      : b(b), plan(plan), mr(schedule.getMicro()[0]),
        nr(schedule.getMicro()[1]) {
    // Vectors of the register's size, or of what divides the micro tile.
    lanes = b.getRegisterLanes(plan.compute);
    while (nr % lanes)
      lanes /= 2;
    depth = chooseDepth(plan, nr);
    panels = ceilDivide(plan.n, nr);
    tileRows =
        std::min(schedule.getRows(), ceilDivide(plan.batchRows, mr) * mr);
    tilePanels = std::min(schedule.getColumns() / nr, panels);
  }

  void build() {
    if (plan.packedOperand >= 0)
      buildPack();
    buildTile();
  }

private:
  int64_t panelElements() { return plan.k * nr; }
  bool isBlocked() { return depth < plan.k; }

  /// Panel `panel` of `batch` of B, from `source` to `target`.
  void packPanel(Value batch, Value panel, Value source, Value target,
                 Value targetOffset);
  void packRows(Value firstRow, Value rowEnd, Value from, Value to,
                Value target);
  void buildPack();
  void buildTile();
  void buildMicroTile(Value sums, Value sumsOffset, Value row, Value firstRow,
                      Value rowEnd, Value panel, Value panelOffset, Value from,
                      Value to, Value packedA, Value packedB);
  void buildEpilogue(Value sums, Value sumsOffset, Value firstRow, Value rowEnd,
                     Value firstColumn);

  KernelBuilder &b;
  const GemmPlan &plan;
  /// `depth` is how much of K one block takes.
  int64_t mr, nr, lanes, depth, panels, tileRows, tilePanels;
};
} // namespace

/// Blocks of equal length whose part of a panel takes half of the first cache.
static int64_t chooseDepth(const GemmPlan &plan, int64_t nr) {
  int64_t longest =
      getFirstCacheBytes() / 2 / (nr * storageBytes(plan.compute));
  longest = std::clamp<int64_t>(longest, 128, 512);
  int64_t blocks = ceilDivide(plan.k, longest);
  return blocks == 1 ? plan.k : ceilDivide(ceilDivide(plan.k, blocks), 8) * 8;
}

void GemmBuilder::packPanel(Value batch, Value panel, Value source,
                            Value target, Value targetOffset) {
  // A panel stays inside one batch, so its columns are at one stride.
  Value first = b.mul(panel, nr);
  Value base = b.rowOffset(plan.b, b.mul(batch, plan.n));
  int64_t stride = plan.b.rowStrides.back();
  PackedLines lines{source, plan.storage, {}, plan.strideBk};
  for (int64_t j = 0; j < nr; ++j)
    lines.offsets.push_back(
        b.add(base, b.mul(b.min(b.add(first, j), plan.n - 1), stride)));
  Value none = b.integer(0), end = b.integer(plan.k);
  // Neighbouring columns are copied as they lie.
  if (stride == 1 && plan.strideBk != 1) {
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        b.add(first, nr), b.integer(plan.n));
    b.ifThen(
        whole,
        [&] {
          b.loop(none, end, 1, [&](Value k) {
            Value from = b.add(lines.offsets.front(), b.mul(k, lines.stride));
            Value to = b.add(targetOffset, b.mul(k, nr));
            for (int64_t j = 0; j < nr; j += lanes)
              b.store(b.load(source, plan.storage, b.add(from, j), lanes),
                      target, plan.compute, b.add(to, j));
          });
        },
        [&] { packLines(b, lines, none, end, target, targetOffset); });
    return;
  }
  packLines(b, lines, none, end, target, targetOffset);
}

void GemmBuilder::buildPack() {
  KernelLayout &layout = b.getLayout();
  layout.packedOperand = plan.packedOperand;
  layout.packTiles = plan.batches * panels;
  layout.packedBytes =
      layout.packTiles * panelElements() * storageBytes(plan.compute);
  auto [index, source, packed] = b.beginPack();
  packPanel(b.div(index, panels), b.rem(index, panels), source, packed,
            b.mul(index, panelElements()));
  b.endFunction();
}

/// Rows of A in groups of the micro tile's: element (k, i) of group g at
/// `g * mr * depth + (k - from) * mr + i`. Missing rows repeat the last one;
/// what comes of them is not stored.
void GemmBuilder::packRows(Value firstRow, Value rowEnd, Value from, Value to,
                           Value target) {
  Value source = b.getPointer(plan.a.base);
  Value lastRow = b.add(rowEnd, -1);
  b.loop(firstRow, rowEnd, mr, [&](Value row) {
    PackedLines lines{source, plan.storage, {}, plan.strideAk};
    for (int64_t i = 0; i < mr; ++i)
      lines.offsets.push_back(
          b.rowOffset(plan.a, b.min(b.add(row, i), lastRow)));
    packLines(b, lines, from, to, target, b.mul(b.sub(row, firstRow), depth));
  });
}

void GemmBuilder::buildTile() {
  int64_t rowTiles = ceilDivide(plan.batchRows, tileRows);
  int64_t panelTiles = ceilDivide(panels, tilePanels);
  b.getLayout().tiles = plan.batches * panelTiles * rowTiles;

  // Neighbouring tiles share panels of B.
  Value index = b.beginTile();
  Value rowTile = b.rem(index, rowTiles);
  Value panelTile = b.rem(b.div(index, rowTiles), panelTiles);
  Value batch = b.div(index, rowTiles * panelTiles);
  Value batchRow = b.mul(batch, plan.batchRows);
  Value firstRow = b.add(batchRow, b.mul(rowTile, tileRows));
  Value rowEnd =
      b.min(b.add(firstRow, tileRows), b.add(batchRow, plan.batchRows));
  Value firstPanel = b.mul(panelTile, tilePanels);
  Value panelEnd = b.min(b.add(firstPanel, tilePanels), panels);

  Value packedB;
  Value firstOffset;
  if (plan.packedOperand >= 0) {
    packedB = b.getPointer(plan.b.base);
    firstOffset =
        b.mul(b.add(b.mul(batch, panels), firstPanel), panelElements());
  } else {
    packedB = b.scratch(plan.compute, tilePanels * panelElements());
    firstOffset = b.integer(0);
    Value source = b.getPointer(plan.b.base);
    b.loop(firstPanel, panelEnd, 1, [&](Value panel) {
      packPanel(batch, panel, source, packedB,
                b.mul(b.sub(panel, firstPanel), panelElements()));
    });
  }

  Value packedA = b.scratch(plan.compute, tileRows * depth);
  int64_t microTiles = isBlocked() ? tileRows / mr * tilePanels : 1;
  Value sums = b.scratch(plan.compute, microTiles * mr * nr);
  b.loop(b.integer(0), b.integer(plan.k), depth, [&](Value from) {
    Value to = b.min(b.add(from, depth), plan.k);
    packRows(firstRow, rowEnd, from, to, packedA);
    b.loop(firstPanel, panelEnd, 1, [&](Value panel) {
      Value position = b.sub(panel, firstPanel);
      Value panelOffset = b.add(firstOffset, b.mul(position, panelElements()));
      b.loop(firstRow, rowEnd, mr, [&](Value row) {
        Value sumsOffset = b.integer(0);
        if (isBlocked())
          sumsOffset =
              b.mul(b.add(b.mul(position, tileRows), b.sub(row, firstRow)), nr);
        buildMicroTile(sums, sumsOffset, row, firstRow, rowEnd, panel,
                       panelOffset, from, to, packedA, packedB);
      });
    });
  });
  b.endFunction();
}

/// One block of K for one register tile, and after the last the epilogue.
void GemmBuilder::buildMicroTile(Value sums, Value sumsOffset, Value row,
                                 Value firstRow, Value rowEnd, Value panel,
                                 Value panelOffset, Value from, Value to,
                                 Value packedA, Value packedB) {
  MicroTile micro{mr, nr / lanes, lanes, /*strideA=*/mr};
  auto at = [&](int64_t i) { return b.add(sumsOffset, i * lanes); };
  SmallVector<Value> state(mr * micro.vectors,
                           b.constant(0, b.withWidth(plan.compute, lanes)));
  if (isBlocked()) {
    Value first =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.integer(0));
    b.ifThen(first, [&] {
      for (auto [i, zero] : llvm::enumerate(state))
        b.store(zero, sums, plan.compute, at(i));
    });
    for (auto [i, sum] : llvm::enumerate(state))
      sum = b.load(sums, plan.compute, at(i), lanes);
  }
  state = buildMicroKernel(
      b, micro, plan.compute, packedA, b.mul(b.sub(row, firstRow), depth), from,
      to, std::min<int64_t>(depth, 4), state, [&](Value k) {
        SmallVector<Value> vectors;
        Value offset = b.add(panelOffset, b.mul(k, nr));
        for (int64_t j = 0; j < micro.vectors; ++j)
          vectors.push_back(
              b.load(packedB, plan.compute, b.add(offset, j * lanes), lanes));
        return vectors;
      });
  for (auto [i, sum] : llvm::enumerate(state))
    b.store(sum, sums, plan.compute, at(i));
  auto finish = [&] {
    buildEpilogue(sums, sumsOffset, row, rowEnd, b.mul(panel, nr));
  };
  if (!isBlocked())
    return finish();
  Value last =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, to, b.integer(plan.k));
  b.ifThen(last, finish);
}

void GemmBuilder::buildEpilogue(Value sums, Value sumsOffset, Value firstRow,
                                Value rowEnd, Value firstColumn) {
  FusedOp fused = b.getFused();
  Value rowCount = b.min(b.sub(rowEnd, firstRow), mr);
  Value columnCount = b.min(b.sub(b.integer(plan.n), firstColumn), nr);
  b.loop(b.integer(0), rowCount, 1, [&](Value i) {
    Value row = b.add(firstRow, i);
    for (unsigned number = 0; number < plan.results.size(); ++number) {
      const GemmPlan::Result &result = plan.results[number];
      Type storage = cast<RankedTensorType>(fused->getResult(number).getType())
                         .getElementType();
      SmallVector<Value> offsets;
      for (const RowView &view : result.leaves)
        offsets.push_back(b.rowOffset(view, row));
      Value target = b.rowOffset(result.destination, row);
      ArrayRef<Elements::Leaf> leaves = result.elements.getLeaves();
      auto write = [&](Value j, int64_t width) {
        Value column = b.add(firstColumn, j);
        auto read = [&](const Elements::Leaf &leaf) {
          if (leaf.isAnchor)
            return b.load(sums, plan.compute,
                          b.add(sumsOffset, b.add(b.mul(i, nr), j)), width);
          size_t at = &leaf - leaves.data();
          int64_t stride = result.leaves[at].columnStride;
          Type type =
              cast<RankedTensorType>(leaf.value.getType()).getElementType();
          return b.load(b.getPointer(leaf.value), type,
                        b.add(offsets[at], b.mul(column, stride)), width,
                        stride);
        };
        Value value = result.elements.build(b, width, read);
        int64_t stride = result.destination.columnStride;
        b.store(value, b.getResultPointer(number), storage,
                b.add(target, b.mul(column, stride)), stride);
      };
      if (plan.n % lanes == 0)
        b.loop(b.integer(0), columnCount, lanes,
               [&](Value j) { write(j, lanes); });
      else
        b.columns(b.integer(0), columnCount, lanes, write);
    }
  });
}

LogicalResult GemmRealiser::build(KernelBuilder &b,
                                  ScheduleAttrInterface schedule) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(b.getFused(), noDiagnostic);
  auto gemm = dyn_cast<HostGemmAttr>(schedule);
  if (failed(plan) || !gemm)
    return failure();
  // The schedule lives in another context; its numbers are all that is used.
  GemmBuilder(b, *plan, gemm).build();
  return success();
}

//===----------------------------------------------------------------------===//
// Spaces and estimates
//===----------------------------------------------------------------------===//

SpaceAttrInterface GemmRealiser::getDefaultSpace(FusedOp fused) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(fused, noDiagnostic);
  int64_t rows = succeeded(plan) ? plan->batchRows : 64;
  int64_t columns = succeeded(plan) ? plan->n : 64;
  // Most sums that registers hold beside a row of B and an element of A, and
  // enough of them to hide the latency of a multiplication.
  int64_t lanes = getVectorBytes() / 4;
  bool manyRegisters = getVectorRegisters() == 32;
  SmallVector<Extents> micro;
  if (rows < 4)
    micro = {Extents{rows, 4 * lanes}, Extents{rows, 8 * lanes}};
  else if (rows < 8)
    micro = {Extents{4, 2 * lanes},
             Extents{4, (manyRegisters ? 4 : 3) * lanes}};
  else if (getVectorBytes() == 64)
    micro = {Extents{12, 32}, Extents{8, 48}, Extents{6, 32}};
  else if (getVectorBytes() == 32)
    micro = {Extents{6, 16}, Extents{4, 24}, Extents{4, 16}};
  else if (manyRegisters)
    micro = {Extents{8, 12}, Extents{8, 8}, Extents{4, 16}};
  else
    micro = {Extents{4, 8}, Extents{6, 8}};
  // Multiples of every register tile; larger where one tile has little to do.
  int64_t tileRows =
      rows >= 48 ? 48 : std::max<int64_t>(ceilDivide(rows, 24) * 24, 24);
  int64_t wide = columns >= 384 ? 384 : 96;
  SmallVector<int64_t> rowSizes{tileRows};
  if (rows >= 96)
    rowSizes.push_back(96);
  return HostGemmSpaceAttr::get(fused->getContext(), micro, rowSizes, {wide});
}

double GemmRealiser::predictMicroseconds(FusedOp fused,
                                         ScheduleAttrInterface schedule) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(fused, noDiagnostic);
  auto gemm = dyn_cast<HostGemmAttr>(schedule);
  if (failed(plan) || !gemm)
    return 0;
  double mr = gemm.getMicro()[0], nr = gemm.getMicro()[1];
  // Loads for each multiplication, and registers that do not suffice.
  double efficiency = 1 / (1 + 1 / mr + 1 / nr);
  double vectors = nr * storageBytes(plan->compute) / getVectorBytes();
  double registers = mr * vectors;
  if (registers + vectors + 1 > getVectorRegisters() || registers < 8)
    efficiency *= 0.6;
  double padded = ceilDivide(plan->batchRows, mr) * mr *
                  ceilDivide(plan->n, nr) * nr * plan->batches;
  // Each tile packs its rows of A again.
  double packing =
      double(plan->rows) * plan->k * ceilDivide(plan->n, gemm.getColumns());
  double flops =
      machine.matrixFlops32 * (plan->compute.isF64() ? 0.5 : 1.0) * efficiency;
  double seconds = 2 * padded * plan->k / flops + packing / machine.scalarFlops;
  return 1e6 * std::max(seconds, countBytes(fused) / machine.bandwidth);
}

std::unique_ptr<Realiser>
host::createGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GemmRealiser>(machine);
}
