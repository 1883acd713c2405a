# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts a graph of ATen ops into parts for FACT and parts for PyTorch.

The graph is functional, as `torch.export` makes it, so parts need no order beyond that of
their values. Each op has a level: even for PyTorch, odd for FACT, at least that of its
operands, and higher where the two differ. Each level is one part, and no two parts wait for
each other. Ops of FACT are as late as their users allow, so that what only prepares an
operand of PyTorch is apart from the rest, and stays in PyTorch if it is small.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection

import torch
from torch import fx
from torch.export.graph_signature import InputKind
from torch.fx.passes.split_module import split_module

from .element_types import type_name
from .errors import FactError
from .export import _supported_ops
from .fx_nodes import op_of, operand_of
from .places import own_frames

# A part is worth a library if it has a product or this many ops that compute something.
FEWEST_OPS = 4

_PRODUCTS = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "convolution",
             "conv1d", "conv2d", "conv3d", "scaled_dot_product_attention")
_VIEWS = ("view", "reshape", "_unsafe_view", "permute", "transpose", "t", "squeeze", "unsqueeze",
          "expand", "select", "slice", "split", "split_with_sizes", "chunk", "unbind", "flatten",
          "unflatten", "view_as", "expand_as", "clone", "contiguous", "movedim", "narrow")


@dataclasses.dataclass
class Part:
    """A submodule of the split graph that FACT is to compile."""

    name: str
    # The placeholders of the whole graph that it reads, by number of the part's own.
    placeholders: dict[int, str]


@dataclasses.dataclass
class Split:
    module: fx.GraphModule
    parts: list[Part]


def refused_by_name(graph: fx.Graph) -> dict[fx.Node, str]:
    """The ops that FACT does not convert, or whose types it does not have, with the reason; none
    if the compiler is not installed."""
    refused, supported = {}, _supported_ops()
    for node in graph.nodes if supported else ():
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        if op_name(node) not in supported:
            refused[node] = "is not supported"
        elif reason := _refused_type(node):
            refused[node] = reason
    return refused


def op_name(node: fx.Node) -> str:
    """The name of a node's op as the compiler has it, `aten.add.Tensor`."""
    return str(node.target).removesuffix(".default")


def refused_at(graph: fx.Graph, place: tuple[str, int]) -> set[fx.Node]:
    """The ops of the line of Python that an error of the compiler names."""
    def is_there(node: fx.Node) -> bool:
        frames = own_frames(node.meta.get("stack_trace"))
        return bool(frames) and (frames[-1][0], int(frames[-1][1])) == place

    return {node for node in graph.nodes
            if node.op == "call_function" and node.target is not operator.getitem
            and is_there(node)}


def _refused_type(node: fx.Node) -> str | None:
    for value in [node, *node.all_input_nodes]:
        for leaf in torch.utils._pytree.tree_leaves(value.meta.get("val")):
            if not isinstance(leaf, torch.Tensor):
                return f"has a value of type {type(leaf).__name__}"
            try:
                type_name(leaf.dtype)
            except FactError:
                return f"has a value of {leaf.dtype}"
            if leaf.layout != torch.strided:
                return f"has a value of {leaf.layout}"
    return None


def split(program: torch.export.ExportedProgram, refused: Collection[fx.Node]) -> Split | None:
    """Splits a program in which PyTorch runs the `refused` ops; None if nothing is left for
    FACT, or if the program has branches, loops or inputs that are no tensors of its module."""
    module = program.graph_module
    if any(node.op == "get_attr" for node in module.graph.nodes) or any(
            spec.kind in (InputKind.CUSTOM_OBJ, InputKind.TOKEN)
            for spec in program.graph_signature.input_specs):
        return None
    levels = _levels(module.graph, set(refused))
    if not any(level % 2 for level in levels.values()):
        return None
    placeholders = [node.name for node in module.graph.nodes if node.op == "placeholder"]
    whole = split_module(module, module, lambda node: levels[node], keep_original_order=False)
    parts = []
    for node in whole.graph.nodes:
        if node.op == "call_module" and int(node.target.removeprefix("submod_")) % 2:
            parts.append(Part(node.target, {
                index: argument.name for index, argument in enumerate(node.args)
                if isinstance(argument, fx.Node) and argument.name in placeholders}))
    return Split(whole, parts)


def _levels(graph: fx.Graph, refused: set[fx.Node]) -> dict[fx.Node, int]:
    """The level of each op; parts of FACT that are too small are PyTorch's too."""
    ops = [node for node in graph.nodes if node.op == "call_function"]
    while True:
        levels = _assign(ops, refused)
        parts: dict[int, list[fx.Node]] = {}
        for node, level in levels.items():
            parts.setdefault(level, []).append(node)
        small = {node for level, nodes in parts.items() if level % 2 and not _is_worth(nodes)
                 for node in nodes if node.target is not operator.getitem}
        if not small:
            return levels
        refused |= small


def _assign(ops: list[fx.Node], refused: set[fx.Node]) -> dict[fx.Node, int]:
    def is_ours(node: fx.Node) -> bool:
        # An element of a tuple is where the tuple is.
        while node.target is operator.getitem:
            node = operand_of(node)
        return node not in refused

    levels: dict[fx.Node, int] = {}
    for node in ops:
        ours = is_ours(node)
        least = [1 if ours else 0]
        for operand in node.all_input_nodes:
            if operand in levels:
                least.append(levels[operand] + (is_ours(operand) != ours))
        levels[node] = max(least)
    last = max((level for level in levels.values() if level % 2), default=0)
    for node in reversed(ops):
        if not is_ours(node):
            continue
        users = [user for user in node.users if user in levels]
        levels[node] = min([levels[user] - (not is_ours(user)) for user in users], default=last)
    for node in ops:
        if node.target is operator.getitem:
            levels[node] = levels[operand_of(node)]
    return levels


def _is_worth(nodes: list[fx.Node]) -> bool:
    ops = [op_of(node)._schema.name.removeprefix("aten::") for node in nodes
           if node.target is not operator.getitem]
    return sum(op not in _VIEWS for op in ops) >= FEWEST_OPS or any(op in _PRODUCTS for op in ops)
