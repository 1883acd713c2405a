//===- WindowReduction.h - A reduction of windows in a region ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_WINDOWREDUCTION_H
#define FACT_LIB_TARGET_CUDA_WINDOWREDUCTION_H

#include "Emission.h"
#include <array>

namespace fact {
/// `WindowAxis` of WindowReduction.cuh.
struct WindowAxis {
  int64_t count = 1, size = 1, low = 0;
  int64_t kernel = 1, stride = 1, dilation = 1;

  /// The elements that neighboring windows with so many taps extend over.
  int64_t getSpan(int64_t windows, int64_t taps) const {
    return (windows - 1) * stride + (taps - 1) * dilation + 1;
  }
  /// Those of them that windows read.
  int64_t countRead(int64_t windows, int64_t taps) const;
  bool isTrivial() const { return count == 1 && size == 1 && kernel == 1; }
};

/// A reduction over the taps of windows, as `WindowReduction` of
/// WindowReduction.cuh.
struct WindowReduction {
  static mlir::FailureOr<WindowReduction> read(FusedOp fused,
                                               EmitError emitError);

  ReduceKind kind;
  /// The type of what is reduced.
  mlir::Type element;
  llvm::SmallVector<int64_t> outer;
  /// Depth, rows, columns.
  std::array<WindowAxis, 3> axes;
  /// Neighbors in memory that are no axis.
  int64_t lanes = 1;
  /// The element outside of the images; null if no window leaves them.
  mlir::TypedAttr fill;
  /// From elements of images to those of windows, from taps to what is reduced,
  /// and from that to results.
  std::optional<ScalarFunction> load, tap, body;
  /// Views in the order of the kernel's dimensions; see WindowReduction.cuh.
  llvm::SmallVector<StridedView> images, taps, operands, results;
  llvm::SmallVector<int64_t> resultBuffers;

  const WindowAxis &getRows() const { return axes[1]; }
  const WindowAxis &getColumns() const { return axes[2]; }
  bool hasLanes() const { return lanes > 1; }
  int64_t countTaps() const {
    return axes[0].kernel * axes[1].kernel * axes[2].kernel;
  }
  int64_t countWindows() const {
    return llvm::product_of(outer) * axes[0].count * axes[1].count *
           axes[2].count * lanes;
  }
  /// The image with most elements, and the bytes of one of them.
  const StridedView &getLargestImage() const;
  int64_t getImageBytes() const;
  /// Whether vectors along the neighbors in memory are aligned in the images.
  bool areImagesAligned(int64_t vector) const;
  /// Of all tensors, each element once.
  double getBytes() const;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_WINDOWREDUCTION_H
