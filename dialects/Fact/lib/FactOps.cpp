//===- FactOps.cpp - Verifiers and assembly -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each error names the numbered constraint of the op's documentation. Ops whose
// result type is inferred are verified in InferTypes.cpp.
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fact;

/// The type constraint of every tensor of the dialect. Negative sizes are
/// checked too, because rewrites and conversions compute types.
static bool isSized(Type type) {
  constexpr int64_t limit = int64_t(1) << 48;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      llvm::any_of(tensor.getShape(),
                   [](int64_t size) { return size < 0 || size > limit; }))
    return false;
  if (llvm::is_contained(tensor.getShape(), 0))
    return true;
  int64_t room = limit;
  for (int64_t size : tensor.getShape())
    room /= size;
  return room != 0;
}

/// Parses a region with its own scope of SSA names. Otherwise an op outside
/// could use a value of the region before its definition, and would be left
/// with a dangling use when the rest of the op fails to parse.
static ParseResult parseIsolatedBody(OpAsmParser &parser, Region &body) {
  if (parser.parseRegion(body, /*arguments=*/{}, /*enableNameShadowing=*/true))
    return failure();
  FusedOp::ensureTerminator(body, parser.getBuilder(),
                            parser.getEncodedSourceLoc(parser.getNameLoc()));
  return success();
}

static void printIsolatedBody(OpAsmPrinter &printer, Operation *,
                              Region &body) {
  Operation *yield = body.empty() ? nullptr : body.front().getTerminator();
  printer.printRegion(body, /*printEntryBlockArgs=*/true,
                      /*printBlockTerminators=*/!yield ||
                          yield->getNumOperands() ||
                          !yield->getAttrDictionary().empty());
}

#define GET_OP_CLASSES
#include "fact/Dialect/Fact/FactOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

ParseResult WeightOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, "sym_name", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("baked")))
    result.addAttribute("baked", parser.getBuilder().getUnitAttr());
  Type type;
  if (succeeded(parser.parseOptionalEqual())) {
    ElementsAttr value;
    if (parser.parseAttribute(value, "value", result.attributes))
      return failure();
    type = value.getType();
  } else if (parser.parseColonType(type)) {
    return failure();
  }
  result.addAttribute("type", TypeAttr::get(type));
  return parser.parseOptionalAttrDict(result.attributes);
}

void WeightOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (getBaked())
    printer << " baked";
  if (getValue())
    printer << " = " << *getValue();
  else
    printer << " : " << getType();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"sym_name", "type", "value", "baked"});
}

LogicalResult WeightOp::verify() {
  if (getValue() && getValue()->getType() != getType())
    return violates(*this, 1) << "value has type " << getValue()->getType()
                              << ", but the weight is declared " << getType();
  if (getBaked() && !getValue())
    return violates(*this, 2) << "a baked weight needs its value";
  return success();
}

LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto weight =
      tables.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return violates(*this, 1)
           << "no 'fact.weight' is named " << getWeightAttr();
  if (weight.getType() != getType())
    return (violates(*this, 1)
            << "reads " << getWeightAttr() << " as " << getType())
               .attachNote(weight.getLoc())
           << "declared " << weight.getType() << " here";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static LogicalResult verifyYield(Operation *op, Block &body, int constraint) {
  TypeRange yielded = body.getTerminator()->getOperandTypes();
  if (yielded != op->getResultTypes())
    return violates(op, constraint)
           << "yields " << yielded << ", but the op's results are "
           << op->getResultTypes();
  return success();
}

LogicalResult PrepareOp::verify() {
  return verifyYield(*this, getBody().front(), 1);
}

LogicalResult FusedOp::verify() {
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(getInputs().getTypes()))
    return violates(*this, 1)
           << "block arguments are " << body.getArgumentTypes()
           << ", but the operands are " << getInputs().getTypes();
  if (failed(verifyYield(*this, body, 2)))
    return failure();
  if (getSchedule() && !isa<ScheduleAttr>(*getSchedule()))
    return violates(*this, 3) << *getSchedule() << " is not a schedule";
  if (getSpace() && !isa<SpaceAttrInterface>(*getSpace()))
    return violates(*this, 3) << *getSpace() << " is not a space";
  return success();
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

LogicalResult ClampOp::verify() {
  if (!getMin() && !getMax())
    return violates(*this, 1) << "needs 'min', 'max' or both";
  return success();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

int64_t MatmulOp::getM() { return getType().getShape().drop_back().back(); }
int64_t MatmulOp::getN() { return getType().getShape().back(); }
int64_t MatmulOp::getK() {
  ArrayRef<int64_t> shape = getLhs().getType().getShape();
  return getTransposeA() ? shape.drop_back().back() : shape.back();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Checks constraint 1 of ops over one dimension.
template <typename OpT> static LogicalResult verifyDim(OpT op) {
  int64_t dim = op.getDim(), rank = op.getType().getRank();
  if (dim < 0 || dim >= rank)
    return violates(op, 1) << "dim " << dim << " is not in [0, " << rank << ")";
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyDim(*this); }

LogicalResult ScanOp::verify() {
  Type element = getType().getElementType();
  if (getKind() == ScanKind::logsumexp && !isa<FloatType>(element))
    return violates(*this, 2) << "logsumexp needs floats, not " << element;
  return verifyDim(*this);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getOperand().getType().getNumElements() != getType().getNumElements())
    return violates(*this, 1)
           << "reshapes " << getOperand().getType().getNumElements()
           << " elements into " << getType().getNumElements();
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  int64_t dim = getDim();
  if (dim < 0 || dim >= operand.getRank() || int64_t(getStart()) < 0 ||
      int64_t(getStep()) < 1)
    return violates(*this, 1)
           << "dim " << dim << ", start " << getStart() << " and step "
           << getStep() << " are not a slice of " << operand
           << ": dim must be in [0, " << operand.getRank()
           << "), start 0 or more, step 1 or more";
  if (getType().getRank() != operand.getRank())
    return violates(*this, 2) << "changes the rank of " << operand;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (i != dim && getType().getDimSize(i) != operand.getDimSize(i))
      return violates(*this, 2) << "changes size " << i << " of " << operand
                                << ", but slices dim " << dim;
  // Written so that no start or step can overflow.
  int64_t size = operand.getDimSize(dim), count = getType().getDimSize(dim);
  int64_t start = getStart(), step = getStep();
  bool isInside =
      count == 0 ? start <= size
                 : start < size && (count - 1) <= (size - 1 - start) / step;
  if (!isInside)
    return violates(*this, 2)
           << count << " elements from " << start << " in steps of " << step
           << " exceed dim " << dim << ", whose size is " << size;
  return success();
}

LogicalResult ExpandOp::verify() {
  if (!broadcastsTo(getOperand().getType().getShape(), getType().getShape()))
    return violates(*this, 1)
           << getOperand().getType() << " does not broadcast to " << getType();
  return success();
}
