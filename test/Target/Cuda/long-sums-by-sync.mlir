// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=4
// RUN: FileCheck %s < %t/bundle.json

// Four tiles with sums of 32,768: the parts of stream-K add up one after the
// other, and those of kernels with mma.sync run at the same time.

// CHECK-COUNT-2: "key": "sm80_gemm<{{.*}}split_k = {{[0-9][0-9]}}

module @long_sums {
  fact.weight @w : tensor<256x32768xbf16>
  func.func @main(%x: tensor<256x32768xbf16>, %b: tensor<256xbf16>) -> tensor<256x256xbf16> {
    %w = fact.get_weight @w : tensor<256x32768xbf16>
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<256x32768xbf16>, tensor<256x32768xbf16>, tensor<256xbf16>) {
    ^bb0(%i: tensor<256x32768xbf16>, %f: tensor<256x32768xbf16>, %c: tensor<256xbf16>):
      %m = fact.matmul %i, %f transpose_b : (tensor<256x32768xbf16>, tensor<256x32768xbf16>) -> tensor<256x256xbf16>
      %s = fact.add %m, %c : (tensor<256x256xbf16>, tensor<256xbf16>) -> tensor<256x256xbf16>
      %y = fact.relu %s : (tensor<256x256xbf16>) -> tensor<256x256xbf16>
      fact.yield %y : tensor<256x256xbf16>
    } : tensor<256x256xbf16>
    return %r : tensor<256x256xbf16>
  }
}
