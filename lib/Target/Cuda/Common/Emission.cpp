//===- Emission.cpp - What the emitters of kernels share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

LogicalResult fact::requireSharedMemory(int64_t bytes,
                                        const MachineDescription &machine,
                                        EmitError emitError) {
  if (bytes <= machine.sharedMemoryBytes)
    return success();
  return emitError() << "needs " << bytes << " bytes of shared memory, and '"
                     << machine.name << "' has " << machine.sharedMemoryBytes;
}

LogicalResult fact::requireFloat16(Type element, EmitError emitError) {
  if (isFloat16(element))
    return success();
  return emitError() << "takes f16 or bf16 operands, not " << element;
}

/// Whether floats decide a value of the region.
static bool dependsOnFloats(Value value) {
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (isa<FloatType>(getTensorType(reached[i]).getElementType()))
      return true;
    if (Operation *op = reached[i].getDefiningOp())
      reached.insert_range(op->getOperands());
  }
  return false;
}

bool fact::hasOnly16BitResults(FusedOp fused) {
  bool isAnyNarrow = false;
  for (Value yielded : fused.getYield()->getOperands()) {
    bool isNarrow = isNarrowFloat(getTensorType(yielded).getElementType());
    if (!isNarrow && dependsOnFloats(yielded))
      return false;
    isAnyNarrow |= isNarrow;
  }
  return isAnyNarrow;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

FailureOr<MatrixTensor> MatrixTensor::get(const StridedView &view,
                                          int64_t buffer) {
  size_t rank = view.shape.size();
  auto stride = [&](size_t fromEnd) -> int64_t {
    if (fromEnd > rank || view.shape[rank - fromEnd] == 1)
      return 0;
    return view.strides[rank - fromEnd];
  };
  int64_t columns = view.shape[rank - 1], rows = view.shape[rank - 2];
  int64_t alongRow = stride(1), alongColumn = stride(2), batch = stride(3);
  MatrixTensor tensor{Scalar, buffer, getTensorType(view.base).getElementType(),
                      0,      batch,  view.offset};
  if (alongRow == 0 && alongColumn == 0) {
    // No kind describes one value per batch.
    if (batch != 0)
      return failure();
    return tensor;
  }
  if (alongColumn == 0 && alongRow == 1) {
    tensor.kind = RowVector;
    return tensor;
  }
  if (alongRow == 0 && alongColumn == 1) {
    tensor.kind = ColumnVector;
    return tensor;
  }
  if (alongRow == 1 && alongColumn >= columns) {
    tensor.kind = RowMajor;
    tensor.leadingDimension = alongColumn;
    return tensor;
  }
  if (alongColumn == 1 && alongRow >= rows) {
    tensor.kind = ColumnMajor;
    tensor.leadingDimension = alongRow;
    return tensor;
  }
  return failure();
}

FailureOr<MatrixTensor> MatrixTensor::getStrided(const StridedView &view,
                                                 int64_t buffer) {
  size_t rank = view.shape.size();
  MatrixTensor tensor{StridedMatrix, buffer,
                      getTensorType(view.base).getElementType()};
  tensor.leadingDimension = view.strides[rank - 2];
  tensor.columnStride = view.strides[rank - 1];
  tensor.offset = view.offset;
  // Runs of batches at one stride, the outermost first.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (size_t i = 0; i + 2 < rank; ++i) {
    auto [size, stride] = std::pair(view.shape[i], view.strides[i]);
    if (size == 1)
      continue;
    if (!runs.empty() && runs.back().second == stride * size)
      runs.back() = {runs.back().first * size, stride};
    else
      runs.emplace_back(size, stride);
  }
  if (runs.size() > 2)
    return failure();
  if (!runs.empty())
    tensor.batchStride = runs.front().second;
  if (runs.size() == 2)
    std::tie(tensor.innerBatches, tensor.innerBatchStride) = runs.back();
  return tensor;
}

bool MatrixTensor::isAligned(int64_t bytes) const {
  int64_t size = getStorageBytes(element);
  return leadingDimension * size % bytes == 0 &&
         batchStride * size % bytes == 0 && offset * size % bytes == 0;
}

LogicalResult MatrixTensor::requireWholeUnits(EmitError emitError) const {
  if (hasWholeUnits)
    return success();
  return emitError() << "stores units of 16 bytes by TMA, and rows of "
                     << element
                     << " end within a unit whose rest is not marked as "
                        "unused (fact.unused)";
}

static StringRef getWord(MatrixTensor::Kind kind) {
  static constexpr StringLiteral words[] = {"RowMajor",  "ColumnMajor",
                                            "RowVector", "ColumnVector",
                                            "Scalar",    "StridedMatrix"};
  return words[kind];
}

void MatrixTensor::print(raw_ostream &os, SizeList &sizes) const {
  if (!sizes.areArguments())
    return print(os);
  assert(kind != StridedMatrix && "kernels of any strides have their numbers");
  os << getWord(kind) << '<' << buffer << ", " << getElementName(element);
  if (isMatrix())
    os << ", " << sizes.print(leadingDimension);
  if (kind != Scalar)
    os << ", " << sizes.print(batchStride);
  os << ", " << sizes.print(offset) << '>';
}

void MatrixTensor::print(raw_ostream &os) const {
  os << getWord(kind) << '<' << buffer << ", " << getElementName(element);
  if (isMatrix())
    os << ", " << leadingDimension;
  if (kind == StridedMatrix)
    os << ", " << columnStride;
  bool hasRuns = innerBatches > 1;
  if (kind != Scalar && (batchStride || offset || hasRuns))
    os << ", " << batchStride;
  if (offset || hasRuns)
    os << ", " << offset;
  if (hasRuns)
    os << ", " << innerBatches << ", " << innerBatchStride;
  os << '>';
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string SizeList::printArgument(int64_t size) {
  arguments.push_back(size);
  return llvm::formatv("Size({0})", arguments.size() - 1).str();
}

void SizeList::finish(ArrayRef<int64_t> last, KernelCode &code) const {
  for (int64_t each : last) {
    std::vector<int64_t> &sizes =
        code.sizes.emplace_back(arguments.begin(), arguments.end());
    sizes.back() = each;
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

SmallVector<std::string> fact::getArgumentNames(const ScalarFunction &function,
                                                ArrayRef<StringRef> leading) {
  SmallVector<std::string> names;
  llvm::StringMap<unsigned> used;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    std::string name =
        i < leading.size() ? leading[i].str()
        : argument.isCoordinate
            ? std::string("coordinate")
            : llvm::formatv("operand{0}", getBuffer(argument.value)).str();
    // One operand may be read through several views.
    unsigned count = used[name]++;
    if (count >= 26)
      name += "_" + std::to_string(count);
    else if (count > 0)
      name += std::string(1, char('a' + count));
    names.push_back(name);
  }
  return names;
}

SmallVector<std::string> fact::printFunctors(raw_ostream &os,
                                             const ScalarFunction &function,
                                             ArrayRef<StringRef> leading,
                                             StringRef name, size_t count) {
  SmallVector<std::string> names = getArgumentNames(function, leading);
  SmallVector<std::string> functors;
  for (size_t i = 0; i < count; ++i) {
    if (function.isIdentity(i)) {
      functors.push_back("Identity");
      continue;
    }
    functors.push_back(name.str());
    if (count > 1)
      functors.back() += std::to_string(i);
    function.printFunctor(os, functors.back(), names, i);
    os << '\n';
  }
  return functors;
}

/// `Operands<...>` of what `print` prints.
template <typename Operand, typename Print>
static void printOperandsAs(raw_ostream &os, ArrayRef<Operand> operands,
                            Print print) {
  os << "Operands<";
  llvm::interleave(operands, print, [&] { os << ",\n             "; });
  os << '>';
}

/// `Results<Result<functor, ...>, ...>`; `print` prints a result by its number.
template <typename Print>
static void printResultsAs(raw_ostream &os, ArrayRef<std::string> functors,
                           Print print) {
  os << "Results<";
  llvm::interleave(
      llvm::enumerate(functors),
      [&](auto functor) {
        os << "Result<" << functor.value() << ", ";
        print(functor.index());
        os << '>';
      },
      [&] { os << ",\n            "; });
  os << '>';
}

void fact::printOperands(raw_ostream &os, ArrayRef<MatrixTensor> operands,
                         SizeList &sizes) {
  printOperandsAs(os, operands, [&](const MatrixTensor &operand) {
    operand.print(os, sizes);
  });
}

void fact::printOperands(raw_ostream &os, ArrayRef<MatrixTensor> operands) {
  SizeList numbers(SizeList::Numbers);
  printOperands(os, operands, numbers);
}

void fact::printOperands(raw_ostream &os, ArrayRef<StridedView> operands) {
  printOperandsAs(os, operands, [&](const StridedView &operand) {
    printStrided(os, operand, getBuffer(operand.base));
  });
}

void fact::printResults(raw_ostream &os, ArrayRef<std::string> functors,
                        ArrayRef<MatrixTensor> results, SizeList &sizes) {
  printResultsAs(os, functors,
                 [&](size_t index) { results[index].print(os, sizes); });
}

void fact::printResults(raw_ostream &os, ArrayRef<std::string> functors,
                        ArrayRef<MatrixTensor> results) {
  SizeList numbers(SizeList::Numbers);
  printResults(os, functors, results, numbers);
}

void fact::printResults(raw_ostream &os, ArrayRef<std::string> functors,
                        ArrayRef<StridedView> results, FusedOp fused) {
  printResultsAs(os, functors, [&](size_t index) {
    printStrided(os, results[index], getResultBuffer(fused, index));
  });
}

void fact::printStrides(raw_ostream &os, const StridedView &view) {
  os << "Strides<";
  llvm::interleaveComma(view.strides, os);
  os << '>';
}

bool fact::isReadByOne(const ScalarFunction &function, Value tensor) {
  return llvm::count_if(function.getArguments(),
                        [&](const ScalarFunction::Argument &argument) {
                          return argument.value == tensor;
                        }) == 1;
}

bool fact::passesThroughCache(double read, double stored,
                              const MachineDescription &machine) {
  return read > machine.cacheBytes / 2.0 && 4 * stored < read;
}

void fact::printRead(raw_ostream &os, const StridedView &view, int64_t buffer,
                     bool streams) {
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
    streams &= size == 1 || stride != 0;
  streams &= view.shape.back() == 1 || view.strides.back() == 1;
  os << (streams ? "Streamed<" : "");
  printStrided(os, view, buffer);
  os << (streams ? ">" : "");
}

void fact::printStrided(raw_ostream &os, const StridedView &view,
                        int64_t buffer, StringRef word) {
  os << word << '<' << buffer << ", "
     << getElementName(getTensorType(view.base).getElementType()) << ", ";
  printStrides(os, view);
  if (view.offset)
    os << ", " << view.offset;
  os << '>';
}

double fact::countBytes(const StridedView &view) {
  double bytes = getStorageBytes(getTensorType(view.base).getElementType());
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
    if (stride != 0)
      bytes *= size;
  return bytes;
}

double fact::countMatrixBytes(ArrayRef<MatrixTensor> operands, int64_t m,
                              int64_t n) {
  double bytes = 0;
  for (const MatrixTensor &operand : operands)
    if (operand.isMatrix())
      bytes += double(m) * n * getStorageBytes(operand.element);
  return bytes;
}

RegionCopy::RegionCopy(FusedOp fused) {
  OpBuilder builder(fused.getContext());
  fused.getContext()->getOrLoadDialect<func::FuncDialect>();
  scope = func::FuncOp::create(
      fused.getLoc(), "scope",
      builder.getFunctionType(fused.getInputs().getTypes(), {}));
  Block *block = scope->addEntryBlock();
  IRMapping mapping;
  for (auto [operand, argument] :
       llvm::zip_equal(fused.getInputs(), block->getArguments()))
    if (!mapping.contains(operand))
      mapping.map(operand, argument);
  builder.setInsertionPointToStart(block);
  copy = cast<FusedOp>(builder.clone(*fused, mapping));
}

/// Prints the op with this schedule and without the attributes of the search;
/// its values are numbered from zero.
static void printRegion(raw_ostream &os, FusedOp fused, Attribute schedule) {
  RegionCopy region(fused);
  FusedOp copy = region.get();
  copy.removeSpaceAttr();
  copy.removeStrategyAttr();
  copy.removeScheduleAttr();
  copy.removePriorityAttr();
  if (schedule)
    copy.setScheduleAttr(schedule);
  copy->print(os,
              OpPrintingFlags().elideLargeElementsAttrs(16).assumeVerified());
}

static void printIncludes(raw_ostream &os, StringRef symbol, StringRef header) {
  os << "#include \"fact/cutlass/" << header << "\"\n"
     << "#include \"fact/cutlass/Scalars.cuh\"\n\n"
     << "namespace fact::" << symbol << " {\n\n";
}

void fact::printHeader(raw_ostream &os, FusedOp fused, Attribute schedule,
                       StringRef symbol, StringRef header) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printRegion(stream, fused, schedule);
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines)
    os << "// " << line << '\n';
  printIncludes(os, symbol, header);
}

void fact::printSizedHeader(raw_ostream &os, StringRef key, StringRef symbol,
                            StringRef header) {
  os << "// " << key << "\n// For all sizes; the bundle has those that it is "
     << "called with, and the reference the region.\n";
  printIncludes(os, symbol, header);
}

void fact::printFooter(raw_ostream &os, StringRef symbol, size_t sizes) {
  if (sizes == 0)
    os << "\nFACT_KERNEL(" << symbol << ", Kernel)\n\n";
  else
    os << "\nFACT_SIZED_KERNEL(" << symbol << ", Kernel, " << sizes << ")\n\n";
  os << "} // namespace fact::" << symbol << '\n';
}

void fact::printConstant(raw_ostream &os, StringRef name, double value) {
  os << "struct " << name << " {\n  static constexpr float value = "
     << llvm::formatv("{0:e9}", value) << "f;\n};\n\n";
}
