//===- Sm90Schedules.cpp - Schedules of Hopper's kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sm90Schedules.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// sm90_gemm
//===----------------------------------------------------------------------===//

const ScheduleKind Sm90GemmAttr::kind{
    "sm90_gemm",
    "a warp-specialized Hopper GEMM of f16, bf16 or f32",
    {Parameter::extents(
         "tile",
         "M x N x K of a block (of all products side by side where there are "
         "several)",
         {{"M", Sizes::oneOf({64, 128, 192, 256})},
          {"N", Sizes::multiplesOf(16, 256)},
          {"K", Sizes::multiplesOf(16, 1024)}}),
     Parameter::extents(
         "cluster", "blocks that share operands, M x N",
         {{"M", Sizes::oneOf({1, 2, 4})}, {"N", Sizes::oneOf({1, 2, 4})}}),
     Parameter::word(
         "kernel",
         "cooperative: two warpgroups share a tile, for large tiles; pingpong: "
         "they take turns on tiles, which hides the epilogue, for many small "
         "tiles and heavy epilogues; stream_k: cooperative with K split over "
         "blocks, for few output tiles and a long K",
         {"cooperative", "pingpong", "stream_k"}),
     Parameter::number("swizzle",
                       "tile columns visited together; more than 1 helps only "
                       "where N is 4096 or more",
                       Sizes::oneOf({1, 2, 4, 8}))},
    "K of 64 is best, of 32 for f32. Tile M is 128 or 256 unless pingpong. N "
    "of the tile is a "
    "multiple of 32 for gated_gemm. Accumulators take M*N/128 registers per "
    "thread (pingpong) or M*N/256 (cooperative, stream_k), twice as many for "
    "f32 without tf32, at most 128. A cluster has at most 4 blocks. stream_k "
    "is for one matmul without a reduce. Two stages of (M + N)*K elements, and "
    "16 KB for each result and for two more (32 KB for f32), fit into shared "
    "memory. For f32 without tf32, a stage has (M + 2*N)*K elements where M is "
    "128, K is 32 and the kernel is not pingpong; otherwise there are four "
    "stages. Rows of 16-bit factors and of all results begin at multiples of "
    "16 bytes, as TMA needs them. Where rows are "
    "windows of images, the channels of a pixel, or of a group of them, are "
    "contiguous multiples of 16 bytes, batches are groups and f32 is tf32.",
    {"128x128x64", "128x256x64"},
    /*adjust=*/nullptr,
    "49_hopper_gemm_with_collective_builder"};

//===----------------------------------------------------------------------===//
// sm90_attention
//===----------------------------------------------------------------------===//

const ScheduleKind Sm90AttentionAttr::kind{
    "sm90_attention",
    "a warp-specialized Hopper attention of f16 or bf16",
    {Parameter::extents("tile", "queries x keys of a block",
                        {{"queries", Sizes::oneOf({128, 192})},
                         {"keys", Sizes::oneOf({32, 64, 96, 128, 192, 256})}}),
     Parameter::word("kernel",
                     "cooperative: two warpgroups share a tile; pingpong: they "
                     "take turns",
                     {"cooperative", "pingpong"}),
     // The next key tile is loaded before this one's value tile is released:
     // two stages would deadlock.
     Parameter::number("stages", "depth of the key and value pipeline",
                       Sizes::between(3, 8))},
    "Where the mask is causal, one tile size divides the other. Keys and "
    "values "
    "have one head dimension, a multiple of 8 up to 128. There are more than "
    "16 "
    "queries. (queries + stages*keys)*head elements, the head rounded up to a "
    "multiple of 32, fit into shared memory.",
    {"128x128", "128x64"},
    /*adjust=*/nullptr,
    "88_hopper_fmha"};

//===----------------------------------------------------------------------===//
// sm90_strict_attention
//===----------------------------------------------------------------------===//

const ScheduleKind Sm90StrictAttentionAttr::kind{
    "sm90_strict_attention",
    "a warp-specialized Hopper attention of f32 without tf32",
    {Parameter::extents("tile",
                        "queries x keys of a block, with 64 queries per "
                        "warpgroup; the queries "
                        "are those of all heads that share a head of keys",
                        {{"queries", Sizes::oneOf({64, 128})},
                         {"keys", Sizes::oneOf({32, 64})}}),
     Parameter::number("stages",
                       "tiles of keys and values in shared memory; with one, "
                       "keys are copied while values are multiplied, and "
                       "values while keys are. Heads of more than 128 elements "
                       "are in panels, of which a stage holds two",
                       Sizes::between(1, 6)),
     Parameter::number("splits",
                       "blocks that share the keys of one tile of queries, for "
                       "few queries and many keys",
                       Sizes::between(1, 128))},
    "Heads have up to 256 elements. More than 32 queries read one head of "
    "keys. "
    "Tiles of keys are at least as many as splits. 4*head*queries + "
    "stages*8*keys*(head + value head) bytes, the head rounded up to a "
    "multiple "
    "of 8 and that of values to one of 32, fit into shared memory. Where one "
    "of them has more than 128 elements, it is rounded up to a multiple of 32 "
    "and is in panels of 64 elements (of 32 if 64 do not divide it), tiles "
    "have 32 keys, and a stage takes 2*8*keys*(the larger panel) bytes. A "
    "first "
    "kernel splits keys and values into workspace of twice their size.",
    {"128x64", "128x32"}};
