//===- Generic.cpp - Any region as plain CUDA kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last resort: lowers any region to linalg ops on memory and prints each as
// a kernel. Correct and deterministic; fast only where one pass over memory is
// all there is to do.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "LoopPrinter.h"
#include "fact/Conversion/FactToLinalg.h"
#include "fact/Conversion/RegionFunction.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Whether computing an element again costs next to nothing: a conversion, a
/// move, a constant.
static bool isCheap(linalg::LinalgOp producer) {
  for (Operation &op : producer->getRegion(0).front().without_terminator())
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(op))
      return false;
  return true;
}

/// Fuses elementwise ops into the ops that read them, unless elements would be
/// computed more than once.
static bool shouldFuse(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(use->getOwner());
  if (!producer || !consumer)
    return false;
  if (isCheap(producer))
    return true;
  return producer->hasOneUse() &&
         llvm::product_of(consumer.getStaticLoopRanges()) ==
             llvm::product_of(producer.getStaticLoopRanges());
}

static LogicalResult lowerToLoops(ModuleOp module) {
  if (failed(convertFactToLinalg(module, /*wide=*/false)))
    return failure();
  MLIRContext *context = module.getContext();
  RewritePatternSet fusion(context);
  linalg::populateElementwiseOpsFusionPatterns(fusion, shouldFuse);
  PassManager first(context);
  first.addPass(createCanonicalizerPass());
  first.addPass(createCSEPass());
  if (failed(first.run(module)) ||
      failed(applyPatternsGreedily(module, std::move(fusion))))
    return failure();
  PassManager second(context);
  second.addPass(createCanonicalizerPass());
  second.addPass(createCSEPass());
  second.addPass(bufferization::createEmptyTensorEliminationPass());
  second.addPass(bufferization::createOneShotBufferizePass());
  second.addPass(createCanonicalizerPass());
  second.addPass(createCSEPass());
  RewritePatternSet copies(context);
  populateCopyPatterns(copies);
  if (failed(second.run(module)))
    return failure();
  return applyPatternsGreedily(module, std::move(copies));
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

namespace {
class GenericPlan : public Plan {
public:
  using Plan::Plan;

  SpaceAttrInterface getSpace() const override {
    return CudaGenericAttr::getSpace(fused.getContext());
  }
  double predict(ScheduleAttr) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;
};

class GenericFamily : public Family {
public:
  GenericFamily() : Family(genericRule, "cuda", {&CudaGenericAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override;
};
} // namespace

/// Every op of the region passes its operands and results through memory.
double GenericPlan::predict(ScheduleAttr) const {
  double seconds = 0;
  for (Operation &op : fused.getBodyOps()) {
    if (isa<ConstantOp>(op))
      continue;
    double bytes = 0;
    for (Type type : op.getOperandTypes())
      bytes += double(getStorageBytes(type));
    for (Type type : op.getResultTypes())
      bytes += double(getStorageBytes(type));
    seconds += machine.launchSeconds + 2 * bytes / machine.bandwidth;
    if (auto contraction = dyn_cast<ContractionOpInterface>(op)) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      // About a fiftieth of what the arithmetic units could do.
      seconds += 2.0 * double(type.getNumElements()) *
                 double(contraction.getSumLength()) * 50 / machine.scalarFlops;
    }
  }
  return 1e6 * seconds;
}

LogicalResult GenericPlan::emit(ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  IsolatedRegion region(fused);
  if (!region.get())
    return fused.emitOpError() << "could not be copied to a context of its own";
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(region.get().getContext()));
  func::FuncOp function = buildRegionFunction(*module, region.get());
  if (failed(lowerToLoops(*module)))
    return fused.emitOpError() << "could not be lowered to loops on memory";
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Generic.cuh");
  constexpr int64_t blocksPerMultiprocessor = 8;
  if (failed(LoopPrinter(function,
                         machine.multiprocessors * blocksPerMultiprocessor)
                 .print(os)))
    return fused.emitOpError() << "could not be printed as CUDA";
  printFooter(os, symbol);
  return success();
}

FailureOr<std::unique_ptr<Plan>>
GenericFamily::plan(FusedOp fused, const MachineDescription &machine,
                    EmitError emitError) const {
  if (failed(requireElements(fused, emitError)))
    return failure();
  return std::unique_ptr<Plan>(new GenericPlan(*this, fused, machine));
}

void fact::registerGenericFamily(DialectRegistry &registry) {
  registerFamily<GenericFamily>(registry);
}
