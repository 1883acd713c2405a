# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the data of a report: the summary of fact-compile, bundle.json, tuning.json, the
failure.json, the transcript of an agent. Each of them may be missing or of another version."""

from __future__ import annotations

import json
import math
import platform
import subprocess
from pathlib import Path
from typing import Any

from .. import toolchain
from ..errors import FactError
from .data import Ablation, Candidate, Graph, Group, Kernel, Op, Report, Tensor, build
from .transcript import read_proposals

# Where a page keeps its data.
DATA_BEGIN = '<script type="application/json" id="report-data">'
DATA_END = "</script>"


def find_report(path: str | Path) -> Report:
    """The report of a library, a bundle, a work folder, or a file that has a report."""
    path = Path(path)
    if path.is_dir():
        return _of_folder(path)
    if not path.exists():
        raise FactError(f"{path} does not exist: name a library, a bundle, a work folder or a report")
    if path.suffix in (".html", ".json"):
        return read_report(path)
    page = page_of(path)
    return read_report(page) if page.exists() else _of_library(path)


def page_of(output: str | Path) -> Path:
    """The page beside a library or a bundle."""
    return Path(output).with_suffix(".report.html")


def read_report(path: Path) -> Report:
    """A report from its page or its JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            _, found, rest = text.partition(DATA_BEGIN)
            if not found:
                raise ValueError("the page has no data of a report")
            text = rest.partition(DATA_END)[0]
        return Report.from_json(json.loads(text))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise FactError(f"cannot read {path}: {error}") from None


def _of_folder(folder: Path) -> Report:
    if (folder / "bundle.json").exists():
        summary = read(folder.parent / "summary.json")
        # Another bundle may lie beside the work folder's own.
        if Path(summary.get("bundle", "")).name != folder.name:
            summary = {}
        return build_report(summary, folder)
    summary = read(folder / "summary.json")
    if not summary:
        raise FactError(f"{folder} has neither bundle.json nor summary.json: it is no bundle and no "
                        "work folder")
    return build_report(summary, Path(summary.get("bundle") or folder / "bundle"))


def _of_library(path: Path) -> Report:
    from ..library import load

    description = load(path).description
    kernels = {kernel["name"]: _kernel(kernel) for kernel in description.get("kernels", [])}
    for step in description.get("steps", []):
        if step in kernels:
            kernels[step].launches += 1
    return Report(
        name=description.get("name", path.stem), status="tuned", target=_target(description),
        inputs=_tensors(description, "inputs"), outputs=_tensors(description, "outputs"),
        weights=len(description.get("weights", [])), kernels=list(kernels.values()),
        statistics={"memory": _memory(description)}, provenance=_provenance(description))


def read(path: Path) -> dict[str, Any]:
    """A JSON object, empty if the file is missing or has something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def build_report(summary: dict[str, Any], bundle: Path | None, *, name: str = "",
                 errors: list[str] | None = None, verdict: str = "",
                 command: str = "", transcript: str = "") -> Report:
    """The report of a compilation, finished or not.

    summary: of fact-compile.
    bundle: its folder, which may be missing.
    errors: of the compilation. One that failed has no results of tuning, though an earlier one
        may have left some in the folder.
    verdict: of the comparison with the module.
    transcript: of the agent, if the summary names none.
    """
    errors = [*map(str, summary.get("errors") or []), *(errors or [])]
    failed = bool(errors) or bool(summary.get("failed"))
    # A compilation that failed before its bundle left that of an earlier one alone.
    is_current = bundle is not None and not (failed and "bundle" not in summary.get("stages", {}))
    failure = read(bundle / "failure.json").get("error") if bundle and is_current else None
    if failure:
        failed = True
        errors.insert(0, str(failure))
    if bundle and is_current:
        bundle = bundle / _shipped(read(bundle / "tuning.json"))
    described = read(bundle / "bundle.json") if bundle and is_current else {}
    tuning = read(bundle / "tuning.json") if bundle and is_current else {}
    discovery = summary.get("discovery") or {}
    proposals = read_proposals(read(Path(discovery.get("transcript") or transcript or "/")))
    return Report(
        name=name or described.get("name") or tuning.get("name") or "model",
        status="failed" if failed else "tuned" if tuning else "not tuned",
        target=_target(described) or summary.get("target", ""),
        inputs=_tensors(described, "inputs"), outputs=_tensors(described, "outputs"),
        weights=len(described.get("weights", [])),
        errors=errors, verdict=verdict,
        machine=summary.get("machine") or {},
        graph=_graph(summary, described),
        kernels=_kernels(described, tuning),
        proposals=proposals,
        ablation=_ablation(tuning.get("ablations") or tuning.get("ablation")),
        statistics=_statistics(summary, described, tuning),
        provenance=_provenance({**described, **tuning}, command),
    )


def _shipped(tuning: dict[str, Any]) -> str:
    """The bundle in this one whose program was the faster one: with folded norms, or of the rules."""
    for race, name in (("folded", "folded"), ("groupings", "rules")):
        if any(each.get("program") == name and each.get("ships") for each in tuning.get(race, [])):
            return name
    return ""


def _target(described: dict[str, Any]) -> str:
    target = described.get("target") or {}
    machine, architecture = target.get("machine", ""), target.get("arch", "")
    return machine if machine == architecture else ", ".join(filter(None, (machine, architecture)))


def _tensors(described: dict[str, Any], key: str) -> list[Tensor]:
    return [Tensor(str(entry.get("name", "")),
                   "x".join(map(str, [*entry.get("shape", []), entry.get("type", "")])))
            for entry in described.get(key, [])]


def _graph(summary: dict[str, Any], described: dict[str, Any]) -> Graph:
    try:
        graph = build(Graph, summary.get("graph") or {})
    except (TypeError, AttributeError):
        graph = Graph()
    return graph if graph.ops or not described else _outline(described)


def _outline(described: dict[str, Any]) -> Graph:
    """The graph of a bundle without a summary: its steps, and the ops of each in order."""
    graph = Graph(inputs=_tensors(described, "inputs"), is_outline=True)
    kernels = {kernel["name"]: kernel for kernel in described.get("kernels", [])}
    values = described.get("values", [])
    written: dict[int, Any] = {}

    def source(index: int) -> Any:
        value = values[index] if 0 <= index < len(values) else {}
        if index in written or value.get("kind") != "part":
            names = {"input": "inputs", "weight": "weights"}.get(value.get("kind", ""))
            named = described.get(names, [])[value["index"]].get("name") if names else ""
            return written.get(index, {value.get("kind", "value"): named})
        return source(value["of"])

    for step, prepare in [*((step, True) for step in described.get("prepare", [])),
                          *((step, False) for step in described.get("program", []))]:
        kernel = kernels.get(step["kernel"], {})
        types = [t.type for t in _tensors(kernel, "results")]
        operands = [source(index) for index in step["operands"]]
        for name in kernel.get("ops") or [step["kernel"]]:
            graph.ops.append(Op(name, operands=operands, group=len(graph.groups), prepare=prepare))
            operands = [len(graph.ops) - 1]
        graph.ops[-1].type = ", ".join(types)
        graph.groups.append(Group(step["kernel"], kernel.get("rule", ""), prepare))
        for index in step["results"]:
            whole = values[index].get("of", index)
            written[index] = written[whole] = len(graph.ops) - 1
    graph.outputs = [written[i] for i, value in enumerate(values)
                     if value.get("kind") == "output" and i in written]
    return graph


def _number(value: Any) -> float | None:
    """A figure that JSON and a logarithm can hold."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known and math.isfinite(value) else None


def _kernel(entry: dict[str, Any], result: dict[str, Any] | None = None) -> Kernel:
    result = entry if result is None else result
    strategy = entry.get("strategy") or result.get("strategy") or {}
    tolerances = [each.get("tolerance", {}) for each in entry.get("results", [])]
    return Kernel(
        name=entry["name"], rule=entry.get("rule", ""), ops=list(entry.get("ops", [])),
        us=_number(result.get("us")) or None,
        us_low=_number(result.get("us_low")), us_high=_number(result.get("us_high")),
        runs=result.get("runs"), sol_us=_number(entry.get("sol_us")),
        ceiling_us=_number(result.get("ceiling_us")),
        flops=_number(entry.get("flops")), bytes=_number(entry.get("bytes")),
        schedule=result.get("schedule", ""),
        strategy=" ".join(filter(None, (strategy.get("kind"), strategy.get("entry")))),
        priority=entry.get("priority") or 0,
        norm_error=_number(result.get("norm_error")),
        element_error=_number(result.get("element_error")),
        norm_tolerance=max((t["norm"] for t in tolerances if "norm" in t), default=None),
        element_tolerance=max((t["element"] for t in tolerances if "element" in t), default=None),
        fallback=bool(result.get("fallback")),
        candidates=_candidates(entry.get("candidates"), result),
    )


def _candidates(listed: Any, result: dict[str, Any]) -> list[Candidate]:
    """Candidates of the bundle with what tuning found; without a bundle, those it tried."""
    found = {each.get("candidate"): each for each in result.get("attempts", [])}
    if not isinstance(listed, list):
        listed = [{} for _ in range(max((n + 1 for n in found if isinstance(n, int)), default=0))]
    candidates = []
    for number, each in enumerate(listed):
        attempt = found.get(number, {})
        if not each and not attempt:
            continue
        candidates.append(Candidate(
            number, each.get("key") or attempt.get("schedule", ""),
            predicted_us=_number(each.get("predicted_us")), us=_number(attempt.get("us")),
            status=attempt.get("status", ""), detail=attempt.get("detail", ""),
            winner=result.get("candidate") == number, fallback=bool(each.get("fallback")),
            reused=bool(attempt.get("reused"))))
    return candidates


def _kernels(described: dict[str, Any], tuning: dict[str, Any]) -> list[Kernel]:
    results = {kernel.get("name"): kernel for kernel in tuning.get("kernels", [])}
    listed = described.get("kernels") or tuning.get("kernels", [])
    kernels = {entry["name"]: _kernel(entry, results.get(entry["name"], {})) for entry in listed}
    for key, field in (("program", "launches"), ("prepare", "prepares")):
        for step in described.get(key, []):
            kernel = kernels.get(step.get("kernel"))
            if kernel:
                setattr(kernel, field, getattr(kernel, field) + 1)
    if not described:
        for kernel in kernels.values():
            kernel.launches = 1
    # Kernels of alternatives that did not ship are not of the program.
    return [kernel for name, kernel in kernels.items()
            if kernel.launches or kernel.prepares or name in results]


def _ablation(entries: Any) -> list[Ablation]:
    """Rows of any form that has a name and a gain, or a ratio of times, the largest gain first."""
    if isinstance(entries, dict):
        entries = [{"name": name, **(value if isinstance(value, dict) else {"gain": value})}
                   for name, value in entries.items()]
    rows = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        name = next((str(entry[key]) for key in ("pattern", "kernel", "name", "rule")
                     if entry.get(key)), "")
        gain, ratio = _number(entry.get("gain")), _number(entry.get("ratio"))
        if gain is None and ratio is not None:
            gain = ratio - 1
        if name and gain is not None:
            told = {key: value for key, value in entry.items()
                    if key not in ("pattern", "kernel", "name", "rule", "gain", "ratio")
                    and isinstance(value, (str, int, float))}
            detail = ", ".join(f"{key.replace('_', ' ')} {_short(value)}"
                               for key, value in told.items())
            rows.append(Ablation(name, gain, detail))
    return sorted(rows, key=lambda row: -row.gain)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _in_order(stages: dict[str, float]) -> dict[str, float]:
    """JSON has the stages in the order of their names."""
    order = ("import", "raise", "discover", "bundle", "tune")
    return dict(sorted(stages.items(), key=lambda stage: (
        order.index(stage[0]) if stage[0] in order else len(order))))


def _memory(described: dict[str, Any]) -> dict[str, int]:
    return {key: described[key] for key in ("workspace_bytes", "prepared_bytes") if key in described}


def _statistics(summary: dict[str, Any], described: dict[str, Any],
                tuning: dict[str, Any]) -> dict[str, Any]:
    found = {
        "ops": summary.get("ops"), "stages": _in_order(summary.get("stages") or {}),
        "discovery": {key: value for key, value in (summary.get("discovery") or {}).items()
                      if key != "transcript"},
        "regrouping": summary.get("regrouping"),
        "refinement": summary.get("refinement"), "memory": _memory(described),
        "tuning": tuning.get("seconds"), "objects": tuning.get("objects"),
    }
    return {key: value for key, value in found.items() if value}


def _provenance(described: dict[str, Any], command: str = "") -> dict[str, str]:
    found = {f"{name} version": str(version)
             for name, version in (described.get("versions") or {}).items()}
    cpu = (described.get("target") or {}).get("cpu") or {}
    found |= {
        "processor": cpu.get("name", ""), "machine": described.get("machine", ""),
        "compiler": described.get("compiler", ""),
        "seed": str(described.get("seed", "")), "tuned on": described.get("date", ""),
        "build": "; ".join(f"{k} {v}" for k, v in (described.get("build") or {}).items()),
        "command": command,
    }
    if command:
        found |= {"commit": _commit(), "python": platform.python_version(), "torch": _torch()}
    return {key: value for key, value in found.items() if value}


def _torch() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit of the source tree that runs, if it is one."""
    root = toolchain.checkout()
    if root is None or not (root / ".git").exists():
        return ""
    try:
        found = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty",
                                "--abbrev=12", "--exclude=*"],
                               capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()
