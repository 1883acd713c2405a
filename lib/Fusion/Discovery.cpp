//===- Discovery.cpp - From a graph to kernels ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Discovery.h"
#include "JoinGroups.h"
#include "MarkBands.h"
#include "PadRows.h"
#include "PickElements.h"
#include "PlaceParts.h"
#include "RepeatProducers.h"
#include "SeparateReads.h"
#include "ShareSteps.h"
#include "SplitReductions.h"
#include "WidenChannels.h"
#include "WriteOut.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Fusion/Retrieval.h"
#include "fact/Kernel/Rules.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace mlir;
using namespace fact;

namespace {
class Discovery {
public:
  Discovery(ModuleOp module, const DiscoveryOptions &options,
            DiscoveryReport &report)
      : module(module), options(options), report(report) {}

  LogicalResult run();

private:
  LogicalResult chooseTarget();
  LogicalResult createAgent();
  void writeOutRefused(Block &block);
  LogicalResult discover(Block &block, Agent *agent);
  std::vector<Verdict> judge(std::vector<Proposal> proposals,
                             GroupedBlock &decided);
  void fuse(Block &block);
  std::string explain(Operation *op, const GroupedBlock &nothing);
  LogicalResult checkCovered(Block &block);
  LogicalResult copyOutputs(func::FuncOp function);

  ModuleOp module;
  const DiscoveryOptions &options;
  DiscoveryReport &report;
  std::unique_ptr<Target> target;
  std::optional<Fusibility> fusibility;
  std::optional<Retrieval> retrieval;
  std::unique_ptr<Agent> proposer;
  /// The accepted proposals of the current block.
  std::vector<Proposal> accepted;
};
} // namespace

LogicalResult Discovery::chooseTarget() {
  FailureOr<MachineAttr> machine = chooseMachine(module, options.target);
  if (failed(machine))
    return failure();
  target = createTarget(module.getContext(), machine->getDescription());
  fusibility.emplace(*target);
  // Kernels that the input already has are checked like proposals.
  if (failed(fusibility->checkAll(module)))
    return failure();
  module->setAttr("fact.target", *machine);
  retrieval.emplace(module, options, *target);
  return success();
}

LogicalResult Discovery::createAgent() {
  report.agent = options.agent;
  FailureOr<AgentRegistry::CreateAgent> create =
      AgentRegistry::find(module, options);
  if (failed(create))
    return failure();
  if (!*create)
    return success();
  proposer = (*create)(module, options, *retrieval, report);
  return success(proposer != nullptr);
}

/// The op that an obstacle is about, or null.
static Operation *findObstacle(Obstacle obstacle, const OpGroup &group,
                               const GroupedBlock &decided) {
  if (obstacle == Obstacle::cycle)
    return decided.findDetour(group);
  if (obstacle == Obstacle::op)
    for (Operation *op : group)
      if (decided.find(op))
        return op;
  return nullptr;
}

/// Checks proposals in order, and adds the legal ones to `decided`.
std::vector<Verdict> Discovery::judge(std::vector<Proposal> proposals,
                                      GroupedBlock &decided) {
  std::vector<Verdict> verdicts;
  for (Proposal &proposal : proposals) {
    Verdict &verdict = verdicts.emplace_back();
    Location loc =
        proposal.ops.empty() ? module.getLoc() : proposal.ops.front()->getLoc();
    {
      // The first message is the reason; its notes say where.
      ScopedDiagnosticHandler handler(
          module.getContext(), [&](Diagnostic &diagnostic) {
            verdict.reason = diagnostic.str();
            for (Diagnostic &note : diagnostic.getNotes())
              verdict.reason += "; " + note.str();
            return success();
          });
      verdict.obstacle =
          fusibility->check(proposal.rule, proposal.ops, proposal.space,
                            decided, [&] { return mlir::emitError(loc); });
    }
    report.proposed += proposal.counts;
    if (verdict.obstacle) {
      verdict.op = findObstacle(*verdict.obstacle, proposal.ops, decided);
      if (!proposal.counts)
        continue;
      ++report.rejected[stringify(*verdict.obstacle).str()];
      remark::failed(
          loc,
          remark::RemarkOpts::name(proposal.rule).category("fact-discover"))
          << remark::add("rejected") << remark::reason("{0}", verdict.reason);
      continue;
    }
    report.accepted += proposal.counts;
    decided.add(proposal.ops);
    accepted.push_back(std::move(proposal));
  }
  return verdicts;
}

/// Gives the rules' proposals, in their order, priorities below those that an
/// agent chose.
static void rankBelow(ArrayRef<Proposal> chosen,
                      std::vector<Proposal> &proposals) {
  int64_t next = 0;
  for (const Proposal &each : chosen)
    next = std::min(next, each.priority);
  for (Proposal &proposal : proposals)
    proposal.priority = --next;
}

/// Writes out raised ops that no family takes but the last resort, reductions
/// of windows where only those of rows have a family, and products and
/// reductions of few terms.
void Discovery::writeOutRefused(Block &block) {
  // Knows the block as it is, until an op is written out.
  std::optional<GroupedBlock> nothing;
  auto isTaken = [&](Operation *op) {
    if (isa<ReduceOp>(op))
      return target->findRule(windowsRule.name) != nullptr;
    if (!nothing)
      nothing.emplace(block);
    OpGroup alone;
    alone.insert(op);
    return llvm::any_of(target->getRules(), [&](const Rule *rule) {
      return !rule->isLastResort &&
             fusibility->accepts(rule->name, alone, *nothing);
    });
  };
  int64_t mostTerms = target->getMostTerms();
  IRRewriter rewriter(module.getContext());
  for (Operation *op = &block.front(); op;) {
    Operation *next = op->getNextNode();
    Operation *before = op->getPrevNode();
    rewriter.setInsertionPoint(op);
    Value simpler;
    auto matmul = dyn_cast<MatmulOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (matmul && isShort(matmul, mostTerms) && hasRowsToScale(matmul))
      simpler = sumScaledRows(rewriter, matmul);
    else if (reduce && reducesFew(reduce, mostTerms))
      simpler = combineFew(rewriter, reduce);
    else if (canWriteOut(op) && !isTaken(op))
      simpler = writeOut(rewriter, op);
    if (simpler) {
      rewriter.replaceOp(op, simpler);
      nothing.reset();
      // The new ops may need it too.
      next = before ? before->getNextNode() : &block.front();
    }
    op = next;
  }
  // Windows that nothing reads any more.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

LogicalResult Discovery::discover(Block &block, Agent *agent) {
  writeOutRefused(block);
  std::optional<GroupedBlock> decided;
  decided.emplace(block);
  accepted.clear();
  for (bool again = agent != nullptr; again;) {
    ++report.rounds;
    // The proposals of the last round count.
    decided.emplace(block);
    accepted.clear();
    again =
        agent->review(judge(agent->propose(*decided, *fusibility), *decided));
  }
  std::vector<Proposal> rest = createRulesAgent(*retrieval, options.limit)
                                   ->propose(*decided, *fusibility);
  if (!accepted.empty())
    rankBelow(accepted, rest);
  // Agents propose neither what they leave over nor what runs once.
  bool isLoaded = isa<PrepareOp>(block.getParentOp());
  for (Proposal &proposal : rest)
    proposal.counts = !agent && !isLoaded;
  size_t chosen = accepted.size();
  judge(std::move(rest), *decided);
  (isLoaded ? report.prepared : report.covered) +=
      isLoaded || agent ? accepted.size() - chosen : 0;
  fuse(block);
  return checkCovered(block);
}

void Discovery::fuse(Block &block) {
  IRRewriter rewriter(module.getContext());
  Builder builder(module.getContext());
  for (const Proposal &proposal : accepted) {
    FusedOp fused = fusibility->fuse(proposal.rule, proposal.ops, rewriter);
    markBands(fused);
    Advice advice{proposal.strategy, proposal.space};
    if (!advice.strategy && !advice.space)
      advice = retrieval->advise(fused);
    if (advice.space)
      fused.setSpaceAttr(advice.space);
    if (advice.strategy)
      fused.setStrategyAttr(advice.strategy);
    if (proposal.priority)
      fused.setPriority(proposal.priority);
    remark::passed(
        fused.getLoc(),
        remark::RemarkOpts::name(proposal.rule).category("fact-discover"))
        << remark::add("accepted")
        << remark::reason("{0}", proposal.rationale.empty()
                                     ? "by the rules"
                                     : proposal.rationale);
  }
  sortTopologically(&block);
}

/// How much a family's reason for refusing `op` tells: most if the op is an
/// anchor of its rule, less if the rule has no anchors and takes most ops.
static unsigned rankReason(const Rule &rule, Operation *op) {
  if (!rule.seed)
    return 1;
  OpGroup group = rule.seed(op, [](Operation *) { return true; });
  return group.size() == 1 ? 2 : 0;
}

/// Why no family of the target takes `op` alone: the reasons that tell most.
std::string Discovery::explain(Operation *op, const GroupedBlock &nothing) {
  OpGroup alone;
  alone.insert(op);
  SmallVector<std::string> reasons[3];
  for (const Rule *rule : target->getRules()) {
    ScopedDiagnosticHandler handler(module.getContext(),
                                    [&](Diagnostic &reason) {
                                      reasons[rankReason(*rule, op)].push_back(
                                          rule->name + ": " + reason.str());
                                      return success();
                                    });
    (void)fusibility->check(rule->name, alone, {}, nothing,
                            [&] { return mlir::emitError(op->getLoc()); });
  }
  for (ArrayRef<std::string> best : llvm::reverse(reasons))
    if (!best.empty())
      return llvm::join(best, "; ");
  return "the target has no kernels";
}

/// Checks that every op has a kernel; reshapes need none.
LogicalResult Discovery::checkCovered(Block &block) {
  bool covered = true;
  GroupedBlock nothing(block);
  // As the user named it; a file is named by what it describes.
  StringRef name =
      options.target.empty() || StringRef(options.target).ends_with(".json")
          ? target->getMachine().name
          : StringRef(options.target);
  for (Operation &op : block.without_terminator()) {
    if (!Fusibility::isFusible(&op) || isa<ReshapeOp>(op))
      continue;
    covered = false;
    op.emitOpError("has no kernel on target '")
        << name << "' (" << explain(&op, nothing) << ")";
  }
  return success(covered);
}

/// Makes every output the result of a kernel, in memory of its own: inputs,
/// weights and repeated outputs are copied. Outputs without elements need none.
LogicalResult Discovery::copyOutputs(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
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
    if (!tensor.hasStaticShape() || !findElementType(tensor.getElementType()))
      return mlir::emitError(loc)
             << "output " << operand.getOperandNumber() << " of type " << type
             << " cannot be copied: tensors of kernels have static sizes and "
                "elements of "
             << runtime::elementTypeNames();
    FailureOr<FusedOp> copy =
        fusibility->copy(operand.get(), type, builder, loc, [&] {
          return mlir::emitError(loc) << "output " << operand.getOperandNumber()
                                      << " cannot be copied: ";
        });
    if (failed(copy))
      return failure();
    operand.set(copy->getResult(0));
  }
  return success();
}

LogicalResult Discovery::run() {
  auto start = std::chrono::steady_clock::now();
  if (failed(chooseTarget()) || failed(createAgent()))
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (!function.isExternal()) {
      joinGroups(function.getBody().front(), *target);
      widenChannels(function.getBody().front(), *target);
      prepareRowsToScale(function.getBody().front(), *target);
      if (options.limit == FusionLimit::none) {
        pickElements(function.getBody().front(), *fusibility);
        splitReductions(function.getBody().front(), *fusibility);
      }
      separateReads(function.getBody().front());
    }
  SmallVector<std::pair<Block *, Agent *>> blocks;
  module.walk([&](Operation *op) {
    if (!isa<func::FuncOp, PrepareOp>(op) || op->getRegion(0).empty())
      return;
    // Agents see neither `fact.prepare`, which runs once, nor blocks without
    // work.
    Block &block = op->getRegion(0).front();
    bool isWorth = isa<func::FuncOp>(op) &&
                   llvm::any_of(block.without_terminator(), [](Operation &op) {
                     return Fusibility::isFusible(&op);
                   });
    blocks.emplace_back(&block, isWorth ? proposer.get() : nullptr);
  });
  // The errors of all blocks at once.
  bool covered = true;
  for (auto [block, agent] : blocks)
    covered &= succeeded(discover(*block, agent));
  if (!covered)
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (failed(copyOutputs(function)))
      return failure();
    repeatProducers(function.getBody().front(), *fusibility);
    shareSteps(function.getBody().front(), *fusibility);
    if (options.placeParts)
      placeParts(function.getBody().front(), *fusibility);
    if (options.padRows)
      padRows(function.getBody().front(), *fusibility);
  }
  // Kernels that were given, and those whose operands changed.
  module.walk([](FusedOp fused) {
    if (getOperandBands(fused).empty())
      markBands(fused);
  });
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return success();
}

LogicalResult fact::discover(ModuleOp module, const DiscoveryOptions &options,
                             DiscoveryReport &report) {
  return Discovery(module, options, report).run();
}
