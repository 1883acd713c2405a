//===- Pipelines.h - The stages as pass pipelines ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_PIPELINES_H
#define FACT_DRIVER_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace fact {
/// FACT graph in, FACT graph out: views folded, attention and norms recognized,
/// functions of weights hoisted.
void buildRaisePipeline(mlir::OpPassManager &manager);

/// Raised or discovered FACT graph in, the same with norms folded into products
/// out, whose ops have to be discovered again.
void buildFoldPipeline(mlir::OpPassManager &manager);

/// Discovered FACT graph in, program out: launches of kernels on buffers, with
/// all memory placed.
///
/// `alternatives` is the factor of --fact-add-alternatives, 0 for none, and
/// `patterns` are its folders of the registry. With `keepProducts`, no
/// alternative rounds a product that its kernel reads in f32.
void buildProgramPipeline(mlir::OpPassManager &manager, double alternatives,
                          llvm::ArrayRef<std::string> patterns,
                          bool keepProducts = false);

/// `--fact-raise`: torch or FACT in, raised FACT out.
/// `--fact-host`, `--fact-cuda`: the same, then grouped into kernels of a
/// target.
void registerPipelines();
} // namespace fact

#endif // FACT_DRIVER_PIPELINES_H
