# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which graph a seed gives."""

from .generator import Generator
from .graph import Graph
from .images import ImageGenerator


def random_graph(seed: int) -> Graph:
    """The graph of a seed; a seed whose ops were all refused gives that of another."""
    graph = (ImageGenerator if seed % 4 == 3 else Generator)(seed).make()
    return graph if graph.nodes else random_graph(seed + 1_000_003)
