# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA products of unusual depth, on this machine's CPU by test/emulation: more than 64 blocks
that divide K, and a K of one step."""

import pytest

from emulated import NEEDED, emulate_text, kinds

pytestmark = NEEDED

# Splits of one tile of K, the last of them a part of one; and 128 splits of 129 tiles.
DEEP = """
module @deep {
  func.func @main(%x: tensor<13x1100xbf16>, %y: tensor<1100x21xbf16>, %b: tensor<21xbf16>,
                  %z: tensor<2x5x2050xf32>, %w: tensor<2x7x2050xf32>)
      -> (tensor<13x21xbf16>, tensor<2x5x7xf32>) {
    %0 = fact.fused "gemm_epilogue" ins(%x, %y, %b
        : tensor<13x1100xbf16>, tensor<1100x21xbf16>, tensor<21xbf16>) {
    ^bb0(%l: tensor<13x1100xbf16>, %r: tensor<1100x21xbf16>, %c: tensor<21xbf16>):
      %1 = fact.matmul %l, %r : (tensor<13x1100xbf16>, tensor<1100x21xbf16>) -> tensor<13x21xbf16>
      %2 = fact.add %1, %c : (tensor<13x21xbf16>, tensor<21xbf16>) -> tensor<13x21xbf16>
      fact.yield %2 : tensor<13x21xbf16>
    } schedule(#fact.sm80_gemm<tile = 16x32x16, warps = 1x1, stages = 2, split_k = 69, math = mma>)
        : tensor<13x21xbf16>
    %3 = fact.fused "gemm_epilogue" ins(%z, %w : tensor<2x5x2050xf32>, tensor<2x7x2050xf32>) {
    ^bb0(%l: tensor<2x5x2050xf32>, %r: tensor<2x7x2050xf32>):
      %4 = fact.matmul %l, %r transpose_b
          : (tensor<2x5x2050xf32>, tensor<2x7x2050xf32>) -> tensor<2x5x7xf32>
      %5 = fact.relu %4 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
      fact.yield %5 : tensor<2x5x7xf32>
    } schedule(#fact.sm80_gemm<tile = 16x16x16, warps = 1x1, stages = 2, split_k = 128, math = mma>)
        : tensor<2x5x7xf32>
    return %0, %3 : tensor<13x21xbf16>, tensor<2x5x7xf32>
  }
}
"""

# One step of K in two stages, by the f32 units, and in TF32 by matrix units.
SHORT = """
module @short {
  func.func @main(%x: tensor<3x37x21xf32>, %y: tensor<3x21x70xf32>, %b: tensor<37x1xf32>)
      -> (tensor<3x37x70xf32>, tensor<3x37x70xf32>) {
    %0 = fact.fused "gemm_epilogue" ins(%x, %y, %b
        : tensor<3x37x21xf32>, tensor<3x21x70xf32>, tensor<37x1xf32>) {
    ^bb0(%l: tensor<3x37x21xf32>, %r: tensor<3x21x70xf32>, %c: tensor<37x1xf32>):
      %1 = fact.matmul %l, %r : (tensor<3x37x21xf32>, tensor<3x21x70xf32>) -> tensor<3x37x70xf32>
      %2 = fact.add %1, %c : (tensor<3x37x70xf32>, tensor<37x1xf32>) -> tensor<3x37x70xf32>
      fact.yield %2 : tensor<3x37x70xf32>
    } schedule(#fact.sm80_gemm<tile = 32x64x32, warps = 1x2, stages = 2, split_k = 1, math = simt>)
        : tensor<3x37x70xf32>
    %3 = fact.fused "gemm_epilogue" ins(%x, %y : tensor<3x37x21xf32>, tensor<3x21x70xf32>) {
    ^bb0(%l: tensor<3x37x21xf32>, %r: tensor<3x21x70xf32>):
      %4 = fact.matmul %l, %r tf32 : (tensor<3x37x21xf32>, tensor<3x21x70xf32>) -> tensor<3x37x70xf32>
      fact.yield %4 : tensor<3x37x70xf32>
    } schedule(#fact.sm80_gemm<tile = 32x64x32, warps = 2x2, stages = 2, split_k = 1, math = mma>)
        : tensor<3x37x70xf32>
    return %0, %3 : tensor<3x37x70xf32>, tensor<3x37x70xf32>
  }
}
"""


@pytest.mark.full
@pytest.mark.parametrize("text", [DEEP, SHORT], ids=["deep", "short"])
def test_depths(root, tmp_path, text):
    (tmp_path / "depths.mlir").write_text(text)
    report = emulate_text(root, tmp_path, tmp_path / "depths.mlir")
    assert kinds(report) == {"sm80_gemm"}, kinds(report)
