# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of convolutions that are joined for an H200: the same numbers, by their regions on the host."""

import subprocess

import pytest
import torch
from torch import nn

import fact
from fact import toolchain


class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.images = nn.ModuleList([
            nn.Conv2d(48, 96, 3, padding=1, groups=12, stride=2),
            nn.Conv2d(48, 24, (5, 3), padding=(2, 1), dilation=(1, 2), groups=3),
            nn.ConvTranspose2d(48, 48, 4, stride=2, padding=1, groups=6)])
        self.pixels = nn.Conv2d(64, 128, 1, groups=8)
        self.signal = nn.Conv1d(60, 30, 9, padding=4, groups=15)
        self.volume = nn.Conv3d(32, 32, 3, padding=1, groups=4)
        self.wide = nn.Conv1d(1024, 2048, 3, groups=128, padding=1)

    def forward(self, image, pixels, signal, volume, wide):
        images = [torch.relu(convolution(image)) for convolution in self.images]
        return [*images, self.pixels(pixels), self.signal(signal), self.volume(volume), self.wide(wide)]


# Of each convolution, groups and channels of the products that are left.
JOINED = [(1, 48), (1, 48), (1, 48), (2, 32), (1, 60), (1, 32), (32, 32)]


@pytest.fixture
def run(tmp_path):
    def call(tool, *arguments):
        subprocess.run([toolchain.require_tool(tool), *map(str, arguments)], check=True, cwd=tmp_path,
                       capture_output=True, text=True)
    return call


def test_the_numbers_are_those_of_groups(run, tmp_path):
    torch.manual_seed(0)
    module = Grouped().eval().requires_grad_(False)
    inputs = (torch.randn(2, 48, 14, 14), torch.randn(2, 64, 19, 23), torch.randn(2, 60, 50),
              torch.randn(1, 32, 6, 6, 6), torch.randn(1, 1024, 500))
    (tmp_path / "model.mlir").write_text(fact.export(module, inputs).text)
    run("fact-compile", "model.mlir", "--until=raise", "-o", "raised.mlir")
    run("fact-opt", "raised.mlir", "-fact-discover=target=h200", "-fact-inline-fused", "-o", "joined.mlir")
    filters = [line.split(", tensor<")[1].split("xf32>")[0].split("x")
               for line in (tmp_path / "joined.mlir").read_text().splitlines() if "fact.matmul" in line]
    for sizes, (groups, channels) in zip(filters, JOINED, strict=True):
        assert (sizes[0] if len(sizes) == 3 else "1") == str(groups), (sizes, groups, channels)
        assert int(sizes[-1]) % channels == 0, (sizes, groups, channels)
    run("fact-compile", "joined.mlir", "--target=host", "--candidates=1", "-o", "model.so")
    results = fact.load(tmp_path / "model.so").create(module)(*inputs)
    exact = module.double()(*(each.double() for each in inputs))
    for result, expected in zip(results, exact, strict=True):
        assert (result.double() - expected).norm() <= 1e-6 * expected.norm()
