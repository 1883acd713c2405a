# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional models, small and with random weights: classifiers, and here those that make
images, cut them in patches, or convolve sequences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import classifiers
from .architectures import BATCH, RandomWeight, draw_weights
from .classifiers import CLASSES, Residual, conv_norm


class UNet(nn.Module):
    """Two levels; `block` makes the convolutions of a level."""

    def __init__(self, dims: int, block: Callable[[int, int], nn.Module], width: int):
        super().__init__()
        conv, up, pool = (getattr(nn, f"{name}{dims}d")
                          for name in ("Conv", "ConvTranspose", "MaxPool"))
        self.first, self.second = block(1, width), block(width, 2 * width)
        self.middle, self.pool = block(2 * width, 4 * width), pool(2)
        self.up_second = up(4 * width, 2 * width, 2, 2)
        self.up_first = up(2 * width, width, 2, 2)
        self.down_second, self.down_first = block(4 * width, 2 * width), block(2 * width, width)
        self.out = conv(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        second = self.second(self.pool(first))
        x = self.up_second(self.middle(self.pool(second)))
        x = self.up_first(self.down_second(torch.cat([second, x], 1)))
        return self.out(self.down_first(torch.cat([first, x], 1)))


def unet_2d() -> nn.Module:
    return UNet(2, lambda channels, filters: nn.Sequential(
        conv_norm(channels, filters), conv_norm(filters, filters)), 12)


def unet_3d() -> nn.Module:
    return UNet(3, lambda channels, filters: nn.Sequential(
        nn.Conv3d(channels, filters, 3, padding=1), nn.InstanceNorm3d(filters, affine=True),
        nn.LeakyReLU(0.01)), 8)


class FCN(nn.Module):
    """Classes of pixels from two scales, with dilated convolutions in the second."""

    def __init__(self, width: int = 24):
        super().__init__()
        self.first = nn.Sequential(conv_norm(3, 16, 3, 2), conv_norm(16, width, 3, 2))
        self.second = nn.Sequential(conv_norm(width, 2 * width, 3, 2),
                                    conv_norm(2 * width, 2 * width, dilation=2))
        self.skip = nn.Conv2d(width, CLASSES, 1)
        self.head = nn.Sequential(conv_norm(2 * width, width), nn.Dropout2d(),
                                  nn.Conv2d(width, CLASSES, 1))

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        coarse = self.head(self.second(first))
        fine = self.skip(first) + F.interpolate(coarse, scale_factor=2, mode="bilinear",
                                                align_corners=True)
        return F.interpolate(fine, size=x.shape[-2:], mode="bilinear", align_corners=False)


def gan_generator(channels: int = 32, widths: Sequence[int] = (64, 32, 16)) -> nn.Module:
    layers: list[nn.Module] = []
    for filters in widths:
        # The first makes 4x4 pixels of one.
        stride, padding = (2, 1) if layers else (1, 0)
        layers += [nn.ConvTranspose2d(channels, filters, 4, stride, padding, bias=False),
                   nn.BatchNorm2d(filters), nn.ReLU()]
        channels = filters
    return nn.Sequential(*layers, nn.ConvTranspose2d(channels, 3, 4, 2, 1), nn.Tanh())


def gan_discriminator(width: int = 16, layers: int = 2) -> nn.Module:
    found: list[nn.Module] = [nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2)]
    for _ in range(layers):
        found += [nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False),
                  nn.BatchNorm2d(2 * width), nn.LeakyReLU(0.2)]
        width *= 2
    return nn.Sequential(*found, nn.Conv2d(width, 1, 4), nn.Flatten(), nn.Sigmoid())


def autoencoder(width: int = 16, size: int = 32) -> nn.Module:
    quarter = size // 4
    inner = 2 * width * quarter**2
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1), nn.ELU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ELU(),
        nn.Flatten(), nn.Linear(inner, 32), nn.Linear(32, inner),
        nn.Unflatten(1, (2 * width, quarter, quarter)),
        nn.ConvTranspose2d(2 * width, width, 3, 2, 1, 1), nn.ELU(),
        nn.ConvTranspose2d(width, 3, 3, 2, 1, output_padding=1), nn.Sigmoid())


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Sines and cosines of positions at `width` / 2 frequencies."""
    steps = torch.arange(width // 2, device=positions.device)
    angles = positions.float().unsqueeze(-1) * torch.exp(steps * (-math.log(10000) / (width // 2)))
    return torch.cat([angles.sin(), angles.cos()], -1)


class TimedBlock(nn.Module):
    """Two convolutions after group norms, with an embedding of time between them."""

    def __init__(self, channels: int, filters: int, times: int):
        super().__init__()
        self.before = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(),
                                    nn.Conv2d(channels, filters, 3, padding=1))
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(times, filters))
        self.after = nn.Sequential(nn.GroupNorm(8, filters), nn.SiLU(), nn.Dropout(0.1),
                                   nn.Conv2d(filters, filters, 3, padding=1))
        self.shortcut = nn.Conv2d(channels, filters, 1)

    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        y = self.before(x) + self.time(times)[:, :, None, None]
        return self.shortcut(x) + self.after(y)


class PixelAttention(nn.Module):
    def __init__(self, channels: int, heads: int):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(8, channels), heads
        self.qkv, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(
            batch, 3, self.heads, channels // self.heads, height * width).transpose(3, 4).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(2, 3)
        return x + self.out(y.reshape(batch, channels, height, width))


class DiffusionUNet(nn.Module):
    def __init__(self, width: int = 16, times: int = 32):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, times), nn.SiLU(), nn.Linear(times, times))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.before, self.down = TimedBlock(width, width, times), nn.Conv2d(width, width, 3, 2, 1)
        self.inner = TimedBlock(width, 2 * width, times)
        self.attention = PixelAttention(2 * width, 2)
        self.up = nn.Conv2d(2 * width, width, 3, padding=1)
        self.after = TimedBlock(2 * width, width, times)
        self.out = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(),
                                 nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x: Tensor, steps: Tensor) -> Tensor:
        times = self.time(sinusoids(steps, self.width).to(x.dtype))
        wide = self.before(self.first(x), times)
        deep = self.attention(self.inner(self.down(wide), times))
        y = self.up(F.interpolate(deep, scale_factor=2.0, mode="nearest"))
        return self.out(self.after(torch.cat([y, wide], 1), times))


def encoder_layers(width: int, heads: int = 4, layers: int = 2, hidden: int = 2) -> nn.Module:
    return nn.Sequential(*[
        nn.TransformerEncoderLayer(width, heads, hidden * width, activation="gelu",
                                   batch_first=True, norm_first=True) for _ in range(layers)])


class ViT(nn.Module):
    """`layers` are those of `encoder_layers`, as (heads, layers, hidden)."""

    def __init__(self, width: int = 48, patches: int = 16, patch: int = 8, *layers: int):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, patches + 1, width))
        self.layers = encoder_layers(width, *layers)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, CLASSES))

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.layers(x)[:, 0])


class WindowAttention(nn.Module):
    """Attention within windows of images [batch, height, width, channels], shifted by half."""

    def __init__(self, channels: int, heads: int, size: int, window: int, shift: int):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.bias = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        place = torch.stack(torch.meshgrid(*[torch.arange(window)] * 2, indexing="ij")).flatten(1)
        apart = place[:, :, None] - place[:, None, :] + window - 1
        self.register_buffer("index", apart[0] * (2 * window - 1) + apart[1])
        # Windows that wrap around: pixels of one region see each other only.
        region = torch.arange(size)
        region = (region >= size - window).int() + (region >= size - shift).int() * bool(shift)
        regions = self.windows((3 * region[:, None] + region)[None, :, :, None]).squeeze(-1)
        hidden = torch.zeros(regions.shape[0], window**2, window**2)
        hidden[regions[:, None, :] != regions[:, :, None]] = -100.0
        self.register_buffer("hidden", hidden)

    def windows(self, x: Tensor) -> Tensor:
        """[batch x windows, pixels, channels]."""
        batch, height, width, channels = x.shape
        x = x.view(batch, height // self.window, self.window, width // self.window, self.window,
                   channels)
        return x.transpose(2, 3).reshape(-1, self.window**2, channels)

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        rows = self.windows(torch.roll(x, (-self.shift, -self.shift), (1, 2)))
        q, k, v = self.qkv(rows).view(len(rows), -1, 3, self.heads, channels // self.heads) \
            .permute(2, 0, 3, 1, 4)
        pixels = self.window**2
        mask = self.bias[self.index.view(-1)].view(pixels, pixels, -1).permute(2, 0, 1)
        mask = (mask + self.hidden.unsqueeze(1)).repeat(batch, 1, 1, 1)
        y = F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).reshape(rows.shape)
        y = self.out(y).view(batch, height // self.window, width // self.window, self.window,
                             self.window, channels)
        y = y.transpose(2, 3).reshape(x.shape)
        return torch.roll(y, (self.shift, self.shift), (1, 2))


class PatchMerging(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.LayerNorm(4 * channels)
        self.reduce = nn.Linear(4 * channels, 2 * channels, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        corners = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.reduce(self.norm(torch.cat(corners, -1)))


class Swin(nn.Module):
    def __init__(self, width: int = 24, size: int = 8, heads: int = 2, window: int = 4):
        super().__init__()
        self.patch, self.norm = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        self.layers = nn.Sequential(
            *[Residual(nn.Sequential(nn.LayerNorm(width),
                                     WindowAttention(width, heads, size, window, shift)))
              for shift in (0, window // 2)],
            Residual(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                   nn.Linear(4 * width, width))),
            PatchMerging(width), nn.LayerNorm(2 * width))
        self.head = nn.Linear(2 * width, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layers(self.norm(self.patch(x).permute(0, 2, 3, 1)))
        return self.head(x.mean((1, 2)))


class WhisperEncoder(nn.Module):
    """Frames [batch, mels, frames] through two convolutions, the second of stride 2."""

    def __init__(self, mels: int = 20, width: int = 48, frames: int = 64, *layers: int):
        super().__init__()
        self.first = nn.Conv1d(mels, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positions", sinusoids(torch.arange(frames // 2), width))
        self.layers = encoder_layers(width, *layers)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = F.gelu(self.second(F.gelu(self.first(x)))).permute(0, 2, 1)
        return self.norm(self.layers(x + self.positions))


class MambaConv(nn.Module):
    """The part of a Mamba block around its scan: a gated causal depthwise convolution."""

    def __init__(self, width: int = 32, kernel: int = 4):
        super().__init__()
        self.norm, self.wide = nn.RMSNorm(width), nn.Linear(width, 4 * width, bias=False)
        self.conv = nn.Conv1d(2 * width, 2 * width, kernel, padding=kernel - 1, groups=2 * width)
        self.out = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        inner, gate = self.wide(self.norm(x)).chunk(2, -1)
        inner = self.conv(inner.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        return x + self.out(F.silu(inner) * F.silu(gate))


IMAGE = (3, 64, 64)
# What makes a model, and the shape of one of its inputs.
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "lenet": (classifiers.lenet, (1, 32, 32)),
    "alexnet": (classifiers.alexnet, IMAGE),
    "vgg": (classifiers.vgg, (3, 32, 32)),
    "resnet_basic": (classifiers.resnet_basic, IMAGE),
    "resnet_bottleneck": (classifiers.resnet_bottleneck, IMAGE),
    "densenet": (classifiers.densenet, IMAGE),
    "inception": (classifiers.inception, (3, 48, 48)),
    "squeezenet": (classifiers.squeezenet, IMAGE),
    "mobilenet_v1": (classifiers.mobilenet_v1, (3, 32, 32)),
    "mobilenet_v2": (classifiers.mobilenet_v2, (3, 32, 32)),
    "mobilenet_v3": (classifiers.mobilenet_v3, (3, 32, 32)),
    "efficientnet_b0": (classifiers.efficientnet_b0, (3, 32, 32)),
    "shufflenet": (classifiers.shufflenet, IMAGE),
    "regnet": (classifiers.regnet, (3, 32, 32)),
    "convnext": (classifiers.convnext, (3, 32, 32)),
    "unet_2d": (unet_2d, (1, 32, 32)),
    "unet_3d": (unet_3d, (1, 16, 16, 16)),
    "fcn": (FCN, IMAGE),
    "gan_generator": (gan_generator, (32, 1, 1)),
    "gan_discriminator": (gan_discriminator, (3, 32, 32)),
    "autoencoder": (autoencoder, (3, 32, 32)),
    "diffusion_unet": (DiffusionUNet, (3, 16, 16)),
    "patch_vit": (ViT, (3, 32, 32)),
    "swin": (Swin, (3, 32, 32)),
    "whisper_encoder": (WhisperEncoder, (20, 64)),
    "mamba_conv": (MambaConv, (24, 32)),
}
CALLS = [(name, "image") for name in MODELS]


@torch.no_grad()
def build(name: str, dtype: torch.dtype) -> tuple[nn.Module, dict[str, RandomWeight]]:
    """A model, and its parameters by name. Its running statistics are not those of a new one."""
    model = MODELS[name][0]().to(dtype).eval()
    generator = torch.Generator().manual_seed(0)
    for key, buffer in model.named_buffers():
        if key.endswith("running_mean"):
            buffer.copy_(0.2 * torch.randn(buffer.shape, generator=generator))
        elif key.endswith("running_var"):
            buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))
    return model, draw_weights(model, dtype)


def arguments(name: str, dtype: torch.dtype) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    given = torch.randn(BATCH, *MODELS[name][1], generator=generator).to(dtype)
    return (given, torch.tensor([3, 750])) if name == "diffusion_unet" else (given,)
