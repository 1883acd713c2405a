# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types by PyTorch type: a part of include/fact/Runtime/ElementTypes.def."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .errors import FactError


class ElementType(NamedTuple):
    # As in MLIR and bundle.json; None for types that only tensors and files have.
    name: str | None
    # The type code of DLPack.
    dlpack: int
    # The name in safetensors files.
    safetensors: str


ELEMENT_TYPES = {
    torch.float64: ElementType("f64", 2, "F64"),
    torch.float32: ElementType("f32", 2, "F32"),
    torch.float16: ElementType("f16", 2, "F16"),
    torch.bfloat16: ElementType("bf16", 4, "BF16"),
    torch.int64: ElementType("i64", 0, "I64"),
    torch.int32: ElementType("i32", 0, "I32"),
    torch.int16: ElementType(None, 0, "I16"),
    torch.int8: ElementType("i8", 0, "I8"),
    torch.uint8: ElementType(None, 1, "U8"),
    torch.bool: ElementType("i1", 6, "BOOL"),
}
_NAMES = {dtype: row.name for dtype, row in ELEMENT_TYPES.items() if row.name}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}


def as_real(tensor: torch.Tensor) -> torch.Tensor:
    """Complex numbers as their parts in a last dimension; other tensors as they are. A view, but for
    a pending conjugation."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


# Integers that the compiler does not have. A library has uint8 as int8, bit by bit, and int16 as int32.
NARROW = torch.uint8, torch.int16


def as_stored(tensor: torch.Tensor) -> torch.Tensor:
    """A caller's tensor as a library has it; `as_seen` is the inverse. A view where it can be."""
    if tensor.dtype == torch.uint8:
        return tensor.view(torch.int8)
    return tensor.to(torch.int32) if tensor.dtype == torch.int16 else as_real(tensor)


def as_seen(stored: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A library's tensor as a caller has it, of this type."""
    if dtype.is_complex:
        return torch.view_as_complex(stored)
    return stored.view(dtype) if dtype == torch.uint8 else stored.to(dtype)


def type_name(dtype: torch.dtype) -> str:
    """FACT's name of a PyTorch type, as in bundle.json."""
    if dtype not in _NAMES:
        known = ", ".join(str(d).removeprefix("torch.") for d in _NAMES)
        raise FactError(f"type {dtype} is not supported; supported are {known}")
    return _NAMES[dtype]


def torch_type(name: str) -> torch.dtype:
    if name not in _TYPES:
        raise FactError(f"unknown element type '{name}'; known are {', '.join(_TYPES)}")
    return _TYPES[name]
