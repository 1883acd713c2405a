# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of images at places between pixels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import torch

from .table import aten, form

_ZEROS, _BORDER, _REFLECTION = range(3)
_LINEAR, _NEAREST, _CUBIC = range(3)


@form(aten.grid_sampler_2d.default, aten.grid_sampler_3d.default)
def grid_sampler(x, grid, interpolation_mode, padding_mode, align_corners):
    """Pixels of `x` at points of `grid`, whose coordinates are from -1 to 1, the last first."""
    sizes, dtype = list(x.shape[2:]), x.dtype
    x, grid = (of if dtype == torch.float64 else of.float() for of in (x, grid))
    bound = _inside if interpolation_mode != _CUBIC else _near
    taps = []
    for dim, size in enumerate(sizes):
        place = _coordinate(grid[..., len(sizes) - 1 - dim], size, align_corners)
        place = bound(place, size, padding_mode, align_corners)
        taps.append(_taps(place, size, interpolation_mode, padding_mode, align_corners))
    total = None
    for chosen in itertools.product(*taps):
        part = _elements_at(x, [place for place, _ in chosen], grid)
        for _, weight in chosen:
            part = part if weight is None else part * weight.unsqueeze(1)
        total = part if total is None else total + part
    assert total is not None
    return total.to(dtype)


def _coordinate(point, size: int, align_corners: bool):
    """The index of a point along a dimension, as a number between pixels."""
    return (point + 1) / 2 * (size - 1) if align_corners else ((point + 1) * size - 1) / 2


def _inside(place, size: int, padding_mode: int, align_corners: bool):
    """A place that is reflected or moved into the image, or near it if pixels outside are 0."""
    if padding_mode == _ZEROS:
        return _near(place, size, padding_mode, align_corners)
    if padding_mode == _REFLECTION:
        low, span = (0, size - 1) if align_corners else (-0.5, size)
        if span == 0:
            return torch.zeros_like(place)
        distance = (place - low).abs()
        turns = torch.floor(distance / span)
        rest = distance - turns * span
        is_even = torch.floor(turns / 2) * 2 == turns
        place = torch.where(is_even, rest, span - rest) + low
    return place.clamp(0, size - 1)


def _near(place, size: int, padding_mode: int, align_corners: bool):
    """A place so near to the image, with the same pixels around it, that its distance from a
    pixel has few roundings."""
    if padding_mode != _REFLECTION:
        return place.clamp(-3, size + 2)
    turn = _turn(size, align_corners)
    return place - torch.floor(place / turn) * turn


def _turn(size: int, align_corners: bool) -> int:
    """After so many pixels, reflected images repeat."""
    return max(2 * (size - 1), 1) if align_corners else 2 * size


def _taps(place, size: int, interpolation_mode: int, padding_mode: int, align_corners: bool):
    """The pixels of a place along a dimension, and their weights. Pixels are integers, so that
    no rounding of a sum decides which ones they are."""
    if interpolation_mode == _NEAREST:
        return [(torch.round(place).to(torch.int64), None)]
    floor = torch.floor(place)
    first, past = floor.to(torch.int64), place - floor
    if interpolation_mode == _LINEAR:
        return [(first, 1 - past), (first + 1, past)]
    places = [first + offset for offset in (-1, 0, 1, 2)]
    if padding_mode == _REFLECTION:
        turn = _turn(size, align_corners)
        places = [torch.remainder(place, turn) for place in places]
        last = turn if align_corners else turn - 1
        places = [torch.where(place < size, place, last - place) for place in places]
    if padding_mode != _ZEROS:
        places = [place.clamp(0, size - 1) for place in places]
    return list(zip(places, (_far_weight(past, -0.75), _near_weight(past, -0.75),
                             _near_weight(1 - past, -0.75), _far_weight(1 - past, -0.75))))


def _near_weight(x, a: float):
    """Keys' cubic at distances of up to 1."""
    return (1 - x) * (1 + x - (a + 2) * x * x)


def _far_weight(x, a: float):
    """Keys' cubic at distances of 1 and `x`, which is up to 1."""
    return a * x * (1 - x) * (1 - x)


def _elements_at(x, places, grid):
    """[batch, channels, ...] at places per dimension, 0 where one is outside."""
    index: torch.Tensor | int = 0
    is_inside: torch.Tensor | None = None
    for place, size in zip(places, x.shape[2:]):
        here = (place >= 0) & (place < size)
        is_inside = here if is_inside is None else is_inside & here
        index = index * size + place.clamp(0, size - 1)
    shape = list(x.shape[:2]) + list(grid.shape[1:-1])
    assert isinstance(index, torch.Tensor) and is_inside is not None
    index = index.flatten(1).unsqueeze(1).expand(shape[0], shape[1], -1)
    return torch.where(is_inside.unsqueeze(1), x.flatten(2).gather(2, index).reshape(shape), 0)


def _triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _cubic(x: float) -> float:
    x = abs(x)
    if x < 1:
        return _near_weight(x, -0.5)
    return _far_weight(x - 1, -0.5) if x < 2 else 0.0


def _averages(size: int, count: int, align_corners: bool, factor: float | None, support: float,
              kernel: Callable[[float], float]) -> list[list[float]]:
    """The weights of `size` pixels in each of `count`, whose kernel widens with the pixels."""
    if align_corners:
        scale = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        scale = 1 / factor if factor else size / count
    width, rows = max(scale, 1.0), []
    for center in (scale * (i + 0.5) for i in range(count)):
        begin = max(int(center - support * width + 0.5), 0)
        end = min(int(center + support * width + 0.5), size)
        row = [kernel((i - center + 0.5) / width) if begin <= i < end else 0.0
               for i in range(size)]
        total = math.fsum(row)
        rows.append([weight / total if total else weight for weight in row])
    return rows


def _add_antialiased(op: torch._ops.OpOverload, support: float,
                     kernel: Callable[[float], float]) -> None:
    @form(op)
    def resize(x, output_size, align_corners, scales_h=None, scales_w=None):
        """A product with a matrix per dimension, in fp32 for 16-bit tensors."""
        dtype = x.dtype
        if not dtype.is_floating_point:
            raise NotImplementedError
        x = x if dtype == torch.float64 else x.float()
        rows, columns = (
            torch.tensor(_averages(size, count, align_corners, factor, support, kernel),
                         dtype=x.dtype, device=x.device)
            for size, count, factor in zip(x.shape[2:], output_size, (scales_h, scales_w)))
        return torch.matmul(rows, torch.matmul(x, columns.t())).to(dtype)


_add_antialiased(aten._upsample_bilinear2d_aa.default, 1, _triangle)
_add_antialiased(aten._upsample_bicubic2d_aa.default, 2, _cubic)
