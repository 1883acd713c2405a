//===- Generic.cpp - Any region as plain CUDA kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers any region to linalg ops on memory and prints each as a kernel, whose
// results do not depend on the order of threads. This is as fast as memory
// where a few passes over it are all there is to do, as for the regions of the
// `reduction` family, and slow for products: the last resort, `generic`.
// Regions of few elements are one kernel of one thread block, which costs one
// launch.
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
#include <cmath>

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

/// Whether a value is a part of another tensor.
static bool isSlice(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                      tensor::CastOp>(op))
    return isSlice(op->getOperand(0));
  return isa_and_nonnull<tensor::ExtractSliceOp>(op);
}

/// Copies the slices that loops begin with. A loop that passes memory on does
/// so in one layout, and what its body allocates is row-major.
static void copySlicesBeforeLoops(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    for (OpOperand &initial : loop.getInitArgsMutable()) {
      if (!isSlice(initial.get()))
        continue;
      auto type = cast<RankedTensorType>(initial.get().getType());
      Value memory =
          tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
      initial.set(
          linalg::CopyOp::create(b, initial.get(), memory).getResult(0));
    }
  });
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
  copySlicesBeforeLoops(module);
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

/// A rule of GPUs, where a launch costs as much as a step on few elements.
static const Rule smallRule{
    "small",
    "Several `reduce`, `norm`, `softmax`, pointwise ops, gathers and views on "
    "few elements, a few thousand at most, whatever their shapes: the end of a "
    "loss. One thread block computes them one after another. Gain: one launch "
    "in place of several.",
    /*seed=*/nullptr,
    /*forward=*/false};

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

protected:
  virtual StepForm getForm() const {
    constexpr int64_t blocksPerMultiprocessor = 8;
    return {machine.multiprocessors * blocksPerMultiprocessor};
  }
};

/// One step after another in one thread block.
class SmallPlan : public GenericPlan {
public:
  using GenericPlan::GenericPlan;

  double predict(ScheduleAttr) const override;

protected:
  StepForm getForm() const override {
    return {/*fillingBlocks=*/1, threads, /*isOneBlock=*/true};
  }

private:
  static constexpr int64_t threads = 1024;
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

/// Steps on few elements, which share one launch.
class SmallFamily : public Family {
public:
  SmallFamily() : Family(smallRule, "cuda", {&CudaGenericAttr::kind}) {}

  StringRef getLimits() const override {
    return "Tensors have at most 65536 elements. No argmax or argmin.";
  }
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

/// Elements of the largest operand or result. A gather reads few of those that
/// it chooses from.
static int64_t countMostElements(Operation &op) {
  int64_t most = 1;
  auto add = [&](TypeRange types) {
    for (Type type : types)
      most = std::max(most, cast<RankedTensorType>(type).getNumElements());
  };
  add(ValueRange(op.getOperands()).drop_front(isa<GatherOp>(op)).getTypes());
  add(op.getResultTypes());
  return most;
}

/// One block waits for memory again and again: in each step for each of its
/// elements, and for its other threads where they reduce together.
double SmallPlan::predict(ScheduleAttr) const {
  constexpr double wait = 0.7e-6, meet = 0.8e-6, load = 0.1e-6;
  double seconds = machine.launchSeconds;
  for (Operation &op : fused.getBodyOps()) {
    if (isa<ViewOpInterface, ConstantOp>(op))
      continue;
    double elements = double(countMostElements(op));
    auto row = dyn_cast<RowOpInterface>(op);
    if (!row) {
      // Ops on the same elements are one step, which one of them pays for.
      bool isStep = llvm::none_of(op.getOperands(), [](Value operand) {
        return isa_and_nonnull<PointwiseOpInterface>(operand.getDefiningOp());
      });
      seconds += std::ceil(elements / threads) * (isStep ? wait : load);
      continue;
    }
    // A reduction, or those of a softmax or norm and what follows them.
    double length = row.getRowLength();
    double lanes = length >= 2048 ? threads : length >= 64 ? 32 : 1;
    double rounds = std::ceil(elements / length * lanes / threads);
    double each = wait + (lanes > 1 ? meet : 0) + load * length / lanes;
    seconds += (isa<ReduceOp>(op) ? 1 : 3) * rounds * each;
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
  if (failed(LoopPrinter(function, getForm()).print(os)))
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

FailureOr<std::unique_ptr<Plan>>
SmallFamily::plan(FusedOp fused, const MachineDescription &machine,
                  EmitError emitError) const {
  constexpr int64_t mostElements = 1 << 16;
  if (failed(requireElements(fused, emitError)))
    return failure();
  if (Placement::isIn(fused))
    return emitError() << "writes whole results, and one is a part of its "
                          "buffer";
  unsigned steps = 0;
  for (Operation &op : fused.getBodyOps()) {
    bool isRow = isa<NormOp, SoftmaxOp, ReduceOp>(op);
    bool isView = isa<ViewOpInterface, ConstantOp>(op);
    steps += !isView;
    if ((!isRow && !isView && !isa<PointwiseOpInterface, GatherOp>(op)) ||
        (isRow && cast<RowOpInterface>(op).getArithmetic().locates))
      return emitError() << "'" << op.getName()
                         << "' is not a norm, softmax, reduction to a value, "
                            "pointwise op, gather or view";
    if (countMostElements(op) > mostElements)
      return emitError() << "takes tensors of at most " << mostElements
                         << " elements, not " << countMostElements(op);
  }
  if (steps < 2)
    return emitError() << "needs several ops to compute one after another";
  return std::unique_ptr<Plan>(new SmallPlan(*this, fused, machine));
}

void fact::registerGenericFamilies(DialectRegistry &registry) {
  registerFamily<SmallFamily>(registry);
  registerFamily<ReductionFamily>(registry);
  registerFamily<GenericFamily>(registry);
}
