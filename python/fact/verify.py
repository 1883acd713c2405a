"""Numbers against the module in fp64, with bounds that follow from types and lengths."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any, Sequence

import torch
from torch.utils import _pytree as pytree


@dataclasses.dataclass
class Comparison:
    """How far a result is from the truth."""

    # ||out - ref|| / ||ref||
    norm: float
    # max |out - ref| / (|ref| + rms(ref))
    element: float
    # max |out - ref|
    absolute: float

    def __str__(self) -> str:
        return f"norm {self.norm:.2e}, element {self.element:.2e}, absolute {self.absolute:.2e}"


def reference(module: torch.nn.Module, inputs: Sequence[Any], chunks: int = 1) -> Any:
    """What the module computes in fp64 from the same weights and inputs.

    With `chunks`, the leading dimension of inputs is cut in so many parts, for modules
    whose rows are independent and whose fp64 form is larger than memory.
    """
    exact = copy.deepcopy(module).double()
    with torch.no_grad():
        if chunks <= 1:
            return exact(*_double(inputs))
        parts = [exact(*_double(part)) for part in zip(*[x.chunk(chunks) for x in inputs])]
    flat = [pytree.tree_leaves(part) for part in parts]
    joined = [torch.cat(pieces) for pieces in zip(*flat)]
    return pytree.tree_unflatten(joined, pytree.tree_structure(parts[0]))


def compare(result: torch.Tensor, exact: torch.Tensor) -> Comparison:
    """Positions where the truth is not finite must agree, and count no further."""
    if result.shape != exact.shape:
        raise ValueError(f"shape {tuple(result.shape)} where {tuple(exact.shape)} is right")
    norm, square, count, element, absolute = 0.0, 0.0, 0, 0.0, 0.0
    out, ref = result.detach().reshape(-1), exact.detach().reshape(-1)
    scale = _root_mean_square(ref)
    floating = result.dtype.is_floating_point
    step = torch.finfo(result.dtype).tiny * torch.finfo(result.dtype).eps if floating else 0
    # In pieces: an fp64 copy of a large result may not fit beside the truth.
    for out, ref in zip(out.split(1 << 26), ref.split(1 << 26)):
        out, ref = out.double(), ref.to(result.device).double()
        finite = torch.isfinite(ref)
        same = (out == ref) | (torch.isnan(out) & torch.isnan(ref))
        if not bool((finite | same).all()) or not bool(torch.isfinite(out[finite]).all()):
            return Comparison(math.inf, math.inf, math.inf)
        difference = torch.where(finite, out - ref, 0).abs()
        # Near 0 the values of a type are this far apart.
        difference[difference < step] = 0
        magnitude = torch.where(finite, ref, 0).abs()
        norm += float((difference * difference).sum())
        square += float((magnitude * magnitude).sum())
        count += difference.numel()
        if difference.numel():
            absolute = max(absolute, float(difference.max()))
            bound = magnitude + scale
            relative = torch.where(difference > 0, difference / bound, 0)
            element = max(element, float(relative.max()))
    relative_norm = math.sqrt(norm / square) if square else (0.0 if norm == 0 else math.inf)
    return Comparison(relative_norm, element, absolute)


def worst(results: Any, exact: Any) -> Comparison:
    """The largest of each figure over all results of a module."""
    found = [compare(out, ref) for out, ref in zip(_tensors(results), _tensors(exact), strict=True)]
    return Comparison(
        max(c.norm for c in found), max(c.element for c in found), max(c.absolute for c in found)
    )


def tolerance(dtype: torch.dtype, reduction: int = 1, roundings: int = 2) -> Comparison:
    """The largest acceptable error of a result in `dtype`.

    Rounding the result and each of `roundings` stored intermediates costs half a unit in
    the last place each; errors of a sum of `reduction` products in fp32 grow like its
    square root. Elements can be worse than the norm by a few standard deviations and by
    cancellation.
    """
    if not dtype.is_floating_point:
        return Comparison(0.0, 0.0, 0.0)
    unit = torch.finfo(dtype).eps / 2
    accumulate = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps / 2
    norm = 2 * unit * (1 + roundings) + 2 * accumulate * math.sqrt(max(reduction, 1))
    return Comparison(norm, 12 * norm, math.inf)


def within(found: Comparison, allowed: Comparison) -> bool:
    return found.norm <= allowed.norm and found.element <= allowed.element


def check(results: Any, exact: Any, *, reduction: int = 1, roundings: int = 2) -> Comparison:
    """Raises AssertionError when a result is further from the truth than its type allows."""
    for index, (out, ref) in enumerate(zip(_tensors(results), _tensors(exact), strict=True)):
        found = compare(out, ref)
        allowed = tolerance(out.dtype, reduction, roundings)
        if not within(found, allowed):
            raise AssertionError(
                f"result {index} ({out.dtype}, {tuple(out.shape)}) is too far from fp64: "
                f"{found}; allowed is {allowed}"
            )
    return worst(results, exact)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _double(inputs):
    return pytree.tree_map(
        lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x,
        tuple(inputs),
    )


def _root_mean_square(flat: torch.Tensor) -> float:
    total, count = 0.0, 0
    for piece in flat.split(1 << 26):
        piece = piece.double()
        piece = piece[torch.isfinite(piece)]
        total += float((piece * piece).sum())
        count += piece.numel()
    return math.sqrt(total / count) if count else 0.0
