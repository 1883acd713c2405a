//===- Reference.cpp - A naive kernel for any region ----------------------===//
//
// Written to be obviously right, and to share nothing with the realisers but
// the exact scalar definitions. Each contraction, row op and reduction is one
// launch of Reference.cuh that writes a wide intermediate; pointwise ops, views
// and concatenations are functions of an element's index that read those.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
class ReferenceEmitter {
public:
  ReferenceEmitter(FusedOp fused, StringRef symbol)
      : fused(fused), symbol(symbol), builder(fused.getContext()) {}

  LogicalResult emit(KernelCode &code);

private:
  //===--------------------------------------------------------------------===//
  // Types and storage

  /// f64 where a result is f32 or wider, f32 where all are 16-bit floats.
  void chooseWideType();
  Type getType(Type element) const {
    return isa<FloatType>(element) ? wide : element;
  }
  Type getType(Value value) const {
    return getType(getTensorType(value).getElementType());
  }

  /// Ops that are kernels; all others are functions of an index.
  static bool isKernel(Operation *op) {
    return isa<MatmulOp, AttentionOp, SoftmaxOp, NormOp, ReduceOp>(op);
  }
  void chooseStored();
  void store(Value value);
  std::string getName(Value value) const { return names.lookup(value); }
  /// The pointer to a stored value or an argument.
  std::string getPointer(Value value) const { return "v." + getName(value); }

  //===--------------------------------------------------------------------===//
  // Text

  /// The value at an index, converted to its wide type.
  std::string read(Value value, const Twine &index);
  void printValues(raw_ostream &os);
  LogicalResult printFunction(raw_ostream &os, Operation *op);
  LogicalResult printPointwise(raw_ostream &os, PointwiseOpInterface op);
  LogicalResult printConstant(raw_ostream &os, ConstantOp op);
  void printConcat(raw_ostream &os, ConcatOp op);
  void printGather(raw_ostream &os, GatherOp op);
  void printRotary(raw_ostream &os, RotaryOp op);
  void printView(raw_ostream &os, Operation *op);
  void printStore(raw_ostream &os, StringRef name, StringRef pointer,
                  Type type, Value value);
  LogicalResult printLaunch(raw_ostream &os, Operation *op);
  void printMatmul(raw_ostream &os, MatmulOp op);
  void printAttention(raw_ostream &os, AttentionOp op);
  void printReduce(raw_ostream &os, ReduceOp op);

  FusedOp fused;
  StringRef symbol;
  OpBuilder builder;
  Type wide;
  llvm::DenseMap<Value, std::string> names;
  llvm::SetVector<Value> stored;
  llvm::DenseMap<Value, int64_t> offsets;
  int64_t workspaceBytes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Types and storage
//===----------------------------------------------------------------------===//

void ReferenceEmitter::chooseWideType() {
  bool narrow = hasOnly16BitResults(fused);
  // A scalar of any precision joins the arithmetic of its neighbours.
  for (Operation &op : fused.getBodyOps())
    for (Value result : op.getResults())
      narrow = narrow && !(getTensorType(result).getElementType().isF64() &&
                           getTensorType(result).getRank() > 0);
  wide = narrow ? Type(builder.getF32Type()) : Type(builder.getF64Type());
}

void ReferenceEmitter::store(Value value) {
  if (isa<BlockArgument>(value) || !stored.insert(value))
    return;
  offsets[value] = workspaceBytes;
  int64_t bytes = getTensorType(value).getNumElements() *
                  getElementBytes(getType(value));
  workspaceBytes += llvm::alignTo(bytes, 256);
}

void ReferenceEmitter::chooseStored() {
  for (auto [i, argument] :
       llvm::enumerate(fused.getBody().front().getArguments()))
    names[argument] = llvm::formatv("argument{0}", i);
  for (auto [i, op] : llvm::enumerate(fused.getBodyOps()))
    for (Value result : op.getResults())
      names[result] = llvm::formatv("value{0}", i);
  for (Operation &op : fused.getBodyOps()) {
    if (isKernel(&op)) {
      for (Value operand : op.getOperands())
        store(operand);
      store(op.getResult(0));
    }
    // A value that is used twice is computed once.
    if (isa<PointwiseOpInterface, ConcatOp>(op) && !op.getResult(0).hasOneUse())
      store(op.getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Elements as functions of an index
//===----------------------------------------------------------------------===//

std::string ReferenceEmitter::read(Value value, const Twine &index) {
  StringRef type = getScalarName(getType(value));
  if (isa<BlockArgument>(value))
    return llvm::formatv("convert<{0}>({1}[{2}])", type, getPointer(value),
                         index.str());
  if (stored.contains(value))
    return llvm::formatv("{0}[{1}]", getPointer(value), index.str());
  return llvm::formatv("{0}(v, {1})", getName(value), index.str());
}

/// The index into a tensor of `strides` for element `i` of a row-major `shape`.
static std::string getIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                            int64_t offset = 0) {
  SmallVector<int64_t> rowMajor = rowMajorStrides(shape);
  if (offset == 0 && ArrayRef<int64_t>(rowMajor) == strides)
    return "i";
  SmallVector<std::string> terms;
  for (auto [size, step, stride] : llvm::zip_equal(shape, rowMajor, strides)) {
    if (size == 1 || stride == 0)
      continue;
    std::string term = "i";
    if (step != 1)
      term += " / " + std::to_string(step);
    term += " % " + std::to_string(size);
    if (stride != 1)
      term += " * " + std::to_string(stride);
    terms.push_back(term);
  }
  if (offset || terms.empty())
    terms.push_back(std::to_string(offset));
  return llvm::join(terms, " + ");
}

/// The same for an operand that broadcasts to `shape`.
static std::string getBroadcastIndex(Value operand, ArrayRef<int64_t> shape) {
  StridedView view = StridedView::identity(operand).broadcastTo(shape);
  return getIndex(shape, view.strides);
}

LogicalResult ReferenceEmitter::printPointwise(raw_ostream &os,
                                               PointwiseOpInterface op) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = getTensorType(result).getShape();
  OwningOpRef<func::FuncOp> scratch = func::FuncOp::create(
      op.getLoc(), "scalar", builder.getFunctionType({}, {}));
  Block *block = scratch->addEntryBlock();
  ScalarPrinter printer(os, "  ");
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    std::string name = llvm::formatv("x{0}", i);
    printer.setName(block->addArgument(getType(operand), op.getLoc()), name);
    os << "  const " << getScalarName(getType(operand)) << ' ' << name << " = "
       << read(operand, getBroadcastIndex(operand, shape)) << ";\n";
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(block);
  Value scalar;
  auto cast = dyn_cast<CastOp>(op.getOperation());
  auto isWidening = [&] {
    auto from = dyn_cast<FloatType>(cast.getOperand().getType().getElementType());
    auto to = dyn_cast<FloatType>(cast.getType().getElementType());
    return from && to && to.getWidth() > from.getWidth();
  };
  // A wide value is already what a widening cast gives.
  if (cast && isWidening())
    scalar = block->getArgument(0);
  else
    scalar = op.buildScalar(builder, op.getLoc(), block->getArguments());
  printer.printSlice(scalar);
  os << "  return " << printer.getName(scalar) << ";\n";
  return success();
}

LogicalResult ReferenceEmitter::printConstant(raw_ostream &os, ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitError("the reference needs the elements of a constant");
  Type type = getType(op.getResult());
  auto literal = [&](Attribute element) -> std::string {
    if (auto number = dyn_cast<FloatAttr>(element)) {
      double value = number.getValueAsDouble();
      if (std::isfinite(value))
        return llvm::formatv("{0}({1:e16})", getScalarName(type), value);
      return std::isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY";
    }
    return llvm::formatv("{0}({1})", getScalarName(type),
                         cast<IntegerAttr>(element).getInt());
  };
  if (elements.isSplat()) {
    os << "  return " << literal(elements.getSplatValue<Attribute>()) << ";\n";
    return success();
  }
  if (elements.getNumElements() > 4096)
    return op.emitError("a constant of ")
           << elements.getNumElements()
           << " elements must be an operand of the kernel";
  os << "  static const " << getScalarName(type) << " elements[] = {";
  llvm::interleaveComma(elements.getValues<Attribute>(), os,
                        [&](Attribute element) { os << literal(element); });
  os << "};\n  return elements[i];\n";
  return success();
}

void ReferenceEmitter::printConcat(raw_ostream &os, ConcatOp op) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t dim = op.getDim();
  int64_t inner = llvm::product_of(shape.drop_front(dim + 1));
  os << "  const int64_t outer = i / " << shape[dim] * inner << ", at = i / "
     << inner << " % " << shape[dim] << ", inner = i % " << inner << ";\n";
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t size = getTensorType(input).getDimSize(dim);
    os << "  if (at < " << start + size << ")\n    return "
       << read(input, llvm::formatv("(outer * {0} + at - {1}) * {2} + inner",
                                    size, start, inner)
                          .str())
       << ";\n";
    start += size;
  }
  os << "  return 0;\n";
}

void ReferenceEmitter::printGather(raw_ostream &os, GatherOp op) {
  ArrayRef<int64_t> source = getTensorType(op.getSource()).getShape();
  int64_t inner = llvm::product_of(source.drop_front(op.getDim() + 1));
  int64_t size = source[op.getDim()];
  int64_t count = getTensorType(op.getIndices()).getNumElements();
  bool isFloat = isa<FloatType>(getTensorType(op.getSource()).getElementType());
  os << "  const int64_t outer = i / " << count * inner << ", at = i / "
     << inner << " % " << count << ", inner = i % " << inner << ";\n"
     << "  const int64_t index = " << read(op.getIndices(), "at") << ";\n"
     << "  if (index < 0 || index >= " << size << ")\n    return "
     << (isFloat ? "NAN" : "0") << ";\n  return "
     << read(op.getSource(),
             llvm::formatv("(outer * {0} + index) * {1} + inner", size, inner)
                 .str())
     << ";\n";
}

void ReferenceEmitter::printRotary(raw_ostream &os, RotaryOp op) {
  ArrayRef<int64_t> shape = getTensorType(op.getResult()).getShape();
  int64_t size = shape.back();
  // The partner of an element, and whether the element is the pair's second.
  if (op.getInterleaved())
    os << "  const bool second = i % 2;\n"
       << "  const int64_t partner = second ? i - 1 : i + 1;\n";
  else
    os << "  const bool second = i % " << size << " >= " << size / 2 << ";\n"
       << "  const int64_t partner = second ? i - " << size / 2 << " : i + "
       << size / 2 << ";\n";
  StringRef type = getScalarName(wide);
  os << "  const " << type << " turned = second ? "
     << read(op.getOperand(), "partner") << " : -"
     << read(op.getOperand(), "partner") << ";\n  return "
     << read(op.getOperand(), "i") << " * "
     << read(op.getCos(), getBroadcastIndex(op.getCos(), shape))
     << " + turned * "
     << read(op.getSin(), getBroadcastIndex(op.getSin(), shape)) << ";\n";
}

void ReferenceEmitter::printView(raw_ostream &os, Operation *op) {
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> shape = getTensorType(op->getResult(0)).getShape();
  StridedView from = StridedView::identity(operand);
  std::string index =
      TypeSwitch<Operation *, std::string>(op)
          .Case([&](PermuteOp permute) {
            return getIndex(shape, from.permute(permute.getDims()).strides);
          })
          .Case([&](SliceOp slice) {
            StridedView view =
                from.slice(slice.getDim(), slice.getStart(),
                           shape[slice.getDim()], slice.getStep());
            return getIndex(shape, view.strides, view.offset);
          })
          .Case([&](ExpandOp) { return getBroadcastIndex(operand, shape); })
          // A reshape keeps the order of elements.
          .Default([](Operation *) { return "i"; });
  os << "  return " << read(operand, index) << ";\n";
}

LogicalResult ReferenceEmitter::printFunction(raw_ostream &os, Operation *op) {
  os << "// ";
  op->print(os, OpPrintingFlags()
                    .useLocalScope()
                    .elideLargeElementsAttrs(16)
                    .assumeVerified());
  os << "\n__device__ "
     << getScalarName(getType(op->getResult(0))) << ' '
     << getName(op->getResult(0)) << "(const Values &v, int64_t i) {\n";
  LogicalResult done =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](PointwiseOpInterface pointwise) {
            return printPointwise(os, pointwise);
          })
          .Case([&](ConstantOp constant) {
            return printConstant(os, constant);
          })
          .Case([&](ConcatOp concat) {
            printConcat(os, concat);
            return success();
          })
          .Case([&](GatherOp gather) {
            printGather(os, gather);
            return success();
          })
          .Case([&](RotaryOp rotary) {
            printRotary(os, rotary);
            return success();
          })
          .Default([&](Operation *view) -> LogicalResult {
            if (!view->hasTrait<ViewOp>())
              return view->emitError("has no reference");
            printView(os, view);
            return success();
          });
  os << "}\n\n";
  return done;
}

/// A kernel's body: element `i` of a value goes to a buffer.
void ReferenceEmitter::printStore(raw_ostream &os, StringRef name,
                                  StringRef pointer, Type type, Value value) {
  os << "struct " << name << " {\n  Values v;\n"
     << "  __device__ void operator()(int64_t i) const {\n    v." << pointer
     << "[i] = " << getScalarName(type) << "(";
  // A stored value's own function, not what it will have stored.
  if (stored.contains(value) && !isKernel(value.getDefiningOp()) &&
      pointer == getName(value))
    os << getName(value) << "(v, i)";
  else
    os << read(value, "i");
  os << ");\n  }\n};\n\n";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void printList(raw_ostream &os, ArrayRef<int64_t> values) {
  os << '{';
  llvm::interleaveComma(values, os);
  os << '}';
}

void ReferenceEmitter::printMatmul(raw_ostream &os, MatmulOp op) {
  ArrayRef<int64_t> batch = op.getType().getShape().drop_back(2);
  auto getStrides = [&](Value operand, bool transposed) {
    SmallVector<int64_t> shape(batch);
    llvm::append_range(shape, getTensorType(operand).getShape().take_back(2));
    SmallVector<int64_t> strides =
        StridedView::identity(operand).broadcastTo(shape).strides;
    // A matrix of one row or column broadcasts against nothing.
    int64_t rank = strides.size();
    strides[rank - 1] = 1;
    strides[rank - 2] = shape[rank - 1];
    if (transposed)
      std::swap(strides[rank - 1], strides[rank - 2]);
    return strides;
  };
  SmallVector<int64_t> a = getStrides(op.getLhs(), op.getTransposeA());
  SmallVector<int64_t> b = getStrides(op.getRhs(), op.getTransposeB());
  size_t rank = batch.size();
  os << "    reference::matmul(" << getPointer(op.getLhs()) << ", "
     << getPointer(op.getRhs()) << ", " << getPointer(op.getResult())
     << ",\n                      {" << op.getM() << ", " << op.getN() << ", "
     << op.getK() << ", " << llvm::product_of(batch) << ", " << a[rank] << ", "
     << a[rank + 1] << ", " << b[rank] << ", " << b[rank + 1] << ", " << rank
     << ", ";
  printList(os, batch);
  os << ", ";
  printList(os, ArrayRef(a).take_front(rank));
  os << ", ";
  printList(os, ArrayRef(b).take_front(rank));
  os << "}, stream);\n";
}

void ReferenceEmitter::printAttention(raw_ostream &os, AttentionOp op) {
  ArrayRef<int64_t> query = getTensorType(op.getQuery()).getShape();
  ArrayRef<int64_t> key = getTensorType(op.getKey()).getShape();
  SmallVector<int64_t> mask(4, 0);
  std::string pointer = "static_cast<const float *>(nullptr)";
  if (op.getMask()) {
    SmallVector<int64_t> scores{query[0], query[1], query[2], key[2]};
    mask = StridedView::identity(op.getMask()).broadcastTo(scores).strides;
    pointer = getPointer(op.getMask());
  }
  os << "    reference::attention(" << getPointer(op.getQuery()) << ", "
     << getPointer(op.getKey()) << ", " << getPointer(op.getValue()) << ", "
     << pointer << ", " << getPointer(op.getResult())
     << ",\n                         {" << query[0] << ", " << query[1] << ", "
     << key[1] << ", " << query[2] << ", " << key[2] << ", " << query[3] << ", "
     << op.getType().getDimSize(3) << ", "
     << llvm::formatv("{0:e16}", op.getScale().convertToDouble()) << ", "
     << (op.getCausal() ? "true" : "false") << ", ";
  printList(os, mask);
  os << "}, stream);\n";
}

void ReferenceEmitter::printReduce(raw_ostream &os, ReduceOp op) {
  static constexpr StringLiteral kinds[] = {
      "Sum", "Mean", "Max", "Min", "Product", "ArgMax", "ArgMin"};
  ArrayRef<int64_t> shape = getTensorType(op.getOperand()).getShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  SmallVector<int64_t> keptSizes, keptStrides, reducedSizes, reducedStrides;
  for (int64_t i = 0; i < int64_t(shape.size()); ++i) {
    bool reduced = llvm::is_contained(op.getDims(), i);
    (reduced ? reducedSizes : keptSizes).push_back(shape[i]);
    (reduced ? reducedStrides : keptStrides).push_back(strides[i]);
  }
  bool isFloat =
      isa<FloatType>(getTensorType(op.getOperand()).getElementType());
  os << "    reference::"
     << (op.getKind() >= ReduceKind::argmax ? "find" : "reduce") << "<reference::"
     << kinds[static_cast<unsigned>(op.getKind())] << ", "
     << (isFloat ? "double" : "int64_t") << ">(" << getPointer(op.getOperand())
     << ", " << getPointer(op.getResult()) << ",\n                      {"
     << llvm::product_of(keptSizes) << ", " << llvm::product_of(reducedSizes)
     << ", " << keptSizes.size() << ", " << reducedSizes.size() << ", ";
  printList(os, keptSizes);
  os << ", ";
  printList(os, keptStrides);
  os << ", ";
  printList(os, reducedSizes);
  os << ", ";
  printList(os, reducedStrides);
  os << "}, stream);\n";
}

LogicalResult ReferenceEmitter::printLaunch(raw_ostream &os, Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](MatmulOp matmul) -> LogicalResult {
        if (matmul.getType().getRank() > 8)
          return matmul.emitError("the reference takes 6 batch dimensions");
        printMatmul(os, matmul);
        return success();
      })
      .Case([&](AttentionOp attention) -> LogicalResult {
        if (attention.getType().getDimSize(3) > 512)
          return attention.emitError("the reference takes heads of up to 512");
        printAttention(os, attention);
        return success();
      })
      .Case([&](ReduceOp reduce) -> LogicalResult {
        if (getTensorType(reduce.getOperand()).getRank() > 8)
          return reduce.emitError("the reference takes 8 dimensions");
        printReduce(os, reduce);
        return success();
      })
      .Case([&](SoftmaxOp softmax) {
        ArrayRef<int64_t> shape = softmax.getType().getShape();
        int64_t dim = softmax.getDim();
        os << "    reference::softmax(" << getPointer(softmax.getOperand())
           << ", " << getPointer(softmax.getResult()) << ", "
           << llvm::product_of(shape.take_front(dim)) << ", " << shape[dim]
           << ", " << llvm::product_of(shape.drop_front(dim + 1))
           << ", stream);\n";
        return success();
      })
      .Case([&](NormOp norm) {
        ArrayRef<int64_t> shape = norm.getType().getShape();
        int64_t dims = norm.getDims();
        auto parameter = [&](Value value) -> std::string {
          return value ? getPointer(value)
                       : "static_cast<const float *>(nullptr)";
        };
        os << "    reference::norm<"
           << (norm.getKind() == NormKind::layer ? "true" : "false") << ">("
           << getPointer(norm.getOperand()) << ", "
           << parameter(norm.getWeight()) << ", " << parameter(norm.getBias())
           << ", " << getPointer(norm.getResult())
           << ",\n                    "
           << llvm::product_of(shape.drop_back(dims)) << ", "
           << llvm::product_of(shape.take_back(dims)) << ", "
           << llvm::formatv("{0:e16}", norm.getEps().convertToDouble())
           << ", stream);\n";
        return success();
      });
}

/// All pointers: arguments, intermediates in workspace, results.
void ReferenceEmitter::printValues(raw_ostream &os) {
  os << "struct Values {\n";
  for (BlockArgument argument : fused.getBody().front().getArguments())
    os << "  const " << getElementWord(getTensorType(argument).getElementType())
       << " *" << getName(argument) << ";\n";
  for (Value value : stored)
    os << "  " << getScalarName(getType(value)) << " *" << getName(value)
       << ";\n";
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    Type element = getTensorType(yielded).getElementType();
    // A 16-bit result is compared before it is rounded.
    Type type = isFloat16(element)           ? builder.getF32Type()
                : isa<FloatType>(element)    ? builder.getF64Type()
                                             : element;
    os << "  " << getScalarName(type) << " *result" << i << ";\n";
  }
  os << "};\n\n";
}

LogicalResult ReferenceEmitter::emit(KernelCode &code) {
  fused.getContext()->getOrLoadDialect<func::FuncDialect>();
  chooseWideType();
  chooseStored();

  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, {}, symbol, "Reference.cuh");
  os << "using reference::convert;\n\n";
  printValues(os);

  // Functions and the bodies of kernels in the region's order, launches beside.
  std::string launches;
  llvm::raw_string_ostream launch(launches);
  for (Operation &op : fused.getBodyOps()) {
    Value result = op.getResult(0);
    if (isKernel(&op)) {
      if (failed(printLaunch(launch, &op)))
        return failure();
      continue;
    }
    if (failed(printFunction(os, &op)))
      return failure();
    if (!stored.contains(result))
      continue;
    std::string name = "Store_" + getName(result);
    printStore(os, name, getName(result), getType(result), result);
    launch << "    reference::for_each("
           << getTensorType(result).getNumElements() << ", " << name
           << "{v}, stream);\n";
  }
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    Type element = getTensorType(yielded).getElementType();
    Type type = isFloat16(element)        ? builder.getF32Type()
                : isa<FloatType>(element) ? builder.getF64Type()
                                          : element;
    std::string name = llvm::formatv("Store_result{0}", i);
    printStore(os, name, llvm::formatv("result{0}", i).str(), type, yielded);
    launch << "    reference::for_each("
           << getTensorType(yielded).getNumElements() << ", " << name
           << "{v}, stream);\n";
  }

  os << "struct Reference {\n"
     << "  static void run(void *const *buffers, char *workspace, "
        "cudaStream_t stream) {\n    Values v;\n";
  for (BlockArgument argument : fused.getBody().front().getArguments())
    os << "    v." << getName(argument) << " = static_cast<decltype(v."
       << getName(argument) << ")>(buffers[" << getBuffer(argument) << "]);\n";
  for (Value value : stored)
    os << "    v." << getName(value) << " = reinterpret_cast<decltype(v."
       << getName(value) << ")>(workspace + " << offsets[value] << ");\n";
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    os << "    v.result" << i << " = static_cast<decltype(v.result" << i
       << ")>(buffers[" << getResultBuffer(fused, i) << "]);\n";
  os << launches << "  }\n};\n\nFACT_REFERENCE(" << symbol << ", Reference, "
     << fused.getInputs().size() + fused.getNumResults() << ", "
     << workspaceBytes << ")\n\n} // namespace fact::" << symbol << '\n';
  return success();
}

LogicalResult fact::emitReferenceKernel(FusedOp fused, StringRef symbol,
                                        KernelCode &code) {
  return ReferenceEmitter(fused, symbol).emit(code);
}
