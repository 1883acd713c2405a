# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops on pairs of real tensors. Each function has the parameters of its op."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..forms.table import registers_in

aten = torch.ops.aten


@dataclasses.dataclass
class Pair:
    """A complex tensor's real and imaginary part."""

    re: torch.Tensor
    im: torch.Tensor

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Pair:
        return Pair(function(self.re), function(self.im))

    @property
    def shape(self) -> torch.Size:
        return self.re.shape


pytree.register_pytree_node(Pair, lambda pair: ([pair.re, pair.im], None),
                            lambda parts, _: Pair(*parts))

REAL_TYPES = {torch.complex64: torch.float32, torch.complex128: torch.float64}

# By op. An op that does not take some arguments raises NotImplementedError.
TABLE: dict[torch._ops.OpOverload, Callable] = {}


pair_form = registers_in(TABLE)


def each(x: Any, function: Callable) -> Any:
    """A function of both parts, or of what is real."""
    return x.map(function) if isinstance(x, Pair) else function(x)


def re_of(x: Any) -> Any:
    if isinstance(x, Pair):
        return x.re
    return x.real if isinstance(x, complex) else x


def im_of(x: Any) -> Any:
    """The imaginary part; 0 of what is real."""
    if isinstance(x, Pair):
        return x.im
    return x.imag if isinstance(x, complex) else 0


def im_like(x: Any) -> Any:
    """The imaginary part; zeros of a real tensor."""
    return torch.zeros_like(x) if isinstance(x, torch.Tensor) else im_of(x)


def _is_real(x: Any) -> bool:
    return not isinstance(x, (Pair, complex))


# Parts, and what is made of parts.


@pair_form(aten.view_as_real.default)
def view_as_real(x):
    return torch.stack([x.re, x.im], -1)


@pair_form(aten.view_as_complex.default)
def view_as_complex(x):
    return Pair(x.select(-1, 0), x.select(-1, 1))


@pair_form(aten.complex.default)
def complex_of(re, im):
    return Pair(*torch.broadcast_tensors(re, im))


@pair_form(aten.polar.default)
def polar(length, angle):
    return Pair(length * angle.cos(), length * angle.sin())


@pair_form(aten.real.default)
def real(x):
    return re_of(x)


@pair_form(aten.imag.default)
def imag(x):
    return x.im


@pair_form(aten.conj.default, aten._conj.default, aten.conj_physical.default,
           aten._conj_physical.default)
def conj(x):
    return Pair(x.re, -x.im)


@pair_form(aten.resolve_conj.default, aten.alias.default, aten.detach.default,
           aten.lift_fresh_copy.default)
def same(x):
    return x


@pair_form(aten._to_copy.default, aten.to.dtype, aten.to.dtype_layout)
def to_type(x, dtype=None, *arguments, **others):
    dtype = others.pop("dtype", dtype)
    if dtype is None:
        return x
    if not dtype.is_complex:
        # As PyTorch does, with a warning.
        return re_of(x).to(dtype)
    dtype = REAL_TYPES[dtype]
    if isinstance(x, Pair):
        return x.map(lambda part: part.to(dtype))
    return Pair(x.to(dtype), torch.zeros_like(x, dtype=dtype))


@pair_form(aten.copy.default)
def copy(x, source):
    shape = x.shape
    return Pair(re_of(source).expand(shape), torch.as_tensor(im_of(source)).expand(shape))


def _filled(function: Callable, *number: int) -> Callable:
    """A tensor of one number, which is the last argument if it is not given here."""
    def make(*arguments, dtype=None, memory_format=None, **others):
        *operands, value = arguments + number
        given = [re_of(one) for one in operands]
        dtype = REAL_TYPES.get(dtype, dtype)
        return Pair(*(function(*given, part, dtype=dtype, **others)
                      for part in (re_of(value), im_of(value))))

    return make


TABLE[aten.full.default] = _filled(torch.full)
for _number, _names in enumerate((("zeros", "zeros_like", "new_zeros", "empty", "empty_like",
                                   "new_empty"), ("ones", "ones_like", "new_ones"))):
    for _name in _names:
        _full = torch.full_like if _name.endswith("_like") else \
            torch.Tensor.new_full if _name.startswith("new_") else torch.full
        _overload = getattr(aten, _name)
        TABLE[_overload.memory_format if _name == "empty" else _overload.default] = \
            _filled(_full, _number)


# Arithmetic.


def _sum(x, y, alpha, function):
    x_im, y_im = im_of(x), im_of(y)
    re = function(re_of(x), re_of(y), alpha=alpha)
    shape = re.shape
    if _is_real(y):
        im = x_im.expand(shape)
    elif _is_real(x):
        im = (y_im if function is torch.add else -y_im) * alpha
        im = im.expand(shape) if isinstance(im, torch.Tensor) else torch.full_like(re, im)
    else:
        im = function(x_im, y_im, alpha=alpha)
    return Pair(re, im)


@pair_form(aten.add.Tensor, aten.add.Scalar)
def add(x, y, alpha=1):
    return _sum(x, y, alpha, torch.add)


@pair_form(aten.sub.Tensor, aten.sub.Scalar)
def sub(x, y, alpha=1):
    return _sum(x, y, alpha, torch.sub)


@pair_form(aten.rsub.Tensor, aten.rsub.Scalar)
def rsub(x, y, alpha=1):
    if alpha != 1:
        raise NotImplementedError
    return Pair(re_of(y) - re_of(x), im_of(y) - im_of(x))


@pair_form(aten.mul.Tensor, aten.mul.Scalar)
def mul(x, y):
    if _is_real(y):
        return each(x, lambda part: part * y)
    if _is_real(x):
        return Pair(x * re_of(y), x * im_of(y))
    a, b, c, d = re_of(x), im_of(x), re_of(y), im_of(y)
    return Pair(a * c - b * d, a * d + b * c)


@pair_form(aten.reciprocal.default)
def reciprocal(x):
    return div(1, x)


@pair_form(aten.div.Tensor, aten.div.Scalar)
def div(x, y):
    if _is_real(y):
        return x.map(lambda part: part / y)
    a, b, c, d = re_of(x), im_of(x), re_of(y), im_of(y)
    if isinstance(y, complex):
        square = c * c + d * d
        return mul(x, complex(c / square, -d / square))
    # Squares of the divisor could be out of range.
    scale = torch.maximum(c.abs(), d.abs())
    e, f = c / scale, d / scale
    square = c * e + d * f
    return Pair((a * e + b * f) / square, (b * e - a * f) / square)


@pair_form(aten.abs.default)
def absolute(x):
    return torch.hypot(x.re, x.im)


@pair_form(aten.angle.default)
def angle(x):
    return torch.atan2(x.im, x.re)


@pair_form(aten.exp.default)
def exp(x):
    return polar(x.re.exp(), x.im)


@pair_form(aten.log.default)
def log(x):
    return Pair(absolute(x).log(), angle(x))


@pair_form(aten.sqrt.default)
def sqrt(x):
    return polar(absolute(x).sqrt(), angle(x) / 2)


@pair_form(aten.sin.default)
def sin(x):
    return Pair(x.re.sin() * x.im.cosh(), x.re.cos() * x.im.sinh())


@pair_form(aten.cos.default)
def cos(x):
    return Pair(x.re.cos() * x.im.cosh(), -x.re.sin() * x.im.sinh())


@pair_form(aten.sgn.default)
def sgn(x):
    length = absolute(x)
    return x.map(lambda part: torch.where(length == 0, 0.0, part / length))


@pair_form(aten.pow.Tensor_Scalar)
def power(x, exponent):
    if exponent not in (1, 2, 3, 4):
        raise NotImplementedError
    square = mul(x, x)
    return {1: x, 2: square}.get(exponent) or mul(square, x if exponent == 3 else square)


@pair_form(aten.eq.Tensor, aten.eq.Scalar)
def equal(x, y):
    return (re_of(x) == re_of(y)) & (im_of(x) == im_of(y))


@pair_form(aten.ne.Tensor, aten.ne.Scalar)
def unequal(x, y):
    return (re_of(x) != re_of(y)) | (im_of(x) != im_of(y))


# Ops of several elements.


@pair_form(aten.mm.default, aten.bmm.default)
def matmul(x, y):
    """One product of [re, im] with [[re, im], [-im, re]]."""
    if _is_real(y):
        return x.map(lambda part: part @ y)
    if _is_real(x):
        both = x @ torch.cat([y.re, y.im], -1)
    else:
        rhs = torch.cat([torch.cat([y.re, y.im], -1), torch.cat([-y.im, y.re], -1)], -2)
        both = torch.cat([x.re, x.im], -1) @ rhs
    return Pair(*both.chunk(2, -1))


@pair_form(aten.mv.default)
def matrix_vector(x, y):
    return matmul(x, each(y, lambda part: part.unsqueeze(-1))).map(lambda part: part.squeeze(-1))


@pair_form(aten.dot.default)
def dot(x, y):
    product = mul(x, y)
    return product.map(lambda part: part.sum())


@pair_form(aten.vdot.default)
def conjugated_dot(x, y):
    return dot(conj(x), y)


@pair_form(aten.linalg_vector_norm.default)
def vector_norm(x, *arguments, **others):
    return torch.linalg.vector_norm(absolute(x), *arguments, **others)


@pair_form(aten.prod.dim_int)
def product_of(x, dim, keepdim=False):
    pieces = [x.map(lambda part, i=i: part.select(dim, i)) for i in range(x.shape[dim])]
    while len(pieces) > 1:
        pieces = [mul(*pieces[i:i + 2]) if i + 1 < len(pieces) else pieces[i]
                  for i in range(0, len(pieces), 2)]
    return pieces[0].map(lambda part: part.unsqueeze(dim)) if keepdim else pieces[0]


@pair_form(aten.addmm.default, aten.baddbmm.default)
def add_matmul(bias, x, y, beta=1, alpha=1):
    return add(mul(bias, beta), mul(matmul(x, y), alpha))


@pair_form(aten.constant_pad_nd.default)
def pad(x, padding, value=0):
    return Pair(aten.constant_pad_nd(x.re, padding, re_of(value)),
                aten.constant_pad_nd(x.im, padding, im_of(value)))


@pair_form(aten.masked_fill.Scalar)
def masked_fill(x, mask, value):
    return Pair(x.re.masked_fill(mask, re_of(value)), x.im.masked_fill(mask, im_of(value)))


# Ops that move elements or add them up, and do so with each part. Views do too.
_PARTWISE = {"cat", "stack", "clone", "contiguous", "index_select", "index", "_unsafe_index",
             "gather", "flip", "roll", "repeat", "slice_scatter", "select_scatter", "index_put",
             "sum", "mean", "cumsum", "neg", "where", "tril", "triu", "scatter_add", "index_add",
             "_unsafe_view"}


def is_partwise(target: torch._ops.OpOverload) -> bool:
    return target._schema.name.removeprefix("aten::") in _PARTWISE


def is_view(target: torch._ops.OpOverload) -> bool:
    return any(result.alias_info is not None for result in target._schema.returns)
