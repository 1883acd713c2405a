# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementary functions in terms of those that the compiler has, accurate to a few roundings."""

from __future__ import annotations

import math

import torch

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
    grown = torch.expm1(size)
    near = 0.5 * (grown + grown / (grown + 1))
    return torch.sign(x) * torch.where(size > 20, _half_exp(size), near)


@form(aten.cosh.default)
def cosh(x):
    x = _as_float(x)
    size = x.abs()
    grown = torch.exp(size)
    return torch.where(size > 20, _half_exp(size), 0.5 * (grown + 1 / grown))


def _half_exp(x):
    """`exp(x) / 2`, which overflows later than `exp(x)`."""
    root = torch.exp(0.5 * x)
    return (0.5 * root) * root


@form(aten.asinh.default)
def asinh(x):
    x = _as_float(x)
    size = x.abs()
    square = size * size
    near = torch.log1p(size + square / (1 + torch.sqrt(1 + square)))
    return torch.sign(x) * torch.where(size > 1e8, torch.log(size) + _LN2, near)


@form(aten.acosh.default)
def acosh(x):
    x = _as_float(x)
    above = x - 1
    near = torch.log1p(above + torch.sqrt(above * (above + 2)))
    return torch.where(x > 1e8, torch.log(x) + _LN2, near)


@form(aten.atanh.default)
def atanh(x):
    x = _as_float(x)
    size = x.abs()
    return torch.sign(x) * (0.5 * torch.log1p(2 * size / (1 - size)))


@form(aten.atan.default)
def atan(x):
    x = _as_float(x)
    return torch.sign(x) * _atan_of_positive(x.abs())


# The coefficients of Cephes (Moshier, 1984): atan(x) = x + x^3 P(x^2) / Q(x^2) for |x| < 0.66.
_ATAN_P = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
           -1.228866684490136173410e2, -6.485021904942025371773e1)
_ATAN_Q = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2,
           4.328810604912902668951e2, 4.853903996359136964868e2, 1.945506571482613964425e2)


def _atan_of_positive(x):
    is_far, is_near = x > 1 + math.sqrt(2), x <= 0.66
    base = torch.where(is_near, torch.zeros_like(x), math.pi / 4)
    base = torch.where(is_far, math.pi / 2, base)
    rest = torch.where(is_far, -1 / x, torch.where(is_near, x, (x - 1) / (x + 1)))
    square = rest * rest
    ratio = square * _polynomial(square, _ATAN_P) / _polynomial(square, _ATAN_Q)
    return base + (rest * ratio + rest)


def _polynomial(x, coefficients):
    value = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        value = value * x + coefficient
    return value


@form(aten.asin.default)
def asin(x):
    x = _as_float(x)
    size = x.abs()
    return torch.sign(x) * _atan_of_positive(size / torch.sqrt((1 - size) * (1 + size)))


@form(aten.acos.default)
def acos(x):
    x = _as_float(x)
    return 2 * _atan_of_positive(torch.sqrt((1 - x) / (1 + x)))


@form(aten.atan2.default)
def atan2(y, x):
    y, x = _as_float(y), _as_float(x)
    angle = _atan_of_positive(y.abs() / x.abs())
    angle = torch.where((x == 0) & (y == 0), 0.0, angle)
    angle = torch.where(x.isinf() & y.isinf(), math.pi / 4, angle)
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
