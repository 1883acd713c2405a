# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands for selected rows, and for numbers that depend on values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..forms.table import registers_in

aten = torch.ops.aten


def beside(mask: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return mask.reshape(*mask.shape, *[1] * (x.dim() - mask.dim()))


@dataclasses.dataclass
class Selection:
    """Rows `rows[i]` with `mask[i]`, in order. Masks are equal if they have the same name."""

    rows: torch.Tensor
    mask: torch.Tensor
    name: Any

    def like(self, rows: torch.Tensor) -> Selection:
        return Selection(rows, self.mask, self.name)

    def others(self, value: Any) -> torch.Tensor:
        """All rows, with a value in place of those that are not selected."""
        return torch.where(beside(self.mask, self.rows), self.rows, value)


@dataclasses.dataclass
class Places(Selection):
    """The places of a mask of one dimension: row i is i."""


@dataclasses.dataclass
class Behind:
    """A selection behind a dimension of one element, as `x[None, place]` is."""

    selection: Selection | Behind


@dataclasses.dataclass
class Count:
    """How many rows a mask selects."""

    mask: torch.Tensor


@dataclasses.dataclass
class Number:
    value: torch.Tensor


for kind in (Selection, Places):
    pytree.register_pytree_node(
        kind, lambda x: ([x.rows, x.mask], (type(x), x.name)), lambda parts, of: of[0](*parts, of[1]))
pytree.register_pytree_node(Behind, lambda x: ([x.selection], None), lambda parts, _: Behind(*parts))
pytree.register_pytree_node(Count, lambda x: ([x.mask], None), lambda parts, _: Count(*parts))
pytree.register_pytree_node(Number, lambda x: ([x.value], None), lambda parts, _: Number(*parts))

KINDS = Selection, Behind, Count, Number


def leaves_of(arguments: Any) -> list:
    return pytree.tree_leaves(arguments, is_leaf=lambda leaf: isinstance(leaf, KINDS))


def mapped(function: Callable, arguments: Any) -> Any:
    return pytree.tree_map(function, arguments, is_leaf=lambda leaf: isinstance(leaf, KINDS))


def selections_of(arguments: Any) -> list[Selection]:
    return [leaf for leaf in leaves_of(arguments) if isinstance(leaf, Selection)]


# By op. An op that does not take some arguments raises NotImplementedError.
TABLE: dict[torch._ops.OpOverload | str, Callable] = {}
selected_form = registers_in(TABLE)


def is_known_late(node: torch.fx.Node) -> bool:
    """Whether a node's size, or the number that it is, is known only when it is computed."""
    return any(isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) or
               (isinstance(value, torch.Tensor)
                and any(isinstance(size, torch.SymInt) for size in value.shape))
               for value in pytree.tree_leaves(node.meta.get("val")))
