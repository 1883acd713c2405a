# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a run: JSON and Markdown."""

from __future__ import annotations

import collections
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

WORST = 10
# torch.compile's modes, the best of which is one more baseline.
MODES = ("compile", "reduce-overhead", "max-autotune")
BEST = "best with launches"
COMPARED = ("eager", "compile", BEST)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [columns, ["---"] * len(columns), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def kernels_of(bundle: Path) -> list[dict[str, Any]]:
    """Rule and time of each step of the program: as fact-tune measured it, or in a profile of a
    library that was not tuned, which waits after each step."""
    content = read(bundle / "bundle.json")
    rules = {kernel["name"]: kernel["rule"] for kernel in content["kernels"]}
    tuned = {kernel["name"]: kernel for kernel in read(bundle / "tuning.json").get("kernels", [])}
    profiled = {step["name"]: step["us"] for step in read(bundle / "time.json").get("steps", [])}
    return [{"name": name, "rule": tuned.get(name, {}).get("rule") or rules.get(name),
             "us": tuned.get(name, {}).get("us") or profiled.get(name)}
            for name in (step["kernel"] for step in content["program"])]


def entry_of(bundle: Path) -> dict[str, Any]:
    """All that is known of a module. `failure` says at which stage it failed, and why."""
    compared, timed = read(bundle / "compare.json"), read(bundle / "time.json")
    entry = {**read(bundle / "case.json"), "kernels": kernels_of(bundle),
             "errors": compared.get("errors", {}), "us": timed.get("us", {}),
             "intervals": timed.get("intervals", {}), "gpu": timed.get("gpu", {}),
             "host_us": timed.get("host_us", {}), "broken_baselines": timed.get("broken", {})}
    linked = (bundle / f"{bundle.name}.so").exists()
    stages = {"tune": None if linked else "no library was linked: see the log of fact-tune",
              "compare": compared.get("failure") or compared.get("skipped"),
              "time": timed.get("failure")}
    entry["failure"] = next((f"{stage}: {text}" for stage, text in stages.items() if text), None)
    return entry


def generic_share(entry: dict[str, Any]) -> float:
    """The part of the kernels' time that is of generic kernels."""
    total = sum(kernel["us"] or 0 for kernel in entry["kernels"])
    generic = sum(kernel["us"] or 0 for kernel in entry["kernels"] if kernel["rule"] == "generic")
    return generic / total if total else 0.0


def error_ratio(entry: dict[str, Any]) -> float | None:
    """The largest multiple of eager's error; None if no result has floats."""
    ratios = [1.0 if ours == eager else ours / eager if eager else math.inf
              for ours, eager in entry["errors"].values()]
    return max(ratios, default=None)


def alone(entry: dict[str, Any]) -> dict[str, Any]:
    """Times without waiting for launches, where there are such."""
    return entry.get("gpu") or entry


def ratio(entry: dict[str, Any], baseline: str) -> float | None:
    """How many times as long the baseline takes. `BEST` is with launches."""
    if baseline == BEST:
        us = entry["us"]
        others = [us[mode] for mode in MODES if mode in us]
        return min(others) / us["fact"] if others and entry.get("gpu") else None
    us = alone(entry)["us"]
    return us[baseline] / us["fact"] if baseline in us else None


def summary(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {"modules": len(entries),
                              "failures": sum(bool(entry["failure"]) for entry in entries)}
    for baseline in COMPARED:
        ratios = {entry["name"]: ratio(entry, baseline) for entry in entries}
        ratios = {name: value for name, value in ratios.items() if value}
        if ratios:
            result[baseline] = {"geometric_mean": statistics.geometric_mean(ratios.values()),
                                "modules": len(ratios),
                                "faster": sum(value >= 1 for value in ratios.values()),
                                "worst": dict(sorted(ratios.items(), key=lambda item: item[1])[:WORST])}
    return result


def number(value: float | None, form: str = ".2f", unit: str = "") -> str:
    return "" if value is None else f"{value:{form}}{unit}"


def interval(entry: dict[str, Any], baseline: str) -> str:
    found = alone(entry).get("intervals", {}).get(baseline)
    return f" [{found[0]:.2f}, {found[1]:.2f}]" if found else ""


def time_of(entry: dict[str, Any], name: str) -> str:
    """Microseconds. PyTorch has no kernel for some modules that FACT compiles, such as a product of
    integers on a GPU."""
    if name in entry.get("broken_baselines", {}):
        return "no baseline"
    return number(alone(entry)["us"].get(name), ".1f")


def row(entry: dict[str, Any]) -> list[str]:
    rules = collections.Counter(kernel["rule"] or "?" for kernel in entry["kernels"])
    generic = [f"{kernel['name']} {number(kernel['us'], '.1f')}" for kernel in entry["kernels"]
               if kernel["rule"] == "generic"]
    return [entry["name"],
            ", ".join(rule if count == 1 else f"{count} {rule}" for rule, count in rules.items()),
            f"{100 * generic_share(entry):.0f}%: {', '.join(generic)} us" if generic else "",
            number(error_ratio(entry)),
            *(time_of(entry, name) for name in ("fact", "eager", "compile")),
            *(number(ratio(entry, name), ".2f", "x") + interval(entry, name) for name in COMPARED),
            number(entry.get("host_us", {}).get("fact"), ".1f"),
            entry["failure"] or ""]


COLUMNS = ["module", "kernels", "generic", "error / eager's", "us", "eager us", "compile us",
           "eager / fact", "compile / fact", "best with launches / fact", "host us", "failure"]


def markdown(entries: Sequence[dict[str, Any]], figures: dict[str, Any]) -> str:
    lines = [f"{figures['modules']} modules, {figures['failures']} failures.", ""]
    for baseline in COMPARED:
        if baseline in figures:
            found = figures[baseline]
            lines += [f"{baseline} / fact: geometric mean {found['geometric_mean']:.2f}x of "
                      f"{found['modules']}, {found['faster']} at least 1x. The worst:", "",
                      table(["module", "ratio"],
                            [(name, f"{value:.2f}x") for name, value in found["worst"].items()]), ""]
    return "\n".join([*lines, table(COLUMNS, map(row, entries)), ""])


def write(folder: Path, bundles: Sequence[Path]) -> int:
    """Writes report.json and report.md, prints the summary; 1 if a module failed."""
    entries = [entry_of(bundle) for bundle in bundles]
    figures = summary(entries)
    (folder / "report.json").write_text(
        json.dumps({"summary": figures, "modules": entries}, indent=1))
    text = markdown(entries, figures)
    (folder / "report.md").write_text(text)
    failed = [(entry["name"], entry["failure"]) for entry in entries if entry["failure"]]
    print(text.split(table(COLUMNS, []))[0])
    print(table(["module", "failure"], failed))
    return 1 if failed else 0
