# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views, joins, indexing and tensors that are made from numbers."""

import torch
from torch.nn import functional as F

import fact
from fact import verify
from operators import Case, check, group, integers, rand, runs

X, Y = rand(6, 5, 24), rand(1, 5, 24, seed=1)
M, N = rand(4, 6), rand(3, 6, seed=1)
R = rand(4, 6, seed=2)
TOKENS = integers(2, 7, low=0, high=11)
ROWS = torch.tensor([3, 0, 0, 2])
BACK = torch.tensor([-1, 0, -3])

VIEWS = group(
    "views",
    Case("view", lambda x: x.view(6, 120) * 2, [X]),
    Case("reshape", lambda x: x.reshape(-1, 8) * 2, [X]),
    Case("flatten", lambda x: x.flatten(1) * 2, [X]),
    Case("unflatten", lambda x: x.unflatten(-1, (4, 6)) * 2, [X]),
    Case("transpose", lambda x: x.transpose(-1, 0) * 2, [X]),
    Case("permute", lambda x: x.permute(2, 0, 1) * 2, [X]),
    Case("t", lambda x: x.t() * 2, [M]),
    Case("expand", lambda x, y: y.expand(6, -1, 24) + x, [X, Y]),
    Case("repeat", lambda x: x.repeat(2, 1, 3) * 2, [M]),
    Case("repeat_interleave", lambda x: x.repeat_interleave(3, dim=-1) * 2, [M]),
    Case("repeat_interleave flat", lambda x: x.repeat_interleave(2) * 2, [M]),
    Case("slice", lambda x: x[:, 1:4, ::2] * 2, [X]),
    Case("slice from the end", lambda x: x[..., -5:-1] * 2, [X]),
    Case("select", lambda x: x[-1, :, 3] * 2, [X]),
    Case("split", lambda x: x.split(10, -1), [X]),
    Case("split sizes", lambda x: x.split([1, 4], 1), [X]),
    Case("chunk", lambda x: x.chunk(4, dim=1), [X]),
    Case("unbind", lambda x: x.unbind(-2), [Y]),
    Case("squeeze", lambda y: y.squeeze() * 2, [Y]),
    Case("squeeze dim", lambda y: y.squeeze(0) * 2, [Y]),
    Case("unsqueeze", lambda x: x.unsqueeze(-1) * 2, [M]),
    Case("heads", lambda x: x.view(6, 5, 4, 6).transpose(1, 2).reshape(24, 5, 6) * 2, [X]),
    Case("a view alone", lambda x: x.t(), [M]),
    Case("nothing done", lambda x: x, [M]),
)

JOINS = group(
    "joins",
    Case("cat", lambda x, y: torch.cat([x, y], 0), [M, N]),
    Case("cat last", lambda x, y: torch.cat([x, y * 2, x], -1), [M, R]),
    Case("stack", lambda x, y: torch.stack([x, y], 1), [M, R]),
    Case("stack last", lambda x, y: torch.stack([x, y], -1), [M, R]),
    Case("hstack", lambda x, y: torch.hstack([x, y]), [M, R]),
    Case("vstack of vectors", lambda x: torch.vstack([x[0], x[1]]), [M]),
    Case("dstack", lambda x, y: torch.dstack([x, y]), [M, R]),
    Case("pad", lambda x: F.pad(x, (1, 2)), [M]),
    Case("pad value", lambda x: F.pad(x, (1, 0, 0, 2), value=1.5), [M]),
    Case("pad and cut", lambda x: F.pad(x, (-1, 2)), [M]),
    Case("roll", lambda x: x.roll(2, -1), [M]),
    Case("roll two", lambda x: x.roll((1, -2), (0, 1)), [M]),
    Case("roll flat", lambda x: x.roll(5), [M]),
    Case("flip", lambda x: x.flip(-1), [M]),
    Case("flip two", lambda x: x.flip(0, 1), [M]),
    Case("tril", lambda x: x.tril(-1), [M]),
    Case("triu", lambda x: x.triu(1), [M]),
    Case("meshgrid", lambda x: torch.meshgrid(x[0], x[1], indexing="ij"), [M]),
)


def assign(x):
    y = x + 1
    y[:, 0] = 2.0
    y[1:3] += 5
    y.mul_(x)
    return y


L = rand(3, 5, 41, seed=3)
PAIRS, ANGLE = rand(2, 7, 33, 2, seed=4), rand(7, 33, seed=5)

STEPS = group(
    "steps",
    *(Case(f"every {step}", lambda x, step=step: x[..., ::step] * 2 + x[..., :1], [L])
      for step in (2, 3, 4, 5)),
    *(Case(f"every {step} from {step - 1}", lambda x, step=step: x[..., step - 1::step].exp(), [L])
      for step in (2, 4)),
    Case("booleans", lambda x: (x > 0)[..., ::2], [L]),
    Case("sums", lambda x: x[..., ::2].sum(-1), [L], 21),
    Case("softmax", lambda x: x[..., 1::3].softmax(-1), [L], 14, 6),
    Case("product", lambda x, w: x[..., ::2] @ w, [L, rand(21, 9, seed=6)], 21),
    Case("pairs turned", lambda x, a: torch.stack(
        [x[..., 0] * a.cos() - x[..., 1] * a.sin(), x[..., 1] * a.cos() + x[..., 0] * a.sin()],
        -1).flatten(-2), [PAIRS, ANGLE], 1, 4),
    Case("neighbors exchanged", lambda x: x.flip(-1).flatten(-2) * 2, [PAIRS]),
    *(Case(f"{count} in turns", lambda x, count=count: torch.stack(
        [x * i for i in range(1, count + 1)], -1), [L]) for count in (2, 3, 4, 5)),
    Case("in turns in the middle", lambda x: torch.stack([x, -x], -2), [L]),
    Case("in turns, with more", lambda x: torch.cat([x[..., None], x[..., None].abs(),
                                                     x[..., None].expand(3, 5, 41, 2)], -1), [L]),
    Case("channels last", lambda x: (x.permute(0, 2, 1) - 1)[..., :3], [L]),
    Case("channels last, scaled", lambda x, c: (x[:, :3].permute(0, 2, 1) * c).contiguous(),
         [L, rand(3, seed=7)]),
    Case("channels first", lambda x: (x - 1).permute(0, 1, 3, 2).contiguous(), [PAIRS]),
    *(Case(f"pixel shuffle by {n}", lambda x, n=n: F.pixel_shuffle(x.relu(), n),
           [rand(2, n * n * 3, 5, 9, seed=8)]) for n in (2, 3, 4)),
)

INDEXING = group(
    "indexing",
    Case("embedding", F.embedding, [TOKENS, rand(11, 5)]),
    Case("embedding of i32", F.embedding, [TOKENS.int(), rand(11, 5, seed=1)]),
    Case("embedding padding", lambda i, w: F.embedding(i, w, padding_idx=0) * 2,
         [TOKENS, rand(11, 4)]),
    Case("index_select", lambda x, i: x.index_select(0, i), [M, ROWS]),
    Case("index_select last", lambda x, i: x.index_select(-1, i), [M, ROWS]),
    Case("index", lambda x, i: x[i], [M, ROWS]),
    Case("index second", lambda x, i: x[:, i], [M, ROWS]),
    Case("index from the end", lambda x, i: x[i], [M, BACK]),
    Case("index of two", lambda x, i: x[i, i], [M, ROWS]),
    Case("index of rows and columns", lambda x, i: x[:, i[:, None], i], [X, BACK]),
    Case("index of columns and rows", lambda x, i: x[:, i, i[:, None] // 2], [X, BACK]),
    Case("gather", lambda x, i: x.gather(1, i), [M, integers(3, 5, low=0, high=6)]),
    Case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 0),
         [M, integers(2, 6, low=0, high=4)]),
    Case("one_hot", lambda i: F.one_hot(i, 11), [TOKENS]),
    Case("integers", lambda x, i: x[i] * 2, [integers(5, 3), ROWS]),
    Case("assignments", assign, [M]),
    # What changes a tensor is traced again, and then copies are ops of their own.
    Case("copies", lambda x: x.t().reshape(3, 8).contiguous().to(torch.float16) + 1, [M]),
)

MADE = group(
    "made",
    Case("arange", lambda x: torch.arange(6) + x, [M]),
    Case("arange step", lambda x: torch.arange(1, 4, 0.5) + x, [M]),
    Case("arange start", lambda x: torch.arange(2, 8, dtype=torch.float32) * x, [M]),
    Case("linspace", lambda x: torch.linspace(0, 1, 6) + x, [M]),
    Case("zeros", lambda x: torch.zeros(4, 6) - x, [M]),
    Case("ones", lambda x: torch.ones(6) - x, [M]),
    Case("full", lambda x: torch.full((4, 1), 2.5) * x, [M]),
    Case("eye", lambda x: torch.eye(4, 6) + x, [M]),
    Case("zeros_like", lambda x: torch.zeros_like(x) - x, [M]),
    Case("ones_like", lambda x: torch.ones_like(x) - x, [M]),
    Case("full_like", lambda x: torch.full_like(x, 3) * x, [M]),
    Case("new_zeros", lambda x: x.new_zeros(6) - x, [M]),
    Case("new_ones", lambda x: x.new_ones(6) - x, [M]),
    Case("new_full", lambda x: x.new_full((6,), 0.5) - x, [M]),
    Case("tensor", lambda x: torch.tensor([1.0, 2, 3, 4, 5, 6]) * x, [M]),
    Case("scalar_tensor", lambda x: torch.scalar_tensor(2.5) * x, [M]),
    Case("filled", lambda x: torch.empty_like(x).fill_(2.5) * x, [M]),
    Case("causal mask", lambda x: x.masked_fill(torch.tril(torch.ones(4, 6)) == 0, -1.0), [M]),
    merge=True,
    types=["fp32"],
)


@runs(VIEWS, JOINS, STEPS, INDEXING, MADE)
def test_views(cases, dtype):
    check(cases, dtype)


def test_an_index_outside_is_nan():
    class Lookup(torch.nn.Module):
        def forward(self, i, w):
            return F.embedding(i, w)

    tokens, table = torch.tensor([0, 3, 1]), rand(4, 3)
    model = fact.compile(Lookup(), (tokens, table), target="host", candidates=1)
    found = model(torch.tensor([0, 4, -1]), table)
    assert torch.equal(found[0], table[0]) and bool(found[1:].isnan().all())


def test_inputs_of_other_strides():
    class Chain(torch.nn.Module):
        def forward(self, x, y):
            return torch.tanh(x @ y)

    x, y = rand(24, 16), rand(24, 20, seed=1)
    model = fact.compile(Chain(), (x.t().contiguous(), y), target="host", candidates=1)
    exact = torch.tanh(x.t().double() @ y.double())
    verify.check(model(x.t(), y), exact, reduction=24)
