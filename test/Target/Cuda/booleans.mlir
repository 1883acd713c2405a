// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Booleans are 0 and 1, which C++'s operators on `bool` know.

// RUN: fact-translate --fact-to-cutlass %s | FileCheck %s

// CHECK:      const bool {{v[0-9]+}} = operand0 | operand1;
// CHECK:      const bool {{v[0-9]+}} = operand0 & operand1;
// CHECK:      const bool {{v[0-9]+}} = operand0 < operand1;
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x: tensor<64xi1>, %y: tensor<64xi1>) -> (tensor<64xi1>, tensor<64xi1>, tensor<64xi1>) {
    %0:3 = fact.fused "pointwise" ins(%x, %y : tensor<64xi1>, tensor<64xi1>) {
    ^bb0(%a: tensor<64xi1>, %b: tensor<64xi1>):
      %1 = fact.maximum %a, %b : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
      %2 = fact.minimum %a, %b : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
      %3 = fact.compare lt %a, %b : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
      fact.yield %1, %2, %3 : tensor<64xi1>, tensor<64xi1>, tensor<64xi1>
    } : tensor<64xi1>, tensor<64xi1>, tensor<64xi1>
    return %0#0, %0#1, %0#2 : tensor<64xi1>, tensor<64xi1>, tensor<64xi1>
  }
}
