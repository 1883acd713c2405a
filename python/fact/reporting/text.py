# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report in a terminal."""

from __future__ import annotations

import textwrap
from typing import Any

from .. import report as terminal
from . import facts, units
from .data import Graph, Report
from .rails import Node, chain, fold, nodes_after, nodes_before, prepared

# The length of a whole bar, in characters.
_BAR = 10
# Lines of the graph fit a terminal of 80 columns.
_COLUMNS = 79


def show(report: Report) -> None:
    """Prints the sections of the page, except for its charts."""
    target = f" for {report.target}" if report.target else ""
    terminal.heading(f"{report.name}{target}: {report.status}")
    for error in report.errors:
        terminal.note(error)
    _summary(report)
    _graph(report)
    _kernels(report)
    _candidates(report)
    if report.ablation:
        terminal.table(["without", "longer by", ""], [[row.name, units.percent(row.gain), row.detail]
                                                 for row in report.ablation], "Ablation")
    _agent(report)
    for title, times in facts.seconds(report):
        terminal.table(["stage" if title == "Stages" else "part", "seconds"],
                       [[name, f"{value:.2f}"] for name, value in times.items()], title)
    terminal.table(["", ""], facts.statistics(report), "Statistics")
    terminal.table(["", ""], list(report.provenance.items()), "Provenance")


def _summary(report: Report) -> None:
    launches = sum(kernel.launches for kernel in report.kernels)
    ops = sum(not op.prepare for op in report.graph.ops)
    if launches:
        launched = sum(bool(kernel.launches) for kernel in report.kernels)
        terminal.note((f"{ops} ops, " if ops else "") + f"{units.count(launches, 'launch')} of "
                      f"{units.count(launched, 'kernel')}")
    elif ops:
        terminal.note(f"{ops} ops before fusion")
    if report.basis:
        reached = f", {units.percent(report.sol_us / report.total_us)} of the speed of light" \
            if report.sol_us else ""
        terminal.note(f"{units.microseconds(report.total_us)} per call, {report.basis}{reached}")
    if report.verdict:
        terminal.note(report.verdict)


def _graph(report: Report) -> None:
    """The ops before fusion, in the kernels of after it."""
    graph = report.graph
    if not graph.ops:
        return
    launches = sum(not group.prepare for group in graph.groups)
    before = units.count(sum(not op.prepare for op in graph.ops), "op")
    terminal.heading("Graph: " + (f"{before} before fusion, {units.count(launches, 'launch')} after"
                                  if launches else f"{before}, not grouped into kernels"))
    if graph.is_outline:
        _print(0, "The ops of a kernel are known without their operands, and stand in a row.")
    for tensor in graph.inputs:
        _print(0, f"{tensor.name} : {tensor.type}")
    numbers = {id(op): f"%{number}" for number, op in enumerate(graph.ops)}
    rows = _rows(graph)
    for item in fold(rows):
        if not isinstance(item, int):
            _print(0, f"{item.copies} times, the first of them:")
        for row in [item] if isinstance(item, int) else item.nodes:
            _print_row(graph, numbers, rows[row], int(not isinstance(item, int)))
    if graph.outputs:
        _print(0, "return " + ", ".join(_operand(graph, output) for output in graph.outputs))
    if names := prepared(graph):
        _print(0, f"Once per set of weights, before the first call: {names}")


def _rows(graph: Graph) -> list[Node]:
    """Kernels, and ops that are in none, in the order of the program."""
    kernels = {node.group: node for node in nodes_after(graph) if node.group is not None}
    return [op if op.group is None else kernels.pop(op.group)
            for op in nodes_before(graph) if op.ops and (op.group is None or op.group in kernels)]


def _print_row(graph: Graph, numbers: dict[int, str], row: Node, depth: int) -> None:
    if row.group is not None:
        _print(depth, f"{row.title}: {row.detail}")
        depth += 1
    for op in row.ops:
        attributes = f" {{{op.attributes}}}" if op.attributes else ""
        told = ", ".join(_operand(graph, operand) for operand in op.operands)
        _print(depth, f"{numbers[id(op)]} = {op.op}({told}){attributes}"
               + (f" : {op.type}" if op.type else "") + (f"  {op.line}" if op.line else ""))


def _operand(graph: Graph, operand: Any) -> str:
    """An op by its number; the kernel of one that runs once per set of weights; else a name."""
    if isinstance(operand, dict):
        return " ".join(str(name or kind) for kind, name in operand.items())
    if not isinstance(operand, int) or not 0 <= operand < len(graph.ops):
        return str(operand)
    op = graph.ops[operand]
    if op.prepare and op.group is not None and op.group < len(graph.groups):
        return graph.groups[op.group].kernel
    return f"%{operand}"


def _print(depth: int, text: str) -> None:
    indent = 2 * depth * " "
    for line in textwrap.wrap(text, _COLUMNS, initial_indent=indent, subsequent_indent=indent + 6 * " ",
                              break_long_words=False, break_on_hyphens=False):
        terminal.note(line)


def _kernels(report: Report) -> None:
    rows, made = [], []
    for kernel in report.by_time():
        share = report.share(kernel)
        each = kernel.us if kernel.us else kernel.predicted_us
        rows.append([
            kernel.name, str(kernel.launches), units.microseconds(each), units.percent(share),
            "#" * max(1, round(_BAR * share)) if share else "",
            units.percent(kernel.sol_us / each) if kernel.sol_us and each else "",
            units.percent(kernel.ceiling_us / kernel.us) if kernel.ceiling_us and kernel.us else ""])
        made.append([kernel.name, f"{kernel.norm_error:.1e}" if kernel.norm_error is not None else "",
                     chain(kernel.ops), "plain loops" if kernel.fallback else kernel.schedule])
    _table(["kernel", "launches", "each", "share", "", "SOL", "ceiling"], rows,
           f"Kernels, {report.basis}" if report.basis else "Kernels")
    _table(["kernel", "error", "ops", "schedule"], made)


def _table(columns: list[str], rows: list[list[str]], title: str | None = None) -> None:
    """A table without the columns that have nothing."""
    shown = [i for i, _ in enumerate(columns) if any(row[i] for row in rows)]
    terminal.table([columns[i] for i in shown], [[row[i] for i in shown] for row in rows], title)


def _candidates(report: Report) -> None:
    rows = []
    for kernel in report.by_time():
        rows += [[kernel.name, _outcome(candidate), units.microseconds(candidate.predicted_us),
                  units.microseconds(candidate.us), candidate.schedule]
                 for candidate in sorted(kernel.candidates, key=lambda c: (
                     not c.winner, c.status != "ok", c.us or c.predicted_us or 0))
                 if candidate.status]
    terminal.table(["kernel", "outcome", "predicted", "measured", "schedule"], rows, "Candidates")
    untried = [f"{kernel.name} {sum(not c.status for c in kernel.candidates)}"
               for kernel in report.by_time() if any(not c.status for c in kernel.candidates)]
    if untried:
        terminal.note(f"not tried: {', '.join(untried)}")


def _outcome(candidate) -> str:
    return "winner" if candidate.winner else candidate.status


def _agent(report: Report) -> None:
    found = report.statistics.get("discovery")
    if not found or not found.get("agent"):
        return
    terminal.heading("Agent")
    for line in terminal.discovery_lines({**report.statistics,
                                          "discovery": {"transcript": "", **found}}):
        terminal.note(line)
    for proposal in report.proposals:
        verdict = "accepted" if proposal.accepted else "rejected"
        terminal.note(f"{verdict} {proposal.rule}: {', '.join(proposal.ops)}"
                      + (f"; {proposal.rationale}" if proposal.rationale else "")
                      + (f"; {proposal.reason}" if proposal.reason else ""))
