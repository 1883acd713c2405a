# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as people write them, for measuring how many of a model's answers are legal.

They were written without looking at the rules or the prompts. Do not adapt them to either: write
others instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn, randint, randn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from breadth.registry import Case

MODULES: dict[str, Case] = {}


def module(small: tuple, large: tuple) -> Callable:
    """Registers a class. Its constructor takes the sizes, and `inputs` returns its inputs."""

    def register(kind: type[nn.Module]) -> type[nn.Module]:
        def build(*sizes):
            made = kind(*sizes)
            return made, *made.inputs(*sizes)

        name = "".join("_" + c.lower() if c.isupper() else c for c in kind.__name__).strip("_")
        MODULES[name] = Case(name, build, small, large)
        return kind

    return register


@module((2, 6, 32, 4), (8, 1024, 1024, 16))
class DiffusionBlock(nn.Module):
    """A transformer block whose norms are shifted and scaled by a condition (DiT)."""

    def __init__(self, b, t, width, heads):
        super().__init__()
        self.heads = heads
        self.first = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.second = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * width, width))
        self.condition = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def inputs(self, b, t, width, heads):
        return randn(b, t, width), randn(b, width)

    def attend(self, x):
        b, t, width = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, width))

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.condition(c)[:, None].chunk(6, -1)
        x = x + gate1 * self.attend(self.first(x) * (1 + scale1) + shift1)
        return x + gate2 * self.mlp(self.second(x) * (1 + scale2) + shift2)


@module((2, 5, 7, 32, 4), (8, 512, 1024, 768, 12))
class CrossAttentionWithQueryNorm(nn.Module):
    """Cross attention with queries and keys normalized per head, as in newer decoders."""

    def __init__(self, b, t, s, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.q_norm, self.k_norm = (nn.RMSNorm(width // heads) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def inputs(self, b, t, s, width, heads):
        return randn(b, t, width), randn(b, s, width)

    def forward(self, x, memory):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = self.norm(x)
        q, k, v = split(self.q(y)), split(self.k(memory)), split(self.v(memory))
        y = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        return x + self.out(y.transpose(1, 2).flatten(-2))


@module((2, 6, 32, 4), (4, 2048, 1024, 16))
class LinearAttention(nn.Module):
    """Attention with elu(x) + 1 as the kernel function, not causal."""

    def __init__(self, b, t, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    def inputs(self, b, t, width, heads):
        return (randn(b, t, width),)

    def forward(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = (split(y) for y in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        context = k.transpose(-2, -1) @ v
        norm = q @ k.sum(-2, keepdim=True).transpose(-2, -1)
        return self.out((q @ context / (norm + 1e-6)).transpose(1, 2).flatten(-2))


@module((4, 3, 5, 16), (4096, 26, 13, 128))
class DotInteraction(nn.Module):
    """A recommender's dense features, embeddings and their pairwise products."""

    def __init__(self, b, tables, dense, width):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(dense, 4 * width), nn.ReLU(),
                                    nn.Linear(4 * width, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 2 * width), nn.ReLU(),
                                 nn.Linear(2 * width, 1))
        rows, columns = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", rows * (tables + 1) + columns)

    def inputs(self, b, tables, dense, width):
        return randn(b, dense), randn(b, tables, width)

    def forward(self, dense, embedded):
        x = self.bottom(dense)
        features = torch.cat([x[:, None], embedded], 1)
        products = (features @ features.transpose(1, 2)).flatten(1)[:, self.pairs]
        return torch.sigmoid(self.top(torch.cat([x, products], 1))).squeeze(-1)


@module((2, 6, 32, 8), (8, 1024, 1024, 32))
class AdaptedMlp(nn.Module):
    """A normalized gated MLP whose projections have low-rank adapters (LoRA)."""

    def __init__(self, b, t, width, rank):
        super().__init__()
        hidden = 2 * width
        self.norm = nn.RMSNorm(width)
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        self.gate_a, self.up_a = (nn.Linear(width, rank, bias=False) for _ in range(2))
        self.gate_b, self.up_b = (nn.Linear(rank, hidden, bias=False) for _ in range(2))

    def inputs(self, b, t, width, rank):
        return (randn(b, t, width),)

    def forward(self, x):
        y = self.norm(x)
        gate = self.gate(y) + 0.5 * self.gate_b(self.gate_a(y))
        up = self.up(y) + 0.5 * self.up_b(self.up_a(y))
        return x + self.down(F.silu(gate) * up)


@module((6, 16, 8), (4096, 1024, 256))
class ContrastiveLoss(nn.Module):
    """Two projections, normalized, their similarities, and the loss of both directions (CLIP)."""

    def __init__(self, b, width, n):
        super().__init__()
        self.image, self.text = nn.Linear(width, n, bias=False), nn.Linear(width, n, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.659))

    def inputs(self, b, width, n):
        return randn(b, width), randn(b, width)

    def forward(self, image, text):
        image = F.normalize(self.image(image), dim=-1)
        text = F.normalize(self.text(text), dim=-1)
        logits = self.scale.exp() * image @ text.t()
        own = logits.diagonal()
        rows = torch.logsumexp(logits, 1) - own
        columns = torch.logsumexp(logits, 0) - own
        return 0.5 * (rows.mean() + columns.mean())


@module((3, 16, 24, 6), (8192, 1024, 2048, 128))
class VariationalEncoder(nn.Module):
    """Mean and variance of a latent, a sample of it, and the divergence from a normal."""

    def __init__(self, b, k, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(k, hidden), nn.LayerNorm(hidden), nn.ELU(),
                                  nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.ELU())
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)

    def inputs(self, b, k, hidden, latent):
        return randn(b, k), randn(b, latent)

    def forward(self, x, noise):
        y = self.body(x)
        mean, log_variance = self.mean(y), self.log_variance(y).clamp(-10, 10)
        sample = mean + noise * torch.exp(0.5 * log_variance)
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(-1)
        return sample, divergence.mean()


@module((2, 4, 8, 8), (32, 128, 64, 64))
class ResidualUnit(nn.Module):
    """Group norms, swish and convolutions with a time embedding, as in a U-Net."""

    def __init__(self, b, c, height, width):
        super().__init__()
        self.first, self.second = nn.GroupNorm(min(32, c), c), nn.GroupNorm(min(32, c), c)
        self.conv1, self.conv2 = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)
        self.time = nn.Linear(4 * c, c)

    def inputs(self, b, c, height, width):
        return randn(b, c, height, width), randn(b, 4 * c)

    def forward(self, x, t):
        y = self.conv1(F.silu(self.first(x)))
        y = y + self.time(F.silu(t))[:, :, None, None]
        return x + self.conv2(F.silu(self.second(y)))


@module((2, 8, 8, 8), (64, 96, 56, 56))
class ConvNextUnit(nn.Module):
    """A depthwise convolution, a norm over channels, and an MLP with a layer scale."""

    def __init__(self, b, c, height, width):
        super().__init__()
        self.depthwise = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.norm = nn.LayerNorm(c, eps=1e-6)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.scale = nn.Parameter(torch.full((c,), 1e-1))

    def inputs(self, b, c, height, width):
        return (randn(b, c, height, width),)

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


@module((3, 5, 16, 40), (8, 512, 1024, 32000))
class SmoothedHead(nn.Module):
    """A language model's head and its cross entropy with label smoothing."""

    def __init__(self, b, t, width, words):
        super().__init__()
        self.words = words
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def inputs(self, b, t, width, words):
        return randn(b, t, width), randint(0, words, (b, t))

    def forward(self, x, labels):
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1)


@module((2, 7, 16, 4), (256, 197, 768, 12))
class AttentionPooling(nn.Module):
    """One learned query that attends to all tokens, a residual MLP, and a classifier."""

    def __init__(self, b, t, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(0.02 * randn(1, 1, width))
        self.norm = nn.LayerNorm(width)
        self.q, self.kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))
        self.head = nn.Linear(width, 1000)

    def inputs(self, b, t, width, heads):
        return (randn(b, t, width),)

    def forward(self, x):
        b, t, width = x.shape
        split = lambda y: y.view(b, -1, self.heads, width // self.heads).transpose(1, 2)
        k, v = self.kv(self.norm(x)).chunk(2, -1)
        scores = split(self.q(self.query).expand(b, -1, -1)) @ split(k).transpose(-2, -1)
        weights = (scores * (width // self.heads) ** -0.5).softmax(-1)
        y = (weights @ split(v)).transpose(1, 2).reshape(b, width)
        return self.head(y + self.mlp(y))


@module((3, 5, 8, 12), (64, 512, 128, 256))
class GraphAttention(nn.Module):
    """A layer of a graph network: scores of pairs from two sums, masked by the edges."""

    def __init__(self, b, nodes, k, n):
        super().__init__()
        self.linear = nn.Linear(k, n, bias=False)
        self.source, self.target = nn.Linear(n, 1, bias=False), nn.Linear(n, 1, bias=False)

    def inputs(self, b, nodes, k, n):
        return randn(b, nodes, k), (torch.rand(b, nodes, nodes) < 0.3) | torch.eye(nodes).bool()

    def forward(self, x, edges):
        y = self.linear(x)
        scores = F.leaky_relu(self.source(y) + self.target(y).transpose(1, 2), 0.2)
        weights = scores.masked_fill(~edges, float("-inf")).softmax(-1)
        return F.elu(weights @ y)


@module((2, 6, 16, 4), (8, 512, 1024, 16))
class DenseExperts(nn.Module):
    """All experts on all tokens, weighted by a router with temperature and an auxiliary loss."""

    def __init__(self, b, t, width, experts):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(randn(experts, width, width) * width ** -0.5)
        self.down = nn.Parameter(randn(experts, width, width) * width ** -0.5)

    def inputs(self, b, t, width, experts):
        return (randn(b, t, width),)

    def forward(self, x):
        gates = (self.router(x) / 0.7).softmax(-1)
        hidden = F.relu(torch.einsum("btw,ewh->ebth", x, self.up)).square()
        y = torch.einsum("ebth,ehw->ebtw", hidden, self.down)
        mixed = torch.einsum("ebtw,bte->btw", y, gates)
        balance = gates.flatten(0, 1).mean(0).square().sum() * gates.shape[-1]
        return x + mixed, balance


@module((4, 6, 16), (256, 512, 1024))
class HighwayTagger(nn.Module):
    """Embedded features, a highway layer, batch norm as in inference, and tag scores."""

    def __init__(self, b, t, width):
        super().__init__()
        self.transform, self.carry = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.tags = nn.Linear(width, 48)

    def inputs(self, b, t, width):
        return randn(b, t, width), (torch.rand(b, t) < 0.9)

    def forward(self, x, mask):
        gate = torch.sigmoid(self.carry(x))
        y = gate * F.relu(self.transform(x)) + (1 - gate) * x
        y = self.norm(y.transpose(1, 2)).transpose(1, 2)
        scores = F.log_softmax(self.tags(y), -1)
        return scores * mask.unsqueeze(-1)
