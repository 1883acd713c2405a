# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(module, backend="fact")`.

FACT compiles each graph that Dynamo finds. Where it cannot compile an op, the graph is cut
(`partition`): FACT compiles the parts around the op, and PyTorch runs the op; the logger
`fact` says which ops and why. Parameters and buffers, which Dynamo passes as inputs, are
weights of the library, and every change of them takes effect: kernels read most weights
in place, and for those that were transformed at load (packed panels, merged projections)
each call compares checksums. A graph of symbolic sizes is compiled once per size that it
is called with.

Options, as in `torch.compile(module, backend="fact", options={"candidates": 4})`:

    target      as in fact.compile (default: auto)
    candidates  as in fact.compile
    arguments   a list of more arguments for fact-compile
    cache       whether to reuse a library that an earlier process compiled (default: True)
    verify      as in fact.compile (default: True)
    weights     "any": weights change in any way (default); "tracked": only in ways that
                PyTorch's version counters record, unlike `.data`, NumPy and inference
                mode; calls then compute no checksums
    fallback    whether PyTorch runs ops that cannot be compiled (default: True)
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from .compiler import _create, _options, build_graph, verify_library
from .end_to_end import Refused
from .errors import CompilerError, FactError
from .export import _drop_no_ops, _export_program, export
from .library import Model
from .partition import Split, op_name, refused_at, refused_by_name, split
from .places import line_of

log = logging.getLogger("fact")

# The maximum number of libraries per graph of symbolic sizes; further sizes run in PyTorch.
SIZES_LIMIT = 8


@dataclasses.dataclass
class Settings:
    target: str = "auto"
    candidates: int | None = None
    arguments: Sequence[str] = ()
    cache: bool = True
    verify: bool = True
    weights: str = "any"
    fallback: bool = True


def backend(graph: fx.GraphModule, inputs: list[Any], *, options: dict[str, Any] | None = None,
            mode: str | None = None) -> Callable:
    """Called by Dynamo for each graph; FACT ignores `mode`."""
    settings = _settings(options or {})
    state = [index for index, value in enumerate(inputs) if _is_state(value)]
    if torch.is_grad_enabled() and any(_requires_grad(value) for value in inputs):
        return _in_pytorch(graph, settings, "gradients are needed, but FACT compiles inference: "
                           "call it under torch.no_grad()")
    compiled = CompiledGraph(graph, state, settings)
    if not any(isinstance(value, torch.SymInt) for value in inputs):
        try:
            compiled.specialize(inputs)
        except FactError as error:
            return _in_pytorch(graph, settings, error)
    return compiled


class CompiledGraph:
    """One graph of Dynamo, or a part of it: libraries by the sizes of inputs, and PyTorch for
    the rest."""

    def __init__(self, graph: fx.GraphModule, state: list[int], settings: Settings):
        self.graph, self.state, self.settings = graph, state, settings
        placeholders = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self.names = {index: placeholders[index] for index in state}
        # The other inputs, whose sizes may change.
        self.rest = [index for index in range(len(placeholders)) if index not in self.names]
        # None if compilation failed before.
        self.models: dict[tuple, _Bound | _Cut | None] = {}
        # Ops that run in PyTorch, with the reason.
        self.reported: set[str] = set()

    def specialize(self, inputs: Sequence[Any]) -> None:
        """Compiles for inputs of these sizes."""
        module = _GraphWithState(self.graph, {i: (self.names[i], inputs[i]) for i in self.state})
        rest = _at(inputs, self.rest)
        # Keeps torch.export from using Dynamo's own tracing context.
        with torch._guards.tracing(None), torch.no_grad():
            program = _export_program(module, rest, {})
            compiled: _Bound | _Cut | None = self._cut(program, inputs)
            try:
                compiled = compiled or self._compile(module, program, inputs)
            except CompilerError as error:
                program = _export_program(module, rest, {})
                compiled = self._cut(program, inputs, error.errors)
                if compiled is None:
                    raise
        self.models[self.sizes(inputs)] = compiled

    def sizes(self, inputs: Sequence[Any]) -> tuple:
        """What a library of this graph is compiled for."""
        return tuple([value.shape if isinstance(value, torch.Tensor) else int(value)
                      for value in _at(inputs, self.rest)])

    def _compile(self, module: _GraphWithState, program: torch.export.ExportedProgram,
                 inputs: Sequence[Any]) -> _Bound:
        """One library for all of the graph."""
        rest, s = _at(inputs, self.rest), self.settings
        exported = export(module, rest, name="graph", program=program)
        library = build_graph(exported, s.target, options=_options(s.candidates, s.arguments),
                              cache=s.cache)
        model = _create(library, exported)
        verify_library(library, model, module, rest, None, s.verify)
        names = {entry["name"] for entry in library.weights}
        weights = {i: name for i, name in self.names.items() if name in names}
        if s.weights == "any":
            model.watch_weights()
        return _Bound(model, self.rest, self.names, weights, s.weights == "any", inputs)

    def _cut(self, program: torch.export.ExportedProgram, inputs: Sequence[Any],
             errors: Sequence[tuple[str, int, str]] = ()) -> _Cut | None:
        """The graph in parts, if it has ops that FACT does not have or that the compiler
        refused with `errors`; None if there are none, or nothing is left for FACT."""
        if not self.settings.fallback:
            return None
        _drop_no_ops(program.graph)
        refused = refused_by_name(program.graph)
        for file, line, text in errors:
            refused |= {node: text for node in refused_at(program.graph, (file, line))}
        found = split(program, refused) if refused else None
        if found is None:
            return None
        for reason in dict.fromkeys(f"{op_name(node)}{line_of(node)}: {why}"
                                    for node, why in refused.items()):
            if reason not in self.reported:
                log.warning("an op runs in PyTorch: %s", reason)
            self.reported.add(reason)
        return _Cut(program, found, self.names, inputs, self.settings)

    def __call__(self, *inputs):
        key = self.sizes(inputs)
        if key not in self.models:
            self._specialize_at_call(key, inputs)
        compiled = self.models[key]
        if compiled is None:
            return self.graph(*inputs)
        try:
            return compiled(inputs)
        except FactError as error:
            # A buffer whose value was compiled in has changed.
            _report(self.settings, error)
            self.models[key] = None
            return self.graph(*inputs)

    def _specialize_at_call(self, key, inputs) -> None:
        self.models[key] = None
        if len(self.models) > SIZES_LIMIT:
            _report(self.settings, f"more than {SIZES_LIMIT} sizes of one graph")
            return
        try:
            self.specialize(inputs)
        except FactError as error:
            _report(self.settings, error)


class _Bound:
    """A model, and the inputs of the graph that are its weights."""

    def __init__(self, model: Model, rest: list[int], names: dict[int, str],
                 weights: dict[int, str], watched: bool, inputs: Sequence[Any]):
        self.model, self.rest, self.weights = model, rest, weights
        # Whether weights may change without a change of their version.
        self.watched = watched
        assert model.signature is not None
        targets = {mutation.target for mutation in model.signature.mutations}
        self.changed = {i: name for i, name in names.items() if name in targets}
        self._see(inputs)

    def __call__(self, inputs: Sequence[Any]) -> Any:
        self.refresh(inputs)
        results = self.model(*_at(inputs, self.rest))
        if self.changed:
            self.write_back(inputs)
        return results

    def _versions(self, inputs: Sequence[Any]) -> list:
        """One value per weight. It changes with the tensor's memory and, if weights are not
        watched, with changes in place that PyTorch counts."""
        if self.watched:
            return [inputs[i].data_ptr() for i in self.weights]
        try:
            return [(inputs[i].data_ptr(), inputs[i]._version) for i in self.weights]
        except RuntimeError:
            return [_identity(inputs[i]) for i in self.weights]

    def _see(self, inputs: Sequence[Any]) -> None:
        self.seen = self._versions(inputs)
        # Watched weights of which the model has a dense copy, and watches that copy.
        self.copies = [i for i, name in self.weights.items() if self.watched
                       and self.model.weight(name).data_ptr() != inputs[i].data_ptr()]

    def refresh(self, inputs: Sequence[Any]) -> None:
        """Updates the model's weights that are other tensors now, or were changed in place."""
        versions = self._versions(inputs)
        if versions != self.seen:
            self.model.set_weights({
                self.weights[i]: inputs[i]
                for i, old, new in zip(self.weights, self.seen, versions) if old != new})
            self._see(inputs)
        if self.copies:
            with torch.inference_mode():
                for i in self.copies:
                    self.model.weight(self.weights[i]).copy_(inputs[i])

    def write_back(self, inputs: Sequence[Any]) -> None:
        """Copies the values of the model's buffers to the graph's own."""
        for i, name in self.changed.items():
            if self.model.state()[name].data_ptr() != inputs[i].data_ptr():
                inputs[i].copy_(self.model.state()[name])
        # The model has set its own.
        self.seen = self._versions(inputs)


class _Cut:
    """A graph in parts: each part of FACT is a `CompiledGraph` in the place of its submodule.

    Parts are functional. What the graph changes is written at the end, so that a call that
    fails before has changed nothing.
    """

    def __init__(self, program: torch.export.ExportedProgram, found: Split,
                 names: dict[int, str], inputs: Sequence[Any], settings: Settings):
        self.names, self.module = names, found.module
        self.signature, self.results = program.graph_signature, program.call_spec.out_spec
        self.constants = {**program.state_dict, **program.constants}
        mutated = {spec.target for spec in self.signature.output_specs}
        fixed = {spec.arg.name for spec in self.signature.input_specs
                 if spec.kind != InputKind.USER_INPUT and spec.target not in mutated}
        values = _PartInputs(self.module)
        values.run(*self._arguments(inputs))
        for part in found.parts:
            state = [index for index, name in part.placeholders.items() if name in fixed]
            graph = self.module.get_submodule(part.name)
            assert isinstance(graph, fx.GraphModule)
            compiled = CompiledGraph(graph, state, settings)
            given = values.of.pop(part.name)
            try:
                compiled.specialize(given)
            except FactError as error:
                compiled.models[compiled.sizes(given)] = None
                _report(settings, error, "a part of a graph")
            setattr(self.module, part.name, _Call(compiled))

    def _arguments(self, inputs: Sequence[Any]) -> list[Any]:
        """The inputs of the program, in its order."""
        own = {name: inputs[index] for index, name in self.names.items()}
        rest = iter([value for index, value in enumerate(inputs) if index not in self.names])
        return [next(rest) if spec.kind == InputKind.USER_INPUT
                else own[spec.target] if spec.target in own else self.constants[spec.target]
                for spec in self.signature.input_specs]

    def __call__(self, inputs: Sequence[Any]) -> Any:
        arguments = self._arguments(inputs)
        outputs = self.module(*arguments)
        users, others = {}, {}
        for spec, value in zip(self.signature.input_specs, arguments):
            if spec.kind == InputKind.USER_INPUT:
                users[spec.arg.name] = value
            else:
                others[spec.target] = value
        returned, targets, changed = [], [], []
        for spec, value in zip(self.signature.output_specs, outputs, strict=True):
            if spec.kind == OutputKind.USER_OUTPUT:
                returned.append(value)
            else:
                is_user = spec.kind == OutputKind.USER_INPUT_MUTATION
                targets.append((users if is_user else others)[spec.target])
                changed.append(value)
        # A value may be a view of a tensor that changes below, or of a constant.
        kept = set(map(_storage, targets))
        kept |= {_storage(value) for name, value in others.items()
                 if name not in self.names.values()}
        returned, changed = pytree.tree_map_only(
            torch.Tensor, lambda value: value.clone() if _storage(value) in kept else value,
            (returned, changed))
        for target, value in zip(targets, changed):
            target.copy_(value)
        return pytree.tree_unflatten(returned, self.results)


class _PartInputs(fx.Interpreter):
    """Runs a split graph in PyTorch, and keeps the inputs of its parts."""

    def __init__(self, module: fx.GraphModule):
        super().__init__(module)
        self.of: dict[str, tuple] = {}

    def call_module(self, target, args, kwargs):
        self.of[target] = args
        return super().call_module(target, args, kwargs)


class _Call(torch.nn.Module):
    """A compiled part in the place of a submodule, whose parameters are not its own."""

    def __init__(self, compiled: CompiledGraph):
        super().__init__()
        self.compiled = compiled

    def forward(self, *inputs):
        return self.compiled(*inputs)


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


class _GraphWithState(torch.nn.Module):
    """Dynamo's graph, with some of its inputs as parameters and buffers."""

    def __init__(self, graph: fx.GraphModule, state: dict[int, tuple[str, torch.Tensor]]):
        super().__init__()
        self.graph = graph
        self.names = {index: name for index, (name, _) in state.items()}
        for name, tensor in state.values():
            if isinstance(tensor, torch.nn.Parameter):
                self.register_parameter(name, tensor)
            else:
                self.register_buffer(name, tensor)

    def forward(self, *inputs):
        rest = iter(inputs)
        count = len(inputs) + len(self.names)
        arguments = [getattr(self, self.names[i]) if i in self.names else next(rest)
                     for i in range(count)]
        # Keeps the source lines that Dynamo recorded.
        with fx.traceback.preserve_node_meta():
            return fx.Interpreter(self.graph).run(*arguments)


def _settings(options: dict[str, Any]) -> Settings:
    known = [field.name for field in dataclasses.fields(Settings)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise FactError(f"unknown option {', '.join(unknown)} of backend 'fact'; known are "
                        f"{', '.join(known)}")
    settings = Settings(**options)
    if settings.weights not in ("any", "tracked"):
        raise FactError(f"option weights of backend 'fact' is {settings.weights!r}; it must be "
                        "'any' or 'tracked'")
    return settings


def _is_state(value: Any) -> bool:
    return isinstance(value, torch.nn.Parameter) or (
        isinstance(value, torch.Tensor)
        and getattr(value, "_dynamo_static_input_type", None) is not None)


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _identity(tensor: torch.Tensor) -> tuple[int, int]:
    """The address and the version, which tensors made in inference mode do not have."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def _at(values: Sequence[Any], positions: Sequence[int]) -> tuple:
    return tuple([values[position] for position in positions])


def _report(settings: Settings, reason, what: str = "a graph") -> None:
    if not settings.fallback:
        raise FactError(f"backend 'fact': {reason}")
    if isinstance(reason, Refused):
        log.error("%s runs in PyTorch: %s", what, reason)
        return
    lines = str(reason).splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), 0)
    # A line that ends with a colon goes on in the next.
    end = first + 2 if lines[first].endswith(":") else first + 1
    log.warning("%s runs in PyTorch: %s", what, " ".join(map(str.strip, lines[first:end])))


def _in_pytorch(graph: fx.GraphModule, settings: Settings, reason) -> Callable:
    _report(settings, reason)
    return graph.forward
