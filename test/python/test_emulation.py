# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module's CUDA kernels, run on this machine's CPU by test/emulation.

fact-tune verifies each against its reference in the linked library. Sizes are small and odd:
whole tiles, vectors and warps are the exception.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import fact
from fact import abi, toolchain
from fact.export import export

pytestmark = [
    pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built"),
    pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc"),
    pytest.mark.skipif(toolchain.find_cutlass() is None, reason="CUTLASS is not installed"),
]


class Odd(nn.Module):
    """Products of odd sizes with epilogues, attention, rows, a scan, copies, a constant."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(21)
        self.heads = nn.Linear(21, 3 * 3 * 7)
        self.out, self.up = nn.Linear(21, 21), nn.Linear(21, 70)
        self.register_buffer("places", torch.linspace(-1, 1, 231).view(11, 21), persistent=False)

    def forward(self, x):
        q, k, v = self.heads(self.norm(x + self.places)).unflatten(-1, (3, 3, 7)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = x + self.out(mixed.transpose(1, 2).flatten(2))
        return (F.gelu(self.up(y)), torch.softmax(y, 1), y.amax(-1).cumsum(0), torch.cat([x, y], 1),
                (x @ y.transpose(1, 2)).relu())


def write_bundle(folder, module, inputs, target, options=()):
    (folder / "module.mlir").write_text(export(module, inputs, name="odd").text)
    subprocess.run([toolchain.require_tool("fact-compile"), folder / "module.mlir",
                    f"--target={target}", "--until=bundle", f"--bundle={folder / 'bundle'}", *options],
                   check=True)


def tune(root, folder, options=("--untuned", "--candidates", "1")):
    """fact-tune's run on an emulated GPU."""
    environment = toolchain.environment()
    environment["PATH"] = f"{root / 'test' / 'emulation'}{os.pathsep}{environment['PATH']}"
    # Apart from the objects of the real nvcc.
    environment["FACT_CACHE_DIR"] = str(root / "build" / "emulated")
    return subprocess.run([toolchain.require_tool("fact-tune"), folder / "bundle", *options],
                          env=environment, text=True, capture_output=True, timeout=1200)


def emulate(root, folder, module, inputs, target, options=()):
    """The summary of fact-tune's run."""
    write_bundle(folder, module, inputs, target, options)
    process = tune(root, folder)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return json.loads((folder / "bundle" / "tuning.json").read_text())


@pytest.mark.parametrize("dtype, target, math", [
    pytest.param(torch.float32, "a100", "mma", id="fp32"),
    pytest.param(torch.bfloat16, "a100", "mma", id="bf16"),
    pytest.param(torch.float32, "rtx3090", "simt", id="simt", marks=pytest.mark.full)])
def test_a_module_of_odd_sizes(root, tmp_path, dtype, target, math):
    torch.manual_seed(0)
    report = emulate(root, tmp_path, Odd().to(dtype).eval(), [torch.randn(2, 11, 21).to(dtype)],
                     target)
    schedules = [kernel["schedule"] for kernel in report["kernels"]]
    assert {"sm80_gemm", "sm80_attention"} <= kinds(report), kinds(report)
    assert any(f"math = {math}" in schedule for schedule in schedules), schedules


class Transposed(nn.Module):
    """[batch, time] becomes [time, batch] before a projection, as in nn.MultiheadAttention."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(20, 24)

    def forward(self, x, y, times):
        return (self.linear(x.transpose(0, 1)) + y) * times


@pytest.mark.full
def test_batches_become_rows(root, tmp_path):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 70, 20), torch.randn(70, 3, 24), torch.randn(70, 1, 1)]
    report = emulate(root, tmp_path, Transposed().eval(), inputs, "a100")
    assert kinds(report) == {"sm80_gemm"}, kinds(report)
    [source] = (tmp_path / "bundle" / "kernels").glob("*/0.cu")
    assert "Problem<70, 24, 20, 3>" in source.read_text()


@pytest.mark.full
def test_a_product_by_scalar_instructions(root, tmp_path):
    torch.manual_seed(0)
    report = emulate(root, tmp_path, nn.Linear(21, 35).eval(), [torch.randn(11, 21)], "rtx3090")
    assert "math = simt" in report["kernels"][0]["schedule"]


class Beside(nn.Module):
    """Products, an input and a pool beside each other, and what reads them."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(21, 13), nn.Linear(21, 34)
        self.out = nn.Linear(21 + 13 + 34 + 10, 9)

    def forward(self, x):
        parts = [self.left(x).relu(), self.right(torch.tanh(x)).sigmoid(), x, F.max_pool1d(x, 3, 2)]
        return self.out(torch.cat(parts, -1))


@pytest.mark.parametrize("target", ["a100", pytest.param("h200", marks=pytest.mark.full)])
def test_the_probe_does_its_work(root, tmp_path, target):
    """Its loads verify their results: mma.sync, and wgmma for Hopper. Their speed means nothing."""
    write_bundle(tmp_path, nn.ReLU(), (torch.randn(4, 8),), target, ["--candidates=1"])
    process = tune(root, tmp_path, ["--probe", "--probe-seconds", "0.01", "--probe-bytes", "65536"])
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    [file] = re.findall(r"^kept +(.*)$", process.stdout, re.MULTILINE)
    ceilings = json.loads(Path(file).read_text())
    assert set(ceilings["rates"]) == {"bandwidth", "scalar_flops", *(f"matrix_flops_{each}" for each in
                                                                     ("16", "32", "tf32", "64"))}
    assert all(rate["cold"] > 0 and rate["sustained"] > 0 for rate in ceilings["rates"].values())
    assert ceilings["launch_seconds"] > 0


@pytest.mark.parametrize("dtype", [
    pytest.param(torch.float32, id="fp32"),
    pytest.param(torch.bfloat16, id="bf16", marks=pytest.mark.full)])
def test_a_concatenation_is_written_in_place(root, tmp_path, dtype):
    torch.manual_seed(0)
    emulate(root, tmp_path, Beside().to(dtype).eval(), [torch.randn(3, 110, 21).to(dtype)], "a100",
            ["--place-parts"])
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    parts = {kernel["name"]: result["part"] for kernel in kernels for result in kernel["results"]
             if "part" in result}
    assert len(parts) == 4, kernels
    size = torch.zeros((), dtype=dtype).element_size()
    assert {part["pitch"] for part in parts.values()} == {78 * size}
    assert sum(part["end"] - part["begin"] for part in parts.values()) == 78 * size
    assert all(kernel["rule"] != "concat" for kernel in kernels)

    # No two steps write the same bytes.
    path = tmp_path / "bundle" / "bundle.json"
    bundle = json.loads(path.read_text())
    [part] = [result["part"] for kernel in bundle["kernels"] for result in kernel["results"]
              if result.get("part", {}).get("begin") == 0]
    part["end"] += size
    path.write_text(json.dumps(bundle))
    process = tune(root, tmp_path)
    assert process.returncode != 0 and "which an earlier step writes too" in process.stderr, process.stderr


class Reads(torch.nn.Module):
    """Pointwise kernels that read through pads, concats, rolls and gathers."""

    def forward(self, x, index):
        return (F.pad(x, (1, 2, 0, 3)) * 2, torch.cat([x, x.relu()], 1) + 1, x.roll(2, -1).exp(),
                x[:, index].sigmoid())


# A transposing pass, short rows, and a reduction over the middle.
TILES = """
func.func @main(%x: tensor<3x65x70xf32>, %y: tensor<40x5xf32>)
    -> (tensor<3x70x65xf32>, tensor<40x5xf32>, tensor<3x70xf32>) {
  %0 = fact.fused "pointwise" ins(%x : tensor<3x65x70xf32>) {
  ^bb0(%a: tensor<3x65x70xf32>):
    %1 = fact.permute %a [0, 2, 1] : (tensor<3x65x70xf32>) -> tensor<3x70x65xf32>
    fact.yield %1 : tensor<3x70x65xf32>
  } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<3x70x65xf32>
  %2 = fact.softmax %y dim 1 : tensor<40x5xf32>
  %3 = fact.reduce max %x dims [1] : (tensor<3x65x70xf32>) -> tensor<3x70xf32>
  return %0, %2, %3 : tensor<3x70x65xf32>, tensor<40x5xf32>, tensor<3x70xf32>
}
"""


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


# Columns that several blocks share in all passes, and what is reduced in two places: launches for
# stages and for results of all elements, or a last one for results of columns.
SHARED_COLUMNS = """
func.func @main(%x: tensor<3x1000xf32>, %w: tensor<1000xf32>, %y: tensor<2x77x52xf32>,
                %z: tensor<5x6x40xbf16>, %v: tensor<3x4x7x6xf32>)
    -> (tensor<3x1000xf32>, tensor<3x1000xf32>, tensor<2x52xf32>, tensor<2x77x52xf32>, tensor<6xbf16>,
        tensor<4x6xi64>, tensor<3x4x7x6xf32>) {
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
  return %0, %2, %3#0, %3#1, %7, %11, %12 : tensor<3x1000xf32>, tensor<3x1000xf32>, tensor<2x52xf32>,
    tensor<2x77x52xf32>, tensor<6xbf16>, tensor<4x6xi64>, tensor<3x4x7x6xf32>
}
"""


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


def kinds(report):
    return {kernel["schedule"].partition("<")[0] for kernel in report["kernels"]}


def test_reads(root, tmp_path):
    emulate(root, tmp_path, Reads().eval(), [torch.randn(3, 7, 37), torch.tensor([5, 0, 5])], "h200")


def emulate_text(root, folder, module):
    subprocess.run([toolchain.require_tool("fact-compile"), module, "--target=h200", "--until=bundle",
                    f"--bundle={folder / 'bundle'}"], check=True)
    process = tune(root, folder)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return json.loads((folder / "bundle" / "tuning.json").read_text())


def test_tiles(root, tmp_path):
    (tmp_path / "tiles.mlir").write_text(TILES)
    report = emulate_text(root, tmp_path, tmp_path / "tiles.mlir")
    assert {"cuda_tile", "cuda_row"} <= kinds(report), kinds(report)


class Masked(nn.Module):
    """Rows under masks: one that batches share, one of each element, one per row."""

    def forward(self, x, y, z, shared, own, kept):
        return (torch.softmax(x.masked_fill(shared, -1e4), -1), torch.where(own, y, 0).sum(-1),
                F.layer_norm(z, (24,)).masked_fill(~kept, 0))


def test_rows_are_masked_as_they_are_read(root, tmp_path):
    masks = [torch.rand(shape) > 0.5 for shape in [(5, 24), (2, 3, 5, 24), (2, 3, 5, 1)]]
    inputs = [*(torch.randn(2, 3, 5, 24).bfloat16() for _ in range(3)), *masks]
    report = emulate(root, tmp_path, Masked(), inputs, "h200")
    assert [kernel["schedule"].partition("<")[0] for kernel in report["kernels"]] == 3 * ["cuda_row"]


class Few(nn.Module):
    """Reductions of few elements, of a dimension in the middle and of two."""

    def forward(self, x):
        return x.amax(1) - x.amin(1) + x.mean(1), (x[:, :2, ::2].square()).sum((1, 2)).sqrt()


def test_few_elements_are_pointwise(root, tmp_path):
    report = emulate(root, tmp_path, Few(), [torch.randn(2, 3, 5, 7).bfloat16()], "h200")
    assert kinds(report) == {"cuda_pointwise"}


def test_channels_are_read_once(root, tmp_path):
    (tmp_path / "channels.mlir").write_text(CHANNELS)
    report = emulate_text(root, tmp_path, tmp_path / "channels.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)


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


@pytest.mark.full
def test_blocks_share_columns(root, tmp_path):
    (tmp_path / "shared.mlir").write_text(SHARED_COLUMNS)
    report = emulate_text(root, tmp_path, tmp_path / "shared.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)


@pytest.mark.full
@pytest.mark.parametrize("name", ["siblings", "tiles", "reads", "sorts"])
def test_regions(root, tmp_path, name):
    report = emulate_text(root, tmp_path, root / "test" / "gpu" / f"{name}.mlir")
    if name == "tiles":
        assert kinds(report) == {"cuda_tile", "cuda_row", "cuda_reduction"}, kinds(report)


class Ordered(nn.Module):
    """Order statistics of rows and of columns."""

    def forward(self, x):
        return (*x.topk(5), x.topk(3, 1, largest=False).values, x.kthvalue(7, 1).values,
                x.flatten(1).median(-1).values, *x.sort(1, descending=True))


@pytest.mark.full
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_order_statistics(root, tmp_path, dtype):
    report = emulate(root, tmp_path, Ordered(), [torch.randn(3, 23, 37).to(dtype)], "h200")
    assert {"cuda_select", "cuda_sort"} <= kinds(report), kinds(report)


# A kernel that takes two sizes, around one that takes none.
SIZED = """
struct Sized : Kernel {
  static constexpr bool takes_sizes = true;
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    return uint64_t(sizes(Size(0)));
  }
  static int bind(State &state, Sizes sizes, void *const *buffers,
                  void *workspace) {
    if (sizes(Size(1)) != -5)
      return cudaErrorInvalidValue;
    // All of it is the kernel's.
    memset(workspace, 0, sizes(Size(0)));
    return Kernel::bind(state, buffers, workspace);
  }
};
FACT_SIZED_KERNEL("""


def test_a_kernel_gets_its_sizes(root, tmp_path):
    write_bundle(tmp_path, nn.ReLU(), [torch.randn(33)], "a100")
    path = tmp_path / "bundle" / "bundle.json"
    bundle = json.loads(path.read_text())
    [kernel] = bundle["kernels"]
    kernel["candidates"] = kernel["candidates"][:1]
    [candidate] = kernel["candidates"]
    source = tmp_path / "bundle" / candidate["source"]
    source.write_text(source.read_text().replace("FACT_KERNEL(", SIZED).replace(
        ", Kernel)", ", Sized, 2)"))

    def run(sizes):
        candidate["sizes"] = sizes
        path.write_text(json.dumps(bundle))
        process = tune(root, tmp_path)
        return process.returncode, process.stdout + process.stderr

    assert run([4096, -5])[0] == 0
    # What was verified with other sizes is not known.
    code, text = run([4096, 5])
    assert code != 0 and "bind" in text, text
    code, text = run([4096])
    assert code != 0 and "takes 2 sizes; the bundle names 1" in text, text


# A kernel that writes a byte to a file each time it is bound.
COUNTED = """
struct Counted : Kernel {
  static int bind(State &state, void *const *buffers, void *workspace) {
    if (FILE *file = fopen(getenv("FACT_TEST_BINDS"), "a")) {
      fputc('b', file);
      fclose(file);
    }
    return Kernel::bind(state, buffers, workspace);
  }
};
FACT_KERNEL("""


def test_scores_in_the_thousands_of_tf32(root, tmp_path, monkeypatch):
    """Rounding to TF32 decides which of two keys a query takes; the program is right all the same."""
    class Sharp(nn.Module):
        def forward(self, x, y):
            keys = torch.cat([40 * y, 40.004 * y], -2)
            return torch.softmax(40 * x @ keys.transpose(-2, -1), -1) @ torch.cat([y, -y], -2)

    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    summary = emulate(root, tmp_path, Sharp(), (torch.randn(2, 3, 33, 16), torch.randn(2, 3, 40, 16)),
                      "a100")
    assert any("attention" in kernel["name"] for kernel in summary["kernels"]), summary["kernels"]
    assert not any(kernel.get("fallback") for kernel in summary["kernels"]), summary["kernels"]
    assert 'float32_matmul_precision = "high"' in (tmp_path / "module.mlir").read_text()


@pytest.mark.parametrize("head, width, schedule, attributes", [
    (20, 40, "tile = 128x64, stages = 1, splits = 1", "scale 0.2"),
    (136, 180, "tile = 64x32, stages = 2, splits = 2", "causal scale 0.1"),
    pytest.param(20, 40, "tile = 64x32, stages = 2, splits = 2", "causal scale 0.2", marks=pytest.mark.full),
    pytest.param(180, 130, "tile = 128x32, stages = 1, splits = 1", "scale 0.1", marks=pytest.mark.full),
    pytest.param(24, 180, "tile = 64x32, stages = 3, splits = 2", "causal scale 0.1", marks=pytest.mark.full),
], ids=["two warpgroups", "panels", "split keys", "panels of two warpgroups", "panels of values"])
def test_strict_attention_by_wgmma(root, tmp_path, head, width, schedule, attributes):
    """A rest of queries, keys and columns, heads that share keys, and stages that are filled again."""
    query, key, value, result = (f"tensor<{shape}xf32>" for shape in
                                 (f"1x2x70x{head}", f"1x1x150x{head}", f"1x1x150x{width}",
                                  f"1x2x70x{width}"))
    (tmp_path / "module.mlir").write_text(f"""
module @strict_attention {{
  func.func @main(%q: {query}, %k: {key}, %v: {value}) -> {result} {{
    %r = fact.fused "attention" ins(%q, %k, %v : {query}, {key}, {value}) {{
    ^bb0(%a0: {query}, %a1: {key}, %a2: {value}):
      %o = fact.attention %a0, %a1, %a2 {attributes} : ({query}, {key}, {value}) -> {result}
      fact.yield %o : {result}
    }} schedule(#fact.sm90_strict_attention<{schedule}>) : {result}
    return %r : {result}
  }}
}}
""")
    subprocess.run([toolchain.require_tool("fact-compile"), tmp_path / "module.mlir", "--target=h200",
                    "--until=bundle", f"--bundle={tmp_path / 'bundle'}"], check=True)
    process = tune(root, tmp_path)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]


@pytest.mark.parametrize("candidates", [0, pytest.param(1, marks=pytest.mark.full)])
def test_kernels_in_one_source_are_one_object(root, tmp_path, candidates):
    """What test/gpu/unite.py makes of a bundle, with one candidate of each kernel or with all."""
    class Rows(nn.Module):
        def forward(self, x, y, z, w):
            return torch.softmax(x, -1), y.exp().transpose(0, 1), z.sum(-1), (w * 2).relu()

    write_bundle(tmp_path, Rows(), [torch.randn(9, 33) for _ in range(4)], "a100")
    subprocess.run([sys.executable, root / "test" / "gpu" / "unite.py", "--candidates", str(candidates),
                    tmp_path / "bundle"], check=True)
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    chosen = [[each["source"] for each in kernel["candidates"] if not each.get("fallback")]
              for kernel in kernels]
    assert (max(map(len, chosen)) > 1) == (candidates > 0), chosen
    sources = sum(chosen, [])
    assert len(set(sources)) < len(sources) and all("united" in source for source in sources), sources
    process = tune(root, tmp_path)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    summary = json.loads((tmp_path / "bundle" / "tuning.json").read_text())
    assert not any(kernel.get("fallback") for kernel in summary["kernels"]), summary["kernels"]


def on_emulated_gpu(tensor):
    """A DLTensor of memory that the emulated GPU sees as its own."""
    slots = abi.TensorSlots(1)
    slots.fill([tensor])
    slots.pointers[0].contents.device_type = 2
    return slots


def test_addresses_that_come_back_are_bound_once(root, tmp_path, monkeypatch):
    binds = tmp_path / "binds"
    monkeypatch.setenv("FACT_TEST_BINDS", str(binds))
    write_bundle(tmp_path, nn.ReLU(), [torch.randn(4, 32)], "a100")
    for source in (tmp_path / "bundle").glob("kernels/**/*.cu"):
        text = source.read_text().replace("FACT_KERNEL(", COUNTED).replace(", Kernel)", ", Counted)")
        source.write_text("#include <cstdio>\n#include <cstdlib>\n" + text)
    process = tune(root, tmp_path)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    table = fact.load(next((tmp_path / "bundle").glob("*.so")))._table
    model = table.create((abi.NamedTensor * 1)(), 0)
    assert model, table.last_error()

    kept = []

    def bound(inputs, rounds):
        """How often the kernel is bound by calls with these inputs, with outputs in turn."""
        outputs = [torch.empty(4, 32) for _ in range(2)]
        # Memory that is free again would have addresses that are bound already.
        kept.append((inputs, outputs))
        before = binds.stat().st_size
        for index in range(rounds * len(inputs)):
            x, y = inputs[index % len(inputs)], outputs[index % 2]
            given, result = on_emulated_gpu(x), on_emulated_gpu(y)
            assert table.run(model, given.pointers, 1, result.pointers, 1, None) == 0, \
                table.last_error()
            assert torch.equal(y, x.relu())
        return binds.stat().st_size - before

    assert bound([torch.randn(4, 32)], 10) == 2
    assert bound([torch.randn(4, 32) for _ in range(3)], 10) == 6
    # More than are remembered, and one that is copied first.
    assert bound([torch.randn(4, 32) for _ in range(20)], 2) == 40
    assert bound([torch.randn(32, 4).t(), torch.randn(4, 64)[:, 32:]], 4) <= 4
    table.destroy(model)


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(1, 2, 8))

    def forward(self, x):
        y = torch.softmax(x * self.scale, 0)
        return torch.softmax(torch.softmax(y @ x.t(), 1) @ x, 0)


class EmulatedModel:
    """An instance of Chain's library; a call has a result of its own unless it is given one."""

    def __init__(self, path, module):
        self.table, self.module = fact.load(path)._table, module
        self.handle = self.table.create(self.weights(module.scale), 1)
        assert self.handle, self.table.last_error()

    def weights(self, scale):
        named, self.named = abi.named_tensors({"scale": scale.detach()})
        named[0].tensor.contents.device_type = 2
        return named

    def __call__(self, x, y=None):
        y = torch.empty(6, 8) if y is None else y
        y.fill_(torch.nan)
        given, result = on_emulated_gpu(x), on_emulated_gpu(y)
        assert self.table.run(self.handle, given.pointers, 1, result.pointers, 1, None) == 0, \
            self.table.last_error()
        with torch.no_grad():
            assert torch.allclose(y, self.module(x), atol=1e-6)
        return y

    def use(self, setting):
        assert self.table.use_graphs(self.handle, abi.GRAPH_SETTINGS.index(setting)) == 0

    def info(self):
        info = abi.GraphInfo()
        assert self.table.graph_info(self.handle, info) == 0
        return info


@pytest.fixture(scope="module")
def chain(root, tmp_path_factory):
    folder, module = tmp_path_factory.mktemp("chain"), Chain()
    report = emulate(root, folder, module, [torch.randn(6, 8)], "a100")
    path = next((folder / "bundle").glob("*.so"))
    assert len(fact.load(path).description["steps"]) >= 3, report
    models = []

    def make():
        models.append(EmulatedModel(path, module))
        return models[-1]

    yield make
    for model in models:
        model.table.destroy(model.handle)


# The second, where parameters of kernels cannot be read: the whole graph is updated.
@pytest.mark.parametrize("fails", ["", "cudaGraphKernelNodeGetParams"])
def test_graphs_follow_addresses_and_weights(chain, monkeypatch, fails):
    monkeypatch.setenv("FACT_EMULATION_FAILS", fails)
    model = chain()
    model.use("on")
    inputs = [torch.randn(6, 8) for _ in range(20)]
    keep = [model(x) for x in inputs * 2]
    info = model.info()
    assert (info.recorded, info.updated, info.launched) == (8, 31, 1), keep[0]
    assert info.reason == b"", info.detail
    # Strides that need a copy, and memory that is not aligned.
    model(torch.randn(8, 6).t())
    model(torch.randn(49)[1:].view(6, 8))
    original, other = model.module.scale.data, torch.linspace(3, 4, 8)
    assert model.table.set_weights(model.handle, model.weights(other), 1) == 0
    model.module.scale.data = other
    keep += [model(x) for x in inputs]
    model.module.scale.data = original
    assert (model.info().recorded, model.info().launched, model.info().reason) == (8, 1, b"")


def test_graphs_are_automatic(chain):
    model, x = chain(), torch.randn(6, 8)
    assert abi.GRAPH_SETTINGS[model.info().setting] == "automatic"
    # As `y = model(x)` in a loop has them.
    results = [torch.empty(6, 8) for _ in range(2)]
    for index in range(20):
        model(x, results[index % 2])
    info = model.info()
    assert (info.recorded, info.updated, info.launched, info.reason) == (2, 0, 5, b"")
    keep = [model(torch.randn(6, 8), y) for y in results]
    assert (model.info().replayed, model.info().reason) == (15, b"moving"), keep


@pytest.mark.parametrize("fails, reason", [
    ("cudaStreamBeginCapture", b"capture"), ("cudaStreamEndCapture", b"capture"),
    ("cudaGraphInstantiateWithFlags", b"instantiate"), ("cudaGraphLaunch", b"launch"),
    ("cudaGraphKernelNodeGetParams,cudaGraphExecUpdate", b"update")])
def test_graphs_that_fail_fall_back_to_launches(chain, monkeypatch, fails, reason):
    model = chain()
    model.use("on")
    monkeypatch.setenv("FACT_EMULATION_FAILS", fails)
    keep = [model(torch.randn(6, 8)) for _ in range(15)]
    info = model.info()
    assert info.reason == reason and fails.split(",")[-1].removesuffix("WithFlags") in \
        info.detail.decode(), (info.reason, info.detail)
    monkeypatch.delenv("FACT_EMULATION_FAILS")
    model.use("on")
    keep += [model(torch.randn(6, 8)) for _ in range(15)]
    assert model.info().reason == b""
