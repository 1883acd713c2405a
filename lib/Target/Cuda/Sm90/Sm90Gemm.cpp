//===- Sm90Gemm.cpp - What all Hopper GEMMs share -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sm90Gemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

std::string Sm90GemmPlan::getObjectKey(ScheduleAttr schedule) const {
  // The swizzle is a run-time argument.
  if (auto gemm = dyn_cast<Sm90GemmAttr>(schedule))
    return gemm.withSwizzle(1).getKey();
  return schedule.getKey();
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(MatrixRate rate) {
  return rate == MatrixRate::Bits16 ? 2 : 4;
}

bool fact::splitsAhead(Sm90GemmAttr schedule, MatrixRate rate) {
  Extents tile = schedule.getTile();
  return rate == MatrixRate::F32 &&
         schedule.getKernel() != KernelSchedule::pingpong && tile[0] == 128 &&
         tile[2] == 32;
}

/// The least shared memory of a kernel. Two stages are the fewest that overlap
/// loads with math; the kernel takes as many as fit. The epilogue stages one
/// 64x32 subtile per warpgroup and per matrix that it reads or writes.
static int64_t getSharedMemoryBytes(Sm90GemmAttr schedule, MatrixRate rate,
                                    int64_t results) {
  Extents tile = schedule.getTile();
  int64_t elementBytes = getElementBytes(rate);
  // A strict product keeps small parts too: of B, or of both factors.
  int64_t rows = tile[0] + tile[1];
  if (splitsAhead(schedule, rate))
    rows += tile[1];
  else if (rate == MatrixRate::F32)
    rows *= 2;
  int64_t epilogueBuffers = 2 + results;
  return (2 * rows * tile[2] + epilogueBuffers * 4 * 64 * 32) * elementBytes;
}

SmallVector<Extents> fact::getTiles(ArrayRef<Extents> tiles, MatrixRate rate) {
  return llvm::map_to_vector(tiles, [&](const Extents &tile) {
    return Extents{tile[0], tile[1], tile[2] * 2 / getElementBytes(rate)};
  });
}

LogicalResult Sm90GemmPlan::checkGemm(Sm90GemmAttr schedule,
                                      const Limits &limits,
                                      EmitError emitError) const {
  Extents tile = schedule.getTile(), cluster = schedule.getCluster();
  if (tile[1] % limits.tileColumns)
    return emitError() << "tile N of two products must be a multiple of "
                       << limits.tileColumns << ", not " << tile[1];
  if (schedule.getKernel() == KernelSchedule::stream_k &&
      !limits.noStreamK.empty())
    return emitError() << limits.noStreamK;
  bool pingpong = schedule.getKernel() == KernelSchedule::pingpong;
  if (!pingpong && tile[0] != 128 && tile[0] != 256)
    return emitError() << "a cooperative kernel needs tile M of 128 or 256, "
                          "not "
                       << tile[0];
  // A strict product has a second set for the sums of each tile of K.
  int64_t sets = limits.rate == MatrixRate::F32 ? 2 : 1;
  int64_t registers = sets * tile[0] * tile[1] / (pingpong ? 128 : 256);
  if (registers > 128)
    return emitError() << "accumulators need " << registers
                       << " registers per thread, and at most 128 do not spill";
  if (cluster[0] * cluster[1] > 4)
    return emitError() << "a cluster has 1, 2 or 4 blocks, not "
                       << cluster[0] * cluster[1];
  return requireSharedMemory(
      getSharedMemoryBytes(schedule, limits.rate, limits.results), machine,
      emitError);
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {
/// What kernels of one rate take, fitted to the times of 219 products on an
/// H200 (docs/benchmarks/gemm-ranking.md).
struct GemmFigures {
  /// Rows and columns that the tensor cores take beside those of a tile.
  double rows, columns;
  /// The share of the peak at which kernels multiply, and how fast a strict one
  /// that splits both factors in shared memory is beside one whose B was split
  /// ahead.
  double cooperative, pingpong, splitting;
  /// Bytes that the L2 cache brings to a multiprocessor in a cycle.
  double cacheRate;
  /// A cluster of n blocks loads 1 / n^multicast of what its blocks share.
  double multicast;
  /// The cost of rows that begin within a line of the cache.
  double brokenLines;
  /// Loads of the small parts of a strict B, beside those of B.
  double smallParts;
  /// Seconds until a block, and one of a cluster, multiplies.
  double begin, clusterBegin;
  /// Issue slots of the stores of an element.
  double stores;
  /// How fast steps of stream-K are beside others, and the seconds that a part
  /// of a tile of 128 x 128 takes to be added, and the power of its area.
  double streamK, join, joinArea;
  /// The share of the bandwidth, and how sharply the slower of two hides the
  /// other.
  double bandwidth, sharpness;
  /// What a swizzle of 2 or 4 leaves of the time where operands exceed the
  /// cache.
  double swizzle;
};
} // namespace

static const GemmFigures &getFigures(MatrixRate rate) {
  static constexpr GemmFigures bits16{
      /*rows=*/9.5,        /*columns=*/9.5,   /*cooperative=*/1,
      /*pingpong=*/1.1,
      /*splitting=*/1,     /*cacheRate=*/67,  /*multicast=*/0.33,
      /*brokenLines=*/1.7,
      /*smallParts=*/0,    /*begin=*/0.21e-6, /*clusterBegin=*/0.2e-6,
      /*stores=*/2.8,
      /*streamK=*/0.92,    /*join=*/1.3e-6,   /*joinArea=*/0.56,
      /*bandwidth=*/0.98,  /*sharpness=*/3.1,
      /*swizzle=*/0.989};
  static constexpr GemmFigures tf32{
      /*rows=*/4.2,        /*columns=*/8.6,   /*cooperative=*/0.95,
      /*pingpong=*/1.04,
      /*splitting=*/1,     /*cacheRate=*/83,  /*multicast=*/0.23,
      /*brokenLines=*/1.6,
      /*smallParts=*/0,    /*begin=*/0.11e-6, /*clusterBegin=*/0.56e-6,
      /*stores=*/7.9,
      /*streamK=*/0.88,    /*join=*/1.5e-6,   /*joinArea=*/1.1,
      /*bandwidth=*/0.81,  /*sharpness=*/2.5,
      /*swizzle=*/0.998};
  static constexpr GemmFigures strict{
      /*rows=*/14,         /*columns=*/36,    /*cooperative=*/1,
      /*pingpong=*/1.1,
      /*splitting=*/0.44,  /*cacheRate=*/100, /*multicast=*/0.078,
      /*brokenLines=*/2.5,
      /*smallParts=*/0.4,  /*begin=*/0.19e-6, /*clusterBegin=*/0.36e-6,
      /*stores=*/15,
      /*streamK=*/0.99,    /*join=*/2.9e-6,   /*joinArea=*/1.8,
      /*bandwidth=*/0.72,  /*sharpness=*/3.6,
      /*swizzle=*/0.96};
  switch (rate) {
  case MatrixRate::F32:
    return strict;
  case MatrixRate::TF32:
    return tf32;
  default:
    return bits16;
  }
}

/// The larger, or a little more where both are alike: neither hides all of the
/// other.
static double overlap(double a, double b, double sharpness) {
  return std::pow(std::pow(a, sharpness) + std::pow(b, sharpness),
                  1 / sharpness);
}

int64_t fact::limitSwizzle(int64_t swizzle, int64_t rows, int64_t columns) {
  int64_t least = std::min(rows, columns);
  int64_t limit = least >= 6 ? 8 : least >= 3 ? 4 : least >= 2 ? 2 : 1;
  return std::min(swizzle, limit);
}

/// The tiles of the grid, which CUTLASS pads to swizzles of whole clusters.
static double countTiles(const GemmWork &work, Sm90GemmAttr schedule) {
  const Extents &tile = schedule.getTile(), &cluster = schedule.getCluster();
  int64_t rows = llvm::alignTo(llvm::divideCeil(work.m, tile[0]), cluster[0]);
  int64_t columns =
      llvm::alignTo(llvm::divideCeil(work.n, tile[1]), cluster[1]);
  int64_t swizzle = limitSwizzle(schedule.getSwizzle(), rows, columns);
  return double(llvm::alignTo(rows, swizzle * cluster[0])) *
         llvm::alignTo(columns, swizzle * cluster[1]) * work.batches;
}

bool fact::usesBands(const TileBands &bands, Sm90GemmAttr schedule) {
  return schedule.getKernel() == KernelSchedule::cooperative &&
         (bands.a.is_bounded() || bands.b.is_bounded() || bands.d.is_bounded());
}

/// The seconds of a banded product's main loops and epilogues on `blocks`
/// blocks, by the kernel's own order of tiles.
static double predictBanded(const GemmWork &work, Sm90GemmAttr schedule,
                            double blocks, double tileSeconds,
                            double stepSeconds) {
  const Extents &tile = schedule.getTile(), &cluster = schedule.getCluster();
  TileExtents extents{int(tile[0] * cluster[0]), int(tile[1] * cluster[1]),
                      int(tile[2])};
  TileBands bands = work.bands;
  bands.set_problem(extents, work.m, work.n, work.k);
  unsigned tiles = bands.count_tiles(extents);
  unsigned clusters =
      std::max<unsigned>(1, blocks / double(cluster[0] * cluster[1]));
  // Many batches take as long as some, for each.
  double batches = work.batches;
  double counted =
      std::min(batches, std::max(1.0, std::ceil(16.0 * clusters / tiles)));
  std::vector<double> seconds(clusters);
  TileCursor cursor;
  unsigned all = tiles * unsigned(counted);
  std::vector<double> ofTile(tiles);
  for (unsigned i = 0; i < tiles; ++i)
    ofTile[i] =
        tileSeconds +
        stepSeconds *
            bands.get_steps(extents, bands.get_place(extents, i, cursor)).count;
  for (unsigned wave = 0; wave * clusters < all; ++wave)
    for (unsigned each = 0; each < clusters; ++each)
      if (unsigned position = get_tile_position(wave, each, clusters);
          position < all)
        seconds[each] += ofTile[position % tiles];
  return llvm::max_element(seconds)[0] * batches / counted;
}

double fact::predictGemm(const GemmWork &work, Sm90GemmAttr schedule,
                         const MachineDescription &machine) {
  const GemmFigures &figures = getFigures(work.rate);
  const Extents &tile = schedule.getTile(), &cluster = schedule.getCluster();
  int64_t blocksOfCluster = cluster[0] * cluster[1];
  double tiles = countTiles(work, schedule);
  // Clusters of four do not fill groups of 18 multiprocessors.
  double blocks = machine.multiprocessors * (blocksOfCluster == 4 ? 0.91 : 1.0);
  double waves = std::ceil(tiles / blocks);

  // Multiplying one tile of K. Sums of 160 or 224 columns are slow.
  double area = double(tile[0]) * tile[1];
  double efficiency = schedule.getKernel() == KernelSchedule::pingpong
                          ? figures.pingpong
                          : figures.cooperative;
  efficiency /= 1 + figures.rows / tile[0] + figures.columns / tile[1];
  if (tile[1] > 128 && tile[1] % 64)
    efficiency *= 0.69;
  // A strict product is three of TF32.
  bool isStrict = work.rate == MatrixRate::F32;
  bool isSplit = splitsAhead(schedule, work.rate);
  if (isStrict && !isSplit)
    efficiency *= figures.splitting;
  MatrixRate units = isStrict ? MatrixRate::TF32 : work.rate;
  double rate = machine.getPeak(units) / machine.multiprocessors;
  double products =
      (isStrict ? 3 : 1) * 2 * area * tile[2] / (rate * efficiency);

  // Loading it from the L2 cache. A cluster's blocks share what they load in
  // common.
  double elementBytes = getElementBytes(work.rate);
  double loaded = tile[0] / std::pow(double(cluster[1]), figures.multicast) +
                  tile[1] / std::pow(double(cluster[0]), figures.multicast) *
                      (isSplit ? 1 + figures.smallParts : 1);
  loaded *= elementBytes * tile[2];
  if (std::fmod(elementBytes * work.k, 128) != 0)
    loaded *= figures.brokenLines;
  double loads = loaded * std::min(tiles, blocks) /
                 (figures.cacheRate * machine.clock * machine.multiprocessors);

  // The main loop of a tile, which begins with an empty pipeline.
  double step = overlap(products, loads, figures.sharpness);
  double steps = llvm::divideCeil(work.k, tile[2]);
  double begin = blocksOfCluster > 1 ? figures.clusterBegin : figures.begin;
  double main = begin + steps * step;
  // The epilogue: issue slots of 128 lanes, and those of its stores.
  double epilogue =
      area * (work.slots + figures.stores) / (128 * machine.clock) +
      work.tileSeconds;

  double time = 0;
  switch (schedule.getKernel()) {
  case KernelSchedule::cooperative:
    time = usesBands(work.bands, schedule)
               ? predictBanded(work, schedule, blocks, begin + epilogue, step)
               : waves * (main + epilogue);
    break;
  case KernelSchedule::pingpong:
    // One warpgroup's epilogue is behind the other's main loop.
    time = waves * std::max(main, main / 2 + epilogue) + epilogue;
    break;
  case KernelSchedule::stream_k: {
    // All multiprocessors share the steps, at least eight each; those of one
    // tile add their sums one after the other.
    double share = std::max(tiles * steps / blocks, 8.0);
    double splits = std::max(steps / share, 1.0);
    time = begin + share * step / figures.streamK +
           std::max(tiles / blocks, 1.0) * epilogue +
           figures.join * splits *
               std::pow(std::max(area / (128 * 128), 1.0), figures.joinArea);
    break;
  }
  }

  // A small swizzle keeps operands in the cache.
  double operandBytes = elementBytes * (double(work.m) + work.n) * work.k;
  int64_t swizzle = schedule.getSwizzle();
  if (operandBytes > machine.cacheBytes && waves >= 4 &&
      (swizzle == 2 || swizzle == 4))
    time *= figures.swizzle;

  double bytes = work.bytes, pack = 0;
  if (isSplit) {
    double smallBytes = 4.0 * work.n * work.k * work.batches;
    bytes += smallBytes;
    // `pack` reads B, and writes it and its small parts.
    if (!work.packsOnce)
      pack = machine.launchSeconds + 3 * smallBytes / machine.bandwidth;
  }
  return machine.launchSeconds + 1e-6 + pack +
         overlap(time, bytes / (figures.bandwidth * machine.bandwidth),
                 figures.sharpness) +
         0.55 * work.epilogueBytes / machine.bandwidth;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static StringRef getKernelWord(KernelSchedule kernel) {
  switch (kernel) {
  case KernelSchedule::cooperative:
    return "Cooperative";
  case KernelSchedule::pingpong:
    return "Pingpong";
  case KernelSchedule::stream_k:
    return "StreamK";
  }
  llvm_unreachable("all kernels are listed");
}

void Sm90GemmPlan::printBeginning(raw_ostream &os, const KernelVariant &variant,
                                  const SizeList &sizes,
                                  StringRef header) const {
  if (sizes.areArguments())
    printSizedHeader(os, getObjectKey(variant.schedule), variant.symbol,
                     header);
  else
    printHeader(os, fused, variant.schedule, variant.symbol, header);
}

void fact::printProblem(raw_ostream &os, ArrayRef<int64_t> extents,
                        SizeList &sizes) {
  os << "Problem<";
  llvm::interleaveComma(extents, os,
                        [&](int64_t extent) { os << sizes.print(extent); });
  os << '>';
}

void fact::finishGemm(raw_ostream &os, ArrayRef<KernelVariant> variants,
                      MatrixRate rate, SizeList &sizes, KernelCode &code,
                      StringRef rest, StringRef bands) {
  SmallVector<int64_t> swizzles;
  for (const KernelVariant &variant : variants)
    swizzles.push_back(cast<Sm90GemmAttr>(variant.schedule).getSwizzle());
  auto schedule = cast<Sm90GemmAttr>(variants.front().schedule);
  const Extents &tile = schedule.getTile();
  const Extents &cluster = schedule.getCluster();
  std::string kernel = getKernelWord(schedule.getKernel()).str();
  if (!bands.empty())
    kernel = ("Banded<" + kernel + ",\n                 " + bands + ">").str();
  os << "GemmSchedule<Tile<" << tile[0] << ", " << tile[1] << ", " << tile[2]
     << ">, Cluster<" << cluster[0] << ", " << cluster[1] << ">, ";
  if (rate == MatrixRate::F32)
    os << "Promoted<" << kernel << '>';
  else
    os << kernel;
  os << ", Swizzle<" << sizes.printArgument(swizzles.front()) << ">>" << rest
     << ">;\n";
  printFooter(os, variants.front().symbol, sizes.getArguments().size());
  sizes.finish(swizzles, code);
}

void fact::registerSm90Families(DialectRegistry &registry) {
  registerGemmEpilogueFamily(registry);
  registerGatedGemmFamily(registry);
  registerGroupedGemmFamily(registry);
  registerAttentionFamily(registry);
  registerStrictAttentionFamily(registry);
}
