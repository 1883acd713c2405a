//===- TorchToFact.h - The import of torch-mlir's ops -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass converts whole functions, so that it names all errors of a module in
// one run and leaves a module that it cannot convert as it was. The pattern is
// for a conversion of one's own, beside other patterns.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CONVERSION_TORCHTOFACT_H
#define FACT_CONVERSION_TORCHTOFACT_H

#include "mlir/Transforms/DialectConversion.h"

namespace fact {
/// Converts tensors of torch-mlir with static sizes to builtin ones; all other
/// types stay.
class TorchToFactTypeConverter : public mlir::TypeConverter {
public:
  TorchToFactTypeConverter();
};

/// Converts the ops of the dialect `torch` that FACT knows, and declares the
/// weights that they read in the module around them: the conversion must be of
/// modules. Functions, calls and returns are converted by MLIR's patterns with
/// a TorchToFactTypeConverter. Lists of tensors become several values, and a
/// number none: its users read the op that defines it, so that the conversion
/// must allow patterns to be rolled back, which is the default.
void populateTorchToFactPatterns(mlir::RewritePatternSet &patterns);
} // namespace fact

#endif // FACT_CONVERSION_TORCHTOFACT_H
