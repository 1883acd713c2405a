# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes from a program what depends on values of tensors: how many elements a mask selects,
and numbers that `item` reads.

A selection `x[mask]` is represented by all rows of `x` and the mask. What computes row by row is
computed for all of them, a reduction leaves out those that are not selected, and where rows are
written back by the same mask (`x[mask] = f(x[mask])`), they are chosen. A number is a tensor of no
dimensions. What needs the selected rows one behind the other is not supported.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .errors import FactError
from .export_errors import depends_on_values
from .forms.table import registers_in
from .fx_nodes import arguments_of, op_of, operand_of
from .places import line_of
from .rewriting import rewritten

aten = torch.ops.aten


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
        return torch.where(_beside(self.mask, self.rows), self.rows, value)


@dataclasses.dataclass
class Places(Selection):
    """The places of a mask of one dimension: row i is i."""


@dataclasses.dataclass
class Behind:
    """Rows of a selection behind dimensions of one element, as `x[None, place]` has them."""

    selection: Selection


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

_KINDS = Selection, Behind, Count, Number

# By op. An op that does not take some arguments raises NotImplementedError.
TABLE: dict[torch._ops.OpOverload | str, Callable] = {}
selected_form = registers_in(TABLE)


def remove(program: torch.export.ExportedProgram) -> None:
    graph = program.graph
    if not any(_depends_on_values(node) for node in graph.nodes):
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
                _depends_on_values(node) or any(n in parts for n in node.all_input_nodes)):
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


def _depends_on_values(node: torch.fx.Node) -> bool:
    """Whether a node's size, or the number that it is, is known only when it is computed."""
    return any(isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) or
               (isinstance(value, torch.Tensor)
                and any(isinstance(size, torch.SymInt) for size in value.shape))
               for value in pytree.tree_leaves(node.meta.get("val")))


def _refusal(node: torch.fx.Node) -> FactError:
    value = node.meta.get("val")
    what = f"the size of the result of '{node.target}'" \
        if isinstance(value, (torch.Tensor, tuple, list)) else f"the result of '{node.target}'"
    return depends_on_values(what, line_of(node))


def _rewrite(program, node: torch.fx.Node, parts: dict, names: dict) -> None:
    if node.target is operator.getitem and node.args[0] in parts:
        parts[node] = parts[node.args[0]][node.args[1]]
        return
    name = _name(_mask_of(node), names) if node.target in _SELECTING else -1
    try:
        made = rewritten(program, node, parts, lambda args, kwargs: _evaluate(node, name, args, kwargs))
    except NotImplementedError:
        given = [n for n in node.all_input_nodes if n in parts and not isinstance(parts[n], Number)]
        raise _refusal(node if _depends_on_values(node) or not given else given[0]) from None
    if any(isinstance(leaf, _KINDS) for leaf in pytree.tree_leaves(
            made, is_leaf=lambda leaf: isinstance(leaf, _KINDS))):
        parts[node] = made
    else:
        node.replace_all_uses_with(made)
        program.graph.erase_node(node)


# Evaluation. Operands are tensors, and the classes above.


def _mask_of(node: torch.fx.Node) -> torch.fx.Node:
    """The operand by which an op selects: among others, the first index."""
    if node.target in (aten.index.Tensor, aten.index_put.default):
        return next(index for index in arguments_of(node, 1) if index is not None)
    return operand_of(node, 1 if node.target is aten.masked_select.default else 0)


def _evaluate(node: torch.fx.Node, name: int, args: tuple, kwargs: dict) -> Any:
    target = node.target
    if target in TABLE and not (target is aten.select.int and isinstance(args[0], (Selection, Behind))):
        return TABLE[target](*args, **kwargs)
    if target in _SELECTING:
        return _SELECTING[target](name, *args, **kwargs)
    leaves = pytree.tree_leaves((args, kwargs), is_leaf=lambda leaf: isinstance(leaf, _KINDS))
    if any(isinstance(leaf, Behind) for leaf in leaves):
        return _in_front(target, *args)
    selections = [leaf for leaf in leaves if isinstance(leaf, Selection)]
    if not selections:
        if any(isinstance(value, torch.Tensor) for value in pytree.tree_leaves(node.meta["val"])) and \
                _depends_on_values(node):
            raise NotImplementedError
        return _with_numbers(node, args, kwargs)
    if any(one.name != selections[0].name for one in selections) or \
            not isinstance(target, torch._ops.OpOverload):
        raise NotImplementedError
    return _row_by_row(node, selections[0], args, kwargs)


def _with_numbers(node: torch.fx.Node, args: tuple, kwargs: dict) -> Any:
    """An op or a function of Python, of numbers that are tensors."""
    def tensor_of(leaf):
        return {Count: lambda: leaf.mask.sum(), Number: lambda: leaf.value}.get(type(leaf), lambda: leaf)()

    args, kwargs = pytree.tree_map(tensor_of, (args, kwargs),
                                   is_leaf=lambda leaf: isinstance(leaf, _KINDS))
    target = node.target
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
    """The rows without what is before them."""
    rows = behind.selection.rows
    is_view = target in (aten.view.default, aten.reshape.default) and args[0][1:] == list(rows.shape[1:])
    if not (is_view and (args[0][0] == -1 or isinstance(args[0][0], Count)) or
            target in (aten.squeeze.dim, aten.select.int) and args[0] == 0):
        raise NotImplementedError
    return behind.selection


@selected_form(aten.sym_numel.default)
def _numel(x):
    if not isinstance(x, Selection):
        raise NotImplementedError
    return Number(x.mask.sum() * math.prod(x.rows.shape[1:]))


@selected_form(aten.select.int)
def _select(x, dim, index):
    if isinstance(x, (Selection, Behind)) or not isinstance(index, Number):
        raise NotImplementedError
    place = torch.where(index.value < 0, index.value + x.shape[dim], index.value)
    return x.index_select(dim, place.reshape(1)).squeeze(dim)


@selected_form(aten.full.default)
def _full(size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None):
    if not isinstance(fill_value, Number) or any(not isinstance(n, int) for n in size):
        raise NotImplementedError
    value = fill_value.value
    kind = torch.get_default_dtype() if value.is_floating_point() else \
        torch.bool if value.dtype == torch.bool else torch.int64
    return value.to(dtype or kind).expand(size)


@selected_form(aten.full_like.default)
def _full_like(x, fill_value, *, dtype=None, **_):
    if isinstance(x, Selection):
        value = fill_value.value if isinstance(fill_value, Number) else fill_value
        return x.like(torch.zeros_like(x.rows, dtype=dtype) + value)
    return _full(x.shape, fill_value, dtype=dtype or x.dtype)


@selected_form(aten.scalar_tensor.default)
def _scalar_tensor(value, *, dtype=None, **_):
    return _full((), value if isinstance(value, Number) else Number(value.mask.sum()), dtype=dtype)


# Selections: each has the name of what it selects by, beside the op's arguments.


def _index(name, x, indices):
    if isinstance(x, Selection):
        [mask] = indices if len(indices) == 1 else [None]
        if not isinstance(mask, Selection) or mask.name != x.name or mask.rows.dim() > 1 or \
                mask.rows.dtype != torch.bool:
            raise NotImplementedError
        return Selection(x.rows, x.mask & mask.rows, (x.name, name))
    given = [one for one in indices if one is not None]
    leading = next(i for i, one in enumerate(indices) if one is not None)
    if leading and all(size == 1 for size in x.shape[:leading]):
        return Behind(_index(name, x.reshape(x.shape[leading:]), indices[leading:]))
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


_SELECTING: dict[Any, Callable] = {
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
        return torch.where(_beside(mask, x), x + new if accumulate else new, x)
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
        return torch.where(_beside(mask, x), x + rows if accumulate else rows, x)
    if not accumulate:
        raise NotImplementedError
    nothing = torch.where(_beside(mask, rows), rows, 0)
    return x.index_put([torch.where(mask, one.rows, 0) for one in indices], nothing, True)


_SELECTING[aten.index_put.default] = _put


@selected_form(aten.index_add.default)
def _index_add(x, dim, index, source, *, alpha=1):
    if dim % x.dim() != 0 or not isinstance(source, Selection) or not isinstance(index, Selection) or \
            index.name != source.name or isinstance(x, Selection):
        raise NotImplementedError
    return _put(-1, x, [index], source.like(source.rows * alpha), True)


# Row by row.


def _beside(mask: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return mask.reshape(*mask.shape, *[1] * (x.dim() - mask.dim()))


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
# Those with operands that all rows share.
_INDEXING = {aten.embedding.default, aten.gather.default, aten.one_hot.default}
_SHARING = {aten.embedding.default, aten.layer_norm.default, aten.rms_norm.default}


def _row_by_row(node: torch.fx.Node, selection: Selection, args: tuple, kwargs: dict) -> Any:
    op = op_of(node)
    named = {argument.name: value for argument, value in zip(op._schema.arguments, args)} | kwargs
    if op in _REDUCING or "reduction" in named or op in _LOSSES:
        reduced = _reduced(op, selection, named)
        if reduced is not None:
            return reduced
    length = selection.rows.shape[0]
    if torch.Tag.pointwise not in op.tags and op not in _BY_ROW and op not in _REDUCING:
        raise NotImplementedError
    _check_dimensions(op, node, named)
    rank = max(one.rows.dim() for one in _selections(named))
    if op in _PRODUCTS:
        if list(_positions(args)) != [_PRODUCTS[op]] or selection.rows.dim() < 2:
            raise NotImplementedError
    elif op not in _SHARING:
        for value in pytree.tree_leaves(named, is_leaf=lambda leaf: isinstance(leaf, _KINDS)):
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

    args, kwargs = pytree.tree_map(rows_of, (args, kwargs), is_leaf=lambda leaf: isinstance(leaf, _KINDS))
    result = op.overloadpacket(*args, **kwargs)

    def selected(rows, value):
        if rows.dim() == 0 or rows.shape[0] != length or rows.shape[1:] != value.shape[1:]:
            raise NotImplementedError
        return selection.like(rows.to(value.dtype))

    if isinstance(result, torch.Tensor):
        return selected(result, node.meta["val"])
    return [selected(rows, value) for rows, value in zip(result, node.meta["val"], strict=True)]


def _selections(named: dict) -> list[Selection]:
    return [leaf for leaf in pytree.tree_leaves(named, is_leaf=lambda leaf: isinstance(leaf, _KINDS))
            if isinstance(leaf, Selection)]


def _positions(args: tuple):
    return (i for i, argument in enumerate(args) if isinstance(argument, Selection))


def _check_dimensions(op, node: torch.fx.Node, named: dict) -> None:
    """No dimension that an op names may be the first one, of the operand or of the result."""
    ranks = [one.rows.dim() for one in _selections(named)]
    rank = max(ranks) + (op in (aten.unsqueeze.default, aten.stack.default))
    dims = [named[key] for key in ("dim", "dim0", "dim1", "start_dim", "axis") if named.get(key) is not None]
    dims = [dim % rank for one in dims for dim in (one if isinstance(one, (list, tuple)) else [one])]
    for argument in op._schema.arguments:
        if argument.name in ("dim", "start_dim") and named.get(argument.name) is None:
            dims.append((argument.default_value or 0) % rank)
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


def _mean(op, selection, named):
    x, dims = selection.rows, named.get("dim")
    dims = [dim % x.dim() for dim in dims] if dims else list(range(x.dim()))
    dtype = named.get("dtype") or x.dtype
    total = selection.others(0).sum(dims, keepdim=bool(named.get("keepdim")), dtype=dtype)
    others = math.prod(x.shape[dim] for dim in dims if dim)
    return (total / (selection.mask.sum() * others)).to(dtype)


def _var(op, selection, named):
    x, dims = selection.rows, named.get("dim")
    dims = [dim % x.dim() for dim in dims] if dims else list(range(x.dim()))
    correction = named.get("correction")
    keep = bool(named.get("keepdim"))
    far = x - _mean(op, selection, {"dim": dims, "keepdim": True})
    count = selection.mask.sum() * math.prod(x.shape[dim] for dim in dims if dim)
    total = selection.like(far * far).others(0).sum(dims, keepdim=keep)
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
    if op not in _REDUCING or len(_selections(named)) != 1 or not isinstance(named.get("self"), Selection):
        return None
    dims = named.get("dim")
    if dims is not None and dims != []:
        of = [dim % selection.rows.dim() for dim in (dims if isinstance(dims, (list, tuple)) else [dims])]
        if 0 not in of:
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
