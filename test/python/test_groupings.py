# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An agent's grouping is measured against that of the rules, and ships only if it is faster."""

import json
import os
import subprocess

import pytest

from agent_runs import GRAPH, needs_compiler
from fact.toolchain import find_tool
from hostile_server import Server, pattern, patterns

pytestmark = needs_compiler

# Each op a kernel of its own, which the rules would not do.
APART = [pattern("n0", "gemm_epilogue"), *(pattern(f"n{i}") for i in range(1, 6)), pattern("n6", "rowwise")]


@pytest.fixture
def compile_graph(tmp_path):
    """Compiles the graph with a model's patterns; returns the bundle and the summary."""
    def run(proposed, *arguments):
        source, bundle, summary = (tmp_path / name for name in ("graph.mlir", "graph.bundle", "summary.json"))
        source.write_text(GRAPH)
        path = os.pathsep.join([str(find_tool("fact-tune").parent), os.environ["PATH"]])
        environment = {name: value for name, value in os.environ.items()
                       if not name.lower().endswith("_proxy")}
        with Server(patterns(*proposed)) as server:
            done = subprocess.run(
                [str(find_tool("fact-compile")), str(source), "--target=host", f"-o={tmp_path / 'graph.so'}",
                 f"--bundle={bundle}", f"--summary={summary}", "--agent=llm", f"--llm-url={server.url}",
                 "--llm-model=small", "--llm-rounds=1",
                 f"--transcript={tmp_path / 'transcript.json'}", *arguments],
                env={**environment, "PATH": path, "FACT_PATTERNS": str(tmp_path / "registry"),
                     "FACT_LEARN": "0"},
                capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return bundle, json.loads(summary.read_text())

    return run


def count_kernels(bundle):
    return len(json.loads((bundle / "bundle.json").read_text())["program"])


def test_a_bundle_holds_both_groupings(compile_graph):
    bundle, _ = compile_graph(APART, "--until=bundle", "--candidates=2")
    assert count_kernels(bundle) == 7
    assert count_kernels(bundle / "rules") < 7
    # The bundle is replaced with what is in it.
    bundle, _ = compile_graph(APART, "--until=bundle", "--candidates=2", "--alternatives=0")
    assert count_kernels(bundle) == 7 and not (bundle / "rules").exists()


def test_one_grouping_is_there_once(compile_graph):
    bundle, _ = compile_graph([pattern("n0", "rules")], "--until=bundle", "--candidates=2")
    assert not (bundle / "rules").exists()


def test_what_ships_is_not_slower_than_the_rules(compile_graph):
    bundle, summary = compile_graph(APART, "--candidates=2")
    tuning = json.loads((bundle / "tuning.json").read_text())
    rules, agent = tuning["groupings"]
    assert (rules["program"], agent["program"]) == ("rules", "agent")
    assert agent["ships"] == (agent["ratio_high"] < 1) and rules["ships"] != agent["ships"]
    measured = summary["discovery"]["measured"]
    assert measured["ships"] == ("agent" if agent["ships"] else "rules")
    assert (measured["us"], measured["rules_us"]) == (agent["us"], rules["us"])
    new = measured["strategies"]["new"]
    assert new["kernels"] == 7 and new["tried"] >= new["verified"] >= 7
