# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms folded into products are as exact as norms apart, however far from zero rows are."""

import copy
import shutil
import subprocess

import pytest
import torch
from torch import nn

import fact
from agent_runs import needs_compiler
from fact.toolchain import find_tool

pytestmark = [needs_compiler, pytest.mark.full]

ROWS, INPUTS, OUTPUTS = 32, 96, 64


class Normed(nn.Module):
    """A norm that two products read, one of them with a bias."""

    def __init__(self, norm):
        super().__init__()
        self.norm, self.gate = norm, nn.Linear(INPUTS, OUTPUTS)
        self.up = nn.Linear(INPUTS, OUTPUTS, bias=False)
        with torch.no_grad():
            norm.weight.copy_(1 + 0.3 * torch.randn(INPUTS))
            if getattr(norm, "bias", None) is not None:
                norm.bias.copy_(0.3 * torch.randn(INPUTS))

    def forward(self, x):
        rows = self.norm(x)
        return self.gate(rows), self.up(rows)


class Between(nn.Module):
    """A norm between two products. The first one adds means, in deviations, to its rows, and the
    sums of the last one's weights are large: it shows what a mean is off by."""

    def __init__(self, mean):
        super().__init__()
        self.first, self.norm = nn.Linear(INPUTS, INPUTS), nn.LayerNorm(INPUTS)
        self.last = nn.Linear(INPUTS, OUTPUTS)
        with torch.no_grad():
            self.first.weight.mul_(3)
            self.first.bias.add_(mean)
            self.last.weight.add_(1)

    def forward(self, x):
        return (self.last(self.norm(self.first(x))), )


def inputs():
    """Rows of several means, in deviations; of equal elements; with one element that differs."""
    for mean in (0, 1, 10, 100):
        yield f"mean {mean}", torch.randn(ROWS, INPUTS) + mean
    equal = torch.tensor([0.0, 1.0, 100.0, 1e4]).repeat(ROWS // 4)[:, None].expand(ROWS, INPUTS)
    yield "equal", equal
    yield "spike", torch.cat([equal[:, 1:] + 1, 1.0625 * (equal[:, :1] + 1)], 1)


@pytest.mark.parametrize("norm, dtype", [
    (nn.LayerNorm, torch.bfloat16),
    (nn.RMSNorm, torch.bfloat16),
    (nn.RMSNorm, torch.float32)])
def test_folded_norms_are_exact(norm, dtype, tmp_path):
    torch.manual_seed(0)
    compare(Normed(norm(INPUTS)).to(dtype).eval(), inputs(), dtype, tmp_path)


@pytest.mark.parametrize("mean", [0, 10, 100])
def test_norms_of_products_far_from_zero(mean, tmp_path):
    torch.manual_seed(0)
    compare(Between(mean).to(torch.bfloat16).eval(), [(f"mean {mean}", torch.randn(ROWS, INPUTS))],
            torch.bfloat16, tmp_path)


def compare(module, inputs, dtype, tmp_path):
    """The folded program's errors are those of the program with norms apart, or PyTorch's, which
    rounds what it normalizes."""
    bundle = fact.bundle(module, (torch.randn(ROWS, INPUTS, dtype=dtype),), target="host",
                         output=tmp_path / "apart", name="normed", candidates=1,
                         options=["--alternatives=1000"])
    shutil.move(bundle / "folded", tmp_path / "folded")
    libraries = {}
    for form in ("apart", "folded"):
        file = tmp_path / f"{form}.so"
        done = subprocess.run(
            [find_tool("fact-tune"), tmp_path / form, "--untuned", "--no-check", "-o", file],
            capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        libraries[form] = fact.load(file, module)
    exact = copy.deepcopy(module).double()
    for what, x in inputs:
        x = x.to(dtype)
        with torch.no_grad():
            forms = (module, *libraries.values())
            for result, *values in zip(exact(x.double()), *(form(x) for form in forms)):
                eager, apart, folded = ((value.double() - result).norm() / result.norm() for value in values)
                assert folded <= 1.6 * max(apart, eager), (
                    f"{what}: {folded:.2e}, apart {apart:.2e}, eager {eager:.2e}")
