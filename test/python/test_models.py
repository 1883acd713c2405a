"""Twelve small models, in three types each, compiled for the host and compared with fp64.

A result may be as far from the truth as its type and the length of sums allow
(`fact.verify.tolerance`), or 1.5 times as far as PyTorch's own in fp32. Only the best
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
from fact.workload import DTYPES, load_workload

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

FOLDER = Path(__file__).parent / "models"

# The longest sum, and how many values are rounded one after the other on the way through.
MODELS = {
    "gpt2": (128, 24),
    "bert": (64, 14),
    "vit": (64, 14),
    "t5_cross": (64, 16),
    "llama": (80, 28),
    "mlps": (40, 6),
    "attention_bias": (32, 8),
    "alibi": (32, 8),
    "sliding_window": (32, 8),
    "multi_query": (64, 10),
    "mlp_mixer": (48, 20),
    "embedding_logits": (32, 8),
}
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


def test_the_table_names_every_model():
    assert set(MODELS) == {path.stem for path in FOLDER.glob("*.py")} and len(MODELS) == 12


@pytest.mark.parametrize("name, dtype", CASES, ids=lambda value: value)
def test_model(models, name, dtype):
    model, w = models(name, dtype), workload(name, dtype)
    found = model(*w.inputs)
    exact = verify.reference(w.module, w.inputs)
    allowed = verify.tolerance(DTYPES[dtype], *MODELS[name])
    if dtype == "fp32":
        with torch.no_grad():
            eager = verify.worst(floats(w.module(*w.inputs)), floats(exact))
        allowed.norm = max(allowed.norm, 1.5 * eager.norm)
        allowed.element = max(allowed.element, 1.5 * eager.element)
    error = verify.worst(floats(found), floats(exact))
    assert verify.within(error, allowed), f"{error}; allowed is {allowed}"
    check_choices(found, exact, allowed)


def floats(tree):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if leaf.is_floating_point()]


def check_choices(found, exact, allowed):
    """An index may differ only where the values that it chose between are as good as equal."""
    if not isinstance(found, dict) or "likeliest" not in found:
        return
    rows = exact["logits"].reshape(-1, exact["logits"].shape[-1])
    chosen = rows.gather(1, found["likeliest"].reshape(-1, 1)).squeeze(1)
    best, scale = rows.max(dim=1).values, rows.abs().max()
    assert bool((best - chosen <= 2 * allowed.element * scale).all())


def test_tied_weights_are_one_weight():
    names = [entry["name"] for entry in fact.export(*module_and_inputs("gpt2")).sidecar()["weights"]]
    assert "words.weight" in names and "head.weight" not in names


def module_and_inputs(name):
    w = workload(name, "fp32")
    return w.module, w.inputs
