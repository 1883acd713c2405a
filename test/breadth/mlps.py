# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLPs, experts, embeddings, recurrent layers and residual blocks."""

import torch
import torch.nn.functional as F
from torch import nn, randint, randn

from .registry import Function, case


def mlp(*widths, activation=nn.ReLU, **options):
    layers = []
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        layers += ([activation()] if i else []) + [nn.Linear(k, n, **options)]
    return nn.Sequential(*layers)


@case((10, 12, 24, 5), (2048, 1024, 4096, 1000))
def classifier(b, k, hidden, classes):
    return mlp(k, hidden, hidden, classes), randn(b, k)


@case((10, 8, 6), (4096, 256, 16))
def deep_narrow(b, width, depth):
    return mlp(*[width] * (depth + 1), activation=nn.Tanh), randn(b, width)


@case((4, 16, 64), (128, 4096, 16384))
def shallow_wide(b, k, hidden):
    return mlp(k, hidden, k, activation=nn.GELU), randn(b, k)


@case((10, 13, 7), (4097, 513, 127))
def odd_widths(b, k, n):
    return mlp(k, 2 * n + 1, n, 3, activation=nn.ELU), randn(b, k)


@case((9, 3, 16), (65536, 3, 64))
def coordinates(b, k, width):
    """Positional features of points and a small network, as in a radiance field."""

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp(k * 8, width, width, 4)

        def forward(self, x):
            angles = x[..., None] * 2.0 ** torch.arange(4, device=x.device).to(x.dtype)
            features = torch.cat([angles.sin(), angles.cos()], -1).flatten(-2)
            color, density = self.net(features).split([3, 1], -1)
            return torch.sigmoid(color), F.softplus(density)

    return Field(), torch.rand(b, k)


@case((10, 12, 24), (4096, 1024, 2816))
def swiglu(b, width, hidden):
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
            self.down = nn.Linear(hidden, width, bias=False)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    return Gated(), randn(b, width)


@case((10, 12, 24), (4096, 1024, 2816))
def geglu_fused(b, width, hidden):
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(width, 2 * hidden), nn.Linear(hidden, width)

        def forward(self, x):
            value, gate = self.up(x).chunk(2, -1)
            return self.down(value * F.gelu(gate))

    return Gated(), randn(b, width)


@case((10, 12, 8), (4096, 1024, 1024))
def squared_relu_norm(b, width, hidden):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.net = nn.RMSNorm(width), mlp(width, hidden, width)

        def forward(self, x):
            return x + self.net[2](self.net[0](self.norm(x)).relu().square())

    return Block(), randn(b, width)


class Residual(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return x + self.module(x)


@case((10, 12, 3), (4096, 1024, 4))
def residual_mlp(b, width, depth):
    block = lambda: Residual(nn.Sequential(nn.LayerNorm(width), mlp(width, 2 * width, width,
                                                                    activation=nn.GELU)))
    return nn.Sequential(*(block() for _ in range(depth))), randn(b, width)


@case((3, 8, 12), (64, 196, 512))
def mixer(b, tokens, width):
    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.tokens = mlp(tokens, 2 * tokens, tokens, activation=nn.GELU)
            self.channels = mlp(width, 4 * width, width, activation=nn.GELU)

        def forward(self, x):
            x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norms[1](x))

    return Mixer(), randn(b, tokens, width)


@case((10, 12, 4), (4096, 1024, 1024))
def low_rank_adapter(b, width, n):
    class Adapted(nn.Module):
        def __init__(self):
            super().__init__()
            self.base = nn.Linear(width, n)
            self.down, self.up = nn.Linear(width, 4, bias=False), nn.Linear(4, n, bias=False)

        def forward(self, x):
            return self.base(x) + 0.5 * self.up(self.down(x))

    return Adapted(), randn(b, width)


class Experts(nn.Module):
    """Every expert computes every token; a gate weighs the best of them."""

    def __init__(self, width, hidden, experts, best):
        super().__init__()
        self.gate, self.best = nn.Linear(width, experts, bias=False), best
        self.up = nn.Parameter(0.1 * randn(experts, width, hidden))
        self.down = nn.Parameter(0.1 * randn(experts, hidden, width))

    def weights(self, x):
        scores = self.gate(x).softmax(-1)
        if not self.best:
            return scores
        values, places = scores.topk(self.best, -1)
        return torch.zeros_like(scores).scatter(-1, places, values / values.sum(-1, keepdim=True))

    def forward(self, x):
        hidden = F.silu(torch.einsum("nd,edh->enh", x, self.up))
        out = torch.einsum("enh,ehd->end", hidden, self.down)
        return torch.einsum("end,ne->nd", out, self.weights(x))


@case((10, 12, 8, 3), (1024, 512, 1024, 8))
def soft_experts(n, width, hidden, experts):
    return Experts(width, hidden, experts, 0), randn(n, width)


@case((10, 12, 8, 4), (1024, 512, 1024, 8))
def best_experts(n, width, hidden, experts):
    return Experts(width, hidden, experts, 2), randn(n, width)


# Embeddings.


@case((30, 8, 4, 7), (50000, 256, 64, 256))
def bag_of_words(words, width, b, t):
    return (nn.Sequential(nn.EmbeddingBag(words, width, mode="mean"), nn.Linear(width, 10)),
            randint(0, words, (b, t)))


@case((30, 8, 4, 7), (50000, 512, 16, 512))
def token_embedding(words, width, b, t):
    class Embed(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width, padding_idx=0), nn.Embedding(t, width)
            self.norm = nn.LayerNorm(width)

        def forward(self, ids):
            return self.norm(self.words(ids) + self.places(torch.arange(t, device=ids.device)))

    return Embed(), randint(0, words, (b, t))


@case((40, 8, 30), (8192, 256, 65536))
def tied_head(words, width, n):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(words, width)

        def forward(self, ids):
            return self.words(ids).mean(1) @ self.words.weight.t()

    return Tied(), randint(0, words, (n // 15, 15))


@case((9, 3, 20, 4), (16384, 8, 10000, 32))
def recommender(b, fields, words, width):
    """Embeddings of several fields, their pairwise products, and an MLP."""

    class Recommender(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(nn.Embedding(words, width) for _ in range(fields))
            self.top = mlp(fields * fields + width, 2 * width, 1)
            self.dense = nn.Linear(13, width)

        def forward(self, ids, numbers):
            each = torch.stack([table(ids[:, i]) for i, table in enumerate(self.tables)], 1)
            pairs = (each @ each.transpose(1, 2)).flatten(1)
            return torch.sigmoid(self.top(torch.cat([pairs, self.dense(numbers)], 1))).squeeze(1)

    return Recommender(), randint(0, words, (b, fields)), randn(b, 13)


# Recurrent layers of few steps.


class Last(nn.Module):
    """The outputs and the last state of a recurrent layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


@case((3, 4, 6, 8), (256, 8, 512, 512))
def rnn(b, t, k, hidden):
    return Last(nn.RNN(k, hidden, batch_first=True)), randn(b, t, k)


@case((3, 4, 6, 8), (256, 8, 512, 512))
def lstm(b, t, k, hidden):
    return Last(nn.LSTM(k, hidden, batch_first=True)), randn(b, t, k)


@case((3, 3, 6, 8), (128, 6, 512, 512))
def lstm_of_two_layers_both_ways(b, t, k, hidden):
    return Last(nn.LSTM(k, hidden, 2, bidirectional=True)), randn(t, b, k)


@case((3, 4, 6, 8), (256, 8, 512, 512))
def gru(b, t, k, hidden):
    return Last(nn.GRU(k, hidden, batch_first=True)), randn(b, t, k)


@case((5, 6, 8), (4096, 1024, 1024))
def lstm_cell(b, k, hidden):
    return nn.LSTMCell(k, hidden), randn(b, k), (randn(b, hidden), randn(b, hidden))


@case((5, 6, 8), (4096, 1024, 1024))
def gru_cell(b, k, hidden):
    return nn.GRUCell(k, hidden), randn(b, k), randn(b, hidden)


@case((5, 6, 8), (4096, 512, 512))
def rnn_written_out(b, k, hidden):
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = nn.Linear(k + hidden, hidden), nn.Linear(hidden, 4)

        def forward(self, x, state):
            state = torch.tanh(self.hidden(torch.cat([x, state], 1)))
            return self.out(state), state

    return Cell(), randn(b, k), randn(b, hidden)


# Images without a general convolution.


@case((2, 3, 8, 4, 6), (64, 3, 224, 16, 768))
def patch_embedding(b, c, side, patch, width):
    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.project = nn.Conv2d(c, width, patch, patch)
            self.first = nn.Parameter(randn(1, 1, width))

        def forward(self, x):
            x = self.project(x).flatten(2).transpose(1, 2)
            return torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1)

    return Patches(), randn(b, c, side, side)


@case((2, 8, 4, 6), (32, 256, 56, 64))
def pointwise_convolution(b, c, side, n):
    return (nn.Sequential(nn.Conv2d(c, n, 1, bias=False), nn.BatchNorm2d(n), nn.ReLU6()),
            randn(b, c, side, side))


@case((2, 8, 4), (64, 256, 28))
def squeeze_and_excite(b, c, side):
    class Excite(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(mlp(c, c // 4, c), nn.Sigmoid())

        def forward(self, x):
            return x * self.net(F.adaptive_avg_pool2d(x, 1).flatten(1))[:, :, None, None]

    return Excite(), randn(b, c, side, side)


@case((2, 8, 4, 5), (128, 512, 7, 1000))
def pooled_head(b, c, side, classes):
    return (nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2),
                          nn.Linear(c, classes), nn.Softmax(1)), randn(b, c, side, side))


# Others.


@case((6, 9, 4), (2048, 4096, 256))
def graph_convolution(nodes, k, n):
    class Convolution(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Linear(k, n, bias=False)

        def forward(self, x, adjacency):
            degree = adjacency.sum(1).clamp(min=1).rsqrt()
            return torch.relu((degree[:, None] * adjacency * degree) @ self.weight(x))

    return Convolution(), randn(nodes, k), (torch.rand(nodes, nodes) < 0.1).float()


@case((10, 12, 4), (8192, 784, 32))
def autoencoder(b, k, latent):
    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode, self.decode = mlp(k, 2 * latent, 2 * latent), mlp(latent, 2 * latent, k)

        def forward(self, x, noise):
            mean, log_variance = self.encode(x).chunk(2, -1)
            z = mean + noise * torch.exp(0.5 * log_variance)
            kl = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)
            return torch.sigmoid(self.decode(z)), kl.mean()

    return Autoencoder(), randn(b, k), randn(b, latent)


@case((6, 8, 5), (4096, 512, 1024))
def contrastive_head(b, k, n):
    class Towers(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(k, n), nn.Linear(k, n)
            self.scale = nn.Parameter(torch.tensor(2.6))

        def forward(self, x, y):
            x, y = F.normalize(self.left(x), dim=-1), F.normalize(self.right(y), dim=-1)
            return self.scale.exp() * x @ y.t()

    return Towers(), randn(b, k), randn(b, k)


@case((7, 5, 6), (1024, 256, 256))
def state_space_step(n, width, states):
    def function(state, a, b, c, x):
        state = torch.exp(-F.softplus(a)) * state + x[:, :, None] * b[:, None, :]
        return (state * c[:, None, :]).sum(-1), state

    return (Function(function), randn(n, width, states), randn(width, states), randn(n, states),
            randn(n, states), randn(n, width))


@case((6, 10, 3), (4096, 1024, 16))
def fourier_features(n, k, m):
    class Features(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("frequencies", randn(k, m * 4))
            self.out = nn.Linear(m * 8, m)

        def forward(self, x):
            y = x @ self.frequencies
            return self.out(torch.cat([torch.sin(y), torch.cos(y)], -1))

    return Features(), randn(n, k)
