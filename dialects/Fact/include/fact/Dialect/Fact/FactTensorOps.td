//===- FactTensorOps.td - Contractions, rows and views ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTTENSOROPS_TD
#define FACT_DIALECT_FACT_FACTTENSOROPS_TD

include "fact/Dialect/Fact/FactOpBase.td"

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// An op that sums products.
class Fact_ContractionOp<string mnemonic>
    : Fact_TensorOp<mnemonic, [
        DeclareOpInterfaceMethods<TensorOpInterface, ["buildFromEmpty",
                                                      "getProblemName"]>,
        DeclareOpInterfaceMethods<ContractionOpInterface>]>;

def Fact_MatmulOp : Fact_ContractionOp<"matmul"> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    `lhs` is `[batch..., M, K]` (`[batch..., K, M]` with `transpose_a`), `rhs`
    `[batch..., K, N]` (`[batch..., N, K]` with `transpose_b`). Batch dimensions
    broadcast. Sums are kept in `acc` (f32; f64 for f64 operands).

    ```mlir
    %0 = fact.matmul %x, %w transpose_b : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
    ```

    Constraints:
    - (C1) both operands have rank 2 or more and one element type.
    - (C2) the contracted sizes are equal.
    - (C3) the batch dimensions broadcast.
    - (C4) the result is `[batch..., M, N]`.
  }];
  let arguments = (ins Fact_FloatTensor:$lhs, Fact_FloatTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
  let hasVerifier = 1;
}

def Fact_AttentionOp : Fact_ContractionOp<"attention"> {
  let summary = "softmax(query key^T * scale + mask) value";
  let description = [{
    `query` is `[batch, heads, Tq, D]`, `key` `[batch, kv_heads, Tk, D]`, `value`
    `[batch, kv_heads, Tk, Dv]`. Query head h reads key head
    `h / (heads / kv_heads)`. `causal` lets query i see keys 0..i. `mask` is
    added to the scores and broadcasts to `[batch, heads, Tq, Tk]`. A query that
    sees no key (all scores are `-inf`) gives 0.

    Constraints:
    - (C1) query, key, value and result have rank 4 and one element type.
    - (C2) batch sizes agree, query and key agree in D, key and value in Tk and heads.
    - (C3) `heads` is a multiple of `kv_heads`, which is not 0.
    - (C4) the result is `[batch, heads, Tq, Dv]`, and the mask broadcasts to
      `[batch, heads, Tq, Tk]`.
  }];
  let arguments = (ins Fact_FloatTensor:$query, Fact_FloatTensor:$key,
                       Fact_FloatTensor:$value, Optional<Fact_FloatTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`causal` $causal^)? `scale` $scale attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// An op on the rows of its first operand.
class Fact_RowOp<string mnemonic, list<Trait> traits = []>
    : Fact_TensorOp<mnemonic,
        !listconcat([DeclareOpInterfaceMethods<RowOpInterface>], traits)> {
  let extraClassDeclaration = "std::string getProblemName();";
}

def Fact_SoftmaxOp : Fact_RowOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x - max) / sum over one dimension";
  let description = [{
    Constraints:
    - (C1) `dim` is in `[0, rank)`.
  }];
  let arguments = (ins Fact_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Fact_NormOp : Fact_RowOp<"norm", [AttrSizedOperandSegments]> {
  let summary = "normalisation over the trailing dimensions";
  let description = [{
    `layer`: `(x - mean) / sqrt(variance + eps) * weight + bias`; `rms`:
    `x / sqrt(mean(x * x) + eps) * weight + bias`, over the last `dims`
    dimensions.

    Constraints:
    - (C1) `dims` is in `[1, rank]`.
    - (C2) `weight` and `bias` have the shape of the normalised dimensions.
    - (C3) operand and result have one type.
  }];
  let arguments = (ins Fact_NormKindAttr:$kind, Fact_FloatTensor:$operand,
                       Optional<Fact_FloatTensor>:$weight, Optional<Fact_FloatTensor>:$bias,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$dims);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    `` $kind $operand (`weight` $weight^)? (`bias` $bias^)? `eps` $eps (`dims` $dims^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fact_ReduceOp : Fact_RowOp<"reduce"> {
  let summary = "sum, mean, max, min, prod, argmax or argmin over dimensions";
  let description = [{
    Reduced dimensions stay with size 1 when `keep` is set. `argmax` and
    `argmin` give the place of the first extreme value, counted in row-major
    order over `dims`; NaN is the extreme of both.

    ```mlir
    %0 = fact.reduce argmax %x dims [1] : (tensor<4x8xf32>) -> tensor<4xi64>
    ```

    Constraints:
    - (C1) `dims` are distinct, ascending and in `[0, rank)`.
    - (C2) the result has the operand's shape without (or with size 1 in) `dims`.
    - (C3) `argmax` and `argmin` give i64, the others the operand's element type.
    - (C4) `mean` takes floats; `max`, `min`, `argmax` and `argmin` do not reduce
      a size of 0.
  }];
  let arguments = (ins Fact_ReduceKindAttr:$kind, Fact_Tensor:$operand,
                       DenseI64ArrayAttr:$dims, UnitAttr:$keep);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $operand `dims` $dims (`keep` $keep^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    std::string getProblemName();
    ::mlir::Value buildFromEmpty(::mlir::OpBuilder &builder);
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fact_GatherOp : Fact_TensorOp<"gather",
    [DeclareOpInterfaceMethods<TensorOpInterface, ["buildFromEmpty"]>]> {
  let summary = "slices of a tensor chosen by index";
  let description = [{
    The index tensor takes the place of dimension `dim`: result element
    `[a..., i..., b...]` is `source[a..., indices[i...], b...]`. An index
    outside `[0, size)` gives NaN, and 0 for integers and booleans. An
    embedding is a gather of dimension 0.

    ```mlir
    %0 = fact.gather %table, %tokens dim 0 : (tensor<100x16xf32>, tensor<2x7xi64>) -> tensor<2x7x16xf32>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)` of `source`.
    - (C2) `indices` are i32 or i64.
    - (C3) the result has the source's element type and its shape with the shape
      of `indices` in place of `dim`.
  }];
  let arguments = (ins Fact_Tensor:$source, Fact_Tensor:$indices, I64Attr:$dim);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = [{
    $source `,` $indices `dim` $dim attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fact_RotaryOp : Fact_TensorOp<"rotary",
    [DeclareOpInterfaceMethods<TensorOpInterface>]> {
  let summary = "rotary position embedding";
  let description = [{
    `x * cos + rotate(x) * sin`, where `rotate` turns pairs of the last
    dimension (of size D) by a quarter: element i pairs with i + D/2, and
    `rotate(x) = concat(-x[D/2:], x[:D/2])`; with `interleaved`, element 2i
    pairs with 2i + 1, and `rotate(x)` is `-x[1], x[0], -x[3], x[2], ...`.

    ```mlir
    %0 = fact.rotary %q, %cos, %sin : (tensor<2x4x8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<2x4x8x16xf32>
    ```

    Constraints:
    - (C1) operand and result have one type of rank 1 or more, and an even last
      size.
    - (C2) `cos` and `sin` have the operand's element type and broadcast to its
      shape.
  }];
  let arguments = (ins Fact_FloatTensor:$operand, Fact_FloatTensor:$cos,
                       Fact_FloatTensor:$sin, UnitAttr:$interleaved);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

class Fact_ViewOp<string mnemonic, string text>
    : Fact_TensorOp<mnemonic, [DeclareOpInterfaceMethods<ViewOpInterface>,
                               SameOperandsAndResultElementType]> {
  let summary = text;
  let results = (outs Fact_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Fact_ReshapeOp : Fact_ViewOp<"reshape", "the same elements in row-major order"> {
  let description = [{
    Constraints:
    - (C1) operand and result have the same number of elements.
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::fact::ElementSets>
    getDemand(const ::fact::ElementSets &result);
  }];
  let hasCanonicalizer = 1;
}

def Fact_PermuteOp : Fact_ViewOp<"permute", "dimensions in another order"> {
  let description = [{
    Result dimension i is operand dimension `dims[i]`.

    Constraints:
    - (C1) `dims` is a permutation of `[0, rank)`.
    - (C2) the result's shape is the operand's, permuted.
  }];
  let arguments = (ins Fact_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$operand $dims attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

def Fact_SliceOp : Fact_ViewOp<"slice", "a range of one dimension"> {
  let description = [{
    Elements `start, start + step, ...` of dimension `dim`, as many as the
    result has.

    Constraints:
    - (C1) `dim` is in `[0, rank)`, `start >= 0`, `step >= 1`.
    - (C2) the last element is inside the operand, and other sizes are equal.
  }];
  let arguments = (ins Fact_Tensor:$operand, I64Attr:$dim, I64Attr:$start,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let assemblyFormat = [{
    $operand `dim` $dim `start` $start (`step` $step^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
}

def Fact_ExpandOp : Fact_ViewOp<"expand", "a broadcast to a larger shape"> {
  let description = [{
    Constraints:
    - (C1) the operand's shape broadcasts to the result's.
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

def Fact_ConcatOp : Fact_TensorOp<"concat",
    [DeclareOpInterfaceMethods<TensorOpInterface>, SameOperandsAndResultElementType]> {
  let summary = "tensors one after the other along a dimension";
  let description = [{
    Constraints:
    - (C1) `dim` is in `[0, rank)`.
    - (C2) all sizes but `dim`'s are equal, and `dim`'s add up.
  }];
  let arguments = (ins Variadic<Fact_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // FACT_DIALECT_FACT_FACTTENSOROPS_TD
