# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans, sorts, gathers and scatters."""

import torch
import torch.nn.functional as F
from torch import randint, randn

from .registry import Function, case

SMALL, LARGE = (4, 30), (4096, 4096)


def scan(name, function, small=SMALL, large=LARGE):
    """A case of one input of these sizes."""

    @case(small, large, name=name)
    def build(*sizes):
        return Function(function), randn(*sizes)


scan("cumsum_rows", lambda x: torch.cumsum(x, 1))
scan("cumsum_columns", lambda x: torch.cumsum(x, 0))
scan("cumsum_middle", lambda x: torch.cumsum(x, 1), (3, 9, 5), (16, 1024, 512))
scan("cumsum_long", lambda x: x.cumsum(-1), (2, 600), (16, 1 << 19))
scan("cumsum_odd", lambda x: x.cumsum(-1), (3, 37), (1001, 3001))
scan("cumsum_reverse", lambda x: x.flip(1).cumsum(1).flip(1))
scan("cumsum_exclusive", lambda x: F.pad(x, (1, 0))[:, :-1].cumsum(1))
scan("cumsum_exclusive_by_difference", lambda x: x.cumsum(1) - x)
scan("cumsum_by_cat", lambda x: torch.cat([torch.zeros_like(x[:, :1]), x], 1)[:, :-1].cumsum(1))
scan("cumsum_of_exponentials", lambda x: torch.exp(x).cumsum(-1).log())
scan("cumprod_rows", lambda x: torch.cumprod(1 + 0.01 * x, 1))
scan("cumprod_columns", lambda x: torch.cumprod(1 + 0.01 * x, 0))
scan("cummax", lambda x: torch.cummax(x, 1))
scan("cummin_values", lambda x: torch.cummin(x, -1).values)
scan("logcumsumexp", lambda x: torch.logcumsumexp(x, 1))
scan("running_mean", lambda x: x.cumsum(1) / torch.arange(1, x.shape[1] + 1, device=x.device))
scan("diff", lambda x: torch.diff(x, dim=1))
scan("sort_rows", lambda x: torch.sort(x, dim=1), large=(2048, 1024))
scan("sort_columns_descending", lambda x: torch.sort(x, 0, descending=True).values, large=(512, 2048))
scan("argsort", lambda x: torch.argsort(x, -1), large=(2048, 1024))
scan("topk", lambda x: torch.topk(x, 8, dim=-1), large=(2048, 4096))
scan("topk_smallest", lambda x: torch.topk(x, 3, 0, largest=False).values, large=(2048, 2048))
scan("kth_value", lambda x: torch.kthvalue(x, 5, -1).values, large=(2048, 1024))
scan("topk_mask", lambda x: x.masked_fill(x < x.topk(4, -1).values[:, -1:], float("-inf")).softmax(-1),
     large=(2048, 2048))
scan("nucleus", lambda x: (lambda p: torch.where(p.cumsum(-1) - p > 0.9, 0.0, p))(
    x.softmax(-1).sort(-1, descending=True).values), large=(512, 4096))
scan("flip", lambda x: x.flip(0, 1))
scan("roll", lambda x: x.roll((3, -2), (0, 1)))


@case(SMALL, LARGE)
def cumsum_masked(n, d):
    return Function(lambda x, keep: torch.cumsum(x * keep, 1)), randn(n, d), torch.rand(n, d) < 0.5


@case(SMALL, LARGE, bf16=False)
def cumsum_integers(n, d):
    return Function(lambda x: torch.cumsum(x != 1, 1) * (x != 1)), randint(0, 4, (n, d))


@case((9, 7, 12), (65536, 256, 32768))
def gather_rows(n, d, m):
    return Function(lambda x, i: x[i]), randn(n, d), randint(0, n, (m,))


@case((9, 7), (65536, 256))
def index_select_columns(n, d):
    return Function(lambda x, i: x.index_select(1, i)), randn(n, d), randint(0, d, (d // 2,))


@case((9, 7), (4096, 4096))
def gather_elements(n, d):
    return Function(lambda x, i: x.gather(1, i)), randn(n, d), randint(0, d, (n, d // 2))


@case((9, 7), (8192, 4096))
def pick_one_per_row(n, d):
    return (Function(lambda x, i: x[torch.arange(n, device=x.device), i]), randn(n, d),
            randint(0, d, (n,)))


@case((9, 7), (4096, 4096))
def scatter_value(n, d):
    return Function(lambda x, i: x.scatter(1, i, 1.0)), randn(n, d), randint(0, d, (n, 4))


@case((9, 7), (4096, 1024))
def scatter_add(n, d):
    return (Function(lambda x, i, y: x.scatter_add(1, i, y)), randn(n, d), randint(0, d, (n, d)),
            randn(n, d))


@case((9, 7), (4096, 1024))
def scatter_reduce_max(n, d):
    return (Function(lambda x, i, y: x.scatter_reduce(1, i, y, "amax")), randn(n, d),
            randint(0, d, (n, d)), randn(n, d))


@case((9, 7, 20), (4096, 256, 32768))
def index_add(n, d, m):
    return (Function(lambda x, i, y: x.index_add(0, i, y)), randn(n, d), randint(0, n, (m,)),
            randn(m, d))


@case((9, 7, 5), (16384, 512, 4096))
def index_copy(n, d, m):
    return (Function(lambda x, i, y: x.index_copy(0, i, y)), randn(n, d), torch.randperm(n)[:m],
            randn(m, d))


@case((9, 7, 20), (4096, 256, 32768))
def index_put_accumulated(n, d, m):
    return (Function(lambda x, i, y: x.index_put((i,), y, accumulate=True)), randn(n, d),
            randint(0, n, (m,)), randn(m, d))


@case((9, 7, 20), (4096, 256, 32768))
def segment_means(n, d, m):
    """Means of a graph's messages."""

    def function(messages, target):
        sums = torch.zeros(n, d, device=messages.device, dtype=messages.dtype)
        counts = torch.zeros(n, device=messages.device, dtype=messages.dtype)
        sums = sums.index_add(0, target, messages)
        counts = counts.index_add(0, target, torch.ones_like(messages[:, 0]))
        return sums / counts.clamp(min=1).unsqueeze(1)

    return Function(function), randn(m, d), randint(0, n, (m,))


@case((9, 7), (8192, 1024), bf16=False)
def one_hot(n, classes):
    return Function(lambda i: F.one_hot(i, classes).float()), randint(0, classes, (n,))


@case((9, 20), (4096, 4096))
def search_sorted(n, d):
    return Function(torch.searchsorted), torch.randn(d).sort().values, randn(n, d)


@case((40, 9), (1 << 20, 256), bf16=False)
def bincount(n, bins):
    def function(x):
        return torch.zeros(bins, dtype=torch.int64, device=x.device).scatter_add(0, x,
                                                                                  torch.ones_like(x))

    return Function(function), randint(0, bins, (n,))


@case((9, 20), (4096, 4096))
def bucketize(n, d):
    return (Function(lambda x, edges: torch.bucketize(x, edges)), randn(n, d),
            torch.linspace(-2, 2, 17))


@case((9, 20), (1024, 1024))
def take_along_sorted(n, d):
    return Function(lambda x, y: y.gather(1, x.argsort(1))), randn(n, d), randn(n, d)


@case((3, 20), (64, 8192))
def windows(n, d):
    return Function(lambda x: x.unfold(1, 4, 2).amax(-1)), randn(n, d)


@case((3, 20), (1024, 4096), bf16=False)
def mode_of_rows(n, d):
    return Function(lambda x: torch.mode(x, 1).values), randint(0, 5, (n, d))


@case((9, 20), (4096, 4096))
def masked_fill(n, d):
    return (Function(lambda x, m: x.masked_fill(m, -1e9)), randn(n, d), torch.rand(n, d) < 0.3)


@case((9, 12), (2048, 4096))
def linear_recurrence(n, d):
    """h[t] = a[t] h[t-1] + x[t] in closed form."""

    def function(log_a, x):
        total = log_a.cumsum(1)
        return torch.exp(total) * torch.cumsum(x * torch.exp(-total), 1)

    return Function(function), -0.001 * torch.rand(n, d), randn(n, d)


@case((5, 4, 3), (64, 512, 256))
def padded_sequences(b, t, d):
    """A cumulated mask of lengths."""

    def function(x, lengths):
        keep = torch.arange(t, device=x.device)[None, :] < lengths[:, None]
        return (x * keep[:, :, None]).sum(1) / lengths[:, None], keep.cumsum(1)

    return Function(function), randn(b, t, d), randint(1, t + 1, (b,))
