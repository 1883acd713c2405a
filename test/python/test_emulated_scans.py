# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA scans on this machine's CPU by test/emulation."""

from emulated import NEEDED, emulate_text, kinds

pytestmark = NEEDED


# Scans of rows and across them, shared by warps and blocks and not, of what is computed before them.
SCANS = """
func.func @main(%x: tensor<5x301xf32>, %w: tensor<301xf32>, %y: tensor<3x40x6xbf16>, %z: tensor<9x64xbf16>,
                %i: tensor<3x1038xi64>, %u: tensor<2x1101xf32>)
    -> (tensor<5x301xf32>, tensor<5x301xf32>, tensor<3x6x40xf32>, tensor<9x64xbf16>, tensor<3x1038xi64>,
        tensor<2x1101xf32>) {
  %0:2 = fact.fused "scan" ins(%x, %w : tensor<5x301xf32>, tensor<301xf32>) {
  ^bb0(%a: tensor<5x301xf32>, %b: tensor<301xf32>):
    %1 = fact.mul %a, %b : (tensor<5x301xf32>, tensor<301xf32>) -> tensor<5x301xf32>
    %2 = fact.scan sum %1 dim 1 : tensor<5x301xf32>
    %3 = fact.sub %2, %a : (tensor<5x301xf32>, tensor<5x301xf32>) -> tensor<5x301xf32>
    %4 = fact.mul %2, %b : (tensor<5x301xf32>, tensor<301xf32>) -> tensor<5x301xf32>
    fact.yield %3, %4 : tensor<5x301xf32>, tensor<5x301xf32>
  } schedule(#fact.cuda_scan<lanes = 8, splits = 3>) : tensor<5x301xf32>, tensor<5x301xf32>
  %5 = fact.fused "scan" ins(%y : tensor<3x40x6xbf16>) {
  ^bb0(%a: tensor<3x40x6xbf16>):
    %1 = fact.scan max %a dim 1 : tensor<3x40x6xbf16>
    %2 = fact.cast %1 : (tensor<3x40x6xbf16>) -> tensor<3x40x6xf32>
    %3 = fact.permute %2 [0, 2, 1] : (tensor<3x40x6xf32>) -> tensor<3x6x40xf32>
    fact.yield %3 : tensor<3x6x40xf32>
  } schedule(#fact.cuda_scan<lanes = 4, splits = 1>) : tensor<3x6x40xf32>
  %6 = fact.fused "scan" ins(%z : tensor<9x64xbf16>) {
  ^bb0(%a: tensor<9x64xbf16>):
    %1 = fact.relu %a : (tensor<9x64xbf16>) -> tensor<9x64xbf16>
    %2 = fact.scan sum %1 dim 1 : tensor<9x64xbf16>
    %3 = fact.sub %2, %1 : (tensor<9x64xbf16>, tensor<9x64xbf16>) -> tensor<9x64xbf16>
    fact.yield %3 : tensor<9x64xbf16>
  } schedule(#fact.cuda_scan<lanes = 4, splits = 1>) : tensor<9x64xbf16>
  %7 = fact.fused "scan" ins(%i : tensor<3x1038xi64>) {
  ^bb0(%a: tensor<3x1038xi64>):
    %1 = fact.scan sum %a dim 1 : tensor<3x1038xi64>
    %2 = fact.mul %1, %a : (tensor<3x1038xi64>, tensor<3x1038xi64>) -> tensor<3x1038xi64>
    fact.yield %2 : tensor<3x1038xi64>
  } schedule(#fact.cuda_scan<lanes = 64, splits = 1>) : tensor<3x1038xi64>
  %8 = fact.fused "scan" ins(%u : tensor<2x1101xf32>) {
  ^bb0(%a: tensor<2x1101xf32>):
    %1 = fact.scan max %a dim 1 : tensor<2x1101xf32>
    fact.yield %1 : tensor<2x1101xf32>
  } schedule(#fact.cuda_scan<lanes = 128, splits = 2>) : tensor<2x1101xf32>
  return %0#0, %0#1, %5, %6, %7, %8 : tensor<5x301xf32>, tensor<5x301xf32>, tensor<3x6x40xf32>,
      tensor<9x64xbf16>, tensor<3x1038xi64>, tensor<2x1101xf32>
}
"""


def test_scans_of_what_is_computed(root, tmp_path):
    (tmp_path / "scans.mlir").write_text(SCANS)
    report = emulate_text(root, tmp_path, tmp_path / "scans.mlir")
    assert kinds(report) == {"cuda_scan"}, kinds(report)
