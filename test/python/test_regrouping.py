# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groupings that a model revises by what was measured of them, for real, on the host."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from agent_runs import needs_compiler
from fact import report
from fact.reporting import collect, page
from fact.toolchain import find_tool
from hostile_server import Server, answer, pattern, patterns

pytestmark = needs_compiler

T = "tensor<1024x128xf32>"
GRAPH = f"""
fact.weight @w : tensor<128x128xf32>
func.func @forward(%x: {T}) -> {T} {{
  %w = fact.get_weight @w : tensor<128x128xf32>
  %0 = fact.matmul %x, %w transpose_b : ({T}, tensor<128x128xf32>) -> {T}
  %1 = fact.relu %0 : ({T}) -> {T}
  %2 = fact.tanh %1 : ({T}) -> {T}
  return %2 : {T}
}}
"""
ONE = patterns(pattern("n0 n1 n2", "gemm_epilogue"))
# Many times as long, however busy the machine is.
SLOW = {"micro": ["1x4"], "rows": ["1"], "columns": ["4"]}
APART = patterns(pattern("n0", "gemm_epilogue", space=SLOW), pattern("n1 n2"))
NOTHING = answer({"patterns": [], "kernels": []})


@pytest.fixture(scope="module")
def revised(tmp_path_factory):
    """A run whose model splits the graph, joins it once measured, and splits it again: summary,
    prompts, transcript, and how to compile the graph again."""
    folder = tmp_path_factory.mktemp("revised")
    source, transcript = folder / "graph.mlir", folder / "transcript.json"
    source.write_text(GRAPH)

    def compile(name, *options):
        output = folder / name
        output.mkdir()
        run = subprocess.run(
            [str(find_tool("fact-compile")), str(source), "--target=host", "-o", output / "m.so",
             f"--patterns={folder}/none", "--candidates=1", "--alternatives=1000", "--refine=2",
             "--refine-eps=0", f"--summary={output}/summary.json", f"--transcript={transcript}",
             "--llm-price-in=3", "--llm-price-out=15", *options],
            capture_output=True, text=True, timeout=1500, env=os.environ)
        assert run.returncode == 0, run.stdout + run.stderr
        assert "warning" not in run.stderr
        return json.loads((output / "summary.json").read_text())

    # Slower than the rules, by prediction: it insists. Then one answer per round about the
    # grouping, and one about schedules.
    with Server(APART, NOTHING, ONE, NOTHING, APART, NOTHING) as server:
        first = compile("first", "--agent=llm", f"--llm-url={server.url}", "--llm-model=small")
    return first, [request["body"]["messages"][-1]["content"] for request in server.requests], \
        transcript, compile


def test_a_grouping_is_revised_by_measurements(revised):
    summary, prompts, transcript, _ = revised
    joined, split = summary["regrouping"]
    # The rules' own grouping is the joined one: 1 without a race.
    assert joined["stays"] and joined["ratio"] == 1 < joined["ratio_before"]
    assert not split["stays"] and split["ratio"] > 1 == split["ratio_before"]
    assert summary["ops"]["kernels"] == 1
    assert [kernel["rule"] for kernel in summary["kernels"]][0] == "gemm_epilogue"
    assert json.loads(transcript.read_text())["settled"] == [True, False]
    assert prompts[1].count("Your grouping is slower than the rules alone") == 1


def test_the_model_is_told_what_was_measured(revised):
    prompts = revised[1]
    prompt = prompts[2]
    fixed = prompt.index("# What the rules would do")
    # What a server can reuse of the first prompt of the run.
    assert prompts[0][:fixed] == prompt[:fixed]
    told = prompt[prompt.index("# What was measured of your grouping"):]
    line = (r"^{}: [\d.]+ us predicted, [\d.]+ us measured, \d+% of light \([\d.]+ us\)"
            r".*; [\d.]+ GFLOP, [\d.]+ MB; best host_\w+<.*>; \d+ of \d+ schedules verified")
    for ops in "gemm_epilogue n0", "pointwise n1 n2":
        assert re.search(line.format(ops), told, re.M), told
    ratio = re.search(r"this grouping ([\d.]+) us, the rules' ([\d.]+) us, ratio ([\d.]+) \(", told)
    assert ratio and float(ratio.group(3)) > 1
    # The rules' kernel was measured too, and its other forms with it.
    rules = prompt[fixed:prompt.index("# What was measured of your grouping")]
    assert re.search(line.format("gemm_epilogue n0 n1 n2")
                     + r"; (fused|apart) over (fused|apart) [\d.]+ \([\d.]+ to [\d.]+\)$", rules, re.M), rules
    assert prompt.rstrip().endswith("3 more answers of yours are read.")


@pytest.mark.full
def test_a_revision_is_replayed(revised):
    first, _, transcript, compile = revised
    said = transcript.read_text()
    again = compile("again", "--agent=replay")
    assert transcript.read_text() == said
    assert [each["stays"] for each in again["regrouping"]] == [True, False]
    one, other = [Path(summary["bundle"], "bundle.json").read_text() for summary in (first, again)]
    assert one == other


def test_statistics_by_strategy(revised):
    found = revised[0]["discovery"]
    new = found["strategies"]["new"]
    # Two patterns, the one that the rules make too, and the two again.
    assert (new["proposed"], new["legal_first"], new["legal_repaired"]) == (5, 5, 0)
    assert (new["own"]["proposed"], new["own"]["legal_first"]) == (4, 4)
    # Of those that stand.
    assert (new["verified"], new["faster"]) == (1, 0)
    assert (new["own"]["verified"], new["own"]["faster"]) == (0, 0)
    assert found["calls"] == 6
    assert 0 < new["own"]["tokens"] < new["tokens"] < found["tokens_in"] + found["tokens_out"]
    assert found["price"] == pytest.approx(
        (3 * found["tokens_in"] + 15 * found["tokens_out"]) / 1e6)
    assert found["model_seconds"] > 0


def test_statistics_for_people(revised):
    summary = revised[0]
    lines = report.discovery_lines(summary)
    assert any(line.startswith("new: 5 patterns, 5 legal at first, 0 after repair; 1 verified, "
                               "0 faster than the rules; ") for line in lines), lines
    assert any(line.startswith("new, the model's own: 4 patterns") for line in lines)
    assert any(line.startswith("model: 6 calls") and ", price " in line for line in lines)
    assert sum(line.startswith("regrouped: ") for line in lines) == 2
    text = page.render(collect.build_report(summary, Path(summary["bundle"])))
    assert "the model&#x27;s own" in text and "4 patterns" in text and "dropped" in text


def test_patterns_that_are_faster_than_the_rules(tmp_path):
    """The registry knows slow schedules only, and the rules search those."""
    source, registry = tmp_path / "graph.mlir", tmp_path / "registry"
    source.write_text(GRAPH)

    def compile(name, *options, **environment):
        run = subprocess.run(
            [str(find_tool("fact-compile")), str(source), "--target=host", "-o",
             tmp_path / f"{name}.so", f"--summary={tmp_path}/{name}.json", *options],
            capture_output=True, text=True, timeout=1500, env={**os.environ, **environment})
        assert run.returncode == 0, run.stdout + run.stderr
        return json.loads((tmp_path / f"{name}.json").read_text())["discovery"]

    compile("known", "--candidates=3", "--alternatives=0", FACT_LEARN="1", FACT_PATTERNS=str(registry))
    [file] = registry.glob("gemm_epilogue/*.json")
    content = json.loads(file.read_text())
    [entry] = content["entries"]
    for number, schedule in enumerate(entry["schedules"]):
        schedule["key"] = f"host_gemm<micro = 1x4, rows = {number + 1}, columns = 4>"
    file.write_text(json.dumps(content))
    with Server(patterns(pattern("n0 n1", "gemm_epilogue"), pattern("n2")),
                NOTHING) as server:
        found = compile("m", "--candidates=1", "--alternatives=1", f"--patterns={registry}",
                        "--agent=llm", f"--llm-url={server.url}", "--llm-model=small",
                        f"--transcript={tmp_path}/transcript.json")
    new = found["strategies"]["new"]
    assert (new["verified"], new["faster"]) == (2, 2)
    assert (new["own"]["verified"], new["own"]["faster"]) == (2, 2)
    # Another form of the rules' kernel may have saved their program.
    assert found["measured"]["rules_us"] > 0
