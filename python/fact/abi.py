# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fact/Runtime/Library.h` for ctypes: the library's table, and tensors as DLPack structs."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .element_types import ELEMENT_TYPES
from .errors import FactError

LIBRARY_ABI = 1

_CPU, _CUDA = 1, 2


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class NamedTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(DLTensor))]


class GraphInfo(ctypes.Structure):
    """`FactGraphInfo`."""

    _fields_ = [
        ("setting", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("replayed", ctypes.c_int64),
        ("launched", ctypes.c_int64),
        ("recorded", ctypes.c_int64),
        ("updated", ctypes.c_int64),
        ("reason", ctypes.c_char_p),
        ("detail", ctypes.c_char_p),
    ]


# FACT_GRAPHS_OFF, _ON, _AUTOMATIC.
GRAPH_SETTINGS = ("off", "on", "automatic")

# `FactLibrary.run` for arguments that are ctypes objects already: types of arguments would have
# ctypes convert each of them again.
RunFunction = ctypes.CFUNCTYPE(ctypes.c_int)

_TensorPointers = ctypes.POINTER(ctypes.POINTER(DLTensor))


class LibraryTable(ctypes.Structure):
    """`FactLibrary`, field by field."""

    _fields_ = [
        ("abi", ctypes.c_uint32),
        # Size of the table; 0 in libraries without the functions after `last_error`.
        ("bytes", ctypes.c_uint32),
        ("describe", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("create", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(NamedTensor), ctypes.c_int64)),
        (
            "set_weights",
            ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(NamedTensor), ctypes.c_int64
            ),
        ),
        (
            "run",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                ctypes.c_void_p,
                _TensorPointers,
                ctypes.c_int64,
                _TensorPointers,
                ctypes.c_int64,
                ctypes.c_void_p,
            ),
        ),
        ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("load", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)),
        ("load_weights", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)),
        ("error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("inputs", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))),
        ("outputs", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))),
        ("weights", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))),
        ("device_type", ctypes.CFUNCTYPE(ctypes.c_int32)),
        ("memory_bytes", ctypes.CFUNCTYPE(ctypes.c_uint64)),
        ("watch_weights", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)),
        ("use_graphs", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)),
        ("graph_info", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(GraphInfo))),
    ]

    def has(self, function: str) -> bool:
        field = getattr(LibraryTable, function)
        return self.bytes >= field.offset + field.size


# The classes of tensors whose memory holds their values.
PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


class TensorSlots:
    """DLTensors that are used again for each call: layouts rarely change, addresses do."""

    __slots__ = ("count", "pointers", "structs", "_layouts", "_arrays")

    def __init__(self, count: int):
        self.structs = [DLTensor(lanes=1) for _ in range(count)]
        self._layouts: list[tuple] = [(None,) * 4] * count
        # The shapes and strides that the structs point to.
        self._arrays: list[tuple[Any, Any] | None] = [None] * count
        self.pointers = (ctypes.POINTER(DLTensor) * max(count, 1))(
            *map(ctypes.pointer, self.structs))
        self.count = ctypes.c_int64(count)

    def move(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Writes the addresses of tensors that are like the last ones; False if they are not."""
        if len(tensors) != len(self.structs):
            return False
        strided = torch.strided
        for entry, tensor, (shape, strides, dtype, device) in zip(
                self.structs, tensors, self._layouts):
            # A pending negation is a bit of the tensor, not of its memory.
            if (type(tensor) not in PLAIN_TYPES or tensor.layout is not strided
                    or tensor.shape != shape or tensor.stride() != strides
                    or tensor.dtype is not dtype or tensor.device != device or tensor.is_neg()):
                return False
            entry.data = tensor.data_ptr()
        return True

    def point_to(self, tensors: Sequence[torch.Tensor]) -> None:
        """`move` without checks."""
        for entry, tensor in zip(self.structs, tensors):
            entry.data = tensor.data_ptr()

    def fill(self, tensors: Sequence[torch.Tensor]) -> None:
        """Writes addresses and layouts."""
        for index, tensor in enumerate(tensors):
            self._fill(index, tensor)

    def _fill(self, index: int, tensor: torch.Tensor) -> None:
        entry, device = self.structs[index], tensor.device
        if device.type not in ("cpu", "cuda"):
            raise FactError(f"tensor on device '{device}': only cpu and cuda tensors can be used")
        if tensor.dtype not in ELEMENT_TYPES:
            raise FactError(f"tensors of type {tensor.dtype} are not supported")
        rank = tensor.dim()
        shape = (ctypes.c_int64 * rank)(*tensor.shape)
        strides = (ctypes.c_int64 * rank)(*tensor.stride())
        entry.data = tensor.data_ptr()
        entry.device_type = _CUDA if device.type == "cuda" else _CPU
        entry.device_id = device.index or 0
        entry.code = ELEMENT_TYPES[tensor.dtype].dlpack
        entry.bits = 8 * tensor.dtype.itemsize
        entry.ndim = rank
        entry.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        entry.strides = (
            None if tensor.is_contiguous() else ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        )
        self._arrays[index] = shape, strides
        self._layouts[index] = tensor.shape, tensor.stride(), tensor.dtype, device


def named_tensors(tensors: Mapping[str, torch.Tensor]):
    """The C array, and the objects that must outlive it."""
    slots = TensorSlots(len(tensors))
    slots.fill(list(tensors.values()))
    array = (NamedTensor * max(len(tensors), 1))()
    for index, name in enumerate(tensors):
        array[index].name = name.encode()
        array[index].tensor = slots.pointers[index]
    return array, slots
