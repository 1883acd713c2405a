//===- AddAlternatives.cpp - Other programs for a kernel ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Outline.h"
#include "fact/Fusion/Discovery.h"
#include "fact/Program/Kernels.h"
#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace fact {
#define GEN_PASS_DEF_ADDALTERNATIVES
#include "fact/Program/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;
using program::KernelOp;
using program::LaunchOp;
using program::ModelOp;

namespace {
/// What a form is called, and what it does not fuse.
struct Form {
  StringRef name;
  FusionLimit limit;
};
constexpr Form forms[] = {{"single", FusionLimit::oneContraction},
                          {"apart", FusionLimit::contractionsAlone}};

class Alternatives {
public:
  Alternatives(ModuleOp module, const Target &target, double factor,
               bool keepsProducts, ArrayRef<std::string> patterns)
      : module(module), target(target), factor(factor),
        keepsProducts(keepsProducts), symbols(module),
        kernels(module.getOps<KernelOp>()) {
    options.patterns.assign(patterns.begin(), patterns.end());
    for (KernelOp kernel : kernels)
      priority = std::min(priority,
                          int64_t(kernel.getFused().getPriority().value_or(0)));
    --priority;
  }

  void add(KernelOp kernel);

private:
  OwningOpRef<ModuleOp> inlined(KernelOp kernel) const;
  KernelOp adopt(KernelOp kernel);

  ModuleOp module;
  const Target &target;
  double factor;
  bool keepsProducts;
  DiscoveryOptions options;
  SymbolTable symbols;
  /// All of the module, in its order.
  SmallVector<KernelOp> kernels;
  /// Below that of every kernel of the program.
  int64_t priority = 0;
};
} // namespace

/// A module with the ops of a kernel in a function, in no region.
OwningOpRef<ModuleOp> Alternatives::inlined(KernelOp kernel) const {
  Location loc = kernel.getLoc();
  OwningOpRef<ModuleOp> part = ModuleOp::create(loc);
  (*part)->setAttr("fact.target", module->getAttr("fact.target"));
  OpBuilder builder = OpBuilder::atBlockEnd(part->getBody());
  auto function = func::FuncOp::create(builder, loc, kernel.getSymName(),
                                       kernel.getFunctionType());
  function.setArgAttrsAttr(kernel.getArgAttrsAttr());
  IRMapping map;
  Block *block = function.addEntryBlock();
  map.map(kernel.getBody().getArguments(), block->getArguments());
  builder.setInsertionPointToEnd(block);
  FusedOp fused = kernel.getFused();
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (&op != fused)
      builder.clone(op, map);
  Block &body = fused.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), fused.getInputs()))
    map.map(argument, map.lookup(operand));
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(map.lookup(yielded));
  func::ReturnOp::create(builder, loc, results);
  return part;
}

/// The module's kernel with the same content: an old one, or this one after it
/// has moved there.
KernelOp Alternatives::adopt(KernelOp kernel) {
  FusedOp fused = kernel.getFused();
  for (KernelOp known : kernels)
    if (isSameKernel(known.getFused(), fused))
      return known;
  fused.setPriority(priority);
  kernel->remove();
  kernel.setSymName(getKernelName(fused, kernels.size()));
  symbols.insert(kernel, std::next(kernels.back()->getIterator()));
  kernels.push_back(kernel);
  return kernel;
}

/// Whether a value that a kernel reads is a product that another one stored.
static bool isStoredProduct(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto reader = argument ? dyn_cast<FusedOp>(argument.getOwner()->getParentOp())
                         : FusedOp();
  auto stored = dyn_cast<OpResult>(
      reader ? reader.getInputs()[argument.getArgNumber()] : value);
  auto writer = stored ? dyn_cast<FusedOp>(stored.getOwner()) : FusedOp();
  return writer && isa_and_nonnull<ContractionOpInterface>(
                       writer.getBody()
                           .front()
                           .getTerminator()
                           ->getOperand(stored.getResultNumber())
                           .getDefiningOp());
}

/// Whether a kernel stores a 16-bit product that another one reads in f32.
static bool roundsProducts(ModuleOp module) {
  return module
      .walk([](CastOp cast) {
        return isWideningOf16Bits(cast) && isStoredProduct(cast.getOperand())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The kernels that a model launches, in order.
static SmallVector<StringRef> getLaunched(ModelOp model) {
  SmallVector<StringRef> names;
  for (LaunchOp launch : model.getRun().getBody().getOps<LaunchOp>())
    names.push_back(launch.getKernel());
  return names;
}

/// Whether a region has a contraction and another op that computes.
static bool canSplit(FusedOp fused) {
  unsigned contractions = 0, others = 0;
  for (Operation &op : fused.getBodyOps())
    if (isa<ContractionOpInterface>(op))
      ++contractions;
    else if (!isa<ViewOpInterface, ConstantOp>(op))
      ++others;
  return contractions > 0 && contractions + others > 1;
}

void Alternatives::add(KernelOp kernel) {
  FusedOp fused = kernel.getFused();
  if (!canSplit(fused))
    return;
  double limit = factor * predictKernel(fused, target);
  SmallVector<SmallVector<StringRef>> known;
  for (const Form &form : forms) {
    OwningOpRef<ModuleOp> part = inlined(kernel);
    options.limit = form.limit;
    DiscoveryReport report;
    {
      // No alternative is no error.
      ScopedDiagnosticHandler silence(module.getContext(),
                                      [](Diagnostic &) { return success(); });
      if (failed(discover(*part, options, report)) ||
          (keepsProducts && roundsProducts(*part)) ||
          failed(outlineProgram(*part)))
        continue;
    }
    auto model = *part->getOps<ModelOp>().begin();
    double predicted = 0;
    bool isSplit = true;
    for (StringRef name : getLaunched(model)) {
      FusedOp each = part->lookupSymbol<KernelOp>(name).getFused();
      predicted += predictKernel(each, target);
      isSplit &= !isSameRegion(each, fused);
    }
    if (!isSplit || predicted > limit)
      continue;
    llvm::StringMap<StringAttr> renamed;
    for (KernelOp each : llvm::make_early_inc_range(part->getOps<KernelOp>())) {
      StringRef name = each.getSymName();
      renamed[name] = adopt(each).getSymNameAttr();
    }
    for (LaunchOp launch : model.getRun().getBody().getOps<LaunchOp>())
      launch.setKernelAttr(
          FlatSymbolRefAttr::get(renamed.at(launch.getKernel())));
    SmallVector<StringRef> launched = getLaunched(model);
    if (llvm::is_contained(known, launched))
      continue;
    known.push_back(launched);
    model->remove();
    model.setSymName((kernel.getSymName() + "_" + form.name).str());
    model.setReplaces(kernel.getSymName());
    symbols.insert(model, module.getBody()->end());
  }
}

namespace {
struct AddAlternativesPass
    : fact::impl::AddAlternativesBase<AddAlternativesPass> {
  using AddAlternativesBase::AddAlternativesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MachineAttr machine = getTargetMachine(module);
    if (!machine) {
      module.emitError("the module has no 'fact.target': run --fact-discover "
                       "first");
      return signalPassFailure();
    }
    std::unique_ptr<Target> target =
        createTarget(&getContext(), machine.getDescription());
    // The order of the program.
    llvm::SetVector<KernelOp> launched;
    for (ModelOp model : module.getOps<ModelOp>())
      for (LaunchOp launch : model.getRun().getBody().getOps<LaunchOp>())
        launched.insert(module.lookupSymbol<KernelOp>(launch.getKernel()));
    Alternatives alternatives(module, *target, factor, keepProducts, *patterns);
    for (KernelOp kernel : launched)
      alternatives.add(kernel);
  }
};
} // namespace
