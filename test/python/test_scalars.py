# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise ops against PyTorch in fp64, over all bf16 values and grids of pairs.

The truth is PyTorch's function of the same values in fp64. A result is the nearest bf16 of
an fp32 computation, so it is at most one step away from the nearest bf16 of the truth, and
usually equal. All functions are one module, since a compilation costs more than they do.
"""

import os

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import toolchain

# `make check` has built everything, so there nothing may be skipped.
if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "clamp": lambda x: torch.clamp(x, -0.5, 0.75),
    "clamp_min": lambda x: torch.clamp(x, min=-0.5),
    "clamp_max": lambda x: torch.clamp(x, max=0.75),
    "cast": lambda x: x.float(),
}

BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "pow": torch.pow,
    "compare": lambda x, y: comparisons(x, y),
    "not_equal": torch.ne,
    "select": lambda x, y: torch.where(x < y, x, y),
}

# The host's logarithm takes denormal numbers for the smallest normal one.
NORMAL_ONLY = {"log"}

# fp32 rounds the 1 in x (1 + erf(...)) and (1 + tanh(...)), in PyTorch too, so that the
# result is right to 2^-24 of x only.
CANCELLING = {"gelu", "gelu_tanh"}


def comparisons(x, y):
    """A number whose digits say which comparisons hold."""
    digits = torch.zeros_like(x)
    for digit, holds in enumerate((x == y, x != y, x < y, x <= y, x > y, x >= y)):
        digits = digits + torch.where(holds, 2.0**digit, 0.0)
    return digits


class Functions(nn.Module):
    def forward(self, x, y, z):
        results = {name: op(x) for name, op in UNARY.items()}
        results.update({name: op(y, z) for name, op in BINARY.items()})
        return results


def every_bf16() -> torch.Tensor:
    return torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)


def pairs() -> tuple[torch.Tensor, torch.Tensor]:
    some = torch.cat([torch.tensor([0.0, -0.0, 1, -1, 2, -2, 3, 0.5, torch.inf, -torch.inf,
                                    torch.nan], dtype=torch.bfloat16), every_bf16()[::277]])
    # Signaling NaNs become quiet in fp64 but not in fp32: pow(1, x) tells them apart.
    some[some.isnan()] = torch.nan
    x, y = torch.meshgrid(some, some, indexing="ij")
    return x.flatten(), y.flatten()


@pytest.fixture(scope="module")
def inputs():
    return every_bf16(), *pairs()


@pytest.fixture(scope="module")
def results(inputs):
    return fact.compile(Functions(), inputs, target="host", options=["--candidates=1"])(*inputs)


def steps(result: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """The distance of two 16-bit results, counted in numbers of the type between them."""
    def order(x):
        bits = x.view(torch.int16).int()
        return torch.where(bits < 0, -32768 - bits, bits)

    return (order(result) - order(exact)).abs()


def compare(name, found, exact, *operands):
    if not found.dtype.is_floating_point or found.dtype == torch.float32:
        exact = exact.to(found.dtype)
        wrong = ~((found == exact) | (found.isnan() & exact.isnan()))
    else:
        nearest = exact.to(found.dtype)
        wrong = steps(found, nearest) > 1
        # Results below fp32's smallest normal number may be 0.
        scale = operands[0].double().abs().clamp(min=1)
        floor = scale * 2.0**-126
        if name in CANCELLING:
            floor = floor + scale * 2.0**-23
        wrong &= ~((found.double() - exact).abs() <= floor)
        # Only what is not a number in PyTorch is not a number, and the same for infinities.
        wrong |= found.isnan() != nearest.isnan()
        wrong &= ~(found.isnan() & nearest.isnan())
        if name in NORMAL_ONLY:
            denormal = (operands[0] != 0) & (operands[0].float().abs() < 2.0**-126)
            wrong &= ~denormal
    if wrong.any():
        at = int(wrong.nonzero()[0])
        values = ", ".join(str(float(x[at])) for x in operands)
        pytest.fail(f"{name}({values}) is {found[at].item()}, and {exact[at].item()} is right; "
                    f"{int(wrong.sum())} of {wrong.numel()} values are wrong")


@pytest.mark.parametrize("name", UNARY)
def test_unary(inputs, results, name):
    x = inputs[0]
    compare(name, results[name], UNARY[name](x.double()), x)


@pytest.mark.parametrize("name", BINARY)
def test_binary(inputs, results, name):
    y, z = inputs[1:]
    compare(name, results[name], BINARY[name](y.double(), z.double()), y, z)
