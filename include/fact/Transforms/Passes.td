//===- Passes.td - FACT's own passes ------------------------*- tablegen -*-===//

#ifndef FACT_TRANSFORMS_PASSES_TD
#define FACT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Raising
//===----------------------------------------------------------------------===//

def FoldViews : Pass<"fact-fold-views"> {
  let summary = "Fold views and casts into the ops that use them";
  let description = [{
    A transpose of the last two dimensions becomes a flag of `fact.matmul`, an
    explicit broadcast becomes the implicit one of a pointwise op, and a cast
    that a wider cast undoes disappears.

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

def NormaliseRows : Pass<"fact-normalise-rows"> {
  let summary = "Make every softmax and reduction one of trailing dimensions";
  let description = [{
    Kernels for rows take rows that are contiguous. A softmax or a reduction
    over other dimensions is permuted so that these come last.
  }];
}

def RaiseNorms : Pass<"fact-raise-norms"> {
  let summary = "Recognise norms that are written out";
  let description = [{
    `x * rsqrt(mean(x * x) + eps) * weight` becomes `fact.norm rms`.
  }];
  let statistics = [Statistic<"raised", "norms-raised", "Norms recognised">];
}

def RaiseAttention : Pass<"fact-raise-attention", "::mlir::ModuleOp"> {
  let summary = "Recognise attention that is written out";
  let description = [{
    `softmax(q k^T * scale + mask) v` becomes `fact.attention`. A mask whose
    value is known and equals the causal one becomes `causal`, and the weight
    that it came from is baked; another mask stays an operand. Keys and values
    that are repeated over groups of query heads are read once.

    ```mlir
    %0 = fact.matmul %q, %k transpose_b : ...
    %1 = fact.mul %0, %scale : ...
    %2 = fact.select %mask, %infinity, %1 : ...
    %3 = fact.softmax %2 dim 3 : ...
    %4 = fact.matmul %3, %v : ...
    ```
    becomes
    ```mlir
    %4 = fact.attention %q, %k, %v causal scale 1.250000e-01 : ...
    ```
  }];
  let statistics = [
    Statistic<"raised", "attention-raised", "Attentions recognised">,
    Statistic<"causal", "masks-proven-causal", "Masks proven causal">];
}

def HoistPrepare : Pass<"fact-hoist-prepare", "::mlir::func::FuncOp"> {
  let summary = "Move functions of weights into `fact.prepare`";
  let description = [{
    Whatever depends on weights and constants alone is computed when weights
    are loaded. Views of a weight stay where they are: they cost nothing.
  }];
}

//===----------------------------------------------------------------------===//
// Discovering
//===----------------------------------------------------------------------===//

def Discover : Pass<"fact-discover", "::mlir::ModuleOp"> {
  let summary = "Group ops into the kernels that will run them";
  let description = [{
    An agent proposes groups of ops, each with the rule that should realise it;
    the Fusibility analysis checks each proposal against what the target can
    emit, and accepted groups become `fact.fused` regions with a space to
    search. A remark says why a proposal was rejected. An op that ends up in no
    kernel is an error that lists what each rule of the target says of it. An
    output that is an input, a weight or another output too is copied.
  }];
  let options = [
    Option<"agent", "agent", "std::string", "\"rules\"",
           "Who proposes: rules">,
    Option<"target", "target", "std::string", "\"\"",
           "Machine to compile for; default: the module's fact.target, else host">];
  let statistics = [
    Statistic<"proposed", "subgraphs-proposed", "Subgraphs proposed">,
    Statistic<"accepted", "subgraphs-accepted", "Subgraphs accepted">,
    Statistic<"rejected", "subgraphs-rejected", "Subgraphs rejected">];
  let dependentDialects = ["::fact::FactDialect"];
}

def InlineFused : Pass<"fact-inline-fused"> {
  let summary = "Replace each `fact.fused` by its region";
  let description = [{
    The fallback that is always correct: the region is what the op computes.
  }];
}

#endif // FACT_TRANSFORMS_PASSES_TD
