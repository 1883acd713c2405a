# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms of channels, vectors and differences."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from .table import aten, form, of_channels


def _scale_and_shift(x, weight, bias):
    if weight is not None:
        x = x * of_channels(weight, x.dim())
    return x if bias is None else x + of_channels(bias, x.dim())


@form(aten.batch_norm.default)
def batch_norm(x, weight, bias, mean, var, training, momentum, eps, cudnn_enabled):
    """A scale and a shift per channel, in fp32 for 16-bit tensors."""
    rank, dtype = x.dim(), x.dtype
    x = x if dtype == torch.float64 else x.float()
    if training:
        dims = [dim for dim in range(rank) if dim != 1]
        spread, middle = torch.var_mean(x, dims, correction=0, keepdim=True)
        normal = (x - middle) * torch.rsqrt(spread + eps)
        return _scale_and_shift(normal, weight, bias).to(dtype)
    scale = torch.rsqrt(var.to(x.dtype) + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale
    shift = shift if bias is None else shift + bias
    return (x * of_channels(scale, rank) + of_channels(shift, rank)).to(dtype)


@form(aten._native_batch_norm_legit_functional.default)
def batch_norm_with_averages(x, weight, bias, mean, var, training, momentum, eps):
    """A batch norm, and its running averages after it. Statistics for gradients are left out."""
    result = batch_norm(x, weight, bias, mean, var, training, momentum, eps, False)
    if not training:
        return result, None, None, mean, var
    wide = x if x.dtype == torch.float64 else x.float()
    dims = [dim for dim in range(x.dim()) if dim != 1]
    spread, middle = torch.var_mean(wide, dims, correction=1)
    return result, None, None, *(
        ((1 - momentum) * old.to(wide.dtype) + momentum * new).to(old.dtype)
        for old, new in ((mean, middle), (var, spread)))


@form(aten.instance_norm.default)
def instance_norm(x, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn_enabled):
    if not use_input_stats:
        return batch_norm(x, weight, bias, mean, var, False, momentum, eps, cudnn_enabled)
    return F.group_norm(x, x.shape[1], weight, bias, eps)


@form(aten.cdist.default, aten._cdist_forward.default)
def cdist(x, y, p=2.0, compute_mode=None):
    # As PyTorch does: many Euclidean distances are a product, which is faster and less exact.
    many = max(x.shape[-2], y.shape[-2]) > 25
    if p == 2 and (compute_mode == 1 or (many and compute_mode in (None, 0))):
        squares = x.square().sum(-1, keepdim=True) + y.square().sum(-1).unsqueeze(-2)
        return (squares - 2 * (x @ y.mT)).clamp_min(0).sqrt()
    return torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, dim=-1)


@form(aten.pdist.default, aten._pdist_forward.default)
def pdist(x, p=2.0):
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)
    return torch.linalg.vector_norm(x[first] - x[second], p, dim=-1)


@form(aten.linalg_vector_norm.default)
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    x = x if dtype is None else x.to(dtype)
    dim = list(range(x.dim())) if dim is None else dim
    if ord == 0:
        return (x != 0).to(x.dtype).sum(dim, keepdim)
    return x.abs().pow(ord).sum(dim, keepdim).pow(1 / ord)
