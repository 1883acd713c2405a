# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA reductions that read their operands through gathers, on this machine's CPU by
test/emulation. Sizes are odd, so that vectors do not fit, and even, so that they do."""

import json

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from emulated import NEEDED, emulate, emulate_text, kinds

pytestmark = NEEDED


class Chosen(nn.Module):
    """A class per row and per pixel, and a value per row in a sum over all rows."""

    def forward(self, logits, classes, images, pixels):
        chosen = logits.gather(1, classes.unsqueeze(1))
        places = torch.arange(logits.shape[1])
        margins = torch.where(places != classes.unsqueeze(1), (0.3 - chosen + logits).clamp(min=0), 0)
        return (F.cross_entropy(logits, classes, reduction="none", ignore_index=2),
                F.cross_entropy(images, pixels, reduction="none"), margins.mean())


TYPES = [pytest.param(torch.float32, id="fp32"), pytest.param(torch.bfloat16, id="bf16"),
         pytest.param(torch.float16, id="fp16", marks=pytest.mark.full)]


# Rows of a table with positions and a norm, held by one lane or by several, and the mean of bags.
TABLE = """
module @table {
  func.func @main(%table: tensor<19xWIDTHxTYPE>, %ids: tensor<3x7xi64>, %places: tensor<7xWIDTHxTYPE>)
      -> (tensor<3x7xWIDTHxTYPE>, tensor<3xWIDTHxTYPE>) {
    %0 = fact.fused "reduction" ins(%table, %ids, %places
        : tensor<19xWIDTHxTYPE>, tensor<3x7xi64>, tensor<7xWIDTHxTYPE>) {
    ^bb0(%t: tensor<19xWIDTHxTYPE>, %i: tensor<3x7xi64>, %p: tensor<7xWIDTHxTYPE>):
      %1 = fact.gather %t, %i dim 0 : (tensor<19xWIDTHxTYPE>, tensor<3x7xi64>) -> tensor<3x7xWIDTHxTYPE>
      %2 = fact.add %1, %p : (tensor<3x7xWIDTHxTYPE>, tensor<7xWIDTHxTYPE>) -> tensor<3x7xWIDTHxTYPE>
      %3 = fact.norm layer %2 eps 1.0e-05 : (tensor<3x7xWIDTHxTYPE>) -> tensor<3x7xWIDTHxTYPE>
      fact.yield %3 : tensor<3x7xWIDTHxTYPE>
    } schedule(#fact.cuda_reduction<columns = COLUMNS, lanes = LANES, splits = 1, operands = held>)
      : tensor<3x7xWIDTHxTYPE>
    %4 = fact.fused "reduction" ins(%table, %ids : tensor<19xWIDTHxTYPE>, tensor<3x7xi64>) {
    ^bb0(%t: tensor<19xWIDTHxTYPE>, %i: tensor<3x7xi64>):
      %5 = fact.gather %t, %i dim 0 : (tensor<19xWIDTHxTYPE>, tensor<3x7xi64>) -> tensor<3x7xWIDTHxTYPE>
      %6 = fact.reduce mean %5 dims [1] : (tensor<3x7xWIDTHxTYPE>) -> tensor<3xWIDTHxTYPE>
      fact.yield %6 : tensor<3xWIDTHxTYPE>
    } schedule(#fact.cuda_reduction<columns = 16, lanes = 2, splits = 1, operands = read>)
      : tensor<3xWIDTHxTYPE>
    return %0, %4 : tensor<3x7xWIDTHxTYPE>, tensor<3xWIDTHxTYPE>
  }
}
"""


@pytest.mark.parametrize("element, width, columns, lanes", [
    ("bf16", 24, 32, 1),
    pytest.param("f32", 24, 4, 8, marks=pytest.mark.full),
    pytest.param("f16", 21, 2, 32, marks=pytest.mark.full),
    pytest.param("f32", 70, 1, 64, marks=pytest.mark.full)])
def test_rows_of_a_table(root, tmp_path, element, width, columns, lanes):
    text = TABLE.replace("TYPE", element).replace("WIDTH", str(width))
    text = text.replace("COLUMNS", str(columns)).replace("LANES", str(lanes))
    (tmp_path / "table.mlir").write_text(text)
    report = emulate_text(root, tmp_path, tmp_path / "table.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)


@pytest.mark.parametrize("classes", [16, pytest.param(13, marks=pytest.mark.full)])
@pytest.mark.parametrize("dtype", TYPES)
def test_an_element_of_each_row(root, tmp_path, dtype, classes):
    torch.manual_seed(0)
    emulate(root, tmp_path, Chosen().eval(), (
        torch.randn(11, classes).to(dtype), torch.randint(0, classes, (11,)),
        torch.randn(2, 5, 3, 4).to(dtype), torch.randint(0, 5, (2, 3, 4))), "a100")
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    assert [kernel["rule"] for kernel in kernels if "gather" in kernel["ops"]] == ["reduction"] * 3


# A value per row in a sum that blocks share, and a row of a table by the largest element of each
# row, which a reduction finds first.
SHARED = """
module @shared {
  func.func @main(%x: tensor<37x52xf32>, %at: tensor<37x1xi64>, %names: tensor<52xf32>)
      -> (tensor<f32>, tensor<37xf32>) {
    %0 = fact.fused "reduction" ins(%x, %at : tensor<37x52xf32>, tensor<37x1xi64>) {
    ^bb0(%a: tensor<37x52xf32>, %i: tensor<37x1xi64>):
      %1 = fact.reshape %a : (tensor<37x52xf32>) -> tensor<1924xf32>
      %2 = fact.gather %1, %i dim 0 : (tensor<1924xf32>, tensor<37x1xi64>) -> tensor<37x1xf32>
      %3 = fact.mul %2, %a : (tensor<37x1xf32>, tensor<37x52xf32>) -> tensor<37x52xf32>
      %4 = fact.reduce sum %3 dims [0, 1] : (tensor<37x52xf32>) -> tensor<f32>
      fact.yield %4 : tensor<f32>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 32, splits = 3, operands = read>) : tensor<f32>
    %5 = fact.fused "reduction" ins(%x, %names : tensor<37x52xf32>, tensor<52xf32>) {
    ^bb0(%a: tensor<37x52xf32>, %n: tensor<52xf32>):
      %6 = fact.reduce argmax %a dims [1] : (tensor<37x52xf32>) -> tensor<37xi64>
      %7 = fact.gather %n, %6 dim 0 : (tensor<52xf32>, tensor<37xi64>) -> tensor<37xf32>
      fact.yield %7 : tensor<37xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = read>) : tensor<37xf32>
    return %0, %5 : tensor<f32>, tensor<37xf32>
  }
}
"""


def test_blocks_share_what_they_gather(root, tmp_path):
    (tmp_path / "shared.mlir").write_text(SHARED)
    report = emulate_text(root, tmp_path, tmp_path / "shared.mlir")
    assert kinds(report) == {"cuda_reduction"}, kinds(report)
