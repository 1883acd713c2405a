# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional networks at their published sizes, of the blocks of `test/models`.

Sizes are images, pixels of a side, the width (64 as published) and the most blocks of a stage.
"""

import functools

import torch
from torch import nn, randint, randn

from models import convolutional
from models.classifiers import (
    Branches,
    ChannelNorm,
    ConvNeXtBlock,
    DenseBlock,
    Residual,
    ShuffleUnit,
    SqueezeExcite,
    basic,
    bottleneck,
    conv_norm,
    fire,
    gated_inverted,
    grouped,
    head,
    inverted,
    separable,
)

from . import registry

# Compilers have no use for their data.
case = functools.partial(registry.case, data=False)
CLASSES = 1000
FULL = 64
SMALL, LARGE = (1, 32, 8, 1), (32, 224, FULL, 40)


def images(n, size, channels=3):
    return randn(n, channels, size, size)


def scaled(width, *channels):
    return [max(8, count * width // FULL) for count in channels]


def repeated(block, channels, stages, most):
    """Stages of (filters, blocks, stride of the first); the channels at the end as well."""
    layers = []
    for filters, count, stride in stages:
        for index in range(min(count, most)):
            layers.append(block(channels, filters, 1 if index else stride))
            channels = filters
    return layers, channels


def classifier(first, block, channels, stages, most, last=None, activation=nn.ReLU):
    layers, channels = repeated(block, channels, stages, most)
    if last:
        layers.append(conv_norm(channels, last, 1, activation=activation))
        channels = last
    return nn.Sequential(*first, *layers, head(channels, CLASSES))


# Classifiers.


@case((2, 8), (4096, 64))
def lenet(n, width):
    first, second, third, fourth = scaled(width, 6, 16, 120, 84)
    pixels = 25 * second
    return nn.Sequential(nn.Conv2d(1, first, 5), nn.Tanh(), nn.AvgPool2d(2),
                         nn.Conv2d(first, second, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
                         nn.Linear(pixels, third), nn.Tanh(), nn.Linear(third, fourth), nn.Tanh(),
                         nn.Linear(fourth, 10)), images(n, 32, 1)


@case((1, 96, 8), (256, 224, FULL))
def alexnet(n, size, width):
    a, b, c, d, inner = scaled(width, 64, 192, 384, 256, 4096)
    return nn.Sequential(
        nn.Conv2d(3, a, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(a, b, 5, padding=2),
        nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(b, c, 3, padding=1), nn.ReLU(),
        nn.Conv2d(c, d, 3, padding=1), nn.ReLU(), nn.Conv2d(d, d, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten(), nn.Dropout(),
        nn.Linear(36 * d, inner), nn.ReLU(), nn.Dropout(), nn.Linear(inner, inner), nn.ReLU(),
        nn.Linear(inner, CLASSES)), images(n, size)


@case(SMALL, LARGE)
def vgg(n, size, width, most):
    layers, channels = [], 3
    for filters, count in zip(scaled(width, 64, 128, 256, 512, 512), (2, 2, 3, 3, 3)):
        for _ in range(min(count, most)):
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            channels = filters
        layers.append(nn.MaxPool2d(2))
    inner = scaled(width, 4096)[0]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(),
                         nn.Linear(49 * channels, inner), nn.ReLU(), nn.Dropout(),
                         nn.Linear(inner, inner), nn.ReLU(), nn.Dropout(),
                         nn.Linear(inner, CLASSES)), images(n, size)


def residual(block, width, most, expansion, counts):
    stem = scaled(width, 64)[0]
    stages = [(filters * expansion, count, 1 + bool(index)) for index, (filters, count)
              in enumerate(zip(scaled(width, 64, 128, 256, 512), counts))]
    return classifier([conv_norm(3, stem, 7, 2), nn.MaxPool2d(3, 2, 1)], block, stem, stages, most)


@case(SMALL, LARGE)
def resnet18(n, size, width, most):
    return residual(basic, width, most, 1, (2, 2, 2, 2)), images(n, size)


@case(SMALL, LARGE)
def resnet50(n, size, width, most):
    return residual(bottleneck, width, most, 4, (3, 4, 6, 3)), images(n, size)


@case((1, 32, 16, 1), LARGE)
def resnext50(n, size, width, most):
    block = lambda channels, filters, stride: bottleneck(channels, filters, stride, filters // 2, 8)
    return residual(block, width, most, 4, (3, 4, 6, 3)), images(n, size)


@case((1, 64, 8, 2), LARGE)
def densenet121(n, size, width, most):
    channels, growth = scaled(width, 64, 32)
    layers = [conv_norm(3, channels, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for stage, count in enumerate((6, 12, 24, 16)):
        if stage:
            layers += [nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
        layers.append(DenseBlock(channels, growth, min(count, most), 4))
        channels += growth * min(count, most)
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
    return nn.Sequential(*layers, head(channels, CLASSES)), images(n, size)


# Filters of the four branches, with those before a 3x3 and a 5x5 convolution.
INCEPTIONS = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), "pool",
              (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
              (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128), "pool",
              (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128))


@case(SMALL, LARGE)
def googlenet(n, size, width, most):
    stem, channels = scaled(width, 64, 192)
    layers = [conv_norm(3, stem, 7, 2), nn.MaxPool2d(3, 2, 1), conv_norm(stem, stem, 1),
              conv_norm(stem, channels), nn.MaxPool2d(3, 2, 1)]
    blocks = 0
    for branches in INCEPTIONS:
        if branches == "pool":
            layers.append(nn.MaxPool2d(3, 2, 1))
            blocks = 0
        elif blocks < most:
            one, before_three, three, before_five, five, pooled = scaled(width, *branches)
            layers.append(Branches(
                conv_norm(channels, one, 1),
                nn.Sequential(conv_norm(channels, before_three, 1), conv_norm(before_three, three)),
                nn.Sequential(conv_norm(channels, before_five, 1), conv_norm(before_five, five, 5)),
                nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_norm(channels, pooled, 1))))
            channels, blocks = one + three + five + pooled, blocks + 1
    return nn.Sequential(*layers, head(channels, CLASSES)), images(n, size)


@case((1, 64, 8), (64, 224, FULL))
def squeezenet(n, size, width):
    layers, channels = [], scaled(width, 64)[0]
    layers += [nn.Conv2d(3, channels, 3, 2), nn.ReLU()]
    for step in ("pool", (16, 64), (16, 64), "pool", (32, 128), (32, 128), "pool", (48, 192),
                 (48, 192), (64, 256), (64, 256)):
        if step == "pool":
            layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
        else:
            squeezed, expanded = scaled(width, *step)
            layers.append(fire(channels, squeezed, expanded))
            channels = 2 * expanded
    return nn.Sequential(*layers, nn.Dropout(), nn.Conv2d(channels, CLASSES, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten()), images(n, size)


@case(SMALL, LARGE)
def mobilenet_v1(n, size, width, most):
    stem, *widths = scaled(width, 32, 64, 128, 256, 512, 1024)
    stages = list(zip(widths, (1, 2, 2, 6, 2), (1, 2, 2, 2, 2)))
    return classifier([conv_norm(3, stem, 3, 2)], separable, stem, stages, most), images(n, size)


@case(SMALL, LARGE)
def mobilenet_v2(n, size, width, most):
    stem, *widths, last = scaled(width, 32, 16, 24, 32, 64, 96, 160, 320, 1280)
    block = lambda channels, filters, stride: inverted(channels, filters, 6, stride=stride)
    stages = list(zip(widths, (1, 2, 3, 4, 3, 3, 1), (1, 2, 2, 2, 1, 2, 1)))
    return classifier([conv_norm(3, stem, 3, 2, activation=nn.ReLU6)], block, stem, stages, most,
                      last, nn.ReLU6), images(n, size)


@case(SMALL, LARGE)
def mobilenet_v3(n, size, width, most):
    def block(channels, filters, stride):
        gate = SqueezeExcite(4 * channels, channels, gate=nn.Hardsigmoid)
        return inverted(channels, filters, 4, 5, stride, nn.Hardswish, gate)

    stem, *widths, last = scaled(width, 16, 16, 24, 40, 48, 96, 576)
    stages = list(zip(widths, (1, 2, 3, 2, 3), (2, 2, 2, 1, 2)))
    return classifier([conv_norm(3, stem, 3, 2, activation=nn.Hardswish)], block, stem, stages, most,
                      last, nn.Hardswish), images(n, size)


@case(SMALL, LARGE)
def efficientnet_b0(n, size, width, most):
    stem, *widths, last = scaled(width, 32, 16, 24, 40, 80, 112, 192, 320, 1280)
    kernels = dict(zip(widths, (3, 3, 5, 3, 5, 5, 3)))
    block = lambda channels, filters, stride: gated_inverted(
        channels, filters, 1 if channels == stem else 6, kernels[filters], stride)
    stages = list(zip(widths, (1, 2, 2, 3, 3, 4, 1), (1, 2, 2, 2, 1, 2, 1)))
    return classifier([conv_norm(3, stem, 3, 2, activation=nn.SiLU)], block, stem, stages, most,
                      last, nn.SiLU), images(n, size)


@case(SMALL, LARGE)
def shufflenet(n, size, width, most):
    channels, last = scaled(width, 24, 1024)
    layers = [conv_norm(3, channels, 3, 2), nn.MaxPool2d(3, 2, 1)]
    for count in (4, 8, 4):
        layers.append(ShuffleUnit(channels, 2))
        channels *= 2
        layers += [ShuffleUnit(channels, 1) for _ in range(min(count, most) - 1)]
    return nn.Sequential(*layers, conv_norm(channels, last, 1), head(last, CLASSES)), images(n, size)


@case((1, 32, 16, 1), LARGE)
def regnet(n, size, width, most):
    stem, *widths = (count // 8 * 8 for count in scaled(width, 32, 48, 104, 208, 440))
    return classifier([conv_norm(3, stem, 3, 2)], grouped, stem,
                      list(zip(widths, (1, 3, 6, 6), (2, 2, 2, 2))), most), images(n, size)


@case((1, 64, 8, 1), LARGE)
def convnext(n, size, width, most):
    widths = scaled(width, 96, 192, 384, 768)
    layers = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0])]
    for before, channels, count in zip((widths[0], *widths), widths, (3, 3, 9, 3)):
        if before != channels:
            layers += [ChannelNorm(before), nn.Conv2d(before, channels, 2, 2)]
        layers += [ConvNeXtBlock(channels) for _ in range(min(count, most))]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), ChannelNorm(widths[-1]), nn.Flatten(),
                         nn.Linear(widths[-1], CLASSES)), images(n, size)


@case((1, 32, 8, 2), LARGE)
def conv_mixer(n, size, width, most):
    channels = scaled(width, 512)[0]
    block = lambda: nn.Sequential(
        Residual(nn.Sequential(nn.Conv2d(channels, channels, 7, groups=channels, padding="same"),
                               nn.GELU(), nn.BatchNorm2d(channels))),
        nn.Conv2d(channels, channels, 1), nn.GELU(), nn.BatchNorm2d(channels))
    return nn.Sequential(nn.Conv2d(3, channels, 8, 8), nn.GELU(), nn.BatchNorm2d(channels),
                         *[block() for _ in range(min(8, most))], head(channels, CLASSES)), \
        images(n, size)


# Images of images.


@case((1, 32, 8), (8, 256, FULL))
def unet_2d(n, size, width):
    block = lambda channels, filters: nn.Sequential(conv_norm(channels, filters),
                                                    conv_norm(filters, filters))
    return convolutional.UNet(2, block, width), images(n, size, 1)


@case((1, 16, 8), (2, 64, 32))
def unet_3d(n, size, width):
    block = lambda channels, filters: nn.Sequential(
        nn.Conv3d(channels, filters, 3, padding=1), nn.InstanceNorm3d(filters, affine=True),
        nn.LeakyReLU(0.01))
    return convolutional.UNet(3, block, width), randn(n, 1, size, size, size)


@case((1, 32, 8), (16, 256, 128))
def fcn(n, size, width):
    return convolutional.FCN(width), images(n, size)


@case((1, 8), (128, FULL))
def gan_generator(n, width):
    return convolutional.gan_generator(100, (8 * width, 4 * width, 2 * width, width)), \
        randn(n, 100, 1, 1)


@case((1, 8), (128, FULL))
def gan_discriminator(n, width):
    return convolutional.gan_discriminator(width, 3), images(n, 64)


@case((1, 16, 8), (64, 128, FULL))
def autoencoder(n, size, width):
    return convolutional.autoencoder(width, size), images(n, size)


@case((1, 16, 8, 8), (16, 64, 128, 512))
def diffusion_unet(n, size, width, times):
    return convolutional.DiffusionUNet(width, times), images(n, size), randint(1000, (n,))


# Patches and sequences.


@case((1, 32, 32, 1), (32, 224, 768, 12))
def vit(n, size, width, layers):
    return convolutional.ViT(width, (size // 16)**2, 16, width // 64 or 2, layers, 4), images(n, size)


@case((1, 32, 12, 2), (64, 224, 96, 7))
def swin(n, size, width, window):
    return convolutional.Swin(width, size // 4, 3, window), images(n, size)


@case((1, 20, 64, 64, 1), (8, 80, 3000, 512, 6))
def whisper_encoder(n, mels, frames, width, layers):
    return convolutional.WhisperEncoder(mels, width, frames, width // 64, layers, 4), \
        randn(n, mels, frames)


@case((1, 24, 16), (8, 2048, 768))
def mamba_conv(n, tokens, width):
    return convolutional.MambaConv(width), randn(n, tokens, width)


class Causal(nn.Module):
    """Two causal dilated convolutions and a residual, as in temporal convolutional networks."""

    def __init__(self, channels, filters, dilation):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * dilation, 0), 0.0)
        self.first = nn.Conv1d(channels, filters, 3, dilation=dilation)
        self.second = nn.Conv1d(filters, filters, 3, dilation=dilation)
        self.shortcut = nn.Conv1d(channels, filters, 1) if channels != filters else nn.Identity()

    def forward(self, x):
        y = torch.relu(self.first(self.pad(x)))
        return torch.relu(torch.relu(self.second(self.pad(y))) + self.shortcut(x))


@case((1, 8, 40, 8, 2), (32, 64, 4096, 128, 6))
def temporal(n, channels, steps, width, layers):
    return nn.Sequential(*[Causal(width if i else channels, width, 2**i) for i in range(layers)],
                         nn.Conv1d(width, channels, 1)), randn(n, channels, steps)
