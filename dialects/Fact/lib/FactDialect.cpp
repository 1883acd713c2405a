//===- FactDialect.cpp - Registration of the FACT dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FactSchedules.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fact;

#include "fact/Dialect/Fact/FactDialect.cpp.inc"
#include "fact/Dialect/Fact/FactEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fact/Dialect/Fact/FactAttributes.cpp.inc"

#include "fact/Dialect/Fact/FactAttrInterfaces.cpp.inc"
#include "fact/Dialect/Fact/FactOpInterfaces.cpp.inc"

void FactDialect::initialize() {
  // Placement.h
  getContext()->loadDialect<ub::UBDialect>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fact/Dialect/Fact/FactAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fact/Dialect/Fact/FactOps.cpp.inc"
      >();
}

void FactDialect::addScheduleKind(const ScheduleKind &kind) {
  [[maybe_unused]] bool isNew =
      scheduleKinds.try_emplace(kind.name, &kind).second ||
      scheduleKinds[kind.name] == &kind;
  assert(isNew && "two schedule kinds share a name");
}

Attribute FactDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &name, type, attribute);
  if (result.has_value())
    return succeeded(*result) ? attribute : Attribute();
  if (const ScheduleKind *kind = scheduleKinds.lookup(name))
    return parseSchedule(parser, *kind);
  StringRef base = name;
  if (base.consume_back("_space"))
    if (const ScheduleKind *kind = scheduleKinds.lookup(base))
      return parseSpace(parser, *kind);
  parser.emitError(loc) << "'" << name << "' is neither an attribute of 'fact' "
                        << "nor a schedule of a known target";
  return {};
}

void FactDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  if (auto schedule = dyn_cast<ScheduleAttr>(attribute))
    printSchedule(printer.getStream(), schedule);
  else if (auto space = dyn_cast<SpaceAttr>(attribute))
    printSpace(printer.getStream(), space);
  else
    (void)generatedAttributePrinter(attribute, printer);
}

Operation *FactDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

MachineAttr fact::getTargetMachine(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto machine = op->getAttrOfType<MachineAttr>("fact.target"))
      return machine;
  return {};
}

//===----------------------------------------------------------------------===//
// Precision of f32 contractions
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral productPrecision =
    "fact.float32_matmul_precision";
static constexpr llvm::StringLiteral convolutionPrecision =
    "fact.float32_convolution_precision";

bool fact::allowsTf32(Operation *op, bool inConvolution) {
  StringRef name = inConvolution ? convolutionPrecision : productPrecision;
  for (; op; op = op->getParentOp())
    if (auto precision = op->getAttrOfType<StringAttr>(name))
      return precision.getValue() != "highest";
  return false;
}

LogicalResult FactDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == rowSizeName)
    return verifyRowSize(op, attribute.getValue());
  if (name == Placement::unusedName)
    return Placement::verifyUnused(op, attribute.getValue());
  if (name != productPrecision && name != convolutionPrecision)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError("attribute '")
           << name << "' is allowed on modules only";
  auto precision = dyn_cast<StringAttr>(attribute.getValue());
  if (!precision ||
      !llvm::is_contained({"highest", "high", "medium"}, precision.getValue()))
    return op->emitOpError("attribute '")
           << name << "' is " << attribute.getValue()
           << ", but must be \"highest\", \"high\" or \"medium\"";
  return success();
}
