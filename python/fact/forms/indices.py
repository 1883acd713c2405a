# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements by their place."""

from __future__ import annotations

import itertools
import math

import torch
from torch.nn import functional as F

from .table import TABLE, aten, form, spread


@form(aten.unfold.default)
def unfold(x, dimension, size, step):
    """Of a single element, or of windows without any."""
    if x.dim() == 0:
        return x.expand(size) if size else x.new_empty([0])
    shape = list(x.shape)
    shape[dimension] = shape[dimension] // step + 1
    return x.new_empty(shape + [0])


@form(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(x, offset=0, dim1=0, dim2=1):
    dim1, dim2 = dim1 % x.dim(), dim2 % x.dim()
    rows, columns = x.shape[dim1], x.shape[dim2]
    x = x.permute([d for d in range(x.dim()) if d not in (dim1, dim2)] + [dim1, dim2])
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    step, first = columns + 1, offset if offset >= 0 else -offset * columns
    flat = x.flatten(-2)
    return flat[..., first:first + (length - 1) * step + 1:step] if length else flat[..., :0]


@form(aten.as_strided.default)
def as_strided(x, size, stride, storage_offset=None):
    return x.reshape(-1).index_select(0, _strided(x, size, stride, storage_offset)).reshape(size)


@form(aten.as_strided_scatter.default)
def as_strided_scatter(x, src, size, stride, storage_offset=None):
    """`x` with elements at strides replaced, as `fill_diagonal_` does."""
    places = _strided(x, size, stride, storage_offset)
    return x.reshape(-1).index_copy(0, places, src.reshape(-1)).reshape(x.shape)


def _strided(x, size, stride, storage_offset) -> torch.Tensor:
    """Places of a view in the elements of `x`."""
    if not x.is_contiguous():
        raise NotImplementedError
    places = torch.tensor(storage_offset or 0, device=x.device)
    for count, step in zip(size, stride):
        places = places[..., None] + torch.arange(count, device=x.device) * step
    return places.reshape(-1)


@form(aten.trace.default)
def trace(x):
    return diagonal(x).sum()


@form(aten.diag.default)
def diag(x, diagonal=0):
    if x.dim() == 1:
        return torch.diag_embed(x, diagonal)
    return TABLE[aten.diagonal.default](x, diagonal)


@form(aten.histc.default)
def histc(x, bins=100, min=0, max=0):
    """Counts elements by bin; an equal minimum and maximum stand for those of the elements."""
    x = x.reshape(-1)
    if min == max:
        if not x.numel():
            raise NotImplementedError
        low, high = x.amin(), x.amax()
        low, high = torch.where(low == high, low - 1, low), torch.where(low == high, high + 1, high)
    else:
        low, high = min, max
    place = ((x - low) * bins / (high - low)).to(torch.int64).clamp(max=bins - 1)
    is_inside = (x >= low) & (x <= high)
    counts = is_inside & (place == torch.arange(bins, device=x.device)[:, None])
    return counts.sum(-1).to(x.dtype)


@form(aten.index_fill.int_Scalar, aten.index_fill.int_Tensor)
def index_fill(x, dim, index, value):
    if x.dim() == 0:
        return torch.full_like(x, value)
    size = x.shape[dim]
    places = torch.arange(size, device=x.device)
    index = torch.where(index < 0, index + size, index).reshape(-1, 1)
    is_filled = (index == places).any(0)
    shape = [1] * x.dim()
    shape[dim] = size
    return torch.where(is_filled.reshape(shape), value, x).to(x.dtype)


@form(aten.slice_scatter.default)
def slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    """The elements of `src` in a slice of any step."""
    dim, size = dim % x.dim(), x.shape[dim]
    start, end, step = slice(start, end, step).indices(size)
    places = torch.arange(size, device=x.device)
    is_inside = (places >= start) & (places < end) & ((places - start) % step == 0)
    given = ((places - start) // step).clamp(0, max(src.shape[dim] - 1, 0))
    shape = [1] * x.dim()
    shape[dim] = size
    return torch.where(is_inside.reshape(shape), torch.index_select(src, dim, given), x)


@form(aten.mode.default)
def mode(x, dim=-1, keepdim=False):
    """The smallest of the most frequent elements, and the last place where it is: among sorted
    elements, the one with the most equal ones before it."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, places = torch.sort(x, dim=dim, stable=True)
    values, places = values.movedim(dim, -1), places.movedim(dim, -1)
    order = torch.arange(x.shape[dim], device=x.device)
    is_first = torch.cat([torch.ones_like(values[..., :1], dtype=torch.bool),
                          values[..., 1:] != values[..., :-1]], -1)
    first = torch.cummax(torch.where(is_first, order, 0), -1).values
    found = torch.argmax(order - first, -1, keepdim=True)
    results = torch.gather(values, -1, found), torch.gather(places, -1, found)
    return tuple(r.movedim(-1, dim) if keepdim else r.squeeze(-1) for r in results)


@form(aten.col2im.default)
def col2im(x, output_size, kernel_size, dilation, padding, stride):
    """Windows in blocks of a stride: the first blocks of all windows tile an image, and so do
    the second ones, a stride further on. The images are added."""
    lead = list(x.shape[:-2])
    counts = [(size + 2 * p - d * (k - 1) - 1) // s + 1 for size, p, d, k, s in zip(
        output_size, padding, dilation, kernel_size, stride)]
    x = x.reshape([math.prod(lead), -1] + list(kernel_size) + counts)
    for dim, d in enumerate(dilation, 2):
        x = x if d == 1 else spread(x, dim, d)
    blocks = [-(-k // s) for k, s in zip(x.shape[2:4], stride)]
    rest = [n * s - k for n, s, k in zip(blocks, stride, x.shape[2:4])]
    if any(rest):
        x = F.pad(x, [0, 0, 0, 0, 0, rest[1], 0, rest[0]])
    x = x.reshape([*x.shape[:2], blocks[0], stride[0], blocks[1], stride[1], *counts])
    images = x.permute([0, 1, 2, 4, 6, 3, 7, 5]).flatten(6).flatten(4, 5)
    total = None
    for i, j in itertools.product(*map(range, blocks)):
        part = _padded(images[:, :, i, j], [
            (n * s, (many - 1 - n) * s) for n, many, s in zip((i, j), blocks, stride)])
        total = part if total is None else total + part
    assert total is not None
    total = _padded(total, [(-p, size + p - have) for p, size, have in zip(
        padding, output_size, total.shape[2:])])
    return total.reshape(lead + [-1] + list(output_size))


def _padded(x, amounts):
    """Zeros before and after the last dimensions; fewer elements where an amount is negative."""
    amounts = [n for pair in reversed(amounts) for n in pair]
    return F.pad(x, amounts) if any(amounts) else x
