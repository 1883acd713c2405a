# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A batch of matrix products."""

import torch
from torch import nn

BATCH, ROWS, INNER, COLUMNS = 128, 512, 1024, 2048
SMALL = {"batch": 3, "rows": 32, "inner": 48, "columns": 64}


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, rows=ROWS, inner=INNER, columns=COLUMNS):
    return [torch.randn(batch, rows, inner), torch.randn(batch, inner, columns)]
