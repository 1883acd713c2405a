# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products, einsum and attention."""

import math

import torch
from torch.nn import functional as F

import fact
from operators import Case, check, group, integers, rand, runs

X, W, BIAS = rand(20, 48), rand(17, 48, seed=1) / 7, rand(17, seed=2)
A, B = rand(2, 3, 19, 24, seed=3), rand(2, 3, 24, 13, seed=4) / 5
M, N, ADD = rand(3, 7, 24, seed=5), rand(3, 24, 11, seed=6) / 5, rand(3, 7, 11, seed=7)
V, U = rand(24, seed=8), rand(24, seed=9)


def case(name, function, inputs, reduction=48, roundings=3):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


PRODUCTS = group(
    "products",
    case("linear", F.linear, [X, W, BIAS]),
    case("linear without bias", F.linear, [A, rand(5, 24)]),
    case("linear of a vector", F.linear, [V, rand(5, 24), rand(5)]),
    case("matmul", torch.matmul, [A, B]),
    case("matmul broadcast", torch.matmul, [A, B[0, 0]]),
    case("matmul vector", torch.matmul, [A, V]),
    case("vector matmul", torch.matmul, [V, N]),
    case("mm", torch.mm, [X, rand(48, 17, seed=1)]),
    case("mm transposed", lambda x, w: x @ w.t(), [X, W]),
    case("mm of transposed", lambda x, w: x.t() @ w, [X, rand(20, 9)]),
    case("bmm", torch.bmm, [M, N]),
    case("addmm", lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2),
         [rand(17), X, rand(48, 17, seed=1)]),
    case("addmm without addend", lambda c, x, y: torch.addmm(c, x, y, beta=0),
         [torch.full((17,), math.nan), X, rand(48, 17, seed=1)]),
    case("baddbmm", torch.baddbmm, [ADD, M, N]),
    case("mv", torch.mv, [M[0], V]),
    case("mv transposed", lambda x, v: x.t() @ v, [X, rand(20)]),
    case("mv long", lambda x, v: F.silu(torch.mv(x, v)) * 2, [rand(37, 1031, seed=10), rand(1031)],
         reduction=1031),
    case("vm long", lambda v, x, b: (v @ x + b).relu(), [rand(1031), rand(1031, 67) / 5, rand(67)],
         reduction=1031),
    case("mv of batches", lambda x, v: x @ v.tanh().unsqueeze(-1), [M, rand(3, 24)]),
    case("vm of shared batches", torch.matmul, [V, B]),
    case("dot", torch.dot, [V, U]),
    case("outer", torch.outer, [V, U]),
    case("epilogue", lambda x, w, b: F.silu(F.linear(x, w, b)) * 0.5 + b, [X, W, BIAS]),
)

# Booleans and integers beside a product: all of its elements, its rows, its columns or one for all.
KEEP, ROWS = rand(20, 17, seed=21) > 0, integers(20, 1, high=3)
MASKED = group(
    "masked_products",
    case("where", lambda x, w, m, y: torch.where(m, F.linear(x, w), y),
         [X, W, KEEP, rand(20, 17, seed=22)]),
    case("masked_fill", lambda x, w, b, m: F.gelu(F.linear(x, w, b)).masked_fill(m, -2.0),
         [X, W, BIAS, KEEP]),
    case("dropout", lambda x, w, m: F.linear(x, w) * m / 0.75, [X, W, KEEP]),
    case("mask of rows and columns", lambda x, w, r, c: torch.where(r > c, F.linear(x, w), 1.0),
         [X, W, ROWS, integers(17, high=3)]),
    case("integers added", lambda x, w, i, j: F.linear(x, w) + i - j,
         [X, W, integers(20, 17, high=9).to(torch.int32), integers(1, high=5)]),
    case("shared by batches", lambda x, y, m: (x @ y).masked_fill(m, 0.5),
         [M, N, rand(7, 11, seed=23) > 0]),
)

# Products whose rows or columns are reduced where they are made, stored or not.
TALL = rand(130, 48, seed=10)
REDUCED = group(
    "reduced_products",
    case("rows", lambda x, w, b: F.linear(x, w, b).amax(-1), [X, W, BIAS], 65),
    case("rows beside", lambda x, w, b: (y := F.relu(F.linear(x, w, b)), y.mean(-1) * 2),
         [TALL, W, BIAS], 65),
    case("columns", lambda x, w, b: F.silu(F.linear(x, w, b)).sum(0) + b, [TALL, W, BIAS], 178),
    case("columns beside", lambda x, w: (y := x @ w.t(), y.amin(0, keepdim=True) - y.mean(0)),
         [TALL, W], 178),
    case("both", lambda x, w: (y := x @ w.t(), y.sum(0), y.prod(1).tanh()), [X / 4, W], 68),
    case("pooled", lambda x, w: F.linear(x, w).mean(2), [A, rand(5, 24)], 43),
    case("all", lambda x, w: F.linear(x, w).sum(), [X, W], 388),
    case("centered", lambda x, w: (y := x @ w.t()) - y.mean(-1, keepdim=True), [X, W], 65),
    case("of batches", lambda x, w: (x @ w).amax((0, 1, 2)), [A, B[0, 0]], 24),
)

EINSUM = group(
    "einsum",
    case("ij,jk->ik", lambda x, y: torch.einsum("ij,jk->ik", x, y), [X, W.t().contiguous()]),
    case("bhid,bhjd->bhij", lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y),
         [A, rand(2, 3, 7, 24)]),
    case("bhij,bhjd->bhid", lambda x, y: torch.einsum("bhij,bhjd->bhid", x, y), [A, B]),
    case("bijk,bkl->bijl", lambda x, y: torch.einsum("bijk,bkl->bijl", x, y),
         [A, rand(2, 24, 5)]),
    case("implicit", lambda x, y: torch.einsum("ij,kj", x, y), [X, W]),
    case("ellipsis", lambda x, y: torch.einsum("...ij,jk->...ik", x, y), [A, rand(24, 5)]),
    case("two sums", lambda x, y: torch.einsum("bij,bij->b", x, y), [ADD, ADD + 1], 77),
    case("no sum", lambda x, y: torch.einsum("i,j->ij", x, y), [V, U]),
    case("elements", lambda x, y: torch.einsum("bij,ij->bij", x, y), [ADD, ADD[0]]),
    case("sum alone", lambda x: torch.einsum("bij->j", x), [ADD]),
    case("transpose", lambda x: torch.einsum("bij->jib", x) * 2, [ADD]),
    case("diagonal", lambda x: torch.einsum("bii->bi", x) * 2, [rand(3, 5, 5)]),
    case("trace", lambda x: torch.einsum("ii->", x), [rand(5, 5)]),
    case("three", lambda x, y, z: torch.einsum("ij,jk,kl->il", x, y, z),
         [X, W.t().contiguous(), rand(17, 4)], roundings=5),
    case("sum on one side", lambda x, y: torch.einsum("ijk,jl->il", x, y), [ADD, rand(7, 4)],
         reduction=77),
)

I, J = integers(4, 5, 6), integers(6, 7, seed=1)

INTEGER_PRODUCTS = group(
    "integer_products",
    Case("matmul", torch.matmul, [I, J]),
    Case("mm i32", torch.mm, [I[0].int(), J.int()]),
    Case("bmm", torch.bmm, [I, I.mT.contiguous()]),
    Case("mv", torch.mv, [I[0], J[:, 0].contiguous()]),
    Case("linear", F.linear, [I, J.t().contiguous(), integers(7, seed=2)]),
    Case("addmm", torch.addmm, [integers(7, seed=2), I[0], J]),
    Case("outer", torch.outer, [I[0, 0], J[0]]),
    Case("einsum", lambda x, y: torch.einsum("bij,jk->kb", x, y), [I, J]),
    Case("that overflow", lambda x, y: (x << 40) @ (y << 20), [I, J]),
    types=["fp32"],
)

Q, K, VALUE = (rand(2, 4, 9, 16, seed=s) for s in range(3))
SHARED = [rand(2, 2, 9, 16, seed=s) for s in (4, 5)]
LONG = [rand(2, 4, 13, 16, seed=s) for s in (6, 7)]
# Query 3 sees no key at all.
MASK = rand(9, 13, seed=8) > -0.5
MASK[3] = False
BIAS_MASK = rand(2, 1, 9, 13, seed=9)
HIDDEN = torch.zeros(9, 9).masked_fill(rand(9, 9, seed=10) > 0.5, -math.inf)
HIDDEN[:, 0] = 0
HIDDEN[5] = -math.inf
attend = F.scaled_dot_product_attention

ATTENTION = group(
    "attention",
    case("plain", attend, [Q, K, VALUE], roundings=4),
    case("cross", attend, [Q, *LONG], roundings=4),
    case("causal", lambda q, k, v: attend(q, k, v, is_causal=True), [Q, K, VALUE], roundings=4),
    case("causal cross", lambda q, k, v: attend(q, k, v, is_causal=True), [Q, *LONG],
         roundings=4),
    case("scale", lambda q, k, v: attend(q, k, v, scale=0.3), [Q, K, VALUE], roundings=4),
    case("boolean mask", lambda q, k, v, m: attend(q, k, v, attn_mask=m), [Q, *LONG, MASK],
         roundings=4),
    case("float mask", lambda q, k, v, m: attend(q, k, v, attn_mask=m), [Q, *LONG, BIAS_MASK],
         roundings=4),
    case("infinite mask", lambda q, k, v, m: attend(q, k, v, attn_mask=m),
         [Q, K, VALUE, HIDDEN], roundings=4),
    case("grouped", lambda q, k, v: attend(q, k, v, enable_gqa=True), [Q, *SHARED], roundings=4),
    case("grouped causal", lambda q, k, v: attend(q, k, v, is_causal=True, enable_gqa=True),
         [Q, *SHARED], roundings=4),
    case("one query", attend, [Q[:, :, :1], *LONG], roundings=4),
    case("one query, grouped", lambda q, k, v: attend(q, k, v, enable_gqa=True),
         [Q[:, :, :1], *SHARED], roundings=4),
    case("one query, masked", lambda q, k, v, m: attend(q, k, v, attn_mask=m),
         [Q[:, :, :1], *LONG, MASK[3:4]], roundings=4),
    case("three dimensions", attend, [Q[0], K[0], VALUE[0]], roundings=4),
    case("other value width", attend, [Q, K, rand(2, 4, 9, 8)], roundings=4),
    case("repeated heads", lambda q, k, v: attend(
        q, k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1), is_causal=True),
        [Q, *SHARED], roundings=4),
)


AWKWARD = group(
    "awkward_sizes",
    *[Case(f"{m}x{n}x{k}", torch.matmul, [rand(m, k), rand(k, n, seed=1)], reduction=max(k, 1))
      for m, n, k in [(1, 1, 1), (1, 7, 64), (65, 1, 3), (130, 67, 129), (3, 4, 0)]],
    types=["fp32"],
)


def test_queries_whose_scores_are_all_minus_infinity_give_zero():
    """As in PyTorch's attention; a written-out softmax is NaN there."""
    class Attend(torch.nn.Module):
        def forward(self, q, k, v):
            return (F.scaled_dot_product_attention(q, k, v),
                    F.scaled_dot_product_attention(q, k, v, is_causal=True))

    q, v = rand(1, 2, 9, 4), rand(1, 2, 9, 4, seed=1)
    k = rand(1, 2, 9, 4, seed=2)
    k[..., 1] = k[..., 1].abs() + 0.5
    q[0, 0, 0, 1], q[0, 1, 5, 1] = -torch.inf, -torch.inf
    q[0, 0, 3, 2] = torch.nan
    found = fact.compile(Attend(), (q, k, v), target="host", candidates=1)(q, k, v)
    for result, exact in zip(found, Attend()(q.double(), k.double(), v.double())):
        assert not exact[0, 0, 0].any() and not exact[0, 1, 5].any()
        torch.testing.assert_close(result.double(), exact, rtol=1e-5, atol=1e-6, equal_nan=True)


@runs(PRODUCTS, MASKED, REDUCED, ATTENTION, EINSUM, AWKWARD, INTEGER_PRODUCTS)
def test_contractions(cases, dtype):
    check(cases, dtype)
