# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""T5's decoder layer: self attention with a bias by relative distance, cross attention to
an encoder's states, unscaled scores, norms without a mean."""

import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, SOURCE, WIDTH, HEADS, BUCKETS = 2, 9, 13, 32, 4, 8


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, states, bias=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(states)), self.split(self.v(states))
        scores = q @ k.transpose(-1, -2)
        if bias is not None:
            scores = scores + bias
        mixed = F.softmax(scores, dim=-1) @ v
        return self.o(mixed.transpose(1, 2).reshape(x.shape))


def buckets(tokens):
    """Distances to the past: exact when near, logarithmic when far."""
    distance = (torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]).clamp(min=0)
    exact = BUCKETS // 2
    far = exact + (torch.log(distance.clamp(min=1) / exact) / math.log(16 / exact)
                   * (BUCKETS - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=BUCKETS - 1))


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = Norm(width), Norm(width), Norm(width)
        self.self_attention, self.cross_attention = Attention(width, heads), Attention(width, heads)
        self.bias = nn.Embedding(BUCKETS, heads)
        self.up, self.down = nn.Linear(width, 64, bias=False), nn.Linear(64, width, bias=False)
        self.register_buffer("buckets", buckets(TOKENS), persistent=False)
        future = torch.triu(torch.ones(TOKENS, TOKENS), diagonal=1) * -1e4
        self.register_buffer("future", future)

    def forward(self, x, states):
        bias = self.bias(self.buckets).permute(2, 0, 1).unsqueeze(0) + self.future
        h = self.norm1(x)
        x = x + self.self_attention(h, h, bias)
        x = x + self.cross_attention(self.norm2(x), states)
        return x + self.down(F.relu(self.up(self.norm3(x))))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH), torch.randn(BATCH, SOURCE, WIDTH)]
