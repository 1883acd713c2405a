# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that PyTorch or FACT writes out: what is left has conversions and computes the same.

Many functions are exported as one module. The written-out program runs in PyTorch, in fp64,
beside the module; a few of them are compiled for the host too.
"""

import copy
import os
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

import fact
from fact import decompositions, toolchain
from fact.compiler import translate
from fact.export import _export_program, _supported_ops

sys.path.insert(0, str(Path(__file__).parent / "execution"))
from operators import Case, Group, check

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-opt") is None:
        pytest.skip("fact-opt is not built", allow_module_level=True)

REDUCTIONS = ("none", "mean", "sum")
# The second of four groups is empty.
ENDS = torch.tensor([2, 2, 5, 9], dtype=torch.int32)


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def unit(*shape, seed=0):
    """Values in (0, 1)."""
    return rand(*shape, seed=seed).sigmoid()


def whole(*shape, high, seed=0):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(seed))


class Cases(nn.Module):
    """Functions as one module: results by name."""

    def __init__(self, cases):
        super().__init__()
        self.functions = {name: function for name, (function, _) in cases.items()}
        self.layers = nn.ModuleList(f for f in self.functions.values()
                                    if isinstance(f, nn.Module)).double().eval()
        self.counts = {name: len(inputs) for name, (_, inputs) in cases.items()}

    def forward(self, *inputs):
        results, given = {}, list(inputs)
        for name, function in self.functions.items():
            mine, given = given[:self.counts[name]], given[self.counts[name]:]
            results[name] = function(*mine)
        return results


def losses():
    x, y, z, signs = rand(4, 6), rand(4, 6, seed=1), rand(4, 6, seed=2), rand(4, seed=3).sign()
    classes, weight = whole(4, high=6), unit(6)
    cases = {}
    for r in REDUCTIONS:
        cases |= {
            f"cross entropy {r}": (lambda a, b, r=r: F.cross_entropy(a, b, reduction=r),
                                   [x, classes]),
            f"cross entropy, weights, smoothing {r}": (
                lambda a, b, w, r=r: F.cross_entropy(a, b, w, ignore_index=2, reduction=r,
                                                     label_smoothing=0.1), [x, classes, weight]),
            f"cross entropy of probabilities {r}": (
                lambda a, b, w, r=r: F.cross_entropy(a, b.softmax(-1), w, reduction=r,
                                                     label_smoothing=0.1), [x, y, weight]),
            f"cross entropy of images {r}": (
                lambda a, b, r=r: F.cross_entropy(a, b, ignore_index=0, reduction=r),
                [rand(2, 6, 5, 3), whole(2, 5, 3, high=6)]),
            f"nll {r}": (lambda a, b, w, r=r: F.nll_loss(a, b, w, reduction=r),
                         [x, classes, weight]),
            f"kl {r}": (lambda a, b, r=r: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction=r),
                        [x, y]),
            f"bce {r}": (lambda a, b, w, r=r: F.binary_cross_entropy(
                a.sigmoid(), b.sigmoid(), w, reduction=r), [x, y, weight]),
            f"bce with logits {r}": (lambda a, b, w, r=r: F.binary_cross_entropy_with_logits(
                a, b.sigmoid(), pos_weight=w, reduction=r), [x, y, weight]),
            f"hinge {r}": (lambda a, b, r=r: F.hinge_embedding_loss(a, b, reduction=r),
                           [x, y.sign()]),
            f"ranking {r}": (lambda a, b, c, r=r: F.margin_ranking_loss(
                a, b, c, margin=0.1, reduction=r), [rand(4), rand(4, seed=1), signs]),
            f"multi margin {r}": (lambda a, b, w, r=r: F.multi_margin_loss(
                a, b, p=2, margin=0.5, weight=w, reduction=r), [x, classes, weight]),
            f"multilabel margin {r}": (
                lambda a, b, r=r: F.multilabel_margin_loss(a, b, reduction=r),
                [x, torch.tensor([[0, 3, -1, 1, 2, 2], [1, 2, 3, 4, 5, 0], [-1, 0, 0, 0, 0, 0],
                                  [5, -1, 2, -1, 0, 0]])]),
            f"triplet {r}": (lambda a, b, c, r=r: F.triplet_margin_loss(
                a, b, c, swap=True, reduction=r), [x, y, z]),
            f"cosine {r}": (lambda a, b, c, r=r: F.cosine_embedding_loss(
                a, b, c, margin=0.2, reduction=r), [x, y, signs]),
            f"poisson {r}": (lambda a, b, r=r: F.poisson_nll_loss(a, b.abs() * 3, full=True,
                                                                  reduction=r), [x, y]),
        }
        cases[f"gaussian {r}"] = (lambda a, b, c, r=r: F.gaussian_nll_loss(
            a, b, c.square(), full=True, reduction=r), [x, y, z[:, 0].clone()])
        for name in ("mse", "l1", "smooth_l1", "huber", "soft_margin", "multilabel_soft_margin"):
            cases[f"{name} {r}"] = (lambda a, b, name=name, r=r: getattr(F, f"{name}_loss")(
                a, b.sigmoid(), reduction=r), [x, y])
    return cases


def recurrences():
    x, cases = rand(3, 2, 6), {}
    for kind in (nn.RNN, nn.LSTM, nn.GRU):
        name = kind.__name__
        cases |= {
            name: (kind(6, 5), [x]),
            f"{name}, two layers both ways": (
                kind(6, 5, num_layers=2, bidirectional=True, batch_first=True), [x]),
            f"{name} of one sequence": (kind(6, 5, bias=False), [rand(3, 6)]),
            f"{name} cell": (getattr(nn, name + "Cell")(6, 5), [rand(2, 6)]),
        }
    cases["LSTM with projections"] = (nn.LSTM(6, 5, proj_size=3), [x])
    return cases


def spatial(dims):
    x = rand(2, 4, *[8] * dims)
    linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[dims]

    def layer(name, *args, **kwargs):
        return getattr(nn, f"{name}{dims}d")(*args, **kwargs), [x]

    def trained(kind):
        norm = getattr(nn, f"{kind}{dims}d")(4, affine=True, track_running_stats=True)
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        return norm, [x]

    cases = {
        "batch norm": trained("BatchNorm"),
        "instance norm with statistics": trained("InstanceNorm"),
        "instance norm": layer("InstanceNorm", 4, affine=True),
        "average": layer("AvgPool", 2), "average, overlapping": layer("AvgPool", 3, 2, 1),
        "average without padding": layer("AvgPool", 3, 2, 1, count_include_pad=False),
        "average, last window": layer("AvgPool", 3, 2, 1, ceil_mode=True),
        "max": layer("MaxPool", 2), "max, overlapping": layer("MaxPool", 3, 2, 1),
        "max, last window": layer("MaxPool", 3, 2, ceil_mode=True),
        "max, dilated": layer("MaxPool", 2, 1, dilation=2),
        "max with indices": layer("MaxPool", 3, 2, 1, return_indices=True),
        "patches": layer("Conv", 4, 5, 2, 2), "patches, rest": layer("Conv", 4, 5, 3, 3),
        "pointwise convolution": layer("Conv", 4, 6, 1, groups=2),
        "pointwise convolution, strided": layer("Conv", 4, 6, 1, 2, bias=False),
        "convolution of one sample": (getattr(nn, f"Conv{dims}d")(4, 5, 2, 2), [x[0].clone()]),
        "convolution": layer("Conv", 4, 5, 3), "convolution, same": layer("Conv", 4, 5, 3, padding="same"),
        "convolution, strided": layer("Conv", 4, 6, 3, 2, 1, groups=2),
        "convolution, dilated": layer("Conv", 4, 6, 3, padding=2, dilation=2, bias=False),
        "depthwise convolution": layer("Conv", 4, 4, 3, 1, 1, groups=4),
        "patches, padded": layer("Conv", 4, 5, 2, 2, 1),
        "transposed convolution": layer("ConvTranspose", 4, 5, 2, 2),
        "transposed convolution, overlapping": layer("ConvTranspose", 4, 6, 3, 2, 1, 1, groups=2),
        "transposed convolution, cut off": layer("ConvTranspose", 4, 3, 6, 3, 4),
        "transposed convolution, dilated": layer("ConvTranspose", 4, 2, 3, 1, 2, dilation=2),
    }
    for size in (1, 2, 3):
        cases[f"adaptive average {size}"] = layer("AdaptiveAvgPool", size)
    for size in (1, 3, 4):
        cases[f"adaptive max {size}"] = layer("AdaptiveMaxPool", size)
    cases["adaptive max with indices"] = layer("AdaptiveMaxPool", 3, return_indices=True)
    for mode in ("nearest", "nearest-exact", linear):
        cases[f"resize {mode}"] = (
            lambda a, mode=mode: F.interpolate(a, scale_factor=2, mode=mode), [x])
        cases[f"resize {mode} to 5"] = (
            lambda a, mode=mode: F.interpolate(a, size=(5,) * dims, mode=mode), [x])
    for mode in ("reflect", "replicate", "circular"):
        cases[f"pad {mode}"] = (
            lambda a, mode=mode: F.pad(a, (1, 2) * dims, mode=mode), [x])
    return cases


def images():
    x = rand(1, 4, 6, 6)
    # Points far on both sides of images, and a dimension of one pixel.
    grids = {
        f"grid of {len(sizes)} dimensions, {mode}, {padding}": (
            lambda a, g, rest=(mode, padding, aligned): F.grid_sample(a, g, *rest),
            [rand(2, 3, *sizes), 2 * rand(2, *[3] * len(sizes), len(sizes))])
        for sizes, mode, padding, aligned in (
            ((4, 5), "bilinear", "zeros", True), ((4, 1), "bilinear", "reflection", True),
            ((4, 5), "nearest", "border", False), ((1, 5), "bicubic", "reflection", True),
            ((4, 5), "bicubic", "reflection", False), ((4, 1, 5), "bilinear", "zeros", False),
            ((4, 1, 5), "nearest", "reflection", False))}
    antialiased = {
        f"antialiased {mode} to {size}, {aligned}": (
            lambda a, mode=mode, size=size, aligned=aligned: F.interpolate(
                a, size, mode=mode, antialias=True, align_corners=aligned), [x])
        for mode, size, aligned in (("bilinear", (4, 3), False), ("bilinear", (9, 2), True),
                                    ("bicubic", (4, 3), True), ("bicubic", (1, 8), False))}
    return grids | antialiased | {
        "bicubic": (lambda a: F.interpolate(a, scale_factor=2, mode="bicubic"), [x]),
        "bilinear, aligned": (lambda a: F.interpolate(a, scale_factor=2, mode="bilinear",
                                                      align_corners=True), [x]),
        "affine grid": (lambda a: F.affine_grid(a, (1, 2, 3, 4), align_corners=False),
                        [rand(1, 2, 3)]),
        "unfold": (lambda a: F.unfold(a, 3, padding=1, stride=2), [x]),
        "fold": (lambda a: F.fold(a, (4, 6), 2, stride=2), [rand(1, 8, 6)]),
        "fold, overlapping": (lambda a: F.fold(a, (5, 6), 3, stride=2, padding=1),
                              [rand(2, 18, 9)]),
        "fold, dilated": (lambda a: F.fold(a, (6, 7), (2, 3), dilation=2, padding=1),
                          [rand(12, 30)]),
        "fold with gaps": (lambda a: F.fold(a, (7, 9), 2, stride=3), [rand(1, 8, 6)]),
        "pixel shuffle": (lambda a: F.pixel_shuffle(a, 2), [x]),
        "pixel unshuffle": (lambda a: F.pixel_unshuffle(a, 2), [x]),
        "channel shuffle": (lambda a: F.channel_shuffle(a, 2), [x]),
        "local response norm": (nn.LocalResponseNorm(3), [x]),
    }


def vectors():
    x, y, ids = rand(4, 6), rand(4, 6, seed=1), whole(3, 5, high=10)
    cases = {
        "cosine similarity": (F.cosine_similarity, [x, y]),
        "pairwise distance": (lambda a, b: F.pairwise_distance(a, b, p=3), [x, y]),
        "cdist": (torch.cdist, [rand(2, 5, 3), rand(2, 4, 3, seed=1)]),
        "cdist of many": (torch.cdist, [rand(2, 30, 3), rand(2, 4, 3, seed=1)]),
        "cdist of many, not by a product": (
            lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist"),
            [rand(2, 30, 3), rand(2, 4, 3, seed=1)]),
        "cdist of order 1": (lambda a, b: torch.cdist(a, b, p=1), [x, y]),
        "pdist": (torch.pdist, [x]),
        "bilinear": (nn.Bilinear(3, 4, 5), [rand(2, 3), rand(2, 4)]),
        "bag of rows": (lambda i, w, s: F.embedding_bag(i, w, per_sample_weights=s, mode="sum"),
                        [ids, rand(10, 4), rand(3, 5)]),
        "bags with a last offset": (
            lambda i, o, w: F.embedding_bag(i, w, o, mode="sum", include_last_offset=True),
            [whole(7, high=10), torch.tensor([0, 2, 7]), rand(10, 4)]),
        "covariance": (torch.cov, [x]),
        "covariance of one row, as a method": (lambda a: a[0].cov(correction=0), [x]),
        "correlation": (torch.corrcoef, [x]),
        "log probability": (lambda a: torch.distributions.Normal(0.0, 2.0).log_prob(a), [x]),
        "entropy": (lambda a: torch.distributions.Categorical(logits=a).entropy(), [x]),
        "filled diagonal": (lambda a: (a * 2).fill_diagonal_(-1.0) + 1, [x]),
        "bags of two sizes": (
            lambda i, o, w, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
            [whole(7, high=10), torch.tensor([0, 5, 5]), rand(10, 4), rand(7)]),
        "bag without padding": (nn.EmbeddingBag(10, 4, padding_idx=2), [ids]),
        "norm of order 3": (lambda a: a.norm(p=3, dim=-1), [x]),
        "count": (lambda a: torch.linalg.vector_norm(a, 0, dim=1), [x.relu()]),
        "norm of a matrix": (lambda a: torch.linalg.matrix_norm(a, ord=1), [x]),
        "diff": (lambda a: torch.diff(a, n=2, dim=0, prepend=a[:1]), [x]),
        "unfold": (lambda a: a.unfold(1, 3, 2), [x]),
        "unfold without overlap": (lambda a: a.unfold(0, 2, 2), [x]),
        "diagonal": (lambda a: a.diagonal(1), [x]),
        "diagonal below": (lambda a: a.diagonal(-2), [x]),
        "diag": (lambda a: torch.diag(a[0]) + a[0].diag(0), [x]),
        "trace": (lambda a: a[:, :4].trace(), [x]),
        "kron": (lambda a: torch.kron(a[:2, :2], a), [x]),
        "tensordot": (lambda a, b: torch.tensordot(a, b, ([1], [1])), [x, y]),
        "cross": (lambda a: torch.linalg.cross(a[:, :3], a[:, 3:]), [x]),
        "addbmm": (lambda a: torch.addbmm(a[:, :4], a[None], a.t()[None], beta=2), [x]),
        "histogram": (lambda a: torch.histc(a, 5, -1, 1), [x]),
        "histogram of all": (lambda a: torch.histc(a, 7), [x]),
        "histogram of one value": (lambda a: torch.histc(a * 0 + 2, 4), [x]),
        # Whole numbers, which bf16 adds without rounding.
        "products of groups": (torch._grouped_mm, [
            rand(9, 8).round().bfloat16(), rand(4, 8, 16).round().bfloat16(), ENDS]),
        "products of few rows in groups": (torch._grouped_mm, [
            rand(3, 8).round().bfloat16(), rand(4, 8, 16).round().bfloat16(), ENDS // 3]),
        "index_fill": (lambda a: a.index_fill(0, torch.tensor([1, -1]), 2.0), [x]),
        "indices with a gap": (lambda a: a[torch.tensor([0, 1]), :, torch.tensor([2, 3])],
                               [rand(3, 2, 4)]),
        "slice of step 2": (lambda a, b: a.slice_scatter(b[:, :3], 1, -5, 6, 2), [x, y]),
        "isclose": (torch.isclose, [x, x + 1e-9]),
        "round": (lambda a: a.round(decimals=2), [x]),
    }
    for mode in ("sum", "mean", "max"):
        cases[f"bag, {mode}"] = (nn.EmbeddingBag(10, 4, mode=mode), [ids])
        cases[f"bags of their own sizes, {mode}"] = (
            nn.EmbeddingBag(10, 4, mode=mode),
            [whole(7, high=10), torch.tensor([0, 2, 2, 5])])
    return cases


def functions():
    x = torch.cat([rand(60) * 3, torch.tensor([0.0, -0.0, 1.0, -1.0, 50.0, -50.0, 1e-9, -1e-9])])
    inside = unit(40) * 2 - 1
    cases = {name: (getattr(torch, name), [x]) for name in (
        "sinh", "cosh", "tan", "asinh", "atan", "signbit", "sinc", "deg2rad", "positive")}
    cases |= {name: (getattr(torch, name), [inside]) for name in ("asin", "acos", "atanh")}
    cases |= {name: (getattr(torch, name), [x, x.flip(0).roll(1)]) for name in (
        "atan2", "hypot", "copysign", "logaddexp", "logaddexp2", "heaviside")}
    cases |= {name: (getattr(F, name), [x]) for name in (
        "tanhshrink", "hardshrink", "softshrink", "softsign")}
    return cases | {
        "acosh": (torch.acosh, [x.abs() + 1]),
        "atan of infinity": (torch.atan, [torch.tensor([torch.inf, -torch.inf]).double()]),
        "logit": (torch.logit, [unit(40)]),
        "xlogy": (torch.xlogy, [x, x.abs() + 1]),
        "copysign of a number": (lambda a: torch.copysign(a, -0.0), [x]),
    }


INF, NAN = torch.inf, torch.nan
EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 6.0, 8.0, INF, -INF, NAN]).double()
# Numbers of every size, and many where the functions have zeros, poles and seams.
REALS = torch.cat([EDGES, torch.linspace(-40, 40, 4001).double(),
                   *(sign * torch.logspace(-36, 36, 500).double() for sign in (1, -1))])
# (-1, 1) and (0, 1), close to their ends.
SIGNED = torch.cat([EDGES, torch.linspace(-1, 1, 2001).double(),
                    *(sign * torch.logspace(-36, -1, 500).double() for sign in (1, -1)),
                    *(sign * (1 - torch.logspace(-7, -1, 500).double()) for sign in (1, -1))])
PROBABILITIES = torch.cat([SIGNED.abs(), -SIGNED[:20]])

SPECIAL = {torch.erfc: REALS, torch.lgamma: REALS, torch.digamma: REALS, torch.i0: REALS,
           torch.special.i0e: REALS, torch.special.i1: REALS, torch.special.i1e: REALS,
           torch.special.erfcx: REALS, torch.special.log_ndtr: REALS, torch.special.ndtr: REALS,
           torch.special.entr: REALS, torch.erfinv: SIGNED, torch.special.ndtri: PROBABILITIES}


def special():
    def clear_of_poles(x):
        """PyTorch's own digamma has few digits beside a pole, and its functions with an
        exponential factor overflow early."""
        return x[((x - x.round()).abs() > 1e-6) & (x.abs() < 80) | (x > 0) & (x < 80)]

    x = clear_of_poles(REALS)
    y = torch.linspace(0.1, 3, 40).double()
    return {str(f.__name__): (f, [clear_of_poles(values) if values is REALS else values])
            for f, values in SPECIAL.items()} | {
        "multivariate lgamma": (lambda a: torch.mvlgamma(a + 2, 3), [y]),
        "xlog1py": (torch.special.xlog1py, [x, x.flip(0)]),
        "bytes": (lambda a: (100 * a).to(torch.uint8), [y / 2]),
        "mode": (torch.mode, [whole(5, 12, high=5)]),
        "mode of columns": (lambda a: torch.mode(a, 0, keepdim=True), [rand(9, 3).round()]),
        "mode of a number": (torch.mode, [rand(1)[0]]),
    }


class RoundedErf(TorchDispatchMode):
    """PyTorch's own erf of small f32 numbers is 0 on aarch64; FACT's kernels have another one."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.erf.default:
            return function(args[0].double()).to(args[0].dtype)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_special_functions_are_accurate(dtype):
    """Each form, over the whole domain, is as near to fp64 as a few roundings, and infinite and
    NaN in the same places."""
    cases = {f.__name__: (f, [values.to(dtype)]) for f, values in SPECIAL.items()}
    inputs = tuple(given[0] for _, given in cases.values())
    program = _export_program(Cases(cases), inputs, {}).module()
    with RoundedErf():
        results = program(*inputs)
    wrong = {name: fault for name, (f, (x,)) in cases.items()
             if (fault := inaccuracy(f, x, results[name]))}
    assert wrong == {}


def inaccuracy(function, x, result) -> str:
    """What is wrong with a result, if anything is."""
    result, exact, limits = result.double(), function(x.double()), torch.finfo(x.dtype)
    overflown = exact.abs() > 2 * limits.max
    if not result.isnan().equal(exact.isnan()) or \
            not result[overflown].equal(exact[overflown].sign() * INF):
        return "NaN or infinite in other places"
    size = exact.abs()
    clear = (size < limits.max / 2) & (size > limits.tiny)
    if function in (torch.lgamma, torch.digamma, torch.special.ndtr):
        # Zeros at negative numbers; PyTorch's ndtr is 1 + erf.
        size = torch.where(x < 0, size.clamp(min=1), size)
    error = ((result - exact).abs() / size)[clear] / limits.eps
    worst = error.argmax()
    if error[worst] < (16 if x.dtype == torch.float32 else 1):
        return ""
    return f"{error[worst]} roundings at {x[clear][worst]}: {result[clear][worst]}"


def layers():
    def fused(first, gelu, mask_type=None):
        attention = [rand(24, 8), rand(24), rand(8, 8), rand(8)]
        others = [rand(8), rand(8, seed=1), rand(8, seed=2), rand(8, seed=3), rand(16, 8),
                  rand(16), rand(8, 16), rand(8, seed=4)]
        return lambda x, mask=None: torch._transformer_encoder_layer_fwd(
            x, 8, 2, *attention, gelu, first, 1e-5, *others, mask, mask_type)

    x, hidden = rand(2, 5, 8), torch.arange(5) > torch.tensor([[4], [2]])
    return {
        "layer as one op": (fused(False, False), [x]),
        "layer as one op, norms first": (fused(True, True), [x]),
        "layer as one op, padded": (fused(False, False, 1), [x, hidden]),
        "layer as one op, causal": (fused(False, False, 0), [x, torch.ones(5, 5).triu(1).bool()]),
        "encoder": (nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2), [x]),
        "decoder": (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [x, rand(2, 4, 8)]),
        "attention with weights": (nn.MultiheadAttention(8, 2, batch_first=True),
                                   [x, x + 1, x + 2]),
    }


GROUPS = {"losses": losses, "recurrences": recurrences, "layers": layers,
          "1-d": lambda: spatial(1), "2-d": lambda: spatial(2), "3-d": lambda: spatial(3),
          "images": images, "vectors": vectors, "functions": functions,
          "special": special}


@pytest.mark.parametrize("name", GROUPS)
def test_forms(name):
    torch.manual_seed(0)
    cases = GROUPS[name]()
    module = Cases(cases).eval()
    inputs = tuple(tensor.clone() for _, given in cases.values() for tensor in given)
    program = _export_program(module, inputs, {})
    assert unsupported(program) == {}
    with torch.no_grad():
        results, expected = program.module()(*inputs), module(*inputs)
    wrong = {}
    for case in cases:
        try:
            torch.testing.assert_close(results[case], expected[case], rtol=1e-9, atol=1e-12,
                                       equal_nan=True)
        except AssertionError as error:
            wrong[case] = str(error)
    assert wrong == {}


def unsupported(program) -> dict[str, str]:
    """Ops without a conversion, each with the line that it comes from."""
    supported = _supported_ops()
    return {name: node.meta.get("stack_trace", "")[-200:] for node in program.graph.nodes
            if (name := decompositions.op_name(node.target)) and name not in supported}


X, Y = rand(4, 6).float(), rand(4, 6, seed=1).float()

# Not in the table of supported ops, which is about those with a conversion. Convolutions and pools are
# executed by execution/test_convolutions.py.
COMPILED = Group("decomposed", [
    Case("cross entropy", lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
         [X, whole(4, high=6)], reduction=24, roundings=8),
    Case("cosine similarity", F.cosine_similarity, [X, Y], reduction=6, roundings=8),
    Case("GRU", lambda x, h, *w: torch.gru(x, h, w, True, 1, 0.0, False, False, False)[0],
         [rand(3, 2, 6).float(), rand(1, 2, 4).float(), rand(12, 6).float(),
          rand(12, 4, seed=1).float(), rand(12).float(), rand(12, seed=1).float()],
         reduction=30, roundings=16),
    Case("bilinear resize", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
         [rand(1, 2, 3, 3).float()], roundings=8),
    Case("grid", lambda x, g: F.grid_sample(x, g, align_corners=False),
         [rand(1, 2, 4, 5).float(), rand(1, 3, 3, 2).float()], roundings=16),
    Case("reflection", lambda x: F.pad(x, (2, 1), mode="reflect") * 2, [X]),
    Case("bag", lambda i, o, w: F.embedding_bag(i, w, o, mode="max"),
         [whole(7, high=10), torch.tensor([0, 2, 5]), rand(10, 4).float()]),
    Case("atan2", torch.atan2, [X, Y], roundings=8),
    Case("sinh", torch.sinh, [X], roundings=8),
    # Away from zeros, since the bound is in roundings of the result.
    *(Case(f.__name__, f, [torch.linspace(2.1, 12, 64)], roundings=16)
      for f in (torch.erfc, torch.lgamma, torch.digamma, torch.i0)),
    Case("erfinv", torch.erfinv, [torch.linspace(-0.9, 0.9, 64)], roundings=16),
    Case("lgamma of integers", torch.lgamma, [torch.arange(3, 12)], roundings=16),
    Case("mode", torch.mode, [whole(4, 12, high=5)]),
], merge=True)


def test_compiled():
    check(COMPILED, "fp32")


@pytest.mark.parametrize("momentum", [0.1, 0.7])
def test_norms_in_training(momentum):
    """Statistics of the batch, and running averages that two calls change."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.BatchNorm2d(3, momentum=momentum), nn.BatchNorm2d(3).eval(),
                           nn.InstanceNorm2d(3, track_running_stats=True, momentum=momentum))
    reference = copy.deepcopy(module)
    program = _export_program(module, (rand(2, 3, 4, 5).float(),), {})
    assert unsupported(program) == {}
    compiled = program.module()
    for seed in (1, 2):
        x = 1 + rand(2, 3, 4, 5, seed=seed).float()
        torch.testing.assert_close(compiled(x), reference(x))
    state = compiled.state_dict()
    for name, buffer in reference.named_buffers():
        torch.testing.assert_close(state[name], buffer, msg=name)


@torch.no_grad()
def test_a_compiled_norm_in_training():
    module = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))
    reference, x = copy.deepcopy(module), rand(2, 3, 4, 5).float()
    model = fact.compile(module, (x,), target="host", candidates=1)
    for _ in range(2):
        torch.testing.assert_close(model(x), reference(x), rtol=1e-4, atol=1e-5)
    for name, buffer in reference[1].named_buffers():
        torch.testing.assert_close(getattr(module[1], name), buffer)


class Discovered(nn.Module):
    """What real models have, and once had no kernel: each without an input of its own."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(2, 32)
        self.register_buffer("types", torch.zeros(1, 16, dtype=torch.long))
        self.register_buffer("zeros", torch.zeros(10, 32), persistent=False)

    def forward(self, x, ids):
        positions = torch.arange(16)[None]
        starts = torch.diff(positions, prepend=positions[:, :1] - 1, dim=-1) != 1
        tokens = F.embedding(torch.zeros(2, 16, dtype=torch.long), self.table.weight)
        x = x / torch.sqrt(torch.tensor(8.0)) + starts.cumsum(-1)[..., None] + tokens
        x = x + self.table(self.types) + F.embedding(ids, self.zeros)
        return x + x[:, [-1], :] * 2


def test_equal_constants_are_one():
    """The places of a resized image, which each of the 16 taps of a pixel computes again."""
    resize = nn.Upsample(scale_factor=2, mode="bicubic")
    program = _export_program(resize, (rand(1, 2, 4, 4),), {})
    names = program.graph_signature.inputs_to_lifted_tensor_constants
    constants = [program.constants[names[node.name]] for node in program.graph.nodes
                 if node.name in names and node.users]
    assert len({(c.dtype, c.shape, str(c.tolist())) for c in constants}) == len(constants) > 0


def test_constants_need_no_kernel_on_a_gpu(tmp_path):
    inputs = (torch.randn(2, 16, 32).bfloat16(), torch.zeros(2, 16, dtype=torch.long))
    translate(Discovered().bfloat16(), inputs, until="discover", target="sm_90a",
              output=tmp_path / "discovered.mlir")
