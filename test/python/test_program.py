# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Between a fused kernel and its parts, whole programs decide: on the host, with real kernels."""

import json
import os

import pytest
import torch

import fact
from fact.toolchain import find_tool

pytestmark = pytest.mark.skipif(find_tool("fact-compile") is None,
                                reason="fact-compile is not built")


def tuned(module, inputs, folder, *arguments):
    """The library of a module that was tuned with all alternatives, and the report on it."""
    model = fact.compile(module, inputs, target="host", output=folder / "model.so",
                         options=["--alternatives=1000", "--tuner-argument=--ablate", *arguments])
    report = json.loads((folder / "model.bundle" / "tuning.json").read_text())
    return model, report


class Tail(torch.nn.Module):
    """A product of few columns and sums, with a tail that costs little beside storing it twice."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 512)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Reduced(torch.nn.Module):
    """A product with few rows: a kernel that reduces them has as few parts to share between
    processors, and one that only stores it has many."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(128, 4096, bias=False)

    def forward(self, x):
        return self.linear(x).amax(dim=-1)


def test_the_fused_form_ships_where_it_wins(tmp_path):
    torch.manual_seed(0)
    module, x = Tail().eval(), torch.randn(4096, 8)
    model, report = tuned(module, (x,), tmp_path)
    assert [kernel["rule"] for kernel in report["kernels"]] == ["gemm_epilogue"]
    assert {kernel["rule"] for kernel in report["others"]} == {"gemm_epilogue", "pointwise"}
    [ablation] = report["ablations"]
    assert (ablation["form"], ablation["other"]) == ("fused", "apart")
    assert ablation["ratio_low"] > 1
    torch.testing.assert_close(model(x), module(x))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_the_split_form_ships_where_it_wins(tmp_path):
    torch.manual_seed(0)
    module, x = Reduced().eval(), torch.randn(16, 128)
    model, report = tuned(module, (x,), tmp_path)
    assert [kernel["rule"] for kernel in report["kernels"]] == ["gemm_epilogue", "rowwise"]
    fused, split = report["programs"]
    assert fused["program"] == "as fused" and not fused["ships"]
    assert split["program"].endswith(" apart") and split["ships"]
    assert split["ratio_high"] < 1 and report["rounds"] >= 20
    assert model.description["steps"] == [kernel["name"] for kernel in report["kernels"]]
    torch.testing.assert_close(model(x), module(x))
