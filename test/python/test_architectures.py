# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One small module for every architecture of GPUs: from PyTorch to a bundle whose sources nvcc
compiles. Nothing runs here."""

import json
import os

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cuda_compiler import compile_source
from fact import toolchain
from fact.compiler import bundle

REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))
pytestmark = pytest.mark.skipif(
    not REQUIRED and None in (toolchain.find_tool("fact-compile"), toolchain.find_nvcc(),
                              toolchain.find_cutlass(), toolchain.find_cublas()),
    reason="fact-compile, nvcc, CUTLASS or the headers of cuBLAS are missing: run `make setup`")

# sm_90a: test_cuda.py.
ARCHITECTURES = {"a100": "sm_80", "a10": "sm_86", "rtx4090": "sm_89", "b200": "sm_100a",
                 "rtx5090": "sm_120"}


class Small(nn.Module):
    """A product with an epilogue, attention, and a softmax."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)

    def forward(self, x):
        q, k, v = F.gelu(self.qkv(x)).view(2, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return F.softmax(y.transpose(1, 2).reshape(2, 32, 64), dim=-1)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_small_module_compiles(machine, tmp_path):
    pytest.importorskip("torch_mlir")
    module = Small().bfloat16().eval()
    folder = bundle(module, (torch.randn(2, 32, 64, dtype=torch.bfloat16),), target=machine,
                    output=tmp_path / "bundle", candidates=1)
    description = json.loads((folder / "bundle.json").read_text())
    number = ARCHITECTURES[machine].removeprefix("sm_")
    assert description["target"] == {"arch": f"sm_{number}", "kind": "cuda", "machine": machine}
    assert f"-gencode=arch=compute_{number},code=sm_{number}" in description["commands"]["compile"]
    rules = [kernel["rule"] for kernel in description["kernels"]]
    assert "gemm_epilogue" in rules and "generic" not in rules, rules

    # CUTLASS takes a minute: test_cuda_headers.py compiles one of its kernels.
    candidates = [kernel["candidates"][0]["source"] for kernel in description["kernels"]]
    fast = [name for name in candidates if "Sm100Gemm.cuh" not in (folder / name).read_text()]
    assert len(fast) == len(candidates) - (machine == "b200")
    compile_together(folder, "candidates", fast)
    # References and the runtime are the same for all: the oldest architecture has the least.
    if machine == "a100":
        references = [kernel["reference"]["source"] for kernel in description["kernels"]]
        compile_together(folder, "others", [*references, "runtime/CudaDevice.cu"])


def compile_together(folder, name, sources):
    """Compiles one source that includes others, so that headers are read once."""
    (folder / f"{name}.cu").write_text("".join(f'#include "{source}"\n' for source in sources))
    process = compile_source(folder, {"source": f"{name}.cu"}, folder / f"{name}.o")
    assert process.returncode == 0, process.stdout[-4000:]
