# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph as rows of a list, with rails beside it that carry values down to their users.

Every row has one node. A value takes a rail from the node that computes it to its last user, so
a list of any length stays readable on any width, and repeated blocks can be folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .data import Graph, Op

# Shorter lists are shown whole.
_FOLDED_FROM = 24


@dataclass
class Node:
    """A row: an input, an op, a kernel, or the outputs."""
    title: str
    # Nodes of the same key look the same: runs of them are folded.
    key: tuple = ()
    sources: list[int] = field(default_factory=list)
    detail: str = ""
    type: str = ""
    line: str = ""
    weights: list[str] = field(default_factory=list)
    group: int | None = None
    # The ops of a kernel.
    ops: list[Op] = field(default_factory=list)


@dataclass
class Block:
    """Consecutive nodes that repeat; `nodes` are those of the first copy."""
    nodes: list[int]
    copies: int


@dataclass
class Rail:
    """The lines beside one row: of each, its lane and the row that the value comes from."""
    lane: int
    incoming: list[tuple[int, int]]
    passing: list[tuple[int, int]]
    leaves: bool


def lay_out(sources: Sequence[Iterable[int]]) -> tuple[list[Rail], int]:
    """The rails of rows that read the values of earlier rows, and the number of lanes."""
    last_use = list(range(len(sources)))
    for row, read in enumerate(sources):
        for source in read:
            last_use[source] = max(last_use[source], row)
    lanes: list[int | None] = []
    rails = []
    for row, read in enumerate(sources):
        used = [(lane, owner) for lane, owner in enumerate(lanes)
                if owner is not None and owner in set(read)]
        for lane, owner in used:
            if last_use[owner] == row:
                lanes[lane] = None
        passing = [(lane, owner) for lane, owner in enumerate(lanes) if owner is not None]
        # A value that ends here hands its rail on.
        freed = [lane for lane, owner in used if lanes[lane] is None]
        free = freed + [lane for lane, owner in enumerate(lanes) if owner is None]
        if not free:
            lanes.append(None)
            free = [len(lanes) - 1]
        leaves = last_use[row] > row
        if leaves:
            lanes[free[0]] = row
        rails.append(Rail(free[0], used, passing, leaves))
    return rails, len(lanes)


def fold(nodes: Sequence[Node]) -> list[int | Block]:
    """Rows and blocks of rows that repeat: of each run the longest, made of the shortest block.
    A block has whole kernels."""
    if len(nodes) < _FOLDED_FROM:
        return list(range(len(nodes)))
    starts = [row for row, node in enumerate(nodes)
              if row == 0 or node.group is None or node.group != nodes[row - 1].group]
    ends = [*starts[1:], len(nodes)]
    numbers: dict[tuple, int] = {}
    keys = [numbers.setdefault(tuple(node.key for node in nodes[start:end]), len(numbers))
            for start, end in zip(starts, ends)]
    items: list[int | Block] = []
    part = 0
    while part < len(keys):
        length, copies = _longest_run(keys, part)
        rows = range(starts[part], ends[part + length - 1])
        if len(rows) * (copies - 1) >= 4:
            items.append(Block(list(rows), copies))
            part += length * copies
        else:
            items += range(starts[part], ends[part])
            part += 1
    return items


def _longest_run(keys: list[int], row: int) -> tuple[int, int]:
    best, rest = (1, 1), len(keys) - row
    for length in range(1, rest // 2 + 1):
        if keys[row + length] != keys[row] or best[0] * best[1] >= rest:
            continue
        block, copies = keys[row:row + length], 1
        while keys[row + length * copies:row + length * (copies + 1)] == block:
            copies += 1
        if copies > 1 and length * copies > best[0] * best[1]:
            best = (length, copies)
    return best


def nodes_before(graph: Graph) -> list[Node]:
    """One node per op, in the order of the program."""
    nodes, rows, at = _inputs(graph)
    for index, op in enumerate(graph.ops):
        if op.prepare:
            continue
        at[index] = len(nodes)
        nodes.append(Node(
            op.op, ("op", op.op, op.type, op.attributes, op.group is None),
            _rows(op.operands, rows, at), op.attributes, op.type, op.line,
            _weights([op]), op.group, [op]))
    return _with_outputs(graph, nodes, rows, at)


def nodes_after(graph: Graph) -> list[Node]:
    """One node per launch of a kernel. Views between kernels are no launches."""
    nodes, rows, at = _inputs(graph)
    members: dict[int, list[int]] = {}
    for index, op in enumerate(graph.ops):
        if op.group is not None and not op.prepare:
            members.setdefault(op.group, []).append(index)
    done: dict[int, int] = {}
    for index, op in enumerate(graph.ops):
        if op.prepare:
            continue
        if op.group is None:
            # The value of a view is that of its first operand that a node computes.
            found = _rows(op.operands, rows, at)
            if found:
                at[index] = found[0]
            continue
        if op.group in done:
            at[index] = done[op.group]
            continue
        inside = [graph.ops[i] for i in members[op.group]]
        sources = _rows([o for each in inside for o in each.operands], rows, at)
        done[op.group] = at[index] = len(nodes)
        group, names = graph.groups[op.group], [each.op for each in inside]
        nodes.append(Node(
            group.kernel, ("kernel", group.rule, *names, inside[-1].type), sources,
            chain(names), inside[-1].type, inside[0].line, _weights(inside), op.group, inside))
    return _with_outputs(graph, nodes, rows, at)


def prepared(graph: Graph) -> str:
    """The kernels that run once per set of weights."""
    counts: dict[str, int] = {}
    for group in graph.groups:
        if group.prepare:
            counts[group.kernel] = counts.get(group.kernel, 0) + 1
    return ", ".join(name + (f" × {n}" if n > 1 else "") for name, n in counts.items())


def _inputs(graph: Graph) -> tuple[list[Node], dict[str, int], dict[int, int]]:
    nodes = [Node(tensor.name, ("input", tensor.name), detail="input", type=tensor.type)
             for tensor in graph.inputs]
    return nodes, {tensor.name: row for row, tensor in enumerate(graph.inputs)}, {}


def _with_outputs(graph: Graph, nodes: list[Node], rows: dict[str, int],
                  at: dict[int, int]) -> list[Node]:
    sources = _rows(graph.outputs, rows, at)
    if sources:
        count = len(graph.outputs)
        nodes.append(Node("output" if count == 1 else f"{count} outputs", ("output",), sources,
                          detail="result"))
    return nodes


def _rows(operands: list, rows: dict[str, int], at: dict[int, int]) -> list[int]:
    """The rows that compute operands, without repetitions."""
    found = []
    for operand in operands:
        row = at.get(operand) if isinstance(operand, int) else \
            rows.get(operand.get("input", "")) if isinstance(operand, dict) else None
        if row is not None and row not in found:
            found.append(row)
    return found


def _weights(ops: list[Op]) -> list[str]:
    names = [str(operand["weight"]) for op in ops for operand in op.operands
             if isinstance(operand, dict) and "weight" in operand]
    return list(dict.fromkeys(names))


def chain(names: list[str]) -> str:
    """`matmul → add → gelu`, with runs of one op counted."""
    parts: list[list] = []
    for name in names:
        if parts and parts[-1][0] == name:
            parts[-1][1] += 1
        else:
            parts.append([name, 1])
    return " → ".join(name if count == 1 else f"{name} ×{count}" for name, count in parts)
