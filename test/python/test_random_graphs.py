# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs compiled for the host and compared with PyTorch in fp64.

    pytest test/python/test_random_graphs.py --random-graphs=5000 --random-seed=1000 [--random-images]

`make check` runs the same graphs each time; `make check-full` (`--full`) runs 2,000 whose
first seed is the clock's, which is printed. A failure prints the seed and a reduced,
stand-alone module, which is also written to build/random-graphs. Many graphs share a
library, because compiling is what takes time; schedules are neither tuned nor verified one
by one, because whole results are compared. Batches take turns in which candidate they run:
the best predicted one, the second, the third.
"""

import concurrent.futures
import math
import os
import re
import subprocess
import sys

import pytest
import torch

import fact
from fact import toolchain
from random_graphs.check import Failure, check, expected, run_library, start_library
from random_graphs.graph import Graph, Graphs, Leaf, Node, evaluate, source
from random_graphs.reduce import reduce, size
from random_graphs.seeds import random_graph

BATCH = 25

needs_compiler = pytest.mark.skipif(
    toolchain.find_tool("fact-compile") is None and not os.environ.get("FACT_REQUIRE_COMPILER"),
    reason="fact-compile is not built")


def first_seed(config) -> int:
    """--random-seed, or for --full the clock, which all processes of one run share."""
    given = config.getoption("--random-seed")
    if given is not None:
        return given
    if not config.getoption("--full"):
        return 0
    return int(os.environ["FACT_RANDOM_SEED"])


def pytest_generate_tests(metafunc):
    if "batch" in metafunc.fixturenames:
        first, count = first_seed(metafunc.config), metafunc.config.getoption("--random-graphs")
        count = count or (2000 if metafunc.config.getoption("--full") else 100)
        batches = [range(begin, min(begin + BATCH, first + count))
                   for begin in range(first, first + count, BATCH)]
        metafunc.parametrize("batch", batches, ids=lambda b: f"{b[0]}-{b[-1]}")


@pytest.fixture(scope="module")
def results(request):
    """A function that gives a batch's failures; the next batches are compiled meanwhile."""
    batches = [item.callspec.params["batch"] for item in request.session.items
               if item.path == request.path and "batch" in getattr(item, "fixturenames", ())]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        images = request.config.getoption("--random-images")
        started = {batch: start(batch, images, pool) for batch in batches}
        yield lambda batch: check(*started[batch])
        pool.shutdown(cancel_futures=True)


def start(batch, images, pool):
    """The graphs, and a runner that has begun with them."""
    graphs = [random_graph(seed, images) for seed in batch]
    try:
        finish = start_library(graphs, pool)
    except fact.FactError:
        # Made in halves, until it is clear which graph stands in the way.
        return graphs, run_library

    return graphs, lambda wanted: finish() if wanted is graphs else run_library(wanted)


@needs_compiler
def test_random_graphs(results, batch, root, request):
    failures = [failure for failure in results(batch) if failure]
    if failures:
        more = " --random-images" if request.config.getoption("--random-images") else ""
        pytest.fail("\n\n".join(report(failure, root, more) for failure in failures), pytrace=False)


def report(failure: Failure, root, more: str) -> str:
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
            f"again: pytest {__file__} --random-seed={failure.graph.seed} --random-graphs=1{more}\n"
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


GRAPHS = [random_graph(seed) for seed in range(60)]
# Results that are NaN from end to end hide what is planted.
PLAIN = [graph for graph in GRAPHS if not graph.planted]


def test_pytorch_itself_passes():
    assert not any(check(GRAPHS, run_eagerly))


@pytest.mark.parametrize("text", ["F.silu", "F.layer_norm", " @ ", "torch.cat"])
def test_a_planted_mistake_is_found_and_reduced(text):
    run = planted(text)
    failing = [graph for graph, found in zip(PLAIN, check(PLAIN, run)) if found
               and graph.outputs]
    has = [graph for graph in PLAIN if any(text in node.text for node in graph.nodes)]
    assert failing and len(failing) >= 0.8 * len(has)
    graph = max(failing, key=size)
    small = reduce(graph, fails_with(run))
    assert len(small.nodes) == 1 and text in small.nodes[0].text
    assert len(small.outputs) == 1


def lose(value):
    """The result of a kernel that loses NaN and infinities."""
    return value.nan_to_num(0.25, 0.25, 0.25) if value.is_floating_point() else value


def test_a_lost_nan_is_found():
    graphs = [graph for graph in GRAPHS if any(map(math.isnan, graph.planted))]
    results = run_eagerly(graphs)
    reached = [any(bool(out.isnan().any()) for out in outputs) for outputs in results]
    found = check(graphs, lambda _: [[lose(out) for out in outputs] for outputs in results])
    assert sum(reached) >= 5
    assert [failure is not None for failure in found] == reached


def test_a_value_that_is_not_the_limit_is_found():
    leaf = Leaf(torch.float32, (40,))
    graph = Graph(1, (leaf,), (Node("F.silu({0})", (0,)),), (1,), (-math.inf,))
    right, (exact,) = run_eagerly([graph])[0][0], expected(graph)[0]
    judged = lambda out: check([graph], lambda graphs: [[out]])[0]
    assert bool(exact.isnan().any()) and judged(right) is None
    assert judged(right.nan_to_num(0.0)) is None
    assert "NaN" in judged(right.nan_to_num(0.25)).reason


def test_twice_the_error_of_pytorch_is_found():
    """An error of 3% of each element of a 16-bit result was within the bounds of its type."""
    leaves = (Leaf(torch.bfloat16, (64, 64)), Leaf(torch.bfloat16, (64, 64), True, 0.125))
    graph = Graph(1, leaves, (Node("{0} @ {1}", (0, 1)),), (2,))
    right = run_eagerly([graph])[0][0]
    noise = torch.randn(right.shape, generator=torch.Generator().manual_seed(0))
    assert check([graph], lambda graphs: [[right]]) == [None]
    failure, = check([graph], lambda graphs: [[(right * (1 + 0.03 * noise)).bfloat16()]])
    assert "eager's" in failure.reason
    one = right.clone()
    row, column = divmod(int(right.abs().argmax()), 64)
    one[row, column] *= 1.2
    failure, = check([graph], lambda graphs: [[one]])
    assert f"at [{row}, {column}]" in failure.reason


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
            torch.testing.assert_close(one, two, rtol=0, atol=0, equal_nan=True)


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
               "torch.where", "layer_norm", "F.conv2d", "F.conv_transpose", "_pool2d"):
        assert op in texts
    assert any(max(leaf.shape, default=1) > 64 for graph in GRAPHS for leaf in graph.leaves)
    types = {leaf.dtype for graph in GRAPHS for leaf in graph.leaves}
    assert types >= {torch.float32, torch.bfloat16, torch.float16, torch.int64}


def test_graphs_of_images_alone():
    graphs = [random_graph(seed, images=True) for seed in range(40)]
    texts = [" ".join(node.text for node in graph.nodes) for graph in graphs]
    kinds = "_pool", "F.conv", "_norm", "interpolate", "F.pad"
    assert sum(any(kind in text for kind in kinds) for text in texts) >= 35
    assert all(any(kind in text for text in texts) for kind in kinds)
    assert graphs[3] == random_graph(3) and graphs[2] != random_graph(2)
