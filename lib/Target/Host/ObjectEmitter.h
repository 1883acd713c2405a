//===- ObjectEmitter.h - From MLIR to an object file --------------*- C++
//-*-===//

#ifndef FACT_LIB_TARGET_HOST_OBJECTEMITTER_H
#define FACT_LIB_TARGET_HOST_OBJECTEMITTER_H

#include "fact/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fact::host {
/// The figures of a FactKernel; functions are found by name, `tile` and `pack`.
struct KernelLayout {
  uint32_t bufferCount = 0;
  uint64_t tiles = 1;
  /// Memory of one thread.
  uint64_t workspaceBytes = 0;
  int32_t packedOperand = -1;
  /// A bit for each operand that is packed with it.
  uint32_t packedWith = 0;
  uint64_t packedBytes = 0;
  uint64_t packTiles = 0;
};

/// What LLVM is asked for. Kernels of a KernelBuilder have their vectors and
/// unrolled loops already, and LLVM's own would only act on what is left over
/// at the ends of rows; plain loops want them; a reference should compile soon.
enum class Effort { explicitVectors, plainLoops, reference };

/// Compiles `module` for this processor and exports its FactKernel. The module
/// holds functions on pointers in dialects that convert to LLVM.
mlir::LogicalResult emitObject(mlir::ModuleOp module, llvm::StringRef symbol,
                               const KernelLayout &layout, Effort effort,
                               KernelCode &code);

/// A copy of a region in a context of its own, so that kernels can be emitted
/// from any thread and bring the dialects they need.
class IsolatedRegion {
public:
  explicit IsolatedRegion(FusedOp fused);
  /// Null when the region could not be read back.
  FusedOp get();

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Whether the processor multiplies by a lane of a register, so that scalars
/// are best loaded several at a time.
bool hasLaneMultiply();
/// Bytes of a vector register, and how many there are.
int64_t getVectorBytes();
int64_t getVectorRegisters();
/// Bytes of the first data cache of a core.
int64_t getFirstCacheBytes();

void populateHostMathPatterns(mlir::RewritePatternSet &patterns);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_OBJECTEMITTER_H
