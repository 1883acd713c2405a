//===- FactTensorOps.td - Contractions, rows and views -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTTENSOROPS_TD
#define FACT_DIALECT_FACT_FACTTENSOROPS_TD

include "fact/Dialect/Fact/FactOpBase.td"

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// An op that sums products.
class Fact_ContractionOp<string mnemonic, list<Trait> traits>
    : Fact_TensorOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<TensorOpInterface, ["buildFromEmpty",
                                                      "getProblemName"]>,
        DeclareOpInterfaceMethods<ContractionOpInterface>], traits)>;

def Fact_MatmulOp : Fact_ContractionOp<"matmul", [Fact_InferType<4>]> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    `lhs` is `[batch..., M, K]` (`[batch..., K, M]` with `transpose_a`), `rhs`
    `[batch..., K, N]` (`[batch..., N, K]` with `transpose_b`). Batch dimensions
    broadcast. Products are accumulated in f32, or in f64 for f64 operands. With
    `tf32`, f32 operands may be rounded to TF32 (10 bits of mantissa) before they
    are multiplied; without it, results are as exact as those of IEEE f32.

    ```mlir
    %0 = fact.matmul %x, %w transpose_b : (tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>
    ```

    Constraints:
    - (C1) both operands have rank 2 or more and one element type.
    - (C2) the contracted sizes are equal.
    - (C3) the batch dimensions broadcast.
    - (C4) the result is `[batch..., M, N]` with the operands' element type.
    - (C5) `tf32` needs f32 operands.
  }];
  let arguments = (ins Fact_FloatTensor:$lhs, Fact_FloatTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       UnitAttr:$tf32);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`tf32` $tf32^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
}

def Fact_AttentionOp : Fact_ContractionOp<"attention", [Fact_InferType<5>]> {
  let summary = "softmax(query key^T * scale + mask) value";
  let description = [{
    `query` is `[batch, heads, Tq, D]`, `key` `[batch, kv_heads, Tk, D]`, `value`
    `[batch, kv_heads, Tk, Dv]`. Query head h reads key head
    `h / (heads / kv_heads)`. With `causal`, query i attends to keys 0 to i.
    `mask` is added to the scores. The result of a query whose scores are all
    `-inf` is 0. `tf32` is that of `fact.matmul`, for both products.

    ```mlir
    %0 = fact.attention %q, %k, %v causal scale 0.125 : (tensor<2x8x16x64xf32>, tensor<2x2x16x64xf32>, tensor<2x2x16x64xf32>) -> tensor<2x8x16x64xf32>
    ```

    Constraints:
    - (C1) query, key and value have rank 4 and one element type.
    - (C2) batch sizes are equal, query and key have the same D, key and value
      the same Tk and kv_heads.
    - (C3) `heads` is a multiple of `kv_heads`, which is not 0.
    - (C4) the mask broadcasts to `[batch, heads, Tq, Tk]`.
    - (C5) the result is `[batch, heads, Tq, Dv]` with the operands' element
      type.
    - (C6) `tf32` needs f32 operands.
  }];
  let arguments = (ins Fact_FloatTensor:$query, Fact_FloatTensor:$key,
                       Fact_FloatTensor:$value, Optional<Fact_FloatTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, UnitAttr:$tf32);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`causal` $causal^)? `scale` $scale
    (`tf32` $tf32^)? attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// An op on the rows of its first operand.
class Fact_RowOp<string mnemonic, list<Trait> traits>
    : Fact_TensorOp<mnemonic,
        !listconcat([DeclareOpInterfaceMethods<RowOpInterface>], traits)> {
  let extraClassDeclaration = "std::string getProblemName();";
}

def Fact_SoftmaxOp : Fact_RowOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "exp(x) / sum(exp(x)) over one dimension";
  let description = [{
    The maximum of a row is subtracted first, so that no exponential overflows.

    ```mlir
    %0 = fact.softmax %x dim 1 : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)`.
  }];
  let arguments = (ins Fact_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Fact_NormOp : Fact_RowOp<"norm", [AttrSizedOperandSegments, Fact_InferType<3>]> {
  let summary = "normalization over the trailing dimensions";
  let description = [{
    `layer`: `(x - mean) / sqrt(variance + eps) * weight + bias`; `rms`:
    `x / sqrt(mean(x * x) + eps) * weight + bias`. Means and variances are over
    the last `dims` dimensions; the variance divides by their number of elements.

    ```mlir
    %0 = fact.norm layer %x weight %w bias %b eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `dims` is in `[1, rank]`.
    - (C2) `weight` and `bias` have the shape of the normalized dimensions.
    - (C3) the result has the operand's type.
  }];
  let arguments = (ins Fact_NormKindAttr:$kind, Fact_FloatTensor:$operand,
                       Optional<Fact_FloatTensor>:$weight, Optional<Fact_FloatTensor>:$bias,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$dims);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    `` $kind $operand (`weight` $weight^)? (`bias` $bias^)? `eps` $eps (`dims` $dims^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fact_ReduceOp : Fact_RowOp<"reduce", [Fact_InferType<3>]> {
  let summary = "sum, mean, max, min, prod, argmax or argmin over dimensions";
  let description = [{
    With `keep`, reduced dimensions stay in the result with size 1. `argmax` and
    `argmin` return the index of the first largest or smallest element, counted
    in row-major order over `dims`; a NaN is both.

    ```mlir
    %0 = fact.reduce argmax %x dims [1] : (tensor<4x8xf32>) -> tensor<4xi64>
    ```

    Constraints:
    - (C1) `dims` are distinct, ascending and in `[0, rank)`.
    - (C2) `mean` has a float operand; `max`, `min`, `argmax` and `argmin` reduce
      no dimension of size 0.
    - (C3) the result has the operand's shape without `dims`, or with size 1
      there if `keep` is set. Its elements are i64 for `argmax` and `argmin`,
      and have the operand's type for the other kinds.
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
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fact_ScanOp : Fact_RowOp<"scan", [SameOperandsAndResultType]> {
  let summary = "running sum, product, maximum, minimum or log of a sum of exponentials";
  let description = [{
    Element i along `dim` is the reduction of elements 0 to i.

    ```mlir
    %0 = fact.scan sum %x dim 1 : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)`.
    - (C2) `logsumexp` has a float operand.
  }];
  let arguments = (ins Fact_ScanKindAttr:$kind, Fact_Tensor:$operand, I64Attr:$dim);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = "`` $kind $operand `dim` $dim attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Fact_ArgsortOp : Fact_RowOp<"argsort", [Fact_InferType<3>]> {
  let summary = "indices that sort a dimension";
  let description = [{
    Element p along `dim` is the index of the element that stands at p in
    ascending order, or in descending order with `descending`. Equal elements
    keep their order; a NaN is larger than all else. The result has the first
    `count` places, or all.

    ```mlir
    %0 = fact.argsort %x dim 1 descending count 3 : (tensor<4x8xf32>) -> tensor<4x3xi64>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)`.
    - (C2) `count` is in `[0, size]` of `dim`.
    - (C3) the result has elements of i64 and the operand's shape, with `count`
      in place of the size of `dim`.
  }];
  let arguments = (ins Fact_Tensor:$operand, I64Attr:$dim, UnitAttr:$descending,
                       OptionalAttr<I64Attr>:$count);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = [{
    $operand `dim` $dim (`descending` $descending^)? (`count` $count^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fact_ScatterOp : Fact_TensorOp<"scatter",
    [DeclareOpInterfaceMethods<TensorOpInterface, ["buildFromEmpty"]>,
     Fact_InferType<4>]> {
  let summary = "a tensor with slices replaced or combined at indices";
  let description = [{
    The result is `source`, in which `updates[a..., i..., b...]` is written to
    `[a..., indices[i...], b...]` (`set`), or combined with what is there (`sum`,
    `prod`, `max`, `min`). Updates apply in row-major order of `i...`, so that
    the last of several `set`s of one element remains. Updates at an index
    outside of `[0, size)` are ignored.

    ```mlir
    %0 = fact.scatter set %cache, %positions, %keys dim 1 : (tensor<2x16x8xf32>, tensor<3xi64>, tensor<2x3x8xf32>) -> tensor<2x16x8xf32>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)` of `source`.
    - (C2) `indices` are i32 or i64.
    - (C3) `updates` have the source's element type and its shape with the shape
      of `indices` in place of `dim`.
    - (C4) the result has the source's type.
  }];
  let arguments = (ins Fact_ScatterKindAttr:$kind, Fact_Tensor:$source,
                       Fact_Tensor:$indices, Fact_Tensor:$updates, I64Attr:$dim);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $source `,` $indices `,` $updates `dim` $dim attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fact_GatherOp : Fact_TensorOp<"gather",
    [DeclareOpInterfaceMethods<TensorOpInterface, ["buildFromEmpty"]>,
     Fact_InferType<3>]> {
  let summary = "slices of a tensor selected by index";
  let description = [{
    The dimensions of `indices` replace dimension `dim` of `source`: result
    element `[a..., i..., b...]` is `source[a..., indices[i...], b...]`. For an
    index outside of `[0, size)` the element is NaN, or 0 for integers and
    booleans. An embedding is a gather along dimension 0.

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
}

def Fact_RotaryOp : Fact_TensorOp<"rotary",
    [DeclareOpInterfaceMethods<TensorOpInterface>, Fact_InferType<3>]> {
  let summary = "rotary position embedding";
  let description = [{
    `x * cos + rotate(x) * sin`, where `rotate` turns pairs of elements of the
    last dimension, of size D, by 90 degrees. Element i pairs with i + D/2, so
    `rotate(x) = concat(-x[D/2:], x[:D/2])`. With `interleaved`, element 2i pairs
    with 2i + 1, and `rotate(x)` is `-x[1], x[0], -x[3], x[2], ...`.

    ```mlir
    %0 = fact.rotary %q, %cos, %sin : (tensor<2x4x8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<2x4x8x16xf32>
    ```

    Constraints:
    - (C1) the operand has rank 1 or more, and its last size is even.
    - (C2) `cos` and `sin` have the operand's element type and broadcast to its
      shape.
    - (C3) the result has the operand's type.
  }];
  let arguments = (ins Fact_FloatTensor:$operand, Fact_FloatTensor:$cos,
                       Fact_FloatTensor:$sin, UnitAttr:$interleaved);
  let results = (outs Fact_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $cos `,` $sin (`interleaved` $interleaved^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

class Fact_ViewOp<string mnemonic, string text, list<Trait> traits = []>
    : Fact_TensorOp<mnemonic,
        !listconcat([DeclareOpInterfaceMethods<ViewOpInterface>,
                     SameOperandsAndResultElementType], traits)> {
  let summary = text;
  let results = (outs Fact_Tensor:$result);
  let hasFolder = 1;
}

def Fact_ReshapeOp : Fact_ViewOp<"reshape", "the same elements in row-major order under another shape"> {
  let description = [{
    ```mlir
    %0 = fact.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
    ```

    Constraints:
    - (C1) operand and result have the same number of elements.
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::fact::ElementSets>
    getDemand(const ::fact::ElementSets &result);
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Fact_PermuteOp : Fact_ViewOp<"permute", "dimensions in another order",
    [Fact_InferType<2>]> {
  let description = [{
    Result dimension i is operand dimension `dims[i]`.

    ```mlir
    %0 = fact.permute %x [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    ```

    Constraints:
    - (C1) `dims` is a permutation of `[0, rank)`.
    - (C2) result size i is operand size `dims[i]`.
  }];
  let arguments = (ins Fact_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$operand $dims attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

def Fact_SliceOp : Fact_ViewOp<"slice", "range of one dimension"> {
  let description = [{
    Elements `start`, `start + step`, ... of dimension `dim`; the result's size
    in `dim` is their number.

    ```mlir
    %0 = fact.slice %x dim 1 start 1 step 2 : (tensor<4x8xf32>) -> tensor<4x3xf32>
    ```

    Constraints:
    - (C1) `dim` is in `[0, rank)`, `start` is 0 or more, `step` 1 or more.
    - (C2) the last element is inside of the operand, and the sizes of the other
      dimensions are equal.
  }];
  let arguments = (ins Fact_Tensor:$operand, I64Attr:$dim, I64Attr:$start,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let assemblyFormat = [{
    $operand `dim` $dim `start` $start (`step` $step^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Fact_ExpandOp : Fact_ViewOp<"expand", "broadcast to a larger shape"> {
  let description = [{
    Repeats dimensions of size 1 and adds leading dimensions, as NumPy's
    broadcasting does.

    ```mlir
    %0 = fact.expand %x : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
    ```

    Constraints:
    - (C1) the operand's shape broadcasts to the result's.
  }];
  let arguments = (ins Fact_Tensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Fact_WindowsOp : Fact_ViewOp<"windows", "windows of neighboring elements",
    [Fact_InferType<3>]> {
  let description = [{
    Dimensions `dim`, `dim + 1`, ..., one for each number of `kernel`, become the
    places of windows and then the places in a window: result element
    `[a..., o..., k..., b...]` is operand element
    `[a..., o * strides + k * dilations..., b...]`. Windows may overlap. A
    convolution is a product of windows with filters, a pool a reduction of
    them.

    ```mlir
    %0 = fact.windows %x dim 1 kernel [3] strides [2] dilations [1] : (tensor<2x9x8xf32>) -> tensor<2x4x3x8xf32>
    ```

    Constraints:
    - (C1) `kernel`, `strides` and `dilations` have as many numbers, 1 or more
      each; `dim` is 0 or more, and the operand has all dimensions of the
      kernel.
    - (C2) a window fits: `(kernel - 1) * dilations + 1` elements.
    - (C3) the result has the operand's element type and its shape with the
      number of windows, then `kernel`, in place of these dimensions.
  }];
  let arguments = (ins Fact_Tensor:$operand, I64Attr:$dim,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let assemblyFormat = [{
    $operand `dim` $dim `kernel` $kernel `strides` $strides `dilations` $dilations
    attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
}

def Fact_ConcatOp : Fact_TensorOp<"concat",
    [DeclareOpInterfaceMethods<TensorOpInterface>, Fact_InferType<3>]> {
  let summary = "concatenation along a dimension";
  let description = [{
    ```mlir
    %0 = fact.concat %x, %y dim 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
    ```

    Constraints:
    - (C1) there is an operand, and `dim` is in `[0, rank)`.
    - (C2) operands have one element type, one rank, and equal sizes in all
      dimensions but `dim`.
    - (C3) the result has the operands' type, with the sum of their sizes in
      `dim`.
  }];
  let arguments = (ins Variadic<Fact_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // FACT_DIALECT_FACT_FACTTENSOROPS_TD
