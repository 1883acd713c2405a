//===- ScanText.cpp - Scans, sorts and scatters ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementText.h"
#include "ReferenceEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

void ReferenceEmitter::printPlace(StringRef name, ArrayRef<int64_t> shape,
                                  int64_t dim) {
  SmallVector<int64_t> others(shape);
  others.erase(others.begin() + dim);
  os << "struct " << name
     << " {\n  FACT_FUNCTION static int64_t at(int64_t row, int64_t i) {\n";
  Coordinates own = printCoordinates(others, "row", "r");
  own.insert(own.begin() + dim, "i");
  os << "    return " << getIndex(shape, own) << ";\n";
  endStruct();
}

int64_t ReferenceEmitter::printRows(Operation *op, int64_t dim) {
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> shape = getTensor(operand).getShape();
  std::string name = getName(op->getResult(0));
  printPlace(name + "_place", shape, dim);
  beginStruct(name + "_row", getElement(operand), "int64_t row, int64_t i");
  os << "    return " << read(operand, name + "_place::at(row, i)") << ";\n";
  endStruct();
  return llvm::product_of(shape) / shape[dim];
}

/// The fold of Scans.h.
static std::string getFold(ScanOp op, StringRef format) {
  Type element = op.getType().getElementType();
  bool isFloat = isa<FloatType>(element);
  std::string number = getNumber(element);
  switch (op.getKind()) {
  case ScanKind::sum:
    return isFloat ? llvm::formatv("RunningSum<{0}>", format).str()
                   : "RunningInteger<IntegerSum>";
  case ScanKind::prod:
    return isFloat ? llvm::formatv("RunningProduct<{0}>", format).str()
                   : "RunningInteger<IntegerProduct>";
  case ScanKind::max:
    return llvm::formatv("RunningExtreme<{0}, op::Greater>", number);
  case ScanKind::min:
    return llvm::formatv("RunningExtreme<{0}, op::Less>", number);
  case ScanKind::logsumexp:
    return llvm::formatv("RunningLogSumExp<{0}>", format);
  }
  llvm_unreachable("unknown kind of scan");
}

void ReferenceEmitter::printScan(ScanOp op) {
  int64_t rows = printRows(op, op.getDim());
  launches << llvm::formatv(
      "    for_elements(Scan<{0}_row, {0}_place, Values, {1}, {2}>{{v, v.{0}, "
      "{3}}, {4}, stream);\n",
      getName(op.getResult()), getElement(op.getResult()),
      getFold(op, getFormat(op.getResult())), op.getRowLength(), rows);
}

void ReferenceEmitter::printArgsort(ArgsortOp op) {
  int64_t rows = printRows(op, op.getDim());
  std::string name = getName(op.getResult());
  printPlace(name + "_result", op.getType().getShape(), op.getDim());
  launches << llvm::formatv(
      "    for_elements(Argsort<{0}_row, {0}_result, Values, {1}, {2}, {3}>{{"
      "v, v.{0}, {4}, {5}}, {6}, stream);\n",
      name, getElement(op.getOperand()), getElement(op.getResult()),
      op.getDescending() ? "true" : "false", op.getRowLength(),
      op.getType().getDimSize(op.getDim()), rows);
}

/// How two elements x and y are combined.
static std::string getCombination(ScatterOp op) {
  Type element = op.getType().getElementType();
  StringRef rounding = !isa<FloatType>(element) ? ""
                       : element.isF64()        ? "in_f64"
                                                : "in_f32";
  switch (op.getKind()) {
  case ScatterKind::set:
    return "y";
  case ScatterKind::sum:
    return (rounding + "(apply<op::Add>(x, y))").str();
  case ScatterKind::prod:
    return (rounding + "(apply<op::Mul>(x, y))").str();
  case ScatterKind::max:
    return "apply<op::Maximum>(x, y)";
  case ScatterKind::min:
    return "apply<op::Minimum>(x, y)";
  }
  llvm_unreachable("unknown kind of scatter");
}

void ReferenceEmitter::printScatter(ScatterOp op) {
  std::string name = getName(op.getResult());
  std::string element = getElement(op.getResult());
  os << llvm::formatv("struct {0}_combine {{\n  FACT_FUNCTION static {1} "
                      "of({1} x, {1} y) {{\n    (void)x;\n    return {2};\n",
                      name, element, getCombination(op));
  endStruct();
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t before = llvm::product_of(shape.take_front(op.getDim()));
  int64_t after = llvm::product_of(shape.drop_front(op.getDim() + 1));
  launches << llvm::formatv("    store<{0}>(v, v.{1}, {2}, stream);\n",
                            getName(op.getSource()), name,
                            op.getType().getNumElements());
  launches << llvm::formatv(
      "    for_elements(Scatter<{0}, {1}, {2}_combine, Values, {3}>{{v, v.{2}, "
      "{4}, {5}, {6}}, {7}, stream);\n",
      getName(op.getIndices()), getName(op.getUpdates()), name, element,
      shape[op.getDim()], op.getIndices().getType().getNumElements(), after,
      before * after);
}
