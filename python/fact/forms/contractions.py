# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from .table import aten, form, numbers_of


@form(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    """Reduces [bags, elements, width], where some elements count; bags of several sizes are sums
    of rows in order."""
    rows = F.embedding(indices, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    counts = indices != padding_idx
    ignored = -math.inf if mode == 2 else 0
    size = _bag_size(indices, offsets, include_last_offset)
    if size is not None:
        counts = counts.reshape(-1, size)
        rows = torch.where(counts[:, :, None], rows.reshape(-1, size, rows.shape[-1]), ignored)
        bags, sizes = (rows.amax(1) if mode == 2 else rows.sum(1)), counts.sum(1)
    else:
        begins = offsets[:-1] if include_last_offset else offsets
        places = torch.arange(indices.shape[0], device=indices.device)
        if include_last_offset:
            counts = counts & (places < offsets[-1])
        bag = (torch.searchsorted(begins, places, right=True) - 1).clamp(min=0)
        rows = torch.where(counts[:, None], rows, ignored)
        bags = rows.new_full((begins.shape[0], rows.shape[1]), ignored)
        bags = bags.index_reduce(0, bag, rows, "amax") if mode == 2 else bags.index_add(0, bag, rows)
        sizes = torch.zeros_like(begins).index_add(0, bag, counts.to(begins.dtype))
    if mode == 2:
        bags = torch.where(sizes[:, None] > 0, bags, 0)
    elif mode == 1:
        bags = bags / sizes.clamp(min=1)[:, None]
    # The other results serve gradients.
    return bags.to(weight.dtype), None, None, None


def _bag_size(indices, offsets, include_last_offset) -> int | None:
    """The size of all bags, if `offsets` is a constant and they are equal."""
    begins = numbers_of(offsets)
    if not begins or include_last_offset:
        return None
    size = indices.shape[0] // len(begins)
    is_regular = begins == [index * size for index in range(len(begins))]
    return size if size and is_regular and size * len(begins) == indices.shape[0] else None


@form(aten._grouped_mm.default, "transformers.grouped_mm_fallback.default")
def grouped_mm(x, weight, offs=None, bias=None, out_dtype=None):
    """Rows of groups, each with its own factor; `offs` has the ends of the groups. Rows after the
    last group are 0."""
    if x.dim() != 2 or weight.dim() != 3 or bias is not None or out_dtype not in (None, x.dtype):
        raise NotImplementedError
    count = weight.shape[0]
    group = (offs <= torch.arange(x.shape[0], device=x.device)[:, None]).sum(-1)
    if x.shape[0] < count:
        factors = torch.index_select(weight, 0, group.clamp(max=count - 1))
        product = torch.matmul(x[:, None], factors).squeeze(1)
        return torch.where(group[:, None] < count, product, 0)
    # All products: a row takes that of its group.
    is_own = group == torch.arange(count, device=x.device)[:, None]
    return torch.where(is_own[:, :, None], torch.matmul(x, weight), 0).sum(0)


@form(aten.addbmm.default)
def addbmm(x, batch1, batch2, *, beta=1, alpha=1):
    product = torch.bmm(batch1, batch2).sum(0)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)


@form(aten._trilinear.default)
def trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1):
    for dim in expand1:
        i1 = i1.unsqueeze(dim)
    for dim in expand2:
        i2 = i2.unsqueeze(dim)
    for dim in expand3:
        i3 = i3.unsqueeze(dim)
    return (i1 * i2 * i3).sum(sumdim)


@form(aten.bilinear.default)
def bilinear(x, y, weight, bias=None):
    result = torch.einsum("...i,oij,...j->...o", x, weight, y)
    return result if bias is None else result + bias


@form(aten._int_mm.default)
def integer_product(x, y):
    return x.to(torch.int32) @ y.to(torch.int32)
