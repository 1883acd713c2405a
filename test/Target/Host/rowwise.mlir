// RUN: fact-translate --fact-to-host %s | FileCheck %s

// A reduction keeps no copy of its row; a whole number of registers leaves no
// elements to be read one by one.
module attributes {fact.target = #fact.machine<"neoverse-n1">} {
  func.func @main(%x: tensor<4x1024xf32>, %columns: tensor<50x100xf32>) -> (tensor<4xi64>, tensor<4xf32>, tensor<100xf32>) {
    // CHECK: // rowwise_0: 2 tiles
    // CHECK-LABEL: func.func @tile(
    // CHECK-NOT: alloca
    // CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xi32>)
    // CHECK: arith.cmpf ugt, {{.*}} : vector
    // CHECK: arith.cmpf ord, {{.*}} : vector
    // CHECK: arith.cmpi ult, {{.*}} : i32
    %0 = fact.fused "rowwise" ins(%x : tensor<4x1024xf32>) {
    ^bb0(%a: tensor<4x1024xf32>):
      %2 = fact.reduce argmax %a dims [1] : (tensor<4x1024xf32>) -> tensor<4xi64>
      fact.yield %2 : tensor<4xi64>
    } schedule(#fact.host_rows<grain = 2>) : tensor<4xi64>
    // CHECK: // rowwise_1: 2 tiles
    // CHECK-NOT: alloca
    // Blocks of a long row, each with a result of its own.
    // CHECK: scf.for {{.*}} -> (vector<8xf32>)
    // CHECK: scf.for {{.*}} -> (vector<8xf32>)
    // CHECK: vector.reduction <mul>
    // CHECK-NOT: scf.for
    // CHECK: return
    %1 = fact.fused "rowwise" ins(%x : tensor<4x1024xf32>) {
    ^bb0(%a: tensor<4x1024xf32>):
      %2 = fact.reduce prod %a dims [1] : (tensor<4x1024xf32>) -> tensor<4xf32>
      fact.yield %2 : tensor<4xf32>
    } schedule(#fact.host_rows<grain = 2>) : tensor<4xf32>
    // Rows that are adjacent in memory: 100 in seven vectors of a cache line, the
    // last two of which overlap.
    // CHECK: // rowwise_2: 2 tiles
    // CHECK-NOT: alloca
    // CHECK: arith.constant 84 : i64
    // CHECK: scf.for {{.*}} -> (vector<16xf32>)
    // CHECK-NOT: vector.reduction
    // CHECK: llvm.store {{.*}} : vector<16xf32>
    // CHECK: return
    %y = fact.fused "rowwise" ins(%columns : tensor<50x100xf32>) {
    ^bb0(%a: tensor<50x100xf32>):
      %2 = fact.permute %a [1, 0] : (tensor<50x100xf32>) -> tensor<100x50xf32>
      %3 = fact.reduce sum %2 dims [1] : (tensor<100x50xf32>) -> tensor<100xf32>
      fact.yield %3 : tensor<100xf32>
    } schedule(#fact.host_rows<grain = 64>) : tensor<100xf32>
    return %0, %1, %y : tensor<4xi64>, tensor<4xf32>, tensor<100xf32>
  }
}
