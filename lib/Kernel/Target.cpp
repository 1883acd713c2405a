//===- Target.cpp - A machine and its families ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Target.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

Target::~Target() = default;

const Family *Target::findFamily(StringRef rule) const {
  auto found = llvm::find_if(families, [&](const Family *each) {
    return each->getRule().name == rule;
  });
  return found == families.end() ? nullptr : *found;
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
    if (llvm::is_contained(family->getScheduleKinds(), &kind))
      rules.push_back(family->getRule().name);
  return rules;
}

FailureOr<std::unique_ptr<Plan>> Target::plan(FusedOp fused,
                                              EmitError emitError) const {
  if (const Family *family = findFamily(fused.getRule()))
    return family->plan(fused, machine, emitError);
  auto elsewhere = llvm::make_filter_range(others, [&](const Family *other) {
    return other->getRule().name == fused.getRule();
  });
  if (!elsewhere.empty()) {
    InFlightDiagnostic diagnostic = emitError() << "'" << fused.getRule()
                                                << "' has kernels for ";
    llvm::interleaveComma(elsewhere, diagnostic, [&](const Family *other) {
      diagnostic << other->getArchitecture();
    });
    return diagnostic << ", but '" << machine.name << "' is "
                      << machine.architecture;
  }
  InFlightDiagnostic diagnostic =
      emitError() << "target '" << machine.name << "' has no rule '"
                  << fused.getRule() << "'; it has ";
  llvm::interleaveComma(families, diagnostic, [&](const Family *known) {
    diagnostic << "'" << known->getRule().name << "'";
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

/// 0: the family is not for the machine; 1: for its kind; 2: for its
/// architecture.
static int getFit(const Family &family, const MachineDescription &machine) {
  if (family.getArchitecture() == machine.architecture)
    return 2;
  return family.getArchitecture() == machine.getKind();
}

std::unique_ptr<Target>
KernelRegistry::createTarget(const MachineDescription &machine) const {
  CreateTarget create = targets.lookup(machine.getKind());
  assert(create && "no target is registered for the machine's kind");
  std::unique_ptr<Target> target = create(machine);
  // A family for the architecture takes precedence over one for the kind.
  for (const std::unique_ptr<Family> &family : families) {
    int fit = getFit(*family, machine);
    if (!fit) {
      target->others.push_back(family.get());
      continue;
    }
    auto known = llvm::find_if(target->families, [&](const Family *other) {
      return other->getRule().name == family->getRule().name;
    });
    if (known == target->families.end())
      target->families.push_back(family.get());
    else if (fit > getFit(**known, machine))
      *known = family.get();
  }
  return target;
}

std::unique_ptr<Target> fact::createTarget(MLIRContext *context,
                                           const MachineDescription &machine) {
  return KernelRegistry::get(*context->getOrLoadDialect<FactDialect>())
      .createTarget(machine);
}
