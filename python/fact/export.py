# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a PyTorch module to the text of the `torch` dialect.

Operators that the compiler converts are not decomposed (`aten.linear`, `aten.layer_norm`,
`aten.scaled_dot_product_attention`, ...); others are, by `decompositions`, and what depends on
no input is folded, by `constants`. Each has the location of its Python line.
The text does not contain weights: where torch-mlir would inline a tensor, it has

    "torch.fact.weight"() {name = "mlp.up.weight"} : () -> !torch.vtensor<[8,4],bf16>

A buffer can determine what a program means (a causal mask), so its data is included as
`value`; booleans are written as `i8`. A tensor that `state_dict` does not save (created
inside `forward`, or a buffer that is not persistent) is part of the program: it has the
unit attribute `constant` and always has a `value`. Buffers and inputs that `forward`
changes are further results of the function, which the caller writes back.

torch-mlir is imported only when `export` runs, so that the rest of the package works
where it is not installed.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import operator
import os
import re
import subprocess
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import (
    complex_numbers,
    constants,
    decompositions,
    functional,
    layouts,
    narrow_integers,
    selections,
    toolchain,
)
from .caches import register_caches
from .element_types import type_name
from .errors import FactError
from .export_errors import check_nodes, export_problem
from .exportable import exportable
from .files import writing
from .fx_nodes import arguments_of, op_of
from .notebook import graph_html
from .places import line_of, own_frames
from .signature import CallSignature, Constant, Mutation, leaf_names, parameters_of

# Data of buffers up to this size is put into the text.
VALUE_LIMIT_BYTES = 16 << 20

# torch.export patches what it traces, so exports take turns. The lock is reentrant, because a
# backend of torch.compile may be called during a trace.
_EXPORTING = threading.RLock()

# Ops that have no effect in a compiled, functional program.
_CHECKS = ("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range")
_NO_OPS = ("alias", "detach", "detach_", "lift_fresh", "lift_fresh_copy")


@dataclasses.dataclass
class ExportedGraph:
    """The exported program: the text for the compiler, and data for the caller."""

    name: str
    text: str
    # Every tensor that the text names, constants included.
    weights: dict[str, torch.Tensor]
    # Name, type and shape of each input of the function.
    inputs: list[dict[str, Any]]
    # Name, type and shape of each result of the function.
    outputs: list[dict[str, Any]]
    # How the module is called, around these flat lists.
    signature: CallSignature
    # Time of torch.export, and of the rest.
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    def sidecar(self) -> dict[str, Any]:
        """Metadata for people and tools, as JSON data."""
        return {
            "name": self.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "weights": [
                {"name": name, "type": type_name(w.dtype), "shape": list(w.shape)}
                for name, w in self.weights.items()
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the text to `path` and the sidecar beside it, as `.json`."""
        path = os.fspath(path)
        with writing(path) as file:
            file.write(self.text)
        with writing(os.path.splitext(path)[0] + ".json") as file:
            json.dump(self.sidecar(), file, indent=2)

    def _repr_html_(self) -> str:
        return graph_html(self)


def model_name(module: torch.nn.Module) -> str:
    """A C identifier for a module: its file's name if the class is called `Model`."""
    cls = type(module)
    name = cls.__name__
    if name == "Model" and cls.__module__ not in ("__main__", None):
        name = cls.__module__.rsplit(".", 1)[-1]
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    name = re.sub(r"[^a-z0-9_]", "_", name).strip("_") or "model"
    return name if not name[0].isdigit() else "model_" + name


def export(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    *,
    kwargs: dict[str, Any] | None = None,
    name: str | None = None,
    program: torch.export.ExportedProgram | None = None,
) -> ExportedGraph:
    """Exports `module` called with `inputs` and `kwargs`; nothing is executed on real data.

    name: of the graph, a C identifier; by default from the module's class.
    Module and inputs may be on the `meta` device. Inputs and outputs may be nests of
    containers; what is no tensor among them is compiled in, and checked at each call.
    `program` is the result of `_export_program` for the same call, if there is one; it is
    changed.
    """
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    kwargs = kwargs or {}
    importer = _load_importer()
    register_caches()
    begin = time.perf_counter()
    program = program or _export_program(module, inputs, kwargs)
    exported = time.perf_counter()
    parameters = parameters_of(module.forward)
    types = {**narrow_integers.widen(program), **complex_numbers.types_of(program.graph)}
    entries, argument_leaves = _take_inputs(program)
    outputs, result_leaves, mutations = _take_outputs(program, entries)
    state = _program_state(program, module, {m.target for m in mutations})
    _drop_no_ops(program.graph)
    _keep_user_locations(program.graph)
    seen = _types_as_seen(program, types, entries, mutations, state.aliases)
    layouts.store_in_order(program.graph, entries, outputs)
    name = name or model_name(module)
    signature = CallSignature(
        parameters, program.call_spec.in_spec, program.call_spec.out_spec, argument_leaves,
        result_leaves, leaf_names(parameters, inputs, kwargs), mutations, state.aliases,
        state.unused, *seen, layouts.orders_of(entries),
        layouts.orders_of(outputs[:len(outputs) - len(mutations)]))
    text, weights = importer.import_program(program, state, name, entries, outputs, signature)
    seconds = {"torch.export": exported - begin, "import": time.perf_counter() - exported}
    return ExportedGraph(name, text, weights, entries, outputs, signature, seconds)


def _types_as_seen(program, types, inputs, mutations, aliases) -> tuple[dict, dict, dict]:
    """Types of inputs and results, by position, and of weights, by name, where the library has others."""
    names = {node: str(dtype).removeprefix("torch.") for node, dtype in types.items()}
    by_name = {node.name: name for node, name in names.items()}
    signature = program.graph_signature
    targets = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    results = next(iter(reversed(program.graph.nodes))).args[0]
    # What an input is changed to is written to the input as it is stored.
    written = {mutation.output for mutation in mutations if isinstance(mutation.target, int)}
    return ({index: by_name[entry["name"]] for index, entry in enumerate(inputs)
             if entry["name"] in by_name},
            {index: names[node] for index, node in enumerate(results)
             if node in names and index not in written},
            {aliases.get(target, target): by_name[name] for name, target in targets.items()
             if name in by_name})


def _load_importer():
    try:
        from . import importer
    except ImportError as error:
        raise FactError(
            f"export needs torch-mlir, which cannot be imported ({error}): run "
            f"`{toolchain.how_to_install('torch-mlir', 'ml_dtypes', 'numpy')}`, or export where it is "
            "installed and carry the text or the bundle here"
        ) from None
    return importer


def _distinct(arguments):
    """Replaces repeated tensors by aliases, since export would merge them into one input."""
    seen = set()

    def copy_if_seen(value):
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in seen:
            return value.clone()
        seen.add(id(value))
        return value

    return torch.utils._pytree.tree_map(copy_if_seen, arguments)


def _export_program(module, inputs, kwargs) -> torch.export.ExportedProgram:
    inputs, kwargs = _distinct((inputs, kwargs))
    with _EXPORTING, exportable(), constants.NumbersWithData(), warnings.catch_warnings():
        # torch 2.13 warns about its own use of LeafSpec.
        warnings.simplefilter("ignore", FutureWarning)
        # Of nn.RNN, nn.LSTM and nn.GRU, whose list of weights it is.
        warnings.filterwarnings("ignore", r"The tensor attributes self\.[\w.]*_flat_weights")
        try:
            program = torch.export.export(module, inputs, kwargs)
            functional.repair(program)
            if not _is_plain(program):
                program = functional.run_decompositions(program, type(module).__name__)
        except FactError:
            raise
        except Exception as error:
            raise FactError(f"torch.export could not export {type(module).__name__}: "
                            f"{export_problem(error)}") from error
        check_nodes(program)
        functional.keep_names(program.graph)
        complex_numbers.split(program)
        selections.remove(program)
        layouts.record_results(program.graph)
        decompositions.decompose(program, _supported_ops())
        return program


def _is_plain(program: torch.export.ExportedProgram) -> bool:
    """Whether each node is an op, and none changes a tensor.

    Then there is nothing to do for `run_decompositions({})`, which traces the program again
    and takes as long as the first time.
    """
    for node in program.graph.nodes:
        if node.op in ("placeholder", "output") or node.target is operator.getitem:
            continue
        if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
            continue  # Arithmetic with numbers.
        if not isinstance(node.target, torch._ops.OpOverload) or _changes_tensors(node):
            return False
    return True


def _changes_tensors(node: torch.fx.Node) -> bool:
    """Norms in training change their running statistics, which their schemas do not say."""
    if node.target is torch.ops.aten.batch_norm.default:
        return bool(node.args[5])
    if node.target is torch.ops.aten.instance_norm.default:
        return bool(node.args[5]) and node.args[3] is not None
    return op_of(node)._schema.is_mutable


@functools.cache
def _supported_ops() -> frozenset[str]:
    """The ops that the compiler takes or drops; none if the compiler is not installed."""
    tool = toolchain.find_tool("fact-compile")
    if tool is None:
        return frozenset()
    process = subprocess.run([str(tool), "--print-supported-ops"], capture_output=True, text=True)
    if process.returncode:
        raise FactError(f"{tool} does not say which ops it supports, so that none can be written out: "
                        f"{process.stderr.strip() or f'status {process.returncode}'}")
    dropped = [f"torch.aten.{op}" for op in _NO_OPS + _CHECKS]
    return frozenset(line.removeprefix("torch.") for line in process.stdout.splitlines() + dropped
                     if line.startswith("torch."))


class State:
    """Names of tensors by identity; a tied tensor goes by the first of its names."""

    def __init__(self):
        self.names: dict[int, str] = {}
        self.kinds: dict[str, str] = {}
        # Keeps objects alive, so that identities stay unique.
        self.tensors: dict[str, torch.Tensor] = {}
        # As CallSignature has them.
        self.aliases: dict[str, str] = {}
        self.unused: list[str] = []

    def add(self, name: str, tensor: torch.Tensor, kind: str) -> None:
        if id(tensor) not in self.names:
            self.names[id(tensor)] = name
            self.kinds[name] = kind
            self.tensors[name] = tensor


def _program_state(program, module, mutated) -> State:
    """Gives the importer every tensor that the program reads, under one name each."""
    signature = program.graph_signature
    # Non-persistent buffers are in `constants`; the importer looks only in `state_dict`.
    for target in signature.inputs_to_buffers.values():
        if target not in program.state_dict:
            program.state_dict[target] = program.constants[target]
    # Tied tensors: one object for all names, whatever the export made of them.
    first: dict[int, str] = {}
    for name, tensor in _named_tensors(module):
        first.setdefault(id(tensor), name)
    owner = {name: first[id(tensor)] for name, tensor in _named_tensors(module)}
    for name in list(program.state_dict):
        canonical = owner.get(name, name)
        if canonical != name and canonical in program.state_dict:
            program.state_dict[name] = program.state_dict[canonical]

    state = State()
    for target in signature.inputs_to_parameters.values():
        state.add(owner.get(target, target), program.state_dict[target], "parameter")
    for target in signature.inputs_to_buffers.values():
        name, tensor = owner.get(target, target), program.state_dict[target]
        state.add(name, tensor, _buffer_kind(signature, target, tensor,
                                              name in mutated or target in mutated))
    for target in signature.inputs_to_lifted_tensor_constants.values():
        state.add(target, program.constants[target], "constant")
    state.aliases = {name: canonical for name, canonical in owner.items()
                     if name != canonical and state.kinds.get(canonical) != "constant"}
    state.unused = sorted(set(owner) - _read(program, owner) - set(state.aliases))
    return state


def _read(program, owner: dict[str, str]) -> set[str]:
    """The state of the module that the program reads, by the names of weights."""
    signature = program.graph_signature
    targets = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    return {owner.get(targets[node.name], targets[node.name]) for node in program.graph.nodes
            if node.op == "placeholder" and node.name in targets and node.users}


def _buffer_kind(signature, target: str, tensor: torch.Tensor, mutated: bool) -> str:
    """A buffer that changes is state, and has no value that the compiler may use."""
    if mutated:
        return "state"
    if target in signature.non_persistent_buffers and has_embeddable_data(tensor):
        return "constant"
    return "buffer"


def has_embeddable_data(tensor: torch.Tensor) -> bool:
    """Whether a buffer's data goes into the text."""
    return not tensor.is_meta and tensor.numel() * tensor.element_size() <= VALUE_LIMIT_BYTES


def _named_tensors(module):
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _tensor_entry(name: str, value, order: list[int] | None) -> dict[str, Any]:
    shape = [int(size) if isinstance(size, int) else None for size in value.shape]
    entry = {"name": name, "type": type_name(value.dtype), "shape": shape}
    return entry if order is None else {**entry, "order": order}


def _take_inputs(program) -> tuple[list[dict], list[int | Constant]]:
    """The function's inputs are tensors; torch.export specialized on anything else."""
    from torch.export.graph_signature import InputKind, TensorArgument

    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    entries: list[dict[str, Any]] = []
    leaves: list[int | Constant] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind != InputKind.USER_INPUT:
            continue
        node = nodes[spec.arg.name]
        if isinstance(spec.arg, TensorArgument):
            leaves.append(len(entries))
            value = node.meta["val"]
            entries.append(_tensor_entry(spec.arg.name, value, layouts.memory_order(value)))
        elif node.users:
            raise FactError(f"input '{spec.arg.name}' is not a tensor: make it an attribute "
                            "of the module, or pass a tensor")
        else:
            leaves.append(Constant(spec.arg.value))
            program.graph.erase_node(node)
    return entries, leaves


def _take_outputs(program, inputs) -> tuple[list[dict], list[int | Constant], list[Mutation]]:
    """Results that are tensors, then the new values of what `forward` changes."""
    from torch.export.graph_signature import OutputKind

    output = next(node for node in program.graph.nodes if node.op == "output")
    returned, changed = [], []
    for spec, value, layout in zip(program.graph_signature.output_specs, output.args[0],
                                   output.meta["layouts"], strict=True):
        if spec.kind == OutputKind.USER_OUTPUT:
            returned.append((value, layout))
        elif spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION,
                           OutputKind.USER_INPUT_MUTATION):
            changed.append((spec, value))
        else:
            raise FactError(f"output '{spec.arg.name}' is {spec.kind.name}, which FACT does "
                            f"not compile{line_of(value)}")
    entries: list[dict[str, Any]] = []
    leaves: list[int | Constant] = []
    kept: list[torch.fx.Node] = []
    names = _result_names(program.call_spec.out_spec, len(returned))
    for (value, layout), name in zip(returned, names):
        if not isinstance(value, torch.fx.Node):
            leaves.append(Constant(value))
            continue
        if not isinstance(value.meta.get("val"), torch.Tensor):
            raise FactError(f"output '{value.name}' is not a tensor{line_of(value)}")
        leaves.append(len(kept))
        entries.append(_tensor_entry(name or f"output{len(kept)}", value.meta["val"],
                                     layouts.memory_order(layout)))
        kept.append(value)
    if not kept and not changed:
        raise FactError("the module returns no tensor")
    mutations = []
    positions = {entry["name"]: index for index, entry in enumerate(inputs)}
    for spec, value in changed:
        is_input = spec.kind == OutputKind.USER_INPUT_MUTATION
        target = positions[spec.target] if is_input else spec.target
        mutations.append(Mutation(len(kept), target))
        # A changed input is written where it was read; weights are row-major.
        order = inputs[target].get("order") if is_input else None
        entries.append(_tensor_entry("new_" + re.sub(r"\W", "_", spec.target),
                                     value.meta["val"], order))
        kept.append(value)
    output.args = (tuple(kept),)
    return entries, leaves, mutations


def _result_names(spec: pytree.TreeSpec, count: int) -> list[str | None]:
    """The keys of results in dictionaries that are names."""
    paths = [path for path, _ in
             pytree.tree_flatten_with_path(pytree.tree_unflatten([0] * count, spec))[0]]
    keys = [getattr(path[-1], "key", None) if path else None for path in paths]
    taken = set()
    for index, key in enumerate(keys):
        if not isinstance(key, str) or not key.isidentifier() or key in taken:
            keys[index] = None
        taken.add(key)
    return keys


def _drop_no_ops(graph: torch.fx.Graph) -> None:
    for node in list(graph.nodes):
        schema = getattr(node.target, "_schema", None)
        if node.op != "call_function" or schema is None:
            continue
        namespace, _, op = schema.name.partition("::")
        if namespace == "aten" and op in _CHECKS and not node.users:
            graph.erase_node(node)
        elif namespace == "aten" and op in _NO_OPS:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        elif namespace == "aten" and op == "cat":
            _drop_empty_operands(node)
    graph.eliminate_dead_code()


def _drop_empty_operands(cat: torch.fx.Node) -> None:
    """Removes empty tensors from a concatenation, which may have another rank than the others:
    caches begin as `torch.tensor([])`."""
    full = [value for value in arguments_of(cat)
            if not isinstance(value, torch.fx.Node) or value.meta["val"].numel()]
    if full:
        cat.update_arg(0, full)


def _keep_user_locations(graph: torch.fx.Graph) -> None:
    """Leaves the frames of the user's own files, so that locations name their lines.

    A module made only of PyTorch's own keeps all frames.
    """
    for node in graph.nodes:
        trace = node.meta.get("stack_trace")
        if not trace:
            continue
        lines = [f'File "{file}", line {line}, in {function}'
                 for file, line, function in own_frames(trace)]
        node.meta["stack_trace"] = "\n".join(lines)
