"""From a PyTorch module to the text of the `torch` dialect.

Operators stay whole (`aten.linear`, `aten.layer_norm`,
`aten.scaled_dot_product_attention`, ...), each with the Python line it came from.
Weights stay out of the text: where torch-mlir would inline a tensor, the text has

    "torch.fact.weight"() {name = "mlp.up.weight"} : () -> !torch.vtensor<[8,4],bf16>

A buffer can decide what a program means (a causal mask), so its data comes along as
`value`; booleans are written as `i8`. A tensor that is no part of the module's state
(made inside `forward`) has the unit attribute `constant` and always has a `value`.

torch-mlir is imported only when `export` runs, so that the rest of the package works
where it is not installed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import warnings
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .errors import FactError
from .element_types import type_name

# Ops that mean nothing to a compiled, functional program.
_CHECKS = ("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range")
_NO_OPS = ("alias", "detach", "detach_", "lift_fresh", "lift_fresh_copy")


@dataclasses.dataclass
class ExportedGraph:
    """The exported program: what the compiler reads, and what the caller keeps."""

    name: str
    text: str
    # Every tensor that the text names, by name; constants included.
    weights: dict[str, torch.Tensor]
    # One entry an input of the function: name, type, shape.
    inputs: list[dict[str, Any]]
    # One entry a result of the function: name, type, shape.
    outputs: list[dict[str, Any]]
    # How flat results become what `forward` returns.
    result: "ResultStructure"
    # Which leaves of the flattened arguments are the function's inputs.
    input_positions: list[int]

    def sidecar(self) -> dict[str, Any]:
        """What a human or a tool may want to know next to the text, as JSON data."""
        return {
            "name": self.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "weights": [
                {"name": name, "type": type_name(w.dtype), "shape": list(w.shape)}
                for name, w in self.weights.items()
            ],
        }

    def save(self, path: str | os.PathLike) -> None:
        """Writes the text to `path` and the sidecar beside it, as `.json`."""
        path = os.fspath(path)
        with open(path, "w") as file:
            file.write(self.text)
        with open(os.path.splitext(path)[0] + ".json", "w") as file:
            json.dump(self.sidecar(), file, indent=2)


@dataclasses.dataclass
class ResultStructure:
    """Puts flat results back into the nest of tuples and dictionaries of `forward`."""

    spec: Any
    # A leaf is the index of a result, or ("constant", value).
    leaves: list[Any]

    def build(self, results: list[torch.Tensor]) -> Any:
        flat = [leaf[1] if isinstance(leaf, tuple) else results[leaf] for leaf in self.leaves]
        return pytree.tree_unflatten(flat, self.spec)


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
    inputs: tuple | list,
    *,
    kwargs: dict[str, Any] | None = None,
    name: str | None = None,
) -> ExportedGraph:
    """Exports `module` called with `inputs`; nothing is executed on real data.

    Module and inputs may be on the `meta` device. Raises FactError for a program that
    changes its buffers or inputs, and for inputs and outputs that are no tensors.
    """
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    importer = _load_importer()
    program = _export_program(module, tuple(inputs), kwargs or {})
    _check_signature(program, module)
    state = _program_state(program, module)
    entries, positions = _drop_constant_inputs(program)
    outputs, result = _drop_constant_outputs(program)
    _drop_no_ops(program.graph)
    _keep_user_locations(program.graph)
    name = name or model_name(module)
    text, weights = importer.import_program(program, state, name, entries, outputs)
    return ExportedGraph(name, text, weights, entries, outputs, result, positions)


def _load_importer():
    try:
        from . import importer
    except ImportError as error:
        raise FactError(
            f"export needs torch-mlir, which cannot be imported ({error}): run `make setup`, "
            "or export where it is installed and carry the text or the bundle here"
        ) from None
    return importer


def _distinct(arguments):
    """The same values with no tensor there twice, which export takes for one input."""
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
    with warnings.catch_warnings():
        # torch 2.13 warns about its own use of LeafSpec.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return torch.export.export(module, inputs, kwargs).run_decompositions({})
        except FactError:
            raise
        except Exception as error:
            raise FactError(
                f"torch.export could not export {type(module).__name__}: "
                f"{type(error).__name__}: {error}"
            ) from error


def _check_signature(program, module) -> None:
    signature = program.graph_signature
    hint = ", call module.eval() first" if module.training else ""
    if signature.buffers_to_mutate:
        names = ", ".join(sorted(signature.buffers_to_mutate.values()))
        raise FactError(
            f"the module changes its buffer(s) {names} in forward: FACT compiles pure "
            f"functions; return the new value instead{hint}"
        )
    if signature.user_inputs_to_mutate:
        names = ", ".join(sorted(signature.user_inputs_to_mutate.values()))
        raise FactError(
            f"the module changes its input(s) {names} in place: FACT compiles pure "
            f"functions; work on a copy and return it{hint}"
        )


class State:
    """Names of tensors by identity; a tied tensor goes by the first of its names."""

    def __init__(self):
        self.names: dict[int, str] = {}
        self.kinds: dict[str, str] = {}
        # Objects stay alive, so identities stay unique.
        self.tensors: dict[str, torch.Tensor] = {}

    def add(self, name: str, tensor: torch.Tensor, kind: str) -> None:
        if id(tensor) not in self.names:
            self.names[id(tensor)] = name
            self.kinds[name] = kind
            self.tensors[name] = tensor


def _program_state(program, module) -> State:
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
    for targets, kind in ((signature.inputs_to_parameters, "parameter"),
                          (signature.inputs_to_buffers, "buffer")):
        for target in targets.values():
            canonical = owner.get(target, target)
            state.add(canonical, program.state_dict[target], kind)
    for target in signature.inputs_to_lifted_tensor_constants.values():
        state.add(target, program.constants[target], "constant")
    return state


def _named_tensors(module):
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _tensor_entry(name: str, value) -> dict[str, Any]:
    shape = [int(size) if isinstance(size, int) else None for size in value.shape]
    return {"name": name, "type": type_name(value.dtype), "shape": shape}


def _drop_constant_inputs(program) -> tuple[list[dict], list[int]]:
    """The function's inputs are tensors; torch.export specialised on anything else."""
    from torch.export.graph_signature import InputKind, TensorArgument

    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    names, positions = [], []
    user = [s for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
    for position, spec in enumerate(user):
        node = nodes[spec.arg.name]
        if isinstance(spec.arg, TensorArgument):
            names.append(_tensor_entry(spec.arg.name, node.meta["val"]))
            positions.append(position)
        elif node.users:
            raise FactError(f"input '{spec.arg.name}' is not a tensor: make it an attribute "
                            "of the module, or pass a tensor")
        else:
            program.graph.erase_node(node)
    return names, positions


def _drop_constant_outputs(program) -> tuple[list[dict], ResultStructure]:
    output = next(node for node in program.graph.nodes if node.op == "output")
    flat = list(output.args[0])
    entries, kept, leaves = [], [], []
    spec = program.call_spec.out_spec
    paths = [path for path, _ in
             pytree.tree_flatten_with_path(pytree.tree_unflatten(list(flat), spec),
                                           is_leaf=lambda leaf: leaf is None)[0]]
    if len(paths) != len(flat):
        paths = [()] * len(flat)
    for value, path in zip(flat, paths):
        if not isinstance(value, torch.fx.Node):
            leaves.append(("constant", value))
            continue
        if not isinstance(value.meta.get("val"), torch.Tensor):
            raise FactError(f"output '{value.name}' is not a tensor")
        key = getattr(path[-1], "key", None) if path else None
        name = key if isinstance(key, str) and key.isidentifier() else f"output{len(kept)}"
        leaves.append(len(kept))
        kept.append(value)
        entries.append(_tensor_entry(name, value.meta["val"]))
    if not kept:
        raise FactError("the module returns no tensor")
    output.args = (tuple(kept),)
    return entries, ResultStructure(spec, leaves)


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


_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_TORCH_FOLDER = os.path.dirname(torch.__file__) + os.sep


def _keep_user_locations(graph: torch.fx.Graph) -> None:
    """Leaves the frames of the user's own files, so that locations name their lines.

    A module made only of PyTorch's own keeps all frames.
    """
    for node in graph.nodes:
        trace = node.meta.get("stack_trace")
        if not trace:
            continue
        frames = _FRAME.findall(trace)
        own = [frame for frame in frames if not frame[0].startswith(_TORCH_FOLDER)]
        lines = [f'File "{file}", line {line}, in {function}'
                 for file, line, function in own or frames]
        node.meta["stack_trace"] = "\n".join(lines)
