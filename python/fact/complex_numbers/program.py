# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites the nodes of an exported program that have complex tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from ..decompositions import is_composite, trace
from ..element_types import as_real
from ..errors import FactError
from ..fx_nodes import arguments_of, function_of
from ..places import line_of
from ..rewriting import change_stored, rewritten
from . import fourier  # noqa: F401  Its ops are in the table.
from .pairs import REAL_TYPES, TABLE, Pair, im_like, is_partwise, is_view, re_of

aten = torch.ops.aten

# Where a node that stands for a complex input, weight or result has its type.
_TYPE = "complex_type"


def types_of(graph: torch.fx.Graph) -> dict[torch.fx.Node, torch.dtype]:
    """The inputs, weights and results that are complex for the caller."""
    return {node: node.meta[_TYPE] for node in graph.nodes if _TYPE in node.meta}


def split(program: torch.export.ExportedProgram) -> None:
    """Makes a program that computes with parts of what it has of complex tensors."""
    graph = program.graph
    if not any(_has_complex(node) or _is_transform(node) for node in graph.nodes):
        return
    # What complex nodes are now: pairs of nodes, or lists of such.
    parts: dict[torch.fx.Node, Any] = {}
    for node in list(graph.nodes):
        if node.op == "placeholder" and _has_complex(node):
            _split_input(program, node, parts)
        elif node.op == "output":
            _join_results(program, node, parts)
        elif node.op == "call_function" and \
                (_has_complex(node) or _is_transform(node)
                 or any(n in parts for n in node.all_input_nodes)):
            _rewrite(program, node, parts)
    graph.eliminate_dead_code()
    program.graph_module.recompile()


def _is_complex(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_complex


def _has_complex(node: torch.fx.Node) -> bool:
    return any(_is_complex(value) for value in pytree.tree_leaves(node.meta.get("val")))


def _is_transform(node: torch.fx.Node) -> bool:
    """Whether an op has complex numbers inside, if not as operands or results."""
    return isinstance(node.target, torch._ops.OpOverload) and \
        node.target._schema.name.startswith("aten::fft_")


# The ends of a program.


def _split_input(program, node: torch.fx.Node, parts: dict) -> None:
    """An input, a weight or a constant has its parts in a last dimension."""
    value = node.meta["val"]
    if value.dtype not in REAL_TYPES:
        raise FactError(f"input '{node.name}' has type {value.dtype}, which is not supported; "
                        f"supported are {', '.join(map(str, REAL_TYPES))}")
    spec = next(s for s in program.graph_signature.input_specs if s.arg.name == node.name)
    node.meta[_TYPE] = value.dtype
    if spec.kind != InputKind.USER_INPUT:
        change_stored(program, spec.target, as_real)
    node.meta["val"] = as_real(value)
    node.meta.pop("tensor_meta", None)
    first = next(other for other in _following(node) if other.op != "placeholder")
    made = []
    for index in (0, 1):
        with program.graph.inserting_before(first):
            part = program.graph.call_function(aten.select.int, (node, -1, index))
        part.meta["val"] = node.meta["val"].select(-1, index)
        made.append(part)
    parts[node] = Pair(*made)


def _following(node: torch.fx.Node):
    while node.op != "output":
        node = node.next
        yield node


def _join_results(program, output: torch.fx.Node, parts: dict) -> None:
    results = list(arguments_of(output))
    for index, (spec, value) in enumerate(zip(program.graph_signature.output_specs, results,
                                              strict=True)):
        if value not in parts:
            continue
        if spec.kind != OutputKind.USER_OUTPUT:
            raise FactError(f"forward changes '{spec.target}', which is complex: return the new "
                            "value instead")
        pair, dtype = parts[value], value.meta["val"].dtype
        with program.graph.inserting_before(output):
            joined = program.graph.call_function(aten.stack.default, ([pair.re, pair.im], -1))
        joined.meta.update({"val": torch.stack([pair.re.meta["val"], pair.im.meta["val"]], -1),
                            _TYPE: dtype})
        results[index] = joined
        spec.arg.name = joined.name
    output.args = (tuple(results),)


# Ops.


def _rewrite(program, node: torch.fx.Node, parts: dict) -> None:
    graph = program.graph
    if node.target is operator.getitem:
        source, index = node.args
        if source in parts:
            parts[node] = parts[source][index]
        return
    if not pytree.tree_leaves(node.meta.get("val")) and not node.users:
        graph.erase_node(node)  # A check of an exported program.
        return
    try:
        made = rewritten(program, node, parts, lambda args, kwargs: _evaluate(node, args, kwargs))
    except NotImplementedError:
        raise FactError(f"'{node.target}'{line_of(node)} is not supported on complex numbers: "
                        "compute with real and imaginary parts") from None
    if _has_complex(node):
        parts[node] = made
    else:
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def _evaluate(node: torch.fx.Node, args: tuple, kwargs: dict) -> Any:
    """The result of a node whose complex operands are pairs."""
    target = function_of(node)
    leaves = pytree.tree_leaves((args, kwargs), is_leaf=lambda leaf: isinstance(leaf, Pair))
    touches = any(isinstance(leaf, Pair) for leaf in leaves)
    if not touches and not _has_complex(node) and not _is_transform(node):
        # Parts do not lie in memory as complex numbers do.
        target = torch.reshape if target is aten.view.default else target
        return target(*args, **kwargs)
    if not isinstance(target, torch._ops.OpOverload):
        if target is operator.getitem:
            return args[0][args[1]]
        raise NotImplementedError
    kwargs = {name: value for name, value in kwargs.items()
              if name not in ("layout", "pin_memory", "non_blocking")}
    if target in TABLE:
        return _in_type_of(node, TABLE[target](*args, **kwargs))
    if is_partwise(target) and touches:
        return _in_type_of(node, _partwise(target, args, kwargs))
    # Of views too: `mH` conjugates.
    if is_composite(target):
        return _composite(target, args, kwargs)
    if is_view(target) and touches:
        return _partwise(target, args, kwargs)
    raise NotImplementedError


def _in_type_of(node: torch.fx.Node, result: Any) -> Any:
    """Parts in the type that they have in the node's result: an operand may be of a wider one."""
    if not isinstance(result, Pair):
        return result
    dtype = REAL_TYPES[node.meta["val"].dtype]
    return result.map(lambda part: part.to(dtype))


# Parameters of ops that are applied to each part.
_MOVED = {"self", "other", "tensors", "input", "src", "source", "values"}


def _partwise(target, args: tuple, kwargs: dict) -> Any:
    function = torch.reshape if target is aten.view.default else target
    names = [argument.name for argument in target._schema.arguments]

    def part(of: Callable):
        """Of what is moved or added up. Indices and masks are for both parts."""
        def take(name: str, value):
            if name == "dtype":
                return REAL_TYPES.get(value, value)
            return pytree.tree_map(of, value, is_leaf=lambda leaf: isinstance(leaf, Pair)) \
                if name in _MOVED else value

        return function(*map(take, names, args), **{name: take(name, kwargs[name]) for name in kwargs})

    re, im = part(re_of), part(im_like)
    if isinstance(re, torch.Tensor):
        return Pair(re, im)
    return [Pair(*both) for both in zip(re, im)]


def _composite(target, args: tuple, kwargs: dict) -> Any:
    """An op that PyTorch makes of others: they are evaluated one by one."""
    flat, structure = pytree.tree_flatten((args, kwargs), is_leaf=lambda leaf: isinstance(leaf, Pair))
    places = [i for i, leaf in enumerate(flat) if isinstance(leaf, (Pair, torch.Tensor))]

    def call(*tensors):
        leaves = list(flat)
        for place, tensor in zip(places, tensors):
            leaves[place] = tensor
        inner_args, inner_kwargs = pytree.tree_unflatten(leaves, structure)
        return target(*inner_args, **inner_kwargs)

    form = _whole_form(call, [flat[place] for place in places])
    given = iter([flat[place] for place in places])
    values: dict[torch.fx.Node, Any] = {}
    for node in form.graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "get_attr":
            values[node] = getattr(form, node.target)
        elif node.op == "output":
            return torch.fx.node.map_arg(node.args[0], lambda n: values[n])
        else:
            inner = torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda n: values[n])
            values[node] = _evaluate(node, *inner)
    raise AssertionError("a graph ends with its output")


def _whole_form(call, operands: list) -> torch.fx.GraphModule:
    """The graph of complex ops that a composite op is."""
    def empty(operand):
        like = operand.re if isinstance(operand, Pair) else operand
        dtype = {real: of for of, real in REAL_TYPES.items()}[like.dtype] \
            if isinstance(operand, Pair) else like.dtype
        return torch.empty(like.shape, dtype=dtype, device="meta")

    with disable_proxy_modes_tracing(), _disable_current_modes():
        mode = FakeTensorMode()
        values = [mode.from_tensor(empty(operand)) for operand in operands]
        form = trace(call, values)
    if form is None:
        raise NotImplementedError
    return form
