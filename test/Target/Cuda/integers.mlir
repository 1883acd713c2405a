// RUN: fact-translate --fact-to-cutlass %s | FileCheck %s

// Division by 0, and of the smallest number by -1, do not reach the machine, whose answers differ;
// neither do numbers that an integer cannot hold.

// CHECK:      const bool [[ZERO:v[0-9]+]] = operand1 == 0;
// CHECK-NEXT: const bool [[MINUS:v[0-9]+]] = operand1 == -1;
// CHECK-NEXT: const bool [[SPECIAL:v[0-9]+]] = [[ZERO]] | [[MINUS]];
// CHECK-NEXT: const int32_t [[DIVISOR:v[0-9]+]] = [[SPECIAL]] ? 1 : operand1;
// CHECK-NEXT: const int32_t [[PRODUCT:v[0-9]+]] = operand0 * operand1;
// CHECK-NEXT: const int32_t [[QUOTIENT:v[0-9]+]] = operand0 / [[DIVISOR]];
// CHECK-NEXT: const int32_t {{v[0-9]+}} = [[SPECIAL]] ? [[PRODUCT]] : [[QUOTIENT]];

// CHECK:      const bool [[ABOVE:v[0-9]+]] = operand2 >= 2.1474836e+09f;
// CHECK-NEXT: const int32_t {{v[0-9]+}} = [[ABOVE]] ? 2147483647 : {{v[0-9]+}};
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x: tensor<64xi32>, %y: tensor<64xi32>, %z: tensor<64xf32>) -> (tensor<64xi32>, tensor<64xi32>) {
    %0:2 = fact.fused "pointwise" ins(%x, %y, %z : tensor<64xi32>, tensor<64xi32>, tensor<64xf32>) {
    ^bb0(%a: tensor<64xi32>, %b: tensor<64xi32>, %c: tensor<64xf32>):
      %1 = fact.div %a, %b : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %2 = fact.cast %c : (tensor<64xf32>) -> tensor<64xi32>
      fact.yield %1, %2 : tensor<64xi32>, tensor<64xi32>
    } : tensor<64xi32>, tensor<64xi32>
    return %0#0, %0#1 : tensor<64xi32>, tensor<64xi32>
  }
}
