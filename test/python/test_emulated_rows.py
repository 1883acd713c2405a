# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA rows and scatters on this machine's CPU by test/emulation: both sorts of a scatter, quotients
by what a row shares, rows that results read again after a barrier."""

import pytest
import torch
from torch import nn

from fact import toolchain
from test_emulation import emulate, kinds

pytestmark = [
    pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built"),
    pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc"),
    pytest.mark.skipif(toolchain.find_cutlass() is None, reason="CUTLASS is not installed"),
]


class Sums(nn.Module):
    """Updates of rows, a third of them of the first two."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, x, index, updates):
        crowded = torch.where(index % 3 == 0, index % 2, index)
        return x.index_add(0, crowded, updates)


@pytest.mark.parametrize("rows, updates, width", [
    pytest.param(300, 700, 12, id="one-launch"),
    pytest.param(2, 3000, 4, id="crowded", marks=pytest.mark.full),
    pytest.param(33000, 150, 1, id="passes", marks=pytest.mark.full)])
def test_sorted_scatters(root, tmp_path, rows, updates, width):
    """Tables of more than 32,767 rows are sorted in passes."""
    torch.manual_seed(0)
    inputs = [torch.randn(rows, width), torch.randint(0, rows, (updates,)),
              torch.randn(updates, width)]
    report = emulate(root, tmp_path, Sums(rows).eval(), inputs, "a100")
    assert any("method = sort" in kernel["schedule"] for kernel in report["kernels"])


class Quotients(nn.Module):
    """Rows of a warp, and of several, which meet at a barrier."""

    def forward(self, x, y):
        return (x / x.abs().sum(-1, keepdim=True).clamp(min=1e-12), y / y.abs().mean(-1, keepdim=True))


@pytest.mark.parametrize("dtype", [pytest.param(torch.float32, id="fp32"),
                                   pytest.param(torch.bfloat16, id="bf16", marks=pytest.mark.full)])
def test_quotients_by_what_a_row_shares(root, tmp_path, dtype):
    torch.manual_seed(0)
    inputs = [torch.randn(5, 44).to(dtype), torch.randn(3, 2052).to(dtype)]
    report = emulate(root, tmp_path, Quotients().eval(), inputs, "a100")
    assert kinds(report) == {"cuda_row"}
    texts = [path.read_text() for path in (tmp_path / "bundle" / "kernels").glob("*/0.cu")]
    assert any("divide_by_shared" in text for text in texts) == (dtype == torch.float32)
