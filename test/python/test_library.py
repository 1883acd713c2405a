# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading libraries and running models, against a library written by hand."""

import threading

import pytest
import torch

import fact
import fact.again
from fact.safetensors_file import read_safetensors, write_safetensors


class Affine(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.register_buffer("bias", torch.ones(4), persistent=False)
        self.unused = torch.nn.Parameter(torch.ones(7))

    def forward(self, x):
        return x * self.scale + self.bias


@pytest.fixture
def library(fake_library):
    return fact.load(fake_library())


def weights():
    return {"scale": torch.full((4,), 2.0), "bias": torch.ones(4)}


def test_runs(library):
    x = torch.randn(2, 4)
    assert torch.equal(library.create(weights())(x), x * 2 + 1)


def test_takes_a_module_with_more_tensors_than_needed(library):
    module, x = Affine(), torch.randn(2, 4)
    assert torch.equal(library.create(module)(x), module(x).detach())


def test_takes_a_safetensors_file(library, tmp_path):
    x = torch.randn(2, 4)
    write_safetensors(tmp_path / "w.safetensors", {**weights(), "other": torch.ones(1)})
    assert torch.equal(library.create(tmp_path / "w.safetensors")(x), x * 2 + 1)


def test_passes_strides(library):
    x = torch.randn(4, 2).t()
    assert not x.is_contiguous()
    assert torch.equal(library.create(weights())(x), x * 2 + 1)


def test_strides_are_not_remembered_from_another_call(library):
    model, x = library.create(weights()), torch.randn(2, 4)
    for tensor in (x, torch.randn(4, 2).t(), x):
        assert torch.equal(model(tensor), tensor * 2 + 1)


def test_a_call_after_a_wrong_one(library):
    """A call is checked against the layout of the last one, so each kind follows a right one."""
    model, x = library.create(weights()), torch.randn(2, 4)
    wrong = {
        "not tensor<2x4xf32>": [torch.ones(2, 4).half(), torch.ones(8), torch.ones(2, 4, 1)],
        "not a tensor": [None, [x], x.numpy()],
        "is on meta": [torch.ones(2, 4, device="meta")],
        "has layout": [x.to_sparse()],
        "is a Logged": [x.as_subclass(Logged)],
    }
    for message, inputs in wrong.items():
        for given in inputs:
            assert torch.equal(model(x), x * 2 + 1)
            with pytest.raises(fact.FactError, match=message):
                model.call_flat([given])
            with pytest.raises(fact.FactError, match=message):
                model.run([given], [torch.empty(2, 4)])
    assert torch.equal(model(torch._neg_view(x)), 1 - x * 2)
    with pytest.raises(fact.FactError, match=r"takes 1 input\(s\)"):
        model.call_flat([x, x])
    with pytest.raises(fact.FactError, match=r"has 1 output\(s\), 2 given"):
        model.run([x], [torch.empty(2, 4)] * 2)
    assert torch.equal(model(x), x * 2 + 1)


@pytest.fixture
def warm(library):
    """A model that expects inputs like those of its last calls."""
    model = library.create(weights())
    for _ in range(3):
        model(torch.randn(2, 4))
    assert model._again is not None
    return model


def test_calls_alike_are_short(warm, monkeypatch):
    def refuse(inputs):
        raise AssertionError("the long way")

    monkeypatch.setattr(warm, "call_flat", refuse)
    for x in (torch.randn(2, 4), torch.randn(3, 4)[1:], torch.randn(2, 4)):
        assert torch.equal(warm(x), x * 2 + 1)
    with pytest.raises(AssertionError, match="the long way"):
        warm(torch.randn(4, 2).t())


@pytest.mark.parametrize("inputs, message", [
    ([], r"takes 1 input\(s\) \(x\), 0 given"),
    ([torch.ones(2, 4)] * 2, r"takes 1 input\(s\) \(x\), 2 given"),
    ([torch.ones(3, 4)], "input 'x' is not tensor<2x4xf32>"),
    ([torch.ones(2, 4).double()], "input 'x' is not tensor<2x4xf32>"),
    ([torch.ones(8)], "input 'x' is not tensor<2x4xf32>"),
    ([3], "input 'x' is int, not a tensor"),
    ([None], "input 'x' is NoneType, not a tensor"),
    ([torch.ones(2, 4, device="meta")], "input 'x' is on meta, the library runs on cpu"),
    ([torch.ones(2, 4).to_sparse()], "input 'x' has layout sparse_coo; only dense"),
], ids=str)
def test_wrong_inputs_after_right_ones(warm, inputs, message):
    with pytest.raises(fact.FactError, match=message):
        warm(*inputs)
    x = torch.randn(2, 4)
    assert torch.equal(warm(x), x * 2 + 1)


def test_other_tensors_after_calls_alike(warm):
    x = torch.randn(2, 4)
    for given in (torch._neg_view(x), torch.nn.Parameter(x), x.clone().requires_grad_(),
                  x.as_subclass(Renamed), x.t().contiguous().t()):
        for tensor in (x, given, given, given, x):
            assert torch.equal(warm(tensor), tensor * 2 + 1)
    with pytest.raises(fact.FactError, match="input 'x' is a Logged"):
        warm(x.as_subclass(Logged))
    with torch.inference_mode():
        assert warm(x).is_inference()
    assert not warm(x).requires_grad
    warm.close()
    with pytest.raises(fact.FactError, match="has been closed"):
        warm(x)


def test_two_layouts_from_two_threads(library):
    """Each call is compared with what the slots describe when it has them."""
    model, wrong = library.create(weights()), []

    def work(make):
        for _ in range(300):
            x = make()
            if not torch.equal(model(x), x * 2 + 1):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=[make])
               for make in (lambda: torch.randn(2, 4), lambda: torch.randn(4, 2).t())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_pytorch_without_guards(library, monkeypatch):
    monkeypatch.setattr(fact.again, "_torch", None)
    model = library.create(weights())
    for _ in range(3):
        x = torch.randn(2, 4)
        assert torch.equal(model(x), x * 2 + 1)
    assert model._again is None


def test_graphs_of_a_library_that_has_none(library):
    model = library.create(weights())
    assert not model.has_graphs
    with pytest.raises(fact.FactError, match="cannot use graphs: compile the model again"):
        model.use_graphs("on")
    with pytest.raises(fact.FactError, match="cannot use graphs: compile the model again"):
        _ = model.graphs
    with pytest.raises(fact.FactError, match="unknown setting of graphs 'fast'; known are off, on, "
                                             "automatic"):
        model.use_graphs("fast")


def test_views_and_kinds_of_tensors_in_turn(library):
    model, base = library.create(weights()), torch.randn(6, 8)
    kinds = (base[1:3, 4:], base[2:4, :4].contiguous(), base.t()[:2, :4], base[::2, ::2][:2],
             base[0].view(2, 4), base[:1, :4].expand(2, 4), torch.nn.Parameter(base[:2, :4]),
             base[:2, :4].clone().requires_grad_())
    for x in (*kinds, *reversed(kinds)):
        assert torch.equal(model(x), x * 2 + 1)
    with torch.inference_mode():
        x = torch.randn(2, 4)
        assert torch.equal(model(x), x * 2 + 1)


def test_results_are_not_overwritten_by_later_calls(library):
    model = library.create(weights())
    inputs = [torch.randn(2, 4) for _ in range(10)]
    results = [model(x) for x in inputs]
    given = torch.empty(2, 4)
    model.run([inputs[0]], [given])
    for x in inputs:
        model(x)
    assert torch.equal(given, inputs[0] * 2 + 1)
    for x, result in zip(inputs, results):
        assert torch.equal(result, x * 2 + 1)
    result = model(inputs[0])
    assert torch.equal(model(result), result * 2 + 1)


def test_outputs_of_the_caller_do_not_change_those_of_calls(library):
    model, x = library.create(weights()), torch.randn(2, 4)
    for out in (torch.zeros(2, 4), torch.zeros(4, 2).view(2, 4), torch.zeros(3, 4)[1:]):
        model.run([x], [out])
        assert torch.equal(out, x * 2 + 1)
        result = model(x)
        assert result.is_contiguous() and torch.equal(result, x * 2 + 1)


def test_keeps_weights_alive(library):
    model, x = library.create(weights()), torch.randn(2, 4)
    for _ in range(100):
        torch.full((4,), 7.0)
    assert torch.equal(model(x), x * 2 + 1)


def test_set_weights(library):
    model, x = library.create(weights()), torch.randn(2, 4)
    model.set_weights({"scale": torch.full((4,), 5.0)})
    assert torch.equal(model(x), x * 5 + 1)


def test_run_into_given_outputs(library):
    x, y = torch.randn(2, 4), torch.empty(2, 4)
    library.create(weights()).run([x], [y])
    assert torch.equal(y, x * 2 + 1)


def test_one_model_from_many_threads(library):
    model, wrong = library.create(weights()), []

    def work():
        for _ in range(50):
            x = torch.randn(2, 4)
            if not torch.equal(model(x), x * 2 + 1):
                wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_description(library):
    assert library.name == "fake" and library.device_type == "cpu"
    assert [entry["name"] for entry in library.weights] == ["scale", "bias"]


@pytest.mark.parametrize("given, message", [
    ({}, "missing weights: scale bias"),
    ({"scale": torch.ones(4)}, "missing weights: bias"),
    ({**weights(), "more": torch.ones(4)}, "unknown weight 'more'"),
    ({**weights(), "bias": torch.ones(5)}, "'bias' is not tensor<4xf32>"),
    ({**weights(), "bias": torch.ones(4, dtype=torch.float16)}, "'bias' is not tensor<4xf32>"),
    ({**weights(), "bias": torch.ones(4, device="meta")}, "'bias' is on the meta device"),
])
def test_wrong_weights(library, given, message):
    with pytest.raises(fact.FactError, match=message):
        library.create(given)


@pytest.mark.parametrize("inputs, message", [
    ([], r"takes 1 input\(s\) \(x\), 0 given"),
    ([torch.ones(2, 4)] * 2, r"takes 1 input\(s\) \(x\), 2 given"),
    ([torch.ones(3, 4)], "input 'x' is not tensor<2x4xf32>"),
    ([3], "input 'x' is int, not a tensor"),
    ([torch.ones(2, 4, device="meta")], "input 'x' is on meta, the library runs on cpu"),
])
def test_wrong_inputs(library, inputs, message):
    with pytest.raises(fact.FactError, match=message):
        library.create(weights())(*inputs)


def test_closed_model(library):
    model = library.create(weights())
    model.close()
    model.close()
    with pytest.raises(fact.FactError, match="has been closed"):
        model(torch.ones(2, 4))


def test_no_such_library(tmp_path):
    with pytest.raises(fact.FactError, match="no library at"):
        fact.load(tmp_path / "none.so")


def test_not_a_library(tmp_path):
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(fact.FactError, match="cannot load"):
        fact.load(tmp_path / "text.so")


def test_a_library_of_others(fake_library):
    with pytest.raises(fact.FactError, match="no symbol fact_library"):
        fact.load(fake_library("other", "-Dfact_library=other_library"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch has a GPU")
def test_a_library_for_a_gpu_without_one(fake_library):
    """It describes itself; only a model needs CUDA."""
    library = fact.load(fake_library("cuda", '-DTARGET="cuda"'))
    assert library.device_type == "cuda" and library.inputs
    with pytest.raises(fact.FactError, match="fake was compiled for a GPU, and this PyTorch, .*, "
                                             "(was built without CUDA|sees no GPU)"):
        library.load_weights(weights())


def test_another_abi(fake_library):
    with pytest.raises(fact.FactError, match="has library ABI 99"):
        fact.load(fake_library("abi", "-DABI=99"))


def test_safetensors_agree_with_the_package(tmp_path):
    package = pytest.importorskip("safetensors.torch")
    tensors = {
        "b": torch.randn(3, 5).bfloat16(), "f": torch.randn(2), "flag": torch.tensor([True, False]),
        "i": torch.arange(5), "scalar": torch.tensor(2.5, dtype=torch.float64),
        "empty": torch.empty(0, 3),
    }
    write_safetensors(tmp_path / "ours", tensors)
    package.save_file(tensors, tmp_path / "theirs")
    for path, read in ((tmp_path / "ours", package.load_file), (tmp_path / "theirs", read_safetensors)):
        found = read(path)
        assert found.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor)


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 64, b"\x02" + b"\0" * 7 + b"{]"])
def test_broken_safetensors(tmp_path, content):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(fact.FactError, match="as safetensors"):
        read_safetensors(tmp_path / "w")


# Tensors whose memory is not their value.


def test_pending_negation_is_done(library):
    model = library.create(weights())
    for x in (torch._neg_view(torch.randn(2, 4)),
              torch.view_as_complex(torch.randn(2, 4, 2)).conj().imag):
        assert x.is_neg()
        assert torch.equal(model(x), x * 2 + 1)
    negated = {"scale": torch._neg_view(torch.full((4,), -2.0)), "bias": torch.ones(4)}
    x = torch.randn(2, 4)
    assert torch.equal(library.create(negated)(x), x * 2 + 1)
    with pytest.raises(fact.FactError, match="output 'y' has a pending negation"):
        model.run([x], [torch._neg_view(torch.empty(2, 4))])


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


class Renamed(torch.Tensor):
    pass


@pytest.mark.parametrize("x, message", [
    (torch.eye(4)[:2].to_sparse(), "input 'x' has layout sparse_coo; only dense"),
    (torch.randn(2, 4).to_mkldnn(), "input 'x' has layout _mkldnn"),
    (torch.randn(2, 4).as_subclass(Logged), "input 'x' is a Logged"),
])
def test_other_kinds_of_tensors_are_refused_by_name(library, x, message):
    model = library.create(weights())
    with pytest.raises(fact.FactError, match=message):
        model(x)
    y = torch.randn(2, 4).as_subclass(Renamed)
    assert torch.equal(model(y), y * 2 + 1)


def test_closing_beside_a_running_call(library):
    for _ in range(20):
        model, stopped = library.create(weights()), []

        def work(model=model, stopped=stopped):
            x = torch.randn(2, 4)
            try:
                while True:
                    model(x)
            except fact.FactError as error:
                stopped.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        model.close()
        for thread in threads:
            thread.join(60)
        assert len(stopped) == 3 and all("has been closed" in text for text in stopped)
