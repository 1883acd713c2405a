//===- FactToLinalg.h - The naive lowering of every FACT op -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CONVERSION_FACTTOLINALG_H
#define FACT_CONVERSION_FACTTOLINALG_H

#include "mlir/Transforms/DialectConversion.h"

namespace fact {
/// Converts storage types to compute types: 16-bit floats become f32; with
/// `wide`, every float becomes f64. Values that are used by unconverted ops are
/// converted back element by element.
class FactToLinalgTypeConverter : public mlir::TypeConverter {
public:
  explicit FactToLinalgTypeConverter(bool wide);
};

/// Replaces each `fact.fused` and `fact.prepare` by its body. Values that a
/// fused region yields in 16 bits are rounded there, unless `wide`.
void inlineFactRegions(mlir::Operation *root, bool wide);

/// How scans, sorts and scatters are computed: in steps in which every element
/// is independent of the others, or by loops that do less work in all.
enum class Steps { Parallel, Sequential };

/// Creates ops of arith, linalg, math, scf and tensor: a pass of one's own
/// depends on these dialects.
void populateFactToLinalgPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  Steps steps = Steps::Parallel);

/// Converts every FACT op under `root` except weights.
mlir::LogicalResult convertFactToLinalg(mlir::Operation *root, bool wide,
                                        Steps steps = Steps::Parallel);

/// Attribute of a `builtin.unrealized_conversion_cast` from a tensor to another
/// float type: the conversion reads the value as computed, without rounding it
/// to its storage type.
inline constexpr llvm::StringLiteral computedAttrName = "fact.computed";
} // namespace fact

#endif // FACT_CONVERSION_FACTTOLINALG_H
