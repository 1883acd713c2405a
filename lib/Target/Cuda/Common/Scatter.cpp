//===- Scatter.cpp - Elements at computed places --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
/// One scatter into [outer, size, inner], as `ScatterShape` of Scatter.cuh.
struct Scatter {
  ScatterKind kind;
  Type element;
  int64_t outer, size, inner, count;
  /// Bytes of the source and of the updates in memory.
  double sourceBytes, updateBytes;

  double getRowBytes() const {
    return double(outer) * inner * getStorageBytes(element);
  }
};

class ScatterPlan : public Plan {
public:
  ScatterPlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, Scatter scatter)
      : Plan(family, fused, machine), scatter(scatter) {}

  static FailureOr<Scatter> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  bool replaces() const { return scatter.kind == ScatterKind::set; }
  int64_t getVector() const;
  void printOperand(raw_ostream &os, raw_ostream &constants, Value operand,
                    StringRef name) const;
  static FailureOr<double> checkOperand(Value operand, EmitError emitError);

  /// The rows of a block if one launch sorts, in about a block for each
  /// multiprocessor, all of which read all indices and count in shared memory;
  /// 0 if that is too much (ScatterSort.cuh).
  int64_t getRowsAtOnce() const {
    constexpr int64_t blocks = 128, mostRows = 256, mostUpdates = 1 << 16;
    int64_t rows = scatter.size / blocks + 1;
    return scatter.count <= mostUpdates && rows <= mostRows ? rows : 0;
  }

  /// Updates that each row may be compared with.
  static constexpr int64_t searchLimit = 1024;

  Scatter scatter;
};

class ScatterFamily : public FamilyOf<ScatterPlan> {
public:
  ScatterFamily() : FamilyOf(scatterRule, "cuda", {&CudaScatterAttr::kind}) {}
};
} // namespace

/// The one value of a constant's elements, in the type that kernels compute
/// with; null if there is none.
static TypedAttr getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return {};
  auto number = dense.getSplatValue<TypedAttr>();
  if (!isFloat16(number.getType()))
    return number;
  return FloatAttr::get(Float32Type::get(value.getContext()),
                        cast<FloatAttr>(number).getValueAsDouble());
}

/// The elements of an operand of the region in the order of `value`, behind
/// views, in as few dimensions as possible.
static FailureOr<StridedView> getView(Value value) {
  FailureOr<StridedView> view = StridedView::get(value);
  if (failed(view) || !isa<BlockArgument>(view->base))
    return failure();
  collapseDimensions(*view);
  return view;
}

/// Checks that the kernel can read the source or the updates: a constant of one
/// value, or an operand whose rows lie together or are one element each, so
/// that threads read neighbors. Returns the bytes that they have in memory.
FailureOr<double> ScatterPlan::checkOperand(Value operand,
                                            EmitError emitError) {
  if (getSplat(operand))
    return 0;
  auto type = cast<RankedTensorType>(operand.getType());
  FailureOr<StridedView> view = getView(operand);
  if (failed(view) || view->shape.empty() || view->strides.back() < 0 ||
      view->strides.back() > 1 ||
      (!isa<BlockArgument>(operand) && type.getNumElements() > INT32_MAX))
    return emitError() << "the source and the updates must be operands of the "
                          "region, also expanded or apart, or constants of one "
                          "value";
  return double(
      std::min(getStorageBytes(type), getStorageBytes(view->base.getType())));
}

FailureOr<Scatter> ScatterPlan::read(FusedOp fused, EmitError emitError) {
  auto op = getOnly<ScatterOp>(fused);
  auto isOther = [&](Operation &other) {
    return &other != op && !isa<ConstantOp, ViewOpInterface>(other);
  };
  if (!op || llvm::any_of(fused.getBodyOps(), isOther) ||
      fused.getYield()->getNumOperands() != 1 ||
      fused.getYield()->getOperand(0) != op.getResult())
    return emitError() << "needs exactly one 'fact.scatter', and views before "
                          "it";
  if (failed(requireElements(fused, emitError)))
    return failure();
  if (!isa<BlockArgument>(op.getIndices()))
    return emitError() << "indices must be an operand of the region";
  FailureOr<double> source = checkOperand(op.getSource(), emitError);
  FailureOr<double> updates = checkOperand(op.getUpdates(), emitError);
  if (failed(source) || failed(updates))
    return failure();
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t dim = op.getDim();
  Scatter scatter{op.getKind(),
                  op.getType().getElementType(),
                  llvm::product_of(shape.take_front(dim)),
                  shape[dim],
                  llvm::product_of(shape.drop_front(dim + 1)),
                  op.getIndices().getType().getNumElements(),
                  *source,
                  *updates};
  if (scatter.size >= INT32_MAX || scatter.count >= INT32_MAX)
    return emitError() << "takes less than 2^31 rows and updates, not "
                       << scatter.size << " and " << scatter.count;
  return scatter;
}

/// Elements per access: 16 bytes, where rows are whole vectors.
int64_t ScatterPlan::getVector() const {
  int64_t vector = std::min<int64_t>(8, 16 / getStorageBytes(scatter.element));
  while (scatter.inner % vector)
    vector /= 2;
  return vector;
}

LogicalResult ScatterPlan::checkLimits(ScheduleAttr schedule,
                                       EmitError emitError) const {
  auto own = cast<CudaScatterAttr>(schedule);
  switch (own.getMethod()) {
  case ScatterMethod::search:
    if (scatter.count > searchLimit)
      return emitError() << "a search compares each row with at most "
                         << searchLimit << " indices, not " << scatter.count;
    break;
  case ScatterMethod::last:
    if (!replaces())
      return emitError() << "the last update of a row decides a 'set', not a '"
                         << stringifyScatterKind(scatter.kind) << "'";
    break;
  case ScatterMethod::sort:
    if (replaces())
      return emitError() << "updates of a 'set' need no order: the last of "
                            "each row decides it";
    break;
  }
  double vectors = double(scatter.outer) * scatter.inner / getVector();
  if (vectors * std::max(scatter.size, scatter.count) / 256 >= INT32_MAX)
    return emitError() << "has too many elements for one grid: "
                       << fused.getResultTypes().front();
  return success();
}

SpaceAttrInterface ScatterPlan::getSpace() const {
  SmallVector<ScatterMethod> methods;
  SmallVector<int64_t> chunks{32};
  // A search is one launch; the others are several.
  if (scatter.count <= 64)
    methods.push_back(ScatterMethod::search);
  if (replaces() && scatter.count > 8)
    methods.push_back(ScatterMethod::last);
  if (!replaces() && scatter.count > 64) {
    methods.push_back(ScatterMethod::sort);
    chunks = {8, 16, 32, 128};
  }
  return CudaScatterAttr::getSpace(fused.getContext(), methods, chunks);
}

double ScatterPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaScatterAttr>(schedule);
  double rowBytes = scatter.getRowBytes();
  // Reads the source, writes the result, reads the updates.
  double bytes =
      scatter.sourceBytes + rowBytes * scatter.size + scatter.updateBytes;
  double launches = 1;
  switch (own.getMethod()) {
  case ScatterMethod::search:
    // Each index is compared with each row, a vector at a time.
    bytes += rowBytes * scatter.size * scatter.count / 64.0;
    break;
  case ScatterMethod::last:
    launches = 3;
    bytes += 12.0 * (scatter.size + scatter.count);
    break;
  case ScatterMethod::sort: {
    double passes = llvm::divideCeilSigned(llvm::Log2_64(scatter.size) + 1, 8);
    bool isAtOnce = getRowsAtOnce() > 0;
    launches = isAtOnce ? 3 : 3 + 3 * passes;
    // Blocks that sort at once read all indices each, from the cache, beside
    // the copy of the source.
    bytes += isAtOnce ? 128 * scatter.count : passes * 24 * scatter.count;
    // Rows that cross chunks; and threads for at least a wave of blocks.
    bytes += 4 * rowBytes * scatter.count / own.getChunk();
    double threads = double(scatter.outer) * scatter.inner / getVector() *
                     scatter.count / own.getChunk();
    double wanted = 512.0 * machine.multiprocessors;
    if (threads < wanted)
      bytes += rowBytes * scatter.count * (wanted / threads - 1);
    break;
  }
  }
  return 1e6 *
         (bytes / (0.8 * machine.bandwidth) + launches * machine.launchSeconds);
}

/// What Scatter.cuh calls the combination of two elements. A boolean is 0 or 1,
/// and a sum of both is 1.
static StringRef getWord(ScatterKind kind, bool isBoolean) {
  switch (kind) {
  case ScatterKind::set:
    return "Last";
  case ScatterKind::sum:
    return isBoolean ? "RunningMaximum" : "RunningSum";
  case ScatterKind::prod:
    return isBoolean ? "RunningMinimum" : "RunningProduct";
  case ScatterKind::max:
    return "RunningMaximum";
  case ScatterKind::min:
    return "RunningMinimum";
  }
  llvm_unreachable("all kinds are above");
}

/// Prints `Stored<buffer>`, `Viewed<buffer, ...>`, or `Filled<name>` and the
/// constant that it names.
void ScatterPlan::printOperand(raw_ostream &os, raw_ostream &constants,
                               Value operand, StringRef name) const {
  TypedAttr number = getSplat(operand);
  if (isa<BlockArgument>(operand)) {
    os << "Stored<" << getBuffer(operand) << ">";
    return;
  }
  if (!number) {
    StridedView view = *getView(operand);
    os << "Viewed<" << getBuffer(view.base) << ", Extents<";
    llvm::interleaveComma(view.shape, os);
    os << ">, ";
    printStrides(os, view);
    if (view.offset)
      os << ", " << view.offset;
    os << ">";
    return;
  }
  os << "Filled<" << name << ">";
  constants << llvm::formatv(
      "struct {0} {{\n  FACT_DEVICE {1} value() {{ return {2}; }\n};\n\n", name,
      getScalarName(number.getType()), getScalarLiteral(number));
}

LogicalResult ScatterPlan::emit(ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaScatterAttr>(schedule);
  auto op = getOnly<ScatterOp>(fused);
  bool isSorted = own.getMethod() == ScatterMethod::sort;
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol,
              isSorted ? "ScatterSorted.cuh" : "Scatter.cuh");

  std::string text;
  llvm::raw_string_ostream tensors(text);
  tensors << llvm::formatv(
      "Scatter<ScatterShape<{0}, {1}, {2}, {3}>, {4}, {5},\n            ",
      scatter.outer, scatter.size, scatter.inner, scatter.count,
      getElementName(scatter.element),
      getWord(scatter.kind, scatter.element.isInteger(1)));
  printOperand(tensors, os, op.getSource(), "SourceValue");
  tensors << ", RowIndices<" << getBuffer(op.getIndices()) << ", "
          << getElementName(op.getIndices().getType().getElementType())
          << ">, ";
  printOperand(tensors, os, op.getUpdates(), "UpdateValue");
  tensors << ", " << getResultBuffer(fused, 0) << ">";

  constexpr StringLiteral names[] = {"ScatterSearch", "ScatterLast",
                                     "ScatterSorted"};
  os << "using Kernel = " << names[size_t(own.getMethod())] << "<\n    " << text
     << ",\n    " << getVector();
  if (isSorted)
    os << ", " << own.getChunk() << ", " << getRowsAtOnce();
  os << ">;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerScatterFamily(DialectRegistry &registry) {
  registerFamily<ScatterFamily>(registry);
}
