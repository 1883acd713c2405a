# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLP-mixer: an MLP over places, then one over channels; mean over places at the end."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, PLACES, WIDTH, BLOCKS, CLASSES = 2, 16, 24, 2, 7


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.places, self.channels = Mlp(places, 2 * places), Mlp(width, 2 * width)

    def forward(self, x):
        x = x + self.places(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Model(nn.Module):
    def __init__(self, places=PLACES, width=WIDTH, blocks=BLOCKS):
        super().__init__()
        self.stem = nn.Linear(12, width)
        self.blocks = nn.Sequential(*(Block(places, width) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, patches):
        x = self.norm(self.blocks(self.stem(patches)))
        return self.head(x.mean(dim=1))


def get_inputs():
    return [torch.randn(BATCH, PLACES, 12)]
