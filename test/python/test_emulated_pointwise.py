# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA pointwise kernels and tiles on this machine's CPU by test/emulation: reads through views,
phases, images that share indices, functions that branch."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from emulated import NEEDED, emulate, emulate_text, kinds

pytestmark = NEEDED


class Reads(torch.nn.Module):
    """Pointwise kernels that read through pads, concats, rolls and gathers: one element that wraps
    around, rows that move as a whole, and parts that are results of one kernel."""

    def forward(self, x, index, y):
        wrapped = torch.cat([y[..., -4:], y, y[..., :4]], -1)
        near = y.roll((1, -1), (-2, -1)) - y.roll(2, -2)
        return (F.pad(x, (1, 2, 0, 3)) * 2, torch.cat([x, x.relu()], 1) + 1, x[:, index].sigmoid(),
                torch.stack([near.sin().cos(), y.roll(3, 0).cos().sin()], 1), F.pad(wrapped, (0, 0, 1, 0)))


def test_reads(root, tmp_path):
    emulate(root, tmp_path, Reads().eval(),
            [torch.randn(3, 7, 37), torch.tensor([5, 0, 5]), torch.randn(3, 5, 16)], "h200")


# A transposing pass, short rows, a reduction over the middle, and rows of points, whose coordinates are
# read together.
TILES = """
func.func @main(%x: tensor<3x65x70xf32>, %y: tensor<40x5xf32>, %p: tensor<2x7x2xbf16>,
                %q: tensor<2x16x3xbf16>)
    -> (tensor<3x70x65xf32>, tensor<40x5xf32>, tensor<3x70xf32>, tensor<2x7x16xbf16>, tensor<2x7xbf16>) {
  %0 = fact.fused "pointwise" ins(%x : tensor<3x65x70xf32>) {
  ^bb0(%a: tensor<3x65x70xf32>):
    %1 = fact.permute %a [0, 2, 1] : (tensor<3x65x70xf32>) -> tensor<3x70x65xf32>
    fact.yield %1 : tensor<3x70x65xf32>
  } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<3x70x65xf32>
  %2 = fact.softmax %y dim 1 : tensor<40x5xf32>
  %3 = fact.reduce max %x dims [1] : (tensor<3x65x70xf32>) -> tensor<3x70xf32>
  %4:2 = fact.fused "rowwise" ins(%p, %q : tensor<2x7x2xbf16>, tensor<2x16x3xbf16>) {
  ^bb0(%a: tensor<2x7x2xbf16>, %b: tensor<2x16x3xbf16>):
    %5 = fact.slice %b dim 2 start 1 : (tensor<2x16x3xbf16>) -> tensor<2x16x2xbf16>
    %6 = fact.reshape %a : (tensor<2x7x2xbf16>) -> tensor<2x7x1x2xbf16>
    %7 = fact.reshape %5 : (tensor<2x16x2xbf16>) -> tensor<2x1x16x2xbf16>
    %8 = fact.sub %6, %7 : (tensor<2x7x1x2xbf16>, tensor<2x1x16x2xbf16>) -> tensor<2x7x16x2xbf16>
    %9 = fact.slice %8 dim 3 start 0 : (tensor<2x7x16x2xbf16>) -> tensor<2x7x16x1xbf16>
    %10 = fact.slice %8 dim 3 start 1 : (tensor<2x7x16x2xbf16>) -> tensor<2x7x16x1xbf16>
    %11 = fact.maximum %9, %10 : (tensor<2x7x16x1xbf16>, tensor<2x7x16x1xbf16>) -> tensor<2x7x16x1xbf16>
    %14 = fact.cast %11 : (tensor<2x7x16x1xbf16>) -> tensor<2x7x16x1xf32>
    %15 = fact.mul %14, %14 : (tensor<2x7x16x1xf32>, tensor<2x7x16x1xf32>) -> tensor<2x7x16x1xf32>
    %16 = fact.cast %15 : (tensor<2x7x16x1xf32>) -> tensor<2x7x16x1xbf16>
    %12 = fact.reshape %16 : (tensor<2x7x16x1xbf16>) -> tensor<2x7x16xbf16>
    %13 = fact.reduce min %12 dims [2] : (tensor<2x7x16xbf16>) -> tensor<2x7xbf16>
    fact.yield %12, %13 : tensor<2x7x16xbf16>, tensor<2x7xbf16>
  } schedule(#fact.cuda_row<threads = 4, rows = 8>) : tensor<2x7x16xbf16>, tensor<2x7xbf16>
  return %0, %2, %3, %4#0, %4#1
    : tensor<3x70x65xf32>, tensor<40x5xf32>, tensor<3x70xf32>, tensor<2x7x16xbf16>, tensor<2x7xbf16>
}
"""


def test_tiles(root, tmp_path):
    (tmp_path / "tiles.mlir").write_text(TILES)
    report = emulate_text(root, tmp_path, tmp_path / "tiles.mlir")
    assert {"cuda_tile", "cuda_row"} <= kinds(report), kinds(report)


def phases(name, element, sizes, steps, first):
    """The end of a transposed convolution: phases of rows and columns, stored as neighbors and
    with channels before pixels, without some of the first and last pixels."""
    (h, w, c), (u, v) = sizes, steps
    rows, columns = u * h - 1, v * w - 2
    part, count = f"tensor<2x{h}x{w}x{c}x{element}>", u * v
    whole, split = f"2x{h}x{w}x{count * c}", f"2x{h}x{w}x{u}x{v}x{c}"
    joined, cut, result = (f"tensor<{shape}x{element}>" for shape in (
        f"2x{u * h}x{v * w}x{c}", f"2x{rows}x{columns}x{c}", f"2x{c}x{rows}x{columns}"))
    inside, outside = (", ".join(f"%{letter}{i}" for i in range(count)) for letter in "px")
    return f"""
func.func @{name}({", ".join(f"%x{i}: {part}" for i in range(count))}) -> {result} {{
  %0 = fact.fused "concat" ins({outside} : {", ".join([part] * count)}) {{
  ^bb0({", ".join(f"%p{i}: {part}" for i in range(count))}):
    %1 = fact.concat {inside} dim 3 : ({", ".join([part] * count)}) -> tensor<{whole}x{element}>
    %2 = fact.reshape %1 : (tensor<{whole}x{element}>) -> tensor<{split}x{element}>
    %3 = fact.permute %2 [0, 1, 3, 2, 4, 5]
      : (tensor<{split}x{element}>) -> tensor<2x{h}x{u}x{w}x{v}x{c}x{element}>
    %4 = fact.reshape %3 : (tensor<2x{h}x{u}x{w}x{v}x{c}x{element}>) -> {joined}
    %5 = fact.slice %4 dim 1 start {first} : ({joined}) -> tensor<2x{rows}x{v * w}x{c}x{element}>
    %6 = fact.slice %5 dim 2 start 1 : (tensor<2x{rows}x{v * w}x{c}x{element}>) -> {cut}
    %7 = fact.permute %6 [0, 3, 1, 2] : ({cut}) -> {result}
    fact.yield %7 : {result}
  }} schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : {result}
  return %0 : {result}
}}
"""


@pytest.mark.full
@pytest.mark.parametrize("element, sizes, steps, first", [
    ("f32", (5, 7, 21), (2, 2), 1), ("bf16", (5, 7, 21), (2, 2), 1), ("f32", (9, 16, 32), (1, 3), 0),
    ("bf16", (4, 35, 6), (2, 4), 0)])
def test_phases_are_one_cropped_pass(root, tmp_path, element, sizes, steps, first):
    (tmp_path / "phases.mlir").write_text(phases("main", element, sizes, steps, first))
    report = emulate_text(root, tmp_path, tmp_path / "phases.mlir")
    assert kinds(report) == {"cuda_tile"}, kinds(report)
    [source] = (tmp_path / "bundle" / "kernels").glob("concat_*/0.cu")
    text = source.read_text()
    assert text.count("TiledPointwise<") == 1 and text.count("Guarded<") >= 2, text


# Images read through indices of rows and columns, as a resize does: threads have several images.
RESIZED = """
func.func @main(%x: tensor<41x5x9x10xf32>, %y: tensor<67x90xf32>, %row: tensor<42x1xi64>,
                %column: tensor<34xi64>, %odd: tensor<35xi64>, %t: tensor<34xf32>)
    -> (tensor<41x5x42x34xf32>, tensor<67x42x35xf32>) {
  %0 = fact.fused "pointwise"
      ins(%x, %row, %column, %t : tensor<41x5x9x10xf32>, tensor<42x1xi64>, tensor<34xi64>, tensor<34xf32>) {
  ^bb0(%a: tensor<41x5x9x10xf32>, %i: tensor<42x1xi64>, %j: tensor<34xi64>, %w: tensor<34xf32>):
    %2 = fact.reshape %a : (tensor<41x5x9x10xf32>) -> tensor<41x5x90xf32>
    %3 = fact.add %i, %j : (tensor<42x1xi64>, tensor<34xi64>) -> tensor<42x34xi64>
    %4 = fact.gather %2, %3 dim 2 : (tensor<41x5x90xf32>, tensor<42x34xi64>) -> tensor<41x5x42x34xf32>
    %5 = fact.mul %4, %w : (tensor<41x5x42x34xf32>, tensor<34xf32>) -> tensor<41x5x42x34xf32>
    fact.yield %5 : tensor<41x5x42x34xf32>
  } schedule(#fact.cuda_pointwise<threads = 32, vector = 2>) : tensor<41x5x42x34xf32>
  %1 = fact.fused "pointwise" ins(%y, %row, %odd : tensor<67x90xf32>, tensor<42x1xi64>, tensor<35xi64>) {
  ^bb0(%a: tensor<67x90xf32>, %i: tensor<42x1xi64>, %j: tensor<35xi64>):
    %2 = fact.add %i, %j : (tensor<42x1xi64>, tensor<35xi64>) -> tensor<42x35xi64>
    %3 = fact.gather %a, %2 dim 1 : (tensor<67x90xf32>, tensor<42x35xi64>) -> tensor<67x42x35xf32>
    %4 = fact.constant dense<0.0> : tensor<67x1x35xf32>
    %5 = fact.slice %3 dim 1 start 1 : (tensor<67x42x35xf32>) -> tensor<67x41x35xf32>
    %6 = fact.concat %5, %4 dim 1 : (tensor<67x41x35xf32>, tensor<67x1x35xf32>) -> tensor<67x42x35xf32>
    fact.yield %6 : tensor<67x42x35xf32>
  } schedule(#fact.cuda_pointwise<threads = 32, vector = 1>) : tensor<67x42x35xf32>
  return %0, %1 : tensor<41x5x42x34xf32>, tensor<67x42x35xf32>
}
"""


@pytest.mark.full
def test_images_share_indices(root, tmp_path):
    (tmp_path / "resized.mlir").write_text(RESIZED)
    emulate_text(root, tmp_path, tmp_path / "resized.mlir")
    rows = [re.search("PointwiseSchedule<(.*)>>", source.read_text())[1]
            for source in sorted((tmp_path / "bundle" / "kernels").glob("*/0.cu"))]
    assert rows == ["32, 2, 8, true", "32, 1, 4, true"], rows


class Functions(nn.Module):
    """Functions whose kernels branch, of numbers on both sides of each branch."""

    def forward(self, x, y):
        z = torch.tanh(x)
        return (torch.sin(x) * torch.cos(x) + torch.tan(y), torch.asin(z) - torch.acos(z),
                torch.atan2(x, y), torch.sinh(x) + torch.asinh(y), torch.erfinv(z),
                torch.lgamma(x), torch.digamma(y), torch.special.i0e(x),
                torch.pow(x.abs(), y) + torch.log1p(x.abs()))


@pytest.mark.full
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16],
                         ids=["fp32", "bf16", "fp16"])
def test_functions_that_branch(root, tmp_path, dtype):
    torch.manual_seed(0)
    inputs = [(10 * torch.randn(3, 37)).to(dtype) for _ in range(2)]
    emulate(root, tmp_path, Functions().eval(), inputs, "h200")


class Few(nn.Module):
    """Reductions of few elements, of a dimension in the middle and of two."""

    def forward(self, x):
        return x.amax(1) - x.amin(1) + x.mean(1), (x[:, :2, ::2].square()).sum((1, 2)).sqrt()


def test_few_elements_are_pointwise(root, tmp_path):
    report = emulate(root, tmp_path, Few(), [torch.randn(2, 3, 5, 7).bfloat16()], "h200")
    assert kinds(report) == {"cuda_pointwise"}


# Pairs that are turned; pairs beside a transposed operand; one of three channels; the even ones of an
# odd number of elements, whose last pair has one element.
INTERLEAVED = """
func.func @main(%x: tensor<3x5x16xbf16>, %cos: tensor<5x16xbf16>, %sin: tensor<5x16xbf16>,
                %y: tensor<2x37x42xbf16>, %z: tensor<2x21x37xbf16>, %w: tensor<66x3xf32>, %v: tensor<127xf32>)
    -> (tensor<3x5x16xbf16>, tensor<2x37x21xbf16>, tensor<66xf32>, tensor<64xf32>) {
  %0 = fact.fused "pointwise"
      ins(%x, %cos, %sin : tensor<3x5x16xbf16>, tensor<5x16xbf16>, tensor<5x16xbf16>) {
  ^bb0(%a: tensor<3x5x16xbf16>, %b: tensor<5x16xbf16>, %c: tensor<5x16xbf16>):
    %4 = fact.rotary %a, %b, %c interleaved
      : (tensor<3x5x16xbf16>, tensor<5x16xbf16>, tensor<5x16xbf16>) -> tensor<3x5x16xbf16>
    fact.yield %4 : tensor<3x5x16xbf16>
  } schedule(#fact.cuda_pointwise<threads = 128, vector = 4>) : tensor<3x5x16xbf16>
  %1 = fact.fused "pointwise" ins(%y, %z : tensor<2x37x42xbf16>, tensor<2x21x37xbf16>) {
  ^bb0(%a: tensor<2x37x42xbf16>, %b: tensor<2x21x37xbf16>):
    %4 = fact.slice %a dim 2 start 0 step 2 : (tensor<2x37x42xbf16>) -> tensor<2x37x21xbf16>
    %5 = fact.slice %a dim 2 start 1 step 2 : (tensor<2x37x42xbf16>) -> tensor<2x37x21xbf16>
    %6 = fact.permute %b [0, 2, 1] : (tensor<2x21x37xbf16>) -> tensor<2x37x21xbf16>
    %7 = fact.sub %4, %6 : (tensor<2x37x21xbf16>, tensor<2x37x21xbf16>) -> tensor<2x37x21xbf16>
    %8 = fact.mul %7, %5 : (tensor<2x37x21xbf16>, tensor<2x37x21xbf16>) -> tensor<2x37x21xbf16>
    fact.yield %8 : tensor<2x37x21xbf16>
  } schedule(#fact.cuda_tile<rows = 64, columns = 64, threads = 256>) : tensor<2x37x21xbf16>
  %2 = fact.fused "pointwise" ins(%w : tensor<66x3xf32>) {
  ^bb0(%a: tensor<66x3xf32>):
    %4 = fact.slice %a dim 1 start 2 : (tensor<66x3xf32>) -> tensor<66x1xf32>
    %5 = fact.reshape %4 : (tensor<66x1xf32>) -> tensor<66xf32>
    %6 = fact.relu %5 : (tensor<66xf32>) -> tensor<66xf32>
    fact.yield %6 : tensor<66xf32>
  } schedule(#fact.cuda_pointwise<threads = 128, vector = 2>) : tensor<66xf32>
  %3 = fact.fused "pointwise" ins(%v : tensor<127xf32>) {
  ^bb0(%a: tensor<127xf32>):
    %4 = fact.slice %a dim 0 start 0 step 2 : (tensor<127xf32>) -> tensor<64xf32>
    %5 = fact.relu %4 : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %5 : tensor<64xf32>
  } schedule(#fact.cuda_pointwise<threads = 128, vector = 4>) : tensor<64xf32>
  return %0, %1, %2, %3 : tensor<3x5x16xbf16>, tensor<2x37x21xbf16>, tensor<66xf32>, tensor<64xf32>
}
"""


def test_interleaved_operands_are_picked(root, tmp_path):
    (tmp_path / "interleaved.mlir").write_text(INTERLEAVED)
    emulate_text(root, tmp_path, tmp_path / "interleaved.mlir")
    picked = [source.read_text().count("Picked<")
              for source in sorted((tmp_path / "bundle" / "kernels").glob("*/0.cu"))]
    assert picked == [6, 2, 1, 0], picked
