# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of ops whose operands are tensors, selections and numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .parts import (
    TABLE,
    Behind,
    Count,
    Number,
    Places,
    Selection,
    beside,
    is_known_late,
    leaves_of,
    mapped,
    selected_form,
    selections_of,
)
from .rows import row_by_row

aten = torch.ops.aten


def result_of(node: torch.fx.Node, name: int, args: tuple, kwargs: dict) -> Any:
    target = node.target
    if target in TABLE:
        return TABLE[target](*args, **kwargs)
    if target in SELECTING:
        return SELECTING[target](name, *args, **kwargs)
    if any(isinstance(leaf, Behind) for leaf in leaves_of((args, kwargs))):
        return _in_front(target, *args)
    selections = selections_of((args, kwargs))
    if not selections:
        if any(isinstance(value, torch.Tensor) for value in pytree.tree_leaves(node.meta["val"])) and \
                is_known_late(node):
            raise NotImplementedError
        return _with_numbers(node, args, kwargs)
    if any(one.name != selections[0].name for one in selections) or \
            not isinstance(target, torch._ops.OpOverload):
        raise NotImplementedError
    return row_by_row(node, selections[0], args, kwargs)


def _with_numbers(node: torch.fx.Node, args: tuple, kwargs: dict) -> Any:
    """An op or a function of Python, of numbers that are tensors."""
    def tensor_of(leaf):
        if isinstance(leaf, Count):
            return leaf.mask.sum()
        return leaf.value if isinstance(leaf, Number) else leaf

    args, kwargs = mapped(tensor_of, (args, kwargs))
    target = node.target
    if target in _FORMS:
        return _FORMS[target](*args, **kwargs)
    if isinstance(target, torch._ops.OpOverload):
        if any(isinstance(argument.type, torch.ListType) and any(
                isinstance(size, torch.Tensor) for size in pytree.tree_leaves(given))
               and str(argument.type.getElementType()) in ("int", "SymInt")
               for argument, given in zip(target._schema.arguments, args)):
            raise NotImplementedError  # It is a size.
        return pytree.tree_map(lambda result, value: result.to(value.dtype),
                               _overload(target.overloadpacket, args, kwargs), node.meta["val"])
    function = _OF_NUMBERS.get(target)
    if function is None:
        raise NotImplementedError
    return Number(function(*args))


def _overload(packet, args: tuple, kwargs: dict) -> torch.Tensor:
    try:
        return packet(*args, **kwargs)
    except (RuntimeError, TypeError):
        raise NotImplementedError from None


def _of_either(function: Callable, one: Any, two: Any) -> torch.Tensor:
    tensor = one if isinstance(one, torch.Tensor) else two
    return function(*(torch.as_tensor(x, dtype=tensor.dtype, device=tensor.device) for x in (one, two)))


_OF_NUMBERS: dict[Any, Callable] = {
    **{function: function for function in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
        operator.floordiv, operator.mod)},
    torch.sym_max: lambda *of: _of_either(torch.maximum, *of),
    torch.sym_min: lambda *of: _of_either(torch.minimum, *of),
    torch.sym_float: lambda x: x.to(torch.get_default_dtype()),
    math.sqrt: lambda x: x.to(torch.get_default_dtype()).sqrt(),
    torch.sym_sqrt: lambda x: x.to(torch.get_default_dtype()).sqrt(),
}


@selected_form(aten.item.default, aten._local_scalar_dense.default)
def _item(x):
    if not isinstance(x, torch.Tensor):
        raise NotImplementedError
    return Number(x.reshape(()))


@selected_form(aten.sym_size.int)
def _size(x, dim):
    if dim != 0 or not isinstance(x, Selection):
        raise NotImplementedError
    return Count(x.mask)


def _in_front(target, behind, *args):
    """What is behind a dimension, without it."""
    inner = behind.selection
    is_view = target in (aten.view.default, aten.reshape.default) and isinstance(inner, Selection) and \
        (args[0][0] == -1 or isinstance(args[0][0], Count)) and args[0][1:] == list(inner.rows.shape[1:])
    if not (is_view or target in (aten.squeeze.dim, aten.select.int) and args[0] == 0):
        raise NotImplementedError
    return inner


@selected_form(aten.sym_numel.default)
def _numel(x):
    if not isinstance(x, Selection):
        raise NotImplementedError
    return Number(x.mask.sum() * math.prod(x.rows.shape[1:]))


@selected_form(aten.full_like.default)
def _full_like(x, fill_value, *, dtype=None, **_):
    value = fill_value.value if isinstance(fill_value, Number) else fill_value
    if isinstance(x, Selection):
        return x.like(torch.zeros_like(x.rows, dtype=dtype) + value)
    return _full(x.shape, value, dtype=dtype or x.dtype)


# Ops on numbers that are tensors, where no other overload takes a tensor.


def _select(x, dim, index):
    if not isinstance(index, torch.Tensor):
        raise NotImplementedError
    place = torch.where(index < 0, index + x.shape[dim], index)
    return x.index_select(dim, place.reshape(1)).squeeze(dim)


def _full(size, value, *, dtype=None, **_):
    if not isinstance(value, torch.Tensor) or any(not isinstance(n, int) for n in size):
        raise NotImplementedError
    kind = torch.get_default_dtype() if value.is_floating_point() else \
        torch.bool if value.dtype == torch.bool else torch.int64
    return value.to(dtype or kind).expand(size)


_FORMS: dict[Any, Callable] = {
    aten.select.int: _select, aten.full.default: _full,
    aten.scalar_tensor.default: lambda value, **options: _full((), value, **options)}


# Selections: each has the name of what it selects by, beside the op's arguments.


def _index(name, x, indices):
    if isinstance(x, Selection):
        [mask] = indices if len(indices) == 1 else [None]
        if not isinstance(mask, Selection) or mask.name != x.name or mask.rows.dim() > 1 or \
                mask.rows.dtype != torch.bool:
            raise NotImplementedError
        return Selection(x.rows, x.mask & mask.rows, (x.name, name))
    given = [one for one in indices if one is not None]
    if indices[0] is None and x.shape[0] == 1:
        return Behind(_index(name, x[0], indices[1:]))
    if any(isinstance(one, Selection) for one in given):
        places = given[0]
        if indices[0] is None or not all(isinstance(one, Selection) and one.name == places.name
                                         for one in given) or len(given) != len(indices):
            raise NotImplementedError
        if isinstance(places, Places) and len(given) == 1 and x.shape[0] == places.rows.shape[0]:
            return places.like(x)
        return places.like(x[tuple(one.others(0) for one in given)])
    mask = indices[0]
    if len(given) != 1 or mask is None or mask.dtype != torch.bool:
        raise NotImplementedError
    return Selection(x.reshape(mask.numel(), *x.shape[mask.dim():]), mask.reshape(-1), name)


def _masked_select(name, x, mask):
    if isinstance(x, Selection) or isinstance(mask, Selection):
        raise NotImplementedError
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    # Of one shape, it is what an index selects.
    name = name if mask.shape == shape else (name, shape)
    return Selection(x.expand(shape).reshape(-1), mask.expand(shape).reshape(-1), name)


def _nonzero(name, x):
    """The places of a tensor's elements that are not 0, one tensor for each dimension."""
    if isinstance(x, Selection) or x.dim() == 0:
        raise NotImplementedError
    mask = (x if x.dtype == torch.bool else x != 0).reshape(-1)
    all_places = torch.arange(mask.numel(), device=x.device)
    if x.dim() == 1:
        return [Places(all_places, mask, name)]
    places = []
    for size in reversed(x.shape):
        places.append(Selection(all_places % size, mask, name))
        all_places = all_places // size
    return places[::-1]


def _nonzero_rows(name, x):
    places = _nonzero(name, x)
    return places[0].like(torch.stack([one.rows for one in places], -1))


SELECTING: dict[Any, Callable] = {
    aten.index.Tensor: _index, aten.masked_select.default: _masked_select,
    aten.nonzero_numpy.default: _nonzero, aten.where.default: _nonzero,
    aten.nonzero.default: _nonzero_rows}


# Where rows are written back.


def _put(name, x, indices, values, accumulate=False):
    if isinstance(x, Selection) or any(one is None for one in indices):
        raise NotImplementedError
    if not any(isinstance(one, Selection) for one in indices):
        # By a mask; what a tensor writes element by element is of another selection.
        if len(indices) != 1 or not isinstance(values, Selection) or values.name != name or \
                indices[0].dim() + values.rows.dim() != x.dim() + 1:
            raise NotImplementedError
        mask, rows = indices[0], values.rows
        new = rows.to(x.dtype).reshape(*mask.shape, *rows.shape[1:]).expand(x.shape)
        return torch.where(beside(mask, x), x + new if accumulate else new, x)
    places = indices[0]
    mask = places.mask
    if not all(isinstance(one, Selection) and one.name == places.name for one in indices) or \
            (isinstance(values, Selection) and values.name != places.name) or \
            (isinstance(values, torch.Tensor) and values.dim() > x.dim() - len(indices)
             and values.shape[0] != 1):
        raise NotImplementedError
    rows = values.rows if isinstance(values, Selection) else values
    rows = rows.to(x.dtype).expand(mask.shape[0], *x.shape[len(indices):])
    if isinstance(places, Places) and len(indices) == 1 and x.shape[0] == mask.shape[0]:
        return torch.where(beside(mask, x), x + rows if accumulate else rows, x)
    if not accumulate:
        raise NotImplementedError
    nothing = torch.where(beside(mask, rows), rows, 0)
    return x.index_put([torch.where(mask, one.rows, 0) for one in indices], nothing, True)


SELECTING[aten.index_put.default] = _put


@selected_form(aten.index_add.default)
def _index_add(x, dim, index, source, *, alpha=1):
    if dim % x.dim() != 0 or not isinstance(source, Selection) or not isinstance(index, Selection) or \
            index.name != source.name or isinstance(x, Selection):
        raise NotImplementedError
    return _put(-1, x, [index], source.like(source.rows * alpha), True)
