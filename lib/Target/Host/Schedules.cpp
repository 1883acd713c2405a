//===- Schedules.cpp - Schedules of host kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Schedules.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// host_gemm
//===----------------------------------------------------------------------===//

/// Rounds down to a multiple of `unit`, but not to 0: a parallel tile holds at
/// least one register tile. Sizes and units that are not positive stay, for the
/// verifier to name.
static int64_t roundDown(int64_t size, int64_t unit) {
  if (unit < 1 || size < 1)
    return size;
  return std::max<int64_t>(size / unit, 1) * unit;
}

static void roundToMicro(MutableArrayRef<Extents> values) {
  for (size_t i : {0, 1})
    values[i + 1] = {roundDown(values[i + 1][0], values[0][i])};
}

/// Those of products on packed panels, wherever these are packed.
static std::vector<Parameter> getPanelParameters() {
  return {Parameter::extents("micro", "rows x columns of the register tile",
                             {{"rows", Sizes::between(1, 128)},
                              {"columns", Sizes::multiplesOf(4, 512)}}),
          Parameter::number("rows", "rows of one parallel tile", Sizes::any()),
          Parameter::number("columns", "columns of one parallel tile",
                            Sizes::any())};
}

const ScheduleKind HostGemmAttr::kind{
    "host_gemm",
    "a GEMM on packed panels",
    getPanelParameters(),
    "The register tile has at most 512 elements. `rows` and `columns` are "
    "multiples of it; a space rounds them down to that. Where rows are reduced "
    "after the product a tile has all columns, where columns are reduced all "
    "rows.",
    {"8x12", "8x8"},
    roundToMicro};

//===----------------------------------------------------------------------===//
// host_blocked
//===----------------------------------------------------------------------===//

const ScheduleKind HostBlockedAttr::kind{
    "host_blocked",
    "a GEMM whose tiles pack blocks of the rhs when they come to them, so that "
    "panels stay in a cache",
    getPanelParameters(),
    "As `host_gemm`. For an rhs that changes from call to call: each tile "
    "packs "
    "its columns of it again, so that tiles should have many rows. Rows and "
    "columns are not reduced, and the lhs is no windows.",
    {"8x12", "8x8"},
    roundToMicro};

//===----------------------------------------------------------------------===//
// host_windows
//===----------------------------------------------------------------------===//

static void roundColumnsToMicro(MutableArrayRef<Extents> values) {
  values[2] = {roundDown(values[2][0], values[0][1])};
}

const ScheduleKind HostWindowsAttr::kind{
    "host_windows",
    "a GEMM whose lhs is windows, which are read from a copy of the part of an "
    "image that a tile needs",
    getPanelParameters(),
    "The register tile has at most 512 elements, `columns` is a multiple of "
    "its own. A tile has a box of windows of one image, with at most `rows` of "
    "them but at least one register tile. A register tile has windows beside "
    "each other along the last dimension alone: its rows are at most as "
    "many, and should divide them. Where rows are reduced after the product a "
    "tile has all "
    "columns; columns are not reduced.",
    {"14x32", "28x16"},
    roundColumnsToMicro};

//===----------------------------------------------------------------------===//
// host_stream
//===----------------------------------------------------------------------===//

const ScheduleKind HostStreamAttr::kind{
    "host_stream",
    "a GEMM of at most 8 rows that reads its rhs in place, in long pieces of "
    "rows, and keeps the sums in memory",
    {Parameter::number("columns", "columns of one parallel tile",
                       Sizes::any())},
    "Neighboring columns of the rhs are adjacent in memory. The sums of a tile "
    "should fit the first cache.",
    {"2048", "512"}};

//===----------------------------------------------------------------------===//
// host_rows
//===----------------------------------------------------------------------===//

const ScheduleKind HostRowsAttr::kind{
    "host_rows",
    "host loops over rows of the result (of queries, for attention)",
    {Parameter::number("grain", "rows of one parallel tile", Sizes::any())},
    "",
    {"8", "32"}};
