//===- FactOps.td - All ops of the FACT dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTOPS_TD
#define FACT_DIALECT_FACT_FACTOPS_TD

include "fact/Dialect/Fact/FactModuleOps.td"
include "fact/Dialect/Fact/FactPointwiseOps.td"
include "fact/Dialect/Fact/FactTensorOps.td"

#endif // FACT_DIALECT_FACT_FACTOPS_TD
