# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What nodes of an fx graph hold, with the types that FACT's graphs have. fx itself says no
more than that an argument is one of twenty types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


def op_of(node: torch.fx.Node) -> torch._ops.OpOverload:
    """The op that a node calls."""
    assert isinstance(node.target, torch._ops.OpOverload)
    return node.target


def function_of(node: torch.fx.Node) -> Callable[..., Any]:
    """The op or function that a node calls."""
    assert callable(node.target)
    return node.target


def operand_of(node: torch.fx.Node, index: int = 0) -> torch.fx.Node:
    """An argument that is another node."""
    operand = node.args[index]
    assert isinstance(operand, torch.fx.Node)
    return operand


def arguments_of(node: torch.fx.Node, index: int = 0) -> Iterable[Any]:
    """An argument that is a list, as of `cat` and of the output."""
    arguments = node.args[index]
    assert isinstance(arguments, Iterable)
    return arguments
