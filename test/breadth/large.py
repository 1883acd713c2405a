# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of the sizes that people benchmark with, written from the documentation alone: tensors of
up to 2 G elements where memory is the bound, products of up to 2 TFLOP."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from . import registry
from .registry import Function

# Their tensors take gigabytes, which a compiler has no use for.
case = functools.partial(registry.case, data=False)

# A prime, so that rows and columns differ.
PERIOD = 4_194_301


def repeated(draw, shape):
    """Random numbers that repeat after `PERIOD`: drawing billions of them takes minutes."""
    count = math.prod(shape)
    if count <= PERIOD:
        return draw(shape)
    return draw((PERIOD,)).repeat(-(-count // PERIOD))[:count].view(shape)


def normal(*shape):
    return repeated(torch.randn, shape)


def uniform(*shape):
    return repeated(torch.rand, shape)


# Activations.


@case((4, 33), (4096, 393216))
def elu_of_wide_rows(rows, columns):
    return nn.ELU(alpha=1.3), normal(rows, columns)


@case((3, 17), (8192, 131071))
def gelu_written_out(rows, columns):
    def function(x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))

    return Function(function), normal(rows, columns)


@case((3, 15), (2049, 262145))
def softplus_with_threshold(rows, columns):
    return nn.Softplus(beta=2, threshold=10), 4 * normal(rows, columns)


@case((4, 16), (16384, 65536))
def matrix_times_scalar(rows, columns):
    return Function(lambda matrix, scalar: matrix * scalar), normal(rows, columns), torch.randn(())


# Reductions over the middle.


@case((2, 16, 15), (128, 4096, 4095))
def mean_of_middle(n, rows, columns):
    return Function(lambda x: x.mean(dim=1)), normal(n, rows, columns)


@case((2, 16, 15), (128, 4096, 4095))
def argmin_of_middle(n, rows, columns):
    return Function(lambda x: torch.argmin(x, dim=1)), normal(n, rows, columns)


@case((2, 15, 17), (127, 4095, 4097))
def product_of_middle(n, rows, columns):
    return Function(lambda x: x.prod(dim=1)), 1 + 0.01 * normal(n, rows, columns)


# Softmax and norms.


@case((4, 64), (4096, 393216))
def softmax_of_wide_rows(rows, columns):
    return nn.Softmax(dim=1), normal(rows, columns)


@case((2, 4, 6, 6), (64, 64, 512, 512))
def batch_norm_of_images(n, channels, height, width):
    module = nn.BatchNorm2d(channels)
    module.running_mean.copy_(0.1 * torch.randn(channels))
    module.running_var.copy_(0.5 + torch.rand(channels))
    return module, normal(n, channels, height, width)


@case((2, 4, 6, 6), (112, 64, 512, 512))
def instance_norm_of_images(n, channels, height, width):
    return nn.InstanceNorm2d(channels), normal(n, channels, height, width)


@case((2, 8, 6, 5), (96, 64, 512, 511))
def group_norm_of_images(n, channels, height, width):
    return nn.GroupNorm(8, channels), normal(n, channels, height, width)


@case((2, 8, 6, 6), (112, 64, 512, 512))
def rms_norm_of_channels(n, channels, height, width):
    def function(x):
        return x / torch.sqrt(x.pow(2).mean(dim=1, keepdim=True) + 1e-5)

    return Function(function), normal(n, channels, height, width)


@case((2, 4, 6, 6), (16, 64, 256, 256))
def layer_norm_of_volumes(n, channels, height, width):
    return nn.LayerNorm((channels, height, width)), normal(n, channels, height, width)


@case((4, 33), (32768, 65535))
def mean_absolute_normalization(rows, columns):
    return Function(lambda x: x / x.abs().mean(dim=1, keepdim=True)), normal(rows, columns)


@case((2, 3, 6, 6), (112, 64, 512, 512))
def frobenius_normalization(n, channels, height, width):
    return Function(lambda x: x / torch.norm(x, p="fro")), normal(n, channels, height, width)


# Scans.


@case((4, 32), (32768, 32768))
def running_product(rows, columns):
    return Function(lambda x: torch.cumprod(x, dim=1)), 1 + 0.01 * normal(rows, columns)


@case((3, 33), (32767, 32769))
def exclusive_running_sum(rows, columns):
    def function(x):
        before = torch.cat((torch.zeros_like(x[:, :1]), x), dim=1)[:, :-1]
        return before.cumsum(dim=1)

    return Function(function), normal(rows, columns)


@case((4, 32), (32768, 32768))
def running_sum_masked_from_behind(rows, columns):
    def function(x, mask):
        return (x * mask).flip(1).cumsum(dim=1).flip(1)

    return Function(function), normal(rows, columns), uniform(rows, columns) < 0.7


# Losses.


@case((4, 33), (32768, 32769))
def smooth_l1_mean(rows, columns):
    return nn.SmoothL1Loss(beta=0.5), normal(rows, columns), normal(columns, rows).view(rows, columns)


@case((8, 33), (32768, 16383))
def cross_entropy_of_rows(rows, classes):
    return nn.CrossEntropyLoss(), normal(rows, classes), torch.randint(classes, (rows,))


@case((4, 32), (16384, 32768))
def divergence_of_distributions(rows, columns):
    def function(predictions, targets):
        return F.kl_div(torch.log(predictions), targets, reduction="batchmean")

    first, second = ((0.1 + uniform(rows, columns)) / (0.6 * columns) for _ in range(2))
    return Function(function), first, second


@case((4, 32), (32768, 16384))
def triplet_margin(rows, columns):
    anchor, positive, negative = (normal(rows, columns) for _ in range(3))
    return nn.TripletMarginLoss(margin=1.0), anchor, positive, negative


# Pools.


@case((1, 2, 9, 9, 9), (16, 32, 128, 128, 128))
def max_pool_of_volumes(n, channels, depth, height, width):
    return (nn.MaxPool3d(3, stride=2, padding=1, dilation=3),
            normal(n, channels, depth, height, width))


@case((2, 3, 33), (64, 128, 65537))
def average_pool_of_signals(n, channels, length):
    return nn.AvgPool1d(8, stride=1, padding=4), normal(n, channels, length)


# Products.


@case((16, 16, 16), (8192, 8192, 8192))
def square(m, n, k):
    return Function(torch.matmul), normal(m, k), normal(k, n)


@case((8, 8, 64), (256, 256, 524288))
def long_sums(m, n, k):
    return Function(torch.matmul), normal(m, k), normal(k, n)


@case((64, 64, 8), (32768, 32768, 64))
def short_sums(m, n, k):
    return Function(torch.matmul), normal(m, k), normal(k, n)


@case((64, 4), (32768, 32))
def skinny_times_its_transpose(m, k):
    return Function(lambda x: x @ x.T), normal(m, k)


@case((8, 64), (2048, 1048576))
def matrix_times_vector(m, k):
    return Function(torch.matmul), normal(m, k), normal(k, 1)


@case((13, 21, 17), (8205, 5921, 2949))
def irregular(m, n, k):
    return Function(torch.matmul), normal(m, k), normal(k, n)


@case((3, 8, 16, 16), (128, 512, 2048, 1024))
def batches(b, m, n, k):
    return Function(torch.bmm), normal(b, m, k), normal(b, k, n)


@case((2, 8, 16, 16), (16, 1024, 768, 2048))
def three_dimensions_by_matrix(b, rows, columns, k):
    return (Function(lambda x, w: torch.matmul(x, w)), normal(b, rows, k), normal(k, columns))


@case((2, 3, 5, 16, 8), (8, 256, 512, 768, 256))
def four_dimensions_by_einsum(b, i, j, k, depth):
    return (Function(lambda x, w: torch.einsum("bijl,lk->bijk", x, w)),
            normal(b, i, j, depth), normal(depth, k))


@case((16, 24), (8192, 12288))
def diagonal_matrix_times_matrix(n, m):
    return Function(lambda d, x: torch.diag(d) @ x), normal(n), normal(n, m)


@case((16, 24, 8), (4096, 2048, 8192))
def first_transposed(m, n, k):
    return Function(lambda a, b: torch.matmul(a.T, b)), normal(k, m), normal(k, n)


@case((16, 9, 24), (4096, 3001, 8192))
def both_transposed(m, n, k):
    return Function(lambda a, b: torch.matmul(a.T, b.T)), normal(k, m), normal(n, k)


@case((24,), (6144,))
def product_of_lower_triangles(n):
    return (Function(lambda a, b: torch.tril(torch.matmul(a, b))),
            torch.tril(normal(n, n)), torch.tril(normal(n, n)))


@case((24, 16), (8192, 4096))
def upper_triangle_times_matrix(n, m):
    return Function(lambda a, b: torch.triu(a) @ b), normal(n, n), normal(n, m)


# Linear layers and what follows.


@case((4, 32, 32, 4), (1024, 8192, 8192, 16))
def linear_group_norm_hardtanh(batch, inputs, outputs, groups):
    return (nn.Sequential(nn.Linear(inputs, outputs), nn.GroupNorm(groups, outputs),
                          nn.Hardtanh(-2.0, 2.0)), normal(batch, inputs))


class LinearLogSumExp(nn.Module):
    """Scaled, added to itself, clamped and summed in the logarithm."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        x = self.linear(x) * 2.0
        x = torch.clamp(x + x, -10.0, 10.0)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


@case((4, 32, 48), (16384, 4096, 8192))
def linear_logsumexp(batch, inputs, outputs):
    return LinearLogSumExp(inputs, outputs), normal(batch, inputs)


class LinearPooledSum(nn.Module):
    """The larger of each two features, summed and scaled."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.pool = nn.MaxPool1d(2)

    def forward(self, x):
        x = self.pool(self.linear(x).unsqueeze(1)).squeeze(1)
        return torch.sum(x, dim=1) * 0.5


@case((4, 32, 32), (128, 16384, 16384))
def linear_pooled_sum(batch, inputs, outputs):
    return LinearPooledSum(inputs, outputs), normal(batch, inputs)


class LinearBatchNormSoftmax(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.norm = nn.BatchNorm1d(outputs)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return torch.softmax(self.scale * self.norm(self.linear(x)), dim=1)


@case((4, 32, 32), (1024, 8192, 8192))
def linear_batch_norm_softmax(batch, inputs, outputs):
    return LinearBatchNormSoftmax(inputs, outputs), normal(batch, inputs)


class LinearDropoutMaximum(nn.Module):
    """The largest feature, less the mean of the layer, through GELU."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = self.dropout(self.linear(x))
        x = torch.max(F.gelu(x), dim=1, keepdim=True).values
        return F.gelu(x - x.mean(dim=0, keepdim=True))


@case((8, 32, 48), (2048, 12288, 6144))
def linear_dropout_maximum(batch, inputs, outputs):
    return LinearDropoutMaximum(inputs, outputs), normal(batch, inputs)


class LinearInstanceNormResidual(nn.Module):
    """Each row normalized as an image of one channel, added to another input and multiplied."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.norm = nn.InstanceNorm2d(1, eps=1e-5)

    def forward(self, x, skip):
        x = self.norm(self.linear(x)[:, None, None]).squeeze(1).squeeze(1)
        return (x + skip) * skip


@case((4, 32, 32), (1024, 8192, 8192))
def linear_instance_norm_residual(batch, inputs, outputs):
    return LinearInstanceNormResidual(inputs, outputs), normal(batch, inputs), normal(batch, outputs)
