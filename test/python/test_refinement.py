# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refinement by the agent `llm`, and whole runs from discovery to the last round of it, repeated
from their transcripts."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

from agent_runs import GRAPH, KEY, OPT, OTHER, needs_compiler, write_ceilings
from fact.toolchain import find_tool
from hostile_server import Server, answer, failure, pattern, patterns, refinements

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def measured(tmp_path_factory, root):
    """A graph of kernels, and what was measured of them: the product is far from light."""
    folder = tmp_path_factory.mktemp("measured")
    compiler = str(find_tool("fact-compile"))
    source = root / "test" / "Driver" / "Inputs" / "mlp.mlir"
    graph, bundle = folder / "mlp.mlir", folder / "bundle"
    subprocess.run([compiler, source, "--until=discover", "--target=neoverse-n1",
                    "-o", graph, f"--patterns={folder}/none"], check=True, capture_output=True)
    subprocess.run([compiler, graph, "--until=bundle", f"--bundle={bundle}", "--candidates=2"],
                   check=True, capture_output=True)
    subprocess.run([sys.executable, root / "test" / "Agent" / "Inputs" / "make_results.py", bundle,
                    folder / "results.json", "host_gemm<micro = 8x12, rows = 48, columns = 12>=9",
                    "host_rows<grain = 16>=1.1"], check=True, capture_output=True)

    def refine(url="", **options):
        options = {"transcript": folder / "transcript.json", "results": folder / "results.json",
                   **options}
        text = " ".join(f"{name.replace('_', '-')}={value}" for name, value in options.items())
        start = time.monotonic()
        run = subprocess.run(
            [str(OPT), str(graph), f"--fact-refine=bundle={bundle} llm-url={url} "
             f"llm-model=small {text}"],
            capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        return run.stdout, run.stderr, time.monotonic() - start

    refine.source, refine.bundle, refine.results = source, bundle, folder / "results.json"
    return refine


def test_refinement_takes_what_is_legal(measured):
    with Server(refinements({"micro": ["8x8"]})) as server:
        ir, said, _ = measured(server.url, agent="llm")
    assert "warning" not in said
    assert "#fact.host_gemm<micro = 8x8, rows = 48, columns = 8>" in ir
    assert measured(agent="replay")[0] == ir


@pytest.mark.parametrize("turn", [
    failure(401), answer("no"), answer({"kernels": 5}), answer({"kernels": [5, {}, None]}),
    answer({"kernels": [{"kernel": "$(touch trap)", "space": []}]}),
    refinements(5), refinements({"evil": ["8"]}), refinements({"micro": ["0", "8", "x"]}),
    refinements({"micro": ["4611686018427387904x4"], "rows": ["4611686018427387904"]})])
def test_refinement_without_help_is_the_rules(turn, measured):
    rules = measured(agent="rules")[0]
    with Server(turn) as server:
        ir, said, _ = measured(server.url, agent="llm")
    assert ir == rules
    assert "evil" not in ir and "trap" not in ir
    assert measured(agent="replay")[0] == ir


def test_refinement_corrects_what_was_refused(measured):
    with Server(refinements({"micro": ["64x64"]}, {"evil": ["8"]}), answer("no"),
                refinements({"micro": ["8x8"]})) as server:
        ir, said, _ = measured(server.url, agent="llm")
    assert "warning" not in said
    assert "#fact.host_gemm<micro = 8x8, rows = 48, columns = 8>" in ir
    first, second, third = [request["body"]["messages"] for request in server.requests]
    told = second[2]["content"]
    assert re.search(r"Search 0 \(gemm_epilogue_0\) was rejected: .*the last one: .*64", told)
    assert "Search 1 (gemm_epilogue_0) was rejected: a host_gemm space has no parameter 'evil'" in told
    assert "could not be used: the answer has no JSON object" in third[4]["content"]
    assert measured(agent="replay")[0] == ir


def test_the_prompt_has_the_schema_and_an_example_that_is_legal(measured):
    with Server(answer({"kernels": []})) as server:
        measured(server.url, agent="llm")
    body = server.requests[0]["body"]
    schema, example = [json.loads(line) for line in body["messages"][0]["content"].splitlines()
                       if line.startswith("{")]
    assert schema == body["response_format"]["json_schema"]["schema"]
    assert example["kernels"][0]["space"]
    with Server(answer(example)) as server:
        ir, said, _ = measured(server.url, agent="llm", llm_rounds=1)
    assert "warning" not in said and "#fact.schedules" in ir


def test_refinement_takes_a_schedule_once(measured):
    with Server(refinements({"micro": ["8x8"]}, {"micro": ["8x8"]})) as server:
        ir, said, _ = measured(server.url, agent="llm", llm_rounds=1)
    assert "warning" not in said
    assert ir.count("micro = 8x8") == 1


def test_the_table_of_measurements_is_bounded(measured, tmp_path):
    results = json.loads(measured.results.read_text())
    [product] = [kernel for kernel in results["kernels"] if kernel["rule"] == "gemm_epilogue"]
    schedule = product["attempts"][0]["schedule"]
    for number in range(1000):
        ok = {"status": "ok", "us": 100.0 + number, "norm_error": 0} if number % 2 else \
            {"status": "crash", "detail": "x" * 300}
        key = schedule.replace("rows = 48", f"rows = {number + 1}")
        product["attempts"].append({"candidate": number, "schedule": key, **ok})
    many = tmp_path / "many.json"
    many.write_text(json.dumps(results))
    with Server(refinements({"micro": ["8x8"]})) as server:
        measured(server.url, agent="llm", results=many, window=100000)
    prompt = server.requests[0]["body"]["messages"][0]["content"]
    assert len(prompt) < 20000
    # The fastest, and what failed last.
    assert f"- {schedule}: " in prompt and "rows = 999, " in prompt and "rows = 997, " in prompt
    assert "- 953 more\n" in prompt


def test_the_model_is_told_what_was_measured(measured, tmp_path):
    """Time, share of the speed of light, failures, and what the compiler said of either."""
    results = json.loads(measured.results.read_text())
    [product] = [kernel for kernel in results["kernels"] if kernel["rule"] == "gemm_epilogue"]
    product["attempts"][0]["detail"] = "168 registers; warning: its rows are odd"
    product["attempts"].append({"candidate": 7, "status": "spills", "detail": "8 bytes spill stores",
                                "schedule": "host_gemm<micro = 4x16, rows = 48, columns = 16>"})
    told = tmp_path / "told.json"
    told.write_text(json.dumps(results))
    with Server(refinements({"micro": ["8x8"]})) as server:
        measured(server.url, agent="llm", results=told)
    prompt = server.requests[0]["body"]["messages"][0]["content"]
    assert ", 11% of light (" in prompt
    # 16 rows and 16 columns.
    assert re.search(r"<micro = 8x12, rows = 48, columns = 12>: [0-9.]+ us, 2 tiles, "
                     r"168 registers; warning: its rows are odd", prompt)
    assert "columns = 16>: spills, 1 tiles, 8 bytes spill stores" in prompt
    assert re.search(r"\| 1 steps \| 0\.000 GFLOP, 0\.01 MB \| best ", prompt)
    # What depends on the measurements comes last.
    order = [prompt.index(part) for part in (
        "# Spaces", "## host_gemm", "# The machine", "# Your answer", "# Kernels", "## gemm_epilogue_0",
        "3 more answers of yours are read.")]
    assert order == sorted(order)


def test_feedback_is_bounded(measured):
    with Server(refinements(*[{"evil": ["8"]}] * 3000), answer({"kernels": []})) as server:
        measured(server.url, agent="llm")
    told = server.requests[1]["body"]["messages"][2]["content"]
    assert told.count("has no parameter 'evil'") == 16
    assert "2984 more searches were rejected." in told
    assert len(told) < 20_000


def test_what_the_machine_reaches_decides(measured, tmp_path, monkeypatch):
    """A kernel at the rates that the machine was seen to reach is done, however far from light."""
    results = json.loads(measured.results.read_text())
    bundle = json.loads((measured.bundle / "bundle.json").read_text())
    [product] = [kernel for kernel in bundle["kernels"] if kernel["rule"] == "gemm_epilogue"]
    rates = {name: 1e15 for name in product["flops_by_type"]}
    monkeypatch.setenv("FACT_CACHE_DIR", str(tmp_path))
    # Its traffic takes half of the measured time, then all of it.
    for share, asked in (0.5, True), (1, False):
        bandwidth = product["bytes"] / (share * 9e-6 * product["sol_us"])
        write_ceilings(tmp_path, results["machine"], bandwidth=bandwidth, **rates)
        with Server(answer({"kernels": []})) as server:
            measured(server.url, agent="llm")
        assert bool(server.requests) == asked
        if asked:
            prompt = server.requests[0]["body"]["messages"][0]["content"]
            assert re.search(r", 11% of light \([\d.]+ us\), 50% of what the machine reaches", prompt)


def test_refinement_at_the_limits_takes_no_time(measured):
    sizes = [f"{2 * i}x{4 * j}" for i in range(20, 28) for j in range(20, 28)]
    proposal = {"micro": sizes, "rows": [str(value) for value in range(1, 65)]}
    with Server(refinements(*[proposal] * 2000)) as server:
        _, _, seconds = measured(server.url, agent="llm")
    assert seconds < 20


# ---------------------------------------------------------------------------------------
# Whole runs
# ---------------------------------------------------------------------------------------

def repeated(arguments, transcript, server):
    """Runs with a model and again from the transcript: what both printed, and the first's words."""
    clean = {name: value for name, value in os.environ.items() if name != "FACT_LLM_KEY"}

    def run(options):
        words = [str(word).replace("AGENT", options) for word in arguments]
        done = subprocess.run(words, capture_output=True, text=True, timeout=1500,
                              env={**clean, "FACT_LLM_KEY": KEY})
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr
        return done

    first = run(f"agent=llm transcript={transcript} llm-url={server.url} llm-model=small")
    said = transcript.read_text()
    assert KEY not in said
    again = run(f"agent=replay transcript={transcript}")
    assert "warning" not in again.stderr
    assert transcript.read_text() == said
    assert again.stdout == first.stdout
    return first, json.loads(said)["conversations"]


def test_modules_of_one_run_share_a_transcript(tmp_path):
    source, transcript = tmp_path / "graphs.mlir", tmp_path / "transcript.json"
    source.write_text(GRAPH + "// -----\n" + OTHER + "// -----\n" + GRAPH)
    product = patterns(pattern("n0 n1", "gemm_epilogue", priority=70))
    with Server(product, patterns(pattern("n6", "rowwise", priority=30)), patterns()) as server:
        run, conversations = repeated(
            [OPT, source, "--split-input-file", "--fact-discover=target=host AGENT"],
            transcript, server)
    assert len(conversations) == 3
    one, two, three = run.stdout.split("// -----")
    assert "priority(70)" in one and "priority(30)" in two
    assert "priority(70)" not in three and "priority(30)" not in three


def test_discovery_and_refinement_of_one_pipeline_share_a_transcript(tmp_path, measured):
    transcript = tmp_path / "transcript.json"
    arguments = [OPT, measured.source, "--fact-raise",
                 f"--fact-discover=target=neoverse-n1 patterns={tmp_path}/none AGENT",
                 f"--fact-refine=bundle={measured.bundle} results={measured.results} AGENT"]
    with Server(patterns(), refinements({"micro": ["8x8"]})) as server:
        run, conversations = repeated(arguments, transcript, server)
    assert [len(conversation["rounds"]) for conversation in conversations] == [1, 1]
    assert "#fact.host_gemm<micro = 8x8, rows = 48, columns = 8>" in run.stdout
    # Another run starts another transcript.
    with Server(patterns()) as server:
        _, conversations = repeated(arguments[:4], transcript, server)
    assert len(conversations) == 1


def test_replay_repeats_measurements_too(tmp_path, measured):
    transcript = tmp_path / "transcript.json"
    with Server(refinements({"micro": ["8x8"]})) as server:
        first = measured(server.url, agent="llm", transcript=transcript)[0]
    # Another moment measures other times.
    other = tmp_path / "other.json"
    results = json.loads(measured.results.read_text())
    for kernel in results["kernels"]:
        for attempt in kernel["attempts"]:
            attempt["us"] *= 5
    other.write_text(json.dumps(results))
    assert measured(agent="rules", results=other)[0] != first
    assert measured(agent="replay", transcript=transcript, results=other)[0] == first


def test_the_driver_writes_one_transcript(tmp_path, root):
    """Discovery and two rounds of refinement, tuned for real, and all of it again offline."""
    source = root / "test" / "Driver" / "Inputs" / "mlp.mlir"
    transcript = tmp_path / "transcript.json"

    def compile(folder, *options):
        output = tmp_path / folder
        output.mkdir()
        run = subprocess.run(
            [str(find_tool("fact-compile")), str(source), "-o", str(output / "mlp.so"),
             f"--patterns={tmp_path}/none", "--candidates=2", "--refine=2", "--refine-eps=0",
             f"--summary={output}/summary.json", f"--transcript={transcript}", *options],
            capture_output=True, text=True, timeout=1500, env={**os.environ, "FACT_LLM_KEY": KEY})
        assert run.returncode == 0, run.stderr
        assert "warning" not in run.stderr
        summary = json.loads((output / "summary.json").read_text())
        assert summary["discovery"]["transcript"] == str(transcript)
        return summary, (output / "mlp.bundle" / "bundle.json").read_text()

    with Server(patterns(pattern("n0 n1 n2", "gemm_epilogue", priority=7)),
                patterns(), refinements({"micro": ["8x8"]}),
                patterns(), refinements({"micro": ["4x8"]})) as server:
        summary, bundle = compile("first", "--agent=llm", f"--llm-url={server.url}",
                                  "--llm-model=small", "--llm-rounds=1")
    said = transcript.read_text()
    assert KEY not in said
    conversations = json.loads(said)["conversations"]
    # One about the graph, then two per round: about the grouping, and about schedules.
    assert [len(conversation["rounds"]) for conversation in conversations] == [1] * 5
    assert len(summary["refinement"]) == 2
    again, repeated = compile("again", "--agent=replay")
    assert repeated == bundle
    assert transcript.read_text() == said
    assert again["refinement"] == summary["refinement"]
