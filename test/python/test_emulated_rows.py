# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA rows and scatters on this machine's CPU by test/emulation: both sorts of a scatter, quotients
by what a row shares, rows that results read again after a barrier."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from emulated import NEEDED, emulate, kinds

pytestmark = NEEDED


class Sums(nn.Module):
    """Updates of rows, a third of them of the first two; the same of one row for all."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, x, index, updates):
        crowded = torch.where(index % 3 == 0, index % 2, index)
        return x.index_add(0, crowded, updates), x[1:2].expand(self.rows, -1).index_add(0, crowded, updates)


@pytest.mark.parametrize("rows, updates, width", [
    pytest.param(300, 700, 12, id="one-launch"),
    pytest.param(2, 3000, 4, id="crowded", marks=pytest.mark.full),
    pytest.param(33000, 2500, 1, id="passes", marks=pytest.mark.full)])
def test_sorted_scatters(root, tmp_path, rows, updates, width):
    """Tables of more than 32,767 rows are sorted in passes, by several blocks."""
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
