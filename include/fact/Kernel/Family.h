//===- Family.h - A family of kernels, and its plan of a region -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule says which regions can be one kernel. A family implements a rule on an
// architecture and owns all that is known about its kernels. It reads a region
// once, into a plan; the plan knows the schedules, which of them are legal, how
// long each should take, and the code.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_KERNEL_FAMILY_H
#define FACT_KERNEL_FAMILY_H

#include "fact/Dialect/Fact/Fact.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fact {
/// Discards the diagnostics of a context while it lives, for attempts that may
/// fail. (An inactive InFlightDiagnostic will not do: it converts to success.)
class Silence {
public:
  explicit Silence(mlir::Operation *op)
      : loc(op->getLoc()), handler(op->getContext(), [](mlir::Diagnostic &) {
          return mlir::success();
        }) {}

  mlir::InFlightDiagnostic operator()() const { return mlir::emitError(loc); }

private:
  mlir::Location loc;
  mlir::ScopedDiagnosticHandler handler;
};

/// The code of one kernel: a source text, or an object's bytes.
struct KernelCode {
  std::string text;
  bool isObject = false;
  /// The IR that an object was made from, for people to read.
  std::string listing;
  /// Extra arguments of the compile and the link command.
  std::vector<std::string> flags;
  std::vector<std::string> link;
  /// What each variant is called with, if the text is of no particular size:
  /// all of them are then one kernel, exported under the first one's symbol.
  std::vector<std::vector<int64_t>> sizes;
};

/// A schedule, and the symbol that exports its kernel.
struct KernelVariant {
  ScheduleAttr schedule;
  std::string symbol;
};

/// Ops of one block that one kernel should compute.
using OpGroup = llvm::SetVector<mlir::Operation *>;

/// The extents of a region's problem by its anchor:
/// - a contraction: those that it says itself, and tensors;
/// - else an op on rows: rows, columns, tensors;
/// - else: elements (of the largest result), tensors.
ProblemExtents getAnchorExtents(FusedOp fused);

/// Elements that a region reads and writes beside the factors of contractions,
/// in multiples of `unit`: 2 for a residual. A tensor larger than the unit is
/// read in part. This is `tensors` of a problem.
int64_t countTensors(FusedOp fused, int64_t unit);

/// Refuses regions with dynamic or empty tensors.
mlir::LogicalResult requireElements(FusedOp fused, EmitError emitError);

/// A kind of region that one kernel computes, and how groups of ops become one.
struct Rule {
  /// The `rule` of `fact.fused`: "gemm_epilogue".
  std::string name;
  /// The regions it takes and what fusing them gains, in a few sentences for
  /// people and language models.
  std::string page;

  /// The ops that a group grows from if `op` is an anchor of the rule; else
  /// empty. `isFree` tells whether an op is in no group yet. Null: the rule has
  /// no anchors and takes ops that are left over.
  OpGroup (*seed)(mlir::Operation *op,
                  llvm::function_ref<bool(mlir::Operation *)> isFree) = nullptr;

  /// Directions of growth: to users of the group's results, to producers of its
  /// operands, to other readers of its operands.
  bool forward = true, backward = false, sideways = false;
  /// Whether reshapes of the anchor's operands join the group. They cost
  /// nothing elsewhere.
  bool takesReshapes = false;
  /// Whether it is tried after all other rules.
  bool isLastResort = false;

  /// The sizes that the speed of a region of this rule depends on. Regions that
  /// agree in them, in ops and in type are one problem to the registry.
  ProblemExtents (*getExtents)(FusedOp fused) = getAnchorExtents;

  /// Whether growth to producers stops at those that follow a contraction or a
  /// row op, whose kernels compute them once.
  bool leavesEpilogues = false;
};

class Family;

/// A region as a family reads it. Refers to the region and to the family.
class Plan {
public:
  /// A legal schedule and what it is predicted to take.
  struct Prediction {
    ScheduleAttr schedule;
    double microseconds;
  };

  Plan(const Family &family, FusedOp fused, const MachineDescription &machine)
      : family(family), fused(fused), machine(machine) {}
  virtual ~Plan();

  FusedOp getRegion() const { return fused; }
  const Family &getFamily() const { return family; }

  /// The default space.
  virtual SpaceAttrInterface getSpace() const = 0;
  /// Schedules to try in addition to any space, such as a vendor's library.
  virtual llvm::SmallVector<ScheduleAttr> getFixedSchedules() const {
    return {};
  }

  /// Whether the region can be emitted with this schedule; the diagnostic says
  /// what would be legal.
  mlir::LogicalResult check(ScheduleAttr schedule, EmitError emitError) const;
  bool isLegal(ScheduleAttr schedule) const;

  /// Checks for a legal schedule: in `space`, or in the default space (null is
  /// the default) and among the fixed schedules.
  mlir::LogicalResult checkSpace(SpaceAttrInterface space,
                                 EmitError emitError) const;

  /// An estimate in microseconds, which orders candidates before any is
  /// compiled.
  virtual double predict(ScheduleAttr schedule) const = 0;

  /// The legal schedule of `space` with the least prediction, the first of
  /// equals; none if no schedule is legal.
  std::optional<Prediction> findBest(SpaceAttrInterface space) const;

  /// The same of all schedules that the region may get: its own, or those of
  /// its space, by default the plan's, and the fixed ones.
  std::optional<Prediction> findBest() const;

  /// What accesses move beyond the bytes of the tensors, because neighbors of
  /// the kernel are not neighbors of a result or of an operand. It decides
  /// between the rules of one anchor.
  virtual double getScatteredBytes() const { return 0; }

  /// Schedules with equal keys differ in runtime parameters only, and share one
  /// object.
  virtual std::string getObjectKey(ScheduleAttr schedule) const {
    return schedule.getKey();
  }

  /// Whether `emit` compiles, which takes long: several threads then call it at
  /// once.
  virtual bool compiles() const { return false; }

  /// Writes the kernels of legal schedules with equal object keys. Each exports
  /// a FactKernel under its symbol.
  virtual mlir::LogicalResult emit(llvm::ArrayRef<KernelVariant> variants,
                                   KernelCode &code) const = 0;

protected:
  /// The part of `check` that depends on the region and the machine. The
  /// schedule is of the family's kinds, and each of its values is legal.
  virtual mlir::LogicalResult checkLimits(ScheduleAttr schedule,
                                          EmitError emitError) const {
    return mlir::success();
  }

  const Family &family;
  /// A handle, whose methods are not const.
  mutable FusedOp fused;
  const MachineDescription &machine;
};

/// The kernels of a rule on an architecture.
class Family {
public:
  /// `architecture` is one ("sm_90a"), a baseline without a letter ("sm_80" is
  /// for compute capability 8.0 and later), or "cuda" or "host" for all
  /// machines of that kind.
  Family(const Rule &rule, std::string architecture,
         std::vector<const ScheduleKind *> scheduleKinds)
      : rule(rule), architecture(std::move(architecture)),
        scheduleKinds(std::move(scheduleKinds)) {}
  virtual ~Family();

  const Rule &getRule() const { return rule; }
  llvm::StringRef getArchitecture() const { return architecture; }
  /// The kinds of schedules it reads.
  llvm::ArrayRef<const ScheduleKind *> getScheduleKinds() const {
    return scheduleKinds;
  }

  /// What it refuses although the rule's page allows it, in sentences for
  /// people and language models. May be empty.
  virtual llvm::StringRef getLimits() const { return ""; }

  /// The bytes that the channels of a pixel must be a multiple of for kernels
  /// that read windows of images without a copy; 0 where there are none, or
  /// where they take any.
  virtual int64_t getPixelBytes() const { return 0; }

  /// Reads the region; the diagnostic says why it cannot be emitted. The
  /// machine outlives the plan.
  virtual mlir::FailureOr<std::unique_ptr<Plan>>
  plan(FusedOp fused, const MachineDescription &machine,
       EmitError emitError) const = 0;

protected:
  /// A `PlanT` of what was read from the region.
  template <typename PlanT, typename ReadT>
  mlir::FailureOr<std::unique_ptr<Plan>>
  makePlan(FusedOp fused, const MachineDescription &machine,
           mlir::FailureOr<ReadT> read) const {
    if (failed(read))
      return mlir::failure();
    return std::unique_ptr<Plan>(
        new PlanT(*this, fused, machine, std::move(*read)));
  }

private:
  const Rule &rule;
  std::string architecture;
  std::vector<const ScheduleKind *> scheduleKinds;
};

/// A family whose plans are `PlanT`s: `PlanT::read(fused, emitError)` reads the
/// region for the constructor of the plan.
template <typename PlanT> class FamilyOf : public Family {
public:
  using Family::Family;

  mlir::FailureOr<std::unique_ptr<Plan>>
  plan(FusedOp fused, const MachineDescription &machine,
       EmitError emitError) const override {
    return makePlan<PlanT>(fused, machine, PlanT::read(fused, emitError));
  }
};
} // namespace fact

#endif // FACT_KERNEL_FAMILY_H
