//===- Rules.cpp - The rules that FACT brings -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Rules.h"

using namespace fact;

const Rule fact::gemmEpilogueRule{
    "gemm_epilogue",
    "One `matmul`, the views before it, and any graph of pointwise ops after "
    "it: bias (a vector), residual (the result's shape), scale, activation, "
    "casts, several results. Also a `reduce` (not argmax or argmin) of whole "
    "rows or whole columns, and pointwise ops on what is reduced. Other "
    "operands broadcast to the result. Gain: the product and everything "
    "between is not stored. Not in it: a second matmul, a softmax or norm, an"
    " op that reads both the product and a reduction of it."};

const Rule fact::gatedGemmRule{
    "gated_gemm",
    "Two `matmul` of one lhs with weights of one type, and the pointwise ops "
    "that make one result of both products: silu(x g^T) * (x u^T). Gain: x is"
    " read once and neither product is stored. Best where both weights are "
    "`w:` or `p`."};

const Rule fact::groupedGemmRule{
    "grouped_gemm",
    "Several `matmul` of one lhs with different weights, each with its own "
    "pointwise ops and its own results. Gain: x is read once, and one wide "
    "product fills the machine."};

const Rule fact::attentionRule{
    "attention",
    "One `attention`, causal or not, with a mask operand or without, the "
    "views before it (slices of a packed QKV, reshape, permute, a mask that "
    "broadcasts) and the permute and reshape after it, which it writes in "
    "place. Gain: no layout change is a copy."};

const Rule fact::rowwiseRule{
    "rowwise",
    "`norm`, `softmax` or `reduce` over the last dimensions, the pointwise "
    "ops before it (a residual add) and after it, several results. Gain: rows"
    " stay on the chip."};

const Rule fact::pointwiseRule{
    "pointwise",
    "Pointwise ops and views of one shape, as many as possible. For what no "
    "other rule takes."};

const Rule fact::concatRule{
    "concat",
    "One `concat` and pointwise ops on its pieces."};

const Rule fact::genericRule{
    "generic",
    "Any one op; slow. The last resort."};
