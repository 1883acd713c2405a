"""Random graphs compiled for the host and compared with PyTorch in fp64.

    pytest test/python/test_random_graphs.py --random-graphs=5000 --random-seed=1000

A failure prints the seed and a reduced, stand-alone module, which is also written to
build/random-graphs. Many graphs share a library, because compiling is what takes time;
schedules are neither tuned nor verified one by one, because whole results are compared.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

import pytest
import torch

import fact
from fact import toolchain
from random_graphs.check import Failure, check, run_library, start_library
from random_graphs.generator import random_graph
from random_graphs.graph import Graph, Graphs, Leaf, Node, evaluate, source
from random_graphs.reduce import reduce, size

BATCH = 25

needs_compiler = pytest.mark.skipif(
    toolchain.find_tool("fact-compile") is None and not os.environ.get("FACT_REQUIRE_COMPILER"),
    reason="fact-compile is not built")


def pytest_generate_tests(metafunc):
    if "batch" in metafunc.fixturenames:
        first = metafunc.config.getoption("--random-seed")
        count = metafunc.config.getoption("--random-graphs")
        batches = [range(begin, min(begin + BATCH, first + count))
                   for begin in range(first, first + count, BATCH)]
        metafunc.parametrize("batch", batches, ids=lambda b: f"{b[0]}-{b[-1]}")


@pytest.fixture(scope="module")
def results(request):
    """A function that gives a batch's failures; the next batches are compiled meanwhile."""
    batches = [item.callspec.params["batch"] for item in request.session.items
               if item.path == request.path and "batch" in getattr(item, "fixturenames", ())]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        started = {batch: start(batch, pool) for batch in batches}
        yield lambda batch: check(*started[batch])
        pool.shutdown(cancel_futures=True)


def start(batch, pool):
    """The graphs, and a runner that has begun with them."""
    graphs = [random_graph(seed) for seed in batch]
    try:
        finish = start_library(graphs, pool)
    except fact.FactError:
        # Made in halves, until it is clear which graph stands in the way.
        return graphs, run_library

    return graphs, lambda wanted: finish() if wanted is graphs else run_library(wanted)


@needs_compiler
def test_random_graphs(results, batch, root):
    failures = [failure for failure in results(batch) if failure]
    if failures:
        pytest.fail("\n\n".join(report(failure, root) for failure in failures), pytrace=False)


def report(failure: Failure, root) -> str:
    """What is wrong with which seed, and the reduced module."""
    kind = kind_of(failure)

    def fails(graphs):
        # Only the same kind of failure: reduction must not slip to another one.
        return [found is not None and kind_of(found) == kind for found in check(graphs)]

    text = source(reduce(failure.graph, fails, steps=12))
    folder = root / "build" / "random-graphs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed_{failure.graph.seed}.py"
    path.write_text(text)
    return (f"seed {failure.graph.seed}: {failure.reason}\n"
            f"again: pytest {__file__} --random-seed={failure.graph.seed} --random-graphs=1\n"
            f"reduced ({path}):\n\n{text}")


def kind_of(failure: Failure) -> str:
    """`wrong`, or the compiler's message without names and numbers."""
    if failure.reason.startswith("result "):
        return "wrong"
    return re.sub(r"'[^']*'|<[^>]*>|[0-9]+", "", failure.reason.split("error:")[-1])


# The test itself can fail, and says the right thing then.


def run_eagerly(graphs):
    return [[values[output] for output in graph.outputs]
            for graph in graphs for values in [evaluate(graph, graph.leaf_values())]]


def wrong(value):
    if value.dtype == torch.bool:
        return ~value
    return value + 1 if not value.is_floating_point() else value + value.abs().max() * 0.05


def planted(text):
    """A runner that gets every graph with `text` in it a little wrong."""

    def run(graphs):
        results = run_eagerly(graphs)
        for graph, outputs in zip(graphs, results):
            if any(text in node.text for node in graph.nodes):
                outputs[0] = wrong(outputs[0])
        return results

    return run


def fails_with(run):
    return lambda graphs: [found is not None for found in check(graphs, run)]


GRAPHS = [random_graph(seed) for seed in range(40)]


def test_pytorch_itself_passes():
    assert not any(check(GRAPHS, run_eagerly))


@pytest.mark.parametrize("text", ["F.silu", "F.layer_norm", " @ ", "torch.cat"])
def test_a_planted_mistake_is_found_and_reduced(text):
    run = planted(text)
    failing = [graph for graph, found in zip(GRAPHS, check(GRAPHS, run)) if found
               and graph.outputs]
    has = [graph for graph in GRAPHS if any(text in node.text for node in graph.nodes)]
    assert failing and len(failing) >= 0.8 * len(has)
    graph = max(failing, key=size)
    small = reduce(graph, fails_with(run))
    assert len(small.nodes) == 1 and text in small.nodes[0].text
    assert len(small.outputs) == 1


def test_a_program_that_cannot_be_compiled_is_found_and_reduced():
    def run(graphs):
        if any("softmax" in node.text for graph in graphs for node in graph.nodes):
            raise fact.FactError("fact-compile failed:\nx.py:1:0: error: no softmax today")
        return run_eagerly(graphs)

    found = [failure for failure in check(GRAPHS, run) if failure]
    has = [graph for graph in GRAPHS if any("softmax" in node.text for node in graph.nodes)]
    assert [failure.graph for failure in found] == has
    assert all("no softmax today" in failure.reason for failure in found)
    small = reduce(max(has, key=size), fails_with(run))
    assert len(small.nodes) == 1 and "softmax" in small.nodes[0].text


def test_a_mistake_that_needs_two_ops_keeps_both():
    def run(graphs):
        results = run_eagerly(graphs)
        for graph, outputs in zip(graphs, results):
            first = len(graph.leaves)
            for node in graph.nodes:
                operand = node.operands[0] - first
                if ".reshape" in node.text and operand >= 0 and \
                        ".permute" in graph.nodes[operand].text:
                    outputs[0] = wrong(outputs[0])
        return results

    texts = ["torch.tanh({0})", "{0}.permute([1, 0])", "{0}.reshape([12])", "{0} * {1}",
             "torch.exp({0})", "{0}.sum(dim=[0])"]
    operands = [(0,), (2,), (3,), (4, 1), (5,), (5,)]
    leaves = (Leaf(torch.float32, (3, 4)), Leaf(torch.float32, (12,)))
    graph = Graph(0, leaves, tuple(map(Node, texts, operands)), (6, 7))
    small = reduce(graph, fails_with(run))
    assert [node.text for node in small.nodes] == texts[1:3] and small.outputs == (2,)


def test_the_printed_module_computes_the_same():
    for graph in GRAPHS[:20]:
        scope = {"__name__": "reproducer"}
        exec(compile(source(graph), "reproducer", "exec"), scope)
        found = scope["Model"]()(*scope["get_inputs"]())
        module = Graphs([graph])
        for one, two in zip(found, module(*module.inputs())[0], strict=True):
            assert torch.equal(one, two)


@needs_compiler
def test_the_printed_module_runs(tmp_path):
    graph = next(graph for graph in GRAPHS if len(graph.nodes) == 2)
    (tmp_path / "reproducer.py").write_text(source(graph))
    done = subprocess.run([sys.executable, str(tmp_path / "reproducer.py")], check=True,
                          capture_output=True, text=True)
    assert "norm" in done.stdout


def test_seeds_are_reproducible_and_varied():
    assert [random_graph(seed) for seed in range(20)] == GRAPHS[:20]
    texts = " ".join(node.text for graph in GRAPHS * 5 for node in graph.nodes)
    for op in ("reshape", "permute", "F.linear", "torch.cat", ".sum", "expand", "softmax", "cast",
               "torch.where", "layer_norm"):
        assert op in texts
    types = {leaf.dtype for graph in GRAPHS for leaf in graph.leaves}
    assert types >= {torch.float32, torch.bfloat16, torch.float16, torch.int64}
