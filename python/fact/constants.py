# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folds what depends on no input, parameter or persistent buffer.

PyTorch evaluates such ops on the CPU, in the types of the program, and their results become
constants of the program. So `torch.arange(n).diff()` or `torch.sqrt(torch.tensor(8.0))` needs
no conversion and no kernel.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, TensorArgument
from torch.overrides import TorchFunctionMode

from .fx_nodes import function_of

# Results of up to this size are folded; larger ones are computed by the program.
LIMIT_BYTES = 16 << 20

# The content is unspecified.
_UNSPECIFIED = ("aten::empty", "aten::new_empty")


class NumbersWithData(TorchFunctionMode):
    """Tensors that `forward` makes of numbers on the meta device have data: they are made on the
    CPU, and the conversion is folded."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        device = kwargs.get("device")
        if function is torch.Tensor.new_tensor and device is None:
            device = args[0].device
        data = (*args[function is torch.Tensor.new_tensor:], kwargs.get("data"))
        if function not in (torch.tensor, torch.as_tensor, torch.Tensor.new_tensor) or \
                device is None or torch.device(device).type != "meta" or \
                any(isinstance(leaf, torch.Tensor) for leaf in torch.utils._pytree.tree_leaves(data)):
            return function(*args, **kwargs)
        return function(*args, **{**kwargs, "device": "cpu"}).to("meta")


def fold(graph: torch.fx.Graph, known: dict[torch.fx.Node, torch.Tensor],
         constant: Callable[[torch.Tensor], torch.fx.Node]) -> None:
    """Replaces nodes whose operands are all `known` by constants.

    `constant` makes the node of a tensor, before all others. A node that only other constants
    read gets none, and equal ones share one: what PyTorch writes out computes the places of a
    resized image again for each of its taps.
    """
    values: dict[torch.fx.Node, object] = dict(known)
    for node in graph.nodes:
        if node not in values and _is_foldable(node, values):
            values[node] = _evaluate(node, values)
    made: dict[tuple, torch.fx.Node] = {}
    for node in reversed(list(graph.nodes)):
        if node in known or node not in values or not node.users:
            continue
        value = values[node]
        if isinstance(value, torch.Tensor):
            key = (node.meta["val"].device, *_content(value))
            folded = made.get(key) or constant(value)
            made[key] = folded
            # The node's own, which has its device.
            folded.meta["val"] = node.meta["val"]
            known[folded] = value
            node.replace_all_uses_with(folded)
    for node in reversed(list(graph.nodes)):
        if node in values and node.op == "call_function" and not node.users:
            graph.erase_node(node)


def _content(tensor: torch.Tensor) -> tuple:
    """What equal tensors have in common: bits, so that zeros of both signs differ."""
    with unset_fake_temporarily():
        bits = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return tensor.dtype, tensor.shape, tensor.stride(), hashlib.sha256(bits).digest()


def _is_foldable(node: torch.fx.Node, values: dict) -> bool:
    if node.op != "call_function" or any(n not in values for n in node.all_input_nodes):
        return False
    if node.target is operator.getitem:
        return True
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or target._schema.is_mutable:
        return False
    if torch.Tag.nondeterministic_seeded in target.tags or \
            target._schema.name.startswith(_UNSPECIFIED):
        return False
    results = torch.utils._pytree.tree_leaves(node.meta.get("val"))
    return bool(results) and all(
        isinstance(value, torch.Tensor)
        and all(isinstance(size, int) for size in value.shape)
        and value.numel() * value.element_size() <= LIMIT_BYTES for value in results)


def _evaluate(node: torch.fx.Node, values: dict) -> object:
    def on_cpu(argument):
        return torch.device("cpu") if isinstance(argument, torch.device) else argument

    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: values[n])
    args, kwargs = torch.utils._pytree.tree_map(on_cpu, (args, kwargs))
    with torch.no_grad(), unset_fake_temporarily():
        result = function_of(node)(*args, **kwargs)
    return result.clone() if isinstance(result, torch.Tensor) else result


def fold_program(program: torch.export.ExportedProgram) -> None:
    """Folds the constants of a program, and lifts what is new."""
    fold(program.graph, known_tensors(program), lambda tensor: lift(program, tensor))


def known_tensors(program: torch.export.ExportedProgram) -> dict[torch.fx.Node, torch.Tensor]:
    """The placeholders whose values are part of the program: tensors that `forward` makes, and
    buffers that `state_dict` does not save and `forward` does not change."""
    signature = program.graph_signature
    changed = {spec.target for spec in signature.output_specs
               if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)}
    names = dict(signature.inputs_to_lifted_tensor_constants)
    names.update({name: target for name, target in signature.inputs_to_buffers.items()
                  if target in signature.non_persistent_buffers and target not in changed})
    known = {}
    for node in program.graph.nodes:
        tensor = program.constants.get(names.get(node.name)) if node.op == "placeholder" else None
        if isinstance(tensor, torch.Tensor) and not tensor.is_meta and \
                tensor.layout == torch.strided:
            known[node] = tensor.detach().cpu()
    return known


def lift(program: torch.export.ExportedProgram, tensor: torch.Tensor) -> torch.fx.Node:
    """A new constant of the program, as a placeholder before all others."""
    index = len(program.constants)
    while f"folded_{index}" in program.constants:
        index += 1
    name = f"folded_{index}"
    first = next(iter(program.graph.nodes))
    with program.graph.inserting_before(first):
        node = program.graph.placeholder(name)
    node.meta["val"] = fake(program.graph, tensor)
    program.constants[name] = tensor
    spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(name=node.name), target=name)
    program.graph_signature.input_specs.insert(0, spec)
    return node


def fake(graph: torch.fx.Graph, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as the nodes of a graph have their values: without data."""
    mode = fake_mode(graph)
    return tensor if mode is None else mode.from_tensor(tensor, static_shapes=True)


def fake_mode(graph: torch.fx.Graph) -> torch._subclasses.FakeTensorMode | None:
    """The mode in which the nodes of a graph have their values."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch._subclasses.FakeTensor):
            return value.fake_mode
    return None
