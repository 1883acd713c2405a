# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites the nodes of an exported program that depend on values."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..errors import FactError
from ..export_errors import depends_on_values
from ..fx_nodes import arguments_of, operand_of
from ..places import line_of
from ..rewriting import rewritten
from .evaluation import SELECTING, result_of
from .parts import KINDS, Behind, Count, Number, Selection, is_known_late, leaves_of

aten = torch.ops.aten


def remove(program: torch.export.ExportedProgram) -> None:
    graph = program.graph
    if not any(is_known_late(node) for node in graph.nodes):
        return
    for node in reversed(list(graph.nodes)):
        # What PyTorch asserts of sizes holds for all rows too.
        if node.target in (aten._assert_scalar.default, aten.sym_constrain_range.default,
                           aten.sym_constrain_range_for_size.default) or \
                (not node.users and not isinstance(node.meta.get("val"), torch.Tensor)
                 and node.op == "call_function"):
            graph.erase_node(node)
    parts: dict[torch.fx.Node, Any] = {}
    names: dict[Any, int] = {}
    for node in list(graph.nodes):
        if node.op == "output":
            for result in node.all_input_nodes:
                if isinstance(parts.get(result), (Number, Count)):
                    raise FactError(f"the result '{result.name}'{line_of(result)} is a number that depends "
                                    "on values: return a tensor")
                if result in parts:
                    raise _refusal(result)
        elif node.op == "call_function" and (
                is_known_late(node) or any(n in parts for n in node.all_input_nodes)):
            _rewrite(program, node, parts, names)
    graph.eliminate_dead_code()
    program.graph_module.recompile()


def _name(node: torch.fx.Node, names: dict) -> int:
    """Equal for nodes that compute the same: masks are often written twice."""
    if node not in names:
        is_computed = node.op == "call_function" and \
            torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ())
        leaves, structure = pytree.tree_flatten((node.args, dict(node.kwargs)))
        key = (str(node.target), str(structure), *(
            _name(leaf, names) if isinstance(leaf, torch.fx.Node) else repr(leaf) for leaf in leaves))
        # A number, since names of names would be long.
        names[node] = names.setdefault(key, len(names)) if is_computed else len(names)
    return names[node]


def _refusal(node: torch.fx.Node) -> FactError:
    value = node.meta.get("val")
    what = f"the size of the result of '{node.target}'" \
        if isinstance(value, (torch.Tensor, tuple, list)) else f"the result of '{node.target}'"
    return FactError(depends_on_values(what, line_of(node)))


def _mask_of(node: torch.fx.Node) -> torch.fx.Node:
    """The operand by which an op selects: among others, the first index."""
    if node.target in (aten.index.Tensor, aten.index_put.default):
        return next(index for index in arguments_of(node, 1) if index is not None)
    return operand_of(node, 1 if node.target is aten.masked_select.default else 0)


def _rewrite(program, node: torch.fx.Node, parts: dict, names: dict) -> None:
    if node.target is operator.getitem and node.args[0] in parts:
        parts[node] = parts[node.args[0]][node.args[1]]
        return
    name = _name(_mask_of(node), names) if node.target in SELECTING else -1

    def evaluate(args, kwargs):
        made = result_of(node, name, args, kwargs)
        for one, value in zip(leaves_of(made), pytree.tree_leaves(node.meta["val"]), strict=True):
            if isinstance(value, torch.Tensor) and not _stands_for(one, value.shape, value.dtype):
                raise NotImplementedError
        return made

    try:
        made = rewritten(program, node, parts, evaluate)
    except NotImplementedError:
        given = [n for n in node.all_input_nodes if n in parts and not isinstance(parts[n], Number)]
        raise _refusal(node if is_known_late(node) or not given else given[0]) from None
    if any(isinstance(leaf, KINDS) for leaf in leaves_of(made)):
        parts[node] = made
    else:
        node.replace_all_uses_with(made)
        program.graph.erase_node(node)


def _stands_for(made: Any, shape: torch.Size, dtype: torch.dtype) -> bool:
    """Whether it has a value's shape, but for the number of rows, and its type."""
    if isinstance(made, Behind):
        return shape[0] == 1 and _stands_for(made.selection, shape[1:], dtype)
    if isinstance(made, Selection):
        return made.rows.shape == (made.mask.shape[0], *shape[1:]) and made.rows.dtype == dtype
    return made.shape == shape and made.dtype == dtype
