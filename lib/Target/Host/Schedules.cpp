//===- Schedules.cpp - What is legal on the host, and why -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Schedules.h"
#include "fact/Target/RegionOps.h"

using namespace mlir;
using namespace fact;

static LogicalResult requireHost(const MachineDescription &machine,
                                 EmitError emitError) {
  if (machine.isHost())
    return success();
  return emitError() << "is for the host, and the target is '" << machine.name
                     << "'";
}

//===----------------------------------------------------------------------===//
// host_gemm
//===----------------------------------------------------------------------===//

static LogicalResult checkHostGemm(ScheduleAttr schedule, FusedOp fused,
                                   const MachineDescription &machine,
                                   EmitError emitError) {
  if (failed(requireHost(machine, emitError)))
    return failure();
  if (getProducts(fused).empty())
    return emitError() << "needs a region with one 'fact.matmul', or several "
                          "that share the lhs";
  auto gemm = cast<HostGemmAttr>(schedule);
  Extents micro = gemm.getMicro();
  if (micro[0] * micro[1] > 512)
    return emitError() << "the register tile has at most 512 elements, not "
                       << micro[0] << "x" << micro[1];
  if (gemm.getRows() % micro[0] || gemm.getColumns() % micro[1])
    return emitError() << "rows and columns are multiples of the register "
                          "tile's";
  return success();
}

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

const ScheduleKind HostGemmAttr::kind{
    "host_gemm",
    "a GEMM on packed panels",
    {Parameter::extents("micro", "rows x columns of the register tile",
                        {{"rows", Sizes::between(1, 128)},
                         {"columns", Sizes::multiplesOf(4, 512)}}),
     Parameter::number("rows", "rows of one parallel tile", Sizes::any()),
     Parameter::number("columns", "columns of one parallel tile",
                       Sizes::any())},
    "The register tile has at most 512 elements. `rows` and `columns` are "
    "multiples of it; a space rounds them down to that. Where rows are reduced "
    "after the product a tile has all columns, where columns are reduced all "
    "rows.",
    {"8x12", "8x8"},
    roundToMicro,
    checkHostGemm};

SpaceAttr HostGemmAttr::getSpace(MLIRContext *context, ArrayRef<Extents> micro,
                                 ArrayRef<int64_t> rows,
                                 ArrayRef<int64_t> columns) {
  return SpaceAttr::get(
      context, kind,
      {getExtents(micro), getExtents(rows), getExtents(columns)});
}

//===----------------------------------------------------------------------===//
// host_rows
//===----------------------------------------------------------------------===//

const ScheduleKind HostRowsAttr::kind{
    "host_rows",
    "host loops over rows of the result (of queries, for attention)",
    {Parameter::number("grain", "rows of one parallel tile", Sizes::any())},
    "",
    {"8", "32"},
    /*adjust=*/nullptr,
    [](ScheduleAttr, FusedOp, const MachineDescription &machine,
       EmitError emitError) { return requireHost(machine, emitError); }};

SpaceAttr HostRowsAttr::getSpace(MLIRContext *context,
                                 ArrayRef<int64_t> grains) {
  return SpaceAttr::get(context, kind, {getExtents(grains)});
}
