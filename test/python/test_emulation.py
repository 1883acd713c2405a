# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module's CUDA kernels, run on this machine's CPU by test/emulation.

Sizes are small and odd: whole tiles, vectors and warps are the exception. Files test_emulated_*.py
have the kernels of one kind each.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from emulated import NEEDED, emulate, emulate_text, kinds, tune, write_bundle

pytestmark = NEEDED


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


@pytest.mark.parametrize("dtype, target, math", [
    pytest.param(torch.float32, "a100", "mma", id="fp32", marks=pytest.mark.full),
    pytest.param(torch.bfloat16, "a100", "mma", id="bf16"),
    pytest.param(torch.float32, "rtx3090", "simt", id="simt", marks=pytest.mark.full)])
def test_a_module_of_odd_sizes(root, tmp_path, dtype, target, math):
    torch.manual_seed(0)
    report = emulate(root, tmp_path, Odd().to(dtype).eval(), [torch.randn(2, 11, 21).to(dtype)],
                     target)
    schedules = [kernel["schedule"] for kernel in report["kernels"]]
    assert {"sm80_gemm", "sm80_attention"} <= kinds(report), kinds(report)
    assert any(f"math = {math}" in schedule for schedule in schedules), schedules


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


@pytest.mark.parametrize("candidates", [0, pytest.param(2, marks=pytest.mark.full)])
def test_kernels_in_one_source_are_one_object(root, tmp_path, candidates):
    """What test/gpu/unite.py makes of a bundle, with one object of each kernel or with two."""
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


class Beside(nn.Module):
    """Products, an input and a pool beside each other, and what reads them; results of one kernel."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(24, 12), nn.Linear(24, 36)
        self.out = nn.Linear(24 + 12 + 36 + 12, 9)

    def forward(self, x):
        parts = [self.left(x).relu(), self.right(torch.tanh(x)).sigmoid(), x, F.max_pool1d(x, 2)]
        y = torch.sin(x)
        return self.out(torch.cat(parts, -1)), torch.stack([y, y.exp(), x * y], 1)


@pytest.mark.parametrize("dtype", [
    pytest.param(torch.float32, id="fp32"),
    pytest.param(torch.bfloat16, id="bf16", marks=pytest.mark.full)])
def test_a_concatenation_is_written_in_place(root, tmp_path, dtype):
    torch.manual_seed(0)
    emulate(root, tmp_path, Beside().to(dtype).eval(), [torch.randn(2, 55, 24).to(dtype)], "a100")
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    size = torch.zeros((), dtype=dtype).element_size()
    pitch = 84 * size
    parts = [(kernel["name"], result["part"]) for kernel in kernels for result in kernel["results"]
             if result.get("part", {}).get("pitch") == pitch]
    assert len(parts) == 4 and len({name for name, _ in parts}) == 4, kernels
    assert sum(part["end"] - part["begin"] for _, part in parts) == pitch
    # One kernel writes all of the stack.
    shapes = [result["shape"] for kernel in kernels for result in kernel["results"]]
    assert shapes.count([2, 3, 55, 24]) == 1, kernels
    assert all(kernel["rule"] != "concat" for kernel in kernels)

    # No two steps write the same bytes.
    path = tmp_path / "bundle" / "bundle.json"
    bundle = json.loads(path.read_text())
    part = next(result["part"] for kernel in bundle["kernels"] for result in kernel["results"]
                if result.get("part", {}).get("begin") == 0)
    part["end"] += size
    path.write_text(json.dumps(bundle))
    process = tune(root, tmp_path)
    assert process.returncode != 0 and "which an earlier step writes too" in process.stderr, process.stderr


@pytest.mark.full
@pytest.mark.parametrize("name", ["siblings", "tiles", "reads", "sorts"])
def test_regions(root, tmp_path, name):
    report = emulate_text(root, tmp_path, root / "test" / "gpu" / f"{name}.mlir")
    if name == "tiles":
        assert kinds(report) == {"cuda_tile", "cuda_row", "cuda_reduction"}, kinds(report)
