# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA graphs and bound addresses of libraries, on this machine's CPU by test/emulation."""

import pytest
import torch
from torch import nn

import fact
from emulated import NEEDED, emulate, on_emulated_gpu, tune, write_bundle
from fact import abi

pytestmark = NEEDED


# A kernel that writes a byte to a file each time it is bound.
COUNTED = """
struct Counted : Kernel {
  static int bind(State &state, void *const *buffers, void *workspace) {
    if (FILE *file = fopen(getenv("FACT_TEST_BINDS"), "a")) {
      fputc('b', file);
      fclose(file);
    }
    return Kernel::bind(state, buffers, workspace);
  }
};
FACT_KERNEL("""


@pytest.mark.full
def test_addresses_that_come_back_are_bound_once(root, tmp_path, monkeypatch):
    binds = tmp_path / "binds"
    monkeypatch.setenv("FACT_TEST_BINDS", str(binds))
    write_bundle(tmp_path, nn.ReLU(), [torch.randn(4, 32)], "a100")
    for source in (tmp_path / "bundle").glob("kernels/**/*.cu"):
        text = source.read_text().replace("FACT_KERNEL(", COUNTED).replace(", Kernel)", ", Counted)")
        source.write_text("#include <cstdio>\n#include <cstdlib>\n" + text)
    process = tune(root, tmp_path)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    table = fact.load(next((tmp_path / "bundle").glob("*.so")))._table
    model = table.create((abi.NamedTensor * 1)(), 0)
    assert model, table.last_error()

    kept = []

    def bound(inputs, rounds):
        """How often the kernel is bound by calls with these inputs, with outputs in turn."""
        outputs = [torch.empty(4, 32) for _ in range(2)]
        # Memory that is free again would have addresses that are bound already.
        kept.append((inputs, outputs))
        before = binds.stat().st_size
        for index in range(rounds * len(inputs)):
            x, y = inputs[index % len(inputs)], outputs[index % 2]
            given, result = on_emulated_gpu(x), on_emulated_gpu(y)
            assert table.run(model, given.pointers, 1, result.pointers, 1, None) == 0, \
                table.last_error()
            assert torch.equal(y, x.relu())
        return binds.stat().st_size - before

    assert bound([torch.randn(4, 32)], 10) == 2
    assert bound([torch.randn(4, 32) for _ in range(3)], 10) == 6
    # More than are remembered, and one that is copied first.
    assert bound([torch.randn(4, 32) for _ in range(20)], 2) == 40
    assert bound([torch.randn(32, 4).t(), torch.randn(4, 64)[:, 32:]], 4) <= 4
    table.destroy(model)


class Branches(nn.Module):
    """Two branches that join: launches that are not ordered, and one that follows two."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(1, 2, 8))

    def forward(self, x):
        y = torch.softmax(x * self.scale, 0)
        return torch.softmax(torch.softmax(y @ x.t(), 1) @ torch.softmax(x, 1), 0)


class EmulatedModel:
    """An instance of the library of Branches; a call has a result of its own unless it is given one."""

    def __init__(self, path, module):
        self.table, self.module = fact.load(path)._table, module
        self.handle = self.table.create(self.weights(module.scale), 1)
        assert self.handle, self.table.last_error()

    def weights(self, scale):
        named, self.named = abi.named_tensors({"scale": scale.detach()})
        named[0].tensor.contents.device_type = 2
        return named

    def __call__(self, x, y=None):
        y = torch.empty(6, 8) if y is None else y
        y.fill_(torch.nan)
        given, result = on_emulated_gpu(x), on_emulated_gpu(y)
        assert self.table.run(self.handle, given.pointers, 1, result.pointers, 1, None) == 0, \
            self.table.last_error()
        with torch.no_grad():
            assert torch.allclose(y, self.module(x), atol=1e-6)
        return y

    def use(self, setting):
        assert self.table.use_graphs(self.handle, abi.GRAPH_SETTINGS.index(setting)) == 0

    def info(self):
        info = abi.GraphInfo()
        assert self.table.graph_info(self.handle, info) == 0
        return info


@pytest.fixture(scope="module")
def chain(root, tmp_path_factory):
    folder, module = tmp_path_factory.mktemp("chain"), Branches()
    report = emulate(root, folder, module, [torch.randn(6, 8)], "a100")
    path = next((folder / "bundle").glob("*.so"))
    assert len(fact.load(path).description["steps"]) >= 3, report
    models = []

    def make():
        models.append(EmulatedModel(path, module))
        return models[-1]

    yield make
    for model in models:
        model.table.destroy(model.handle)


# The second, where parameters of kernels cannot be read: the whole graph is updated.
@pytest.mark.parametrize("fails", ["", "cudaGraphKernelNodeGetParams"])
def test_graphs_follow_addresses_and_weights(chain, monkeypatch, fails):
    monkeypatch.setenv("FACT_EMULATION_FAILS", fails)
    model = chain()
    model.use("on")
    inputs = [torch.randn(6, 8) for _ in range(20)]
    keep = [model(x) for x in inputs * 2]
    info = model.info()
    assert (info.recorded, info.updated, info.launched) == (8, 31, 1), keep[0]
    assert info.reason == b"", info.detail
    # Strides that need a copy, and memory that is not aligned.
    model(torch.randn(8, 6).t())
    model(torch.randn(49)[1:].view(6, 8))
    original, other = model.module.scale.data, torch.linspace(3, 4, 8)
    assert model.table.set_weights(model.handle, model.weights(other), 1) == 0
    model.module.scale.data = other
    keep += [model(x) for x in inputs]
    model.module.scale.data = original
    assert (model.info().recorded, model.info().launched, model.info().reason) == (8, 1, b"")


def test_graphs_are_automatic(chain):
    model, x = chain(), torch.randn(6, 8)
    assert abi.GRAPH_SETTINGS[model.info().setting] == "automatic"
    # As `y = model(x)` in a loop has them.
    results = [torch.empty(6, 8) for _ in range(2)]
    for index in range(20):
        model(x, results[index % 2])
    info = model.info()
    assert (info.recorded, info.updated, info.launched, info.reason) == (2, 0, 5, b"")
    keep = [model(torch.randn(6, 8), y) for y in results]
    assert (model.info().replayed, model.info().reason) == (15, b"moving"), keep


@pytest.mark.parametrize("fails, reason", [
    ("cudaStreamBeginCaptureToGraph", b"capture"), ("cudaStreamEndCapture", b"capture"),
    ("cudaGraphInstantiateWithFlags", b"instantiate"), ("cudaGraphLaunch", b"launch"),
    ("cudaGraphKernelNodeGetParams,cudaGraphExecUpdate", b"update")])
def test_graphs_that_fail_fall_back_to_launches(chain, monkeypatch, fails, reason):
    model = chain()
    model.use("on")
    monkeypatch.setenv("FACT_EMULATION_FAILS", fails)
    keep = [model(torch.randn(6, 8)) for _ in range(15)]
    info = model.info()
    assert info.reason == reason and fails.split(",")[-1].removesuffix("WithFlags") in \
        info.detail.decode(), (info.reason, info.detail)
    monkeypatch.delenv("FACT_EMULATION_FAILS")
    model.use("on")
    keep += [model(torch.randn(6, 8)) for _ in range(15)]
    assert model.info().reason == b""
