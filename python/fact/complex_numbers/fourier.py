# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms as products with matrices of cosines and sines, which become constants.

A transform of n = a * b elements is transforms of a elements, factors, and transforms of b
elements: (a + b) products for each element instead of n. The products are as exact as PyTorch's
transforms of f32, also where its other products are TF32.
"""

from __future__ import annotations

import math

import torch

from .pairs import Pair, each, pair_form

aten = torch.ops.aten

# About here one product takes as long as two smaller ones, and the passes between them.
_WHOLE_LIMIT = 256


def _factor(n: int) -> int:
    """The largest divisor of n up to its root; 1 if the transform is one product."""
    if n <= _WHOLE_LIMIT:
        return 1
    return next(a for a in range(math.isqrt(n), 0, -1) if n % a == 0)


def _waves(rows: int, columns: int, n: int, sign: int, like: torch.Tensor) -> Pair:
    """exp(sign * 2 pi i * row * column / n) in f64."""
    row = torch.arange(rows, device=like.device)
    column = torch.arange(columns, device=like.device)
    turns = (row[:, None] * column).remainder(n).to(torch.float64)
    angles = turns * (2 * math.pi / n)
    return Pair(angles.cos(), sign * angles.sin())


def _multiply(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    return torch.ops.fact.strict_matmul(x, matrix.to(x.dtype))


def _product(x: torch.Tensor, sign: int, count: int) -> Pair:
    """The first `count` elements of the transform of a real tensor, as one product."""
    wave = _waves(x.shape[-1], count, x.shape[-1], sign, x)
    return Pair(*_multiply(x, torch.cat([wave.re, wave.im], 1)).chunk(2, -1))


def _transform(x: Pair | torch.Tensor, sign: int) -> Pair:
    """The unscaled transform of the last dimension, of complex numbers or of real ones."""
    n = x.shape[-1]
    a = _factor(n)
    if a == 1 and isinstance(x, torch.Tensor):
        return _product(x, sign, n)
    if a == 1:
        assert isinstance(x, Pair)
        wave = _waves(n, n, n, sign, x.re)
        matrix = torch.cat([torch.cat([wave.re, wave.im], 1), torch.cat([-wave.im, wave.re], 1)])
        return Pair(*_multiply(torch.cat([x.re, x.im], -1), matrix).chunk(2, -1))
    b = n // a
    # Elements at a distance of b first: [..., b, a].
    inner = _transform(each(x, lambda part: part.unflatten(-1, (a, b)).transpose(-1, -2)), sign)
    twist = _waves(b, a, n, sign, inner.re).map(lambda part: part.to(inner.re.dtype))
    turned = Pair(inner.re * twist.re - inner.im * twist.im,
                  inner.re * twist.im + inner.im * twist.re)
    outer = _transform(turned.map(lambda part: part.transpose(-1, -2)), sign)
    return outer.map(lambda part: part.transpose(-1, -2).flatten(-2))


def _transform_real(x: torch.Tensor, count: int) -> Pair:
    """The first `count` elements of the transform of a real tensor."""
    if _factor(x.shape[-1]) == 1:
        return _product(x, -1, count)
    return _transform(x, -1).map(lambda part: part[..., :count])


def _restore_real(x: Pair, n: int) -> torch.Tensor:
    """The unscaled real tensor of n elements of which `x` is the first half of the transform."""
    count = n // 2 + 1
    if _factor(n) == 1:
        wave = _waves(count, n, n, 1, x.re)
        # The second half is the first, conjugated: all elements but those without partner count
        # twice.
        k = torch.arange(count, device=x.re.device)[:, None]
        weight = torch.where((k == 0) | (2 * k == n), 1.0, 2.0).to(torch.float64)
        matrix = torch.cat([wave.re * weight, wave.im * -weight])
        return _multiply(torch.cat([x.re, x.im], -1), matrix)
    rest = n - count
    # What has no partner has no imaginary part.
    k = torch.arange(count, device=x.re.device)
    im = torch.where((k == 0) | (2 * k == n), 0.0, x.im)
    whole = Pair(torch.cat([x.re, x.re[..., 1:rest + 1].flip(-1)], -1),
                 torch.cat([im, -im[..., 1:rest + 1].flip(-1)], -1))
    return _transform(whole, 1).re


def _scale(sizes: list[int], normalization: int) -> float:
    """Of the values 0, 1 and 2 of `normalization`: none, by the root, by the size."""
    return {0: 1.0, 1: 1 / math.sqrt(math.prod(sizes)), 2: 1 / math.prod(sizes)}[normalization]


def _along(x: Pair, dims: list[int], sign: int) -> Pair:
    for dim in dims:
        x = _moved(_transform(_moved(x, dim, -1), sign), -1, dim)
    return x


def _moved(x: Pair, source: int, target: int) -> Pair:
    return x.map(lambda part: part.movedim(source, target))


def _scaled(x, factor: float):
    return x if factor == 1 else each(x, lambda part: part * factor)


@pair_form(aten._fft_c2c.default)
def complex_to_complex(x, dim, normalization, forward):
    factor = _scale([x.shape[d] for d in dim], normalization)
    return _scaled(_along(x, dim, -1 if forward else 1), factor)


@pair_form(aten._fft_r2c.default)
def real_to_complex(x, dim, normalization, onesided):
    factor = _scale([x.shape[d] for d in dim], normalization)
    *others, last = dim
    n = x.shape[last]
    halved = _transform_real(x.movedim(last, -1), n // 2 + 1 if onesided else n)
    return _scaled(_along(_moved(halved, -1, last), others, -1), factor)


@pair_form(aten._fft_c2r.default)
def complex_to_real(x, dim, normalization, last_dim_size):
    *others, last = dim
    factor = _scale([*(x.shape[d] for d in others), last_dim_size], normalization)
    x = _along(x, others, 1)
    real = _restore_real(_moved(x, last, -1), last_dim_size)
    return _scaled(real.movedim(-1, last), factor)


@pair_form(aten.istft.default)
def inverse_spectrogram(x, n_fft, hop_length=None, win_length=None, window=None, center=True,
                        normalized=False, onesided=None, length=None, return_complex=False):
    """Frames are restored, windowed, added up where they overlap, and divided by the sum of the
    windows' squares. PyTorch's own form looks at the values of that sum."""
    if return_complex or onesided is False or x.shape[-2] != n_fft // 2 + 1:
        raise NotImplementedError
    hop = hop_length if hop_length is not None else n_fft // 4
    width = win_length if win_length is not None else n_fft
    window = torch.ones(width, dtype=x.re.dtype, device=x.re.device) if window is None else window
    before = (n_fft - width) // 2
    window = torch.nn.functional.pad(window, (before, n_fft - width - before))
    frames = complex_to_real(x.map(lambda part: part.transpose(-1, -2)), [-1],
                             1 if normalized else 2, n_fft)
    count = frames.shape[-2]
    size = n_fft + hop * (count - 1)

    def add_up(pieces):
        columns = pieces.reshape(-1, count, n_fft).transpose(1, 2)
        return torch.nn.functional.fold(columns, (1, size), (1, n_fft), stride=(1, hop)).flatten(1)

    start = n_fft // 2 if center else 0
    end = start + length if length is not None else size - start
    total = add_up(frames * window)[:, start:end]
    squares = add_up((window * window).expand(1, count, n_fft))[:, start:end]
    result = total / squares
    if end > size:
        result = torch.nn.functional.pad(result, (0, end - size))
    return result.reshape(*x.shape[:-2], end - start)
