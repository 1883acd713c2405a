#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many of a language model's patterns the compiler accepts at the first answer.

    run.py ask FOLDER --url URL --model NAME   discovery of every module with a model
    run.py replay FOLDER                       the same from the transcripts in FOLDER
    run.py report FOLDER                       a table of what the transcripts say

Modules are those of modules.py, with their large sizes in bf16, for an H200; no GPU is needed.
`ask` writes a transcript per module, FOLDER/NAME.json; modules run at the same time, so that a
server with several slots is busy. `replay` and `ask` fail if the compiler does. The registry is
the built-in one alone.

A pattern is *own* if the rules would not have made the same group: its rule and its ops, but for
reshapes, which cost nothing, are in no line of what the prompt says the rules would do.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]


def write_graph(name: str, folder: Path) -> Path:
    """The raised graph of a module."""
    import torch  # noqa: F401
    from modules import MODULES

    from fact.compiler import translate

    path = folder / f"{name}.mlir"
    if not path.exists():
        module, inputs = MODULES[name].make("large", "bf16")
        translate(module, inputs, until="raise", output=path, name=name)
    return path


def discover(graph: Path, options: dict[str, object]) -> str:
    """Runs the agent on a graph; returns the IR."""
    from fact.toolchain import find_tool

    text = " ".join(f"{name}={value}" for name, value in
                    {"target": "h200", "patterns": ROOT / "patterns", **options}.items())
    result = subprocess.run([str(find_tool("fact-opt")), str(graph), f"--fact-discover={text}"],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{graph.stem}: {result.stderr[-2000:]}")
    sys.stderr.write(result.stderr)
    return result.stdout


def run(arguments: argparse.Namespace) -> int:
    arguments.folder.mkdir(parents=True, exist_ok=True)
    graphs = arguments.graphs or Path(tempfile.mkdtemp())
    graphs.mkdir(parents=True, exist_ok=True)
    from modules import MODULES

    chosen = [name for name in MODULES if re.search(arguments.names, name)]
    if arguments.command == "replay":
        chosen = [name for name in chosen if (arguments.folder / f"{name}.json").exists()]
        options = {"agent": "replay"}
    else:
        options = {"agent": "llm", "llm-url": arguments.url, "llm-model": arguments.model,
                   "llm-timeout": arguments.timeout, "llm-seconds": arguments.timeout * 10}
    # Exports share one process and its interpreter; requests wait for the server.
    with concurrent.futures.ThreadPoolExecutor(len(chosen)) as pool:
        waiting = [pool.submit(discover, write_graph(name, graphs),
                               {**options, "transcript": arguments.folder / f"{name}.json"})
                   for name in chosen]
        for name, each in zip(chosen, waiting):
            print(f"{name}: {each.result().count('fact.fused')} kernels", flush=True)
    return report(arguments)


def planned(prompt: str, free: set[str]) -> set[tuple[str, frozenset[str]]]:
    """The groups of the rules, as a prompt lists them, without reshapes."""
    lines = re.findall(r"^(\w+) ((?:n\d+ )*n\d+): [\d.]+ us$", prompt, re.M)
    return {(rule, frozenset(ops.split()) - free) for rule, ops in lines}


def count(conversation: dict) -> dict[str, int]:
    """The patterns of a conversation."""
    counts = dict.fromkeys(("patterns", "legal", "own", "own_legal", "repaired", "still", "rounds",
                            "tokens_in", "tokens_out"), 0)
    prompt = conversation["rounds"][0]["messages"][0]["content"]
    free = set(re.findall(r"^(n\d+) = reshape ", prompt, re.M))
    rules = planned(prompt, free)
    for number, each in enumerate(conversation["rounds"]):
        counts["rounds"] += 1
        counts["tokens_in"] += each["tokens_in"]
        counts["tokens_out"] += each["tokens_out"]
        for verdict in each["verdicts"]:
            legal = verdict["accepted"]
            if number:
                counts["repaired" if legal else "still"] += 1
                continue
            rule, _, ops = verdict["proposal"].partition(": ")
            own = (rule, frozenset(ops.split()) - free) not in rules
            counts["patterns"] += 1
            counts["legal"] += legal
            counts["own"] += own
            counts["own_legal"] += own and legal
    return counts


def report(arguments: argparse.Namespace) -> int:
    columns = ("patterns", "legal", "own", "own_legal", "repaired", "still", "rounds", "tokens_in",
               "tokens_out")
    print("| module | patterns | legal at first | own | own, legal | legal later | rejected later "
          "| answers | tokens in | out |")
    print("|---|" + "---|" * len(columns))
    total = dict.fromkeys(columns, 0)
    for path in sorted(arguments.folder.glob("*.json")):
        for conversation in json.loads(path.read_text())["conversations"]:
            counts = count(conversation)
            for column in columns:
                total[column] += counts[column]
            print(f"| {path.stem} | " + " | ".join(str(counts[each]) for each in columns) + " |")
    print("| all | " + " | ".join(str(total[each]) for each in columns) + " |")
    if total["patterns"]:
        print(f"legal at the first answer: {100 * total['legal'] / total['patterns']:.1f}%; of "
              f"patterns that the rules would not have made: "
              f"{100 * total['own_legal'] / max(1, total['own']):.1f}%")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("ask", "replay", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--timeout", type=float, default=180)
    parser.add_argument("--names", default="", help="a regular expression")
    parser.add_argument("--graphs", type=Path, help="keeps the graphs there")
    arguments = parser.parse_args()
    return report(arguments) if arguments.command == "report" else run(arguments)


if __name__ == "__main__":
    os.environ.setdefault("FACT_PATTERNS", str(ROOT / "build" / "no-patterns"))
    sys.exit(main())
