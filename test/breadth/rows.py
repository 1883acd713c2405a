# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, softmaxes and norms over each dimension and sets of dimensions."""

import torch
import torch.nn.functional as F
from torch import nn, randn

from .registry import Function, case

SMALL, LARGE = (3, 5, 10), (32, 512, 1024)


def row(function, name, small=SMALL, large=LARGE, bf16=True):
    """A case of one input of these sizes."""

    @case(small, large, name=name, bf16=bf16)
    def build(*sizes):
        return Function(function), randn(*sizes)


# One op over each dimension.

REDUCTIONS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "logsumexp": torch.logsumexp,
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "argmax": torch.argmax,
    "var": torch.var,
}

for name, function in REDUCTIONS.items():
    for dim, place in ((0, "first"), (1, "middle"), (2, "last")):
        row(lambda x, function=function, dim=dim: function(x, dim), f"{name}_{place}")

row(lambda x: torch.min(x, 1), "min_with_indices")
row(lambda x: torch.max(x, -1, keepdim=True), "max_with_indices")
row(lambda x: torch.argmin(x, 1, keepdim=True), "argmin_middle")
row(lambda x: torch.argmax(x), "argmax_all")
row(lambda x: torch.prod(1 + 0.01 * x, 1), "prod_middle")
row(lambda x: torch.prod(1 + 0.01 * x, -1), "prod_last")
row(lambda x: torch.std(x, -1, correction=0), "std_biased")
row(lambda x: torch.std_mean(x, 1), "std_mean")
row(lambda x: torch.var_mean(x, (0, 2)), "var_mean_of_two")
row(lambda x: torch.aminmax(x, dim=-1), "aminmax")
row(lambda x: torch.median(x, -1).values, "median", large=(16, 256, 1024))
row(lambda x: F.softmin(x, -1), "softmin")

# Sets of dimensions.

row(lambda x: x.sum(), "sum_all")
row(lambda x: x.mean((0, 1)), "mean_leading")
row(lambda x: x.sum((0, 2), keepdim=True), "sum_outer")
row(lambda x: x.amin((1, 2)), "amin_trailing")
row(lambda x: torch.logsumexp(x, (0, 2)), "logsumexp_two")
row(lambda x: x.amax((0, 1, 2)), "amax_all")
row(lambda x: torch.softmax(x.flatten(1), -1).view_as(x), "softmax_two")
row(lambda x: (x > 1).any(-1), "any_last")
row(lambda x: (x > -3).all(1), "all_middle")
row(lambda x: torch.count_nonzero(x.relu(), -1), "count_nonzero")

# Lengths.

row(lambda x: x.softmax(-1), "softmax_long", (3, 700), (32, 262144))
row(lambda x: x.softmax(-1), "softmax_short", (40, 3), (1 << 21, 8))
row(lambda x: x.sum(-1), "sum_of_one_row", (900,), (1 << 24,))
row(lambda x: x.mean(-1), "mean_of_pairs", (40, 2), (1 << 22, 2))
row(lambda x: x.amax(0), "max_of_long_columns", (300, 3), (1 << 20, 8))
row(lambda x: x.argmin(-1), "argmin_long", (3, 700), (32, 262144))
row(lambda x: x.log_softmax(-1), "log_softmax_odd", (7, 13), (4095, 3001))
row(lambda x: x.softmax(1), "softmax_of_channels", (2, 5, 3, 4), (16, 21, 256, 256))
row(lambda x: x.sum((2, 3)), "sum_of_images", (2, 5, 3, 4), (64, 128, 56, 56))
row(lambda x: x.mean(1), "mean_of_channels", (2, 5, 3, 4), (16, 64, 128, 128))

# Vector and matrix norms, normalizations.

row(lambda x: x / x.abs().mean(1, keepdim=True), "l1_normalized", (5, 20), (4096, 4096))
row(lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True), "l2_normalized", (5, 20), (4096, 4096))
row(lambda x: x / torch.norm(x, p="fro"), "frobenius_normalized")
row(lambda x: F.normalize(x, dim=1), "normalize_middle")
row(lambda x: F.normalize(x, p=1.0, dim=-1), "normalize_l1")
row(lambda x: torch.linalg.vector_norm(x, 3.0, -1), "norm_of_three")
row(lambda x: torch.linalg.vector_norm(x, float("inf"), (1, 2)), "norm_infinite")
row(lambda x: torch.linalg.matrix_norm(x), "matrix_norms")
row(lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6), "standardized")
row(lambda x: (x - x.amin(1, keepdim=True)) / (x.amax(1, keepdim=True) - x.amin(1, keepdim=True)),
    "min_max_scaled")
row(lambda x: x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5), "rms_of_channels",
    (2, 6, 3, 4), (32, 64, 128, 128))
row(lambda x: F.softmax(x / 0.7, -1).mul(F.log_softmax(x / 0.7, -1)).sum(-1).neg(), "entropy")
row(lambda x: torch.sigmoid(x.sum(-1)).mean(0), "sum_then_mean")
row(lambda x: x - torch.logsumexp(x, -1, keepdim=True).mean(1, keepdim=True), "centered_by_mean")
row(lambda x: torch.renorm(x, 2, 0, 1.0), "renorm")


row(lambda x: torch.quantile(x, 0.3, -1), "quantile", large=(16, 64, 1024), bf16=False)
row(lambda x: torch.nansum(torch.where(x > 2, float("nan"), x), -1), "nansum")
row(lambda x: torch.nanmean(torch.where(x > 2, float("nan"), x), 1), "nanmean")
row(lambda x: torch.trapezoid(x, dx=0.1, dim=-1), "trapezoid")
row(lambda x: torch.diagonal(x, dim1=1, dim2=2).sum(-1), "traces", (3, 5, 5), (64, 512, 512))
row(lambda x: x.double().sum(-1), "sum_in_double")
row(lambda x: x.softmax(-1, dtype=torch.float32), "softmax_in_float")


@case((6, 20), (8192, 4096))
def cosine_similarity(n, d):
    return nn.CosineSimilarity(dim=1), randn(n, d), randn(n, d)


@case((6, 20), (8192, 4096))
def pairwise_distance(n, d):
    return nn.PairwiseDistance(), randn(n, d), randn(n, d)


@case((6, 20), (8192, 2048), bf16=False)
def integer_sums(n, d):
    return (Function(lambda x: (x.sum(-1), x.amax(0), x.argmax(-1))), torch.randint(-9, 9, (n, d)))


# Norm layers.


def layer(name, make, small, large, bf16=True):
    """A case of a layer with random weights and statistics, called with one input."""

    @case(small, large, name=name, bf16=bf16)
    def build(*sizes):
        module = make(*sizes)
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5)
        return module, randn(*sizes)


IMAGES = (2, 8, 5, 4), (32, 64, 112, 112)

layer("layer_norm", lambda b, t, d: nn.LayerNorm(d), (2, 3, 20), (16, 1024, 1024))
layer("layer_norm_odd", lambda b, t, d: nn.LayerNorm(d), (2, 3, 13), (16, 1023, 1021))
layer("layer_norm_of_two", lambda b, t, d: nn.LayerNorm((t, d)), (2, 3, 20), (256, 64, 1024))
layer("layer_norm_of_images", lambda b, c, h, w: nn.LayerNorm((c, h, w)), *IMAGES)
layer("layer_norm_plain", lambda b, t, d: nn.LayerNorm(d, elementwise_affine=False),
      (2, 3, 20), (16, 1024, 1024))
layer("rms_norm", lambda b, t, d: nn.RMSNorm(d), (2, 3, 20), (16, 1024, 1024))
layer("rms_norm_long", lambda b, d: nn.RMSNorm(d, eps=1e-6), (3, 300), (128, 65536))
layer("batch_norm_1d", lambda b, c: nn.BatchNorm1d(c), (6, 8), (16384, 1024))
layer("batch_norm_2d", lambda b, c, h, w: nn.BatchNorm2d(c), *IMAGES)
layer("batch_norm_3d", lambda b, c, d, h, w: nn.BatchNorm3d(c), (2, 3, 2, 4, 3), (8, 32, 16, 56, 56))
layer("group_norm", lambda b, c, h, w: nn.GroupNorm(4, c), *IMAGES)
layer("group_norm_of_rows", lambda b, c: nn.GroupNorm(4, c), (6, 8), (16384, 1024))
layer("instance_norm_1d", lambda b, c, n: nn.InstanceNorm1d(c), (2, 3, 20), (64, 128, 1024))
layer("instance_norm_2d", lambda b, c, h, w: nn.InstanceNorm2d(c, affine=True), *IMAGES)
layer("instance_norm_tracked", lambda b, c, h, w: nn.InstanceNorm2d(c, track_running_stats=True),
      *IMAGES)
layer("local_response_norm", lambda b, c, h, w: nn.LocalResponseNorm(4), *IMAGES, bf16=False)
