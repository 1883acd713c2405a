# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The head of a classifier: a wide layer, and the mean over all tokens of what it gives."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HIDDEN = 128, 512, 768, 3072
SMALL = {"batch": 2, "tokens": 24, "width": 64, "hidden": 96}


class Model(nn.Module):
    def __init__(self, width=WIDTH, hidden=HIDDEN):
        super().__init__()
        self.hidden = nn.Linear(width, hidden)

    def forward(self, x):
        return F.gelu(self.hidden(x), approximate="tanh").mean(1)


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, tokens=TOKENS, width=WIDTH):
    return [torch.randn(batch, tokens, width)]
