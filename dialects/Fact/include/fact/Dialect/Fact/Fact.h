//===- Fact.h - The FACT dialect ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACT_H
#define FACT_DIALECT_FACT_FACT_H

#include "fact/Dialect/Fact/ElementSet.h"
#include "fact/Dialect/Fact/Extents.h"
#include "fact/Dialect/Fact/Machine.h"
#include "fact/Dialect/Fact/Numerics.h"
#include "fact/Dialect/Fact/Schedule.h"
#include "fact/Dialect/Fact/StridedView.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fact {
class FusedOp;
class MachineAttr;

/// The NumPy broadcast of shapes; a dynamic size never broadcasts as 1.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// The machine that `fact.target` of the enclosing module names, if any.
MachineAttr getTargetMachine(mlir::Operation *op);

/// The machine that `text` names or describes (see MachineAttr::resolve); where
/// it is empty, the one that `op` is compiled for, else the host.
mlir::FailureOr<MachineAttr> chooseMachine(mlir::Operation *op,
                                           llvm::StringRef text);

/// The precision that contractions of f32 may have, as the module says in
/// `fact.float32_matmul_precision`; else the highest. A detached op is of the
/// module of its operands.
Float32Precision getFloat32Precision(mlir::Operation *op);

namespace detail {
mlir::LogicalResult verifyBroadcast(mlir::Operation *op);
mlir::LogicalResult verifyElementTypes(mlir::Operation *op);

/// `TensorOpInterface::getDemand` of ops that broadcast, of views, of row ops.
llvm::SmallVector<ElementSets> getBroadcastDemand(mlir::Operation *op,
                                                  const ElementSets &result);
llvm::SmallVector<ElementSets> getViewDemand(mlir::Operation *op,
                                             const ElementSets &result);
llvm::SmallVector<ElementSets> getRowDemand(mlir::Operation *op,
                                            const ElementSets &result);
} // namespace detail

/// The result's shape is the broadcast of the operands' shapes.
template <typename ConcreteType>
class NumpyBroadcast
    : public mlir::OpTrait::TraitBase<ConcreteType, NumpyBroadcast> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyBroadcast(op);
  }
};

/// Operands have the result's element type, or are wider scalars.
template <typename ConcreteType>
class SameElementTypeOrScalar
    : public mlir::OpTrait::TraitBase<ConcreteType, SameElementTypeOrScalar> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyElementTypes(op);
  }
};
} // namespace fact

#include "fact/Dialect/Fact/FactDialect.h.inc"
#include "fact/Dialect/Fact/FactEnums.h.inc"

#include "fact/Dialect/Fact/FactAttrInterfaces.h.inc"
#include "fact/Dialect/Fact/FactOpInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fact/Dialect/Fact/FactAttributes.h.inc"

#define GET_OP_CLASSES
#include "fact/Dialect/Fact/FactOps.h.inc"

#endif // FACT_DIALECT_FACT_FACT_H
