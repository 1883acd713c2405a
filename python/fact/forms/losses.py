# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that PyTorch has no form of."""

from __future__ import annotations

import math

import torch

from .table import aten, form


def _reduced(loss: torch.Tensor, reduction: int) -> torch.Tensor:
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


@form(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def nll_loss(input, target, weight, reduction, ignore_index):
    """With weights, which are chosen by the target: PyTorch's form multiplies all classes by
    them, and chooses from as many copies of the weights as there are targets."""
    if weight is None:
        raise NotImplementedError
    channels = min(input.dim() - 1, 1)
    is_counted = target != ignore_index
    classes = torch.where(is_counted, target, 0)
    scores = torch.gather(input, channels, classes.unsqueeze(channels)).squeeze(channels)
    weights = torch.index_select(weight, 0, classes.reshape(-1)).reshape(classes.shape)
    weights = torch.where(is_counted, weights, 0)
    loss = torch.where(is_counted, -scores * weights, 0)
    if reduction == 0 and input.dim() > 1:
        return loss, input.new_zeros(())
    total = weights.sum()
    return (loss.sum() / total if reduction == 1 else loss.sum()), total


@form(aten.poisson_nll_loss.default)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    loss = input.exp() - target * input if log_input else \
        input - target * torch.log(input + eps)
    if full:
        stirling = target * target.log() - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + torch.where(target <= 1, 0, stirling)
    return _reduced(loss, reduction)


@form(aten.multilabel_margin_loss_forward.default)
def multilabel_margin_loss(input, target, reduction):
    """Targets of a row end at the first -1."""
    x, t = (input, target) if input.dim() == 2 else (input[None], target[None])
    classes = x.shape[-1]
    places = torch.arange(classes, device=x.device)
    ended = (t < 0).unsqueeze(-2) & (places <= places[:, None])
    valid = ~ended.any(-1)
    targets = torch.where(valid, t, 0)
    is_target = ((targets.unsqueeze(-1) == places) & valid.unsqueeze(-1)).any(-2)
    margin = 1 - torch.gather(x, -1, targets).unsqueeze(-1) + x.unsqueeze(-2)
    counted = valid.unsqueeze(-1) & ~is_target.unsqueeze(-2)
    loss = torch.where(counted, margin.clamp(min=0), 0).sum((-2, -1)) / classes
    loss = loss if input.dim() == 2 else loss.squeeze(0)
    return _reduced(loss, reduction), is_target.to(input.dtype).reshape(target.shape)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """`F.gaussian_nll_loss`, which cannot be exported: it checks the values of `var`."""
    var = torch.full_like(input, var) if isinstance(var, float) else var
    if var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    elif var.shape not in (input.shape, input.shape[:-1] + (1,)):
        raise ValueError("var is of incorrect size")
    var = var.clamp(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return _reduced(loss, ("none", "mean", "sum").index(reduction))
