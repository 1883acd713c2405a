//===- StaticTool.cpp - What static tools do differently ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"

/// A plug-in would bring a second MLIR along.
bool fact::canLoadPlugins() { return false; }
