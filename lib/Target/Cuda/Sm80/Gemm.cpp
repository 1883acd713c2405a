//===- Gemm.cpp - Products of one lhs, from sm_80 on ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Gemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;
using namespace fact::sm80;

/// Tiles of all batches.
int64_t GemmPlan::countTiles(const Extents &tile) const {
  return llvm::divideCeil(gemm.m, tile[0]) * llvm::divideCeil(gemm.n, tile[1]) *
         gemm.batches;
}

/// The most elements, up to 16 bytes, that all numbers are multiples of, which
/// have the bits of `numbers`.
static int64_t getVector(int64_t numbers, Type element) {
  int64_t elements = 16 / getStorageBytes(element);
  while (numbers % elements)
    elements /= 2;
  return elements;
}

/// Elements of a matrix that a thread moves at once: 16 bytes, or as many as
/// all rows begin at multiples of.
static int64_t getVector(const MatrixTensor &matrix) {
  int64_t rowStride = matrix.leadingDimension, columnStride = 1;
  if (matrix.kind == MatrixTensor::StridedMatrix)
    columnStride = matrix.columnStride;
  if (rowStride != 1 && columnStride != 1)
    return 1;
  int64_t strides = rowStride == 1 ? columnStride : rowStride;
  for (int64_t other :
       {matrix.offset, matrix.batchStride, matrix.innerBatchStride})
    strides |= other;
  return getVector(strides, matrix.element);
}

/// What an element costs that shares no sector of memory with its neighbors in
/// rows and columns: 7 million of bf16 took an H200 100 us.
static constexpr double scatteredBytes = 64;

static bool isScattered(const MatrixTensor &matrix) {
  return matrix.kind == MatrixTensor::StridedMatrix &&
         matrix.leadingDimension != 1 && matrix.columnStride != 1;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t sm80::getVectorOfPixels(const StridedView &image) {
  if (image.strides.back() != 1)
    return 1;
  int64_t strides = image.shape.back() | image.offset;
  for (int64_t stride : ArrayRef(image.strides).drop_back())
    strides |= stride;
  return getVector(strides, getTensorType(image.base).getElementType());
}

int64_t Gemm::getVectorOfA() const {
  return windows ? getVectorOfPixels(windows->image) : getVector(a);
}

double Gemm::countElementsOfA() const {
  if (!windows)
    return double(batches) * m * k;
  return double(llvm::product_of(windows->image.shape));
}

/// The first dimension of batches has none.
void Gemm::printA(raw_ostream &os) const {
  if (!windows) {
    os << a;
    return;
  }
  const StridedView &image = windows->image;
  os << "WindowRows<" << a.buffer << ", " << getScalarName(a.element) << ", "
     << image.shape.back() << ", " << image.strides.back() << ", "
     << a.batchStride << ", " << a.offset;
  size_t leading = windows->getBatchRank();
  for (size_t i = batches > 1 ? 1 : 0; i + 1 < image.shape.size(); ++i) {
    SmallVector<int64_t> axis{0, image.shape[i], 1, 1, 1};
    if (i >= leading) {
      size_t dim = i - leading;
      axis = {windows->zeros[dim], windows->counts[dim], windows->kernel[dim],
              windows->strides[dim], windows->dilations[dim]};
    }
    os << ",\n               WindowDim<" << image.shape[i] << ", "
       << image.strides[i];
    for (int64_t number : axis)
      os << ", " << number;
    os << ">";
  }
  os << ">";
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// An upper bound of what the kernel takes: stages, whose rows are padded, or
/// the sums of a tile.
int64_t GemmPlan::getSharedMemoryBytes(Sm80GemmAttr schedule) const {
  Extents tile = schedule.getTile();
  int64_t size = gemm.getElementBytes();
  // Rows along K have 16 bytes of padding, others as many, or 32 for f32.
  auto getBytes = [&](int64_t outer) {
    return std::max(outer * (tile[2] * size + 16),
                    tile[2] * (outer * size + (size == 4 ? 32 : 16)));
  };
  int64_t products = gemm.factors.size();
  int64_t stage = getBytes(tile[0]) + products * getBytes(tile[1]);
  int64_t sums = products * tile[0] * (tile[1] + 8) * 4;
  return std::max(schedule.getStages() * stage, sums);
}

LogicalResult GemmPlan::checkSplits(Sm80GemmAttr schedule,
                                    EmitError emitError) const {
  int64_t splits = schedule.getSplitK();
  int64_t tiles = llvm::divideCeil(gemm.k, schedule.getTile()[2]);
  if (splits > tiles)
    return emitError() << "split_k is at most " << tiles
                       << ", the tiles of K, not " << splits;
  // Both grids have one dimension.
  double blocks = double(countTiles(schedule.getTile())) * splits;
  double rows = double(gemm.batches) * gemm.m * gemm.n / 256;
  double grid = splits > 1 ? std::max(blocks, rows) : blocks;
  if (grid > std::numeric_limits<int32_t>::max())
    return emitError() << "a grid has at most 2147483647 blocks, not "
                       << int64_t(grid);
  constexpr double mostBytes = 1 << 30;
  double bytes = 4.0 * splits * gemm.factors.size() * gemm.batches * gemm.m *
                 llvm::alignTo(gemm.n, 8);
  if (splits > 1 && bytes > mostBytes)
    return emitError() << "sums of split_k take at most 1024 MiB, not "
                       << std::llround(bytes / (1 << 20));
  return success();
}

/// Whether warps can divide the tile, and threads hold their sums.
LogicalResult GemmPlan::checkWarps(Sm80GemmAttr schedule,
                                   EmitError emitError) const {
  Extents tile = schedule.getTile(), warps = schedule.getWarps();
  for (int i : {0, 1})
    if (tile[i] % (16 * warps[i]))
      return emitError() << "tile " << (i == 0 ? "M" : "N")
                         << " must be a multiple of " << 16 * warps[i]
                         << ", 16 per warp, not " << tile[i];
  if (schedule.getThreads() > 1024)
    return emitError() << "a block has at most 32 warps, not "
                       << schedule.getThreads() / 32;
  bool isSimt = schedule.isSimt();
  if (isSimt && !gemm.isStrict())
    return emitError() << "math = simt multiplies f32 without tf32";
  // Four times eight lanes load vectors of four elements.
  if (isSimt && tile[0] == 16 * warps[0] && tile[1] == 16 * warps[1])
    return emitError() << "math = simt needs 32x16 or 16x32 of the tile per "
                          "warp, not 16x16";
  // A strict product by matrix units holds small parts of factors and the sums
  // of each step too: as much again. One on the f32 units holds 4 steps of K of
  // both factors beside the sums.
  int64_t sets = gemm.factors.size() * (gemm.isStrict() && !isSimt ? 2 : 1);
  int64_t registers = sets * tile[0] * tile[1] / schedule.getThreads();
  int64_t most = isSimt ? 64 : 128;
  if (registers > most)
    return emitError() << "sums need " << registers
                       << " registers per thread, and at most " << most
                       << " do not spill";
  return success();
}

LogicalResult GemmPlan::checkLimits(ScheduleAttr schedule,
                                    EmitError emitError) const {
  auto own = dyn_cast<Sm80GemmAttr>(schedule);
  if (!own) {
    if (!gemm.isPlain)
      return emitError() << "takes a plain 'fact.matmul', without an epilogue";
    return success();
  }
  if (gemm.rate == MatrixRate::F64)
    return emitError() << "multiplies f16, bf16 and f32, not f64";
  if (failed(checkWarps(own, emitError)))
    return failure();
  if (failed(checkSplits(own, emitError)))
    return failure();
  return requireSharedMemory(getSharedMemoryBytes(own), machine, emitError);
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

SpaceAttrInterface GemmPlan::getSpace() const {
  // Tiles of 16-bit elements; 32-bit ones have as many bytes along K.
  SmallVector<Extents> tiles, warps{{2, 2}, {2, 4}, {4, 2}};
  SmallVector<int64_t> stages{3, 4};
  bool isLow = gemm.m <= 32, isNarrow = gemm.n <= 32;
  int64_t low = gemm.m <= 16 ? 16 : 32, narrow = gemm.n <= 16 ? 16 : 32;
  if (isLow && isNarrow) {
    tiles = {{low, narrow, 64}, {low, narrow, 128}};
    warps = {{1, 1}, {2, 1}, {1, 2}};
  } else if (isLow) {
    tiles = {{low, 64, 64}, {low, 128, 64}, {low, 64, 128}};
    warps = {{1, 2}, {1, 4}};
  } else if (isNarrow) {
    tiles = {{64, narrow, 64}, {128, narrow, 64}, {64, narrow, 128}};
    warps = {{2, 1}, {4, 1}};
  } else if (countTiles({128, 128}) < 2 * machine.multiprocessors) {
    tiles = {{64, 64, 64}, {64, 128, 32}, {32, 64, 64}, {64, 32, 64}};
    warps = {{2, 2}, {2, 4}};
  } else {
    tiles = {{128, 128, 32}, {128, 64, 32},  {64, 128, 32}, {128, 128, 64},
             {64, 64, 64},   {128, 256, 32}, {256, 128, 32}};
    // Of 24 kernels for 64 columns, the fastest has tall warps and four stages.
    if (gemm.n <= 64) {
      warps.insert(warps.begin(), {4, 1});
      stages = {4, 3};
    }
  }
  for (Extents &tile : tiles)
    tile = {tile[0], tile[1], tile[2] * 2 / gemm.getElementBytes()};

  // Splits that give multiprocessors half a block of the first tile to four, or
  // the most where that is less.
  SmallVector<int64_t> splits{1};
  int64_t blocks = countTiles(tiles.front());
  int64_t most =
      std::min<int64_t>(128, llvm::divideCeil(gemm.k, 2 * tiles.front()[2]));
  for (int64_t split = 2; split <= most; split *= 2)
    if (blocks * split < 4 * machine.multiprocessors &&
        (2 * blocks * split >= machine.multiprocessors || 2 * split > most))
      splits.push_back(split);

  // Stages beyond the tiles of K stay empty.
  if (gemm.k <= tiles.front()[2])
    stages = {2, 3};

  // The f32 units take part where they outdo three products of TF32, or where
  // splitting factors into parts takes longer than multiplying them.
  SmallVector<GemmMath> math{GemmMath::mma};
  if (gemm.isStrict() &&
      (3 * getPeak(MatrixRate::F32) > getPeak(MatrixRate::TF32) ||
       gemm.k <= shortSum))
    math = {GemmMath::simt, GemmMath::mma};
  return Sm80GemmAttr::getSpace(fused.getContext(), tiles, warps, stages,
                                splits, math);
}

SmallVector<ScheduleAttr> GemmPlan::getFixedSchedules() const {
  if (!gemm.isPlain)
    return {};
  return {CublasGemmAttr::get(fused.getContext())};
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double GemmPlan::getPeak(MatrixRate rate) const {
  return machine.matrixFlops[size_t(rate)];
}

/// Blocks that run on a multiprocessor at a time.
double GemmPlan::countResident(Sm80GemmAttr schedule) const {
  // Sums, and what addresses and fragments take: 64x128 of TF32 with 128
  // threads took 182 registers.
  Extents tile = schedule.getTile();
  double registers = 110 + double(gemm.factors.size()) * tile[0] * tile[1] /
                               schedule.getThreads();
  double fitting =
      std::min(std::floor(double(machine.sharedMemoryBytes) /
                          getSharedMemoryBytes(schedule)),
               std::floor(65536 / (registers * schedule.getThreads())));
  double blocks = double(countTiles(schedule.getTile())) *
                  schedule.getSplitK() / machine.multiprocessors;
  return std::max(std::min(fitting, std::ceil(blocks)), 1.0);
}

/// The share of the units' peak that blocks reach.
double GemmPlan::getEfficiency(Sm80GemmAttr schedule) const {
  Extents tile = schedule.getTile(), warps = schedule.getWarps();
  double rows = double(tile[0]) / warps[0];
  double columns = double(tile[1]) / warps[1];
  // Elements per multiplication that a warp loads from shared memory.
  double loads = (rows + columns) / (rows * columns);
  double share;
  if (schedule.isSimt())
    share = 0.9 / (1 + 5 * loads);
  else // Hopper and later reach their peaks with other instructions.
    share = (machine.architecture.starts_with("sm_8") ? 0.85 : 0.6) /
            (1 + 8 * loads);
  // Warps that run while others wait.
  double active = countResident(schedule) * schedule.getThreads() / 32;
  return share * active / (active + 2);
}

double GemmPlan::predict(ScheduleAttr schedule) const {
  auto own = dyn_cast<Sm80GemmAttr>(schedule);
  if (!own)
    return 1e6 * gemm.getPlain().predictCublas(machine);
  Extents tile = own.getTile();
  double products = gemm.factors.size(), splits = own.getSplitK();
  double size = gemm.getElementBytes();
  double blocks = double(countTiles(tile)) * splits;
  double waves = std::ceil(blocks / machine.multiprocessors);
  double depth =
      std::ceil(llvm::divideCeil(gemm.k, tile[2]) / splits) * tile[2];

  // A strict product by matrix units is three of TF32, whose parts take time to
  // compute.
  bool isSplit = gemm.isStrict() && !own.isSimt();
  double peak = getPeak(isSplit ? MatrixRate::TF32 : gemm.rate);
  double work = isSplit ? 3 / 0.8 : 1;
  double area = double(tile[0]) * tile[1] * products;
  double compute = waves * 2 * area * depth * work * machine.multiprocessors /
                   (peak * getEfficiency(own));
  // A step waits for loads that were begun as many steps before as there are
  // stages but one. An H200 takes 64 us for 128 steps of three stages.
  constexpr double loadSeconds = 1e-6;
  double rounds =
      std::ceil(blocks / (machine.multiprocessors * countResident(own)));
  compute = std::max(compute, rounds * depth / tile[2] * loadSeconds /
                                  (own.getStages() - 1));
  // Copies take issue slots. 1023x1021x2047 in TF32, one element at a time,
  // took 99 us with 8 warps on a multiprocessor, and 771x771x1537 105 us with
  // 4, which wait for the addresses of asynchronous copies.
  double copies = double(tile[0]) / gemm.getVectorOfA();
  for (const MatrixTensor &factor : gemm.factors)
    copies += double(tile[1]) / getVector(factor);
  double warps = countResident(own) * own.getThreads() / 32;
  double copySlots = size == 4 ? 20 * (1 + 8 / warps) : 40;
  // Threads find where elements of windows lie.
  if (gemm.windows)
    copySlots += 20.0 * gemm.windows->counts.size();
  compute = std::max(compute, waves * copies * depth * copySlots /
                                  (128 * machine.clock));
  // Results of 4096x3001x256 in bf16, one element at a time, took 28 of 55 us.
  double slots = 8 + gemm.epilogue->getCost() + 4.0 * gemm.operands.size();
  for (const MatrixTensor &result : gemm.results) {
    double vector = getVector(result);
    bool isWhole = vector * getStorageBytes(result.element) >= 16;
    slots += isWhole ? 4 : 64 / vector;
  }
  double epilogue = waves * area * slots / (128 * machine.clock);
  // Threads wait for operands, of a few vectors at a time (Sm80Epilogue.cuh):
  // 1009x515x302, four times, with two operands of single elements, took an
  // H200 252 us when it was one vector at a time.
  if (countMatrixBytes(gemm.operands, gemm.m, gemm.n) > 0) {
    constexpr double waitSeconds = 1.5e-6;
    double vector = 8;
    for (const MatrixTensor &result : gemm.results)
      vector = std::min<double>(vector, getVector(result));
    double together = vector >= 4 ? 2 : 4;
    double waits = std::ceil(double(tile[0]) * tile[1] /
                             (vector * own.getThreads() * together));
    epilogue = std::max(epilogue, rounds * waits * waitSeconds);
  }

  // Blocks read through the cache, at 2.5 times the bandwidth. It hides nothing
  // of what comes from memory: of 514 MB, tiles that read 822 MB took 191 us on
  // an H200, and tiles that read 629 MB 169 us. Few blocks do not use all of
  // it.
  double elements = double(gemm.m) * gemm.n * gemm.batches;
  double bytes = size * (gemm.countElementsOfA() +
                         products * gemm.batches * gemm.k * gemm.n);
  bytes += gemm.batches * countMatrixBytes(gemm.operands, gemm.m, gemm.n);
  for (const MatrixTensor &result : gemm.results)
    bytes += elements * (isScattered(result) ? scatteredBytes
                                             : getStorageBytes(result.element));
  double reads = blocks * (tile[0] + products * tile[1]) * depth * size;
  double share = std::min(1.0, 1.5 * blocks / machine.multiprocessors);
  double memory =
      (bytes + reads / 2.5) / (machine.bandwidth * std::max(share, 0.01));
  double time = std::max(compute, memory) + epilogue + machine.launchSeconds;
  // Each block fills its pipeline first; those that run together do so at the
  // same time.
  time += 1e-6 * std::min(rounds, 4.0);
  // Then a thread adds the sums of an element, 16 at a time.
  if (splits > 1)
    time += machine.launchSeconds + std::ceil(splits / 16) * products * 0.7e-6 +
            8 * splits * products * elements / machine.bandwidth;
  return 1e6 * time;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void GemmPlan::emitGemm(const KernelVariant &variant, raw_ostream &os) const {
  auto schedule = cast<Sm80GemmAttr>(variant.schedule);
  printHeader(os, fused, schedule, variant.symbol,
              gemm.windows ? "Sm80Windows.cuh" : "Sm80Gemm.cuh");
  SmallVector<StringRef> leading{"accumulator"};
  if (gemm.factors.size() == 2)
    leading = {"first", "second"};
  SmallVector<std::string> functors = printFunctors(
      os, *gemm.epilogue, leading, "Epilogue", gemm.results.size());
  os << "using Kernel = Sm80Gemm<\n    ";
  printProblem(os, gemm.m, gemm.n, gemm.k, gemm.batches);
  os << ",\n    ";
  gemm.printA(os);
  os << ",\n    Factors<";
  llvm::interleave(gemm.factors, os, ",\n            ");
  os << ">,\n    ";
  printOperands(os, gemm.operands);
  os << ",\n    ";
  printResults(os, functors, gemm.results);
  Extents tile = schedule.getTile(), warps = schedule.getWarps();
  os << ",\n    Sm80Schedule<Tile<" << tile[0] << ", " << tile[1] << ", "
     << tile[2] << ">, Warps<" << warps[0] << ", " << warps[1] << ">, Stages<"
     << schedule.getStages() << ">, Splits<" << schedule.getSplitK() << ">>";
  if (gemm.rate == MatrixRate::TF32)
    os << ",\n    Tf32";
  else if (schedule.isSimt())
    os << ",\n    Simt32";
  os << ">;\n";
  printFooter(os, variant.symbol);
}

LogicalResult GemmPlan::emit(ArrayRef<KernelVariant> variants,
                             KernelCode &code) const {
  if (isa<CublasGemmAttr>(variants.front().schedule)) {
    gemm.getPlain().emitCublas(fused, variants.front(), code);
  } else {
    llvm::raw_string_ostream os(code.text);
    emitGemm(variants.front(), os);
  }
  return success();
}
