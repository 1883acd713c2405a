//===- Rowwise.cpp - Row operations with pointwise ops around them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops, one norm, softmax or reduction over the last dimensions,
// pointwise ops. A row stays in registers from its first read to its last write.
// A reduction may have results of one element a row beside full ones.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"

using namespace mlir;
using namespace fact;

namespace {
struct Rowwise {
  /// The norm, softmax or reduction.
  Operation *op;
  int64_t rows, columns;
  SmallVector<MatrixTensor> inputs;
  ScalarFunction prologue;

  /// Results of one form, what they read beside the row operation, and how they
  /// are computed; null when there are none.
  struct Form {
    SmallVector<MatrixTensor> operands, results;
    std::optional<ScalarFunction> epilogue;
  };
  Form full, perRow;

  /// Elements of one access: 16 bytes, where all tensors allow it.
  int64_t getVector() const {
    for (int64_t vector : {8, 4, 2})
      if (allowsVector(vector))
        return vector;
    return 1;
  }

  double getBytes() const {
    double bytes = 0;
    for (auto *list : {&inputs, &full.operands, &full.results})
      bytes += countMatrixBytes(*list, rows, columns);
    return bytes;
  }

private:
  bool allowsVector(int64_t vector) const {
    if (columns % vector)
      return false;
    for (auto *list : {&inputs, &full.operands, &full.results})
      for (const MatrixTensor &tensor : *list)
        if (getStorageBytes(tensor.element) * vector > 16 ||
            (tensor.isMatrix() && tensor.leadingDimension % vector) ||
            (tensor.offset % vector &&
             tensor.kind != MatrixTensor::ColumnVector &&
             tensor.kind != MatrixTensor::Scalar))
          return false;
    return true;
  }
};

class RowwisePlan : public Plan {
public:
  RowwisePlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, Rowwise row)
      : Plan(family, fused, machine), row(std::move(row)) {}

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  Rowwise row;
};
} // namespace

/// Values one thread holds; more than 128 would spill.
static int64_t getValuesPerThread(const Rowwise &row, int64_t threads) {
  int64_t vector = row.getVector();
  return llvm::divideCeil(row.columns, threads * vector) * vector;
}

static constexpr int64_t maximumValues = 64;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

static FailureOr<Operation *> getRowOp(FusedOp fused, EmitError emitError) {
  Operation *found = nullptr;
  for (Operation &op : fused.getBodyOps()) {
    if (!isa<NormOp, SoftmaxOp, ReduceOp>(op))
      continue;
    if (found)
      return emitError() << "needs exactly one norm, softmax or reduction";
    found = &op;
  }
  if (!found)
    return emitError() << "needs exactly one norm, softmax or reduction";
  if (auto softmax = dyn_cast<SoftmaxOp>(found))
    if (int64_t(softmax.getDim()) != softmax.getType().getRank() - 1)
      return emitError() << "softmax must be over the last dimension, not "
                         << softmax.getDim();
  if (auto reduce = dyn_cast<ReduceOp>(found)) {
    int64_t first = getTensorType(reduce.getOperand()).getRank() -
                    int64_t(reduce.getDims().size());
    for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
      if (dim != first + int64_t(i))
        return emitError() << "a reduction must be over trailing dimensions";
  }
  return found;
}

/// The number of trailing dimensions that are one row.
static int64_t getRowDims(Operation *op) {
  if (auto norm = dyn_cast<NormOp>(op))
    return norm.getDims();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getDims().size();
  return 1;
}

static LogicalResult getTensors(ArrayRef<ScalarFunction::Argument> arguments,
                                SmallVector<MatrixTensor> &tensors,
                                EmitError emitError) {
  for (const ScalarFunction::Argument &argument : arguments) {
    Type element = getTensorType(argument.value).getElementType();
    if (!isa<FloatType>(element) || element.isF64())
      return emitError() << "operands must be f16, bf16 or f32, not "
                         << argument.value.getType();
    FailureOr<MatrixTensor> tensor =
        MatrixTensor::get(argument.view, getBuffer(argument.value));
    if (failed(tensor) || tensor->kind == MatrixTensor::ColumnMajor)
      return emitError() << "an operand of type " << argument.value.getType()
                         << " is neither a matrix, a row, a column nor a "
                            "scalar of the rows";
    tensors.push_back(*tensor);
  }
  return success();
}

/// A result of full rows, or of one element a row; `value` is what it holds
/// before the views at its end.
static FailureOr<MatrixTensor> getResult(FusedOp fused, unsigned index,
                                         ArrayRef<int64_t> space, Value &value,
                                         EmitError emitError) {
  Value yielded = fused.getYield()->getOperand(index);
  FailureOr<Destination> destination = getDestination(yielded, emitError);
  if (failed(destination))
    return failure();
  value = destination->value;
  FailureOr<StridedView> view = destination->view.reshape(space);
  bool isRow = space[1] == 1;
  if (failed(view) || (!isRow && view->strides[1] != 1) ||
      (isRow && space[0] > 1 && view->strides[0] != 1))
    return emitError() << "a result must have contiguous rows, and its last "
                          "views permute them";
  Type element = getTensorType(yielded).getElementType();
  int64_t buffer = getResultBuffer(fused, index);
  if (isRow)
    return MatrixTensor{MatrixTensor::ColumnVector, buffer, element, 0, 0,
                        view->offset};
  int64_t leading = space[0] == 1 ? space[1] : view->strides[0];
  return MatrixTensor{MatrixTensor::RowMajor, buffer,      element,
                      leading,                0, view->offset};
}

static FailureOr<Rowwise> analyse(FusedOp fused, EmitError emitError) {
  FailureOr<Operation *> op = getRowOp(fused, emitError);
  if (failed(op))
    return failure();
  Value input = (*op)->getOperand(0), output = (*op)->getResult(0);
  RankedTensorType type = getTensorType(input);
  if (!isa<FloatType>(type.getElementType()) || type.getElementType().isF64())
    return emitError() << "computes in f32, and the rows are "
                       << type.getElementType();
  int64_t dims = getRowDims(*op);
  int64_t columns = llvm::product_of(type.getShape().take_back(dims));
  int64_t rows = llvm::product_of(type.getShape().drop_back(dims));
  if (columns > 1024 * maximumValues || columns < 2 || rows < 1)
    return emitError() << "a row has 2 to " << 1024 * maximumValues
                       << " elements, not " << columns;
  if (rows >= INT32_MAX)
    return emitError() << "has too many rows for one grid: " << rows;
  bool isReduction = isa<ReduceOp>(*op);

  SmallVector<Value> values, rowValues;
  Rowwise::Form full, perRow;
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    int64_t count = getTensorType(yielded).getNumElements();
    Type element = getTensorType(yielded).getElementType();
    bool isFull = count == rows * columns;
    if (!isFull && !(isReduction && count == rows))
      return emitError() << "a result of type " << yielded.getType()
                         << " has not the size of the rows";
    if (element.isF64() || (isFull && !isa<FloatType>(element)))
      return emitError() << "results must be f16, bf16 or f32, not "
                         << yielded.getType();
    Value value;
    FailureOr<MatrixTensor> result =
        getResult(fused, i, {rows, isFull ? columns : 1}, value, emitError);
    if (failed(result))
      return failure();
    (isFull ? full : perRow).results.push_back(*result);
    (isFull ? values : rowValues).push_back(value);
  }

  ScalarFunction::Options options;
  // Indices are compared exactly.
  options.fast = hasOnly16BitResults(fused);
  SmallVector<int64_t> space{rows, columns};
  FailureOr<ScalarFunction> prologue =
      ScalarFunction::get(input, space, options, emitError);
  if (failed(prologue))
    return failure();
  SmallVector<MatrixTensor> inputs;
  if (failed(getTensors(prologue->getArguments(), inputs, emitError)))
    return failure();
  if (inputs.empty())
    return emitError() << "the rows are constants";

  if (isReduction)
    options.rowValues = {output};
  auto finish = [&](Rowwise::Form &form, ArrayRef<Value> results,
                    ArrayRef<int64_t> space) -> LogicalResult {
    if (results.empty())
      return success();
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get(results, space, options, emitError);
    if (failed(epilogue) ||
        failed(getTensors(
            epilogue->getArguments().drop_front(options.leading.size()),
            form.operands, emitError)))
      return failure();
    form.epilogue = std::move(*epilogue);
    return success();
  };
  options.leading = {output, input};
  if (failed(finish(full, values, space)))
    return failure();
  options.leading = {output};
  if (failed(finish(perRow, rowValues, {rows, 1})))
    return failure();
  return Rowwise{*op,
                 rows,
                 columns,
                 inputs,
                 std::move(*prologue),
                 std::move(full),
                 std::move(perRow)};
}

namespace {
class RowwiseFamily : public Family {
public:
  RowwiseFamily() : Family(rowwiseRule, "cuda", {&CudaRowAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    return makePlan<RowwisePlan>(fused, machine, analyse(fused, emitError));
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
  if (rows > 1024 / threads)
    return emitError() << "a block has at most 1024 threads, not " << rows
                       << " rows of " << threads;
  if (rows > 1 && threads > 32)
    return emitError() << "several rows per block have one warp each, and "
                       << threads << " threads are more";
  if (row.columns > threads * maximumValues)
    return emitError() << "a row of " << row.columns
                       << " elements does not fit the registers of " << threads
                       << " threads (" << maximumValues << " each)";
  return success();
}

SpaceAttrInterface RowwisePlan::getSpace() const {
  auto space = [&](ArrayRef<int64_t> threads, ArrayRef<int64_t> rows) {
    return CudaRowAttr::getSpace(fused.getContext(), threads, rows);
  };
  // A warp a row needs no barrier, as long as the row fits its registers.
  if (getValuesPerThread(row, 32) <= 32)
    return space({32}, {1, 2, 4, 8});
  SmallVector<int64_t> threads;
  for (int64_t candidate : {32, 64, 128, 256, 512, 1024}) {
    int64_t values = getValuesPerThread(row, candidate);
    bool needed = values >= row.getVector() && values <= maximumValues &&
                  (candidate == 32 || candidate * row.getVector() / 2 <
                                          row.columns);
    if (needed && row.columns <= candidate * maximumValues)
      threads.push_back(candidate);
  }
  if (threads.size() > 4)
    threads.resize(4);
  return space(threads, {1});
}

double RowwisePlan::predict(ScheduleAttr schedule) const {
  auto rowSchedule = cast<CudaRowAttr>(schedule);
  int64_t threads = rowSchedule.getThreads();
  double efficiency = row.getVector() * 2 >= 8 ? 0.88 : 0.6;
  // Idle lanes, barriers, and blocks too small to fill a multiprocessor.
  double lanes = double(getValuesPerThread(row, threads)) * threads;
  efficiency *= 0.7 + 0.3 * row.columns / lanes;
  if (threads > 32)
    efficiency *= 0.98;
  int64_t block = threads * (threads > 32 ? 1 : rowSchedule.getRows());
  if (block < 64)
    efficiency *= 0.8;
  if (getValuesPerThread(row, threads) > 32)
    efficiency *= 0.9;
  return 1e6 * (row.getBytes() / (machine.bandwidth * efficiency) + launchSeconds);
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

/// `Operands<...>, Results<...>` of a form.
static void printForm(raw_ostream &os, const Rowwise::Form &form,
                      ArrayRef<std::string> functors) {
  printOperands(os, form.operands);
  os << ",\n    ";
  printResults(os, functors, form.results);
}

LogicalResult RowwisePlan::emit(ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto rowSchedule = cast<CudaRowAttr>(schedule);
  int64_t threads = rowSchedule.getThreads();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Row.cuh");
  if (auto norm = dyn_cast<NormOp>(row.op))
    printConstant(os, "Epsilon", norm.getEps().convertToDouble());
  std::string prologue = "Identity";
  if (!row.prologue.isIdentity()) {
    prologue = "Prologue";
    row.prologue.printFunctor(os, prologue,
                               getArgumentNames(row.prologue, {}));
    os << '\n';
  }
  bool isReduction = isa<ReduceOp>(row.op);
  SmallVector<std::string> functors =
      printFunctors(os, row.full, "Epilogue",
                    {isReduction ? "reduced" : "normalized", "value"});
  SmallVector<std::string> rowFunctors =
      printFunctors(os, row.perRow, "RowEpilogue", {"reduced"});

  os << "using Kernel = Row<\n    Extent<" << row.rows << ", " << row.columns
     << ">,\n    " << getRowWord(row.op) << ",\n    " << prologue << ",\n    ";
  printOperands(os, row.inputs);
  os << ",\n    ";
  printForm(os, row.full, functors);
  // Several warps of one row meet at the block's barrier: one row a block.
  int64_t rows = threads > 32 ? 1 : rowSchedule.getRows();
  os << ",\n    RowSchedule<" << threads << ", " << rows << ", "
     << row.getVector() << ">";
  if (row.perRow.epilogue) {
    os << ",\n    ";
    printForm(os, row.perRow, rowFunctors);
  }
  os << ">;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerRowwiseFamily(DialectRegistry &registry) {
  registerFamily<RowwiseFamily>(registry);
}
