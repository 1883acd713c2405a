//===- Attention.cpp - Attention with the views around it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries, keys, values and the result lie as [batch, head, time, column] in
// their buffers, at strides that TMA takes; a mask may lie at any strides.
//
//===----------------------------------------------------------------------===//

#include "Sm90Gemm.h"
#include "fact/Analysis/AttentionRegion.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
/// The strides of [batch, head, time, column] in a buffer; columns are
/// contiguous.
struct Heads {
  int64_t buffer;
  Type element;
  int64_t rowStride, headStride, batchStride, offset;
};

/// The summand of the scores, by [batch, head, query, key].
struct AddedMask {
  int64_t buffer;
  Type element;
  SmallVector<int64_t> strides;
  int64_t offset;
};

struct Attention {
  AttentionRegion region;
  Heads query, key, value, result;
  std::optional<AddedMask> mask = {};
};

class AttentionPlan : public Plan {
public:
  AttentionPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine, const Attention &attention)
      : Plan(family, fused, machine), attention(attention) {}

  static FailureOr<Attention> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  Attention attention;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// TMA needs strides that are multiples of 16 bytes, the collectives strides of
/// at most 31 bits.
static FailureOr<Heads> getHeads(const StridedView &view, int64_t buffer,
                                 StringRef name, EmitError emitError) {
  Type element = getTensorType(view.base).getElementType();
  // The stride of a dimension of size 1 is arbitrary; choose one for TMA.
  auto stride = [&](unsigned dim) {
    return view.shape[dim] == 1 ? view.shape[3] : view.strides[dim];
  };
  Heads heads{buffer, element, stride(2), stride(1), stride(0), view.offset};
  if (view.strides[3] != 1)
    return emitError() << "elements of one head must be contiguous, and those "
                          "of "
                       << name << " have stride " << view.strides[3];
  int64_t bytes = getStorageBytes(element);
  for (int64_t distance :
       {heads.rowStride, heads.headStride, heads.batchStride, heads.offset})
    if (distance * bytes % 16)
      return emitError() << "strides and offset of " << name
                         << " must be multiples of 16 bytes, and one is "
                         << distance << " elements";
  for (int64_t distance :
       {heads.rowStride, heads.headStride, heads.batchStride})
    if (distance >= INT32_MAX)
      return emitError() << "strides of " << name
                         << " must be less than 2^31 elements, and one is "
                         << distance;
  return heads;
}

/// The kernel reads masks element by element, at any strides.
static FailureOr<AddedMask> getMask(const StridedView &view,
                                    EmitError emitError) {
  Type element = getTensorType(view.base).getElementType();
  if (element.isF64())
    return emitError() << "the mask must be f16, bf16 or f32, not " << element;
  AddedMask mask{getBuffer(view.base), element, view.strides, view.offset};
  for (auto [size, stride] : llvm::zip_equal(view.shape, mask.strides))
    if (size == 1)
      stride = 0;
  return mask;
}

static LogicalResult checkTypes(const AttentionRegion &region,
                                EmitError emitError) {
  if (failed(requireFloat16(region.element, emitError)))
    return failure();
  int64_t head = region.headSize;
  if (head != region.valueSize || head % 8 || head > 128)
    return emitError() << "keys and values must have one head size, a multiple "
                          "of 8 up to 128, not "
                       << head << " and " << region.valueSize;
  return success();
}

FailureOr<Attention> AttentionPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<AttentionRegion> region = AttentionRegion::get(fused, emitError);
  if (failed(region) || failed(checkTypes(*region, emitError)))
    return failure();
  auto getOperand = [&](const StridedView &view, StringRef name) {
    return getHeads(view, getBuffer(view.base), name, emitError);
  };
  FailureOr<Heads> query = getOperand(region->query, "the query");
  FailureOr<Heads> key = getOperand(region->key, "the key");
  FailureOr<Heads> value = getOperand(region->value, "the value");
  FailureOr<Heads> result = getHeads(
      region->destination, getResultBuffer(fused, 0), "the result", emitError);
  if (failed(query) || failed(key) || failed(value) || failed(result))
    return failure();
  Attention attention{*region, *query, *key, *value, *result};
  if (region->mask) {
    FailureOr<AddedMask> mask = getMask(*region->mask, emitError);
    if (failed(mask))
      return failure();
    attention.mask = *mask;
  }
  return attention;
}

namespace {
class AttentionFamily : public FamilyOf<AttentionPlan> {
public:
  AttentionFamily()
      : FamilyOf(attentionRule, "sm_90a", {&Sm90AttentionAttr::kind}) {}
};
} // namespace

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult AttentionPlan::checkLimits(ScheduleAttr schedule,
                                         EmitError emitError) const {
  auto own = cast<Sm90AttentionAttr>(schedule);
  Extents tile = own.getTile();
  if (attention.region.causal && tile[0] % tile[1] && tile[1] % tile[0])
    return emitError() << "a causal mask needs one tile size to divide the "
                          "other, not "
                       << tile[0] << "x" << tile[1];
  // Tiles pad heads to a multiple of 32 columns.
  int64_t head = llvm::alignTo(attention.region.headSize, 32);
  return requireSharedMemory(2 * head * (tile[0] + own.getStages() * tile[1]),
                             machine, emitError);
}

SpaceAttrInterface AttentionPlan::getSpace() const {
  using K = KernelSchedule;
  SmallVector<Extents> tiles{{128, 128}, {128, 64}};
  // Three warpgroups pay where no tile is half masked.
  if (!attention.region.causal)
    tiles.push_back({192, 128});
  return Sm90AttentionAttr::getSpace(fused.getContext(), tiles,
                                     {K::cooperative, K::pingpong}, {4, 5});
}

double AttentionPlan::predict(ScheduleAttr schedule) const {
  auto attentionSchedule = cast<Sm90AttentionAttr>(schedule);
  const Extents &tile = attentionSchedule.getTile();
  bool causal = attention.region.causal;
  bool pingpong = attentionSchedule.getKernel() == KernelSchedule::pingpong;
  int64_t queryTiles = llvm::divideCeil(attention.region.queries, tile[0]);
  int64_t keyTiles = llvm::divideCeil(attention.region.keys, tile[1]);
  double visited = 0;
  for (int64_t i = 0; i < queryTiles; ++i)
    visited +=
        causal ? std::min<int64_t>(keyTiles,
                                   llvm::divideCeil((i + 1) * tile[0], tile[1]))
               : keyTiles;
  double heads = double(attention.region.batches) * attention.region.heads;
  double head = llvm::alignTo(attention.region.headSize, 32);
  double perBlock = machine.getMatrixFlops(runtime::ElementType::BF16) /
                    machine.multiprocessors;
  // Two products per score. They hide most of the exponentials, and nothing of
  // a mask.
  double slots = 0.4 * 12 + (attention.mask ? 8 : 0);
  double inner = tile[0] * tile[1] *
                 (4 * head / (0.85 * perBlock) + slots / (128 * machine.clock));
  double time =
      heads * (visited * inner + queryTiles * 3.2e-6) / machine.multiprocessors;
  // Measured: ping-pong wins where all blocks do equal work, and three
  // warpgroups have few registers each.
  if (pingpong)
    time *= causal ? 1.05 : 0.95;
  if (tile[0] > 128)
    time *= 1.08;
  if (tile[1] < 128)
    time *= 1.06;
  if (attentionSchedule.getStages() < 4)
    time *= 1.02;
  return 1e6 * (time + machine.launchSeconds);
}

static raw_ostream &operator<<(raw_ostream &os, const Heads &heads) {
  os << "Heads<" << heads.buffer << ", " << getElementName(heads.element)
     << ", " << heads.rowStride << ", " << heads.headStride << ", "
     << heads.batchStride;
  if (heads.offset)
    os << ", " << heads.offset;
  return os << '>';
}

LogicalResult AttentionPlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto attentionSchedule = cast<Sm90AttentionAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Attention.cuh");
  printConstant(os, "Scale", attention.region.scale);
  os << "using Kernel = Attention<\n    AttentionProblem<"
     << attention.region.batches << ", " << attention.region.heads << ", "
     << attention.region.keyHeads << ", " << attention.region.queries << ", "
     << attention.region.keys << ", " << attention.region.headSize << ">,\n"
     << "    " << attention.query << ", // query\n"
     << "    " << attention.key << ", // key\n"
     << "    " << attention.value << ", // value\n"
     << "    " << attention.result << ", // result\n"
     << "    " << (attention.region.causal ? "Causal" : "Full")
     << ",\n    Scale,\n    AttentionSchedule<"
     << attentionSchedule.getTile()[0] << ", " << attentionSchedule.getTile()[1]
     << ", "
     << (attentionSchedule.getKernel() == KernelSchedule::pingpong
             ? "Pingpong"
             : "Cooperative")
     << ", " << attentionSchedule.getStages() << '>';
  if (const std::optional<AddedMask> &mask = attention.mask) {
    os << ",\n    Mask<" << mask->buffer << ", "
       << getElementName(mask->element);
    for (int64_t stride : mask->strides)
      os << ", " << stride;
    if (mask->offset)
      os << ", " << mask->offset;
    os << '>';
  }
  os << ">;\n";
  printFooter(os, symbol);
  code.flags = {"--use_fast_math"};
  return success();
}

void fact::registerAttentionFamily(DialectRegistry &registry) {
  registerFamily<AttentionFamily>(registry);
}
