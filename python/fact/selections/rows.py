# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that compute row by row, and reductions of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ..fx_nodes import op_of
from .parts import Count, Number, Selection, leaves_of, mapped, selections_of

aten = torch.ops.aten


# Ops that compute each row of an operand's first dimension from that row alone, beside those that
# are pointwise, as long as no dimension that they name is the first.
_BY_ROW = {aten.linear.default, aten.mm.default, aten.matmul.default, aten.addmm.default,
           aten.softmax.int, aten.log_softmax.int, aten._softmax.default, aten._log_softmax.default,
           aten.layer_norm.default, aten.rms_norm.default, aten.embedding.default, aten.gather.default,
           aten.select.int, aten.slice.Tensor, aten.unsqueeze.default, aten.transpose.int,
           aten.cat.default, aten.stack.default, aten.argmax.default, aten.argmin.default,
           aten.max.dim, aten.min.dim, aten.topk.default, aten.sort.default, aten.cumsum.default,
           aten.flatten.using_ints, aten.glu.default, aten.split.Tensor, aten.chunk.default,
           aten.to.dtype, aten._to_copy.default, aten.contiguous.default, aten.dropout.default,
           aten.detach.default, aten.alias.default, aten.type_as.default, aten.zeros_like.default,
           aten.ones_like.default, aten.view.default, aten.reshape.default, aten._unsafe_view.default,
           aten.floor_divide.default, aten.one_hot.default, aten.cosine_similarity.default}
_PRODUCTS = {aten.linear.default: 0, aten.mm.default: 0, aten.matmul.default: 0, aten.addmm.default: 1}
# Those whose operands are places.
_INDEXING = {aten.embedding.default, aten.gather.default, aten.one_hot.default}
# Those with operands that all rows share.
_SHARING = {aten.embedding.default, aten.layer_norm.default, aten.rms_norm.default}


def row_by_row(node: torch.fx.Node, selection: Selection, args: tuple, kwargs: dict) -> Any:
    op = op_of(node)
    named = {argument.name: value for argument, value in zip(op._schema.arguments, args)} | kwargs
    reduced = _reduced(op, selection, named)
    if reduced is not None:
        return reduced
    length = selection.rows.shape[0]
    if torch.Tag.pointwise not in op.tags and op not in _BY_ROW and op not in _REDUCING:
        raise NotImplementedError
    rank = max(one.rows.dim() for one in selections_of(named))
    _check_dimensions(op, named, rank)
    if op in _PRODUCTS:
        selected = [i for i, argument in enumerate(args) if isinstance(argument, Selection)]
        if selected != [_PRODUCTS[op]] or rank < 2:
            raise NotImplementedError
    elif op not in _SHARING:
        for value in leaves_of(named):
            if isinstance(value, Selection) and value.rows.dim() != rank or \
                    isinstance(value, torch.Tensor) and (
                        torch.Tag.pointwise not in op.tags or
                        value.dim() > rank or value.dim() == rank and value.shape[0] != 1):
                raise NotImplementedError

    def rows_of(leaf):
        if isinstance(leaf, Selection):
            # Places of rows that are not selected may be outside of what they index.
            return leaf.others(0) if op in _INDEXING and not leaf.rows.is_floating_point() else leaf.rows
        if isinstance(leaf, Number):
            return leaf.value
        if isinstance(leaf, Count):  # As a number, or as a size.
            return leaf.mask.sum() if torch.Tag.pointwise in op.tags else length
        return leaf

    args, kwargs = mapped(rows_of, (args, kwargs))
    result = op.overloadpacket(*args, **kwargs)
    if isinstance(result, torch.Tensor):
        return selection.like(result)
    return [selection.like(rows) for rows in result]


def _dimensions(named: Any, rank: int) -> list[int]:
    """A dimension or several, counted from the first."""
    return [dim % rank for dim in (named if isinstance(named, (list, tuple)) else [named])]


def _check_dimensions(op, named: dict, rank: int) -> None:
    """No dimension that an op names may be the first one, of the operand or of the result."""
    of_result = rank + (op in (aten.unsqueeze.default, aten.stack.default))
    given = [named[key] for key in ("dim", "dim0", "dim1", "start_dim") if named.get(key) is not None]
    given += [argument.default_value or 0 for argument in op._schema.arguments
              if argument.name in ("dim", "start_dim") and named.get(argument.name) is None]
    dims = [dim for one in given for dim in _dimensions(one, of_result)]
    if 0 in dims:
        raise NotImplementedError
    if op is aten.layer_norm.default or op is aten.rms_norm.default:
        if len(named["normalized_shape"]) >= rank:
            raise NotImplementedError
    if op in (aten.view.default, aten.reshape.default, aten._unsafe_view.default):
        sizes = named.get("size", named.get("shape"))
        if not sizes or not (isinstance(sizes[0], Count) or sizes[0] == -1):
            raise NotImplementedError


# Reductions of the rows.


def _lowest(x: torch.Tensor, sign: int) -> Any:
    if x.dtype == torch.bool:
        return sign < 0
    if x.is_floating_point():
        return -sign * math.inf
    return torch.iinfo(x.dtype).min if sign > 0 else torch.iinfo(x.dtype).max


def _neutral(value: Callable[[torch.Tensor], Any]):
    """A reduction of all rows, with values that do not count in place of the others."""
    def reduce(op, selection, named):
        return op(**{**named, "self": selection.others(value(selection.rows))})

    return reduce


def _reduced_dimensions(selection: Selection, named: dict) -> tuple[list[int], torch.Tensor]:
    """The dimensions of a reduction of rows, and how many elements one of its results is of."""
    x = selection.rows
    dims = _dimensions(named.get("dim") or list(range(x.dim())), x.dim())
    return dims, selection.mask.sum() * math.prod(x.shape[dim] for dim in dims if dim)


def _mean(op, selection, named):
    dims, count = _reduced_dimensions(selection, named)
    dtype = named.get("dtype") or selection.rows.dtype
    total = selection.others(0).sum(dims, keepdim=bool(named.get("keepdim")), dtype=dtype)
    return (total / count).to(dtype)


def _var(op, selection, named):
    dims, count = _reduced_dimensions(selection, named)
    far = selection.rows - _mean(op, selection, {"dim": dims, "keepdim": True})
    total = selection.like(far * far).others(0).sum(dims, keepdim=bool(named.get("keepdim")))
    correction = named.get("correction")
    var = total / (count - (1 if correction is None else correction)).clamp(min=0)
    return var.sqrt() if op is aten.std.correction else var


def _cumsum(op, selection, named):
    return selection.like(op(**{**named, "self": selection.others(0)}))


_ZERO, _ONE = _neutral(lambda x: 0), _neutral(lambda x: 1)
_MOST, _LEAST = _neutral(lambda x: _lowest(x, 1)), _neutral(lambda x: _lowest(x, -1))
_REDUCING: dict[Any, Callable] = {
    aten.sum.default: _ZERO, aten.sum.dim_IntList: _ZERO, aten.mean.default: _mean, aten.mean.dim: _mean,
    aten.amax.default: _MOST, aten.max.default: _MOST, aten.amin.default: _LEAST, aten.min.default: _LEAST,
    aten.any.default: _ZERO, aten.any.dim: _ZERO, aten.all.default: _ONE, aten.all.dim: _ONE,
    aten.prod.default: _ONE, aten.logsumexp.default: _MOST, aten.linalg_vector_norm.default: _ZERO,
    aten.norm.Scalar: _ZERO, aten.var.correction: _var, aten.std.correction: _var,
    aten.cumsum.default: _cumsum}

# Losses of rows, whose mean or sum they return.
_LOSSES = {aten.mse_loss.default, aten.l1_loss.default, aten.smooth_l1_loss.default,
           aten.huber_loss.default, aten.binary_cross_entropy.default,
           aten.binary_cross_entropy_with_logits.default, aten.cross_entropy_loss.default}


def _reduced(op, selection: Selection, named: dict) -> torch.Tensor | None:
    """The result of a reduction of rows; None for one within each row."""
    if op in _LOSSES:
        return _loss(op, selection, named)
    if op not in _REDUCING or len(selections_of(named)) != 1 or not isinstance(named.get("self"), Selection):
        return None
    dims = named.get("dim")
    if dims not in (None, []) and 0 not in _dimensions(dims, selection.rows.dim()):
        return None
    if op in (aten.linalg_vector_norm.default, aten.norm.Scalar) and \
            named.get("ord", named.get("p", 2)) < 0:
        raise NotImplementedError
    return _REDUCING[op](op, selection, named)


def _loss(op, selection: Selection, named: dict) -> Any:
    reduction = named.get("reduction", 1)
    if named.get("weight") is not None or named.get("pos_weight") is not None or \
            any(not isinstance(named[key], Selection) for key in ("self", "target")):
        raise NotImplementedError
    of = {key: value.rows if isinstance(value, Selection) else value for key, value in named.items()}
    if not of["target"].is_floating_point():
        of["target"] = named["target"].others(0)  # Others may be no class.
    of["reduction"] = 0
    each = selection.like(op(**of))
    if reduction == 0:
        return each
    if reduction == 2:
        return each.others(0).sum()
    if op is not aten.cross_entropy_loss.default or named["target"].rows.is_floating_point():
        return _mean(op, each, {})
    counts = selection.mask & (of["target"] != named.get("ignore_index", -100)).reshape(
        selection.mask.shape) if of["target"].dim() == 1 else None
    if counts is None:
        raise NotImplementedError
    return each.others(0).sum() / counts.sum()
