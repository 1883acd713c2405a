# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pre-norm transformer block in the style of GPT-2.

Attention is written out with a mask buffer, as in many models, so the compiler has to
recognize it.
"""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS = 128, 512, 768, 8
SMALL = {"batch": 2, "tokens": 16, "width": 64, "heads": 4}


class CausalAttention(nn.Module):
    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        mask = torch.tril(torch.ones(tokens, tokens))
        self.register_buffer("causal", mask.view(1, 1, tokens, tokens))

    def split_heads(self, x):
        batch, tokens, width = x.shape
        return x.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (self.split_heads(part) for part in self.qkv(x).split(width, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        hidden = self.causal[:, :, :tokens, :tokens] == 0
        weights = F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        mixed = (weights @ v).transpose(1, 2).contiguous().view(batch, tokens, width)
        return self.proj(mixed)


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, tokens=TOKENS):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = CausalAttention(width, heads, tokens)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, tokens=TOKENS, width=WIDTH):
    return [torch.randn(batch, tokens, width)]
