//===- HostPlan.h - What families of host kernels share ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_HOSTPLAN_H
#define FACT_LIB_TARGET_HOST_HOSTPLAN_H

#include "Elements.h"
#include "Schedules.h"
#include "fact/Kernel/Rules.h"
#include "fact/Kernel/Target.h"

namespace fact::host {
/// A plan that writes its kernel with a KernelBuilder.
class HostPlan : public Plan {
public:
  HostPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine)
      : Plan(family, fused, machine), cpu(Cpu::get(machine.architecture)) {}

  double predict(ScheduleAttr schedule) const override;
  bool compiles() const override { return true; }
  /// Compiles a copy of the region in a context of its own, so that several
  /// threads can emit at once.
  mlir::LogicalResult emit(llvm::ArrayRef<KernelVariant> variants,
                           KernelCode &code) const override;

protected:
  /// The region that `build` reads.
  virtual FusedOp getBuiltRegion() const { return fused; }
  /// Writes the function `tile`, and `pack` where the kernel packs an operand.
  /// The schedule belongs to another context: use only its numbers.
  virtual void build(KernelBuilder &b, ScheduleAttr schedule) const = 0;

  /// Predicted seconds of operations outside of products.
  double getSeconds(double operations) const;

  const Cpu &cpu;
};

/// One registration per family, in the file that has it.
void registerGemmFamilies(mlir::DialectRegistry &registry);
void registerAttentionFamily(mlir::DialectRegistry &registry);
void registerRowwiseFamily(mlir::DialectRegistry &registry);
void registerPointwiseFamily(mlir::DialectRegistry &registry);
void registerScanFamily(mlir::DialectRegistry &registry);
void registerScatterFamily(mlir::DialectRegistry &registry);
void registerSortFamily(mlir::DialectRegistry &registry);
void registerGenericFamily(mlir::DialectRegistry &registry);

/// Grains for tiles of about `elements` elements, a quarter and four times as
/// many, in rows of `rowElements`; at most `rows`.
SpaceAttrInterface getRowsSpace(FusedOp fused, int64_t rows,
                                int64_t rowElements, int64_t elements);

/// Predicted seconds to move bytes, which are more than the machine's light.
double getTrafficSeconds(const MachineDescription &machine, double bytes);
/// Those of operands and results.
double getTrafficSeconds(const MachineDescription &machine, FusedOp fused);

inline int64_t ceilDivide(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Rows of A or columns of B: element k of line i is at `offsets[i] + k *
/// stride` of `source`.
struct PackedLines {
  Value source;
  Type storage;
  llvm::SmallVector<Value> offsets;
  int64_t stride;
  /// For each line, whether it is inside of `source`, or zeros. Empty if all
  /// are.
  llvm::SmallVector<Value> inside = {};
};
/// Interleaves elements [from, to) of all lines, in their compute type: element
/// k of line i goes to `targetOffset + (k - from) * lines + i` of `target`.
void packLines(KernelBuilder &b, const PackedLines &lines, Value from, Value to,
               Value target, Value targetOffset);
/// The same for lines of which each begins `distance` elements after the one
/// before it: element k of all lines is copied with vectors.
void packAdjacentLines(KernelBuilder &b, const PackedLines &lines, Value from,
                       Value to, Value target, Value targetOffset,
                       int64_t distance = 1);

/// A register tile of a product. Element (k, i) of A is at `k * strideA + i *
/// rowStrideA`.
struct MicroTile {
  int64_t rows;
  /// Vectors per row, and lanes per vector.
  int64_t vectors, lanes;
  int64_t strideA, rowStrideA = 1;
};
/// Adds A * B over k in [from, to) to the accumulators (row-major over
/// vectors). `readB(k)` gives the vectors of row k of B.
llvm::SmallVector<Value>
buildMicroKernel(KernelBuilder &b, const MicroTile &tile, Type compute, Value a,
                 Value offsetA, Value from, Value to, int64_t unroll,
                 ValueRange accumulators,
                 llvm::function_ref<llvm::SmallVector<Value>(Value)> readB);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_HOSTPLAN_H
