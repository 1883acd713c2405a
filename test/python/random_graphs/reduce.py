# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing graph small: delta reduction over its outputs and nodes.

A step proposes every simpler graph that is one change away, checks all of them at once,
and goes on from the smallest that still fails.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import torch

from .graph import Graph, Leaf, Node, evaluate

Fails = Callable[[Sequence[Graph]], list[bool]]


def reduce(graph: Graph, fails: Fails, steps: int = 40) -> Graph:
    """The smallest failing graph that single changes lead to."""
    for _ in range(steps):
        proposals = [g for g in simpler(graph) if size(g) < size(graph)]
        failing = [g for g, failed in zip(proposals, fails(proposals)) if failed]
        if not failing:
            return graph
        graph = min(failing, key=size)
    return graph


def size(graph: Graph) -> tuple[int, int, int]:
    return len(graph.nodes), len(graph.outputs), len(graph.leaves)


def simpler(graph: Graph) -> list[Graph]:
    """One output alone; a node's operand in its place; a new input in its place."""
    found = [prune(dataclasses.replace(graph, outputs=(output,)))
             for output in graph.outputs if len(graph.outputs) > 1]
    for index in range(len(graph.nodes)):
        # The last nodes may go altogether, and what they used be returned.
        found += [prune(g) for g in (drop_output(graph, index), *bypass(graph, index),
                                     cut(graph, index)) if g is not None]
    unique = {(g.leaves, g.nodes, g.outputs): g for g in found if g.nodes}
    return list(unique.values())


def values_of(graph: Graph) -> list[torch.Tensor]:
    leaves = [torch.empty(leaf.shape, dtype=leaf.dtype, device="meta") for leaf in graph.leaves]
    return evaluate(graph, leaves)


def drop_output(graph: Graph, index: int) -> Graph | None:
    """Returns a node's operands in place of a node that is returned."""
    number = len(graph.leaves) + index
    if number not in graph.outputs:
        return None
    operands = [o for o in graph.nodes[index].operands if o >= len(graph.leaves)]
    outputs = tuple(dict.fromkeys([o for o in graph.outputs if o != number] + operands))
    return dataclasses.replace(graph, outputs=outputs) if outputs else None


def bypass(graph: Graph, index: int) -> list[Graph]:
    """The node's users read one of its operands, where that has the same shape and type."""
    values, number = values_of(graph), len(graph.leaves) + index
    return [substitute(graph, number, operand) for operand in set(graph.nodes[index].operands)
            if values[operand].shape == values[number].shape
            and values[operand].dtype == values[number].dtype]


def substitute(graph: Graph, old: int, new: int) -> Graph:
    nodes = tuple(Node(node.text, tuple(new if o == old else o for o in node.operands))
                  for node in graph.nodes)
    outputs = tuple(dict.fromkeys(new if o == old else o for o in graph.outputs))
    outputs = tuple(o for o in outputs if o >= len(graph.leaves)) or graph.outputs
    return dataclasses.replace(graph, nodes=nodes, outputs=outputs)


def cut(graph: Graph, index: int) -> Graph | None:
    """The node becomes an input of its shape and type."""
    number = len(graph.leaves) + index
    if graph.outputs == (number,):
        return None
    value = values_of(graph)[number]
    leaf, at = Leaf(value.dtype, tuple(value.shape)), len(graph.leaves)

    def renumber(o: int) -> int:
        return at if o == number else o + (o >= at)

    nodes = tuple(Node(node.text, tuple(renumber(o) for o in node.operands))
                  for node in graph.nodes)
    outputs = tuple(renumber(o) for o in graph.outputs if o != number)
    return dataclasses.replace(graph, leaves=(*graph.leaves, leaf), nodes=nodes, outputs=outputs)


def prune(graph: Graph) -> Graph:
    """Without what no output needs. Leaves keep their numbers, and so their values."""
    first = len(graph.leaves)
    needed, pending = set(), list(graph.outputs)
    while pending:
        number = pending.pop()
        if number in needed:
            continue
        needed.add(number)
        if number >= first:
            pending += graph.nodes[number - first].operands
    leaves = list(graph.leaves)
    while leaves and len(leaves) - 1 not in needed:
        leaves.pop()
    kept = [n for n in range(first, first + len(graph.nodes)) if n in needed]
    numbers = {n: n for n in range(len(leaves))}
    numbers.update({n: len(leaves) + i for i, n in enumerate(kept)})
    nodes = tuple(Node(graph.nodes[n - first].text,
                       tuple(numbers[o] for o in graph.nodes[n - first].operands)) for n in kept)
    outputs = tuple(numbers[o] for o in graph.outputs)
    return dataclasses.replace(graph, leaves=tuple(leaves), nodes=nodes, outputs=outputs)
