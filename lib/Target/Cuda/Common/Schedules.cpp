//===- Schedules.cpp - Schedules of kernels for all GPUs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Schedules.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// cublas_gemm
//===----------------------------------------------------------------------===//

const ScheduleKind CublasGemmAttr::kind{
    "cublas_gemm",
    "the vendor's GEMM (cuBLASLt)",
    {},
    "The region is one matmul and nothing else. It is tried beside every space "
    "of such a region.",
    {}};

CublasGemmAttr CublasGemmAttr::get(MLIRContext *context) {
  return cast<CublasGemmAttr>(ScheduleAttr::get(context, &kind, {}));
}

//===----------------------------------------------------------------------===//
// cuda_row
//===----------------------------------------------------------------------===//

const ScheduleKind CudaRowAttr::kind{
    "cuda_row",
    "one pass over rows that stay in registers",
    {Parameter::number("threads", "threads of one row",
                       Sizes::between(1, 1024)),
     Parameter::number("rows", "rows of one block", Sizes::between(1, 1024))},
    "A thread holds at most 64 elements of its row. A row has whole warps, or "
    "a power of two of a warp's threads; a block has whole warps. More than "
    "one row per block needs at most 32 threads per row. The region has "
    "exactly one norm, softmax or reduce.",
    {"64", "128"}};

//===----------------------------------------------------------------------===//
// cuda_pointwise
//===----------------------------------------------------------------------===//

const ScheduleKind CudaPointwiseAttr::kind{
    "cuda_pointwise",
    "one pass over elements",
    {Parameter::number("threads", "threads of a block",
                       Sizes::multiplesOf(32, 1024)),
     Parameter::number("vector", "elements per load",
                       Sizes::oneOf({1, 2, 4, 8}))},
    "",
    {"128", "256"}};

//===----------------------------------------------------------------------===//
// cuda_tile
//===----------------------------------------------------------------------===//

const ScheduleKind CudaTileAttr::kind{
    "cuda_tile",
    "one pass over tiles that pass through shared memory",
    {Parameter::number("rows", "neighbors in transposed operands",
                       Sizes::oneOf({16, 32, 64, 128, 256, 512})),
     Parameter::number("columns", "neighbors in the results",
                       Sizes::oneOf({16, 32, 64, 128, 256, 512})),
     Parameter::number("threads", "threads of a block",
                       Sizes::multiplesOf(32, 1024))},
    "For regions with operands whose neighbors in memory are not neighbors in "
    "the results. Where one side has fewer elements, a tile has more of the "
    "other. A thread loads at most 256 bytes of its tile.",
    {"64", "64"}};

//===----------------------------------------------------------------------===//
// cuda_thin
//===----------------------------------------------------------------------===//

const ScheduleKind CudaThinAttr::kind{
    "cuda_thin",
    "one pass over the wide factor of a thin product",
    {Parameter::number("lanes", "threads that share a sum",
                       Sizes::oneOf({1, 2, 4, 8, 16, 32, 64, 128, 256})),
     Parameter::number("splits", "blocks that share a sum",
                       Sizes::between(1, 1024))},
    "Each lane of each split has at least one term of the sum.",
    {"32", "1"}};

//===----------------------------------------------------------------------===//
// cuda_thin_rows
//===----------------------------------------------------------------------===//

const ScheduleKind CudaThinRowsAttr::kind{
    "cuda_thin_rows",
    "rows times few filters, in registers",
    {Parameter::number("rows", "rows of a thread", Sizes::oneOf({1, 2, 4, 8})),
     Parameter::number("terms", "terms of a sum that a block reads at a time",
                       Sizes::oneOf({8, 16, 32, 64}))},
    "A thread has at most 64 sums. A block has 128 threads; what it reads at a "
    "time is at most 48 KB.",
    {"2", "32"}};

//===----------------------------------------------------------------------===//
// cuda_scan
//===----------------------------------------------------------------------===//

const ScheduleKind CudaScanAttr::kind{
    "cuda_scan",
    "running reductions, eight elements per thread at a time",
    {Parameter::number("lanes", "threads that share a row",
                       Sizes::oneOf({1, 2, 4, 8, 16, 32, 64, 128, 256})),
     Parameter::number("splits", "blocks that share a row",
                       Sizes::between(1, 1024))},
    "Each split has at least one element of each lane.",
    {"256", "1"}};

//===----------------------------------------------------------------------===//
// cuda_sort
//===----------------------------------------------------------------------===//

const ScheduleKind CudaSortAttr::kind{
    "cuda_sort",
    "a bitonic network in registers, and merges of longer rows",
    {Parameter::number("tile", "elements that a network sorts",
                       Sizes::oneOf({32, 64, 128, 256, 512, 1024, 2048, 4096,
                                     8192, 16384, 32768})),
     Parameter::number("items", "elements of a thread",
                       Sizes::oneOf({4, 8, 16, 32}))},
    "A thread has at most 256 bytes of keys: an element and its place take 4 "
    "bytes for elements of up to 16 bits in rows of less than 65,536, 8 for "
    "other elements of up to 32 bits, and else 16. The keys of a tile fit the "
    "shared memory.",
    {"1024", "16"}};

//===----------------------------------------------------------------------===//
// cuda_select
//===----------------------------------------------------------------------===//

const ScheduleKind CudaSelectAttr::kind{
    "cuda_select",
    "the first places of rows by counts of their digits, without a sort",
    {Parameter::number("threads", "threads that share a row",
                       Sizes::oneOf({8, 16, 32, 64, 128, 256, 512, 1024})),
     Parameter::number("rows", "rows of a block",
                       Sizes::oneOf({1, 2, 4, 8, 16, 32})),
     Parameter::number("splits", "parts of a row, in different blocks",
                       Sizes::between(1, 1024))},
    "A block has 32 to 1024 threads. The places that are wanted fit the shared "
    "memory, and each part of a row has at least as many elements as are "
    "wanted. Where only the last place is wanted, blocks of one row add their "
    "counts instead, in a launch per pass.",
    {"256", "1", "1"}};

//===----------------------------------------------------------------------===//
// cuda_reduction
//===----------------------------------------------------------------------===//

const ScheduleKind CudaReductionAttr::kind{
    "cuda_reduction",
    "reductions over any dimension, in vectors of columns",
    {Parameter::number("columns", "threads next to each other",
                       Sizes::oneOf({1, 2, 4, 8, 16, 32, 64, 128, 256})),
     Parameter::number(
         "lanes", "threads that share a column",
         Sizes::oneOf({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})),
     Parameter::number("splits", "blocks that share a column",
                       Sizes::between(1, 1024)),
     Parameter::word("operands",
                     "read: once per pass; held: read once and kept in "
                     "registers; shared: in shared memory",
                     {"read", "held", "shared"})},
    "A block has 32 to 1024 threads. Blocks that share a column hold nothing: "
    "each pass is a launch. Held operands take at most 256 bytes of a thread, "
    "128 if a block has more than 512 threads; shared ones fit in shared "
    "memory. In several passes, blocks read "
    "at most 512 KiB each if there are fewer than multiprocessors.",
    {"8", "32"}};

//===----------------------------------------------------------------------===//
// cuda_windows
//===----------------------------------------------------------------------===//

const ScheduleKind CudaWindowsAttr::kind{
    "cuda_windows",
    "one pass over windows of neighboring elements",
    {Parameter::number("threads", "threads of a block",
                       Sizes::multiplesOf(32, 1024)),
     Parameter::number("vector",
                       "elements per load: channels if they come last, else "
                       "columns",
                       Sizes::oneOf({1, 2, 4, 8})),
     Parameter::number("columns", "neighboring windows of a thread",
                       Sizes::oneOf({1, 2, 4, 8})),
     Parameter::number("rows", "rows of windows of a thread",
                       Sizes::oneOf({1, 2, 4, 8}))},
    "A vector divides the channels. Vectors of columns divide a row of the "
    "images and the columns of a thread times the stride, and need rows of at "
    "most 64 elements. A thread has at most 64 windows, and holds at most 64 "
    "elements of a row.",
    {"4", "4"}};

//===----------------------------------------------------------------------===//
// cuda_scatter
//===----------------------------------------------------------------------===//

const ScheduleKind CudaScatterAttr::kind{
    "cuda_scatter",
    "rows, and updates that apply to them in order",
    {Parameter::word("method",
                     "search: each row is compared with all indices, for a few "
                     "updates; last: the last update of each row is found "
                     "first; sort: updates are sorted by row",
                     {"search", "last", "sort"}),
     Parameter::number("chunk", "sorted updates that a thread combines",
                       Sizes::between(1, 4096))},
    "A search takes at most 1024 updates. A `set` takes search or last, the "
    "others search or sort.",
    {"search", "sort"}};

//===----------------------------------------------------------------------===//
// cuda_generic
//===----------------------------------------------------------------------===//

const ScheduleKind CudaGenericAttr::kind{
    "cuda_generic",
    "plain kernels for any region, one per loop",
    {},
    "For regions that nothing else takes.",
    {}};
