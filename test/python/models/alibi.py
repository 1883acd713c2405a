# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ALiBi: scores fall linearly with distance, by a slope for each head."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS = 2, 12, 32, 4


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, tokens=TOKENS):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
        distance = torch.arange(tokens)[None, :] - torch.arange(tokens)[:, None]
        bias = slopes[:, None, None] * distance.clamp(max=0)
        bias = bias.masked_fill(distance > 0, float("-inf"))
        self.register_buffer("bias", bias, persistent=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5 + self.bias
        mixed = F.softmax(scores, dim=-1) @ v
        return x + self.project(mixed.transpose(1, 2).reshape(batch, tokens, width))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, WIDTH)]
