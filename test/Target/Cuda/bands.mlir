// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// A triangular factor, of a product of which a triangle is used.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK:      Operands<RowMajor<2, i1,
// CHECK:      Banded<Cooperative,
// CHECK-NEXT: Bands<Size(16), Size(17), Size(18), Size(19), Size(20), Size(21)>>, Swizzle<Size(22)>>>;
func.func @triangle(%x: tensor<456x392xbf16>, %w: tensor<392x528xbf16>, %m: tensor<456x528xi1>) -> tensor<456x528xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %m : tensor<456x392xbf16>, tensor<392x528xbf16>, tensor<456x528xi1>) {
  ^bb0(%a: tensor<456x392xbf16>, %b: tensor<392x528xbf16>, %mask: tensor<456x528xi1>):
    %zero = fact.constant dense<0.0> : tensor<bf16>
    %1 = fact.matmul %a, %b : (tensor<456x392xbf16>, tensor<392x528xbf16>) -> tensor<456x528xbf16>
    %2 = fact.select %mask, %1, %zero : (tensor<456x528xi1>, tensor<456x528xbf16>, tensor<bf16>) -> tensor<456x528xbf16>
    fact.yield %2 : tensor<456x528xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = cooperative, swizzle = 1>) {fact.bands = array<i64: -536870912, 1, -536870912, 536870912, -536870912, 130>} : tensor<456x528xbf16>
  return %r : tensor<456x528xbf16>
}

// -----

// CUTLASS's ping-pong kernel multiplies all of it.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK-NOT: Banded
// CHECK:     GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong
func.func @pingpong(%x: tensor<456x392xbf16>, %w: tensor<392x528xbf16>) -> tensor<456x528xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<456x392xbf16>, tensor<392x528xbf16>) {
  ^bb0(%a: tensor<456x392xbf16>, %b: tensor<392x528xbf16>):
    %1 = fact.matmul %a, %b : (tensor<456x392xbf16>, tensor<392x528xbf16>) -> tensor<456x528xbf16>
    fact.yield %1 : tensor<456x528xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 4>) {fact.bands = array<i64: -536870912, 1, -536870912, 536870912>} : tensor<456x528xbf16>
  return %r : tensor<456x528xbf16>
}

// -----

// A product of a matrix and its transpose stores tiles of one half twice.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK:      Results<Result<Epilogue, RowMajor<1, f32,
// CHECK-NEXT: Result<Epilogue, ColumnMajor<1, f32,
// CHECK:      Cluster<1, 1>, Banded<Cooperative,
// CHECK-NEXT: /*Mirrored=*/true
func.func @gram(%x: tensor<3x456x200xf32>) -> tensor<3x456x456xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x : tensor<3x456x200xf32>) {
  ^bb0(%a: tensor<3x456x200xf32>):
    %1 = fact.matmul %a, %a transpose_b tf32 : (tensor<3x456x200xf32>, tensor<3x456x200xf32>) -> tensor<3x456x456xf32>
    %2 = fact.relu %1 : (tensor<3x456x456xf32>) -> tensor<3x456x456xf32>
    fact.yield %2 : tensor<3x456x456xf32>
  } schedule(#fact.sm90_gemm<tile = 128x64x32, cluster = 1x1, kernel = cooperative, swizzle = 1>) : tensor<3x456x456xf32>
  return %r : tensor<3x456x456xf32>
}

// -----

// In strict f32, the two halves are rounded differently.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK-NOT:   Result<Epilogue, ColumnMajor
// CHECK:       Promoted<Banded<Cooperative,
// CHECK-NOT:   Mirrored
func.func @strict_gram(%x: tensor<3x456x200xf32>) -> tensor<3x456x456xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x : tensor<3x456x200xf32>) {
  ^bb0(%a: tensor<3x456x200xf32>):
    %1 = fact.matmul %a, %a transpose_b : (tensor<3x456x200xf32>, tensor<3x456x200xf32>) -> tensor<3x456x456xf32>
    %2 = fact.relu %1 : (tensor<3x456x456xf32>) -> tensor<3x456x456xf32>
    fact.yield %2 : tensor<3x456x456xf32>
  } schedule(#fact.sm90_gemm<tile = 128x64x32, cluster = 1x1, kernel = cooperative, swizzle = 1>) {fact.bands = array<i64: -536870912, 1>} : tensor<3x456x456xf32>
  return %r : tensor<3x456x456xf32>
}

// -----

// With one element per column, it does not equal its transpose.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK-NOT: Banded
// CHECK:     GemmSchedule<Tile<128, 128, 64>, Cluster<1, 1>, Cooperative, Swizzle
func.func @biased(%x: tensor<456x200xbf16>, %bias: tensor<456xbf16>) -> tensor<456x456xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %bias : tensor<456x200xbf16>, tensor<456xbf16>) {
  ^bb0(%a: tensor<456x200xbf16>, %b: tensor<456xbf16>):
    %1 = fact.matmul %a, %a transpose_b : (tensor<456x200xbf16>, tensor<456x200xbf16>) -> tensor<456x456xbf16>
    %2 = fact.add %1, %b : (tensor<456x456xbf16>, tensor<456xbf16>) -> tensor<456x456xbf16>
    fact.yield %2 : tensor<456x456xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = cooperative, swizzle = 4>) : tensor<456x456xbf16>
  return %r : tensor<456x456xbf16>
}

// -----

// Batches that became rows leave nothing of a factor that each of them has.

// CHECK-LABEL: {{^}}namespace fact::gemm_epilogue_0
// CHECK-NOT: Banded
// CHECK:     GemmSchedule<Tile<128, 128, 64>, Cluster<1, 1>, Cooperative, Swizzle
func.func @folded(%x: tensor<3x456x392xbf16>, %w: tensor<392x528xbf16>) -> tensor<3x456x528xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<3x456x392xbf16>, tensor<392x528xbf16>) {
  ^bb0(%a: tensor<3x456x392xbf16>, %b: tensor<392x528xbf16>):
    %1 = fact.matmul %a, %b : (tensor<3x456x392xbf16>, tensor<392x528xbf16>) -> tensor<3x456x528xbf16>
    fact.yield %1 : tensor<3x456x528xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = cooperative, swizzle = 4>) {fact.bands = array<i64: -536870912, 1, -536870912, 536870912>} : tensor<3x456x528xbf16>
  return %r : tensor<3x456x528xbf16>
}
