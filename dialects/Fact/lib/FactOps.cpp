//===- FactOps.cpp - Verifiers and assembly -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each error names the numbered constraint of the op's documentation.
//
//===----------------------------------------------------------------------===//

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace fact;

/// The type constraint of every tensor of the dialect.
static bool isSized(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  // Checked here because rewrites and conversions compute types.
  if (llvm::any_of(tensor.getShape(), [](int64_t size) { return size < 0; }))
    return false;
  if (llvm::is_contained(tensor.getShape(), 0))
    return true;
  int64_t room = int64_t(1) << 48;
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
// Broadcasting
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>>
fact::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = result[rank - shape.size() + i];
      if (shape[i] == 1 || shape[i] == size)
        continue;
      if (size != 1)
        return std::nullopt;
      size = shape[i];
    }
  return result;
}

static bool broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto shape = broadcastShapes({from, to});
  return shape && ArrayRef<int64_t>(*shape) == to;
}

LogicalResult fact::detail::verifyBroadcast(Operation *op) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Type type : op->getOperandTypes())
    shapes.push_back(cast<RankedTensorType>(type).getShape());
  auto expected = broadcastShapes(shapes);
  if (!expected)
    return op->emitOpError("operand shapes do not broadcast: ")
           << op->getOperandTypes();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (result.getShape() != ArrayRef<int64_t>(*expected))
    return op->emitOpError("result has shape [")
           << result.getShape() << "], but the operands broadcast to ["
           << *expected << "]";
  return success();
}

/// Whether `type` can be an operand beside elements of `element`: it has the
/// same element type, or is a rank-0 float of higher precision.
static bool matchesElement(Type type, Type element) {
  auto tensor = cast<RankedTensorType>(type);
  Type own = tensor.getElementType();
  return own == element ||
         (tensor.getRank() == 0 && isa<FloatType>(own) &&
          isa<FloatType>(element) &&
          own.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth());
}

/// Ops that are defined on real numbers only.
static bool isForFloatsAlone(Operation *op) {
  return isa<PowOp, ExpOp, Expm1Op, LogOp, Log1pOp, SqrtOp, RsqrtOp,
             ReciprocalOp, SinOp, CosOp, ErfOp, TanhOp, SigmoidOp, SiluOp,
             MishOp, SoftplusOp>(op);
}

LogicalResult fact::detail::verifyElementTypes(Operation *op) {
  Type result =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (isForFloatsAlone(op) && !isa<FloatType>(result))
    return op->emitOpError("needs floats, not ")
           << result << "; cast the operands first";
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (!matchesElement(type, result))
      return op->emitOpError("operand ")
             << i << " has elements of " << element
             << ", but the result has elements of " << result;
  }
  return success();
}

/// Emits `error: (Cn) message`, where Cn is the constraint in the op's
/// documentation.
static InFlightDiagnostic violates(Operation *op, int constraint) {
  return op->emitOpError("(C") << constraint << ") ";
}

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

LogicalResult CompareOp::verify() {
  Type lhs = getLhs().getType().getElementType();
  Type rhs = getRhs().getType().getElementType();
  if ((!matchesElement(getRhs().getType(), lhs) &&
       !matchesElement(getLhs().getType(), rhs)) ||
      !getType().getElementType().isInteger(1))
    return violates(*this, 1)
           << "compares " << getLhs().getType() << " with "
           << getRhs().getType() << " into " << getType()
           << "; operands need one element type, and the result 'i1'";
  return success();
}

LogicalResult SelectOp::verify() {
  Type element = getType().getElementType();
  if (!matchesElement(getLhs().getType(), element) ||
      !matchesElement(getRhs().getType(), element))
    return violates(*this, 1)
           << "selects between " << getLhs().getType() << " and "
           << getRhs().getType() << " into " << getType()
           << "; all three need one element type";
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

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return violates(*this, 1)
           << "operands need rank 2 or more, not " << lhs << " and " << rhs;
  if (lhs.getElementType() != rhs.getElementType() ||
      lhs.getElementType() != getType().getElementType())
    return violates(*this, 1) << "operands and result need one element type, "
                                 "not "
                              << lhs << ", " << rhs << " and " << getType();
  auto matrix = [](RankedTensorType type, bool transpose) {
    int64_t rows = type.getDimSize(type.getRank() - 2);
    int64_t columns = type.getDimSize(type.getRank() - 1);
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(lhs, getTransposeA());
  auto [k2, n] = matrix(rhs, getTransposeB());
  if (k != k2)
    return violates(*this, 2) << "contracted sizes differ: " << k
                              << " and " << k2;
  auto batch = broadcastShapes(
      {lhs.getShape().drop_back(2), rhs.getShape().drop_back(2)});
  if (!batch)
    return violates(*this, 3) << "batch dimensions of " << lhs << " and " << rhs
                              << " do not broadcast";
  batch->append({m, n});
  if (getType().getShape() != ArrayRef<int64_t>(*batch))
    return violates(*this, 4) << "result is [" << getType().getShape()
                              << "], but should be [" << *batch << "]";
  return success();
}

LogicalResult AttentionOp::verify() {
  RankedTensorType q = getQuery().getType(), k = getKey().getType(),
                   v = getValue().getType();
  for (RankedTensorType type : {q, k, v, getType()})
    if (type.getRank() != 4 || type.getElementType() != q.getElementType())
      return violates(*this, 1)
             << "query, key, value and result need rank 4 and one element "
                "type, not "
             << type;
  if (k.getDimSize(0) != q.getDimSize(0) ||
      v.getDimSize(0) != q.getDimSize(0) ||
      k.getDimSize(3) != q.getDimSize(3) ||
      v.getDimSize(1) != k.getDimSize(1) || v.getDimSize(2) != k.getDimSize(2))
    return violates(*this, 2)
           << "sizes do not agree: " << q << ", " << k << ", " << v;
  if (!k.getDimSize(1) || q.getDimSize(1) % k.getDimSize(1))
    return violates(*this, 3)
           << q.getDimSize(1) << " query heads are not a "
           << "multiple of " << k.getDimSize(1) << " key heads";
  SmallVector<int64_t> expected{q.getDimSize(0), q.getDimSize(1),
                                q.getDimSize(2), v.getDimSize(3)};
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return violates(*this, 4) << "result is [" << getType().getShape()
                              << "], but should be [" << expected << "]";
  if (!getMask())
    return success();
  auto mask = cast<RankedTensorType>(getMask().getType());
  SmallVector<int64_t> scores{q.getDimSize(0), q.getDimSize(1), q.getDimSize(2),
                              k.getDimSize(2)};
  if (!broadcastsTo(mask.getShape(), scores))
    return violates(*this, 4)
           << "mask " << mask << " does not broadcast to the scores, ["
           << scores << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  int64_t dim = getDim(), rank = getType().getRank();
  if (dim < 0 || dim >= rank)
    return violates(*this, 1)
           << "dim " << dim << " is not in [0, " << rank << ")";
  return success();
}

LogicalResult NormOp::verify() {
  int64_t dims = getDims(), rank = getType().getRank();
  if (dims < 1 || dims > rank)
    return violates(*this, 1)
           << "dims " << dims << " is not in [1, " << rank << "]";
  ArrayRef<int64_t> normalized = getType().getShape().take_back(dims);
  for (Value parameter : {getWeight(), getBias()})
    if (parameter &&
        cast<RankedTensorType>(parameter.getType()).getShape() != normalized)
      return violates(*this, 2) << "weight and bias need shape [" << normalized
                                << "], not " << parameter.getType();
  if (getOperand().getType() != getType())
    return violates(*this, 3)
           << "operand has type " << getOperand().getType()
           << ", but the result has type " << getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  RankedTensorType operand = getOperand().getType();
  int64_t previous = -1;
  for (int64_t dim : getDims()) {
    if (dim <= previous || dim >= operand.getRank())
      return violates(*this, 1)
             << "dims [" << getDims() << "] are not ascending in [0, "
             << operand.getRank() << ")";
    previous = dim;
  }
  SmallVector<int64_t> expected;
  for (auto [i, size] : llvm::enumerate(operand.getShape())) {
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(i)))
      expected.push_back(size);
    else if (getKeep())
      expected.push_back(1);
  }
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return violates(*this, 2) << "result is [" << getType().getShape()
                              << "], but should be [" << expected << "]";
  bool index =
      getKind() == ReduceKind::argmax || getKind() == ReduceKind::argmin;
  Type element = operand.getElementType();
  Type wanted = index ? IntegerType::get(getContext(), 64) : element;
  if (getType().getElementType() != wanted)
    return violates(*this, 3)
           << stringifyReduceKind(getKind()) << " has result elements of "
           << wanted << ", not " << getType().getElementType();
  if (getKind() == ReduceKind::mean && !isa<FloatType>(element))
    return violates(*this, 4) << "mean needs floats, not " << element;
  bool hasIdentity = getKind() == ReduceKind::sum ||
                     getKind() == ReduceKind::mean ||
                     getKind() == ReduceKind::prod;
  for (int64_t dim : getDims())
    if (!hasIdentity && operand.getDimSize(dim) == 0)
      return violates(*this, 4) << stringifyReduceKind(getKind())
                                << " has no value over dimension " << dim
                                << ", whose size is 0";
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = getSource().getType(),
                   indices = getIndices().getType();
  int64_t dim = getDim();
  if (dim < 0 || dim >= source.getRank())
    return violates(*this, 1)
           << "dim " << dim << " is not in [0, " << source.getRank() << ")";
  Type index = indices.getElementType();
  if (!index.isInteger(32) && !index.isInteger(64))
    return violates(*this, 2) << "indices need elements of i32 or i64, not " << index;
  SmallVector<int64_t> expected(source.getShape().take_front(dim));
  llvm::append_range(expected, indices.getShape());
  llvm::append_range(expected, source.getShape().drop_front(dim + 1));
  auto type = RankedTensorType::get(expected, source.getElementType());
  if (getType() != type)
    return violates(*this, 3)
           << "result is " << getType() << ", but should be " << type;
  return success();
}

LogicalResult RotaryOp::verify() {
  RankedTensorType type = getType();
  if (getOperand().getType() != type || type.getRank() < 1 ||
      type.getShape().back() % 2)
    return violates(*this, 1)
           << "operand has type " << getOperand().getType()
           << " and result " << type
           << "; they need one type whose last size is even";
  for (Value angle : {getCos(), getSin()}) {
    auto given = cast<RankedTensorType>(angle.getType());
    if (given.getElementType() != type.getElementType() ||
        !broadcastsTo(given.getShape(), type.getShape()))
      return violates(*this, 2) << given << " does not broadcast to " << type;
  }
  return success();
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

LogicalResult PermuteOp::verify() {
  RankedTensorType operand = getOperand().getType();
  SmallVector<int64_t> sorted(getDims());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, operand.getRank())))
    return violates(*this, 1)
           << "[" << getDims() << "] is not a permutation of "
           << operand.getRank() << " dimensions";
  if (getType().getRank() != operand.getRank())
    return violates(*this, 2) << "changes the rank from " << operand.getRank()
                              << " to " << getType().getRank();
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (getType().getDimSize(i) != operand.getDimSize(dim))
      return violates(*this, 2)
             << "result size " << i << " is " << getType().getDimSize(i)
             << ", but should be " << operand.getDimSize(dim);
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
  bool isInside = count == 0 ? start <= size
                             : start < size &&
                                   (count - 1) <= (size - 1 - start) / step;
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

LogicalResult ConcatOp::verify() {
  int64_t dim = getDim(), rank = getType().getRank();
  if (dim < 0 || dim >= rank)
    return violates(*this, 1)
           << "dim " << dim << " is not in [0, " << rank << ")";
  int64_t total = 0;
  for (Type type : getInputs().getTypes()) {
    auto input = cast<RankedTensorType>(type);
    if (input.getRank() != rank)
      return violates(*this, 2) << "cannot concatenate " << input << " into "
                                << getType() << ": ranks differ";
    for (int64_t i = 0; i < rank; ++i)
      if (i != dim && input.getDimSize(i) != getType().getDimSize(i))
        return violates(*this, 2)
               << "cannot concatenate " << input << " into " << getType()
               << " along dim " << dim << ": sizes of dim " << i << " differ";
    total += input.getDimSize(dim);
  }
  if (total != getType().getDimSize(dim))
    return violates(*this, 2) << "sizes of dim " << dim << " add up to "
                              << total << ", not " << getType().getDimSize(dim);
  return success();
}
