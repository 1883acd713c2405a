//===- Windows.cuh - Products of windows of images on Hopper ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a product whose A has a row for each window and a column for
// each tap and channel:
//
//   A[(image, window...), (tap..., channel)] =
//       X[image, window * step + tap * dilation - zeros..., channel]
//
// with zeros outside of X. A is not stored: TMA's im2col mode loads its tiles
// from X. The kernel, the cluster and the epilogue are those of any GEMM
// (Gemm.cuh).
//
//   // relu(conv2d(x, w, stride=2, padding=1) + bias), 3x3, 72 -> 200 channels
//   using Kernel = Gemm<
//       Problem<8 * 28 * 28, 200, 3 * 3 * 80>,
//       Windows<0, bf16, 16, 72, 8, 56 * 56 * 72, 0,
//               WindowDim<56, 56 * 72, 1, 28, 3, 2, 1>,
//               WindowDim<56, 72, 1, 28, 3, 2, 1>>,
//       ColumnMajor<1, bf16, 3 * 3 * 72>,         // [filters, taps, channels]
//       Operands<RowVector<2, bf16>>,
//       Results<Result<Epilogue, RowMajor<3, bf16, 200>>>,
//       GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong>>;
//
// A box is `Width` channels of one tap, for all rows of a tile: 16, 32, 64 or
// 128 bytes, a line of shared memory. A tile of K is a row of boxes and may
// have several taps. Channels are filled up with zeros to whole boxes, and K of
// the problem counts these. Batches are runs of rows, as of one image each.
//
// Groups of channels with filters of their own are batches of the problem: they
// take the place of images, and images are one more dimension, of windows of
// one element. The filters of all groups follow each other.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_WINDOWS_CUH
#define FACT_CUTLASS_WINDOWS_CUH

#include "Gemm.cuh"
#include "WindowDim.cuh"
#include "cutlass/cuda_host_adapter.hpp"

namespace fact {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Windows of images [Images, Dims..., Channels] as rows of A; channels are
/// contiguous.
template <int Buffer, class Element, int Width, int64_t Channels,
          int64_t Images, int64_t ImageStride, int64_t Offset, class... Dims>
struct Windows : View<Buffer, Element, Offset> {
  static_assert(sizeof...(Dims) >= 1 && sizeof...(Dims) <= 3,
                "windows have one to three dimensions");
  static constexpr int64_t strides[] = {Dims::stride...};
  /// Between neighboring pixels and between images, for what asks whether TMA
  /// can address the images.
  static constexpr int64_t leading_dimension = strides[sizeof...(Dims) - 1];
  static constexpr int64_t batch_stride = ImageStride;
};

template <int B, class E, int W, int64_t C, int64_t I, int64_t S, int64_t O,
          class... Dims>
struct is_row_major<Windows<B, E, W, C, I, S, O, Dims...>> : std::true_type {};

namespace sm90 {

/// The numbers of windows, in the order of the image's dimensions.
template <int Dims> struct WindowSizes {
  int channels, images;
  int64_t image_stride;
  int extent[Dims];
  int64_t stride[Dims];
  int zeros[Dims], count[Dims], kernel[Dims], step[Dims], dilation[Dims];
};

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// How TMA reads an element. It rounds f32 to TF32.
template <class Element>
inline constexpr CUtensorMapDataType map_type =
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
template <>
inline constexpr CUtensorMapDataType map_type<cutlass::bfloat16_t> =
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
template <>
inline constexpr CUtensorMapDataType map_type<cutlass::half_t> =
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16;

/// Lines of a box in shared memory, as TMA and wgmma swizzle them. Those of 16
/// bytes follow each other.
template <int Bytes> struct Lines;
template <> struct Lines<128> {
  static constexpr auto swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  template <class Element>
  using Atom = cute::GMMA::Layout_K_SW128_Atom<Element>;
};
template <> struct Lines<64> {
  static constexpr auto swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  template <class Element> using Atom = cute::GMMA::Layout_K_SW64_Atom<Element>;
};
template <> struct Lines<32> {
  static constexpr auto swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  template <class Element> using Atom = cute::GMMA::Layout_K_SW32_Atom<Element>;
};
template <> struct Lines<16> {
  static constexpr auto swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  template <class Element>
  using Atom = cute::GMMA::Layout_K_INTER_Atom<Element>;
};

/// CUTLASS's main loop with boxes of `Width` elements. Its builder makes boxes
/// as wide as a tile of K allows.
template <class Built, int Width> struct WithBoxes;
template <class Policy, class TileShape, class ElementA, class StrideA,
          class ElementB, class StrideB, class Mma, class CopyA, class AtomA,
          class RegistersA, class TransformA, class CopyB, class AtomB,
          class... Rest, int Width>
struct WithBoxes<
    cutlass::gemm::collective::CollectiveMma<
        Policy, TileShape, ElementA, StrideA, ElementB, StrideB, Mma, CopyA,
        AtomA, RegistersA, TransformA, CopyB, AtomB, Rest...>,
    Width> {
  template <class Element>
  using Atom = typename Lines<Width * sizeof(Element)>::template Atom<Element>;
  using type = cutlass::gemm::collective::CollectiveMma<
      Policy, TileShape, ElementA, StrideA, ElementB, StrideB, Mma, CopyA,
      Atom<typename Mma::ValTypeA>, RegistersA, TransformA, CopyB,
      Atom<typename Mma::ValTypeB>, Rest...>;
};

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

/// CUTLASS's main loop of matrices, which loads A as windows and B as filters
/// [columns, taps, channels].
template <class Collective, int Dims, int Width>
struct WindowMainloop : Collective {
  using Base = Collective;
  using typename Base::MainloopPipeline;
  using typename Base::PipelineState;
  using typename Base::SmemLayoutA;
  using typename Base::SmemLayoutB;
  using typename Base::TensorStorage;
  using typename Base::TileShape;
  using Element = typename Base::ElementA;
  using ClusterShape = typename Base::DispatchPolicy::ClusterShape;

  static constexpr int m = cute::size<0>(TileShape{});
  static constexpr int n = cute::size<1>(TileShape{});
  static constexpr int k = cute::size<2>(TileShape{});
  static constexpr int cluster_m = cute::size<0>(ClusterShape{});
  static constexpr int cluster_n = cute::size<1>(ClusterShape{});
  // Blocks of a row of the cluster share A, those of a column B, and each loads
  // a part of what it shares.
  static constexpr int rows_a = m / cluster_n, rows_b = n / cluster_m;
  static constexpr int boxes = k / Width;
  static constexpr auto swizzle = Lines<Width * sizeof(Element)>::swizzle;

  static_assert(k % Width == 0, "a tile of K has whole boxes");
  static_assert(m % (8 * cluster_n) == 0 && n % (8 * cluster_m) == 0,
                "parts of a tile must be multiples of the swizzle's 8 lines");
  static_assert(SmemLayoutA{}(0, k - Width, 1) == m * (k + k - Width) &&
                    SmemLayoutB{}(0, k - Width, 1) == n * (k + k - Width),
                "boxes and stages follow each other");

  struct Arguments {
    Element const *image, *filters;
    int64_t filter_stride;
    /// Whether batches are images, and not groups.
    bool shares_filters;
    WindowSizes<Dims> sizes;
  };

  struct Params {
    CUtensorMap image, filters;
    /// Rows of a batch, and how far the filters of the next are behind.
    int rows, columns;
    int channels, taps;
    int zeros[Dims], count[Dims], kernel[Dims], step[Dims], dilation[Dims];
    uint32_t tma_transaction_bytes;
    /// Whether TMA took both tensors; read by the host only.
    CUresult status;
  };

  /// Extents are those of round_extents.
  template <class Shape>
  static bool can_implement(Shape const &shape, Arguments const &arguments) {
    int64_t windows = arguments.sizes.images;
    for (int count : arguments.sizes.count)
      windows *= count;
    int batches = cute::get<3>(shape);
    return windows % batches == 0 &&
           round_extent(int(windows / batches)) == cute::get<0>(shape) &&
           is_aligned<Element>(arguments.sizes.channels, 16);
  }

  template <class Shape>
  static Params to_underlying_arguments(Shape const &shape,
                                        Arguments const &arguments, void *) {
    WindowSizes<Dims> const &sizes = arguments.sizes;
    Params params{};
    params.rows = cute::get<0>(shape);
    params.channels = sizes.channels;
    params.taps = 1;
    params.columns = arguments.shares_filters ? 0 : cute::get<1>(shape);
    for (int i = 0; i < Dims; ++i) {
      params.taps *= sizes.kernel[i];
      params.zeros[i] = sizes.zeros[i];
      params.count[i] = sizes.count[i];
      params.kernel[i] = sizes.kernel[i];
      params.step[i] = sizes.step[i];
      params.dilation[i] = sizes.dilation[i];
    }
    params.tma_transaction_bytes = Base::TmaTransactionBytes;
    params.status = encode_image(params.image, arguments);
    if (params.status == CUDA_SUCCESS)
      params.status = encode_filters(
          params.filters, arguments, params.taps,
          cute::get<1>(shape) + params.columns * (cute::get<3>(shape) - 1));
    return params;
  }

  CUTLASS_DEVICE static void prefetch_tma_descriptors(Params const &params) {
    cute::prefetch_tma_descriptor(as_descriptor(params.image));
    cute::prefetch_tma_descriptor(as_descriptor(params.filters));
  }

  /// The kernel asks these for their shapes only.
  template <class Shape>
  CUTLASS_DEVICE auto load_init(Shape const &shape, Params const &) const {
    using namespace cute;
    auto [rows, columns, depth, batches] = shape;
    return make_tuple(
        local_tile(make_identity_tensor(make_shape(rows, depth, batches)),
                   TileShape{}, make_coord(_, _, _),
                   Step<_1, Underscore, _1>{}),
        local_tile(make_identity_tensor(make_shape(columns, depth, batches)),
                   TileShape{}, make_coord(_, _, _),
                   Step<Underscore, _1, _1>{}));
  }

  template <class Inputs, class Block, class KTiles>
  CUTLASS_DEVICE void load(Params const &params, MainloopPipeline pipeline,
                           PipelineState write, Inputs const &,
                           Block const &block, KTiles k_tile, int k_tiles, int,
                           uint32_t rank, TensorStorage &storage) {
    if (!cute::elect_one_sync())
      return;
    int x = rank % cluster_m, y = rank / cluster_m;
    auto blocks = cute::Layout<ClusterShape>{};
    uint16_t mask_a = 0, mask_b = 0;
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < cluster_n; ++i)
      mask_a |= uint16_t(1) << blocks(x, i, 0);
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < cluster_m; ++i)
      mask_b |= uint16_t(1) << blocks(i, y, 0);

    // The first window, and then the image, of this block's part of the rows.
    int batch = int(cute::get<3>(block));
    int image = batch * params.rows + int(cute::get<0>(block)) * m + y * rows_a;
    int column =
        batch * params.columns + int(cute::get<1>(block)) * n + x * rows_b;
    int start[Dims];
    CUTLASS_PRAGMA_UNROLL
    for (int i = Dims - 1; i >= 0; --i) {
      start[i] = image % params.count[i] * params.step[i] - params.zeros[i];
      image /= params.count[i];
    }
    Box box(params, int(*k_tile) * boxes);
    CUTLASS_PRAGMA_NO_UNROLL
    for (; k_tiles > 0; --k_tiles, ++write) {
      pipeline.producer_acquire(write);
      auto *barrier = pipeline.producer_get_barrier(write);
      auto *to_a =
          storage.smem_A.data() + write.index() * (m * k) + y * rows_a * Width;
      auto *to_b =
          storage.smem_B.data() + write.index() * (n * k) + x * rows_b * Width;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < boxes; ++i) {
        load_windows(&params.image, barrier, mask_a, to_a + i * (m * Width),
                     box, start, image);
        load_filters(&params.filters, barrier, mask_b, to_b + i * (n * Width),
                     box, column);
        box.advance(params);
      }
    }
  }

  /// The base reads no parameters.
  template <class Accumulators>
  CUTLASS_DEVICE void mma(MainloopPipeline pipeline, PipelineState read,
                          Accumulators &accumulators, int k_tiles, int thread,
                          TensorStorage &storage, Params const &params) {
    Base::mma(pipeline, read, accumulators, k_tiles, thread, storage,
              reinterpret_cast<typename Base::Params const &>(params));
  }

private:
  static_assert(Dims >= 1 && Dims <= 3, "TMA counts up to three dimensions");

  /// A place along K: channels from `channel` of a tap, which lies `offset`
  /// elements into its window. Behind the last tap there are only zeros: TMA
  /// finds neither the channel nor the tap.
  struct Box {
    int tap, channel;
    uint16_t offset[Dims];

    CUTLASS_DEVICE Box(Params const &params, int number) {
      int boxes_of_tap = (params.channels + Width - 1) / Width;
      tap = number / boxes_of_tap;
      channel = number % boxes_of_tap * Width;
      int rest = tap;
      CUTLASS_PRAGMA_UNROLL
      for (int i = Dims - 1; i >= 0; --i) {
        offset[i] = uint16_t(rest % params.kernel[i] * params.dilation[i]);
        rest /= params.kernel[i];
      }
    }

    CUTLASS_DEVICE void advance(Params const &params) {
      channel += Width;
      if (channel < params.channels)
        return;
      ++tap;
      channel = tap < params.taps ? 0 : params.channels;
      CUTLASS_PRAGMA_UNROLL
      for (int i = Dims - 1; i >= 0; --i) {
        int next = offset[i] + params.dilation[i];
        bool is_inside = next < params.kernel[i] * params.dilation[i];
        offset[i] = is_inside ? uint16_t(next) : uint16_t(0);
        if (is_inside)
          return;
      }
    }
  };

  CUTLASS_DEVICE static void load_windows(CUtensorMap const *map,
                                          uint64_t *barrier, uint16_t mask,
                                          void *to, Box const &box,
                                          int const (&start)[Dims], int image) {
    auto load = [&](auto... coordinates) {
      if constexpr (cluster_n == 1)
        cute::SM90_TMA_LOAD_IM2COL::copy(map, barrier, to, coordinates...);
      else
        cute::SM90_TMA_LOAD_IM2COL_MULTICAST::copy(map, barrier, mask, to,
                                                   coordinates...);
    };
    // The innermost dimension first.
    if constexpr (Dims == 1)
      load(box.channel, start[0], image, box.offset[0]);
    else if constexpr (Dims == 2)
      load(box.channel, start[1], start[0], image, box.offset[1],
           box.offset[0]);
    else
      load(box.channel, start[2], start[1], start[0], image, box.offset[2],
           box.offset[1], box.offset[0]);
  }

  CUTLASS_DEVICE static void load_filters(CUtensorMap const *map,
                                          uint64_t *barrier, uint16_t mask,
                                          void *to, Box const &box,
                                          int column) {
    // All rows of tiles read the filters again.
    constexpr auto keep = uint64_t(cute::TMA::CacheHintSm90::EVICT_LAST);
    if constexpr (cluster_m == 1)
      cute::SM90_TMA_LOAD_3D::copy(map, barrier, keep, to, box.channel, box.tap,
                                   column);
    else
      cute::SM90_TMA_LOAD_MULTICAST_3D::copy(map, barrier, mask, keep, to,
                                             box.channel, box.tap, column);
  }

  CUTLASS_DEVICE static cute::TmaDescriptor const *
  as_descriptor(CUtensorMap const &map) {
    return reinterpret_cast<cute::TmaDescriptor const *>(&map);
  }

  /// The innermost dimension first: channels, the image's dimensions, images.
  /// The corners are those of the box that windows begin in, relative to the
  /// first and to the last pixel.
  static CUresult encode_image(CUtensorMap &map, Arguments const &arguments) {
    WindowSizes<Dims> const &sizes = arguments.sizes;
    cuuint64_t extents[Dims + 2], strides[Dims + 1];
    cuuint32_t steps[Dims + 2];
    int lower[Dims], upper[Dims];
    extents[0] = sizes.channels;
    steps[0] = 1;
    for (int i = 0; i < Dims; ++i) {
      int dim = Dims - 1 - i;
      int last = (sizes.count[dim] - 1) * sizes.step[dim] - sizes.zeros[dim];
      extents[i + 1] = sizes.extent[dim];
      strides[i] = sizes.stride[dim] * sizeof(Element);
      steps[i + 1] = sizes.step[dim];
      lower[i] = -sizes.zeros[dim];
      upper[i] = last - (sizes.extent[dim] - 1);
    }
    extents[Dims + 1] = sizes.images;
    strides[Dims] = sizes.image_stride * sizeof(Element);
    steps[Dims + 1] = 1;
    return CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeIm2col)(
        &map, map_type<Element>, cuuint32_t(Dims + 2),
        const_cast<Element *>(arguments.image), extents, strides, lower, upper,
        cuuint32_t(Width), cuuint32_t(rows_a), steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }

  static CUresult encode_filters(CUtensorMap &map, Arguments const &arguments,
                                 int taps, int columns) {
    int64_t channels = arguments.sizes.channels;
    cuuint64_t extents[] = {cuuint64_t(channels), cuuint64_t(taps),
                            cuuint64_t(columns)};
    cuuint64_t strides[] = {channels * sizeof(Element),
                            arguments.filter_stride * sizeof(Element)};
    cuuint32_t box[] = {Width, 1, rows_b}, steps[] = {1, 1, 1};
    return CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)(
        &map, map_type<Element>, cuuint32_t(3),
        const_cast<Element *>(arguments.filters), extents, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
};

/// A is windows, and B filters.
template <int Buffer, class ElementA, int Width, int64_t Channels,
          int64_t Images, int64_t ImageStride, int64_t Offset, class... Dims,
          class B, class Built>
struct Factors<Windows<Buffer, ElementA, Width, Channels, Images, ImageStride,
                       Offset, Dims...>,
               B, Built> {
  static_assert(!is_row_major<B>::value, "filters are contiguous along K");
  using A = Windows<Buffer, ElementA, Width, Channels, Images, ImageStride,
                    Offset, Dims...>;
  using Mainloop = WindowMainloop<typename WithBoxes<Built, Width>::type,
                                  sizeof...(Dims), Width>;

  static typename Mainloop::Arguments arguments(void *const *buffers,
                                                Sizes sizes) {
    return {pointer<A>(buffers, sizes),
            pointer<B>(buffers, sizes),
            sizes(B::leading_dimension),
            sizes(B::batch_stride) == 0,
            {int(sizes(Channels)),
             int(sizes(Images)),
             sizes(ImageStride),
             {int(sizes(Dims::extent))...},
             {sizes(Dims::stride)...},
             {int(sizes(Dims::zeros))...},
             {int(sizes(Dims::count))...},
             {int(sizes(Dims::kernel))...},
             {int(sizes(Dims::step))...},
             {int(sizes(Dims::dilation))...}}};
  }
  /// With a tensor map that was not encoded, loads would never arrive.
  static int check(typename Mainloop::Params const &params) {
    return int(params.status);
  }
};

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_WINDOWS_CUH
