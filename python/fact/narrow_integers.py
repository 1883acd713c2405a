# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""uint8 and int16, which the compiler does not have, as int32 that wraps around.

What an op computes is reduced to the range of PyTorch's type. Inputs, weights and results are
in the library as `as_stored` has them, so that a byte stays a byte; constants are int32.
"""

from __future__ import annotations

import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .element_types import NARROW, as_stored
from .errors import FactError
from .fx_nodes import arguments_of, function_of, op_of, operand_of
from .rewriting import change_stored

aten = torch.ops.aten

# Ops that return elements of their operands.
_SELECTING = {"cat", "stack", "where", "index", "_unsafe_index", "index_select", "gather",
              "embedding", "masked_fill", "maximum", "minimum", "amax", "amin", "max", "min",
              "clone", "contiguous", "constant_pad_nd", "pad", "flip", "roll", "repeat", "tril",
              "triu", "slice_scatter", "select_scatter", "relu", "bitwise_and", "bitwise_or",
              "bitwise_xor", "clamp"}


def widen(program: torch.export.ExportedProgram) -> dict[torch.fx.Node, torch.dtype]:
    """Makes narrow integers of a program int32; returns its ends that were narrow."""
    narrow = {node: node.meta["val"].dtype for node in program.graph.nodes if _is_narrow(node)}
    if not narrow:
        return {}
    computed = [node for node in program.graph.nodes if node.op == "call_function"]
    read = _read_stored(program, narrow)
    for node in computed:
        _widen_op(program.graph, node, narrow)
    written = _write_stored(program, narrow)
    program.graph_module.recompile()
    return {**read, **written}


def _is_narrow(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in NARROW


def _set_value(node: torch.fx.Node, value) -> None:
    node.meta["val"] = value
    # The same for importers, of the old type.
    node.meta.pop("tensor_meta", None)


def _read_stored(program: torch.export.ExportedProgram, narrow: dict) -> dict:
    """Reads inputs, weights and constants as they are stored; returns them."""
    graph = program.graph
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    first = next(node for node in graph.nodes if node.op != "placeholder")
    read = {}
    for spec in program.graph_signature.input_specs:
        node = placeholders[spec.arg.name]
        if node not in narrow:
            continue
        dtype = read[node] = narrow[node]
        if spec.kind != InputKind.USER_INPUT:
            change_stored(program, spec.target, as_stored)
        _set_value(node, as_stored(node.meta["val"]))
        if dtype == torch.uint8 and node.users:
            users = list(node.users)
            with graph.inserting_before(first):
                wide = _call(graph, aten.to.dtype, node, torch.int32)
                byte = _call(graph, aten.bitwise_and.Scalar, wide, 0xFF)
            for user in users:
                user.replace_input_with(node, byte)
            del narrow[node]
            narrow[byte] = dtype
    return read


def _write_stored(program: torch.export.ExportedProgram, narrow: dict) -> dict:
    """Stores results, and what inputs and buffers are changed to; returns the results."""
    graph = program.graph
    output = next(iter(reversed(graph.nodes)))
    results = list(arguments_of(output))
    written = {}
    for index, (spec, value) in enumerate(zip(program.graph_signature.output_specs, results,
                                              strict=True)):
        if value not in narrow:
            continue
        dtype = narrow[value]
        if dtype == torch.uint8:
            with graph.inserting_before(output):
                results[index] = _call(graph, aten.to.dtype, value, torch.int8)
        elif spec.kind != OutputKind.USER_OUTPUT:
            raise FactError(f"forward changes '{spec.target}' of type {dtype}: return the new value "
                            "instead, or make it int32")
        spec.arg.name = results[index].name
        written[results[index]] = dtype
    output.args = (tuple(results),)
    return written


def _call(graph: torch.fx.Graph, op: torch._ops.OpOverload, node: torch.fx.Node,
          *arguments) -> torch.fx.Node:
    """An op on a node, at its place in the user's file."""
    made = graph.call_function(op, (node, *arguments))
    made.meta = {**node.meta, "val": op(node.meta["val"], *arguments)}
    made.meta.pop("tensor_meta", None)
    return made


def _widen_op(graph: torch.fx.Graph, node: torch.fx.Node, narrow: dict) -> None:
    """Computes in int32 where the op computed in a narrow type, and wraps the result."""
    if node.target is operator.getitem:
        _set_value(node, operand_of(node).meta["val"][node.args[1]])
        return
    if node not in narrow and not any(n in narrow for n in node.all_input_nodes):
        return
    node.args, node.kwargs = torch.utils._pytree.tree_map(
        lambda leaf: torch.int32 if leaf in NARROW else leaf, (node.args, dict(node.kwargs)))
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    _set_value(node, function_of(node)(*args, **kwargs))
    if node not in narrow or _keeps_range(node, narrow):
        return
    dtype = narrow.pop(node)
    narrow[_wrap(graph, node, dtype)] = dtype


def _keeps_range(node: torch.fx.Node, narrow: dict) -> bool:
    """Whether each element of the result is one of the operands', in the same type."""
    schema = op_of(node)._schema
    is_view = any(result.alias_info is not None for result in schema.returns)
    selects = schema.name.removeprefix("aten::") in _SELECTING
    operands = [n for n in node.all_input_nodes if n.meta["val"].dtype != torch.bool]
    return (is_view or selects) and bool(operands) and \
        all(narrow.get(n) == narrow[node] for n in operands)


def _wrap(graph: torch.fx.Graph, node: torch.fx.Node, dtype: torch.dtype) -> torch.fx.Node:
    """The node's elements modulo 2^8, or modulo 2^16 around 0."""
    users = list(node.users)
    steps = [(aten.bitwise_and.Scalar, 0xFF)] if dtype == torch.uint8 else \
        [(aten.add.Scalar, 0x8000), (aten.bitwise_and.Scalar, 0xFFFF), (aten.sub.Scalar, 0x8000)]
    last = node
    for op, number in steps:
        with graph.inserting_after(last):
            last = _call(graph, op, last, number)
    for user in users:
        user.replace_input_with(node, last)
    return last
