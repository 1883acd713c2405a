//===- Candidates.cpp - The schedules of a kernel to compile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Candidates.h"
#include "fact/Program/Kernels.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;
using namespace fact;

static bool isFaster(const Candidate &a, const Candidate &b) {
  return a.predicted < b.predicted;
}

/// Ranks fixed schedules with the best: a vendor's library costs little to try,
/// and users compare with it.
static void promote(std::vector<Candidate> &candidates) {
  double best = llvm::min_element(candidates, isFaster)->predicted;
  for (Candidate &candidate : candidates)
    if (candidate.isFixed)
      candidate.predicted = std::min(candidate.predicted, best);
}

std::vector<Candidate> fact::selectCandidates(const Plan &plan, size_t limit,
                                              bool wholeLists) {
  FusedOp fused = plan.getRegion();
  std::vector<ScheduleAttr> schedules;
  SmallVector<ScheduleAttr> fixed;
  bool isList = false;
  if (auto chosen = fused.getSchedule()) {
    schedules.push_back(cast<ScheduleAttr>(*chosen));
  } else {
    auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                  : plan.getSpace();
    isList = isa<SchedulesAttr>(space);
    schedules = space.enumerate();
    fixed = plan.getFixedSchedules();
    llvm::append_range(schedules, fixed);
  }
  std::vector<Candidate> candidates;
  llvm::StringSet<> seen;
  for (ScheduleAttr schedule : schedules)
    if (plan.isLegal(schedule) && seen.insert(schedule.getKey()).second)
      candidates.push_back({schedule, plan.predict(schedule),
                            llvm::is_contained(fixed, schedule),
                            candidates.size()});
  if (candidates.empty())
    return candidates;
  // A list keeps its order, with the fixed schedules after its first. Other
  // spaces are sorted by prediction, then by position; those that are promoted
  // follow the best.
  auto isBefore = [&](const Candidate &a, const Candidate &b) {
    return isList ? std::tuple(!a.isFixed, a.position) <
                        std::tuple(!b.isFixed, b.position)
                  : std::tie(a.predicted, a.position) <
                        std::tie(b.predicted, b.position);
  };
  llvm::sort(candidates.begin() + isList, candidates.end(), isBefore);
  promote(candidates);
  if (!isList)
    llvm::stable_sort(candidates, isFaster);
  if (isList && wholeLists)
    return candidates;
  if (limit == 1)
    candidates.resize(1);
  // Further candidates of an object cost no compilation.
  llvm::StringSet<> objects;
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    std::string object = plan.getObjectKey(candidate.schedule);
    return !objects.contains(object) &&
           (objects.size() == limit || !objects.insert(object).second);
  });
  return candidates;
}

std::vector<tuning::Candidate>
fact::describeCandidates(ArrayRef<Candidate> candidates) {
  std::vector<tuning::Candidate> described(candidates.size());
  for (auto [candidate, from] : llvm::zip_equal(described, candidates)) {
    candidate.key = from.schedule.getKey();
    candidate.predictedUs = from.predicted;
  }
  return described;
}

/// Gives a kernel of no particular size a symbol that depends on its text
/// alone, so that regions of other sizes share its object; returns it.
static std::string shareSymbol(StringRef rule, StringRef symbol,
                               KernelCode &code) {
  SmallVector<StringRef> parts;
  StringRef(code.text).split(parts, symbol);
  std::string shared =
      (rule + "_" + getShortHash(llvm::join(parts, "@"))).str();
  code.text = llvm::join(parts, shared);
  return shared;
}

FailureOr<std::vector<EmittedObject>>
fact::emitCandidates(const Plan &plan, ArrayRef<Candidate> candidates,
                     StringRef symbolBase) {
  std::map<std::string, SmallVector<size_t>> shared;
  for (auto [i, candidate] : llvm::enumerate(candidates))
    shared[plan.getObjectKey(candidate.schedule)].push_back(i);
  std::vector<EmittedObject> objects;
  for (auto &[objectKey, members] : shared) {
    EmittedObject &object = objects.emplace_back();
    object.members = members;
    std::string others;
    if (members.size() > 1)
      for (size_t i : members)
        others += "; " + candidates[i].schedule.getKey();
    for (size_t i : members)
      object.symbols.push_back(
          (symbolBase + "_" +
           getShortHash(candidates[i].schedule.getKey() + others))
              .str());
  }
  auto emit = [&](EmittedObject &object) -> LogicalResult {
    SmallVector<KernelVariant> variants;
    for (auto [i, symbol] : llvm::zip_equal(object.members, object.symbols))
      variants.push_back({candidates[i].schedule, symbol});
    if (failed(plan.emit(variants, object.code)))
      return failure();
    if (object.isSized()) {
      std::string symbol = shareSymbol(plan.getFamily().getRule().name,
                                       object.symbols.front(), object.code);
      object.symbols.assign(object.symbols.size(), symbol);
    }
    return success();
  };
  FusedOp fused = plan.getRegion();
  if (plan.compiles()) {
    if (failed(failableParallelForEach(fused.getContext(), objects, emit)))
      return failure();
  } else if (!llvm::all_of(objects, [&](EmittedObject &object) {
               return succeeded(emit(object));
             })) {
    return failure();
  }
  return objects;
}

OwningOpRef<FusedOp> fact::isolateContraction(FusedOp fused,
                                              std::vector<uint32_t> &operands) {
  auto contractions =
      llvm::make_filter_range(fused.getBodyOps(), [](Operation &op) {
        return isa<ContractionOpInterface>(op);
      });
  if (!llvm::hasSingleElement(contractions))
    return {};
  Operation *contraction = &*contractions.begin();
  OpBuilder builder(fused);
  OwningOpRef<FusedOp> alone =
      FusedOp::create(builder, fused.getLoc(), contraction->getResultTypes(),
                      fused.getRule(), fused.getInputs(), StrategyAttr(),
                      Attribute(), Attribute(), IntegerAttr());
  Block &body = alone->getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : fused.getBody().getArguments())
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (Operation &op : fused.getBodyOps()) {
    inner.clone(op, mapping);
    if (&op == contraction)
      break;
  }
  YieldOp::create(inner, fused.getLoc(),
                  mapping.lookup(contraction->getResult(0)));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  if (!llvm::all_of(alone->getBodyOps(), [](Operation &op) {
        return isa<ContractionOpInterface, ViewOpInterface, ConstantOp>(op);
      }))
    return {};
  for (unsigned i = body.getNumArguments(); i-- > 0;) {
    if (!body.getArgument(i).use_empty()) {
      operands.insert(operands.begin(), i);
      continue;
    }
    body.eraseArgument(i);
    (*alone)->eraseOperand(i);
  }
  return alone;
}
