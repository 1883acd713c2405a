//===- SumsOfProducts.h - Products of which only sums are read --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TRANSFORMS_SUMSOFPRODUCTS_H
#define FACT_LIB_TRANSFORMS_SUMSOFPRODUCTS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace fact {
/// A sum or mean over rows or columns of a product becomes a product of sums.
void populateSumsOfProductsPatterns(mlir::RewritePatternSet &patterns);
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_SUMSOFPRODUCTS_H
