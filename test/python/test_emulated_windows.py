# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions as products of windows by mma.sync on an emulated GPU: images with and without zeros around
them, whose channels lie first or last."""

import json

import pytest
import torch
from torch import nn

from emulated import NEEDED, emulate, kinds

pytestmark = NEEDED


class Convolved(nn.Module):
    def __init__(self, dims, channels, filters, *sizes, transposed="", **options):
        super().__init__()
        self.conv = getattr(nn, f"Conv{transposed}{dims}d")(channels, filters, *sizes, **options)

    def forward(self, x):
        return torch.relu(self.conv(x))


class LastChannels(Convolved):
    def forward(self, x):
        return super().forward(x.movedim(-1, 1)).movedim(1, -1)


f32, bf16, f16 = torch.float32, torch.bfloat16, torch.float16
CASES = {
    # Vectors of 16, 8 and 4 bytes of channels; channels first are stored first.
    "padded_bf16": (Convolved(2, 16, 40, 3, padding=1, stride=2), [2, 16, 15, 13], bf16),
    "dilated_f16": (LastChannels(2, 12, 40, (3, 2), padding=(0, 3), dilation=(1, 2)), [2, 11, 9, 12], f16),
    "odd_f32": (LastChannels(2, 9, 35, 3, padding=1), [2, 9, 11, 9], f32),
    "signal": (Convolved(1, 24, 33, 5, dilation=2), [3, 24, 37], bf16),
    "volume": (Convolved(3, 8, 36, 3, padding=(1, 0, 1), stride=(1, 2, 1)), [1, 8, 5, 7, 6], f16),
    "groups": (LastChannels(2, 32, 80, 3, padding=1, groups=2), [2, 9, 7, 32], bf16),
    "transposed": (Convolved(2, 16, 40, 4, transposed="Transpose", padding=1, stride=2), [2, 16, 7, 6], bf16),
    "two_filters": (LastChannels(2, 16, 2, (2, 3)), [16, 4, 6, 16], f16),
    # Elements one by one.
    "few_bf16": (Convolved(2, 3, 40, 3, padding=1), [2, 3, 11, 12], bf16),
    "few_f32": (Convolved(2, 2, 34, (2, 5), padding=(1, 2)), [2, 2, 11, 9], f32),
}
SHORT = ("padded_bf16", "few_f32")


@pytest.mark.parametrize("name", [
    name if name in SHORT else pytest.param(name, marks=pytest.mark.full) for name in CASES])
def test_windows(root, tmp_path, name):
    torch.manual_seed(0)
    module, shape, dtype = CASES[name]
    report = emulate(root, tmp_path, module.to(dtype).eval(), [torch.randn(shape).to(dtype)], "a100")
    # Where a kernel is wrong, the fallback takes its place.
    assert "sm80_gemm" in kinds(report) and "cuda_generic" not in kinds(report), kinds(report)
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    products = [kernel for kernel in kernels if "matmul" in kernel["problem"]["ops"]]
    assert products and all("matmul.st" in kernel["problem"]["ops"] for kernel in products), products
    sources = "".join(path.read_text() for path in (tmp_path / "bundle" / "kernels").glob("*/*.cu"))
    assert "WindowRows<" in sources
