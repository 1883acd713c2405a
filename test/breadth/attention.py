# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of all kinds, whole and written out."""

import math

import torch
import torch.nn.functional as F
from torch import nn, randn

from .registry import Function, case

sdpa = F.scaled_dot_product_attention


def attention(name, function, small, large, values=None, keys=None):
    """A case of queries, keys and values: batch, heads, queries, keys, head dimension."""

    @case(small, large, name=name)
    def build(b, h, t, s, d):
        heads = (keys or (lambda h: h))(h)
        width = (values or (lambda d: d))(d)
        return (Function(function), randn(b, h, t, d), randn(b, heads, s, d),
                randn(b, heads, s, width))


for size in (8, 16, 32, 40, 64, 72, 80, 96, 128, 160, 256):
    attention(f"head_{size}", sdpa, (2, 2, 6, 6, size), (4, 2048 // size, 1024, 1024, size))
for size in (7, 33, 65):
    attention(f"head_odd_{size}", sdpa, (2, 2, 6, 6, size), (4, 16, 512, 512, size))

attention("causal", lambda q, k, v: sdpa(q, k, v, is_causal=True),
          (2, 2, 9, 9, 16), (4, 16, 1024, 1024, 64))
attention("causal_odd_lengths", lambda q, k, v: sdpa(q, k, v, is_causal=True),
          (2, 2, 7, 7, 16), (4, 16, 1001, 1001, 64))
attention("wide_values", sdpa, (2, 2, 6, 6, 16), (4, 16, 1024, 1024, 64), lambda d: 2 * d)
attention("narrow_values", sdpa, (2, 2, 6, 6, 16), (4, 16, 1024, 1024, 128), lambda d: d // 2)
attention("value_of_one", sdpa, (2, 2, 6, 6, 16), (4, 16, 1024, 1024, 64), lambda d: 1)
attention("cross", sdpa, (2, 2, 5, 11, 16), (4, 16, 256, 2048, 64))
attention("one_query", sdpa, (2, 4, 1, 19, 16), (16, 32, 1, 4096, 64))
attention("one_query_grouped", lambda q, k, v: sdpa(q, k, v, enable_gqa=True),
          (2, 4, 1, 19, 16), (16, 32, 1, 4096, 128), keys=lambda h: h // 4)
attention("grouped", lambda q, k, v: sdpa(q, k, v, is_causal=True, enable_gqa=True),
          (2, 4, 6, 6, 16), (2, 32, 1024, 1024, 64), keys=lambda h: h // 4)
attention("multi_query", lambda q, k, v: sdpa(q, k.expand_as(q), v.expand_as(q)),
          (2, 4, 6, 6, 16), (2, 32, 1024, 1024, 64), keys=lambda h: 1)
attention("scale_one", lambda q, k, v: sdpa(q, k, v, scale=1.0),
          (2, 2, 6, 6, 16), (4, 16, 512, 512, 64))


def written(q, k, v, change=lambda scores: scores, weigh=lambda scores: scores.softmax(-1)):
    return weigh(change(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))) @ v


def causal_mask(scores, value=float("-inf")):
    t, s = scores.shape[-2:]
    hidden = torch.ones(t, s, dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(hidden, value)


def window_mask(scores, width):
    t, s = scores.shape[-2:]
    distance = torch.arange(t, device=scores.device)[:, None] - torch.arange(s, device=scores.device)
    return scores.masked_fill((distance < 0) | (distance >= width), float("-inf"))


def alibi(scores):
    h, t, s = scores.shape[-3:]
    slopes = 2.0 ** (-8.0 / h * torch.arange(1, h + 1, device=scores.device))
    distance = torch.arange(s, device=scores.device) - torch.arange(t, device=scores.device)[:, None]
    return causal_mask(scores + (slopes[:, None, None] * distance).to(scores.dtype))


WRITTEN = {
    "plain": written,
    "causal": lambda q, k, v: written(q, k, v, causal_mask),
    "causal_large_number": lambda q, k, v: written(q, k, v, lambda s: causal_mask(s, -1e9)),
    "sliding_window": lambda q, k, v: written(q, k, v, lambda s: window_mask(s, 4)),
    "alibi": lambda q, k, v: written(q, k, v, alibi),
    "soft_capped": lambda q, k, v: written(q, k, v, lambda s: 30 * torch.tanh(s / 30)),
    "relu": lambda q, k, v: written(q, k, v, causal_mask, torch.relu),
    "sigmoid": lambda q, k, v: written(q, k, v, weigh=torch.sigmoid),
    "linear": lambda q, k, v: (F.elu(q) + 1) @ ((F.elu(k) + 1).transpose(-2, -1) @ v),
    "with_weights": lambda q, k, v: (written(q, k, v),
                                     (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1).mean(1)),
    "softmax_of_queries": lambda q, k, v: written(q, k, v, weigh=lambda s: s.softmax(-2)),
    "topk": lambda q, k, v: written(q, k, v, lambda s: s.masked_fill(
        s < s.topk(4, -1).values[..., -1:], float("-inf"))),
}

for name, function in WRITTEN.items():
    attention(f"written_{name}", function, (2, 2, 9, 9, 16), (4, 16, 512, 512, 64))


@case((2, 2, 6, 16), (4, 16, 1024, 64))
def bool_mask(b, h, t, d):
    keep = torch.rand(b, 1, t, t) < 0.7
    keep[..., 0] = True
    return (Function(lambda q, k, v, m: sdpa(q, k, v, attn_mask=m)),
            *(randn(b, h, t, d) for _ in range(3)), keep)


@case((2, 2, 6, 16), (4, 16, 1024, 64))
def padding_mask(b, h, t, d):
    """Keys after each sequence's length are hidden."""

    def function(q, k, v, lengths):
        keep = torch.arange(t, device=q.device) < lengths[:, None]
        return sdpa(q, k, v, attn_mask=keep[:, None, None, :])

    return (Function(function), *(randn(b, h, t, d) for _ in range(3)),
            torch.randint(1, t + 1, (b,)))


@case((2, 2, 6, 16), (4, 16, 1024, 64))
def bias(b, h, t, d):
    return (Function(lambda q, k, v, m: sdpa(q, k, v, attn_mask=m)),
            *(randn(b, h, t, d) for _ in range(3)), randn(h, t, t))


@case((2, 2, 6, 16), (64, 8, 64, 32))
def relative_position_table(b, h, t, d):
    class Windows(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(0.1 * randn(2 * t - 1, h))
            places = torch.arange(t)
            self.register_buffer("index", places[:, None] - places + t - 1, persistent=False)

        def forward(self, q, k, v):
            return sdpa(q, k, v, attn_mask=self.table[self.index].permute(2, 0, 1))

    return Windows(), *(randn(b, h, t, d) for _ in range(3))


@case((2, 6, 4, 16), (4, 1024, 16, 64))
def rotary(b, t, h, d):
    def turn(x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def function(q, k, v):
        angles = torch.outer(torch.arange(t, dtype=torch.float32),
                             10000.0 ** (-torch.arange(0, d, 2) / d)).repeat(1, 2).to(q.device)
        cos, sin = angles.cos().to(q.dtype), angles.sin().to(q.dtype)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        out = sdpa(turn(q, cos, sin), turn(k, cos, sin), v, is_causal=True)
        return out.transpose(1, 2).flatten(2)

    return Function(function), *(randn(b, t, h, d) for _ in range(3))


@case((2, 6, 32, 4), (8, 512, 1024, 16))
def self_attention_block(b, t, width, heads):
    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            q, k, v = (y.view(b, t, heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
            return x + self.out(sdpa(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, width))

    return SelfAttention(), randn(b, t, width)


class Called(nn.Module):
    """A module whose arguments are made from the inputs."""

    def __init__(self, module, arguments, **keywords):
        super().__init__()
        self.module, self.arguments, self.keywords = module, arguments, keywords

    def forward(self, *inputs):
        return self.module(*self.arguments(*inputs), **self.keywords)


@case((2, 6, 32, 4), (8, 512, 1024, 16))
def multihead_attention(b, t, width, heads):
    module = nn.MultiheadAttention(width, heads, batch_first=True)
    return Called(module, lambda x: (x, x, x)), randn(b, t, width)


@case((2, 6, 32, 4), (8, 512, 1024, 16))
def multihead_cross_attention(b, t, width, heads):
    module = nn.MultiheadAttention(width, heads, kdim=width // 2, vdim=width // 4)
    return (Called(module, lambda *x: x, need_weights=False), randn(t, b, width),
            randn(2 * t, b, width // 2), randn(2 * t, b, width // 4))


@case((2, 6, 32, 4), (8, 512, 512, 8))
def encoder_layer(b, t, width, heads):
    return (nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, activation="gelu",
                                       norm_first=True), randn(b, t, width))


@case((2, 6, 32, 4), (8, 512, 512, 8))
def encoder_layer_norm_last(b, t, width, heads):
    return nn.TransformerEncoderLayer(width, heads, 2 * width), randn(t, b, width)


@case((2, 6, 32, 4), (8, 256, 512, 8))
def decoder_layer(b, t, width, heads):
    return (nn.TransformerDecoderLayer(width, heads, 2 * width, batch_first=True),
            randn(b, t, width), randn(b, 2 * t, width))


@case((2, 6, 32, 4), (8, 256, 512, 8))
def encoder_of_two_layers(b, t, width, heads):
    layer = nn.TransformerEncoderLayer(width, heads, 2 * width, batch_first=True)
    module = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def arguments(x):
        mask = nn.Transformer.generate_square_subsequent_mask(t, x.device, x.dtype)
        return x, mask, None, True

    return Called(module, arguments), randn(b, t, width)


@case((2, 19, 32, 4, 2), (16, 2048, 1024, 16, 4))
def decode_step(b, past, width, heads, groups):
    """One token with a cache of keys and values, which grows."""

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            d = width // heads
            self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
            self.kv = nn.Linear(width, 2 * groups * d, bias=False)

        def forward(self, x, keys, values):
            q = self.q(x).view(b, 1, heads, -1).transpose(1, 2)
            k, v = self.kv(x).view(b, 1, 2 * groups, -1).transpose(1, 2).chunk(2, 1)
            keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            y = sdpa(q, keys, values, enable_gqa=True)
            return self.out(y.transpose(1, 2).reshape(b, 1, width)), keys, values

    shape = (b, groups, past, width // heads)
    return Step(), randn(b, 1, width), randn(shape), randn(shape)
