//===- FactOpBase.td - Base classes of FACT ops -------------*- tablegen -*-===//

#ifndef FACT_DIALECT_FACT_FACTOPBASE_TD
#define FACT_DIALECT_FACT_FACTOPBASE_TD

include "fact/Dialect/Fact/FactAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fact_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Fact_Element : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
def Fact_Tensor : RankedTensorOf<[Fact_Element]>;
def Fact_FloatTensor : RankedTensorOf<[Fact_Float]>;
def Fact_BoolTensor : RankedTensorOf<[I1]>;
def Fact_IntegerTensor : RankedTensorOf<[I1, I8, I32, I64]>;

class Fact_Op<string mnemonic, list<Trait> traits = []>
    : Op<Fact_Dialect, mnemonic, traits>;

/// A pure op on tensors, written `fact.name %a, %b : (types) -> type`.
class Fact_TensorOp<string mnemonic, list<Trait> traits = []>
    : Fact_Op<mnemonic, !listconcat([Pure], traits)>;

#endif // FACT_DIALECT_FACT_FACTOPBASE_TD
