//===- KernelRunner.h - Emits, links and runs host kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_TARGET_KERNELRUNNER_H
#define FACT_TEST_UNIT_TARGET_KERNELRUNNER_H

#include "fact/Analysis/Bands.h"
#include "fact/Kernel/Target.h"
#include "fact/Runtime/Kernel.h"
#include "fact/Target/Targets.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fact::test {
/// A region in text, in a module of its own.
class RegionText {
public:
  /// `body` is the region's ops; `operands` types such as "4x8xf32".
  RegionText(llvm::StringRef rule, llvm::ArrayRef<std::string> operands,
             llvm::StringRef body, llvm::ArrayRef<std::string> results);
  FusedOp get();

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// An emitted kernel, linked into a library of its own and loaded.
class LoadedKernel {
public:
  explicit LoadedKernel(const KernelCode &code, llvm::StringRef symbol);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;
  const FactKernel *get() const { return kernel; }
  /// Packs what the kernel wants packed and runs all tiles.
  void run(std::vector<void *> buffers) const;
  /// The same with packing done before.
  std::vector<char> pack(const std::vector<void *> &buffers) const;
  void runPacked(std::vector<void *> buffers) const;

private:
  void *library = nullptr;
  const FactKernel *kernel = nullptr;
};

/// Elements in memory, in a storage type. Who reads or writes beyond the last
/// one crashes.
class Buffer {
public:
  Buffer(mlir::Type element, int64_t count);
  void fillNormal(unsigned seed, double scale);
  void poison();
  /// Writes 0 to matrices of so many columns outside of a band.
  void clearOutside(const Band &band, int64_t rows, int64_t columns);
  double at(int64_t index) const;
  void *data() { return bytes.get(); }
  int64_t size() const { return count; }

private:
  void set(int64_t index, double value);
  mlir::Type element;
  int64_t count;
  /// Ends before a page that is not accessible.
  std::unique_ptr<char, std::function<void(char *)>> bytes;
};

/// The plan of a region on a processor, with the target that it belongs to.
class HostPlanOf {
public:
  explicit HostPlanOf(FusedOp fused, llvm::StringRef machine = "host");

  explicit operator bool() const { return plan != nullptr; }
  const Plan *operator->() const { return plan.get(); }

private:
  std::unique_ptr<Target> target;
  std::unique_ptr<Plan> plan;
};

/// Emits every schedule of the family's default space and compares each with
/// the reference; fails the current test otherwise. Returns the microseconds of
/// the fastest on one thread. Operands are 0 outside of `bands`, one of each,
/// as the kernel is told.
struct Tolerance {
  double norm, element;
};
double checkRegion(llvm::StringRef rule, llvm::ArrayRef<std::string> operands,
                   llvm::StringRef body, llvm::ArrayRef<std::string> results,
                   double scale = 1.0, bool timed = false,
                   llvm::ArrayRef<Band> bands = {});
} // namespace fact::test

#endif // FACT_TEST_UNIT_TARGET_KERNELRUNNER_H
