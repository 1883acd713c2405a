# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measure of errors itself."""

import math

import pytest
import torch
from torch import nn

from fact import bench, verify


def test_equal_is_zero():
    x = torch.randn(5)
    assert verify.compare(x, x.double()) == verify.Comparison(0.0, 0.0, 0.0)


def test_rounding_is_within_and_more_is_not():
    exact = torch.randn(1000, dtype=torch.float64)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        allowed = verify.tolerance(dtype)
        assert verify.within(verify.compare(exact.to(dtype), exact), allowed)
        wrong = (exact * (1 + 40 * torch.finfo(dtype).eps)).to(dtype)
        assert not verify.within(verify.compare(wrong, exact), allowed)


def test_rounding_to_the_smallest_numbers_is_no_error():
    exact = torch.tensor([2.0**-25, -(2.0**-24) * 0.75], dtype=torch.float64)
    assert verify.compare(exact.half(), exact).norm == 0
    assert verify.compare(torch.tensor([2.0**-23, 0]).half(), exact).norm > 1


def test_one_wrong_element_is_seen():
    exact = torch.randn(100_000, dtype=torch.float64)
    result = exact.bfloat16()
    result[77] += 1
    assert not verify.within(verify.compare(result, exact), verify.tolerance(torch.bfloat16))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_not_finite_is_infinitely_wrong(value):
    exact = torch.ones(4, dtype=torch.float64)
    result = exact.float()
    result[2] = value
    assert verify.compare(result, exact).norm == math.inf


def test_infinity_where_it_belongs():
    exact = torch.tensor([1.0, -math.inf, math.nan], dtype=torch.float64)
    assert verify.compare(exact.float(), exact).norm == 0
    assert verify.compare(torch.tensor([1.0, math.inf, math.nan]), exact).norm == math.inf


def test_wrong_shape():
    with pytest.raises(ValueError, match="shape"):
        verify.compare(torch.ones(2), torch.ones(3))


def test_integers_are_exact():
    with pytest.raises(AssertionError, match="too far from fp64"):
        verify.check(torch.tensor([1, 2]), torch.tensor([1, 3]))


def test_a_result_is_measured_by_the_error_of_pytorch_itself():
    torch.manual_seed(0)
    exact = torch.randn(64, 64, dtype=torch.float64)
    own = exact.bfloat16()
    verify.check_beside(own.clone(), own, exact)
    # 3% off was within the bound of one op in bf16.
    wrong = (exact * 1.03).bfloat16()
    assert verify.within(verify.compare(wrong, exact), verify.tolerance(torch.bfloat16, roundings=4))
    with pytest.raises(AssertionError, match="eager's"):
        verify.check_beside(wrong, own, exact)
    one = own.clone()
    one[3, 3] += 0.25
    with pytest.raises(AssertionError, match="at \\[3, 3\\]"):
        verify.check_beside(one, own, exact)


def test_an_overflow_of_pytorch_is_no_license():
    exact = torch.tensor([1e6, 1.0], dtype=torch.float64)
    own = exact.half()
    verify.check_beside(own.clone(), own, exact)
    with pytest.raises(AssertionError):
        verify.check_beside(torch.tensor([math.nan, 1.0]).half(), own, exact)


def test_integers_are_those_of_fp64_or_of_pytorch():
    exact, own = torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4])
    verify.check_beside(torch.tensor([1, 2, 4]), own, exact)
    with pytest.raises(AssertionError, match="1 of 3 elements are wrong"):
        verify.check_beside(torch.tensor([1, 7, 3]), own, exact)


def test_places_that_rounding_decides():
    exact, own = torch.arange(8), torch.tensor([0, 9, 9, 9, 9, 5, 6, 7])
    verify.check_beside(torch.tensor([0, 8, 8, 3, 4, 5, 6, 7]), own, exact)
    # More than half as many as PyTorch's.
    with pytest.raises(AssertionError, match="3 of 8 elements are wrong"):
        verify.check_beside(torch.tensor([0, 8, 8, 8, 4, 5, 6, 7]), own, exact)


def test_longer_sums_may_be_less_exact():
    assert verify.tolerance(torch.float32, 4096).norm > verify.tolerance(torch.float32, 16).norm


def test_reference_in_pieces():
    module, x = nn.Sequential(nn.Linear(8, 8), nn.Tanh()), torch.randn(6, 8)
    whole, pieces = verify.reference(module, [x]), verify.reference(module, [x], chunks=4)
    assert whole.dtype == torch.float64
    assert torch.allclose(whole, pieces, rtol=1e-14)
    assert next(module.parameters()).dtype == torch.float32


def test_median_interval_brackets_the_median():
    low, high = bench.median_interval(list(range(101)))
    assert low < 50 < high and low > 30 and high < 70
    assert bench.median_interval([3.0]) == (3.0, 3.0)


def test_rounds_alternate():
    calls = []
    functions = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    times = bench.measure(functions, torch.device("cpu"), rounds=2, repeats=1, warmup=0)
    assert calls == ["a", "b", "b", "a"]
    assert [len(rounds) for rounds in times.values()] == [2, 2]


def test_a_failing_variant_does_not_stop_the_others():
    def no_model():
        raise RuntimeError("no compiler")

    found = bench.bench(nn.ReLU(), [torch.randn(4)], ["eager", "fact"], no_model, rounds=2)
    assert found["fact"].failure == "RuntimeError: no compiler" and found["eager"].times
    assert bench.as_json(found)["fact"] == {"failure": "RuntimeError: no compiler"}
    assert [len(row) for row in bench.rows(found)] == [len(bench.COLUMNS)] * 2


def test_host_times(monkeypatch):
    order = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: order.append("wait"))
    functions = {name: lambda name=name: order.append(name) for name in ("a", "b")}
    times = bench.measure_host(functions, rounds=2)
    assert order == ["wait", "a", "wait", "b"] * 2 and times.keys() == {"a", "b"}


def test_gpu_times_leave_out_launches(monkeypatch):
    """The GPU sleeps, longer for a slower host, before the first event and not after it."""
    order = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            order.append("event")

        def elapsed_time(self, end):
            return 0.25

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: order.append(cycles))
    functions = {name: lambda name=name: order.append(name) for name in ("a", "b")}
    times = bench.measure_gpu(functions, lambda: order.append("flush"), {"a": 10, "b": 100}, rounds=2)
    assert times == {"a": [[0.25], [0.25]], "b": [[0.25], [0.25]]}
    one = ["flush", 280_000, "event", "a", "event"]
    other = ["flush", 1_000_000, "event", "b", "event"]
    assert order == one + other + other + one


def test_gpu_and_host_times_are_reported_apart():
    measured = bench.Measurement("fact", rounds=[[2.0]], host_us=12.0, gpu_ms=0.5)
    entry = bench.as_json({"fact": measured})["fact"]
    assert (entry["median_ms"], entry["gpu_ms"], entry["host_us"]) == (2.0, 0.5, 12.0)
    [row] = bench.rows({"fact": measured})
    cells = dict(zip(bench.COLUMNS, row))
    assert (cells["median ms"], cells["GPU ms"], cells["host us"]) == ("2", "0.5", "12.0")


def test_all_variants_are_measured():
    assert bench.choose_variants(None, "cuda") == ["eager", "compile", "reduce-overhead", "max-autotune"]
    assert bench.choose_variants(None, "cpu") == ["eager", "compile", "max-autotune"]
    assert bench.choose_variants("eager,reduce-overhead", "cpu") == ["eager", "reduce-overhead"]
    assert bench.choose_variants("", "cuda") == []


def test_eager_with_channels_last():
    class Image(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8).eval()

        def forward(self, x, scale):
            self.seen = x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
            self.benchmark = torch.backends.cudnn.benchmark
            return self.norm(self.convolution(x)) * scale

    module, inputs = Image(), [torch.randn(2, 3, 9, 8), torch.randn(8, 1, 1)]
    expected = module(*inputs)
    assert not module.seen
    run = bench.prepare("channels-last", module, inputs, None)
    torch.testing.assert_close(run(), expected)
    [copied] = [cell.cell_contents for cell in run.__closure__ if isinstance(cell.cell_contents, Image)]
    assert copied.seen and copied.benchmark and not torch.backends.cudnn.benchmark
    # The module of the others is as it was.
    assert module.convolution.weight.is_contiguous() and inputs[0].is_contiguous()


@pytest.mark.parametrize("variant, mode", [("compile", None), ("reduce-overhead", "reduce-overhead"),
                                           ("max-autotune", "max-autotune")])
def test_variants_are_modes_of_torch_compile(monkeypatch, variant, mode):
    modes = []
    monkeypatch.setattr(torch, "compile", lambda module, mode: modes.append(mode) or module)
    x = torch.randn(4)
    assert torch.equal(bench.prepare(variant, nn.ReLU(), [x], None)(), x.relu())
    assert modes == [mode] and variant in bench.VARIANTS
