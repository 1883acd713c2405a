# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An agent's grouping is measured against that of the rules, and ships only if it is faster."""

import json
import os
import re
import shutil
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
    """Compiles the graph with a model's patterns; returns the bundle, the summary and what was printed."""
    def run(proposed, *arguments, variables=None, may_fail=False):
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
                     "FACT_LEARN": "0", **(variables or {})},
                capture_output=True, text=True, check=False)
        assert may_fail or done.returncode == 0, done.stdout + done.stderr
        return bundle, json.loads(summary.read_text()) if done.returncode == 0 else None, done.stderr

    return run


def count_kernels(bundle):
    return len(json.loads((bundle / "bundle.json").read_text())["program"])


def test_a_bundle_holds_both_groupings(compile_graph):
    bundle, *_ = compile_graph(APART, "--until=bundle", "--candidates=2")
    assert count_kernels(bundle) == 7
    assert count_kernels(bundle / "rules") < 7
    # The bundle is replaced with what is in it.
    bundle, *_ = compile_graph(APART, "--until=bundle", "--candidates=2", "--alternatives=0")
    assert count_kernels(bundle) == 7 and not (bundle / "rules").exists()
    # A factor below 1 is not 0.
    bundle, *_ = compile_graph(APART, "--until=bundle", "--candidates=2", "--alternatives=0.5")
    assert (bundle / "rules").exists()


def test_one_grouping_is_there_once(compile_graph):
    bundle, *_ = compile_graph([pattern("n0", "rules")], "--until=bundle", "--candidates=2")
    assert not (bundle / "rules").exists()


def test_rules_that_cannot_be_written_are_a_warning(compile_graph, root, tmp_path):
    """One after another, each rename of a compilation fails; one of them makes the rules' bundle."""
    log = tmp_path / "renames"
    faults = {"LD_PRELOAD": str(root / "build" / "lib" / "libFactFaults.so"),
              "FACT_FAULT_PROGRAM": "fact-compile", "FACT_FAULT_KIND": "rename"}
    arguments = (APART, "--until=bundle", "--candidates=2")
    compile_graph(*arguments, variables={**faults, "FACT_FAULT_AT": "0", "FACT_FAULT_LOG": str(log)})
    renames = int(re.search(r"rename (\d+)", log.read_text())[1])
    warnings = 0
    for at in range(1, renames + 1):
        shutil.rmtree(tmp_path / "graph.bundle", ignore_errors=True)
        bundle, summary, printed = compile_graph(
            *arguments, variables={**faults, "FACT_FAULT_AT": str(at)}, may_fail=True)
        if "the agent's grouping is not measured against that of the rules: cannot write" in printed:
            warnings += 1
            assert summary and count_kernels(bundle) == 7 and not (bundle / "rules").exists()
    assert warnings == 1


def test_what_ships_is_not_slower_than_the_rules(compile_graph):
    bundle, summary, _ = compile_graph(APART, "--candidates=2")
    tuning = json.loads((bundle / "tuning.json").read_text())
    rules, agent = tuning["groupings"]
    assert (rules["program"], agent["program"]) == ("rules", "agent")
    assert agent["ships"] == (agent["ratio_high"] < 1) and rules["ships"] != agent["ships"]
    measured = summary["discovery"]["measured"]
    assert measured["ships"] == ("agent" if agent["ships"] else "rules")
    assert (measured["us"], measured["rules_us"]) == (agent["us"], rules["us"])
    new = measured["strategies"]["new"]
    assert new["kernels"] == 7 and new["tried"] >= new["verified"] >= 7
