# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of images at places between pixels."""

from __future__ import annotations

import itertools
import math
from typing import Callable

import torch

from .table import aten, form

_ZEROS, _BORDER, _REFLECTION = range(3)
_LINEAR, _NEAREST = range(2)


@form(aten.grid_sampler_3d.default)
def grid_sampler_3d(x, grid, interpolation_mode, padding_mode, align_corners):
    """Voxels of `x` at points of `grid`, whose coordinates are from -1 to 1, the last first."""
    if interpolation_mode not in (_LINEAR, _NEAREST):
        raise NotImplementedError
    sizes = list(x.shape[2:])
    points = [_coordinate(grid[..., 2 - dim], size, padding_mode, align_corners)
              for dim, size in enumerate(sizes)]
    if interpolation_mode == _NEAREST:
        return _elements_at(x, [torch.round(point) for point in points], grid)
    floors, total = [torch.floor(point) for point in points], None
    for corner in itertools.product((0, 1), repeat=3):
        part = _elements_at(x, [floor + c for floor, c in zip(floors, corner)], grid)
        for point, floor, c in zip(points, floors, corner):
            part = part * (point - floor if c else 1 - (point - floor)).unsqueeze(1)
        total = part if total is None else total + part
    return total


def _coordinate(point, size: int, padding_mode: int, align_corners: bool):
    """The index of a point along a dimension, as a number between pixels."""
    place = (point + 1) / 2 * (size - 1) if align_corners else ((point + 1) * size - 1) / 2
    if padding_mode == _REFLECTION:
        low, span = (0, size - 1) if align_corners else (-0.5, size)
        if span == 0:
            place = torch.zeros_like(place)
        else:
            distance = (place - low).abs()
            turns = torch.floor(distance / span)
            rest = distance - turns * span
            is_even = turns - 2 * torch.floor(turns / 2) == 0
            place = torch.where(is_even, rest, span - rest) + low
    return place if padding_mode == _ZEROS else place.clamp(0, size - 1)


def _elements_at(x, places, grid):
    """[batch, channels, ...] at whole places per dimension, 0 where one is outside."""
    index, is_inside = 0, None
    for place, size in zip(places, x.shape[2:]):
        here = (place >= 0) & (place <= size - 1)
        is_inside = here if is_inside is None else is_inside & here
        index = index * size + place.clamp(0, size - 1).to(torch.int64)
    shape = list(x.shape[:2]) + list(grid.shape[1:-1])
    index = index.flatten(1).unsqueeze(1).expand(shape[0], shape[1], -1)
    return torch.where(is_inside.unsqueeze(1), x.flatten(2).gather(2, index).reshape(shape), 0)


def _triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _cubic(x: float) -> float:
    """Keys' cubic with a = -1/2."""
    x = abs(x)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0.0


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
