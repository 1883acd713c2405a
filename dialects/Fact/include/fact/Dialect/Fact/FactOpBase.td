//===- FactOpBase.td - Base classes of FACT ops ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTOPBASE_TD
#define FACT_DIALECT_FACT_FACTOPBASE_TD

include "fact/Dialect/Fact/FactAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Static sizes, and few enough elements that offsets in bytes fit in 64 bits.
def Fact_SizedPred : CPred<"isSized($_self)">;
class Fact_TensorOf<list<Type> elements>
    : RankedTensorOf<elements, [Fact_SizedPred],
                     "tensor of static sizes with at most 2^48 elements">;

def Fact_Tensor : Fact_TensorOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
def Fact_FloatTensor : Fact_TensorOf<[F16, BF16, F32, F64]>;
def Fact_BoolTensor : Fact_TensorOf<[I1]>;
def Fact_IntegerTensor : Fact_TensorOf<[I1, I8, I32, I64]>;

/// The verifier half of `Fact_InferType`.
class Fact_InferredType<int constraint, code definition>
    : ParamNativeOpTrait<"InferredType", !cast<string>(constraint)> {
  let cppNamespace = "::fact";
  let extraConcreteClassDeclaration = [{
    /// The result type, or failure after a diagnostic that names the violated
    /// constraint.
    static ::mlir::FailureOr<::mlir::RankedTensorType>
    inferType(Adaptor adaptor, ::fact::EmitError emitError);
  }];
  let extraConcreteClassDefinition = definition;
}

/// The result type follows from operands and attributes: the op defines
/// `inferType`, and its verifier and builders use it. `constraint` is the number
/// of the constraint on the result type in the op's documentation, or 0.
class Fact_InferType<int constraint, code definition = "">
    : TraitList<[Fact_InferredType<constraint, definition>,
                 InferTypeOpInterface]>;

class Fact_Op<string mnemonic, list<Trait> traits = []>
    : Op<Fact_Dialect, mnemonic, traits>;

/// A pure op on tensors, written `fact.name %a, %b : (types) -> type`.
class Fact_TensorOp<string mnemonic, list<Trait> traits = []>
    : Fact_Op<mnemonic, !listconcat([Pure], traits)>;

#endif // FACT_DIALECT_FACT_FACTOPBASE_TD
