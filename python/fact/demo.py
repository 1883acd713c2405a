# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make demo`: compiles a small GPT block and shows the result of each stage."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch

from . import bench, report, toolchain, verify
from .compiler import compile
from .errors import FactError
from .machine import resolve_target
from .reporting.collect import build_report
from .reporting.command import write_page
from .workload import load_workload

# A few megaflops: compiled, tuned and run in seconds on any machine.
_SETTINGS = {"width": 256, "heads": 4, "tokens": 64, "batch": 4}


def main(target: str = "auto") -> int:
    root = toolchain.checkout()
    if root is None:
        raise FactError("the demo needs the source tree: run `make demo` there")
    target = resolve_target(target)
    device = "cpu" if target == "host" else "cuda"
    dtype = "fp32" if target == "host" else "bf16"
    workload = load_workload(str(root / "examples" / "workloads" / "mini_gpt_block.py"),
                             dtype=dtype, device=device, settings=_SETTINGS)
    shape = "x".join(str(size) for size in workload.inputs[0].shape)
    report.heading(f"A GPT block in {dtype}, input {shape}, target {target}")
    report.note("compiling and tuning ...")
    start = time.perf_counter()
    model = compile(workload.module, workload.inputs, target=target, name=workload.name)
    seconds = time.perf_counter() - start
    work = model.library.work_folder
    assert work is not None
    summary = _read(work / "summary.json")
    bundle = Path(summary.get("bundle") or work / "bundle")
    tuning = _read(bundle / "tuning.json")
    _show_ops(summary)
    _show_kernels(summary, tuning, model.library.description)
    _show_stages(summary, seconds)
    correct = _show_numbers(workload, model)
    page = work / f"{workload.name}.report.html"
    write_page(build_report(summary, bundle, name=workload.name, command=f"fact demo --target={target}",
                            verdict=str(model.library.verdict or "")), page)
    _show_files(model.library.path, bundle, work, page)
    return 0 if correct else 1


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def _show_ops(summary: dict[str, Any]) -> None:
    ops = summary.get("ops", {})
    if ops:
        imported, raised, kernels = (ops.get(key, "?") for key in ("imported", "raised", "kernels"))
        report.note(f"ops: {imported} imported from PyTorch, {raised} after raising, "
                    f"{kernels} kernels")
    for line in report.discovery_lines(summary):
        report.note(line)


def _show_kernels(summary, tuning, description) -> None:
    tuned = {kernel["name"]: kernel for kernel in tuning.get("kernels", [])}
    rows = []
    for kernel in summary.get("kernels") or description.get("kernels", []):
        result = tuned.get(kernel["name"], {})
        failures = result.get("failures", {})
        rows.append([
            kernel["name"],
            kernel.get("rule", ""),
            result.get("strategy", {}).get("kind", ""),
            " ".join(kernel.get("ops", [])),
            str(kernel.get("steps", "")),
            str(result.get("tried", "")),
            ", ".join(f"{count} {status}" for status, count in failures.items()) or "none",
            result.get("schedule", kernel.get("schedule", "")),
            f"{result['us']:.1f}" if "us" in result else "",
        ])
    columns = ["kernel", "rule", "strategy", "ops", "steps", "tried", "failed", "winner", "us"]
    report.table(columns, rows, "Fused kernels")


def _show_stages(summary: dict[str, Any], seconds: float) -> None:
    stages = summary.get("stages", {})
    rows = [[name, f"{time_:.2f}"] for name, time_ in stages.items()]
    rows.append(["all, with export and load", f"{seconds:.2f}"])
    report.table(["stage", "seconds"], rows, "Time of each stage")


def _show_numbers(workload, model) -> bool:
    """The largest error and the time, beside those of eager."""
    module, inputs = workload.module, workload.inputs
    with torch.no_grad():
        exact = verify.reference(module, inputs)
        error = verify.worst(model(*inputs), exact)
        eager = verify.worst(module(*inputs), exact)
        times = bench.measure({"eager": lambda: module(*inputs), "fact": lambda: model(*inputs)},
                              inputs[0].device)
    measured = {name: bench.Measurement(name, rounds=rounds) for name, rounds in times.items()}
    measured["eager"].error, measured["fact"].error = eager, error
    report.table(bench.COLUMNS, bench.rows(measured), "Against PyTorch, errors against fp64")
    # The block has four contractions; the longest sum has 4 * width terms.
    allowed = verify.tolerance(inputs[0].dtype, 4 * _SETTINGS["width"], roundings=8)
    correct = verify.within(error, allowed)
    report.note(f"largest error: {error.absolute:.2e} absolute; "
                + ("correct" if correct else f"WRONG: {error}, allowed is {allowed}"))
    return correct


def _show_files(library: str, bundle: Path, work: Path, page: Path) -> None:
    files = [("report, for a browser", page), ("library", Path(library)), ("bundle", bundle),
             ("imported text", next(iter(sorted(work.glob("*.mlir"))), None)),
             ("summary", work / "summary.json")]
    report.table(["file", "where"],
                 [[what, str(path)] for what, path in files if path and path.exists()], "Files")
