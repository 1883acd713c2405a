// RUN: fact-opt %s --fact-discover=target=h200 --fact-outline-program --fact-add-alternatives="factor=1000" | FileCheck %s
// RUN: fact-opt %s --fact-discover=target=h200 --fact-outline-program --fact-add-alternatives="factor=1000 keep-products=true" | FileCheck %s --check-prefix=KEEP

// A product that is read in f32 would be rounded if it were stored. One that is
// read as it is stored is stored in either case.
// CHECK-DAG: program.model @gemm_epilogue_{{[0-9]+}}_apart : (tensor<512x256xbf16>, tensor<512x256xbf16>, tensor<512x1xf32>)
// CHECK-DAG: program.model @gemm_epilogue_{{[0-9]+}}_apart : (tensor<512x256xbf16>, tensor<512x256xbf16>) ->
// KEEP-NOT: _apart : {{.*}}tensor<512x1xf32>
// KEEP: program.model @gemm_epilogue_{{[0-9]+}}_apart : (tensor<512x256xbf16>, tensor<512x256xbf16>) ->
// KEEP-NOT: _apart
func.func @main(%x: tensor<512x256xbf16>, %w: tensor<512x256xbf16>, %r: tensor<512x1xf32>) -> (tensor<512x512xbf16>, tensor<512x512xbf16>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<512x256xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  %1 = fact.cast %0 : (tensor<512x512xbf16>) -> tensor<512x512xf32>
  %2 = fact.mul %1, %r : (tensor<512x512xf32>, tensor<512x1xf32>) -> tensor<512x512xf32>
  %3 = fact.cast %2 : (tensor<512x512xf32>) -> tensor<512x512xbf16>
  %4 = fact.matmul %3, %3 : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  %5 = fact.matmul %w, %x transpose_b : (tensor<512x256xbf16>, tensor<512x256xbf16>) -> tensor<512x512xbf16>
  %6 = fact.tanh %5 : (tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %4, %6 : tensor<512x512xbf16>, tensor<512x512xbf16>
}
