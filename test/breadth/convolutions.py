# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pools and chains of them, called with channels first."""

import torch
import torch.nn.functional as F
from torch import nn, randn

from .registry import Function, case


def image(n, c, size):
    return randn(n, c, size, size)


@case((2, 8, 12, 9), (64, 64, 64, 56))
def square(n, c, k, size):
    return nn.Conv2d(c, k, 3, padding=1), image(n, c, size)


@case((2, 8, 12, 9), (32, 256, 512, 28))
def strided(n, c, k, size):
    return nn.Conv2d(c, k, 3, stride=2, padding=1), image(n, c, size)


@case((2, 3, 8, 17), (64, 3, 64, 224))
def first_of_a_network(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, 7, 2, 3), nn.ReLU()), image(n, c, size)


@case((2, 3, 8, 17), (64, 3, 96, 224))
def patches(n, c, k, size):
    return nn.Conv2d(c, k, 4, 4), image(n, c, size)


@case((2, 16, 8, 9), (128, 256, 64, 56))
def pointwise(n, c, k, size):
    return nn.Conv2d(c, k, 1, bias=False), image(n, c, size)


@case((2, 7, 5, 9), (16, 36, 52, 55))
def odd_channels(n, c, k, size):
    return nn.Conv2d(c, k, 3, padding=1), image(n, c, size)


@case((2, 8, 12, 11), (32, 64, 128, 56))
def asymmetric(n, c, k, size):
    return nn.Conv2d(c, k, (3, 5), padding=(0, 2)), image(n, c, size)


@case((2, 8, 12, 11), (32, 128, 128, 56))
def separable(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, (1, 7), padding=(0, 3)),
                         nn.Conv2d(k, k, (7, 1), padding=(3, 0))), image(n, c, size)


@case((2, 8, 12, 13), (16, 64, 64, 64))
def dilated(n, c, k, size):
    return nn.Conv2d(c, k, 3, padding=4, dilation=4), image(n, c, size)


@case((2, 8, 12, 9), (64, 128, 128, 28))
def grouped(n, c, k, size):
    return nn.Conv2d(c, k, 3, padding=1, groups=4), image(n, c, size)


@case((2, 8, 9), (64, 128, 56))
def depthwise(n, c, size):
    return nn.Conv2d(c, c, 3, padding=1, groups=c), image(n, c, size)


@case((2, 8, 11), (64, 96, 56))
def depthwise_large(n, c, size):
    return nn.Conv2d(c, c, 7, padding=3, groups=c), image(n, c, size)


@case((2, 8, 11), (64, 96, 56))
def depthwise_twice(n, c, size):
    return nn.Sequential(nn.Conv2d(c, c, 7, padding=3, groups=c), nn.GELU(),
                         nn.Conv2d(c, c, 7, padding=3, groups=c)), image(n, c, size)


@case((2, 3, 17), (16, 3, 256))
def local_variance(n, c, size):
    """Two blurs with one filter, of the five that a structural similarity has."""
    class Variance(nn.Module):
        def __init__(self):
            super().__init__()
            self.blur = nn.Conv2d(c, c, 11, padding=5, groups=c, bias=False)

        def forward(self, x):
            return self.blur(x * x) - self.blur(x) ** 2

    return Variance(), image(n, c, size)


@case((2, 8, 9), (64, 128, 56))
def depthwise_strided(n, c, size):
    return nn.Conv2d(c, 2 * c, 5, stride=2, padding=2, groups=c), image(n, c, size)


@case((2, 8, 12, 33), (64, 256, 512, 1024))
def signal(n, c, k, length):
    return nn.Conv1d(c, k, 5, padding=2), randn(n, c, length)


@case((2, 8, 33), (64, 1024, 2048))
def causal_signal(n, c, length):
    class Causal(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(c, c, 4, groups=c, padding=3)

        def forward(self, x):
            return F.silu(self.conv(x)[..., :x.shape[-1]])

    return Causal(), randn(n, c, length)


@case((1, 8, 16, 7), (4, 32, 64, 32))
def volume(n, c, k, size):
    return nn.Conv3d(c, k, 3, padding=1), randn(n, c, size, size, size)


@case((2, 8, 6, 9), (32, 128, 64, 32))
def transposed(n, c, k, size):
    return nn.ConvTranspose2d(c, k, 4, stride=2, padding=1), image(n, c, size)


@case((2, 8, 6, 9), (32, 64, 128, 32))
def transposed_odd(n, c, k, size):
    return nn.ConvTranspose2d(c, k, 3, 2, 1, output_padding=1), image(n, c, size)


@case((2, 8, 6, 17), (16, 256, 128, 512))
def transposed_signal(n, c, k, length):
    return nn.ConvTranspose1d(c, k, 16, stride=8, padding=4), randn(n, c, length)


@case((1, 8, 6, 5), (4, 64, 32, 16))
def transposed_volume(n, c, k, size):
    return nn.ConvTranspose3d(c, k, 3, stride=2, padding=1), randn(n, c, size, size, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def batch_norm(n, c, k, size):
    module = nn.Sequential(nn.Conv2d(c, k, 3, padding=1, bias=False), nn.BatchNorm2d(k), nn.ReLU())
    module[1].running_mean.uniform_(-0.5, 0.5)
    module[1].running_var.uniform_(0.5, 2)
    return module, image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def group_norm(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, 3, padding=1), nn.GroupNorm(4, k), nn.SiLU()), \
        image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 64, 56))
def instance_norm(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, 3), nn.InstanceNorm2d(k), nn.LeakyReLU()), \
        image(n, c, size)


@case((2, 8, 9), (32, 128, 28))
def residual(n, c, size):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(c, c, 3, 1, 1), nn.Conv2d(c, c, 3, 1, 1)

        def forward(self, x):
            return F.relu(self.second(F.relu(self.first(x))) + x)

    return Block(), image(n, c, size)


@case((2, 8, 9), (32, 64, 56))
def inverted_residual(n, c, size):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Conv2d(c, 4 * c, 1), nn.Conv2d(4 * c, c, 1)
            self.depth = nn.Conv2d(4 * c, 4 * c, 3, padding=1, groups=4 * c)

        def forward(self, x):
            return x + self.down(F.hardswish(self.depth(F.hardswish(self.up(x)))))

    return Block(), image(n, c, size)


@case((2, 8, 9), (32, 128, 28))
def squeeze_excite(n, c, size):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(c, c, 3, padding=1)
            self.down, self.up = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

        def forward(self, x):
            y = self.conv(x)
            return y * torch.sigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(y, 1)))))

    return Block(), image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def chain_of_five(n, c, k, size):
    conv = nn.Conv2d(c, k, 3)
    bias = nn.Parameter(randn(k, 1, 1))

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bias = conv, bias

        def forward(self, x):
            return (F.mish(torch.tanh(self.conv(x) - 0.5) * 2 + self.bias)).clamp(-1, 1)

    return Chain(), image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def reduced_over_channels(n, c, k, size):
    conv = nn.Conv2d(c, k, 3)
    return nn.Sequential(conv, Function(lambda y: y.amin(1, keepdim=True).tanh())), \
        image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def softmax_over_channels(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, 3), nn.Softmax(1), nn.MaxPool2d(2)), image(n, c, size)


@case((2, 8, 12, 9), (32, 64, 128, 56))
def global_pool(n, c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(k, 10)), image(n, c, size)


@case((2, 8, 9), (64, 64, 112))
def max_pool(n, c, size):
    return nn.MaxPool2d(3, 2, 1), image(n, c, size)


@case((2, 8, 10), (64, 64, 112))
def average_pool(n, c, size):
    return nn.AvgPool2d(2), image(n, c, size)


@case((2, 8, 33), (64, 256, 4096))
def max_pool_signal(n, c, length):
    return nn.MaxPool1d(4, 2, 1), randn(n, c, length)


@case((1, 8, 7), (4, 32, 64))
def average_pool_volume(n, c, size):
    return nn.AvgPool3d(3, 2, 1), randn(n, c, size, size, size)


@case((2, 8, 9), (32, 64, 64))
def upsampled(n, c, size):
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(c, c, 3, padding=1)), \
        image(n, c, size)


@case((2, 8, 9), (32, 64, 64))
def bilinear(n, c, size):
    return nn.Upsample(scale_factor=2, mode="bilinear"), image(n, c, size)


@case((2, 8, 9), (16, 64, 128))
def pixel_shuffle(n, c, size):
    return nn.Sequential(nn.Conv2d(c, 4 * c, 3, padding=1), nn.PixelShuffle(2)), image(n, c, size)


@case((2, 8, 9), (32, 64, 56))
def concatenated(n, c, size):
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.narrow, self.wide = nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 3, padding=1)
            self.wider = nn.Conv2d(c, c, 5, padding=2)

        def forward(self, x):
            pooled = F.max_pool2d(x, 3, 1, 1)
            return torch.cat([self.narrow(x), self.wide(x), self.wider(x), pooled], 1)

    return Branches(), image(n, c, size)


@case((2, 8, 9), (64, 128, 56))
def channels_last(n, c, size):
    return nn.Conv2d(c, c, 3, padding=1), image(n, c, size).to(memory_format=torch.channels_last)
