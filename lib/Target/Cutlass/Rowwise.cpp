//===- Rowwise.cpp - Norms and softmax with pointwise ops around them -----===//
//
// Pointwise ops, one norm or softmax over the last dimensions, pointwise ops.
// A row stays in registers from its first read to its last write.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
struct Rowwise {
  /// The norm or softmax.
  Operation *op;
  int64_t rows, columns;
  SmallVector<MatrixTensor> inputs, operands, results;
  ScalarFunction prologue, epilogue;

  /// Elements of one access: 16 bytes, where all tensors allow it.
  int64_t getVector() const {
    for (int64_t vector : {8, 4, 2})
      if (allowsVector(vector))
        return vector;
    return 1;
  }

  double getBytes() const {
    double bytes = 0;
    for (auto *list : {&inputs, &operands, &results})
      for (const MatrixTensor &tensor : *list)
        if (tensor.isMatrix())
          bytes += double(rows) * columns * getElementBytes(tensor.element);
    return bytes;
  }

private:
  bool allowsVector(int64_t vector) const {
    if (columns % vector)
      return false;
    for (auto *list : {&inputs, &operands, &results})
      for (const MatrixTensor &tensor : *list)
        if (getElementBytes(tensor.element) * vector > 16 ||
            (tensor.isMatrix() && tensor.leadingDimension % vector) ||
            (tensor.offset % vector &&
             tensor.kind != MatrixTensor::ColumnVector &&
             tensor.kind != MatrixTensor::Scalar))
          return false;
    return true;
  }
};

class RowwiseRealiser : public CutlassRealiser {
public:
  using CutlassRealiser::CutlassRealiser;

  StringRef getRule() const override { return "rowwise"; }

  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    return analyse(fused, emitError);
  }

  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttrInterface schedule) const override;
  LogicalResult emit(FusedOp fused, ScheduleAttrInterface schedule,
                     StringRef symbol, KernelCode &code) const override;

private:
  FailureOr<Rowwise> analyse(FusedOp fused, EmitError emitError) const;
  FailureOr<Rowwise> analyse(FusedOp fused) const {
    return analyse(fused, [&] { return fused.emitError(); });
  }
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
    if (!isa<NormOp, SoftmaxOp>(op))
      continue;
    if (found)
      return emitError() << "needs exactly one norm or softmax";
    found = &op;
  }
  if (!found)
    return emitError() << "needs exactly one norm or softmax";
  if (auto softmax = dyn_cast<SoftmaxOp>(found))
    if (int64_t(softmax.getDim()) != softmax.getType().getRank() - 1)
      return emitError() << "softmax must be over the last dimension, not "
                         << softmax.getDim();
  return found;
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

FailureOr<Rowwise> RowwiseRealiser::analyse(FusedOp fused,
                                            EmitError emitError) const {
  if (failed(requireStaticShapes(fused, emitError)))
    return failure();
  FailureOr<Operation *> op = getRowOp(fused, emitError);
  if (failed(op))
    return failure();
  RankedTensorType type = getTensorType((*op)->getResult(0));
  if (type.getElementType().isF64())
    return emitError() << "computes in f32, and the rows are f64";
  int64_t dims = 1;
  if (auto norm = dyn_cast<NormOp>(*op))
    dims = norm.getDims();
  int64_t columns = llvm::product_of(type.getShape().take_back(dims));
  int64_t rows = llvm::product_of(type.getShape().drop_back(dims));
  if (columns > 1024 * maximumValues || columns < 2 || rows < 1)
    return emitError() << "a row has 2 to " << 1024 * maximumValues
                       << " elements, not " << columns;
  if (rows >= INT32_MAX)
    return emitError() << "has too many rows for one grid: " << rows;
  SmallVector<int64_t> space{rows, columns};

  SmallVector<Value> values;
  SmallVector<MatrixTensor> results;
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    Type element = getTensorType(yielded).getElementType();
    if (!isa<FloatType>(element) || element.isF64())
      return emitError() << "results must be f16, bf16 or f32, not "
                         << yielded.getType();
    if (getTensorType(yielded).getNumElements() != rows * columns)
      return emitError() << "a result of type " << yielded.getType()
                         << " has not the size of the rows";
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    FailureOr<StridedView> view = destination->view.reshape(space);
    if (failed(view) || view->strides[1] != 1)
      return emitError() << "a result must have contiguous rows, and its last "
                            "views permute them";
    int64_t leading = rows == 1 ? columns : view->strides[0];
    results.push_back({MatrixTensor::RowMajor, getResultBuffer(fused, i),
                       element, leading, 0, view->offset});
    values.push_back(destination->value);
  }

  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  FailureOr<ScalarFunction> prologue =
      ScalarFunction::get((*op)->getOperand(0), space, options, emitError);
  if (failed(prologue))
    return failure();
  options.leading = {(*op)->getResult(0), (*op)->getOperand(0)};
  FailureOr<ScalarFunction> epilogue =
      ScalarFunction::get(values, space, options, emitError);
  if (failed(epilogue))
    return failure();
  SmallVector<MatrixTensor> inputs, operands;
  if (failed(getTensors(prologue->getArguments(), inputs, emitError)) ||
      failed(getTensors(epilogue->getArguments().drop_front(2), operands,
                        emitError)))
    return failure();
  if (inputs.empty())
    return emitError() << "the rows are constants";
  return Rowwise{*op,      rows,    columns,
                 inputs,   operands, results,
                 std::move(*prologue), std::move(*epilogue)};
}

//===----------------------------------------------------------------------===//
// Space and cost
//===----------------------------------------------------------------------===//

SpaceAttrInterface RowwiseRealiser::getDefaultSpace(FusedOp fused) const {
  FailureOr<Rowwise> row = analyse(fused);
  if (failed(row))
    return {};
  auto space = [&](ArrayRef<int64_t> threads, ArrayRef<int64_t> rows) {
    return cast<SpaceAttrInterface>(
        CudaRowSpaceAttr::get(fused.getContext(), threads, rows));
  };
  // A warp a row needs no barrier, as long as the row fits its registers.
  if (getValuesPerThread(*row, 32) <= 32)
    return space({32}, {1, 2, 4, 8});
  SmallVector<int64_t> threads;
  for (int64_t candidate : {32, 64, 128, 256, 512, 1024}) {
    int64_t values = getValuesPerThread(*row, candidate);
    bool needed = values >= row->getVector() && values <= maximumValues &&
                  (candidate == 32 || candidate * row->getVector() / 2 <
                                          row->columns);
    if (needed && row->columns <= candidate * maximumValues)
      threads.push_back(candidate);
  }
  if (threads.size() > 4)
    threads.resize(4);
  return space(threads, {1});
}

double
RowwiseRealiser::predictMicroseconds(FusedOp fused,
                                     ScheduleAttrInterface schedule) const {
  FailureOr<Rowwise> row = analyse(fused);
  auto rowSchedule = dyn_cast<CudaRowAttr>(schedule);
  if (failed(row) || !rowSchedule)
    return INFINITY;
  int64_t threads = rowSchedule.getThreads();
  double efficiency = row->getVector() * 2 >= 8 ? 0.88 : 0.6;
  // Idle lanes, barriers, and blocks too small to fill a multiprocessor.
  double lanes = double(getValuesPerThread(*row, threads)) * threads;
  efficiency *= 0.7 + 0.3 * row->columns / lanes;
  if (threads > 32)
    efficiency *= 0.98;
  int64_t block = threads * (threads > 32 ? 1 : rowSchedule.getRows());
  if (block < 64)
    efficiency *= 0.8;
  if (getValuesPerThread(*row, threads) > 32)
    efficiency *= 0.9;
  return 1e6 * (row->getBytes() / (machine.bandwidth * efficiency) + 3e-6);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static void printOperands(raw_ostream &os, ArrayRef<MatrixTensor> tensors) {
  os << "    Operands<";
  llvm::interleave(tensors, os, ",\n             ");
  os << ">,\n";
}

LogicalResult RowwiseRealiser::emit(FusedOp fused,
                                    ScheduleAttrInterface schedule,
                                    StringRef symbol, KernelCode &code) const {
  FailureOr<Rowwise> row = analyse(fused);
  if (failed(row))
    return failure();
  auto rowSchedule = dyn_cast<CudaRowAttr>(schedule);
  if (!rowSchedule)
    return fused.emitError("rows run with #fact.cuda_row, not ") << schedule;
  int64_t threads = rowSchedule.getThreads();
  if (getValuesPerThread(*row, threads) > 128)
    return fused.emitError("a row of ")
           << row->columns << " elements does not fit the registers of "
           << threads << " threads";

  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Row.cuh");
  std::string normalization = "Softmax";
  if (auto norm = dyn_cast<NormOp>(row->op)) {
    printConstant(os, "Epsilon", norm.getEps().convertToDouble());
    normalization = norm.getKind() == NormKind::layer ? "LayerNorm<Epsilon>"
                                                      : "RmsNorm<Epsilon>";
  }
  std::string prologue = "Identity";
  if (!row->prologue.isIdentity()) {
    prologue = "Prologue";
    row->prologue.printFunctor(os, prologue,
                               getArgumentNames(row->prologue, {}));
    os << '\n';
  }
  SmallVector<std::string> names =
      getArgumentNames(row->epilogue, {"normalized", "value"});
  SmallVector<std::string> functors;
  for (size_t i = 0; i < row->results.size(); ++i) {
    functors.push_back("Epilogue");
    if (row->results.size() > 1)
      functors.back() += std::to_string(i);
    row->epilogue.printFunctor(os, functors.back(), names, i);
    os << '\n';
  }

  os << "using Kernel = Row<\n    Extent<" << row->rows << ", " << row->columns
     << ">,\n    " << normalization << ",\n    " << prologue << ",\n";
  printOperands(os, row->inputs);
  printOperands(os, row->operands);
  os << "    Results<";
  llvm::interleave(
      llvm::zip_equal(functors, row->results),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", " << std::get<1>(result)
           << '>';
      },
      [&] { os << ",\n            "; });
  // Several warps of one row meet at the block's barrier: one row a block.
  int64_t rows = threads > 32 ? 1 : rowSchedule.getRows();
  os << ">,\n    RowSchedule<" << threads << ", " << rows << ", "
     << row->getVector() << ">>;\n";
  printFooter(os, symbol);
  return success();
}

std::unique_ptr<Realiser>
fact::createRowwiseRealiser(const MachineDescription &machine) {
  return std::make_unique<RowwiseRealiser>(machine);
}
