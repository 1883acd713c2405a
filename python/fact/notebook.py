# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How graphs, libraries and reports look in a notebook: tables, and the report's page in a frame.

Names come from users' modules and from files, so all text is escaped.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .export import ExportedGraph
    from .library import Library
    from .reporting.data import Report


def graph_html(graph: ExportedGraph) -> str:
    """The inputs, outputs and weights of an exported graph, and its text to unfold."""
    described = graph.sidecar()
    elements = sum(tensor.numel() for tensor in graph.weights.values())
    return (f"<div><b>{html.escape(graph.name)}</b>: exported, {len(graph.weights)} weights with "
            f"{elements:,} elements"
            + _tensors(("input", described["inputs"]), ("output", described["outputs"]))
            + _fold("weights", _tensors(("weight", described["weights"])))
            + _fold("text", f"<pre>{html.escape(_beginning(graph.text))}</pre>") + "</div>")


def library_html(library: Library) -> str:
    """The inputs and outputs of a library, and its kernels with their share of the time."""
    launches = Counter(library.description.get("steps", []))
    times = {kernel["name"]: (kernel.get("us") or 0.0) * launches[kernel["name"]]
             for kernel in library.kernels}
    total = sum(times.values())
    kernels = sorted(library.kernels, key=lambda kernel: -times[kernel["name"]])
    rows = [[kernel["name"], kernel.get("rule", ""), kernel.get("schedule", ""),
             str(launches[kernel["name"]]), f"{kernel['us']:.4g}" if kernel.get("us") else "",
             f"{times[kernel['name']] / total:.1%}" if total else ""] for kernel in kernels]
    verdict = f"; {html.escape(str(library.verdict))}" if library.verdict else ""
    time = f", {total:.4g} us per call, each kernel measured alone" if total else ", not measured"
    return (f"<div><b>{html.escape(library.name)}</b> for {html.escape(_target(library))}: "
            f"{len(library.kernels)} kernel{'s' * (len(library.kernels) != 1)}{time}{verdict}"
            + _table(["kernel", "rule", "schedule", "launches", "us", "share"], rows)
            + _fold("inputs and outputs", _tensors(("input", library.inputs), ("output", library.outputs)))
            + _fold("weights", _tensors(("weight", library.weights))) + "</div>")


def report_html(report: Report) -> str:
    """The whole page, in a frame of its own."""
    from .reporting.page import render

    return (f'<iframe srcdoc="{html.escape(render(report))}" sandbox="allow-scripts" '
            f'title="{html.escape(report.name)}" '
            'style="width: 100%; height: 640px; border: 1px solid #8888"></iframe>')


# A notebook keeps what it shows; the text of a graph has the values of its constants.
_SHOWN_CHARACTERS = 100_000


def _beginning(text: str) -> str:
    rest = len(text) - _SHOWN_CHARACTERS
    return text if rest <= 0 else f"{text[:_SHOWN_CHARACTERS]}\n... {rest:,} more characters"


def _target(library: Library) -> str:
    target = library.description.get("target", {})
    return str(target.get("machine") or target.get("kind", "")) if isinstance(target, dict) else str(target)


def _tensors(*kinds: tuple[str, Iterable[dict[str, Any]]]) -> str:
    return _table(["", "name", "type", "shape"],
                  [[kind, entry["name"], entry["type"], " x ".join(map(str, entry["shape"])) or "scalar"]
                   for kind, entries in kinds for entry in entries])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    if not rows:
        return ""
    return f"<table>{row(columns, 'th')}{''.join(row(cells, 'td') for cells in rows)}</table>"


def _fold(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>" if content else ""
