# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small matrix product with a very long sum in each element."""

import torch
from torch import nn

SIZE, INNER = 256, 524288
SMALL = {"size": 16, "inner": 2048}


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_init_inputs():
    return []


def get_inputs(size=SIZE, inner=INNER):
    return [torch.randn(size, inner), torch.randn(inner, size)]
