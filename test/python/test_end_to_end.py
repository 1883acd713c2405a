# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries that are not their module's are refused, and those that are, accepted."""

import gc
import logging
import math
import re
import sys
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

import fact
from fact import arithmetic, compiler, end_to_end, toolchain, verify
from fact.end_to_end import Refused, compare_with_module, judge_results

needs_compiler = pytest.mark.skipif(toolchain.find_tool("fact-compile") is None,
                                    reason="fact-compile is not built")


class Affine(nn.Module):
    """What the hand-written library computes, with a signature like a compiled one's."""

    def __init__(self, scale=2.0, bias=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.full((4,), scale))
        self.bias = nn.Parameter(torch.full((4,), bias))

    def forward(self, x):
        return x * self.scale + self.bias


def signature():
    leaf = torch.utils._pytree.tree_structure(0)
    arguments = torch.utils._pytree.tree_structure(((0,), {}))
    return fact.signature.CallSignature(None, arguments, leaf, [0], [0], ["'x'"])


@pytest.fixture
def model(fake_library):
    model = fact.load(fake_library()).create(Affine())
    model.signature = signature()
    return model


def outcome(model, module, x):
    return compare_with_module(model, module, (x,))


def test_the_right_module_is_accepted(model):
    verdict = outcome(model, Affine(), torch.randn(2, 4))
    assert not verdict.skipped and verdict.errors["y"][0].norm < 1e-6
    assert "as exact as the module" in str(verdict)


def test_a_module_that_runs_on_the_cpu_alone(model, monkeypatch):
    """PyTorch has no kernel for a product of integers on a GPU: the library is compared there."""
    class Runs(end_to_end._Runs):
        def __init__(self, signature, kind, *rest):
            super().__init__(signature, "cpu", *rest)
            made.append(kind)
            if len(made) == 1:
                self.device = torch.device("cuda")

        def wide(self, dtype):
            if self.device.type == "cuda":
                raise end_to_end._CannotRun("not implemented for 'Long'")
            return super().wide(dtype)

    made = []
    monkeypatch.setattr(end_to_end, "_Runs", Runs)
    verdict = outcome(model, Affine(), torch.randn(2, 4))
    assert not verdict.skipped and verdict.errors["y"][0].norm < 1e-6
    assert len(made) == 2 and made[1] == "cpu"
    made.clear()
    with pytest.raises(Refused):
        outcome(model, Affine(bias=0.0), torch.randn(2, 4))


@pytest.mark.parametrize("module", [
    Affine(scale=2.00001), Affine(bias=1.0001), Affine(bias=0.0),
])
def test_another_module_is_refused(model, module):
    with pytest.raises(Refused) as caught:
        outcome(model, module, torch.randn(2, 4))
    message = str(caught.value)
    assert "output 'y' (float32, [2, 4])" in message and "where fp64 gives" in message
    assert "allowed" in message and "eager" in message


@pytest.mark.parametrize("found, expected", [
    (math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), (math.inf, 1.0), (1.0, math.inf),
])
def test_nan_and_infinities_are_compared_by_class(found, expected):
    result, truth = torch.ones(5), torch.ones(5, dtype=torch.float64)
    result[3], truth[3] = found, expected
    reason = verify.judge("y", result, [truth.float()], truth).reason
    assert f"is {found:g} at [3], where fp64 gives {expected:g}" in reason
    # Eager's own class is right as well.
    assert not verify.judge("y", result, [result], truth).reason


def test_overflow_of_a_narrow_type_is_no_error():
    truth = torch.tensor([65519.0, 1e6, -1e6, 3.0], dtype=torch.float64)
    right = torch.tensor([65504.0, math.inf, -math.inf, 3.0]).half()
    wrong = torch.tensor([65504.0, -math.inf, -math.inf, 3.0]).half()
    assert not verify.judge("y", right, [truth.half()], truth).reason
    assert verify.judge("y", wrong, [truth.half()], truth).reason


def test_integers_are_those_of_fp64_or_of_eager():
    truth = torch.tensor([1, 2, 3])
    result = torch.tensor([1, 2, 4])
    assert "is 4 at [2], where fp64 gives 3" in verify.judge("index", result, [truth], truth).reason
    assert not verify.judge("index", result, [torch.tensor([0, 0, 4])], truth).reason


def test_one_wrong_element_is_refused():
    truth = torch.randn(100_000, dtype=torch.float64)
    for dtype in (torch.float32, torch.bfloat16):
        result = truth.to(dtype)
        assert not verify.judge("y", result, [truth.to(dtype)], truth).reason
        result[77] += 0.1
        assert "at [77]" in verify.judge("y", result, [truth.to(dtype)], truth).reason


def test_twice_the_error_of_eager_is_refused():
    """1.45 times eager's error is right in each type, and twice its error is not."""
    generator = torch.Generator().manual_seed(0)
    truth = torch.randn(100_000, generator=generator, dtype=torch.float64)
    noise = torch.randn(100_000, generator=generator, dtype=torch.float64)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        off = lambda error, dtype=dtype: (
            truth * (1 + error * torch.finfo(dtype).eps * noise)).to(dtype)
        eager = off(8)
        assert not verify.judge("y", off(1.45 * 8), [eager], truth).reason
        assert "eager's" in verify.judge("y", off(2 * 8), [eager], truth).reason


def noisy(truth, roundings):
    """With the same noise always, so that errors compare as their `roundings` do."""
    noise = torch.randn(truth.shape, generator=torch.Generator().manual_seed(0),
                        dtype=torch.float64)
    return (truth * (1 + roundings * torch.finfo(torch.float32).eps * noise)).float()


def test_disturbed_runs_are_asked_where_one_run_refuses():
    truth = torch.randn(10_000, dtype=torch.float64)
    asked = []

    def judged(roundings):
        def eager(seed):
            asked.append(seed)
            return [noisy(truth, 4 if seed is None else 8)]

        return judge_results(["y"], [noisy(truth, roundings)], [truth], eager)[0]

    assert not judged(5).reason and asked == [None]
    assert not judged(9).reason and asked == [None, None, 0]
    assert "eager's" in judged(20).reason and asked[-1] == 7


def test_the_largest_element_is_luck():
    """Of equal norms, one run has a far smaller largest error than another; beyond all is wrong."""
    truth = torch.ones(432, dtype=torch.float64)
    signs = torch.where(torch.arange(432) % 2 == 0, 1.0, -1.0).double()

    def off(largest):
        roundings = signs.clone()
        roundings[5] = largest
        return (truth + roundings * torch.finfo(torch.float32).eps).float()

    eager = lambda seed: [off(1 if seed is None else 9)]
    assert not judge_results(["y"], [off(11)], [truth], eager)[0].reason
    assert judge_results(["y"], [off(20)], [truth], eager)[0].reason
    assert judge_results(["y"], [off(11)], [truth], lambda seed: [off(1)])[0].reason


def test_an_exact_run_of_eager_is_luck():
    truth = torch.randn(10_000).double()
    eager = lambda seed: [noisy(truth, 0 if seed is None else 2)]
    assert not judge_results(["y"], [noisy(truth, 2.5)], [truth], eager)[0].reason
    assert judge_results(["y"], [noisy(truth, 5)], [truth], eager)[0].reason


def test_what_rounding_decides_is_as_in_a_disturbed_run():
    truth = torch.arange(1000)
    moved = torch.where(truth == 7, 8, truth)
    eager = lambda seed: [truth if seed != 3 else moved]
    assert not judge_results(["index"], [moved], [truth], eager)[0].reason
    wrong = torch.where(truth == 9, 8, truth)
    assert "is 8 at [9]" in judge_results(["index"], [wrong], [truth], eager)[0].reason


# Arithmetic.


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 16)
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, tokens):
        x = self.table(tokens)
        # As Llama writes it: conversions to fp32 and back must not limit fp64.
        h = x.float()
        h = (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
        h = torch.softmax(self.second(torch.relu(self.first(h))), dim=-1, dtype=torch.float32)
        buffer = torch.zeros(h.shape, dtype=x.dtype)
        buffer[:, 1:] = h[:, 1:].to(x.dtype)
        return self.norm(x + buffer)


def test_wide_products_of_groups():
    """PyTorch has them in fp32 and 16 bits alone."""
    x, weight = torch.randn(9, 8).bfloat16(), torch.randn(3, 8, 16).bfloat16()
    with arithmetic.Wide():
        found = torch._grouped_mm(x, weight, torch.tensor([4, 4, 7], dtype=torch.int32))
    wide, factors = x.double(), weight.double()
    expected = torch.cat([wide[:4] @ factors[0], wide[4:7] @ factors[2], torch.zeros(2, 16)])
    assert torch.equal(found, expected)


@torch.no_grad()
def test_wide_is_the_module_in_fp64():
    module, tokens = Layers().bfloat16(), torch.randint(0, 30, (2, 7))
    with arithmetic.Wide():
        found = module(tokens)

    class Exact(Layers):
        def forward(self, tokens):
            x = self.table(tokens)
            h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
            h = torch.softmax(self.second(torch.relu(self.first(h))), dim=-1)
            h[:, 0] = 0
            return self.norm(x + h)

    exact = Exact()
    exact.load_state_dict(module.state_dict())
    assert found.dtype == torch.float64
    assert torch.allclose(found, exact.double()(tokens), rtol=1e-12, atol=1e-14)
    assert next(module.parameters()).dtype == torch.bfloat16


class ChecksTypes(nn.Module):
    """Layers that check types before their ops, beside a conversion to the module's own type."""

    def __init__(self):
        super().__init__()
        self.convolution, self.gates = nn.Conv1d(4, 4, 1), nn.GRU(4, 4)
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.gates(self.linear(self.convolution(x[:, :, None])[:, :, 0].float()))[0]


def test_layers_that_check_types_are_compared():
    module, x = ChecksTypes(), torch.randn(2, 4)
    runs = end_to_end._Runs(signature(), "cpu", module, (x,), {})
    found, = runs.wide(torch.float64)
    wide = ChecksTypes().double()
    wide.load_state_dict(module.state_dict())
    wide.linear.register_forward_pre_hook(lambda _, inputs: (wide.convolution(
        x.double()[:, :, None])[:, :, 0],))
    assert torch.allclose(found, wide(x.double()), rtol=1e-12, atol=1e-14)


@torch.no_grad()
def test_ops_that_a_cpu_has_in_fp32_alone():
    x = torch.randn(2, 3, 4, 4, 4).bfloat16()
    with arithmetic.ProductsInFloat32():
        found = nn.functional.avg_pool3d(x, 2)
    assert torch.equal(found, nn.functional.avg_pool3d(x.float(), 2).bfloat16())


@torch.no_grad()
@pytest.mark.parametrize("channels", [1, 2])
def test_ops_that_write_a_tensor_are_not_done_on_a_copy(channels):
    """Also if the tensor is a single 0."""
    x, out = torch.randn(1, channels, 2, 2, 2).bfloat16(), torch.zeros(1, channels, 1, 1, 1).bfloat16()
    with arithmetic.ProductsInFloat32(), pytest.raises(RuntimeError, match="not implemented for"):
        torch.ops.aten.avg_pool3d.out(x, [2, 2, 2], out=out)


def test_wide_copies_of_failed_runs_are_freed():
    """A module that fits once in fp64, and not twice, has to be compared."""
    alive, before = weakref.WeakSet(), []

    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4))

        def forward(self, x):
            gc.collect()
            before.append(len(alive))
            if self.weight.dtype == torch.float64:
                alive.add(self.weight)
            raise RuntimeError("no")

    runs = end_to_end._Runs(signature(), "cpu", Fails(), (torch.randn(2, 4),), {})
    with pytest.raises(Exception, match="converted to it: no"):
        runs.wide(torch.float64)
    assert len(before) == 3 and not any(before)


@torch.no_grad()
def test_products_in_fp32_round_once():
    x, w = torch.randn(5, 64).bfloat16(), nn.Linear(64, 8).bfloat16()
    with arithmetic.ProductsInFloat32():
        found = w(x)
    assert found.dtype == torch.bfloat16
    exact = nn.functional.linear(x.float(), w.weight.float(), w.bias.float())
    assert torch.equal(found, exact.bfloat16())


def test_perturbation_moves_by_a_rounding_and_leaves_masks_alone():
    x = torch.cat([torch.rand(1000) + 0.1, torch.tensor([0.0, 1.0, -1.0, math.inf, math.nan])])
    with arithmetic.Perturbed(0, x.device):
        moved = x.clone()
    relative = (moved[:1000] / x[:1000] - 1).abs()
    assert 0 < relative.max() <= 2.5e-7 and (relative > 0).float().mean() > 0.3
    assert torch.equal(moved[1000:1004], x[1000:1004]) and moved[1004].isnan()


def test_a_module_that_does_not_fit_is_not_compared(model, monkeypatch):
    monkeypatch.setattr(arithmetic, "_RESERVE_BYTES", 0)
    monkeypatch.setattr(arithmetic, "available_bytes", lambda device: 16)
    verdict = outcome(model, Affine(), torch.randn(2, 4))
    assert "not enough memory" in verdict.skipped


# State.


class Counts(nn.Module):
    """Changes a buffer, an input and an attribute, and draws random numbers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        torch.rand(1)
        self.seen += x[0]
        x.mul_(2)
        return x + self.seen


def test_the_module_is_left_as_it_was():
    class Library:
        name, device_type = "counts", "cpu"
        outputs = [{"name": name} for name in ("y", "new_seen", "new_x")]

    class Model:
        library = Library()
        wrong = 0

        def call_flat(self, inputs):
            x = inputs[0]
            y = 2 * x + x[0]
            results = [y, x[0].clone(), 2 * x]
            results[self.wrong] = results[self.wrong] * (1.01 if self.wrong else 1)
            return results

    model, module, x = Model(), Counts(), torch.randn(3, 4)
    model.signature = signature()
    model.signature.mutations = [fact.signature.Mutation(1, "seen"), fact.signature.Mutation(2, 0)]
    before, random = x.clone(), torch.get_rng_state()
    verdict = compare_with_module(model, module, (x,))
    assert list(verdict.errors) == ["y", "new_seen", "new_x"]
    assert torch.equal(x, before) and module.calls == 0
    assert torch.equal(module.seen, torch.zeros(4))
    assert torch.equal(random, torch.get_rng_state())
    for wrong, name in ((1, "new_seen"), (2, "new_x")):
        model.wrong = wrong
        with pytest.raises(Refused, match=name):
            compare_with_module(model, module, (x,))


# The three ways to compile.


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


WORKLOAD = """
import torch
from test_end_to_end import Small as Model
def get_inputs():
    return [torch.randn(3, 8)]
"""


@pytest.fixture
def wrong_library(monkeypatch, tmp_path):
    """Makes the compiler give the library of a program with two weights exchanged."""
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    torch._dynamo.reset()
    drive = compiler._drive

    def exchanged(graph, *arguments):
        names = sorted(name for name in graph.weights if name.endswith("weight")
                       or name.endswith("weight_"))
        assert len(names) == 2
        text = graph.text
        for one, two in ((names[0], "@"), (names[1], names[0]), ("@", names[1])):
            text = text.replace(f'"{one}"', f'"{two}"')
        assert text != graph.text
        graph.text = text
        drive(graph, *arguments)

    monkeypatch.setattr(compiler, "_drive", exchanged)


def compile_(module, x, verify=True):
    return fact.compile(module, (x,), target="host", candidates=1, verify=verify)(x)


@torch.no_grad()
def torch_compile(module, x, verify=True):
    options = {"target": "host", "candidates": 1, "verify": verify, "fallback": False}
    return torch.compile(module, backend="fact", options=options)(x)


@needs_compiler
@pytest.mark.parametrize("entry", [compile_, torch_compile])
def test_a_wrong_library_is_refused(entry, wrong_library, caplog, tmp_path):
    module, x = Small().eval(), torch.randn(3, 8)
    with pytest.raises(Exception) as caught:
        entry(module, x)
    message = str(caught.value)
    assert "does not compute what the module does" in message and "verify=False" in message
    assert list(tmp_path.glob("work/*/*.so.refused")) and not list(tmp_path.glob("work/*/*.so"))
    torch._dynamo.reset()
    with caplog.at_level(logging.WARNING, logger="fact"):
        found = entry(module, x, verify=False)
    assert "was not compared with its module" in caplog.text
    assert not torch.allclose(found, module(x), atol=1e-3)


@needs_compiler
@torch.no_grad()
def test_torch_compile_runs_in_pytorch_what_was_refused(wrong_library, caplog):
    module, x = Small().eval(), torch.randn(3, 8)
    with caplog.at_level(logging.WARNING, logger="fact"):
        found = torch.compile(module, backend="fact", options={"target": "host"})(x)
    assert torch.equal(found, module(x)) and "does not compute what the module does" in caplog.text


@needs_compiler
def test_the_command_refuses_a_wrong_library(wrong_library, tmp_path, capsys, caplog):
    from fact.__main__ import main

    (tmp_path / "small.py").write_text(WORKLOAD)
    command = ["compile", str(tmp_path / "small.py"), "-o", str(tmp_path / "small.so"),
               "--target=host", "--candidates=1"]
    assert main(command) == 1
    assert "does not compute what the module does" in capsys.readouterr().err
    assert not (tmp_path / "small.so").exists()
    assert main([*command, "--no-verify"]) == 0 and (tmp_path / "small.so").exists()
    assert "was not compared with its module" in caplog.text


@needs_compiler
def test_a_cached_library_is_compared_once(monkeypatch, tmp_path):
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    module, x = Small().eval(), torch.randn(3, 8)
    compared, compare = [], compiler.compare_with_module

    def counted(*arguments):
        compared.append(arguments)
        return compare(*arguments)

    monkeypatch.setattr(compiler, "compare_with_module", counted)
    build = lambda verify=True: fact.build(module, (x,), target="host", candidates=1, cache=True,
                                           verify=verify)
    # A library that nobody compared is compared when somebody asks for that.
    assert not build(verify=False).verified and not compared
    assert build().verified and len(compared) == 1
    monkeypatch.setattr(compiler, "_drive", lambda *args: pytest.fail("compiled again"))
    library = build()
    assert library.verified and len(compared) == 1
    # Another file in its place is not what was compared.
    monkeypatch.undo()
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    with open(library.path, "ab") as file:
        file.write(b"\0")
    assert build().verified


class WrittenOut(nn.Module):
    """Attention in single ops, with a mask of -inf or of the lowest number."""

    def __init__(self, hidden=-math.inf):
        super().__init__()
        self.hidden = hidden

    def forward(self, query, key, value, visible):
        scores = query @ key.transpose(-1, -2) / 4
        return torch.softmax(scores.masked_fill(~visible, self.hidden), -1) @ value


@needs_compiler
def test_a_query_without_keys_is_refused_and_explained(monkeypatch, tmp_path):
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(1, 2, 8, 16, generator=generator) for _ in range(3)]
    visible = torch.rand(1, 1, 8, 8, generator=generator) < 0.7
    visible[..., 0] = True
    visible[0, 0, 3] = False
    inputs.append(visible)
    compile_ = lambda hidden: fact.compile(WrittenOut(hidden), inputs, target="host", candidates=1)
    # NaN in PyTorch and 0 in fact.attention.
    with pytest.raises(Refused) as caught:
        compile_(-math.inf)
    message = str(caught.value)
    assert "is 0 at [0, 0, 3, 0], where fp64 gives nan and eager nan" in message
    assert "hides every key of a query" in message and "defect" not in message
    # A finite mask leaves the query's scores alike: the mean of all values, in both.
    found = compile_(torch.finfo(torch.float32).min)(*inputs)
    assert torch.allclose(found[:, :, 3], inputs[2].mean(2), atol=1e-6)


# Makes all candidates of a bundle fail but the fallback, then tunes it.
@pytest.mark.parametrize("setting, rounded", [("highest", {"convolution"}),
                                              ("high", {"convolution", "product"})])
def test_tf32_is_part_of_what_rounding_decides(setting, rounded, monkeypatch):
    """cuDNN and cuBLAS use TF32 for some sizes and not for others."""
    before = torch.get_float32_matmul_precision()
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    torch.set_float32_matmul_precision(setting)
    try:
        ops = arithmetic.tf32_ops()
    finally:
        torch.set_float32_matmul_precision(before)
    torch.manual_seed(0)
    x, w, b = torch.randn(2, 8, 9, 9), torch.randn(16, 8, 3, 3), torch.randn(16)
    for name, run in (("convolution", lambda x: nn.functional.conv2d(x, w.to(x), b.to(x))),
                      ("product", lambda x: torch.addmm(b.to(x), x.flatten(0, 2),
                                                        torch.eye(9, 16).to(x)))):
        exact = run(x.double())
        with arithmetic.Perturbed(0, x.device, ops):
            disturbed = run(x)
        error = float((disturbed - exact).norm() / exact.norm())
        assert (1e-5 < error < 1e-3) == (name in rounded), (name, error)
        assert error < 1e-3


def test_round_to_tf32():
    values = torch.tensor([1.0, 1 + 2**-11, 1 + 3 * 2**-12, -1 - 2**-12, math.inf, -math.inf])
    assert arithmetic.round_to_tf32(values).tolist() == [1, 1 + 2**-10, 1 + 2**-10, -1, math.inf,
                                                         -math.inf]
    assert arithmetic.round_to_tf32(torch.tensor([math.nan])).isnan().all()


FAILING_TUNER = """#!{python}
import json, os, sys
path = os.path.join(sys.argv[1], "bundle.json")
bundle = json.load(open(path))
for kernel in bundle["kernels"]:
    fallback = dict(kernel["candidates"][0], key="plain", fallback=True)
    for candidate in kernel["candidates"]:
        candidate["symbol"] += "_missing"
    kernel["candidates"].append(fallback)
json.dump(bundle, open(path, "w"))
os.execv("{tune}", ["fact-tune", *sys.argv[1:]])
"""


@needs_compiler
def test_fallback_is_a_warning(monkeypatch, tmp_path):
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    tuner = tmp_path / "tuner"
    tuner.write_text(FAILING_TUNER.format(python=sys.executable,
                                          tune=toolchain.require_tool("fact-tune")))
    tuner.chmod(0o755)
    x = torch.randn(8, 16)
    with pytest.warns(fact.FactWarning) as warned:
        model = fact.compile(torch.nn.ReLU(), (x,), target="host", candidates=1, name="fallback",
                             output=tmp_path / "fallback.so", options=[f"--tuner={tuner}"])
    assert model(x).equal(x.relu())
    message = str(warned[0].message)
    assert re.match(r"kernel 'pointwise_0' runs in plain loops, .* its 1 candidates failed, the "
                    r"first with \w+: .*_missing", message)
    assert Path(message.rsplit("Its log is ", 1)[1]).exists()
    assert warned[0].filename == __file__
