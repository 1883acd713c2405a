# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions in terms of `aten.convolution` with several channels per group, which the
compiler takes as it is."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from .table import aten, form, of_channels, per_dimension, window_places


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
    with every so many places of the kernel. All of these are filters of one convolution."""
    stride, padding, dilation, more = (
        per_dimension(of, dims) for of in (stride, padding, dilation, output_padding))
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, s, p, d, k, m in zip(
        x.shape[2:], stride, padding, dilation, weight.shape[2:], more)]
    for dim, (s, d) in enumerate(zip(stride, dilation)):
        if s > 1 and d > 1:
            x, stride[dim] = _spread(x, dim + 2, s), 1
    # Places [in, out per group, (steps, stride)...], the last step first.
    steps = [-(-k // s) for k, s in zip(weight.shape[2:], stride)]
    weight = F.pad(weight, [n for k, s, t in reversed(list(zip(weight.shape[2:], stride, steps)))
                            for n in (0, t * s - k)])
    places = weight.reshape([groups, -1, weight.shape[1]] +
                            [n for pair in zip(steps, stride) for n in pair])
    places = places.flip([3 + 2 * i for i in range(dims)])
    order = [0, 2] + [4 + 2 * i for i in range(dims)] + [1] + [3 + 2 * i for i in range(dims)]
    filters = places.permute(order).reshape([-1, places.shape[1]] + steps)
    edges = []
    for size, n, s, p, d, t in zip(sizes, x.shape[2:], stride, padding, dilation, steps):
        edges.append((d * (t - 1) - p // s, (size - 1 + p) // s - (n - 1)))
    x = F.pad(x, [n for pair in reversed(edges) for n in pair])
    result = _convolution(x, filters, None, 1, 0, dilation, groups, dims)
    result = _interleave(result, stride)
    for dim, (size, s, p) in enumerate(zip(sizes, stride, padding), 2):
        result = aten.slice(result, dim, p % s, p % s + size)
    result = result if bias is None else result + of_channels(bias, result.dim())
    return result if batched else result.squeeze(0)


def _interleave(x, stride):
    """[batch, (channels, stride...), ...] as [batch, channels, (..., stride)...]."""
    if all(s == 1 for s in stride):
        return x
    dims, sizes = len(stride), list(x.shape[2:])
    x = x.reshape([x.shape[0], -1] + stride + sizes)
    x = x.permute([0, 1] + [n for i in range(dims) for n in (2 + dims + i, 2 + i)])
    return x.reshape(list(x.shape[:2]) + [n * s for n, s in zip(sizes, stride)])


def _spread(x, dim: int, stride: int):
    """Elements of a dimension with zeros between them."""
    wide = torch.cat([x.unsqueeze(dim + 1)] +
                     [torch.zeros_like(x).unsqueeze(dim + 1)] * (stride - 1), dim + 1)
    return aten.slice(wide.flatten(dim, dim + 1), dim, 0, (x.shape[dim] - 1) * stride + 1)


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
