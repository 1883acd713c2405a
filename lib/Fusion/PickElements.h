//===- PickElements.h - One element of each row of a product ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_PICKELEMENTS_H
#define FACT_LIB_FUSION_PICKELEMENTS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Makes a gather of one element per row of a product, such as the logits of
/// the classes in a cross entropy, a sum of a row in which all others are zero.
/// Where nothing else reads the product but reductions of its rows, its kernel
/// takes them all and stores no product.
void pickElements(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_PICKELEMENTS_H
