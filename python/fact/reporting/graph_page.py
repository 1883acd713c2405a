# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph before and after fusion, as lists with rails (`rails`)."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from . import units
from .data import Report
from .rails import Block, Node, Rail, fold, lay_out, nodes_after, nodes_before, prepared

# Pixels: the height of the upper part of a rail, in which its curves are, and of half of it.
_HEIGHT, _MIDDLE = 36, 18
# A graph of more rows is folded at first.
_LONG = 60

FOLD_BUTTONS = ('<p class="buttons" hidden><button type="button" data-fold="open">Unfold all</button>'
                '<button type="button" data-fold="closed">Fold all</button></p>')


def graph_section(report: Report, hues: dict[str, str], number: dict[str, int]) -> str:
    graph = report.graph
    if not graph.ops:
        return ""

    def hue(node: Node) -> str:
        if node.group is None or node.group >= len(graph.groups):
            return "none"
        # A compilation may fail between the graph and the bundle.
        return hues.get(graph.groups[node.group].kernel, f"g{node.group % 10}")

    before, after = nodes_before(graph), nodes_after(graph)
    columns = [_column("Before", units.count(sum(not op.prepare for op in graph.ops), "op"), before,
                       hue, _op_cell)]
    note = ("Every row is an op; lines carry its value down to the ops that read it. Ops of one "
            "kernel have one color.")
    if graph.is_outline:
        note += (" The bundle was compiled elsewhere and lists the ops of a kernel without their "
                 "operands: they are shown in a row.")
    if graph.groups:
        launches = sum(not group.prepare for group in graph.groups)
        columns.append(_column("After", units.count(launches, "launch"), after, hue,
                               _Kernels(report, number).cell))
    names = prepared(graph)
    once = (f'<p class="note">Once per set of weights, before the first call: {escape(names)}.</p>'
            if names else "")
    return f'<p class="note">{note}</p>{FOLD_BUTTONS}<div class="graphs">{"".join(columns)}</div>{once}'


def _column(title: str, count: str, nodes: list[Node], hue: Callable[[Node], str],
            cell: Callable[[Node], str]) -> str:
    items = fold(nodes)
    is_long = len(items) > _LONG
    return (f'<details class="graph{" long" * is_long}"{"" if is_long else " open"}>'
            f'<summary><h3>{title} <small>{escape(count)}</small></h3></summary>'
            f'<ol class="rows">{_rows(nodes, items, hue, cell)}</ol></details>')


def _rows(nodes: list[Node], items: list[int | Block], hue: Callable[[Node], str],
          cell: Callable[[Node], str]) -> str:
    """Rows of items; sources that none of them has are left out."""
    place: dict[int, int] = {}
    for row, item in enumerate(items):
        first = item if isinstance(item, int) else item.nodes[0]
        count = 1 if isinstance(item, int) else len(item.nodes) * item.copies
        place |= {node: row for node in range(first, first + count)}
    sources: list[set[int]] = [set() for _ in items]
    for node, row in place.items():
        sources[row] |= {place[source] for source in nodes[node].sources
                         if place.get(source, row) != row}
    colors = [hue(nodes[item]) if isinstance(item, int) else "none" for item in items]
    rails, lanes = lay_out(sources)
    parts = []
    for item, rail, color in zip(items, rails, colors):
        if isinstance(item, int):
            shown = nodes[item]
            group = "" if shown.group is None else f' data-group="{shown.group}"'
            kind = "end" if shown.key[0] in ("input", "output") else shown.key[0]
            parts.append(f'<li class="row {kind} {color}"{group}>{_gutter(rail, lanes, colors, color)}'
                         f'{cell(shown)}</li>')
        else:
            inner = _rows(nodes, list(item.nodes), hue, cell)
            told = (f'{units.count(len(item.nodes), "row")} that repeat{"s" * (len(item.nodes) == 1)} '
                    f'<b>{item.copies} times</b>')
            parts.append(f'<li class="row block">{_gutter(rail, lanes, colors, "none")}'
                         f'<details class="cell"><summary>{told}<small>the first of them</small>'
                         f'</summary><ol class="rows">{inner}</ol></details></li>')
    return "".join(parts)


def _gutter(rail: Rail, lanes: int, colors: list[str], color: str) -> str:
    """The lines beside a row: curves to its mark above, straight lines down to the next row."""
    pitch = 14 if lanes <= 8 else 8
    width = 20 + pitch * max(lanes - 1, 0)

    def x(lane: int) -> int:
        return 10 + pitch * lane

    here = x(rail.lane)
    head, tail = [], []
    for lane, owner in rail.passing:
        head.append(f'<path class="{colors[owner]}" d="M{x(lane)} 0V{_HEIGHT}"/>')
        tail.append(f'<path class="{colors[owner]}" d="M{x(lane)} 0V1"/>')
    for lane, owner in rail.incoming:
        at = x(lane)
        curve = f"M{at} 0V{_MIDDLE}" if at == here else \
            f"M{at} 0C{at} {_MIDDLE * 0.8:.0f} {here} {_MIDDLE * 0.2:.0f} {here} {_MIDDLE}"
        head.append(f'<path class="{colors[owner]}" d="{curve}"/>')
    if rail.leaves:
        head.append(f'<path class="{color}" d="M{here} {_MIDDLE}V{_HEIGHT}"/>')
        tail.append(f'<path class="{color}" d="M{here} 0V1"/>')
    head.append(f'<circle class="{color}" cx="{here}" cy="{_MIDDLE}" r="5"/>')
    return (f'<div class="rail" style="width:{width}px" aria-hidden="true"><svg width="{width}" '
            f'height="{_HEIGHT}">{"".join(head)}</svg><svg class="tail" viewBox="0 0 {width} 1" '
            f'preserveAspectRatio="none">{"".join(tail)}</svg></div>')


def _op_cell(node: Node) -> str:
    weights = f'<span class="weights">{escape(", ".join(node.weights))}</span>' if node.weights else ""
    told = " · ".join(filter(None, (node.detail, node.line)))
    title = f' title="{escape(told)}"' if told else ""
    return (f'<div class="cell"{title}><span class="title">{escape(node.title)}</span>'
            f'<span class="type">{escape(node.type)}</span>{weights}</div>')


class _Kernels:
    """Cells of kernels: the figures outside, the ops inside."""

    def __init__(self, report: Report, number: dict[str, int]):
        self.report, self.number = report, number
        self.kernels = {kernel.name: kernel for kernel in report.kernels}

    def cell(self, node: Node) -> str:
        if node.group is None:
            return _op_cell(node)
        ops = "".join(self.op(op) for op in node.ops)
        kernel = self.kernels.get(node.title)
        share, figures = "", ""
        if kernel:
            figures = (f'<p><a href="#kernel-{self.number[node.title]}">candidates and figures of '
                       f'{escape(node.title)}</a></p>')
            if self.report.basis and kernel.launches:
                part = self.report.share(kernel) / kernel.launches
                share = f'<span class="share">{units.percent(part)}</span>'
        return (f'<details class="cell"><summary><span class="title">{escape(node.title)}</span>{share}'
                f'<small>{escape(node.detail)}</small></summary><ul class="ops">{ops}</ul>{figures}'
                '</details>')

    @staticmethod
    def op(op) -> str:
        weights = [str(operand["weight"]) for operand in op.operands
                   if isinstance(operand, dict) and "weight" in operand]
        told = " · ".join(filter(None, (op.attributes, ", ".join(weights), op.line)))
        return (f'<li><span class="title">{escape(op.op)}</span><span class="type">{escape(op.type)}'
                f'</span>' + (f'<small>{escape(told)}</small>' if told else "") + "</li>")
