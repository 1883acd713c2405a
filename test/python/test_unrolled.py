# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that `torch.export` unrolls: alike steps share kernels."""

import os

import pytest
import torch
from torch import nn

import fact
from fact import decompositions, toolchain

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

STEPS = 40


class Recurrence(nn.Module):
    """Writes step after step into a tensor, as RWKV's reference does."""

    def __init__(self, channels):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(channels))

    def forward(self, k, v):
        out = torch.zeros_like(k)
        state = torch.zeros_like(k[:, 0])
        for t in range(k.shape[1]):
            gate = torch.sigmoid(k[:, t] + state)
            state = state * self.decay + gate * v[:, t]
            out[:, t] = torch.tanh(state) * gate - state.abs()
        return out


class Cell(nn.Module):
    """Calls a cell in a loop, last step first, and stacks what it returns."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(16, 32)

    def forward(self, x, h):
        states = [h]
        for t in reversed(range(x.shape[1])):
            states.append(self.cell(x[:, t], states[-1]))
        return torch.stack(states, dim=1)


def shape(*sizes):
    return torch.randn(*sizes)


# The most kernels that a loop of any length may take.
CASES = {
    "RNN": (nn.RNN(16, 32), (shape(STEPS, 4, 16),), 8),
    "LSTM, batch first": (nn.LSTM(16, 32, batch_first=True), (shape(4, STEPS, 16),), 12),
    "GRU, two directions": (nn.GRU(16, 32, bidirectional=True), (shape(STEPS, 4, 16),), 24),
    "written element by element": (Recurrence(64), (shape(2, STEPS, 64), shape(2, STEPS, 64)), 12),
    "cell, last step first": (Cell(), (shape(4, STEPS, 16), shape(4, 32)), 14),
}


@pytest.mark.parametrize("name", CASES)
def test_alike_steps_share_kernels(name):
    module, inputs, most = CASES[name]
    model = fact.compile(module.eval(), inputs, target="host", candidates=1)
    assert len(model.library.kernels) <= most
    # Other inputs than those that the library was compared on.
    inputs = [torch.randn_like(each) for each in inputs]
    with torch.no_grad():
        torch.testing.assert_close(model(*inputs), module(*inputs), rtol=1e-4, atol=1e-4)


def test_a_form_is_traced_once(monkeypatch):
    traced = []
    trace = decompositions._trace
    monkeypatch.setattr(decompositions, "_trace",
                        lambda *args, **kwargs: traced.append(args) or trace(*args, **kwargs))
    module, inputs, _ = CASES["cell, last step first"]
    fact.export(module, inputs)
    assert len(traced) < 10
