# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementary functions in terms of those that the compiler has, accurate to a few roundings."""

from __future__ import annotations

import math

import torch

from . import chebyshev
from .table import aten, form

_LN2 = math.log(2)


@form(aten.tan.default)
def tan(x):
    x = _as_float(x)
    return x.sin() / x.cos()


@form(aten.sinh.default)
def sinh(x):
    x = _as_float(x)
    size = x.abs()
    square = x * x
    near = x + x * square * chebyshev.series(2 * square - 1, chebyshev.SINH)
    half = _half_exp(size)
    far = half - 0.25 / half
    return torch.where(size < 1, near, torch.where(x < 0, -far, far))


@form(aten.cosh.default)
def cosh(x):
    half = _half_exp(_as_float(x).abs())
    return half + 0.25 / half


def _half_exp(x):
    """`exp(x) / 2`, which overflows later than `exp(x)`. The difference is exact above 1, and in
    fp32 the factor is, nearly."""
    return torch.exp(x - 1.09765625) * (0.5 * math.exp(1.09765625))


@form(aten.asinh.default)
def asinh(x):
    x = _as_float(x)
    size = x.abs()
    is_far = size > 1e18
    square = size * size
    near = size + square / (1 + torch.sqrt(1 + square))
    value = torch.log1p(torch.where(is_far, size, near))
    value = torch.where(is_far, value + _LN2, value)
    return torch.where(x < 0, -value, value)


@form(aten.acosh.default)
def acosh(x):
    x = _as_float(x)
    # Beyond, 1 is less than the rounding of any type.
    is_far = x > 1e18
    above = x - 1
    # Roots of their own: NaN below 1.
    near = above + torch.sqrt(above) * torch.sqrt(above + 2)
    value = torch.log1p(torch.where(is_far, x, near))
    return torch.where(is_far, value + _LN2, value)


@form(aten.atanh.default)
def atanh(x):
    x = _as_float(x)
    size = x.abs()
    value = 0.5 * torch.log1p(2 * size / (1 - size))
    return torch.where(x < 0, -value, value)


# pi / 2: a number of fp32 and the rest.
_HALF_PI, _HALF_PI_REST = 1.5707963705062866, -4.371139000186241e-08


def _complement(angle):
    return _HALF_PI - (angle - _HALF_PI_REST)


@form(aten.atan.default)
def atan(x):
    x = _as_float(x)
    is_far = x.abs() > 1
    angle = _atan_of_ratio(torch.where(is_far, 1 / x, x))
    far = torch.where(x < 0, -_complement(-angle), _complement(angle))
    return torch.where(is_far, far, angle)


def _atan_of_ratio(x):
    """For `|x| <= 1`."""
    square = x * x
    return x + x * square * chebyshev.series(2 * square - 1, chebyshev.ATAN)


def _asin_of_part(x):
    """Whether `|x| > 1/2`, and there half the angle between `|x|` and 1, elsewhere that of `x`."""
    size = x.abs()
    is_far = size > 0.5
    square = torch.where(is_far, 0.5 - 0.5 * size, x * x)
    root = torch.where(is_far, torch.sqrt(square), x)
    return is_far, root + root * square * chebyshev.series(8 * square - 1, chebyshev.ASIN)


@form(aten.asin.default)
def asin(x):
    x = _as_float(x)
    is_far, angle = _asin_of_part(x)
    far = _complement(2 * angle)
    return torch.where(is_far, torch.where(x < 0, -far, far), angle)


@form(aten.acos.default)
def acos(x):
    x = _as_float(x)
    is_far, angle = _asin_of_part(x)
    far = 2 * angle
    return torch.where(is_far, torch.where(x < 0, math.pi - far, far), _complement(angle))


@form(aten.atan2.default)
def atan2(y, x):
    y, x = _as_float(y), _as_float(x)
    height, width = y.abs(), x.abs()
    large, small = torch.maximum(height, width), torch.minimum(height, width)
    ratio = torch.where(large == 0, 0.0, torch.where(small.isinf(), 1.0, small / large))
    angle = _atan_of_ratio(ratio)
    angle = torch.where(height > width, _complement(angle), angle)
    return copysign(torch.where(signbit(x), math.pi - angle, angle), y)


@form(aten.hypot.default)
def hypot(x, y):
    large, small = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    ratio = small / large
    length = large * torch.sqrt(1 + ratio * ratio)
    return torch.where((small == 0) | large.isinf(), large, length)


@form(aten.signbit.default)
def signbit(x):
    return (x < 0) | (1 / x < 0) if x.is_floating_point() else x < 0


@form(aten.copysign.Tensor, aten.copysign.Scalar)
def copysign(x, sign):
    x = _as_float(x)
    if not isinstance(sign, torch.Tensor):
        return -x.abs() if math.copysign(1, sign) < 0 else x.abs()
    return torch.where(signbit(sign), -x.abs(), x.abs())


@form(aten.round.decimals)
def round_decimals(x, *, decimals):
    scale = 10.0 ** abs(decimals)
    return torch.round(x * scale) / scale if decimals >= 0 else torch.round(x / scale) * scale


def _as_float(x):
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())
