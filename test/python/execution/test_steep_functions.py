# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that amplify the rounding of what they are computed of: verification accepts kernels
that round it once, as PyTorch does."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import fact


class Exponentials(nn.Module):
    def forward(self, a, b, c):
        cost = (a[:, None] - b + c) / 0.05
        return (torch.exp((a - b) / 0.07), torch.exp((a + b) * 100), torch.exp(a.exp() * 4),
                -0.05 * torch.logsumexp(cost, -1), torch.exp(cost) / 480)


class Angles(nn.Module):
    """A SIREN's layer, random Fourier features, steps of a diffusion, an oscillator, a shader."""

    def __init__(self):
        super().__init__()
        self.siren, self.features = nn.Linear(32, 24), nn.Linear(3, 24)

    def forward(self, a, b, t):
        frequencies = torch.exp(-math.log(1e4) * torch.arange(16.0) / 16)
        return (torch.sin(30 * self.siren(a)), torch.cos(self.features(b[:, :3]) * 20 * math.pi),
                torch.sin(1000 * (1 - t)[:, None] * frequencies), torch.tan((a + b) * 5),
                (t * 440).remainder(1.0) * 2 - 1)


class Places(nn.Module):
    """Weights of neighbors are what is left of a place."""

    def forward(self, image, grid):
        return F.grid_sample(image, grid, align_corners=False)


class Peaks(nn.Module):
    """Which elements are the largest of their neighbors."""

    def forward(self, x):
        heat = x.sigmoid()
        return heat * (F.max_pool2d(heat, 3, 1, 1) == heat).float()


def of_doubles(x):
    return (F.gelu(x), torch.erf(x), torch.erfinv(x.tanh() * 0.9), torch.log1p(x.abs() * 1e-9),
            F.softplus(x * 40), x.float().double().mean(-1))


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return (*of_doubles(x), self.linear(x.float()).double().sum(0))


CASES = {
    "exponentials": (Exponentials, lambda: [torch.randn(32, 32) for _ in range(3)]),
    "angles": (Angles, lambda: [torch.randn(32, 32), torch.rand(32, 32), torch.rand(500)]),
    "places": (Places, lambda: [torch.randn(1, 4, 48, 48), torch.rand(1, 48, 48, 2) * 2 - 1]),
    "peaks": (Peaks, lambda: [torch.randn(1, 2, 8, 8)]),
    "doubles": (Doubles, lambda: [torch.randn(8, 16).double()]),
}


@pytest.mark.parametrize("name", CASES)
def test_steep(name):
    torch.manual_seed(0)
    module, inputs = CASES[name]
    model = fact.compile(module().eval(), inputs(), target="host", candidates=1)
    assert not model.library.verdict.skipped


def test_logarithms_of_doubles_near_one():
    torch.manual_seed(0)
    x = torch.rand(64, dtype=torch.float64)
    model = fact.compile(nn.Softplus(), [x], target="host", candidates=1)
    tiny = -30.0 - torch.rand(64, dtype=torch.float64) * 8
    torch.testing.assert_close(model(tiny), F.softplus(tiny, threshold=50), rtol=1e-13, atol=0)


def test_acosh_has_no_values_below_one():
    model = fact.compile(lambda_of(torch.acosh), [torch.rand(8) + 1], target="host", candidates=1)
    x = torch.tensor([-1e10, -1e4, -1.0, 0.5, 1.0, 1e10, 3e38, math.inf])
    torch.testing.assert_close(model(x), torch.acosh(x), equal_nan=True)


def lambda_of(function):
    class Function(nn.Module):
        def forward(self, x):
            return function(x)

    return Function()


def test_masks_with_the_largest_number_of_their_type():
    """In fp64 it is that of fp64."""
    class Masked(nn.Module):
        def forward(self, x, mask):
            return x.masked_fill(mask == 0, torch.finfo(x.dtype).min)

    fact.compile(Masked(), [torch.randn(2, 3, 8), torch.randint(0, 2, (2, 3, 8))], target="host",
                 candidates=1)
