# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA attention on this machine's CPU by test/emulation: sharp scores in TF32, strict fp32."""

import pytest
import torch
from torch import nn

from emulated import NEEDED, emulate, emulate_text

pytestmark = NEEDED


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
    emulate_text(root, tmp_path, tmp_path / "module.mlir")
