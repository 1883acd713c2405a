# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled libraries from Python: ctypes over `fact/Runtime/Library.h`.

Tensors go in as DLPack structs filled from `data_ptr`. Nothing but torch is needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from .abi import (
    GRAPH_SETTINGS,
    LIBRARY_ABI,
    GraphInfo,
    LibraryTable,
    RunFunction,
    TensorSlots,
    named_tensors,
)
from .again import Again
from .element_types import as_seen, torch_type
from .errors import FactError
from .notebook import library_html
from .signature import CallSignature
from .torch_version import require_torch_with_cuda
from .weights import Weights, plain, resolve_weights

if TYPE_CHECKING:
    from .end_to_end import Verdict
    from .reporting.data import Report


def load(path: str | os.PathLike[str], weights: Weights | None = None) -> Library:
    """Loads a library that FACT compiled; with weights it can be called at once.

    path: of the library. PyTorch is all that it needs.
    weights: tensors by name, a module, or a safetensors file; `load_weights` takes them later, too.
    """
    library = Library(path)
    if weights is not None:
        library.load_weights(weights)
    return library


class Library:
    """A compiled library. `create` gives it weights and returns a callable model.

    A library has one model of its own: `load_weights` gives that one its weights, or
    others, and calling the library calls it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.path.abspath(os.fspath(path))
        if not os.path.exists(self.path):
            raise FactError(f"no library at {self.path}")
        try:
            self._handle = ctypes.CDLL(self.path)
        except OSError as error:
            raise FactError(f"cannot load {self.path}: {error}") from None
        try:
            entry = self._handle.fact_library
        except AttributeError:
            raise FactError(
                f"{self.path} is a shared library, but not FACT's: it has no symbol fact_library"
            ) from None
        entry.restype = ctypes.POINTER(LibraryTable)
        entry.argtypes = []
        self._table = entry().contents
        if self._table.abi != LIBRARY_ABI:
            raise FactError(
                f"{self.path} has library ABI {self._table.abi}, this package reads "
                f"{LIBRARY_ABI}: compile the model again, or use the package it was made with"
            )
        self.description: dict[str, Any] = json.loads(self._table.describe())
        self._signature: CallSignature | None = None
        self._model: Model | None = None
        # Whether the library was compared with its module, as far as this process knows.
        self.verified = False
        # The result of the comparison, if this process made it.
        self.verdict: Verdict | None = None
        # What it was compiled from, if this process did so.
        self.work_folder: Path | None = None

    @property
    def name(self) -> str:
        """The name it was compiled under."""
        return self.description.get("name", "model")

    @property
    def device_type(self) -> str:
        """`cuda` or `cpu`: where weights and tensors live."""
        target = self.description.get("target", {})
        kind = target.get("kind", "") if isinstance(target, dict) else str(target)
        return "cuda" if kind.startswith(("cuda", "sm_")) else "cpu"

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Name, type and shape of each tensor that a call takes."""
        return self.description.get("inputs", [])

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """Name, type and shape of each tensor that a call computes."""
        return self.description.get("outputs", [])

    @property
    def weights(self) -> list[dict[str, Any]]:
        """Name, type and shape of each weight that `create` expects."""
        return self.description.get("weights", [])

    @property
    def workspace_bytes(self) -> int:
        """Bytes that each model allocates for intermediate values."""
        return self.description.get("workspace_bytes", 0)

    @property
    def memory_bytes(self) -> int | None:
        """Bytes that each model allocates besides its weights; None if the library does not say."""
        return self._table.memory_bytes() if self._table.has("memory_bytes") else None

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Name, rule, schedule and measured microseconds of each kernel."""
        return self.description.get("kernels", [])

    @property
    def version(self) -> str:
        """The version of FACT that compiled it."""
        return self.description.get("versions", {}).get("fact", "unknown")

    @property
    def build(self) -> dict[str, Any]:
        """What it was compiled for, with and on: target, versions, compiler, machine."""
        facts = ("target", "versions", "compiler", "machine")
        return {key: self.description[key] for key in facts if key in self.description}

    @property
    def signature(self) -> CallSignature | None:
        """How the compiled module was called; None for a library without that record."""
        if self._signature is None and self.description.get("signature"):
            self._signature = CallSignature.from_json(self.description["signature"])
        return self._signature

    def load_weights(self, weights: Weights) -> Model:
        """Sets weights of the library's own model: all of them first, any of them later."""
        if self._model is None:
            self._model = self.create(weights)
        else:
            self._model.set_weights(weights)
        return self._model

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the library's own model as the compiled module was called."""
        if self._model is None:
            # A program without weights needs no call of load_weights.
            return self.load_weights({})(*args, **kwargs)
        return self._model(*args, **kwargs)

    def create(self, weights: Weights | None = None) -> Model:
        """A model with these weights: by name, of a module, or in a safetensors file.

        Tensors already on the library's device are borrowed, so changes to them in place
        are seen by kernels that read them as they are; call `set_weights` to be sure.
        Others are copied there.
        """
        return Model(self, {} if weights is None else weights)

    def last_error(self) -> str:
        """The message of the last call into the library that failed in this thread."""
        return (self._table.last_error() or b"").decode(errors="replace") or "unknown failure"

    def report(self) -> Report:
        """What the compilation did: graph, kernels, candidates, errors; a page in notebooks.

        A library that this process did not compile, and that has no page beside it, reports what
        it records itself: kernels, schedules and times.
        """
        from .reporting.collect import find_report

        compiled = self.work_folder is not None and (self.work_folder / "summary.json").exists()
        report = find_report(self.work_folder if compiled and self.work_folder else self.path)
        if self.verdict:
            report.verdict = str(self.verdict)
        return report

    def __repr__(self) -> str:
        return f"<fact.Library {self.name} on {self.device_type}: {self.path}>"

    def _repr_html_(self) -> str:
        return library_html(self)


class Model:
    """An instance with weights. Calls compute no gradients."""

    def __init__(self, library: Library, weights: Weights):
        self.library = library
        self._lock = threading.Lock()
        self._weights: dict[str, torch.Tensor] = {}
        self._written: dict[str, torch.Tensor] = {}
        # The weights that calls change: their addresses, and `named_tensors` of them.
        self._changed: tuple[list[int], Any] = [], None
        self._handle = None
        self.signature = library.signature
        self._on_cuda = library.device_type == "cuda"
        if self._on_cuda:
            require_torch_with_cuda(f"{library.name} was compiled for a GPU")
        self._inputs = TensorSlots(len(library.inputs))
        # Outputs of the caller, and those that a call allocates, all on one device.
        self._outputs = TensorSlots(len(library.outputs))
        self._results = TensorSlots(len(library.outputs))
        self._results_device: torch.device | None = None
        # A call with tensors like those of the last one, which the slots describe.
        self._again: Again | None = None
        self._result_types = [
            (tuple(entry["shape"]), _row_major(entry["shape"]), torch_type(entry["type"]))
            for entry in library.outputs
        ]
        self._run = ctypes.cast(library._table.run, RunFunction)
        self._stream = ctypes.c_void_p()
        tensors = resolve_weights(self.library, self.signature, weights)
        names, _keep = named_tensors(tensors)
        with _current_device(tensors.values()):
            handle = library._table.create(names, len(tensors))
        if not handle:
            raise FactError(f"cannot create {library.name}: {library.last_error()}")
        self._handle, self._weights = ctypes.c_void_p(handle), tensors

    def set_weights(self, weights: Weights) -> None:
        """Replaces weights by name; what was computed from them is computed again."""
        tensors = resolve_weights(self.library, self.signature, weights)
        self._set(tensors, named_tensors(tensors))

    def _set(self, tensors: dict[str, torch.Tensor], named: Any) -> None:
        names, _keep = named
        with self._lock, _current_device(tensors.values()):
            if self._library_table().set_weights(self._handle, names, len(tensors)) != 0:
                raise FactError(
                    f"cannot set weights of {self.library.name}: {self.library.last_error()}"
                )
            self._weights.update(tensors)

    def watch_weights(self, on: bool = True) -> None:
        """Whether weights may change in place without a call of `set_weights`.

        Kernels read most weights where they are. Of the others, each call compares
        checksums, and computes again what was computed from one that changed. A weight that
        is not contiguous, or was not on the library's device, is a copy here and is not
        watched.
        """
        with self._lock:
            self._table_with("watch_weights", "watch its weights").watch_weights(
                self._handle, int(on))

    def use_graphs(self, setting: str) -> None:
        """Whether calls on a GPU replay a CUDA graph of the program: "off", "on" or "automatic",
        the default, which does so where it is expected to be faster. Results are the same."""
        if setting not in GRAPH_SETTINGS:
            raise FactError(f"unknown setting of graphs {setting!r}; known are "
                            f"{', '.join(GRAPH_SETTINGS)}")
        with self._lock:
            table = self._table_with("use_graphs", "use graphs")
            if table.use_graphs(self._handle, GRAPH_SETTINGS.index(setting)):
                raise FactError(f"{self.library.name}: {self.library.last_error()}")

    @property
    def has_graphs(self) -> bool:
        """Whether the library is new enough to have `graphs`."""
        return self.library._table.has("graph_info")

    @property
    def graphs(self) -> dict[str, Any]:
        """What became of graphs: the `setting`, how many calls `replayed` one and how many
        `launched` kernel by kernel, how many graphs were `recorded` and how often one was
        `updated`; why the last call did not replay one, as one word (`reason`), and the error
        behind a failure (`detail`)."""
        info = GraphInfo()
        with self._lock:
            table = self._table_with("graph_info", "use graphs")
            if table.graph_info(self._handle, ctypes.byref(info)):
                raise FactError(f"{self.library.name}: {self.library.last_error()}")
            counts = {name: getattr(info, name)
                      for name in ("replayed", "launched", "recorded", "updated")}
            return {"setting": GRAPH_SETTINGS[info.setting], **counts,
                    "reason": info.reason.decode(),
                    "detail": info.detail.decode(errors="replace")}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` of the compiled module returns for these arguments."""
        again = self._again
        if again is not None and not kwargs and len(args) == again.count:
            with self._lock:
                # Another thread may have changed what the slots describe.
                if again is self._again and again.fits(*args):
                    return self._run_again(again, args)
        inputs = self._flatten(args, kwargs)
        outputs = self.call_flat(inputs)
        if self.signature is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        if self.signature.mutations:
            self._write_back(self.signature, inputs, outputs)
        return self.signature.build(outputs)

    def call_flat(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The library's own inputs and outputs in order, without structure or changes."""
        device = self._device_of(inputs)
        outputs = [torch.empty_strided(shape, strides, dtype=dtype, device=device)
                   for shape, strides, dtype in self._result_types]
        with self._lock:
            alike = self._inputs.move(inputs)
            if not alike:
                inputs = self._replace_inputs(inputs)
            if device == self._results_device:
                self._results.point_to(outputs)
            else:
                self._again = None
                self._results.fill(outputs)
                self._results_device = device
            self._enqueue(self._results, device)
            # Tensors that were alike twice are likely to come again.
            if alike and self._again is None:
                self._again = self._expect(inputs)
        return outputs

    def _expect(self, inputs: Sequence[Any]) -> Again | None:
        """For calls whose arguments are the library's inputs as they are."""
        signature = self.signature
        if signature is not None and signature.only_tensors != len(inputs):
            return None
        return Again.of(inputs, None if signature is None else signature.only_output)

    def _run_again(self, again: Again, inputs: Sequence[torch.Tensor]) -> Any:
        """A call whose inputs are like those of the last one: only addresses are new."""
        allocate = again.allocate
        outputs = [allocate(shape, strides, dtype)
                   for shape, strides, dtype in self._result_types]
        for entry, tensor in zip(self._inputs.structs, inputs):
            entry.data = tensor.data_ptr()
        for entry, tensor in zip(self._results.structs, outputs):
            entry.data = tensor.data_ptr()
        assert self._results_device is not None
        self._enqueue(self._results, self._results_device)
        signature = self.signature
        if signature is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        only = again.only_output
        return outputs[only] if only is not None else signature.build(outputs)

    def _write_back(self, signature: CallSignature, inputs: Sequence[torch.Tensor],
                    outputs: Sequence[torch.Tensor]) -> None:
        """Writes the new values of buffers and inputs that the module changes."""
        changed = {}
        for mutation in signature.mutations:
            if isinstance(mutation.target, int):
                inputs[mutation.target].copy_(outputs[mutation.output])
            elif mutation.target in self._weights:
                changed[mutation.target] = self._weights[mutation.target]
                changed[mutation.target].copy_(outputs[mutation.output])
            else:
                # Written and never read, so the library has no such weight.
                self._written[mutation.target] = outputs[mutation.output]
        if changed:
            addresses = [tensor.data_ptr() for tensor in changed.values()]
            if addresses != self._changed[0]:
                self._changed = addresses, named_tensors(changed)
            self._set(changed, self._changed[1])

    def run(self, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Computes into `outputs`, which must be row-major; on CUDA, only enqueues."""
        with self._lock:
            inputs = self._take_inputs(inputs)
            self._take_outputs(outputs)
            self._enqueue(self._outputs, self._device_of(inputs))

    def _enqueue(self, outputs: TensorSlots, device: torch.device) -> None:
        """Runs with the tensors in the slots, on the device's current stream."""
        if not self._handle:
            raise self._closed_error()
        if self._on_cuda:
            self._stream.value = torch._C._cuda_getCurrentRawStream(device.index)
        inputs = self._inputs
        if self._run(self._handle, inputs.pointers, inputs.count, outputs.pointers, outputs.count,
                     self._stream):
            # Says which model it is.
            raise FactError(self.library.last_error())

    def _device_of(self, inputs: Sequence[Any]) -> torch.device:
        """The device of a call: that of its first input."""
        if inputs and isinstance(inputs[0], torch.Tensor):
            return inputs[0].device
        return torch.device("cuda", torch.cuda.current_device()) if self._on_cuda else _CPU

    def close(self) -> None:
        """Frees the instance, after a call that runs in another thread; calling it afterwards
        is an error."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle:
                self.library._table.destroy(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self) -> str:
        return f"<fact.Model of {self.library!r}>"

    def _repr_html_(self) -> str:
        return library_html(self.library)

    def _closed_error(self) -> FactError:
        return FactError(f"{self.library.name} has been closed")

    def _library_table(self) -> LibraryTable:
        if not self._handle:
            raise self._closed_error()
        return self.library._table

    def _table_with(self, function: str, purpose: str) -> LibraryTable:
        """The table, if the library is new enough to have the function."""
        table = self._library_table()
        if not table.has(function):
            raise FactError(f"{self.library.path} cannot {purpose}: compile the model again")
        return table

    def weight(self, name: str) -> torch.Tensor:
        """The tensor that the library reads: the given one, or a dense copy of it."""
        return self._weights[name]

    def state(self) -> dict[str, torch.Tensor]:
        """The weights by name, including the changes that calls have made."""
        state = {**self._weights, **self._written}
        types = self.signature.weight_types if self.signature else {}
        return {**state, **{name: as_seen(state[name], getattr(torch, types[name]))
                            for name in types if name in state}}

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        if self.signature is None:
            return list(pytree.tree_leaves((args, kwargs)) if kwargs else _flat(args))
        try:
            return self.signature.flatten(args, kwargs)
        except FactError as error:
            raise FactError(f"{self.library.name}: {error}") from None

    def _take_inputs(self, inputs: list[Any]) -> list[torch.Tensor]:
        """Fills the slots of inputs; returns the tensors that they point to."""
        return inputs if self._inputs.move(inputs) else self._replace_inputs(inputs)

    def _replace_inputs(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        """`_take_inputs` of tensors that are not like the last ones."""
        self._again = None
        inputs = self._check_inputs(inputs)
        self._inputs.fill(inputs)
        return inputs

    def _take_outputs(self, outputs: Sequence[torch.Tensor]) -> None:
        """Fills the slots of outputs that the caller gave."""
        if self._outputs.move(outputs):
            return
        if len(outputs) != len(self._result_types):
            raise FactError(f"{self.library.name} has {len(self._result_types)} output(s), "
                            f"{len(outputs)} given")
        for entry, tensor in zip(self.library.outputs, outputs):
            label = f"output '{entry['name']}'"
            if plain(tensor, label) is not tensor:
                raise FactError(f"{label} has a pending negation or conjugation: pass a tensor of "
                                "its own")
        self._outputs.fill(outputs)

    def _check_inputs(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        """The inputs as memory that kernels can read."""
        if len(inputs) != len(self.library.inputs):
            raise self._count_error(len(inputs))
        for entry, tensor in zip(self.library.inputs, inputs):
            if not isinstance(tensor, torch.Tensor):
                raise FactError(f"input '{entry['name']}' is {type(tensor).__name__}, not a tensor")
            if tensor.device.type != self.library.device_type:
                raise FactError(
                    f"input '{entry['name']}' is on {tensor.device}, the library runs on "
                    f"{self.library.device_type}: move it there"
                )
        return [plain(tensor, f"input '{entry['name']}'")
                for entry, tensor in zip(self.library.inputs, inputs)]

    def _count_error(self, given: int) -> FactError:
        names = ", ".join(entry["name"] for entry in self.library.inputs)
        return FactError(
            f"{self.library.name} takes {len(self.library.inputs)} input(s) ({names}), {given} given"
        )

_CPU = torch.device("cpu")


def _row_major(shape: list[int]) -> tuple[int, ...]:
    """The strides that `torch.empty` gives a tensor of this shape."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(shape[axis], 1)
    return tuple(strides)


def _flat(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fast path for the common call with a few tensors: avoids pytree flattening."""
    if all(isinstance(arg, torch.Tensor) for arg in args):
        return args
    return tuple(pytree.tree_leaves(args))


class _NoDevice:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def _current_device(tensors: Iterable[torch.Tensor]) -> contextlib.AbstractContextManager[Any]:
    """Makes the CUDA device of the first such tensor current."""
    for tensor in tensors:
        if tensor.is_cuda:
            if tensor.device.index != torch.cuda.current_device():
                return torch.cuda.device(tensor.device)
            break
    return _NoDevice()
