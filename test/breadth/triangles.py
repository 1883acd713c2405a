# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of triangular factors, products of which a triangle is used, and symmetric ones."""

import torch
import torch.nn.functional as F
from torch import nn, randn

from .registry import Function, case


@case((12, 14), (4096, 4096))
def lower_times_dense(n, columns):
    return Function(lambda a, b: torch.tril(a) @ b), randn(n, n) * n ** -0.5, randn(n, columns)


@case((12, 10), (4104, 1544))
def dense_times_upper(n, rows):
    return Function(lambda a, b: a @ torch.triu(b, 1)), randn(rows, n), randn(n, n) * n ** -0.5


@case((14, 10), (4096, 3000))
def trapezoid_times_dense(m, k):
    return (Function(lambda a, b: torch.tril(a, k - m) @ b), randn(m, k) * k ** -0.5,
            randn(k, k))


@case((2, 12), (8, 1536))
def lower_times_lower(b, n):
    return (Function(lambda x, y: torch.tril(x) @ torch.tril(y)), randn(b, n, n) * n ** -0.5,
            randn(b, n, n))


@case((12, 10), (4096, 2048))
def upper_of_product(n, k):
    return Function(lambda a, b: F.relu(torch.triu(a @ b, 1))), randn(n, k) * k ** -0.5, randn(k, n)


@case((13, 8, 11), (3016, 2048, 4000))
def causal_scores(rows, k, columns):
    """Scores that are not softmaxed, with another value than 0 above the diagonal."""
    def function(q, keys):
        later = torch.arange(columns)[None, :] > torch.arange(rows)[:, None]
        return ((q @ keys.t()) * k ** -0.5).masked_fill(later, -1.0)
    return Function(function), randn(rows, k), randn(columns, k)


@case((2, 2, 12, 4), (4, 8, 2048, 128))
def causal_linear_attention(b, h, t, d):
    return (Function(lambda q, k, v: torch.tril(q @ k.transpose(-1, -2)) @ v * t ** -0.5),
            randn(b, h, t, d), randn(b, h, t, d), randn(b, h, t, d))


@case((12, 20), (4096, 8192))
def gram_of_rows(n, k):
    return Function(lambda x: x @ x.t() / k), randn(n, k)


@case((20, 12), (8192, 2008))
def gram_of_columns(n, k):
    return Function(lambda x: x.t() @ x), randn(n, k)


@case((2, 12, 8), (16, 1024, 2048))
def batched_gram(b, n, k):
    return Function(lambda x: F.relu(x @ x.transpose(1, 2)) * k ** -0.5), randn(b, n, k)


class MaskedMLP(nn.Module):
    """An autoregressive MLP: each unit reads units before it."""

    def __init__(self, n: int):
        super().__init__()
        self.first, self.second = nn.Linear(n, n), nn.Linear(n, n)
        self.register_buffer("mask", torch.ones(n, n).tril())

    def forward(self, x):
        hidden = F.relu(F.linear(x, self.first.weight * self.mask, self.first.bias))
        return F.linear(hidden, self.second.weight.tril(-1), self.second.bias)


@case((9, 12), (4096, 4096))
def masked_mlp(rows, n):
    return MaskedMLP(n), randn(rows, n)
