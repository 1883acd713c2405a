# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama: rotary embeddings, grouped heads, gated MLPs, several blocks."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS, KV_HEADS, HIDDEN, BLOCKS, WORDS = 2, 12, 32, 4, 2, 80, 2, 53


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(width) + 0.5), eps

    def forward(self, x):
        wide = x.float()
        normal = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return normal.to(x.dtype) * self.weight


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.wq = nn.Linear(width, width, bias=False)
        self.wk = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def attention(self, x, cos, sin):
        batch, tokens, width = x.shape

        def split(y, heads):
            return y.view(batch, tokens, heads, self.head_dim).transpose(1, 2)

        q = rotate(split(self.wq(x), self.heads), cos, sin)
        k = rotate(split(self.wk(x), self.kv_heads), cos, sin)
        v = split(self.wv(x), self.kv_heads)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.wo(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, kv_heads=KV_HEADS, hidden=HIDDEN,
                 blocks=BLOCKS, words=WORDS, tokens=TOKENS):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads, kv_heads, hidden) for _ in range(blocks))
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        dim = width // heads
        frequencies = 10000.0 ** (-torch.arange(0, dim, 2).float() / dim)
        angles = torch.outer(torch.arange(tokens).float(), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(self.norm(x))


def get_inputs(batch=BATCH, tokens=TOKENS, words=WORDS):
    return [torch.randint(0, words, (batch, tokens))]
