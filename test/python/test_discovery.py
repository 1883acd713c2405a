# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten modules, each covered with the groups that a person would choose, on both targets."""

import json
import re
import subprocess

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import toolchain


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class VitBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)
        self.mlp = Mlp()

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, tokens, 3, 1, width).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.norm2(x))


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(64, 64) for _ in range(4))

    def forward(self, x, memory):
        def heads(y):
            return y.view(y.shape[0], y.shape[1], 1, 64).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(heads(self.q(x)), heads(self.k(memory)),
                                               heads(self.v(memory)))
        return x + self.out(mixed.transpose(1, 2).reshape(x.shape))


class SwiGlu(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False)
        self.down = nn.Linear(128, 64, bias=False)

    def forward(self, x):
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class PackedGlu(nn.Module):
    """Gate and up are one weight."""

    def __init__(self):
        super().__init__()
        self.both, self.down = nn.Linear(64, 256, bias=False), nn.Linear(128, 64, bias=False)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.down(F.gelu(gate, approximate="tanh") * up)


class BiasedAttention(nn.Module):
    """A learned bias on the scores."""

    def __init__(self):
        super().__init__()
        self.qkv, self.bias = nn.Linear(64, 192), nn.Parameter(torch.zeros(1, 1, 16, 16))

    def forward(self, x):
        q, k, v = (y.unsqueeze(1) for y in self.qkv(x).chunk(3, dim=-1))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias).squeeze(1)


class NormChain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(64), nn.RMSNorm(64)

    def forward(self, x, y):
        return self.second(torch.tanh(self.first(x + y)) * 2)


class SoftmaxChain(nn.Module):
    def forward(self, x):
        return torch.log(F.softmax(x * 0.5 + 1, dim=-1) + 1e-3)


class ResidualLadder(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.ModuleList(nn.Linear(64, 64) for _ in range(4))

    def forward(self, x):
        for step in self.steps:
            x = x + torch.sigmoid(step(x))
        return x


class PointwiseLadder(nn.Module):
    def forward(self, x, y):
        a = torch.exp(x) + y
        b = torch.tanh(a) * x
        return a - b, b * 2


class PooledHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(64, 128)

    def forward(self, x):
        hidden = torch.relu(self.score(x.flatten(0, 1)))
        return hidden, torch.tanh(hidden.mean(0))


def tensors(count):
    return [torch.randn(2, 16, 64) for _ in range(count)]


# Module, inputs, and the kernels of each target: rule and the ops that work, views left out.
CASES = [
    (Mlp, 1, ["gemm_epilogue: matmul add relu", "gemm_epilogue: matmul add"]),
    (VitBlock, 1, ["rowwise: norm", "gemm_epilogue: matmul add", "attention: attention",
                   "gemm_epilogue: matmul add add", "rowwise: norm",
                   "gemm_epilogue: matmul add relu", "gemm_epilogue: matmul add add"]),
    # Keys and values are one product of the memory.
    (CrossAttention, 2, ["gemm_epilogue: matmul add", "gemm_epilogue: matmul add",
                         "attention: attention", "gemm_epilogue: matmul add add"]),
    (SwiGlu, 1, ["gated_gemm: matmul silu matmul mul", "gemm_epilogue: matmul add"]),
    (PackedGlu, 1, ["gated_gemm: matmul matmul gelu mul", "gemm_epilogue: matmul"]),
    (BiasedAttention, 1, ["gemm_epilogue: matmul add", "attention: attention"]),
    # Rows that stay on a GPU's chip are read once for both norms.
    (NormChain, 2, {"h200": ["reduction: add norm tanh mul norm"],
                    "host": ["rowwise: add norm tanh mul", "rowwise: norm"]}),
    (SoftmaxChain, 1, ["rowwise: mul add softmax add log"]),
    (ResidualLadder, 1, ["gemm_epilogue: matmul add sigmoid add"] * 4),
    (PooledHead, 1, ["gemm_epilogue: matmul add relu reduce tanh"]),
    (PointwiseLadder, 2, ["pointwise: exp add tanh mul sub mul"]),
]


def discover(module, inputs, target, tmp_path):
    graph = fact.export(module, inputs, name="module")
    source, fused = tmp_path / "module.mlir", tmp_path / "fused.mlir"
    graph.save(source)
    command = [str(toolchain.require_tool("fact-opt")), str(source), "--fact-raise",
               f"--fact-discover=target={target} patterns={tmp_path / 'none'}", "-o", str(fused)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if process.returncode:
        return None, process.stderr
    table = subprocess.run([str(toolchain.require_tool("fact-translate")), "--fact-to-sol-json",
                            str(fused)], capture_output=True, text=True, check=True)
    return [row["work"] for row in json.loads(table.stdout)["rows"]], process.stderr


def canonical(kernels):
    """Ops of a kernel in any order: the graph has them in one that means nothing."""
    return sorted((rule, sorted(ops.split())) for rule, ops in
                  (re.fullmatch(r"(\w+): (.*)", kernel).groups() for kernel in kernels))


@pytest.mark.parametrize("target", ["host", "h200"])
@pytest.mark.parametrize("kind, count, expected", CASES, ids=lambda case: getattr(
    case, "__name__", None))
def test_groups(kind, count, expected, target, tmp_path):
    torch.manual_seed(0)
    dtype = torch.float32 if target == "host" else torch.bfloat16
    module = kind().to(dtype).eval()
    inputs = tuple(tensor.to(dtype) for tensor in tensors(count))
    kernels, error = discover(module, inputs, target, tmp_path)
    assert kernels is not None, error
    assert canonical(kernels) == canonical(expected[target] if isinstance(expected, dict) else expected)
