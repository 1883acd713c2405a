# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms by op, and which ops need one for their arguments."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..fx_nodes import operand_of

aten = torch.ops.aten

# Each form has the parameters of its op. One that does not take some arguments raises
# NotImplementedError.
TABLE: dict[torch._ops.OpOverload | str, Callable] = {}


def registers_in(table: dict) -> Callable:
    """A decorator with ops as parameters, which puts a function into a table as their form."""
    def form_of(*ops: torch._ops.OpOverload | str):
        def register(function: Callable) -> Callable:
            table.update(dict.fromkeys(ops, function))
            return function

        return register

    return form_of


# Ops of libraries that may not be loaded have names: `library.op.overload`.
form = registers_in(TABLE)


def own_form(op: Any) -> Callable | None:
    """FACT's form of an op."""
    return TABLE.get(op) or TABLE.get(str(op))


# The values of operands that are constants, while a form is traced, by the operands' identity.
_VALUES: dict[int, torch.Tensor] = {}


@contextlib.contextmanager
def known_values(values: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> Iterator[None]:
    """Gives forms the values of operands."""
    _VALUES.update({id(operand): value for operand, value in values})
    try:
        yield
    finally:
        _VALUES.clear()


def numbers_of(operand: torch.Tensor) -> list | None:
    """The elements of an operand that is a constant, as numbers in lists."""
    value = _VALUES.get(id(operand))
    with _disable_current_modes():
        return None if value is None else value.tolist()


def is_exception(node: torch.fx.Node) -> bool:
    """Whether a supported op has arguments that its conversion does not take."""
    def argument(index: int, name: str, default):
        return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)

    if node.target is aten.pad.default:
        return argument(2, "mode", "constant") != "constant"
    if node.target is aten.linalg_vector_norm.default:
        return argument(1, "ord", 2) not in (1, 2, math.inf, -math.inf)
    if node.target is aten.unfold.default:
        return bool(node.args[2] == 0) or not operand_of(node).meta["val"].dim()
    if node.target is aten.convolution.default:
        # Transposed, or of one channel per group.
        transposed, groups = node.args[6], node.args[8]
        assert isinstance(groups, int)
        return bool(transposed) or (groups > 1 and operand_of(node, 1).meta["val"].shape[1] == 1)
    if node.target is aten.slice_scatter.default:
        return argument(5, "step", 1) != 1
    return False


def per_dimension(value, dims: int) -> list[int]:
    """A parameter of a pool or convolution: one number for all dimensions, or one for each."""
    value = [value] if isinstance(value, int) else list(value)
    return value * dims if len(value) == 1 else value


_LIBRARY = torch.library.Library("fact", "DEF")
_LIBRARY.define("windows(Tensor x, int dim, int[] kernel, int[] strides, int[] dilations) "
                "-> Tensor")


@torch.library.impl(_LIBRARY, "windows", "CompositeExplicitAutograd")
def _windows(x, dim, kernel, strides, dilations):
    """`fact.windows` in PyTorch's terms."""
    count = len(kernel)
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
        # The places in a window come last.
        x = x.unfold(dim + i, (k - 1) * d + 1, s)[..., ::d]
    rank = x.dim() - count
    order = [*range(dim + count), *range(rank, rank + count), *range(dim + count, rank)]
    return x.permute(order).contiguous()


# A product of f32 as exact as IEEE f32, also where the program's other products are TF32.
_LIBRARY.define("strict_matmul(Tensor x, Tensor y) -> Tensor")


@torch.library.impl(_LIBRARY, "strict_matmul", "CompositeExplicitAutograd")
def _strict_matmul(x, y):
    return torch.matmul(x, y)


def windows_of(x: torch.Tensor, dims: int, kernel: list[int], stride: list[int],
               dilation: list[int]) -> torch.Tensor:
    """Windows of the last dimensions: [..., number of windows..., kernel...]."""
    return torch.ops.fact.windows(x, x.dim() - dims, kernel, stride, dilation)


def window_places(x: torch.Tensor, counts: list[int], kernel: list[int], stride: list[int],
                  dilation: list[int]) -> Iterator[tuple[tuple[int, ...], torch.Tensor]]:
    """For each place in a window of the last dimensions, its elements in all windows."""
    for place in itertools.product(*map(range, kernel)):
        part = x
        for dim, (offset, count, s, d) in enumerate(zip(place, counts, stride, dilation),
                                                    x.dim() - len(kernel)):
            part = aten.slice(part, dim, offset * d, offset * d + (count - 1) * s + 1, s)
        yield place, part


def spread(x: torch.Tensor, dim: int, stride: int) -> torch.Tensor:
    """Elements of a dimension with zeros between them."""
    wide = torch.cat([x.unsqueeze(dim + 1)] +
                     [torch.zeros_like(x).unsqueeze(dim + 1)] * (stride - 1), dim + 1)
    return aten.slice(wide.flatten(dim, dim + 1), dim, 0, (x.shape[dim] - 1) * stride + 1)


def of_channels(vector: torch.Tensor, rank: int) -> torch.Tensor:
    """A value per channel, for a tensor of `rank` with channels in dimension 1."""
    return vector.reshape([-1] + [1] * (rank - 2))
