# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Charts that fit any width: lines are an SVG that stretches, marks and labels are HTML at
percentages, so text keeps its size and marks can have the focus."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from . import units
from .data import Candidate, Kernel, Report

# Marks of a roofline that have a number.
NUMBERED = 12


class Axis:
    """A logarithmic axis from the first decade that is needed to the last."""

    def __init__(self, values: list[float], margin: float = 1.6):
        low, high = min(values) / margin, max(values) * margin
        # At least one decade, so that a chart of equal values has a scale.
        middle = math.sqrt(low * high)
        self.low, self.high = min(low, middle / 3.2), max(high, middle * 3.2)

    def at(self, value: float) -> float:
        """The position in percent."""
        span = math.log(self.high / self.low)
        return 100 * math.log(value / self.low) / span

    def ticks(self, most: int = 5) -> list[float]:
        first = math.ceil(math.log10(self.low) - 1e-9)
        last = math.floor(math.log10(self.high) + 1e-9)
        step = max(1, math.ceil((last - first + 1) / most))
        decades = [10.0 ** power for power in range(first, last + 1, step)]
        if len(decades) >= 3:
            return decades
        finer = [factor * 10.0 ** power for power in range(first - 1, last + 1)
                 for factor in (1, 2, 5)]
        finer = [value for value in finer if self.low <= value <= self.high]
        return finer if len(finer) <= most + 1 else finer[::2]


def plot(label: str, x: Axis, y: Axis, x_title: str, y_title: str, x_text: Callable[[float], str],
         y_text: Callable[[float], str], lines: str, marks: str, *, small: bool = False) -> str:
    """A chart with its axes; `lines` are SVG in units of percent, `marks` are HTML."""
    grid, ticks = [], []
    for value in x.ticks(4 if small else 6):
        place = x.at(value)
        grid.append(f'<path class="grid" d="M{place:.2f} 0V100"/>')
        ticks.append(f'<span class="tick x" style="left:{place:.2f}%">{escape(x_text(value))}</span>')
    for value in y.ticks(4 if small else 6):
        place = 100 - y.at(value)
        grid.append(f'<path class="grid" d="M0 {place:.2f}H100"/>')
        ticks.append(f'<span class="tick y" style="top:{place:.2f}%">{escape(y_text(value))}</span>')
    return (f'<div class="chart{" small" if small else ""}" role="group" aria-label="{escape(label)}">'
            f'<p class="axis y">{escape(y_title)}</p><div class="plot">'
            f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
            f'{"".join(grid)}{lines}</svg>{"".join(ticks)}{marks}</div>'
            f'<p class="axis x">{escape(x_title)}</p></div>')


def roofs(report: Report) -> tuple[float, dict[str, float]]:
    """The bandwidth in bytes per second, and peaks in operations per second by their names."""
    machine, bandwidth = report.machine, report.machine.get("bandwidth")
    if bandwidth:
        types = " ".join(op.type for op in report.graph.ops) + " ".join(
            tensor.type for tensor in [*report.inputs, *report.outputs])
        wanted = {"matrix_flops_16": "16-bit products" if "f16" in types else None,
                  "matrix_flops_tf32": "TF32 products" if "f32" in types and
                  machine.get("architecture", "host") != "host" else None,
                  "matrix_flops_32": "f32 products" if "f32" in types else None,
                  "matrix_flops_64": "f64 products" if "f64" in types else None,
                  "scalar_flops": "other arithmetic"}
        peaks: dict[str, float] = {}
        for key, name in wanted.items():
            if name and machine.get(key) and machine[key] not in peaks.values():
                peaks[name] = machine[key]
        return bandwidth, peaks
    # Without the machine's figures: at the speed of light, some kernel reaches each of them.
    known = [(k.sol_us, k.bytes, k.flops or 0) for k in report.kernels if k.sol_us and k.bytes]
    if not known:
        return 0.0, {}
    bandwidth = max(size / us for us, size, _ in known) * 1e6
    peak = max(flops / us for us, _, flops in known) * 1e6
    return bandwidth, {"the fastest kernel's bound": peak} if peak else {}


def roofline(report: Report, hue: Callable[[Kernel], str], number: dict[str, int]) -> str:
    """Each kernel by its arithmetic per byte and its rate; empty without times."""
    basis = report.basis
    points = []
    for kernel in report.by_time():
        us = kernel.us if basis == "measured" else kernel.predicted_us
        if kernel.launches and us and kernel.flops and kernel.bytes:
            points.append((kernel, kernel.flops / kernel.bytes, kernel.flops / us * 1e6))
    bandwidth, peaks = roofs(report)
    if not points or not bandwidth:
        return ""
    ridges = [peak / bandwidth for peak in peaks.values()]
    x = Axis([intensity for _, intensity, _ in points] + ridges, 2.5)
    y = Axis([rate for *_, rate in points] + list(peaks.values()), 2.5)
    top = max(peaks.values(), default=y.high)
    left = max(x.low, y.low / bandwidth)
    right = min(x.high, top / bandwidth)
    lines = [f'<path class="roof" d="M{x.at(left):.2f} {100 - y.at(left * bandwidth):.2f}'
             f'L{x.at(right):.2f} {100 - y.at(right * bandwidth):.2f}"/>']
    marks = []
    for name, peak in sorted(peaks.items(), key=lambda item: -item[1]):
        height, start = 100 - y.at(peak), x.at(max(peak / bandwidth, x.low))
        lines.append(f'<path class="roof" d="M{start:.2f} {height:.2f}H100"/>')
        # The slope goes on above the lower lines: their names are below, as wide as the line.
        side = "" if peak == top else " under"
        width = f";--length:{100 - start:.2f}%" if side else ""
        marks.append(f'<span class="roof-name{side}" style="top:{height:.2f}%{width}">{escape(name)} '
                     f'{escape(units.scaled(peak, "FLOP/s").replace(" ", chr(0xa0)))}</span>')
    # Smaller marks first, so that the longest kernels lie on top.
    for kernel, intensity, rate in reversed(points):
        rank = number[kernel.name]
        shown = str(rank) if rank <= NUMBERED else ""
        told = (f"{kernel.name}: {units.digits(intensity)} FLOP per byte, "
                f"{units.scaled(rate, 'FLOP/s')}, {units.percent(report.share(kernel))} of the time")
        marks.append(f'<a class="mark {hue(kernel)}{"" if shown else " minor"}" '
                     f'href="#kernel-{rank}" style="left:{x.at(intensity):.2f}%;'
                     f'top:{100 - y.at(rate):.2f}%" title="{escape(told)}" '
                     f'aria-label="{escape(told)}">{shown}</a>')
    label = (f"Roofline: bandwidth {units.scaled(bandwidth, 'B/s')}, "
             + ", ".join(f"{name} {units.scaled(peak, 'FLOP/s')}" for name, peak in peaks.items()))
    return plot(label, x, y, "FLOP per byte", f"FLOP/s, {basis}", _power,
                lambda value: units.scaled(value, "").strip(), "".join(lines), "".join(marks))


def _power(value: float) -> str:
    return units.digits(value)


def candidates(kernel: Kernel, hue: str) -> str:
    """Time against prediction; empty if nothing was measured or predicted."""
    measured = [(c, c.predicted_us, c.us) for c in kernel.candidates if c.us and c.predicted_us]
    failed = [(c, c.predicted_us) for c in kernel.candidates
              if c.status not in ("", "ok") and not c.us and c.predicted_us]
    if not measured or len(measured) + len(failed) < 2:
        return ""
    predictions = [predicted for _, predicted, _ in measured] + [predicted for _, predicted in failed]
    x = Axis(predictions, 1.25)
    y = Axis([us for _, _, us in measured], 1.35)
    low, high = max(x.low, y.low), min(x.high, y.high)
    lines = ""
    if low < high:
        lines = (f'<path class="diagonal" d="M{x.at(low):.2f} {100 - y.at(low):.2f}'
                 f'L{x.at(high):.2f} {100 - y.at(high):.2f}"/>')
    marks = [_mark(c, hue, x.at(predicted), 100 - y.at(us))
             for c, predicted, us in sorted(measured, key=lambda entry: entry[0].winner)]
    # What failed has no time: it lies on the upper edge.
    marks += [_mark(c, hue, x.at(predicted), 0) for c, predicted in failed]
    return plot(f"Candidates of {kernel.name}: measured time against prediction", x, y,
                "predicted", "measured", units.microseconds, units.microseconds, lines,
                "".join(marks), small=True)


def _mark(candidate: Candidate, hue: str, left: float, top: float) -> str:
    outcome = "winner" if candidate.winner else candidate.status
    told = f"{candidate.schedule}: predicted {units.microseconds(candidate.predicted_us)}"
    told += f", measured {units.microseconds(candidate.us)}" if candidate.us else ""
    kind = "winner" if candidate.winner else "ok" if candidate.status == "ok" else "bad"
    text = {"winner": "★", "bad": "×"}.get(kind, "")
    return (f'<span class="try {kind} {hue}" style="left:{left:.2f}%;top:{top:.2f}%" '
            f'title="{escape(f"{told} ({outcome})")}">{text}</span>')
