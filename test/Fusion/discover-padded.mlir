// RUN: fact-opt --fact-discover="target=h200" --split-input-file %s | FileCheck %s
// RUN: fact-opt --fact-discover="target=h200" --fact-inline-fused --canonicalize --split-input-file %s | FileCheck %s --check-prefix=INLINED
// RUN: fact-opt --fact-discover="target=h200" --fact-outline-program --fact-plan-memory --split-input-file %s | FileCheck %s --check-prefix=PROGRAM
// RUN: fact-opt --fact-discover="target=host" --split-input-file %s | FileCheck %s --check-prefix=HOST

// The producer writes rows at multiples of 16 bytes, the weight is copied when
// it is loaded, and the output is copied back.
// CHECK-LABEL: func @chain
// CHECK: %[[W:.*]] = fact.prepare
// CHECK: fact.concat %{{.*}}, %{{.*}} dim 1 {fact.unused} : (tensor<771x1537xbf16>, tensor<771x7xbf16>) -> tensor<771x1544xbf16>
// CHECK: %[[X:.*]] = fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.relu
// CHECK: fact.concat %{{.*}}, %{{.*}} dim 1 {fact.unused} : (tensor<4095x1537xbf16>, tensor<4095x7xbf16>) -> tensor<4095x1544xbf16>
// CHECK: %[[Y:.*]] = fact.fused "gemm_epilogue" ins(%[[X]], %[[W]] :
// CHECK-DAG: fact.slice %{{.*}} dim 1 start 0 : (tensor<4095x1544xbf16>) -> tensor<4095x1537xbf16>
// CHECK-DAG: fact.slice %{{.*}} dim 1 start 0 : (tensor<771x1544xbf16>) -> tensor<771x1537xbf16>
// CHECK: fact.matmul
// CHECK: fact.concat %{{.*}}, %{{.*}} dim 1 {fact.unused} : (tensor<4095x771xbf16>, tensor<4095x5xbf16>) -> tensor<4095x776xbf16>
// CHECK: space(#fact.sm90_gemm_space
// CHECK: %[[Z:.*]] = fact.fused "pointwise" ins(%[[Y]] :
// CHECK: fact.slice %{{.*}} dim 1 start 0 : (tensor<4095x776xbf16>) -> tensor<4095x771xbf16>
// CHECK: return %[[Z]]

// INLINED-LABEL: func @chain
// INLINED: %[[W:.*]] = fact.prepare
// INLINED: %[[Y:.*]] = fact.relu %arg0
// INLINED: %[[V:.*]] = fact.slice %[[W]]
// INLINED: %[[Z:.*]] = fact.matmul %[[Y]], %[[V]] transpose_b
// INLINED: return %[[Z]]

// PROGRAM-LABEL: program.model @chain
// PROGRAM: program.launch @pointwise_0(%w) -> (%prepared)
// PROGRAM: program.launch @pointwise_1(%input0) -> (%workspace)
// PROGRAM: program.launch @gemm_epilogue_2(%workspace, %prepared) -> (%workspace_0)
// PROGRAM: program.launch @pointwise_3(%workspace_0) -> (%output0)

// HOST-LABEL: func @chain
// HOST-NOT: ub.poison
fact.weight @w : tensor<771x1537xbf16>
func.func @chain(%x: tensor<4095x1537xbf16>) -> tensor<4095x771xbf16> {
  %w = fact.get_weight @w : tensor<771x1537xbf16>
  %y = fact.relu %x : (tensor<4095x1537xbf16>) -> tensor<4095x1537xbf16>
  %0 = fact.matmul %y, %w transpose_b : (tensor<4095x1537xbf16>, tensor<771x1537xbf16>) -> tensor<4095x771xbf16>
  return %0 : tensor<4095x771xbf16>
}

// -----

// Products of one input and one weight share their copies. What a reduction
// cannot write so is copied; the copy of a slice begins with its first element.
// CHECK-LABEL: func @copies
// CHECK: fact.prepare
// CHECK: fact.concat
// CHECK-NOT: fact.concat
// CHECK: } : tensor<1537x776xbf16>
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ub.poison
// CHECK-NEXT: fact.concat
// CHECK: fact.matmul
// CHECK-NOT: fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.matmul
// CHECK: fact.fused "pointwise" ins(%arg1 :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.slice %{{.*}} dim 1 start 1
// CHECK: fact.matmul
fact.weight @w : tensor<1537x771xbf16>
func.func @copies(%x: tensor<1023x1537xbf16>, %y: tensor<1023x1538xbf16>) -> (tensor<1023x771xbf16>, tensor<1023x771xbf16>, tensor<1023x771xbf16>) {
  %w = fact.get_weight @w : tensor<1537x771xbf16>
  %0 = fact.matmul %x, %w : (tensor<1023x1537xbf16>, tensor<1537x771xbf16>) -> tensor<1023x771xbf16>
  %1 = fact.relu %0 : (tensor<1023x771xbf16>) -> tensor<1023x771xbf16>
  %2 = fact.matmul %x, %w : (tensor<1023x1537xbf16>, tensor<1537x771xbf16>) -> tensor<1023x771xbf16>
  %3 = fact.tanh %2 : (tensor<1023x771xbf16>) -> tensor<1023x771xbf16>
  %s = fact.slice %y dim 1 start 1 : (tensor<1023x1538xbf16>) -> tensor<1023x1537xbf16>
  %4 = fact.matmul %s, %w : (tensor<1023x1537xbf16>, tensor<1537x771xbf16>) -> tensor<1023x771xbf16>
  %5 = fact.exp %4 : (tensor<1023x771xbf16>) -> tensor<1023x771xbf16>
  return %1, %3, %5 : tensor<1023x771xbf16>, tensor<1023x771xbf16>, tensor<1023x771xbf16>
}

// -----

// A registry entry of odd rows says nothing about rows at multiples of 16 bytes.
// CHECK-LABEL: func @known
// CHECK: fact.concat %{{.*}}, %{{.*}} dim 1 {fact.unused} : (tensor<4096x3001xbf16>, tensor<4096x7xbf16>) -> tensor<4096x3008xbf16>
// CHECK: space(#fact.sm90_gemm_space
// INLINED-LABEL: func @known
// PROGRAM-LABEL: program.model @known
// HOST-LABEL: func @known
func.func @known(%a: tensor<8192x4096xbf16>, %b: tensor<3001x8192xbf16>) -> tensor<4096x3001xbf16> {
  %0 = fact.matmul %a, %b transpose_a transpose_b : (tensor<8192x4096xbf16>, tensor<3001x8192xbf16>) -> tensor<4096x3001xbf16>
  return %0 : tensor<4096x3001xbf16>
}

// -----

// The copy of a shifted slice has a shifted band, and padded rows have that of
// the others.
// CHECK-LABEL: func @shifted_band
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK-NEXT: ^bb0
// CHECK: fact.slice %{{.*}} dim 1 start 3
// CHECK: fact.matmul
// CHECK: fact.bands = array<i64: -3, 536870912, -536870912, 0>
func.func @shifted_band(%x: tensor<2048x2051xbf16>, %y: tensor<2048x2047xbf16>) -> tensor<2048x2047xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<2048x2051xbf16>, tensor<2048x2047xbf16>) {
  ^bb0(%a: tensor<2048x2051xbf16>, %b: tensor<2048x2047xbf16>):
    %s = fact.slice %a dim 1 start 3 : (tensor<2048x2051xbf16>) -> tensor<2048x2048xbf16>
    %0 = fact.matmul %s, %b : (tensor<2048x2048xbf16>, tensor<2048x2047xbf16>) -> tensor<2048x2047xbf16>
    fact.yield %0 : tensor<2048x2047xbf16>
  } {fact.bands = array<i64: 0, 536870912, -536870912, 0>} : tensor<2048x2047xbf16>
  return %r : tensor<2048x2047xbf16>
}

// -----

// One tensor as two operands of a product: both read the same padded rows.
// PROGRAM-LABEL: program.model @two_operands
// PROGRAM: program.launch @pointwise_0(%input0) -> (%workspace)
// PROGRAM: program.launch @gemm_epilogue_1(%workspace
func.func @two_operands(%x: tensor<1023x1537xbf16>) -> tensor<3x341x1023xbf16> {
  %v = fact.relu %x : (tensor<1023x1537xbf16>) -> tensor<1023x1537xbf16>
  %w = fact.reshape %v : (tensor<1023x1537xbf16>) -> tensor<3x341x1537xbf16>
  %0 = fact.matmul %w, %v transpose_b : (tensor<3x341x1537xbf16>, tensor<1023x1537xbf16>) -> tensor<3x341x1023xbf16>
  return %0 : tensor<3x341x1023xbf16>
}

// -----

// One tensor as two operands, of which one is a shifted slice, is not padded.
// PROGRAM-LABEL: program.model @shifted_and_not
// PROGRAM: program.launch @pointwise_0(%input0) -> (%workspace)
// PROGRAM: program.launch @gemm_epilogue_1(%workspace) -> (%output0)
func.func @shifted_and_not(%x: tensor<1023x1537xbf16>) -> tensor<3x341x1023xbf16> {
  %v = fact.relu %x : (tensor<1023x1537xbf16>) -> tensor<1023x1537xbf16>
  %w = fact.reshape %v : (tensor<1023x1537xbf16>) -> tensor<3x341x1537xbf16>
  %s = fact.slice %w dim 2 start 1 : (tensor<3x341x1537xbf16>) -> tensor<3x341x1536xbf16>
  %t = fact.slice %v dim 1 start 0 : (tensor<1023x1537xbf16>) -> tensor<1023x1536xbf16>
  %0 = fact.matmul %s, %t transpose_b : (tensor<3x341x1536xbf16>, tensor<1023x1536xbf16>) -> tensor<3x341x1023xbf16>
  return %0 : tensor<3x341x1023xbf16>
}

// -----

// A weight that is a kernel's argument, where other programs for the kernel
// are looked for: no `fact.prepare` can have it, so each call copies it.
// CHECK-LABEL: func @fixed_argument
// CHECK-NOT: fact.prepare
// CHECK: fact.fused "pointwise" ins(%arg1 :
// CHECK: fact.concat %{{.*}}, %{{.*}} dim 1 {fact.unused} : (tensor<771x1537xbf16>, tensor<771x7xbf16>) -> tensor<771x1544xbf16>
// CHECK: fact.fused "gemm_epilogue"
func.func @fixed_argument(%x: tensor<4095x1537xbf16>, %w: tensor<771x1537xbf16> {fact.fixed}) -> tensor<4095x771xbf16> {
  %y = fact.relu %x : (tensor<4095x1537xbf16>) -> tensor<4095x1537xbf16>
  %0 = fact.matmul %y, %w transpose_b : (tensor<4095x1537xbf16>, tensor<771x1537xbf16>) -> tensor<4095x771xbf16>
  return %0 : tensor<4095x771xbf16>
}

// -----

// One that its kernel packs for TMA anyway is not copied.
// CHECK-LABEL: func @packed_argument
// CHECK-NOT: ins(%arg1 :
// CHECK: return
func.func @packed_argument(%x: tensor<4095x1537xf32>, %w: tensor<1537x771xf32> {fact.fixed}) -> tensor<4095x771xf32> {
  %y = fact.relu %x : (tensor<4095x1537xf32>) -> tensor<4095x1537xf32>
  %0 = fact.matmul %y, %w tf32 : (tensor<4095x1537xf32>, tensor<1537x771xf32>) -> tensor<4095x771xf32>
  return %0 : tensor<4095x771xf32>
}

// -----

// A loss reads all logits and, by their flattened elements, one of each row:
// index k moves by the padding of the k rows before it.
// CHECK-LABEL: func @loss
// CHECK: fact.concat {{.*}} dim 1 {fact.unused} : (tensor<8192x50257xbf16>, tensor<8192x7xbf16>) -> tensor<8192x50264xbf16>
// CHECK: fact.fused "reduction" ins(%{{.*}} : tensor<8192x50264xbf16>
// CHECK: ^bb0(%[[LOGITS:.*]]: tensor<8192x50264xbf16>, %[[PLACES:.*]]: tensor<8192xi64>):
// CHECK-DAG: %[[FLAT:.*]] = fact.reshape %[[LOGITS]] : (tensor<8192x50264xbf16>) -> tensor<411762688xbf16>
// CHECK-DAG: %[[SIZE:.*]] = fact.constant dense<50257>
// CHECK-DAG: %[[REST:.*]] = fact.constant dense<7>
// CHECK-DAG: %[[ROW:.*]] = fact.div %[[PLACES]], %[[SIZE]]
// CHECK-DAG: %[[BEFORE:.*]] = fact.mul %[[ROW]], %[[REST]]
// CHECK-DAG: %[[PLACE:.*]] = fact.add %[[PLACES]], %[[BEFORE]]
// CHECK: fact.gather %[[FLAT]], %[[PLACE]] dim 0 {fact.row_size = 50257 : i64}

// The padding is no part of what the loss reads.
// PROGRAM-LABEL: program.model @loss

// HOST-LABEL: func @loss
// HOST-NOT: ub.poison
fact.weight @w : tensor<50257x768xbf16>
func.func @loss(%x: tensor<8192x768xbf16>, %places: tensor<8192xi64>) -> tensor<8192xbf16> {
  %w = fact.get_weight @w : tensor<50257x768xbf16>
  %0 = fact.matmul %x, %w transpose_b : (tensor<8192x768xbf16>, tensor<50257x768xbf16>) -> tensor<8192x50257xbf16>
  %1 = fact.reduce max %0 dims [1] : (tensor<8192x50257xbf16>) -> tensor<8192xbf16>
  %2 = fact.reshape %0 : (tensor<8192x50257xbf16>) -> tensor<411705344xbf16>
  %3 = fact.gather %2, %places dim 0 {fact.row_size = 50257 : i64} : (tensor<411705344xbf16>, tensor<8192xi64>) -> tensor<8192xbf16>
  %4 = fact.sub %1, %3 : (tensor<8192xbf16>, tensor<8192xbf16>) -> tensor<8192xbf16>
  return %4 : tensor<8192xbf16>
}
