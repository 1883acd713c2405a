# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, norms, rotary embeddings and gates as people write them.

Each form is one result of a module. A form has to be recognized, which the text of the
stage `raise` shows, and the library has to compute what PyTorch does in fp64.
"""

import math
import os
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import toolchain, verify
from fact.compiler import translate

# `make check` has built everything, so there nothing may be skipped.
if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)


class Forms(nn.Module):
    """A module of functions: one result each, by name.

    Inputs have one part for each function, so that none shares what it computes.
    """

    def __init__(self, forms, **buffers):
        super().__init__()
        self.forms = forms
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer)

    def forward(self, *inputs):
        return {name: form(self, *[x[i] for x in inputs])
                for i, (name, form) in enumerate(self.forms.items())}


def raised(module, inputs, folder):
    """The text of the stage `raise`, and how often each op is in it."""
    path = folder / "raised.mlir"
    translate(module, inputs, until="raise", output=path)
    text = path.read_text()
    counts = {}
    for op in re.findall(r"= fact\.(\w+)", text):
        counts[op] = counts.get(op, 0) + 1
    return text, counts


def check(module, inputs, dtype=torch.float32, *, reduction, roundings=6):
    """Every result against the module in fp64; of 16-bit ones, by PyTorch's own error."""
    module = module.eval().to(dtype)
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    model = fact.compile(module, inputs, target="host", candidates=1)
    found, exact = model(*inputs), verify.reference(module, inputs)
    with torch.no_grad():
        eager = module(*inputs)
    for name, result in found.items():
        try:
            if dtype.itemsize == 2:
                verify.check_beside(result, eager[name], exact[name])
            else:
                verify.check(result, exact[name], reduction=reduction, roundings=roundings)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# Attention.

BATCH, HEADS, TOKENS, DIM = 2, 4, 10, 8
SCALE = 1 / math.sqrt(DIM)


def merged(x):
    return x.reshape(-1, *x.shape[-2:])


def repeat_heads(x, times):
    batch, heads, tokens, dim = x.shape
    return x[:, :, None].expand(batch, heads, times, tokens, dim).reshape(
        batch, heads * times, tokens, dim)


ATTENTION = {
    "scale_after": lambda m, q, k, v: F.softmax(q @ k.mT * SCALE, -1) @ v,
    "root_after": lambda m, q, k, v: F.softmax(q @ k.transpose(-2, -1) / math.sqrt(DIM), -1) @ v,
    "scale_on_q": lambda m, q, k, v: torch.softmax((q * SCALE) @ k.mT, dim=-1) @ v,
    "scale_on_both": lambda m, q, k, v: torch.softmax(
        (q * math.sqrt(SCALE)) @ (k * math.sqrt(SCALE)).mT, dim=-1) @ v,
    "root_of_tensor": lambda m, q, k, v: F.softmax(
        q @ k.mT / torch.sqrt(torch.tensor(float(DIM))), -1) @ v,
    "dropout": lambda m, q, k, v: F.dropout(F.softmax(q @ k.mT, -1), 0.1, training=False) @ v,
    "float_softmax": lambda m, q, k, v: F.softmax(
        q @ k.mT * SCALE, -1, dtype=torch.float32).to(q.dtype) @ v,
    "three_dimensions": lambda m, q, k, v: torch.bmm(
        F.softmax(torch.bmm(merged(q), merged(k).mT), -1), merged(v)),
    "merged_for_each_step": lambda m, q, k, v: torch.bmm(
        F.softmax((torch.bmm(merged(q), merged(k).mT).view(BATCH, HEADS, TOKENS, TOKENS)
                   + m.bias).view(-1, TOKENS, TOKENS), -1), merged(v)).view_as(q),
    "added_bias": lambda m, q, k, v: F.softmax(q @ k.mT * SCALE + m.bias, -1) @ v,
    "scaled_with_bias": lambda m, q, k, v: F.softmax((m.bias + q @ k.mT) * SCALE, -1) @ v,
    "padding": lambda m, q, k, v: F.softmax(
        (q @ k.mT).masked_fill(m.padding, float("-inf")), -1) @ v,
    "padding_where": lambda m, q, k, v: F.softmax(
        torch.where(m.padding, torch.finfo(q.dtype).min, q @ k.mT), -1) @ v,
    "lowered": lambda m, q, k, v: F.softmax(q @ k.mT + (1.0 - m.ones_below) * -1e9, -1) @ v,
    "window": lambda m, q, k, v: F.softmax(
        (q @ k.mT).masked_fill(m.window == 0, float("-inf")), -1) @ v,
    "einsum": lambda m, q, k, v: torch.einsum(
        "bhqk,bhkd->bhqd", F.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) * SCALE, -1), v),
    "einsum_of_rows": lambda m, q, k, v: torch.einsum("bhqk,bkhd->bqhd", F.softmax(torch.einsum(
        "bqhd,bkhd->bhqk", q.transpose(1, 2), k.transpose(1, 2)), -1), v.transpose(1, 2)),
    "one_key_head": lambda m, q, k, v: F.softmax(q @ k[:, :1].mT, -1) @ v[:, :1],
    "groups_as_dimension": lambda m, q, k, v: (F.softmax(
        q.reshape(BATCH, 2, 2, TOKENS, DIM) @ k[:, :2, None].mT, -1)
        @ v[:, :2, None]).reshape(q.shape),
}
CAUSAL = {
    "tril": lambda m, q, k, v: F.softmax((q @ k.mT * SCALE).masked_fill(
        torch.tril(torch.ones(TOKENS, TOKENS)) == 0, float("-inf")), -1) @ v,
    "triu": lambda m, q, k, v: F.softmax(q @ k.mT + torch.triu(
        torch.full((TOKENS, TOKENS), float("-inf"), dtype=q.dtype), 1), -1) @ v,
    "lowest": lambda m, q, k, v: F.softmax(torch.where(
        m.ones_below.bool(), q @ k.mT, torch.finfo(q.dtype).min), -1) @ v,
    "positions": lambda m, q, k, v: F.softmax((q @ k.mT).masked_fill(
        torch.arange(TOKENS)[None] > torch.arange(TOKENS)[:, None], float("-inf")), -1) @ v,
    "with_alibi": lambda m, q, k, v: F.softmax((q @ k.mT + m.bias).masked_fill(
        m.ones_below == 0, float("-inf")), -1) @ v,
    "repeated_heads": lambda m, q, k, v: F.softmax((q @ repeat_heads(k[:, :2], 2).mT).masked_fill(
        m.ones_below == 0, float("-inf")), -1) @ repeat_heads(v[:, :2], 2),
    "sdpa": lambda m, q, k, v: F.scaled_dot_product_attention(
        q, k[:, :2].repeat_interleave(2, 1), v[:, :2].repeat_interleave(2, 1),
        attn_mask=m.ones_below.bool()),
}
BUFFERS = {
    "bias": rand(HEADS, TOKENS, TOKENS, seed=7),
    "padding": torch.arange(TOKENS) > 6,
    "ones_below": torch.tril(torch.ones(TOKENS, TOKENS)),
    "window": torch.tril(torch.ones(TOKENS, TOKENS)) - torch.tril(
        torch.ones(TOKENS, TOKENS), -4),
}


def attention_inputs(forms):
    return [rand(len(forms), BATCH, HEADS, TOKENS, DIM, seed=i) for i in range(3)]


def test_attention_is_recognized(tmp_path):
    forms = {**ATTENTION, **CAUSAL}
    text, counts = raised(Forms(forms, **BUFFERS), attention_inputs(forms), tmp_path)
    assert counts["attention"] == len(ATTENTION) + len(CAUSAL)
    assert "softmax" not in counts and "matmul" not in counts
    assert len(re.findall(r"fact\.attention .*causal", text)) == len(CAUSAL)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_attention_is_computed(dtype):
    forms = {**ATTENTION, **CAUSAL}
    check(Forms(forms, **BUFFERS), attention_inputs(forms), dtype, reduction=DIM)


NOT_ATTENTION = {
    "masked_late": lambda m, q, k, v: (F.softmax(q @ k.mT, -1) * m.ones_below) @ v,
    "over_queries": lambda m, q, k, v: F.softmax(q @ k.mT, -2) @ v,
    "large_in_place": lambda m, q, k, v: F.softmax(
        (q @ k.mT).masked_fill(m.padding, -1e9), -1) @ v,
    "capped": lambda m, q, k, v: F.softmax(torch.tanh(q @ k.mT), -1) @ v,
    "squared": lambda m, q, k, v: F.softmax((q @ k.mT) * (q @ k.mT), -1) @ v,
}


def test_what_is_no_attention_stays(tmp_path):
    module = Forms(NOT_ATTENTION, **BUFFERS)
    inputs = attention_inputs(NOT_ATTENTION)
    _, counts = raised(module, inputs, tmp_path)
    assert "attention" not in counts and counts["softmax"] == len(NOT_ATTENTION)
    check(module, inputs, reduction=DIM)


# Norms.

WIDTH = 24


def rms(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


NORMS = {
    "rms": lambda m, x: rms(x) * m.weight,
    "llama": lambda m, x: m.weight * rms(x.float()).to(x.dtype),
    "gemma": lambda m, x: (rms(x.float()) * (1.0 + m.weight.float())).type_as(x),
    "rms_root": lambda m, x: x / (x * x).mean(-1, keepdim=True).add(1e-6).sqrt(),
    "rms_sum": lambda m, x: m.weight * x / torch.sqrt(
        (x ** 2).sum(-1, keepdim=True) / WIDTH + 1e-6),
    "layer": lambda m, x: m.weight * (x - x.mean(-1, keepdim=True)) / torch.sqrt(
        x.var(-1, keepdim=True, unbiased=False) + 1e-5) + m.shift,
    "layer_power": lambda m, x: (x - x.mean(-1, True)) * (
        (x - x.mean(-1, True)).pow(2).mean(-1, True) + 1e-5) ** -0.5 * m.weight + m.shift,
    "layer_moments": lambda m, x: (x - x.mean(-1, True)) * torch.rsqrt(
        x.pow(2).mean(-1, True) - x.mean(-1, True) ** 2 + 1e-5),
    "layer_unsqueezed": lambda m, x: (x - x.mean(-1).unsqueeze(-1)) / (
        (x - x.mean(-1).unsqueeze(-1)).square().mean(-1).unsqueeze(-1) + 1e-5).sqrt(),
}
NO_NORMS = {
    "eps_outside": lambda m, x: (x - x.mean(-1, True)) / (
        x.var(-1, keepdim=True, unbiased=False).sqrt() + 1e-2),
    "unbiased": lambda m, x: (x - x.mean(-1, True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5),
    "length": lambda m, x: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-5),
    "columns": lambda m, x: x * torch.rsqrt(x.pow(2).mean(-2, keepdim=True) + 1e-5),
    "another": lambda m, x: x.tanh() * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
}
PARAMETERS = {"weight": rand(WIDTH, seed=3), "shift": rand(WIDTH, seed=4)}


def norm_inputs():
    return [rand(len(NORMS) + len(NO_NORMS), 2, 6, WIDTH) + 0.25]


def test_norms_are_recognized(tmp_path):
    _, counts = raised(Forms({**NORMS, **NO_NORMS}, **PARAMETERS), norm_inputs(), tmp_path)
    assert counts["norm"] == len(NORMS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_norms_are_computed(dtype):
    check(Forms({**NORMS, **NO_NORMS}, **PARAMETERS), norm_inputs(), dtype, reduction=WIDTH)


# Rotary embeddings.

def turned(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def turned_slices(x):
    return torch.cat((-x[..., DIM // 2:], x[..., :DIM // 2]), dim=-1)


def turned_pairs(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def halves(x, cos, sin):
    first, second = x[..., :DIM // 2], x[..., DIM // 2:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def pairs(x, cos, sin):
    first, second = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    return torch.stack((first * cos - second * sin, first * sin + second * cos), -1).flatten(-2)


def steps(x, cos, sin):
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack([first * cos - second * sin, second * cos + first * sin], -1).reshape(
        x.shape)


ROTARY = {
    "half": lambda m, x: x * m.cos + turned(x) * m.sin,
    "half_slices": lambda m, x: (m.cos * x) + (m.sin * turned_slices(x)),
    "float": lambda m, x: (x.float() * m.cos.float() + turned(x.float()) * m.sin.float()).to(
        x.dtype),
    "pairs": lambda m, x: x * m.cos2 + turned_pairs(x) * m.sin2,
    "halves": lambda m, x: halves(x, m.cos[..., :DIM // 2], m.sin[..., :DIM // 2]),
    "complex": lambda m, x: pairs(x, m.cos[..., :DIM // 2], m.sin[..., :DIM // 2]),
    "steps": lambda m, x: steps(x, m.cos[..., :DIM // 2], m.sin[..., :DIM // 2]),
}
NO_ROTARY = {
    "swapped": lambda m, x: x * m.cos + torch.cat(
        (-x[..., :DIM // 2], x[..., DIM // 2:]), -1) * m.sin,
    "backwards": lambda m, x: x * m.cos - turned(x) * m.sin,
    "reflected": lambda m, x: x * m.cos + torch.cat(
        (x[..., DIM // 2:], x[..., :DIM // 2]), -1) * m.sin,
}


def angles():
    table = torch.outer(torch.arange(TOKENS).float(),
                        100.0 ** (-torch.arange(0, DIM, 2).float() / DIM))
    double, twice = table.repeat(1, 2), table.repeat_interleave(2, -1)
    return {"cos": double.cos(), "sin": double.sin(), "cos2": twice.cos(), "sin2": twice.sin()}


def rotary_inputs():
    return [rand(len(ROTARY) + len(NO_ROTARY), 2, 3, TOKENS, DIM)]


def test_rotary_embeddings_are_recognized(tmp_path):
    module = Forms({**ROTARY, **NO_ROTARY}, **angles())
    text, counts = raised(module, rotary_inputs(), tmp_path)
    assert counts["rotary"] == len(ROTARY)
    assert len(re.findall(r"fact\.rotary .*interleaved", text)) == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_rotary_embeddings_are_computed(dtype):
    check(Forms({**ROTARY, **NO_ROTARY}, **angles()), rotary_inputs(), dtype, reduction=1)


# Gates and activations.


class Gates(nn.Module):
    """One product of twice the width, and its parts gated."""

    ACTIVATIONS = {
        "silu": F.silu,
        "gelu": F.gelu,
        "sigmoid": torch.sigmoid,
        "relu": F.relu,
        "silu_written_out": lambda x: x * torch.sigmoid(x),
        "silu_as_quotient": lambda x: x / (1 + torch.exp(-x)),
        "gelu_written_out": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
        "gelu_new": lambda x: 0.5 * x * (1 + torch.tanh(
            math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3)))),
    }

    def __init__(self):
        super().__init__()
        self.both = nn.ModuleDict({
            name: nn.Linear(16, 64, bias=i % 2 == 0) for i, name in enumerate(self.ACTIVATIONS)})
        self.glu = nn.Linear(16, 64)

    def forward(self, x):
        results = {}
        for i, (name, activation) in enumerate(self.ACTIVATIONS.items()):
            gate, up = self.both[name](x).chunk(2, dim=-1)
            results[name] = activation(gate) * up if i % 3 else up * activation(gate)
        results["glu"] = F.glu(self.glu(x), -1)
        return results


def test_gates(tmp_path):
    torch.manual_seed(0)
    module, x = Gates(), rand(3, 5, 16)
    _, counts = raised(module, [x], tmp_path)
    assert counts["matmul"] == 2 * (len(Gates.ACTIVATIONS) + 1)
    assert counts["silu"] == 3 and counts["gelu"] == 3
    assert "exp" not in counts and "erf" not in counts and "tanh" not in counts
    check(module, [x], reduction=16)


# Lines of Python.


class Attend(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.mT
        weights = F.softmax(scores, -1)
        return weights @ v


def test_what_is_recognized_has_the_lines_it_came_from(tmp_path):
    inputs = [rand(BATCH, HEADS, TOKENS, DIM, seed=i) for i in range(3)]
    text, _ = raised(Attend(), inputs, tmp_path)
    first = Attend.forward.__code__.co_firstlineno
    location = re.search(r"fact\.attention .* loc\((#loc\d*)\)", text).group(1)

    def lines(name):
        definition = re.search(rf"^{name} = loc\((.*)\)$", text, re.MULTILINE).group(1)
        found = {int(n) for n in re.findall(r"test_raising\.py\":(\d+)", definition)}
        return found.union(*[lines(inner) for inner in re.findall(r"#loc\d+", definition)])

    assert {first + 1, first + 2, first + 3} <= lines(location)
