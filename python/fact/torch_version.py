# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What FACT needs of PyTorch: a version, of which importing this warns, and CUDA for libraries of GPUs."""

from __future__ import annotations

import re
import warnings

from .errors import FactError, FactWarning

# The oldest that libraries were loaded and run with; pyproject.toml asks for the same.
OLDEST_TORCH = "2.11"

try:
    import torch
except ImportError as error:
    raise ImportError(f"FACT needs PyTorch {OLDEST_TORCH} or newer, which cannot be imported ({error}): "
                      "pip install torch") from None


def is_too_old(version: str) -> bool:
    numbers = [tuple(map(int, re.findall(r"\d+", text)[:2])) for text in (version, OLDEST_TORCH)]
    return numbers[0] < numbers[1]


def require_torch_with_cuda(what: str) -> None:
    """Raises where PyTorch has no GPU. `what` says who needs one, as in "model.so was compiled for a GPU"."""
    if torch.cuda.is_available():
        return
    why = ("was built without CUDA: install one for your driver" if torch.version.cuda is None else
           "sees no GPU: torch.cuda.is_available() is false; check the driver with nvidia-smi, and "
           "CUDA_VISIBLE_DEVICES")
    raise FactError(f"{what}, and this PyTorch, {torch.__version__}, {why}")


if is_too_old(torch.__version__):
    warnings.warn(f"PyTorch {torch.__version__} is older than {OLDEST_TORCH}, the oldest that FACT "
                  "works with: pip install --upgrade torch", FactWarning, stacklevel=2)
