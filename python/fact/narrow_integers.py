# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""uint8 and int16, which the compiler does not have, as int32 that wraps around.

Inputs, results and constants of these types are int32 in the library. The caller's tensors
are converted at each call (`CallSignature`), and what an op computes is reduced to the range
of PyTorch's type.
"""

from __future__ import annotations

import operator

import torch

from .errors import FactError
from .fx_nodes import function_of, op_of, operand_of

aten = torch.ops.aten

TYPES = (torch.uint8, torch.int16)

# Ops that return elements of their operands.
_SELECTING = {"cat", "stack", "where", "index", "_unsafe_index", "index_select", "gather",
              "embedding", "masked_fill", "maximum", "minimum", "amax", "amin", "max", "min",
              "clone", "contiguous", "constant_pad_nd", "pad", "flip", "roll", "repeat", "tril",
              "triu", "slice_scatter", "select_scatter", "relu", "bitwise_and", "bitwise_or",
              "bitwise_xor", "clamp"}


def widen(program: torch.export.ExportedProgram) -> dict[torch.fx.Node, torch.dtype]:
    """Makes narrow integers of a program int32; returns the nodes that were narrow."""
    narrow = {node: node.meta["val"].dtype for node in program.graph.nodes if _is_narrow(node)}
    if not narrow:
        return {}
    _widen_constants(program)
    for node in list(program.graph.nodes):
        if node.op == "placeholder" and node in narrow:
            _set_value(node, node.meta["val"].to(torch.int32))
        elif node.op == "call_function":
            _widen_op(program.graph, node, narrow)
    program.graph_module.recompile()
    return narrow


def _is_narrow(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in TYPES


def _set_value(node: torch.fx.Node, value) -> None:
    node.meta["val"] = value
    # The same for importers, of the old type.
    node.meta.pop("tensor_meta", None)


def _widen_constants(program: torch.export.ExportedProgram) -> None:
    """Tensors that are part of the program; weights keep the type that callers give them."""
    signature = program.graph_signature
    changed = {spec.target for spec in signature.output_specs}
    for target, tensor in program.constants.items():
        if isinstance(tensor, torch.Tensor) and tensor.dtype in TYPES and target not in changed:
            program.constants[target] = tensor.to(torch.int32)
    for target in [*signature.inputs_to_parameters.values(),
                   *signature.inputs_to_buffers.values()]:
        tensor = program.state_dict.get(target, program.constants.get(target))
        if tensor is not None and tensor.dtype in TYPES:
            raise FactError(f"weight '{target}' has type {tensor.dtype}, which is supported only "
                            "for inputs, results and constants: store it as int8 or int32")


def _widen_op(graph: torch.fx.Graph, node: torch.fx.Node, narrow: dict) -> None:
    """Computes in int32 where the op computed in a narrow type, and wraps the result."""
    if node.target is operator.getitem:
        _set_value(node, operand_of(node).meta["val"][node.args[1]])
        return
    if node not in narrow and not any(n in narrow for n in node.all_input_nodes):
        return
    node.args, node.kwargs = torch.utils._pytree.tree_map(
        lambda leaf: torch.int32 if leaf in TYPES else leaf, (node.args, dict(node.kwargs)))
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
            step = graph.call_function(op, (last, number))
        step.meta = dict(node.meta)
        last = step
    for user in users:
        user.replace_input_with(node, last)
    return last
