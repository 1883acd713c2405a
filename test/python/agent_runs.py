# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of the agent `llm` on a small graph, and of `replay` on what came of them."""

import hashlib
import json
import os
import subprocess
import time

import pytest

from fact.toolchain import find_tool

OPT = find_tool("fact-opt")

needs_compiler = pytest.mark.skipif(OPT is None and not os.environ.get("FACT_REQUIRE_COMPILER"),
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


def write_ceilings(cache, machine, **rates):
    """Ceilings as fact-tune --probe keeps them."""
    name = machine.encode()
    file = cache / "machines" / (
        hashlib.sha256(len(name).to_bytes(8, "little") + name).hexdigest() + ".json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({
        "format": 1, "machine": machine, "date": "2026-11-15", "launch_seconds": 3e-6,
        "rates": {name: {"cold": rate, "sustained": rate / 2} for name, rate in rates.items()}}))


class Run:
    """What one run of the compiler left."""

    def __init__(self, folder, graph, options, environment=None):
        source = folder / "graph.mlir"
        source.write_text(graph)
        clean = {name: value for name, value in os.environ.items()
                 if not name.lower().endswith("_proxy") and name != "FACT_LLM_KEY"}
        text = " ".join(f"{name}={value}" for name, value in {"target": "host", **options}.items())
        start = time.monotonic()
        with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
            process = subprocess.Popen(
                [str(OPT), str(source), f"--fact-discover={text}",
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
            again = Run(tmp_path, graph, {"agent": "replay", "transcript": transcript,
                                          **{name: options[name] for name in ("target", "patterns")
                                             if name in options}})
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
