//===- Target.h - What a target can realise, and how --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A realiser belongs to one family of kernels on one target. Analyses and the
// bundle writer see targets through this interface alone, so nothing is tagged
// that a target cannot emit.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TARGET_TARGET_H
#define FACT_TARGET_TARGET_H

#include "fact/Dialect/Fact/Fact.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fact {
/// What an emitter writes for one kernel: a source text, or an object's bytes.
struct KernelCode {
  std::string text;
  bool isObject = false;
  /// Of an object: the IR that it was made from, for people to read.
  std::string listing;
  /// Extra words for the compile and the link command.
  std::vector<std::string> flags;
  std::vector<std::string> link;
};

/// A schedule, and the symbol that exports its kernel.
struct KernelVariant {
  ScheduleAttr schedule;
  std::string symbol;
};

/// One family of kernels on one target.
class Realiser {
public:
  virtual ~Realiser() = default;

  /// The rule it realises: "gemm_epilogue", "attention", ...
  virtual llvm::StringRef getRule() const = 0;

  /// Whether it can emit this region; the diagnostic says what stands in the
  /// way. Everything that passes compiles with at least one schedule.
  virtual mlir::LogicalResult canRealise(FusedOp fused,
                                         EmitError emitError) const = 0;

  /// The kinds of schedules it reads.
  virtual std::vector<const ScheduleKind *> getScheduleKinds() const = 0;

  /// The space to search when nobody proposed another.
  virtual SpaceAttrInterface getDefaultSpace(FusedOp fused) const = 0;

  /// Schedules beside every space (a vendor's library).
  virtual llvm::SmallVector<ScheduleAttr>
  getFixedSchedules(FusedOp fused) const {
    return {};
  }

  /// Whether this family can emit `fused` with `schedule` on `machine`; the
  /// diagnostic says what would be legal.
  mlir::LogicalResult checkSchedule(FusedOp fused, ScheduleAttr schedule,
                                    const MachineDescription &machine,
                                    EmitError emitError) const;

  /// An estimate that orders candidates before any is compiled.
  virtual double predictMicroseconds(FusedOp fused,
                                     ScheduleAttr schedule) const = 0;

  /// Writes the kernel, exporting a FactKernel named `symbol`.
  virtual mlir::LogicalResult emit(FusedOp fused, ScheduleAttr schedule,
                                   llvm::StringRef symbol,
                                   KernelCode &code) const = 0;

  /// Schedules of one key differ only in what their kernel is told when it
  /// runs: they are compiled once.
  virtual std::string getObjectKey(ScheduleAttr schedule) const {
    return schedule.getKey();
  }

  /// Writes the kernels of schedules that have one object key.
  virtual mlir::LogicalResult
  emitVariants(FusedOp fused, llvm::ArrayRef<KernelVariant> variants,
               KernelCode &code) const {
    assert(variants.size() == 1 && "each schedule has its own object key");
    return emit(fused, variants.front().schedule, variants.front().symbol,
                code);
  }
};

/// A kind of machine that kernels are written for.
class Target {
public:
  virtual ~Target() = default;

  const MachineDescription &getMachine() const { return machine; }

  /// "cuda" or "host".
  virtual llvm::StringRef getKind() const = 0;
  /// ".cu", ".o"
  virtual llvm::StringRef getCandidateSuffix() const = 0;
  /// ".cu", ".cpp": what its compiler takes for the text of Reference.h.
  virtual llvm::StringRef getReferenceSuffix() const = 0;

  /// The commands of docs/bundle.md, as lists of words.
  struct Commands {
    std::vector<std::string> compile, link, linkProgram;
  };
  virtual Commands getCommands() const = 0;

  /// What compiled kernels need of a processor.
  struct Processor {
    /// "x86_64", and LLVM's name: "x86-64-v3".
    std::string architecture, name;
    /// Those of fact/Runtime/Cpu.h that code may use.
    std::vector<std::string> features;
  };
  /// None where kernels run on a device.
  virtual std::optional<Processor> getProcessor() const { return std::nullopt; }

  /// Files every bundle of this target carries: (path, text).
  virtual std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const = 0;

  llvm::ArrayRef<std::unique_ptr<Realiser>> getRealisers() const {
    return realisers;
  }
  /// The kinds of schedules of all realisers, in their order.
  std::vector<const ScheduleKind *> getScheduleKinds() const;
  /// The rules whose realisers read a kind.
  std::vector<llvm::StringRef> getRules(const ScheduleKind &kind) const;
  const Realiser *findRealiser(llvm::StringRef rule) const {
    for (const std::unique_ptr<Realiser> &realiser : realisers)
      if (realiser->getRule() == rule)
        return realiser.get();
    return nullptr;
  }

protected:
  explicit Target(const MachineDescription &machine) : machine(machine) {}

  const MachineDescription machine;
  std::vector<std::unique_ptr<Realiser>> realisers;
};

std::unique_ptr<Target> createHostTarget(const MachineDescription &machine);
std::unique_ptr<Target> createCutlassTarget(const MachineDescription &machine);

/// One target of each kind, for what does not depend on the machine.
std::vector<std::unique_ptr<Target>> createTargetsOfEachKind();

/// Makes the schedules of all targets known to the dialect.
void registerSchedules(mlir::DialectRegistry &registry);

/// The target for a machine.
std::unique_ptr<Target> createTarget(const MachineDescription &machine);
} // namespace fact

#endif // FACT_TARGET_TARGET_H
