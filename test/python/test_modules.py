# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole modules from Python: state, structure, and libraries that are loaded again."""

import copy
import os

import pytest
import torch
from torch import nn

import fact
from fact import toolchain
from fact.__main__ import main
from fact.safetensors_file import read_safetensors, write_safetensors
from fact.version import RELEASE
from fact.weights import module_tensors

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

WIDTH = 8


class Everything(nn.Module):
    """Tied weights, every kind of buffer, changes in place, inputs and outputs of all kinds."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.second.weight = self.first.weight
        self.unused = nn.Linear(2, 2)
        self.register_buffer("shift", torch.linspace(-1, 1, WIDTH))
        self.register_buffer("table", torch.linspace(0, 1, WIDTH), persistent=False)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", torch.zeros(3, WIDTH), persistent=False)

    def forward(self, batch, keep, *, scale: int, counts=None):
        self.calls.add_(1)
        x = self.second(torch.relu(self.first(batch["x"]) * scale + self.shift)) + self.table
        x = torch.where(keep, x, self.last * 0.5) + batch["bias"][0]
        self.last.copy_(x)
        batch["seen"].mul_(2.0)
        if counts is not None:
            x = x + counts
        return {"y": x, "same": batch["x"], "weight": self.first.bias, "none": None, "two": 2,
                "nest": [(x * 2, self.calls + 0)], "keep": ~keep}


def module():
    torch.manual_seed(0)
    return Everything().eval()


def call():
    generator = torch.Generator().manual_seed(1)
    x, bias, seen = (torch.randn(3, WIDTH, generator=generator) for _ in range(3))
    keep = torch.rand(3, WIDTH, generator=generator) < 0.6
    counts = torch.randint(0, 5, (3, 1), generator=generator)
    return ({"x": x, "bias": (bias,), "seen": seen}, keep), {"scale": 3, "counts": counts}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The library, compiled from the meta device: nothing in it comes from data."""
    with torch.device("meta"):
        bare = Everything().eval()
    args, kwargs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda tensor: tensor.to("meta"), call())
    output = tmp_path_factory.mktemp("modules") / "everything.so"
    fact.build(bare, args, kwargs, target="host", output=output, candidates=1)
    return output


def same(found, expected):
    """Equal structures of close tensors."""
    flat, spec = torch.utils._pytree.tree_flatten(found)
    want, want_spec = torch.utils._pytree.tree_flatten(expected)
    assert spec == want_spec
    for one, two in zip(flat, want):
        if isinstance(two, torch.Tensor):
            assert one.dtype == two.dtype and torch.allclose(one, two, atol=1e-5)
        else:
            assert one == two


@torch.no_grad()
def check_calls(model, reference, changed=None):
    """Two calls, so that what the first leaves behind is seen by the second."""
    for _ in range(2):
        (args, kwargs), (other, other_kwargs) = call(), call()
        same(model(*args, **kwargs), reference(*other, **other_kwargs))
        assert torch.allclose(args[0]["seen"], other[0]["seen"])
    if changed is not None:
        assert torch.equal(changed["calls"], reference.calls)
        assert torch.allclose(changed["last"], reference.last, atol=1e-5)


def test_compiled_with_data():
    original, reference = module(), module()
    args, kwargs = call()
    model = fact.compile(original, args, kwargs, target="host", candidates=1)
    check_calls(model, reference, model.state())
    # The module's own buffers are what changed.
    assert original.calls.item() == 2
    assert "table" not in {entry["name"] for entry in model.library.weights}


def test_loaded_with_a_module(path):
    library = fact.load(path, module())
    check_calls(library, module(), library._model.state())


def test_loaded_with_a_state_dict(path):
    # What state_dict leaves out must be given too, because the module had no data.
    state = module().state_dict()
    with pytest.raises(fact.FactError) as caught:
        fact.load(path, state)
    assert "'table' is missing" in str(caught.value) and "'last' is missing" in str(caught.value)
    bare = module()
    check_calls(fact.load(path, {**state, "table": bare.table, "last": bare.last}), module())


def test_loaded_with_a_file(path, tmp_path):
    write_safetensors(tmp_path / "weights.safetensors", module_tensors(module()))
    check_calls(fact.load(path, tmp_path / "weights.safetensors"), module())
    # Inputs and outputs by name, without structure.
    assert main(["run", str(path), "--weights", str(tmp_path / "weights.safetensors"),
                 "--output", str(tmp_path / "results.safetensors")]) == 0
    assert {"y", "new_last"} <= read_safetensors(tmp_path / "results.safetensors").keys()


@torch.no_grad()
def test_weights_are_swapped_without_compiling(path):
    reference = module()
    library = fact.load(path, module())
    args, kwargs = call()
    before = library(*args, **kwargs)["y"]
    reference.first.weight.mul_(-1.5)
    reference.second.bias.add_(2.0)
    library.load_weights({"second.weight": reference.first.weight.clone(),
                          "second.bias": reference.second.bias.clone(),
                          "calls": torch.zeros(()), "last": torch.zeros(3, WIDTH)})
    args, kwargs = call()
    other, _ = call()
    after = library(*args, **kwargs)
    same(after, reference(*other, **kwargs))
    assert not torch.allclose(before, after["y"], atol=1e-2)


def test_tied_weights_go_by_either_name(path):
    bare = module()
    tensors = module_tensors(bare)
    for name in ("first.weight", "second.weight"):
        one = {n: t for n, t in tensors.items() if n != name}
        check_calls(fact.load(path, copy.deepcopy(one)), module())
    with pytest.raises(fact.FactError, match="'first.weight' and 'second.weight' are tied"):
        fact.load(path, {**tensors, "second.weight": torch.ones(WIDTH, WIDTH)})
    # A name of the module that the program does not read is no mistake; another one is.
    with pytest.raises(fact.FactError, match="'third.weight'"):
        fact.load(path, {**tensors, "third.weight": torch.ones(1)})


def test_wrong_calls_are_refused(path):
    library = fact.load(path, module())
    args, kwargs = call()
    with pytest.raises(fact.FactError, match="everything: argument 'scale' is 4, but was 3"):
        library(*args, **{**kwargs, "scale": 4})
    with pytest.raises(fact.FactError, match="missing a required argument: 'keep'"):
        library(args[0], **kwargs)
    with pytest.raises(fact.FactError, match="not nested like the compiled ones"):
        library({"x": args[0]["x"]}, args[1], **kwargs)


def test_what_a_library_says_of_itself(path):
    library = fact.load(path)
    names = [entry["name"] for entry in library.inputs]
    assert len(names) == 5 and {"keep", "counts"} <= set(names)
    types = {entry["name"]: entry["type"] for entry in library.inputs}
    assert types["keep"] == "i1" and types["counts"] == "i64"
    assert {"new_calls", "new_last", "y"} <= {entry["name"] for entry in library.outputs}
    assert {entry["name"] for entry in library.weights} == {
        "first.weight", "first.bias", "second.bias", "shift", "table", "calls", "last"}
    assert not any(entry["baked"] for entry in library.weights)
    assert library.workspace_bytes >= 0 and library.kernels and library.version.startswith(RELEASE)
    assert library.build["target"]["kind"] == "host" and library.build["machine"]


def test_compile_needs_data():
    with torch.device("meta"):
        bare, x = nn.Linear(4, 4), torch.empty(2, 4)
    with pytest.raises(fact.FactError, match="use fact.build"):
        fact.compile(bare, (x,), target="host")


def test_a_program_without_weights_needs_none(tmp_path):
    class Doubles(nn.Module):
        def forward(self, x, times: int = 2):
            return x * times, times

    fact.build(Doubles(), (torch.ones(3),), target="host", output=tmp_path / "d.so", candidates=1)
    library, x = fact.load(tmp_path / "d.so"), torch.randn(3)
    found, times = library(x, 2)
    assert torch.equal(found, x * 2) and times == 2


def test_bytes_are_called_and_returned_as_bytes():
    class Bytes(nn.Module):
        def forward(self, x):
            return x.float() / 255 - 0.5, x + 100

    x = torch.arange(256).byte().reshape(4, 64)
    found = fact.compile(Bytes(), (x,), target="host", candidates=1)(x)
    for result, expected in zip(found, Bytes()(x), strict=True):
        assert result.dtype == expected.dtype and torch.allclose(result, expected)


class Fading(nn.Module):
    """Changes a matrix that kernels may read packed, and a vector that they read in place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mix", torch.randn(64, 64))
        self.register_buffer("count", torch.zeros(64))

    def forward(self, x):
        self.mix.mul_(0.75)
        self.count.add_(1)
        return (x + self.count) @ self.mix


def test_buffers_that_each_call_changes():
    module = Fading().eval()
    reference, x = copy.deepcopy(module), torch.randn(8, 64)
    model = fact.compile(module, (x,), target="host", candidates=1)
    for _ in range(4):
        x = torch.randn(8, 64)
        torch.testing.assert_close(model(x), reference(x))
    for name, buffer in reference.named_buffers():
        torch.testing.assert_close(model.state()[name], buffer)
    # A buffer that the user replaces is the one that changes from then on.
    replaced = torch.ones(64)
    model.set_weights({"count": replaced})
    reference.count.fill_(1)
    torch.testing.assert_close(model(x), reference(x))
    assert torch.equal(replaced, torch.full((64,), 2.0))
