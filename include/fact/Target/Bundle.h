//===- Bundle.h - Writes the bundle of a program ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_BUNDLE_H
#define FACT_TARGET_BUNDLE_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
struct BundleOptions {
  /// The model's name: a C identifier, the prefix of the library's functions.
  std::string name;
  /// Maximum objects to compile per kernel, each with all of its candidates,
  /// the best predicted first, or in the order of a list. Kernels that only
  /// alternatives launch have half as many.
  unsigned candidates = 16;
  /// Takes all of a list (`#fact.schedules`), whatever `candidates` says.
  bool wholeLists = false;
  /// Writes plain products also where an object serves one size only.
  bool products = false;
};

/// The contents of a bundle, for reports.
struct BundleSummary {
  struct Kernel {
    std::string name, rule;
    std::vector<std::string> ops;
    unsigned candidates = 0;
    unsigned steps = 0;
    double microseconds = 0;
  };
  /// Those of the program, without those of alternatives.
  std::vector<Kernel> kernels;
  unsigned steps = 0;
  unsigned alternatives = 0;
  int64_t workspaceBytes = 0;
};

/// Writes the bundle of docs/bundle.md for a module with a `program.model`
/// whose memory is planned. Writes a temporary folder and renames it: `folder`
/// appears completely or not at all. Replaces an older bundle but keeps its
/// measurements; any other folder is an error. The caller holds the folder's
/// PathLock.
mlir::LogicalResult writeBundle(mlir::ModuleOp module, const Target &target,
                                llvm::StringRef folder,
                                const BundleOptions &options,
                                BundleSummary &summary);
} // namespace fact

#endif // FACT_TARGET_BUNDLE_H
