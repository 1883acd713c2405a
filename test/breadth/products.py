# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of all shapes and layouts, alone and followed by chains of other ops."""

import torch
import torch.nn.functional as F
from torch import einsum, nn, randn

from .registry import Function, case

# Shapes.

SHAPES = {
    "square": ((16, 16, 16), (4096, 4096, 4096)),
    "tall": ((67, 8, 4), (131072, 256, 64)),
    "wide": ((4, 8, 67), (64, 256, 65536)),
    "one_row": ((1, 24, 40), (1, 4096, 8192)),
    "few_rows": ((5, 24, 40), (7, 4096, 8192)),
    "one_column": ((19, 24, 1), (8192, 4096, 1)),
    "inner_one": ((19, 1, 24), (4096, 1, 4096)),
    "inner_three": ((19, 3, 24), (4096, 3, 4096)),
    "long_inner": ((8, 300, 8), (256, 262144, 256)),
    "odd": ((13, 17, 11), (1023, 2047, 1021)),
    "odd_inner": ((16, 13, 16), (2048, 1001, 2048)),
    "tiny": ((3, 5, 2), (3, 5, 2)),
    "skinny_both": ((33, 2, 33), (8192, 16, 8192)),
}

for name, (small, large) in SHAPES.items():
    @case(small, large, name=name)
    def product(m, k, n):
        return Function(torch.matmul), randn(m, k), randn(k, n) * k ** -0.5


@case((9, 14), (8192, 8192))
def matrix_vector(m, k):
    return Function(torch.mv), randn(m, k), randn(k)


@case((70,), (1 << 24,))
def dot(n):
    return Function(torch.dot), randn(n), randn(n)


@case((9, 14), (8192, 4096))
def outer(m, n):
    return Function(torch.outer), randn(m), randn(n)


# Terms of one sign: what rounds toward zero adds up, and so does what is lost in sums.

for length, multiple in ((32, 8), (64, 47), (200, 8), (1000, 8), (4096, 8)):
    @case((24, min(length, 64), multiple), (1024, length, 128 * multiple), name=f"positive_{length}")
    def positive(m, k, n):
        return Function(torch.matmul), torch.rand(m, k) + 1, torch.rand(k, n) + 1


# Layouts.


@case((12, 10, 14), (2048, 4096, 2048))
def transposed_left(m, k, n):
    return Function(lambda a, b: a.t() @ b), randn(k, m), randn(k, n)


@case((12, 10, 14), (2048, 4096, 2048))
def transposed_right(m, k, n):
    return Function(lambda a, b: a @ b.t()), randn(m, k), randn(n, k)


@case((12, 10, 14), (2048, 4096, 2048))
def transposed_both(m, k, n):
    return Function(lambda a, b: a.T @ b.T), randn(k, m), randn(n, k)


@case((12, 10, 14), (2048, 2048, 2048))
def transposed_result(m, k, n):
    return Function(lambda a, b: (a @ b).t().contiguous()), randn(m, k), randn(k, n)


@case((24, 20), (4096, 4096))
def slices_of_operands(m, k):
    return Function(lambda a, b: a[:, : k // 2] @ b[k // 2:]), randn(m, k), randn(k, m)


@case((12, 10), (4096, 2048))
def gram(m, k):
    return Function(lambda a: a @ a.t()), randn(m, k)


@case((12,), (2048,))
def square_of_matrix(n):
    return Function(lambda a: a @ a), randn(n, n) * n ** -0.5


# Rows that do not begin at multiples of 16 bytes.


@case((5, 12, 17), (2048, 768, 50257))
def vocabulary(tokens, width, words):
    return nn.Linear(width, words, bias=False), randn(tokens, width)


@case((9, 12, 5), (65536, 512, 10))
def few_classes(rows, width, classes):
    return nn.Linear(width, classes), randn(rows, width)


@case((9, 7, 12), (65536, 27, 384))
def patches(rows, taps, width):
    return nn.Linear(taps, width), randn(rows, taps)


@case((9, 13, 19), (4096, 771, 1537))
def odd_mlp(rows, width, inner):
    return (nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width)), randn(rows, width))


@case((9, 13, 12), (4096, 1025, 2048))
def shifted_slice(m, k, n):
    return Function(lambda x, y: torch.relu(x[:, 1:] @ y)), randn(m, k), randn(k - 1, n)


@case((3, 9, 5), (64, 512, 33))
def odd_heads(b, n, head):
    return Function(lambda q, k, v: torch.sigmoid(q @ k.mT) @ v), \
        randn(b, n, head), randn(b, n, head), randn(b, n, head)


# Structured operands.


@case((12, 14), (4096, 4096))
def diagonal_times_matrix(m, n):
    return Function(lambda d, b: torch.diag(d) @ b), randn(m), randn(m, n)


@case((12,), (2048,))
def lower_triangular(n):
    return Function(lambda a, b: torch.tril(a) @ torch.tril(b)), randn(n, n), randn(n, n)


@case((12,), (2048,))
def upper_triangular(n):
    return Function(lambda a, b: torch.triu(torch.triu(a) @ torch.triu(b))), randn(n, n), randn(n, n)


@case((12,), (2048,))
def symmetric(n):
    return Function(lambda a, b: (a + a.t()) / 2 @ b), randn(n, n), randn(n, n)


@case((12,), (2048,))
def masked_weight(n):
    return Function(lambda x, w, keep: x @ (w * keep)), randn(n, n), randn(n, n), torch.rand(n, n) < 0.5


# Batches.


@case((3, 12, 10, 14), (64, 512, 256, 512))
def batched(b, m, k, n):
    return Function(torch.bmm), randn(b, m, k), randn(b, k, n)


@case((3, 13, 7, 5), (127, 333, 65, 257))
def batched_odd(b, m, k, n):
    return Function(torch.bmm), randn(b, m, k), randn(b, k, n)


@case((3, 12, 10, 14), (64, 512, 256, 512))
def batched_transposed(b, m, k, n):
    return (Function(lambda x, y: x.transpose(1, 2) @ y.mT), randn(b, k, m), randn(b, n, k))


@case((3, 12, 10, 14), (64, 512, 256, 512))
def shared_right(b, m, k, n):
    return Function(torch.matmul), randn(b, m, k), randn(k, n)


@case((3, 12, 10, 14), (64, 512, 256, 512))
def shared_left(b, m, k, n):
    return Function(torch.matmul), randn(m, k), randn(b, k, n)


@case((2, 3, 4, 6, 5), (8, 16, 256, 256, 128))
def broadcast_batches(a, b, m, k, n):
    return Function(torch.matmul), randn(a, 1, m, k), randn(1, b, k, n)


@case((2, 3, 4, 6, 5), (4, 8, 256, 256, 128))
def five_dimensions(a, b, m, k, n):
    return Function(torch.matmul), randn(a, 1, b, m, k), randn(a, 2, 1, k, n)


@case((3, 12, 10), (256, 1024, 512))
def batched_matrix_vector(b, m, k):
    return Function(lambda x, y: (x @ y.unsqueeze(-1)).squeeze(-1)), randn(b, m, k), randn(b, k)


@case((3, 8), (4096, 16))
def batched_tiny(b, n):
    return Function(torch.bmm), randn(b, n, n), randn(b, n, n)


@case((3, 6, 8, 5), (64, 512, 256, 512))
def baddbmm(b, m, k, n):
    return (Function(lambda c, x, y: torch.baddbmm(c, x, y, beta=0.5, alpha=2.0)), randn(b, m, n),
            randn(b, m, k), randn(b, k, n))


@case((6, 8, 5), (2048, 2048, 2048))
def addmm_scaled(m, k, n):
    return (Function(lambda c, x, y: torch.addmm(c, x, y, beta=-0.3, alpha=1.7)), randn(n),
            randn(m, k), randn(k, n))


@case((3, 6, 4, 5), (16, 128, 512, 512))
def four_dimensions_by_matrix(b, i, j, k):
    return Function(lambda x, w: einsum("bijl,lk->bijk", x, w)), randn(b, 3, i, j), randn(j, k)


# Einsum and bilinear forms.


@case((2, 5, 3, 4, 6), (8, 512, 16, 64, 512))
def einsum_heads(b, t, h, d, s):
    return (Function(lambda q, k: einsum("bthd,bshd->bhts", q, k)), randn(b, t, h, d),
            randn(b, s, h, d))


@case((6, 7, 8), (1024, 1024, 1024))
def einsum_three(i, j, k):
    return (Function(lambda a, b, c: einsum("ij,jk,kl->il", a, b, c)), randn(i, j), randn(j, k),
            randn(k, i))


@case((4, 5, 6), (64, 128, 1024))
def einsum_two_summed(a, b, c):
    return (Function(lambda x, y: einsum("nabc,mab->nmc", x, y)), randn(3, a, b, c),
            randn(2, a, b))


@case((9, 8), (65536, 256))
def row_dots(n, d):
    return Function(lambda x, y: einsum("nd,nd->n", x, y)), randn(n, d), randn(n, d)


@case((9, 8), (8192, 2048))
def trace_of_product(n, d):
    return Function(lambda x, y: einsum("nd,nd->", x, y)), randn(n, d), randn(n, d)


@case((7, 4, 5, 3), (2048, 64, 64, 32))
def bilinear(n, left, right, out):
    return nn.Bilinear(left, right, out), randn(n, left), randn(n, right)


@case((7, 5), (65536, 16))
def batched_outer(n, d):
    return Function(lambda x, y: x[:, :, None] * y[:, None, :]), randn(n, d), randn(n, d)


@case((7, 6), (65536, 128))
def quadratic_form(n, d):
    return Function(lambda x, w: ((x @ w) * x).sum(-1)), randn(n, d), randn(d, d)


@case((4, 5, 3, 2), (64, 64, 32, 32))
def kronecker(a, b, c, d):
    return Function(torch.kron), randn(a, b), randn(c, d)


@case((9, 12, 5), (2048, 2048, 64), bf16=False)
def distances(n, m, d):
    return Function(torch.cdist), randn(n, d), randn(m, d)


@case((4, 5, 6), (64, 128, 2048))
def tensordot(a, b, c):
    return (Function(lambda x, y: torch.tensordot(x, y, dims=([1, 2], [0, 1]))), randn(a, b, c),
            randn(b, c, a))


@case((4, 5, 6, 7), (1024, 512, 1024, 256))
def multi_dot(a, b, c, d):
    return (Function(lambda x, y, z: torch.linalg.multi_dot([x, y, z])), randn(a, b), randn(b, c),
            randn(c, d))


@case((6, 20), (1024, 8192))
def covariance(d, n):
    def function(x):
        x = x - x.mean(1, keepdim=True)
        return x @ x.t() / (n - 1)

    return Function(function), randn(d, n)


@case((30,), (1 << 22,))
def cross_products(n):
    return Function(lambda x, y: torch.linalg.cross(x, y)), randn(n, 3), randn(n, 3)


@case((8, 3), (2048, 3))
def matrix_power(n, power):
    return Function(lambda x: torch.linalg.matrix_power(x, power)), randn(n, n) * n ** -0.5


@case((3, 6, 8, 5), (32, 512, 256, 512))
def addbmm(b, m, k, n):
    return Function(torch.addbmm), randn(m, n), randn(b, m, k), randn(b, k, n)


@case((9, 12, 10), (1024, 1024, 1024), bf16=False)
def double_precision(m, k, n):
    return Function(torch.matmul), randn(m, k).double(), randn(k, n).double()


@case((9, 12, 10), (2048, 2048, 2048), bf16=False)
def half_precision(m, k, n):
    return Function(lambda x, y: torch.relu(x @ y)), randn(m, k).half(), randn(k, n).half()


@case((9, 12, 10), (512, 512, 512), bf16=False)
def integer_product(m, k, n):
    draw = lambda *sizes: torch.randint(-8, 8, sizes)
    return Function(torch.matmul), draw(m, k), draw(k, n)


@case((9, 12, 10), (2048, 2048, 2048), bf16=False)
def quantized_weights(m, k, n):
    return (Function(lambda x, w, scale: x @ (w.float() * scale)), randn(m, k),
            torch.randint(-128, 128, (k, n), dtype=torch.int8), 0.01 * torch.rand(n))


# Chains after a product.


class Chain(nn.Module):
    """A linear layer followed by a function."""

    def __init__(self, k, n, function, bias=True):
        super().__init__()
        self.linear, self.function = nn.Linear(k, n, bias=bias), function

    def forward(self, x, *others):
        return self.function(self.linear(x), *others)


CHAINS = {
    "gelu_scale_clamp": lambda y: torch.clamp(F.gelu(y) * 1.5, -1.0, 2.0),
    "divide_sum_scale": lambda y: (y / 2).sum(1, keepdim=True) * 1.5,
    "max_minus_mean_gelu": lambda y: F.gelu(y - y.mean(1, keepdim=True)).amax(1),
    "swish_divide_clamp_tanh": lambda y: torch.tanh((y * torch.sigmoid(y) / 2).clamp(-1, 1)),
    "double_logsumexp": lambda y: torch.logsumexp(torch.logsumexp(y, 1, keepdim=True), 0),
    "mish_mish": lambda y: F.mish(F.mish(y)),
    "softmax_dropout_log": lambda y: torch.log(F.dropout(F.softmax(y, -1), 0.2, False) + 1e-6),
    "leaky_group_sums": lambda y: F.leaky_relu(y).view(y.shape[0], 4, -1).sum(-1),
    "hardtanh_softplus_sqrt": lambda y: torch.sqrt(F.softplus(F.hardtanh(y, -2, 2)) + 1),
    "layer_norm_relu": lambda y: torch.relu(F.layer_norm(y, y.shape[-1:])),
    "max_pool_sum": lambda y: F.max_pool1d(y.unsqueeze(1), 4).squeeze(1).sum(1) * 0.5,
    "average_pool_gelu_max": lambda y: (F.gelu(F.avg_pool1d(y.unsqueeze(1), 4).squeeze(1)) * 2)
    .max(1).values,
    "column_mean": lambda y: (y * y).mean(0),
    "cumsum_of_rows": lambda y: torch.cumsum(torch.sigmoid(y), 1),
    "argmax": lambda y: torch.relu(y + 1).argmax(-1),
    "two_results": lambda y: (torch.relu(y), torch.sigmoid(y).sum(-1)),
    "transpose_relu": lambda y: torch.relu(y).t().contiguous(),
    "halves_gated": lambda y: y.chunk(2, -1)[0] * torch.sigmoid(y.chunk(2, -1)[1]),
}

for name, function in CHAINS.items():
    @case((10, 16, 24), (2048, 2048, 4096), name=f"chain_{name}")
    def chain(m, k, n, function=function):
        return Chain(k, n, function), randn(m, k)


@case((10, 16, 24), (4096, 2048, 2048))
def chain_residual_norm(m, k, n):
    return (Chain(k, n, lambda y, r: F.rms_norm(y + r, (n,)) * torch.tanh(r)), randn(m, k),
            randn(m, n))


@case((10, 16, 24), (4096, 2048, 2048))
def chain_eight_ops(m, k, n):
    def function(y, r, gate):
        y = F.silu(y) + r
        y = torch.where(gate > 0, y, 0.1 * y)
        return torch.exp(-y.abs()).sub(0.5).square()

    return Chain(k, n, function, bias=False), randn(m, k), randn(m, n), randn(n)


@case((10, 16, 24), (4096, 2048, 2048))
def chain_where(m, k, n):
    return (Chain(k, n, lambda y, keep, other: torch.where(keep, y, other)), randn(m, k),
            torch.rand(m, n) < 0.5, randn(m, n))


@case((10, 16, 24), (4096, 2048, 2048))
def chain_masked_fill(m, k, n):
    return (Chain(k, n, lambda y, hide: F.gelu(y).masked_fill(hide, 0.0)), randn(m, k),
            torch.rand(m, n) < 0.5)


@case((10, 16, 24), (4096, 2048, 2048))
def chain_dropped(m, k, n):
    """Dropout whose mask is an input, and rows that are left out."""
    return (Chain(k, n, lambda y, keep, rows: y * keep / 0.9 * (rows[:, None] > 0)), randn(m, k),
            torch.rand(m, n) < 0.9, torch.randint(0, 4, (m,)))


@case((10, 16, 24), (4096, 2048, 2048))
def batch_norm_after_product(m, k, n):
    return (nn.Sequential(nn.Linear(k, n), nn.BatchNorm1d(n), nn.ReLU(), nn.Dropout()),
            randn(m, k))


@case((10, 16, 24), (4096, 2048, 2048))
def group_norm_after_product(m, k, n):
    return nn.Sequential(nn.Linear(k, n), nn.GroupNorm(8, n), nn.Hardtanh()), randn(m, k)
