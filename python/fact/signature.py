# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a module is called and what it returns, around a library's flat lists of tensors.

A library has flat lists of input and output tensors. A module has positional and keyword
arguments, nested containers, numbers and None, and may change its buffers and inputs.
`CallSignature` maps between both. The library contains it as JSON, so a library that is
loaded elsewhere is called like its module.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .caches import register_caches
from .element_types import as_seen, as_stored
from .errors import FactError
from .layouts import inverse


@dataclasses.dataclass(frozen=True)
class Constant:
    """A leaf that is not a tensor: its value was compiled in, or is returned unchanged."""

    value: Any

    def accepts(self, leaf: Any) -> bool:
        if isinstance(self.value, _Printed):
            return repr(leaf) == self.value.text
        same_kind = isinstance(leaf, bool) == isinstance(self.value, bool)
        return leaf is self.value or (
            same_kind and not isinstance(leaf, torch.Tensor) and bool(leaf == self.value))


@dataclasses.dataclass(frozen=True)
class _Printed:
    """Stands for a constant that JSON cannot hold, as in `torch.float32`."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Mutation:
    """An output that is written to a buffer, by name, or to an input, by index."""

    output: int
    target: str | int


@dataclasses.dataclass
class CallSignature:
    # The parameters of `forward`; None if unknown.
    parameters: list[inspect.Parameter] | None
    # The trees of (args, kwargs) and of the result; None if JSON could not hold them.
    arguments: pytree.TreeSpec | None
    results: pytree.TreeSpec | None
    # One entry per leaf: an index into the library's inputs or outputs, or a Constant.
    argument_leaves: list[int | Constant]
    result_leaves: list[int | Constant]
    # The name of each argument leaf, for messages.
    names: list[str]
    mutations: list[Mutation] = dataclasses.field(default_factory=list)
    # Aliases of tied weights, and names of the module's state that nothing reads.
    aliases: dict[str, str] = dataclasses.field(default_factory=dict)
    unused: list[str] = dataclasses.field(default_factory=list)
    # The caller's types of inputs and outputs that have others in the library, by position, and of
    # weights, by name.
    input_types: dict[int, str] = dataclasses.field(default_factory=dict)
    output_types: dict[int, str] = dataclasses.field(default_factory=dict)
    weight_types: dict[str, str] = dataclasses.field(default_factory=dict)
    # The order of dimensions of inputs and outputs that have another one in the library.
    input_orders: dict[int, list[int]] = dataclasses.field(default_factory=dict)
    output_orders: dict[int, list[int]] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self._tensors = [i for i, leaf in enumerate(self.argument_leaves)
                         if not isinstance(leaf, Constant)]
        self._constants = [(i, leaf) for i, leaf in enumerate(self.argument_leaves)
                           if isinstance(leaf, Constant)]
        # The form of a compiled call without containers, which needs no pytree.
        self._flat_form: tuple[int, list[str]] | None = None
        if self.arguments is not None:
            count, keywords = self._form()
            if self.arguments == pytree.tree_structure(
                    ((0,) * count, dict.fromkeys(keywords, 0))):
                self._flat_form = count, keywords
        # Likewise a result that is one output, or a tuple.
        self._only_output: int | None = None
        if self.results == pytree.tree_structure(0) and \
                not isinstance(self.result_leaves[0], Constant):
            self._only_output = self.result_leaves[0]
        self._returns_tuple = self.results == pytree.tree_structure(
            (0,) * len(self.result_leaves))
        self._views = {index: inverse(order) for index, order in self.output_orders.items()}

    @property
    def only_tensors(self) -> int | None:
        """How many arguments a compiled call has whose positional arguments are the library's
        inputs as they are; None for any other call."""
        if (self._flat_form is None or self._flat_form[1] or self._constants or self.input_types
                or self.input_orders or self.mutations):
            return None
        return self._flat_form[0]

    @property
    def only_output(self) -> int | None:
        """The output that is the whole result, as it is; None for any other result."""
        return None if self.output_types or self.output_orders else self._only_output

    def flatten(self, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The library's inputs; raises if the call differs from the compiled one."""
        inputs = self._flat_inputs(args, kwargs)
        if inputs is None:
            inputs = self._checked_inputs(args, kwargs)
        return self.as_stored(inputs) if self.input_types or self.input_orders else inputs

    def _flat_inputs(self, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor] | None:
        """The inputs of a call in the form of the compiled one; None if it has another form,
        containers or other constants."""
        if self._flat_form is None:
            return None
        count, keywords = self._flat_form
        if len(args) != count or len(kwargs) != len(keywords):
            return None
        inputs = list(args)
        for name in keywords:
            if name not in kwargs:
                return None
            inputs.append(kwargs[name])
        if self._constants:
            if not all(compiled.accepts(inputs[i]) for i, compiled in self._constants):
                return None
            inputs = [inputs[i] for i in self._tensors]
        for value in inputs:
            if not isinstance(value, torch.Tensor):
                return None
        return inputs

    def _checked_inputs(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        if self.arguments is None:
            leaves = pytree.tree_leaves((args, kwargs))
            if len(leaves) != len(self.argument_leaves):
                raise FactError(f"takes {len(self.argument_leaves)} value(s), "
                                f"{len(leaves)} given")
        else:
            leaves = self._leaves(*self._arrange(args, kwargs))
        for name, leaf, compiled in zip(self.names, leaves, self.argument_leaves):
            if isinstance(compiled, Constant) and not compiled.accepts(leaf):
                raise FactError(
                    f"argument {name} is {_show(leaf)}, but was {compiled.value!r} when the "
                    "module was compiled: compile it again for this value, or make it a tensor")
        return [leaves[i] for i in self._tensors]

    def as_stored(self, inputs: Sequence[Any]) -> list[Any]:
        """The module's inputs in the types and the order of dimensions that the library has."""
        stored = [self._in_stored_type(index, leaf) for index, leaf in enumerate(inputs)]
        for index, order in self.input_orders.items():
            if isinstance(stored[index], torch.Tensor) and stored[index].dim() == len(order):
                stored[index] = stored[index].permute(order)
        return stored

    def _in_stored_type(self, index: int, leaf: Any) -> Any:
        expected = self.input_types.get(index)
        if expected is None or not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.dtype != getattr(torch, expected):
            raise FactError(f"argument {self.names[self._tensors[index]]} has type {leaf.dtype}; "
                            f"expected torch.{expected}")
        return as_stored(leaf)

    def as_returned(self, outputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The library's outputs in the types and the order of dimensions that the module has."""
        returned = list(outputs)
        for index, order in self._views.items():
            returned[index] = returned[index].permute(order)
        for index, name in self.output_types.items():
            returned[index] = as_seen(returned[index], getattr(torch, name))
        return returned

    def build(self, outputs: Sequence[torch.Tensor]) -> Any:
        """The value that `forward` returns."""
        if self.output_types or self.output_orders:
            outputs = self.as_returned(outputs)
        if self._only_output is not None:
            return outputs[self._only_output]
        flat = [leaf.value if isinstance(leaf, Constant) else outputs[leaf]
                for leaf in self.result_leaves]
        if self.results is None:
            return flat[0] if len(flat) == 1 else tuple(flat)
        if self._returns_tuple:
            return tuple(flat)
        return pytree.tree_unflatten(flat, self.results)

    def _leaves(self, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
        assert self.arguments is not None
        try:
            # Dictionaries may have another order than the compiled one.
            return self.arguments.flatten_up_to((args, kwargs))
        except ValueError as error:
            raise FactError(
                f"the arguments are not nested like the compiled ones: {error}; they were "
                f"{', '.join(self.names)}") from None

    def _form(self) -> tuple[int, list[str]]:
        """The number of positional arguments, and the keywords, of the compiled call."""
        assert self.arguments is not None
        args, kwargs = self.arguments.children()
        return args.num_children, list(kwargs.context)

    def _arrange(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The call in the form of the compiled one: same positions, keywords and defaults."""
        count, keywords = self._form()
        if self.parameters is None or (len(args) == count and kwargs.keys() == set(keywords)):
            return args, kwargs
        try:
            bound = inspect.Signature(self.parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise FactError(f"cannot be called with these arguments: {error}") from None
        bound.apply_defaults()
        values = dict(bound.arguments)
        kinds = {p.name: p.kind for p in self.parameters}
        more_args, more_kwargs = (), {}
        for name, kind in kinds.items():
            if kind == inspect.Parameter.VAR_POSITIONAL:
                more_args = values.pop(name)
            elif kind == inspect.Parameter.VAR_KEYWORD:
                more_kwargs = values.pop(name)
        values.update(more_kwargs)
        positional = [name for name, kind in kinds.items()
                      if kind in (inspect.Parameter.POSITIONAL_ONLY,
                                  inspect.Parameter.POSITIONAL_OR_KEYWORD)][:count]
        arranged = tuple(values.pop(name) for name in positional) + more_args
        named = {name: values.pop(name) for name in keywords if name in values}
        self._check_rest(values)
        return arranged, named

    def _check_rest(self, values: dict[str, Any]) -> None:
        """Arguments that the compiled call left to their defaults must have them."""
        defaults = {p.name: p.default for p in self.parameters or ()}
        for name, value in values.items():
            default = defaults.get(name, inspect.Parameter.empty)
            if value is default or (default is not inspect.Parameter.empty
                                    and Constant(default).accepts(value)):
                continue
            raise FactError(f"argument '{name}' was not given when the module was compiled: "
                            "compile it again with this argument, or leave it out")

    # JSON.

    def to_json(self) -> str:
        return json.dumps({
            "parameters": _parameters_to_json(self.parameters),
            "arguments": _spec_to_json(self.arguments),
            "results": _spec_to_json(self.results),
            "argument_leaves": [_leaf_to_json(leaf) for leaf in self.argument_leaves],
            "result_leaves": [_leaf_to_json(leaf) for leaf in self.result_leaves],
            "names": self.names,
            "mutations": [dataclasses.asdict(m) for m in self.mutations],
            "aliases": self.aliases,
            "unused": self.unused,
            "input_types": list(self.input_types.items()),
            "output_types": list(self.output_types.items()),
            "weight_types": self.weight_types,
            "input_orders": list(self.input_orders.items()),
            "output_orders": list(self.output_orders.items()),
        })

    @staticmethod
    def from_json(text: str) -> CallSignature:
        data = json.loads(text)
        return CallSignature(
            _parameters_from_json(data["parameters"]),
            _spec_from_json(data["arguments"]),
            _spec_from_json(data["results"]),
            [_leaf_from_json(leaf) for leaf in data["argument_leaves"]],
            [_leaf_from_json(leaf) for leaf in data["result_leaves"]],
            data["names"],
            [Mutation(**m) for m in data["mutations"]],
            data["aliases"],
            data["unused"],
            dict(data.get("input_types", ())),
            dict(data.get("output_types", ())),
            data.get("weight_types", {}),
            dict(data.get("input_orders", ())),
            dict(data.get("output_orders", ())),
        )


def parameters_of(function) -> list[inspect.Parameter] | None:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return [p.replace(annotation=inspect.Parameter.empty) for p in found]


def leaf_names(parameters: list[inspect.Parameter] | None, args, kwargs) -> list[str]:
    """The name of each leaf of (args, kwargs): `mask`, `cache['key'][0]`."""
    paths = [path for path, _ in pytree.tree_flatten_with_path((args, kwargs))[0]]
    positional = [p.name for p in parameters or ()
                  if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = []
    for path in paths:
        key = path[1]
        if isinstance(key, pytree.SequenceKey):
            root = positional[key.idx] if key.idx < len(positional) else f"number {key.idx}"
        else:
            assert isinstance(key, pytree.MappingKey)
            root = key.key
        names.append(f"'{root}{''.join(map(str, path[2:]))}'")
    return names


def _show(leaf: Any) -> str:
    return "a tensor" if isinstance(leaf, torch.Tensor) else repr(leaf)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _leaf_to_json(leaf: int | Constant) -> Any:
    if not isinstance(leaf, Constant):
        return leaf
    return {"value": leaf.value} if _is_plain(leaf.value) else {"printed": repr(leaf.value)}


def _leaf_from_json(data: Any) -> int | Constant:
    return _constant_from_json(data) if isinstance(data, dict) else data


def _constant_from_json(data: dict[str, Any]) -> Constant:
    return Constant(data["value"] if "value" in data else _Printed(data["printed"]))


def _spec_to_json(spec: pytree.TreeSpec | None) -> str | None:
    try:
        return None if spec is None else pytree.treespec_dumps(spec)
    except (NotImplementedError, TypeError, ValueError):
        # A container class of the user without a serialized form.
        return None


def _spec_from_json(text: str | None) -> pytree.TreeSpec | None:
    register_caches()
    try:
        return None if text is None else pytree.treespec_loads(text)
    except (NotImplementedError, TypeError, ValueError, KeyError):
        return None


def _parameters_to_json(parameters: list[inspect.Parameter] | None) -> Any:
    if parameters is None:
        return None
    entries = []
    for p in parameters:
        entry = {"name": p.name, "kind": p.kind.name}
        if p.default is not p.empty:
            entry["default"] = _leaf_to_json(Constant(p.default))
        entries.append(entry)
    return entries


def _parameters_from_json(data: Any) -> list[inspect.Parameter] | None:
    if data is None:
        return None
    parameters = []
    for entry in data:
        default = inspect.Parameter.empty
        if "default" in entry:
            default = _constant_from_json(entry["default"]).value
        kind = getattr(inspect.Parameter, entry["kind"])
        parameters.append(inspect.Parameter(entry["name"], kind, default=default))
    return parameters
