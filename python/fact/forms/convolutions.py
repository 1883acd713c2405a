# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions whose blocks do not overlap, as products."""

from __future__ import annotations

import math

from torch.nn import functional as F

from .table import aten, form, of_channels, per_dimension


def _convolution(x, weight, bias, stride, padding, dilation, groups, dims):
    """A kernel that is as large as its stride: each block is a row of a product."""
    kernel = list(weight.shape[2:])
    stride = per_dimension(stride, dims)
    is_pointwise = all(k == 1 for k in kernel)
    is_patches = kernel == stride and all(d == 1 for d in per_dimension(dilation, dims))
    if not (is_pointwise or is_patches) or any(per_dimension(padding, dims)):
        raise NotImplementedError
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
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
    result = result.reshape([x.shape[0], weight.shape[0]] + counts)
    return result if batched else result.squeeze(0)


def _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    """Each element becomes a block, which does not overlap with its neighbors."""
    kernel = list(weight.shape[2:])
    if kernel != per_dimension(stride, dims) or groups != 1 or \
            any(per_dimension(padding, dims)) or any(per_dimension(output_padding, dims)) or \
            any(d != 1 for d in per_dimension(dilation, dims)):
        raise NotImplementedError
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    sizes, channels = list(x.shape[2:]), weight.shape[1]
    rows = x.flatten(2).transpose(1, 2)
    blocks = rows @ weight.flatten(1)
    blocks = blocks.reshape([x.shape[0]] + sizes + [channels] + kernel)
    order = [0, dims + 1] + [n for i in range(dims) for n in (1 + i, dims + 2 + i)]
    result = blocks.permute(order).reshape(
        [x.shape[0], channels] + [size * k for size, k in zip(sizes, kernel)])
    result = result if bias is None else result + of_channels(bias, result.dim())
    return result if batched else result.squeeze(0)


def _add_convolutions(dims: int) -> None:
    def convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if padding in ("valid", "same"):
            kernel = weight.shape[2:]
            if padding == "same" and any(k != 1 for k in kernel):
                raise NotImplementedError
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
