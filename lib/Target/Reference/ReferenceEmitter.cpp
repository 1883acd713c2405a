//===- ReferenceEmitter.cpp - A region as naive C++ -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, order of computation, contractions and row ops. ElementText.cpp has
// the ops that are computed element by element, ScanText.cpp those that are
// computed in order.
//
//===----------------------------------------------------------------------===//

#include "ReferenceEmitter.h"
#include "ElementText.h"
#include "ReferenceHeaders.h.inc"
#include "fact/Dialect/Fact/Types.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether an op is a loop over all elements; other ops are functions of an
/// index.
static bool isLoop(Operation *op) {
  return isa<ContractionOpInterface, RowOpInterface, ScatterOp>(op);
}

std::string ReferenceEmitter::getElement(Value value) const {
  std::string number = getNumber(getTensor(value).getElementType());
  return tracked ? "Tracked<" + number + ">" : number;
}

void ReferenceEmitter::nameValues() {
  for (auto [i, argument] : llvm::enumerate(fused.getBody().getArguments()))
    names[argument] = llvm::formatv("argument{0}", i);
  for (auto [i, op] : llvm::enumerate(fused.getBodyOps()))
    names[op.getResult(0)] = llvm::formatv("value{0}", i);
}

void ReferenceEmitter::store(Value value) {
  if (isa<BlockArgument>(value) || value.getDefiningOp<ConstantOp>() ||
      !stored.insert(value))
    return;
  Type element = getTensor(value).getElementType();
  int64_t bytes = isa<FloatType>(element) ? 8 : getStorageBytes(element);
  if (tracked)
    bytes = bytes == 8 ? 16 : 12; // Elements.h asserts these sizes.
  offsets[value] = workspaceBytes;
  workspaceBytes +=
      llvm::alignTo(getTensor(value).getNumElements() * bytes, 256);
}

void ReferenceEmitter::chooseStored() {
  for (Operation &op : fused.getBodyOps()) {
    // These read an operand's elements many times.
    if (isLoop(&op) || isa<GatherOp, RotaryOp>(op))
      for (Value operand : op.getOperands())
        store(operand);
    if (isLoop(&op) || !op.getResult(0).hasOneUse())
      store(op.getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

StringRef ReferenceEmitter::getFormat(Value value) {
  return getTensor(value).getElementType().isF64() ? "F64" : "F32";
}

/// `valueN_lhs::at(v, batch, row, column)`, an element of a matmul's operand.
std::string ReferenceEmitter::printMatrix(MatmulOp op, Value operand,
                                          bool isLhs, bool transposed) {
  std::string name = getName(op.getResult()) + (isLhs ? "_lhs" : "_rhs");
  beginStruct(name, getElement(operand),
              "int64_t batch, int64_t row, int64_t column");
  ArrayRef<int64_t> batch = op.getType().getShape().drop_back(2);
  ArrayRef<int64_t> shape = getTensor(operand).getShape();
  Coordinates coordinates = printCoordinates(batch, "batch", "c");
  Coordinates own = getBroadcastCoordinates(shape.drop_back(2), coordinates);
  own.push_back(transposed ? "column" : "row");
  own.push_back(transposed ? "row" : "column");
  std::string element = read(operand, getIndex(shape, own));
  // An operand that the region computed is rounded to its storage type here.
  StringRef rounding = getRounding(getTensor(operand).getElementType());
  if (!isa<BlockArgument>(operand) && !rounding.empty())
    element = llvm::formatv("apply<op::{0}>({1})", rounding, element);
  os << "    return " << element << ";\n";
  endStruct();
  return name;
}

void ReferenceEmitter::printMatmul(MatmulOp op) {
  std::string lhs = printMatrix(op, op.getLhs(), true, op.getTransposeA());
  std::string rhs = printMatrix(op, op.getRhs(), false, op.getTransposeB());
  launches << llvm::formatv(
      "    matmul<{0}, {1}, {2}, {3}, {4}>(v, v.{5}, {{{6}, {7}, {8}, {9}}, "
      "stream);\n",
      lhs, rhs, op.getTransposeA() ? "false" : "true",
      op.getTransposeB() ? "true" : "false",
      op.getTf32()              ? "TF32"
      : isStrictContraction(op) ? "StrictF32"
                                : getFormat(op.getResult()),
      getName(op.getResult()),
      llvm::product_of(op.getType().getShape().drop_back(2)), op.getM(),
      op.getN(), op.getK());
}

void ReferenceEmitter::printAttention(AttentionOp op) {
  std::string name = getName(op.getResult());
  auto print = [&](Value operand, StringRef suffix) {
    beginStruct(name + suffix.str(), getElement(op.getResult()),
                "int64_t c0, int64_t c1, int64_t c2, int64_t c3");
    Coordinates coordinates{"c0", "c1", "c2", "c3"};
    os << "    return "
       << (operand ? readBroadcast(operand, coordinates)
                   : makeElement(op.getResult(), "0"))
       << ";\n";
    endStruct();
  };
  print(op.getQuery(), "_query");
  print(op.getKey(), "_key");
  print(op.getValue(), "_value");
  print(op.getMask(), "_mask");
  ArrayRef<int64_t> query = getTensor(op.getQuery()).getShape();
  ArrayRef<int64_t> key = getTensor(op.getKey()).getShape();
  Type element = op.getType().getElementType();
  std::string rounding = "0";
  if (isNarrowFloat(element))
    rounding =
        llvm::formatv("0x1p-{0}", runtime::digitsOf(toElementType(element)));
  else if (op.getTf32())
    rounding = "0x1p-11";
  scoreBytes = std::max<int64_t>(scoreBytes, key[2] * (tracked ? 16 : 8));
  launches << llvm::formatv(
      "    attention<{0}_query, {0}_key, {0}_value, {0}_mask, {1}>(\n"
      "        v, v.{0}, reinterpret_cast<{2} *>(scores),\n"
      "        {{{3}, {4}, {5}, {6}, {7}, {8}, {9}, ",
      name, getFormat(op.getResult()), getElement(op.getResult()), query[0],
      query[1], key[1], query[2], key[2], query[3], op.getType().getDimSize(3));
  launches << getLiteral(op.getScale()) << ", "
           << (op.getCausal() ? "true" : "false") << ", " << rounding
           << "}, stream);\n";
}

void ReferenceEmitter::printReduce(ReduceOp op) {
  Value operand = op.getOperand();
  ArrayRef<int64_t> shape = getTensor(operand).getShape();
  SmallVector<int64_t> kept, reduced;
  for (auto [dim, size] : llvm::enumerate(shape))
    (llvm::is_contained(op.getDims(), int64_t(dim)) ? reduced : kept)
        .push_back(size);
  std::string name = getName(op.getResult());
  std::string row = name + "_row";
  beginStruct(row, getElement(operand), "int64_t row, int64_t i");
  Coordinates rows = printCoordinates(kept, "row", "r");
  Coordinates columns = printCoordinates(reduced, "i", "c");
  Coordinates own;
  size_t nextRow = 0, nextColumn = 0;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    own.push_back(llvm::is_contained(op.getDims(), dim) ? columns[nextColumn++]
                                                        : rows[nextRow++]);
  os << "    return " << read(operand, getIndex(shape, own)) << ";\n";
  endStruct();

  bool isFloat = isa<FloatType>(getTensor(operand).getElementType());
  std::string from = getElement(operand), to = getElement(op.getResult());
  std::string common = row + ", Values, ";
  StringRef format = getFormat(op.getResult());
  ReduceKind kind = op.getKind();
  std::string functor;
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    functor = isFloat ? llvm::formatv("ReduceSum<{0}{1}, {2}, {3}>", common, to,
                                      format, kind == ReduceKind::mean)
                            .str()
                      : llvm::formatv("ReduceIntegers<{0}{1}, IntegerSum>",
                                      common, to)
                            .str();
    break;
  case ReduceKind::prod:
    functor = isFloat ? llvm::formatv("ReduceProduct<{0}{1}, {2}>", common, to,
                                      format)
                            .str()
                      : llvm::formatv("ReduceIntegers<{0}{1}, IntegerProduct>",
                                      common, to)
                            .str();
    break;
  case ReduceKind::max:
  case ReduceKind::min:
  case ReduceKind::argmax:
  case ReduceKind::argmin: {
    bool isMax = kind == ReduceKind::max || kind == ReduceKind::argmax;
    bool isPlace = kind == ReduceKind::argmax || kind == ReduceKind::argmin;
    functor = llvm::formatv("ReduceExtreme<{0}{1}, {2}, op::{3}, {4}>", common,
                            from, to, isMax ? "Greater" : "Less",
                            isPlace ? "true" : "false");
    break;
  }
  }
  launches << "    for_rows(" << functor << "{v, v." << name << ", "
           << llvm::product_of(reduced) << "}, 0, " << llvm::product_of(kept)
           << ", stream);\n";
}

void ReferenceEmitter::printSoftmax(SoftmaxOp op) {
  int64_t rows = printRows(op, op.getDim());
  launches << llvm::formatv(
      "    for_rows(Softmax<{0}_row, {0}_place, Values, {1}, {2}>{{v, v.{0}, "
      "{3}}, 0, {4}, stream);\n",
      getName(op.getResult()), getElement(op.getResult()),
      getFormat(op.getResult()), op.getRowLength(), rows);
}

void ReferenceEmitter::printNorm(NormOp op) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t size = llvm::product_of(shape.take_back(op.getDims()));
  std::string name = getName(op.getResult());
  beginStruct(name + "_row", getElement(op.getOperand()),
              "int64_t row, int64_t i");
  os << "    return "
     << read(op.getOperand(), "row * " + std::to_string(size) + " + i")
     << ";\n";
  endStruct();
  auto parameter = [&](Value value, StringRef suffix, StringRef otherwise) {
    beginStruct(name + suffix.str(), getElement(op.getResult()), "int64_t i");
    os << "    return "
       << (value ? read(value, "i") : makeElement(op.getResult(), otherwise))
       << ";\n";
    endStruct();
  };
  parameter(op.getWeight(), "_weight", "1");
  parameter(op.getBias(), "_bias", "0");
  launches << llvm::formatv(
      "    for_rows(Norm<{0}_row, {0}_weight, {0}_bias, "
      "Values, {1}, {2}, {3}>{{v, v.{0}, {4}, {5}}, 0, "
      "{6}, stream);\n",
      name, getElement(op.getResult()), getFormat(op.getResult()),
      op.getKind() == NormKind::layer, size, getLiteral(op.getEps()),
      llvm::product_of(shape.drop_back(op.getDims())));
}

LogicalResult ReferenceEmitter::printLoop(Operation *op) {
  bool isKnown = true;
  TypeSwitch<Operation *>(op)
      .Case([&](MatmulOp matmul) { printMatmul(matmul); })
      .Case([&](AttentionOp attention) { printAttention(attention); })
      .Case([&](ReduceOp reduce) { printReduce(reduce); })
      .Case([&](SoftmaxOp softmax) { printSoftmax(softmax); })
      .Case([&](NormOp norm) { printNorm(norm); })
      .Case([&](ScanOp scan) { printScan(scan); })
      .Case([&](ArgsortOp argsort) { printArgsort(argsort); })
      .Case([&](ScatterOp scatter) { printScatter(scatter); })
      .Default([&](Operation *) { isKnown = false; });
  if (!isKnown)
    return op->emitOpError("has no reference");
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Prints the struct of all pointers: arguments, intermediate values, results,
/// doubts.
void ReferenceEmitter::printValues() {
  os << "struct Values {\n";
  for (BlockArgument argument : fused.getBody().getArguments())
    os << "  const " << getElementName(getTensor(argument).getElementType())
       << " *" << getName(argument) << ";\n";
  for (Value value : stored)
    os << "  " << getElement(value) << " *" << getName(value) << ";\n";
  for (auto [i, type] : llvm::enumerate(fused.getResultTypes())) {
    Type element = cast<RankedTensorType>(type).getElementType();
    runtime::ElementType storage =
        runtime::referenceTypeOf(toElementType(element));
    os << "  " << runtime::nameOf(storage) << " *result" << i << ";\n";
  }
  for (auto [i, doubt] : llvm::enumerate(doubts))
    if (doubt != Doubt::None)
      os << "  f32 *doubt" << i << ";\n";
  os << "};\n\n";
}

void ReferenceEmitter::printComment(Operation *op) {
  os << "// ";
  op->print(os, OpPrintingFlags()
                    .useLocalScope()
                    .elideLargeElementsAttrs(16)
                    .assumeVerified());
  os << '\n';
}

/// Prints the region without the rule, the name and the schedule, so that equal
/// regions have equal references.
void ReferenceEmitter::printRegion() {
  os << "// ^bb0(";
  llvm::interleaveComma(
      llvm::enumerate(fused.getBody().getArguments()), os, [&](auto argument) {
        os << "%arg" << argument.index() << ": " << argument.value().getType();
      });
  os << "):\n";
  for (Operation &op : fused.getBody().front())
    printComment(&op);
}

void ReferenceEmitter::printRun() {
  auto printPointers = [&](const auto &range, auto print) {
    for (auto value : range)
      print(value);
  };
  os << "struct Region {\n  static void run(void *const *buffers, char "
        "*workspace, Stream stream) {\n    Values v;\n";
  unsigned next = 0;
  auto bind = [&](const std::string &name) {
    os << "    v." << name << " = static_cast<decltype(v." << name
       << ")>(buffers[" << next++ << "]);\n";
  };
  printPointers(fused.getBody().getArguments(),
                [&](Value argument) { bind(getName(argument)); });
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    bind("result" + std::to_string(i));
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    if (doubts[i] != Doubt::None)
      bind("doubt" + std::to_string(i));
  printPointers(stored, [&](Value value) {
    os << "    v." << getName(value) << " = reinterpret_cast<"
       << getElement(value) << " *>(workspace + " << offsets[value] << ");\n";
  });
  if (scoreBytes)
    os << "    char *scores = workspace + " << workspaceBytes << ";\n";
  os << launches.str();
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
    int64_t count = getTensor(yielded).getNumElements();
    os << llvm::formatv("    store<{0}>(v, v.result{1}, {2}, stream);\n",
                        getName(yielded), i, count);
    if (doubts[i] != Doubt::None)
      os << llvm::formatv(
          "    store_doubt<{0}, {1}>(v, v.doubt{2}, {3}, stream);\n",
          getName(yielded), doubts[i] == Doubt::Grows ? "true" : "false", i,
          count);
  }
  os << "  }\n};\n\nFACT_REFERENCE(" << symbol << ", Region, " << next << ", "
     << workspaceBytes;
  if (scoreBytes)
    os << " + attention_rows * " << scoreBytes;
  os << ")\n\n} // namespace fact::" << symbol << '\n';
}

LogicalResult ReferenceEmitter::emit(KernelCode &code) {
  nameValues();
  chooseStored();
  printRegion();
  os << "#include \"fact/reference/Reference.h\"\n\nnamespace fact::" << symbol
     << " {\nusing namespace fact::reference;\n\n";
  printValues();
  for (BlockArgument argument : fused.getBody().getArguments())
    printArgument(argument);
  for (Operation &op : fused.getBodyOps()) {
    Value result = op.getResult(0);
    os << '\n';
    printComment(&op);
    if (failed(isLoop(&op) ? printLoop(&op) : printElement(&op)))
      return failure();
    if (!stored.contains(result))
      continue;
    std::string name = getName(result);
    if (!isLoop(&op))
      launches << llvm::formatv("    store<compute_{0}>(v, v.{0}, {1}, "
                                "stream);\n",
                                name, getTensor(result).getNumElements());
    beginStruct(name, getElement(result), "int64_t i");
    os << "    return v." << name << "[i];\n";
    endStruct();
  }
  os << '\n';
  printRun();
  code.text = std::move(text);
  return success();
}

LogicalResult fact::emitReference(FusedOp fused, StringRef symbol,
                                  KernelCode &code) {
  for (Operation &op : fused.getBodyOps())
    for (Type type : op.getResultTypes())
      if (!cast<RankedTensorType>(type).hasStaticShape())
        return op.emitError("the reference needs static shapes, not ") << type;
  return ReferenceEmitter(fused, symbol).emit(code);
}

std::vector<std::pair<std::string, std::string>> fact::getReferenceFiles() {
  std::vector<std::pair<std::string, std::string>> files;
  for (auto [path, text] : getReferenceHeaders())
    files.emplace_back(path.str(), text.str());
  return files;
}
