//===- Target.cpp - A machine and its families ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Target.h"
#include "fact/Dialect/Fact/Placement.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

Target::~Target() = default;

std::vector<const Rule *> Target::getRules() const {
  std::vector<const Rule *> rules;
  for (const Family *family : families)
    if (rules.empty() || rules.back()->name != family->getRule().name)
      rules.push_back(&family->getRule());
  return rules;
}

const Rule *Target::findRule(StringRef name) const {
  SmallVector<const Family *> own = getFamilies(name);
  return own.empty() ? nullptr : &own.front()->getRule();
}

SmallVector<const Family *> Target::getFamilies(StringRef rule) const {
  SmallVector<const Family *> own;
  llvm::copy_if(families, std::back_inserter(own), [&](const Family *each) {
    return each->getRule().name == rule;
  });
  return own;
}

std::vector<const ScheduleKind *> Target::getScheduleKinds() const {
  std::vector<const ScheduleKind *> kinds;
  for (const Family *family : families)
    for (const ScheduleKind *kind : family->getScheduleKinds())
      if (!llvm::is_contained(kinds, kind))
        kinds.push_back(kind);
  return kinds;
}

std::vector<StringRef> Target::getRules(const ScheduleKind &kind) const {
  std::vector<StringRef> rules;
  for (const Family *family : families)
    if (llvm::is_contained(family->getScheduleKinds(), &kind) &&
        !llvm::is_contained(rules, family->getRule().name))
      rules.push_back(family->getRule().name);
  return rules;
}

FailureOr<std::unique_ptr<Plan>> Target::plan(FusedOp fused,
                                              EmitError emitError,
                                              SpaceAttrInterface space) const {
  SmallVector<const Family *> own = getFamilies(fused.getRule());
  if (own.empty())
    return reportMissing(fused.getRule(), emitError);
  if (machine.isHost() && Placement::isIn(fused))
    return emitError() << "kernels of the host write whole results, and one is "
                          "a part of its buffer";
  if (own.size() == 1)
    return own.front()->plan(fused, machine, emitError);

  // The schedules that the region asks for; none: those that a family proposes.
  std::vector<ScheduleAttr> asked;
  auto schedule = cast_or_null<ScheduleAttr>(fused.getScheduleAttr());
  if (!space)
    space = cast_or_null<SpaceAttrInterface>(fused.getSpaceAttr());
  if (schedule)
    asked = {schedule};
  else if (space)
    asked = space.enumerate();

  std::unique_ptr<Plan> fixed;
  for (const Family *family : own) {
    FailureOr<std::unique_ptr<Plan>> plan =
        family->plan(fused, machine, Silence(fused));
    if (failed(plan))
      continue;
    auto isLegal = [&](ScheduleAttr each) { return (*plan)->isLegal(each); };
    if (llvm::any_of(asked.empty() ? (*plan)->getSpace().enumerate() : asked,
                     isLegal))
      return plan;
    if (!fixed && !schedule &&
        succeeded((*plan)->checkSpace(space, Silence(fused))))
      fixed = std::move(*plan);
  }
  if (fixed)
    return std::move(fixed);
  auto reads = [&](const Family *family) {
    return llvm::any_of(asked, [&](ScheduleAttr each) {
      return llvm::is_contained(family->getScheduleKinds(), each.getKind());
    });
  };
  auto reader = llvm::find_if(own, reads);
  return (reader == own.end() ? own.front() : *reader)
      ->plan(fused, machine, emitError);
}

LogicalResult Target::reportMissing(StringRef rule, EmitError emitError) const {
  auto elsewhere = llvm::make_filter_range(others, [&](const Family *other) {
    return other->getRule().name == rule;
  });
  if (!elsewhere.empty()) {
    InFlightDiagnostic diagnostic = emitError()
                                    << "'" << rule << "' has kernels for ";
    llvm::interleaveComma(elsewhere, diagnostic, [&](const Family *other) {
      diagnostic << other->getArchitecture();
    });
    return diagnostic << ", but '" << machine.name << "' is "
                      << machine.architecture;
  }
  InFlightDiagnostic diagnostic = emitError()
                                  << "target '" << machine.name
                                  << "' has no rule '" << rule << "'; it has ";
  llvm::interleaveComma(getRules(), diagnostic, [&](const Rule *known) {
    diagnostic << "'" << known->name << "'";
  });
  return failure();
}

//===----------------------------------------------------------------------===//
// KernelRegistry
//===----------------------------------------------------------------------===//

KernelRegistry &KernelRegistry::get(FactDialect &dialect) {
  if (auto *registry = dialect.getRegisteredInterface<KernelRegistry>())
    return *registry;
  return dialect.addInterface<KernelRegistry>();
}

void KernelRegistry::addFamily(std::unique_ptr<Family> family) {
  auto *dialect = cast<FactDialect>(getDialect());
  for (const ScheduleKind *kind : family->getScheduleKinds())
    dialect->addScheduleKind(*kind);
  families.push_back(std::move(family));
}

void KernelRegistry::addTarget(StringRef kind, CreateTarget create) {
  targets[kind] = create;
}

/// The compute capability of "sm_80" (80) or "sm_90a" (90); 0: not a GPU.
static int getCapability(StringRef architecture) {
  int capability = 0;
  if (!architecture.consume_front("sm_") ||
      architecture.consumeInteger(10, capability))
    return 0;
  return capability;
}

/// How specific a family is to the machine. 0: it is for other machines; 1: for
/// all of its kind; a compute capability: for that and later ones; largest: for
/// its architecture.
static int getFit(const Family &family, const MachineDescription &machine) {
  StringRef architecture = family.getArchitecture();
  if (architecture == machine.architecture)
    return std::numeric_limits<int>::max();
  if (architecture == machine.getKind())
    return 1;
  // A letter stands for instructions that no other architecture has.
  if (!llvm::isDigit(architecture.back()))
    return 0;
  int baseline = getCapability(architecture);
  return baseline <= getCapability(machine.architecture) ? baseline : 0;
}

std::unique_ptr<Target>
KernelRegistry::createTarget(const MachineDescription &machine) const {
  CreateTarget create = targets.lookup(machine.getKind());
  assert(create && "no target is registered for the machine's kind");
  std::unique_ptr<Target> target = create(machine);
  for (const std::unique_ptr<Family> &family : families) {
    int fit = getFit(*family, machine);
    if (!fit) {
      target->others.push_back(family.get());
      continue;
    }
    auto isOfRule = [&](const Family *other) {
      return other->getRule().name == family->getRule().name;
    };
    std::vector<const Family *> &known = target->families;
    auto at = llvm::find_if(known, isOfRule);
    while (at != known.end() && isOfRule(*at) && getFit(**at, machine) >= fit)
      ++at;
    known.insert(at, family.get());
  }
  return target;
}

std::unique_ptr<Target> fact::createTarget(MLIRContext *context,
                                           const MachineDescription &machine) {
  return KernelRegistry::get(*context->getOrLoadDialect<FactDialect>())
      .createTarget(machine);
}
