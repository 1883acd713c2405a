# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions in terms of those that the compiler has.

Types of 16 bits are computed in fp32. Errors are a few roundings, but near the zeros of
`lgamma` and `digamma` at negative numbers, where they are a few roundings of 1.
"""

from __future__ import annotations

import functools
import math

import torch

from . import chebyshev
from .table import aten, form


def special_form(*ops: torch._ops.OpOverload):
    """Registers a form that computes in fp32 or fp64."""
    def register(function):
        @functools.wraps(function)
        def in_wide_type(x, *args):
            result = x.dtype if x.is_floating_point() else torch.get_default_dtype()
            wide = torch.float64 if result == torch.float64 else torch.float32
            with chebyshev.rounded_to(result):
                return function(x.to(wide), *args).to(result)

        form(*ops)(in_wide_type)
        return function

    return register


# The error function and the normal distribution.


def _exp_of_square(x, scale):
    """`exp(scale * x * x)` for a power of two as `scale`, without the rounding of the square: that
    of a multiple of 1/16 is exact, and the rest is small."""
    x = x.clamp(-40, 40)  # All types overflow or underflow before.
    near = torch.round(x * 16) / 16
    return torch.exp(scale * near * near) * torch.exp(scale * (x - near) * (x + near))


def _erfcx_of_positive(x):
    finite = x.clamp(max=1e30)
    place = (finite - 3.75) / (finite + 3.75)
    return chebyshev.series(place, chebyshev.ERFCX) / (1 + 2 * x)


@special_form(aten.special_erfcx.default)
def erfcx(x):
    tail = _erfcx_of_positive(x.abs())
    return torch.where(x < 0, 2 * _exp_of_square(x, 1) - tail, tail)


@special_form(aten.erfc.default)
def erfc(x):
    # As erfcx, with one division; the result is 0 from 30 on.
    size = x.abs().clamp(max=30)
    above, growth = size + 3.75, 1 + 2 * size
    inverse = 1 / (above * growth)
    place = (size - 3.75) * (growth * inverse)
    tail = _exp_of_square(x, -1) * (chebyshev.series(place, chebyshev.ERFCX) * (above * inverse))
    return torch.where(x < 0, 2 - tail, tail)


@special_form(aten.special_log_ndtr.default)
def log_ndtr(x):
    scaled = 0.5 * _erfcx_of_positive(x.abs() * math.sqrt(0.5))
    below = torch.log(scaled) - 0.5 * x * x
    tail = _exp_of_square(x, -0.5) * scaled
    return torch.where(x < -1, below, torch.log1p(torch.where(x < 0, tail - 1, -tail)))


@special_form(aten.erfinv.default)
def erfinv(x):
    return _erfinv(x, 1 - x.abs())


@special_form(aten.special_ndtri.default)
def ndtri(p):
    return math.sqrt(2) * _erfinv(2 * p - 1, 2 * torch.minimum(p, 1 - p))


def _erfinv(x, rest):
    """The inverse at `x`, where `rest` is `1 - |x|`. In fp32, `x` times a function of
    `-log(1 - x * x)` and, far out, of its root."""
    if x.dtype == torch.float64:
        return torch.sign(x) * _erfinv_of_positive(x.abs(), rest)
    depth = -torch.log(rest * (2 - rest))
    near = chebyshev.series(depth * (2 / 6.125) - 1, chebyshev.ERFINV_NEAR)
    inverse = torch.rsqrt(depth)
    far_place = (inverse - 0.2515) * (1 / 0.1535)
    far = depth * inverse * chebyshev.series(far_place, chebyshev.ERFINV_FAR)
    return x * torch.where(rest == 0, math.inf, torch.where(depth < 6.125, near, far))


def _erfinv_of_positive(x, rest):
    """Winitzki's approximation (2008), which is within 0.3%, and steps of Halley's method, which
    cube the error."""
    depth = -torch.log(rest * (2 - rest)).clamp(max=0)
    half = 2 / (math.pi * 0.147) - 0.5 * depth
    root = torch.sqrt(half * half + depth / 0.147)
    y = torch.sqrt(torch.where(half > 0, depth / 0.147 / (root + half), root - half))
    for _ in range(3):
        growth = torch.exp(0.5 * y * y)
        excess = torch.where(x < 0.5, (x - torch.erf(y)) * growth * growth,
                             _erfcx_of_positive(y) - rest * growth * growth)
        step = 0.5 * math.sqrt(math.pi) * excess
        y = y + step / (1 - y * step)
    return torch.where(rest == 0, math.inf, y)


# The gamma function. Both its forms are series in `1 + z`, from 1 to 7, and in `1 / size^2`.


def _near_and_far(x, inverse):
    """What the series are functions of, for the size of `x` and its inverse."""
    z = torch.where(x >= 1, x - 1, x.abs())
    return z, 2 - 9 / (z + 3), 72 * (inverse * inverse) - 1


def _place_in_period(x):
    """`x` less the nearest integer."""
    return x - torch.round(x)


def _sine_of_turns(x):
    """`sin(pi x)` for `|x| <= 1/2`, where no period has to be found."""
    return x * chebyshev.series(8 * x * x - 1, chebyshev.SINE_OF_TURNS)


@special_form(aten.lgamma.default)
def lgamma(x):
    size = x.abs()
    log_size, inverse = torch.log(size), 1 / size
    z, near_place, far_place = _near_and_far(x, inverse)
    near = z * (z - 1) * chebyshev.series(near_place, chebyshev.LGAMMA_NEAR)
    far = (size - 0.5) * (log_size - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + \
        chebyshev.series(far_place, chebyshev.LGAMMA_FAR) * inverse
    is_far = size >= 6
    either = torch.where(is_far, far, near)
    above = torch.where(x < 1, either - log_size, either)
    # Infinite at integers, whose sine is 0.
    sine = _sine_of_turns(_place_in_period(size))
    below = (math.log(math.pi) - torch.log(sine.abs())) - \
        torch.where(is_far, either + log_size, either)
    return torch.where(x < 0, torch.where(x.isinf(), math.inf, below), above)


# Where digamma is 0: a number of fp32 and the rest.
_ROOT, _ROOT_REST = 1.4616321325302124, 1.2438149938918909e-08


@special_form(aten.digamma.default)
def digamma(x):
    size = x.abs()
    inverse = 1 / size
    z, near_place, far_place = _near_and_far(x, inverse)
    near = ((z - (_ROOT - 1)) - _ROOT_REST) * \
        chebyshev.series(near_place, chebyshev.DIGAMMA_NEAR)
    far = torch.log(size) - 0.5 * inverse - \
        chebyshev.series(far_place, chebyshev.DIGAMMA_FAR) * (inverse * inverse)
    is_far = size >= 6
    either = torch.where(is_far, far, near)
    # Of -0 it is positive.
    above = torch.where(x < 1, either - 1 / x, either)
    place = _place_in_period(x)
    cosine = _sine_of_turns(0.5 - place.abs())
    below = torch.where(is_far, either + inverse, either) - \
        math.pi * cosine / _sine_of_turns(place)
    below = torch.where(place == 0, math.nan, below)
    return torch.where(x < 0, below, above)


# Modified Bessel functions. With an exponential, that of half the argument overflows late.


def _near_and_far_bessel(size):
    return 0.25 * size - 1, 16 / size - 1


@special_form(aten.special_i0e.default)
def i0e(x):
    size = x.abs()
    near_place, far_place = _near_and_far_bessel(size)
    return torch.where(size <= 8, chebyshev.series(near_place, chebyshev.I0_NEAR),
                       chebyshev.series(far_place, chebyshev.I0_FAR) / torch.sqrt(size))


@special_form(aten.special_i1e.default)
def i1e(x):
    size = x.abs()
    near_place, far_place = _near_and_far_bessel(size)
    far = chebyshev.series(far_place, chebyshev.I1_FAR) / torch.sqrt(size)
    return torch.where(size <= 8, x * chebyshev.series(near_place, chebyshev.I1_NEAR),
                       torch.sign(x) * far)


@special_form(aten.i0.default)
def i0(x):
    root = torch.exp(0.5 * x.abs())
    return i0e(x) * root * root


@special_form(aten.special_i1.default)
def i1(x):
    root = torch.exp(0.5 * x.abs())
    return i1e(x) * root * root
