# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear layer and a chain of pointwise ops that is in nobody's catalog."""

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, ROWS = 4096, 4096
SMALL = {"width": 64, "rows": 48}


class Model(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x, residual):
        scaled = F.mish(self.linear(x)) * self.scale
        bounded = torch.clamp(scaled, -2.0, 2.0)
        return torch.tanh(bounded + residual) * 0.5


def get_init_inputs():
    return []


def get_inputs(rows=ROWS, width=WIDTH):
    return [torch.randn(rows, width), torch.randn(rows, width)]
