# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer block with the shapes of Llama 3 8B.

RMSNorm written out, grouped key and value heads, a gated MLP.
"""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS, KV_HEADS, HIDDEN = 16, 2048, 4096, 32, 8, 9728
SMALL = {"batch": 2, "tokens": 16, "width": 64, "heads": 4, "kv_heads": 2, "hidden": 96}


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        mean_square = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.eps) * self.weight


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, kv_heads=KV_HEADS, hidden=HIDDEN):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, width // heads
        self.norm1 = RMSNorm(width)
        self.wq = nn.Linear(width, heads * self.head_dim, bias=False)
        self.wk = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(heads * self.head_dim, width, bias=False)
        self.norm2 = RMSNorm(width)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def split_heads(self, x, heads):
        batch, tokens, _ = x.shape
        return x.view(batch, tokens, heads, self.head_dim).transpose(1, 2)

    def attention(self, x):
        batch, tokens, _ = x.shape
        q = self.split_heads(self.wq(x), self.heads)
        k = self.split_heads(self.wk(x), self.kv_heads)
        v = self.split_heads(self.wv(x), self.kv_heads)
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.wo(mixed.transpose(1, 2).reshape(batch, tokens, -1))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, tokens=TOKENS, width=WIDTH):
    return [torch.randn(batch, tokens, width)]
