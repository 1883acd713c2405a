//===- PointwiseTiling.h - Pointwise passes that transpose ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_POINTWISETILING_H
#define FACT_LIB_TARGET_CUDA_POINTWISETILING_H

#include "Pointwise.h"

namespace fact {
/// A pointwise graph with operands whose neighbors in memory are not those of
/// the results, in tiles that pass through shared memory: `TiledPointwise<...>`
/// of TiledPointwise.cuh. Refers to the graph.
class PointwiseTiling {
public:
  /// Nothing if no operand is transposed.
  static std::optional<PointwiseTiling> get(const Pointwise &pointwise);

  SpaceAttrInterface getSpace(mlir::MLIRContext *context) const;
  mlir::LogicalResult check(CudaTileAttr schedule,
                            const MachineDescription &machine,
                            EmitError emitError) const;
  double predictSeconds(CudaTileAttr schedule,
                        const MachineDescription &machine) const;
  void printKernel(llvm::raw_ostream &os, llvm::ArrayRef<std::string> functors,
                   CudaTileAttr schedule) const;

private:
  explicit PointwiseTiling(const Pointwise &pointwise) : pointwise(pointwise) {}

  using Tile = llvm::SmallVector<int64_t>;
  /// The extent of a block in each dimension.
  Tile getTile(CudaTileAttr schedule) const;
  int64_t split(int64_t dim, int64_t wanted) const;
  void cover(llvm::ArrayRef<int64_t> order, int64_t wanted, Tile &tile) const;
  int64_t countTiles(const Tile &tile) const;
  int64_t getSharedBytes(const Tile &tile) const;
  /// Of all operands, per thread.
  int64_t getLoadedBytes(const Tile &tile, int64_t threads) const;
  /// About how many registers a thread needs.
  int64_t countRegisters(const Tile &tile, int64_t threads) const;
  /// Elements per store.
  int64_t getVector(const Tile &tile) const;
  /// The share of a side's traffic that is useful.
  double getEfficiency(const StridedView &view, llvm::ArrayRef<int64_t> order,
                       const Tile &tile) const;
  double getStoreEfficiency(const Tile &tile) const;

  int64_t getAlong() const { return storeOrder.front(); }
  int64_t getAcross() const { return loadOrder.front(); }

  const Pointwise &pointwise;
  /// For each operand, whether it passes through shared memory.
  llvm::SmallVector<bool> isStaged;
  /// All dimensions by the strides of staged operands and of results, smallest
  /// first.
  llvm::SmallVector<int64_t> loadOrder, storeOrder;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_POINTWISETILING_H
