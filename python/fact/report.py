# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and notes: with rich where it is installed, in plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

try:
    import rich.box
    import rich.console
    import rich.markup
    import rich.table
except ImportError:
    rich = None  # type: ignore[assignment]


def _console():
    # A file or a pipe has no width, and 80 columns would cut paths.
    return rich.console.Console(width=None if sys.stdout.isatty() else 120, soft_wrap=True)


def heading(text: str) -> None:
    if rich:
        _console().print(f"\n[bold]{rich.markup.escape(text)}[/bold]")
    else:
        print(f"\n{text}")
    sys.stdout.flush()


def note(text: str) -> None:
    if rich:
        _console().print(rich.markup.escape(text), highlight=False)
    else:
        print(text)
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Right-aligns columns of numbers, and leaves out those that have nothing."""
    if not rows:
        return
    filled = [i for i in range(len(columns)) if any(str(row[i]) for row in rows)]
    columns = [columns[i] for i in filled]
    cells = [[str(row[i]) for i in filled] for row in rows]
    right = [all(_numeric(row[i]) for row in cells) for i in range(len(columns))]
    if title:
        heading(title)
    if rich:
        grid = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
        for column, is_right in zip(columns, right):
            grid.add_column(column, justify="right" if is_right else "left", overflow="fold")
        for row in cells:
            grid.add_row(*[rich.markup.escape(cell) for cell in row])
        _console().print(grid)
    else:
        widths = [max(len(c), *(len(row[i]) for row in cells)) for i, c in enumerate(columns)]
        for row in [list(columns), ["-" * width for width in widths], *cells]:
            line = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)]
            print("  ".join(line).rstrip())
    sys.stdout.flush()


def model_line(found: dict) -> str:
    """The requests to a language model."""
    calls, retries = found["calls"], found.get("retries", 0)
    text = (f"{calls} call{'s' * (calls != 1)}, {retries} {'retry' if retries == 1 else 'retries'}, "
            f"{found.get('tokens_in', 0)} tokens in, {found.get('tokens_out', 0)} out")
    if found.get("model_seconds"):
        text += f", {found['model_seconds']:.1f} s"
    return text + (f", price {found['price']:.4g}" if found.get("price") else "")


def regrouping_line(entry: dict) -> str:
    """What became of a grouping that a model revised."""
    if entry.get("failure"):
        return f"dropped: {entry['failure']}"
    ratios = [f"{entry[key]:.3f}" if key in entry else "not compared" for key in ("ratio", "ratio_before")]
    return f"{ratios[0]} of the rules' time, before {ratios[1]}: " + (
        "stays" if entry["stays"] else "dropped")


def strategy_lines(found: dict) -> list[tuple[str, str]]:
    """What became of a language model's patterns, by strategy: of all, and of those that the
    rules would not make."""
    measured = "strategies" in (found.get("measured") or {})
    lines = []
    for strategy, counts in (found.get("strategies") or {}).items():
        own = counts.get("own") or {}
        for name, each in ((strategy, counts), (f"{strategy}, the model's own", own)):
            if not each.get("proposed"):
                continue
            text = (f"{each['proposed']} patterns, {each['legal_first']} legal at first, "
                    f"{each['legal_repaired']} after repair")
            if measured and "verified" in each:
                text += f"; {each['verified']} verified, {each['faster']} faster than the rules"
            if each.get("tokens"):
                text += f"; {each['tokens']:.0f} tokens, {each['seconds']:.1f} s"
            lines.append((name, text))
    return lines


def discovery_lines(summary: dict) -> list[str]:
    """The statistics of discovery and refinement in a compilation's summary, for people."""
    found = summary.get("discovery") or {}
    if not found:
        return []
    rejected = ", ".join(f"{count} by {reason}" for reason, count in found["rejected"].items())
    lines = [f"agent: {found['agent']}, {found['proposed']} subgraphs proposed, "
             f"{found['accepted']} accepted" + (f", rejected: {rejected}" if rejected else "")
             + (f", {found['covered']} by the rules" if found["agent"] != "rules" else "")
             + f" in {found['seconds']:.3f} s"]
    if found["calls"]:
        lines.append(f"model: {model_line(found)}")
    lines += [f"{strategy}: {text}" for strategy, text in strategy_lines(found)]
    if found.get("rules_us"):
        lines.append(f"predicted: {found['predicted_us']:.1f} us, by the rules alone "
                     f"{found['rules_us']:.1f} us")
    if found["fallback"]:
        lines.append(f"fell back to the rules: {found['fallback']}")
    if found["transcript"]:
        lines.append(f"transcript: {found['transcript']}")
    for round_ in summary.get("regrouping") or []:
        lines.append(f"regrouped: {regrouping_line(round_)}")
    for number, round_ in enumerate(summary.get("refinement") or [], 1):
        lines.append(f"refinement {number}: {round_['kernels']} kernels searched again, "
                     f"{round_['schedules']} new schedules"
                     + (f", by the rules: {round_['fallback']}" if round_.get("fallback") else ""))
    return lines


def _numeric(cell: str) -> bool:
    return not cell or cell[0] in "0123456789-+." or cell in ("inf", "nan")
