//===- AttentionSchedule.cpp - Schedules of sm_80's attention -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionSchedule.h"

using namespace mlir;
using namespace fact;

const ScheduleKind Sm80AttentionAttr::kind{
    "sm80_attention",
    "an attention of f16, bf16 or f32 by mma.sync, for compute capability 8.0 "
    "and later",
    {Parameter::extents(
         "tile",
         "queries x keys of a block; the queries are those of all heads that "
         "share a head of keys",
         {{"queries", Sizes::oneOf({16, 32, 64, 128})},
          {"keys", Sizes::oneOf({16, 32, 64, 128})}}),
     Parameter::number("warps",
                       "warps of a block; each has 16 of its queries, or 32, "
                       "which read keys and values once",
                       Sizes::oneOf({1, 2, 4, 8})),
     Parameter::number("stages",
                       "tiles of keys and values in shared memory; with one, "
                       "only other blocks hide its copies",
                       Sizes::between(1, 4)),
     Parameter::number("splits",
                       "blocks that share the keys of one tile of queries, for "
                       "few queries and many keys",
                       Sizes::between(1, 128))},
    "Heads have up to 256 elements. A thread's sums take (queries / warps / "
    "32)*(value head + keys) registers, with keys counted twice for f32 "
    "without "
    "tf32, at most 192, or 160 for f32. Tiles of keys are at least as many as "
    "splits. (queries + stages*keys) rows of keys and stages*keys rows of "
    "values, each rounded up to 32 bytes plus 16, fit into shared memory.",
    {"64x64", "128x64"}};
