# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of PyTorch that cannot be exported, because they check values of tensors, written
without these checks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch.distributions import Distribution
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from .forms.losses import gaussian_nll_loss


def _cov(input, *, correction=1, fweights=None, aweights=None, of):
    if fweights is not None or aweights is not None or input.dim() > 2:
        return of(input, correction=correction, fweights=fweights, aweights=aweights)
    x = input.reshape(1, -1) if input.dim() < 2 else input
    x = x - x.mean(1, keepdim=True)
    return (x @ x.conj().T / max(x.shape[1] - correction, 0)).squeeze()


def _corrcoef(input, *, of):
    if input.dim() > 2 or input.is_complex():
        return of(input)
    c = _cov(input, of=of)
    if c.dim() == 0:
        return c / c
    deviation = c.diagonal().sqrt()
    return (c / deviation[:, None] / deviation).clamp(-1, 1)


# By function: a tensor's methods are functions of their own.
_WRITTEN = {torch.cov: _cov, torch.Tensor.cov: _cov, torch.corrcoef: _corrcoef,
            torch.Tensor.corrcoef: _corrcoef}


class _Written(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if written := _WRITTEN.get(function):
            return written(*args, **(kwargs or {}), of=function)
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def exportable() -> Iterator[None]:
    """Replaces them, keeps attention layers from single ops, and lets distributions take any
    parameters."""
    fast, checks = torch.backends.mha.get_fastpath_enabled(), Distribution._validate_args
    loss = F.gaussian_nll_loss
    torch.backends.mha.set_fastpath_enabled(False)
    Distribution.set_default_validate_args(False)
    F.gaussian_nll_loss = gaussian_nll_loss
    try:
        with _Written():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        Distribution.set_default_validate_args(checks)
        F.gaussian_nll_loss = loss
