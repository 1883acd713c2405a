# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More modules written from the documentation alone, after those of unseen.py were looked into."""

import math

import torch
import torch.nn.functional as F
from torch import nn, rand, randint, randn

from .registry import Function, case

# Activations and gates.


class Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(0.5 + torch.rand(1, channels, 1))

    def forward(self, x):
        return x + (self.alpha * x).sin().square() / (self.alpha + 1e-6)


@case((2, 5, 33), (8, 515, 3001))
def snake_activation(b, c, t):
    return Snake(c), randn(b, c, t)


@case((2, 9, 11), (16, 1023, 771))
def interleaved_gates(b, t, d):
    def function(x, skip):
        value, gate = x[..., 0::2], x[..., 1::2]
        gate = torch.sigmoid(1.702 * gate.clamp(-7, 7))
        return (value.clamp(max=7) + 1) * gate + (1 - gate) * skip.transpose(1, 2)

    return Function(function), 3 * randn(b, t, 2 * d), randn(b, d, t)


# Norms.


class FilterResponseNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(1, channels, 1, 1))
        self.bias = nn.Parameter(0.1 * torch.randn(1, channels, 1, 1))
        self.threshold = nn.Parameter(0.1 * torch.randn(1, channels, 1, 1))

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(dim=(2, 3), keepdim=True) + 1e-6)
        return torch.maximum(self.weight * x + self.bias, self.threshold)


@case((2, 3, 7, 5), (24, 93, 57, 59))
def filter_response_norm(n, c, h, w):
    return FilterResponseNorm(c), randn(n, c, h, w)


@case((2, 9, 5, 7), (32, 96, 55, 55))
def local_response_norm(n, c, h, w):
    # PyTorch has it for a processor in fp32 alone.
    function = lambda x: F.local_response_norm(x.relu().float(), 5, alpha=1e-2, k=2.0).to(x.dtype)
    return Function(function), randn(n, c, h, w)


@case((3, 5, 7, 6), (40, 67, 65, 63))
def batch_statistics(n, c, h, w):
    """Normalization over the batch of an image whose channels are the last dimension."""
    def function(x, weight, bias, other):
        y = F.batch_norm(x.permute(0, 3, 1, 2), None, None, weight, bias, training=True, eps=1e-5)
        return F.relu(y + other).permute(0, 2, 3, 1)

    return Function(function), randn(n, h, w, c), 1 + 0.1 * randn(c), randn(c), randn(n, c, h, w)


# Losses and metrics.


@case((3, 7, 19), (5, 1001, 5003))
def label_smoothed_z_loss(b, t, v):
    def function(logits, labels):
        flat, target = logits.flatten(0, 1), labels.flatten()
        loss = F.cross_entropy(flat, target, ignore_index=-100, label_smoothing=0.1)
        keep = (target != -100).to(flat.dtype)
        z = torch.logsumexp(flat, dim=-1)
        hits = ((flat.argmax(-1) == target) & (target != -100)).sum()
        return loss + 1e-4 * (z.square() * keep).sum() / keep.sum(), hits

    labels = randint(0, v, (b, t))
    return Function(function), 2 * randn(b, t, v), torch.where(rand(b, t) < 0.2, -100, labels)


@case((1, 3, 13, 15), (8, 3, 509, 511))
def ssim_by_pools(n, c, h, w):
    def function(x, y):
        pool = lambda image: F.avg_pool2d(image, 7, stride=1)
        x, y = x.float(), y.float()
        mx, my = pool(x), pool(y)
        vx, vy = pool(x * x) - mx * mx, pool(y * y) - my * my
        covariance = pool(x * y) - mx * my
        top = (2 * mx * my + 0.01 ** 2) * (2 * covariance + 0.03 ** 2)
        return 1 - (top / ((mx * mx + my * my + 0.01 ** 2) * (vx + vy + 0.03 ** 2))).mean(dim=(1, 2, 3))

    image = rand(n, c, h, w)
    return Function(function), image, (image + 0.1 * randn(n, c, h, w)).clamp(0, 1)


@case((4, 9), (4099, 501))
def listwise_ranking(b, n):
    """The likelihood of a ranking: each item against those that are ranked below it."""
    def function(scores, relevance):
        order = relevance.argsort(dim=-1, descending=True, stable=True)
        ranked = scores.gather(-1, order)
        below = ranked.flip(-1).logcumsumexp(-1).flip(-1)
        return (below - ranked).mean(-1).mean()

    return Function(function), randn(b, n), randn(b, n)


# Statistics.


@case((3, 41, 5), (64, 20011, 33))
def soft_histogram(b, n, bins):
    def function(x, centers):
        weights = torch.exp(-0.5 * ((x.unsqueeze(-1) - centers) * 8.0) ** 2)
        counts = weights.sum(dim=1)
        return counts / counts.sum(-1, keepdim=True)

    return Function(function), rand(b, n), torch.linspace(0, 1, bins)


@case((9, 33), (1003, 1999))
def robust_scaling(features, n):
    """The median and the quartiles of each feature; the samples are the columns."""
    def function(x):
        ordered = x.sort(dim=-1).values
        def quantile(q):
            at = q * (ordered.shape[-1] - 1)
            low = int(math.floor(at))
            return torch.lerp(ordered[:, low], ordered[:, min(low + 1, ordered.shape[-1] - 1)], at - low)
        spread = quantile(0.75) - quantile(0.25)
        scaled = (x - quantile(0.5)[:, None]) / (spread[:, None] + 1e-3)
        return scaled.clamp(-4, 4).t().contiguous()

    return Function(function), randn(features, n)


@case((2, 40), (128, 40013))
def median_of_five(b, t):
    def function(x):
        windows = F.pad(x, (2, 2)).unfold(-1, 5, 1)
        median = windows.sort(dim=-1).values[..., 2]
        outlier = (x - median).abs() > 3 * (x - median).abs().mean(-1, keepdim=True)
        return torch.where(outlier, median, x), outlier.sum(-1)

    return Function(function), randn(b, t)


# Recommenders.


class FactorizationMachine(nn.Module):
    def __init__(self, fields, rows, width):
        super().__init__()
        self.table = nn.Embedding(fields * rows, width)
        self.linear = nn.Embedding(fields * rows, 1)
        self.bias = nn.Parameter(torch.zeros(1))
        self.register_buffer("offsets", torch.arange(fields) * rows)

    def forward(self, ids, values):
        ids = ids + self.offsets
        x = self.table(ids) * values.unsqueeze(-1)
        pairs = 0.5 * (x.sum(1).square() - x.square().sum(1)).sum(-1)
        return torch.sigmoid(self.bias + pairs + (self.linear(ids).squeeze(-1) * values).sum(1))


@case((5, 4, 11, 3), (20001, 39, 997, 17))
def factorization_machine(b, fields, rows, width):
    return FactorizationMachine(fields, rows, width), randint(0, rows, (b, fields)), rand(b, fields) / 6


@case((5, 6, 8), (8191, 27, 72))
def dot_interaction(b, fields, width):
    def function(dense, sparse):
        x = torch.cat([dense.unsqueeze(1), sparse], dim=1)
        products = torch.bmm(x, x.transpose(1, 2))
        row, column = torch.tril_indices(x.shape[1], x.shape[1], offset=-1, device=x.device)
        return torch.cat([dense, products[:, row, column]], dim=1)

    return Function(function), randn(b, width), randn(b, fields - 1, width)


# Attention and positions.


@case((1, 2, 19, 4, 5), (2, 6, 3001, 40, 33))
def neighborhood_attention(b, heads, t, d, window):
    """Each query sees the keys around it, gathered by `unfold`."""
    def function(q, k, v, bias):
        half = window // 2
        k, v = (F.pad(each, (0, 0, half, half)).unfold(2, window, 1) for each in (k, v))
        scores = torch.einsum("bhtd,bhtdw->bhtw", q, k) * q.shape[-1] ** -0.5 + bias[:, None]
        at = torch.arange(q.shape[2], device=q.device)[:, None]
        at = at + torch.arange(window, device=q.device) - half
        outside = (at < 0) | (at >= q.shape[2])
        weights = scores.masked_fill(outside, float("-inf")).softmax(-1)
        return torch.einsum("bhtw,bhtdw->bhtd", weights, v)

    return Function(function), *(randn(b, heads, t, d) for _ in range(3)), randn(heads, window)


@case((2, 4, 2, 9, 8), (2, 14, 2, 1027, 96))
def soft_capped_groups(b, heads, groups, t, d):
    """Causal attention with the scores kept below a bound, several heads to a group of keys."""
    def function(q, k, v):
        k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], dim=1) for each in (k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        scores = 50.0 * torch.tanh(scores / 50.0)
        later = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).triu(1)
        weights = scores.masked_fill(later, float("-inf")).float().softmax(-1).to(q.dtype)
        return (weights @ v).transpose(1, 2).flatten(2)

    return Function(function), randn(b, heads, t, d), *(randn(b, groups, t, d) for _ in range(2))


class TextCrossAttention(nn.Module):
    """Pixels look at the words of a padded caption."""

    def __init__(self, channels, words, heads):
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.q = nn.Linear(channels, channels, bias=False)
        self.kv = nn.Linear(words, 2 * channels, bias=False)
        self.out, self.heads = nn.Linear(channels, channels), heads

    def forward(self, image, text, lengths):
        n, c, h, w = image.shape
        x = image.flatten(2).transpose(1, 2)
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q = split(self.q(self.norm(x)))
        k, v = map(split, self.kv(text).chunk(2, dim=-1))
        mask = torch.arange(text.shape[1], device=text.device) < lengths[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x.transpose(1, 2).reshape(n, c, h, w)


@case((2, 16, 3, 5, 7, 12, 2), (6, 320, 45, 47, 77, 768, 8))
def text_cross_attention(n, channels, h, w, length, words, heads):
    return TextCrossAttention(channels, words, heads), randn(n, channels, h, w), \
        randn(n, length, words), randint(1, length + 1, (n,))


@case((2, 3, 5, 2, 2), (4, 45, 47, 12, 18))
def axial_rotary(b, h, w, heads, pairs):
    """Half of each head turns with the row of a token, the other half with its column."""
    def function(qkv, frequencies):
        q, k, v = qkv.unbind(2)
        rows = torch.arange(h, device=q.device)[:, None].expand(h, w).reshape(-1)
        columns = torch.arange(w, device=q.device).repeat(h)
        angles = torch.cat([place.float()[:, None] * frequencies.float() for place in (rows, columns)], -1)
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        def turn(x):
            even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
            return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2).to(x.dtype)
        return turn(q).transpose(1, 2), turn(k).transpose(1, 2), v.transpose(1, 2)

    return Function(function), randn(b, h * w, 3, heads, 4 * pairs), 0.5 ** torch.arange(pairs)


# Images.


class BlurPool(nn.Module):
    def __init__(self, channels):
        super().__init__()
        taps = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
        self.register_buffer("taps", (taps[:, None] * taps).expand(channels, 1, 5, 5).contiguous())

    def forward(self, x):
        x = F.max_pool2d(x, 2, stride=1)
        return F.conv2d(F.pad(x, (2, 2, 2, 2), mode="reflect"), self.taps, stride=2, groups=x.shape[1])


@case((2, 3, 9, 11), (16, 83, 113, 115))
def blur_pool(n, c, h, w):
    return BlurPool(c), randn(n, c, h, w)


class PatchMerging(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
        parts = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.reduction(self.norm(torch.cat(parts, -1)))


@case((2, 5, 6, 4), (13, 55, 56, 180))
def patch_merging(n, h, w, width):
    return PatchMerging(width), randn(n, h, w, width)


@case((1, 3, 13, 11), (4, 129, 65, 97))
def pyramid_pooling(n, c, h, w):
    def function(x):
        parts = [x]
        for bins in (1, 2, 3, 6):
            pooled = F.adaptive_avg_pool2d(x, bins)
            parts.append(F.interpolate(pooled, size=x.shape[2:], mode="bilinear", align_corners=True))
        return torch.cat(parts, dim=1)

    return Function(function), randn(n, c, h, w)


# Sequences and signals.


@case((2, 17, 5), (6, 2047, 515))
def minimal_gru(b, t, d):
    """A gated recurrence in the logarithm, as two scans."""
    def function(gate, hidden, start):
        positive = lambda x: torch.where(x >= 0, x + 0.5, x.sigmoid())
        gate, hidden = gate.float(), hidden.float()
        keep, take = -F.softplus(gate), -F.softplus(-gate)
        total = F.pad(keep.cumsum(1), (0, 0, 1, 0))
        values = torch.cat([positive(start.float()).log(), take + positive(hidden).log()], dim=1)
        return (total + (values - total).logcumsumexp(1)).exp()[:, 1:].to(start.dtype)

    return Function(function), randn(b, t, d), randn(b, t, d), randn(b, 1, d)


class LogMel(nn.Module):
    def __init__(self, size, hop, bands):
        super().__init__()
        self.size, self.hop = size, hop
        n, k = torch.arange(size), torch.arange(size // 2 + 1)[:, None]
        angle = 2 * math.pi * (n * k % size) / size
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("basis", torch.cat([angle.cos(), angle.sin()]).t().contiguous())
        self.register_buffer("bands", torch.rand(size // 2 + 1, bands).square())

    def forward(self, x):
        frames = x.unfold(-1, self.size, self.hop)
        frames = (frames - frames.mean(-1, keepdim=True)) * self.window
        real, imaginary = (frames @ self.basis).chunk(2, dim=-1)
        log = torch.log10((real.square() + imaginary.square()) @ self.bands + 1e-5)
        log = torch.maximum(log, log.amax(dim=(1, 2), keepdim=True) - 8.0)
        return ((log + 4.0) / 4.0).transpose(1, 2)


@case((2, 100, 20, 7, 5), (9, 160077, 400, 160, 80))
def log_mel_by_matrices(b, samples, size, hop, bands):
    return LogMel(size, hop, bands), randn(b, samples)


@case((2, 12, 4, 7), (16, 512, 128, 1501))
def overlap_add(b, size, hop, frames):
    def function(x, window):
        length = (x.shape[1] - 1) * hop + x.shape[2]
        add = lambda y: F.fold(y.transpose(1, 2), (1, length), (1, size), stride=(1, hop)).flatten(1)
        weight = add(window.square().expand(1, x.shape[1], size))
        return add(x * window) / weight.clamp(min=1e-2)

    return Function(function), randn(b, frames, size), torch.hamming_window(size)


# Graphs and routing.


@case((9, 30, 2, 4), (20003, 200001, 4, 18))
def graph_attention(nodes, edges, heads, d):
    """The softmax over the edges that end in a node, and the sum of their messages."""
    def function(x, left, right, source, target):
        scores = F.leaky_relu((x * left).sum(-1)[source] + (x * right).sum(-1)[target], 0.2)
        index = target[:, None].expand_as(scores)
        high = torch.full_like(scores[:1], float("-inf")).expand(nodes, -1) \
            .scatter_reduce(0, index, scores, "amax", include_self=False)
        weights = (scores - high[target]).exp()
        total = torch.zeros_like(x[..., 0]).index_add(0, target, weights)
        weights = weights / (total[target] + 1e-6)
        return torch.zeros_like(x).index_add(0, target, weights.unsqueeze(-1) * x[source])

    target = torch.cat([torch.arange(nodes), randint(0, nodes, (edges - nodes,))])
    return Function(function), randn(nodes, heads, d), randn(heads, d), randn(heads, d), \
        randint(0, nodes, (edges,)), target


@case((33, 6, 9), (16381, 61, 600))
def router_with_capacity(tokens, experts, capacity):
    """Two experts per token, the place of a token in its expert's queue, and the balancing loss."""
    def function(logits):
        odds = logits.float().softmax(-1)
        weights, chosen = odds.topk(2, dim=-1)
        hot = F.one_hot(chosen, experts)
        queue = hot.transpose(0, 1).reshape(-1, experts)
        place = ((queue.cumsum(0) - 1) * queue).sum(-1).view(2, -1).t()
        kept = place < capacity
        weights = torch.where(kept, weights / weights.sum(-1, keepdim=True), 0.0)
        balance = experts * (odds.mean(0) * hot[:, 0].float().mean(0)).sum()
        return weights.to(logits.dtype), chosen * capacity + place.clamp(max=capacity - 1), kept, balance

    return Function(function), randn(tokens, experts)


# Geometry.


@case((37,), (1500007,))
def quaternion_rotation(n):
    def function(quaternion, point, origin):
        quaternion = F.normalize(quaternion, dim=-1)
        real, axis = quaternion[..., :1], quaternion[..., 1:]
        moved = point - origin
        twice = 2 * torch.linalg.cross(axis, moved, dim=-1)
        return moved + real * twice + torch.linalg.cross(axis, twice, dim=-1) + origin

    return Function(function), randn(n, 4), randn(n, 3), randn(3)


@case((2, 3, 31), (3, 7, 60013))
def camera_projection(b, views, n):
    """Points seen by several cameras whose lenses distort, and whether they are in the picture."""
    def function(points, rotation, translation, focal, center):
        seen = torch.einsum("bvij,bnj->bvni", rotation, points) + translation[:, :, None]
        depth = seen[..., 2:].clamp(min=0.1)
        flat = seen[..., :2] / depth
        radius = flat.square().sum(-1, keepdim=True)
        flat = flat * (1 - 0.1 * radius + 0.01 * radius * radius).clamp(0.5, 1.5)
        pixels = flat * focal[:, :, None] + center[:, :, None]
        inside = ((pixels >= 0) & (pixels < 640)).all(-1) & (seen[..., 2] > 0.1)
        return pixels, inside

    rotation = torch.linalg.qr(randn(b, views, 3, 3)).Q
    return Function(function), randn(b, n, 3), rotation, randn(b, views, 3) + torch.tensor([0.0, 0.0, 4.0]), \
        500 + 20 * rand(b, views, 2), 320 + 10 * rand(b, views, 2)


@case((2, 19, 5), (24, 8525, 19))
def decoded_boxes(b, anchors, classes):
    """What a detector does before it suppresses: decode, clip, score, and drop the small ones."""
    def function(anchor, delta, logits, centerness):
        low, high = anchor.chunk(2, dim=-1)
        size, middle = high - low, (low + high) / 2
        shift, growth = delta.split(2, dim=-1)
        middle = middle + shift * size * 0.1
        size = size * torch.exp((growth * 0.2).clamp(max=math.log(1000 / 16)))
        boxes = torch.cat([middle - size / 2, middle + size / 2], -1).clamp(0, 511)
        width, height = (boxes[..., 2:] - boxes[..., :2]).unbind(-1)
        scores = (logits.sigmoid() * centerness.sigmoid()).sqrt()
        score, label = scores.max(-1)
        keep = (width * height > 9) & (score > 0.3)
        return boxes, torch.where(keep, score, -1.0), label.masked_fill(~keep, -1)

    corner = 500 * rand(anchors, 2)
    return Function(function), torch.cat([corner, corner + 4 + 60 * rand(anchors, 2)], -1), \
        randn(b, anchors, 4), randn(b, anchors, classes), randn(b, anchors, 1)


# Physics.


@case((2, 11, 13), (2, 1531, 1273))
def reaction_diffusion(b, h, w):
    def function(state):
        def laplacian(x):
            near = sum(x.roll(by, dim) for by in (1, -1) for dim in (-2, -1))
            far = sum(x.roll((i, j), (-2, -1)) for i in (1, -1) for j in (1, -1))
            return 0.2 * near + 0.05 * far - x
        u, v = state[:, 0], state[:, 1]
        for _ in range(2):
            reaction = u * v * v
            u, v = (u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
                    v + 0.08 * laplacian(v) + reaction - 0.1 * v)
        return torch.stack([u, v], dim=1)

    return Function(function), rand(b, 2, h, w)


# Steps of optimizers.


@case((17, 9), (3001, 2047))
def clipped_adamw(rows, columns):
    """One step after the gradient's norm is clipped, with the largest second moment kept."""
    def function(weight, gradient, first, second, largest, step):
        norm = torch.linalg.vector_norm(gradient.float())
        gradient = gradient * (1.0 / (norm + 1e-6)).clamp(max=1.0)
        first = torch.lerp(first, gradient.to(first.dtype), 0.1)
        second = 0.999 * second + 0.001 * gradient * gradient
        largest = torch.maximum(largest, second)
        size = 1e-3 / (1 - 0.9 ** step)
        root = largest.sqrt() / (1 - 0.999 ** step).sqrt() + 1e-8
        return weight * (1 - 1e-5) - size * first / root, first, second, largest, norm

    shape = (rows, columns)
    return Function(function), randn(shape), 0.01 * randn(shape), 0.01 * randn(shape), \
        1e-4 * rand(shape), 1e-4 * rand(shape), torch.tensor(7.0)


@case((9, 13), (771, 1537))
def newton_schulz(rows, columns):
    """The momentum made orthogonal by three steps of a polynomial."""
    def function(gradient, momentum):
        momentum = 0.95 * momentum + gradient
        x = gradient + 0.95 * momentum
        x = x / (torch.linalg.matrix_norm(x) + 1e-7)
        for a, b, c in ((4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037)):
            square = x @ x.mT
            x = a * x + (b * square + c * square @ square) @ x
        return x * max(1, rows / columns) ** 0.5, momentum

    return Function(function), randn(rows, columns), randn(rows, columns)


# Rounding.


@case((6, 3, 16), (2051, 43, 96))
def groupwise_quantization(rows, groups, size):
    """Four bits per weight, two to a byte, with a scale and a zero of each group; and back."""
    def function(weight):
        x = weight.float().unflatten(1, (groups, size))
        low, high = x.aminmax(dim=-1, keepdim=True)
        scale = (high - low).clamp(min=1e-5) / 15
        zero = (-low / scale).round().clamp(0, 15)
        codes = (x / scale + zero).round().clamp(0, 15)
        whole = codes.to(torch.int32)
        packed = whole[..., 0::2] | (whole[..., 1::2] << 4)
        back = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).float()
        return ((back - zero) * scale).flatten(1).to(weight.dtype), packed.to(torch.int8), scale.squeeze(-1)

    return Function(function), randn(rows, groups * size)


# Distributions.


@case((5, 7, 3), (4099, 63, 11))
def logistic_mixture(b, d, parts):
    """The log-probability of bytes under a mixture of discretized logistics."""
    def function(x, parameters):
        logits, means, scales = parameters.float().chunk(3, dim=-1)
        x = x.float().unsqueeze(-1)
        inverse = torch.exp(-scales.clamp(min=-7))
        plus, minus = inverse * (x - means + 1 / 255), inverse * (x - means - 1 / 255)
        delta = (plus.sigmoid() - minus.sigmoid()).clamp(min=1e-12).log()
        inner = torch.where(x < -0.999, plus - F.softplus(plus),
                            torch.where(x > 0.999, -F.softplus(minus), delta))
        return torch.logsumexp(inner + logits.log_softmax(-1), dim=-1).sum(-1)

    return Function(function), (2.2 * rand(b, d) - 1.1).clamp(-1, 1), randn(b, d, 3 * parts)


@case((6, 11), (2011, 2003))
def negative_binomial(cells, genes):
    """Counts with too many zeros, as single cells have them; one dispersion per gene."""
    def function(counts, mean, dispersion, dropout):
        counts, mean = counts.float(), F.softplus(mean.float())
        theta, pi = dispersion.float().exp(), dropout.float()
        rest = torch.log(theta + 1e-8) - torch.log(theta + mean + 1e-8)
        zero = F.softplus(-pi + theta * rest) - F.softplus(-pi)
        more = (-F.softplus(-pi) - pi + theta * rest
                + counts * (torch.log(mean + 1e-8) - torch.log(theta + mean + 1e-8))
                + torch.lgamma(counts + theta) - torch.lgamma(theta) - torch.lgamma(counts + 1))
        return -torch.where(counts < 0.5, zero, more).sum(-1)

    return Function(function), randint(0, 9, (cells, genes)).float(), randn(cells, genes), randn(genes), \
        randn(cells, genes)


# Products of odd shapes.


class Monarch(nn.Module):
    """Two block-diagonal matrices with a permutation between them."""

    def __init__(self, blocks, size):
        super().__init__()
        self.first = nn.Parameter(torch.randn(blocks, size, size) / math.sqrt(size))
        self.second = nn.Parameter(torch.randn(size, blocks, blocks) / math.sqrt(blocks))
        self.bias = nn.Parameter(torch.randn(blocks * size))

    def forward(self, x):
        y = x.unflatten(-1, (self.first.shape[0], -1))
        y = torch.einsum("...ki,kio->...ko", y, self.first)
        y = torch.einsum("...ko,okj->...jo", y, self.second)
        return F.gelu(y.flatten(-2) + self.bias)


@case((3, 5, 4, 6), (7, 601, 28, 60))
def monarch_layer(b, t, blocks, size):
    return Monarch(blocks, size), randn(b, t, blocks * size)


class LowRankFusion(nn.Module):
    """Three modalities, each with a one appended, multiplied in a space of low rank."""

    def __init__(self, widths, rank, out):
        super().__init__()
        self.factors = nn.ParameterList(0.05 * torch.randn(rank, width + 1, out) for width in widths)
        self.weights, self.bias = nn.Parameter(torch.randn(1, rank)), nn.Parameter(torch.randn(1, out))

    def forward(self, *inputs):
        product = 1
        for x, factor in zip(inputs, self.factors):
            x = torch.cat([x.new_ones(x.shape[0], 1), x], dim=1)
            product = product * torch.matmul(x, factor)
        return torch.matmul(self.weights, product.permute(1, 0, 2)).squeeze(1) + self.bias


@case((5, 3, 6, 4, 2, 7), (1009, 74, 301, 35, 4, 515))
def low_rank_fusion(b, audio, text, video, rank, out):
    return LowRankFusion((audio, text, video), rank, out), \
        randn(b, audio), randn(b, text), randn(b, video)
