//===- WidenChannels.h - Channels as a target's loads need them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_WIDENCHANNELS_H
#define FACT_LIB_FUSION_WIDENCHANNELS_H

#include "fact/Kernel/Target.h"

namespace fact {
/// Fills up the channels of images with zeros where the target's kernels then
/// read windows of them without a copy, and that is predicted to be faster than
/// to copy the windows. The filters get zeros for these channels, when they are
/// loaded. So do filters that are too few or too many to be stored, where
/// channels come last, and the product is then a slice of the widened one.
///
/// Of few channels and large windows, the taps of a row are joined: pixels that
/// follow each other in memory become one run of channels. The zeros at both
/// ends of a row are then part of the image.
void widenChannels(mlir::Block &block, const Target &target);
} // namespace fact

#endif // FACT_LIB_FUSION_WIDENCHANNELS_H
