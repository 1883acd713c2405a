# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, comparisons, types, integers and broadcasts."""

import copy

import torch
import torch.nn.functional as F
from torch import nn, randint, randn

from .registry import Function, case

SMALL, LARGE = (6, 20), (4096, 4096)

ACTIVATIONS = {
    "relu": nn.ReLU(), "relu6": nn.ReLU6(), "leaky_relu": nn.LeakyReLU(0.2), "elu": nn.ELU(0.7),
    "selu": nn.SELU(), "celu": nn.CELU(1.3), "gelu": nn.GELU(), "gelu_tanh": nn.GELU("tanh"),
    "silu": nn.SiLU(), "mish": nn.Mish(), "softplus": nn.Softplus(2.0, 10.0),
    "softsign": nn.Softsign(), "softshrink": nn.Softshrink(), "hardshrink": nn.Hardshrink(),
    "tanhshrink": nn.Tanhshrink(), "hardtanh": nn.Hardtanh(-0.5, 1.5),
    "hardsigmoid": nn.Hardsigmoid(), "hardswish": nn.Hardswish(), "tanh": nn.Tanh(),
    "sigmoid": nn.Sigmoid(), "logsigmoid": nn.LogSigmoid(), "glu": nn.GLU(),
    "glu_first": nn.GLU(0), "threshold": nn.Threshold(0.1, 20.0), "rrelu": nn.RReLU(),
    "prelu": nn.PReLU(),
}

for name, module in ACTIVATIONS.items():
    @case(SMALL, LARGE, name=name)
    def activation(n, d, module=module):
        return copy.deepcopy(module), randn(n, d)


def pointwise(name, function, *, count=1, bf16=True, draw=randn, small=SMALL, large=LARGE):
    """A case of several inputs of these sizes."""

    @case(small, large, bf16=bf16, name=name)
    def build(*sizes):
        return Function(function), *(draw(sizes) for _ in range(count))


def positive(sizes):
    return torch.rand(sizes) + 0.1


def whole(sizes):
    return randint(-50, 50, sizes)


@case((2, 6, 5), (32, 512, 1024))
def prelu_of_channels(b, c, n):
    return nn.PReLU(c), randn(b, c, n)


# Functions and formulas.

pointwise("exp_log", lambda x: torch.log(torch.exp(x) + 1))
pointwise("logarithms", lambda x: torch.log2(x) + torch.log10(x) * torch.log1p(x), draw=positive)
pointwise("powers", lambda x: x ** 3 + x ** 2 - x ** 0.5 + x ** -1, draw=positive)
pointwise("power_of_tensor", torch.pow, count=2, draw=positive)
pointwise("roots", lambda x: torch.sqrt(x) * torch.rsqrt(x + 1), draw=positive)
pointwise("sines", lambda x: torch.sin(x) * torch.cos(x) + torch.tan(0.1 * x))
pointwise("inverse_sines", lambda x: torch.asin(x / 2) + torch.acos(x / 2) + torch.atan(x),
          draw=positive)
pointwise("hyperbolic", lambda x: torch.sinh(x) + torch.cosh(x) - torch.asinh(x))
pointwise("atan2", torch.atan2, count=2)
pointwise("erf_and_expm1", lambda x: torch.erf(x) * torch.expm1(x))
pointwise("erfc", torch.erfc)
pointwise("erfinv", lambda x: torch.erfinv(torch.tanh(x)), bf16=False)
pointwise("lgamma", torch.lgamma, draw=positive)
pointwise("digamma", torch.digamma, draw=positive, bf16=False)
pointwise("bessel_i0", torch.special.i0, bf16=False)
pointwise("normal_distribution", lambda x: torch.special.ndtr(x) + torch.special.log_ndtr(x), bf16=False)
pointwise("rounding", lambda x: torch.floor(x) + torch.ceil(x) * torch.round(x) - torch.trunc(x))
pointwise("fraction_and_sign", lambda x: torch.frac(x) * torch.sign(x) + torch.abs(x))
pointwise("remainders", lambda x, y: torch.fmod(x, 0.7) + torch.remainder(x, y), count=2, draw=positive)
pointwise("lerp", lambda x, y, t: torch.lerp(x, y, t), count=3)
pointwise("hypot", torch.hypot, count=2)
pointwise("sinc", torch.sinc)
pointwise("logit", lambda x: torch.logit(x * 0.9), draw=lambda sizes: torch.rand(sizes) * 0.9 + 0.05)
pointwise("nan_to_num", lambda x: torch.nan_to_num(torch.log(x), 0.0, 9.0, -9.0))
pointwise("xlogy", torch.xlogy, count=2, draw=positive)
pointwise("logaddexp", torch.logaddexp, count=2)
pointwise("addcmul_addcdiv", lambda x, y, z: torch.addcdiv(torch.addcmul(x, y, z, value=0.5), y,
                                                            z.abs() + 1), count=3)
pointwise("new_gelu", lambda x: 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3))))
pointwise("many_inputs", lambda a, b, c, d, e, f: (a * b + c) * torch.sigmoid(d) - e / (f.abs() + 1),
          count=6, large=(2048, 2048))
pointwise("vector_of_odd_length", lambda x: torch.tanh(x) * 2, small=(37,), large=(10_000_019,))
pointwise("scalar", lambda x: x * 2 + 1, small=(), large=())

# Clamps and comparisons.

pointwise("clamp_both", lambda x: torch.clamp(x, -0.5, 0.5))
pointwise("clamp_tensors", lambda x, low, high: torch.clamp(x, low, high), count=3)
pointwise("maximum_minimum", lambda x, y: torch.maximum(x, y) - torch.minimum(x, 0.5 * y), count=2)
pointwise("where", lambda x, y: torch.where(x > y, x, y * 2), count=2)
pointwise("comparisons", lambda x, y: (x > y, x <= y, x == y, x.isnan(), ~(x < 0) & (y > 0)), count=2)
pointwise("where_number", lambda x: torch.where((x > 0) | (x < -1), x, 0.0))
pointwise("heaviside", torch.heaviside, count=2)
pointwise("between", lambda x: torch.logical_and(x > -1, x < 1).float().mul(x))
pointwise("isclose", lambda x, y: torch.isclose(x, y, atol=0.1), count=2)

# Types.

pointwise("to_half_and_back", lambda x: (x.half() * 2).float(), bf16=False)
pointwise("to_double", lambda x: x.double() * 3, bf16=False)
pointwise("to_integers", lambda x: (10 * x).int(), bf16=False)
pointwise("to_bool", lambda x: x.bool(), bf16=False)
pointwise("mixed_types", lambda x, y: x + y.to(torch.bfloat16), count=2, bf16=False)
pointwise("quantized", lambda x: torch.clamp(torch.round(x / 0.05), -128, 127).to(torch.int8),
          bf16=False)
pointwise("to_bytes", lambda x: (x.clamp(0, 1) * 255).to(torch.uint8), bf16=False)

# Integers.

pointwise("integer_arithmetic", lambda x, y: x * y + x // 7 - y % 5, count=2, bf16=False, draw=whole)
pointwise("integer_bits", lambda x, y: (x & y) ^ (x | 3) << 2 >> 1, count=2, bf16=False, draw=whole)
pointwise("integer_comparison", lambda x, y: torch.where(x > y, x, -y).abs(), count=2, bf16=False,
          draw=whole)
pointwise("integer_to_float", lambda x: x / 3 + x.float().sqrt().nan_to_num(), bf16=False, draw=whole)
pointwise("integer_hash", lambda x: (x * 2654435761 + 97).remainder(1024), bf16=False, draw=whole)
pointwise("integer_floor_division", lambda x: torch.div(x, 4, rounding_mode="floor"), bf16=False,
          draw=whole)

# Broadcasts and copies.


@case((6, 5, 4), (64, 512, 512))
def broadcast_three_ways(a, b, c):
    return (Function(lambda x, y, z: x * y + z), randn(a, 1, c), randn(b, 1), randn(a, b, c))


@case((6, 8), (4096, 4096))
def outer_sum(n, d):
    return Function(lambda x, y: torch.relu(x[:, None] - y[None, :])), randn(n), randn(d)


@case((6, 8), (4096, 4096))
def transposed_sum(n, d):
    return Function(lambda x, y: x + y.t()), randn(n, d), randn(d, n)


@case((3, 4, 5, 6), (16, 128, 64, 128))
def permuted(a, b, c, d):
    return Function(lambda x: x.permute(0, 2, 3, 1).contiguous() * 2), randn(a, b, c, d)


@case((4, 6), (2048, 4096))
def concatenated(n, d):
    return (Function(lambda x, y: torch.cat([x, torch.relu(y), x * y], 1)), randn(n, d), randn(n, d))


@case((4, 6), (2048, 4096))
def stacked(n, d):
    return Function(lambda x, y: torch.stack([x, y], -1).flatten(1)), randn(n, d), randn(n, d)


@case((4, 6), (4096, 4096))
def strided(n, d):
    return Function(lambda x: x[::2, 1::2] + x[1::2, ::2]), randn(n, d)


@case((4, 6), (2048, 2048))
def padded(n, d):
    return Function(lambda x: F.pad(x, (1, 2, 3, 0), value=0.5)), randn(n, d)


@case((2, 3, 6, 6), (32, 16, 128, 128))
def reflected(b, c, h, w):
    return Function(lambda x: F.pad(x, (1, 1, 2, 2), mode="reflect")), randn(b, c, h, w)


@case((2, 8, 4, 4), (16, 256, 64, 64))
def pixel_shuffle(b, c, h, w):
    return nn.PixelShuffle(2), randn(b, c, h, w)


@case((4, 6), (2048, 2048))
def repeated(n, d):
    return Function(lambda x: x.repeat(2, 3) + x.repeat_interleave(3, 1).repeat(2, 1)), randn(n, d)


@case((5, 6), (4096, 4096))
def triangles(n, d):
    return Function(lambda x: torch.tril(x, -1) - torch.triu(x, 2)), randn(n, d)


@case((4, 8), (4096, 4096))
def split_and_swapped(n, d):
    return Function(lambda x: torch.cat(x.split([d // 4, d - d // 4], 1)[::-1], 1)), randn(n, d)


@case((4, 8), (4096, 2048))
def several_results(n, d):
    return Function(lambda x: (x + 1, x.t() * 2, {"square": x * x})), randn(n, d)


@case((4, 8), (4096, 4096))
def updated_in_place(n, d):
    def function(x):
        y = x.clone()
        y[:, 0] = 1
        y[1:3].mul_(2)
        return y.add_(x)

    return Function(function), randn(n, d)


@case((4, 8, 3), (256, 256, 256))
def meshgrid(n, m, k):
    return (Function(lambda x, y, z: sum(torch.meshgrid(x, y, z, indexing="ij"))), randn(n), randn(m),
            randn(k))


@case((2, 3, 8, 8), (16, 64, 128, 128))
def max_pool(b, c, h, w):
    return nn.MaxPool2d(3, 2, 1), randn(b, c, h, w)


@case((2, 3, 8, 8), (16, 64, 128, 128))
def adaptive_max_pool(b, c, h, w):
    return nn.AdaptiveMaxPool2d(4), randn(b, c, h, w)


@case((2, 8, 4, 4), (16, 256, 64, 64))
def channel_shuffle(b, c, h, w):
    return nn.ChannelShuffle(4), randn(b, c, h, w)


@case((2, 3, 8, 8), (16, 16, 128, 128))
def image_patches(b, c, h, w):
    return nn.Unfold(4, stride=4), randn(b, c, h, w)


@case((2, 3, 8, 8), (16, 16, 128, 128))
def upsampled_bicubic(b, c, h, w):
    return nn.Upsample(scale_factor=2, mode="bicubic"), randn(b, c, h, w)


@case((2, 3, 8, 8), (8, 16, 128, 128), bf16=False)
def grid_sample(b, c, h, w):
    return (Function(lambda x, grid: F.grid_sample(x, grid, align_corners=False)), randn(b, c, h, w),
            torch.rand(b, h, w, 2) * 2 - 1)


@case((2, 3, 8, 8), (16, 64, 128, 128))
def average_pool(b, c, h, w):
    return nn.AvgPool2d(2), randn(b, c, h, w)


@case((2, 3, 8, 8), (16, 16, 128, 128))
def upsampled_bilinear(b, c, h, w):
    return nn.Upsample(scale_factor=2, mode="bilinear"), randn(b, c, h, w)


@case((2, 3, 8, 8), (16, 16, 128, 128))
def upsampled_nearest(b, c, h, w):
    return nn.Upsample(scale_factor=2), randn(b, c, h, w)
