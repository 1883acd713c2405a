# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules written from the documentation alone."""

import torch
import torch.nn.functional as F
from torch import nn, rand, randint, randn

from .registry import Function, case

# Element-wise, with broadcasts and masks.


@case((2, 3, 5, 7), (17, 63, 129, 95))
def broadcast_odd_shapes(a, b, c, d):
    function = lambda x, y, z, w: torch.tanh(x + y) * z.sigmoid() - w * (x - z).abs()
    return Function(function), randn(a, 1, c, 1), randn(b, 1, d), randn(c, d), randn(a, b, 1, 1)


@case((2, 9, 11), (16, 1000, 777))
def banded_mix(b, t, d):
    def function(x, y, keep):
        rows = torch.arange(x.shape[1], device=x.device)[:, None]
        columns = torch.arange(x.shape[2], device=x.device)
        band = (rows - columns).abs() % 5 < 3
        return torch.where(keep[:, :, None] & band, x * 0.7 + y * 0.3, torch.where(band, y, -x).exp())

    return Function(function), randn(b, t, d), randn(b, t, d), randint(0, 2, (b, t)).bool()


@case((2, 8, 9), (32, 384, 384))
def color_jitter(n, h, w):
    def function(image, brightness, contrast, saturation):
        factors = [each[:, None, None, None] for each in (brightness, contrast, saturation)]
        image = (image * factors[0]).clamp(0, 1)
        gray = 0.299 * image[:, 0:1] + 0.587 * image[:, 1:2] + 0.114 * image[:, 2:3]
        mean = gray.mean(dim=(1, 2, 3), keepdim=True)
        image = (factors[1] * image + (1 - factors[1]) * mean).clamp(0, 1)
        gray = 0.299 * image[:, 0:1] + 0.587 * image[:, 1:2] + 0.114 * image[:, 2:3]
        return torch.lerp(gray.expand_as(image), image, factors[2]).clamp(0, 1)

    return Function(function), rand(n, 3, h, w), *(0.5 + rand(n) for _ in range(3))


@case((2, 7, 9), (32, 384, 384))
def rgb_to_hsv(n, h, w):
    def function(image):
        r, g, b = image.unbind(1)
        high, low = image.amax(1), image.amin(1)
        span = high - low
        safe = torch.where(span == 0, torch.ones_like(span), span)
        hue = torch.where(high == r, (g - b) / safe,
                          torch.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4))
        hue = torch.where(hue < 0, hue + 6, hue) / 6
        saturation = torch.where(high == 0, torch.zeros_like(high), span / high.clamp_min(1e-6))
        return torch.stack([hue, saturation, high], dim=1)

    return Function(function), rand(n, 3, h, w)


@case((2, 9, 8), (16, 2048, 512))
def sinusoidal_positions(b, t, d):
    def function(x):
        _, length, width = x.shape
        position = torch.arange(length, device=x.device, dtype=torch.float32)[:, None]
        rate = 10000 ** (-torch.arange(0, width, 2, device=x.device, dtype=torch.float32) / width)
        table = torch.stack([(position * rate).sin(), (position * rate).cos()], dim=-1).flatten(1)
        return x * width ** 0.5 + table.to(x.dtype)

    return Function(function), randn(b, t, d)


# Normalizations and statistics.


class ChannelsFirstNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight, self.bias = nn.Parameter(1 + 0.1 * randn(c)), nn.Parameter(0.1 * randn(c))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + 1e-6)
        return F.gelu(self.weight[:, None, None] * x + self.bias[:, None, None])


@case((2, 6, 5, 7), (64, 96, 56, 56))
def channels_first_norm(n, c, h, w):
    return ChannelsFirstNorm(c), randn(n, c, h, w)


class GlobalResponseNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(randn(1, 1, 1, c)), nn.Parameter(randn(1, 1, 1, c))

    def forward(self, x):
        size = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        return self.gamma * (x * (size / (size.mean(dim=-1, keepdim=True) + 1e-6))) + self.beta + x


@case((2, 5, 7, 8), (64, 28, 28, 384))
def global_response_norm(n, h, w, c):
    return GlobalResponseNorm(c), randn(n, h, w, c)


class AdaptiveLayerNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 3 * width))

    def forward(self, x, condition):
        shift, scale, gate = self.modulation(condition)[:, None].chunk(3, dim=-1)
        return x + gate * (self.norm(x) * (1 + scale) + shift)


@case((2, 5, 12), (32, 1024, 768))
def adaptive_layer_norm(b, t, width):
    return AdaptiveLayerNorm(width), randn(b, t, width), randn(b, width)


@case((33, 7), (16384, 1000))
def moments_of_columns(n, d):
    def function(x):
        variance, mean = torch.var_mean(x, dim=0, correction=0)
        z = (x - mean) * torch.rsqrt(variance + 1e-5)
        return mean, variance.sqrt(), z.pow(3).mean(0), z.pow(4).mean(0) - 3

    return Function(function), randn(n, d).exp()


# Losses and distances.


class SigmoidContrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.bias = nn.Parameter(torch.tensor(2.3)), nn.Parameter(torch.tensor(-10.0))

    def forward(self, x, y):
        logits = F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).t() * self.scale.exp() + self.bias
        signs = 2 * torch.eye(x.shape[0], dtype=x.dtype, device=x.device) - 1
        return -F.logsigmoid(signs * logits).sum(-1).mean()


@case((9, 16), (4096, 512))
def sigmoid_contrastive(n, d):
    x = randn(n, d)
    return SigmoidContrastive(), x, x + randn(n, d)


class Pinball(nn.Module):
    def __init__(self, q):
        super().__init__()
        self.register_buffer("levels", torch.arange(1, q + 1) / (q + 1))

    def forward(self, predicted, target):
        error = target[:, None] - predicted
        return torch.maximum(self.levels * error, (self.levels - 1) * error).sum(1).mean()


@case((13, 3), (1 << 20, 9))
def pinball(n, q):
    return Pinball(q), randn(n, q), randn(n)


@case((19,), (1 << 20,))
def generalized_iou(n):
    def function(a, b):
        area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
        area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        inner = (torch.min(a[:, 2:], b[:, 2:]) - torch.max(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
        outer = (torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])).prod(1)
        union = area_a + area_b - inner
        return (1 - inner / union + (outer - union) / outer).mean()

    boxes = lambda corner: torch.cat([corner, corner + 0.25 + rand(n, 2)], 1)
    return Function(function), boxes(rand(n, 2)), boxes(rand(n, 2))


@case((2, 11, 7), (8, 2048, 1536))
def chamfer(b, n, m):
    def function(x, y):
        squares = (x[:, :, None] - y[:, None]).square().sum(-1)
        return squares.min(2).values.mean(1) + squares.min(1).values.mean(1)

    return Function(function), randn(b, n, 3), randn(b, m, 3)


@case((9, 11, 5), (2048, 1536, 64), bf16=False)
def manhattan_kernel(n, m, d):
    return Function(lambda x, y: torch.exp(torch.cdist(x, y, p=1.0) / -x.shape[1])), randn(n, d), randn(m, d)


@case((9, 13, 16), (4096, 3001, 256))
def pairwise_cosine(n, m, d):
    def function(x, y):
        cosines = F.normalize(x, dim=1) @ F.normalize(y, dim=1).T
        return cosines.amax(1), torch.logsumexp(cosines / 0.1, dim=1), cosines.relu().mean(0)

    return Function(function), randn(n, d), randn(m, d)


# Linear layers with unusual tails, and mixtures of experts.


class Maxout(nn.Module):
    def __init__(self, k, units, pieces):
        super().__init__()
        self.linear, self.pieces = nn.Linear(k, units * pieces), pieces

    def forward(self, x):
        return F.hardswish(self.linear(x).unflatten(-1, (-1, self.pieces)).amax(-1))


@case((5, 12, 8, 3), (4096, 1024, 1024, 4))
def maxout(b, k, units, pieces):
    return Maxout(k, units, pieces), randn(b, k)


@case((3, 5, 16, 12), (48, 5, 1024, 1000))
def skinny_batches(b, m, k, n):
    function = lambda x, w: F.softplus(torch.bmm(x, w) * w.shape[1] ** -0.5).mean(1)
    return Function(function), randn(b, m, k), randn(b, k, n)


class ExpertsByMask(nn.Module):
    """All experts on all tokens; the two best of each token count."""

    def __init__(self, width, hidden, experts):
        super().__init__()
        self.up = nn.Parameter(randn(experts, width, hidden) * width ** -0.5)
        self.down = nn.Parameter(randn(experts, hidden, width) * hidden ** -0.5)

    def forward(self, x, logits):
        least = torch.topk(logits, 2, dim=-1).values[:, 1:]
        gates = torch.softmax(logits.masked_fill(logits < least, float("-inf")), dim=-1)
        hidden = F.silu(torch.einsum("nd,edh->neh", x, self.up)) * gates[:, :, None]
        return torch.einsum("neh,ehd->nd", hidden, self.down)


@case((7, 8, 12, 4), (2048, 512, 1024, 8))
def experts_by_mask(n, width, hidden, experts):
    return ExpertsByMask(width, hidden, experts), randn(n, width), randn(n, experts)


# Attention.


class AlibiInWindow(nn.Module):
    def __init__(self, heads, window):
        super().__init__()
        self.window = window
        self.register_buffer("slopes", 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads))

    def forward(self, q, k, v):
        positions = torch.arange(q.shape[2], device=q.device)
        distance = positions[:, None] - positions[None, :]
        bias = -self.slopes[:, None, None] * distance.to(q.dtype)
        bias = bias.masked_fill((distance < 0) | (distance >= self.window), float("-inf"))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])


@case((2, 3, 10, 8, 4), (4, 12, 1024, 64, 200))
def alibi_in_window(b, heads, t, d, window):
    return AlibiInWindow(heads, window), *(randn(b, heads, t, d) for _ in range(3))


class ShiftedWindows(nn.Module):
    """Attention within shifted windows of an image, with a table of relative positions."""

    def __init__(self, window, heads, d):
        super().__init__()
        self.window, self.heads = window, heads
        self.qkv, self.out = nn.Linear(heads * d, 3 * heads * d), nn.Linear(heads * d, heads * d)
        self.table = nn.Embedding((2 * window - 1) ** 2, heads)
        grid = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij"))
        offset = grid.flatten(1)[:, :, None] - grid.flatten(1)[:, None] + window - 1
        self.register_buffer("offset", offset[0] * (2 * window - 1) + offset[1])

    def forward(self, x):
        b, h, w, c = x.shape
        size, shift = self.window, self.window // 2
        x = torch.roll(x, (-shift, -shift), dims=(1, 2))
        x = x.view(b, h // size, size, w // size, size, c).transpose(2, 3).reshape(-1, size * size, c)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + self.table(self.offset).permute(2, 0, 1)
        x = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = self.out(x).view(b, h // size, w // size, size, size, c).transpose(2, 3).reshape(b, h, w, c)
        return torch.roll(x, (shift, shift), dims=(1, 2))


@case((2, 2, 3, 2, 8), (32, 8, 7, 3, 32))
def shifted_windows(b, windows, window, heads, d):
    return ShiftedWindows(window, heads, d), randn(b, windows * window, windows * window, heads * d)


class LatentsToInputs(nn.Module):
    def __init__(self, heads, d):
        super().__init__()
        width = heads * d
        self.heads = heads
        self.norm_latents, self.norm_inputs = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, latents, x):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = self.key_value(self.norm_inputs(x)).chunk(2, dim=-1)
        y = F.scaled_dot_product_attention(split(self.query(self.norm_latents(latents))), split(k), split(v))
        return latents + self.out(y.transpose(1, 2).flatten(2))


@case((2, 13, 5, 2, 8), (4, 4096, 128, 8, 64))
def latents_to_inputs(b, s, latents, heads, d):
    return LatentsToInputs(heads, d), randn(b, latents, heads * d), randn(b, s, heads * d)


@case((2, 2, 9, 8), (8, 12, 4096, 64))
def linear_attention(b, h, t, d):
    def function(q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        context = torch.einsum("bhtd,bhte->bhde", k, v)
        total = torch.einsum("bhtd,bhd->bht", q, k.sum(2))
        return torch.einsum("bhtd,bhde->bhte", q, context) / total[..., None]

    return Function(function), *(randn(b, h, t, d) for _ in range(3))


# Convolutions, pooling and images.


def convolution(c, k, size):
    return nn.Sequential(nn.Conv2d(c, k, size, padding=size // 2), nn.ReLU())


class Inception(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.one = convolution(c, c // 3, 1)
        self.three = nn.Sequential(convolution(c, c // 2, 1), convolution(c // 2, 2 * c // 3, 3))
        self.five = nn.Sequential(convolution(c, c // 12, 1), convolution(c // 12, c // 6, 5))
        self.pool = nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), convolution(c, c // 6, 1))

    def forward(self, x):
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pool(x)], dim=1)


@case((2, 12, 7), (32, 192, 28))
def inception(n, c, size):
    return Inception(c), randn(n, c, size, size)


class ConvNextBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.depthwise = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.norm = nn.LayerNorm(c, eps=1e-6)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.scale = nn.Parameter(0.1 * randn(c))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


@case((2, 8, 9), (16, 96, 56))
def convnext_block(n, c, size):
    return ConvNextBlock(c), randn(n, c, size, size)


class UpsamplingStage(nn.Module):
    """A stage of the decoder of a U-Net."""

    def __init__(self, c):
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * c, c, 2, stride=2)
        self.mix = nn.Conv2d(2 * c, c, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, c)

    def forward(self, x, skip):
        return F.silu(self.norm(self.mix(torch.cat([skip, self.up(x)], dim=1))))


@case((2, 8, 5), (16, 64, 32))
def upsampling_stage(n, c, size):
    return UpsamplingStage(c), randn(n, 2 * c, size, size), randn(n, c, 2 * size, 2 * size)


class DilatedGates(nn.Module):
    """A layer of a WaveNet."""

    def __init__(self, c, dilation=8):
        super().__init__()
        self.dilation = dilation
        self.filter = nn.Conv1d(c, 2 * c, 2, dilation=dilation)
        self.residual, self.skip = nn.Conv1d(c, c, 1), nn.Conv1d(c, 2 * c, 1)

    def forward(self, x):
        signal, gate = self.filter(F.pad(x, (self.dilation, 0))).chunk(2, dim=1)
        y = torch.tanh(signal) * torch.sigmoid(gate)
        return (x + self.residual(y)) * 0.5 ** 0.5, self.skip(y)


@case((2, 6, 21), (8, 64, 16384))
def dilated_gates(n, c, length):
    return DilatedGates(c), randn(n, c, length)


class DownsamplingBlock(nn.Module):
    """A basic block of a ResNet that halves the image."""

    def __init__(self, c):
        super().__init__()
        self.first = nn.Conv2d(c, 2 * c, 3, stride=2, padding=1, bias=False)
        self.second = nn.Conv2d(2 * c, 2 * c, 3, padding=1, bias=False)
        self.shortcut = nn.Conv2d(c, 2 * c, 1, stride=2, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(2 * c) for _ in range(3))
        for norm in self.norms:
            norm.running_mean.normal_(std=0.1)
            norm.running_var.uniform_(0.5, 1.5)

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.norms[2](self.shortcut(x)))


@case((2, 6, 8), (32, 64, 56))
def downsampling_block(n, c, size):
    return DownsamplingBlock(c), randn(n, c, size, size)


class SobelEdges(nn.Module):
    def __init__(self):
        super().__init__()
        across = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
        self.register_buffer("filters", torch.stack([across, across.t()])[:, None])

    def forward(self, image):
        gray = image.mean(1, keepdim=True)
        slopes = F.conv2d(F.pad(gray, (1, 1, 1, 1), mode="reflect"), self.filters)
        edges = torch.sqrt(slopes.square().sum(1, keepdim=True) + 1e-6)
        return edges / edges.amax(dim=(2, 3), keepdim=True)


@case((2, 9, 12), (32, 512, 512))
def sobel_edges(n, h, w):
    return SobelEdges(), rand(n, 3, h, w)


# Embeddings, gathers, scatters, scans and sorts.


class TokenEmbeddings(nn.Module):
    def __init__(self, words, width, t):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width, padding_idx=0), nn.Embedding(t, width)
        self.segments, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, eps=1e-12)

    def forward(self, tokens, segments):
        positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        return self.norm(self.words(tokens) + self.positions(positions) + self.segments(segments))


@case((37, 12, 2, 7), (30522, 768, 32, 512))
def token_and_segment_embeddings(words, width, b, t):
    return TokenEmbeddings(words, width, t), randint(0, words, (b, t)), randint(0, 2, (b, t))


class MaskedTokens(nn.Module):
    """The tokens that an encoder saw at their places among mask tokens."""

    def __init__(self, t, k, width):
        super().__init__()
        self.embed = nn.Linear(k, width)
        self.mask, self.positions = nn.Parameter(randn(1, 1, width)), nn.Parameter(randn(1, t, width))

    def forward(self, visible, places):
        x = self.embed(visible)
        full = self.mask.expand(x.shape[0], self.positions.shape[1], -1)
        return full.scatter(1, places[:, :, None].expand_as(x), x) + self.positions


@case((2, 12, 5, 8, 10), (64, 1024, 256, 128, 256))
def masked_tokens(b, t, seen, k, width):
    return MaskedTokens(t, k, width), randn(b, seen, k), rand(b, t).argsort(1)[:, :seen].contiguous()


class EdgeConvolution(nn.Module):
    def __init__(self, d, out):
        super().__init__()
        self.linear = nn.Linear(2 * d, out)

    def forward(self, x, neighbors):
        batch = torch.arange(x.shape[0], device=x.device)[:, None, None]
        center = x[:, :, None].expand(-1, -1, neighbors.shape[2], -1)
        edges = torch.cat([x[batch, neighbors] - center, center], dim=-1)
        return F.leaky_relu(self.linear(edges), 0.2).amax(2)


@case((2, 9, 4, 6, 8), (8, 1024, 20, 64, 64))
def edge_convolution(b, n, k, d, out):
    return EdgeConvolution(d, out), randn(b, n, d), randint(0, n, (b, n, k))


@case((5, 12), (32768, 128))
def volume_rendering(rays, samples):
    def function(density, color, step):
        alpha = 1 - torch.exp(-F.relu(density) * step)
        light = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], 1), 1)[:, :-1]
        weights = alpha * light
        depth = (weights * step.cumsum(1)).sum(1)
        total = weights.sum(1, keepdim=True)
        return (weights[..., None] * color.sigmoid()).sum(1) + (1 - total), depth, total

    return Function(function), randn(rays, samples), randn(rays, samples, 3), 0.1 * rand(rays, samples)


@case((6, 17), (4096, 512))
def sparsemax(n, d):
    def function(x):
        z = x.float()
        ordered = torch.sort(z, dim=-1, descending=True).values
        sums = ordered.cumsum(-1) - 1
        count = torch.arange(1, z.shape[-1] + 1, device=z.device)
        support = (count * ordered > sums).sum(-1, keepdim=True)
        return F.relu(z - sums.gather(-1, support - 1) / support).to(x.dtype)

    return Function(function), randn(n, d)


class TopValuesPooling(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.head = nn.Linear(2 * d, classes)

    def forward(self, x):
        best = torch.topk(x, 4, dim=1).values.mean(1)
        return self.head(torch.cat([best, x.mean(1)], dim=-1)).log_softmax(-1)


@case((2, 9, 6, 5), (32, 1024, 256, 100))
def top_values_pooling(b, t, d, classes):
    return TopValuesPooling(d, classes), randn(b, t, d)


# Recurrent cells.


class ConvolutionalLstmCell(nn.Module):
    def __init__(self, c, hidden):
        super().__init__()
        self.gates = nn.Conv2d(c + hidden, 4 * hidden, 3, padding=1)

    def forward(self, x, h, c):
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


@case((2, 3, 4, 6), (8, 64, 64, 64))
def convolutional_lstm_cell(n, c, hidden, size):
    states = (randn(n, hidden, size, size) for _ in range(2))
    return ConvolutionalLstmCell(c, hidden), randn(n, c, size, size), *states


class SimpleRecurrentUnit(nn.Module):
    """Products of all steps first, then a recurrence of elements."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 3 * width)

    def forward(self, x, state):
        candidate, forget, reset = self.linear(x).chunk(3, dim=-1)
        forget, reset = forget.sigmoid(), reset.sigmoid()
        results = []
        for step in range(x.shape[0]):
            state = forget[step] * state + (1 - forget[step]) * candidate[step]
            results.append(reset[step] * state.tanh() + (1 - reset[step]) * x[step])
        return torch.stack(results), state


@case((3, 10), (2048, 512))
def simple_recurrent_unit(b, width):
    return SimpleRecurrentUnit(width), randn(8, b, width), randn(b, width)
