//===- HostRealiser.h - What families of host kernels share -------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_LIB_TARGET_HOST_HOSTREALISER_H
#define FACT_LIB_TARGET_HOST_HOSTREALISER_H

#include "Elements.h"
#include "Schedules.h"

namespace fact::host {
/// A realiser that writes its kernel with a KernelBuilder.
class HostRealiser : public Realiser {
public:
  explicit HostRealiser(const MachineDescription &machine)
      : machine(machine), cpu(Cpu::get(machine.architecture)) {}

  mlir::LogicalResult emit(FusedOp fused, ScheduleAttr schedule,
                           llvm::StringRef symbol,
                           KernelCode &code) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttr schedule) const override;

protected:
  /// Writes `tile`, and `pack` where the kernel has one.
  virtual mlir::LogicalResult build(KernelBuilder &b,
                                    ScheduleAttr schedule) const = 0;

  const MachineDescription &machine;
  const Cpu &cpu;
};

std::unique_ptr<Realiser> createGemmRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createGatedGemmRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createGroupedGemmRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createRowwiseRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createPointwiseRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createAttentionRealiser(const MachineDescription &machine);
std::unique_ptr<Realiser>
createGenericRealiser(const MachineDescription &machine);

/// A diagnostic that nobody sees, for attempts that may fail.
mlir::InFlightDiagnostic noDiagnostic();

/// Sizes are known and nothing is empty.
mlir::LogicalResult requireStaticShapes(FusedOp fused, EmitError emitError);

/// Candidate grains: about `elements` of the result for each tile, halved and
/// doubled, but not more than `rows`.
SpaceAttrInterface getRowsSpace(FusedOp fused, int64_t rows,
                                int64_t rowElements, int64_t elements);

/// Bytes of operands and results.
double countBytes(FusedOp fused);

inline int64_t ceilDivide(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Rows of A or columns of B: element k of line i is at `offsets[i] + k *
/// stride` of `source`.
struct PackedLines {
  Value source;
  Type storage;
  llvm::SmallVector<Value> offsets;
  int64_t stride;
};
/// Writes elements [from, to) of all lines side by side, in their compute type:
/// element k of line i at `(k - from) * lines + i` after `targetOffset`.
void packLines(KernelBuilder &b, const PackedLines &lines, Value from, Value to,
               Value target, Value targetOffset);

/// A register tile of a product. Element (k, i) of A is at `k * strideA + i`.
struct MicroTile {
  int64_t rows;
  /// Vectors of each row, and lanes of each vector.
  int64_t vectors, lanes;
  int64_t strideA;
};
/// Adds A * B over k in [from, to) to the accumulators (row-major over
/// vectors). `readB(k)` gives the vectors of row k of B.
llvm::SmallVector<Value>
buildMicroKernel(KernelBuilder &b, const MicroTile &tile, Type compute, Value a,
                 Value offsetA, Value from, Value to, int64_t unroll,
                 ValueRange accumulators,
                 llvm::function_ref<llvm::SmallVector<Value>(Value)> readB);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_HOSTREALISER_H
