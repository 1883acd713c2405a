# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules of test/breadth: a representative part runs on the host, and the compiler takes
the others for a GPU. `test/breadth/run.py` runs all of them."""

import collections
import os
import random
import re
import sys
import types
from pathlib import Path

import pytest
import torch

import fact
from fact import end_to_end, toolchain
from fact.compiler import translate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from breadth import registry, report, run, scale

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

# One of each kind, cheap to compile.
REPRESENTATIVE = (
    "products.odd", "products.broadcast_batches", "products.chain_eight_ops",
    "rows.sum_middle", "rows.log_softmax_first", "rows.group_norm", "scans.cumsum_reverse",
    "scans.topk", "scans.index_add", "pointwise.mish", "pointwise.integer_arithmetic",
    "pointwise.comparisons", "attention.causal", "attention.written_alibi", "mlps.swiglu",
    "mlps.best_experts", "losses.cross_entropy_mean", "losses.triplet_none",
    "convolutions.residual", "convolutions.transposed_odd",
)
# Modules per run of the test of discovery, and in `make check-full`.
SAMPLE, FULL_SAMPLE = 30, 60


def case(name):
    return next(each for each in registry.cases() if each.name == name)


def test_registry():
    found = registry.cases()
    assert len(found) >= 150
    assert len({each.identifier for each in found}) == len(found)
    files = collections.Counter(each.name.split(".")[0] for each in found)
    assert set(files) == set(registry.FILES) and min(files.values()) >= 10
    assert all(re.fullmatch(r"[a-z]\w*", each.identifier) for each in found)
    with pytest.raises(ValueError, match="two modules have the name 'products.square'"):
        registry.case((), (), name="square")(case("products.square").build)


def test_cases_are_reproducible():
    each = case("mlps.lstm_cell")
    (first, x), (second, y) = each.make("small", "bf16"), each.make("small", "bf16")
    assert x[0].dtype == torch.bfloat16 and x[1][0].dtype == torch.bfloat16
    assert torch.equal(first(*x)[0], second(*y)[0])


def test_compilers_get_no_gigabytes():
    """Modules whose tensors take gigabytes are compiled without data, other sizes with it."""
    each = case("large.linear_batch_norm_softmax")
    devices = lambda made: {x.device.type for x in (*made[1], *made[0].state_dict().values())}
    assert devices(each.make_to_compile("large", "bf16")) == {"meta"}
    assert devices(each.make_to_compile("small", "bf16")) == {"cpu"}
    assert devices(case("mlps.swiglu").make_to_compile("large", "bf16")) == {"cpu"}


def test_sizes_for_one_thread():
    """They fit the budget, keep odd sizes odd and what one size means for another, and are those
    of a GPU where these are small enough."""
    found = {each: each.sizes("host") for each in map(case, (
        "rows.log_softmax_odd", "attention.causal", "products.square", "convolutions.residual",
        "losses.gaussian_nll_mean"))}
    for each, sizes in found.items():
        assert scale.seconds(each.build, sizes) <= scale.BUDGET
        assert all(small <= size <= large
                   for small, size, large in zip(each.small, sizes, each.large))
    assert all(size % 2 for size in found[case("rows.log_softmax_odd")])
    assert scale.host_sizes(case("products.square").build, (8, 8, 8), (16, 32, 64)) == (16, 32, 64)


@pytest.mark.parametrize("precision", ["fp32", pytest.param("bf16", marks=pytest.mark.full)])
def test_host(precision):
    chosen = [each for each in registry.cases(precision) if each.name in REPRESENTATIVE]
    assert run.failures(chosen, lambda batch: run.compile_for_host(batch, precision)) == {}


def test_discovery(tmp_path, pytestconfig):
    """Modules of real sizes pass discovery for a GPU. `make check-full` tries another sample
    in each run."""
    def attempt(batch):
        module, inputs = registry.together(batch, "large")
        translate(module, inputs, until="discover", target="h200", name="breadth",
                  output=tmp_path / "discovered.mlir")

    seed = int(os.environ.get("FACT_RANDOM_SEED", 0))
    size = FULL_SAMPLE if pytestconfig.getoption("--full") else SAMPLE
    found = {}
    sample = random.Random(seed).sample(registry.cases(), size)
    for data in (True, False):
        for batch in run.batches([each for each in sample if each.data == data]):
            found |= run.failures(batch, attempt)
    assert found == {}, f"seed {seed}"


@pytest.mark.full
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_bundles(precision, tmp_path):
    """Candidates, plain forms and references of modules with small sizes are printed for a GPU."""
    seed = int(os.environ.get("FACT_RANDOM_SEED", 0))
    found = {}
    for each in random.Random(seed).sample(registry.cases(precision), FULL_SAMPLE):
        module, inputs = each.make("small", precision)
        try:
            fact.bundle(module, inputs, target="h200", output=tmp_path / each.identifier,
                        name=each.identifier, candidates=1)
        except fact.FactError as error:
            found[each.name] = str(error)
    assert found == {}, f"seed {seed}"


def test_a_module_that_cannot_be_compared_fails(monkeypatch):
    verdict = end_to_end.Verdict("there is not enough memory")
    model = types.SimpleNamespace(library=types.SimpleNamespace(verdict=verdict))
    monkeypatch.setattr(fact, "compile", lambda *args, **options: model)
    with pytest.raises(fact.FactError, match="not compared with the module: there is not enough"):
        run.compile_for_host([case("rows.sum_all")], "fp32")


def test_failing_modules_of_a_batch():
    bad = {"rows.sum_all", "rows.median"}

    def attempt(batch):
        names = {each.name for each in batch}
        if names & bad:
            raise fact.FactError(f"prologue\n1:2: error: no kernel for {sorted(names & bad)}")

    chosen = [each for each in registry.cases() if each.name.startswith("rows.")]
    assert run.failures(chosen, attempt) == {name: f"no kernel for ['{name}']" for name in bad}


def test_processes_that_end(tmp_path):
    """A crash and a recorded failure concern one module each; the others are done."""
    stub = tmp_path / "stub.py"
    stub.write_text("""
import os, pathlib, sys
for bundle in map(pathlib.Path, sys.argv[sys.argv.index("--bundles") + 1:]):
    if bundle.name == "crashes":
        print("signal", flush=True)
        os.abort()
    (bundle / "time.json").write_text('{"failure": "wrong"}' if bundle.name == "fails" else "{}")
    if bundle.name == "fails":
        sys.exit(3)
""")
    bundles = [tmp_path / name for name in ("first", "crashes", "second", "fails", "last")]
    for bundle in bundles:
        bundle.mkdir()
    # What an earlier run finished stays.
    done = tmp_path / "done"
    done.mkdir()
    (done / "time.json").write_text('{"failure": "earlier"}')
    bundles.insert(1, done)
    run.supervise("time", bundles, [sys.executable, str(stub)])
    found = {bundle.name: report.read(bundle / "time.json").get("failure") for bundle in bundles}
    assert found == {"first": None, "second": None, "last": None, "fails": "wrong",
                     "done": "earlier",
                     "crashes": "the process ended with status -6: signal"}


def test_report():
    entries = [
        {"name": "a", "kernels": [{"name": "k0", "rule": "generic", "us": 30.0},
                                  {"name": "k1", "rule": "rowwise", "us": 10.0}],
         "errors": {"out": [2e-7, 1e-7]}, "us": {"fact": 40.0, "eager": 80.0, "compile": 20.0},
         "intervals": {"eager": [1.9, 2.125]}, "failure": None},
        {"name": "b", "kernels": [{"name": "k0", "rule": "pointwise", "us": 10.0}], "errors": {},
         "us": {"fact": 10.0, "eager": 20.0}, "failure": "compare: wrong"},
    ]
    figures = report.summary(entries)
    assert figures["failures"] == 1 and figures["eager"]["geometric_mean"] == pytest.approx(2)
    assert figures["compile"] == {"geometric_mean": pytest.approx(0.5), "modules": 1, "faster": 0,
                                  "worst": {"a": 0.5}}
    assert report.row(entries[0]) == ["a", "generic, rowwise", "75%: k0 30.0 us", "2.00", "40.0",
                                      "80.0", "20.0", "2.00x [1.90, 2.12]", "0.50x", "", "", ""]
    assert report.row(entries[1])[-1] == "compare: wrong"


def test_report_of_a_gpu():
    """Ratios are of the GPU alone; the best of torch.compile's modes is with launches."""
    entry = {"name": "a", "kernels": [], "errors": {}, "failure": None,
             "us": {"fact": 40.0, "eager": 90.0, "compile": 60.0, "reduce-overhead": 50.0},
             "intervals": {"eager": [1.9, 2.125]}, "host_us": {"fact": 12.0, "eager": 30.0},
             "gpu": {"us": {"fact": 20.0, "eager": 60.0, "compile": 30.0},
                     "intervals": {"eager": [2.9, 3.1]}}}
    assert report.row(entry)[4:] == ["20.0", "60.0", "30.0", "3.00x [2.90, 3.10]", "1.50x", "1.25x",
                                     "12.0", ""]
    assert report.summary([entry])[report.BEST]["geometric_mean"] == pytest.approx(1.25)
    del entry["gpu"]["us"]["eager"], entry["gpu"]["intervals"]["eager"]
    entry["broken_baselines"] = {"eager": "not implemented for 'Long'"}
    assert report.row(entry)[4:8] == ["20.0", "no baseline", "30.0", ""]
