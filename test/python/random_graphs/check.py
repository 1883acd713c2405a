# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether compiled graphs compute what fp64 does, as exactly as PyTorch in the graph's own types.

Results are judged as those of `fact.compile` are (`end_to_end.judge_results`), with one
exception: where an infinite input leaves fp64 without a value, its limit is right too.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import fact
from fact.arithmetic import Perturbed, ProductsInFloat32
from fact.compiler import build_graph
from fact.end_to_end import judge_results

from .graph import Graph, Graphs, double, evaluate

# Stands for infinite inputs where limits are computed: large, and its square is in range.
NEARLY_INFINITE = 1e4


@dataclasses.dataclass
class Failure:
    graph: Graph
    reason: str


@functools.lru_cache(maxsize=1024)
def expected(graph: Graph) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Results in fp64, and what stands where they have no value: the limit as infinite inputs
    are approached."""
    leaves = [double(value) for value in graph.leaf_values()]
    finite = [leaf.nan_to_num(nan=math.nan, posinf=NEARLY_INFINITE, neginf=-NEARLY_INFINITE)
              if leaf.is_floating_point() else leaf for leaf in leaves]
    # PyTorch's kernels of attention give 0 or NaN for a query that has NaN, as their vectors end.
    with sdpa_kernel(SDPBackend.MATH):
        exact, limits = evaluate(graph, leaves, exact=True), evaluate(graph, finite, exact=True)
    return [exact[output] for output in graph.outputs], [limits[output] for output in graph.outputs]


def run_eagerly(graph: Graph, seed: int | None = None) -> list[torch.Tensor]:
    """PyTorch in the graph's own types; with a seed, disturbed by roundings."""
    leaves = graph.leaf_values()
    if seed is None:
        with ProductsInFloat32():
            values = evaluate(graph, leaves)
    else:
        disturb = Perturbed(seed, torch.device("cpu"))
        leaves = [leaf * disturb.factors(leaf) if leaf.is_floating_point() else leaf
                  for leaf in leaves]
        with disturb, ProductsInFloat32():
            values = evaluate(graph, leaves)
    return [values[output] for output in graph.outputs]


def at_limit(out: torch.Tensor, exact: torch.Tensor, limit: torch.Tensor) -> torch.Tensor:
    """The result with NaN where fp64 has NaN (-inf * 0, inf - inf) and the result is the limit."""
    if out.shape != exact.shape or not out.is_floating_point():
        return out
    # Zeros and denormals, of which 16-bit values are rounded to zero.
    close = (out.double() - limit).abs() <= 0.02 * limit.abs() + 1e-3
    close |= (out.sign() == limit.sign()) & out.isinf() & (limit.abs() > math.sqrt(NEARLY_INFINITE))
    return torch.where(exact.isnan() & close, math.nan, out)


def run_library(graphs: Sequence[Graph]) -> list[list[torch.Tensor]]:
    """The results of all graphs, from one library."""
    return start_library(graphs)()


def start_library(graphs: Sequence[Graph], pool: Executor | None = None) -> Callable:
    """Exports the graphs and starts to compile them; the function it returns waits, and gives
    the results. Only the compiler runs beside: tracing is for one thread at a time."""
    module = Graphs(graphs)
    inputs = module.inputs()
    exported = fact.export(module, inputs, name="random_graphs")
    # Neither tuned nor verified by kernel: the whole result is compared. The first seed decides which
    # candidate of each kernel is run, so that a failure repeats.
    rank = 1 + graphs[0].seed // 25 % 3
    options = [f"--candidates={rank}", "--tuner-argument=--untuned", "--tuner-argument=--no-check",
               "--tuner-argument=--rank", f"--tuner-argument={rank}"]

    def build():
        return build_graph(exported, "host", options=options)

    job = pool.submit(build) if pool else None

    def finish():
        library = job.result() if job else build()
        model = library.create({entry["name"]: exported.weights[entry["name"]]
                                for entry in library.weights})
        return model(*inputs)

    return finish


Runner = Callable[[Sequence[Graph]], list[list[torch.Tensor]]]


def check(graphs: Sequence[Graph], run: Runner = run_library) -> list[Failure | None]:
    """A failure, or None, for each graph. A library that cannot be made is made in halves,
    until the graphs that stand in the way are alone."""
    if not graphs:
        return []
    try:
        found = run(graphs)
    except fact.FactError as error:
        if len(graphs) == 1:
            return [Failure(graphs[0], _first_error(str(error)))]
        half = len(graphs) // 2
        return check(graphs[:half], run) + check(graphs[half:], run)
    return [_check_results(graph, results) for graph, results in zip(graphs, found, strict=True)]


def _check_results(graph: Graph, results: Sequence[torch.Tensor]) -> Failure | None:
    exact, limits = expected(graph)
    found = [at_limit(*tensors) for tensors in zip(results, exact, limits, strict=True)]
    judgments = judge_results([str(i) for i in range(len(found))], found, exact,
                               functools.partial(run_eagerly, graph))
    for judgment in judgments:
        if judgment.reason:
            return Failure(graph, f"result {judgment.name}: {judgment.reason}")
    return None


def _first_error(text: str) -> str:
    lines = text.splitlines()
    return next((line for line in lines if "error:" in line or "FAILED" in line), lines[0])
