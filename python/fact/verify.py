# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors against the module in fp64, and their bounds."""

from __future__ import annotations

import copy
import dataclasses
import math
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .arithmetic import converted
from .element_types import as_real

# A result may be this many times as far from fp64 as PyTorch's own, plus one rounding.
FACTOR = 1.5
# Elements that are compared at once: each costs a few fp64 temporaries.
_PIECE = 1 << 24


@dataclasses.dataclass
class Comparison:
    """The distance of a result from fp64."""

    # ||out - ref|| / ||ref||
    norm: float
    # max |out - ref| / (|ref| + rms(ref))
    element: float
    # max |out - ref|
    absolute: float

    def __str__(self) -> str:
        return f"norm {self.norm:.2e}, element {self.element:.2e}, absolute {self.absolute:.2e}"


def copy_module(module: torch.nn.Module, shared: dict[int, Any] | None = None) -> torch.nn.Module:
    """A deep copy, but for what is shared, by `id`. PyTorch copies the signature of an exported program by a
    class of its own that is deprecated, which is not the user's concern."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
        return copy.deepcopy(module, shared)


def reference(module: torch.nn.Module, inputs: Sequence[Any], chunks: int = 1) -> Any:
    """What the module computes in fp64 from the same weights and inputs.

    With `chunks`, the leading dimension of inputs is cut in so many parts, for modules
    whose rows are independent and whose fp64 form is larger than memory.
    """
    exact = copy_module(module)._apply(_widest)
    with torch.no_grad():
        if chunks <= 1:
            return exact(*_double(inputs))
        parts = [exact(*_double(part)) for part in zip(*[x.chunk(chunks) for x in inputs])]
    flat = [pytree.tree_leaves(part) for part in parts]
    joined = [torch.cat(pieces) for pieces in zip(*flat)]
    return pytree.tree_unflatten(joined, pytree.tree_structure(parts[0]))


def compare(result: torch.Tensor, exact: torch.Tensor) -> Comparison:
    """Positions where fp64 is not finite must agree, and are not compared otherwise."""
    if result.shape != exact.shape:
        raise ValueError(f"shape is {tuple(result.shape)}, expected {tuple(exact.shape)}")
    result, exact = (as_real(tensor.detach()).reshape(-1) for tensor in (result, exact))
    if result.is_floating_point() and bool(_differs(result, exact).any()):
        return Comparison(math.inf, math.inf, math.inf)
    return _errors(result, exact)[0]


def _errors(result: torch.Tensor, exact: torch.Tensor) -> tuple[Comparison, int]:
    """The largest distances between finite numbers, and their positions; NaN and infinities
    are ignored."""
    norm = square = element = absolute = 0.0
    position = offset = 0
    floating = result.dtype.is_floating_point
    step = torch.finfo(result.dtype).tiny * torch.finfo(result.dtype).eps if floating else 0
    scale = root_mean_square(exact)
    for out, ref in zip(result.split(_PIECE), exact.split(_PIECE)):
        if not out.numel():
            break
        out, ref = out.double(), ref.to(result.device).double()
        counted = out.isfinite() & ref.isfinite()
        difference = torch.where(counted, out - ref, 0).abs_()
        # The distance of neighboring values of the type near 0.
        difference[difference < step] = 0
        magnitude = torch.where(counted, ref, 0).abs_()
        norm += float((difference * difference).sum())
        square += float((magnitude * magnitude).sum())
        absolute = max(absolute, float(difference.max()))
        relative = torch.where(difference > 0, difference / (magnitude + scale), 0)
        if float(relative.max()) > element:
            element, position = float(relative.max()), offset + int(relative.argmax())
        offset += out.numel()
    relative_norm = math.sqrt(norm / square) if square else (0.0 if norm == 0 else math.inf)
    return Comparison(relative_norm, element, absolute), position


def _differs(result: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Elements of another class (NaN, an infinity, a number); of integers, another value."""
    other = other.to(result.device)
    if not result.is_floating_point():
        return result != other
    return ~((result.isnan() & other.isnan()) | (result.isfinite() & other.isfinite())
             | (result.isposinf() & other.isposinf()) | (result.isneginf() & other.isneginf()))


def worst(results: Any, exact: Any) -> Comparison:
    """The largest of each figure over all results of a module."""
    return largest([compare(out, ref)
                     for out, ref in zip(_tensors(results), _tensors(exact), strict=True)])


def largest(found: Sequence[Comparison]) -> Comparison:
    """The largest of each figure."""
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
    dtype = dtype.to_real()
    if not dtype.is_floating_point:
        return Comparison(0.0, 0.0, 0.0)
    unit = torch.finfo(dtype).eps / 2
    accumulate = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps / 2
    norm = 2 * unit * (1 + roundings) + 2 * accumulate * math.sqrt(max(reduction, 1))
    return Comparison(norm, 12 * norm, math.inf)


def within(found: Comparison, allowed: Comparison) -> bool:
    return found.norm <= allowed.norm and found.element <= allowed.element


def check(results: Any, exact: Any, *, reduction: int = 1, roundings: int = 2) -> Comparison:
    """Raises AssertionError if a result is further from fp64 than its type allows."""
    for index, (out, ref) in enumerate(zip(_tensors(results), _tensors(exact), strict=True)):
        found = compare(out, ref)
        allowed = tolerance(out.dtype, reduction, roundings)
        if not within(found, allowed):
            raise AssertionError(
                f"result {index} ({out.dtype}, {tuple(out.shape)}) is too far from fp64: "
                f"{found}; allowed is {allowed}"
            )
    return worst(results, exact)


@dataclasses.dataclass
class Judgment:
    """A result of a library compared with fp64, and with PyTorch in the result's own type."""

    name: str
    ours: Comparison
    eager: Comparison
    # Why it is refused; empty if it is right.
    reason: str = ""
    # Whether the only error is a 0 where fp64 and PyTorch have NaN.
    zeros_for_nan: bool = False


def allowed_beside(eager: Comparison, dtype: torch.dtype) -> Comparison:
    """The bound of a result's error if PyTorch's own is `eager`."""
    rounding = torch.finfo(dtype).eps / 2 if dtype.is_floating_point else 0.0
    return Comparison(FACTOR * eager.norm + rounding, FACTOR * eager.element + rounding, math.inf)


def judge(name: str, result: torch.Tensor, runs: Sequence[torch.Tensor],
          exact: torch.Tensor) -> Judgment:
    """Compares a result with fp64 by the measure of PyTorch's own error.

    NaN and infinities are those of fp64 or of one of PyTorch's `runs`, and so are integers and
    booleans; where rounding decides some of PyTorch's, as for the place of a maximum, half as many
    others may be neither. What is beyond the type's range, or rounds beyond it, may be infinite.
    PyTorch's error is the largest of its runs.
    """
    result, exact, runs = result.detach(), exact.detach(), [run.detach() for run in runs]
    nothing = Comparison(0.0, 0.0, 0.0)
    kind = f"output '{name}' ({result.dtype}".replace("torch.", "")
    for other in (exact, runs[0]):
        if result.shape != other.shape:
            return Judgment(name, nothing, nothing, f"{kind}) has shape {list(result.shape)}; "
                             f"the module's has {list(other.shape)}")
    if result.dtype != runs[0].dtype:
        return Judgment(name, nothing, nothing, f"{kind}, {list(result.shape)}) has another type "
                         f"in the module, {runs[0].dtype}".replace("torch.", ""))
    result, exact, runs = as_real(result), as_real(exact), [as_real(run) for run in runs]
    flat, truth, runs = result.reshape(-1), exact.reshape(-1), [run.reshape(-1) for run in runs]
    wrong = _differs(flat, truth)
    for run in runs:
        wrong &= _differs(flat, run)
    ours = theirs = nothing
    position = 0
    if result.is_floating_point():
        wrong &= ~_rounds_to_infinity(flat, truth)
        flat, truth, runs = _without_extremes(flat, truth, runs)
        ours, position = _errors(flat, truth)
        theirs = largest([_errors(run, truth)[0] for run in runs])
    allowed = allowed_beside(theirs, result.dtype)
    count, tolerated = int(wrong.sum()), 0.0
    if not result.is_floating_point():
        tolerated = (FACTOR - 1) * max(int(_differs(run, truth).sum()) for run in runs)
    if count <= tolerated and within(ours, allowed):
        return Judgment(name, ours, theirs)
    if count:
        position = int(wrong.to(torch.uint8).argmax())
        measure = f"{count} of {flat.numel()} elements are " + (
            "NaN or infinite in one of them" if result.is_floating_point() else "wrong")
    else:
        measure = (f"error: norm {ours.norm:.2e}, element {ours.element:.2e}; eager's: "
                   f"{theirs.norm:.2e}, {theirs.element:.2e}; allowed: {allowed.norm:.2e}, "
                   f"{allowed.element:.2e}")
    where = [int(i) for i in torch.unravel_index(torch.tensor(position), result.shape)]
    values = [tensor[position].item() for tensor in (flat, truth, runs[0])]
    zeros = result.is_floating_point() and count > 0 and bool(
        ((flat == 0) & truth.to(flat.device).isnan() & runs[0].isnan())[wrong].all())
    return Judgment(name, ours, theirs, f"{kind}, {list(result.shape)}) is {values[0]:g} at "
                     f"{where}, where fp64 gives {values[1]:g} and eager {values[2]:g}; {measure}",
                     zeros_for_nan=zeros)


def _without_extremes(result: torch.Tensor, exact: torch.Tensor,
                      runs: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """Numbers as large as the type's largest, with which masks are filled, become 0 where all runs
    agree on them: beside these, no other number would count. `torch.finfo(x.dtype).min` is that of
    float64 in fp64."""
    largest = torch.finfo(result.dtype).max
    near = 2.0**-6 * largest
    extreme = exact.to(result.device).abs() >= largest - near
    if not bool(extreme.any()):
        return result, exact, runs
    for run in runs:
        run = run.to(result.device)
        extreme &= (result == run) | ((result.double() - run.double()).abs() <= near)

    def rest(values: torch.Tensor) -> torch.Tensor:
        return values.masked_fill(extreme.to(values.device), 0)

    return rest(result), rest(exact), [rest(run) for run in runs]


def _rounds_to_infinity(result: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Where fp64 is beyond the type's range, or may round beyond it."""
    limits, exact = torch.finfo(result.dtype), exact.to(result.device)
    beyond = exact.double().abs() >= limits.max * (1 - limits.eps)
    return result.isinf() & beyond & (torch.sign(result) == torch.sign(exact).to(result.dtype))


def check_beside(results: Any, eager: Any, exact: Any) -> Comparison:
    """Raises AssertionError where `judge` refuses a result."""
    for index, (result, own, truth) in enumerate(
            zip(_tensors(results), _tensors(eager), _tensors(exact), strict=True)):
        judgment = judge(str(index), result, [own], truth)
        if judgment.reason:
            raise AssertionError(judgment.reason)
    return worst(results, exact)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _double(inputs):
    return pytree.tree_map_only(torch.Tensor, _widest, tuple(inputs))


def _widest(tensor: torch.Tensor) -> torch.Tensor:
    return converted(tensor, torch.float64)


def root_mean_square(flat: torch.Tensor) -> float:
    total, count = 0.0, 0
    for piece in flat.split(1 << 26):
        piece = piece.double()
        piece = piece[torch.isfinite(piece)]
        total += float((piece * piece).sum())
        count += piece.numel()
    return math.sqrt(total / count) if count else 0.0
