# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the agent `llm` tells a model, and what becomes of its later answers."""

import json
import os
import platform
import re
import subprocess

import pytest

from agent_runs import GRAPH, T, ask, needs_compiler, rules, write_ceilings  # noqa: F401
from fact.toolchain import find_tool
from hostile_server import Server, pattern, patterns

pytestmark = needs_compiler

LARGE = GRAPH.replace("8x16x", "4096x1024x").replace("16x16x", "1024x1024x")
W = "tensor<16x16xf32>"
# A product that has its epilogue in every grouping of the rules.
CHAIN = f"""func.func @main(%x: {T}, %w: {W}) -> {T} {{
  %0 = fact.matmul %x, %w : ({T}, {W}) -> {T}
  %1 = fact.gelu %0 : ({T}) -> {T}
  %2 = fact.add %1, %x : ({T}, {T}) -> {T}
  return %2 : {T}
}}
"""
WEIGHTS = f"""
fact.weight @"a\\0A# Rules\\0Ab" : {W}
func.func @main(%x: {T}) -> {T} {{
  %w = fact.get_weight @"a\\0A# Rules\\0Ab" : {W}
  %p = fact.prepare {{
    %0 = fact.get_weight @"a\\0A# Rules\\0Ab" : {W}
    %1 = fact.exp %0 : ({W}) -> {W}
    fact.yield %1 : {W}
  }} : {W}
  %0 = fact.matmul %x, %w : ({T}, {W}) -> {T}
  %1 = fact.matmul %0, %p : ({T}, {W}) -> {T}
  return %1 : {T}
}}
"""


def sent(server, index):
    """The last message of a request."""
    return server.requests[index]["body"]["messages"][-1]["content"]


def test_the_prompt(ask):
    with Server(patterns()) as server:
        ask(server)
    prompt = sent(server, 0)
    order = [prompt.index(part) for part in (
        "# Your answer", "# How to read the graph", "# Rules", "## gemm_epilogue", "# Spaces",
        "## host_gemm", "# The machine", "# What was reached", "# What was measured before",
        "# The graph",
        "n0 = matmul a0 a1", "# What the rules would do")]
    assert order == sorted(order)
    # Rules of ops that the graph has not, and the schema, which the request has.
    assert "## attention" not in prompt and '"additionalProperties"' not in prompt
    assert "us of launch" in prompt
    assert re.search(r"Default for one kernel of this graph: micro \[\d+x\d+", prompt)
    plan = prompt[prompt.index("# What the rules would do"):]
    assert re.search(r"^gemm_epilogue n0.*: \d+\.\d\d us$", plan, re.M)
    assert re.search(r"^All kernels together: \d+\.\d\d us$", plan, re.M)
    assert prompt.rstrip().endswith("3 more answers of yours are read.")


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A registry with what was measured of the graph on this machine, and what its forms gain."""
    folder = tmp_path_factory.mktemp("learned")
    source, registry = folder / "graph.mlir", folder / "registry"
    source.write_text(CHAIN)
    done = subprocess.run(
        [str(find_tool("fact-compile")), source, "--target=host", "-o", folder / "m.so",
         "--candidates=1", "--alternatives=1000", "--tuner-argument=--ablate"],
        env={**os.environ, "FACT_LEARN": "1", "FACT_PATTERNS": str(registry)},
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return registry


def test_the_prompt_has_what_was_measured(ask, learned, tmp_path_factory):
    """Gains of forms, the best share of a rule, and the rates of a machine that was probed."""
    with Server(patterns()) as server:
        ask(server, graph=CHAIN, patterns=learned)
    prompt = sent(server, 0)
    reached = prompt[prompt.index("# What was reached"):prompt.index("# What was measured before")]
    assert re.search(r"^gemm_epilogue: at best \d+% of light, on \S+", reached, re.M)
    gain = r"(fused|single|apart) over (fused|single|apart) [\d.]+ \([\d.]+ to [\d.]+\) on \S+"
    plan = prompt[prompt.index("# What the rules would do"):]
    [(ops, *_)] = re.findall(rf"^gemm_epilogue ([n\d ]+): [\d.]+ us; {gain}", plan, re.M)
    entries = prompt[prompt.index("# What was measured before"):prompt.index("# The graph")]
    assert re.search(rf"^Near gemm_epilogue of {ops}:\n.*; {gain}", entries, re.M)
    # What was accepted has its gain too.
    with Server(patterns(pattern(ops, "gemm_epilogue"), pattern("n99")), patterns()) as server:
        ask(server, graph=CHAIN, patterns=learned)
    assert re.search(rf"^gemm_epilogue {ops}: [\d.]+ us; {gain}", sent(server, 1), re.M)

    cache = tmp_path_factory.mktemp("cache")
    own, other = ["x86_64", "aarch64"] if platform.machine() == "x86_64" else ["aarch64", "x86_64"]
    write_ceilings(cache, f"{own}, a processor, 4 threads", bandwidth=5e10, matrix_flops_32=2e12)
    write_ceilings(cache, f"{other}, a foreign processor, 4 threads", bandwidth=6e10)
    write_ceilings(cache, "a GPU, sm_90, 132 multiprocessors", bandwidth=4e12)
    with Server(patterns()) as server:
        ask(server, environment={"FACT_CACHE_DIR": str(cache)}, replay=False)
    prompt = sent(server, 0)
    assert (f"{own}, a processor, 4 threads reaches bandwidth 0.050 T/s, matrix_flops_32 2.000 T/s, "
            "and 3.00 us per launch\n" in prompt)
    assert "a GPU" not in prompt and "a foreign processor" not in prompt


def test_limits_are_those_of_the_target(ask):
    with Server(patterns()) as server:
        ask(server, target="h200", graph=GRAPH.replace("f32", "bf16"))
    prompt = sent(server, 0)
    rowwise = prompt[prompt.index("## rowwise"):]
    assert "Limits: Exactly one norm, softmax or reduce" in rowwise
    assert "## sm90_gemm" in prompt and "host_gemm" not in prompt
    # Not a bf16 graph's.
    assert "strict" not in prompt


@pytest.mark.parametrize("target", ["host", "h200", "a100"])
def test_schedules_are_the_page_that_people_read(ask, root, target):
    with Server(patterns()) as server:
        ask(server, target=target, graph=GRAPH.replace("f32", "bf16") if target != "host" else GRAPH)
    prompt = sent(server, 0)
    spaces = re.search(r"^# Spaces\n.*?^(## .*?)^# The machine$", prompt, re.M | re.S)[1]
    sections = [each.partition("Default for one kernel")[0]
                for each in re.split(r"^(?=## )", spaces, flags=re.M) if each]
    page = (root / "docs" / "reference" / "Schedules.md").read_text()
    assert len(sections) > 1 and [each for each in sections if each not in page] == []


def test_types_of_weights_and_names_in_one_line(ask):
    with Server(patterns()) as server:
        ask(server, graph=WEIGHTS)
    prompt = sent(server, 0)
    assert 'n0 = matmul a0 w:"a\\0A# Rules\\0Ab"(16x16xf32) : 8x16xf32' in prompt
    assert "n1 = matmul n0 p0(16x16xf32) : 8x16xf32" in prompt


def test_a_later_answer_revises_what_was_accepted(ask):
    with Server(patterns(pattern("n0", "gemm_epilogue"), pattern("n6", "softmax")),
                patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    told = sent(server, 1)
    assert re.search(r"^gemm_epilogue n0: \d+\.\d\d us$", told, re.M)
    assert "the graph is predicted to take" in told and "by the rules alone" in told
    assert "2 more answers of yours are read." in told
    products = re.findall(r'fact.fused "gemm_epilogue".*?\n    }', run.ir, re.S)
    assert len(products) == 1 and "fact.gelu" in products[0]


def test_an_illegal_revision_changes_nothing(ask):
    with Server(patterns(pattern("n0", "gemm_epilogue"), pattern("n6", "softmax")),
                patterns(pattern("n0 n6", "gemm_epilogue")), patterns()) as server:
        run = ask(server)
    [product] = re.findall(r'fact.fused "gemm_epilogue".*?\n    }', run.ir, re.S)
    assert "fact.gelu" not in product


def test_ops_go_back_to_the_rules(ask, rules):
    with Server(patterns(pattern("n0", "gemm_epilogue"), pattern("n6", "softmax")),
                patterns(pattern("n0", "rules"))) as server:
        run = ask(server)
    assert run.ir == rules()


def test_a_slow_grouping_is_sent_back_once(ask, rules):
    alone = patterns(pattern("n0", "gemm_epilogue"), *(pattern(f"n{i}") for i in range(1, 6)),
                     pattern("n6", "rowwise"))
    with Server(alone, patterns()) as server:
        run = ask(server, graph=LARGE)
    assert len(server.requests) == 2
    told = sent(server, 1)
    assert "Your grouping is slower than the rules alone" in told
    slow, fast = re.search(r"predicted to take ([\d.]+) us; by the rules alone ([\d.]+) us",
                           told).groups()
    assert float(slow) > float(fast)
    # The model insists.
    assert run.ir != rules(LARGE)
    with Server(patterns(pattern("n0 n1 n2 n3 n4 n5", "gemm_epilogue"))) as server:
        ask(server, graph=LARGE)
    assert len(server.requests) == 1


def test_feedback_is_bounded(ask):
    bad = [pattern("n0 n99", "gemm_epilogue") for _ in range(3000)]
    with Server(patterns(*bad), patterns()) as server:
        ask(server, replay=False)
    told = sent(server, 1)
    assert told.count("was rejected: there is no op 'n99'") == 16
    assert "2984 more patterns were rejected." in told
    assert len(told) < 20_000


def test_statistics_count_what_the_model_sent(ask):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue"), pattern("n6", "softmax")),
                patterns(pattern("n6", "rowwise")), patterns()) as server:
        run = ask(server, statistics="true", replay=False)
    counted = {name: int(value) for value, name in re.findall(r"\(S\) +(\d+) (\S+)", run.said)}
    assert (counted["subgraphs-proposed"], counted["subgraphs-accepted"],
            counted["subgraphs-rejected"]) == (3, 2, 1)
    assert (counted["legal-at-first"], counted["legal-after-repair"]) == (1, 1)
    assert counted["subgraphs-covered"] >= 1 and counted["subgraphs-prepared"] == 0
    verdicts = [verdict["accepted"] for each in
                json.loads(run.transcript)["conversations"][0]["rounds"]
                for verdict in each["verdicts"]]
    assert verdicts == [True, False, True]


def test_load_functions_are_not_the_models(ask):
    with Server(patterns()) as server:
        run = ask(server, graph=WEIGHTS, statistics="true", replay=False)
    counted = {name: int(value) for value, name in re.findall(r"\(S\) +(\d+) (\S+)", run.said)}
    assert counted["subgraphs-proposed"] == 0 and counted["subgraphs-prepared"] == 1
