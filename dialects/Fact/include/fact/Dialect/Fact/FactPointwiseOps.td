//===- FactPointwiseOps.td - One op a scalar function -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD
#define FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD

include "fact/Dialect/Fact/FactOpBase.td"

/// Result shape is the NumPy broadcast of the operands' shapes; a dynamic size
/// never broadcasts as 1.
def Fact_NumpyBroadcast : NativeOpTrait<"NumpyBroadcast"> {
  let cppNamespace = "::fact";
}

/// Operands have the result's element type; a scalar (rank 0) may be wider and
/// keeps the precision of the arithmetic, as scalars do in PyTorch.
def Fact_SameElementType : NativeOpTrait<"SameElementTypeOrScalar"> {
  let cppNamespace = "::fact";
}

class Fact_PointwiseOp<string mnemonic, string text, list<Trait> traits = [],
                       list<string> methods = []>
    : Fact_TensorOp<mnemonic, !listconcat([Fact_NumpyBroadcast,
        DeclareOpInterfaceMethods<PointwiseOpInterface, methods>], traits)> {
  let summary = text;
  let results = (outs Fact_Tensor:$result);
}

class Fact_UnaryOp<string mnemonic, string text, list<string> methods = []>
    : Fact_PointwiseOp<mnemonic, text, [Fact_SameElementType], methods> {
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

class Fact_BinaryOp<string mnemonic, string text, list<Trait> traits = [],
                    list<string> methods = []>
    : Fact_PointwiseOp<mnemonic, text,
        !listconcat([Fact_SameElementType], traits), methods> {
  let arguments = (ins Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Fact_AddOp : Fact_BinaryOp<"add", "sum", [Commutative]> {
  let hasFolder = 1;
}
def Fact_SubOp : Fact_BinaryOp<"sub", "difference"> {
  let hasFolder = 1;
}
def Fact_MulOp : Fact_BinaryOp<"mul", "product", [Commutative]> {
  let hasFolder = 1;
}
def Fact_DivOp : Fact_BinaryOp<"div", "quotient", [], ["buildFastScalar"]> {
  let hasFolder = 1;
}
def Fact_MaximumOp : Fact_BinaryOp<"maximum", "larger value; NaN wins", [Commutative]>;
def Fact_MinimumOp : Fact_BinaryOp<"minimum", "smaller value; NaN wins", [Commutative]>;
def Fact_FmodOp : Fact_BinaryOp<"fmod", "what remains of lhs when divided by rhs, with the sign of lhs">;
def Fact_PowOp : Fact_BinaryOp<"pow", "lhs to the power rhs">;

/// Integers bit by bit; a boolean is one bit.
class Fact_BitwiseOp<string mnemonic, string text, list<Trait> traits = []>
    : Fact_BinaryOp<mnemonic, text, traits> {
  let arguments = (ins Fact_IntegerTensor:$lhs, Fact_IntegerTensor:$rhs);
}

def Fact_AndOp : Fact_BitwiseOp<"and", "bits of both", [Commutative]>;
def Fact_OrOp : Fact_BitwiseOp<"or", "bits of one or of both", [Commutative]>;
def Fact_XorOp : Fact_BitwiseOp<"xor", "bits of one alone", [Commutative]>;
def Fact_ShiftLeftOp : Fact_BitwiseOp<"shift_left",
    "lhs times 2 to the power rhs; 0 where rhs is not in [0, bits)">;
def Fact_ShiftRightOp : Fact_BitwiseOp<"shift_right",
    "lhs by 2 to the power rhs, rounded down; the sign where rhs is not in [0, bits)">;

def Fact_NegOp : Fact_UnaryOp<"neg", "negation"> {
  let hasFolder = 1;
}
def Fact_AbsOp : Fact_UnaryOp<"abs", "absolute value">;
def Fact_SignOp : Fact_UnaryOp<"sign", "-1, 0 or 1; 0 for NaN">;
def Fact_FloorOp : Fact_UnaryOp<"floor", "largest integer that is not larger">;
def Fact_CeilOp : Fact_UnaryOp<"ceil", "smallest integer that is not smaller">;
def Fact_RoundOp : Fact_UnaryOp<"round", "nearest integer, ties to even">;
def Fact_ExpOp : Fact_UnaryOp<"exp", "e to the power x", ["buildFastScalar"]>;
def Fact_LogOp : Fact_UnaryOp<"log", "natural logarithm", ["buildFastScalar"]>;
def Fact_Expm1Op : Fact_UnaryOp<"expm1", "exp(x) - 1, accurate near 0">;
def Fact_Log1pOp : Fact_UnaryOp<"log1p", "log(1 + x), accurate near 0">;
def Fact_SqrtOp : Fact_UnaryOp<"sqrt", "square root">;
def Fact_RsqrtOp : Fact_UnaryOp<"rsqrt", "reciprocal square root", ["buildFastScalar"]>;
def Fact_ReciprocalOp : Fact_UnaryOp<"reciprocal", "1 / x", ["buildFastScalar"]>;
def Fact_SinOp : Fact_UnaryOp<"sin", "sine">;
def Fact_CosOp : Fact_UnaryOp<"cos", "cosine">;
def Fact_ErfOp : Fact_UnaryOp<"erf", "error function", ["buildFastScalar"]>;
def Fact_TanhOp : Fact_UnaryOp<"tanh", "hyperbolic tangent", ["buildFastScalar"]>;
def Fact_SigmoidOp : Fact_UnaryOp<"sigmoid", "1 / (1 + exp(-x))", ["buildFastScalar"]>;
def Fact_ReluOp : Fact_UnaryOp<"relu", "max(x, 0)">;
def Fact_SiluOp : Fact_UnaryOp<"silu", "x * sigmoid(x)", ["buildFastScalar"]>;
def Fact_MishOp : Fact_UnaryOp<"mish", "x * tanh(log(1 + exp(x)))", ["buildFastScalar"]>;
def Fact_SoftplusOp : Fact_UnaryOp<"softplus", "log(1 + exp(x))", ["buildFastScalar"]>;

def Fact_GeluOp : Fact_PointwiseOp<"gelu", "Gaussian error linear unit",
    [Fact_SameElementType], ["buildFastScalar"]> {
  let description = [{
    `x * Phi(x)` with the error function (`none`), or its `tanh` approximation.

    ```mlir
    %0 = fact.gelu %x approximate tanh : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Fact_FloatTensor:$operand,
                       DefaultValuedAttr<Fact_GeluKindAttr, "::fact::GeluKind::none">:$approximate);
  let assemblyFormat = [{
    $operand (`approximate` `` $approximate^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fact_ClampOp : Fact_PointwiseOp<"clamp", "x limited to [min, max]",
    [Fact_SameElementType]> {
  let description = [{
    Either bound may be missing.

    Constraints:
    - (C1) at least one bound is present.
  }];
  let arguments = (ins Fact_FloatTensor:$operand, OptionalAttr<F64Attr>:$min,
                       OptionalAttr<F64Attr>:$max);
  let assemblyFormat = [{
    $operand (`min` $min^)? (`max` $max^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fact_CompareOp : Fact_PointwiseOp<"compare", "a comparison of elements"> {
  let description = [{
    Constraints:
    - (C1) both operands have one element type, and the result is boolean.
  }];
  let arguments = (ins Fact_PredicateAttr:$predicate, Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = "`` $predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Fact_SelectOp : Fact_PointwiseOp<"select", "one of two values by a condition"> {
  let description = [{
    Constraints:
    - (C1) both values and the result have one element type.
  }];
  let arguments = (ins Fact_BoolTensor:$condition, Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Fact_CastOp : Fact_PointwiseOp<"cast", "a change of element type"> {
  let description = [{
    Rounds to nearest even. A narrowing cast is never folded away.
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif // FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD
