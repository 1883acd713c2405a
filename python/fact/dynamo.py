# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(module, backend="fact")`.

FACT compiles each graph that Dynamo finds, or PyTorch runs it if FACT cannot compile it;
the logger `fact` says why. Parameters and buffers, which Dynamo passes as inputs, are
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
    fallback    whether PyTorch runs graphs that cannot be compiled (default: True)
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Callable, Sequence

import torch
from torch import fx

from .compiler import _create, _options, build_graph, verify_library
from .end_to_end import Refused
from .errors import FactError
from .export import export
from .library import Model

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
    """One graph of Dynamo: libraries by the sizes of inputs, and PyTorch for the rest."""

    def __init__(self, graph: fx.GraphModule, state: list[int], settings: Settings):
        self.graph, self.state, self.settings = graph, state, settings
        placeholders = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self.names = {index: placeholders[index] for index in state}
        # None if compilation failed before.
        self.models: dict[tuple, _Bound | None] = {}

    def specialize(self, inputs: Sequence[Any]) -> "_Bound":
        """Compiles for inputs of these sizes."""
        module = _GraphWithState(self.graph, {i: (self.names[i], inputs[i]) for i in self.state})
        # Keeps torch.export from using Dynamo's own tracing context.
        with torch._guards.tracing(None), torch.no_grad():
            exported = export(module, _rest(inputs, self.state), name="graph")
        s = self.settings
        library = build_graph(exported, s.target, options=_options(s.candidates, s.arguments),
                              cache=s.cache)
        model = _create(library, exported)
        with torch._guards.tracing(None):
            verify_library(library, model, module, _rest(inputs, self.state), None, s.verify)
        names = {entry["name"] for entry in library.weights}
        weights = {i: name for i, name in self.names.items() if name in names}
        if s.weights == "any":
            model.watch_weights()
        bound = _Bound(model, weights, s.weights == "any",
                       {i: _identity(inputs[i]) for i in weights})
        self.models[_sizes(inputs)] = bound
        return bound

    def __call__(self, *inputs):
        key = _sizes(inputs)
        if key not in self.models:
            self._specialize_at_call(key, inputs)
        bound = self.models[key]
        if bound is None:
            return self.graph(*inputs)
        try:
            bound.refresh(inputs)
            results = bound.model(*_rest(inputs, self.state))
            bound.write_back(inputs, self.names)
            return results
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


@dataclasses.dataclass
class _Bound:
    """A model, the inputs of the graph that are its weights, and their last versions."""

    model: Model
    weights: dict[int, str]
    # Whether weights may change without a change of their version.
    watched: bool
    seen: dict[int, tuple[int, int]]

    def refresh(self, inputs: Sequence[Any]) -> None:
        """Updates the model's weights that are other tensors now, or were changed in place."""
        changed = {}
        for i, name in self.weights.items():
            identity = _identity(inputs[i])
            if identity[0] != self.seen[i][0] or (not self.watched and identity != self.seen[i]):
                changed[i] = identity
            elif self.watched and self.model.weight(name).data_ptr() != identity[0]:
                # The model has a dense copy, and watches that copy.
                with torch.inference_mode():
                    self.model.weight(name).copy_(inputs[i])
        if changed:
            self.model.set_weights({self.weights[i]: inputs[i] for i in changed})
            self.seen.update(changed)

    def write_back(self, inputs: Sequence[Any], names: dict[int, str]) -> None:
        """Copies the values of the model's buffers to the graph's own."""
        targets = {mutation.target for mutation in self.model.signature.mutations}
        for i, name in names.items():
            if name in targets and self.model.state()[name].data_ptr() != inputs[i].data_ptr():
                inputs[i].copy_(self.model.state()[name])


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
    """Changes with the tensor's memory, and with changes in place that PyTorch counts."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def _sizes(inputs: Sequence[Any]) -> tuple:
    return tuple(tuple(value.shape) if isinstance(value, torch.Tensor) else int(value)
                 for value in inputs)


def _rest(inputs: Sequence[Any], state: list[int]) -> list[Any]:
    return [value for index, value in enumerate(inputs) if index not in state]


def _report(settings: Settings, reason) -> None:
    if not settings.fallback:
        raise FactError(f"backend 'fact': {reason}")
    if isinstance(reason, Refused):
        log.error("a graph runs in PyTorch: %s", reason)
        return
    first = next((line for line in str(reason).splitlines() if "error:" in line),
                 str(reason).splitlines()[0])
    log.warning("a graph runs in PyTorch: %s", first)


def _in_pytorch(graph: fx.GraphModule, settings: Settings, reason) -> Callable:
    _report(settings, reason)
    return graph.forward
