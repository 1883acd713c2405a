# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with tensors like those of the last call: what is left to check and to allocate.

PyTorch's own guards (those of torch.compile) compare tensors in C++: class, dispatch keys (so
layout, pending negation, wrappers), type, device, sizes and strides. A tensor that differs goes
the long way, which also has the messages. In a PyTorch without them all calls do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch

try:
    from torch._C._dynamo import guards as _guards
except ImportError:
    _guards = None  # type: ignore[assignment]
# Of which PyTorch's annotations know only the first.
_NEEDED = ("TensorGuards", "_empty_strided_cpu", "_empty_strided_cuda")
_torch: Any = _guards if all(hasattr(_guards, name) for name in _NEEDED) else None


@dataclasses.dataclass(frozen=True, eq=False)
class Again:
    # Of the arguments.
    count: int
    # Whether arguments are like those of the last call.
    fits: Callable[..., bool]
    # Of a result: shape, strides, type.
    allocate: Callable[..., torch.Tensor]
    # The output that is the whole result, if one is.
    only_output: int | None

    @staticmethod
    def of(inputs: Sequence[torch.Tensor], only_output: int | None) -> Again | None:
        if _torch is None or not inputs:
            return None
        guards = _torch.TensorGuards(*inputs, dynamic_dims_sizes=None, dynamic_dims_strides=None)
        return Again(len(inputs), guards.check, _allocator(inputs[0].device), only_output)


def _allocator(device: torch.device) -> Callable[..., Any]:
    if device.type == "cpu":
        return _torch._empty_strided_cpu
    if torch.cuda.device_count() == 1:
        # Allocates on the current device.
        return _torch._empty_strided_cuda
    return lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype,
                                                             device=device)
