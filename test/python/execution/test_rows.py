# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, softmax and norms."""

import math

import torch
from torch.nn import functional as F

from operators import Case, check, group, integers, rand, runs

X = rand(6, 9, 40) * 3 + 0.5
SMALL = rand(33, 12, seed=1)
TIES = torch.tensor([[1.0, 3.0, 3.0, -2.0, -2.0], [0.0, 0.0, 0.0, 0.0, 0.0],
                     [2.0, math.nan, 5.0, math.nan, -7.0], [-math.inf] * 5])
CHANNELS = rand(2, 6, 5, 3, seed=2) * 2 + 1
SCALE, SHIFT = torch.linspace(0.5, 1.5, 40), torch.linspace(-0.5, 0.5, 40)
SCALE6, SHIFT6 = torch.linspace(0.5, 1.5, 6), torch.linspace(-0.5, 0.5, 6)
INTEGERS, FLAGS = integers(5, 8), rand(5, 8) > 0.8
CLASSES, FEWER = integers(33, 1, low=0, high=12), integers(20, 1, low=0, high=12)
BIAS12 = torch.linspace(-1, 1, 12)


def case(name, function, inputs, reduction=40, roundings=4):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


# Few elements of what is computed are computed from gathered operands; sums over rows of a row op
# and more are of rows first.
CHOSEN = group(
    "chosen",
    case("one class", lambda x, i: F.log_softmax(x, 1).gather(1, i), [SMALL, CLASSES], roundings=8),
    case("of fewer rows", lambda x, i: F.log_softmax(x, 1).gather(1, i), [SMALL, FEWER], roundings=8),
    case("with a bias", lambda x, b, i: ((x - x.amax(1, keepdim=True)) * b).gather(1, i),
         [SMALL, BIAS12, CLASSES]),
    case("along columns", lambda x, i: (x - x.mean(0)).gather(0, i),
         [SMALL, integers(1, 12, low=0, high=33)], reduction=33),
    case("a value per row", lambda x, i: (x - x.gather(1, i)).clamp(min=0).mean(), [SMALL, CLASSES]),
    case("rows first", lambda x: (x.softmax(1) * x).sum(), [SMALL], reduction=400, roundings=8),
    case("columns first", lambda x: (x - x.amax(0)).mean(), [SMALL], reduction=400),
    case("some rows first", lambda x: (x.softmax(2) * x).sum((1, 2)), [X], reduction=360, roundings=8),
)

REDUCTIONS = group(
    "reductions",
    case("sum", torch.sum, [SMALL]),
    case("sum last", lambda x: x.sum(-1), [X]),
    case("sum first", lambda x: x.sum(0, keepdim=True), [X]),
    case("sum two", lambda x: x.sum((0, 2)), [X], reduction=240),
    case("mean", torch.mean, [SMALL]),
    case("mean last", lambda x: x.mean(-1, keepdim=True), [X]),
    case("mean middle", lambda x: x.mean(1), [X]),
    case("amax", lambda x: x.amax(-1), [X]),
    case("amin", lambda x: x.amin((0, 1), keepdim=True), [X]),
    case("max", torch.max, [SMALL]),
    case("min", torch.min, [SMALL]),
    case("max dim", lambda x: x.max(-1), [TIES]),
    case("min dim", lambda x: x.min(0, keepdim=True), [SMALL]),
    case("argmax", lambda x: x.argmax(-1), [TIES]),
    case("argmin", lambda x: x.argmin(dim=-1, keepdim=True), [TIES]),
    case("argmax of all", torch.argmax, [SMALL]),
    case("argmin first", lambda x: x.argmin(0), [SMALL]),
    case("aminmax", lambda x: torch.aminmax(x, dim=1), [SMALL]),
    case("prod", lambda x: x[:, :3].prod(-1), [SMALL]),
    case("prod near 0", lambda x: (x * 0.125).prod(-1), [SMALL]),
    # Undefined for most inputs, and for all.
    case("log of a sum", lambda x: (x.sum() + 40).log(), [SMALL]),
    case("log of negatives", lambda x: (-1 - x.abs().sum(-1)).log(), [SMALL]),
    case("var", torch.var, [SMALL]),
    case("var last", lambda x: x.var(-1, keepdim=True), [SMALL]),
    case("var biased", lambda x: x.var(0, unbiased=False), [SMALL]),
    case("std", lambda x: x.std(-1), [SMALL]),
    case("var_mean", lambda x: torch.var_mean(x, dim=-1), [SMALL]),
    case("std_mean", lambda x: torch.std_mean(x, dim=0, correction=2), [SMALL]),
    case("norm", lambda x: x.norm(dim=-1), [SMALL]),
    case("norm 1", lambda x: x.norm(p=1, dim=-1), [SMALL]),
    case("norm inf", lambda x: torch.linalg.vector_norm(x, math.inf, dim=-1), [SMALL]),
    case("normalize", lambda x: F.normalize(x, dim=-1), [SMALL]),
    case("of nothing", lambda x: (x.sum(1) + 1, x.mean(1), x.prod(1)), [rand(3, 0)]),
)

INTEGER_ROWS = group(
    "integer_reductions",
    case("sum", lambda x: x.sum(-1), [INTEGERS]),
    case("sum of booleans", lambda x: x.sum(0), [FLAGS]),
    case("prod", lambda x: x.prod(-1), [INTEGERS]),
    case("amax", lambda x: x.amax(0), [INTEGERS]),
    case("argmax", lambda x: x.argmax(-1), [INTEGERS]),
    case("any", torch.any, [FLAGS]),
    case("any dim", lambda x: x.any(-1), [FLAGS]),
    case("all dim", lambda x: (~x).all(0, keepdim=True), [FLAGS]),
    case("all of floats", lambda x: (x.all(-1), x.any(-1)), [TIES]),
    case("any of nothing", lambda x: (x.any(1), x.all(1)), [torch.zeros(3, 0, dtype=torch.bool)]),
    case("count_nonzero", lambda x: torch.count_nonzero(x, dim=-1), [INTEGERS]),
    types=["fp32"],
)

NORMS = group(
    "norms",
    case("softmax", lambda x: F.softmax(x, -1), [X]),
    case("softmax first", lambda x: F.softmax(x, 0), [X]),
    case("softmax with -inf", lambda x, m: F.softmax(x.masked_fill(m, -math.inf), -1),
         [SMALL, torch.arange(12) % 3 == 0]),
    case("softmax of -inf alone", lambda x: F.softmax(x, -1), [TIES]),
    case("log_softmax", lambda x: F.log_softmax(x, -1), [X]),
    case("log_softmax middle", lambda x: F.log_softmax(x, 1), [X]),
    case("logsumexp", lambda x: x.logsumexp(-1), [X]),
    case("logsumexp two", lambda x: x.logsumexp((0, 1), keepdim=True), [SMALL]),
    case("logsumexp of infinities", lambda x: x.logsumexp(-1), [TIES]),
    case("softmin", lambda x: F.softmin(x, -1), [SMALL]),
    case("layer_norm", lambda x, w, b: F.layer_norm(x, (40,), w, b), [X, SCALE, SHIFT]),
    case("layer_norm bare", lambda x: F.layer_norm(x, (9, 40), eps=1e-3), [X], reduction=360),
    case("rms_norm", lambda x, w: F.rms_norm(x, (40,), w, 1e-5), [X, SCALE]),
    case("rms_norm written", lambda x, w: x * torch.rsqrt(
        x.pow(2).mean(-1, keepdim=True) + 1e-5) * w, [X, SCALE]),
    case("group_norm", lambda x, w, b: F.group_norm(x, 3, w, b), [CHANNELS, SCALE6, SHIFT6]),
    case("group_norm bare", lambda x: F.group_norm(x, 2, eps=1e-3), [CHANNELS]),
)


@runs(REDUCTIONS, CHOSEN, NORMS, INTEGER_ROWS)
def test_rows(cases, dtype):
    check(cases, dtype)
