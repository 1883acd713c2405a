//===- FactModuleOps.td - Weights, constants, fused regions -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTMODULEOPS_TD
#define FACT_DIALECT_FACT_FACTMODULEOPS_TD

include "fact/Dialect/Fact/FactOpBase.td"

def Fact_WeightOp : Fact_Op<"weight", [Symbol]> {
  let summary = "named parameter or buffer of the module";
  let description = [{
    Declares shape and type. The data is looked up by name when a model is
    created and can be swapped later. A small buffer whose contents can change
    how the graph is compiled, such as a mask, carries its `value`. Once the
    compiler has used the value, the weight is `baked`: loading another value is
    an error.

    ```mlir
    fact.weight @up.weight : tensor<3072x768xbf16>
    fact.weight @causal baked = dense<true> : tensor<4x4xi1>
    ```

    Constraints:
    - (C1) `value`, where present, has the declared type.
    - (C2) a `baked` weight has a value.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Fact_Tensor>:$type,
                       OptionalAttr<ElementsAttr>:$value, UnitAttr:$baked);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fact_GetWeightOp : Fact_TensorOp<"get_weight",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let description = [{
    ```mlir
    %w = fact.get_weight @up.weight : tensor<3072x768xbf16>
    ```

    Constraints:
    - (C1) `weight` names a `fact.weight` of the result's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Fact_ConstantOp : Fact_TensorOp<"constant",
    [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "tensor known at compile time";
  let description = [{
    ```mlir
    %c = fact.constant dense<5.0e-01> : tensor<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Fact_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Fact_PrepareOp : Fact_Op<"prepare",
    [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "functions of weights, computed when weights are loaded";
  let description = [{
    Holds the ops that depend on weights and constants alone. It runs when a
    model is created and after each change of its weights, not on each call.

    ```mlir
    %w = fact.prepare {
      %0 = fact.get_weight @q : tensor<8x8xf32>
      %1 = fact.get_weight @k : tensor<8x8xf32>
      %2 = fact.concat %0, %1 dim 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
      fact.yield %2 : tensor<16x8xf32>
    } : tensor<16x8xf32>
    ```

    Constraints:
    - (C1) the yielded types are the result types.
  }];
  let results = (outs Variadic<Fact_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<IsolatedBody>($body) attr-dict (`:` type($results)^)?";
  let hasVerifier = 1;
}

def Fact_FusedOp : Fact_Op<"fused",
    [Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "subgraph that becomes one kernel";
  let description = [{
    The region holds the ops that it replaces. It is the specification of the
    kernel, and inlining it is always correct. `rule` names the kind of fusion,
    `strategy` the registry entry that the kernel builds on, `space` the
    schedules to search, and `schedule` the one that the search chose.
    `priority` is the number that the agent gave its proposal.

    ```mlir
    %h = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<64x32xf32>, tensor<16x32xf32>, tensor<16xf32>) {
    ^bb0(%a: tensor<64x32xf32>, %c: tensor<16x32xf32>, %d: tensor<16xf32>):
      %0 = fact.matmul %a, %c transpose_b : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
      %1 = fact.add %0, %d : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32>
      fact.yield %1 : tensor<64x16xf32>
    } : tensor<64x16xf32>
    ```

    Constraints:
    - (C1) the block's arguments have the operands' types.
    - (C2) the yielded types are the result types.
    - (C3) `schedule` is a schedule and `space` a space.
  }];
  let arguments = (ins StrAttr:$rule, Variadic<Fact_Tensor>:$inputs,
                       OptionalAttr<Fact_StrategyAttr>:$strategy,
                       OptionalAttr<AnyAttr>:$space, OptionalAttr<AnyAttr>:$schedule,
                       OptionalAttr<I64Attr>:$priority);
  let results = (outs Variadic<Fact_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $rule (`ins` `(` $inputs^ `:` type($inputs) `)`)? custom<IsolatedBody>($body)
    (`strategy` `(` $strategy^ `)`)? (`space` `(` $space^ `)`)?
    (`schedule` `(` $schedule^ `)`)? (`priority` `(` $priority^ `)`)? attr-dict `:` type($results)
  }];
  let extraClassDeclaration = [{
    /// The ops of the region without its terminator.
    auto getBodyOps() { return getBody().front().without_terminator(); }
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
  }];
  let hasVerifier = 1;
}

def Fact_YieldOp : Fact_Op<"yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["FusedOp", "PrepareOp"]>]> {
  let summary = "the results of a fused or prepare region";
  let description = [{
    In a `fact.fused`, values are rounded to their storage type here.
  }];
  let arguments = (ins Variadic<Fact_Tensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // FACT_DIALECT_FACT_FACTMODULEOPS_TD
