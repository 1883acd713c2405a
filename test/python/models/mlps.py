# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLPs with gates (SwiGLU, GeGLU, ReGLU, GLU) and without (relu, gelu, squared relu)."""

import torch
from torch import nn
from torch.nn import functional as F

ROWS, WIDTH, HIDDEN = 14, 24, 40


class Gated(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Plain(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


class OneProjection(nn.Module):
    """Gate and value from one matrix."""

    def __init__(self):
        super().__init__()
        self.both, self.down = nn.Linear(WIDTH, 2 * HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        return self.down(F.glu(self.both(x), dim=-1))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({
            "swiglu": Gated(F.silu), "geglu": Gated(F.gelu), "reglu": Gated(F.relu),
            "glu": OneProjection(), "relu": Plain(F.relu), "gelu": Plain(F.gelu),
            "squared_relu": Plain(lambda x: F.relu(x).square()),
        })

    def forward(self, x):
        return {name: x + part(x) for name, part in self.parts.items()}


def get_inputs():
    return [torch.randn(2, ROWS // 2, WIDTH)]
