// A symbol is a hash of what its object computes. Kernels that differ only in
// their spaces export the same symbols from equal objects, one of which is
// linked; operands that share memory are another kernel.

// RUN: rm -rf %t && mkdir %t
// RUN: fact-compile %s --target=host -o %t/m.so --bundle=%t/bundle
// RUN: %python -c "import json, sys; [print(k['name'], *[c['symbol'][-16:] for c in k['candidates']]) for k in json.load(open(sys.argv[1]))['kernels']]" %t/bundle/bundle.json | FileCheck %s
// RUN: cmp %t/bundle/kernels/pointwise_0/0.o %t/bundle/kernels/pointwise_1/1.o
// RUN: cmp %t/bundle/kernels/pointwise_0/reference.cpp %t/bundle/kernels/pointwise_1/reference.cpp
// RUN: not cmp %t/bundle/kernels/pointwise_0/0.o %t/bundle/kernels/pointwise_2/0.o

// CHECK: pointwise_0 [[SMALL:[0-9a-f]+]]{{$}}
// CHECK-NEXT: pointwise_1 [[LARGE:[0-9a-f]+]] [[SMALL]]{{$}}
func.func @main(%x: tensor<64x256xf32>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %0 = fact.fused "pointwise" ins(%x, %y : tensor<64x256xf32>, tensor<64x256xf32>) {
  ^bb0(%a: tensor<64x256xf32>, %b: tensor<64x256xf32>):
    %3 = fact.add %a, %b : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    fact.yield %3 : tensor<64x256xf32>
  } space(#fact.schedules<#fact.host_rows<grain = 16>>) : tensor<64x256xf32>
  %1 = fact.fused "pointwise" ins(%0, %y : tensor<64x256xf32>, tensor<64x256xf32>) {
  ^bb0(%a: tensor<64x256xf32>, %b: tensor<64x256xf32>):
    %3 = fact.add %a, %b : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    fact.yield %3 : tensor<64x256xf32>
  } space(#fact.schedules<#fact.host_rows<grain = 64>, #fact.host_rows<grain = 16>>) : tensor<64x256xf32>
  %2 = fact.fused "pointwise" ins(%1, %1 : tensor<64x256xf32>, tensor<64x256xf32>) {
  ^bb0(%a: tensor<64x256xf32>, %b: tensor<64x256xf32>):
    %3 = fact.add %a, %b : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    fact.yield %3 : tensor<64x256xf32>
  } space(#fact.schedules<#fact.host_rows<grain = 16>>) : tensor<64x256xf32>
  return %2 : tensor<64x256xf32>
}
