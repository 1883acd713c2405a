//===- Passes.td - FACT's own passes ------------------------*- tablegen -*-===//
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

def NormalizeRows : Pass<"fact-normalize-rows"> {
  let summary = "Make every softmax and reduction one of trailing dimensions";
  let description = [{
    Kernels for rows take rows that are contiguous. A softmax or a reduction
    over other dimensions is permuted so that these come last.

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
    weight and a bias after it join it. `eps` elsewhere, or a variance over
    `n - 1`, is something else and stays.

    A norm computed in f32 between casts stays in f32, with its casts: what
    rounds before a weight is multiplied still does.

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
    element and a stack. The form that multiplies both parts of pairs with
    angles of half the width and joins them is recognized too; its angles are
    joined. Parts are compared as strided views of one tensor.

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
    `softmax(q k^T * scale + mask) v` becomes `fact.attention`. Factors may
    stand before or after the product, masks may be added or chosen, in any
    number; leading dimensions may be any. Casts that lose nothing are seen
    through, so a softmax in f32 between 16-bit products is recognized; its
    result rounds as a contraction's operand does. Scores that are needed
    elsewhere stay.

    A choice (`where`, `masked_fill`) becomes a summand when what it fills in
    hides a score for certain: `-inf`, the lowest finite number of the scores'
    type, or anything below -2^100. `-1e9` does not, and stays.

    Keys and values that are repeated over groups of query heads are read once.

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
  let summary = "Replace masks whose value is known by what they mean";
  let description = [{
    A mask, or a part of it, that constants and weights with data determine is
    evaluated. The causal one becomes the flag `causal`, one that hides nothing
    goes, and the weights that were read are baked. Another mask stays an
    operand. A mask is evaluated once, however many attentions use it.

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
  let summary = "Make two products of one that computes a gate and what it gates";
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
  let summary = "Make one product of those that project one value";
  let description = [{
    Products of one value with weights become one product with the weights
    concatenated, and its results slices of that: the value is read once, and a
    wide product fills the machine better than several narrow ones. Concatenated
    weights are functions of weights alone, so `fact-hoist-prepare` moves them to
    load. Biases are concatenated alike; products with and without a bias are
    not merged with each other.

    ```mlir
    %q = fact.matmul %x, %wq transpose_b : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %k = fact.matmul %x, %wk transpose_b : (tensor<2x8x16xf32>, tensor<4x16xf32>) -> tensor<2x8x4xf32>
    ```
    becomes
    ```mlir
    %w = fact.concat %wq, %wk dim 0 : (tensor<16x16xf32>, tensor<4x16xf32>) -> tensor<20x16xf32>
    %0 = fact.matmul %x, %w transpose_b : (tensor<2x8x16xf32>, tensor<20x16xf32>) -> tensor<2x8x20xf32>
    %q = fact.slice %0 dim 2 start 0 : (tensor<2x8x20xf32>) -> tensor<2x8x16xf32>
    %k = fact.slice %0 dim 2 start 16 : (tensor<2x8x20xf32>) -> tensor<2x8x4xf32>
    ```

    Only what attention reads is merged, with views and a rotary embedding on
    the way: these read slices in place. Any other reader either could have been
    the epilogue of a product of its own (a pointwise op), or would need the
    slice copied (another product's operand, an output).
  }];
  let statistics = [
    Statistic<"merged", "projections-merged", "Products merged into others">];
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

/// Of every pass with an agent; the options also of fact-compile. Defaults are
/// those of LanguageModelOptions.
class ModelOption<string member, string argument, string type, string help>
    : Option<member, argument, type,
             "::fact::LanguageModelOptions()." # member, help>;
defvar agentOptions = [
  Option<"agent", "agent", "std::string", "\"rules\"",
         "Who proposes kernels: rules, llm, or replay of a transcript">,
  Option<"transcript", "transcript", "std::string", "\"\"",
         "File that llm writes (default: in the user's cache) and replay reads">,
  ModelOption<"url", "llm-url", "std::string",
              "OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1">,
  ModelOption<"model", "llm-model", "std::string", "Model to ask for">,
  ModelOption<"keyVariable", "llm-key-env", "std::string",
              "Environment variable with the endpoint's key; default: FACT_LLM_KEY">,
  ModelOption<"keyFile", "llm-key-file", "std::string",
              "File with the key, where the variable is not set">,
  ModelOption<"rounds", "llm-rounds", "unsigned",
              "Maximum requests per graph, those that return diagnostics "
              "included; default: 3">,
  ModelOption<"timeout", "llm-timeout", "double",
              "Maximum seconds per request; default: 180">,
  ModelOption<"budget", "llm-seconds", "double",
              "Maximum seconds for all requests of a run; default: 900">,
  ModelOption<"retries", "llm-retries", "unsigned",
              "Retries per request after 429, 5xx or a lost connection; "
              "default: 4">,
  ModelOption<"answerTokens", "llm-answer-tokens", "unsigned",
              "Maximum tokens per answer; default: 8192">,
  ModelOption<"tokenBudget", "llm-tokens", "int64_t",
              "Maximum tokens of all requests and answers of a run; default: "
              "400000">,
  ModelOption<"answerBytes", "llm-answer-bytes", "size_t",
              "Maximum bytes per answer; default: 4 MiB">];
defvar agentStatistics = [
  Statistic<"calls", "llm-calls", "Requests to a model">,
  Statistic<"sendings", "llm-retries", "Requests sent again">,
  Statistic<"tokensIn", "llm-tokens-in", "Tokens of requests">,
  Statistic<"tokensOut", "llm-tokens-out", "Tokens of answers">];

/// Packaged LLVMs are built without statistics.
defvar statisticsOption = [
  Option<"printsStatistics", "statistics", "bool", "false",
         "Print the statistics, as --mlir-pass-statistics does where LLVM was "
         "built with them">];

def Discover : Pass<"fact-discover", "::mlir::ModuleOp"> {
  let summary = "Group ops into the kernels that will run them";
  let description = [{
    An agent proposes groups of ops, each with the rule that should realise it;
    the Fusibility analysis checks each proposal against what the target can
    emit, and accepted groups become `fact.fused` regions with a space to
    search. What an agent leaves over is covered by the rules. A remark says
    what was accepted, and why a proposal was rejected. An op that ends up in no
    kernel is an error that lists what each rule of the target says of it. An
    output that is an input, a weight or another output too is copied.

    A `fact.fused` that is there already is checked the same way: its rule, its
    region, its schedule or space, on this target. What is beside it is covered.

    `agent=rules` is offline and deterministic. `agent=llm` asks a language model
    behind an OpenAI-compatible endpoint and writes a transcript, which
    `agent=replay` repeats offline; docs/agents.md describes both. Passes of one
    process with the same transcript are one run: they add to it.
  }];
  let options = !listconcat(agentOptions, statisticsOption, [
    Option<"target", "target", "std::string", "\"\"",
           "Machine to compile for, or a .json file that describes one; default: "
           "the module's fact.target, else host">,
    ListOption<"patterns", "patterns", "std::string",
               "Folders of the registry, upper layers first; default: the user's "
               "and the built-in one">]);
  let statistics = !listconcat(agentStatistics, [
    Statistic<"proposed", "subgraphs-proposed", "Subgraphs proposed">,
    Statistic<"accepted", "subgraphs-accepted", "Subgraphs accepted">,
    Statistic<"rejected", "subgraphs-rejected", "Subgraphs rejected">,
    Statistic<"rejectedByRule", "rejected-by-rule", "Rejected by a realiser, or no such rule">,
    Statistic<"rejectedByGraph", "rejected-by-graph", "Rejected by the graph around them">,
    Statistic<"rejectedBySpace", "rejected-by-space", "Rejected for want of a legal schedule">,
    Statistic<"rejectedByReading", "rejected-by-reading", "Rejected because they could not be read">,
    Statistic<"covered", "subgraphs-covered", "Subgraphs by the rules for what an agent left over">,
    Statistic<"milliseconds", "milliseconds", "Milliseconds that discovery took">]);
  let dependentDialects = ["::fact::FactDialect"];
}

def Refine : Pass<"fact-refine", "::mlir::ModuleOp"> {
  let summary = "Search again where there is most to gain";
  let description = [{
    Reads what `fact-tune` measured of the module's kernels. A kernel within
    `1 + eps` of the speed of light, or with `window` attempts without gain, is
    done: it gets its best schedule. Of the others, those with the most to gain
    get a space of legal schedules that were not tried: what the agent proposes,
    else the neighbors of the best. Bundling and tuning the result is one round
    of refinement; `fact-compile --refine=N` does N.
  }];
  let options = !listconcat(agentOptions, statisticsOption, [
    Option<"bundle", "bundle", "std::string", "\"\"", "The bundle that was tuned">,
    Option<"results", "results", "std::string", "\"\"",
           "A tuning.json of the bundle from elsewhere; default: its own results">,
    Option<"eps", "eps", "double", "0.25",
           "Done within this share above the speed of light">,
    Option<"window", "window", "unsigned", "12", "Done after so many attempts without gain">,
    Option<"kernels", "kernels", "unsigned", "4", "Kernels of a round at most">,
    Option<"points", "points", "unsigned", "6", "New schedules of a kernel at most">]);
  let statistics = !listconcat(agentStatistics, [
    Statistic<"nominated", "kernels-nominated", "Kernels searched again">,
    Statistic<"withinEps", "kernels-within-eps", "Kernels within eps of the speed of light">,
    Statistic<"withoutGain", "kernels-without-gain", "Kernels without gain for a window">,
    Statistic<"pointsStatistic", "points", "New schedules">]);
  let dependentDialects = ["::fact::FactDialect"];
}

def AnnotateSpeedOfLight : Pass<"fact-annotate-sol", "::mlir::ModuleOp"> {
  let summary = "Write the speed of light beside each op";
  let description = [{
    Sets `fact.sol` on every op that works and on every `fact.fused`: its
    floating-point operations by type, the bytes that it must move, and the
    least microseconds that both allow on the machine.

    `fact-translate --fact-to-sol` prints the same as a table, with what an op a
    kernel would take.
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
    The fallback that is always correct: the region is what the op computes.
  }];
}

#endif // FACT_TRANSFORMS_PASSES_TD
