# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA rows and scatters on this machine's CPU by test/emulation: both sorts of a scatter, quotients
by what a row shares, rows that results read again after a barrier."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from emulated import NEEDED, emulate, emulate_text, kinds

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


# Blocks of short odd rows move through shared memory: the last ones have fewer rows.
SHORT_ROWS = """
func.func @main(%x: tensor<1001x10xf32>, %y: tensor<333x49xbf16>, %m: tensor<333x49xbf16>,
                %z: tensor<257x7xbf16>, %w: tensor<77xf32>, %v: tensor<128x77xf32>)
    -> (tensor<1001x10xf32>, tensor<333x49xbf16>, tensor<257xbf16>, tensor<128x77xf32>) {
  %0 = fact.fused "rowwise" ins(%x : tensor<1001x10xf32>) {
  ^bb0(%a: tensor<1001x10xf32>):
    %1 = fact.softmax %a dim 1 : tensor<1001x10xf32>
    fact.yield %1 : tensor<1001x10xf32>
  } schedule(#fact.cuda_row<threads = 2, rows = 128>) : tensor<1001x10xf32>
  %2 = fact.fused "rowwise" ins(%y, %m : tensor<333x49xbf16>, tensor<333x49xbf16>) {
  ^bb0(%a: tensor<333x49xbf16>, %b: tensor<333x49xbf16>):
    %1 = fact.add %a, %b : (tensor<333x49xbf16>, tensor<333x49xbf16>) -> tensor<333x49xbf16>
    %3 = fact.softmax %1 dim 1 : tensor<333x49xbf16>
    %4 = fact.mul %3, %b : (tensor<333x49xbf16>, tensor<333x49xbf16>) -> tensor<333x49xbf16>
    fact.yield %4 : tensor<333x49xbf16>
  } schedule(#fact.cuda_row<threads = 4, rows = 32>) : tensor<333x49xbf16>
  %5 = fact.fused "rowwise" ins(%z : tensor<257x7xbf16>) {
  ^bb0(%a: tensor<257x7xbf16>):
    %1 = fact.reduce mean %a dims [1] : (tensor<257x7xbf16>) -> tensor<257xbf16>
    fact.yield %1 : tensor<257xbf16>
  } schedule(#fact.cuda_row<threads = 1, rows = 64>) : tensor<257xbf16>
  %6 = fact.fused "rowwise" ins(%v, %w : tensor<128x77xf32>, tensor<77xf32>) {
  ^bb0(%a: tensor<128x77xf32>, %b: tensor<77xf32>):
    %1 = fact.norm layer %a weight %b eps 1.0e-5
      : (tensor<128x77xf32>, tensor<77xf32>) -> tensor<128x77xf32>
    fact.yield %1 : tensor<128x77xf32>
  } schedule(#fact.cuda_row<threads = 8, rows = 16>) : tensor<128x77xf32>
  return %0, %2, %5, %6 : tensor<1001x10xf32>, tensor<333x49xbf16>, tensor<257xbf16>,
    tensor<128x77xf32>
}
"""


@pytest.mark.full
def test_short_rows_move_together(root, tmp_path):
    (tmp_path / "short.mlir").write_text(SHORT_ROWS)
    report = emulate_text(root, tmp_path, tmp_path / "short.mlir")
    assert kinds(report) == {"cuda_row"}, kinds(report)
    texts = [path.read_text() for path in (tmp_path / "bundle" / "kernels").glob("*/0.cu")]
    assert len(texts) == 4 and all(", true>" in text for text in texts)
