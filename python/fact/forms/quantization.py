# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization as exported: numbers are rounded to digits, digits are scaled back."""

from __future__ import annotations

import torch

from .table import aten, form


@form(aten.fake_quantize_per_tensor_affine.default, aten.fake_quantize_per_tensor_affine.tensor_qparams)
def fake_quantize_per_tensor_affine(x, scale, zero_point, quant_min, quant_max):
    digits = _digits(x.float(), scale, zero_point, quant_min, quant_max)
    return ((digits - zero_point) * scale).to(x.dtype)


@form(aten.fake_quantize_per_channel_affine.default)
def fake_quantize_per_channel_affine(x, scale, zero_point, axis, quant_min, quant_max):
    return fake_quantize_per_tensor_affine(x, _along(x, scale, axis), _along(x, zero_point, axis),
                                           quant_min, quant_max)


# Of models that torchao, or PyTorch's export quantization, has converted.


@form("quantized_decomposed.quantize_per_tensor.default", "quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor(x, scale, zero_point, quant_min, quant_max, dtype):
    return _digits(x.float(), scale, zero_point, quant_min, quant_max).to(dtype)


@form("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(x, scales, zero_points, axis, quant_min, quant_max, dtype):
    return quantize_per_tensor(x, _along(x, scales, axis), _along(x, zero_points, axis),
                               quant_min, quant_max, dtype)


@form("quantized_decomposed.dequantize_per_tensor.default",
      "quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_per_tensor(x, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype=None):
    return ((x.to(torch.float32) - zero_point) * scale).to(out_dtype or torch.float32)


@form("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(x, scales, zero_points, axis, quant_min, quant_max, dtype, *,
                           out_dtype=None):
    zero_points = 0 if zero_points is None else _along(x, zero_points, axis)
    return dequantize_per_tensor(x, _along(x, scales, axis), zero_points, quant_min, quant_max, dtype,
                                 out_dtype=out_dtype)


def _digits(x, scale, zero_point, low, high):
    return ((x * (1.0 / scale)).round() + zero_point).clamp(low, high)


def _along(x, values, axis):
    """One value for each channel, along an axis of x."""
    shape = [1] * x.dim()
    shape[axis] = -1
    return values.view(shape)
