# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions as products: of blocks that do not overlap, or of windows that are copied."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from .table import aten, form, of_channels, per_dimension, window_places


def _convolution(x, weight, bias, stride, padding, dilation, groups, dims):
    kernel = list(weight.shape[2:])
    stride, dilation = per_dimension(stride, dims), per_dimension(dilation, dims)
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    padding = per_dimension(padding, dims)
    if any(padding):
        x = F.pad(x, [n for p in reversed(padding) for n in (p, p)])
    is_pointwise = all(k == 1 for k in kernel)
    is_patches = kernel == stride and all(d == 1 for d in dilation)
    if is_pointwise or is_patches:
        result = _of_blocks(x, weight, bias, stride, groups, dims)
    else:
        result = _of_windows(x, weight, stride, dilation, groups, dims)
        result = result if bias is None else result + of_channels(bias, result.dim())
    return result if batched else result.squeeze(0)


def _of_blocks(x, weight, bias, stride, groups, dims):
    """A kernel that is as large as its stride: each block is a row of a product."""
    kernel = list(weight.shape[2:])
    counts = [(size - k) // s + 1 for size, k, s in zip(x.shape[2:], kernel, stride)]
    for dim, (count, k, s) in enumerate(zip(counts, kernel, stride), 2):
        end, step = (count * k, 1) if k == s else ((count - 1) * s + 1, s)
        x = aten.slice(x, dim, 0, end, step)
    # [batch, groups, channels, count, kernel, ...] to [batch, groups, count..., channels * kernel]
    blocks = [n for pair in zip(counts, kernel) for n in pair]
    x = x.reshape([x.shape[0], groups, -1] + blocks)
    order = [0, 1] + [3 + 2 * i for i in range(dims)] + [2] + [4 + 2 * i for i in range(dims)]
    rows = x.permute(order).reshape([x.shape[0], groups, math.prod(counts), -1])
    filters = weight.reshape([groups, weight.shape[0] // groups, -1])
    if groups == 1:
        result = F.linear(rows.squeeze(1), filters.squeeze(0), bias).transpose(-1, -2)
    else:
        result = (rows @ filters.transpose(-1, -2)).transpose(-1, -2)
        result = result if bias is None else result + bias.reshape([groups, -1, 1])
    return result.reshape([x.shape[0], weight.shape[0]] + counts)


def _of_windows(x, weight, stride, dilation, groups, dims):
    """Each place in the kernel is a strided slice. One channel per group: a sum of slices times
    numbers; else a product with all slices, one below the other."""
    kernel = list(weight.shape[2:])
    counts = [(size - d * (k - 1) - 1) // s + 1
              for size, k, s, d in zip(x.shape[2:], kernel, stride, dilation)]
    slices = [part for _, part in window_places(x, counts, kernel, stride, dilation)]
    channels, filters = weight.shape[1], weight.shape[0] // groups
    if channels == 1 and filters == 1:
        numbers = weight.reshape([groups, -1])
        return sum(part * of_channels(numbers[:, i], x.dim()) for i, part in enumerate(slices))
    windows = torch.stack(slices, 2).reshape(
        [x.shape[0], groups, channels * len(slices), math.prod(counts)])
    rows = weight.reshape([groups, filters, -1])
    if groups == 1:
        windows, rows = windows.squeeze(1), rows.squeeze(0)
    return (rows @ windows).reshape([x.shape[0], weight.shape[0]] + counts)


def _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    kernel, stride = list(weight.shape[2:]), per_dimension(stride, dims)
    padding, dilation = per_dimension(padding, dims), per_dimension(dilation, dims)
    more = per_dimension(output_padding, dims)
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    if kernel == stride and groups == 1 and not any(padding + more) and \
            all(d == 1 for d in dilation):
        result = _to_blocks(x, weight)
    else:
        for dim, s in enumerate(stride, 2):
            x = _spread(x, dim, s)
        edges = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
        x = F.pad(x, [n for edge, m in reversed(list(zip(edges, more))) for n in (edge, edge + m)])
        # [in, out / groups, ...] to [out, in / groups, ...], the last place first.
        filters = weight.unflatten(0, [groups, -1]).transpose(1, 2).flatten(0, 1)
        filters = filters.flip(list(range(2, filters.dim())))
        result = _convolution(x, filters, None, 1, 0, dilation, groups, dims)
    result = result if bias is None else result + of_channels(bias, result.dim())
    return result if batched else result.squeeze(0)


def _to_blocks(x, weight):
    """Each element becomes a block, which does not overlap with its neighbors."""
    kernel, dims = list(weight.shape[2:]), x.dim() - 2
    sizes, channels = list(x.shape[2:]), weight.shape[1]
    rows = x.flatten(2).transpose(1, 2)
    blocks = rows @ weight.flatten(1)
    blocks = blocks.reshape([x.shape[0]] + sizes + [channels] + kernel)
    order = [0, dims + 1] + [n for i in range(dims) for n in (1 + i, dims + 2 + i)]
    return blocks.permute(order).reshape(
        [x.shape[0], channels] + [size * k for size, k in zip(sizes, kernel)])


def _spread(x, dim: int, stride: int):
    """Elements of a dimension with zeros between them."""
    if stride == 1:
        return x
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
