# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of PyTorch that FACT works with. Importing this warns of others."""

from __future__ import annotations

import re
import warnings

import torch

from .errors import FactWarning

# The oldest that libraries were loaded and run with; pyproject.toml asks for the same.
OLDEST_TORCH = "2.11"


def is_too_old(version: str) -> bool:
    numbers = [tuple(map(int, re.findall(r"\d+", text)[:2])) for text in (version, OLDEST_TORCH)]
    return numbers[0] < numbers[1]


if is_too_old(torch.__version__):
    warnings.warn(f"PyTorch {torch.__version__} is older than {OLDEST_TORCH}, the oldest that FACT "
                  "works with: pip install --upgrade torch", FactWarning, stacklevel=2)
