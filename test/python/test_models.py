# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twelve small models, in three types each, compiled for the host and compared with fp64.

A result may be 1.5 times as far from the truth as PyTorch's own, plus one rounding; where one run
of eager refuses it, runs that are perturbed by roundings say how exact eager is. Only the best
predicted schedule of each kernel is taken: it is verified like any other.
"""

import concurrent.futures
import os
from pathlib import Path

import pytest
import torch

import fact
from fact import toolchain, verify
from fact.compiler import build_graph
from fact.end_to_end import compare_with_module
from fact.workload import DTYPES, load_workload

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

FOLDER = Path(__file__).parent / "models"

MODELS = sorted(path.stem for path in FOLDER.glob("*.py"))
CASES = [(name, dtype) for name in MODELS for dtype in sorted(DTYPES)]


def workload(name, dtype):
    return load_workload(str(FOLDER / f"{name}.py"), dtype=dtype)


@pytest.fixture(scope="module")
def models(request):
    """A function that gives the compiled model of a case; others are compiled meanwhile."""
    wanted = [item.callspec.params for item in request.session.items
              if item.path == request.path and hasattr(item, "callspec")]
    wanted = [(params["name"], params["dtype"]) for params in wanted]

    def finish(case):
        graph, job = jobs[case]
        library = job.result()
        return library.create({entry["name"]: graph.weights[entry["name"]]
                               for entry in library.weights})

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        # Only the compiler runs beside: seeds and tracing are for one thread.
        jobs = {}
        for case in wanted:
            w = workload(*case)
            graph = fact.export(w.module, w.inputs, name="_".join(case))
            jobs[case] = graph, pool.submit(build_graph, graph, "host",
                                            options=["--candidates=1"])
        yield lambda *case: finish(case)
        pool.shutdown(cancel_futures=True)


def test_there_are_twelve_models():
    assert len(MODELS) == 12


@pytest.mark.parametrize("name, dtype", CASES, ids=lambda value: value)
def test_model(models, name, dtype):
    model, w = models(name, dtype), workload(name, dtype)
    found = model(*w.inputs)
    exact = verify.reference(w.module, w.inputs)
    with torch.no_grad():
        eager = w.module(*w.inputs)
    verdict = compare_with_module(model, w.module, w.inputs)
    assert not verdict.skipped and len(verdict.errors) == len(floats(found)), verdict
    check_choices(found, eager, exact, DTYPES[dtype])


def floats(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if leaf.is_floating_point()]


def check_choices(found, eager, exact, dtype):
    """An index may differ only where the values that it chose between are as good as equal:
    by what PyTorch itself has them wrong, and one rounding."""
    if not isinstance(found, dict) or "likeliest" not in found:
        return
    rows = exact["logits"].reshape(-1, exact["logits"].shape[-1])
    chosen = rows.gather(1, found["likeliest"].reshape(-1, 1)).squeeze(1)
    best, scale = rows.max(dim=1).values, rows.abs().max()
    error = 1.5 * verify.compare(eager["logits"], exact["logits"]).absolute
    assert bool((best - chosen <= 2 * (error + scale * torch.finfo(dtype).eps)).all())


def test_tied_weights_are_one_weight():
    names = [entry["name"] for entry in fact.export(*module_and_inputs("gpt2")).sidecar()["weights"]]
    assert "words.weight" in names and "head.weight" not in names


def module_and_inputs(name):
    w = workload(name, "fp32")
    return w.module, w.inputs
