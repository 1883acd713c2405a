//===- Sm100Schedules.cpp - Schedules of Blackwell's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sm100Schedules.h"

using namespace mlir;
using namespace fact;

const ScheduleKind Sm100GemmAttr::kind{
    "sm100_gemm",
    "a GEMM of f16 or bf16 through Blackwell's tcgen05",
    {Parameter::extents("tile", "M x N x K of a block",
                        {{"M", Sizes::oneOf({64, 128})},
                         {"N", Sizes::oneOf({64, 128, 192, 256})},
                         {"K", Sizes::oneOf({32, 64, 128})}}),
     Parameter::extents(
         "cluster", "blocks that share operands, M x N",
         {{"M", Sizes::oneOf({1, 2, 4})}, {"N", Sizes::oneOf({1, 2, 4})}}),
     Parameter::word("kernel",
                     "two_sm: two multiprocessors multiply two tiles together "
                     "and share their columns of B, for many tiles; one_sm: "
                     "each multiplies its own",
                     {"one_sm", "two_sm"}),
     Parameter::number("swizzle",
                       "tile columns visited together; more than 1 helps only "
                       "where N is 4096 or more",
                       Sizes::oneOf({1, 2, 4, 8}))},
    "K of 64 is best. two_sm needs tile M of 128 and an even cluster M. A "
    "cluster has at most 4 blocks. Two stages of (M + N)*K elements (of M + "
    "N/2 for two_sm), and M x 64 elements (M x 32 of f32, and where N is 128 "
    "or "
    "less) four times for each matrix that the epilogue reads and twice for "
    "each result, fit into shared memory. Rows of factors and results begin "
    "at multiples of 16 bytes, as TMA needs them.",
    {"128x256x64", "128x128x64"},
    /*adjust=*/nullptr,
    "71_blackwell_gemm_with_collective_builder"};
