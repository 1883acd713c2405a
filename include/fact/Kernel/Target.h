//===- Target.h - A machine and its families --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Families and targets are registered with the dialect registry and belong to
// the context. The rules, the agents and the bundle writer see kernels through
// this interface alone, so discovery makes no kernel that a target cannot emit.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_KERNEL_TARGET_H
#define FACT_KERNEL_TARGET_H

#include "fact/Kernel/Family.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/DialectRegistry.h"
#include <optional>

namespace fact {
/// A machine and the families for it.
class Target {
public:
  virtual ~Target();

  const MachineDescription &getMachine() const { return machine; }

  /// "cuda" or "host".
  virtual llvm::StringRef getKind() const = 0;
  /// The file suffix of a kernel's source: ".cu", ".cpp".
  virtual llvm::StringRef getSourceSuffix() const = 0;

  /// The commands of docs/bundle.md, as lists of arguments.
  struct Commands {
    std::vector<std::string> compile, link, linkProgram;
  };
  virtual Commands getCommands() const = 0;

  /// Products and reductions of so many terms at most are written out: kernels
  /// of pointwise ops store them as fast as memory takes them.
  virtual int64_t getMostTerms() const { return 0; }

  /// The processor that compiled kernels need.
  struct Processor {
    /// "x86_64", and LLVM's name: "x86-64-v3".
    std::string architecture, name;
    /// The features of fact/Runtime/Cpu.h that code may use.
    std::vector<std::string> features;
  };
  /// None where kernels run on a device.
  virtual std::optional<Processor> getProcessor() const { return std::nullopt; }

  /// Files in every bundle of this target: (path, text).
  virtual std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const = 0;

  /// The rules that have families here, in the order of registration.
  std::vector<const Rule *> getRules() const;
  /// A rule by its name, or null.
  const Rule *findRule(llvm::StringRef name) const;
  /// All families, by rule; of one rule the most specific first: that of the
  /// machine's architecture, then of baselines, then of its kind.
  llvm::ArrayRef<const Family *> getFamilies() const { return families; }
  /// The families of one rule.
  llvm::SmallVector<const Family *> getFamilies(llvm::StringRef rule) const;
  /// The kinds of schedules of all families, in their order.
  std::vector<const ScheduleKind *> getScheduleKinds() const;
  /// The rules whose families read a kind.
  std::vector<llvm::StringRef> getRules(const ScheduleKind &kind) const;

  /// The plan of a region by the first family of its rule that has a legal
  /// schedule in `space` (null: in the region's own schedule or space, else in
  /// the family's), else by the first that has a fixed one. Where none has, the
  /// plan, or the diagnostic that says why there is none, is that of the first
  /// family that reads such schedules.
  mlir::FailureOr<std::unique_ptr<Plan>>
  plan(FusedOp fused, EmitError emitError, SpaceAttrInterface space = {}) const;

protected:
  explicit Target(const MachineDescription &machine) : machine(machine) {}

  const MachineDescription machine;

private:
  friend class KernelRegistry;
  /// Says which machines and rules have families, where this one has none.
  mlir::LogicalResult reportMissing(llvm::StringRef rule,
                                    EmitError emitError) const;

  std::vector<const Family *> families;
  /// Families for other machines, for diagnostics.
  std::vector<const Family *> others;
};

/// The families and targets of a context.
class KernelRegistry : public mlir::DialectInterface::Base<KernelRegistry> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelRegistry)
  using CreateTarget =
      std::unique_ptr<Target> (*)(const MachineDescription &machine);

  explicit KernelRegistry(mlir::Dialect *dialect) : Base(dialect) {}

  /// The registry of a dialect, created on first use.
  static KernelRegistry &get(FactDialect &dialect);

  void addFamily(std::unique_ptr<Family> family);
  /// `kind` is "cuda" or "host".
  void addTarget(llvm::StringRef kind, CreateTarget create);

  std::unique_ptr<Target> createTarget(const MachineDescription &machine) const;

private:
  std::vector<std::unique_ptr<Family>> families;
  llvm::StringMap<CreateTarget> targets;
};

/// Registers a family with every context of the registry.
template <typename FamilyT>
void registerFamily(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, FactDialect *dialect) {
    KernelRegistry::get(*dialect).addFamily(std::make_unique<FamilyT>());
  });
}

/// Registers a kind of target with every context of the registry. `TargetT` has
/// a static member `kind`.
template <typename TargetT>
void registerTarget(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, FactDialect *dialect) {
    KernelRegistry::get(*dialect).addTarget(
        TargetT::kind,
        [](const MachineDescription &machine) -> std::unique_ptr<Target> {
          return std::make_unique<TargetT>(machine);
        });
  });
}

/// The target for a machine. The context must outlive it.
std::unique_ptr<Target> createTarget(mlir::MLIRContext *context,
                                     const MachineDescription &machine);
} // namespace fact

#endif // FACT_KERNEL_TARGET_H
