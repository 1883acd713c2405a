//===- Rowwise.cpp - Row operations with pointwise ops around them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops, one norm, softmax or reduction over the last dimensions,
// pointwise ops. A row stays in registers from its first read to its last
// write. A reduction may have results of one element per row besides full ones.
//
//===----------------------------------------------------------------------===//

#include "RowOperand.h"
#include "fact/Analysis/Destination.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
struct Rowwise {
  RowRegion region;
  RowSpace space;
  SmallVector<RowOperand, 2> inputs;
  ScalarFunction prologue;

  /// Results of one form, what they read besides the row op, and how they are
  /// computed; none where there are no results.
  struct Form {
    SmallVector<RowOperand, 2> operands;
    SmallVector<MatrixTensor> results;
    std::optional<ScalarFunction> epilogue;
  };
  Form full, perRow;

  /// Elements per access: 16 bytes, where all tensors allow it.
  int64_t getVector() const {
    for (int64_t vector : {8, 4, 2})
      if (allowsVector(vector))
        return vector;
    return 1;
  }

  /// The operands of whole rows, each once: what results read again is held.
  SmallVector<const RowOperand *> getRead() const {
    SmallVector<const RowOperand *> read;
    llvm::StringSet<> known;
    for (auto *list : {&inputs, &full.operands})
      for (const RowOperand &operand : *list) {
        std::string text;
        llvm::raw_string_ostream os(text);
        operand.print(os, /*streams=*/false);
        if (known.insert(text).second)
          read.push_back(&operand);
      }
    return read;
  }
  double getBytes() const {
    double bytes = countMatrixBytes(full.results, region.rows, region.columns);
    for (const RowOperand *operand : getRead())
      bytes += operand->countBytes(region);
    return bytes;
  }
  /// Bytes that are loaded before a row is reduced.
  int64_t getRowBytes() const {
    int64_t bytes = 0;
    for (const RowOperand &input : inputs)
      if (input.isFull)
        bytes += getStorageBytes(input.tensor.element);
    if (bytes == 0)
      bytes = getStorageBytes(inputs.front().tensor.element);
    return bytes * region.columns;
  }
  /// Whether each element of an operand is read once: what results read again
  /// in place is held.
  bool isReadOnce(const RowOperand &operand) const {
    auto isOther = [&](const RowOperand &other) {
      return other.tensor.buffer == operand.tensor.buffer &&
             (other.table || other.tensor.offset != operand.tensor.offset);
    };
    return !operand.table && llvm::none_of(inputs, isOther) &&
           llvm::none_of(full.operands, isOther);
  }
  bool hasTables() const {
    auto isTable = [](const RowOperand &operand) {
      return operand.table.has_value();
    };
    return llvm::any_of(inputs, isTable) ||
           llvm::any_of(full.operands, isTable) ||
           llvm::any_of(perRow.operands, isTable);
  }

private:
  bool allowsVector(int64_t vector) const {
    if (region.columns % vector)
      return false;
    // Accesses of neighbors next to each other: results that lie two accesses
    // apart fill half of each sector.
    for (const MatrixTensor &result : full.results)
      if (vector * getStorageBytes(result.element) > 16)
        return false;
    auto allows = [&](const RowOperand &operand) {
      return operand.allowsVector(vector);
    };
    return llvm::all_of(inputs, allows) &&
           llvm::all_of(full.operands, allows) &&
           llvm::all_of(full.results, [&](const MatrixTensor &result) {
             return allows(RowOperand{result, std::nullopt});
           });
  }
};

class RowwisePlan : public Plan {
public:
  RowwisePlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, Rowwise row)
      : Plan(family, fused, machine), row(std::move(row)) {}

  static FailureOr<Rowwise> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t getTileBytes(CudaRowAttr schedule) const;
  double getOccupancy(CudaRowAttr schedule) const;
  double getSlots() const;

  Rowwise row;
  /// Issue slots of an element, once they are asked for.
  mutable std::optional<double> slots;
};
} // namespace

/// Elements of a row that a thread may hold in registers without spilling: all
/// threads of a block share 65,536 registers.
static constexpr int64_t getMaximumValues(int64_t threads) {
  return threads > 512 ? 32 : 64;
}
static constexpr int64_t longestRow = 1024 * getMaximumValues(1024);

/// Elements of a row that each of so many threads holds.
static int64_t getValuesPerThread(const Rowwise &row, int64_t threads) {
  int64_t vector = row.getVector();
  return llvm::divideCeil(row.region.columns, threads * vector) * vector;
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// What the kernel says of the matrix.
static LogicalResult checkRows(const RowRegion &region, EmitError emitError) {
  Type element = getTensorType(region.getInput()).getElementType();
  if (!isa<FloatType>(element) || element.isF64())
    return emitError() << "rows must be f16, bf16 or f32, not " << element;
  if (region.columns > longestRow || region.columns < 2 || region.rows < 1)
    return emitError() << "a row has 2 to " << longestRow << " elements, not "
                       << region.columns;
  if (region.rows >= INT32_MAX)
    return emitError() << "has too many rows for one grid: " << region.rows;
  return success();
}

static LogicalResult getOperands(ArrayRef<ScalarFunction::Argument> arguments,
                                 const RowSpace &space,
                                 SmallVectorImpl<RowOperand> &operands,
                                 EmitError emitError) {
  for (const ScalarFunction::Argument &argument : arguments) {
    FailureOr<RowOperand> operand = RowOperand::get(argument, space, emitError);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  return success();
}

/// How result `index` lies in its buffer; `destination` is where its elements
/// land.
static FailureOr<MatrixTensor> getResult(FusedOp fused, const RowRegion &region,
                                         unsigned index,
                                         const Destination &destination,
                                         EmitError emitError) {
  auto [yielded, isFull] = region.results[index];
  Type element = getTensorType(yielded).getElementType();
  if (!isFull && !region.isReduction())
    return emitError() << "a result of type " << yielded.getType()
                       << " has one element per row, and no reduction does";
  if (element.isF64() || (isFull && !isa<FloatType>(element)))
    return emitError() << "results must be f16, bf16 or f32, not "
                       << yielded.getType();
  FailureOr<StridedView> view =
      destination.view.reshape({region.rows, isFull ? region.columns : 1});
  // Columns of a row are neighbors, or rows of one element each.
  if (failed(view) || (isFull && view->strides[1] != 1) ||
      (!isFull && region.rows > 1 && view->strides[0] != 1))
    return emitError() << "a result must have contiguous rows, and its last "
                          "views permute them";
  int64_t buffer = getResultBuffer(fused, index);
  if (!isFull)
    return MatrixTensor{
        MatrixTensor::ColumnVector, buffer, element, 0, 0, view->offset};
  int64_t leading = region.rows == 1 ? region.columns : view->strides[0];
  return MatrixTensor{
      MatrixTensor::RowMajor, buffer, element, leading, 0, view->offset};
}

/// Reads the full results, or those of one element per row.
static LogicalResult readForm(FusedOp fused, const RowRegion &region,
                              const RowSpace &space, bool isFull,
                              Rowwise::Form &form, EmitError emitError) {
  SmallVector<Value> values;
  for (auto [i, result] : llvm::enumerate(region.results)) {
    if (result.isFull != isFull)
      continue;
    FailureOr<Destination> destination =
        getDestination(result.yielded, emitError);
    if (failed(destination))
      return failure();
    FailureOr<MatrixTensor> tensor =
        getResult(fused, region, i, *destination, emitError);
    if (failed(tensor))
      return failure();
    form.results.push_back(*tensor);
    // What is reduced may be stored before a reshape of it.
    bool isInput = destination->value == skipReshapes(region.getInput());
    values.push_back(isInput ? region.getInput() : destination->value);
  }
  if (values.empty())
    return success();

  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  options.firstStored = 0;
  options.leading = {region.getOutput()};
  if (isFull)
    options.leading.push_back(region.getInput());
  if (region.isReduction())
    options.rowValues = {region.getOutput()};
  RowSpace formSpace = isFull ? space : space.dropColumns();
  options.rowStrides = formSpace.getRowStrides();
  FailureOr<ScalarFunction> epilogue =
      ScalarFunction::get(values, formSpace.shape, options, emitError);
  if (failed(epilogue) ||
      failed(getOperands(
          epilogue->getArguments().drop_front(options.leading.size()),
          formSpace, form.operands, emitError)))
    return failure();
  form.epilogue = std::move(*epilogue);
  return success();
}

static FailureOr<Rowwise> readIn(const RowSpace &space, const RowRegion &region,
                                 FusedOp fused, EmitError emitError) {
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  FailureOr<ScalarFunction> prologue =
      ScalarFunction::get(region.getInput(), space.shape, options, emitError);
  if (failed(prologue))
    return failure();
  Rowwise row{region, space, {}, std::move(*prologue), {}, {}};
  if (failed(getOperands(row.prologue.getArguments(), space, row.inputs,
                         emitError)))
    return failure();
  if (row.inputs.empty())
    return emitError() << "the rows are constants";
  if (failed(readForm(fused, region, space, /*isFull=*/true, row.full,
                      emitError)) ||
      failed(readForm(fused, region, space, /*isFull=*/false, row.perRow,
                      emitError)))
    return failure();
  return std::move(row);
}

FailureOr<Rowwise> RowwisePlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<RowRegion> region = RowRegion::read(fused, emitError);
  if (failed(region) || failed(checkRows(*region, emitError)))
    return failure();
  RowSpace matrix = RowSpace::getMatrix(*region);
  RowSpace common = RowSpace::getCommon(*region);
  if (common.shape != matrix.shape) {
    Silence silence(fused);
    for (const RowSpace &space : {matrix, common}) {
      FailureOr<Rowwise> row = readIn(space, *region, fused, silence);
      if (succeeded(row))
        return row;
    }
  }
  return readIn(matrix, *region, fused, emitError);
}

namespace {
class RowwiseFamily : public FamilyOf<RowwisePlan> {
public:
  RowwiseFamily() : FamilyOf(rowwiseRule, "cuda", {&CudaRowAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly one norm, softmax or reduce, no argmax or argmin with "
           "pointwise ops, over the last dimensions of f16, bf16 or f32: "
           "2 to 32768 elements per row. Every other op works on the "
           "shape of the rows, or on one element per row after a reduce. "
           "Every result has all elements of the rows, in f16, bf16 or "
           "f32, or, after a reduce, one element per row; rows of a "
           "result are contiguous, so that no permute of them may be "
           "last. Views may be before the first op, on operands, and "
           "last; a permute, slice or expand of a value that the pattern "
           "computes is of another pattern. An operand is f16, bf16, "
           "f32 or an i1 mask (an integer needs `reduction`) and has the "
           "shape of the rows, one element per row, per column or per "
           "leading dimension, or is a scalar. Two norms, or a softmax "
           "after a norm, are two patterns.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult RowwisePlan::checkLimits(ScheduleAttr schedule,
                                       EmitError emitError) const {
  auto own = cast<CudaRowAttr>(schedule);
  int64_t threads = own.getThreads(), rows = own.getRows();
  if (threads % 32 && !llvm::isPowerOf2_64(threads))
    return emitError() << "a row has whole warps or a power of two of a warp's "
                          "threads, not "
                       << threads;
  if (rows > 1024 / threads)
    return emitError() << "a block has at most 1024 threads, not " << rows
                       << " rows of " << threads;
  if (rows * threads % 32)
    return emitError() << "a block has whole warps, not " << rows << " rows of "
                       << threads << " threads";
  if (rows > 1 && threads > 32)
    return emitError() << "several rows per block have one warp each, and "
                       << threads << " threads are more";
  if (row.region.columns > threads * getMaximumValues(threads))
    return emitError() << "a row of " << row.region.columns
                       << " elements does not fit the registers of " << threads
                       << " threads (" << getMaximumValues(threads) << " each)";
  return success();
}

SpaceAttrInterface RowwisePlan::getSpace() const {
  auto space = [&](ArrayRef<int64_t> threads, ArrayRef<int64_t> rows) {
    return CudaRowAttr::getSpace(fused.getContext(), threads, rows);
  };
  // Short rows share a warp: a thread has 16 bytes of a row or more.
  int64_t bytes = row.getRowBytes();
  int64_t lanes = llvm::bit_floor<uint64_t>(std::max<int64_t>(1, bytes / 16));
  if (lanes < 32) {
    SmallVector<int64_t> threads, rows;
    for (int64_t candidate : {2 * lanes, lanes, lanes / 2, lanes / 4})
      if (candidate >= 1 && candidate <= 32 &&
          getValuesPerThread(row, candidate) <= 32) {
        threads.push_back(candidate);
        rows.push_back(256 / candidate);
      }
    return space(threads, rows);
  }
  // One warp per row needs no barrier, as long as the row fits its registers.
  if (getValuesPerThread(row, 32) <= 32)
    return space({32}, {1, 2, 4, 8});
  SmallVector<int64_t> threads;
  for (int64_t candidate : {32, 64, 128, 256, 512, 1024}) {
    int64_t values = getValuesPerThread(row, candidate);
    bool needed = values >= row.getVector() &&
                  values <= getMaximumValues(candidate) &&
                  (candidate == 32 ||
                   candidate * row.getVector() / 2 < row.region.columns);
    if (needed && row.region.columns <= candidate * getMaximumValues(candidate))
      threads.push_back(candidate);
  }
  if (threads.size() > 4)
    threads.resize(4);
  return space(threads, {1});
}

/// Bytes of the rows of a block if they move through shared memory: short ones
/// that lie together, where accesses of their elements would be narrow.
int64_t RowwisePlan::getTileBytes(CudaRowAttr schedule) const {
  constexpr int64_t access = 16, mostBytes = 40 << 10;
  int64_t rows = schedule.getRows(), bytes = 0;
  if (schedule.getThreads() >= 32 || row.getVector() >= 4)
    return 0;
  auto isTile = [&](const MatrixTensor &tensor) {
    int64_t size = getStorageBytes(tensor.element);
    bytes += rows * row.region.columns * size;
    return tensor.leadingDimension == row.region.columns &&
           rows * size % access == 0 && tensor.offset * size % access == 0;
  };
  auto isMatrix = [](const RowOperand &operand) {
    return !operand.table && operand.tensor.kind == MatrixTensor::RowMajor;
  };
  for (const RowOperand &input : row.inputs)
    if (isMatrix(input) && !isTile(input.tensor))
      return 0;
  if (bytes == 0 ||
      !llvm::all_of(row.full.results,
                    [&](const MatrixTensor &result) { return isTile(result); }))
    return 0;
  return bytes <= mostBytes ? bytes : 0;
}

/// The share of the bytes in flight that memory needs for its full speed.
double RowwisePlan::getOccupancy(CudaRowAttr schedule) const {
  double threads = schedule.getThreads() * schedule.getRows();
  double blocks = std::ceil(double(row.region.rows) / schedule.getRows());
  int64_t tileBytes = getTileBytes(schedule);
  double tiles = tileBytes
                     ? std::floor(double(machine.sharedMemoryBytes) / tileBytes)
                     : blocks;
  double resident =
      std::min(blocks, machine.multiprocessors *
                           std::min({32.0, std::floor(2048 / threads), tiles}));
  double perRow = row.getRowBytes();
  double inFlight =
      std::min<double>(resident * schedule.getRows(), row.region.rows) * perRow;
  // Lines that the lanes of a load touch: rows that share a warp are apart.
  double lines = tileBytes
                     ? 4.0
                     : std::min<double>(
                           32.0 / std::min<int64_t>(32, schedule.getThreads()),
                           std::ceil(32 * perRow / 128));
  return std::min(1.0, inFlight / (48e3 * machine.multiprocessors)) *
         (1 - 0.01 * lines);
}

/// Slots of what the row op itself does with an element.
static double getSlotsOf(Operation *op) {
  if (isa<SoftmaxOp>(op))
    return 16;
  return isa<NormOp>(op) ? 5 : 2;
}

/// Issue slots of an element: loads, and what is computed before and after the
/// row op. The compiler computes once what both need, and a row's value once.
double RowwisePlan::getSlots() const {
  if (slots)
    return *slots;
  double found = 4 + getSlotsOf(row.region.op);
  for (const RowOperand *operand : row.getRead())
    found += operand->countLines(row.getVector());
  SmallVector<Value> values{row.region.getInput()};
  for (const RowRegion::Result &result : row.region.results)
    if (result.isFull)
      values.push_back(getDestinations(result.yielded).back().value);
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  options.leading = {row.region.getOutput()};
  if (row.region.isReduction())
    options.rowValues = options.leading;
  options.rowStrides = row.space.getRowStrides();
  FailureOr<ScalarFunction> all =
      ScalarFunction::get(values, row.space.shape, options, Silence(fused));
  if (succeeded(all))
    found += all->getCost(row.region.isReduction() ? 1 : 0);
  slots = found;
  return found;
}

double RowwisePlan::predict(ScheduleAttr schedule) const {
  auto rowSchedule = cast<CudaRowAttr>(schedule);
  int64_t threads = rowSchedule.getThreads();
  bool staged = getTileBytes(rowSchedule) > 0;
  double efficiency = staged ? 0.85 : row.getVector() >= 4 ? 0.88 : 0.6;
  // Idle lanes, barriers, and blocks too small to fill a multiprocessor.
  double lanes = double(getValuesPerThread(row, threads)) * threads;
  efficiency *= 0.7 + 0.3 * row.region.columns / lanes;
  if (threads > 32)
    efficiency *= 0.98;
  int64_t block = threads * (threads > 32 ? 1 : rowSchedule.getRows());
  if (block < 64)
    efficiency *= 0.8;
  // Blocks of many short rows may be few. Few blocks have few bytes in flight,
  // so that the scarcer of both counts, not their product.
  double blocks = std::ceil(double(row.region.rows) / rowSchedule.getRows());
  double busy = std::min(1.0, blocks / machine.multiprocessors);
  double occupancy = getOccupancy(rowSchedule);
  if (threads < 32)
    occupancy = std::min(occupancy, busy) * (0.9 + 0.1 * busy) *
                (block > 256 ? 0.98 : 1.0);
  efficiency *= occupancy;
  if (getValuesPerThread(row, threads) > 32)
    efficiency *= 0.9;
  double memory = row.getBytes() / (machine.bandwidth * efficiency);
  double elements = double(row.region.rows) * row.region.columns;
  // Few warps wait for their own results, and for instructions. 15 per
  // multiprocessor took an H200 235 us where 30 took 121.
  double warps = double(row.region.rows) * threads / 32;
  warps = std::clamp(warps / machine.multiprocessors, 1.0, 64.0);
  // Two accesses of shared memory on the way in, and two on the way out.
  double compute = elements * (getSlots() + (staged ? 4 : 0)) *
                   (1 + 8 / warps) /
                   (machine.multiprocessors * 128 * machine.clock);
  // Of schedules that compute as long, the one that reads faster.
  return 1e6 * (std::max(memory, compute) + 0.01 * std::min(memory, compute) +
                machine.launchSeconds);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// What Row.cuh calls the row operation.
static StringRef getRowWord(Operation *op) {
  if (auto norm = dyn_cast<NormOp>(op))
    return norm.getKind() == NormKind::layer ? "LayerNorm<Epsilon>"
                                             : "RmsNorm<Epsilon>";
  if (isa<SoftmaxOp>(op))
    return "Softmax";
  switch (cast<ReduceOp>(op).getKind()) {
  case ReduceKind::sum:
    return "Sum";
  case ReduceKind::mean:
    return "Mean";
  case ReduceKind::max:
    return "Max";
  case ReduceKind::min:
    return "Min";
  case ReduceKind::prod:
    return "Product";
  case ReduceKind::argmax:
    return "ArgMax";
  case ReduceKind::argmin:
    return "ArgMin";
  }
  llvm_unreachable("all kinds are above");
}

/// Prints the functors of a form's results and returns their names.
static SmallVector<std::string> printFunctors(raw_ostream &os,
                                              const Rowwise::Form &form,
                                              StringRef name,
                                              ArrayRef<StringRef> leading) {
  SmallVector<std::string> functors;
  for (size_t i = 0; i < form.results.size(); ++i) {
    functors.push_back(name.str());
    if (form.results.size() > 1)
      functors.back() += std::to_string(i);
    form.epilogue->printFunctor(os, functors.back(),
                                getArgumentNames(*form.epilogue, leading), i);
    os << '\n';
  }
  return functors;
}

/// `Operands<...>`.
static void printRowOperands(raw_ostream &os, ArrayRef<RowOperand> operands,
                             function_ref<bool(const RowOperand &)> streams) {
  os << "Operands<";
  llvm::interleave(
      operands,
      [&](const RowOperand &operand) { operand.print(os, streams(operand)); },
      [&] { os << ",\n             "; });
  os << '>';
}

/// `Operands<...>, Results<...>` of a form.
static void printForm(raw_ostream &os, const Rowwise::Form &form,
                      ArrayRef<std::string> functors,
                      function_ref<bool(const RowOperand &)> streams) {
  printRowOperands(os, form.operands, streams);
  os << ",\n    ";
  printResults(os, functors, form.results);
}

LogicalResult RowwisePlan::emit(ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto rowSchedule = cast<CudaRowAttr>(schedule);
  int64_t threads = rowSchedule.getThreads();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol,
              row.hasTables() ? "RowTable.cuh" : "Row.cuh");
  if (auto norm = dyn_cast<NormOp>(row.region.op))
    printConstant(os, "Epsilon", norm.getEps().convertToDouble());
  std::string prologue = "Identity";
  if (!row.prologue.isIdentity()) {
    prologue = "Prologue";
    row.prologue.printFunctor(os, prologue, getArgumentNames(row.prologue, {}));
    os << '\n';
  }
  StringRef output = row.region.isReduction() ? "reduced" : "normalized";
  SmallVector<std::string> functors =
      printFunctors(os, row.full, "Epilogue", {output, "value"});
  SmallVector<std::string> rowFunctors =
      printFunctors(os, row.perRow, "RowEpilogue", {"reduced"});

  os << "using Kernel = Row<\n    Extent<" << row.region.rows << ", "
     << row.region.columns << ">,\n    " << getRowWord(row.region.op)
     << ",\n    " << prologue << ",\n    ";
  double stored =
      countMatrixBytes(row.full.results, row.region.rows, row.region.columns);
  bool passes = passesThroughCache(row.getBytes() - stored, stored, machine);
  auto streams = [&](const RowOperand &operand) {
    return passes && row.isReadOnce(operand);
  };
  printRowOperands(os, row.inputs, streams);
  os << ",\n    ";
  printForm(os, row.full, functors, streams);
  // Several warps of one row meet at the block's barrier: one row per block.
  int64_t rows = threads > 32 ? 1 : rowSchedule.getRows();
  os << ",\n    RowSchedule<" << threads << ", " << rows << ", "
     << row.getVector() << (getTileBytes(rowSchedule) ? ", true" : "") << ">";
  if (row.perRow.epilogue) {
    os << ",\n    ";
    printForm(os, row.perRow, rowFunctors, streams);
  }
  os << ">;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerRowwiseFamily(DialectRegistry &registry) {
  registerFamily<RowwiseFamily>(registry);
}
