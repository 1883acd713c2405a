//===- Bundle.h - Write what tuning and linking need --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_BUNDLE_H
#define FACT_TARGET_BUNDLE_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
struct BundleOptions {
  /// The model's name: a C identifier, the prefix of the library's functions.
  std::string name;
  /// At most so many candidates of each kernel, the best predicted first, or
  /// in the order of a list.
  unsigned candidates = 16;
  /// All of a list (`#fact.schedules`), however many that is.
  bool wholeLists = false;
};

/// What a bundle came to, for reports.
struct BundleSummary {
  struct Kernel {
    std::string name, rule;
    std::vector<std::string> ops;
    unsigned candidates = 0;
    unsigned steps = 0;
    double microseconds = 0;
  };
  std::vector<Kernel> kernels;
  unsigned steps = 0;
  int64_t workspaceBytes = 0;
};

/// Writes the bundle of docs/bundle.md for a module with a `program.model` whose
/// memory is planned. Written aside and renamed: `folder` appears whole or
/// not at all. An older bundle's measurements are kept; any other folder is
/// refused. The caller holds the folder's PathLock.
mlir::LogicalResult writeBundle(mlir::ModuleOp module, const Target &target,
                                llvm::StringRef folder,
                                const BundleOptions &options,
                                BundleSummary &summary);
} // namespace fact

#endif // FACT_TARGET_BUNDLE_H
