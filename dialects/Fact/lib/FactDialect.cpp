//===- FactDialect.cpp - Registration of the FACT dialect -----------------===//

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
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
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fact/Dialect/Fact/FactAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fact/Dialect/Fact/FactOps.cpp.inc"
      >();
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
