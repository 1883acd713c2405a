# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module's CUDA kernels, run on this machine's CPU by test/emulation.

fact-tune verifies each against its reference in the linked library. Sizes are small and odd:
whole tiles, vectors and warps are the exception.
"""

import json
import os
import subprocess

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fact import toolchain
from fact.export import export

pytestmark = [
    pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built"),
    pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc"),
    pytest.mark.skipif(toolchain.find_cutlass() is None, reason="CUTLASS is not installed"),
]


class Odd(nn.Module):
    """Products of odd sizes with epilogues, attention, rows, a scan, copies."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(21)
        self.heads = nn.Linear(21, 3 * 3 * 7)
        self.out = nn.Linear(21, 21)
        self.up, self.down = nn.Linear(21, 70), nn.Linear(70, 21)

    def forward(self, x):
        q, k, v = self.heads(self.norm(x)).unflatten(-1, (3, 3, 7)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = x + self.out(mixed.transpose(1, 2).flatten(2))
        z = y + self.down(F.gelu(self.up(y)))
        return (z, torch.softmax(z, 1), z.amax(-1).cumsum(0), torch.cat([x, z], 1),
                (x @ z.transpose(1, 2)).relu())


def emulate(root, folder, module, inputs, target):
    """The summary of fact-tune's run."""
    (folder / "module.mlir").write_text(export(module, inputs, name="odd").text)
    subprocess.run([toolchain.require_tool("fact-compile"), folder / "module.mlir",
                    f"--target={target}", "--until=bundle", f"--bundle={folder / 'bundle'}"],
                   check=True)
    environment = toolchain.environment()
    environment["PATH"] = f"{root / 'test' / 'emulation'}{os.pathsep}{environment['PATH']}"
    # Apart from the objects of the real nvcc.
    environment["FACT_CACHE_DIR"] = str(root / "build" / "emulated")
    process = subprocess.run(
        [toolchain.require_tool("fact-tune"), folder / "bundle", "--untuned", "--candidates", "1"],
        env=environment, text=True, capture_output=True, timeout=1200)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return json.loads((folder / "bundle" / "tuning.json").read_text())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_a_module_of_odd_sizes(root, tmp_path, dtype):
    torch.manual_seed(0)
    report = emulate(root, tmp_path, Odd().to(dtype).eval(), [torch.randn(2, 11, 21).to(dtype)],
                     "a100")
    kinds = {kernel["schedule"].partition("<")[0] for kernel in report["kernels"]}
    assert {"sm80_gemm", "sm80_attention"} <= kinds, kinds


@pytest.fixture(scope="module")
def selftest(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("selftest")
    environment = toolchain.environment() | {"FACT_CACHE_DIR": str(root / "build" / "emulated")}
    nvcc = root / "test" / "emulation" / "nvcc"
    for words in (["-c", root / "test" / "emulation" / "selftest.cu", "-o", folder / "selftest.o"],
                  [folder / "selftest.o", "-o", folder / "selftest"]):
        subprocess.run([nvcc, *words], env=environment, check=True)
    return lambda name: subprocess.run([folder / "selftest", name], text=True, capture_output=True,
                                       timeout=60)


@pytest.mark.parametrize("name, says", [
    ("reverse", "right"), ("reverse_async", "right"), ("product", "right"),
    ("no barrier", "wrong"), ("no wait", "wrong"),
    ("absent", "reads a lane that does not take part"),
    ("stuck", "wait for others that do not come"), ("misaligned", None)])
def test_mistakes_show(selftest, name, says):
    process = selftest(name)
    assert (process.returncode == 0) == (says in ("right", "wrong")), process
    assert says is None or says in process.stdout + process.stderr, process
