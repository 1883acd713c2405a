//===- Discover.cpp - Group ops into the kernels that will run them -------===//

#include "fact/Agent/Agent.h"
#include "fact/Analysis/Fusibility.h"
#include "fact/Analysis/StridedView.h"
#include "fact/Target/Target.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace fact {
#define GEN_PASS_DEF_DISCOVER
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct DiscoverPass : fact::impl::DiscoverBase<DiscoverPass> {
  using DiscoverBase::DiscoverBase;

  LogicalResult chooseMachine(const MachineDescription *&machine);
  LogicalResult discover(Block &block, const Fusibility &fusibility,
                         Agent &agent);
  LogicalResult checkCovered(Block &block, const Fusibility &fusibility);
  void copyOutputs(func::FuncOp function, const Fusibility &fusibility);
  void runOnOperation() override;
};
} // namespace

LogicalResult DiscoverPass::chooseMachine(const MachineDescription *&machine) {
  ModuleOp module = getOperation();
  if (target.empty()) {
    MachineAttr named = getTargetMachine(module);
    machine = named ? &named.getDescription() : findMachine("host");
  } else {
    machine = findMachine(target);
    if (!machine) {
      // The attribute's verifier says which there are.
      return MachineAttr::verify([&] { return module.emitError(); },
                                 StringRef(target));
    }
  }
  module->setAttr("fact.target",
                  MachineAttr::get(&getContext(), machine->name));
  return success();
}

LogicalResult DiscoverPass::discover(Block &block, const Fusibility &fusibility,
                                     Agent &agent) {
  IRRewriter rewriter(&getContext());
  // A group refers to ops, and fusing one group keeps the ops of the others.
  for (Proposal &proposal : agent.propose(block, fusibility)) {
    ++proposed;
    Location loc = proposal.ops.front()->getLoc();
    if (failed(fusibility.check(proposal.rule, proposal.ops, [&] {
          return mlir::emitRemark(loc)
                 << "rejected '" << proposal.rule << "': ";
        }))) {
      ++rejected;
      continue;
    }
    ++accepted;
    fusibility.fuse(proposal.rule, proposal.ops, rewriter);
    sortTopologically(&block);
  }
  return checkCovered(block, fusibility);
}

/// Every op that needs a kernel has one; reshapes need none.
LogicalResult DiscoverPass::checkCovered(Block &block,
                                         const Fusibility &fusibility) {
  bool covered = true;
  for (Operation &op : block.without_terminator()) {
    if (!isa<FactDialect>(op.getDialect()) ||
        isa<FusedOp, PrepareOp, GetWeightOp, ConstantOp, ReshapeOp>(op))
      continue;
    covered = false;
    InFlightDiagnostic diagnostic = op.emitOpError("has no kernel on target '")
                                    << fusibility.getTarget().getMachine().name
                                    << "'";
    OpGroup alone;
    alone.insert(&op);
    for (const std::unique_ptr<Realiser> &realiser :
         fusibility.getTarget().getRealisers()) {
      ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &reason) {
        diagnostic.attachNote(op.getLoc())
            << "'" << realiser->getRule() << "': " << reason.str();
        return success();
      });
      (void)fusibility.check(realiser->getRule(), alone,
                             [&] { return mlir::emitError(op.getLoc()); });
    }
  }
  return success(covered);
}

/// Every output is a kernel's result and its own memory: what is an input, a
/// weight or another output too is copied. One without elements needs none.
void DiscoverPass::copyOutputs(func::FuncOp function,
                               const Fusibility &fusibility) {
  Operation *terminator = function.getBody().front().getTerminator();
  const Realiser *realiser = fusibility.getTarget().findRealiser("pointwise");
  OpBuilder builder(terminator);
  llvm::SmallDenseSet<Value> written;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value memory = skipReshapes(operand.get());
    auto tensor = dyn_cast<RankedTensorType>(memory.getType());
    if (!tensor || llvm::is_contained(tensor.getShape(), 0) ||
        (memory.getDefiningOp<FusedOp>() && written.insert(memory).second))
      continue;
    Location loc = terminator->getLoc();
    Type type = operand.get().getType();
    auto copy = FusedOp::create(builder, loc, TypeRange(type), "pointwise",
                                operand.get(), StrategyAttr(), Attribute(),
                                Attribute());
    Block &body = copy.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    YieldOp::create(inner, loc, ValueRange(body.addArgument(type, loc)));
    copy.setSpaceAttr(realiser->getDefaultSpace(copy));
    operand.set(copy.getResult(0));
  }
}

void DiscoverPass::runOnOperation() {
  const MachineDescription *machine = nullptr;
  if (failed(chooseMachine(machine)))
    return signalPassFailure();
  if (agent != "rules") {
    getOperation().emitError("unknown agent '")
        << agent << "'; known is 'rules'";
    return signalPassFailure();
  }
  std::unique_ptr<Target> targetMachine = createTarget(*machine);
  Fusibility fusibility(*targetMachine);
  std::unique_ptr<Agent> proposer = createRulesAgent();
  SmallVector<Block *> blocks;
  getOperation().walk([&](Operation *op) {
    if (isa<func::FuncOp, PrepareOp>(op) && !op->getRegion(0).empty())
      blocks.push_back(&op->getRegion(0).front());
  });
  for (Block *block : blocks)
    if (failed(discover(*block, fusibility, *proposer)))
      return signalPassFailure();
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      copyOutputs(function, fusibility);
}
