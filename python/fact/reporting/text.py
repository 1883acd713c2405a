# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report in a terminal."""

from __future__ import annotations

from .. import report as terminal
from . import units
from .data import Report

# The length of a whole bar, in characters.
_BAR = 30


def show(report: Report) -> None:
    """Prints the sections of the page, except for its charts."""
    target = f" for {report.target}" if report.target else ""
    terminal.heading(f"{report.name}{target}: {report.status}")
    for error in report.errors:
        terminal.note(error)
    _summary(report)
    _kernels(report)
    _candidates(report)
    if report.ablation:
        terminal.table(["without", "longer by", ""], [[row.name, units.percent(row.gain), row.detail]
                                                 for row in report.ablation], "Ablation")
    _agent(report)
    stages = {**(report.statistics.get("stages") or {})}
    terminal.table(["stage", "seconds"], [[name, f"{value:.2f}"] for name, value in stages.items()],
                   "Stages")
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


def _kernels(report: Report) -> None:
    rows = []
    for kernel in report.by_time():
        share = report.share(kernel)
        each = kernel.us if kernel.us else kernel.predicted_us
        rows.append([
            kernel.name, str(kernel.launches), units.microseconds(each), units.percent(share),
            "#" * max(1, round(_BAR * share)) if share else "",
            units.percent(kernel.sol_us / each) if kernel.sol_us and each else "",
            units.percent(kernel.ceiling_us / kernel.us) if kernel.ceiling_us and kernel.us else "",
            " ".join(kernel.ops), "plain loops" if kernel.fallback else kernel.schedule])
    terminal.table(["kernel", "launches", "each", "share", "", "SOL", "ceiling", "ops", "schedule"], rows,
                   f"Kernels, {report.basis}" if report.basis else "Kernels")


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
