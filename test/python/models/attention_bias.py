# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with a bias for each pair of places: learned, and given from outside."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS = 2, 11, 32, 4


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS):
        super().__init__()
        self.heads = heads
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn(1, heads, TOKENS, TOKENS) * 0.5)

    def forward(self, x, pairs):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        learned = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias.expand(batch, -1, -1, -1))
        given = F.scaled_dot_product_attention(q, k, v, attn_mask=pairs[:, None])
        mixed = (learned + given).transpose(1, 2).reshape(batch, tokens, width)
        return x + self.project(mixed)


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH), torch.randn(BATCH, TOKENS, TOKENS)]
