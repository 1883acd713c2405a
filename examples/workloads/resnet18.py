# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A residual network of 18 layers: convolutions, batch norms in `eval`, a pool, a classifier."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIZE, WIDTH, CLASSES = 128, 224, 64, 1000
SMALL = {"batch": 1, "size": 64, "width": 16, "classes": 10}


class Block(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(filters)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(filters)
        self.shortcut = nn.Identity() if channels == filters else nn.Sequential(
            nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.shortcut(x))


class Model(nn.Module):
    def __init__(self, width=WIDTH, classes=CLASSES):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(width)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.blocks = nn.Sequential(*[
            block for stage, (before, after) in enumerate(zip(widths, widths[1:]))
            for block in (Block(before, after, 2 if stage else 1), Block(after, after, 1))])
        self.classifier = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.classifier(self.blocks(x).mean((2, 3)))


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, size=SIZE):
    return [torch.randn(batch, 3, size, size)]
