# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words for what `torch.export` cannot export, and for what it exports and FACT does not take."""

from __future__ import annotations

import os
import re
import traceback

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.utils import _pytree as pytree

from .errors import FactError
from .places import line_of, place_in

# Where torch.func is applied, and where lengths of packed sequences are numbers.
_TRANSFORMS = tuple(os.path.join("_functorch", name)
                    for name in ("apis.py", "eager_transforms.py", "vmap.py"))
_PACKED = tuple(os.path.join("nn", *names) for names in (("modules", "rnn.py"), ("utils", "rnn.py")))


def depends_on_values(what: str, place: str) -> str:
    """`what` is the result of an op, or its size."""
    return (f"{what}{place} depends on values, and a library has fixed sizes: keep all elements, and "
            "choose among them with torch.where or a mask")


def export_problem(error: Exception) -> str:
    """Why `torch.export` failed, and what would be right."""
    text = str(error)
    if found := re.match(r"Found <class '([^']+)'> in (input|output)", text):
        return (f"{found[1]} is in the {found[2]}, and PyTorch does not know which tensors it has: "
                "register it with torch.export.register_dataclass or "
                "torch.utils._pytree.register_pytree_node, or leave it out (use_cache=False in "
                "transformers)")
    if "data-dependent" in text:
        return (f"forward decides by the value of a tensor{place_in(text)}, and a program is the same "
                "for all values: compute both results and choose with torch.where, or leave a check out")
    frames = traceback.extract_tb(error.__traceback__)
    place = place_in("".join(traceback.format_list(frames)), or_torch=False)
    if isinstance(error, DynamicOutputShapeException):
        return depends_on_values(f"the size of the result of '{error.func}'", place)
    if any(frame.filename.endswith(_PACKED) for frame in frames) and "FakeTensor" in text:
        return (f"forward packs sequences{place}, whose lengths are values: give the layer padded "
                "sequences, and mask its results")
    if any(frame.filename.endswith(_TRANSFORMS) for frame in frames) or \
            "exported program constant's list" in text or "doesn't have storage" in text:
        return (f"torch.func is used{place} in a way that PyTorch does not export, as gradients and "
                f"nested vmap are: write it out ({type(error).__name__}: {text.splitlines()[0]})")
    return f"{type(error).__name__}: {text}{place}"


def check_nodes(program: torch.export.ExportedProgram) -> None:
    """Refuses what has no form in a library."""
    for node in program.graph.nodes:
        if isinstance(node.target, HigherOrderOperator):
            raise FactError(f"'torch.{node.target.name()}'{line_of(node)} is not supported: a program is "
                            "the same for all values, so compute both results and choose with "
                            "torch.where, or write a loop with a fixed number of steps")
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.layout != torch.strided:
                what = f"'{node.target}'{line_of(node)} has a sparse result" \
                    if node.op == "call_function" else f"'{node.name}' is a sparse tensor"
                raise FactError(f"{what}, which is not supported: use dense tensors, or add products "
                                "of the elements with index_add")
