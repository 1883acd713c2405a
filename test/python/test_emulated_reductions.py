# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA reductions of columns on this machine's CPU by test/emulation."""

import pytest

from emulated import NEEDED, emulate_text, kinds

pytestmark = NEEDED


# Channels of images that come first: lanes of several warps, of one, and none; places of extremes.
CHANNELS = """
func.func @main(%x: tensor<2x77x52xf32>, %y: tensor<2x21x70xf32>, %z: tensor<3x29x24xbf16>,
                %w: tensor<1x29x1xbf16>)
    -> (tensor<2x77x52xf32>, tensor<2x21x70xf32>, tensor<3x29x24xbf16>, tensor<2x52xi64>) {
  %0 = fact.fused "reduction" ins(%x : tensor<2x77x52xf32>) {
  ^bb0(%a: tensor<2x77x52xf32>):
    %1 = fact.softmax %a dim 1 : tensor<2x77x52xf32>
    fact.yield %1 : tensor<2x77x52xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 64, splits = 1, operands = held>) : tensor<2x77x52xf32>
  %2 = fact.fused "reduction" ins(%y : tensor<2x21x70xf32>) {
  ^bb0(%a: tensor<2x21x70xf32>):
    %1 = fact.softmax %a dim 1 : tensor<2x21x70xf32>
    fact.yield %1 : tensor<2x21x70xf32>
  } schedule(#fact.cuda_reduction<columns = 32, lanes = 1, splits = 1, operands = held>) : tensor<2x21x70xf32>
  %3 = fact.fused "reduction" ins(%z, %w : tensor<3x29x24xbf16>, tensor<1x29x1xbf16>) {
  ^bb0(%a: tensor<3x29x24xbf16>, %b: tensor<1x29x1xbf16>):
    %1 = fact.reduce max %a dims [1] keep : (tensor<3x29x24xbf16>) -> tensor<3x1x24xbf16>
    %4 = fact.sub %a, %1 : (tensor<3x29x24xbf16>, tensor<3x1x24xbf16>) -> tensor<3x29x24xbf16>
    %5 = fact.exp %4 : (tensor<3x29x24xbf16>) -> tensor<3x29x24xbf16>
    %6 = fact.reduce sum %5 dims [1] keep : (tensor<3x29x24xbf16>) -> tensor<3x1x24xbf16>
    %7 = fact.log %6 : (tensor<3x1x24xbf16>) -> tensor<3x1x24xbf16>
    %8 = fact.sub %4, %7 : (tensor<3x29x24xbf16>, tensor<3x1x24xbf16>) -> tensor<3x29x24xbf16>
    %9 = fact.mul %8, %b : (tensor<3x29x24xbf16>, tensor<1x29x1xbf16>) -> tensor<3x29x24xbf16>
    fact.yield %9 : tensor<3x29x24xbf16>
  } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = held>) : tensor<3x29x24xbf16>
  %10 = fact.fused "reduction" ins(%x : tensor<2x77x52xf32>) {
  ^bb0(%a: tensor<2x77x52xf32>):
    %1 = fact.reduce argmax %a dims [1] : (tensor<2x77x52xf32>) -> tensor<2x52xi64>
    fact.yield %1 : tensor<2x52xi64>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 2, operands = read>) : tensor<2x52xi64>
  return %0, %2, %3, %10 : tensor<2x77x52xf32>, tensor<2x21x70xf32>, tensor<3x29x24xbf16>, tensor<2x52xi64>
}
"""


def test_channels_are_read_once(root, tmp_path):
    (tmp_path / "channels.mlir").write_text(CHANNELS)
    report = emulate_text(root, tmp_path, tmp_path / "channels.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)


# Columns that several blocks share in all passes, and what is reduced in two places: launches for
# stages and for results of all elements, or a last one for results of columns. What is not held
# computes variances beside means and sums of exponentials beside maxima.
SHARED_COLUMNS = """
func.func @main(%x: tensor<3x1000xf32>, %w: tensor<1000xf32>, %y: tensor<2x77x52xf32>,
                %z: tensor<5x6x40xbf16>, %v: tensor<3x4x7x6xf32>, %u: tensor<20xf32>)
    -> (tensor<3x1000xf32>, tensor<3x1000xf32>, tensor<2x52xf32>, tensor<2x77x52xf32>, tensor<6xbf16>,
        tensor<4x6xi64>, tensor<3x4x7x6xf32>, tensor<2x52xf32>, tensor<3x1000xf32>) {
  %0 = fact.fused "reduction" ins(%x : tensor<3x1000xf32>) {
  ^bb0(%a: tensor<3x1000xf32>):
    %1 = fact.softmax %a dim 1 : tensor<3x1000xf32>
    fact.yield %1 : tensor<3x1000xf32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 64, splits = 3, operands = read>)
    : tensor<3x1000xf32>
  %2 = fact.fused "reduction" ins(%x, %w : tensor<3x1000xf32>, tensor<1000xf32>) {
  ^bb0(%a: tensor<3x1000xf32>, %b: tensor<1000xf32>):
    %1 = fact.norm layer %a weight %b eps 1.0e-5
      : (tensor<3x1000xf32>, tensor<1000xf32>) -> tensor<3x1000xf32>
    fact.yield %1 : tensor<3x1000xf32>
  } schedule(#fact.cuda_reduction<columns = 2, lanes = 16, splits = 5, operands = read>) : tensor<3x1000xf32>
  %3:2 = fact.fused "reduction" ins(%y : tensor<2x77x52xf32>) {
  ^bb0(%a: tensor<2x77x52xf32>):
    %1 = fact.reduce max %a dims [1] keep : (tensor<2x77x52xf32>) -> tensor<2x1x52xf32>
    %4 = fact.sub %a, %1 : (tensor<2x77x52xf32>, tensor<2x1x52xf32>) -> tensor<2x77x52xf32>
    %5 = fact.exp %4 : (tensor<2x77x52xf32>) -> tensor<2x77x52xf32>
    %6 = fact.reduce sum %5 dims [1] : (tensor<2x77x52xf32>) -> tensor<2x52xf32>
    fact.yield %6, %5 : tensor<2x52xf32>, tensor<2x77x52xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 2, operands = read>)
    : tensor<2x52xf32>, tensor<2x77x52xf32>
  %7 = fact.fused "reduction" ins(%z : tensor<5x6x40xbf16>) {
  ^bb0(%a: tensor<5x6x40xbf16>):
    %1 = fact.reduce max %a dims [0, 2] keep : (tensor<5x6x40xbf16>) -> tensor<1x6x1xbf16>
    %8 = fact.sub %a, %1 : (tensor<5x6x40xbf16>, tensor<1x6x1xbf16>) -> tensor<5x6x40xbf16>
    %9 = fact.exp %8 : (tensor<5x6x40xbf16>) -> tensor<5x6x40xbf16>
    %10 = fact.reduce sum %9 dims [0, 2] : (tensor<5x6x40xbf16>) -> tensor<6xbf16>
    fact.yield %10 : tensor<6xbf16>
  } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 3, operands = read>) : tensor<6xbf16>
  %11 = fact.fused "reduction" ins(%v : tensor<3x4x7x6xf32>) {
  ^bb0(%a: tensor<3x4x7x6xf32>):
    %1 = fact.reduce argmax %a dims [0, 2] : (tensor<3x4x7x6xf32>) -> tensor<4x6xi64>
    fact.yield %1 : tensor<4x6xi64>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 4, splits = 1, operands = read>) : tensor<4x6xi64>
  %12 = fact.fused "reduction" ins(%v : tensor<3x4x7x6xf32>) {
  ^bb0(%a: tensor<3x4x7x6xf32>):
    %1 = fact.reduce mean %a dims [0, 2] keep : (tensor<3x4x7x6xf32>) -> tensor<1x4x1x6xf32>
    %13 = fact.sub %a, %1 : (tensor<3x4x7x6xf32>, tensor<1x4x1x6xf32>) -> tensor<3x4x7x6xf32>
    fact.yield %13 : tensor<3x4x7x6xf32>
  } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = held>) : tensor<3x4x7x6xf32>
  %14 = fact.fused "reduction" ins(%y : tensor<2x77x52xf32>) {
  ^bb0(%a: tensor<2x77x52xf32>):
    %1 = fact.reduce mean %a dims [1] keep : (tensor<2x77x52xf32>) -> tensor<2x1x52xf32>
    %15 = fact.sub %a, %1 : (tensor<2x77x52xf32>, tensor<2x1x52xf32>) -> tensor<2x77x52xf32>
    %16 = fact.mul %15, %15 : (tensor<2x77x52xf32>, tensor<2x77x52xf32>) -> tensor<2x77x52xf32>
    %17 = fact.reduce sum %16 dims [1] : (tensor<2x77x52xf32>) -> tensor<2x52xf32>
    fact.yield %17 : tensor<2x52xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = read>) : tensor<2x52xf32>
  // Groups of five channels of 50, with a weight each.
  %18 = fact.fused "reduction" ins(%x, %u : tensor<3x1000xf32>, tensor<20xf32>) {
  ^bb0(%a: tensor<3x1000xf32>, %b: tensor<20xf32>):
    %1 = fact.reshape %a : (tensor<3x1000xf32>) -> tensor<3x4x250xf32>
    %19 = fact.norm layer %1 eps 1.0e-5 : (tensor<3x4x250xf32>) -> tensor<3x4x250xf32>
    %20 = fact.reshape %19 : (tensor<3x4x250xf32>) -> tensor<3x20x50xf32>
    %21 = fact.reshape %b : (tensor<20xf32>) -> tensor<20x1xf32>
    %22 = fact.mul %20, %21 : (tensor<3x20x50xf32>, tensor<20x1xf32>) -> tensor<3x20x50xf32>
    %23 = fact.reshape %22 : (tensor<3x20x50xf32>) -> tensor<3x1000xf32>
    fact.yield %23 : tensor<3x1000xf32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 32, splits = 1, operands = read>) : tensor<3x1000xf32>
  return %0, %2, %3#0, %3#1, %7, %11, %12, %14, %18 : tensor<3x1000xf32>, tensor<3x1000xf32>,
    tensor<2x52xf32>, tensor<2x77x52xf32>, tensor<6xbf16>, tensor<4x6xi64>, tensor<3x4x7x6xf32>,
    tensor<2x52xf32>, tensor<3x1000xf32>
}
"""


@pytest.mark.full
def test_blocks_share_columns(root, tmp_path):
    (tmp_path / "shared.mlir").write_text(SHARED_COLUMNS)
    report = emulate_text(root, tmp_path, tmp_path / "shared.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)


# Rows that stay in shared memory: of odd length, and with weights that are read from the cache.
KEPT_ROWS = """
func.func @main(%x: tensor<3x1031xbf16>, %y: tensor<3x2064xf32>, %w: tensor<2064xf32>)
    -> (tensor<3x1031xbf16>, tensor<3x2064xf32>) {
  %0 = fact.fused "reduction" ins(%x : tensor<3x1031xbf16>) {
  ^bb0(%a: tensor<3x1031xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<3x1031xbf16>
    fact.yield %1 : tensor<3x1031xbf16>
  } schedule(#fact.cuda_reduction<columns = 2, lanes = 32, splits = 1, operands = shared>)
    : tensor<3x1031xbf16>
  %2 = fact.fused "reduction" ins(%y, %w : tensor<3x2064xf32>, tensor<2064xf32>) {
  ^bb0(%a: tensor<3x2064xf32>, %b: tensor<2064xf32>):
    %1 = fact.norm layer %a weight %b eps 1.0e-5
      : (tensor<3x2064xf32>, tensor<2064xf32>) -> tensor<3x2064xf32>
    fact.yield %1 : tensor<3x2064xf32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 64, splits = 1, operands = shared>)
    : tensor<3x2064xf32>
  return %0, %2 : tensor<3x1031xbf16>, tensor<3x2064xf32>
}
"""


@pytest.mark.full
def test_rows_stay_in_shared_memory(root, tmp_path):
    (tmp_path / "kept.mlir").write_text(KEPT_ROWS)
    report = emulate_text(root, tmp_path, tmp_path / "kept.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)
