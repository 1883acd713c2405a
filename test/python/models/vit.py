# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ViT: patches by a reshape and a projection, a class token, learned places."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, CHANNELS, SIZE, PATCH, WIDTH, HEADS, CLASSES = 2, 3, 16, 4, 32, 4, 10


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS):
        super().__init__()
        self.heads = heads
        self.patch = nn.Linear(CHANNELS * PATCH * PATCH, width)
        self.first = nn.Parameter(torch.randn(1, 1, width) * 0.1)
        self.places = nn.Parameter(torch.randn(1, (SIZE // PATCH) ** 2 + 1, width) * 0.1)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, CLASSES)

    def patches(self, images):
        batch, side = images.shape[0], SIZE // PATCH
        x = images.reshape(batch, CHANNELS, side, PATCH, side, PATCH)
        return x.permute(0, 2, 4, 1, 3, 5).reshape(batch, side * side, -1)

    def attention(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.project(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, images):
        x = self.patch(self.patches(images))
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        x = x + self.attention(self.norm1(x))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.head(self.norm3(x)[:, 0])


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIZE, SIZE)]
