"""Whether compiled graphs compute what fp64 does.

How far a result may be from the truth depends on the graph: a difference of close values
magnifies every rounding before it. So each graph is also computed in fp64 with its values
disturbed by as much as rounding would, a few times, and what that does to a result is
what a library may do to it.
"""

from __future__ import annotations

import dataclasses
import functools
from concurrent.futures import Executor
from typing import Callable, Sequence

import torch

import fact
from fact import verify
from fact.compiler import build_graph

from .graph import Graph, Graphs, double, evaluate, types

DISTURBANCES = 4
# A library may be so many times as far off as a disturbed fp64 run.
NORM_FACTOR, ELEMENT_FACTOR = 6.0, 24.0


@dataclasses.dataclass
class Failure:
    graph: Graph
    reason: str


@functools.lru_cache(maxsize=1024)
def expected(graph: Graph) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The true value of each output, and how far rounding may take each element."""
    leaves = [double(value) for value in graph.leaf_values()]
    dtypes = types(graph)
    exact = evaluate(graph, leaves, exact=True)
    generator = torch.Generator().manual_seed(graph.seed)

    def disturb(index: int, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        # Leaves are exact; products of them are summed in fp32.
        dtype = torch.float32 if index < len(graph.leaves) else dtypes[index]
        noise = 2 * torch.rand(value.shape, generator=generator, dtype=torch.float64) - 1
        return value * (1 + torch.finfo(dtype).eps * noise)

    moved = [torch.zeros(exact[output].shape, dtype=torch.float64) for output in graph.outputs]
    for _ in range(DISTURBANCES):
        values = evaluate(graph, leaves, exact=True, after=disturb)
        moved = [torch.maximum(known, (values[o].double() - exact[o].double()).abs())
                 for known, o in zip(moved, graph.outputs)]
    return [(exact[output], by) for output, by in zip(graph.outputs, moved)]


def compare(out: torch.Tensor, exact: torch.Tensor, moved: torch.Tensor) -> str | None:
    """Why a result is wrong, or None."""
    if out.shape != exact.shape:
        return f"shape {tuple(out.shape)} where {tuple(exact.shape)} is right"
    if not out.is_floating_point():
        wrong = int((out != exact).sum())
        return f"{wrong} of {out.numel()} values differ" if wrong else None
    if not bool(torch.isfinite(out).all()):
        return f"{int((~torch.isfinite(out)).sum())} of {out.numel()} values are not finite"
    difference, magnitude = (out.double() - exact).abs(), exact.abs()
    allowed = verify.tolerance(out.dtype, reduction=64, roundings=2)
    bound = NORM_FACTOR * float(moved.norm()) + allowed.norm * float(magnitude.norm())
    if float(difference.norm()) > bound:
        return f"||out - exact|| is {float(difference.norm()):.3e}, at most {bound:.3e} is right"
    scale = moved.square().mean().sqrt()
    elements = ELEMENT_FACTOR * (moved + scale) + allowed.element * (
        magnitude + magnitude.square().mean().sqrt())
    worst = int((difference - elements).argmax())
    if bool((difference > elements).any()):
        return (f"element {worst} is {float(out.flatten()[worst]):.6g}, "
                f"{float(exact.flatten()[worst]):.6g} is right")
    return None


def run_library(graphs: Sequence[Graph]) -> list[list[torch.Tensor]]:
    """The results of all graphs, from one library."""
    return start_library(graphs)()


def start_library(graphs: Sequence[Graph], pool: Executor | None = None) -> Callable:
    """Exports the graphs and starts to compile them; the function it returns waits, and gives
    the results. Only the compiler runs beside: tracing is for one thread at a time."""
    module = Graphs(graphs)
    inputs = module.inputs()
    exported = fact.export(module, inputs, name="random_graphs")
    # Neither tuned nor verified: the whole result is compared.
    options = ["--candidates=1", "--tuner-argument=--untuned"]

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
    for number, (out, (exact, moved)) in enumerate(zip(results, expected(graph), strict=True)):
        if reason := compare(out, exact, moved):
            return Failure(graph, f"result {number} ({out.dtype}, {tuple(out.shape)}): {reason}")
    return None


def _first_error(text: str) -> str:
    lines = text.splitlines()
    return next((line for line in lines if "error:" in line or "FAILED" in line), lines[0])
