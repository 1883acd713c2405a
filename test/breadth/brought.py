# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as people bring them to compare kernel compilers with: convolutions and transposed
convolutions with tails of several ops, and models with loops, gates and closures."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn, rand, randint, randn

from . import registry

# Compilers have no use for their data.
case = functools.partial(registry.case, data=False)


class Tail(nn.Module):
    """A layer, and what follows it; `layers` are attributes of the module, and `parameters` have
    shapes."""

    def __init__(self, first, tail, layers=None, parameters=None):
        super().__init__()
        self.first, self.tail = first, tail
        for name, layer in (layers or {}).items():
            self.add_module(name, layer)
        for name, shape in (parameters or {}).items():
            self.register_parameter(name, nn.Parameter(randn(shape)))

    def forward(self, x):
        return self.tail(self, self.first(x))


# Convolutions.


@case((2, 3, 8, 10), (128, 8, 64, 128))
def group_norm_scale_pool_clamp(n, c, f, size):
    tail = lambda m, x: F.max_pool2d(m.norm(x) * m.scale, 4).clamp(0, 1)
    return Tail(nn.Conv2d(c, f, 3), tail, {"norm": nn.GroupNorm(4, f)},
                {"scale": (f, 1, 1)}), randn(n, c, size, size)


@case((2, 3, 8, 10), (128, 8, 64, 128))
def group_norm_residual_logsumexp(n, c, f, size):
    tail = lambda m, x: torch.logsumexp(x + F.hardswish(torch.tanh(m.norm(x))), 1, keepdim=True)
    return Tail(nn.Conv2d(c, f, 3), tail, {"norm": nn.GroupNorm(4, f)}), randn(n, c, size, size)


@case((2, 3, 8, 10), (128, 64, 128, 128))
def minimum_of_number(n, c, f, size):
    tail = lambda m, x: 2 * (torch.min(x, torch.tensor(0.5, device=x.device, dtype=x.dtype)) + m.bias)
    return Tail(nn.Conv2d(c, f, 3), tail, None, {"bias": (f, 1, 1)}), randn(n, c, size, size)


@case((2, 3, 8, 10), (32, 16, 32, 128))
def running_sums_of_lines(n, c, f, size):
    return Tail(nn.Conv2d(c, f, 3), lambda m, x: F.relu(x).cumsum(3) / 8), randn(n, c, size, size)


@case((2, 3, 8, 6), (64, 3, 24, 32))
def volume_group_norm_mean(n, c, f, size):
    tail = lambda m, x: m.norm(x).mean((1, 2, 3, 4))
    return Tail(nn.Conv3d(c, f, 3), tail, {"norm": nn.GroupNorm(4, f)}), randn(n, c, size, size, size)


@case((2, 3, 8, 6), (64, 3, 16, 32))
def volume_instance_norm_maximum(n, c, f, size):
    tail = lambda m, x: (m.norm(x * m.scale).clamp(-1, 1) * m.scale).max(1).values
    return Tail(nn.Conv3d(c, f, 3), tail, {"norm": nn.InstanceNorm3d(f)},
                {"scale": (f, 1, 1, 1)}), randn(n, c, size, size, size)


@case((2, 3, 8, 6), (4, 16, 16, 32))
def volume_upsampled_twice(n, c, f, size):
    tail = lambda m, x: torch.cat([F.interpolate(x, scale_factor=2, mode="trilinear"),
                                   F.interpolate(x, scale_factor=2)], 1)
    return Tail(nn.Conv3d(c, f, 3, padding=1), tail), randn(n, c, size, size, size)


@case((2, 3, 5), (4, 64, 48))
def depthwise_volume(n, c, size):
    return nn.Conv3d(c, c, 3, padding=1, groups=c), randn(n, c, size, size, size)


@case((2, 3, 8), (32, 64, 256))
def pool_and_unpool(n, c, size):
    class Unpool(nn.Module):
        def forward(self, x):
            values, places = F.max_pool2d(x, 2, return_indices=True)
            return F.max_unpool2d(values, places, 2)

    return Unpool(), randn(n, c, size, size)


# Transposed convolutions.


@case((2, 3, 8, 6), (128, 64, 64, 128))
def transposed_gelu_group_norm(n, c, f, size):
    tail = lambda m, x: m.norm(F.gelu(x))
    return Tail(nn.ConvTranspose2d(c, f, 3), tail, {"norm": nn.GroupNorm(8, f)}), randn(n, c, size, size)


@case((2, 3, 8, 6), (16, 64, 128, 128))
def transposed_minimum_sum_gelu(n, c, f, size):
    tail = lambda m, x: F.gelu(x.min(1, keepdim=True).values.sum(2, keepdim=True)) + m.bias
    return Tail(nn.ConvTranspose2d(c, f, 3, 2, 1, 1), tail, None,
                {"bias": (1, 1, 1)}), randn(n, c, size, size)


def upsampled_volume(c, f, tail, layers=None, parameters=None, kernel=3, padding=1, extra=1):
    layer = nn.ConvTranspose3d(c, f, kernel, 2, padding, extra)
    return Tail(layer, tail, layers, parameters)


@case((2, 3, 8, 4), (32, 32, 64, 32))
def volume_clamp_softmax(n, c, f, size):
    tail = lambda m, x: x.clamp(0, 1).flatten(2).softmax(2).view(x.shape) * m.scale
    return (upsampled_volume(c, f, tail, None, {"scale": (f, 1, 1, 1)}),
            randn(n, c, size, size, size))


@case((2, 3, 8, 4), (16, 16, 32, 24))
def volume_batch_norm_minus_mean(n, c, f, size):
    def tail(m, x):
        x = m.norm(x)
        return x - x.mean((2, 3, 4), keepdim=True)

    return (upsampled_volume(c, f, tail, {"norm": nn.BatchNorm3d(f)}, extra=0),
            randn(n, c, size, size, size))


@case((2, 3, 8, 4), (128, 3, 16, 32))
def volume_swish_group_norm(n, c, f, size):
    tail = lambda m, x: F.hardswish(m.norm(torch.sigmoid(x) * x))
    return (upsampled_volume(c, f, tail, {"norm": nn.GroupNorm(4, f)}, extra=0),
            randn(n, c, size, size, size))


@case((2, 3, 8, 4), (16, 32, 64, 32))
def volume_two_pools_sum(n, c, f, size):
    tail = lambda m, x: F.max_pool3d(F.max_pool3d(x, 2), 3).sum(1, keepdim=True)
    return (upsampled_volume(c, f, tail, kernel=5, padding=2, extra=0),
            randn(n, c, size, size, size))


@case((2, 3, 5, 4), (4, 8, 8, 48))
def grouped_volume(n, c, f, size):
    return (nn.ConvTranspose3d(4 * c, 4 * f, 3, 2, 1, 1, groups=4),
            randn(n, 4 * c, size, size, size))


# Networks of convolutions.


class MobileBlock(nn.Module):
    def __init__(self, c, f, kernel, stride, expansion):
        super().__init__()
        wide, narrow = c * expansion, max(1, c // 4)
        self.adds = stride == 1 and c == f
        self.body = nn.Sequential(
            nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU(),
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide), nn.SiLU())
        self.excite = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, narrow, 1), nn.SiLU(),
                                    nn.Conv2d(narrow, wide, 1), nn.Sigmoid())
        self.project = nn.Sequential(nn.Conv2d(wide, f, 1, bias=False), nn.BatchNorm2d(f))

    def forward(self, x):
        y = self.body(x)
        y = self.project(y * self.excite(y))
        return x + y if self.adds else y


@case((1, 16), (32, 240))
def mobile_blocks(n, size):
    layers = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.SiLU()]
    layers += [MobileBlock(32, 16, 3, 1, 1), MobileBlock(16, 24, 3, 2, 6), MobileBlock(24, 40, 5, 2, 6),
               MobileBlock(40, 40, 5, 1, 6), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
               nn.Dropout(0.2), nn.Linear(40, 10)]
    return nn.Sequential(*layers), randn(n, 3, size, size)


class SoftmaxUNet(nn.Module):
    def __init__(self, c, classes, f):
        super().__init__()
        twice = lambda a, b: nn.Sequential(*(layer for i in (a, b) for layer in (
            nn.Conv2d(i, b, 3, padding=1), nn.BatchNorm2d(b), nn.Softmax(-1))))
        self.down, self.middle = twice(c, f), twice(f, 2 * f)
        self.rise, self.up = nn.ConvTranspose2d(2 * f, f, 2, 2), twice(2 * f, f)
        self.head = nn.Conv2d(f, classes, 1)

    def forward(self, x):
        skip = self.down(x)
        x = self.rise(self.middle(F.max_pool2d(skip, 2)))
        return self.head(self.up(torch.cat([x, skip], 1)))


@case((1, 4, 8, 12), (8, 64, 64, 512))
def softmax_unet(n, f, height, width):
    return SoftmaxUNet(8, 4, f), randn(n, 8, height, width)


class Autoencoder(nn.Module):
    """A variational one, with its loss."""

    def __init__(self, latent):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1),
                                    nn.ReLU(), nn.Flatten())
        self.mean, self.spread = nn.Linear(2048, latent), nn.Linear(2048, latent)
        self.rise = nn.Linear(latent, 2048)
        self.decode = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(),
                                    nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Sigmoid())

    def forward(self, x, noise):
        hidden = self.encode(x)
        mean, spread = self.mean(hidden), self.spread(hidden)
        latent = mean + noise * torch.exp(0.5 * spread)
        y = self.decode(F.relu(self.rise(latent)).view(-1, 32, 8, 8))
        divergence = -0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
        return y, F.binary_cross_entropy(y, x, reduction="sum") + divergence


@case((2, 5), (512, 64))
def variational_autoencoder(n, latent):
    return Autoencoder(latent), rand(n, 3, 32, 32), randn(n, latent)


class Turned(nn.Module):
    """A spatial transformer."""

    def __init__(self, c):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(c, 8, 7), nn.MaxPool2d(2), nn.ReLU(),
                                    nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(72, 6))

    def forward(self, x):
        grid = F.affine_grid(self.locate(x).view(-1, 2, 3), x.shape, align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


@case((2, 3, 16), (64, 16, 128), bf16=False)
def spatial_transformer(n, c, size):
    return Turned(c), randn(n, c, size, size)


class NormedWeights(nn.Module):
    """A temporal network of dilated convolutions."""

    def __init__(self, c):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.utils.parametrizations.weight_norm(
                nn.Conv1d(c, c, 3, padding=2 * step, dilation=step)) for step in (1, 2, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(x + F.relu(layer(x)[..., :x.shape[-1]]))
        return x[..., -1]


@case((2, 4, 19), (32, 128, 4096))
def normed_weights(n, c, t):
    return NormedWeights(c), randn(n, c, t)


# Recurrences.


class Recurrent(nn.Module):
    def __init__(self, layer, results):
        super().__init__()
        self.layer, self.results = layer, results

    def forward(self, x, *state):
        return self.results(*self.layer(x, *state))


@case((2, 5, 4, 6), (64, 16, 256, 256))
def gru_both_ways_state(b, t, i, h):
    layer = nn.GRU(i, h, 2, bidirectional=True)
    return Recurrent(layer, lambda y, state: state), randn(t, b, i), randn(4, b, h)


@case((2, 5, 4, 6), (64, 16, 256, 256))
def lstm_of_projections(b, t, i, h):
    layer = nn.LSTM(i, h, proj_size=h // 2, batch_first=True)
    return Recurrent(layer, lambda y, state: y[:, -1]), randn(b, t, i)


class SelectiveScan(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n, wide = n, 2 * d
        self.enter, self.leave = nn.Linear(d, 2 * wide, bias=False), nn.Linear(wide, d, bias=False)
        self.mix = nn.Conv1d(wide, wide, 4, padding=3, groups=wide)
        self.select, self.rate = nn.Linear(wide, 2 * n + 4, bias=False), nn.Linear(4, wide)
        self.decay = nn.Parameter(torch.log(torch.arange(1, n + 1).float()).repeat(wide, 1))

    def forward(self, x):
        t = x.shape[1]
        x, gate = self.enter(x).chunk(2, -1)
        x = F.silu(self.mix(x.transpose(1, 2))[..., :t].transpose(1, 2))
        rate, b, c = self.select(x).split([4, self.n, self.n], -1)
        rate = F.softplus(self.rate(rate))[..., None]
        keep, add = torch.exp(-rate * self.decay.exp()), rate * b[:, :, None] * x[..., None]
        state, results = torch.zeros_like(keep[:, 0]), []
        for i in range(t):
            state = keep[:, i] * state + add[:, i]
            results.append((state * c[:, i, None]).sum(-1))
        return self.leave(torch.stack(results, 1) * F.silu(gate))


@case((2, 6, 8, 4), (32, 16, 512, 16))
def selective_scan(b, t, d, n):
    return SelectiveScan(d, n), randn(b, t, d)


class StateSpaceBlocks(nn.Module):
    """Chunks of a state-space model, by products of four factors."""

    def __init__(self, b, t, heads, n, block):
        super().__init__()
        self.block = block
        self.decay = nn.Parameter(-rand(b, t, heads))
        self.enter, self.leave = nn.Parameter(randn(b, t, heads, n)), nn.Parameter(randn(b, t, heads, n))

    @staticmethod
    def segments(x):
        sums = x.cumsum(-1)
        mask = torch.ones(x.shape[-1], x.shape[-1], device=x.device, dtype=torch.bool).tril()
        return (sums[..., :, None] - sums[..., None, :]).masked_fill(~mask, -torch.inf)

    def forward(self, x):
        split = lambda y: y.unflatten(1, (-1, self.block))
        x, a, b, c = map(split, (x, self.decay, self.enter, self.leave))
        a = a.permute(0, 3, 1, 2)
        sums = a.cumsum(-1)
        own = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, self.segments(a).exp(), x)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, (sums[..., -1:] - sums).exp(), x)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
        chunks = self.segments(F.pad(sums[..., -1], (1, 0))).exp()
        before = torch.einsum("bhzc,bchpn->bzhpn", chunks, states)[:, :-1]
        return (own + torch.einsum("bclhn,bchpn,bhcl->bclhp", c, before, sums.exp())).flatten(1, 2)


@case((2, 3, 2, 3, 5, 4), (256, 2, 8, 64, 16, 64))
def state_space_blocks(b, blocks, heads, p, n, block):
    t = blocks * block
    return StateSpaceBlocks(b, t, heads, n, block), randn(b, t, heads, p)


class DeltaRule(nn.Module):
    def forward(self, q, k, v, rate, decay):
        k = F.normalize(k, dim=-1)
        state, results = torch.zeros_like(k[:, :, 0, :, None] * v[:, :, 0, None]), []
        for i in range(q.shape[2]):
            state = state * decay[:, :, i].exp()[..., None, None]
            known = torch.einsum("bhd,bhde->bhe", k[:, :, i], state)
            state = state + k[:, :, i, :, None] * (rate[:, :, i, None] * (v[:, :, i] - known))[:, :, None]
            results.append(torch.einsum("bhd,bhde->bhe", q[:, :, i], state))
        return torch.stack(results, 2)


@case((1, 2, 5, 4), (8, 16, 16, 64))
def delta_rule(b, heads, t, d):
    return (DeltaRule(), *(randn(b, heads, t, d) for _ in range(3)), rand(b, heads, t),
            -rand(b, heads, t))


# Attention and transformers.


class Block(nn.Module):
    """With the MLP as a closure, which copies of the module share."""

    def __init__(self, d, heads, t):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])
        self.project, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(t, t)).view(1, 1, t, t))
        self.parts = parts = nn.ModuleDict({"up": nn.Linear(d, 4 * d), "down": nn.Linear(4 * d, d)})
        self.mlp = lambda x: parts.down(F.gelu(parts.up(x), approximate="tanh"))

    def attend(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.project(x).split(d, 2))
        scores = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, t, d))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):
    def __init__(self, d, heads, t, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, d), nn.Embedding(t, d)
        self.blocks = nn.ModuleList([Block(d, heads, t) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


@case((2, 7, 12, 2, 31), (8, 1024, 768, 12, 50257))
def decoder_with_loss(b, t, d, heads, vocabulary):
    return (Decoder(d, heads, t, vocabulary), randint(0, vocabulary, (b, t)),
            randint(0, vocabulary, (b, t)))


class Differential(nn.Module):
    """The difference of two attentions."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.weight = heads, nn.Parameter(torch.tensor(0.3))
        self.project, self.value, self.norm = nn.Linear(d, 2 * d), nn.Linear(d, d), nn.RMSNorm(d // heads)

    def forward(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, 2, -1)).unbind(3)
        q, k = map(split, self.project(x).chunk(2, -1))
        v = self.value(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        first, second = ((torch.einsum("bqhd,bkhd->bhqk", a, b) * a.shape[-1] ** -0.5).softmax(-1)
                         for a, b in zip(q, k))
        return (0.8 * self.norm((first - self.weight * second) @ v)).transpose(1, 2).flatten(2)


@case((2, 7, 16, 2), (8, 1024, 1024, 8))
def differential_attention(b, t, d, heads):
    return Differential(d, heads), randn(b, t, d)


@case((2, 2, 6, 4), (4, 8, 1024, 128))
def retention(b, heads, t, d):
    class Retention(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rate", 1 - 2.0 ** (-5 - torch.arange(heads).float()))

        def forward(self, q, k, v):
            places = torch.arange(q.shape[2], device=q.device)
            distance = (places[:, None] - places).to(q.dtype)
            decay = torch.where(distance >= 0, self.rate[:, None, None] ** distance,
                                torch.zeros_like(distance))
            return (q @ k.transpose(-1, -2) * decay) @ v / math.sqrt(q.shape[-1])

    return Retention(), *(randn(b, heads, t, d) for _ in range(3))


class Clusters(nn.Module):
    """Sums of differences to clusters, some of which only take noise."""

    def __init__(self, clusters, ghosts, d):
        super().__init__()
        self.assign = nn.Parameter(randn(d, clusters + ghosts) / math.sqrt(d))
        self.centers = nn.Parameter(randn(1, d, clusters) / math.sqrt(d))
        self.norm = nn.BatchNorm1d(clusters + ghosts)

    def forward(self, x):
        b, n, d = x.shape
        shares = self.norm(x.reshape(-1, d) @ self.assign).softmax(1)[:, :self.centers.shape[2]]
        shares = shares.view(b, n, -1)
        sums = (shares.transpose(1, 2) @ x).transpose(1, 2)
        return F.normalize(F.normalize(sums - shares.sum(1, keepdim=True) * self.centers).flatten(1))


@case((2, 7, 5, 3, 8), (2048, 100, 32, 3, 512))
def clusters_with_ghosts(b, n, clusters, ghosts, d):
    return Clusters(clusters, ghosts, d), randn(b, n, d)


class Interactions(nn.Module):
    def __init__(self, rows, d):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(rows, d, mode="sum") for _ in range(4)])
        self.bottom = nn.Sequential(nn.Linear(13, 2 * d), nn.ReLU(), nn.Linear(2 * d, d), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(d + 10, 4 * d), nn.ReLU(), nn.Linear(4 * d, 1))

    def forward(self, dense, *bags):
        x = self.bottom(dense)
        features = torch.stack([x] + [table(bag) for table, bag in zip(self.tables, bags)], 1)
        rows, columns = torch.tril_indices(5, 5, -1)
        pairs = torch.bmm(features, features.transpose(1, 2))[:, rows, columns]
        return torch.sigmoid(self.top(torch.cat([x, pairs], 1)))


@case((3, 9, 4), (8192, 100000, 64))
def interactions_of_bags(b, rows, d):
    return Interactions(rows, d), randn(b, 13), *(randint(0, rows, (b, 3)) for _ in range(4))
