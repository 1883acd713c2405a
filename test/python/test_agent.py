"""The agent `llm` against a server that misbehaves, and `replay` of what came of it.

Whatever a server sends, the compiler ends well, says what happened, and the graph is
covered: as the rules do it, where nothing legal was proposed.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

from fact.__main__ import _AGENT_OPTIONS
from fact.toolchain import find_tool
from hostile_server import (Server, answer, body, cut, drip, endless_headers, failure, flood, later,
                            raw, silence)

OPT = find_tool("fact-opt")

pytestmark = pytest.mark.skipif(OPT is None and not os.environ.get("FACT_REQUIRE_COMPILER"),
                                reason="fact-opt is not built")

T = "tensor<8x16xf32>"
# n2 with n4 and n3 with n5 are convex groups alone, and a cycle together.
BODY = f"""
  %0 = fact.matmul %x, %w : ({T}, tensor<16x16xf32>) -> {T}
  %1 = fact.gelu %0 : ({T}) -> {T}
  %2 = fact.exp %1 : ({T}) -> {T}
  %3 = fact.tanh %1 : ({T}) -> {T}
  %4 = fact.add %2, %3 : ({T}, {T}) -> {T}
  %5 = fact.mul %3, %2 : ({T}, {T}) -> {T}
  %6 = fact.softmax %4 dim 1 : {T}
  return %5, %6 : {T}, {T}
"""
SIGNATURE = f"(%x: {T}, %w: tensor<16x16xf32>) -> ({T}, {T})"
GRAPH = f"func.func @main{SIGNATURE} {{{BODY}}}\n"
TWINS = f"func.func @one{SIGNATURE} {{{BODY}}}\nfunc.func @two{SIGNATURE} {{{BODY}}}\n"
OTHER = GRAPH.replace("fact.tanh", "fact.sin")

KEY = "sk-0123456789abcdef"


class Run:
    """What one run of the compiler left."""

    def __init__(self, folder, graph, options, environment=None):
        source = folder / "graph.mlir"
        source.write_text(graph)
        clean = {name: value for name, value in os.environ.items()
                 if not name.lower().endswith("_proxy") and name != "FACT_LLM_KEY"}
        text = " ".join(f"{name}={value}" for name, value in options.items())
        start = time.monotonic()
        with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
            process = subprocess.Popen(
                [str(OPT), str(source), f"--fact-discover=target=host {text}",
                 "--remark-format=emitRemark", "--remarks-filter=fact-discover"],
                stdout=out, stderr=err, cwd=folder, env={**clean, **(environment or {})})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - start
        self.status = process.returncode
        self.megabytes = usage.ru_maxrss / 1024
        self.ir = (folder / "stdout").read_text()
        self.said = (folder / "stderr").read_bytes().decode()


@pytest.fixture
def ask(tmp_path):
    """Discovery of a graph by a server's answers, and again from the transcript."""
    transcript = tmp_path / "transcript.json"

    def run(server=None, graph=GRAPH, environment=None, replay=True, **options):
        given = {"agent": "llm", "llm-url": server.url if server else "", "llm-model": "small",
                 "transcript": transcript, "llm-retries": 1, "llm-timeout": 10}
        given |= {name.replace("_", "-"): value for name, value in options.items()}
        result = Run(tmp_path, graph, given, environment)
        result.transcript = transcript.read_text() if transcript.exists() else ""
        assert result.status == 0, result.said
        if replay:
            again = Run(tmp_path, graph, {"agent": "replay", "transcript": transcript})
            assert again.status == 0, again.said
            assert again.ir == result.ir
            assert transcript.read_text() == result.transcript
        files = {path.name for path in tmp_path.iterdir()}
        assert files <= {"graph.mlir", "stdout", "stderr", "transcript.json", "key",
                         "certificate.pem"}
        return result

    return run


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """What the rules make of a graph."""
    folder = tmp_path_factory.mktemp("rules")
    known = {}

    def run(graph=GRAPH):
        if graph not in known:
            result = Run(folder, graph, {"agent": "rules"})
            assert result.status == 0 and "fact.fused" in result.ir
            known[graph] = result.ir
            run.megabytes = result.megabytes
        return known[graph]

    return run


def pattern(ops, rule="pointwise", **more):
    return {"ops": ops.split() if isinstance(ops, str) else ops, "rule": rule, **more}


def patterns(*given):
    return answer({"patterns": list(given)})


# ---------------------------------------------------------------------------------------
# The connection
# ---------------------------------------------------------------------------------------

RIGHT = json.dumps({"choices": [{"message": {"content": "{\"patterns\": []}"}}]})

CONNECTIONS = {
    "cut before the answer": ([raw(b"")], "the language model does not help"),
    "cut inside the headers": ([raw(b"HTTP/1.1 200 O")], "the language model does not help"),
    "cut inside the body": ([cut], "the language model does not help"),
    "not HTTP": ([raw(b"SSH-2.0-OpenSSH_9.2\r\n" + b"\0" * 1000)], "does not help"),
    "endless headers": ([endless_headers], "does not help"),
    "an empty body": ([body("")], "the response cannot be read"),
    "text": ([body("Bad gateway")], "the response cannot be read"),
    "markup": ([body("<html>\x1b[31m</html>")], "the response cannot be read"),
    "invalid UTF-8": ([body(b'{"choices": [{"message": {"content": "\xff\xfe\x80"}}]}')],
                      "the response cannot be read"),
    "deep nesting": ([body("[" * 3_000_000)], "the response cannot be read"),
    "deep objects": ([body('{"choices":' * 300_000)], "the response cannot be read"),
    "a number": ([body("5")], "has no 'choices'"),
    "an error with status 200": ([failure(200, "out of\x1b[31m memory")], "out of [31m memory"),
    "choices by name": ([body('{"choices": {"0": 1}}')], "has no 'choices'"),
    "a choice that is a list": ([body('{"choices": [[]]}')], "has no content"),
    "a message that is a number": ([body('{"choices": [{"message": 7}]}')], "has no content"),
    "no content": ([answer(None)], "has no content (stop)"),
    "cut off": ([answer('{"patterns": [{"ops": ["n', finish="length")],
                "cut off after 10 tokens; allow more with llm-answer-tokens"),
    "400": ([failure(400, "what?")], "HTTP status 400: the response has no 'choices': what?"),
    "401": ([failure(401, "who?")], "HTTP status 401"),
    "404": ([failure(404)], "HTTP status 404"),
    "503 for ever": ([failure(503)], "HTTP status 503"),
    "429 for a long time": ([failure(429, Retry_After="86400")], "HTTP status 429"),
    "another status": ([body(RIGHT, 204)], "HTTP status 204"),
}


@pytest.mark.parametrize("name", CONNECTIONS)
def test_connections(name, ask, rules):
    turns, message = CONNECTIONS[name]
    with Server(*turns) as server:
        run = ask(server)
    assert "warning: " in run.said and message in run.said
    assert "the rules do what is left" in run.said
    assert "\x1b" not in run.said
    assert run.ir == rules()
    assert run.seconds < 8


def test_nobody_listens(ask, rules):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    run = ask(llm_url=url)
    assert "does not help here: " in run.said
    assert run.ir == rules()


@pytest.mark.parametrize("turn", [silence, drip])
def test_slow_answers_end_with_the_timeout(turn, ask, rules):
    with Server(turn) as server:
        run = ask(server, llm_timeout=1)
    assert "no answer within 1 s (llm-timeout)" in run.said
    assert run.ir == rules()
    assert run.seconds < 4


def test_large_answers_take_no_memory(ask, rules):
    with Server(flood(100 << 20)) as server:
        run = ask(server)
    assert "the answer is larger than 4194304 bytes" in run.said
    assert run.ir == rules()
    assert run.megabytes < rules.megabytes + 50
    assert run.seconds < 5


def test_servers_without_schemas_are_asked_without(ask):
    with Server(failure(400, "response_format?"), patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert "warning" not in run.said
    first, second = server.requests
    assert first["body"].pop("response_format")["type"] == "json_schema"
    assert first["body"] == second["body"]


@pytest.mark.parametrize("refusal, least", [(failure(429, Retry_After="1"), 1), (failure(500), 0.5),
                                            (failure(503), 0.5), (cut, 0.5), (raw(b""), 0.5)])
def test_what_passes_is_tried_again(refusal, least, ask):
    with Server(refusal, patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert len(server.requests) == 2
    assert "warning" not in run.said
    assert least <= run.seconds < 5
    assert run.transcript.count('"accepted": true') == 1


def test_what_does_not_pass_is_not_tried_again(ask):
    for status in 401, 403, 404:
        with Server(failure(status)) as server:
            ask(server)
        assert len(server.requests) == 1


def test_redirects_are_not_followed(ask, rules):
    with Server(patterns()) as elsewhere:
        for status in 301, 302, 307, 308:
            with Server(body("", status, Location=elsewhere.url + "/chat/completions")) as server:
                run = ask(server)
            assert f"HTTP status {status}" in run.said
            assert run.ir == rules()
        assert elsewhere.requests == []


def test_schemes_of_redirects_and_files(tmp_path, ask, rules):
    (tmp_path / "key").write_text(RIGHT)
    with Server(body("", 302, Location=f"file://{tmp_path}/key")) as server:
        assert ask(server).ir == rules()


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
    "ops that are numbers": ({"patterns": [pattern([0, 1])]}, "no op id"),
    "ops that do not exist": ({"patterns": [pattern("n0 n99")]},
                              "there is no op 'n99' in the graph"),
    "inputs as ops": ({"patterns": [pattern("a0 n1")]}, "there is no op 'a0'"),
    "an unknown rule": ({"patterns": [pattern("n0 n1", "megakernel")]}, "has no such rule"),
    "a rule that cannot": ({"patterns": [pattern("n0 n1", "attention")]}, "rejected"),
    "a group with a hole": ({"patterns": [pattern("n0 n4", "gemm_epilogue")]}, "not convex"),
    "an unknown strategy": ({"patterns": [pattern("n0", "gemm_epilogue", strategy="MAGIC")]},
                            "'strategy' is REUSE, ADAPT or NEW"),
    "an entry that is not there": (
        {"patterns": [pattern("n0", "gemm_epilogue", strategy="REUSE", entry="../../etc/passwd")]},
        "there is no entry '../../etc/passwd'"),
    "an unknown parameter": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "warps", "values": ["4"]}])]},
        "space has no 'warps'; it has 'micro'"),
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
                              space={"micro": ["0", "8", "0x8", "8x0"], "rows": ["0"]})]},
        "its space has no legal schedule"),
    "a schedule in other words": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "micro", "values": ["wide"]}])]},
        "its space cannot be read"),
    "a space of thousands": ({"patterns": [pattern("n0 n1", "gemm_epilogue", space=LARGE)]},
                             "points, and at most 4096 are searched"),
    "a list of thousands": (
        {"patterns": [pattern("n0 n1", "gemm_epilogue",
                              space=[{"name": "rows", "values": ["8"] * 5000}])]},
        "'space' has lists of words and sizes"),
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
    assert "is in another group already" in run.said
    assert "there is no op 'n7'" in run.said
    assert "one" in run.said
    verdicts = [verdict["accepted"] for verdict in
                json.loads(run.transcript)["conversations"][0]["rounds"][0]["verdicts"]]
    assert verdicts == [True, False, True, False]
    assert run.ir.count("fact.fused") >= 3
    assert "priority(9)" in run.ir or "priority = 9" in run.ir


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
    assert "65536 points at most, all together" in run.said
    assert run.seconds < 20


def test_the_next_round_corrects(ask):
    with Server(patterns(pattern("n0 n1", "rowwise")),
                patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert len(server.requests) == 2
    assert "was rejected: " in server.requests[1]["body"]["messages"][2]["content"]
    assert run.transcript.count('"accepted": true') == 1


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


def test_format_strings_in_a_rationale(ask):
    with Server(patterns(pattern("n0 n1", "gemm_epilogue", rationale="100%s {0} {1}"))) as server:
        run = ask(server, llm_rounds=1)
    assert "100%s {0} {1}" in run.said


# ---------------------------------------------------------------------------------------
# Keys, proxies, certificates
# ---------------------------------------------------------------------------------------

def test_the_key_is_in_the_header_alone(tmp_path, ask):
    (tmp_path / "key").write_text(KEY + "\n")
    for options in {"environment": {"FACT_LLM_KEY": KEY}}, {"llm_key_file": tmp_path / "key"}, \
            {"environment": {"OTHER": KEY}, "llm_key_env": "OTHER"}:
        # Servers that repeat it do no harm.
        with Server(patterns(pattern("n0", KEY, rationale=KEY)),
                    failure(401, f"the key {KEY} is wrong")) as server:
            run = ask(server, llm_rounds=2, **options)
        assert len(server.requests) == 2
        for request in server.requests:
            assert request["headers"]["Authorization"] == f"Bearer {KEY}"
            assert KEY not in json.dumps(request["body"])
        assert "HTTP status 401" in run.said
        assert KEY not in run.said and KEY not in run.ir and KEY not in run.transcript


def test_no_key_no_header(ask):
    with Server(patterns()) as server:
        ask(server)
    assert "Authorization" not in server.requests[0]["headers"]


def fails(tmp_path, options, environment=None):
    run = Run(tmp_path, GRAPH, {"llm-model": "small", "agent": "llm", **options}, environment)
    assert run.status == 1 and "error: " in run.said
    assert KEY not in run.said
    return run.said


def test_keys_do_not_leave_in_the_clear(tmp_path):
    said = fails(tmp_path, {"llm-url": "http://127.0.0.1.example.com/v1"}, {"FACT_LLM_KEY": KEY})
    assert "in the clear" in said
    said = fails(tmp_path, {"llm-url": f"https://user:{KEY}@models.example/v1"})
    assert "no user or password" in said


def test_options_that_are_wrong(tmp_path):
    assert "no endpoint" in fails(tmp_path, {})
    assert "it begins with http:// or https://" in fails(tmp_path, {"llm-url": "file:///etc/passwd"})
    assert "cannot read the key" in fails(tmp_path, {"llm-url": "http://127.0.0.1:1",
                                                     "llm-key-file": "no-such-file"})


def test_proxies_of_the_environment(ask, rules):
    url = "http://models.invalid/v1"
    with Server(patterns()) as proxy:
        run = ask(llm_url=url, environment={"http_proxy": proxy.address})
        assert "warning" not in run.said
        assert proxy.requests[0]["path"] == "http://models.invalid/v1/chat/completions"
        run = ask(llm_url=url, environment={"http_proxy": proxy.address, "no_proxy": ".invalid"},
                  llm_retries=0)
        assert "does not help" in run.said
        assert len(proxy.requests) == 1
    with Server(failure(403)) as proxy:
        run = ask(llm_url="https://models.invalid/v1", environment={"https_proxy": proxy.address})
        assert proxy.requests[0]["method"] == "CONNECT"
        assert run.ir == rules()


def test_what_is_for_this_machine_takes_no_proxy(ask):
    with Server(failure(403)) as proxy, Server(patterns()) as server:
        run = ask(server, environment={"http_proxy": proxy.address, "FACT_LLM_KEY": KEY})
        assert "warning" not in run.said
        assert len(server.requests) == 1 and proxy.requests == []


def test_certificates_are_verified(tmp_path, ask, rules):
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("there is no openssl to make a certificate with")
    certificate = tmp_path / "certificate.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", certificate, "-out", tmp_path / "own.pem"],
                   check=True, capture_output=True)
    with open(certificate, "a") as both:
        both.write((tmp_path / "own.pem").read_text())
    (tmp_path / "own.pem").unlink()
    with Server(patterns(), certificate=certificate) as server:
        run = ask(server, environment={"FACT_LLM_KEY": KEY})
    assert "certificate" in run.said
    assert server.requests == []
    assert run.ir == rules()


# ---------------------------------------------------------------------------------------
# Limits and transcripts
# ---------------------------------------------------------------------------------------

def test_tokens_are_limited(ask, rules, tmp_path):
    with Server(patterns()) as server:
        run = ask(server, llm_tokens=100, replay=False)
        assert "llm-tokens=100 does not allow it" in run.said
        assert server.requests == []
        assert run.ir == rules()
    # Those that were used count.
    with Server(patterns(pattern("n99"))) as server:
        ask(server, llm_tokens=3000, llm_rounds=9)
        assert 1 <= len(server.requests) < 9


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
                       usage={"prompt_tokens": 4000, "completion_tokens": 900})) as server:
        run = ask(server, graph=TWINS, llm_tokens=5000)
    assert "llm-tokens=5000 does not allow it" in run.said
    assert len(server.requests) == 1
    # The transcript says so too.
    [_, refused] = json.loads(run.transcript)["conversations"]
    assert "llm-tokens=5000" in refused["rounds"][0]["error"]


def test_options_are_the_same_everywhere():
    """The passes and the driver have the same options, with the same words."""
    def options(tool, part):
        text = subprocess.run([str(find_tool(tool)), "--help"], capture_output=True, text=True,
                              check=True).stdout
        [section] = re.findall(part, text, re.M | re.S)
        return dict(re.findall(r"^ +--(agent|transcript|llm-[a-z-]+)=<[a-z]+> +- +(.*)$", section,
                               re.M))

    driver = options("fact-compile", ".+")
    assert len(driver) == 13
    for name in "discover", "refine":
        assert options("fact-opt", f"^      --fact-{name} .*?(?=^      --)") == driver
    assert driver.keys() <= {name for name, *_ in _AGENT_OPTIONS}


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
    assert "is of another graph or target" in run.said
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
    assert run.status == 1 and "replay of which transcript?" in run.said


def test_a_transcript_that_cannot_be_written(tmp_path, ask):
    with Server(patterns()) as server:
        run = ask(server, transcript=tmp_path / "no" / "such" / "folder.json", replay=False)
    assert "cannot write" in run.said


def test_transcripts_go_into_the_cache(tmp_path, ask):
    work = tmp_path / "key"
    with Server(patterns()) as server:
        ask(server, transcript="", environment={"FACT_WORK_DIR": str(work)}, replay=False)
    [file] = (work / "transcripts").iterdir()
    run = Run(tmp_path, GRAPH, {"agent": "replay", "transcript": file})
    assert run.status == 0 and "warning" not in run.said


# ---------------------------------------------------------------------------------------
# Refinement
# ---------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def measured(tmp_path_factory, root):
    """A graph of kernels, and what was measured of them: the product is far from light."""
    folder = tmp_path_factory.mktemp("measured")
    compiler = str(find_tool("fact-compile"))
    source = root / "test" / "Driver" / "Inputs" / "mlp.mlir"
    graph, bundle = folder / "mlp.mlir", folder / "bundle"
    subprocess.run([compiler, source, "--until=discover", "-o", graph,
                    f"--patterns={folder}/none"], check=True, capture_output=True)
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


def refinements(*spaces):
    return answer({"kernels": [{"kernel": "gemm_epilogue_0", "space": space, "rationale": "why"}
                               for space in spaces]})


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


def test_refinement_at_the_limits_takes_no_time(measured):
    sizes = [f"{2 * i}x{4 * j}" for i in range(20, 28) for j in range(20, 28)]
    with Server(refinements(*[{"micro": sizes, "rows": MANY}] * 2000)) as server:
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
        done = subprocess.run(words, capture_output=True, text=True, timeout=300,
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
    arguments = [OPT, measured.source, "--fact-raise", f"--fact-discover=patterns={tmp_path}/none AGENT",
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
            capture_output=True, text=True, timeout=300, env={**os.environ, "FACT_LLM_KEY": KEY})
        assert run.returncode == 0, run.stderr
        assert "warning" not in run.stderr
        summary = json.loads((output / "summary.json").read_text())
        assert summary["discovery"]["transcript"] == str(transcript)
        return summary, (output / "mlp.bundle" / "bundle.json").read_text()

    with Server(patterns(pattern("n0 n1 n2", "gemm_epilogue", priority=7)),
                refinements({"micro": ["8x8"]}), refinements({"micro": ["4x8"]})) as server:
        summary, bundle = compile("first", "--agent=llm", f"--llm-url={server.url}",
                                  "--llm-model=small")
    said = transcript.read_text()
    assert KEY not in said
    conversations = json.loads(said)["conversations"]
    assert [len(conversation["rounds"]) for conversation in conversations] == [1, 1, 1]
    assert len(summary["refinement"]) == 2
    again, repeated = compile("again", "--agent=replay")
    assert repeated == bundle
    assert transcript.read_text() == said
    assert again["refinement"] == summary["refinement"]
