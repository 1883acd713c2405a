//===- TorchSyntax.cpp - The pretty form of torch-mlir's ops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of this dialect are unregistered. Nearly all of them are written
//
//   torch.aten.name %a, %b {attributes} : type, type -> type, type
//
// and the table below holds the few that are not.
//
//===----------------------------------------------------------------------===//

#include "fact/Dialect/Torch/Torch.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fact;

namespace {
using ParseFunction = ParseResult (*)(OpAsmParser &, OperationState &);
using PrintFunction = void (*)(Operation *, OpAsmPrinter &);

/// How one op, or all others, are written.
struct Syntax {
  StringRef name;
  ParseFunction parse;
  PrintFunction print;
};
} // namespace

//===----------------------------------------------------------------------===//
// Common parts
//===----------------------------------------------------------------------===//

/// `type, type`, also in parentheses, or nothing.
static ParseResult parseTypes(OpAsmParser &parser,
                              SmallVectorImpl<Type> &types) {
  if (succeeded(parser.parseOptionalLParen())) {
    if (succeeded(parser.parseOptionalRParen()))
      return success();
    return failure(parser.parseTypeList(types) || parser.parseRParen());
  }
  Type first;
  OptionalParseResult result = parser.parseOptionalType(first);
  if (!result.has_value())
    return success();
  if (failed(*result))
    return failure();
  types.push_back(first);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(types.emplace_back()))
      return failure();
  return success();
}

/// `{attributes} : types -> types`, for operands that were read before.
static ParseResult
parseSignature(OpAsmParser &parser, OperationState &state,
               ArrayRef<OpAsmParser::UnresolvedOperand> operands) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> operandTypes;
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalColon()) &&
      parseTypes(parser, operandTypes))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) && parseTypes(parser, state.types))
    return failure();
  return parser.resolveOperands(operands, operandTypes, loc, state.operands);
}

static void printAttributes(Operation *op, OpAsmPrinter &printer,
                            ArrayRef<StringRef> elided = {}) {
  printer.printOptionalAttrDict(op->getAttrs(), elided);
}

//===----------------------------------------------------------------------===//
// Most ops
//===----------------------------------------------------------------------===//

static ParseResult parseCall(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  return failure(parser.parseOperandList(operands) ||
                 parseSignature(parser, state, operands));
}

static void printCall(Operation *op, OpAsmPrinter &printer) {
  if (op->getNumOperands())
    printer << ' ' << op->getOperands();
  printAttributes(op, printer);
  if (op->getNumOperands() || op->getNumResults())
    printer << " :";
  if (op->getNumOperands())
    printer << ' ' << op->getOperandTypes();
  if (op->getNumResults())
    printer << " -> " << op->getResultTypes();
}

/// `torch.prim.ListConstruct %a, %b : (type, type) -> type`
static void printConstruct(Operation *op, OpAsmPrinter &printer) {
  printer << ' ' << op->getOperands();
  printAttributes(op, printer);
  printer << " : ";
  printer.printFunctionalType(op);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// `torch.constant.int 1`
template <typename TorchType>
static ParseResult parseConstant(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  Type type;
  if (std::is_same_v<TorchType, torch::IntType>)
    type = builder.getI64Type();
  if (std::is_same_v<TorchType, torch::FloatType>)
    type = builder.getF64Type();
  Attribute value;
  if (!std::is_same_v<TorchType, torch::NoneType> &&
      parser.parseAttribute(value, type, "value", state.attributes))
    return failure();
  state.addTypes(TorchType::get(parser.getContext()));
  return parser.parseOptionalAttrDict(state.attributes);
}

/// The type of a number is written; those of the others follow from the op.
template <bool typed = false>
static void printConstant(Operation *op, OpAsmPrinter &printer) {
  if (Attribute value = op->getAttr("value")) {
    printer << ' ';
    if (typed)
      printer.printAttribute(value);
    else
      printer.printAttributeWithoutType(value);
  }
  printAttributes(op, printer, {"value"});
}

/// `torch.vtensor.literal(dense<0> : tensor<4xsi64>) : type`
static ParseResult parseLiteral(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  Type type;
  if (parser.parseLParen() ||
      parser.parseAttribute(value, "value", state.attributes) ||
      parser.parseRParen() || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type))
    return failure();
  state.addTypes(type);
  return success();
}

static void printLiteral(Operation *op, OpAsmPrinter &printer) {
  printer << '(' << op->getAttr("value") << ')';
  printAttributes(op, printer, {"value"});
  printer << " : " << op->getResultTypes();
}

//===----------------------------------------------------------------------===//
// Ops by name, and symbolic sizes
//===----------------------------------------------------------------------===//

/// `torch.operator "torch.aten.name"(%a) : (type) -> type`
static ParseResult parseOperator(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  return failure(
      parser.parseAttribute(name, "name", state.attributes) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parseSignature(parser, state, operands));
}

static void printOperator(Operation *op, OpAsmPrinter &printer) {
  printer << ' ' << op->getAttr("name") << '(' << op->getOperands() << ')';
  printAttributes(op, printer, {"name"});
  printer << " : ";
  printer.printFunctionalType(op);
}

/// `torch.symbolic_int "s0" {min_val = 2} : !torch.int`
static ParseResult parseSymbolicInt(OpAsmParser &parser,
                                    OperationState &state) {
  StringAttr name;
  Type type;
  if (parser.parseAttribute(name, "symbol_name", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type))
    return failure();
  state.addTypes(type);
  return success();
}

static void printSymbolicInt(Operation *op, OpAsmPrinter &printer) {
  printer << ' ' << op->getAttr("symbol_name");
  printAttributes(op, printer, {"symbol_name"});
  printer << " : " << op->getResultTypes();
}

/// `torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0)> : type`
static ParseResult parseBindShape(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand tensor;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols;
  Attribute shape;
  Type type;
  return failure(
      parser.parseOperand(tensor) || parser.parseComma() ||
      parser.parseOperandList(symbols, OpAsmParser::Delimiter::Square) ||
      parser.parseComma() ||
      parser.parseAttribute(shape, "shape_expressions", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(tensor, type, state.operands) ||
      parser.resolveOperands(symbols, torch::IntType::get(parser.getContext()),
                             state.operands));
}

static void printBindShape(Operation *op, OpAsmPrinter &printer) {
  printer << ' ' << op->getOperand(0) << ", [" << op->getOperands().drop_front()
          << "], " << op->getAttr("shape_expressions");
  printAttributes(op, printer, {"shape_expressions"});
  printer << " : " << op->getOperand(0).getType();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Syntax &findSyntax(StringRef name) {
  static const Syntax call{"", parseCall, printCall};
  static const Syntax table[] = {
      {"torch.constant.int", parseConstant<torch::IntType>, printConstant},
      {"torch.constant.float", parseConstant<torch::FloatType>, printConstant},
      {"torch.constant.bool", parseConstant<torch::BoolType>, printConstant},
      {"torch.constant.str", parseConstant<torch::StringType>, printConstant},
      {"torch.constant.none", parseConstant<torch::NoneType>, printConstant},
      {"torch.constant.device", parseConstant<torch::DeviceType>,
       printConstant},
      {"torch.constant.number", parseConstant<torch::NumberType>,
       printConstant</*typed=*/true>},
      {"torch.vtensor.literal", parseLiteral, printLiteral},
      {"torch.prim.ListConstruct", parseCall, printConstruct},
      {"torch.operator", parseOperator, printOperator},
      {"torch.symbolic_int", parseSymbolicInt, printSymbolicInt},
      {"torch.bind_symbolic_shape", parseBindShape, printBindShape},
  };
  const Syntax *found = llvm::find_if(
      table, [&](const Syntax &syntax) { return syntax.name == name; });
  return found == std::end(table) ? call : *found;
}

std::optional<Dialect::ParseOpHook>
torch::TorchDialect::getParseOperationHook(StringRef opName) const {
  return ParseOpHook(findSyntax(opName).parse);
}

/// What torch-mlir has no pretty form for is left to the generic printer:
/// regions, successors, a constant without its value, an op of FACT's own.
llvm::unique_function<void(Operation *, OpAsmPrinter &)>
torch::TorchDialect::getOperationPrinter(Operation *op) const {
  StringRef name = op->getName().getStringRef();
  if (op->getNumRegions() || op->getNumSuccessors() ||
      name.starts_with("torch.fact."))
    return nullptr;
  bool needsName = name == "torch.operator";
  bool needsValue =
      name == "torch.vtensor.literal" ||
      (name.starts_with("torch.constant.") && name != "torch.constant.none");
  if ((needsName && !op->getAttr("name")) ||
      (needsValue && !op->getAttr("value")))
    return nullptr;
  return findSyntax(name).print;
}
