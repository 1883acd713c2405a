# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions in which rounding errors grow: sums that cancel next to a pole, large angles of 16 bits."""

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
    yield from _of_narrow_values()


def _of_narrow_values():
    """A quarter of the products are between two neighbors in f16, which rounding chooses from."""
    y = randn(512, 71, seed=5).abs() + 0.5
    angles = 20 + randn(512, 71, seed=6)
    between = (angles * 64).round() / 64 + 1 / 128
    x = torch.where(torch.arange(512)[:, None] % 4 == 0, between.double() / y.double(), angles / y).float()
    t, h = type_of(x), tensor((512, 71), "f16")
    for name, function in {"cos": torch.cos, "sin": torch.sin}.items():
        yield Region(f"narrow-{name}", [x, y],
                     [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}", f"%1 = fact.cast %0 : ({t}) -> {h}",
                      f"%2 = fact.cast %1 : ({h}) -> {t}", f"%3 = fact.{name} %2 : ({t}) -> {t}"],
                     [("%3", t)],
                     lambda x, y, function=function: [function((x * y).half().to(x.dtype))])
