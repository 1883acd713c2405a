# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which graph a seed gives."""

from .generator import Generator
from .graph import Graph
from .images import ImageGenerator


def random_graph(seed: int, images: bool = False) -> Graph:
    """The graph of a seed; a seed whose ops were all refused gives that of another. Every fourth
    is of convolutions and pools, with `images` each."""
    graph = (ImageGenerator if images or seed % 4 == 3 else Generator)(seed).make()
    return graph if graph.nodes else random_graph(seed + 1_000_003, images)
