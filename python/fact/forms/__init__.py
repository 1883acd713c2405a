# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that FACT writes out itself: PyTorch has no form of them, or one that is less useful."""

from . import (  # noqa: F401
    attention,
    contractions,
    convolutions,
    elementary,
    indices,
    linear_algebra,
    losses,
    norms,
    pools,
    quantization,
    samples,
    special,
)
from .table import TABLE, is_exception, known_values, own_form

__all__ = ["TABLE", "is_exception", "known_values", "own_form"]
