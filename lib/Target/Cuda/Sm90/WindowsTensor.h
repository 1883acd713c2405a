//===- WindowsTensor.h - Windows as TMA loads them --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_WINDOWSTENSOR_H
#define FACT_LIB_TARGET_CUDA_WINDOWSTENSOR_H

#include "Emission.h"
#include "fact/Analysis/WindowedView.h"

namespace fact {
/// Windows of images as the rows of a product, which TMA's im2col mode loads:
/// `Windows` of Windows.cuh.
struct WindowsTensor {
  /// A dimension of images and of their windows.
  struct Dim {
    int64_t extent, stride, zeros, count, kernel, step, dilation;
  };

  int64_t buffer;
  mlir::Type element;
  int64_t channels, images, imageStride, offset;
  llvm::SmallVector<Dim> dims;
  /// Channels of one tap that lie together in shared memory.
  int64_t width;
  /// Whether a line of a window has parts of the windows beside it.
  bool overlaps = false;

  /// Windows of `groups` of channels, each with `columns` filters; refuses what
  /// TMA does not load. Groups are the images of the tensor, and its first
  /// dimension are the images.
  static mlir::FailureOr<WindowsTensor> get(const WindowedView &of,
                                            int64_t groups, int64_t columns,
                                            EmitError emitError);

  /// K with the channels of each tap filled up to whole widths.
  int64_t getDepth() const;
  /// Of a multiprocessor's TMA, for a row, as measured on an H200: 4.4 for a
  /// line of 128 bytes, which is what the cache gives, 3 for shorter ones, but
  /// 4.5 for 16 bytes; 8 for a line that others overlap, and 3 for each next to
  /// it.
  double countLoadCycles() const;
  int64_t countImageBytes() const;
  void print(llvm::raw_ostream &os, SizeList &sizes) const;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_WINDOWSTENSOR_H
