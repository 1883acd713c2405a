# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules of the breadth suite by name.

A case is a function of sizes that returns a module and its inputs. It has small sizes, which a
processor compiles and runs in a moment, and large ones, for which a GPU needs 20 us to 2 ms.
Those of size `host` follow from the large ones: one thread needs 1 to 100 ms for most.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from .scale import host_sizes

FILES = ("products", "triangles", "rows", "scans", "pointwise", "attention", "mlps", "losses",
         "convolutions", "unseen", "fresh", "large", "brought", "networks")
WEIGHT_SEED = 0

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}
MATMUL_PRECISIONS = {"fp32": "highest", "tf32": "high", "bf16": "highest"}


def set_precision(precision: str) -> None:
    """What PyTorch's products and convolutions of fp32 may use."""
    torch.set_float32_matmul_precision(MATMUL_PRECISIONS[precision])
    torch.backends.cudnn.allow_tf32 = precision != "fp32"


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Several(nn.Module):
    """Several modules in one, with their inputs one after the other."""

    def __init__(self, modules: Sequence[nn.Module], counts: Sequence[int]):
        super().__init__()
        self.parts, self.counts = nn.ModuleList(modules), list(counts)

    def forward(self, *inputs):
        results, begin = [], 0
        for module, count in zip(self.parts, self.counts):
            results.append(module(*inputs[begin:begin + count]))
            begin += count
        return results


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    build: Callable[..., tuple]
    small: tuple
    large: tuple
    # Whether 16-bit floats make sense: not for integers, for types that the module names, and for
    # ops that PyTorch has not in 16 bits.
    bf16: bool = True
    # Whether the tensors of large sizes fit into the memory of a machine that compiles. If not,
    # the compiler gets them without data.
    data: bool = True

    @property
    def identifier(self) -> str:
        return self.name.replace(".", "_")

    def sizes(self, size: str) -> tuple:
        if size == "host":
            return host_sizes(self.build, self.small, self.large)
        return getattr(self, size)

    def make(self, size: str, precision: str = "fp32") -> tuple[nn.Module, tuple[Any, ...]]:
        """The module in `eval` and its inputs, on the CPU; always the same."""
        return self.make_of(self.sizes(size), precision)

    def make_to_compile(self, size: str, precision: str) -> tuple[nn.Module, tuple[Any, ...]]:
        """The same, on the meta device where data takes too much memory."""
        device = "cpu" if self.data or size != "large" else "meta"
        with torch.device(device):
            return self.make(size, precision)

    def make_of(self, sizes: Sequence, precision: str) -> tuple[nn.Module, tuple[Any, ...]]:
        torch.manual_seed(WEIGHT_SEED)
        module, *inputs = self.build(*sizes)
        dtype = DTYPES[precision]
        if dtype == torch.float32:
            return module.eval(), tuple(inputs)
        cast = lambda x: x.to(dtype) if x.dtype == torch.float32 else x
        return module.to(dtype).eval(), pytree.tree_map_only(torch.Tensor, cast, tuple(inputs))


_CASES: dict[str, Case] = {}


def case(small: tuple, large: tuple, *, bf16: bool = True, data: bool = True,
         name: str | None = None) -> Callable:
    """Registers a function of sizes, which returns a module and its inputs."""

    def register(build: Callable[..., tuple]) -> Callable[..., tuple]:
        file = build.__module__.rpartition(".")[2]
        full = f"{file}.{name or build.__name__}"
        if full in _CASES:
            raise ValueError(f"two modules have the name '{full}'")
        _CASES[full] = Case(full, build, small, large, bf16, data)
        return build

    return register


def cases(precision: str = "fp32") -> list[Case]:
    """All modules that make sense in a precision, in the order of the files."""
    for file in FILES:
        importlib.import_module(f"{__package__}.{file}")
    return [each for each in _CASES.values() if each.bf16 or precision != "bf16"]


def together(chosen: Sequence[Case], size: str, precision: str = "fp32"):
    """Several cases as one module, for a compiler; either all or none of them have data."""
    made = [each.make_to_compile(size, precision) for each in chosen]
    return (Several([module for module, _ in made], [len(inputs) for _, inputs in made]).eval(),
            tuple(value for _, inputs in made for value in inputs))
