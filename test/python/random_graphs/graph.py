# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs as data: leaves, and nodes that are expressions of earlier values.

A node's text is Python with `{0}`, `{1}` for its operands, so that running a graph, printing
it as a module and reducing it all work on the same thing. `cast` rounds in a compiled
program and keeps fp64 where the truth is computed.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An input, or with `weight` a parameter. `scale` keeps products near 1."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    weight: bool = False
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Node:
    text: str
    operands: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Graph:
    """Values are numbered: leaves first, then nodes. `planted` are values that are put
    here and there into inputs that are not weights."""

    seed: int
    leaves: tuple[Leaf, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    planted: tuple[float, ...] = ()

    def leaf_values(self) -> list[torch.Tensor]:
        return [leaf_value(self.seed, index, leaf, self.planted)
                for index, leaf in enumerate(self.leaves)]


def leaf_value(seed: int, index: int, leaf: Leaf, planted: Sequence[float] = ()) -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {index}".encode()))
    if leaf.dtype == torch.bool:
        return torch.rand(leaf.shape, generator=generator) < 0.5
    if not leaf.dtype.is_floating_point:
        return torch.randint(-3, 4, leaf.shape, generator=generator, dtype=leaf.dtype)
    value = (torch.randn(leaf.shape, generator=generator) * leaf.scale).to(leaf.dtype)
    if planted and not leaf.weight:
        places = torch.randint(value.numel(), [1 + value.numel() // 200], generator=generator)
        which = torch.randint(len(planted), places.shape, generator=generator)
        value.view(-1)[places] = torch.tensor(planted, dtype=leaf.dtype)[which]
    return value


def _round(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype)


def _keep(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(torch.float64 if dtype.is_floating_point else dtype)


def evaluate_node(node: Node, values: Sequence[Any], exact: bool = False) -> torch.Tensor:
    names = [f"v{operand}" for operand in node.operands]
    scope = {"torch": torch, "F": F, "cast": _keep if exact else _round,
             **{name: values[operand] for name, operand in zip(names, node.operands)}}
    return eval(node.text.format(*names), scope)


def evaluate(graph: Graph, leaves: Sequence[torch.Tensor], exact: bool = False,
             after: Callable[[int, torch.Tensor], torch.Tensor] | None = None):
    """All values of a graph; `after` sees each by its number and may replace it."""
    values = list(leaves)
    if after:
        values = [after(index, value) for index, value in enumerate(values)]
    for node in graph.nodes:
        value = evaluate_node(node, values, exact)
        values.append(after(len(values), value) if after else value)
    return values


def double(value: torch.Tensor) -> torch.Tensor:
    return value.double() if value.is_floating_point() else value


class Graphs(nn.Module):
    """Many graphs as one module: the inputs of all, one after the other, and a list of
    results for each."""

    def __init__(self, graphs: Sequence[Graph]):
        super().__init__()
        self.graphs = list(graphs)
        for number, graph in enumerate(self.graphs):
            for index, (leaf, value) in enumerate(zip(graph.leaves, graph.leaf_values())):
                if leaf.weight:
                    self.register_parameter(f"w{number}_{index}",
                                            nn.Parameter(value, requires_grad=False))

    def inputs(self) -> list[torch.Tensor]:
        return [value for graph in self.graphs
                for leaf, value in zip(graph.leaves, graph.leaf_values()) if not leaf.weight]

    def forward(self, *inputs):
        rest, results = iter(inputs), []
        for number, graph in enumerate(self.graphs):
            leaves = [getattr(self, f"w{number}_{index}") if leaf.weight else next(rest)
                      for index, leaf in enumerate(graph.leaves)]
            values = evaluate(graph, leaves)
            results.append([values[output] for output in graph.outputs])
        return results


# Printing.


def source(graph: Graph) -> str:
    """A stand-alone module that `fact compile` takes and that, run, compares with fp64."""
    parameters = [f"        self.v{i} = nn.Parameter(value({graph.seed}, {i}, "
                  f"{_leaf_arguments(graph, leaf)}), requires_grad=False)"
                  for i, leaf in enumerate(graph.leaves) if leaf.weight]
    inputs = [i for i, leaf in enumerate(graph.leaves) if not leaf.weight]
    reads = [f"        v{i} = self.v{i}" for i, leaf in enumerate(graph.leaves) if leaf.weight]
    lines = [f"        v{len(graph.leaves) + i} = "
             + node.text.format(*[f"v{operand}" for operand in node.operands])
             for i, node in enumerate(graph.nodes)]
    values = [f"value({graph.seed}, {i}, {_leaf_arguments(graph, graph.leaves[i])})" for i in inputs]
    return _SOURCE.format(
        seed=graph.seed,
        parameters="\n".join(parameters) or "        pass",
        arguments="".join(f", v{i}" for i in inputs),
        body="\n".join(reads + lines),
        outputs=", ".join(f"v{output}" for output in graph.outputs),
        inputs=",\n            ".join(values))


def _leaf_arguments(graph: Graph, leaf: Leaf) -> str:
    planted = graph.planted if not leaf.weight and leaf.dtype.is_floating_point else ()
    return (f"{leaf.dtype}, {list(leaf.shape)}, {leaf.scale!r}"
            + (f", {[str(number) for number in planted]}" if planted else ""))


_SOURCE = '''\
"""Reduced from random graph {seed}. Run it: it compares the compiled module with fp64."""

import zlib

import torch
from torch import nn
from torch.nn import functional as F


def value(seed, index, dtype, shape, scale, planted=()):
    generator = torch.Generator().manual_seed(zlib.crc32(f"{{seed}} {{index}}".encode()))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if not dtype.is_floating_point:
        return torch.randint(-3, 4, shape, generator=generator, dtype=dtype)
    made = (torch.randn(shape, generator=generator) * scale).to(dtype)
    if planted:
        places = torch.randint(made.numel(), [1 + made.numel() // 200], generator=generator)
        which = torch.randint(len(planted), places.shape, generator=generator)
        made.view(-1)[places] = torch.tensor([float(p) for p in planted], dtype=dtype)[which]
    return made


EXACT = False


def cast(x, dtype):
    return x.to(torch.float64 if EXACT and dtype.is_floating_point else dtype)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{parameters}

    def forward(self{arguments}):
{body}
        return [{outputs}]


def get_inputs():
    return [{inputs}]


if __name__ == "__main__":
    import fact
    from fact import verify

    module, inputs = Model(), get_inputs()
    found = fact.compile(module, inputs, target="host", candidates=1, verify=False)(*inputs)
    EXACT = True
    for number, (out, ref) in enumerate(zip(found, verify.reference(module, inputs))):
        print(number, out.dtype, tuple(out.shape), verify.compare(out, ref))
'''
