# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The client of the agent `llm` against a server that misbehaves: connections, keys, proxies,
certificates. Whatever happens, the compiler ends well and says so.
"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess

import pytest

from agent_runs import GRAPH, KEY, Run, ask, needs_compiler, rules  # noqa: F401
from fact.toolchain import find_tool
from hostile_server import (
    Server,
    answer,
    body,
    cut,
    drip,
    endless_headers,
    failure,
    flood,
    pattern,
    patterns,
    raw,
    silence,
)

pytestmark = needs_compiler


# ---------------------------------------------------------------------------------------
# The connection
# ---------------------------------------------------------------------------------------

RIGHT = json.dumps({"choices": [{"message": {"content": "{\"patterns\": []}"}}]})

CONNECTIONS = {
    "cut before the answer": ([raw(b"")], "no usable answer from the language model"),
    "cut inside the headers": ([raw(b"HTTP/1.1 200 O")], "no usable answer from the language model"),
    "cut inside the body": ([cut], "no usable answer from the language model"),
    "not HTTP": ([raw(b"SSH-2.0-OpenSSH_9.2\r\n" + b"\0" * 1000)], "no usable answer"),
    "endless headers": ([endless_headers], "no usable answer"),
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
    assert "the rules do the rest" in run.said
    assert "\x1b" not in run.said
    assert run.ir == rules()
    assert run.seconds < 8


def test_nobody_listens(ask, rules):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    run = ask(llm_url=url)
    assert "no usable answer from the language model: " in run.said
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


def test_what_there_was_of_an_answer_is_kept(ask, rules):
    """An answer that is cut off, too large or nonsense is in the transcript as far as it came."""
    half = '{"patterns": [{"ops": ["n'
    turns = [(answer(half, finish="length"), half, "cut off after 10 tokens"),
             (cut, '{"choices": [', ""),
             (body("Bad gateway"), "Bad gateway", "cannot be read"),
             (flood(6 << 20), '{"choices": "xxx', "larger than 4194304 bytes"),
             (answer("I would not fuse."), "I would not fuse.", "no JSON object")]
    for turn, text, reason in turns:
        with Server(turn) as server:
            run = ask(server, llm_retries=0, llm_rounds=1)
        assert run.ir == rules()
        assert len(run.transcript) < 200_000
        [round_] = json.loads(run.transcript)["conversations"][0]["rounds"]
        assert round_["answer"].startswith(text)
        [verdict] = round_["verdicts"]
        assert verdict["proposal"] == "the answer" and not verdict["accepted"]
        assert reason in verdict["reason"]


def test_what_there_was_of_an_answer_has_no_key(ask):
    for text in f'{{"error": "{KEY}', f'{{"error": "{KEY[:-2]}':
        turn = raw(f"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{text}".encode())
        with Server(turn) as server:
            run = ask(server, llm_retries=0, environment={"FACT_LLM_KEY": KEY})
        assert '{\\"error' in run.transcript and KEY[:8] not in run.transcript


@pytest.mark.parametrize("query", ["?api-version=2024-06-01", "/?api-version=x&b=a%20b",
                                   "/chat/completions?api-version=x", "/chat/completions/", "#x"])
def test_endpoints_with_a_query(query, ask):
    with Server(patterns()) as server:
        run = ask(server, llm_url=server.url + query, environment={"FACT_LLM_KEY": KEY})
    assert "warning" not in run.said
    [request] = server.requests
    _, mark, rest = query.partition("?")
    assert request["path"] == "/v1/chat/completions" + mark + rest


def test_servers_without_schemas_are_asked_without(ask):
    with Server(failure(400, "response_format?"), patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert "warning" not in run.said
    first, second = server.requests
    assert first["body"].pop("response_format")["type"] == "json_schema"
    assert first["body"] == second["body"]


def test_servers_that_count_tokens_by_another_name(ask):
    refusal = failure(400, "Unsupported parameter: 'max_tokens' is not supported with this model. "
                           "Use 'max_completion_tokens' instead.")
    cold = failure(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    with Server(refusal, cold, patterns(pattern("n0 n1", "gemm_epilogue"))) as server:
        run = ask(server)
    assert "warning" not in run.said
    first, second, third = [request["body"] for request in server.requests]
    assert second["max_completion_tokens"] == first["max_tokens"] and "max_tokens" not in second
    assert "response_format" in third and "temperature" not in third
    # Once: who refuses that too is asked without a schema, and then no more.
    with Server(refusal) as server:
        run = ask(server)
    assert "HTTP status 400" in run.said and len(server.requests) == 3


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


def disguises(key):
    """Ways of writing a key that somebody who reads a transcript undoes."""
    def escaped(text):
        return "".join(f"\\u{ord(c):04x}" for c in text)
    slashed = key.replace("/", "\\/")
    return {
        "slashes": slashed, "escapes": escaped(key), "some escapes": key[:9] + escaped(key[9:]),
        "escapes in escapes": escaped(key).replace("\\", "\\\\"),
        "base64": base64.b64encode(key.encode()).decode(),
        "base64 with others": base64.b64encode(f"a {key} b".encode()).decode(),
        "base64 for URLs": base64.urlsafe_b64encode(f"of {key}".encode()).decode(),
    }


def undo(text):
    """What is in a text once it is decoded, again and again."""
    for _ in range(6):
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda c: chr(int(c[1], 16)), text)
        text = text.replace("\\/", "/").replace("\\\\", "\\")
    return text


@pytest.mark.parametrize("disguise", disguises("/"))
def test_disguised_keys_are_taken_out_too(disguise, ask):
    key = "sk-0123/abc+defgh/???>~~zz"
    secret = disguises(key)[disguise]
    answers = [
        # In a body that is not read, in one that is, in text, and in a string of an answer's JSON.
        body('{"error": {"message": "' + secret + '"}}', 401), body("no " + secret),
        answer("I think " + secret),
        answer('{"patterns": [{"ops": ["n0"], "rule": "gemm_epilogue", "rationale": "' + secret
               + '"}]}')]
    for turn in answers:
        with Server(turn) as server:
            run = ask(server, llm_rounds=1, llm_retries=0, environment={"FACT_LLM_KEY": key})
        for text in run.transcript, run.said, run.ir:
            assert key not in undo(text)
            for word in re.findall(r"[A-Za-z0-9+/_-]{16,}", text):
                plain = word.replace("-", "+").replace("_", "/")
                for skip in range(4):
                    part = plain[skip:]
                    data = base64.b64decode(part[:len(part) // 4 * 4])
                    assert key[4:-4].encode() not in data
        assert "(key)" in run.transcript


def test_a_key_file_of_others_is_warned_of(tmp_path, ask):
    (tmp_path / "key").write_text(KEY + "\n")
    for mode, warned in (0o600, False), (0o400, False), (0o640, True), (0o604, True):
        (tmp_path / "key").chmod(mode)
        with Server(patterns()) as server:
            run = ask(server, llm_key_file=tmp_path / "key")
        assert (f"warning: other users can read the key file '{tmp_path}/key': run chmod 600 "
                "on it" in run.said) == warned


def test_programs_that_are_started_have_no_key(tmp_path, root):
    """Neither the tuner nor what it starts: compilers, launchers, kernels."""
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\nenv >> {tmp_path}/seen\nexec \"$@\"\n")
    launcher.chmod(0o700)
    for folder, name, options in ("default", "FACT_LLM_KEY", []), \
            ("named", "OTHER_KEY", ["--llm-key-env=OTHER_KEY"]):
        (tmp_path / "seen").unlink(missing_ok=True)
        with Server(patterns()) as server:
            run = subprocess.run(
                [find_tool("fact-compile"), root / "test/Driver/Inputs/small.mlir",
                 "-o", tmp_path / folder / "small.so", f"--patterns={tmp_path}/none",
                 "--agent=llm", f"--llm-url={server.url}", "--llm-model=small",
                 f"--transcript={tmp_path}/transcript.json", "--tuner-argument=--candidates=1",
                 f"--tuner-argument=--run-launcher={launcher}", *options],
                capture_output=True, text=True, timeout=300, env={**os.environ, name: KEY})
        assert run.returncode == 0, run.stderr
        assert server.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"
        seen = (tmp_path / "seen").read_text()
        assert "PATH=" in seen and KEY not in seen
    # Nor where the tuner is started by hand.
    (tmp_path / "seen").unlink()
    run = subprocess.run([find_tool("fact-tune"), tmp_path / "default/small.bundle", "--retune",
                          "--candidates=1", f"--run-launcher={launcher}"], capture_output=True,
                         text=True, timeout=300, env={**os.environ, "FACT_LLM_KEY": KEY})
    assert run.returncode == 0, run.stderr
    seen = (tmp_path / "seen").read_text()
    assert "PATH=" in seen and KEY not in seen


def test_a_variable_that_is_empty_hides_no_file(tmp_path, ask):
    (tmp_path / "key").write_text(KEY + "\n")
    with Server(patterns()) as server:
        ask(server, environment={"FACT_LLM_KEY": ""}, llm_key_file=tmp_path / "key")
    assert server.requests[0]["headers"]["Authorization"] == f"Bearer {KEY}"


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
    assert "must not contain a user or password" in said


def test_options_that_are_wrong(tmp_path):
    assert "no endpoint" in fails(tmp_path, {})
    assert "it must begin with http:// or https://" in fails(tmp_path, {"llm-url": "file:///etc/passwd"})
    assert "cannot read the key" in fails(tmp_path, {"llm-url": "http://127.0.0.1:1",
                                                     "llm-key-file": "no-such-file"})
    assert "llm-rounds=0 allows no request: give 1 or more, or agent=rules" in \
        fails(tmp_path, {"llm-url": "http://127.0.0.1:1", "llm-rounds": 0})


def test_proxies_of_the_environment(ask, rules):
    url = "http://models.invalid/v1"
    with Server(patterns()) as proxy:
        run = ask(llm_url=url, environment={"http_proxy": proxy.address})
        assert "warning" not in run.said
        assert proxy.requests[0]["path"] == "http://models.invalid/v1/chat/completions"
        run = ask(llm_url=url, environment={"http_proxy": proxy.address, "no_proxy": ".invalid"},
                  llm_retries=0)
        assert "no usable answer" in run.said
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
