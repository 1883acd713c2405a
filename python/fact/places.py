# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's files a node of an exported program comes from."""

from __future__ import annotations

import os
import re
from typing import Any

import torch

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_TORCH, _FACT = (os.path.dirname(file) + os.sep for file in (torch.__file__, __file__))


def line_of(node: Any) -> str:
    """The place of a node in the user's files, for messages."""
    return place_in(node.meta.get("stack_trace") if isinstance(node, torch.fx.Node) else None)


def place_in(trace: str | None, or_torch: bool = True) -> str:
    """The last line of the user's own files in a stack trace, in parentheses."""
    own = own_frames(trace, or_torch)
    return f' ({own[-1][0]}, line {own[-1][1]})' if own else ""


def own_frames(trace: str | None, or_torch: bool = True) -> list[tuple[str, str, str]]:
    """The frames of the user's own files, or PyTorch's if there are none."""
    # Code that PyTorch wrote is in no file.
    frames = [frame for frame in _FRAME.findall(trace or "") if not frame[0].startswith((_FACT, "<"))]
    own = [frame for frame in frames if not frame[0].startswith(_TORCH)]
    return own or (frames if or_torch else [])
