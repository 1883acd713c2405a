# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans, sorts, searches and scatters."""

import math

import torch

from operators import Case, check, group, integers, rand, runs

X = rand(3, 37, 5)
ROWS = rand(6, 33, seed=1)
TIES = torch.tensor([[1.0, 3.0, 3.0, -2.0, -2.0], [0.0, -0.0, 0.0, 0.0, -0.0],
                     [2.0, math.nan, 5.0, math.nan, -7.0], [-math.inf, math.inf, 1, 2, -math.inf]])
# So long that rows are sorted by digits, with ties, both zeros, infinities and NaNs.
LONG = (rand(3, 203, seed=6) * 3).round()
LONG[1, ::9], LONG[1, 5], LONG[1, 100], LONG[2, 7::20] = -0.0, math.inf, -math.inf, math.nan
WIDE = (rand(2, 130, 3, seed=7) * 50).round()
LARGE = torch.cat([integers(2, 99) << 33, integers(2, 99) - (1 << 40)], 1)
# What is infinite if it is combined from the first to the last, and in no other order.
EXTREMES = torch.tensor([[1e30, 1e30, 1e-30, 1e-30, 2, 3, 4, 5, 6, 7, 8, 9]])
SIGNS = torch.tensor([[1.0, 1, -1, -1, -1, -1, 1, 1, 1, -1, -1, 1]])
INTEGERS, FLAGS = integers(4, 19), rand(4, 19) > 0.6
TABLE = rand(8, 6, seed=3)
# Of 8 rows, with repeats: few, and so many that they are sorted.
FEW = torch.tensor([5, 0, 5, 7, 5])
MANY = integers(50, low=0, high=8, seed=4)
PLACES = integers(5, 4, low=0, high=8, seed=5)
NEGATIVE = torch.tensor([-1, 2, -1, 0])


def case(name, function, inputs, reduction=40, roundings=4):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


SCANS = group(
    "scans",
    case("cumsum", lambda x: x.cumsum(1), [X]),
    case("cumsum last", lambda x: x.cumsum(-1), [ROWS]),
    case("cumprod", lambda x: x.cumprod(0), [ROWS]),
    case("cummax", lambda x: x.cummax(-1), [TIES]),
    case("cummin", lambda x: x.cummin(0), [ROWS]),
    case("cumsum odd", lambda x: x.cumsum(-1), [rand(3, 67, seed=8)], reduction=67),
    case("cumsum reversed", lambda x: x.flip(1).cumsum(1).flip(1), [rand(3, 101, seed=9)],
         reduction=101),
    case("cumsum wide", lambda x: x.cumsum(0), [rand(5, 77)]),
    case("cumsum of infinities", lambda x: x.cumsum(-1), [TIES]),
    case("cumprod last", lambda x: (1 + 0.01 * x).cumprod(-1), [LONG[:1]], reduction=203),
    case("cummax long", lambda x: x.cummax(1), [LONG]),
    case("cummin long", lambda x: x.cummin(1)[0], [LONG]),
    case("logcumsumexp", lambda x: x.logcumsumexp(1), [X * 30]),
    case("logcumsumexp of infinities", lambda x: x.logcumsumexp(-1), [TIES]),
    types=["fp32"],
)

INTEGER_SCANS = group(
    "integer_scans",
    case("cumsum", lambda x: x.cumsum(1), [INTEGERS]),
    case("cumsum of booleans", lambda x: x.cumsum(0), [FLAGS]),
    case("cumsum dtype", lambda x: x.cumsum(1, dtype=torch.float64), [INTEGERS]),
    case("cumprod", lambda x: x.cumprod(1), [INTEGERS]),
    case("cumprod in order", lambda x: (x.double() * x * x * x * x * x * x).cumprod(1), [EXTREMES]),
    case("cumsum in order", lambda x: (x.double().sign() * 1e308).cumsum(1), [SIGNS]),
    case("cummax", lambda x: x.cummax(1), [INTEGERS]),
    case("of one", lambda x: (x.cumsum(0), x.sort()), [INTEGERS[0, 0].clone()]),
    types=["fp32"],
)

SORTS = group(
    "sorts",
    case("sort", lambda x: x.sort(dim=1, stable=True), [X]),
    case("sort ties", lambda x: x.sort(dim=-1, stable=True), [TIES]),
    case("sort descending", lambda x: x.sort(dim=-1, descending=True, stable=True), [TIES]),
    case("sort values", lambda x: x.sort(dim=0)[0], [ROWS]),
    case("argsort", lambda x: x.argsort(dim=-1, stable=True), [ROWS]),
    case("msort", torch.msort, [ROWS]),
    case("topk", lambda x: x.topk(5, -1), [ROWS]),
    case("topk smallest", lambda x: x.topk(3, 1, largest=False), [X]),
    case("topk one", lambda x: x.topk(1), [ROWS]),
    case("kthvalue", lambda x: x.kthvalue(4, 1, keepdim=True), [ROWS]),
    case("median", torch.median, [ROWS]),
    case("median dim", lambda x: x.median(-1), [ROWS]),
    case("median with NaN", lambda x: x.median(-1)[0], [TIES]),
    case("nanmedian", lambda x: x.nanmedian(-1)[0], [TIES]),
    case("sort few values", lambda x: (x.sort(-1)[0], x.sort(0, descending=True).values), [TIES]),
    case("few, chosen", lambda x: (x.topk(2, 0)[0], x.kthvalue(4, -1)[0], x[:, :4].median(-1)[0]), [TIES]),
    case("sort few integers", lambda x: (torch.msort(x), x.median(0)[0], x[:, 0].median()), [INTEGERS]),
    case("sort long", lambda x: x.sort(dim=1, stable=True), [LONG]),
    case("sort long descending", lambda x: x.sort(dim=1, stable=True, descending=True), [LONG]),
    case("sort columns", lambda x: x.sort(dim=1, stable=True), [WIDE]),
    case("topk long", lambda x: x.topk(7, -1)[0], [LONG]),
    case("topk columns", lambda x: x.topk(20, 1, largest=False)[0], [WIDE]),
    case("topk longer", lambda x: x.topk(70, -1)[0], [rand(2, 300, seed=10)]),
    case("topk half", lambda x: x.topk(65, 1)[0], [WIDE]),
    case("kthvalue short", lambda x: x.kthvalue(2, 0)[0], [X]),
    case("kthvalue long", lambda x: (x.kthvalue(1, -1)[0], x.kthvalue(90, -1)[0],
                                     x.kthvalue(203, -1)[0]), [LONG]),
    case("kthvalue columns", lambda x: x.kthvalue(100, 1)[0], [WIDE]),
    case("median long", lambda x: x.median(-1)[0], [LONG]),
    types=["fp32"],
)

INTEGER_SORTS = group(
    "integer_sorts",
    case("sort", lambda x: x.sort(dim=1, stable=True), [INTEGERS]),
    case("sort booleans", lambda x: x.sort(dim=1, stable=True, descending=True), [FLAGS]),
    case("median", torch.median, [INTEGERS]),
    case("sort large", lambda x: (x.sort(dim=1, stable=True), x.sort(1, True)[0]), [LARGE]),
    case("topk large", lambda x: (x.topk(9, 1)[0], x.kthvalue(101, 1)[0]), [LARGE]),
    case("sort double", lambda x: x.double().sort(dim=1, stable=True), [LONG]),
    case("searchsorted", lambda s, x: torch.searchsorted(s, x), [INTEGERS.sort(1)[0], INTEGERS]),
    case("searchsorted large", lambda s, x: torch.searchsorted(s, x), [LARGE.sort(1)[0], LARGE]),
    case("searchsorted right", lambda s, x: torch.searchsorted(s, x, right=True),
         [INTEGERS.flatten().sort()[0], INTEGERS]),
    case("bucketize", lambda x, b: torch.bucketize(x, b, out_int32=True),
         [TIES, torch.tensor([-1.0, 0.0, 2.0])]),
    types=["fp32"],
)

# Sorted rows of a power of two, one more and one less, with ties and infinities.
EDGES = {size: (rand(3, size, seed=size) * 20).round().sort(1)[0] for size in (1, 2, 5, 63, 64, 65)}
EDGES[65][1, 60:], EDGES[64][0, :3] = math.inf, -math.inf
WANTED = torch.cat([(rand(3, 41, seed=2) * 21).round(), EDGES[65][:, ::3],
                    torch.tensor([[math.inf, -math.inf, math.nan]]).expand(3, 3)], 1)


def _search(edges, x):
    """Batches and one row, on both sides."""
    row = edges[1].clone()
    return (torch.searchsorted(edges, x), torch.searchsorted(edges, x, right=True, out_int32=True),
            torch.bucketize(x, row, right=True))


def _search_unsorted(edges, x):
    """In the order of a sorter."""
    mixed = edges.flip(1).roll(3, 1)
    return torch.searchsorted(mixed, x, sorter=mixed.argsort(dim=1, stable=True), right=True)


SEARCHES = group(
    "searches",
    *(case(f"search {size}", _search, [edges, WANTED]) for size, edges in EDGES.items()),
    case("search sorter", _search_unsorted, [EDGES[65], WANTED]),
    case("search images", lambda s, x: torch.searchsorted(s, x),
         [EDGES[63][:, None].repeat(1, 2, 1), WANTED[:, :42].reshape(3, 2, 21)]),
    case("search nothing", lambda s, x: torch.bucketize(x, s[:0]), [EDGES[5][0], WANTED]),
    case("search number", lambda s: torch.searchsorted(s[0], 3.5), [EDGES[64]]),
)

SCATTERS = group(
    "scatters",
    case("index_copy", lambda x, i, s: x.index_copy(0, i, s), [TABLE, FEW[3:].clone(), TABLE[:2]]),
    case("index_add", lambda x, i, s: x.index_add(0, i, s, alpha=2), [TABLE, FEW, TABLE[:5]]),
    case("index_add many", lambda x, i, s: x.index_add(0, i, s), [TABLE, MANY, rand(50, 6)]),
    case("index_fill", lambda x, i: x.index_fill(1, i, 3), [TABLE, FEW[:2].clone()]),
    case("index_reduce", lambda x, i, s: x.index_reduce(0, i, s, "amax", include_self=False),
         [TABLE, FEW, TABLE[:5]]),
    case("index_put", lambda x, i, v: x.index_put((i,), v), [TABLE, FEW, rand(6)]),
    case("index_put two", lambda x, i, v: x.index_put((i, i % 6), v, accumulate=True),
         [TABLE, MANY, rand(50)]),
    case("index_put apart", lambda x, i, v: torch.ops.aten.index_put(x, [i, None, i % 5], v),
         [X, torch.tensor([2, 0]), rand(2, 37)]),
    case("index_put mask", lambda x, m: x.masked_fill(m, 1).index_put((m,), x.sum()),
         [TABLE, TABLE > 0]),
    case("scatter", lambda x, i, s: x.scatter(1, i, s), [TABLE, NEGATIVE[1:2, None].clone(), TABLE]),
    case("scatter value", lambda x, i: x.scatter(0, i, 2.5), [TABLE, PLACES]),
    case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), [TABLE, PLACES, rand(5, 4)]),
    case("scatter_add rows", lambda x, i, s: x.scatter_add(0, i[:, None].expand(50, 6), s),
         [TABLE, MANY, rand(50, 6)]),
    case("scatter_reduce prod", lambda x, i, s: x.scatter_reduce(0, i, s, "prod"),
         [TABLE, PLACES, rand(5, 4)]),
    case("scatter_reduce mean", lambda x, i, s: x.scatter_reduce(
        0, i, s, "mean", include_self=False), [TABLE, PLACES, rand(5, 4)]),
    case("scatter_reduce amin", lambda x, i, s: x.scatter_reduce(0, i, s, "amin"),
         [TABLE, PLACES, rand(5, 4)]),
    case("masked_scatter", lambda x, m, s: x.masked_scatter(m, s), [TABLE, TABLE > 0, rand(8, 6)]),
    case("diagonal_scatter", lambda x, s: x.diagonal_scatter(s, 1), [TABLE, rand(5)]),
    case("put", lambda x, i, s: x.put(i, s, accumulate=True), [TABLE, NEGATIVE, rand(4)]),
    case("take", lambda x, i: x.take(i), [TABLE, NEGATIVE]),
    case("index apart", lambda x, i: x[i, :, i % 5], [X, torch.tensor([[2, 0], [1, 1]])]),
    case("assignment", lambda x, i: _assign(x, i), [X, torch.tensor([-1, 2, 5, 0])]),
    types=["fp32"],
)

NARROW = group(
    "narrow_scans",
    case("cumsum", lambda x: x.cumsum(1), [X]),
    case("logcumsumexp", lambda x: x.logcumsumexp(1), [X]),
    case("sort", lambda x: x.sort(dim=1, stable=True), [X]),
    case("topk", lambda x: x.topk(5, -1)[0], [ROWS]),
    case("topk long", lambda x: x.topk(5, -1)[0], [rand(2, 90)]),
    case("cumsum last", lambda x: x.cumsum(1), [rand(2, 90)], reduction=90),
    case("index_add", lambda x, i, s: x.index_add(0, i, s), [TABLE, MANY, rand(50, 6)]),
    case("index_copy", lambda x, i, s: x.index_copy(0, i, s), [TABLE, FEW[3:].clone(), TABLE[:2]]),
    types=["bf16", "fp16"],
)

INTEGER_SCATTERS = group(
    "integer_scatters",
    case("index_add", lambda x, i, s: x.index_add(1, i, s), [INTEGERS, MANY, integers(4, 50)]),
    case("scatter_reduce amax", lambda x, i, s: x.scatter_reduce(
        1, i, s, "amax", include_self=False), [INTEGERS, PLACES[:4].clone(), integers(4, 4)]),
    case("index_put", lambda x, i: x.index_put((i,), ~x[1]), [FLAGS, torch.tensor([3, 0])]),
    types=["fp32"],
)


def _assign(x, i):
    x = x.clone()
    x[:, i] = x[:, :4] * 2
    x[0, :, 2] += 1
    return x


@runs(SCANS, INTEGER_SCANS, SORTS, INTEGER_SORTS, SEARCHES, SCATTERS, INTEGER_SCATTERS, NARROW)
def test_scans(cases, dtype):
    check(cases, dtype)
