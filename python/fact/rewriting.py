# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites nodes of an exported program whose operands are represented by other tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from . import constants
from .decompositions import copy_form


def change_stored(program: torch.export.ExportedProgram, target: str,
                  function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Replaces a parameter, a buffer or a constant by a function of it."""
    store = program.constants if target in program.constants else program.state_dict
    with unset_fake_temporarily(), torch.no_grad():
        store[target] = function(store[target].detach())


def rewritten(program: torch.export.ExportedProgram, node: torch.fx.Node,
              parts: dict[torch.fx.Node, Any], evaluate: Callable[[tuple, dict], Any]) -> Any:
    """What `evaluate` makes of a node's arguments, as nodes before it.

    `parts` has what stands for nodes: classes that pytree knows, of nodes. `evaluate` gets the
    arguments with such objects of tensors in place of nodes, and may return such objects.
    """
    operands = node.all_input_nodes
    flat, structure = pytree.tree_flatten([parts.get(operand, operand) for operand in operands])
    shape: pytree.TreeSpec | None = None

    def call(*tensors):
        nonlocal shape
        of = dict(zip(operands, pytree.tree_unflatten(list(tensors), structure)))
        args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda n: of[n])
        leaves, shape = pytree.tree_flatten(evaluate(args, kwargs))
        return tuple(leaves)

    # An op without operands has the program's mode too.
    with constants.fake_mode(program.graph) or contextlib.nullcontext():
        form = make_fx(call, tracing_mode="fake", pre_dispatch=False)(
            *(one.meta["val"] for one in flat))
    assert shape is not None
    return pytree.tree_unflatten(copy_form(
        program.graph, node, form, flat, lambda tensor: constants.lift(program, tensor)), shape)
