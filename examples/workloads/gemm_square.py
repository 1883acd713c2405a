# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A square matrix product."""

import torch
from torch import nn

SIZE = 4096
SMALL = {"size": 64}


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_init_inputs():
    return []


def get_inputs(size=SIZE):
    return [torch.randn(size, size), torch.randn(size, size)]
