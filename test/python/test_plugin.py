# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A family outside of the compiler is offered to a language model, and compiled from Python."""

import os
import subprocess

import pytest
import torch

import fact
from fact.toolchain import checkout, find_tool
from hostile_server import Server, pattern, patterns

ROOT = checkout()
PLUGIN = ROOT / "build" / "lib" / "GemmSoftmax.so"
LAYER = ROOT / "test" / "Plugin" / "Inputs" / "layer.mlir"

pytestmark = pytest.mark.skipif(not PLUGIN.exists() and not os.environ.get("FACT_REQUIRE_COMPILER"),
                                reason="the example's plug-in is not built")


def test_the_prompt_offers_the_rule(tmp_path):
    answer = patterns(pattern("n0 n1", "gemm_softmax",
                              space=[{"name": "rows", "values": ["8"]}]))
    with Server(answer) as server:
        run = subprocess.run(
            [str(find_tool("fact-opt")), str(LAYER), f"--load-dialect-plugin={PLUGIN}",
             f"--fact-discover=target=host agent=llm llm-url={server.url} llm-model=small "
             f"transcript={tmp_path / 'transcript.json'} patterns={tmp_path / 'none'}"],
            capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    prompt = server.requests[0]["body"]["messages"][0]["content"]
    assert "## gemm_softmax\nOne `matmul` of two f32 matrices" in prompt
    assert "## shared_rows\nFor gemm_softmax: " in prompt
    assert 'fact.fused "gemm_softmax"' in run.stdout
    assert "#fact.shared_rows_space<rows = [8]>" in run.stdout


def test_a_module_compiles_with_it(tmp_path):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(24, 40, bias=False)

        def forward(self, x):
            return torch.softmax(self.linear(x), dim=-1)

    module, x = Layer().eval(), torch.randn(32, 24)
    model = fact.compile(module, (x,), target="host", output=tmp_path / "layer.so",
                         options=[f"--load-dialect-plugin={PLUGIN}"])
    assert "gemm_softmax" in (tmp_path / "layer.so").read_bytes().decode("latin1")
    torch.testing.assert_close(model(x), module(x))
