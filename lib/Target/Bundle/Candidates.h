//===- Candidates.h - The schedules of a kernel to compile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_CANDIDATES_H
#define FACT_LIB_TARGET_BUNDLE_CANDIDATES_H

#include "fact/Kernel/Family.h"
#include "fact/Tuning/Bundle.h"
#include "mlir/IR/OwningOpRef.h"

namespace fact {
struct Candidate {
  ScheduleAttr schedule;
  /// Microseconds.
  double predicted;
  /// Whether it is one of the plan's fixed schedules.
  bool isFixed;
  /// The position in the space.
  size_t position;
};

/// The legal schedules to compile, best first, at most `limit`: the region's
/// schedule, or those of its space and the plan's fixed ones. A list of
/// schedules keeps its order; `wholeLists` takes all of it.
std::vector<Candidate> selectCandidates(const Plan &plan, size_t limit,
                                        bool wholeLists);

/// The keys and predictions of candidates, without their code.
std::vector<tuning::Candidate>
describeCandidates(llvm::ArrayRef<Candidate> candidates);

/// The code of candidates that share an object.
struct EmittedObject {
  /// Whether it serves all sizes.
  bool isSized() const { return !code.sizes.empty(); }

  KernelCode code;
  /// The positions of the candidates, and the symbols that export their
  /// kernels.
  llvm::SmallVector<size_t> members;
  llvm::SmallVector<std::string> symbols;
};

/// Emits candidates of a plan. A symbol depends on everything that its object
/// holds, and on nothing else: equal symbols are equal objects, in this bundle
/// and in any other.
mlir::FailureOr<std::vector<EmittedObject>>
emitCandidates(const Plan &plan, llvm::ArrayRef<Candidate> candidates,
               llvm::StringRef symbolBase);

/// The contraction of a region alone, with the views that it reads its factors
/// through, in a region of its own before this one. `operands` are the
/// positions of the operands that it reads. Null if there are several
/// contractions or none, or if a factor is computed.
mlir::OwningOpRef<FusedOp> isolateContraction(FusedOp fused,
                                              std::vector<uint32_t> &operands);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_CANDIDATES_H
