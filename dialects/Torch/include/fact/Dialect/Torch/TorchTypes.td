//===- TorchTypes.td - Types of torch-mlir -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_TORCH_TORCHTYPES_TD
#define FACT_DIALECT_TORCH_TORCHTYPES_TD

include "fact/Dialect/Torch/TorchDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Torch_Type<string name, string typeMnemonic>
    : TypeDef<Torch_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Torch_VTensorType : Torch_Type<"VTensor", "vtensor"> {
  let summary = "a tensor with value semantics";
  let description = [{
    Written `!torch.vtensor<[2,?],f32>`; `*` stands for unknown sizes, `unk` for
    an unknown element type, and a bare `!torch.vtensor` for both.
  }];
  let parameters = (ins "bool":$ranked, ArrayRefParameter<"int64_t">:$sizes,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

/// A type made of one other, which is written without `!torch.`.
class Torch_WrapperType<string name, string mnemonic>
    : Torch_Type<name, mnemonic> {
  let parameters = (ins "::mlir::Type":$containedType);
  let hasCustomAssemblyFormat = 1;
}
def Torch_ListType : Torch_WrapperType<"List", "list">;
def Torch_OptionalType : Torch_WrapperType<"Optional", "optional">;

def Torch_TupleType : Torch_Type<"Tuple", "tuple"> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$containedTypes);
  let hasCustomAssemblyFormat = 1;
}

def Torch_IntType : Torch_Type<"Int", "int">;
def Torch_FloatType : Torch_Type<"Float", "float">;
def Torch_BoolType : Torch_Type<"Bool", "bool">;
def Torch_StringType : Torch_Type<"String", "str">;
def Torch_NoneType : Torch_Type<"None", "none">;
def Torch_NumberType : Torch_Type<"Number", "number">;
def Torch_DeviceType : Torch_Type<"Device", "Device">;
def Torch_GeneratorType : Torch_Type<"Generator", "Generator">;
def Torch_AnyType : Torch_Type<"Any", "any">;

#endif // FACT_DIALECT_TORCH_TORCHTYPES_TD
