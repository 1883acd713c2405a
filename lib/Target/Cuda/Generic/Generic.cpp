//===- Generic.cpp - Any region as plain CUDA kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers any region to linalg ops on memory and prints each as a kernel, whose
// results do not depend on the order of threads. This is as fast as memory
// where a few passes over it are all there is to do, as for the regions of the
// `reduction` family, and slow for products: the last resort, `generic`.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include "LoopPrinter.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Conversion/FactToLinalg.h"
#include "fact/Conversion/RegionFunction.h"
#include "fact/Dialect/Fact/Placement.h"
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
static bool isFree(linalg::LinalgOp producer) {
  for (Operation &op : producer->getRegion(0).front().without_terminator())
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(op))
      return false;
  return true;
}

/// Fuses elementwise ops into the ops that read them, unless elements would be
/// computed many times.
static bool shouldFuse(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(use->getOwner());
  if (!producer || !consumer || !producer->hasOneUse())
    return false;
  return isFree(producer) ||
         llvm::product_of(consumer.getStaticLoopRanges()) ==
             llvm::product_of(producer.getStaticLoopRanges());
}

/// Whether computing an op's elements once per use is cheaper than to store and
/// load them: it has few operands, uses and instructions.
static bool isWorthRepeating(linalg::GenericOp op) {
  constexpr int64_t operandLimit = 2;
  constexpr size_t instructionLimit = 8;
  constexpr unsigned useLimit = 3;
  Block &body = op.getRegion().front();
  return op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getNumDpsInputs() <= operandLimit &&
         body.getOperations().size() <= instructionLimit + 1 &&
         op->getResult(0).hasNUsesOrMore(2) &&
         !op->getResult(0).hasNUsesOrMore(useLimit + 1);
}

/// Gives each use of such an op, and of an initial value, a copy of its own, to
/// be fused with it.
static void repeatCheapOps(ModuleOp module) {
  SmallVector<linalg::LinalgOp> ops;
  module.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    auto generic = dyn_cast<linalg::GenericOp>(*op);
    if (generic ? !isWorthRepeating(generic) : !isa<linalg::FillOp>(*op))
      continue;
    OpBuilder builder(op);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : ArrayRef(uses).drop_front())
      use->set(builder.clone(*op)->getResult(0));
  }
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
  if (failed(first.run(module)))
    return failure();
  repeatCheapOps(module);
  if (failed(applyPatternsGreedily(module, std::move(fusion))))
    return failure();
  PassManager second(context);
  second.addPass(createCanonicalizerPass());
  second.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.allowReturnAllocsFromLoops = true;
  second.addPass(bufferization::createOneShotBufferizePass(bufferize));
  second.addPass(createCanonicalizerPass());
  second.addPass(createCSEPass());
  RewritePatternSet copies(context);
  populateCopyPatterns(copies);
  if (failed(second.run(module)))
    return failure();
  return applyPatternsGreedily(module, std::move(copies));
}

//===----------------------------------------------------------------------===//
// The families
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
  explicit GenericFamily(const Rule &rule = genericRule)
      : Family(rule, "cuda", {&CudaGenericAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override;
};

/// Regions in which plain kernels are fast.
class ReductionFamily : public GenericFamily {
public:
  ReductionFamily() : GenericFamily(reductionRule) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override;
};
} // namespace

/// Every op of the region passes its operands and results through memory.
double GenericPlan::predict(ScheduleAttr) const {
  // About a fiftieth of what the arithmetic units could do.
  constexpr double productSlowdown = 50;
  double seconds = 0;
  for (Operation &op : fused.getBodyOps()) {
    if (isa<ConstantOp>(op))
      continue;
    double bytes = 0;
    for (Type type : op.getOperandTypes())
      bytes += double(getStorageBytes(type));
    for (Type type : op.getResultTypes())
      bytes += double(getStorageBytes(type));
    seconds += machine.launchSeconds + bytes / machine.bandwidth;
    if (auto contraction = dyn_cast<ContractionOpInterface>(op)) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      seconds += 2.0 * double(type.getNumElements()) *
                 double(contraction.getSumLength()) * productSlowdown /
                 machine.scalarFlops;
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
  if (Placement::isIn(fused))
    return emitError() << "writes whole results, and one is a part of its "
                          "buffer";
  return std::unique_ptr<Plan>(new GenericPlan(*this, fused, machine));
}

FailureOr<std::unique_ptr<Plan>>
ReductionFamily::plan(FusedOp fused, const MachineDescription &machine,
                      EmitError emitError) const {
  unsigned rows = 0;
  for (Operation &op : fused.getBodyOps()) {
    bool isRow = isa<NormOp, SoftmaxOp, ReduceOp>(op);
    rows += isRow;
    if (!isRow && !isa<PointwiseOpInterface, ViewOpInterface, ConstantOp>(op))
      return emitError() << "'" << op.getName()
                         << "' is not a norm, softmax, reduction, pointwise op "
                            "or view";
  }
  if (rows != 1)
    return emitError() << "needs exactly one norm, softmax or reduction, not "
                       << rows;
  for (Value yielded : fused.getYield()->getOperands())
    if (skipReshapes(yielded).getDefiningOp<WindowsOp>())
      return emitError() << "windows are read by the kernel that reduces them, "
                            "not stored";
  return GenericFamily::plan(fused, machine, emitError);
}

void fact::registerGenericFamilies(DialectRegistry &registry) {
  registerFamily<ReductionFamily>(registry);
  registerFamily<GenericFamily>(registry);
}
