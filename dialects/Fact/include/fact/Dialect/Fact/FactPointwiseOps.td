//===- FactPointwiseOps.td - One op per scalar function ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD
#define FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD

include "fact/Dialect/Fact/FactOpBase.td"

/// The result has the NumPy broadcast of the operands' shapes and the operands'
/// element type. A float operand of rank 0 may be wider than the others: the op
/// computes with its full precision, as PyTorch does with scalars.
def Fact_SameElementType : Fact_InferType</*constraint=*/0, [{
  ::mlir::FailureOr<::mlir::RankedTensorType>
  $cppClass::inferType(Adaptor adaptor, ::fact::EmitError emitError) {
    return ::fact::detail::inferPointwiseType(
        adaptor.getOperands().getTypes(), emitError);
  }
}]>;

class Fact_PointwiseOp<string mnemonic, string text, list<Trait> traits = [],
                       list<string> methods = []>
    : Fact_TensorOp<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<PointwiseOpInterface, methods>], traits)> {
  let summary = text;
  let results = (outs Fact_Tensor:$result);
}

class Fact_UnaryOp<string mnemonic, string text, list<string> methods = []>
    : Fact_PointwiseOp<mnemonic, text, [Fact_SameElementType], methods> {
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

/// A function of real numbers.
class Fact_FloatUnaryOp<string mnemonic, string text, list<string> methods = []>
    : Fact_UnaryOp<mnemonic, text, methods> {
  let arguments = (ins Fact_FloatTensor:$operand);
}

class Fact_BinaryOp<string mnemonic, string text, list<Trait> traits = [],
                    list<string> methods = []>
    : Fact_PointwiseOp<mnemonic, text,
        !listconcat([Fact_SameElementType], traits), methods> {
  let description = [{
    Operands broadcast as in NumPy. A float operand of rank 0 may be wider than
    the other: the op computes with its full precision, as PyTorch does with
    scalars.
  }];
  let arguments = (ins Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Fact_AddOp : Fact_BinaryOp<"add", "sum", [Commutative]> {
  let description = [{
    Operands broadcast as in NumPy. A float operand of rank 0 may be wider than
    the other: the op computes with its full precision, as PyTorch does with
    scalars. The sum of booleans is their disjunction.

    ```mlir
    %0 = fact.add %x, %bias : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
    %1 = fact.add %0, %eps : (tensor<2x4xbf16>, tensor<f32>) -> tensor<2x4xbf16>
    ```
  }];
  let hasFolder = 1;
}
def Fact_SubOp : Fact_BinaryOp<"sub", "difference"> {
  let hasFolder = 1;
}
def Fact_MulOp : Fact_BinaryOp<"mul", "product", [Commutative]> {
  let hasFolder = 1;
}
def Fact_DivOp : Fact_BinaryOp<"div", "quotient", [], ["buildFastScalar"]> {
  let description = [{
    Operands broadcast as in NumPy. Quotients of integers round toward 0; `x / 0`
    is 0, and the smallest integer divided by -1 is itself.
  }];
  let hasFolder = 1;
}
def Fact_MaximumOp : Fact_BinaryOp<"maximum", "larger value; NaN if either operand is NaN", [Commutative]>;
def Fact_MinimumOp : Fact_BinaryOp<"minimum", "smaller value; NaN if either operand is NaN", [Commutative]>;
def Fact_FmodOp : Fact_BinaryOp<"fmod", "remainder of lhs / rhs, with the sign of lhs"> {
  let description = [{
    Operands broadcast as in NumPy. For integers, the remainder of a division by
    0 is `lhs`.
  }];
}
def Fact_PowOp : Fact_BinaryOp<"pow", "lhs to the power rhs"> {
  let arguments = (ins Fact_FloatTensor:$lhs, Fact_FloatTensor:$rhs);
}

/// An op on the bits of integers.
class Fact_BitwiseOp<string mnemonic, string text, list<Trait> traits = []>
    : Fact_BinaryOp<mnemonic, text, traits> {
  let description = [{
    Operands broadcast as in NumPy. A boolean is one bit.
  }];
  let arguments = (ins Fact_IntegerTensor:$lhs, Fact_IntegerTensor:$rhs);
}

def Fact_AndOp : Fact_BitwiseOp<"and", "bitwise and", [Commutative]>;
def Fact_OrOp : Fact_BitwiseOp<"or", "bitwise or", [Commutative]>;
def Fact_XorOp : Fact_BitwiseOp<"xor", "bitwise exclusive or", [Commutative]>;
def Fact_ShiftLeftOp : Fact_BitwiseOp<"shift_left",
    "lhs * 2^rhs; 0 if rhs is not in [0, bit width)">;
def Fact_ShiftRightOp : Fact_BitwiseOp<"shift_right",
    "floor(lhs / 2^rhs); the sign, 0 or -1, if rhs is not in [0, bit width)">;

def Fact_NegOp : Fact_UnaryOp<"neg", "negation"> {
  let hasFolder = 1;
}
def Fact_AbsOp : Fact_UnaryOp<"abs", "absolute value">;
def Fact_SignOp : Fact_UnaryOp<"sign", "-1, 0 or 1; 0 for NaN">;
def Fact_FloorOp : Fact_UnaryOp<"floor", "largest integer that is at most x">;
def Fact_CeilOp : Fact_UnaryOp<"ceil", "smallest integer that is at least x">;
def Fact_RoundOp : Fact_UnaryOp<"round", "nearest integer, ties to even">;
def Fact_ExpOp : Fact_FloatUnaryOp<"exp", "e to the power x", ["buildFastScalar"]>;
def Fact_LogOp : Fact_FloatUnaryOp<"log", "natural logarithm", ["buildFastScalar"]>;
def Fact_Expm1Op : Fact_FloatUnaryOp<"expm1", "exp(x) - 1, accurate near 0">;
def Fact_Log1pOp : Fact_FloatUnaryOp<"log1p", "log(1 + x), accurate near 0">;
def Fact_SqrtOp : Fact_FloatUnaryOp<"sqrt", "square root">;
def Fact_RsqrtOp : Fact_FloatUnaryOp<"rsqrt", "reciprocal square root", ["buildFastScalar"]>;
def Fact_ReciprocalOp : Fact_FloatUnaryOp<"reciprocal", "1 / x", ["buildFastScalar"]>;
def Fact_SinOp : Fact_FloatUnaryOp<"sin", "sine">;
def Fact_CosOp : Fact_FloatUnaryOp<"cos", "cosine">;
def Fact_ErfOp : Fact_FloatUnaryOp<"erf", "error function", ["buildFastScalar"]>;
def Fact_TanhOp : Fact_FloatUnaryOp<"tanh", "hyperbolic tangent", ["buildFastScalar"]>;
def Fact_SigmoidOp : Fact_FloatUnaryOp<"sigmoid", "1 / (1 + exp(-x))", ["buildFastScalar"]>;
def Fact_ReluOp : Fact_UnaryOp<"relu", "max(x, 0)">;
def Fact_SiluOp : Fact_FloatUnaryOp<"silu", "x * sigmoid(x)", ["buildFastScalar"]>;
def Fact_MishOp : Fact_FloatUnaryOp<"mish", "x * tanh(log(1 + exp(x)))", ["buildFastScalar"]>;
def Fact_SoftplusOp : Fact_FloatUnaryOp<"softplus", "log(1 + exp(x))", ["buildFastScalar"]>;

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
    Either bound may be omitted. NaN stays NaN.

    ```mlir
    %0 = fact.clamp %x min 0.0 max 6.0 : (tensor<4xf32>) -> tensor<4xf32>
    ```

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

def Fact_CompareOp : Fact_PointwiseOp<"compare", "comparison of elements",
    [Fact_InferType<2>]> {
  let description = [{
    Every comparison with NaN is false, but for `ne`, which is true.

    ```mlir
    %0 = fact.compare lt %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    ```

    Constraints:
    - (C1) the operands have one element type; a float operand of rank 0 may be
      wider.
    - (C2) the result is boolean and has the NumPy broadcast of the operands'
      shapes.
  }];
  let arguments = (ins Fact_PredicateAttr:$predicate, Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = "`` $predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Fact_SelectOp : Fact_PointwiseOp<"select",
    "lhs where the condition is true, rhs elsewhere", [Fact_InferType<2>]> {
  let description = [{
    ```mlir
    %0 = fact.select %c, %x, %y : (tensor<4xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    ```

    Constraints:
    - (C1) `lhs` and `rhs` have one element type; a float operand of rank 0 may
      be wider.
    - (C2) the result has this element type and the NumPy broadcast of the
      operands' shapes.
  }];
  let arguments = (ins Fact_BoolTensor:$condition, Fact_Tensor:$lhs, Fact_Tensor:$rhs);
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def Fact_CastOp : Fact_PointwiseOp<"cast", "conversion to another element type",
    [SameOperandsAndResultShape]> {
  let description = [{
    To floats: rounds to nearest, ties to even. A narrowing cast is never folded
    away. From floats to integers: truncates toward 0; values out of range
    saturate, and NaN becomes 0; i8 takes the low bits of the i32 result. To
    booleans: true for every value but 0.

    ```mlir
    %0 = fact.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif // FACT_DIALECT_FACT_FACTPOINTWISEOPS_TD
