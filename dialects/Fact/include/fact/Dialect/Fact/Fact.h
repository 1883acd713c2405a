//===- Fact.h - The FACT dialect --------------------------------*- C++ -*-===//
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

/// The NumPy broadcast of shapes; none if they do not broadcast.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// The machine that `fact.target` of the enclosing module names, if any.
MachineAttr getTargetMachine(mlir::Operation *op);

/// The machine that `text` names or describes (see MachineAttr::resolve). If
/// `text` is empty: the target of the enclosing module, else the host.
mlir::FailureOr<MachineAttr> chooseMachine(mlir::Operation *op,
                                           llvm::StringRef text);

/// Whether PyTorch lets products of f32 round their operands to TF32: the
/// attribute `fact.float32_matmul_precision` of the enclosing module is "high"
/// or "medium"; for convolutions, `fact.float32_convolution_precision`. Import
/// sets `tf32` by them, and nothing else reads them.
bool allowsTf32(mlir::Operation *op, bool inConvolution = false);

namespace detail {
/// The NumPy broadcast of the operands' shapes with their common element type.
mlir::FailureOr<mlir::RankedTensorType>
inferPointwiseType(mlir::TypeRange operands, EmitError emitError);

/// Whether the result has the type `expected`. `constraint` is as in
/// InferredType.
mlir::LogicalResult verifyResultType(mlir::Operation *op,
                                     mlir::RankedTensorType expected,
                                     int constraint);

/// Starts a diagnostic about an op that is not built yet; a silent one without
/// a location.
mlir::InFlightDiagnostic
emitInferenceError(mlir::MLIRContext *context,
                   std::optional<mlir::Location> location,
                   llvm::StringRef opName);

/// `TensorOpInterface::getDemand` of pointwise ops, of views and of row ops.
llvm::SmallVector<ElementSets> getBroadcastDemand(mlir::Operation *op,
                                                  const ElementSets &result);
llvm::SmallVector<ElementSets> getViewDemand(mlir::Operation *op,
                                             const ElementSets &result);
llvm::SmallVector<ElementSets> getRowDemand(mlir::Operation *op,
                                            const ElementSets &result);
} // namespace detail

/// Trait of ops whose result type follows from operands and attributes. The
/// static function `inferType` of the op returns the type, or reports what is
/// wrong with the operands; the verifier and `InferTypeOpInterface` call it.
/// `constraint` is the number of the constraint on the result type in the op's
/// documentation, or 0.
template <int constraint> struct InferredType {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<
                   ConcreteType, InferredType<constraint>::template Impl> {
  public:
    static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
      typename ConcreteType::Adaptor adaptor(mlir::cast<ConcreteType>(op));
      mlir::FailureOr<mlir::RankedTensorType> type =
          ConcreteType::inferType(adaptor, [op] { return op->emitOpError(); });
      if (mlir::failed(type))
        return mlir::failure();
      return detail::verifyResultType(op, *type, constraint);
    }

    static mlir::LogicalResult inferReturnTypes(
        mlir::MLIRContext *context, std::optional<mlir::Location> location,
        mlir::ValueRange operands, mlir::DictionaryAttr attributes,
        mlir::OpaqueProperties properties, mlir::RegionRange regions,
        llvm::SmallVectorImpl<mlir::Type> &types) {
      typename ConcreteType::Adaptor adaptor(operands, attributes, properties,
                                             regions);
      mlir::FailureOr<mlir::RankedTensorType> type =
          ConcreteType::inferType(adaptor, [&] {
            return detail::emitInferenceError(context, location,
                                              ConcreteType::getOperationName());
          });
      if (mlir::failed(type))
        return mlir::failure();
      types.assign({*type});
      return mlir::success();
    }
  };
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
