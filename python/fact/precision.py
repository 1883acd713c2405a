# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch's settings let products and convolutions of fp32 do, as `highest` (IEEE fp32),
`high` or `medium` (TF32)."""

from __future__ import annotations

import torch


def of_products() -> str:
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        # Set by `torch.backends.cuda.matmul.fp32_precision`, which the older function refuses.
        return _named(torch.backends.cuda.matmul.fp32_precision)


def of_convolutions() -> str:
    convolutions = getattr(torch.backends.cudnn, "conv", None)
    if convolutions is None:
        return "high" if torch.backends.cudnn.allow_tf32 else "highest"
    return _named(convolutions.fp32_precision)


def _named(precision: str) -> str:
    return "high" if precision == "tf32" else "highest"
