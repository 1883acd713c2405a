# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the page and the terminal say of a report's statistics."""

from __future__ import annotations

from . import units
from .data import Report


def seconds(report: Report) -> list[tuple[str, dict[str, float]]]:
    """The times of stages, and of the parts of tuning."""
    found = []
    for title, key in (("Stages", "stages"), ("Tuning", "tuning")):
        times = {name.replace("_", " "): value
                 for name, value in (report.statistics.get(key) or {}).items()
                 if isinstance(value, (int, float)) and name != "total"}
        if times:
            found.append((title, times))
    return found


def statistics(report: Report) -> list[tuple[str, str]]:
    """Counts of ops, memory, objects, rounds of refinement."""
    found = report.statistics
    ops, memory = found.get("ops") or {}, found.get("memory") or {}
    objects = found.get("objects") or {}
    facts = [("ops imported from PyTorch", ops.get("imported")), ("after raising", ops.get("raised")),
             ("weights", report.weights or None),
             ("workspace", units.scaled(memory["workspace_bytes"], "B")
              if memory.get("workspace_bytes") else None),
             ("prepared weights", units.scaled(memory["prepared_bytes"], "B")
              if memory.get("prepared_bytes") else None),
             ("objects", f"{objects.get('compiled', 0)} compiled, {objects.get('cached', 0)} cached"
              if objects else None)]
    for number, each in enumerate(found.get("refinement") or [], 1):
        facts.append((f"refinement {number}", f"{each.get('kernels', 0)} kernels, "
                      f"{each.get('schedules', 0)} new schedules"))
    return [(name, str(value)) for name, value in facts if value is not None]
