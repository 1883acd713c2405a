# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures for people."""

from __future__ import annotations

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def digits(value: float) -> str:
    """Three significant digits, without an exponent between 0.001 and 1e6."""
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2e}"
    if abs(value) >= 99.95:
        return f"{value:,.0f}".replace(",", "\u2009")
    text = f"{value:.3g}"
    return text


def microseconds(us: float | None) -> str:
    if us is None:
        return "–"
    if us >= 999.5e3:
        return f"{digits(us / 1e6)} s"
    if us >= 999.5:
        return f"{digits(us / 1e3)} ms"
    return f"{digits(us)} µs" if us >= 0.1 or us == 0 else f"{digits(us * 1e3)} ns"


def seconds(value: float) -> str:
    return microseconds(value * 1e6)


def percent(share: float) -> str:
    if share < 0:
        return "-" + percent(-share)
    value = 100 * share
    if value == 0:
        return "0 %"
    if value < 0.01:
        return "< 0.01 %"
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.2g} %"


def scaled(value: float, unit: str) -> str:
    """`1.2 TFLOP/s`."""
    for factor, prefix in _PREFIXES:
        if value >= 0.9995 * factor:
            return f"{digits(value / factor)} {prefix}{unit}"
    return f"{digits(value)} {unit}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")
