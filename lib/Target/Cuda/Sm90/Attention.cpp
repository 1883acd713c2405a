//===- Attention.cpp - Attention with the views around it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries, keys, values and the result lie as [batch, head, time, column] in
// their buffers, at strides that TMA takes; a mask may lie at any strides.
//
//===----------------------------------------------------------------------===//

#include "AttentionTensors.h"
#include "Sm90Gemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
class AttentionPlan : public Plan {
public:
  AttentionPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine,
                const AttentionTensors &attention)
      : Plan(family, fused, machine), attention(attention) {}

  static FailureOr<AttentionTensors> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  /// Whether a row of keys is one line of TMA, of 128 bytes.
  bool hasNarrowHead() const { return attention.region.headSize <= 64; }

  AttentionTensors attention;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// The strides of a tensor's rows, heads and batches; that of a dimension of
/// size 1 is chosen for TMA.
static SmallVector<int64_t> getStrides(const AttentionTensor &tensor) {
  int64_t single = tensor.shape[3];
  return {tensor.getStride(2, single), tensor.getStride(1, single),
          tensor.getStride(0, single)};
}

/// TMA needs strides that are multiples of 16 bytes, the collectives strides of
/// at most 31 bits.
static LogicalResult checkStrides(const AttentionTensor &tensor, StringRef name,
                                  EmitError emitError) {
  if (tensor.strides[3] != 1)
    return emitError() << "elements of one head must be contiguous, and those "
                          "of "
                       << name << " have stride " << tensor.strides[3];
  int64_t bytes = getStorageBytes(tensor.element);
  SmallVector<int64_t> distances = getStrides(tensor);
  for (int64_t distance : distances)
    if (distance >= INT32_MAX)
      return emitError() << "strides of " << name
                         << " must be less than 2^31 elements, and one is "
                         << distance;
  distances.push_back(tensor.offset);
  for (int64_t distance : distances)
    if (distance * bytes % 16)
      return emitError() << "strides and offset of " << name
                         << " must be multiples of 16 bytes, and one is "
                         << distance << " elements";
  return success();
}

static LogicalResult checkSizes(const AttentionRegion &region,
                                EmitError emitError) {
  if (failed(requireFloat16(region.element, emitError)))
    return failure();
  int64_t head = region.headSize;
  if (head != region.valueSize || head % 8 || head > 128)
    return emitError() << "keys and values must have one head size, a multiple "
                          "of 8 up to 128, not "
                       << head << " and " << region.valueSize;
  // Tiles have 128 queries or more: sm80_attention wastes less.
  if (region.queries <= 16)
    return emitError() << "needs more than 16 queries, not " << region.queries;
  if (double(region.batches) * region.heads * region.queries >= INT32_MAX)
    return emitError() << "batches, heads and queries must be less than 2^31 "
                          "rows, not "
                       << region.batches << " x " << region.heads << " x "
                       << region.queries;
  return success();
}

FailureOr<AttentionTensors> AttentionPlan::read(FusedOp fused,
                                                EmitError emitError) {
  FailureOr<AttentionTensors> tensors = AttentionTensors::get(fused, emitError);
  if (failed(tensors) || failed(checkSizes(tensors->region, emitError)) ||
      failed(checkStrides(tensors->query, "the query", emitError)) ||
      failed(checkStrides(tensors->key, "the key", emitError)) ||
      failed(checkStrides(tensors->value, "the value", emitError)) ||
      failed(checkStrides(tensors->result, "the result", emitError)))
    return failure();
  return tensors;
}

namespace {
class AttentionFamily : public FamilyOf<AttentionPlan> {
public:
  AttentionFamily()
      : FamilyOf(attentionRule, "sm_90a", {&Sm90AttentionAttr::kind}) {}

  StringRef getLimits() const override {
    return "Nothing but views beside the attention (no matmul, rotary, "
           "norm, cast or pointwise op), and one result. f16 or bf16, "
           "heads of a multiple of 8 up to 128 elements, which are "
           "contiguous, and more than 16 queries; others run on slower "
           "kernels.";
  }
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
  // Heads and batches are in the grid's second and third dimension.
  if (own.getKernel() == KernelSchedule::cooperative &&
      std::max(attention.region.heads, attention.region.batches) > 65535)
    return emitError() << "cooperative kernels take at most 65535 heads and "
                          "batches, not "
                       << attention.region.heads << " and "
                       << attention.region.batches;
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
  // Tiles of narrow heads are multiplied sooner than they arrive: with heads of
  // 40, four stages took 169 us, and the better of four and five 156.
  SmallVector<int64_t> stages{4, 5};
  if (hasNarrowHead())
    stages.push_back(8);
  return Sm90AttentionAttr::getSpace(fused.getContext(), tiles,
                                     {K::cooperative, K::pingpong}, stages);
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
  if (hasNarrowHead() && attentionSchedule.getStages() < 5)
    time *= 1.03;
  if (hasNarrowHead() && attentionSchedule.getStages() < 8)
    time *= 1.01;
  return 1e6 * (time + machine.launchSeconds);
}

static raw_ostream &operator<<(raw_ostream &os, const AttentionTensor &tensor) {
  os << "Heads<";
  tensor.print(os, getStrides(tensor));
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
  if (attention.mask) {
    os << ",\n    ";
    attention.printMask(os);
  }
  os << ">;\n";
  printFooter(os, symbol);
  code.flags = {"--use_fast_math"};
  return success();
}

void fact::registerAttentionFamily(DialectRegistry &registry) {
  registerFamily<AttentionFamily>(registry);
}
