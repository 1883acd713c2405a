# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from .table import aten, form


@form(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    """Each bag is a product of a row of booleans, which elements are in it, with the rows."""
    count = indices.shape[0]
    places = torch.arange(count, device=indices.device)
    if include_last_offset:
        begin, end = offsets[:-1], offsets[1:]
    else:
        begin, end = offsets, torch.cat([offsets[1:], torch.full_like(offsets[:1], count)])
    inside = (places >= begin[:, None]) & (places < end[:, None])
    if padding_idx >= 0:
        inside = inside & (indices != padding_idx)
    rows = F.embedding(indices, weight)
    sizes = inside.sum(1)
    if mode == 2:
        rows = torch.where(inside[:, :, None], rows, -math.inf).amax(1)
        bags = torch.where(sizes[:, None] > 0, rows, 0)
    else:
        if per_sample_weights is not None:
            rows = rows * per_sample_weights[:, None]
        bags = inside.to(rows.dtype) @ rows
        if mode == 1:
            bags = bags / sizes.clamp(min=1)[:, None].to(rows.dtype)
    # The others serve gradients.
    return bags, torch.zeros_like(indices), sizes, torch.zeros_like(offsets)


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
