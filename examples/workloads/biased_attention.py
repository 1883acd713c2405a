# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with a learned bias for each head, query and key."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, HEADS, HEAD = 32, 1024, 16, 64
SMALL = {"batch": 2, "tokens": 24, "heads": 2, "head": 16}


class Model(nn.Module):
    def __init__(self, tokens=TOKENS, heads=HEADS):
        super().__init__()
        self.heads = heads
        self.bias = nn.Parameter(torch.randn(heads, tokens, tokens))

    def forward(self, q, k, v):
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias)
        return mixed.transpose(1, 2).flatten(2)


def get_init_inputs():
    return []


def get_inputs(batch=BATCH, tokens=TOKENS, heads=HEADS, head=HEAD):
    return [torch.randn(batch, tokens, heads * head) for _ in range(3)]
