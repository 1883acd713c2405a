# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The agent `llm` against a server that misbehaves, and `replay` of what came of it.

Whatever a server sends, the compiler ends well, says what happened, and the graph is
covered: as the rules do it, where nothing legal was proposed.
"""

import json
import re
import subprocess
import sys

import pytest

from agent_runs import GRAPH, OTHER, TWINS, Run, T, ask, needs_compiler, rules  # noqa: F401
from fact.toolchain import find_tool
from hostile_server import Server, answer, cut, failure, later, pattern, patterns, raw, silence

pytestmark = needs_compiler


# ---------------------------------------------------------------------------------------
# Answers
# ---------------------------------------------------------------------------------------

MANY = [str(value) for value in range(1, 65)]
LARGE = {"name": "rows", "values": MANY}, {"name": "columns", "values": MANY}

# The last is what the compiler says.
ANSWERS = {
    "prose": ("I would fuse the product with what follows.", "the answer has no JSON object"),
    "not JSON": ("{patterns: [n0]}", "the answer is not JSON"),
    "no list": ({"pattern": []}, "the answer needs a list 'patterns'"),
    "a list of nonsense": ({"patterns": [1, None, "n0", [], {}]}, "is not an object"),
    "deep nesting": ('{"patterns": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper"),
    "too many patterns": ({"patterns": [pattern("n0")] * 5000}, "at most 4096 are read"),
    "no ops": ({"patterns": [pattern([])]}, "needs 'ops'"),
    "ops that are numbers": ({"patterns": [pattern([0, 1])]}, "not an op id"),
    "ops that do not exist": ({"patterns": [pattern("n0 n99")]},
                              "there is no op 'n99' in the graph"),
    "inputs as ops": ({"patterns": [pattern("a0 n1")]}, "there is no op 'a0'"),
    "an unknown rule": ({"patterns": [pattern("n0 n1", "megakernel")]}, "has no rule 'megakernel'"),
    "a rule that cannot": ({"patterns": [pattern("n0 n1", "attention")]}, "rejected"),
    "a group with a hole": ({"patterns": [pattern("n0 n4", "gemm_epilogue")]}, "not convex"),
    "an unknown strategy": ({"patterns": [pattern("n0", "gemm_epilogue", strategy="MAGIC")]},
                            "'strategy' must be REUSE, ADAPT or NEW"),
    "an entry that is not there": (
        {"patterns": [pattern("n0", "gemm_epilogue", strategy="REUSE", entry="../../etc/passwd")]},
        "there is no entry '../../etc/passwd'"),
    "an unknown parameter": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "warps", "values": ["4"]}])]},
        "space has no parameter 'warps'; it has 'micro'"),
    "an illegal schedule": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "micro", "values": ["64x64"]}])]},
        "its space has no legal schedule"),
    "products beyond 64 bits": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space={"micro": ["4611686018427387904x4"], "columns": ["8"],
                                     "rows": ["4611686018427387904"]})]},
        "its space has no legal schedule"),
    "nothing times something": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space={"micro": ["0x8", "8x0"], "rows": ["0"]})]},
        "its space has no legal schedule"),
    "one size of two": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue", space={"micro": ["8x8", "8"]})]},
        "invalid space: 'micro' is rows 1 to 128, columns a multiple of 4 up to 512, "
        "not '8'"),
    "a schedule in other words": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "micro", "values": ["wide"]}])]},
        "invalid space"),
    "a space of thousands": ({"patterns": [pattern("n0 n1", "gemm_epilogue", space=LARGE)]},
                             "points; the limit is 4096"),
    "a list of thousands": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "rows", "values": ["8"] * 5000}])]},
        "'space' needs lists of words and sizes"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_that_help_nobody(name, ask, rules):
    content, message = ANSWERS[name]
    with Server(answer(content)) as server:
        run = ask(server, llm_rounds=2)
    assert message in run.said
    assert run.ir == rules()
    assert len(server.requests) == 2
    # It was told.
    assert message in json.dumps(server.requests[1]["body"]["messages"][-1]["content"])
    assert run.seconds < 8


def test_legal_patterns_are_kept(ask, rules):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue", priority=9, rationale="one"),
                         pattern("n1 n2", priority=5),  # n1 is taken
                         pattern("n6 n6", "rowwise", priority=3),
                         pattern("n7", priority=2))) as server:
        run = ask(server, llm_rounds=1)
    assert "is already in another group" in run.said
    assert "there is no op 'n7'" in run.said
    assert "one" in run.said
    verdicts = [verdict["accepted"] for verdict in
                json.loads(run.transcript)["conversations"][0]["rounds"][0]["verdicts"]]
    assert verdicts == [True, False, True, False]
    assert run.ir.count("fact.fused") >= 3
    # What the model left over is tuned after its own groups.
    priorities = [int(given) for given in re.findall(r"priority(?:\(| = )(-?\d+)", run.ir)]
    assert sorted(given for given in priorities if given >= 0) == [3, 9]
    assert -1 in priorities


def test_groups_that_are_a_cycle_together(ask):
    with Server(patterns(pattern("n2 n4"), pattern("n3 n5"))) as server:
        run = ask(server, llm_rounds=1)
    assert "the group is not convex" in run.said
    assert run.transcript.count('"accepted": true') == 1


def test_an_answer_at_the_limits_takes_no_time(ask):
    one = pattern("n0 n1", "gemm_epilogue", space=[
        {"name": "micro", "values": [f"{2 * i}x{4 * j}" for i in range(20, 28) for j in range(20, 28)]},
        {"name": "rows", "values": MANY}])
    with Server(patterns(*[one] * 2000)) as server:
        run = ask(server, llm_rounds=1, replay=False)
    assert "its space has no legal schedule" in run.said
    assert "more than 65536 points in total" in run.said
    assert run.seconds < 20


def test_the_next_round_corrects(ask):
    with Server(patterns(pattern("n0 n1", "rowwise")),
                patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert len(server.requests) == 2
    assert "was rejected: " in server.requests[1]["body"]["messages"][2]["content"]
    assert run.transcript.count('"accepted": true') == 1


def test_diagnostics_name_what_the_model_named(ask):
    with Server(patterns(pattern("n1 n2", priority=1), pattern("n0 n1", "gemm_epilogue", priority=9),
                         pattern("n2 n4 n5", priority=3), pattern("n3 n6", priority=2)),
                patterns()) as server:
        run = ask(server)
    told = server.requests[1]["body"]["messages"][2]["content"]
    # Patterns in the order of the answer, ops by their ids.
    assert "Pattern 0 (pointwise: n1 n2) was rejected: 'fact.gelu' (n1) is already in another group" in told
    assert "Pattern 1 " not in told
    assert re.search(r"Pattern 2 .* not convex; 'fact.tanh' \(n3\) uses a value of the group", told) or \
        re.search(r"Pattern 3 .* not convex; 'fact.add' \(n4\) uses a value of the group", told)
    verdicts = json.loads(run.transcript)["conversations"][0]["rounds"][0]["verdicts"]
    assert [verdict["proposal"] for verdict in verdicts][:2] == ["pointwise: n1 n2",
                                                                 "gemm_epilogue: n0 n1"]


def test_hostile_text_stays_text(tmp_path, ask, rules):
    trap = tmp_path / "trap"
    texts = [f"$(touch {trap})", f"`touch {trap}`", f"; touch {trap} #", f"{trap}",
             f"../{trap.name}", "../../../../etc/passwd", "/dev/stdout",
             "evil\"} : () -> ()\nfunc.func @evil() { return }\n//", "#fact.evil<x>", "@evil",
             "%s%n%x%d", "{0} {1} {2:evil}", "evil\nwarning: evil", "\x1b]0;evil\x07\x1b[31m",
             "evil\0evil", "evil\u2028\u202e", "A" * 20000, "-o", "--help"]
    good = pattern("n0 n1", "gemm_epilogue", strategy="NEW", entry="", rationale="",
                   space=[{"name": "rows", "values": ["8"]}])
    changes = [lambda p, t: p.update(ops=[t]), lambda p, t: p.update(ops=["n0", t]),
               lambda p, t: p.update(rule=t), lambda p, t: p.update(strategy=t),
               lambda p, t: p.update(strategy="ADAPT", entry=t),
               lambda p, t: p.update(priority=t, ops=["n99"]),
               lambda p, t: p.update(rationale=t, ops=["n99"]),
               lambda p, t: p.update(space=t), lambda p, t: p.update(space={t: ["8"]}),
               lambda p, t: p.update(space={"rows": [t]}),
               lambda p, t: p.update(space=[{"name": t, "values": ["8"]}]),
               lambda p, t: p.update(space=[{"name": "rows", "values": [t]}])]
    proposed = []
    for change in changes:
        for text in texts:
            proposed.append(json.loads(json.dumps(good)))
            change(proposed[-1], text)
    accepted = {**good, "rationale": " ".join(texts[:-3])}
    # In one answer, in texts around it, in what a server says of itself, and in its headers.
    with Server(answer("\n".join(texts) + "\n" + json.dumps({"patterns": proposed}),
                       model=texts[0], id=texts[7])) as server:
        run = ask(server, llm_rounds=2)
    assert run.ir == rules()
    for text in texts:
        with Server(failure(500, text)) as server:
            assert ask(server, llm_retries=0, replay=False).ir == rules()
    with Server(answer({"patterns": [accepted]})) as server:
        kept = ask(server, llm_rounds=1)
    assert kept.ir != rules()
    for result in run, kept:
        assert not trap.exists()
        assert "evil" not in result.ir and "touch" not in result.ir
        assert "\x1b" not in result.said and "\0" not in result.said
        # No line of it looks like one of ours.
        assert not [line for line in result.said.splitlines() if line.startswith("warning: evil")]


def test_what_a_model_proposed_is_not_by_the_rules(ask):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server, llm_rounds=1)
    [line] = [line for line in run.said.splitlines() if "accepted" in line and "gemm_epi" in line]
    assert "by the model, without a rationale" in line and "by the rules" not in line
    assert "by the rules" in run.said


def test_format_strings_in_a_rationale(ask):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue", rationale="100%s {0} {1}"))) as server:
        run = ask(server, llm_rounds=1)
    assert "100%s {0} {1}" in run.said


# ---------------------------------------------------------------------------------------
# Limits and transcripts
# ---------------------------------------------------------------------------------------

def test_tokens_are_limited(ask, rules, tmp_path):
    with Server(patterns()) as server:
        run = ask(server, llm_tokens=100, replay=False)
        assert "(llm-answer-tokens), but llm-tokens leaves 100" in run.said
        assert server.requests == []
        assert run.ir == rules()
        # The answer's tokens are reserved before the request is sent.
        run = ask(server, llm_tokens=8000, replay=False)
        assert "its answer up to 8192 (llm-answer-tokens), but llm-tokens leaves 8000" in run.said
        assert server.requests == []


def sent_tokens(server):
    """What was sent comes to about so many tokens: three bytes each."""
    return sum(len(json.dumps(request["body"], separators=(",", ":"))) // 3
               for request in server.requests)


MISREPORTED = {
    "nothing": {},
    "one token": {"prompt_tokens": 1, "completion_tokens": 1},
    "less than nothing": {"prompt_tokens": -50_000, "completion_tokens": -50_000},
}


@pytest.mark.parametrize("usage", MISREPORTED)
def test_tokens_are_counted_whatever_the_server_says(usage, ask):
    """A budget is one of what is sent, not of what is reported."""
    content = {"patterns": [pattern("n99", rationale="x" * 900)]}
    with Server(answer(content, usage=MISREPORTED[usage])) as server:
        ask(server, llm_tokens=12_000, llm_answer_tokens=500, llm_rounds=20)
    assert 2 <= len(server.requests) < 8
    assert sent_tokens(server) <= 12_000


@pytest.mark.parametrize("turn", [failure(500), failure(429), cut, raw(b"")])
def test_failed_requests_use_tokens(turn, ask):
    with Server(turn) as server:
        run = ask(server, llm_tokens=9000, llm_answer_tokens=100, llm_retries=20, llm_timeout=60)
    assert 1 <= len(server.requests) <= 5
    assert sent_tokens(server) <= 9000
    assert "llm-tokens leaves" in run.said
    [conversation] = json.loads(run.transcript)["conversations"]
    assert conversation["rounds"][0]["tokens_in"] >= sent_tokens(server) * 0.9


def test_requests_without_an_answer_use_the_answers_tokens(ask):
    """A server that never answered may have written all that it was allowed to."""
    with Server(silence) as server:
        run = ask(server, llm_timeout=1, llm_answer_tokens=700)
    [conversation] = json.loads(run.transcript)["conversations"]
    assert conversation["rounds"][0]["tokens_out"] == 700
    assert conversation["rounds"][0]["tokens_in"] >= sent_tokens(server) * 0.9


def test_requests_that_never_left_use_no_tokens(ask):
    run = ask(llm_url="http://127.0.0.1:1/v1", llm_retries=0)
    [conversation] = json.loads(run.transcript)["conversations"]
    assert conversation["rounds"][0]["tokens_in"] == conversation["rounds"][0]["tokens_out"] == 0


def test_rounds_and_seconds_are_limited(ask):
    with Server(patterns(pattern("n99"))) as server:
        ask(server, llm_rounds=4)
        assert len(server.requests) == 4
    with Server(patterns(pattern("n99"))) as server:
        run = ask(server, llm_rounds=4, llm_seconds=0)
        assert len(server.requests) == 0
        assert "the 0 s of llm-seconds are used up" in run.said
    for timeout in "0", "-5", "1e300":
        with Server(patterns()) as server:
            ask(server, llm_timeout=timeout)


def test_seconds_are_of_the_whole_run(ask):
    with Server(later(0.6, patterns(pattern("n0", "gemm_epilogue")))) as server:
        run = ask(server, graph=TWINS, llm_seconds=1)
    assert "no answer within 0.3" in run.said or "no answer within 0.4" in run.said
    assert "s (llm-seconds)" in run.said
    assert run.transcript.count('"accepted": true') == 1
    assert len(server.requests) == 2


def test_tokens_are_of_the_whole_run(ask):
    with Server(answer({"patterns": [pattern("n0", "gemm_epilogue")]},
                       usage={"prompt_tokens": 9000, "completion_tokens": 900})) as server:
        run = ask(server, graph=TWINS, llm_tokens=10_000, llm_answer_tokens=1000)
    assert "but llm-tokens leaves 100" in run.said
    assert len(server.requests) == 1
    # The transcript says so too.
    [_, refused] = json.loads(run.transcript)["conversations"]
    assert "llm-tokens leaves 100" in refused["rounds"][0]["error"]


def test_options_are_the_same_everywhere():
    """The passes and the driver have the same options, with the same words."""
    def options(tool, part):
        text = subprocess.run([str(find_tool(tool)), "--help"], capture_output=True, text=True,
                              check=True).stdout
        [section] = re.findall(part, text, re.M | re.S)
        return dict(re.findall(r"^ +--(agent|transcript|llm-[a-z-]+)=<[a-z]+> +- +(.*)$", section,
                               re.M))

    driver = options("fact-compile", ".+")
    assert len(driver) == 15
    for name in "discover", "refine":
        assert options("fact-opt", f"^      --fact-{name} .*?(?=^      --)") == driver
    command = subprocess.run([sys.executable, "-m", "fact", "compile", "--help"], check=True,
                             capture_output=True, text=True).stdout
    for name in driver:
        assert f"--{name} " in command


def test_graphs_at_the_edge(ask):
    # Arguments of any type, functions without work or a body: nothing to ask for those.
    graph = f"""func.func private @external({T}) -> {T}
      func.func @nothing() {{ return }}
      func.func @same(%x: {T}) -> {T} {{ return %x : {T} }}
      func.func @main(%x: {T}, %n: i64, %d: tensor<?x4xf32>, %u: tensor<*xf32>) -> {T} {{
        %0 = fact.exp %x : ({T}) -> {T}
        return %0 : {T}
      }}"""
    with Server(patterns(pattern("n0"))) as server:
        run = ask(server, graph=graph)
    assert run.transcript.count('"accepted": true') == 1
    [request] = server.requests
    assert "a2 : ?x4xf32" in request["body"]["messages"][0]["content"]


def test_functions_that_are_alike_have_a_conversation_each(ask):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue")), patterns(pattern("n0", "gemm_epilogue")),
                patterns()) as server:
        run = ask(server, graph=TWINS)
    one, two = run.ir.split("@two")
    assert one.split("@one")[1].split("fact.fused")[1] != two.split("fact.fused")[1]


def test_a_transcript_of_another_graph(tmp_path, ask, rules):
    with Server(patterns(pattern("n0", "gemm_epilogue"))) as server:
        ask(server)
    options = {"agent": "replay", "transcript": tmp_path / "transcript.json"}
    run = Run(tmp_path, OTHER, options)
    assert run.status == 0
    assert "has no conversation about this graph and target" in run.said
    assert run.ir == rules(OTHER)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1}', "\xff\0",
                                  '{"format": 1, "conversations": [{"graph": 1}]}', "[" * 100_000])
def test_broken_transcripts(text, tmp_path):
    file = tmp_path / "transcript.json"
    file.write_bytes(text.encode("latin-1"))
    run = Run(tmp_path, GRAPH, {"agent": "replay", "transcript": file})
    assert run.status == 1
    assert f"error: '{file}' is " in run.said


def test_transcripts_that_are_not_there(tmp_path):
    run = Run(tmp_path, GRAPH, {"agent": "replay", "transcript": tmp_path / "none.json"})
    assert run.status == 1 and "cannot read transcript" in run.said
    run = Run(tmp_path, GRAPH, {"agent": "replay"})
    assert run.status == 1 and "agent=replay needs a transcript" in run.said


def test_a_transcript_that_cannot_be_written(tmp_path, ask):
    with Server(patterns()) as server:
        run = ask(server, transcript=tmp_path / "no" / "such" / "folder.json", replay=False)
    assert "cannot write" in run.said


def test_transcripts_stay_in_the_cache(tmp_path, ask):
    """Whatever a machine calls itself."""
    work, machine = tmp_path / "key", tmp_path / "machine.json"
    machine.write_text(json.dumps({"name": "../../trap $(x)/" + "m" * 300, "base": "host"}))
    with Server(patterns()) as server:
        run = Run(tmp_path, GRAPH, {"agent": "llm", "llm-url": server.url, "llm-model": "small",
                                    "target": machine}, {"FACT_WORK_DIR": str(work)})
    assert run.status == 0, run.said
    [file] = (work / "transcripts").iterdir()
    assert re.fullmatch(r"[A-Za-z0-9._-]{20,140}", file.name)


def test_transcripts_go_into_the_cache(tmp_path, ask):
    work = tmp_path / "key"
    with Server(patterns()) as server:
        ask(server, transcript="", environment={"FACT_WORK_DIR": str(work)}, replay=False)
    [file] = (work / "transcripts").iterdir()
    run = Run(tmp_path, GRAPH, {"agent": "replay", "transcript": file})
    assert run.status == 0 and "warning" not in run.said


# ---------------------------------------------------------------------------------------
# Deep models
# ---------------------------------------------------------------------------------------

def blocks(root, count):
    return subprocess.run([sys.executable, root / "test" / "Fusion" / "Inputs" / "make_blocks.py",
                           str(count)], check=True, capture_output=True, text=True).stdout


def test_layers_that_are_alike_are_told_once(ask, root):
    """A model of 32 layers takes a prompt of one, and a pattern is for each of them."""
    sizes = {}
    for count in 8, 32:
        with Server(patterns(), patterns()) as server:
            ask(server, graph=blocks(root, count), target="h200", replay=False)
        [request] = server.requests
        prompt = request["body"]["messages"][0]["content"]
        sizes[count] = len(prompt), len(json.dumps(request["body"]["response_format"]))
    assert abs(sizes[32][0] - sizes[8][0]) < 100 and abs(sizes[32][1] - sizes[8][1]) < 100
    begin, end, first, last = map(int, re.search(
        r"^n(\d+)\.\.n(\d+) repeat n(\d+)\.\.n(\d+)$", prompt, re.M).groups())
    assert begin == last + 1 and f"\nreturn n{end}\n" in prompt
    assert f"\nn{last} = " in prompt and f"\nn{begin} = " not in prompt
    products = [line.split()[0] for line in prompt.splitlines()
                if re.match(r"n\d+ = matmul .* w:down_", line)
                and first <= int(line.split()[0][1:]) <= last]
    [product] = products
    add = f"n{int(product[1:]) + 1}"
    # Of what is wrong for each of them, the model is told once.
    with Server(patterns(pattern([product, add], "gemm_epilogue", priority=77777),
                         pattern([add], priority=5)), patterns()) as server:
        run = ask(server, graph=blocks(root, 32), target="h200")
    assert run.ir.count("priority(77777)") == 32
    told = server.requests[1]["body"]["messages"][2]["content"]
    assert told.count("was rejected: ") == 1
    assert f"Pattern 1 (pointwise: {add}) was rejected: 'fact.add' ({add}) is already in another" in told
    assert len(told) < 1000
    assert run.seconds < 10


# ---------------------------------------------------------------------------------------
# What it is told
# ---------------------------------------------------------------------------------------

BF16_GRAPH = """func.func @main(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>)
    -> tensor<512x256xbf16> {
  %0 = fact.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x256xbf16>) -> tensor<512x256xbf16>
  %1 = fact.gelu %0 : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
  return %1 : tensor<512x256xbf16>
}
"""


@pytest.mark.parametrize("target", ["host", "h200"])
def test_the_prompt_has_an_example_that_is_legal(target, ask):
    with Server(patterns()) as server:
        ask(server, graph=BF16_GRAPH, target=target, replay=False)
    body = server.requests[0]["body"]
    prompt = body["messages"][0]["content"]
    objects = [json.loads(line) for line in prompt.splitlines() if line.startswith("{")]
    [example] = objects
    # The schema is sent beside it, with the ids that the graph has.
    sent = body["response_format"]["json_schema"]["schema"]["properties"]["patterns"]
    assert sent["maxItems"] == 2
    assert sent["items"]["properties"]["ops"]["maxItems"] == 2
    assert sent["items"]["properties"]["ops"]["items"]["enum"] == ["n0", "n1"]
    # The compiler takes its own example.
    assert example["patterns"][0]["space"]
    with Server(answer(example)) as server:
        run = ask(server, graph=BF16_GRAPH, target=target, llm_rounds=1)
    assert run.transcript.count('"accepted": true') == 1


def test_the_page_of_schedules_is_that_of_the_target(ask):
    for target, there, elsewhere in ("host", "micro", "stream_k"), ("h200", "stream_k", "micro"):
        with Server(patterns()) as server:
            ask(server, graph=BF16_GRAPH, target=target, replay=False)
        prompt = server.requests[0]["body"]["messages"][0]["content"]
        assert there in prompt and elsewhere not in prompt


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """A registry of products, by what an entry is to the one of BF16_GRAPH on an H200."""
    folder = tmp_path_factory.mktemp("registry")
    tiles = ["128x128x64", "64x256x64"]

    def entry(extents, ops="matmul.nn,gelu", status="accepted"):
        known = {"us": 10, "sol_share": 0.5} if status == "accepted" else {"reason": "spills"}
        return {"ops": ops, "extents": {"batch": 1, "tensors": 1, **extents}, "schedules": [
            {"key": f"sm90_gemm<tile = {tile}, cluster = 1x1, kernel = pingpong, swizzle = 1>",
             "status": status, **known, "machine": "NVIDIA H200", "versions": {"fact": "0.1.0"},
             "date": "2026-11-15"} for tile in tiles]}

    same = {"m": 512, "n": 256, "k": 256}
    files = {("gemm_epilogue", "bf16", "sm_90a"): [entry(same), entry({**same, "m": 1024}),
                                                  entry({**same, "m": 768}),
                                                  entry({**same, "m": 1025}),
                                                  entry({**same, "k": 512}, status="failed")],
             ("gemm_epilogue", "f16", "sm_90a"): [entry(same)],
             ("gemm_epilogue", "f32", "sm_90a"): [entry(same)],
             ("gemm_epilogue", "bf16", "sm_100a"): [entry(same)],
             ("gated_gemm", "bf16", "sm_90a"): [entry(same, "matmul.nn,matmul.nn,mul")]}
    for (rule, dtype, architecture), entries in files.items():
        (folder / rule).mkdir(exist_ok=True)
        (folder / rule / f"{dtype}-{architecture}.json").write_text(json.dumps(
            {"format": 2, "rule": rule, "dtype": dtype, "architecture": architecture,
             "entries": entries}))
    text = subprocess.run([str(find_tool("fact-registry")), "list", "--json", "--layer", folder],
                          check=True, capture_output=True, text=True).stdout
    ids = {}
    for known in json.loads(text):
        extents = known["extents"]
        name = known["rule"], known["dtype"], known["architecture"], extents["m"], extents["k"]
        ids[name] = known["id"]
    assert len(ids) == 9
    return folder, lambda rule="gemm_epilogue", dtype="bf16", architecture="sm_90a", m=512, k=256: \
        ids[rule, dtype, architecture, m, k]


def test_the_prompt_has_the_entries_that_match(ask, registry):
    """Of the same rule and architecture, a type that converts, within twice: the nearest first."""
    folder, entry = registry
    with Server(patterns()) as server:
        ask(server, graph=BF16_GRAPH, target="h200", patterns=folder)
    prompt = server.requests[0]["body"]["messages"][0]["content"]
    listed = re.findall(r"^(\w+/\w+/\w+#\w+) \| ", prompt, re.M)
    assert listed == [entry(), entry(m=768)] + sorted([entry(m=1024), entry(k=512)])[:1]
    assert f"{entry()} | matmul.nn,gelu | batch=1 k=256 m=512 n=256 tensors=1 | accepted | " in prompt
    assert "10.0 us, 50.00% of light" in prompt or "10.0 us, 50% of light" in prompt


def test_strategies_build_on_entries_that_fit(ask, registry):
    folder, entry = registry
    tile = {"space": [{"name": "tile", "values": ["128x128x64"]}]}

    def propose(strategy, name, **more):
        given = pattern("n0 n1", "gemm_epilogue", strategy=strategy, entry=name, **more)
        with Server(patterns(given), patterns()) as server:
            run = ask(server, graph=BF16_GRAPH, target="h200", patterns=folder)
        told = [request["body"]["messages"][-1]["content"] for request in server.requests[1:]]
        return run.ir, "".join(told)

    ir, told = propose("REUSE", entry())
    assert told == "" and f'strategy(<reuse, "{entry()}">)' in ir
    assert ir.count("#fact.sm90_gemm<") == 2 and "tile = 64x256x64" in ir
    for name in entry(), entry(m=768), entry(dtype="f16"):
        ir, told = propose("ADAPT", name)
        assert told == "" and f'strategy(<adapt, "{name}">)' in ir
        assert ir.count("#fact.sm90_gemm<") > 2
    ir, told = propose("ADAPT", entry(m=1024), **tile)
    assert told == "" and f'strategy(<adapt, "{entry(m=1024)}">)' in ir
    assert "#fact.sm90_gemm_space<tile = [128x128x64], " in ir

    told = propose("REUSE", entry(), **tile)[1]
    assert "'space' must be []; a pattern with a space is ADAPT or NEW" in told
    for name in entry(m=768), entry(dtype="f16"):
        told = propose("REUSE", name)[1]
        assert "but not the same: use ADAPT" in told
        assert f"'{entry()}' has the same problem: use REUSE" in told
    for name in entry(m=1025), entry(dtype="f32"), entry(architecture="sm_100a"), \
            entry(rule="gated_gemm"):
        for strategy in "REUSE", "ADAPT":
            told = propose(strategy, name)[1]
            assert f"entry '{name}' (batch=1 " in told
            assert ("is not near this kernel, gemm_epilogue of bf16 on sm_90a (matmul.nn,gelu, "
                    "batch=1 k=256 m=512") in told
            assert f"'{entry()}' has the same problem: use REUSE" in told
    assert f"entry '{entry(k=512)}' has no accepted schedule" in propose("ADAPT", entry(k=512))[1]
    # A kernel that is far from all of them.
    far = BF16_GRAPH.replace("512x256", "8192x256")
    given = pattern("n0 n1", "gemm_epilogue", strategy="ADAPT", entry=entry())
    with Server(patterns(given), patterns()) as server:
        ask(server, graph=far, target="h200", patterns=folder)
    assert "no entry is near: use NEW" in \
        server.requests[1]["body"]["messages"][-1]["content"]
