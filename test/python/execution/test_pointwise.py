# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise ops: each function, broadcasts, numbers, integers, booleans, corner values."""

import math

import torch
from torch.nn import functional as F

import fact
from operators import Case, check, group, integers, positive, rand, runs

# Values from the tails of activations too.
X = torch.cat([rand(37, 5) * 2, torch.linspace(-30, 8, 55).reshape(11, 5)])
UNIT = torch.linspace(-0.9, 0.9, 60).reshape(12, 5)
ABOVE = positive(12, 5) * 3
HALVES = torch.tensor([-2.5, -1.5, -0.5, -0.25, 0.0, 0.5, 0.75, 1.5, 2.5, 7.0])
ODD = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.0])
SLOPES = torch.tensor([0.25, -0.5, 0.125, 1.5, 0.0])

UNARY = group(
    "unary",
    *[Case(name, getattr(torch, name), [X])
      for name in ("neg", "abs", "exp", "erf", "tanh", "sigmoid", "relu", "expm1", "square")],
    *[Case(name, getattr(torch, name), [rand(12, 5)]) for name in ("sin", "cos", "exp2")],
    *[Case(name, getattr(torch, name), [ABOVE])
      for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal")],
    Case("log1p near 0", torch.log1p, [UNIT * 2**-6]),
    Case("expm1 near 0", torch.expm1, [UNIT * 2**-6]),
    *[Case(name, getattr(torch, name), [HALVES])
      for name in ("floor", "ceil", "round", "trunc", "sign", "frac")],
    *[Case(f"{name} of NaN and infinities", getattr(torch, name), [ODD])
      for name in ("isnan", "isinf", "isfinite", "relu", "sign", "neg", "abs", "exp")],
    Case("nan_to_num", lambda x: torch.nan_to_num(x).clamp(-4, 4), [ODD]),
    Case("nan_to_num of bounds", lambda x: torch.nan_to_num(x, 1.5, 3.0, -4.0), [ODD]),
    Case("nan_to_num of a computed value", lambda x: torch.nan_to_num(torch.log(x * 1.5), 0.5), [X]),
    Case("isclose", lambda x: torch.isclose(x * 1.5, x.exp(), atol=0.25), [X]),
    merge=True,
)

ACTIVATIONS = group(
    "activations",
    *[Case(name, getattr(F, name), [X])
      for name in ("relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish",
                   "softplus", "softsign", "hardtanh", "hardswish", "hardsigmoid",
                   "logsigmoid", "tanhshrink", "hardshrink", "softshrink")],
    Case("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), [X]),
    Case("leaky_relu slope", lambda x: F.leaky_relu(x, 0.3), [X]),
    Case("elu alpha", lambda x: F.elu(x, 1.7), [X]),
    Case("celu alpha", lambda x: F.celu(x, 1.7), [X]),
    Case("softplus beta", lambda x: F.softplus(x, 2.5, 30), [X]),
    Case("softplus threshold", lambda x: F.softplus(x, 1, 2), [X]),
    Case("threshold", lambda x: F.threshold(x, 0.1, -3), [X]),
    Case("rrelu", lambda x: F.rrelu(x), [X]),
    Case("prelu", F.prelu, [X, torch.tensor([0.25])]),
    Case("prelu of channels", F.prelu, [X, SLOPES], alone=True),
    Case("prelu of images", F.prelu, [rand(2, 5, 3, 2), SLOPES], alone=True),
    Case("glu", lambda x: F.glu(x, 0), [X], alone=True),
    Case("glu last", F.glu, [rand(3, 8)], alone=True),
    Case("dropout", lambda x: F.dropout(x, 0.5, training=False) + 1, [X]),
    merge=True,
)

A, B = rand(12, 20), rand(12, 20, seed=1)
ROW, COLUMN, DEEP = rand(20, seed=2), rand(12, 1, seed=3), rand(2, 1, 20, seed=4)
SCALAR = torch.tensor(0.75)
AWAY = B.sign() * (B.abs() + 0.5)
# Quotients that are integers, or nearly so.
TENTHS = torch.arange(-12, 12) / 8

BINARY = group(
    "binary",
    Case("add", torch.add, [A, B]),
    Case("add row", torch.add, [A, ROW]),
    Case("add column", torch.add, [COLUMN, A]),
    Case("add deep", torch.add, [A, DEEP]),
    Case("add 0-d", torch.add, [A, SCALAR]),
    Case("add number", lambda x: x + 0.1, [A]),
    Case("add alpha", lambda x, y: torch.add(x, y, alpha=0.3), [A, B]),
    Case("sub", torch.sub, [A, B]),
    Case("sub alpha", lambda x, y: torch.sub(x, y, alpha=2), [A, ROW]),
    Case("sub number", lambda x: x - 3, [A]),
    Case("rsub", lambda x, y: torch.rsub(x, y, alpha=2), [A, B]),
    Case("rsub number", lambda x: 2.5 - x, [A]),
    Case("mul", torch.mul, [A, B]),
    Case("mul outer", torch.mul, [ROW, COLUMN]),
    Case("mul number", lambda x: x * 0.1, [A]),
    Case("div", torch.div, [A, AWAY]),
    Case("div number", lambda x: x / 3, [A]),
    Case("div by column", torch.div, [A, AWAY[:, :1]]),
    *[Case(f"div {mode}", lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode), [A, AWAY])
      for mode in ("floor", "trunc")],
    Case("div floor of wholes", lambda x: torch.div(x, 0.125, rounding_mode="floor"), [TENTHS]),
    Case("div trunc of wholes", lambda x: torch.div(x, -0.125, rounding_mode="trunc"), [TENTHS]),
    Case("floor_divide", torch.floor_divide, [A, AWAY]),
    Case("remainder", torch.remainder, [TENTHS, -TENTHS.flip(0) - 0.25]),
    Case("remainder number", lambda x: x % 0.5, [TENTHS]),
    Case("fmod", torch.fmod, [TENTHS, TENTHS.flip(0) + 0.25]),
    Case("fmod number", lambda x: torch.fmod(x, 0.75), [TENTHS]),
    *[Case(f"pow {n}", lambda x, n=n: x**n, [AWAY]) for n in (0, 1, 2, 3, 4, -1)],
    *[Case(f"pow {n} of positive", lambda x, n=n: x**n, [ABOVE]) for n in (0.5, -0.5, 1.7)],
    Case("pow", torch.pow, [ABOVE, rand(5, seed=5)], roundings=4),
    Case("pow of number", lambda x: 1.5**x, [A]),
    Case("minimum", torch.minimum, [A, ROW]),
    Case("maximum", torch.maximum, [A, B]),
    *[Case(f"{name} of NaN", getattr(torch, name), [ODD, torch.zeros(7)])
      for name in ("minimum", "maximum", "fmin", "fmax")],
    Case("fmax", torch.fmax, [A, B]),
    Case("clamp", lambda x: x.clamp(-0.5, 0.75), [A]),
    Case("clamp min", lambda x: x.clamp(min=-0.25), [A]),
    Case("clamp max", lambda x: x.clamp(max=0.25), [A]),
    Case("clamp_min", lambda x: x.clamp_min(0.1), [A]),
    Case("clamp_max", lambda x: x.clamp_max(0.1), [A]),
    Case("clamp tensors", lambda x, y: x.clamp(y - 1, y), [A, ROW]),
    Case("clamp of NaN", lambda x: x.clamp(-1, 1), [ODD]),
    Case("lerp", torch.lerp, [A, B, COLUMN]),
    Case("lerp number", lambda x, y: torch.lerp(x, y, 0.3), [A, B]),
    Case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), [A, B, ROW]),
    Case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), [A, B, AWAY]),
    Case("chain", lambda x, y: torch.tanh(x * 0.5 + y) * torch.sigmoid(x - y), [A, ROW],
         roundings=4),
    merge=True,
)

BROADCASTS = group(
    "broadcasts",
    Case("row", torch.add, [A, ROW]),
    Case("column", torch.mul, [COLUMN, A]),
    Case("deep", torch.sub, [A, DEEP]),
    Case("outer", torch.mul, [ROW, COLUMN]),
    Case("0-d", torch.add, [A, SCALAR]),
    Case("0-d alone", lambda x: torch.exp(x) + 1, [SCALAR]),
    Case("where", lambda x, y, z: torch.where(x > 0, y, z), [COLUMN, ROW, DEEP]),
    Case("transposed", lambda x, y: x.t() * y, [A, ROW[:12]]),
    types=["fp32"],
)

I, J = integers(6, 8), integers(8, seed=1)
NONZERO = torch.where(J == 0, 3, J)
P, Q = rand(6, 8) > 0, rand(8, seed=1) > 0
SMALL = I.to(torch.int32)

INTEGERS = group(
    "integers",
    Case("add", torch.add, [I, J]),
    Case("sub alpha", lambda x, y: torch.sub(x, y, alpha=3), [I, J]),
    Case("rsub", lambda x: 7 - x, [I]),
    Case("mul", torch.mul, [I, J]),
    Case("mul by a float", lambda x: x * 0.5, [I]),
    Case("add to floats", torch.add, [I, ROW[:8]]),
    Case("large numbers", lambda x: x + (1 << 53) + 1, [I]),
    Case("div", torch.div, [I, NONZERO]),
    *[Case(f"div {mode}", lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode),
           [I, NONZERO]) for mode in ("floor", "trunc")],
    Case("floor_divide", lambda x: x // 3, [I]),
    Case("remainder", torch.remainder, [I, NONZERO]),
    Case("fmod", torch.fmod, [I, NONZERO]),
    *[Case(f"pow {n}", lambda x, n=n: x**n, [I]) for n in (0, 2, 5)],
    *[Case(name, getattr(torch, name), [I]) for name in ("neg", "abs", "sign", "exp")],
    Case("sqrt", lambda x: torch.sqrt(x * x), [I]),
    Case("floor", torch.floor, [I]),
    Case("minimum", torch.minimum, [I, J]),
    Case("clamp", lambda x: x.clamp(-3, 4), [I]),
    Case("relu", torch.relu, [I]),
    Case("i32", lambda x: (x + 2) * x, [SMALL]),
    Case("i32 with i64", torch.add, [SMALL, J]),
    Case("i32 remainder", lambda x: x % 4, [SMALL]),
    Case("isnan", torch.isnan, [I]),
    *[Case(f"{name} of booleans", getattr(torch, name), [P, Q])
      for name in ("logical_and", "logical_or", "logical_xor", "add", "mul", "minimum",
                   "maximum", "eq", "ne", "lt", "le", "gt", "ge")],
    Case("sign of booleans", torch.sign, [P]),
    Case("logical_not of booleans", torch.logical_not, [P]),
    Case("bitwise", lambda x, y: (x & y) | (x ^ ~y), [P, Q]),
    *[Case(f"bitwise_{name}", getattr(torch, f"bitwise_{name}"), [I, J])
      for name in ("and", "or", "xor", "left_shift", "right_shift")],
    Case("bitwise_not", torch.bitwise_not, [I]),
    Case("bits by operators", lambda x, y: ((x & 6) | (y ^ 3)) + (x << 2) + (y >> 1), [I, J]),
    Case("bits of i32", lambda x: (~x & 12) | (x << 31), [SMALL]),
    Case("booleans with integers", lambda p, x: p & x, [P, J]),
    Case("pow of tensors", torch.pow, [I, J.abs()]),
    Case("pow of small bases", lambda x, y: torch.pow(x, y), [I.sign() * (1 + (I > 0).long()), J * 16]),
    Case("pow of a number", lambda x: 2**x, [J.abs()]),
    Case("pow of i32", lambda x: x ** (x * x), [SMALL.clamp(-2, 3)]),
    Case("booleans with floats", lambda p, x: p * x, [P, ROW[:8]]),
    Case("logical_and of integers", torch.logical_and, [I, J]),
    Case("logical_not of floats", torch.logical_not, [ODD]),
    merge=True,
    types=["fp32"],
)

COMPARE = group(
    "compare",
    *[Case(name, getattr(torch, name), [A, A.roll(1, 0) * (B > 0) + A * (B <= 0)])
      for name in ("eq", "ne", "lt", "le", "gt", "ge")],
    *[Case(f"{name} number", lambda x, name=name: getattr(torch, name)(x, 0.5), [HALVES])
      for name in ("eq", "ne", "lt", "le", "gt", "ge")],
    *[Case(f"{name} of NaN", lambda x, name=name: getattr(torch, name)(x, 1), [ODD])
      for name in ("eq", "ne", "lt", "le", "gt", "ge")],
    *[Case(f"{name} integers", getattr(torch, name), [I, J]) for name in ("eq", "lt", "ge")],
    Case("gt 0.3", lambda x: x > 0.3, [HALVES]),
    Case("integers with a float", lambda x: x < 1.5, [I]),
    Case("floats with integers", torch.le, [ROW[:8], I]),
    Case("where", lambda x, y: torch.where(x > y, x, y), [A, ROW]),
    Case("where number", lambda p, x: torch.where(p, x, 0.1), [P, ROW[:8]]),
    Case("where number first", lambda p, x: torch.where(p, 0.1, x), [P, ROW[:8]]),
    Case("where numbers", lambda p: torch.where(p, 1.0, -2.0), [P]),
    Case("where integers", torch.where, [P, I, J]),
    Case("masked_fill", lambda x, p: x.masked_fill(p, -1.5), [rand(6, 8), P]),
    Case("masked_fill broadcast", lambda x, p: x.masked_fill(p, -math.inf), [rand(6, 8), Q]),
    Case("masked_fill tensor", lambda x, p, v: x.masked_fill(p, v), [rand(6, 8), P, SCALAR]),
    merge=True,
)

CASTS = group(
    "casts",
    Case("to half", lambda x: x.to(torch.float16) * 2, [A]),
    Case("to bfloat16", lambda x: x.bfloat16() * 2, [A]),
    Case("to float", lambda x: x.float() + 1, [A]),
    Case("to integers", lambda x: (x * 4).to(torch.int64), [HALVES]),
    Case("to i32", lambda x: (x * 4).int() + 1, [HALVES]),
    Case("to booleans", lambda x: x.bool(), [ODD]),
    Case("of booleans", lambda p, x: p.to(x.dtype) - x, [P, ROW[:8]]),
    Case("type_as", lambda i, x: i.type_as(x) / 2, [I, ROW[:8]]),
    Case("clone", lambda x: x.clone() + 1, [A]),
    Case("contiguous", lambda x: x.t().contiguous() + 1, [A]),
    Case("detach", lambda x: x.detach() + 1, [A]),
    Case("alias", lambda x: torch.ops.aten.alias(x) + 1, [A]),
    types=["fp32"],
)


@runs(UNARY, ACTIVATIONS, BINARY, COMPARE, BROADCASTS, INTEGERS, CASTS)
def test_pointwise(cases, dtype):
    check(cases, dtype)


def test_casts_round_where_they_are_written():
    class Casts(torch.nn.Module):
        def forward(self, x):
            return {"half": x.to(torch.float16), "through": x.to(torch.bfloat16).float() + 1}

    x = rand(33, 7)
    found = fact.compile(Casts(), (x,), target="host", candidates=1)(x)
    assert torch.equal(found["half"], x.half())
    assert torch.equal(found["through"], x.bfloat16().float() + 1)


def test_logarithms_of_the_smallest_numbers():
    """Numbers below 2^-126 have fewer bits, and logarithms of their own."""
    class Log(torch.nn.Module):
        def forward(self, x):
            return torch.log(x)

    x = torch.cat([2.0 ** torch.arange(-149, 128), torch.tensor([0.0, -1.0, math.inf, math.nan])])
    found = fact.compile(Log(), (x,), target="host", candidates=1)(x)
    exact = torch.log(x.double())
    torch.testing.assert_close(found.double(), exact, rtol=3e-7, atol=0, equal_nan=True)


def test_functions_are_exact_to_a_few_units_in_the_last_place():
    """GELUs, which cancel far below 0, to roundings of their argument."""
    class Functions(torch.nn.Module):
        def forward(self, x):
            return {"tanh": torch.tanh(x), "sigmoid": torch.sigmoid(x), "exp": torch.exp(x),
                    "gelu": F.gelu(x), "gelu_tanh": F.gelu(x, approximate="tanh"),
                    "silu": F.silu(x), "mish": F.mish(x)}

    near_zero = 2.0 ** torch.linspace(-40, 0, 4_001)
    x = torch.cat([torch.linspace(-12, 12, 50_001), near_zero, -near_zero,
                   torch.tensor([0.0, 80.0, -80.0, 1e30])])
    found = fact.compile(Functions(), (x,), target="host", candidates=1)(x)
    exact = Functions()(x.double())
    for name, result in found.items():
        scale = x.double() if "gelu" in name else exact[name]
        units = (result.double() - exact[name]).abs() / (scale.abs() * torch.finfo(x.dtype).eps)
        worst = units.nan_to_num(0).argmax()
        assert units[worst] < 2.5, (name, x[worst], units[worst])


def test_gelus_far_from_zero():
    """Nothing of an argument is left far below 0, however large it is."""
    class Gelu(torch.nn.Module):
        def forward(self, x):
            return F.gelu(x)

    x = torch.tensor([-30.0, -1e3, -1e9, -3e38, 30.0, 1e9, 3e38, math.inf, math.nan] * 3)
    found = fact.compile(Gelu(), (x,), target="host", candidates=1)(x)
    torch.testing.assert_close(found, x.clamp(min=0), rtol=0, atol=0, equal_nan=True)


def test_odd_functions_keep_the_sign_of_zero():
    class Functions(torch.nn.Module):
        def forward(self, x):
            return [torch.sin(x), torch.erf(x), torch.expm1(x), torch.tanh(x)]

    x = torch.cat([-torch.zeros(64), torch.zeros(64)])
    for found in fact.compile(Functions(), (x,), target="host", candidates=1)(x):
        assert torch.equal(found.signbit(), x.signbit())
