# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes for one thread of a CPU, from the large sizes of a case.

The largest size is halved until one call should take about `BUDGET` seconds. The estimate counts
the floating-point operations, bytes and ops of eager PyTorch on tensors without data, so that the
sizes are the same on every machine.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

BUDGET = 0.05
FLOPS_PER_SECOND = 2e10
BYTES_PER_SECOND = 1e9
SECONDS_PER_OP = 5e-6


class Traffic(TorchDispatchMode):
    """Counts ops, and the bytes of their operands and results; views have none."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = self.ops = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if not function.is_view:
            tensors = {id(x): x for x in pytree.tree_leaves((args, kwargs, result))
                       if isinstance(x, torch.Tensor)}
            self.bytes += sum(x.nbytes for x in tensors.values())
            self.ops += 1
        return result


def seconds(build: Any, sizes: tuple) -> float:
    """The estimate for one call; raises what the module raises for sizes that do not fit."""
    try:
        return count(build, sizes, FakeTensorMode(allow_non_fake_inputs=True))
    except DataDependentOutputException:
        return count(build, sizes, contextlib.nullcontext())


def count(build: Any, sizes: tuple, tensors: contextlib.AbstractContextManager) -> float:
    with tensors, torch.no_grad():
        module, *inputs = build(*sizes)
        module = module.eval()
        traffic, flops = Traffic(), FlopCounterMode(display=False)
        with flops, traffic:
            module(*inputs)
    return (flops.get_total_flops() / FLOPS_PER_SECOND + traffic.bytes / BYTES_PER_SECOND
            + traffic.ops * SECONDS_PER_OP)


@functools.cache
def host_sizes(build: Any, small: tuple, large: tuple) -> tuple:
    """The first of the sizes, each with a size halved, that fits the budget. Odd sizes stay odd,
    and none becomes less than the small size."""
    sizes = large
    while seconds(build, sizes) > BUDGET:
        order = sorted(range(len(sizes)), key=lambda i: -sizes[i] if isinstance(sizes[i], int) else 0)
        for i in order:
            least = small[i]
            if not isinstance(least, int) or sizes[i] // 2 < least:
                continue
            halved = (*sizes[:i], sizes[i] // 2 | sizes[i] % 2, *sizes[i + 1:])
            if halved == sizes:
                continue
            # A size can be bound to another one, as heads to a width.
            with contextlib.suppress(Exception):
                seconds(build, halved)
                sizes = halved
                break
        else:
            return sizes
    return sizes
