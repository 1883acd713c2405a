//===- SimilarOps.cpp - Supported ops of a similar name -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

/// The function name: `add` for `aten.add.Tensor`.
static StringRef functionOf(StringRef name) {
  return name.split('.').second.split('.').first;
}

/// Overloads and namespaces decide between functions that are equally similar.
static unsigned distanceOf(StringRef name, StringRef known) {
  unsigned distance = 2 * functionOf(name).edit_distance(functionOf(known));
  if (name.split('.').first != known.split('.').first)
    distance += 2;
  StringRef overload = name.split('.').second.split('.').second;
  if (overload != known.split('.').second.split('.').second)
    ++distance;
  return distance;
}

SmallVector<StringRef>
torchtofact::findSimilarOps(StringRef name, const ConverterTable &table) {
  StringRef function = functionOf(name);
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef known : table.keys()) {
    if (!known.starts_with("aten.") && !known.starts_with("prims."))
      continue;
    // At most one edit per four letters: `tanh` is not similar to `atan`.
    if (function.edit_distance(functionOf(known)) <= function.size() / 4)
      near.push_back({distanceOf(name, known), known});
  }
  llvm::sort(near);
  // Suggests one overload per function.
  SmallVector<StringRef> names;
  for (auto [distance, known] : near) {
    bool another =
        llvm::none_of(names, [function = functionOf(known)](StringRef name) {
          return functionOf(name) == function;
        });
    if (distance == near.front().first && another && names.size() < 2)
      names.push_back(known);
  }
  return names;
}
