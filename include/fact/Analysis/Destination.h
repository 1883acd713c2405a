//===- Destination.h - Where the results of a region land -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_DESTINATION_H
#define FACT_ANALYSIS_DESTINATION_H

#include "fact/Analysis/PointwiseGraph.h"

namespace fact {
/// A value whose elements a kernel stores, and their positions in the buffer of
/// a result: what is left of a yielded value once permutes and reshapes at its
/// end are strides of the store.
struct Destination {
  mlir::Value value;
  StridedView view;
  /// Elements outside of a bound are not stored.
  std::vector<PointwiseGraph::Bound> bounds = {};
};

/// The yielded value without any of the permutes and reshapes at its end.
mlir::FailureOr<Destination> getDestination(mlir::Value yielded,
                                            EmitError emitError);

/// The yielded value itself, then without its last view, without its last two,
/// and so on, as far as strides describe the positions.
llvm::SmallVector<Destination> getDestinations(mlir::Value yielded);

/// The yielded value without the permutes, reshapes and slices at its end, as
/// far as strides describe the positions. Slices become bounds.
Destination getCropped(mlir::Value yielded);

/// Reshapes all views to the shape of the first: the index space of a kernel
/// that computes several results.
mlir::LogicalResult shareIndexSpace(llvm::MutableArrayRef<StridedView> views,
                                    EmitError emitError);

/// The inputs of a concatenation, each with its part of where the result lands.
llvm::SmallVector<Destination> getParts(ConcatOp concat,
                                        const Destination &result);

/// The same, where `result` has dimensions split: each input has to be a box of
/// it, as the phases of a pixel shuffle are.
mlir::FailureOr<llvm::SmallVector<Destination>>
getSplitParts(ConcatOp concat, const Destination &result, EmitError emitError);

/// The halves of a rotary embedding, each with its part of where the result
/// lands: `x * cos - y * sin` and `y * cos + x * sin` for all pairs (x, y). The
/// ops that compute them are added before `rotary`.
llvm::SmallVector<Destination> expandRotary(RotaryOp rotary,
                                            const StridedView &view);
} // namespace fact

#endif // FACT_ANALYSIS_DESTINATION_H
