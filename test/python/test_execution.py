"""Modules compiled for the host, run, and compared with PyTorch in fp64.

A module groups several ops where that saves a compilation; each op is one result, so a
failure names it. Inputs are representable in the type under test, and the truth is
computed from the same values.
"""

import math
import os

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import toolchain, verify
from fact.workload import DTYPES, load_workload

# `make check` has built everything, so there nothing may be skipped.
if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

TYPES = sorted(DTYPES)


def check(module, inputs, dtype, *, reduction=1, roundings=2):
    """Compiles in `dtype`, runs twice, compares each result with the module in fp64."""
    to = DTYPES[dtype]
    module = module.eval().to(to)
    inputs = [x.to(to) if x.is_floating_point() else x for x in inputs]
    model = fact.compile(module, inputs, target="host")
    first, second = model(*inputs), model(*inputs)
    exact = verify.reference(module, inputs)
    for one, two in zip(_leaves(first), _leaves(second)):
        assert torch.equal(one.nan_to_num(), two.nan_to_num()), "two runs differ"
    if isinstance(first, dict):
        for name, result in first.items():
            try:
                verify.check(result, exact[name], reduction=reduction, roundings=roundings)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None
    else:
        verify.check(first, exact, reduction=reduction, roundings=roundings)
    return model


def _leaves(tree):
    return torch.utils._pytree.tree_leaves(tree)


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# Pointwise ops.


class Unary(nn.Module):
    OPS = {
        "neg": torch.neg,
        "exp": torch.exp,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "relu": torch.relu,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu,
        "mish": F.mish,
        "softplus": F.softplus,
        "clamp": lambda x: torch.clamp(x, -0.5, 0.75),
        "clamp_min": lambda x: torch.clamp(x, min=-0.25),
        "square": lambda x: x.pow(2),
        "scaled": lambda x: x * 0.375 + 1.5,
        "reciprocal_of_sum": lambda x: 1.0 / (x * x + 0.5),
        "rsqrt": lambda x: torch.rsqrt(x * x + 0.25),
    }

    def forward(self, x):
        return {name: op(x) for name, op in self.OPS.items()}


@pytest.mark.parametrize("dtype", TYPES)
def test_unary(dtype):
    # Values from the tails of activations too.
    x = torch.cat([rand(37, 5) * 2, torch.linspace(-30, 8, 55).reshape(11, 5)])
    check(Unary(), [x], dtype)


class Binary(nn.Module):
    def forward(self, x, y, row, column):
        return {
            "add": x + y,
            "sub": x - y,
            "mul": x * y,
            "div": x / (y.abs() + 0.5),
            "alpha": torch.add(x, y, alpha=0.5),
            "row": x + row,
            "column": x * column,
            "outer": row + column,
            "reverse": 2.0 - x,
        }


@pytest.mark.parametrize("dtype", TYPES)
def test_binary_and_broadcasts(dtype):
    check(Binary(), [rand(12, 20), rand(12, 20, seed=1), rand(20, seed=2), rand(12, 1, seed=3)],
          dtype)


class Select(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keep", torch.arange(20) % 3 != 0)

    def forward(self, x, y):
        return {
            "masked_fill": x.masked_fill(self.keep, -1.5),
            "where": torch.where(x > y, x, y),
            "where_scalar": torch.where(self.keep, x, 0.0),
        }


@pytest.mark.parametrize("dtype", TYPES)
def test_select(dtype):
    check(Select(), [rand(7, 20), rand(7, 20, seed=1)], dtype)


def test_casts_round_where_they_are_written():
    class Casts(nn.Module):
        def forward(self, x):
            return {"half": x.to(torch.float16), "through": x.to(torch.bfloat16).float() + 1}

    x = rand(33, 7)
    model = fact.compile(Casts(), (x,), target="host")
    found = model(x)
    assert torch.equal(found["half"], x.half())
    assert torch.equal(found["through"], x.bfloat16().float() + 1)


# Contractions.


class Products(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(48, 33)
        self.plain = nn.Linear(48, 16, bias=False)

    def forward(self, x, w, a, b):
        return {
            "linear": self.linear(x),
            "plain": self.plain(x),
            "matmul": x @ w,
            "transposed": x @ self.plain.weight.t(),
            "batched": a @ b,
            "batched_transposed": a @ b.transpose(-2, -1).contiguous().transpose(-2, -1),
        }


@pytest.mark.parametrize("dtype", TYPES)
def test_products(dtype):
    inputs = [rand(20, 48), rand(48, 17, seed=1), rand(3, 5, 19, 24, seed=2),
              rand(3, 5, 24, 13, seed=3)]
    check(Products(), inputs, dtype, reduction=48)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 7, 64), (65, 1, 3), (130, 67, 129)])
def test_products_of_awkward_sizes(shape):
    m, n, k = shape

    class Product(nn.Module):
        def forward(self, a, b):
            return a @ b

    check(Product(), [rand(m, k), rand(k, n, seed=1)], "fp32", reduction=k)


class Epilogue(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 40)

    def forward(self, x, residual):
        return F.silu(self.linear(x)) * 0.5 + residual


@pytest.mark.parametrize("dtype", TYPES)
def test_epilogue(dtype):
    check(Epilogue(), [rand(3, 11, 40), rand(3, 11, 40, seed=1)], dtype, reduction=40)


# Rows.


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(40)
        self.bare = nn.LayerNorm(40, elementwise_affine=False, eps=1e-3)
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, 40))
        with torch.no_grad():
            self.norm.weight.uniform_(0.5, 1.5)
            self.norm.bias.uniform_(-0.5, 0.5)

    def forward(self, x):
        rms = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight
        return {
            "softmax": F.softmax(x, dim=-1),
            "layer_norm": self.norm(x),
            "bare_norm": self.bare(x),
            "rms_norm": rms,
            "sum": x.sum(-1),
            "mean": x.mean(-1, keepdim=True),
        }


@pytest.mark.parametrize("dtype", TYPES)
def test_rows(dtype):
    check(Rows(), [rand(6, 9, 40) * 3 + 0.5], dtype, reduction=40, roundings=4)


# Attention.


def heads(batch, count, tokens, width, seed):
    return rand(batch, count, tokens, width, seed=seed)


class Attention(nn.Module):
    def __init__(self, causal, scale=None):
        super().__init__()
        self.causal, self.scale = causal, scale

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, scale=self.scale)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("causal, scale", [(True, None), (False, None), (False, 0.3)])
def test_attention(dtype, causal, scale):
    inputs = [heads(2, 3, 19, 16, seed) for seed in range(3)]
    check(Attention(causal, scale), inputs, dtype, reduction=19, roundings=4)


class GroupedAttention(nn.Module):
    def forward(self, q, k, v):
        k, v = (x.repeat_interleave(2, dim=1) for x in (k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@pytest.mark.parametrize("dtype", TYPES)
def test_grouped_attention(dtype):
    inputs = [heads(2, 4, 12, 16, 0), heads(2, 2, 12, 16, 1), heads(2, 2, 12, 16, 2)]
    check(GroupedAttention(), inputs, dtype, reduction=12, roundings=4)


class WrittenAttention(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, q, k, v):
        scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
        scores = scores.masked_fill(self.mask == 0, float("-inf"))
        return F.softmax(scores, dim=-1) @ v


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["causal", "other"])
def test_attention_written_out(dtype, kind):
    mask = torch.tril(torch.ones(15, 15))
    if kind == "other":
        # One element away from causal: must not be taken for it.
        mask[7, 3] = 0
    inputs = [heads(2, 3, 15, 16, seed) for seed in range(3)]
    check(WrittenAttention(mask), inputs, dtype, reduction=15, roundings=6)


# Views.


class Views(nn.Module):
    def forward(self, x, y):
        first, second, third = x.split(8, dim=2)
        return {
            "reshape": x.reshape(6, 5 * 24) * 2,
            "permute": x.permute(2, 0, 1) * 2,
            "transpose": x.transpose(0, 1).contiguous() * 2,
            "slice": x[:, 1:4, ::2] * 2,
            "split": first + second * third,
            "expand": y.expand(6, 5, 24) + x,
            "repeat": y.repeat_interleave(3, dim=0) * 2,
            "heads": x.view(6, 5, 4, 6).transpose(1, 2).reshape(24, 5, 6) * 2,
            "unsqueeze": (x.unsqueeze(1) * y.unsqueeze(0)).squeeze(0),
            "flatten": x.flatten(1) * 2,
        }


@pytest.mark.parametrize("dtype", TYPES)
def test_views(dtype):
    check(Views(), [rand(6, 5, 24), rand(1, 5, 24, seed=1)], dtype)


def test_views_alone():
    class Alone(nn.Module):
        def forward(self, x):
            return {"same": x, "transposed": x.t(), "part": x[1:3]}

    x = rand(5, 7)
    found = fact.compile(Alone(), (x,), target="host")(x)
    assert torch.equal(found["same"], x) and torch.equal(found["transposed"], x.t())
    assert torch.equal(found["part"], x[1:3])


def test_inputs_of_other_strides():
    class Chain(nn.Module):
        def forward(self, x, y):
            return torch.tanh(x @ y)

    x, y = rand(24, 16), rand(24, 20, seed=1)
    model = fact.compile(Chain(), (x.t().contiguous(), y), target="host")
    exact = torch.tanh(x.t().double() @ y.double())
    verify.check(model(x.t(), y), exact, reduction=24)


# Whole workloads.


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name, reduction", [
    ("gemm_square", 64), ("gemm_batched", 48), ("gemm_large_k", 2048), ("linear_chain", 64),
    ("mini_gpt_block", 256), ("llama3_block", 96),
])
def test_workloads(root, name, reduction, dtype):
    w = load_workload(str(root / "examples" / "workloads" / f"{name}.py"), size="small")
    check(w.module, w.inputs, dtype, reduction=reduction, roundings=8)


def workload(root, name):
    return load_workload(str(root / "examples" / "workloads" / f"{name}.py"), size="small")


def test_linear_chain_is_one_kernel(root):
    w = workload(root, "linear_chain")
    library = fact.build(w.module, w.inputs, target="host")
    assert len(library.description["steps"]) == 1


def test_mini_gpt_is_seven_kernels(root):
    w = workload(root, "mini_gpt_block")
    library = fact.build(w.module, w.inputs, target="host")
    rules = {kernel["name"]: kernel["rule"] for kernel in library.description["kernels"]}
    assert [rules[step] for step in library.description["steps"]] == [
        "rowwise", "gemm_epilogue", "attention", "gemm_epilogue",
        "rowwise", "gemm_epilogue", "gemm_epilogue",
    ]


# Weights.


def test_weights_can_be_swapped(root):
    w = workload(root, "mini_gpt_block")
    model = fact.compile(w.module, w.inputs, target="host")
    with torch.no_grad():
        for parameter in w.module.parameters():
            parameter.mul_(1.25)
    model.set_weights({n: p for n, p in w.module.named_parameters()})
    verify.check(model(*w.inputs), verify.reference(w.module, w.inputs), reduction=256,
                 roundings=8)


def test_another_mask_is_refused(root):
    """The compiler used the mask's value, so a library must not run with another one."""
    w = workload(root, "mini_gpt_block")
    library = fact.build(w.module, w.inputs, target="host")
    w.module.attention.causal[0, 0, 3, 3] = 0
    baked = {entry["name"] for entry in library.weights if entry.get("baked")}
    if "attention.causal" in baked:
        with pytest.raises(fact.FactError, match="attention.causal"):
            library.create(w.module)


def test_missing_and_wrong_weights_are_named(root):
    w = workload(root, "linear_chain")
    library = fact.build(w.module, w.inputs, target="host")
    weights = {n: p.detach() for n, p in w.module.named_parameters()}
    del weights["scale"]
    weights["linear.bias"] = torch.zeros(3)
    with pytest.raises(fact.FactError) as caught:
        library.create(weights)
    assert "scale" in str(caught.value) and "linear.bias" in str(caught.value)


def test_two_models_of_one_library(root):
    w = workload(root, "linear_chain")
    library = fact.build(w.module, w.inputs, target="host")
    first = library.create(w.module)
    other = {n: p.detach() * 0.5 for n, p in w.module.named_parameters()}
    second = library.create(other)
    exact = verify.reference(w.module, w.inputs)
    verify.check(first(*w.inputs), exact, reduction=64)
    assert not torch.allclose(second(*w.inputs), first(*w.inputs))
    verify.check(first(*w.inputs), exact, reduction=64)


# What cannot be compiled.


def test_an_op_that_is_not_supported_is_named_with_its_line():
    class Unsupported(nn.Module):
        def forward(self, x):
            return torch.linalg.inv(x)

    with pytest.raises(fact.FactError) as caught:
        fact.compile(Unsupported(), (torch.eye(4),), target="host")
    message = str(caught.value)
    assert "linalg_inv" in message and "test_execution.py" in message
    assert "reproduce it with" in message


def test_large_sums_stay_exact():
    class Sum(nn.Module):
        def forward(self, x):
            return x.sum(-1)

    x = torch.full((2, 1 << 16), 1.0 / 3)
    assert math.isclose(fact.compile(Sum(), (x,), target="host")(x)[0].item(), (1 << 16) / 3,
                        rel_tol=1e-5)
