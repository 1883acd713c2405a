# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional classifiers: a block or two of each kind that the published ones have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CLASSES = 10


def conv_norm(channels: int, filters: int, kernel=3, stride=1, groups=1, dilation=1,
              activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """A convolution that keeps sizes but for its stride, a batch norm and an activation."""
    sides = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = tuple(dilation * (side // 2) for side in sides)
    return nn.Sequential(nn.Conv2d(channels, filters, sides, stride, padding, dilation, groups,
                                   bias=False), nn.BatchNorm2d(filters), activation())


def head(channels: int, classes: int = CLASSES) -> nn.Sequential:
    """Classes of the average over space."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(),
                         nn.Linear(channels, classes))


class Residual(nn.Module):
    """The sum of a module's result and its operand, or what `shortcut` makes of it."""

    def __init__(self, body: nn.Module, shortcut: nn.Module | None = None,
                 activation: type[nn.Module] = nn.Identity):
        super().__init__()
        self.body, self.shortcut, self.activation = body, shortcut or nn.Identity(), activation()

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.body(x) + self.shortcut(x))


class Branches(nn.Module):
    """The channels of several modules' results."""

    def __init__(self, *branches: nn.Module):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int, inner: int, activation: type[nn.Module] = nn.ReLU,
                 gate: type[nn.Module] = nn.Sigmoid):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, inner, 1),
                                  activation(), nn.Conv2d(inner, channels, 1), gate())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


def lenet() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5),
                         nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.Tanh(),
                         nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, CLASSES))


def alexnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 11, 4, 2), nn.ReLU(inplace=True), nn.LocalResponseNorm(5),
        nn.MaxPool2d(3, 2), nn.Conv2d(16, 32, 5, padding=2, groups=2), nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2), nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(48, 32, 3, padding=1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Dropout(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, CLASSES))


def vgg() -> nn.Module:
    layers, channels = [], 3
    for filters in (16, 16, "pool", 32, 32, "pool", 64, "pool"):
        if filters == "pool":
            layers.append(nn.MaxPool2d(2, 2))
        else:
            layers.append(conv_norm(channels, filters))
            channels = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, 64),
                         nn.ReLU(), nn.Dropout(), nn.Linear(64, CLASSES))


def _resnet(block: Callable[[int, int, int], nn.Module], widths: Sequence[int]) -> nn.Module:
    stages = [block(before, after, 1 + bool(index))
              for index, (before, after) in enumerate(zip((16, *widths), widths))]
    return nn.Sequential(conv_norm(3, 16, 7, 2), nn.MaxPool2d(3, 2, 1), *stages, head(widths[-1]))


def _shortcut(channels: int, filters: int, stride: int) -> nn.Module | None:
    if stride == 1 and channels == filters:
        return None
    return conv_norm(channels, filters, 1, stride, activation=nn.Identity)


def basic(channels: int, filters: int, stride: int) -> nn.Module:
    body = nn.Sequential(conv_norm(channels, filters, 3, stride),
                         conv_norm(filters, filters, activation=nn.Identity))
    return Residual(body, _shortcut(channels, filters, stride), nn.ReLU)


def bottleneck(channels: int, filters: int, stride: int, inner: int | None = None,
               groups: int = 1) -> nn.Module:
    inner = inner or filters // 4
    body = nn.Sequential(conv_norm(channels, inner, 1),
                         conv_norm(inner, inner, 3, stride, groups),
                         conv_norm(inner, filters, 1, activation=nn.Identity))
    return Residual(body, _shortcut(channels, filters, stride), nn.ReLU)


def resnet_basic() -> nn.Module:
    return _resnet(basic, (16, 32, 64))


def resnet_bottleneck() -> nn.Module:
    return _resnet(bottleneck, (32, 64, 128))


class DenseBlock(nn.Module):
    """Each layer reads the channels of all before it."""

    def __init__(self, channels: int, growth: int, layers: int, inner: int = 2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(
            nn.BatchNorm2d(channels + i * growth), nn.ReLU(),
            conv_norm(channels + i * growth, inner * growth, 1),
            nn.Conv2d(inner * growth, growth, 3, padding=1, bias=False)) for i in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


def densenet() -> nn.Module:
    return nn.Sequential(
        conv_norm(3, 16, 7, 2), nn.MaxPool2d(3, 2, 1), DenseBlock(16, 8, 3), nn.BatchNorm2d(40),
        nn.ReLU(), nn.Conv2d(40, 20, 1, bias=False), nn.AvgPool2d(2), DenseBlock(20, 8, 2),
        nn.BatchNorm2d(36), nn.ReLU(), head(36))


def inception() -> nn.Module:
    mixed = Branches(conv_norm(24, 16, 1),
                     nn.Sequential(conv_norm(24, 12, 1), conv_norm(12, 16, 5)),
                     nn.Sequential(conv_norm(24, 16, 1), conv_norm(16, 24), conv_norm(24, 24)),
                     nn.Sequential(nn.AvgPool2d(3, 1, 1), conv_norm(24, 8, 1)))
    factored = Branches(conv_norm(64, 24, 1),
                        nn.Sequential(conv_norm(64, 16, 1), conv_norm(16, 16, (1, 7)),
                                      conv_norm(16, 24, (7, 1))),
                        nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_norm(64, 16, 1)))
    reduction = Branches(conv_norm(64, 32, 3, 2), nn.MaxPool2d(3, 2, 1))
    return nn.Sequential(conv_norm(3, 16, 3, 2), conv_norm(16, 24), nn.MaxPool2d(3, 2), mixed,
                         factored, reduction, head(96))


def fire(channels: int, squeezed: int, expanded: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, squeezed, 1), nn.ReLU(),
        Branches(nn.Sequential(nn.Conv2d(squeezed, expanded, 1), nn.ReLU()),
                 nn.Sequential(nn.Conv2d(squeezed, expanded, 3, padding=1), nn.ReLU())))


def squeezenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), fire(16, 8, 16),
        fire(32, 8, 16), nn.MaxPool2d(3, 2, ceil_mode=True), fire(32, 12, 24), nn.Dropout(),
        nn.Conv2d(48, CLASSES, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def separable(channels: int, filters: int, stride: int) -> nn.Module:
    return nn.Sequential(conv_norm(channels, channels, 3, stride, channels),
                         conv_norm(channels, filters, 1))


def mobilenet_v1() -> nn.Module:
    return nn.Sequential(conv_norm(3, 16, 3, 2), separable(16, 32, 1), separable(32, 64, 2),
                         separable(64, 64, 1), separable(64, 96, 2), head(96))


def inverted(channels: int, filters: int, expansion: int, kernel=3, stride=1,
             activation: type[nn.Module] = nn.ReLU6, gate: nn.Module | None = None) -> nn.Module:
    """A depthwise convolution between pointwise ones, the first of which widens."""
    inner = channels * expansion
    body = nn.Sequential(conv_norm(channels, inner, 1, activation=activation),
                         conv_norm(inner, inner, kernel, stride, inner, activation=activation),
                         gate or nn.Identity(),
                         conv_norm(inner, filters, 1, activation=nn.Identity))
    return Residual(body) if stride == 1 and channels == filters else body


def mobilenet_v2() -> nn.Module:
    return nn.Sequential(conv_norm(3, 16, 3, 2, activation=nn.ReLU6), inverted(16, 16, 2),
                         inverted(16, 24, 4, stride=2), inverted(24, 24, 4),
                         inverted(24, 32, 4, stride=2),
                         conv_norm(32, 96, 1, activation=nn.ReLU6), head(96))


def mobilenet_v3() -> nn.Module:
    def gate(channels):
        return SqueezeExcite(channels, channels // 4, gate=nn.Hardsigmoid)

    return nn.Sequential(
        conv_norm(3, 16, 3, 2, activation=nn.Hardswish),
        inverted(16, 16, 2, stride=2, activation=nn.ReLU, gate=gate(32)),
        inverted(16, 24, 3, activation=nn.ReLU),
        inverted(24, 24, 3, 5, activation=nn.Hardswish, gate=gate(72)),
        inverted(24, 40, 3, 5, 2, nn.Hardswish, gate(72)),
        conv_norm(40, 96, 1, activation=nn.Hardswish),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 64), nn.Hardswish(),
        nn.Linear(64, CLASSES))


def gated_inverted(channels: int, filters: int, expansion: int, kernel: int,
                   stride: int) -> nn.Module:
    gate = SqueezeExcite(channels * expansion, max(channels // 4, 1), nn.SiLU)
    return inverted(channels, filters, expansion, kernel, stride, nn.SiLU, gate)


def efficientnet_b0() -> nn.Module:
    block = gated_inverted
    return nn.Sequential(conv_norm(3, 16, 3, 2, activation=nn.SiLU), block(16, 16, 1, 3, 1),
                         block(16, 24, 4, 3, 2), block(24, 24, 4, 5, 1), block(24, 40, 4, 5, 2),
                         conv_norm(40, 96, 1, activation=nn.SiLU), head(96))


class ShuffleUnit(nn.Module):
    """Half of the channels pass by; with a stride, both halves are computed from all."""

    def __init__(self, channels: int, stride: int):
        super().__init__()
        inner = channels // 2 if stride == 1 else channels
        self.right = nn.Sequential(
            conv_norm(inner, inner, 1),
            conv_norm(inner, inner, 3, stride, inner, activation=nn.Identity),
            conv_norm(inner, inner, 1))
        self.left = None if stride == 1 else nn.Sequential(
            conv_norm(inner, inner, 3, stride, inner, activation=nn.Identity),
            conv_norm(inner, inner, 1))

    def forward(self, x: Tensor) -> Tensor:
        if self.left is None:
            left, right = x.chunk(2, 1)
        else:
            left, right = self.left(x), x
        return F.channel_shuffle(torch.cat([left, self.right(right)], 1), 2)


def shufflenet() -> nn.Module:
    return nn.Sequential(conv_norm(3, 16, 3, 2), nn.MaxPool2d(3, 2, 1), ShuffleUnit(16, 2),
                         ShuffleUnit(32, 1), ShuffleUnit(32, 2), ShuffleUnit(64, 1),
                         conv_norm(64, 96, 1), head(96))


def grouped(channels: int, filters: int, stride: int) -> nn.Module:
    body = nn.Sequential(conv_norm(channels, filters, 1),
                         conv_norm(filters, filters, 3, stride, filters // 8),
                         SqueezeExcite(filters, channels // 4),
                         conv_norm(filters, filters, 1, activation=nn.Identity))
    return Residual(body, _shortcut(channels, filters, stride), nn.ReLU)


def regnet() -> nn.Module:
    return nn.Sequential(conv_norm(3, 16, 3, 2), grouped(16, 24, 2), grouped(24, 24, 1),
                         grouped(24, 48, 2), head(48))


class ChannelNorm(nn.LayerNorm):
    """A layer norm of the channels of images."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.mlp = nn.Sequential(nn.LayerNorm(channels, 1e-6), nn.Linear(channels, 4 * channels),
                                 nn.GELU(), nn.Linear(4 * channels, channels))
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.mlp(self.depthwise(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return x + self.scale * y


def convnext() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 24, 4, 4), ChannelNorm(24), ConvNeXtBlock(24),
                         ChannelNorm(24), nn.Conv2d(24, 48, 2, 2), ConvNeXtBlock(48),
                         nn.AdaptiveAvgPool2d(1), ChannelNorm(48), nn.Flatten(),
                         nn.Linear(48, CLASSES))
