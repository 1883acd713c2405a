# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types that FACT knows, by PyTorch type and by name."""

from __future__ import annotations

import torch

from .errors import FactError

_NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int8: "i8",
    torch.bool: "i1",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}


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
