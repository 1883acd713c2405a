//===- PointwiseTiling.cpp - Pointwise passes that transpose --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PointwiseTiling.h"
#include "Interleaving.h"
#include <cmath>

using namespace mlir;
using namespace fact;

static int64_t getElementBytes(const StridedView &view) {
  return getStorageBytes(getTensorType(view.base).getElementType());
}

/// Dimensions by their strides, smallest first; broadcast ones last.
static SmallVector<int64_t> orderDimensions(const StridedView &view) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    auto key = [&](int64_t dim) {
      int64_t stride = std::abs(view.strides[dim]);
      return std::pair(stride == 0 ? INT64_MAX : stride, dim);
    };
    return key(a) < key(b);
  });
  return order;
}

/// Whether vectors along a dimension are contiguous and aligned.
static bool movesInVectors(const StridedView &view, int64_t dim,
                           int64_t vector) {
  for (auto [d, stride] : llvm::enumerate(view.strides))
    if (int64_t(d) == dim ? stride != 1 : stride % vector != 0)
      return false;
  return view.offset % vector == 0;
}

std::optional<PointwiseTiling>
PointwiseTiling::get(const Pointwise &pointwise) {
  // Tiles hold elements at strides, not those that indices choose.
  if (!pointwise.isPlain())
    return std::nullopt;
  PointwiseTiling tiling(pointwise);
  tiling.storeOrder = orderDimensions(pointwise.results.front());
  int64_t along = tiling.getAlong();
  double most = 0;
  for (const StridedView &operand : pointwise.operands) {
    SmallVector<int64_t> order = orderDimensions(operand);
    double bytes = countBytes(operand);
    if (operand.strides[along] != 0 && order.front() != along && bytes > most) {
      most = bytes;
      tiling.loadOrder = order;
    }
  }
  if (tiling.loadOrder.empty())
    return std::nullopt;
  for (const StridedView &operand : pointwise.operands)
    tiling.isStaged.push_back(operand.strides[along] != 0 &&
                              orderDimensions(operand).front() ==
                                  tiling.getAcross());
  return tiling;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// About `wanted` elements of a dimension, in parts of equal size.
int64_t PointwiseTiling::split(int64_t dim, int64_t wanted) const {
  int64_t extent = pointwise.getShape()[dim];
  bool isInner = dim == getAlong() || dim == getAcross();
  if (extent <= wanted)
    // Small elements share words of shared memory.
    return dim == getAlong() && extent >= 8 ? llvm::alignTo(extent, 4) : extent;
  int64_t parts = llvm::divideCeil(extent, wanted);
  // Whole vectors.
  return llvm::alignTo(llvm::divideCeil(extent, parts), isInner ? 16 : 1);
}

/// Extends a tile until it has so many neighbors in memory.
void PointwiseTiling::cover(ArrayRef<int64_t> order, int64_t wanted,
                            Tile &tile) const {
  int64_t run = 1;
  for (int64_t dim : order) {
    if (run >= wanted)
      return;
    tile[dim] = std::max(tile[dim], split(dim, llvm::divideCeil(wanted, run)));
    if (tile[dim] < pointwise.getShape()[dim])
      return;
    run *= tile[dim];
  }
}

PointwiseTiling::Tile PointwiseTiling::getTile(CudaTileAttr schedule) const {
  Tile tile(pointwise.getShape().size(), 1);
  cover(loadOrder, schedule.getRows(), tile);
  cover(storeOrder, schedule.getColumns(), tile);
  // Where one side is short, a block has more of the other.
  int64_t wanted = schedule.getRows() * schedule.getColumns();
  for (int64_t dim : loadOrder) {
    int64_t others = llvm::product_of(tile) / tile[dim];
    if (others * tile[dim] < wanted)
      tile[dim] = std::max(tile[dim],
                           split(dim, std::max<int64_t>(1, wanted / others)));
  }
  return tile;
}

int64_t PointwiseTiling::countTiles(const Tile &tile) const {
  int64_t count = 1;
  for (auto [extent, size] : llvm::zip_equal(pointwise.getShape(), tile))
    count *= llvm::divideCeil(extent, size);
  return count;
}

int64_t PointwiseTiling::getSharedBytes(const Tile &tile) const {
  int64_t rows = llvm::product_of(tile) / tile[getAlong()];
  int64_t bytes = 0;
  for (auto [operand, staged] : llvm::zip_equal(pointwise.operands, isStaged))
    if (staged)
      // Up to one word more per row.
      bytes += rows * (tile[getAlong()] * getElementBytes(operand) + 8) + 16;
  return bytes;
}

int64_t PointwiseTiling::getLoadedBytes(const Tile &tile,
                                        int64_t threads) const {
  int64_t bytes = 0;
  for (const StridedView &operand : pointwise.operands)
    bytes += getElementBytes(operand);
  return llvm::divideCeil(llvm::product_of(tile), threads) * bytes;
}

/// As `TiledPointwise` loads: each access has an address and its elements, of
/// which those of less than a word take a whole one.
int64_t PointwiseTiling::countRegisters(const Tile &tile,
                                        int64_t threads) const {
  int64_t registers = 16;
  int64_t items = llvm::divideCeil(llvm::product_of(tile), threads);
  int64_t vector = getVector(tile);
  for (auto [i, operand] : llvm::enumerate(pointwise.operands)) {
    int64_t size = getElementBytes(operand), width = vector, loaded = items;
    if (isStaged[i]) {
      width = 16 / size;
      while (width > 1 && (pointwise.getShape()[getAcross()] % width ||
                           tile[getAcross()] % width ||
                           !movesInVectors(operand, getAcross(), width)))
        width /= 2;
    } else if (int64_t picked = getPickedWidth(operand, vector); picked > 1) {
      if (isPickedBefore(pointwise.operands, i))
        continue;
      width = picked;
      loaded *= operand.strides.back();
    } else if (!movesInVectors(operand, getAlong(), vector)) {
      width = 1;
    }
    registers += llvm::divideCeil(loaded, width) *
                 (1 + llvm::divideCeil(width * size, 4));
  }
  return registers;
}

int64_t PointwiseTiling::getVector(const Tile &tile) const {
  for (const auto &bounds : pointwise.resultBounds)
    for (const PointwiseGraph::Bound &bound : bounds)
      if (bound.coordinate.strides[getAlong()] != 0)
        return 1;
  for (int64_t vector : {8, 4, 2})
    if (tile[getAlong()] % vector == 0 &&
        pointwise.getShape()[getAlong()] % vector == 0 &&
        llvm::all_of(pointwise.results, [&](const StridedView &result) {
          return getElementBytes(result) * vector <= 16 &&
                 movesInVectors(result, getAlong(), vector);
        }))
      return vector;
  return 1;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

SpaceAttrInterface PointwiseTiling::getSpace(MLIRContext *context) const {
  int64_t bytes = 1;
  for (auto [operand, staged] : llvm::zip_equal(pointwise.operands, isStaged))
    if (staged)
      bytes = std::max(bytes, getElementBytes(operand));
  // One line of each side, or two; more of wide elements.
  SmallVector<int64_t> sizes{std::max<int64_t>(32, 128 / bytes),
                             std::max<int64_t>(64, 256 / bytes)};
  return CudaTileAttr::getSpace(context, sizes, sizes, {256});
}

LogicalResult PointwiseTiling::check(CudaTileAttr schedule,
                                     const MachineDescription &machine,
                                     EmitError emitError) const {
  Tile tile = getTile(schedule);
  constexpr int64_t most = 256;
  int64_t bytes = getLoadedBytes(tile, schedule.getThreads());
  if (bytes > most)
    return emitError() << "a thread loads at most " << most
                       << " bytes of its tile, not " << bytes;
  if (countTiles(tile) >= INT32_MAX)
    return emitError() << "has too many tiles for one grid: "
                       << countTiles(tile);
  return requireSharedMemory(getSharedBytes(tile), machine, emitError);
}

double PointwiseTiling::getEfficiency(const StridedView &view,
                                      ArrayRef<int64_t> order,
                                      const Tile &tile) const {
  int64_t run = 1;
  for (int64_t dim : order) {
    if (view.strides[dim] != run)
      break;
    run *= std::min(tile[dim], view.shape[dim]);
    if (tile[dim] < view.shape[dim])
      break;
  }
  int64_t size = getElementBytes(view);
  double bytes = run * size;
  // Parts of sectors: other blocks often find the rest in the cache.
  double efficiency = bytes / std::max(bytes, 32.0);
  if (!movesInVectors(view, order.front(), 32 / size))
    efficiency *= bytes / (bytes + 16);
  int64_t vector = 16 / size;
  while (vector > 1 && (view.shape[order.front()] % vector ||
                        !movesInVectors(view, order.front(), vector)))
    vector /= 2;
  if (vector * size < 8)
    efficiency *= vector * size < 4 ? 0.8 : 0.92;
  return efficiency;
}

/// Results in a row that fill the elements between each other are stored as
/// one, as `TiledPointwise::find_runs` decides, and two of them fill sectors
/// soon after each other.
double PointwiseTiling::getStoreEfficiency(const Tile &tile) const {
  StridedView whole = pointwise.results.front();
  int64_t length =
      getRunLength(pointwise.results, pointwise.resultBuffers, getAlong());
  if (length == 1 || llvm::is_contained(isStaged, false))
    return getEfficiency(whole, storeOrder, tile);
  // The number of a result in its run is one more dimension.
  SmallVector<int64_t> order{int64_t(whole.shape.size())};
  llvm::append_range(order, storeOrder);
  Tile runs(tile);
  whole.shape.push_back(length);
  whole.strides.push_back(1);
  runs.push_back(length);
  return (length == 2 ? 0.8 : 0.9) * getEfficiency(whole, order, runs);
}

double
PointwiseTiling::predictSeconds(CudaTileAttr schedule,
                                const MachineDescription &machine) const {
  Tile tile = getTile(schedule);
  double threads = schedule.getThreads();
  double blocks = countTiles(tile);
  double perProcessor = std::floor(
      std::min({2048 / threads,
                65536 / (threads * countRegisters(tile, schedule.getThreads())),
                double(machine.sharedMemoryBytes) /
                    std::max<int64_t>(getSharedBytes(tile), 1)}));
  double resident =
      std::min(blocks, machine.multiprocessors * std::max(1.0, perProcessor));
  // A block does not load while it stores.
  double inFlight =
      resident * threads * getLoadedBytes(tile, schedule.getThreads());
  double efficiency =
      0.87 * std::min(1.0, inFlight / (96e3 * machine.multiprocessors));
  double side = 1;
  for (auto [operand, staged] : llvm::zip_equal(pointwise.operands, isStaged))
    if (staged)
      side = std::min(side, getEfficiency(operand, loadOrder, tile));
  efficiency *= side * getStoreEfficiency(tile);
  // Threads of tiles that reach beyond the tensors, and the last wave.
  double full = pointwise.getElements() / (blocks * llvm::product_of(tile));
  double waves = blocks / machine.multiprocessors;
  efficiency *= (0.6 + 0.4 * full) * std::max(waves, 1.0) / std::ceil(waves);
  double memory = pointwise.getBytes() / (machine.bandwidth * efficiency);
  double slots = 16 + pointwise.body.getCost();
  double compute = pointwise.getElements() * slots /
                   (machine.multiprocessors * 128 * machine.clock);
  return std::max(memory, compute) + machine.launchSeconds;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void PointwiseTiling::printKernel(raw_ostream &os,
                                  ArrayRef<std::string> functors,
                                  CudaTileAttr schedule) const {
  Tile tile = getTile(schedule);
  auto print = [&](StringRef word, ArrayRef<int64_t> numbers) {
    os << word << '<';
    llvm::interleaveComma(numbers, os);
    os << '>';
  };
  auto keep = [&](ArrayRef<int64_t> order) {
    SmallVector<int64_t> kept(order);
    llvm::erase_if(kept, [&](int64_t dim) { return tile[dim] == 1; });
    return kept;
  };
  os << "TiledPointwise<\n    ";
  print("Extents", pointwise.getShape());
  os << ",\n    ";
  print("Extents", tile);
  os << ",\n    ";
  print("Order", keep(loadOrder));
  os << ", ";
  print("Order", keep(storeOrder));
  os << ",\n    Operands<";
  llvm::interleave(
      llvm::zip_equal(pointwise.operands, isStaged),
      [&](auto each) {
        auto [operand, staged] = each;
        int64_t buffer = getBuffer(operand.base);
        bool isLast = getAlong() == int64_t(operand.shape.size()) - 1;
        if (!staged && isLast)
          printPicked(os, operand, buffer, getVector(tile));
        else
          printStrided(os, operand, buffer, staged ? "Staged" : "Strided");
      },
      [&] { os << ",\n             "; });
  os << ">,\n    ";
  pointwise.printResults(os, functors);
  os << ",\n    TileSchedule<" << schedule.getThreads() << ", "
     << getVector(tile) << ">>";
}
