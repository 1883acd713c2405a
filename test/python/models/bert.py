# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT: word, place and segment embeddings, norms after the sums, padding by a mask."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, HEADS, WORDS = 2, 10, 32, 4, 47


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        mixed = F.scaled_dot_product_attention(
            self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)),
            attn_mask=mask)
        x = self.norm1(x + self.output(mixed.permute(0, 2, 1, 3).flatten(2)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Model(nn.Module):
    def __init__(self, width=WIDTH, heads=HEADS, words=WORDS):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(TOKENS, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layer = Layer(width, heads)
        self.pool = nn.Linear(width, width)

    def forward(self, tokens, segments, keep):
        places = torch.arange(tokens.shape[1]).unsqueeze(0)
        x = self.norm(self.words(tokens) + self.places(places) + self.segments(segments))
        x = self.layer(x, keep[:, None, None, :])
        return {"hidden": x, "pooled": torch.tanh(self.pool(x[:, 0]))}


def get_inputs():
    keep = torch.arange(TOKENS) < torch.tensor([[TOKENS], [TOKENS - 3]])
    return [torch.randint(0, WORDS, (BATCH, TOKENS)), torch.randint(0, 2, (BATCH, TOKENS)), keep]
