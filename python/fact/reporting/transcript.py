# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The proposals in the transcript of an agent, with the compiler's verdicts."""

from __future__ import annotations

import json
import re
from typing import Any

from .data import Proposal


def read_proposals(transcript: dict[str, Any]) -> list[Proposal]:
    """Proposals in the order of their verdicts. Rounds of refinement, whose verdicts name
    kernels, are among them."""
    proposals = []
    for conversation in _list(transcript.get("conversations")):
        names: dict[str, str] = {}
        refines = str(conversation.get("graph", "")).startswith("refine-")
        for number, round_ in enumerate(_list(conversation.get("rounds")), 1):
            for message in _list(round_.get("messages")):
                names |= _op_names(str(message.get("content", "")))
            patterns = _patterns(str(round_.get("answer", "")))
            for index, verdict in enumerate(_list(round_.get("verdicts"))):
                text = str(verdict.get("proposal", ""))
                rule, _, ops = text.partition(": ")
                pattern = _pattern_of(rule, ops.split(), index, patterns)
                proposals.append(Proposal(
                    rule=rule, ops=[f"{op} {names[op]}" if op in names else op
                                    for op in ops.split()],
                    accepted=verdict.get("accepted") is True,
                    reason=str(verdict.get("reason") or ""),
                    rationale=str(pattern.get("rationale") or ""),
                    strategy=" ".join(filter(None, (str(pattern.get("strategy") or "").lower(),
                                                    str(pattern.get("entry") or "")))),
                    stage="refinement" if refines else "fusion", round=number))
    return proposals


def _list(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _op_names(prompt: str) -> dict[str, str]:
    """The ops that a prompt lists, by their ids."""
    return dict(re.findall(r"^(n\d+) = (\w+)", prompt, re.MULTILINE))


def _patterns(answer: str) -> list[dict[str, Any]]:
    """The entries of an answer: its text, or the last block of it, is JSON."""
    blocks = re.findall(r"```(?:json)?\s*\n(.*?)```", answer, re.DOTALL)
    begin = answer.rfind("</think>")
    for text in [answer, *reversed(blocks), answer[begin + len("</think>"):] if begin >= 0 else ""]:
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if isinstance(found, dict):
            return [entry for value in found.values() for entry in _list(value)]
    return []


def _pattern_of(rule: str, ops: list[str], index: int,
                patterns: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry that a verdict is about: by its ops, else by its position."""
    for pattern in patterns:
        if pattern.get("rule") == rule and pattern.get("ops") == ops:
            return pattern
    if index < len(patterns) and rule in (patterns[index].get("rule"), patterns[index].get("kernel")):
        return patterns[index]
    return {}
