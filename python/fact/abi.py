# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fact/Runtime/Library.h` for ctypes: the library's table, and tensors as DLPack structs."""

from __future__ import annotations

import ctypes
from typing import Mapping

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
    ]

    def has(self, function: str) -> bool:
        field = getattr(LibraryTable, function)
        return self.bytes >= field.offset + field.size


class TensorSlot:
    """One DLTensor that is filled again for each call; shapes rarely change."""

    __slots__ = ("struct", "pointer", "_layout", "_arrays")

    def __init__(self):
        self.struct = DLTensor(lanes=1)
        self.pointer = ctypes.pointer(self.struct)
        self._layout = None
        self._arrays = None

    def fill(self, tensor: torch.Tensor) -> None:
        entry = self.struct
        entry.data = tensor.data_ptr()
        device = tensor.device
        layout = (tensor.shape, tensor.dtype, tensor.stride(), device)
        if layout == self._layout:
            return
        if device.type not in ("cpu", "cuda"):
            raise FactError(f"tensor on device '{device}': only cpu and cuda tensors can be used")
        if tensor.dtype not in ELEMENT_TYPES:
            raise FactError(f"tensors of type {tensor.dtype} are not supported")
        entry.device_type = _CUDA if device.type == "cuda" else _CPU
        entry.device_id = device.index or 0
        entry.code = ELEMENT_TYPES[tensor.dtype].dlpack
        entry.bits = 8 * tensor.dtype.itemsize
        rank = tensor.dim()
        entry.ndim = rank
        shape = (ctypes.c_int64 * rank)(*tensor.shape)
        strides = (ctypes.c_int64 * rank)(*tensor.stride())
        entry.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        entry.strides = (
            None if tensor.is_contiguous() else ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        )
        self._arrays, self._layout = (shape, strides), layout


def pointers_of(slots: list[TensorSlot]):
    return (ctypes.POINTER(DLTensor) * max(len(slots), 1))(*[slot.pointer for slot in slots])


def named_tensors(tensors: Mapping[str, torch.Tensor]):
    """The C array, and the objects that must outlive it."""
    slots = []
    array = (NamedTensor * max(len(tensors), 1))()
    for index, (name, tensor) in enumerate(tensors.items()):
        slot = TensorSlot()
        slot.fill(tensor)
        slots.append(slot)
        array[index].name = name.encode()
        array[index].tensor = slot.pointer
    return array, slots
