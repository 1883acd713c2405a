# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report says, with a stable JSON form."""

from __future__ import annotations

import dataclasses
import functools
import typing
from dataclasses import dataclass, field
from typing import Any

from ..notebook import report_html

# Raised when a field changes its meaning or goes away; new fields do not change it.
FORMAT = 1


@dataclass
class Candidate:
    """One schedule of a kernel."""
    number: int
    schedule: str
    predicted_us: float | None = None
    us: float | None = None
    # "ok", a failure's name, or "" for a candidate that was not tried.
    status: str = ""
    detail: str = ""
    winner: bool = False
    fallback: bool = False
    reused: bool = False


@dataclass
class Kernel:
    """A kernel, its figures, and what was tried. Times are of one launch."""
    name: str
    rule: str = ""
    ops: list[str] = field(default_factory=list)
    # Launches per call, and per set of weights.
    launches: int = 0
    prepares: int = 0
    us: float | None = None
    us_low: float | None = None
    us_high: float | None = None
    runs: int | None = None
    sol_us: float | None = None
    # The least time at the rates that fact-tune --probe measured on the machine.
    ceiling_us: float | None = None
    flops: float | None = None
    bytes: float | None = None
    schedule: str = ""
    strategy: str = ""
    priority: int = 0
    norm_error: float | None = None
    element_error: float | None = None
    norm_tolerance: float | None = None
    element_tolerance: float | None = None
    fallback: bool = False
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def predicted_us(self) -> float | None:
        """The prediction of the winner, or the best one if there is none."""
        known = [(c.predicted_us, c.winner) for c in self.candidates
                 if c.predicted_us and not c.fallback]
        winner = [us for us, wins in known if wins]
        return winner[0] if winner else min((us for us, _ in known), default=None)

    @property
    def failures(self) -> dict[str, int]:
        """Candidates that failed, by the name of the failure."""
        found: dict[str, int] = {}
        for candidate in self.candidates:
            if candidate.status not in ("", "ok"):
                found[candidate.status] = found.get(candidate.status, 0) + 1
        return found

    @property
    def tried(self) -> int:
        return sum(bool(candidate.status) for candidate in self.candidates)


@dataclass
class Op:
    """An op of the graph before fusion. An operand is the index of an op, or a dictionary
    that names an input, a weight or a constant."""
    op: str
    type: str = ""
    operands: list[Any] = field(default_factory=list)
    attributes: str = ""
    line: str = ""
    group: int | None = None
    prepare: bool = False


@dataclass
class Group:
    """Ops that one launch of a kernel computes."""
    kernel: str
    rule: str = ""
    prepare: bool = False


@dataclass
class Tensor:
    name: str
    type: str = ""


@dataclass
class Graph:
    inputs: list[Tensor] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    # The ops of a kernel are known by name and order only: operands are those of the kernel.
    is_outline: bool = False


@dataclass
class Proposal:
    """A proposal of an agent. `ops` are as the agent named them, with the op's name."""
    rule: str
    ops: list[str] = field(default_factory=list)
    accepted: bool = False
    reason: str = ""
    rationale: str = ""
    strategy: str = ""
    # "fusion" or "refinement", and the request in it.
    stage: str = "fusion"
    round: int = 1


@dataclass
class Ablation:
    """How much longer the program takes without a pattern, or with a kernel in its next best form:
    0.25 is a quarter longer."""
    name: str
    gain: float
    detail: str = ""


@dataclass
class Report:
    """A compilation; not changed once it is complete. `status` is "tuned", "not tuned" (a
    bundle) or "failed"."""
    name: str
    status: str
    target: str = ""
    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    weights: int = 0
    errors: list[str] = field(default_factory=list)
    # The comparison of the library with its module, for people; empty: not compared.
    verdict: str = ""
    # Figures of the machine that predictions use: bandwidth, matrix_flops_16, ...
    machine: dict[str, Any] = field(default_factory=dict)
    graph: Graph = field(default_factory=Graph)
    kernels: list[Kernel] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    ablation: list[Ablation] = field(default_factory=list)
    # Counts and times by name: ops, stages, discovery, refinement, memory, tuning.
    statistics: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def _repr_html_(self) -> str:
        return report_html(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Report:
        if not isinstance(data, dict) or not isinstance(data.get("format"), int):
            raise ValueError("not a report of FACT: it has no 'format'")
        if data["format"] > FORMAT:
            raise ValueError(f"the report has format {data['format']}; this FACT reads "
                             f"{FORMAT}: use a newer one")
        return build(Report, data)

    @functools.cached_property
    def basis(self) -> str:
        """Where `time_us` comes from: "measured", "predicted", or "" if there are no times."""
        launched = [kernel for kernel in self.kernels if kernel.launches]
        for name, value in (("measured", "us"), ("predicted", "predicted_us")):
            if launched and all(getattr(kernel, value) for kernel in launched):
                return name
        return ""

    def time_us(self, kernel: Kernel) -> float:
        """The time of all launches of a kernel in one call."""
        basis = self.basis
        each = kernel.us if basis == "measured" else kernel.predicted_us if basis else None
        return (each or 0.0) * kernel.launches

    @functools.cached_property
    def total_us(self) -> float:
        return sum(self.time_us(kernel) for kernel in self.kernels)

    @functools.cached_property
    def sol_us(self) -> float:
        return sum((kernel.sol_us or 0.0) * kernel.launches for kernel in self.kernels)

    def share(self, kernel: Kernel) -> float:
        total = self.total_us
        return self.time_us(kernel) / total if total else 0.0

    def by_time(self) -> list[Kernel]:
        """Kernels that calls launch, the longest first, then those that prepare weights."""
        return sorted(self.kernels, key=lambda kernel: (not kernel.launches,
                                                        -self.time_us(kernel)))


def build(kind: Any, data: Any) -> Any:
    """A data class from its JSON form; keys that it does not have are ignored."""
    hints = typing.get_type_hints(kind)
    values = {}
    for each in dataclasses.fields(kind):
        if each.name not in data:
            continue
        value, hint = data[each.name], hints[each.name]
        inner = typing.get_args(hint)
        if dataclasses.is_dataclass(hint):
            value = build(hint, value)
        elif typing.get_origin(hint) is list and inner and dataclasses.is_dataclass(inner[0]):
            value = [build(inner[0], entry) for entry in value]
        values[each.name] = value
    return kind(**values)
