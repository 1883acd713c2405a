# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions in which rounding errors grow: sums that cancel next to a pole."""

import torch

from .region import Region, tensor, type_of
from .suite import randn


def growing():
    x = randn(512, 71)
    # Sums that are nearly 0 in a quarter of the rows.
    x[::4, -1] = -x[::4, :-1].sum(-1) + 1e-4 * randn(128, seed=3)
    t, s = type_of(x), tensor((512, 1), "f32")
    total = f"%0 = fact.reduce sum %a0 dims [1] keep : ({t}) -> {s}"
    functions = {
        "reciprocal": torch.reciprocal,
        "log": torch.log,
        "sqrt": torch.sqrt,
        "rsqrt": torch.rsqrt,
    }
    for name, function in functions.items():
        yield Region(name, [x], [total, f"%1 = fact.{name} %0 : ({s}) -> {s}"], [("%1", s)],
                     lambda x, function=function: [function(x.sum(-1, keepdim=True))])
    yield Region("div", [x], [total, f"%1 = fact.div %a0, %0 : ({t}, {s}) -> {t}"], [("%1", t)],
                 lambda x: [x / x.sum(-1, keepdim=True)])
