# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The weights that a caller gives a library: which of them it wants, and as what memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from .abi import PLAIN_TYPES
from .element_types import as_stored
from .errors import FactError
from .safetensors_file import read_safetensors

if TYPE_CHECKING:
    from .library import Library
    from .signature import CallSignature

Weights: TypeAlias = Mapping[str, torch.Tensor] | torch.nn.Module | str | os.PathLike[str]


def plain(tensor: torch.Tensor, label: str) -> torch.Tensor:
    """The tensor as memory that a kernel can read; refuses what has no such memory.

    A pending negation or conjugation is done here: it is a bit of the tensor, not of its
    data.
    """
    if tensor.layout != torch.strided:
        raise FactError(f"{label} has layout {str(tensor.layout).removeprefix('torch.')}; only "
                        "dense (strided) tensors can be used: call to_dense() first")
    if type(tensor) not in PLAIN_TYPES and _has_own_behavior(type(tensor)):
        raise FactError(f"{label} is a {type(tensor).__name__}, whose values may not be what its "
                        "memory holds: pass a plain tensor")
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor


def _has_own_behavior(cls: type[torch.Tensor]) -> bool:
    """Whether a subclass of Tensor overrides operations."""
    def function_of(method: Any) -> Any:
        return getattr(method, "__func__", method)

    ours = function_of(torch.Tensor.__torch_function__), torch._C._disabled_torch_function_impl
    function = function_of(cls.__torch_function__)
    dispatch = cls.__torch_dispatch__
    return function not in ours or dispatch is not torch.Tensor.__torch_dispatch__


def module_tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and all buffers, also those that `state_dict` leaves out."""
    tensors: dict[str, torch.Tensor] = dict(module.named_parameters(remove_duplicate=False))
    tensors.update(module.named_buffers(remove_duplicate=False))
    return tensors


def resolve_weights(library: Library, signature: CallSignature | None,
                    weights: Weights) -> dict[str, torch.Tensor]:
    """Tensors by name, dense and on the library's device."""
    if isinstance(weights, torch.nn.Module):
        tensors = _wanted(library, signature, module_tensors(weights), others=True)
    elif isinstance(weights, (str, os.PathLike)):
        tensors = _wanted(library, signature, read_safetensors(weights), others=True)
    else:
        tensors = _wanted(library, signature, weights, others=False)
    device = library.device_type
    resolved = {}
    for name, tensor in tensors.items():
        if tensor.is_meta:
            raise FactError(f"weight '{name}' is on the meta device and has no data")
        tensor = as_stored(plain(tensor, f"weight '{name}'").detach())
        if tensor.device.type != device:
            tensor = tensor.to(device)
        resolved[name] = tensor.contiguous()
    return resolved


def _wanted(library: Library, signature: CallSignature | None, given: Mapping[str, torch.Tensor],
            others: bool) -> dict[str, torch.Tensor]:
    """Tensors by the library's names. Tied weights go by any of theirs; names that the
    module has and the program does not read are left out, and with `others`, all."""
    wanted = {entry["name"] for entry in library.weights}
    aliases = signature.aliases if signature else {}
    unused = set(signature.unused) if signature else set()
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in given.items():
        canonical = aliases.get(name, name)
        if canonical not in wanted and (others or name in unused or name in aliases):
            continue
        known = tensors.get(canonical)
        if known is not None and not _same(known, tensor):
            names = [n for n in given if aliases.get(n, n) == canonical]
            raise FactError(
                f"weights {' and '.join(repr(n) for n in names)} are tied in the compiled "
                "module and differ here: give one value, or compile a module in which "
                "they are separate")
        tensors[canonical] = tensor
    return tensors


def _same(one: torch.Tensor, two: torch.Tensor) -> bool:
    if one.data_ptr() == two.data_ptr() and one.shape == two.shape:
        return True
    return one.shape == two.shape and one.dtype == two.dtype and torch.equal(one, two)
