//===- Schedules.cpp - What is legal on a GPU, and why --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Schedules.h"
#include "Emission.h"

using namespace mlir;
using namespace fact;

static LogicalResult requireGpu(const MachineDescription &machine,
                                EmitError emitError) {
  if (!machine.isHost())
    return success();
  return emitError() << "needs a GPU, and the target is '" << machine.name
                     << "'";
}

static LogicalResult requireHopper(const MachineDescription &machine,
                                   EmitError emitError) {
  if (machine.architecture == "sm_90a")
    return success();
  return emitError() << "needs sm_90a, and '" << machine.name << "' is "
                     << machine.architecture;
}

static LogicalResult requireSharedMemory(int64_t bytes,
                                         const MachineDescription &machine,
                                         EmitError emitError) {
  if (bytes <= machine.sharedMemoryBytes)
    return success();
  return emitError() << "needs " << bytes << " bytes of shared memory, and '"
                     << machine.name << "' has " << machine.sharedMemoryBytes;
}

//===----------------------------------------------------------------------===//
// sm90_gemm
//===----------------------------------------------------------------------===//

/// Two stages are the least that overlaps loads with math; the kernel takes as
/// many as fit. The epilogue stages one 64x32 subtile for each warpgroup and
/// each full operand and result.
static int64_t getSharedMemoryBytes(Sm90GemmAttr schedule,
                                    ArrayRef<MatmulOp> matmuls, FusedOp fused) {
  MatmulOp first = matmuls.front();
  int64_t elementBytes =
      first.getLhs().getType().getElementTypeBitWidth() / 8;
  // Several products have one result each, and a tile is of one product.
  int64_t results = matmuls.size() > 1 ? 1 : fused->getNumResults();
  int64_t epilogueBuffers = 2 + results;
  Extents tile = schedule.getTile();
  int64_t stageBytes = (tile[0] + tile[1]) * tile[2] * elementBytes;
  return 2 * stageBytes + epilogueBuffers * 4 * 64 * 32 * 2;
}

/// TMA: 16-byte strides of both operands and of the result.
static LogicalResult checkAlignment(ArrayRef<MatmulOp> matmuls,
                                    EmitError emitError) {
  for (MatmulOp product : matmuls)
    for (int64_t size : {product.getK(), product.getN()})
      if (size % 8)
        return emitError() << "needs K and N to be multiples of 8 (16-byte "
                              "rows for TMA), not "
                           << size;
  MatmulOp first = matmuls.front();
  if (first.getTransposeA() && first.getM() % 8)
    return emitError() << "needs M to be a multiple of 8, not "
                       << first.getM();
  return success();
}

/// What of the kernel depends on the region.
static LogicalResult checkKernel(Sm90GemmAttr gemm, ArrayRef<MatmulOp> matmuls,
                                 FusedOp fused, EmitError emitError) {
  Extents tile = gemm.getTile();
  // The tile is that of both products together.
  if (fused.getRule() == "gated_gemm" && tile[1] % 32)
    return emitError() << "tile N of two products is a multiple of 32, not "
                       << tile[1];
  bool streamK = gemm.getKernel() == KernelSchedule::stream_k;
  if (matmuls.size() > 1 && streamK)
    return emitError() << "several products run as a cooperative or a pingpong "
                          "kernel, not as stream_k";
  if (!fused.getBody().front().getOps<ReduceOp>().empty() && streamK)
    return emitError() << "reductions of a product run after a cooperative or "
                          "a pingpong kernel, not after stream_k";
  return success();
}

static LogicalResult checkSm90Gemm(ScheduleAttr schedule, FusedOp fused,
                                   const MachineDescription &machine,
                                   EmitError emitError) {
  if (failed(requireHopper(machine, emitError)))
    return failure();
  SmallVector<MatmulOp> matmuls = getProducts(fused);
  if (matmuls.empty())
    return emitError() << "needs a region with one 'fact.matmul', or several "
                          "that share the lhs";
  RankedTensorType lhs = matmuls.front().getLhs().getType();
  if (!isFloat16(lhs.getElementType()))
    return emitError() << "takes f16 or bf16 operands, not "
                       << lhs.getElementType();
  auto gemm = cast<Sm90GemmAttr>(schedule);
  if (failed(checkKernel(gemm, matmuls, fused, emitError)))
    return failure();
  Extents tile = gemm.getTile(), cluster = gemm.getCluster();
  bool pingpong = gemm.getKernel() == KernelSchedule::pingpong;
  if (!pingpong && tile[0] != 128 && tile[0] != 256)
    return emitError() << "a cooperative kernel needs tile M of 128 or 256, not "
                       << tile[0];
  int64_t registers = tile[0] * tile[1] / (pingpong ? 128 : 256);
  if (registers > 128)
    return emitError() << "accumulators need " << registers
                       << " registers per thread, and at most 128 do not spill";
  if (cluster[0] * cluster[1] > 4)
    return emitError() << "a cluster has 1, 2 or 4 blocks, not "
                       << cluster[0] * cluster[1];
  if (failed(requireSharedMemory(getSharedMemoryBytes(gemm, matmuls, fused),
                                 machine, emitError)))
    return failure();
  return checkAlignment(matmuls, emitError);
}

const ScheduleKind Sm90GemmAttr::kind{
    "sm90_gemm",
    "a warp-specialized Hopper GEMM of f16 or bf16",
    {Parameter::extents(
         "tile",
         "M x N x K of a block (of all products side by side where there are "
         "several)",
         {{"M", Sizes::oneOf({64, 128, 192, 256})},
          {"N", Sizes::multiplesOf(16, 256)},
          {"K", Sizes::multiplesOf(16, 1024)}}),
     Parameter::extents("cluster", "blocks that share operands, M x N",
                        {{"M", Sizes::oneOf({1, 2, 4})},
                         {"N", Sizes::oneOf({1, 2, 4})}}),
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
    "K of 64 is best. Tile M is 128 or 256 unless pingpong. N of the tile is a "
    "multiple of 32 for gated_gemm. Accumulators take M*N/128 registers per "
    "thread (pingpong) or M*N/256 (cooperative, stream_k), at most 128. A "
    "cluster has at most 4 blocks. stream_k is for one matmul without a reduce. "
    "Two stages of (M + N)*K elements, and 16 KB for each result and for two "
    "more, fit into shared memory. K and N of the product are multiples of 8 "
    "(and M, with transpose_a): TMA needs rows of 16 bytes.",
    {"128x128x64", "128x256x64"},
    /*adjust=*/nullptr, checkSm90Gemm};

SpaceAttr Sm90GemmAttr::getSpace(MLIRContext *context, ArrayRef<Extents> tiles,
                                 ArrayRef<Extents> clusters,
                                 ArrayRef<KernelSchedule> kernels,
                                 ArrayRef<int64_t> swizzles) {
  return SpaceAttr::get(context, kind,
                        {getExtents(tiles), getExtents(clusters),
                         getExtents(kernels), getExtents(swizzles)});
}

//===----------------------------------------------------------------------===//
// cublas_gemm
//===----------------------------------------------------------------------===//

static LogicalResult checkCublasGemm(ScheduleAttr, FusedOp fused,
                                     const MachineDescription &machine,
                                     EmitError emitError) {
  if (failed(requireGpu(machine, emitError)))
    return failure();
  auto matmul = getOnly<MatmulOp>(fused);
  if (!matmul || fused->getNumResults() != 1 ||
      fused.getYield()->getOperand(0) != matmul.getResult())
    return emitError() << "takes a plain 'fact.matmul' and no epilogue";
  if (!isFloat16(matmul.getLhs().getType().getElementType()))
    return emitError() << "takes f16 or bf16 operands";
  return success();
}

const ScheduleKind CublasGemmAttr::kind{
    "cublas_gemm",
    "the vendor's GEMM (cuBLASLt) of f16 or bf16",
    {},
    "The region is one matmul and nothing else. It is tried beside every space "
    "of such a region.",
    {},
    /*adjust=*/nullptr,
    checkCublasGemm};

CublasGemmAttr CublasGemmAttr::get(MLIRContext *context) {
  return cast<CublasGemmAttr>(ScheduleAttr::get(context, &kind, {}));
}

//===----------------------------------------------------------------------===//
// sm90_attention
//===----------------------------------------------------------------------===//

/// Head dimensions are padded by tile to a multiple of 32.
static int64_t padHead(int64_t head) { return (head + 31) / 32 * 32; }

static LogicalResult checkSm90Attention(ScheduleAttr schedule, FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) {
  if (failed(requireHopper(machine, emitError)))
    return failure();
  auto attention = getOnly<AttentionOp>(fused);
  if (!attention)
    return emitError() << "needs a region with exactly one 'fact.attention'";
  RankedTensorType query = attention.getQuery().getType();
  if (!isFloat16(query.getElementType()))
    return emitError() << "takes f16 or bf16 operands, not "
                       << query.getElementType();
  int64_t head = query.getDimSize(3);
  if (head % 8 || head > 128 ||
      head != attention.getValue().getType().getDimSize(3))
    return emitError() << "takes one head dimension for keys and values, a "
                          "multiple of 8 up to 128, not "
                       << head;
  auto own = cast<Sm90AttentionAttr>(schedule);
  Extents tile = own.getTile();
  if (attention.getCausal() && tile[0] % tile[1] && tile[1] % tile[0])
    return emitError() << "a causal mask needs one tile size to divide the "
                          "other, not "
                       << tile[0] << "x" << tile[1];
  int64_t bytes = 2 * padHead(head) * (tile[0] + own.getStages() * tile[1]);
  return requireSharedMemory(bytes, machine, emitError);
}

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
     // The next key tile is loaded before the value tile of this one is free:
     // two stages wait for each other forever.
     Parameter::number("stages", "depth of the key and value pipeline",
                       Sizes::between(3, 8))},
    "Where the mask is causal, one tile size divides the other. Keys and values "
    "have one head dimension, a multiple of 8 up to 128. (queries + "
    "stages*keys)*head elements, the head rounded up to a multiple of 32, fit "
    "into shared memory.",
    {"128x128", "128x64"},
    /*adjust=*/nullptr, checkSm90Attention};

SpaceAttr Sm90AttentionAttr::getSpace(MLIRContext *context,
                                      ArrayRef<Extents> tiles,
                                      ArrayRef<KernelSchedule> kernels,
                                      ArrayRef<int64_t> stages) {
  return SpaceAttr::get(
      context, kind,
      {getExtents(tiles), getExtents(kernels), getExtents(stages)});
}

//===----------------------------------------------------------------------===//
// cuda_row
//===----------------------------------------------------------------------===//

/// Elements of one row of the region's only op over rows; none where there is
/// no such op.
static std::optional<int64_t> getRowElements(FusedOp fused) {
  int64_t elements = 1;
  if (auto norm = getOnly<NormOp>(fused))
    for (int64_t size : norm.getType().getShape().take_back(norm.getDims()))
      elements *= size;
  else if (auto softmax = getOnly<SoftmaxOp>(fused))
    elements = softmax.getType().getShape().back();
  else if (auto reduce = getOnly<ReduceOp>(fused))
    for (int64_t dim : reduce.getDims())
      elements *= cast<RankedTensorType>(reduce.getOperand().getType())
                      .getDimSize(dim);
  else
    return std::nullopt;
  return elements;
}

static LogicalResult checkCudaRow(ScheduleAttr schedule, FusedOp fused,
                                  const MachineDescription &machine,
                                  EmitError emitError) {
  if (failed(requireGpu(machine, emitError)))
    return failure();
  auto own = cast<CudaRowAttr>(schedule);
  int64_t threads = own.getThreads(), rows = own.getRows();
  if (rows > 1024 / threads)
    return emitError() << "a block has at most 1024 threads, not " << rows
                       << " rows of " << threads;
  if (rows > 1 && threads > 32)
    return emitError() << "several rows per block have one warp each, and "
                       << threads << " threads are more";
  std::optional<int64_t> elements = getRowElements(fused);
  if (!elements)
    return emitError() << "needs a region with exactly one 'fact.norm', "
                          "'fact.softmax' or 'fact.reduce'";
  if (*elements > threads * 64)
    return emitError() << "a row of " << *elements
                       << " elements does not fit the registers of " << threads
                       << " threads (64 each)";
  return success();
}

const ScheduleKind CudaRowAttr::kind{
    "cuda_row",
    "one pass over rows that stay in registers",
    {Parameter::number("threads", "threads of one row",
                       Sizes::multiplesOf(32, 1024)),
     Parameter::number("rows", "rows of one block", Sizes::between(1, 32))},
    "A thread holds at most 64 elements of its row. More than one row per block "
    "needs 32 threads per row. The region has exactly one norm, softmax or "
    "reduce.",
    {"64", "128"},
    /*adjust=*/nullptr, checkCudaRow};

SpaceAttr CudaRowAttr::getSpace(MLIRContext *context, ArrayRef<int64_t> threads,
                                ArrayRef<int64_t> rows) {
  return SpaceAttr::get(context, kind, {getExtents(threads), getExtents(rows)});
}

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
    {"128", "256"},
    /*adjust=*/nullptr,
    [](ScheduleAttr, FusedOp, const MachineDescription &machine,
       EmitError emitError) { return requireGpu(machine, emitError); }};

SpaceAttr CudaPointwiseAttr::getSpace(MLIRContext *context,
                                      ArrayRef<int64_t> threads,
                                      ArrayRef<int64_t> vectors) {
  return SpaceAttr::get(context, kind,
                        {getExtents(threads), getExtents(vectors)});
}
