# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and results that are dense in another order than row-major."""

import json

import pytest
import torch
from torch import nn

import fact
from fact.layouts import inverse, memory_order


def compiled(module, *inputs, **options):
    with torch.no_grad():
        return fact.compile(module.eval(), inputs, target="host", candidates=1, **options)


def check(model, module, *inputs):
    """Values and strides of the results are the module's."""
    with torch.no_grad():
        expected = module(*inputs)
    found = model(*inputs)
    for one, other in zip(*(torch.utils._pytree.tree_leaves(v) for v in (found, expected)),
                          strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
        assert one.stride() == other.stride()


def shapes(entries):
    return [tuple(entry["shape"]) for entry in entries]


def test_orders_of_memory():
    x = torch.randn(2, 3, 4, 5)
    assert memory_order(x) is None
    assert memory_order(x.to(memory_format=torch.channels_last)) == [0, 2, 3, 1]
    assert memory_order(x.transpose(1, 3)) == [0, 3, 2, 1]
    # Neither has an order in which it is dense.
    assert memory_order(x[:, :, ::2]) is None
    assert memory_order(x[:, :1].expand(2, 3, 4, 5)) is None
    assert memory_order(torch.randn(0, 3).t()) is None
    # Dimensions of one element lie anywhere.
    assert memory_order(torch.randn(1, 3, 4, 5).to(memory_format=torch.channels_last)) == [0, 2, 3, 1]
    assert inverse([0, 2, 3, 1]) == [0, 3, 1, 2]


def images(dims):
    """Two convolutions, and an image for them."""
    last = torch.channels_last if dims == 2 else torch.channels_last_3d
    layers = (nn.Conv2d, nn.BatchNorm2d) if dims == 2 else (nn.Conv3d, nn.BatchNorm3d)
    module = nn.Sequential(layers[0](8, 16, 3, padding=1), layers[1](16), nn.ReLU(),
                           layers[0](16, 8, 3, stride=2)).eval().to(memory_format=last)
    return module, torch.randn(2, 8, *[6] * dims).to(memory_format=last)


@pytest.mark.parametrize("dims", [2, 3])
def test_channels_last(dims):
    module, x = images(dims)
    model = compiled(module, x)
    # In the library they are row-major.
    assert shapes(model.library.inputs) == [(2, *[6] * dims, 8)]
    if dims == 2:
        check(model, module, x)
        assert shapes(model.library.outputs) == [(2, 2, 2, 8)]
    # Another layout than compiled for is accepted; the results are as compiled.
    assert torch.equal(model(x.contiguous()), model(x))
    assert model(x.contiguous()).stride() == model(x).stride()
    # So does a library that is loaded elsewhere.
    loaded = fact.load(model.library.path, module)
    assert torch.equal(loaded(x), model(x)) and loaded(x).stride() == model(x).stride()


def test_nothing_is_transposed(tmp_path):
    module, x = images(2)
    path = tmp_path / "raised.mlir"
    fact.compiler.translate(module, (x,), until="raise", output=path)
    prepare, program = path.read_text().split("fact.windows", 1)
    assert "fact.permute" in prepare and "fact.permute" not in program


def test_results_without_a_channels_last_input():
    """A convolution returns the order of its filters."""
    module = nn.Conv2d(4, 8, 3).eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 4, 6, 6)
    check(compiled(module, x), module, x)


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 4, 3, 2, 1, 1)

    def forward(self, x, w, y):
        return {"product": x @ w, "image": self.up(y), "view": (y.relu().transpose(1, 3), w.sum(0)),
                "scaled": w * 2}


def test_several_inputs():
    module = Several().eval()
    image = torch.randn(2, 4, 5, 3).to(memory_format=torch.channels_last)
    inputs = torch.randn(6, 5), torch.randn(7, 5).t(), image
    model = compiled(module, *inputs)
    check(model, module, *inputs)
    assert shapes(model.library.inputs) == [(6, 5), (7, 5), (2, 5, 3, 4)]
    others = inputs[0].t().contiguous().t(), inputs[1].contiguous(), image.contiguous()
    for found, expected in zip(*(torch.utils._pytree.tree_leaves(v)
                                 for v in (model(*others), model(*inputs)))):
        assert torch.equal(found, expected) and found.stride() == expected.stride()


def test_shapes_in_another_order_are_checked():
    model = compiled(nn.ReLU(), torch.randn(3, 5).t())
    with pytest.raises(fact.FactError, match="input"):
        model(torch.randn(3, 5))
    with pytest.raises(fact.FactError, match="input"):
        model(torch.randn(5))


class Changes(nn.Module):
    """Writes to an input, and to a buffer, what is in another order than they are."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(4, 3))

    def forward(self, x, y):
        self.last.copy_(y + 1)
        x.add_(y)
        return x * 2


def test_changed_inputs_keep_their_order():
    module, other = Changes(), Changes()
    x, y = torch.randn(3, 4).t(), torch.randn(3, 4).t()
    model = compiled(module, x.clone(), y)
    ours, theirs = x.clone(), x.clone()
    found, expected = model(ours, y), other(theirs, y)
    assert torch.equal(found, expected) and found.stride() == expected.stride()
    assert torch.equal(ours, theirs) and torch.equal(model.state()["last"], other.last)


def test_narrow_integers_in_another_order():
    class Count(nn.Module):
        def forward(self, x):
            return x + x

    x = torch.randint(0, 255, (4, 3), dtype=torch.uint8).t()
    check(compiled(Count(), x), Count(), x)


def test_backend_of_torch_compile():
    module = nn.Conv2d(4, 8, 3, padding=1).eval().to(memory_format=torch.channels_last)
    x = torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last)
    fast = torch.compile(module, backend="fact",
                         options={"target": "host", "candidates": 1, "fallback": False})
    with torch.no_grad():
        for image in (x, x.contiguous()):
            assert fast(image).stride() == module(image).stride()
            torch.testing.assert_close(fast(image), module(image), rtol=1e-4, atol=1e-4)


def test_command_runs_in_the_modules_order(tmp_path, capsys):
    from fact.__main__ import main
    from fact.safetensors_file import read_safetensors, write_safetensors

    module = nn.AvgPool2d(2).eval()
    x = torch.randn(2, 3, 4, 6).to(memory_format=torch.channels_last)
    library = compiled(module, x, output=tmp_path / "pool.so").library
    write_safetensors(tmp_path / "x.safetensors", {library.inputs[0]["name"]: x})
    main(["run", library.path, "--inputs", str(tmp_path / "x.safetensors"), "--output",
          str(tmp_path / "y.safetensors")])
    (found,) = read_safetensors(tmp_path / "y.safetensors").values()
    torch.testing.assert_close(found, module(x).contiguous())
    main(["info", library.path])
    assert "dimensions 0, 2, 3, 1 of the module's" in capsys.readouterr().out


def test_text_states_the_order():
    module = nn.ReLU()
    graph = fact.export(module, torch.randn(3, 5).t())
    assert "(%arg0: !torch.vtensor<[3,5],f32>" in graph.text
    assert json.loads(graph.signature.to_json())["input_orders"] == [[0, [1, 0]]]
