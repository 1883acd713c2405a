# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around convolutions: pools, resizes, pads, norms and moves of pixels."""

import torch
from torch.nn import functional as F

from operators import Case, check, group, positive, rand, runs

IMAGE, SIGNAL, VOLUME = rand(2, 6, 11, 9), rand(2, 6, 23, seed=3), rand(1, 3, 5, 6, 7, seed=4)
LAST = rand(2, 6, 11, 9, seed=5).to(memory_format=torch.channels_last)
SCALE, SHIFT, MEAN, SPREAD = rand(6, seed=6), rand(6, seed=7), rand(6, seed=8), positive(6, seed=9)
# Positions of pixels, some of them outside.
PLACES = rand(2, 5, 7, 2, seed=10) * 0.7
TURN = torch.tensor([[[0.9, -0.3, 0.1], [0.2, 1.1, -0.2]]]).expand(2, 2, 3).contiguous()


def case(name, function, inputs, reduction=9, roundings=4):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


def with_places(pool):
    return lambda x: pool(x, return_indices=True)


POOLS = group(
    "pools_of_all_kinds",
    case("places", with_places(lambda x, **k: F.max_pool2d(x, 3, 2, 1, **k)), [IMAGE]),
    case("places, 1-d", with_places(lambda x, **k: F.max_pool1d(x, 4, 3, **k)), [SIGNAL]),
    case("places, 3-d", with_places(lambda x, **k: F.max_pool3d(x, 2, **k)), [VOLUME]),
    case("places, adaptive", with_places(lambda x, **k: F.adaptive_max_pool2d(x, (4, 3), **k)), [IMAGE]),
    case("maximum, dilated", lambda x: F.max_pool2d(x, 3, 1, 1, 2), [LAST]),
    case("maximum, 3-d", lambda x: F.max_pool3d(x, 3, 2, 1, ceil_mode=True), [VOLUME]),
    case("average, ceil", lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 0), ceil_mode=True), [IMAGE]),
    case("average, by a number", lambda x: F.avg_pool2d(x, 3, 1, 1, divisor_override=5), [LAST]),
    case("average, 1-d", lambda x: F.avg_pool1d(x, 5, 2, 2, count_include_pad=False), [SIGNAL]),
    case("adaptive, 1-d", lambda x: F.adaptive_avg_pool1d(x, 5), [SIGNAL]),
    case("adaptive, 3-d", lambda x: F.adaptive_avg_pool3d(x, (2, None, 3)), [VOLUME], 12),
    case("sums of powers", lambda x: F.lp_pool2d(x, 2, 3, 2), [IMAGE], 9, 8),
    case("sums of powers, ceil", lambda x: F.lp_pool1d(x.abs(), 3, 4, ceil_mode=True), [SIGNAL], 4, 12),
)

RESIZES = group(
    "resizes",
    case("nearest", lambda x: F.interpolate(x, scale_factor=2), [IMAGE]),
    case("nearest, of a size", lambda x: F.interpolate(x, (7, 13)), [LAST]),
    case("nearest, exact", lambda x: F.interpolate(x, (7, 13), mode="nearest-exact"), [IMAGE]),
    case("linear", lambda x: F.interpolate(x, 40, mode="linear"), [SIGNAL], 2, 8),
    case("bilinear", lambda x: F.interpolate(x, scale_factor=(2, 3), mode="bilinear"), [IMAGE], 4, 8),
    case("bilinear, aligned", lambda x: F.interpolate(x, (5, 17), mode="bilinear", align_corners=True),
         [LAST], 4, 8),
    case("bicubic", lambda x: F.interpolate(x, (17, 7), mode="bicubic"), [IMAGE], 16, 16),
    case("trilinear", lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), [VOLUME], 8, 12),
    case("area", lambda x: F.interpolate(x, (4, 4), mode="area"), [IMAGE], 12),
    case("at places", lambda x, p: F.grid_sample(x, p, align_corners=False), [IMAGE, PLACES], 4, 24),
    case("at places, border", lambda x, p: F.grid_sample(x, p, padding_mode="border", align_corners=True),
         [IMAGE, PLACES], 4, 24),
    case("turned", lambda x, t: F.grid_sample(x, F.affine_grid(t, (2, 6, 8, 8), align_corners=False),
                                              align_corners=False), [IMAGE, TURN], 4, 48),
    types=["fp32"],
)

# Positions of 16 bits would decide which pixels are read.
NARROW_RESIZES = group(
    "resizes_in_16_bits",
    *(each for each in RESIZES.cases if not each.name.startswith(("at places", "turned"))),
    types=["bf16", "fp16"],
)

PADS = group(
    "pads",
    case("number", lambda x: F.pad(x, (1, 2, 3, 0), value=1.5) * 2, [IMAGE]),
    case("cut", lambda x: F.pad(x, (-2, 1, 2, -3)) * 2, [IMAGE]),
    case("reflected", lambda x: F.pad(x, (2, 3, 1, 4), mode="reflect") * 2, [IMAGE]),
    case("reflected, 1-d", lambda x: F.pad(x, (5, 3), mode="reflect") * 2, [SIGNAL]),
    case("reflected, 3-d", lambda x: F.pad(x, (1, 2, 3, 0, 2, 1), mode="reflect") * 2, [VOLUME]),
    case("edge", lambda x: F.pad(x, (2, 0, 1, 4), mode="replicate") * 2, [LAST]),
    case("edge, 3-d", lambda x: F.pad(x, (1, 0, 2, 1, 0, 3), mode="replicate") * 2, [VOLUME]),
    case("circular", lambda x: F.pad(x, (2, 3, 1, 0), mode="circular") * 2, [IMAGE]),
    case("circular, 1-d", lambda x: F.pad(x, (4, 2), mode="circular") * 2, [SIGNAL]),
    case("circular, 3-d", lambda x: F.pad(x, (1, 0, 0, 2, 1, 1), mode="circular") * 2, [VOLUME]),
)

NORMS = group(
    "norms_of_images",
    case("batch", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b),
         [IMAGE, MEAN, SPREAD, SCALE, SHIFT], 1, 8),
    case("batch, channels last", lambda x, m, v: F.batch_norm(x, m, v), [LAST, MEAN, SPREAD], 1, 8),
    case("batch, own statistics", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
         [IMAGE, SCALE, SHIFT], 198, 8),
    case("batch, 1-d", lambda x: F.batch_norm(x, None, None, training=True), [SIGNAL], 46, 8),
    case("batch, 3-d", lambda x, m, v: F.batch_norm(x, m[:3], v[:3]), [VOLUME, MEAN, SPREAD], 1, 8),
    case("instance", F.instance_norm, [IMAGE], 99, 8),
    case("instance, channels last", lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
         [LAST, SCALE, SHIFT], 99, 8),
    case("instance, 1-d", F.instance_norm, [SIGNAL], 23, 8),
    case("group", lambda x, w, b: F.group_norm(x, 3, w, b), [IMAGE, SCALE, SHIFT], 198, 8),
    case("group, channels last", lambda x: F.group_norm(x, 2), [LAST], 297, 8),
    case("group, 3-d", lambda x: F.group_norm(x, 1), [VOLUME], 630, 8),
    case("layer over channels", lambda x, w, b: F.layer_norm(x.permute(0, 2, 3, 1), (6,), w, b)
         .permute(0, 3, 1, 2), [IMAGE, SCALE, SHIFT], 6, 8),
    case("local response", lambda x: F.local_response_norm(x, 3, 0.01, 0.6, 1.5), [IMAGE], 3, 12),
    case("local response, 1-d", lambda x: F.local_response_norm(x, 2), [SIGNAL], 2, 12),
    case("softmax over channels", lambda x: x.softmax(1), [IMAGE], 6, 6),
    case("squeeze and excitation", lambda x, w: x * torch.sigmoid(x.mean((2, 3)) @ w)[..., None, None],
         [IMAGE, rand(6, 6, seed=11) / 3], 99, 8),
)

MOVES = group(
    "moves_of_pixels",
    case("patches", lambda x: F.unfold(x, 3, padding=1, stride=2) * 2, [IMAGE]),
    case("patches, dilated", lambda x: F.unfold(x, (2, 3), dilation=2) * 2, [LAST]),
    case("sums of patches", lambda x: F.fold(x, (7, 6), 3, padding=1, stride=2), [rand(2, 54, 12, seed=12)]),
    case("patches and back", lambda x: F.fold(F.unfold(x, 3), (11, 9), 3), [IMAGE]),
    case("phases to pixels", lambda x: F.pixel_shuffle(x, 2) * 2, [rand(2, 12, 5, 7, seed=13)]),
    case("pixels to phases", lambda x: F.pixel_unshuffle(x, 3) * 2, [rand(2, 3, 9, 12, seed=14)]),
    case("channels shuffled", lambda x: F.channel_shuffle(x, 3) * 2, [IMAGE]),
    case("channels joined", lambda x, y: torch.cat([x.relu(), y, x], 1), [IMAGE, LAST]),
    case("flipped", lambda x: x.flip((2, 3)) * 2, [LAST]),
    case("rolled", lambda x: x.roll((3, -2), (2, 3)) * 2, [IMAGE]),
)


@runs(POOLS, RESIZES, NARROW_RESIZES, PADS, NORMS, MOVES)
def test_images(cases, dtype):
    check(cases, dtype)
