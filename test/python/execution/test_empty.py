# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors without elements: nothing to compute, and sums of nothing."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact.safetensors_file import write_safetensors
from operators import Case, check, group, rand, runs

NONE, WIDE = torch.zeros(0, 8), torch.zeros(3, 0)
X, W, BIAS = rand(3, 8), rand(5, 8, seed=1), rand(5, seed=2)
HEADS = torch.zeros(0, 2, 5, 8)
Q, V = rand(2, 2, 3, 8, seed=3), rand(2, 2, 5, 4, seed=4)
attend = F.scaled_dot_product_attention

EMPTY = group(
    "empty",
    # A batch of nothing.
    Case("linear", F.linear, [NONE, W, BIAS]),
    Case("activation", lambda x, w: F.gelu(x @ w.t()) * 2, [NONE, W]),
    Case("softmax", lambda x: F.softmax(x, -1), [NONE]),
    Case("softmax of nothing", lambda x: F.softmax(x, -1), [WIDE]),
    Case("layer_norm", lambda x, w: F.layer_norm(x, (8,), w), [NONE, W[0]]),
    Case("rms_norm written", lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
         [NONE]),
    Case("attention", lambda q: attend(q, q, q, is_causal=True), [HEADS]),
    Case("attention written", lambda q: torch.softmax(q @ q.mT * 0.5, -1) @ q, [HEADS]),
    Case("reductions", lambda x: (x.sum(-1), x.amax(-1), x.argmax(-1), x.var(-1)), [NONE]),
    Case("views", lambda x: (x.t() + 1, x.reshape(2, 0, 4), x.expand(2, 0, 8), x[:, 2]), [NONE]),
    Case("split", lambda x: x.split([3, 0], 0), [X]),
    Case("slice", lambda x: (x[3:] * 2, x[:, 5:5], x[1:1].sum(0)), [X]),
    Case("embedding", F.embedding, [torch.zeros(0, 7, dtype=torch.int64), W]),
    Case("index", lambda x, i: x[i], [X, torch.zeros(0, dtype=torch.int64)]),
    Case("rows", lambda x: x.repeat(0, 1), [X]),
    Case("an input", lambda x: x, [NONE]),
    Case("made", lambda x: (torch.zeros(0, 8) + x, torch.arange(0), torch.full((2, 0), 1.5)),
         [NONE]),
    # Something of nothing.
    Case("linear of nothing", F.linear, [WIDE, torch.zeros(5, 0), BIAS]),
    Case("matmul of nothing", torch.matmul, [WIDE, NONE.t()[:0]]),
    Case("bmm of nothing", lambda x: torch.bmm(x, x.mT), [torch.zeros(2, 3, 0)]),
    Case("einsum of nothing", lambda x: torch.einsum("ij,kj->ik", x, x), [WIDE]),
    Case("sum", lambda x: (x.sum(), x.sum(1) + 1, x.prod(1), x.mean(1)), [WIDE]),
    Case("columns", lambda x: (x.sum(0), x.mean(0, keepdim=True)), [NONE]),
    Case("attention without keys", attend,
         [Q, torch.zeros(2, 2, 0, 8), torch.zeros(2, 2, 0, 4)]),
    Case("attention of no width", lambda q, k, v: attend(q, k, v, scale=1.0),
         [torch.zeros(2, 2, 3, 0), torch.zeros(2, 2, 5, 0), V], reduction=5, roundings=4),
    Case("cat", lambda x, y: torch.cat([y, x, y]) * 2, [X, NONE]),
    Case("cat of nothing", lambda x, y: torch.cat([y, y]), [X, NONE]),
    Case("pad", lambda x: F.pad(x, (1, 2), value=1.5), [WIDE]),
    types=["bf16", "fp32"],
)


@runs(EMPTY)
def test_empty(cases, dtype):
    check(cases, dtype)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(11, 16), nn.LayerNorm(16)
        self.qkv, self.head = nn.Linear(16, 48), nn.Linear(16, 11, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        x = x + attend(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return self.head(F.gelu(x)), x.mean((0, 1))


def test_a_model_of_no_batch():
    tokens = torch.zeros(0, 7, dtype=torch.int64)
    module = Block()
    model = fact.compile(module, (tokens,), target="host")
    logits, mean = model(tokens)
    assert logits.shape == (0, 7, 11) and mean.shape == (16,) and bool(mean.isnan().all())


def test_weights_without_elements(tmp_path):
    """They are loaded and swapped as others are."""
    class Narrow(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 0), nn.Linear(0, 4)

        def forward(self, x):
            return self.second(self.first(x)) + x

    module, x = Narrow(), rand(3, 4)
    model = fact.compile(module, (x,), target="host")
    torch.testing.assert_close(model(x), module(x))
    path = tmp_path / "weights.safetensors"
    write_safetensors(path, module.state_dict())
    torch.testing.assert_close(fact.load(model.library.path, path)(x), module(x))


def test_the_largest_of_nothing_is_an_error():
    class Largest(nn.Module):
        def forward(self, x):
            return x.amax(1)

    with pytest.raises(fact.FactError, match="zero-size dimension"):
        fact.compile(Largest(), (WIDE,), target="host")
