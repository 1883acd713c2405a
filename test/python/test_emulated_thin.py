# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of many rows with few filters on an emulated GPU: rows of memory, and windows of images with
and without zeros around them, whose channels lie first or last."""

import pytest
import torch
from torch import nn

from emulated import NEEDED, emulate, kinds

pytestmark = NEEDED


class Convolved(nn.Module):
    def __init__(self, dims, channels, filters, *sizes, **options):
        super().__init__()
        self.conv = getattr(nn, f"Conv{dims}d")(channels, filters, *sizes, **options)

    def forward(self, x):
        return torch.tanh(self.conv(x))


class LastChannels(Convolved):
    def forward(self, x):
        return super().forward(x.movedim(-1, 1)).movedim(1, -1)


class Rows(nn.Module):
    """A layer and what is added to its result."""

    def __init__(self, terms, filters):
        super().__init__()
        self.linear = nn.Linear(terms, filters)

    def forward(self, x, y):
        return torch.relu(self.linear(x)) + y


f32, bf16, f16 = torch.float32, torch.bfloat16, torch.float16
CASES = {
    # Neighboring rows are neighbors in memory: each thread reads its own.
    "padded": (Convolved(2, 2, 3, 3, padding=1), [(3, 2, 109, 107)], f32),
    "strided": (Convolved(2, 1, 6, 5, stride=2), [(3, 1, 213, 217)], f32),
    "dilated_bf16": (Convolved(2, 3, 1, (3, 5), padding=(0, 4), dilation=(1, 2)), [(3, 3, 109, 107)], bf16),
    "signal_f16": (Convolved(1, 2, 4, 9, padding=4), [(3, 2, 11003)], f16),
    # Others pass through shared memory, in vectors if they can.
    "last": (LastChannels(2, 3, 3, 3, padding=1), [(3, 109, 107, 3)], f32),
    "last_bf16": (LastChannels(2, 4, 5, 3, padding=2, dilation=2), [(3, 109, 107, 4)], bf16),
    "last_odd": (LastChannels(2, 3, 8, 5), [(3, 109, 113, 3)], f32),
    "volume": (LastChannels(3, 3, 4, 3, padding=(1, 0, 1)), [(2, 27, 29, 25, 3)], f32),
    "filters_of_a_volume": (Convolved(3, 3, 24, 3), [(2, 3, 29, 31, 27)], f32),
    # Whole rows that follow each other, and others.
    "rows": (Rows(25, 8), [(3, 11003, 25), (8,)], f32),
    "many_filters": (LastChannels(1, 2, 12, 3, stride=2), [(3, 22011, 2)], f32),
    "even_rows_bf16": (Rows(24, 5), [(2, 16411, 24), (5,)], bf16),
    "long_rows": (Rows(90, 6), [(32771, 90), (6,)], bf16),
}
SHORT = ("padded", "rows")


@pytest.mark.parametrize("name", [
    name if name in SHORT else pytest.param(name, marks=pytest.mark.full) for name in CASES])
def test_few_filters(root, tmp_path, name):
    torch.manual_seed(0)
    module, shapes, dtype = CASES[name]
    report = emulate(root, tmp_path, module.to(dtype).eval(), [torch.randn(s).to(dtype) for s in shapes],
                     "a100")
    assert "cuda_thin_rows" in kinds(report), kinds(report)
