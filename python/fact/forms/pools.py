# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools, as maxima and sums of windows."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.nn import functional as F

from .table import TABLE, aten, per_dimension, window_places, windows_of


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int,
             ceil_mode: bool) -> int:
    """The number of windows; with `ceil_mode`, one more that begins inside of the tensor."""
    rest = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (rest + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


class _Pool:
    """Windows of the last dimensions of a tensor."""

    def __init__(self, x, kernel, stride, padding, dilation, ceil_mode, dims):
        self.dims = dims
        self.sizes = list(x.shape[-dims:])
        self.kernel = per_dimension(kernel, dims)
        self.stride = per_dimension(stride or self.kernel, dims)
        self.padding = per_dimension(padding, dims)
        self.dilation = per_dimension(dilation, dims)
        self.counts = [_windows(*of, ceil_mode) for of in zip(
            self.sizes, self.kernel, self.stride, self.padding, self.dilation)]

    def is_whole(self) -> bool:
        """Whether one window is all of the tensor."""
        return self.kernel == self.sizes and not any(self.padding) and \
            all(count == 1 for count in self.counts)

    def is_rows(self) -> bool:
        """Whether windows are long parts of rows, one behind the other, without padding or rest."""
        return self.dims == 1 and self.kernel[0] > 9 and self.kernel == self.stride and \
            self.padding[0] == 0 and self.dilation[0] == 1 and \
            self.counts[0] * self.kernel[0] == self.sizes[0]

    def last_dims(self, x: torch.Tensor) -> list[int]:
        return list(range(x.dim() - self.dims, x.dim()))

    def pad(self, x: torch.Tensor, value: float) -> torch.Tensor:
        """All elements that windows have, `value` outside of the tensor."""
        after = [(count - 1) * s + d * (k - 1) + 1 - size - p for count, s, d, k, size, p in zip(
            self.counts, self.stride, self.dilation, self.kernel, self.sizes, self.padding)]
        amounts = [n for p, a in reversed(list(zip(self.padding, after))) for n in (p, max(a, 0))]
        return F.pad(x, amounts, value=value) if any(amounts) else x

    def places(self, x: torch.Tensor, value: float):
        """For each place in a window, its elements in all windows."""
        return window_places(self.pad(x, value), self.counts, self.kernel, self.stride,
                             self.dilation)

    def reduce(self, function: Callable, x: torch.Tensor, value: float) -> torch.Tensor:
        """A reduction of each window."""
        if self.is_whole():
            return function(x, self.last_dims(x), keepdim=True)
        if self.is_rows():
            return function(x.unflatten(-1, (self.counts[0], self.kernel[0])), [-1])
        windows = windows_of(self.pad(x, value), self.dims, self.kernel, self.stride,
                             self.dilation)
        return function(windows, self.last_dims(windows))


def _lowest(dtype: torch.dtype) -> float:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _max_pool(dims: int) -> Callable:
    def pool(x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        of = _Pool(x, kernel_size, stride, padding, dilation, ceil_mode, dims)
        return of.reduce(torch.amax, x, _lowest(x.dtype))

    return pool


def _max_pool_with_indices(dims: int) -> Callable:
    def pool(x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        of = _Pool(x, kernel_size, stride, padding, dilation, ceil_mode, dims)
        best, index = None, None
        for place, part in of.places(x, _lowest(x.dtype)):
            here: torch.Tensor | int = 0
            for dim in range(dims):
                rows = torch.arange(of.counts[dim], device=x.device) * of.stride[dim] + (
                    place[dim] * of.dilation[dim] - of.padding[dim])
                here = here * of.sizes[dim] + rows.reshape([-1] + [1] * (dims - 1 - dim))
            assert isinstance(here, torch.Tensor)
            if best is None or index is None:
                best, index = part, here.expand(part.shape)
            else:
                better = (part > best) | part.isnan() if part.is_floating_point() else part > best
                best, index = torch.where(better, part, best), torch.where(better, here, index)
        return best, index

    return pool


def _avg_pool(dims: int) -> Callable:
    def pool(x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):
        of = _Pool(x, kernel_size, stride, padding, 1, ceil_mode, dims)
        divisors = [[_divisor(of, dim, window, count_include_pad)
                     for window in range(of.counts[dim])] for dim in range(dims)]
        if divisor_override is None and all(
                count == k for counts, k in zip(divisors, of.kernel) for count in counts):
            return of.reduce(torch.mean, x, 0)
        total = of.reduce(torch.sum, x, 0)
        if divisor_override is not None:
            return total / divisor_override
        divisor = torch.ones([], dtype=x.dtype, device=x.device)
        for dim, counts in enumerate(divisors):
            shape = [-1] + [1] * (dims - 1 - dim)
            divisor = divisor * torch.tensor(counts, dtype=x.dtype, device=x.device).reshape(shape)
        return total / divisor

    return pool


def _divisor(of: _Pool, dim: int, window: int, include_padding: bool) -> int:
    """The elements of a window that count."""
    size, padding = of.sizes[dim], of.padding[dim]
    begin = window * of.stride[dim] - padding
    end = min(begin + of.kernel[dim], size + padding)
    return end - begin if include_padding else min(end, size) - max(begin, 0)


def _adaptive_pool(dims: int, reduce: Callable) -> Callable:
    """Windows that cover a tensor; they overlap where sizes do not divide."""
    def pool(x, output_size):
        if all(count == 1 for count in output_size):
            last = list(range(x.dim() - dims, x.dim()))
            return reduce(x, last, keepdim=True)
        if all(size % count == 0 for size, count in zip(x.shape[-dims:], output_size)):
            windows: list[int] = []
            for dim, count in enumerate(output_size, x.dim() - dims):
                dim += len(windows)
                x = x.unflatten(dim, (count, x.shape[dim] // count))
                windows.append(dim + 1)
            return reduce(x, windows)
        for dim, count in zip(range(x.dim() - dims, x.dim()), output_size):
            size = x.shape[dim]
            if size % count == 0:
                x = reduce(x.unflatten(dim, (count, size // count)), dim + 1)
                continue
            bounds = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
            x = torch.stack([reduce(aten.slice(x, dim, *bound), dim) for bound in bounds], dim)
        return x

    return pool


def _adaptive_max_pool(dims: int) -> Callable:
    """Maxima and their indices, neither of which needs the other: one may be unused."""
    values = _adaptive_pool(dims, torch.amax)
    return lambda x, output_size: (values(x, output_size), _adaptive_indices(x, output_size, dims))


def _adaptive_indices(x, output_size, dims: int) -> torch.Tensor:
    """Indices of maxima, from the last dimension to the first. Windows that are shorter than
    others repeat their last element, which changes no first maximum."""
    index = None
    for dim, count in reversed(list(zip(range(x.dim() - dims, x.dim()), output_size))):
        size = x.shape[dim]
        bounds = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        length = max(end - begin for begin, end in bounds)
        rows = torch.tensor([min(begin + i, end - 1) for begin, end in bounds
                             for i in range(length)], device=x.device)

        def windows(of, dim=dim, rows=rows, count=count, length=length):
            return torch.index_select(of, dim, rows).unflatten(dim, (count, length))

        x, place = torch.max(windows(x), dim + 1)
        shape = [count] + [1] * (x.dim() - 1 - dim)
        here = place + torch.tensor([begin for begin, _ in bounds], device=x.device).reshape(shape)
        if index is None:
            index, stride = here, size
        else:
            of_windows = windows(index).gather(dim + 1, place.unsqueeze(dim + 1))
            index, stride = here * stride + of_windows.squeeze(dim + 1), stride * size
    assert index is not None
    return index


for _dims in (1, 2, 3):
    TABLE[getattr(aten, f"max_pool{_dims}d").default] = _max_pool(_dims)
    TABLE[getattr(aten, f"max_pool{_dims}d_with_indices").default] = _max_pool_with_indices(_dims)
    TABLE[getattr(aten, f"avg_pool{_dims}d").default] = _avg_pool(_dims)
    TABLE[getattr(aten, f"adaptive_avg_pool{_dims}d").default] = _adaptive_pool(_dims, torch.mean)
    TABLE[getattr(aten, f"adaptive_max_pool{_dims}d").default] = _adaptive_max_pool(_dims)
for _dims in (2, 3):
    TABLE[getattr(aten, f"_adaptive_avg_pool{_dims}d").default] = _adaptive_pool(
        _dims, torch.mean)
