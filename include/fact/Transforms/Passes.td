//===- Passes.td - FACT's own passes -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TRANSFORMS_PASSES_TD
#define FACT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

def FoldViews : Pass<"fact-fold-views"> {
  let summary = "Fold views into the ops that use them";
  let description = [{
    A transpose of the last two dimensions becomes a flag of `fact.matmul`, an
    explicit broadcast becomes the implicit one of a pointwise op, and a product
    of batches that is transposed becomes the product of its transposed factors.
    A gather of elements that were widened gathers the narrow ones. A permute
    between two products moves past functions and biases, which the first
    product then has as its epilogue.

    ```mlir
    %0 = fact.permute %k [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
    %1 = fact.matmul %q, %0 : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
    ```
    becomes
    ```mlir
    %1 = fact.matmul %q, %k transpose_b : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
    ```
  }];
}

def MovePermutes : Pass<"fact-move-permutes"> {
  let summary = "Keep channels last between convolutions";
  let description = [{
    A convolution is a product with channels in the last dimension, between
    permutes from and to the caller's order. A permute that brings channels from
    the last dimension to the second moves past pointwise ops, slices,
    concatenations of mostly permuted tensors, pixel shuffles, gathers,
    softmaxes and reductions, until it meets its inverse before the next
    convolution, or a result. A module without `fact.windows` stays as it is.

    ```mlir
    %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x8x8x4xf32>) -> tensor<2x4x8x8xf32>
    %1 = fact.relu %0 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %2 = fact.permute %1 [0, 2, 3, 1] : (tensor<2x4x8x8xf32>) -> tensor<2x8x8x4xf32>
    %3 = fact.windows %2 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x4xf32>) -> tensor<2x6x6x3x3x4xf32>
    ```
    becomes
    ```mlir
    %0 = fact.relu %x : (tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
    %1 = fact.windows %0 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x4xf32>) -> tensor<2x6x6x3x3x4xf32>
    ```
  }];
}

def SimplifyProducts : Pass<"fact-simplify-products"> {
  let summary = "Replace products by ones that need fewer operations";
  let description = [{
    A product with a diagonal matrix (`torch.diag`, `diag_embed`, an identity
    times a vector) scales rows or columns. Zeros off the diagonal are not
    multiplied, so an infinity there does not become NaN.

    ```mlir
    %d = fact.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
    %zero = fact.constant dense<0.0> : tensor<f32>
    %0 = fact.select %d, %v, %zero : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %1 = fact.matmul %0, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.reshape %v : (tensor<2xf32>) -> tensor<2x1xf32>
    %1 = fact.mul %b, %0 : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
    ```

    A product with a matrix of equal numbers is a sum of rows or columns, times
    the number.

    A sum or mean over rows or columns of a product, through views, biases,
    other summands and factors that do not vary over them, is a product of sums:
    a matrix times a vector, and the sum of a weight is taken at load. So is a
    pool of columns, with a narrower matrix. It applies only if nothing else
    reads the product. Convolutions stay, but for those with 1x1 filters: their
    windows would be read many times over.

    ```mlir
    %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    %1 = fact.reduce sum %0 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = fact.reduce sum %w dims [0] keep : (tensor<8x16xf32>) -> tensor<1x16xf32>
    %1 = fact.mul %x, %0 : (tensor<4x16xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
    %2 = fact.reduce sum %1 dims [1] keep : (tensor<4x16xf32>) -> tensor<4x1xf32>
    %3 = fact.reshape %2 : (tensor<4x1xf32>) -> tensor<4xf32>
    ```

    Sums of 16-bit factors are f32. If the vector is an operand of a 16-bit
    product, it is the mean, which is in the range of the elements, as a sum of
    two 16-bit parts; the count is multiplied after the product. A TF32 product
    of a sum is one of f32. Such products must sum at least 4 elements.

    Products of three factors are reassociated if that takes at most a quarter
    of the operations and nothing else reads the inner product. Products of
    weights alone count as none, since they run at load. f16 is left alone: the
    inner product of the other order might overflow.

    ```mlir
    %0 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = fact.matmul %0, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    ```
    becomes
    ```mlir
    %0 = fact.matmul %b, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %1 = fact.matmul %a, %0 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    ```
  }];
}

def NormalizeRows : Pass<"fact-normalize-rows"> {
  let summary = "Permute softmaxes and reductions to trailing dimensions";
  let description = [{
    Row kernels need contiguous rows. A softmax or a reduction over other
    dimensions is permuted so that these come last. A softmax over one element
    is `exp(x - x)`: 1, or NaN for an infinity. A reduction over rows that a
    norm, softmax or reduction before it has, and over more, is of rows first,
    in f32: the kernel of the rows stores a number for each.

    ```mlir
    %0 = fact.softmax %x dim 0 : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.permute %x [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = fact.softmax %0 dim 1 : tensor<8x4xf32>
    %2 = fact.permute %1 [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def RaiseActivations : Pass<"fact-raise-activations"> {
  let summary = "Recognize activations that are written out";
  let description = [{
    `x * sigmoid(x)` and `x / (1 + exp(-x))` become `fact.silu`,
    `0.5 * x * (1 + erf(x / sqrt(2)))` becomes `fact.gelu`, and the form with
    `tanh` its approximation, with factors in any order.

    ```mlir
    %0 = fact.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = fact.mul %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def RaiseNorms : Pass<"fact-raise-norms"> {
  let summary = "Recognize norms that are written out";
  let description = [{
    `x * rsqrt(mean(x * x) + eps)` becomes `fact.norm rms`, and
    `(x - mean(x)) * rsqrt(variance + eps)` becomes `fact.norm layer`. Roots and
    quotients, means as sums over a count, a variance as
    `mean(x * x) - mean(x)^2`, and a weight among the factors are recognized; a
    weight and a bias after the norm become its operands. A graph with `eps` in
    another place, or with a variance over `n - 1`, is not a norm and stays.

    A norm computed in f32 between casts stays in f32, with its casts: a value
    that is rounded before it is multiplied by the weight still is.

    ```mlir
    %eps = fact.constant dense<1.0e-06> : tensor<f32>
    %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %2 = fact.add %1, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %4 = fact.mul %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %5 = fact.mul %w, %4 : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.norm rms %x weight %w eps 9.9999999747524271E-7 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let statistics = [Statistic<"raised", "norms-raised", "Norms recognized">];
}

def RaiseRotary : Pass<"fact-raise-rotary"> {
  let summary = "Recognize rotary embeddings that are written out";
  let description = [{
    `x * cos + rotate(x) * sin` becomes `fact.rotary`, where `rotate` is
    written with slices and a concatenation of halves, or with every second
    element and a stack. The form that multiplies both elements of each pair by
    tables of half the width, and concatenates the results, is recognized too;
    its tables are concatenated. Halves are compared as strided views of one
    tensor.

    ```mlir
    %0 = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %1 = fact.neg %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
    %3 = fact.concat %1, %2 dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
    %4 = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %5 = fact.mul %3, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %6 = fact.add %4, %5 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.rotary %x, %cos, %sin : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"raised", "rotary-raised", "Rotary embeddings recognized">];
}

def RaiseAttention : Pass<"fact-raise-attention"> {
  let summary = "Recognize attention that is written out";
  let description = [{
    `softmax(q k^T * scale + mask) v` becomes `fact.attention`. The scale may be
    applied before or after the product; any number of masks may be added or
    selected; leading dimensions are arbitrary. Widening casts are ignored, so a
    softmax in f32 between 16-bit products is recognized; its result is rounded
    like any operand of a contraction. Scores with other users stay.

    A selection (`where`, `masked_fill`) becomes an additive mask if its fill
    value masks every score: `-inf`, the lowest finite number of the scores'
    type, or anything below -2^100. A selection with `-1e9` stays.

    Keys and values that are repeated per group of query heads are read once.

    ```mlir
    %s = fact.constant dense<1.25e-01> : tensor<f32>
    %0 = fact.matmul %q, %k transpose_b : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
    %1 = fact.mul %0, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
    %2 = fact.add %1, %m : (tensor<1x2x4x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4x4xf32>
    %3 = fact.softmax %2 dim 3 : tensor<1x2x4x4xf32>
    %4 = fact.matmul %3, %v : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    ```
    becomes
    ```mlir
    %4 = fact.attention %q, %k, %v mask %m scale 1.250000e-01 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4x4xf32>) -> tensor<1x2x4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"raised", "attention-raised", "Attentions recognized">];
}

def ProveMasks : Pass<"fact-prove-masks", "::mlir::ModuleOp"> {
  let summary = "Replace constant masks by the flag `causal`, or remove them";
  let description = [{
    Evaluates masks, and parts of masks, that depend on constants and on weights
    with known values alone. A causal mask becomes the flag `causal`, and one
    that hides nothing is removed; the weights that were read are baked. Other
    masks stay operands. A mask is evaluated once, however many attentions use
    it.

    ```mlir
    %m = fact.constant dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>
    %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<2x2xf32>) -> tensor<1x1x2x8xf32>
    ```
    becomes
    ```mlir
    %0 = fact.attention %q, %k, %v causal scale 1.000000e+00 : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>) -> tensor<1x1x2x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"causal", "masks-proven-causal", "Masks proven causal">];
}

def SplitGates : Pass<"fact-split-gates"> {
  let summary = "Split a product that computes both a gate and the gated value";
  let description = [{
    `act(y[..., :n]) * y[..., n:]` with `y = x w^T + b` becomes
    `act(x w1^T + b1) * (x w2^T + b2)`, where `w1` and `w2` are slices of the
    weight: views, which cost nothing. Then `y` need not be stored, and a gated
    MLP has one form, however it was written.

    ```mlir
    %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
    %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
    %2 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
    %3 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %4 = fact.mul %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    becomes
    ```mlir
    %0 = fact.slice %w dim 0 start 0 : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %1 = fact.matmul %x, %0 transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    %2 = fact.slice %w dim 0 start 16 : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %3 = fact.matmul %x, %2 transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    %4 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %5 = fact.mul %4, %3 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
  }];
  let statistics = [Statistic<"split", "gates-split", "Products split">];
}

def MergeProjections : Pass<"fact-merge-projections", "::mlir::func::FuncOp"> {
  let summary = "Merge the products that project one value";
  let description = [{
    Products of one value with several weights become one product with the
    concatenated weight, followed by slices: the value is read once, and a wide
    product fills the machine better than several narrow ones. Concatenated
    weights are functions of weights alone, so `fact-hoist-prepare` moves them to
    load time. Biases are concatenated too; products with and without a bias are
    not merged with each other.

    ```mlir
    fact.weight @q : tensor<16x16xf32>
    fact.weight @k : tensor<4x16xf32>
    func.func @scores(%x: tensor<2x8x16xf32>, %v: tensor<2x1x8x4xf32>) -> tensor<2x4x8x4xf32> {
      %wq = fact.get_weight @q : tensor<16x16xf32>
      %wk = fact.get_weight @k : tensor<4x16xf32>
      %0 = fact.matmul %x, %wq transpose_b : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
      %1 = fact.reshape %0 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
      %q = fact.permute %1 [0, 2, 1, 3] : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
      %2 = fact.matmul %x, %wk transpose_b : (tensor<2x8x16xf32>, tensor<4x16xf32>) -> tensor<2x8x4xf32>
      %k = fact.reshape %2 : (tensor<2x8x4xf32>) -> tensor<2x1x8x4xf32>
      %y = fact.attention %q, %k, %v scale 0.5 : (tensor<2x4x8x4xf32>, tensor<2x1x8x4xf32>, tensor<2x1x8x4xf32>) -> tensor<2x4x8x4xf32>
      return %y : tensor<2x4x8x4xf32>
    }
    ```
    becomes
    ```mlir
    fact.weight @q : tensor<16x16xf32>
    fact.weight @k : tensor<4x16xf32>
    func.func @scores(%x: tensor<2x8x16xf32>, %v: tensor<2x1x8x4xf32>) -> tensor<2x4x8x4xf32> {
      %wq = fact.get_weight @q : tensor<16x16xf32>
      %wk = fact.get_weight @k : tensor<4x16xf32>
      %w = fact.concat %wq, %wk dim 0 : (tensor<16x16xf32>, tensor<4x16xf32>) -> tensor<20x16xf32>
      %0 = fact.matmul %x, %w transpose_b : (tensor<2x8x16xf32>, tensor<20x16xf32>) -> tensor<2x8x20xf32>
      %1 = fact.slice %0 dim 2 start 0 : (tensor<2x8x20xf32>) -> tensor<2x8x16xf32>
      %2 = fact.slice %0 dim 2 start 16 : (tensor<2x8x20xf32>) -> tensor<2x8x4xf32>
      %3 = fact.reshape %1 : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
      %q = fact.permute %3 [0, 2, 1, 3] : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
      %k = fact.reshape %2 : (tensor<2x8x4xf32>) -> tensor<2x1x8x4xf32>
      %y = fact.attention %q, %k, %v scale 0.5 : (tensor<2x4x8x4xf32>, tensor<2x1x8x4xf32>, tensor<2x1x8x4xf32>) -> tensor<2x4x8x4xf32>
      return %y : tensor<2x4x8x4xf32>
    }
    ```

    Products are merged only if attention reads their results, through views and
    a rotary embedding, because these read slices in place. Any other user could
    be the epilogue of a separate product (a pointwise op), or would need a copy
    of the slice (an operand of another product, an output).
  }];
  let statistics = [
    Statistic<"merged", "projections-merged", "Products merged into others">];
}

def OrderSteps : Pass<"fact-order-steps", "::mlir::func::FuncOp"> {
  let summary = "Make what the steps of unrolled loops read and write contiguous";
  let description = [{
    `torch.export` unrolls loops: each step slices its inputs, and the results
    of the steps are concatenated. If a loop is too long for one kernel and its
    dimension is not the outermost, as in `x[:, t]`, the value is permuted once
    before the loop, and the concatenation once after it. A step then reads and
    writes a contiguous part of memory, and the steps can share kernels.

    A loop of 40 steps,

    ```mlir
    func.func @loop(%arg0: tensor<2x40x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x40x8xf32> {
      %0 = fact.slice %arg0 dim 1 start 0 : (tensor<2x40x8xf32>) -> tensor<2x1x8xf32>
      %1 = fact.reshape %0 : (tensor<2x1x8xf32>) -> tensor<2x8xf32>
      %2 = fact.mul %1, %arg1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %3 = fact.add %2, %arg1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %4 = fact.tanh %3 : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %5 = fact.reshape %4 : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %6 = fact.slice %arg0 dim 1 start 1 : (tensor<2x40x8xf32>) -> tensor<2x1x8xf32>
      ...
      %240 = fact.concat %5, %11, ... dim 1 : ... -> tensor<2x40x8xf32>
      return %240 : tensor<2x40x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @loop(%arg0: tensor<2x40x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x40x8xf32> {
      %0 = fact.permute %arg0 [1, 0, 2] : (tensor<2x40x8xf32>) -> tensor<40x2x8xf32>
      %1 = fact.slice %0 dim 0 start 0 : (tensor<40x2x8xf32>) -> tensor<1x2x8xf32>
      %2 = fact.reshape %1 : (tensor<1x2x8xf32>) -> tensor<2x1x8xf32>
      %3 = fact.reshape %2 : (tensor<2x1x8xf32>) -> tensor<2x8xf32>
      %4 = fact.mul %3, %arg1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %5 = fact.add %4, %arg1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %6 = fact.tanh %5 : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %7 = fact.reshape %6 : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
      %8 = fact.slice %0 dim 0 start 1 : (tensor<40x2x8xf32>) -> tensor<1x2x8xf32>
      ...
      %281 = fact.reshape %7 : (tensor<2x1x8xf32>) -> tensor<1x2x8xf32>
      %282 = fact.reshape %14 : (tensor<2x1x8xf32>) -> tensor<1x2x8xf32>
      ...
      %321 = fact.concat %281, %282, ... dim 0 : ... -> tensor<40x2x8xf32>
      %322 = fact.permute %321 [1, 0, 2] : (tensor<40x2x8xf32>) -> tensor<2x40x8xf32>
      return %322 : tensor<2x40x8xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"loops", "values-permuted", "Values permuted before a loop">,
    Statistic<"joins", "joins-permuted", "Concatenations permuted after a loop">
  ];
}

def HoistPrepare : Pass<"fact-hoist-prepare", "::mlir::func::FuncOp"> {
  let summary = "Move functions of weights into `fact.prepare`";
  let description = [{
    Ops that depend on weights and constants alone run when weights are loaded.
    Views of a weight stay where they are, since they cost nothing. An earlier
    `fact.prepare` becomes a part of the new one.
  }];
}

def FoldNorms : Pass<"fact-fold-norms", "::mlir::func::FuncOp"> {
  let summary = "Fold norms into the products that read them";
  let description = [{
    A norm that only products with weights read becomes statistics of its rows,
    one or two numbers each. The products then read the rows as they are: the
    norm's scale is multiplied into the weights, its bias times the weights is a
    summand, and what the statistics say of a row is applied to the product. The
    normalized rows are neither written nor read again. Functions of weights are
    left to `fact-hoist-prepare`.

    ```mlir
    fact.weight @g : tensor<8xf32>
    fact.weight @w : tensor<16x8xf32>
    func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
      %g = fact.get_weight @g : tensor<8xf32>
      %w = fact.get_weight @w : tensor<16x8xf32>
      %n = fact.norm rms %x weight %g eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
      %y = fact.matmul %n, %w transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    becomes
    ```mlir
    fact.weight @g : tensor<8xf32>
    fact.weight @w : tensor<16x8xf32>
    func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
      %g = fact.get_weight @g : tensor<8xf32>
      %w = fact.get_weight @w : tensor<16x8xf32>
      %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
      %eps = fact.constant dense<1.0e-5> : tensor<f32>
      %2 = fact.add %1, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
      %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
      %4 = fact.mul %w, %g : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16x8xf32>
      %5 = fact.matmul %x, %4 transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %y = fact.mul %5, %3 : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    A layer norm also subtracts the mean times the sums of the rounded weights
    from the product. That cancels where a mean is far from zero, so layer norms
    are folded in bf16 alone, whose rounding is coarser than what is lost; RMS
    norms in bf16 and f32. Norms in f16 stay: a weight times the scale may be
    out of its range.

    Of a module whose ops are grouped, the kernels of such norms and of the
    products that read them are opened, and `fact-discover` groups their ops
    again. All other kernels stay.
  }];
  let statistics = [
    Statistic<"folded", "norms-folded", "Norms folded into products">];
  let dependentDialects = ["::fact::FactDialect"];
}

//===----------------------------------------------------------------------===//
// Discovering
//===----------------------------------------------------------------------===//

def AnnotateSpeedOfLight : Pass<"fact-annotate-sol", "::mlir::ModuleOp"> {
  let summary = "Annotate each op with its speed of light";
  let description = [{
    Sets `fact.sol` on every op that computes and on every `fact.fused`: its
    floating-point operations by type, the bytes that it must move, and the
    least time in microseconds that both allow on the machine.

    `fact-translate --fact-to-sol` prints the same as a table, with the time of
    one kernel per op.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "Machine, or a .json file that describes one; default: the module's "
           "fact.target, else host">];
  let dependentDialects = ["::fact::FactDialect"];
}

def InlineFused : Pass<"fact-inline-fused"> {
  let summary = "Replace each `fact.fused` by its region";
  let description = [{
    Always correct, since the region defines what the op computes.
  }];
}

#endif // FACT_TRANSFORMS_PASSES_TD
