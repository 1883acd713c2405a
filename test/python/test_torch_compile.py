# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="fact"): what FACT takes, what PyTorch runs instead, and why."""

import inspect
import logging
import os
import subprocess
import sys

import pytest
import torch
from torch import nn

import fact
from fact import compiler, toolchain
from fact.errors import CompilerError

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

OPTIONS = {"target": "host", "candidates": 1}


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Each test has Dynamo's caches empty and counts the graphs that FACT compiles."""
    torch._dynamo.reset()
    built, build_graph = [], compiler.build_graph

    def counted(graph, *args, **kwargs):
        built.append(graph)
        return build_graph(graph, *args, **kwargs)

    from fact import dynamo

    monkeypatch.setattr(dynamo, "build_graph", counted)
    return built


def compiled(module, **options):
    return torch.compile(module, backend="fact", options={**OPTIONS, **options})


def close(found, expected):
    return torch.allclose(found, expected, atol=1e-5)


class Breaks(nn.Module):
    """A branch on data, which makes two graphs, and a buffer that counts calls."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", torch.ones(4))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, extra=None):
        self.calls.add_(1)
        h = self.linear(x) + self.shift
        if h.sum() > 0:
            h = torch.relu(h)
        else:
            h = h * 3
        return {"h": h * 0.5, "none": None, "calls": self.calls * 1}


@torch.no_grad()
def test_graph_breaks_weights_and_changes_in_place(fresh):
    module = Breaks().eval()
    fast, x = compiled(module), torch.randn(3, 4)

    def expected():
        return torch.relu(h) if (h := module.linear(x) + module.shift).sum() > 0 else h * 3

    module.shift.fill_(5.0)
    found = fast(x)
    assert close(found["h"], expected() * 0.5) and found["none"] is None
    assert module.calls.item() == 1 and found["calls"].item() == 1
    graphs = len(fresh)
    assert graphs == 2
    # A weight changed in place, and one that is another tensor now.
    module.linear.weight.mul_(2.0)
    assert close(fast(x)["h"], expected() * 0.5)
    module.linear.weight.data = torch.randn(4, 4)
    assert close(fast(x)["h"], expected() * 0.5)
    assert module.calls.item() == 3
    # The other branch is another graph.
    module.linear.bias.fill_(-50.0)
    assert close(fast(x)["h"], expected() * 0.5)
    assert len(fresh) == graphs + 1


@torch.no_grad()
def test_sizes_that_change(fresh):
    class Scale(nn.Module):
        def forward(self, x):
            return torch.tanh(x) * x.shape[0]

    fast = compiled(Scale())
    for rows in (2, 3, 5, 3):
        x = torch.randn(rows, 4)
        assert close(fast(x), torch.tanh(x) * rows)
    # One for the first size, one for each that the symbolic graph was called with.
    assert len(fresh) == 3


@torch.no_grad()
def test_what_is_not_supported_runs_in_pytorch_and_says_why(caplog):
    class Exponential(nn.Module):
        def forward(self, x):
            return torch.linalg.matrix_exp(x) + 1

    x = torch.randn(3, 3) + 3 * torch.eye(3)
    with caplog.at_level(logging.WARNING, logger="fact"):
        found = compiled(Exponential())(x)
    assert close(found, torch.linalg.matrix_exp(x) + 1)
    assert "runs in PyTorch" in caplog.text and "matrix_exp" in caplog.text
    assert "test_torch_compile.py" in caplog.text
    torch._dynamo.reset()
    with pytest.raises(Exception, match="matrix_exp"):
        compiled(Exponential(), fallback=False)(x)


@torch.no_grad()
def test_the_place_of_an_op_is_not_in_fact(caplog):
    """A graph of PyTorch's own modules has no line of the user's."""
    net = nn.Sequential(nn.Identity(), nn.Linear(8, 4))
    net[0].forward = torch.linalg.matrix_exp
    with caplog.at_level(logging.WARNING, logger="fact"):
        compiled(net)(torch.randn(8, 8))
    assert "matrix_exp" in caplog.text and "dynamo.py, line" not in caplog.text, caplog.text


class Cut(nn.Module):
    """An op that FACT does not have between two that it has, and changes in place."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 16), nn.Linear(16, 16)
        self.register_buffer("calls", torch.zeros(16))
        self.register_buffer("square", torch.randn(3, 3))

    def forward(self, x, y):
        self.calls.add_(1)
        before = self.square.clone()
        self.square.copy_(self.square.t().clone())
        h = torch.relu(self.first(x))
        middle = torch.linalg.matrix_exp(0.1 * (h @ h.T))
        y.mul_(2)
        low, high = self.last(middle @ x).split(8, dim=-1)
        return low * high + self.calls[:8], middle, y.view(-1), torch.ones(2), before


@torch.no_grad()
def test_a_graph_is_cut_at_an_op_that_is_not_supported(fresh, caplog):
    module, reference = Cut().eval(), Cut().eval()
    reference.load_state_dict(module.state_dict())
    fast = compiled(module)
    for _ in range(3):
        x, y = torch.randn(3, 16), torch.ones(2, 2)
        y_expected = y.clone()
        with caplog.at_level(logging.WARNING, logger="fact"):
            found = fast(x, y)
        expected = reference(x, y_expected)
        assert all(map(close, found, expected)) and torch.equal(y, y_expected)
        for name, buffer in reference.named_buffers():
            assert torch.equal(module.get_buffer(name), buffer), name
        # Neither a change of a result nor of a weight is lost or seen too much.
        found[3].zero_()
        for each in (module, reference):
            each.first.weight.mul_(1.25)
    assert len(fresh) == 2
    assert [record.message for record in caplog.records if "PyTorch" in record.message] == [
        "an op runs in PyTorch: aten.linalg_matrix_exp "
        f"({__file__}, line {inspect.getsourcelines(Cut.forward)[1] + 5}): is not supported"]


@torch.no_grad()
def test_what_only_prepares_an_operand_of_pytorch_stays_there(fresh):
    class Embedded(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.up = nn.Embedding(9, 16), nn.Linear(16, 16)

        def forward(self, ids):
            small = torch.linalg.matrix_exp(ids.float() * 2)
            return self.up(self.table(ids)) * small[..., None]

    module, ids = Embedded().eval(), torch.tensor([[3, 1], [2, 5]])
    assert close(compiled(module)(ids), module(ids))
    # One library: the product and the factor before the exponential are no library of their own.
    assert len(fresh) == 1


@torch.no_grad()
def test_a_graph_is_cut_at_an_op_that_the_compiler_refuses(monkeypatch, caplog):
    """Ops that are supported by name and refused for their shapes, types or kernels."""
    from fact import dynamo

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            h = torch.tanh(self.first(x))
            h = torch.sin(h)
            return self.last(h)

    refused, build = [], dynamo.build_graph

    def build_graph(graph, *args, **kwargs):
        if "aten.sin" not in graph.text:
            return build(graph, *args, **kwargs)
        refused.append(graph)
        line = inspect.getsourcelines(Chain.forward)[1] + 2
        text = f"{__file__}:{line}:0: error: 'fact.sin' op has no kernel"
        raise CompilerError(f"fact-compile failed:\n{text}", text)

    monkeypatch.setattr(dynamo, "build_graph", build_graph)
    module, x = Chain().eval(), torch.randn(3, 8)
    with caplog.at_level(logging.WARNING, logger="fact"):
        assert close(compiled(module)(x), module(x))
    assert len(refused) == 1 and "'fact.sin' op has no kernel" in caplog.text
    torch._dynamo.reset()
    with pytest.raises(Exception, match="has no kernel"):
        compiled(module, fallback=False)(x)


def test_training_runs_in_pytorch(fresh, caplog):
    module, x = nn.Linear(4, 2), torch.randn(3, 4)
    with caplog.at_level(logging.WARNING, logger="fact"):
        compiled(module)(x).sum().backward()
    assert torch.allclose(module.weight.grad, x.sum(0).expand(2, 4))
    assert "gradients are needed" in caplog.text and not fresh


@torch.no_grad()
def test_a_buffer_that_was_compiled_in_may_change(fresh):
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.tril(torch.ones(6, 6)))

        def forward(self, q, k, v):
            scores = (q @ k.transpose(-2, -1)).masked_fill(self.mask == 0, float("-inf"))
            return torch.softmax(scores, dim=-1) @ v

    module, inputs = Masked(), [torch.randn(1, 2, 6, 8) for _ in range(3)]
    fast = compiled(module)
    assert close(fast(*inputs), module(*inputs))
    module.mask[4, 2] = 0
    assert close(fast(*inputs), module(*inputs))


class Weighted(nn.Module):
    """Weights that are packed, merged at load, read in place, and not contiguous."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = (nn.Linear(16, 16) for _ in range(3))
        self.scale = nn.Parameter(torch.rand(16))
        self.turned = nn.Parameter(torch.randn(16, 16).t())
        self.register_buffer("shift", torch.rand(16))

    def forward(self, x):
        h = torch.sigmoid(self.first(x)) * self.second(x)
        return self.last(torch.tanh(h) * self.scale) @ self.turned + self.shift


def in_numpy(tensor, factor):
    tensor.detach().numpy()[...] *= factor


CHANGES = {
    "mul_": lambda p: p.mul_(1.5),
    "data.mul_": lambda p: p.data.mul_(1.5),
    "data.copy_": lambda p: p.data.copy_(torch.randn(p.shape)),
    "numpy": lambda p: in_numpy(p, 1.5),
    "one element by numpy": lambda p: in_numpy(p.view(-1)[:1] if p.is_contiguous() else p[:1], -1),
    "data": lambda p: setattr(p, "data", torch.randn(p.shape)),
    "set_": lambda p: p.set_(torch.randn(p.shape)),
}


@torch.no_grad()
def test_every_change_of_weights_is_seen(fresh):
    module, x = Weighted().eval(), torch.randn(3, 16)
    fast = compiled(module)
    assert close(fast(x), module(x))
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for how, change in CHANGES.items():
        for name, tensor in tensors.items():
            before = module(x)
            change(tensor)
            assert not torch.equal(before, module(x)), f"{how} of {name} did nothing"
            assert torch.allclose(fast(x), module(x), atol=1e-3, rtol=1e-4), f"{how} of {name}"


def test_weights_loaded_in_inference_mode_are_seen(fresh):
    with torch.inference_mode():
        module, x = Weighted().eval(), torch.randn(3, 16)
        fast = compiled(module)
        assert close(fast(x), module(x))
        for _ in range(3):
            module.load_state_dict(Weighted().state_dict())
            assert torch.allclose(fast(x), module(x), atol=1e-4)
            module.last.weight.data.mul_(3)
            assert torch.allclose(fast(x), module(x), atol=1e-4)


@torch.no_grad()
def test_tracked_weights_are_not_summed(fresh, monkeypatch):
    module, x = Weighted().eval(), torch.randn(3, 16)
    monkeypatch.setattr(fact.Model, "watch_weights", lambda self: pytest.fail("watched"))
    fast = compiled(module, weights="tracked")
    assert close(fast(x), module(x))
    module.last.weight.mul_(2)
    assert close(fast(x), module(x))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="option weights of backend 'fact' is 'all'"):
        compiled(module, weights="all")(x)


@torch.no_grad()
def test_a_buffer_that_is_written_and_never_read(fresh):
    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(3, 4))
            self.register_buffer("turned", torch.zeros(4, 3).t())

        def forward(self, x):
            self.last.copy_(x * 2)
            self.turned.add_(x)
            return torch.tanh(x)

    module, x = Remembers(), torch.randn(3, 4)
    fast = compiled(module)
    for calls in (1, 2):
        assert close(fast(x), torch.tanh(x))
        assert close(module.last, x * 2) and close(module.turned, x * calls)


@torch.no_grad()
def test_an_exported_program_is_compiled_as_its_module():
    module, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh()), torch.randn(2, 4)
    fast = fact.compile(torch.export.export(module, (x,)), target="host", candidates=1)
    assert close(fast(x), module(x))
    assert {entry["name"] for entry in fast.library.weights} == {"0.weight", "0.bias"}


@torch.no_grad()
def test_libraries_are_cached(fresh, monkeypatch):
    module, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh()), torch.randn(2, 4)
    first = compiled(module)(x)
    monkeypatch.setattr(compiler, "_drive", lambda *args: pytest.fail("compiled again"))
    torch._dynamo.reset()
    assert torch.equal(compiled(module)(x), first)
    assert len(fresh) == 2


def test_unknown_options():
    with pytest.raises(Exception, match="unknown option candidate of backend 'fact'; known are"):
        compiled(nn.ReLU(), candidate=3)(torch.ones(2))


def test_the_backend_is_registered_before_and_after_dynamo_is_loaded():
    late = ("import sys, fact; assert 'torch._dynamo' not in sys.modules; import torch._dynamo; "
            "assert 'fact' in torch._dynamo.list_backends(); "
            "from torch._dynamo.backends.registry import lookup_backend; "
            "assert lookup_backend('fact') is sys.modules['fact.dynamo'].backend")
    early = "import torch._dynamo, fact; assert 'fact' in torch._dynamo.list_backends()"
    for code in (late, early):
        subprocess.run([sys.executable, "-c", code], check=True)
