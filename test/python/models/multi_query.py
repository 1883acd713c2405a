# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multi-query attention: one key and value head for all, attention and MLP in parallel."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS = 2, 11, 32, 4


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS):
        super().__init__()
        self.heads, self.head_dim = heads, width // heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, width + 2 * self.head_dim)
        self.dense = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        h = self.norm(x)
        q, k, v = self.qkv(h).split([width, self.head_dim, self.head_dim], dim=-1)
        q = q.view(batch, tokens, self.heads, self.head_dim).transpose(1, 2)
        k, v = k.unsqueeze(1), v.unsqueeze(1)
        mixed = F.scaled_dot_product_attention(
            q, k.expand(-1, self.heads, -1, -1), v.expand(-1, self.heads, -1, -1), is_causal=True)
        mixed = self.dense(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + mixed + self.down(F.gelu(self.up(h)))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]
