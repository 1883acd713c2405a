# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, transposed ones, pools and what stands between them."""

import torch
from torch.nn import functional as F

from operators import Case, check, group, rand, runs

IMAGE, FILTERS, BIAS = rand(2, 6, 11, 9), rand(10, 6, 3, 3, seed=1) / 7, rand(10, seed=2)
SIGNAL, VOLUME = rand(2, 6, 23, seed=3), rand(1, 3, 5, 6, 7, seed=4)
SINGLE = rand(6, 1, 3, 3, seed=5) / 3


def case(name, function, inputs, reduction=54, roundings=3):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


CONVOLUTIONS = group(
    "convolutions",
    case("padded", lambda x, w, b: F.relu(F.conv2d(x, w, b, padding=1)), [IMAGE, FILTERS, BIAS]),
    case("strided", lambda x, w, b: F.conv2d(x, w, b, stride=(2, 3)), [IMAGE, FILTERS, BIAS]),
    case("dilated", lambda x, w: F.conv2d(x, w, dilation=2, padding=(3, 1)), [IMAGE, FILTERS]),
    case("same", lambda x, w: F.conv2d(x, w, padding="same"), [IMAGE, rand(5, 6, 2, 4) / 7]),
    case("channels last", lambda x, w: F.conv2d(x, w),
         [IMAGE.to(memory_format=torch.channels_last), FILTERS]),
    case("patches", lambda x, w: F.conv2d(x, w, stride=3), [IMAGE, FILTERS]),
    case("pointwise", lambda x, w: F.conv2d(x, w, stride=2), [IMAGE, rand(5, 6, 1, 1) / 3]),
    case("groups", lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=2),
         [IMAGE, rand(10, 3, 3, 3) / 5, BIAS]),
    case("depthwise", lambda x, w: F.conv2d(x, w, padding=1, groups=6), [IMAGE, SINGLE]),
    case("two filters per channel", lambda x, w: F.conv2d(x, w, groups=6),
         [IMAGE, rand(12, 1, 3, 2) / 3]),
    case("one image", lambda x, w: F.conv2d(x[0], w), [IMAGE, FILTERS]),
    case("one channel", lambda x, w: F.conv2d(x, w, padding=2), [IMAGE[:, :1], rand(5, 1, 5, 5) / 5]),
    case("1-d", lambda x, w: F.conv1d(x, w, padding=2, stride=2), [SIGNAL, rand(7, 6, 5) / 5]),
    case("1-d, causal", lambda x, w: F.conv1d(F.pad(x, (3, 0)), w, groups=6),
         [SIGNAL, rand(6, 1, 4) / 2]),
    case("3-d", lambda x, w: F.conv3d(x, w, padding=1), [VOLUME, rand(4, 3, 3, 3, 3) / 9], 81),
)

MANY = rand(1, 70, 9, 13, seed=8)

# Tiles with a part of an image, of a line, of the channels and of the filters.
BOXES = group(
    "boxes_of_windows",
    case("parts of lines", lambda x, w, b: F.conv2d(x, w, b, padding=1),
         [rand(1, 4, 3, 450, seed=9), rand(17, 4, 3, 3) / 6, rand(17)]),
    case("parts of channels", lambda x, w: F.conv2d(x, w, padding=1),
         [MANY, rand(20, 70, 3, 3) / 25], 630),
    case("parts of channels that are last", lambda x, w: F.relu(F.conv2d(x, w, padding=(0, 1))),
         [MANY.to(memory_format=torch.channels_last), rand(20, 70, 3, 3) / 25], 630),
    case("parts of filters", lambda x, w: F.conv2d(x, w), [rand(1, 3, 8, 9), rand(420, 3, 3, 3) / 5]),
    case("parts of volumes", lambda x, w: F.conv3d(x, w, stride=(2, 1, 1), padding=(1, 2, 1)),
         [rand(2, 5, 9, 10, 21), rand(33, 5, 3, 2, 3) / 9], 90),
    case("parts of signals", lambda x, w: F.conv1d(x, w, stride=2, padding=5),
         [rand(2, 9, 801), rand(8, 9, 7) / 8], 63),
    case("wide strides", lambda x, w: F.conv2d(x, w, stride=(3, 2), dilation=(2, 3), padding=(4, 6)),
         [rand(3, 6, 17, 33), FILTERS]),
    case("groups with a residual", lambda x, w: F.conv2d(x, w, padding=1, groups=3) + x,
         [rand(2, 12, 15, 30), rand(12, 4, 3, 3) / 6]),
    case("reduced channels", lambda x, w: (lambda y: y.logsumexp(1) + y.amax(1))(F.conv2d(x, w)),
         [rand(2, 40, 15, 21), rand(35, 40, 3, 3) / 19], 400),
    case("two of one image", lambda x, w, v: (F.relu(F.conv2d(x, w, padding=1)), F.conv2d(x, v, padding=1)),
         [rand(2, 6, 15, 21), rand(20, 6, 3, 3) / 7, rand(36, 6, 3, 3) / 7]),
    case("a gate of the same image", lambda x, w, v: F.conv2d(x, w).sigmoid() * F.conv2d(x, v),
         [rand(2, 6, 15, 21), rand(40, 6, 3, 3) / 7, rand(40, 6, 3, 3) / 7], roundings=6),
    case("large depthwise windows", lambda x, w: F.conv2d(F.gelu(x), w, padding=3, groups=4),
         [rand(2, 4, 15, 37), rand(4, 1, 7, 7) / 7], 49),
    case("depthwise windows of volumes", lambda x, w: F.conv3d(x, w, padding=1, groups=3),
         [rand(1, 3, 5, 6, 19), rand(3, 1, 3, 3, 3) / 5], 27),
)

TRANSPOSED = group(
    "transposed_convolutions",
    case("doubled", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1),
         [IMAGE, rand(6, 5, 4, 4) / 7, rand(5)], 96),
    case("odd", lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
         [IMAGE, rand(6, 5, 3, 3) / 7]),
    case("blocks", lambda x, w: F.conv_transpose2d(x, w, stride=2), [IMAGE, rand(6, 5, 2, 2) / 3]),
    case("gaps", lambda x, w: F.conv_transpose2d(x, w, stride=3), [IMAGE, rand(6, 5, 2, 2) / 3]),
    case("stride 1", lambda x, w: F.conv_transpose2d(x, w, dilation=2), [IMAGE, rand(6, 5, 3, 3) / 7]),
    case("dilated", lambda x, w: F.conv_transpose1d(x, w, stride=2, dilation=2, groups=2),
         [SIGNAL, rand(6, 4, 3) / 4]),
    case("cut off", lambda x, w, b: F.conv_transpose1d(x, w, b, stride=3, padding=4),
         [SIGNAL, rand(6, 4, 6) / 4, rand(4)], 12),
    case("rows of phases", lambda x, w: F.conv_transpose2d(x, w, stride=(1, 2), padding=(2, 1)),
         [IMAGE, rand(6, 5, 3, 4) / 7]),
    case("3-d", lambda x, w, b: F.conv_transpose3d(x, w, b, stride=(1, 2, 1), padding=1),
         [VOLUME, rand(3, 4, 3, 3, 3) / 5, rand(4)], 81),
)

POOLS = group(
    "pools",
    case("maximum", lambda x: F.max_pool2d(x, 3, 2, 1), [IMAGE], 9),
    case("maximum of blocks", lambda x: F.max_pool2d(x[..., :10, :8], 2), [IMAGE], 4),
    case("maximum, ceil", lambda x: F.max_pool1d(x, 3, 2, ceil_mode=True), [SIGNAL], 3),
    case("large blocks", lambda x: F.avg_pool2d(x[..., :10, :8], (5, 4)), [IMAGE], 20),
    case("average", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [IMAGE], 9),
    case("average, 3-d", lambda x: F.avg_pool3d(x, 2), [VOLUME], 8),
    case("global", lambda x: F.adaptive_avg_pool2d(x, 1), [IMAGE], 99),
    case("global maximum", lambda x: F.adaptive_max_pool2d(x, 1), [IMAGE], 99),
    case("adaptive", lambda x: F.adaptive_avg_pool2d(x, (4, 3)), [IMAGE], 12),
)


def block(x, w, scale, shift, second):
    """Two convolutions with a normalization, a pool and a sum: channels stay last inside."""
    y = F.relu(F.conv2d(x, w, padding=1) * scale[:, None, None] + shift[:, None, None])
    z = F.conv2d(y, second, padding=1) + y
    pooled = F.max_pool2d(F.interpolate(z, scale_factor=2), 3, 2, 1)
    return torch.cat([pooled, z], 1), z.softmax(1), z.mean((2, 3)), z.amax(1, keepdim=True)


BLOCKS = group(
    "convolution_blocks",
    case("block", block, [IMAGE, FILTERS, BIAS, rand(10, seed=6), rand(10, 10, 3, 3, seed=7) / 9],
         260, 6),
)


@runs(CONVOLUTIONS, BOXES, TRANSPOSED, POOLS, BLOCKS)
def test_convolutions(cases, dtype):
    check(cases, dtype)
