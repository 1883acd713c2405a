# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes an exported program functional: no op changes a tensor in place.

PyTorch does so with `run_decompositions`, which fails for some programs that `torch.export`
makes itself. `repair` removes what it fails for.
"""

from __future__ import annotations

import torch
from torch.export.graph_signature import InputKind

from .errors import FactError


def repair(program: torch.export.ExportedProgram) -> None:
    """Merges constants that are buffers, and removes `detach_`, which changes no element."""
    _merge_constants(program)
    for node in list(program.graph.nodes):
        if node.target is torch.ops.aten.detach_.default:
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)


def keep_names(graph: torch.fx.Graph) -> None:
    """Keeps names that export gave to nodes from new nodes: an input may be called `mul`."""
    graph._graph_namespace._used_names.update(node.name for node in graph.nodes)


def run_decompositions(program: torch.export.ExportedProgram,
                       name: str) -> torch.export.ExportedProgram:
    try:
        return program.run_decompositions(
            {torch.ops.aten.instance_norm.default: _instance_norm})
    except Exception as error:
        raise FactError(f"torch.export exported {name}, but PyTorch could not make the program "
                        f"functional (run_decompositions): {type(error).__name__}: {error}"
                        ) from error


def _instance_norm(x, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn_enabled):
    """An instance norm whose running averages change by ops that say so: its own schema does
    not, and PyTorch keeps it whole."""
    if not use_input_stats:
        return torch.batch_norm(x, weight, bias, mean, var, False, momentum, eps, cudnn_enabled)
    if mean is not None:
        wide = x if x.dtype == torch.float64 else x.float()
        spread, middle = torch.var_mean(wide, list(range(2, x.dim())), correction=1)
        for old, new in ((mean, middle), (var, spread)):
            old.copy_((1 - momentum) * old.to(wide.dtype) + momentum * new.mean(0))
    return torch.group_norm(x, x.shape[1], weight, bias, eps)


def _merge_constants(program: torch.export.ExportedProgram) -> None:
    """A buffer that a module reaches by another way than its name, as static caches do, is
    exported twice: as a buffer, and as the constant that the program changes."""
    specs = program.graph_signature.input_specs
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    tensors = {**program.constants, **program.state_dict}
    buffers = {_identity(tensors[spec.target]): nodes[spec.arg.name] for spec in specs
               if spec.kind == InputKind.BUFFER and spec.target in tensors}
    for spec in list(specs):
        if spec.kind != InputKind.CONSTANT_TENSOR:
            continue
        buffer = buffers.get(_identity(program.constants[spec.target]))
        if buffer is None:
            continue
        nodes[spec.arg.name].replace_all_uses_with(buffer)
        program.graph.erase_node(nodes[spec.arg.name])
        specs.remove(spec)
        del program.constants[spec.target]


def _identity(tensor: torch.Tensor) -> tuple:
    """The memory of a tensor; tensors without memory are themselves only."""
    memory = tensor.data_ptr() if not tensor.is_meta and tensor.numel() else id(tensor)
    return memory, tuple(tensor.shape), tensor.stride(), tensor.dtype
