//===- FactSchedules.cpp - Legality of schedules, points of spaces --------===//

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

std::string fact::scheduleKey(Attribute schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return StringRef(text).ltrim("#").drop_front(strlen("fact.")).str();
}

/// The only op of that kind in the region, or null.
template <typename OpT> static OpT getOnly(Operation *fused) {
  auto ops = cast<FusedOp>(fused).getBody().front().getOps<OpT>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : OpT();
}

static LogicalResult requireGpu(const MachineDescription &machine,
                                EmitError emitError) {
  if (!machine.isHost())
    return success();
  return emitError() << "needs a GPU, and the target is 'host'";
}

static LogicalResult requireHost(const MachineDescription &machine,
                                 EmitError emitError) {
  if (machine.isHost())
    return success();
  return emitError() << "is for the host, and the target is '" << machine.name
                     << "'";
}

static LogicalResult requireHopper(const MachineDescription &machine,
                                   EmitError emitError) {
  if (machine.architecture == "sm_90a")
    return success();
  return emitError() << "needs sm_90a, and '" << machine.name << "' is "
                     << machine.architecture;
}

/// No size of a schedule is larger, so that products of two do not overflow.
static constexpr int64_t maxSize = 1 << 30;

static bool is16Bit(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16;
}

//===----------------------------------------------------------------------===//
// Hopper GEMM
//===----------------------------------------------------------------------===//

/// The region's matmuls, when they share the lhs and can run as one GEMM; empty
/// otherwise.
static SmallVector<MatmulOp> getGemm(Operation *fused) {
  auto matmuls = llvm::to_vector(
      cast<FusedOp>(fused).getBody().front().getOps<MatmulOp>());
  for (MatmulOp matmul : matmuls)
    if (matmul.getLhs() != matmuls.front().getLhs())
      return {};
  return matmuls;
}

/// Whether results combine two products, tile by tile of both: a gated MLP.
static bool isGated(Operation *fused) {
  return cast<FusedOp>(fused).getRule() == "gated_gemm";
}

/// Bytes of one mainloop stage.
static int64_t stageBytes(const Extents &tile, int64_t elementBytes) {
  return (tile[0] + tile[1]) * tile[2] * elementBytes;
}

int64_t Sm90GemmAttr::getSharedMemoryBytes(Operation *fused) const {
  // Two stages are the least that overlaps loads with math; the kernel takes
  // as many as fit. The epilogue stages one 64x32 subtile for each warpgroup
  // and each full operand and result.
  SmallVector<MatmulOp> matmuls = getGemm(fused);
  int64_t bytes =
      matmuls.front().getLhs().getType().getElementTypeBitWidth() / 8;
  // Several products have one result each, and a tile is of one product.
  int64_t results = matmuls.size() > 1 ? 1 : fused->getNumResults();
  int64_t epilogueBuffers = 2 + results;
  return 2 * stageBytes(getTile(), bytes) + epilogueBuffers * 4 * 64 * 32 * 2;
}

LogicalResult Sm90GemmAttr::verifySchedule(Operation *fused,
                                           const MachineDescription &machine,
                                           EmitError emitError) const {
  if (failed(requireHopper(machine, emitError)))
    return failure();
  SmallVector<MatmulOp> matmuls = getGemm(fused);
  if (matmuls.empty())
    return emitError() << "needs a region with one 'fact.matmul', or several "
                          "that share the lhs";
  MatmulOp matmul = matmuls.front();
  if (!is16Bit(matmul.getLhs().getType()))
    return emitError() << "takes f16 or bf16 operands, not "
                       << matmul.getLhs().getType().getElementType();
  const Extents &tile = getTile(), &cluster = getCluster();
  if (tile.rank != 3 || cluster.rank != 2)
    return emitError() << "tile is MxNxK and cluster MxN, as in tile = "
                          "128x128x64, cluster = 2x1";
  if (tile[0] % 64 || tile[0] < 64 || tile[0] > 256)
    return emitError() << "tile M is 64, 128, 192 or 256, not " << tile[0];
  if (tile[1] % 16 || tile[1] < 16 || tile[1] > 256)
    return emitError() << "tile N is a multiple of 16 from 16 to 256, not "
                       << tile[1];
  if (tile[2] % 16 || tile[2] < 16 || tile[2] > 1024)
    return emitError() << "tile K is a multiple of 16 up to 1024, not "
                       << tile[2];
  // The tile is that of both products together.
  if (isGated(fused) && tile[1] % 32)
    return emitError() << "tile N of two products is a multiple of 32, not "
                       << tile[1];
  if (matmuls.size() > 1 && getKernel() == KernelSchedule::stream_k)
    return emitError() << "several products run as a cooperative or a pingpong "
                          "kernel, not as stream_k";
  auto reductions = cast<FusedOp>(fused).getBody().front().getOps<ReduceOp>();
  if (!reductions.empty() && getKernel() == KernelSchedule::stream_k)
    return emitError() << "reductions of a product run after a cooperative or "
                          "a pingpong kernel, not after stream_k";
  bool pingpong = getKernel() == KernelSchedule::pingpong;
  if (!pingpong && tile[0] != 128 && tile[0] != 256)
    return emitError() << "a cooperative kernel needs tile M of 128 or 256, not "
                       << tile[0];
  int64_t registers = tile[0] * tile[1] / (pingpong ? 128 : 256);
  if (registers > 128)
    return emitError() << "accumulators need " << registers
                       << " registers a thread, and at most 128 do not spill";
  if (!llvm::is_contained({1, 2, 4}, cluster[0]) ||
      !llvm::is_contained({1, 2, 4}, cluster[1]) ||
      cluster[0] * cluster[1] > 4)
    return emitError() << "a cluster has 1, 2 or 4 blocks";
  if (!llvm::is_contained({1, 2, 4, 8}, getSwizzle()))
    return emitError() << "swizzle is 1, 2, 4 or 8, not " << getSwizzle();
  int64_t available = machine.sharedMemoryBytes;
  if (getSharedMemoryBytes(fused) > available)
    return emitError() << "needs " << getSharedMemoryBytes(fused)
                       << " bytes of shared memory, and '" << machine.name
                       << "' has " << available;
  // TMA: 16-byte strides of both operands and of the result.
  for (MatmulOp product : matmuls)
    for (int64_t size : {product.getK(), product.getN()})
      if (size % 8)
        return emitError() << "needs K and N to be multiples of 8 (16-byte "
                              "rows for TMA), not "
                           << size;
  if (matmul.getTransposeA() && matmul.getM() % 8)
    return emitError() << "needs M to be a multiple of 8, not "
                       << matmul.getM();
  return success();
}

SmallVector<ScheduleAttrInterface> Sm90GemmSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (const Extents &tile : getTile())
    for (const Extents &cluster : getCluster())
      for (KernelSchedule kernel : getKernel())
        for (int64_t swizzle : getSwizzle())
          points.push_back(
              Sm90GemmAttr::get(getContext(), tile, cluster, kernel, swizzle));
  return points;
}

LogicalResult CublasGemmAttr::verifySchedule(Operation *fused,
                                             const MachineDescription &machine,
                                             EmitError emitError) const {
  if (failed(requireGpu(machine, emitError)))
    return failure();
  auto matmul = getOnly<MatmulOp>(fused);
  if (!matmul || fused->getNumResults() != 1 ||
      cast<FusedOp>(fused).getYield()->getOperand(0) != matmul.getResult())
    return emitError() << "takes a plain 'fact.matmul' and no epilogue";
  if (!is16Bit(matmul.getLhs().getType()))
    return emitError() << "takes f16 or bf16 operands";
  return success();
}

//===----------------------------------------------------------------------===//
// Hopper attention
//===----------------------------------------------------------------------===//

/// Head dimensions are padded by tile to a multiple of 32.
static int64_t padHead(int64_t head) { return (head + 31) / 32 * 32; }

int64_t Sm90AttentionAttr::getSharedMemoryBytes(Operation *fused) const {
  auto attention = getOnly<AttentionOp>(fused);
  int64_t head = padHead(attention.getQuery().getType().getDimSize(3));
  return 2 * head * (getTile()[0] + getStages() * getTile()[1]);
}

LogicalResult
Sm90AttentionAttr::verifySchedule(Operation *fused,
                                  const MachineDescription &machine,
                                  EmitError emitError) const {
  if (failed(requireHopper(machine, emitError)))
    return failure();
  auto attention = getOnly<AttentionOp>(fused);
  if (!attention)
    return emitError() << "needs a region with exactly one 'fact.attention'";
  RankedTensorType query = attention.getQuery().getType();
  if (!is16Bit(query))
    return emitError() << "takes f16 or bf16 operands, not "
                       << query.getElementType();
  int64_t head = query.getDimSize(3);
  if (head % 8 || head > 128 ||
      head != attention.getValue().getType().getDimSize(3))
    return emitError() << "takes one head dimension for keys and values, a "
                          "multiple of 8 up to 128, not "
                       << head;
  const Extents &tile = getTile();
  if (tile.rank != 2 || getKernel() == KernelSchedule::stream_k)
    return emitError() << "is written as tile = 128x128, kernel = cooperative "
                          "or pingpong";
  if (!llvm::is_contained({128, 192}, tile[0]))
    return emitError() << "query tile is 128 or 192, not " << tile[0];
  if (!llvm::is_contained({32, 64, 96, 128, 192, 256}, tile[1]))
    return emitError() << "key tile is one native width (32, 64, 96, 128, 192 "
                          "or 256), not "
                       << tile[1];
  if (attention.getCausal() && tile[0] % tile[1] && tile[1] % tile[0])
    return emitError() << "a causal mask needs one tile size to divide the "
                          "other, not "
                       << tile[0] << "x" << tile[1];
  // The next key tile is loaded before the value tile of this one is free: two
  // stages wait for each other forever.
  if (getStages() < 3 || getStages() > 8)
    return emitError() << "stages are 3 to 8, not " << getStages();
  int64_t available = machine.sharedMemoryBytes;
  if (getSharedMemoryBytes(fused) > available)
    return emitError() << "needs " << getSharedMemoryBytes(fused)
                       << " bytes of shared memory, and '" << machine.name
                       << "' has " << available;
  return success();
}

SmallVector<ScheduleAttrInterface> Sm90AttentionSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (const Extents &tile : getTile())
    for (KernelSchedule kernel : getKernel())
      for (int64_t stages : getStages())
        points.push_back(
            Sm90AttentionAttr::get(getContext(), tile, kernel, stages));
  return points;
}

//===----------------------------------------------------------------------===//
// CUDA rows and elements
//===----------------------------------------------------------------------===//

LogicalResult CudaRowAttr::verifySchedule(Operation *fused,
                                          const MachineDescription &machine,
                                          EmitError emitError) const {
  if (failed(requireGpu(machine, emitError)))
    return failure();
  int64_t threads = getThreads(), rows = getRows();
  if (threads < 32 || threads > 1024 || threads % 32)
    return emitError() << "threads of a row are a multiple of 32 up to 1024, "
                          "not "
                       << threads;
  if (rows < 1 || rows > 1024 / threads)
    return emitError() << "a block has at most 1024 threads, not " << rows
                       << " rows of " << threads;
  if (rows > 1 && threads > 32)
    return emitError() << "several rows a block have one warp each, and "
                       << threads << " threads are more";
  int64_t columns = 1;
  if (auto norm = getOnly<NormOp>(fused))
    for (int64_t size : norm.getType().getShape().take_back(norm.getDims()))
      columns *= size;
  else if (auto softmax = getOnly<SoftmaxOp>(fused))
    columns = softmax.getType().getShape().back();
  else if (auto reduce = getOnly<ReduceOp>(fused))
    for (int64_t dim : reduce.getDims())
      columns *= cast<RankedTensorType>(reduce.getOperand().getType())
                     .getDimSize(dim);
  else
    return emitError() << "needs a region with exactly one 'fact.norm', "
                          "'fact.softmax' or 'fact.reduce'";
  if (columns > threads * 64)
    return emitError() << "a row of " << columns
                       << " elements does not fit the registers of " << threads
                       << " threads (64 each)";
  return success();
}

SmallVector<ScheduleAttrInterface> CudaRowSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (int64_t threads : getThreads())
    for (int64_t rows : getRows())
      points.push_back(CudaRowAttr::get(getContext(), threads, rows));
  return points;
}

LogicalResult
CudaPointwiseAttr::verifySchedule(Operation *fused,
                                  const MachineDescription &machine,
                                  EmitError emitError) const {
  if (failed(requireGpu(machine, emitError)))
    return failure();
  if (getThreads() < 32 || getThreads() > 1024 || getThreads() % 32)
    return emitError() << "threads are a multiple of 32 up to 1024, not "
                       << getThreads();
  if (!llvm::is_contained({1, 2, 4, 8}, getVector()))
    return emitError() << "vector is 1, 2, 4 or 8, not " << getVector();
  return success();
}

SmallVector<ScheduleAttrInterface> CudaPointwiseSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (int64_t threads : getThreads())
    for (int64_t vector : getVector())
      points.push_back(CudaPointwiseAttr::get(getContext(), threads, vector));
  return points;
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

LogicalResult HostGemmAttr::verifySchedule(Operation *fused,
                                           const MachineDescription &machine,
                                           EmitError emitError) const {
  if (failed(requireHost(machine, emitError)))
    return failure();
  if (getGemm(fused).empty())
    return emitError() << "needs a region with one 'fact.matmul', or several "
                          "that share the lhs";
  const Extents &micro = getMicro();
  if (micro.rank != 2)
    return emitError() << "micro is rows x columns, as in micro = 6x16";
  if (micro[0] < 1 || micro[1] < 4 || micro[1] % 4 || micro[1] > 512 ||
      micro[0] > 512 / micro[1])
    return emitError() << "the register tile has columns in multiples of 4 and "
                          "at most 512 elements, not "
                       << micro[0] << "x" << micro[1];
  if (getRows() % micro[0] || getColumns() % micro[1] || getRows() < 1 ||
      getColumns() < 1)
    return emitError() << "rows and columns are multiples of the register "
                          "tile's";
  if (getRows() > maxSize || getColumns() > maxSize)
    return emitError() << "a parallel tile has at most " << maxSize
                       << " rows and as many columns, not " << getRows() << "x"
                       << getColumns();
  return success();
}

/// The largest multiple of `unit` that is not more; what has no unit as it is.
static int64_t roundDown(int64_t size, int64_t unit) {
  return unit < 1 ? size : size / unit * unit;
}

SmallVector<ScheduleAttrInterface> HostGemmSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (const Extents &micro : getMicro())
    for (int64_t rows : getRows())
      for (int64_t columns : getColumns())
        points.push_back(HostGemmAttr::get(getContext(), micro,
                                           roundDown(rows, micro[0]),
                                           roundDown(columns, micro[1])));
  return points;
}

LogicalResult HostRowsAttr::verifySchedule(Operation *,
                                           const MachineDescription &machine,
                                           EmitError emitError) const {
  if (failed(requireHost(machine, emitError)))
    return failure();
  if (getGrain() < 1 || getGrain() > maxSize)
    return emitError() << "grain is 1 to " << maxSize << ", not " << getGrain();
  return success();
}

SmallVector<ScheduleAttrInterface> HostRowsSpaceAttr::enumerate() const {
  SmallVector<ScheduleAttrInterface> points;
  for (int64_t grain : getGrain())
    points.push_back(HostRowsAttr::get(getContext(), grain));
  return points;
}

//===----------------------------------------------------------------------===//
// Any family
//===----------------------------------------------------------------------===//

SmallVector<ScheduleAttrInterface> SchedulesAttr::enumerate() const {
  return llvm::to_vector(getSchedules());
}
