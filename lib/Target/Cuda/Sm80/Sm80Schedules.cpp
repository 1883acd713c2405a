//===- Sm80Schedules.cpp - Schedules of sm_80's GEMMs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sm80Schedules.h"

using namespace mlir;
using namespace fact;

const ScheduleKind Sm80GemmAttr::kind{
    "sm80_gemm",
    "a GEMM through mma.sync or on the f32 units, of f16, bf16 or f32 in any "
    "layout",
    {Parameter::extents("tile", "M x N x K of a block",
                        {{"M", Sizes::oneOf({16, 32, 64, 128, 256})},
                         {"N", Sizes::oneOf({16, 32, 64, 128, 256})},
                         {"K", Sizes::oneOf({16, 32, 64, 128})}}),
     Parameter::extents("warps", "warps that share a tile, M x N",
                        {{"M", Sizes::oneOf({1, 2, 4, 8})},
                         {"N", Sizes::oneOf({1, 2, 4, 8})}}),
     Parameter::number("stages", "tiles of K in shared memory",
                       Sizes::between(2, 8)),
     Parameter::number("split_k",
                       "blocks that divide K, whose sums a second kernel adds; "
                       "for few tiles and a long K",
                       Sizes::between(1, 128)),
     Parameter::word(
         "math",
         "mma: matrix units, three products of TF32 for f32 without "
         "tf32; simt: fused multiply-adds on the f32 units, for f32 "
         "without tf32 where they are faster than that, as on "
         "sm_86, sm_89 and sm_120",
         {"mma", "simt"})},
    "K of 32 or 64 is best, of 16 or 32 for f32. A warp has a multiple of 16 "
    "of "
    "the tile's rows and columns, and with simt 32 of one of them; 64x32 and "
    "64x64 need the fewest loads. Sums take M*N/threads registers per thread, "
    "twice as many for gated_gemm and for f32 without tf32 by mma, at most "
    "128, "
    "or 64 with simt. Each of split_k has a tile of K. stages * ((M + N)*K "
    "elements and 16 bytes per row), and M*N*4 bytes, fit into shared memory.",
    {"128x128x32", "64x64x64"}};
