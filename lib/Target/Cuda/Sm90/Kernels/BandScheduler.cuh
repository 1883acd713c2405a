//===- BandScheduler.cuh - Tiles of banded products, by length -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile scheduler of CUTLASS's cooperative kernel, which asks for the steps
// along K of each tile. Its ping-pong kernel does not.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_BANDSCHEDULER_CUH
#define FACT_CUTLASS_BANDSCHEDULER_CUH

#include "TileBands.cuh"
#include "cutlass/gemm/kernel/tile_scheduler.hpp"

namespace fact {

namespace sm90 {

/// The tag of the scheduler.
struct BandedTiles {};

template <class TileShape, class ClusterShape>
class BandScheduler
    : public cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90 {
  using Base = cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90;
  static constexpr int cluster_m = cute::size<0>(ClusterShape{});
  static constexpr int cluster_n = cute::size<1>(ClusterShape{});
  using Extents = StaticTileExtents<cute::size<0>(TileShape{}) * cluster_m,
                                    cute::size<1>(TileShape{}) * cluster_n,
                                    cute::size<2>(TileShape{})>;

public:
  struct WorkTileInfo : Base::WorkTileInfo {
    TileSteps steps = {0, 1};
  };
  struct Arguments : Base::Arguments {
    /// Bands alone: extents follow from the problem.
    TileBands bands;
  };
  struct Params : Base::Params {
    TileBands bands;
    /// Tiles of clusters of one batch, and of all.
    uint32_t tiles = 0, all_tiles = 0;
  };

  template <class Shape>
  static Params
  to_underlying_arguments(Shape shape, TileShape tile, ClusterShape cluster,
                          cutlass::KernelHardwareInfo const &hardware,
                          Arguments const &arguments, void *workspace = nullptr,
                          uint32_t epilogue_subtile = 1,
                          uint32_t alignment = 1) {
    Params params;
    static_cast<Base::Params &>(params) =
        Base::to_underlying_arguments(shape, tile, cluster, hardware, arguments,
                                      workspace, epilogue_subtile, alignment);
    params.bands = arguments.bands;
    params.bands.set_problem(Extents(), cute::get<0>(shape),
                             cute::get<1>(shape), cute::get<2>(shape));
    params.tiles = params.bands.count_tiles(Extents());
    params.all_tiles = params.tiles * uint32_t(cute::get<3>(shape));
    return params;
  }

  CUTLASS_DEVICE explicit BandScheduler(Params const &params)
      : params(params),
        cluster(blockIdx.x / cluster_m +
                blockIdx.y / cluster_n * (gridDim.x / cluster_m)),
        clusters(gridDim.x / cluster_m * (gridDim.y / cluster_n)) {}

  template <class Cluster>
  CUTLASS_DEVICE WorkTileInfo initial_work_tile_info(Cluster) {
    return get_current_work();
  }

  CUTLASS_DEVICE WorkTileInfo get_current_work() {
    WorkTileInfo work;
    uint32_t position = get_tile_position(wave, cluster, clusters);
    if (position >= params.all_tiles)
      return work;
    uint32_t batch = position / params.tiles;
    if (int(batch) != work_batch)
      cursor = TileCursor();
    work_batch = int(batch);
    TilePlace place = params.bands.get_place(
        Extents(), int(position - batch * params.tiles), cursor);
    dim3 block = cute::block_id_in_cluster();
    work.M_idx = place.row * cluster_m + int(block.x);
    work.N_idx = place.column * cluster_n + int(block.y);
    work.L_idx = work_batch;
    work.is_valid_tile = true;
    work.steps = params.bands.get_steps(Extents(), place);
    return work;
  }

  CUTLASS_DEVICE void advance_to_next_work(uint32_t count = 1) {
    wave += count;
  }

  CUTLASS_DEVICE auto fetch_next_work(WorkTileInfo) {
    advance_to_next_work();
    return cute::make_tuple(get_current_work(), true);
  }
  template <class Pipeline, class State>
  CUTLASS_DEVICE auto fetch_next_work(WorkTileInfo work, Pipeline &, State) {
    return fetch_next_work(work);
  }

  CUTLASS_DEVICE bool is_last_tile(WorkTileInfo &, uint32_t count = 1) const {
    return get_tile_position(wave + count, cluster, clusters) >=
           params.all_tiles;
  }

  template <class Shape>
  CUTLASS_HOST_DEVICE static int get_work_k_tile_count(WorkTileInfo const &work,
                                                       Shape, TileShape) {
    return work.steps.count;
  }
  CUTLASS_HOST_DEVICE static uint32_t
  get_work_k_tile_start(WorkTileInfo const &work) {
    return work.steps.begin;
  }

private:
  Params const &params;
  uint32_t cluster, clusters, wave = 0;
  TileCursor cursor;
  int work_batch = 0;
};

} // namespace sm90

/// The bands of A, B and D of a kernel, and whether D is mirrored.
template <int64_t ALower, int64_t AUpper, int64_t BLower, int64_t BUpper,
          int64_t DLower, int64_t DUpper, bool Mirrored = false>
struct Bands {
  template <class Sizes> static TileBands get(Sizes sizes) {
    TileBands bands;
    bands.a = {int(sizes(ALower)), int(sizes(AUpper))};
    bands.b = {int(sizes(BLower)), int(sizes(BUpper))};
    bands.d = {int(sizes(DLower)), int(sizes(DUpper))};
    bands.mirrored = Mirrored;
    return bands;
  }
};

/// A cooperative kernel that multiplies what lies within bands.
template <class Kind, class Bands_> struct Banded : Kind {
  using Scheduler = sm90::BandedTiles;
  using Bands = Bands_;
  static constexpr bool has_bands = true;
  static_assert(Kind::warpgroups_per_tile == 2 && !Kind::splits_k,
                "cooperative kernels take bands");
};

} // namespace fact

namespace cutlass::gemm::kernel::detail {

template <class TileShape, class ClusterShape, uint32_t Stages>
struct TileSchedulerSelector<fact::sm90::BandedTiles, arch::Sm90, TileShape,
                             ClusterShape, Stages> {
  using Scheduler = fact::sm90::BandScheduler<TileShape, ClusterShape>;
};

} // namespace cutlass::gemm::kernel::detail

#endif // FACT_CUTLASS_BANDSCHEDULER_CUH
