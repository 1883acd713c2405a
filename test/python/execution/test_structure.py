# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and reductions that need fewer operations than they are written with."""

import math
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import verify
from fact.compiler import translate
from operators import Case, check, group, integers, rand, runs

V, VS = rand(7), rand(3, 7, seed=1)
A, B, BS = rand(5, 7, seed=2), rand(7, 9, seed=3), rand(3, 7, 9, seed=4)
X = rand(2, 6, 40, seed=5)
INFINITE = torch.tensor([[2.0], [-0.0], [math.inf], [-math.inf], [math.nan]])


def case(name, function, inputs, reduction=40, roundings=6):
    return Case(name, function, inputs, reduction=reduction, roundings=roundings)


def own(seed):
    """Factors of one case: a product that two cases read would stay."""
    return [rand(2, 6, 40, seed=20 + seed), rand(11, 40, seed=50 + seed) / 6]


def long(seed):
    return rand(2, 96, 8, seed=80 + seed) / 4


DIAGONALS = group(
    "diagonals",
    case("left", lambda v, b: torch.diag(v) @ b, [V, B]),
    case("right", lambda a, v: a @ torch.diag(v), [A, V]),
    case("linear", lambda a, v: F.linear(a, torch.diag(v), v), [A, V]),
    case("batches", lambda v, b: torch.diag_embed(v) @ b, [VS, BS]),
    case("batches of one matrix", lambda v, b: torch.diag_embed(v) @ b, [VS, B]),
    case("one of batches", lambda v, b: b.mT @ torch.diag(v), [V, BS]),
    case("flattened", lambda v, b: torch.diagflat(v) @ b, [rand(7, 1), B]),
    case("identity", lambda b: torch.eye(7, dtype=b.dtype) @ b, [B]),
    case("identity times", lambda v, b: (torch.eye(7, dtype=b.dtype) * v * 0.5) @ b, [V, B]),
    case("diagonal of a matrix", lambda m, b: torch.diag(torch.diag(m)) @ b, [rand(7, 7), B]),
    case("above", lambda v, b: torch.diag(v[:6], 1) @ b, [V, B]),
    case("of one element", lambda v, b: torch.diag(v[:1]) @ b[:1], [V, B]),
    case("twice", lambda v, b: torch.diag(v) @ b @ torch.diag(b[0]), [V, B]),
)

SUMS = group(
    "sums_of_products",
    case("columns", lambda x, w: F.linear(x, w).sum(-1), own(0), 51),
    case("columns, kept", lambda x, w: (F.linear(x, w) * 0.3).mean(-1, keepdim=True), own(1), 51),
    case("rows", lambda x, w: F.linear(x, w).sum(1), own(2), 46),
    case("batches", lambda x, w: (F.linear(x, w) + x[..., :11]).mean(0), own(3), 42),
    case("both", lambda x, w: (x @ w.t()).sum((1, 2)), own(4), 106),
    case("all", lambda x, w: (x @ w.t()).mean(), own(5), 132),
    case("left matrix", lambda x, w: (w @ x.mT).sum(-1), own(6), 46),
    case("rows of left matrix", lambda x, w: (w @ x.mT).sum(1), own(7), 51),
    case("bmm", lambda x: torch.bmm(x, x.mT).sum(), own(16)[:1], 76),
    case("by rows", lambda x, w: ((x @ w.t()) / (x[..., :1].abs() + 1) + x[..., :1]).sum(-1),
         own(8), 51),
    case("widened", lambda x, w: (x @ w.t()).float().sum(-1), own(9), 51),
    case("shared", lambda x, w: ((y := x @ w.t()).sum(-1), y), own(10), 51),
    case("flattened", lambda x, w: (x @ w.t()).flatten(1).mean(1), own(11), 106),
    case("pool of columns", lambda x, w: F.avg_pool1d(x @ w[:9].t(), 3), own(12), 43),
    case("heads", lambda x, w: (x @ w[:8].t()).view(2, 6, 2, 4).transpose(1, 2).sum(1), own(13),
         42),
    case("pool of rows", lambda x, w: F.adaptive_avg_pool1d((x @ w.t()).mT, 1), own(14), 46),
    case("1x1 filters", lambda x, w: F.conv2d(x.view(2, 6, 5, 8), w[:, :6, None, None]).mean(
        (2, 3)), own(15)),
    case("ones", lambda x: x @ torch.ones(40, 3, dtype=x.dtype), [X]),
    case("of a number", lambda x: torch.full((4, 6), -0.25, dtype=x.dtype) @ x, [X]),
    case("ones by a vector", lambda x: x @ torch.full((40,), 0.5, dtype=x.dtype), [X]),
)

T = torch.arange(96) * 7 % 64


def wide(seed):
    return [rand(96, 40, seed=110 + seed), rand(64, 40, seed=130 + seed) / 6]


FEW = group(
    "few_numbers_of_products",
    case("sum", lambda x, w: F.linear(x, w).relu().sum(), wide(0), 200),
    case("mean of squares", lambda x, w: F.mse_loss(F.linear(x, w), x[:, :1] + w[:, 0]), wide(1), 200),
    case("extremes", lambda x, w: (F.linear(x, w).amax(), F.linear(x.neg(), w).mT.amin()), wide(3)),
    case("blocks", lambda x, w: F.linear(x.view(4, 24, 40), w).exp().sum((1, 2)), wide(4), 200),
    case("logsumexp", lambda x, w: torch.logsumexp(F.linear(x, w), -1), wide(5), 104),
    case("cross entropy", lambda x, w: F.cross_entropy(F.linear(x, w, w[:, 0]), T), wide(6), 200),
)

CHAINS = group(
    "chains",
    case("column", lambda x, w: (x.mT @ x) @ w[0], [long(0), rand(1, 8)], 104),
    case("row", lambda x, v: v @ (x @ x.mT), [long(1), rand(96, seed=8) / 9], 104),
    case("linear attention", lambda x: (x @ x.mT * 0.25) @ (x + 1), [long(2)], 104),
    case("transposed", lambda x: (x @ x.mT).mT @ x, [long(3)], 104),
    case("one matrix", lambda x, m: (x @ m) @ m.mT, [long(4), rand(8, 64, seed=9) / 8], 72),
    case("outer product", lambda x: torch.outer(x[0, :, 0], x[0, :, 1]) @ x[1], [long(5)], 104),
)

TRIVIAL = group(
    "trivial_reductions",
    case("of one element", lambda x: (x.sum(1), x.mean(1), x.amax(1), x.prod(1),
                                      x.var(1, unbiased=False)), [INFINITE]),
    case("exponentials", lambda x: (F.softmax(x, 1), F.log_softmax(x, 1),
                                    torch.logsumexp(x, 1), torch.logsumexp(x, (1,), True)),
         [INFINITE]),
    case("repeated", lambda x: (x.expand(3, 6, 40).sum(0), x.expand(3, 6, 40).mean((0, 1)),
                                x.expand(3, 6, 40).amin(0)), [X[:1]], 18),
    case("twice", lambda x: (x.sum(-1).sum(-1), x.mean(1).mean(1), x.amax(0).amax(0),
                             x.sum(-1).sum(0), x.mean(2, True).mean(1, True)), [X], 240),
    case("in a row", lambda x, w: torch.logsumexp(torch.logsumexp(torch.max(F.linear(x, w).sum(
        1, keepdim=True), 1, keepdim=True)[0].mean(1, keepdim=True), 1, True), 1, True),
        [X[1], rand(11, 40, seed=6) / 6], 51),
)

REPEATED = group(
    "repeated_integers",
    Case("sums", lambda x: (x.expand(300, 4, 5).sum(0), x.expand(3, 4, 5).amax((0, 1)),
                            x.int().expand(3, 4, 5).sum((0, 2))), [integers(1, 4, 5)]),
    types=["fp32"],
)


@runs(DIAGONALS, SUMS, FEW, CHAINS, TRIVIAL, REPEATED)
def test_structure(cases, dtype):
    check(cases, dtype)


class Heads(nn.Module):
    """Weights whose sums, or whose product, are taken at load. Each result has its own input, so
    that no product has two users."""

    def __init__(self):
        super().__init__()
        self.fc, self.other = nn.Linear(96, 64), nn.Linear(64, 96, bias=False)
        self.wide, self.narrow = nn.Linear(24, 256, bias=False), nn.Linear(256, 24, bias=False)
        self.scales = nn.Parameter(torch.rand(96))

    def forward(self, *x):
        return {"columns": self.fc(x[0]).sum(-1, keepdim=True),
                "rows": self.fc(x[1]).mean(1),
                "sum of rows": (self.fc(x[2]) * 0.5).sum(1),
                "pool": F.avg_pool1d(self.fc(x[3]), 16),
                "merged": self.narrow(self.wide(x[4][..., :24])),
                "split": x[5] @ (self.fc.weight[:4].t() @ self.other.weight[:, :4].t()),
                "scaled": F.linear(x[6], torch.diag(self.scales))}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_are_summed_at_load(dtype, tmp_path):
    """Far from zero, where sums cancel least and round most; also after new weights."""
    torch.manual_seed(0)
    module = Heads().eval().to(dtype)
    inputs = [(rand(3, 50, 96, seed=seed) + 4).to(dtype) for seed in range(7)]
    path = tmp_path / "raised.mlir"
    translate(module, inputs, until="raise", output=path)
    products = re.findall(r"fact.matmul .* -> tensor<([\dx]+)x\w+>", path.read_text())
    # Rows of means and pooled columns, twice in 16 bits; in f16, products of three factors stay.
    merged = ["24x24", "3x50x24", "3x50x4", "3x50x96"]
    stay = ["3x50x256", "3x50x24", "96x96", "3x50x96"]
    reduced = ["3x1x64"] * 2 + ["3x50x4"] if dtype == torch.float32 else ["3x2x64"] * 2 + ["3x50x8"]
    assert sorted(products) == sorted(reduced + (stay if dtype == torch.float16 else merged))

    model = fact.compile(module, inputs, target="host", candidates=1)
    for _ in range(2):
        found, exact = model(*inputs), verify.reference(module, inputs)
        with torch.no_grad():
            eager = module(*inputs)
        for name, result in found.items():
            if dtype == torch.float32:
                verify.check(result, exact[name], reduction=256, roundings=6)
            else:
                verify.check_beside(result, eager[name], exact[name])
        module.load_state_dict({k: v * 0.5 for k, v in module.state_dict().items()})
        model.set_weights(module)


class Centered(nn.Module):
    """Weights that cancel what the rows of an input have in common."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 96))

    def forward(self, x, y):
        return F.linear(x, self.weight).mean(1), F.avg_pool1d(F.linear(y, self.weight), 8)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_of_factors_are_not_rounded(dtype):
    """A sum rounded to 16 bits before the product would be off by about 1.4 (bf16) or 0.2 (f16) of
    the results' deviation. In two parts, it has 16 bits or more."""
    torch.manual_seed(0)
    module = Centered().eval().to(dtype)
    with torch.no_grad():
        # Opposite columns, exactly.
        module.weight[:, 48:] = -module.weight[:, :48]
    shared = 100 + rand(3, 50, 48, seed=1)
    inputs = [torch.cat([shared, shared + rand(3, 50, 48, seed=seed)], -1).to(dtype)
              for seed in (2, 3)]
    model = fact.compile(module, inputs, target="host", candidates=1)
    for result, exact in zip(model(*inputs), verify.reference(module, inputs)):
        rounded = exact.to(dtype).double()
        error = (result.double() - exact).abs()
        assert (error <= (rounded - exact).abs() + 0.02 * exact.std()).all()
