# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions in terms of `aten.convolution` with several channels per group, which the
compiler takes as it is."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from .table import aten, form, of_channels, per_dimension, spread, window_places


def _convolution(x, weight, bias, stride, padding, dilation, groups, dims):
    stride, padding, dilation = (per_dimension(of, dims) for of in (stride, padding, dilation))
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    if groups > 1 and weight.shape[1] == 1:
        result = _of_single_channels(x, weight, stride, padding, dilation, groups, dims)
        result = result if bias is None else result + of_channels(bias, result.dim())
    else:
        result = aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * dims,
                                  groups)
    return result if batched else result.squeeze(0)


def _of_single_channels(x, weight, stride, padding, dilation, groups, dims):
    """One channel per group: each place in the kernel is a strided slice, times a number for
    each filter."""
    if any(padding):
        x = F.pad(x, [n for p in reversed(padding) for n in (p, p)])
    kernel = list(weight.shape[2:])
    counts = [(size - d * (k - 1) - 1) // s + 1
              for size, k, s, d in zip(x.shape[2:], kernel, stride, dilation)]
    # [batch, groups, filters per group, ...]
    numbers = weight.reshape([groups, -1, math.prod(kernel)])
    total = None
    for i, (_, part) in enumerate(window_places(x, counts, kernel, stride, dilation)):
        by = numbers[:, :, i].reshape([groups, -1] + [1] * dims)
        total = part.unsqueeze(2) * by if total is None else total + part.unsqueeze(2) * by
    return total.flatten(1, 2)


def _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    """The elements of a result at one distance from each other, of a stride, form a convolution
    with every so many places of the kernel. Those with as many places are filters of one
    convolution, without zeros among the places: a zero times infinity is no zero."""
    stride, padding, dilation, more = (
        per_dimension(of, dims) for of in (stride, padding, dilation, output_padding))
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    kernel = list(weight.shape[2:])
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, s, p, d, k, m in zip(
        x.shape[2:], stride, padding, dilation, kernel, more)]
    for dim, (s, d) in enumerate(zip(stride, dilation)):
        if s > 1 and d > 1:
            x, stride[dim] = spread(x, dim + 2, s), 1
    # [groups, in, out, (steps, stride)...]; what is added last is never read.
    weight = F.pad(weight, [n for k, s in reversed(list(zip(kernel, stride)))
                            for n in (0, -k % s)])
    weight = weight.reshape([groups, -1, weight.shape[1]] + [
        n for k, s in zip(kernel, stride) for n in (-(-k // s), s)])
    firsts = [p // s for p, s in zip(padding, stride)]
    counts = [(size - 1 + p) // s - first + 1 for size, p, s, first in zip(
        sizes, padding, stride, firsts)]

    def result_of(phases):
        """[batch, channels, phases..., counts...] for a choice of phases, dimension by
        dimension, as (first, number, steps)."""
        dim = len(phases)
        if dim == dims:
            return _of_phases(x, weight, phases, firsts, counts, dilation)
        whole, rest = divmod(kernel[dim], stride[dim])
        parts = [result_of(phases + [(first, number, steps)]) for first, number, steps in (
            (0, rest, whole + 1), (rest, stride[dim] - rest, whole)) if number]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim + 2)

    result = _interleave(result_of([]), dims)
    for dim, (size, s, p) in enumerate(zip(sizes, stride, padding), 2):
        result = aten.slice(result, dim, p % s, p % s + size)
    result = result if bias is None else result + of_channels(bias, result.dim())
    return result if batched else result.squeeze(0)


def _of_phases(x, weight, phases, firsts, counts, dilation):
    """The elements of a transposed convolution in some phases of its strides."""
    dims, (groups, channels, filters) = len(phases), weight.shape[:3]
    shape = [x.shape[0], groups * filters] + [number for _, number, _ in phases] + counts
    if not all(steps for _, _, steps in phases):
        return x.new_zeros(shape)
    for dim, (first, number, steps) in enumerate(phases):
        weight = aten.slice(weight, 3 + 2 * dim, 0, steps)
        weight = aten.slice(weight, 4 + 2 * dim, first, first + number)
    # [groups, out, phases..., in, steps...], the last step first.
    weight = weight.flip([3 + 2 * i for i in range(dims)])
    order = [0, 2] + [4 + 2 * i for i in range(dims)] + [1] + [3 + 2 * i for i in range(dims)]
    weight = weight.permute(order).reshape([-1, channels] + [steps for _, _, steps in phases])
    edges = [(d * (steps - 1) - first, first + count - n) for (_, _, steps), d, first, count, n
             in zip(phases, dilation, firsts, counts, x.shape[2:])]
    x = F.pad(x, [n for pair in reversed(edges) for n in pair])
    return _convolution(x, weight, None, 1, 0, dilation, groups, dims).reshape(shape)


def _interleave(x, dims):
    """[batch, channels, phases..., counts...] as [batch, channels, (counts, phases)...]."""
    shape = list(x.shape)
    x = x.permute([0, 1] + [n for i in range(dims) for n in (2 + dims + i, 2 + i)])
    return x.reshape(shape[:2] + [shape[2 + i] * shape[2 + dims + i] for i in range(dims)])


def _add_convolutions(dims: int) -> None:
    def convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if padding == "same":
            totals = [d * (k - 1) for k, d in zip(weight.shape[2:], per_dimension(dilation, dims))]
            x = F.pad(x, [n for total in reversed(totals) for n in (total // 2, total - total // 2)])
        if padding in ("valid", "same"):
            padding = 0
        return _convolution(x, weight, bias, stride, padding, dilation, groups, dims)

    def transposed(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                   dilation=1):
        return _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation,
                           dims)

    form(getattr(aten, f"conv{dims}d").default, getattr(aten, f"conv{dims}d").padding)(convolution)
    name = getattr(aten, f"conv_transpose{dims}d")
    form(name.default if dims == 1 else name.input)(transposed)


for _dims in (1, 2, 3):
    _add_convolutions(_dims)


@form(aten.convolution.default)
def convolution(x, weight, bias, stride, padding, dilation, is_transposed, output_padding,
                groups):
    dims = weight.dim() - 2
    if is_transposed:
        return _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation,
                           dims)
    return _convolution(x, weight, bias, stride, padding, dilation, groups, dims)
