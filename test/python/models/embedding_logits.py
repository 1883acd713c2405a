# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From tokens to logits: scaled tied embeddings, a residual MLP, capped logits, log
probabilities and the likeliest word."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, TOKENS, WIDTH, WORDS, CAP = 3, 7, 32, 71, 30.0


class Model(nn.Module):
    def __init__(self, width=WIDTH, words=WORDS):
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.mix = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.words(tokens) * WIDTH ** 0.5
        x = self.norm(x + F.silu(self.mix(x)))
        logits = F.linear(x, self.words.weight)
        logits = CAP * torch.tanh(logits / CAP)
        return {"logits": logits, "log_probabilities": F.log_softmax(logits, dim=-1),
                "likeliest": logits.argmax(dim=-1)}


def get_inputs():
    return [torch.randint(0, WORDS, (BATCH, TOKENS))]
