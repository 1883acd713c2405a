# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One HTML page that needs nothing else: no network, no script to be read."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from .. import report as terminal
from . import charts, facts, units
from .collect import DATA_BEGIN, DATA_END
from .data import Candidate, Kernel, Report
from .graph_page import FOLD_BUTTONS, graph_section
from .rails import chain

HUES = 10
# Kernels with a part of their own in the bar; the others are one part.
_PARTS = 11
# Kernels whose details are unfolded at first.
_UNFOLDED = 1
_TEMPLATES = Path(__file__).parent


def render(report: Report) -> str:
    """The page of a report, with its data."""
    page = _Page(report)
    sections = page.sections()
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in sections)
    body = "".join(f'<section id="{name}" aria-labelledby="{name}-title">'
                   f'<h2 id="{name}-title">{title}</h2>{text}</section>'
                   for name, title, text in sections)
    # The data is in the page as text; "<" is the only character that could end it.
    data = json.dumps(report.to_json()).replace("<", "\\u003c")
    parts = {"title": escape(f"{report.name}: FACT report"),
             "style": _template("palette.css") + _template("page.css"),
             "header": page.header(), "links": links, "body": body,
             "data": DATA_BEGIN + data + DATA_END, "script": _template("page.js")}
    # In one pass, so that no text is taken for a placeholder.
    text = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _template("page.html"))
    # ASCII, whatever the encoding of files is here.
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


class _Page:
    def __init__(self, report: Report):
        self.report = report
        self.sorted = report.by_time()
        self.number = {kernel.name: i for i, kernel in enumerate(self.sorted, 1)}
        self.hues = {kernel.name: f"g{i % HUES}" for i, kernel in enumerate(self.sorted)}

    def hue(self, kernel: Kernel) -> str:
        return self.hues[kernel.name]

    def sections(self) -> list[tuple[str, str, str]]:
        found = [
            ("errors", "Errors", self.errors()),
            ("time", "Where the time goes", self.time()),
            ("graph", "Graph", graph_section(self.report, self.hues, self.number)),
            ("roofline", "Roofline", self.roofline()),
            ("kernels", "Kernels and candidates", self.kernels()),
            ("ablation", "Ablation", self.ablation()),
            ("agent", "Agent", self.agent()),
            ("statistics", "Statistics", self.statistics()),
            ("provenance", "Provenance", _definitions(self.report.provenance.items())),
        ]
        return [section for section in found if section[2]]

    # The header: what was compiled, and the figures that matter.

    def header(self) -> str:
        report = self.report
        status = {"tuned": "good", "failed": "bad"}.get(report.status, "open")
        shapes = ", ".join(f"{t.name} {t.type}" for t in report.inputs[:4])
        more = f" and {len(report.inputs) - 4} more" if len(report.inputs) > 4 else ""
        told = [f"for <b>{escape(report.target)}</b>" if report.target else "",
                f"input{'' if len(report.inputs) == 1 else 's'} {escape(shapes)}{more}"
                if report.inputs else ""]
        tiles = "".join(_tile(*tile) for tile in self.tiles())
        return (f'<p class="over">FACT report</p><h1>{escape(report.name)} '
                f'<span class="status {status}">{escape(report.status)}</span></h1>'
                f'<p class="lead">{", ".join(filter(None, told))}</p>'
                + (f'<dl class="tiles">{tiles}</dl>' if tiles else ""))

    def tiles(self) -> list[tuple[str, str, str]]:
        report, tiles = self.report, []
        launches = sum(kernel.launches for kernel in report.kernels)
        if report.basis:
            tiles.append(("time per call", units.microseconds(report.total_us),
                          f"sum of kernels, {report.basis}"))
        if report.sol_us and report.basis:
            tiles.append(("of the speed of light", units.percent(report.sol_us / report.total_us),
                          f"which is {units.microseconds(report.sol_us)}"))
        ops = sum(not op.prepare for op in report.graph.ops)
        if launches:
            launched = sum(bool(kernel.launches) for kernel in report.kernels)
            same = f"{units.count(launches, 'launch')} of {units.count(launched, 'kernel')}"
            tiles.append(("fusion", f"{ops} → {launches}" if ops else str(launches),
                          f"ops to launches; {same}" if ops else same))
        elif ops:
            tiles.append(("graph", units.count(ops, "op"), "before fusion"))
        tried = sum(kernel.tried for kernel in report.kernels)
        failed = sum(sum(kernel.failures.values()) for kernel in report.kernels)
        listed = sum(len(kernel.candidates) for kernel in report.kernels)
        if tried:
            tiles.append(("schedules tried", str(tried),
                          f"of {listed}; " + (f"{failed} failed" if failed else "none failed")))
        elif listed:
            tiles.append(("candidates", str(listed), "none tried yet"))
        if report.verdict:
            tiles.append(("against the module", report.verdict.partition(":")[0],
                          report.verdict.partition(":")[2].strip()))
        elapsed = sum((report.statistics.get("stages") or {}).values())
        if elapsed:
            tiles.append(("compilation", units.seconds(elapsed), "all stages"))
        return tiles

    # Sections. Each is empty if there is nothing to say.

    def errors(self) -> str:
        plain = [kernel for kernel in self.report.kernels if kernel.fallback]
        text = "".join(f'<pre class="error" tabindex="0">{_prose(error)}</pre>'
                       for error in self.report.errors)
        if plain:
            rows = []
            for kernel in plain:
                first = next((c for c in kernel.candidates if c.status not in ("", "ok")), None)
                reason = f": {first.status}, {first.detail}" if first else ""
                rows.append(f"<li>{self.link(kernel)} runs in plain loops, which is slow: its "
                            f"candidates failed{escape(reason)}</li>")
            text += f'<ul class="plain">{"".join(rows)}</ul>'
        if self.report.status == "failed" and not text:
            text = '<p>The compilation failed; its messages were not recorded.</p>'
        return text

    def link(self, kernel: Kernel) -> str:
        return (f'<a class="kernel {self.hue(kernel)}" href="#kernel-{self.number[kernel.name]}">'
                f'{escape(kernel.name)}</a>')

    def time(self) -> str:
        report = self.report
        if not report.basis:
            return ""
        shown = [k for k in self.sorted if report.time_us(k)]
        whole = shown if len(shown) <= _PARTS + 1 else shown[:_PARTS]
        parts, keys = [], []
        for kernel in whole:
            share, rank = report.share(kernel), self.number[kernel.name]
            told = f"{kernel.name}: {units.percent(share)}, {units.microseconds(report.time_us(kernel))}"
            parts.append(f'<a class="part {self.hue(kernel)}" style="flex-grow:{share:.5f}" '
                         f'href="#kernel-{rank}" title="{escape(told)}" aria-label="{escape(told)}">'
                         f'{rank if share > 0.045 else ""}</a>')
            launches = f" × {kernel.launches}" if kernel.launches > 1 else ""
            keys.append(f'<li><span class="chip {self.hue(kernel)}">{rank}</span>'
                        f'<a href="#kernel-{rank}">{escape(kernel.name)}</a>'
                        f'<span class="muted">{launches}</span>'
                        f'<b>{units.percent(share)}</b></li>')
        rest = shown[len(whole):]
        if rest:
            share = sum(report.share(kernel) for kernel in rest)
            parts.append(f'<span class="part rest" style="flex-grow:{share:.5f}"></span>')
            keys.append(f'<li><span class="chip rest"></span>{len(rest)} other kernels'
                        f'<b>{units.percent(share)}</b></li>')
        note = "" if report.basis == "measured" else \
            '<p class="note">Nothing was measured: these are predictions of the cost model.</p>'
        return (f'{note}<div class="bar">{"".join(parts)}</div>'
                f'<ol class="keys">{"".join(keys)}</ol>')

    def roofline(self) -> str:
        chart = charts.roofline(self.report, self.hue, self.number)
        if not chart:
            return ""
        beyond = len(self.sorted) > charts.NUMBERED
        return ('<p class="note">A kernel under the slope waits for memory, one under a flat line for '
                'arithmetic; the distance to the line is what a better schedule could gain. Numbers '
                'are those of the bar above'
                + (f"; kernels after the {charts.NUMBERED}th are small dots" if beyond else "")
                + f'.</p>{chart}')

    def kernels(self) -> str:
        if not self.sorted:
            return ""
        cards = "".join(self.card(kernel, rank) for rank, kernel in enumerate(self.sorted, 1))
        return f'{FOLD_BUTTONS}<div class="cards">{cards}</div>'

    def card(self, kernel: Kernel, rank: int) -> str:
        report = self.report
        share = report.share(kernel)
        time = units.microseconds(report.time_us(kernel)) if report.basis and kernel.launches else ""
        right = f'<span class="time">{time}</span><span class="share">{units.percent(share)}</span>' \
            if time else '<span class="share">once per set of weights</span>' \
            if kernel.prepares and not kernel.launches else ""
        facts = _definitions(self.facts(kernel))
        chart = charts.candidates(kernel, self.hue(kernel))
        figure = (f'<figure>{chart}<figcaption>{self.legend(kernel, "diagonal" in chart)}'
                  '</figcaption></figure>') if chart else ""
        return (f'<details class="card {self.hue(kernel)}" id="kernel-{rank}"'
                f'{" open" if rank <= _UNFOLDED else ""}><summary>'
                f'<span class="chip">{rank}</span><span class="name">{escape(kernel.name)}'
                f'<small>{escape(_ops(kernel))}</small></span>{right}'
                f'<span class="meter" style="width:{100 * share:.2f}%"></span></summary>'
                f'<div class="columns">{facts}{figure}</div>{self.attempts(kernel)}</details>')

    def legend(self, kernel: Kernel, has_diagonal: bool) -> str:
        parts = ["★ the winner"]
        if kernel.failures:
            parts.append("× failed")
        untried = sum(not c.status for c in kernel.candidates)
        if untried:
            parts.append(f"{untried} not tried")
        dashed = "; on the dashed line, time is as predicted" if has_diagonal else ""
        return ", ".join(parts) + dashed

    def facts(self, kernel: Kernel) -> list[tuple[str, str]]:
        interval = ""
        if kernel.us_low and kernel.us_high:
            interval = f" ({units.microseconds(kernel.us_low)} to {units.microseconds(kernel.us_high)}" \
                + (f", {kernel.runs} runs)" if kernel.runs else ")")
        facts = [
            ("rule", kernel.rule), ("schedule", kernel.schedule),
            ("strategy", kernel.strategy),
            ("launches", f"{kernel.launches} per call" if kernel.launches else ""),
            ("time", units.microseconds(kernel.us) + interval if kernel.us else ""),
            ("speed of light", units.microseconds(kernel.sol_us)
             + (f", {units.percent(kernel.sol_us / kernel.us)} reached" if kernel.us else "")
             if kernel.sol_us else ""),
            ("at the machine's measured rates", f"{units.microseconds(kernel.ceiling_us)}, "
             f"{units.percent(kernel.ceiling_us / kernel.us)} reached"
             if kernel.ceiling_us and kernel.us else ""),
            ("work", ", ".join(filter(None, (
                units.scaled(kernel.flops, "FLOP") if kernel.flops else "",
                units.scaled(kernel.bytes, "B") if kernel.bytes else "")))),
            ("error in norm", _error(kernel.norm_error, kernel.norm_tolerance)),
            ("worst element", _error(kernel.element_error, kernel.element_tolerance)),
            ("failed", ", ".join(f"{n} {status}" for status, n in kernel.failures.items())),
        ]
        return [(name, value) for name, value in facts if value]

    def attempts(self, kernel: Kernel) -> str:
        if not kernel.candidates:
            return ""
        rows = []
        order = sorted(kernel.candidates, key=lambda c: (
            not c.winner, c.status != "ok", not c.status, c.us or c.predicted_us or 0))
        for candidate in order:
            kind = "winner" if candidate.winner else candidate.status or "not tried"
            rows.append(
                f'<tr{" class=won" if candidate.winner else ""}><td class="schedule">'
                f'{_schedule(candidate)}</td><td>{units.microseconds(candidate.predicted_us)}</td>'
                f'<td>{units.microseconds(candidate.us)}</td><td class="outcome">{escape(kind)}'
                + (f'<small>{escape(candidate.detail)}</small>' if candidate.detail else "")
                + "</td></tr>")
        return (f'<details class="attempts"><summary>{units.count(len(rows), "candidate")}</summary>'
                '<div class="scroll" tabindex="0" role="region" aria-label="candidates of '
                f'{escape(kernel.name)}"><table><thead><tr><th scope="col">schedule</th>'
                '<th scope="col">predicted</th><th scope="col">measured</th>'
                f'<th scope="col">outcome</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
                '</div></details>')

    def ablation(self) -> str:
        rows, most = [], max((abs(row.gain) for row in self.report.ablation), default=0) or 1
        by_name = {kernel.name: kernel for kernel in self.report.kernels}
        for row in self.report.ablation:
            name = self.link(by_name[row.name]) if row.name in by_name else escape(row.name)
            rows.append(f'<tr><th scope="row">{name}'
                        + (f'<small>{escape(row.detail)}</small>' if row.detail else "")
                        + f'</th><td class="gain"><span class="length{" loss" if row.gain < 0 else ""}"'
                        f' style="width:{70 * abs(row.gain) / most:.1f}%"></span> '
                        f'{units.percent(row.gain)}</td></tr>')
        return ('<p class="note">How much longer the program takes without each of them, measured in '
                'turn with the program as it is.</p><table class="bars"><tbody>'
                f'{"".join(rows)}</tbody></table>') \
            if rows else ""

    def agent(self) -> str:
        found = self.report.statistics.get("discovery") or {}
        # A compilation may fail before there is one.
        if not found.get("agent"):
            return ""
        rejected = ", ".join(f"{n} {reason}" for reason, n in (found.get("rejected") or {}).items())
        facts = [("agent", str(found.get("agent", ""))),
                 ("proposals", f"{found.get('proposed', 0)}, {found.get('accepted', 0)} accepted"),
                 ("rejected", rejected),
                 ("left to the rules", str(found.get("covered") or "")
                  if found.get("agent") != "rules" else ""),
                 ("fell back to the rules", str(found.get("fallback") or "")),
                 ("model", terminal.model_line(found) if found.get("calls") else ""),
                 *((f"patterns: {name}", text) for name, text in terminal.strategy_lines(found))]
        for each in self.report.statistics.get("regrouping") or []:
            facts.append(("regrouped", terminal.regrouping_line(each)))
        items = "".join(_proposal(proposal) for proposal in self.report.proposals)
        return (_definitions([(name, value) for name, value in facts if value])
                + (f'<ol class="proposals">{items}</ol>' if items else ""))

    def statistics(self) -> str:
        text = "".join(_seconds(title, times) for title, times in facts.seconds(self.report))
        return ((f'<div class="columns wide">{text}</div>' if text else "")
                + _definitions(facts.statistics(self.report)))


def _tile(name: str, value: str, note: str) -> str:
    kind = ' class="words"' if len(value) > 12 else ""
    small = f"<small>{escape(note)}</small>" if note else ""
    return (f'<div class="tile"><dt>{escape(name)}</dt>'
            f'<dd{kind}>{escape(value)}{small}</dd></div>')


def _definitions(pairs: Any) -> str:
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{_prose(value)}</dd></div>"
                   for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _prose(text: str) -> str:
    """Text in which options of commands stay whole."""
    return re.sub(r"(?<!\S)(--\w\S*)", r'<span class="option">\1</span>', escape(text))


def _ops(kernel: Kernel) -> str:
    return chain(kernel.ops) or kernel.rule


def _error(error: float | None, tolerance: float | None) -> str:
    if error is None:
        return ""
    return f"{error:.2g}" + (f", {tolerance:.2g} allowed" if tolerance else "")


def _schedule(candidate: Candidate) -> str:
    """A schedule that may break after its commas."""
    text = escape(candidate.schedule).replace(", ", ",<wbr> ")
    return f"<code>{text}</code>" + (" <small>last resort</small>" if candidate.fallback else "")


def _proposal(proposal: Any) -> str:
    verdict = "accepted" if proposal.accepted else "rejected"
    ops = " ".join(f"<code>{escape(op)}</code>" for op in proposal.ops)
    where = ", ".join(filter(None, (proposal.strategy, proposal.stage, f"request {proposal.round}")))
    told = f'<p class="rationale">{escape(proposal.rationale)}</p>' if proposal.rationale else ""
    reason = f'<p class="reason">{escape(proposal.reason)}</p>' if proposal.reason else ""
    return (f'<li class="{verdict}"><p><span class="status {"good" if proposal.accepted else "bad"}">'
            f'{verdict}</span> <b>{escape(proposal.rule)}</b> '
            f'<small>{escape(where)}</small></p>'
            + (f'<p class="ops">{ops}</p>' if ops else "") + told + reason + "</li>")


def _seconds(title: str, seconds: dict[str, float]) -> str:
    most = max(seconds.values()) or 1
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>'
                   f'<span class="length" style="width:{70 * value / most:.1f}%"></span> '
                   f'{units.seconds(value)}</td></tr>' for name, value in seconds.items())
    return f'<table class="bars"><caption>{title}</caption><tbody>{rows}</tbody></table>'
