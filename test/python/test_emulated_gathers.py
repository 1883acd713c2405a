# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA reductions that read their operands through gathers, on this machine's CPU by
test/emulation. Sizes are odd, so that vectors do not fit, and even, so that they do."""

import json

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fact import toolchain
from test_emulation import emulate

pytestmark = [
    pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built"),
    pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc"),
    pytest.mark.skipif(toolchain.find_cutlass() is None, reason="CUTLASS is not installed"),
]


class Gathers(nn.Module):
    """A class per row and per pixel, rows of a table with a norm or a mean, a value per row in a
    sum over all rows."""

    def __init__(self, width):
        super().__init__()
        self.words, self.places = nn.Embedding(19, width), nn.Embedding(7, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, logits, classes, images, pixels):
        embedded = self.words(ids)
        chosen = logits.gather(1, classes.unsqueeze(1))
        places = torch.arange(logits.shape[1])
        margins = torch.where(places != classes.unsqueeze(1), (0.3 - chosen + logits).clamp(min=0), 0)
        return (self.norm(embedded + self.places.weight), embedded.mean(1),
                F.cross_entropy(logits, classes, reduction="none", ignore_index=2),
                F.cross_entropy(images, pixels, reduction="none"), margins.mean())


@pytest.mark.parametrize("width", [16, pytest.param(13, marks=pytest.mark.full)])
@pytest.mark.parametrize("dtype", [
    pytest.param(torch.float32, id="fp32"), pytest.param(torch.bfloat16, id="bf16"),
    pytest.param(torch.float16, id="fp16", marks=pytest.mark.full)])
def test_reductions_read_what_they_gather(root, tmp_path, dtype, width):
    torch.manual_seed(0)
    inputs = (torch.randint(0, 19, (3, 7)), torch.randn(11, width).to(dtype),
              torch.randint(0, width, (11,)), torch.randn(2, 5, 3, 4).to(dtype),
              torch.randint(0, 5, (2, 3, 4)))
    report = emulate(root, tmp_path, Gathers(width).to(dtype).eval(), inputs, "a100")
    assert report["kernels"]
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    gathering = {kernel["rule"] for kernel in kernels if "gather" in kernel["ops"]}
    assert gathering == {"reduction"}, kernels
