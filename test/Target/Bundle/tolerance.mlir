// Each result has the tolerance of its own type and of what computes it.

// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: fact-compile %t/mixed.mlir --until=bundle --bundle=%t/mixed
// RUN: FileCheck %s --check-prefix=MIXED < %t/mixed/bundle.json
// RUN: fact-compile %t/rounded.mlir --until=bundle --bundle=%t/rounded
// RUN: FileCheck %s --check-prefix=ROUNDED < %t/rounded/bundle.json
// RUN: fact-compile %t/attention.mlir --until=bundle --bundle=%t/attention
// RUN: FileCheck %s --check-prefix=ATTENTION < %t/attention/bundle.json
// RUN: fact-compile %t/unscaled.mlir --until=bundle --bundle=%t/unscaled
// RUN: FileCheck %s --check-prefix=UNSCALED < %t/unscaled/bundle.json
// RUN: fact-compile %t/packed.mlir --until=bundle --bundle=%t/packed
// RUN: FileCheck %s --check-prefix=PACKED < %t/packed/bundle.json
// RUN: fact-compile %t/computed.mlir --until=bundle --bundle=%t/computed
// RUN: FileCheck %s --check-prefix=COMPUTED < %t/computed/bundle.json
// RUN: fact-compile %t/gate.mlir --until=bundle --bundle=%t/gate
// RUN: FileCheck %s --check-prefix=GATE < %t/gate/bundle.json

// RUN: fact-compile %t/overflow.mlir --until=bundle --bundle=%t/overflow
// RUN: FileCheck %s --check-prefix=OVERFLOW < %t/overflow/bundle.json

// RUN: fact-compile %t/columns.mlir --until=bundle --bundle=%t/columns
// RUN: FileCheck %s --check-prefix=COLUMNS < %t/columns/bundle.json
// RUN: fact-compile %t/product.mlir --until=bundle --bundle=%t/strict
// RUN: FileCheck %s --check-prefix=STRICT < %t/strict/bundle.json
// RUN: sed 's/ : (/ tf32 : (/' %t/product.mlir > %t/tf32.mlir
// RUN: fact-compile %t/tf32.mlir --until=bundle --bundle=%t/tf32
// RUN: FileCheck %s --check-prefix=TF32 < %t/tf32/bundle.json
// RUN: fact-compile %t/bounded.mlir --until=bundle --bundle=%t/bounded
// RUN: FileCheck %s --check-prefix=BOUNDED < %t/bounded/bundle.json
// RUN: fact-compile %t/clamped.mlir --until=bundle --bundle=%t/clamped
// RUN: FileCheck %s --check-prefix=CLAMPED < %t/clamped/bundle.json
// RUN: fact-compile %t/products.mlir --until=bundle --bundle=%t/products
// RUN: FileCheck %s --check-prefix=PRODUCTS < %t/products/bundle.json
// RUN: fact-compile %t/averages.mlir --until=bundle --bundle=%t/averages
// RUN: FileCheck %s --check-prefix=AVERAGES < %t/averages/bundle.json

// RUN: fact-compile %t/gated.mlir --until=bundle --bundle=%t/gated
// RUN: FileCheck %s --check-prefix=GATED < %t/gated/bundle.json

// RUN: fact-compile %t/factors.mlir --target=h200 --candidates=1 --until=bundle --bundle=%t/factors
// RUN: FileCheck %s --check-prefix=FACTORS < %t/factors/bundle.json
// RUN: fact-compile %t/masked.mlir --target=h200 --candidates=1 --until=bundle --bundle=%t/masked
// RUN: FileCheck %s --check-prefix=MASKED < %t/masked/bundle.json
// RUN: fact-compile %t/summand.mlir --target=h200 --candidates=1 --until=bundle --bundle=%t/summand
// RUN: FileCheck %s --check-prefix=SUMMAND < %t/summand/bundle.json

// However long a strict sum is, its tolerance is below the error of TF32 (2.7e-4),
// and that of TF32 below the error of truncated operands (7e-4).
// STRICT: "results": [
// STRICT: "element": 0.00048828125,
// STRICT: "norm": 0.0001220703125
// TF32: "results": [
// TF32: "element": 0.00390625,
// TF32: "norm": 0.00048828125

// A bounded function of a product keeps the error of large products.
// BOUNDED: "results": [
// BOUNDED: "element": 0.016{{[0-9]+}},
// BOUNDED: "norm": 0.002{{[0-9]+}}

// So do bounds of a large sum, which may be a thousand times smaller: here are
// 16 roundings of sums of one term, times 2048 / 2.
// CLAMPED: "results": [
// CLAMPED: "element": 5.72{{[0-9]+}}e-06,
// CLAMPED-NEXT: "large": 0.00585{{[0-9]+}},

// The largest of products of three random numbers are far beyond their rms, and
// so are their exponentials: 4 times 3 roundings of 2^-23, times 2^3 3^2 / 8.
// PRODUCTS: "results": [
// PRODUCTS: "norm": 1.287{{[0-9]+}}e-05

// Errors of two factors, each times the other; where one is infinite, rounding
// may decide the other's sign.
// GATED: "operands": [
// GATED: "+inf",
// GATED-NEXT: "-inf",
// GATED: "results": [
// GATED: "element": 0.01171875,
// GATED: "norm": 0.00048828125

// The error of a product times two operands. Rows of 515 have a spare element,
// which the kernel may write.
// FACTORS: "results": [
// FACTORS: "part": {
// FACTORS-NEXT: "begin": 0,
// FACTORS-NEXT: "end": 2060,
// FACTORS-NEXT: "pitch": 2064,
// FACTORS-NEXT: "spare": 4
// FACTORS: "element": 0.01171875,
// FACTORS: "norm": 0.00048828125

// A mask makes no error larger.
// MASKED: "element": 0.00390625,

// What is added to a product is no factor of it.
// SUMMAND: "element": 0.00390625,

// The rounding of queries and keys to TF32 is in the scores, whose rms is up to the root
// of 8.
// AVERAGES: "results": [
// AVERAGES: "element": 0.03515625000000001,
// AVERAGES: "norm": 0.0014648437500000002,

// A sum in f32 beside a bf16 result.
// MIXED: "results": [
// MIXED: "element": 0.015625,
// MIXED: "norm": 0.0078125
// MIXED: "type": "bf16"
// MIXED: "element": {{.*}}e-05,
// MIXED: "norm": {{.*}}e-06
// MIXED: "type": "f32"

// Two kernels may round to either neighbour.
// ROUNDED: "results": [
// ROUNDED: "element": 0.015625,
// ROUNDED: "type": "f32"

// Keys are negative in one trial; each row has its own scale.
// ATTENTION: "operands": [
// ATTENTION: "avoid": [
// ATTENTION-NEXT: "+inf"
// ATTENTION: "large": 32
// ATTENTION: "nan",
// ATTENTION: "negative": 8
// ATTENTION: "results": [
// ATTENTION: "element": 0.015625,
// ATTENTION: "rows": 32

// Scores are sums of 64 products: queries of 1/8 make them near 1, and in one
// tensor with the keys of about 1/sqrt(8).
// UNSCALED: "operands": [
// UNSCALED: "scale": 0.125
// UNSCALED: "results": [
// UNSCALED: "element": 1.907{{.*}}e-05
// PACKED: "operands": [
// PACKED: "scale": 0.25
// PACKED: "results": [
// PACKED: "element": 1.907{{.*}}e-05

// Queries that the region makes 16 times as large: scores reach 64 in normal
// trials, 8 times the 8 that the factor of 16 covers.
// COMPUTED: "results": [
// COMPUTED: "element": 0.0001525

// Sums of the largest operands are not so large that, where they cancel, their
// rounding errors decide what a sigmoid is.
// GATE: "operands": [
// GATE: "large": 16
// GATE: "results": [
// GATE: "large": {{.*}}

// With operands 1024 times their scale, sums are thousands of times f16's largest
// value: those that are finite have cancelled.
// OVERFLOW: "operands": [
// OVERFLOW: "large": 64

// Sums are as long as the rows, whichever dimension is one: 2 + sqrt(4096)
// roundings, four of them in the norm.
// COLUMNS: "results": [
// COLUMNS: "norm": {{3.147.*e-05}}

//--- product.mlir
func.func @f(%x: tensor<2x131072xf32>, %w: tensor<131072x2xf32>) -> tensor<2x2xf32> {
  %0 = fact.matmul %x, %w : (tensor<2x131072xf32>, tensor<131072x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

//--- columns.mlir
func.func @f(%x: tensor<4096x4xf32>) -> tensor<4096x4xf32> {
  %0 = fact.softmax %x dim 0 : tensor<4096x4xf32>
  return %0 : tensor<4096x4xf32>
}

//--- mixed.mlir
func.func @f(%x: tensor<64x32xf32>) -> (tensor<64x32xbf16>, tensor<64xf32>) {
  %0:2 = fact.fused "generic" ins(%x : tensor<64x32xf32>) {
  ^bb0(%a: tensor<64x32xf32>):
    %1 = fact.cast %a : (tensor<64x32xf32>) -> tensor<64x32xbf16>
    %2 = fact.reduce sum %a dims [1] : (tensor<64x32xf32>) -> tensor<64xf32>
    fact.yield %1, %2 : tensor<64x32xbf16>, tensor<64xf32>
  } : tensor<64x32xbf16>, tensor<64xf32>
  return %0#0, %0#1 : tensor<64x32xbf16>, tensor<64xf32>
}

//--- rounded.mlir
func.func @f(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = fact.fused "generic" ins(%x : tensor<64x32xf32>) {
  ^bb0(%a: tensor<64x32xf32>):
    %1 = fact.exp %a : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = fact.cast %1 : (tensor<64x32xf32>) -> tensor<64x32xbf16>
    %3 = fact.cast %2 : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    fact.yield %3 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

//--- gated.mlir
func.func @f(%x: tensor<64x16xf32>, %w: tensor<32x16xf32>, %u: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %0 = fact.fused "generic" ins(%x, %w, %u : tensor<64x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) {
  ^bb0(%a: tensor<64x16xf32>, %b: tensor<32x16xf32>, %c: tensor<32x16xf32>):
    %1 = fact.matmul %a, %b transpose_b tf32 : (tensor<64x16xf32>, tensor<32x16xf32>) -> tensor<64x32xf32>
    %2 = fact.matmul %a, %c transpose_b tf32 : (tensor<64x16xf32>, tensor<32x16xf32>) -> tensor<64x32xf32>
    %3 = fact.mul %1, %2 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    fact.yield %3 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

//--- averages.mlir
func.func @main(%q: tensor<1x2x64x32xf32>, %k: tensor<1x2x64x32xf32>, %v: tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32> {
  %0 = fact.attention %q, %k, %v scale 0.25 tf32 : (tensor<1x2x64x32xf32>, tensor<1x2x64x32xf32>, tensor<1x2x64x32xf32>) -> tensor<1x2x64x32xf32>
  return %0 : tensor<1x2x64x32xf32>
}

//--- attention.mlir
func.func @f(%q: tensor<1x2x64x32xbf16>, %k: tensor<1x2x64x32xbf16>, %v: tensor<1x2x64x32xbf16>) -> tensor<1x2x64x32xbf16> {
  %0 = fact.attention %q, %k, %v causal scale 0.125 : (tensor<1x2x64x32xbf16>, tensor<1x2x64x32xbf16>, tensor<1x2x64x32xbf16>) -> tensor<1x2x64x32xbf16>
  return %0 : tensor<1x2x64x32xbf16>
}

//--- gate.mlir
func.func @f(%x: tensor<64x16xf32>, %w: tensor<32x16xf32>, %u: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = fact.fused "generic" ins(%x, %w, %u : tensor<64x16xf32>, tensor<32x16xf32>, tensor<64x32xf32>) {
  ^bb0(%a: tensor<64x16xf32>, %b: tensor<32x16xf32>, %c: tensor<64x32xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x16xf32>, tensor<32x16xf32>) -> tensor<64x32xf32>
    %2 = fact.add %1, %c : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %3 = fact.sigmoid %2 : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = fact.mul %3, %c : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    fact.yield %4 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

//--- unscaled.mlir
func.func @f(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> {
  %0 = fact.attention %q, %k, %v scale 1.0 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
  return %0 : tensor<1x2x64x64xf32>
}

//--- packed.mlir
func.func @f(%p: tensor<1x6x64x64xf32>) -> tensor<1x2x64x64xf32> {
  %0 = fact.fused "generic" ins(%p : tensor<1x6x64x64xf32>) {
  ^bb0(%a: tensor<1x6x64x64xf32>):
    %q = fact.slice %a dim 1 start 0 : (tensor<1x6x64x64xf32>) -> tensor<1x2x64x64xf32>
    %k = fact.slice %a dim 1 start 2 : (tensor<1x6x64x64xf32>) -> tensor<1x2x64x64xf32>
    %v = fact.slice %a dim 1 start 4 : (tensor<1x6x64x64xf32>) -> tensor<1x2x64x64xf32>
    %1 = fact.attention %q, %k, %v scale 1.0 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    fact.yield %1 : tensor<1x2x64x64xf32>
  } : tensor<1x2x64x64xf32>
  return %0 : tensor<1x2x64x64xf32>
}

//--- computed.mlir
func.func @f(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> {
  %0 = fact.fused "generic" ins(%q, %k, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) {
  ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<1x2x64x64xf32>, %c: tensor<1x2x64x64xf32>):
    %16 = fact.constant dense<16.0> : tensor<f32>
    %1 = fact.mul %a, %16 : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64x64xf32>
    %2 = fact.attention %1, %b, %c scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    fact.yield %2 : tensor<1x2x64x64xf32>
  } : tensor<1x2x64x64xf32>
  return %0 : tensor<1x2x64x64xf32>
}

//--- bounded.mlir
func.func @main(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>) -> tensor<64x64xf32> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x96xf32>, tensor<96x64xf32>) {
  ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>):
    %1 = fact.matmul %a, %b tf32 : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
    %2 = fact.tanh %1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
    fact.yield %2 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- clamped.mlir
func.func @main(%x: tensor<64x96xf32>, %w: tensor<96xf32>) -> tensor<64x96xf32> {
  %0 = fact.fused "pointwise" ins(%x, %w : tensor<64x96xf32>, tensor<96xf32>) {
  ^bb0(%a: tensor<64x96xf32>, %b: tensor<96xf32>):
    %1 = fact.add %a, %b : (tensor<64x96xf32>, tensor<96xf32>) -> tensor<64x96xf32>
    %2 = fact.clamp %1 min -2.0 max 2.0 : (tensor<64x96xf32>) -> tensor<64x96xf32>
    fact.yield %2 : tensor<64x96xf32>
  } : tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}

//--- products.mlir
func.func @main(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>, %z: tensor<96xf32>) -> tensor<64x96xf32> {
  %0 = fact.fused "pointwise" ins(%x, %y, %z : tensor<64x96xf32>, tensor<64x96xf32>, tensor<96xf32>) {
  ^bb0(%a: tensor<64x96xf32>, %b: tensor<64x96xf32>, %c: tensor<96xf32>):
    %1 = fact.mul %a, %b : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
    %2 = fact.mul %1, %c : (tensor<64x96xf32>, tensor<96xf32>) -> tensor<64x96xf32>
    %3 = fact.exp %2 : (tensor<64x96xf32>) -> tensor<64x96xf32>
    fact.yield %3 : tensor<64x96xf32>
  } : tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}

//--- factors.mlir
func.func @factors(%x: tensor<64x512xf32>, %w: tensor<512x515xf32>, %y: tensor<64x515xf32>, %z: tensor<64x515xf32>) -> tensor<64x515xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %y, %z : tensor<64x512xf32>, tensor<512x515xf32>, tensor<64x515xf32>, tensor<64x515xf32>) {
  ^bb0(%a: tensor<64x512xf32>, %b: tensor<512x515xf32>, %c: tensor<64x515xf32>, %d: tensor<64x515xf32>):
    %0 = fact.matmul %a, %b tf32 : (tensor<64x512xf32>, tensor<512x515xf32>) -> tensor<64x515xf32>
    %1 = fact.mul %0, %c : (tensor<64x515xf32>, tensor<64x515xf32>) -> tensor<64x515xf32>
    %2 = fact.mul %1, %d : (tensor<64x515xf32>, tensor<64x515xf32>) -> tensor<64x515xf32>
    %p = ub.poison : tensor<64x1xf32>
    %3 = fact.concat %2, %p dim 1 {fact.unused} : (tensor<64x515xf32>, tensor<64x1xf32>) -> tensor<64x516xf32>
    fact.yield %3 : tensor<64x516xf32>
  } : tensor<64x516xf32>
  %s = fact.fused "pointwise" ins(%r : tensor<64x516xf32>) {
  ^bb0(%a: tensor<64x516xf32>):
    %0 = fact.slice %a dim 1 start 0 : (tensor<64x516xf32>) -> tensor<64x515xf32>
    fact.yield %0 : tensor<64x515xf32>
  } : tensor<64x515xf32>
  return %s : tensor<64x515xf32>
}

//--- masked.mlir
func.func @masked(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>, %y: tensor<64x64xf32>, %m: tensor<64x64xi1>) -> tensor<64x64xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %y, %m : tensor<64x96xf32>, tensor<96x64xf32>, tensor<64x64xf32>, tensor<64x64xi1>) {
  ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>, %c: tensor<64x64xf32>, %d: tensor<64x64xi1>):
    %0 = fact.matmul %a, %b tf32 : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
    %1 = fact.mul %0, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = fact.cast %d : (tensor<64x64xi1>) -> tensor<64x64xf32>
    %3 = fact.mul %1, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    fact.yield %3 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

//--- summand.mlir
func.func @summand(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %c, %d : tensor<64x96xf32>, tensor<96x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>, %e: tensor<64xf32>, %f: tensor<64xf32>):
    %1 = fact.matmul %a, %b tf32 : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
    %2 = fact.add %1, %e : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
    %3 = fact.mul %2, %f : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
    fact.yield %3 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- overflow.mlir
func.func @overflow(%x: tensor<64x96xf16>, %w: tensor<96x64xf16>, %c: tensor<64xf16>, %d: tensor<64xf32>) -> tensor<64x64xf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %c, %d : tensor<64x96xf16>, tensor<96x64xf16>, tensor<64xf16>, tensor<64xf32>) {
  ^bb0(%a: tensor<64x96xf16>, %b: tensor<96x64xf16>, %e: tensor<64xf16>, %f: tensor<64xf32>):
    %1 = fact.matmul %a, %b : (tensor<64x96xf16>, tensor<96x64xf16>) -> tensor<64x64xf16>
    %2 = fact.add %1, %e : (tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>
    %3 = fact.cast %2 : (tensor<64x64xf16>) -> tensor<64x64xf32>
    %4 = fact.mul %3, %f : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
    %5 = fact.cast %4 : (tensor<64x64xf32>) -> tensor<64x64xf16>
    fact.yield %5 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
