# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes and 16-bit integers as callers, weights and results have them."""

import copy

import pytest
import torch
from torch import nn

import fact


def ends(dtype, *shape):
    """Elements of the whole range of a type, with its ends."""
    info = torch.iinfo(dtype)
    values = torch.randint(info.min, info.max + 1, shape, dtype=dtype,
                           generator=torch.Generator().manual_seed(len(shape)))
    values.view(-1)[:3] = torch.tensor([info.min, info.max, 1])
    return values


class Packed(nn.Module):
    """Weights of four bits, two in a byte, with a scale and a zero for each group."""

    def __init__(self):
        super().__init__()
        self.register_buffer("packed", ends(torch.uint8, 24, 32))
        self.register_buffer("scales", torch.rand(24, 4, generator=torch.Generator().manual_seed(0)))
        self.register_buffer("zeros", ends(torch.uint8, 24, 4) % 16)

    def forward(self, x):
        digits = torch.stack([self.packed & 0xF, self.packed >> 4], -1).view(24, 4, 16)
        weight = (digits.to(x.dtype) - self.zeros[..., None]) * self.scales[..., None]
        return x @ weight.view(24, 64).t(), self.packed


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(ends(torch.int16, 6), requires_grad=False)
        self.register_buffer("offsets", ends(torch.int16, 6), persistent=False)

    def forward(self, x):
        return x * self.table + self.offsets, (x / 32768.0).clamp(-0.5, 0.5)


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = nn.Conv2d(3, 5, 3)

    def forward(self, image):
        y = self.filter((image.permute(0, 3, 1, 2) / 255.0 - 0.45) / 0.22)
        return y, (y * 40 + 128).clamp(0, 255).round().to(torch.uint8), 255 - image, image.float().mean()


def check(module, *inputs, apart=0):
    """Compares with the module; computed bytes may be this far apart, by a rounding before."""
    library = fact.compile(module.eval(), inputs, target="host")
    with torch.no_grad():
        for result, expected in zip(library(*inputs), module(*inputs), strict=True):
            exact = not expected.is_floating_point()
            torch.testing.assert_close(result, expected, rtol=0 if exact else 1e-5,
                                       atol=apart if exact else 1e-4)
    return library


def test_weights_of_four_bits():
    library = check(Packed(), torch.randn(5, 64))
    # A byte is a byte, for loaders too.
    assert library.weight("packed").dtype == torch.int8
    assert library.state()["packed"].dtype == torch.uint8
    other = Packed()
    other.packed.fill_(0xA7)
    library.set_weights(other)
    x = torch.randn(5, 64)
    torch.testing.assert_close(library(x)[0], other(x)[0], rtol=1e-5, atol=1e-4)


def test_weights_of_sixteen_bits():
    check(Words(), ends(torch.int16, 4, 6))


@pytest.mark.parametrize("order", ["rows", "transposed", "every second"])
def test_images_of_bytes(order):
    image = ends(torch.uint8, 2, 12, 12, 3)
    if order == "transposed":
        image = image.transpose(1, 2)
    elif order == "every second":
        image = ends(torch.uint8, 2, 24, 12, 6)[:, ::2, :, ::2]
    check(Image(), image, apart=1)


def test_bytes_that_change():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.full((4,), 100, dtype=torch.uint8))

        def forward(self, x):
            self.calls += 60
            x += self.calls
            return x * 2

    module, x = Counter(), ends(torch.uint8, 3, 4)
    library = fact.compile(copy.deepcopy(module), (x.clone(),), target="host")
    given = x.clone()
    for _ in range(4):
        assert torch.equal(library(given), module(x)) and torch.equal(given, x)
        assert torch.equal(library.state()["calls"], module.calls)


def test_words_that_change():
    class Changed(nn.Module):
        def forward(self, x):
            x += 1
            return x.float()

    with pytest.raises(fact.FactError, match="forward changes 'x' of type torch.int16: return"):
        fact.compile(Changed(), (ends(torch.int16, 4),), target="host")


def quantized(function, *inputs):
    class Module(nn.Module):
        def forward(self, *inputs):
            return [function(*inputs)]

    check(Module(), *inputs)


def test_fake_quantization():
    x = 3 * torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    scales, zeros = torch.rand(32) / 20 + 0.01, torch.randint(-5, 5, (32,), dtype=torch.int32)
    fake = torch.fake_quantize_per_tensor_affine
    for wide in (x, x.half()):
        quantized(lambda x: fake(x, 0.05, 3, -128, 127), wide)
    quantized(lambda x, scale, zero: fake(x, scale, zero, 0, 255), x, torch.tensor(0.1),
              torch.tensor(7, dtype=torch.int32))
    quantized(lambda x, scales, zeros: torch.fake_quantize_per_channel_affine(
        x, scales, zeros, 1, -128, 127), x, scales, zeros)


def test_quantization_of_exported_models():
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  It registers the ops.

    ops = torch.ops.quantized_decomposed
    x = 3 * torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    scales, zeros = torch.rand(32) / 20 + 0.01, torch.randint(-5, 5, (32,))
    one = 0.05, 3, -128, 127, torch.int8
    each = scales, zeros, 1, -128, 127, torch.int8
    quantized(lambda x: ops.quantize_per_tensor(x, 0.05, 3, 0, 255, torch.uint8), x)
    quantized(lambda x: ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *one), *one), x)
    quantized(lambda x: ops.dequantize_per_channel(ops.quantize_per_channel(x, *each), *each), x)


def test_booleans_as_numbers():
    x, ids = torch.randn(3, 8), torch.randint(0, 8, (3, 2))
    quantized(lambda x: (x > 0) & True, x)
    quantized(lambda ids: torch.zeros(3, 8, dtype=torch.bool).scatter_(1, ids, True), ids)
