# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole modules compiled for the host, run, and compared with PyTorch in fp64.

Single ops are in execution/. Inputs are representable in the type under test, and the
truth is computed from the same values.
"""

import math
import os
import subprocess

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
    """Compiles in `dtype`, runs twice, compares each result with the module in fp64. What a
    16-bit result may be off follows from PyTorch's own error."""
    to = DTYPES[dtype]
    module = module.eval().to(to)
    inputs = [x.to(to) if x.is_floating_point() else x for x in inputs]
    model = fact.compile(module, inputs, target="host")
    first, second = model(*inputs), model(*inputs)
    exact = verify.reference(module, inputs)
    for one, two in zip(_leaves(first), _leaves(second)):
        assert torch.equal(one.nan_to_num(), two.nan_to_num()), "two runs differ"
    if to.itemsize == 2:
        with torch.no_grad():
            verify.check_beside(first, module(*inputs), exact)
    else:
        verify.check(first, exact, reduction=reduction, roundings=roundings)
    return model


def _leaves(tree):
    return torch.utils._pytree.tree_leaves(tree)


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# Attention that is written out.


def heads(batch, count, tokens, width, seed):
    return rand(batch, count, tokens, width, seed=seed)


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


# Whole workloads.


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name, reduction", [
    ("gemm_square", 64), ("gemm_batched", 48), ("gemm_large_k", 2048), ("linear_chain", 64),
    ("mini_gpt_block", 256), ("llama3_block", 96), ("pooled_head", 88), ("biased_attention", 40),
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
    assert "attention.causal" in {entry["name"] for entry in library.weights
                                  if entry.get("baked")}
    library.create(w.module)
    w.module.attention.causal[0, 0, 3, 3] = 0
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
            return torch.linalg.matrix_exp(x)

    with pytest.raises(fact.FactError) as caught:
        fact.compile(Unsupported(), (torch.eye(4),), target="host")
    message = str(caught.value)
    assert "linalg_matrix_exp" in message and "test_execution.py" in message
    # The command fails in the same way.
    command = message.split("reproduce it with\n")[1].splitlines()[0]
    assert "linalg_matrix_exp" in message.splitlines()[-1]
    again = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert again.returncode == 1 and "linalg_matrix_exp" in again.stderr


def test_large_sums_stay_exact():
    class Sum(nn.Module):
        def forward(self, x):
            return x.sum(-1)

    x = torch.full((2, 1 << 16), 1.0 / 3)
    assert math.isclose(fact.compile(Sum(), (x,), target="host")(x)[0].item(), (1 << 16) / 3,
                        rel_tol=1e-5)


def test_outputs_share_no_memory():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 6))

        def forward(self, x):
            return x + self.weight, x * 2

    module, x = Two(), torch.randn(4, 6)
    model = fact.compile(module, (x,), target="host", candidates=1)
    memory = torch.empty(48)
    apart = [memory[:24].view(4, 6), memory[24:].view(4, 6)]
    model.run([x], apart)
    assert torch.equal(apart[1], x * 2)
    with pytest.raises(fact.FactError, match="output 'output1' overlaps output 'output0'"):
        model.run([x], [apart[0], memory[23:47].view(4, 6)])
    with pytest.raises(fact.FactError, match="output 'output0' overlaps input 'x'"):
        model.run([x], [x, apart[1]])
    with pytest.raises(fact.FactError, match="output 'output1' overlaps weight 'weight'"):
        model.run([x], [apart[0], module.weight.detach()])
    assert torch.equal(model(x)[1], x * 2)
