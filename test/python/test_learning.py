# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tuning teaches: the next compilation of a similar kernel tries fewer candidates."""

import json
import os
import subprocess

import pytest

from agent_runs import needs_compiler
from fact.toolchain import find_tool

pytestmark = needs_compiler


def graph(m, k, n):
    out = f"tensor<{m}x{n}xf32>"
    return f"""
func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{k}x{n}xf32>) -> {out} {{
  %0 = fact.matmul %x, %w : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> {out}
  %1 = fact.gelu %0 : ({out}) -> {out}
  return %1 : {out}
}}
"""


@pytest.fixture
def tune(tmp_path):
    """Compiles a graph for the host; returns the report of its kernel, and what was printed."""
    def run(name, sizes, registry, *arguments, **environment):
        source, bundle = tmp_path / f"{name}.mlir", tmp_path / f"{name}.bundle"
        source.write_text(graph(*sizes))
        path = os.pathsep.join([str(find_tool("fact-tune").parent), os.environ["PATH"]])
        done = subprocess.run(
            [str(find_tool("fact-compile")), str(source), "--target=host",
             f"-o={tmp_path / name}.so", f"--bundle={bundle}", *arguments],
            env={**os.environ, "PATH": path, "FACT_LEARN": "1", "FACT_PATTERNS": str(registry),
                 **environment}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        [kernel] = json.loads((bundle / "tuning.json").read_text())["kernels"]
        return kernel, done.stdout + done.stderr

    return run


def entries(registry):
    return [entry for file in registry.glob("*/*.json")
            for entry in json.loads(file.read_text())["entries"]]


def test_a_similar_kernel_tries_fewer_candidates(tune, tmp_path):
    known, empty = tmp_path / "known", tmp_path / "empty"
    first, said = tune("first", (256, 192, 256), known, "--candidates=6")
    assert f"learned   1 entry in {known}" in said
    [entry] = entries(known)
    # Winners and losers.
    assert {each["key"] for each in entry["schedules"]} == {
        each["schedule"] for each in first["attempts"] if each["status"] == "ok"}
    assert all("verifier" in each["versions"] for each in entry["schedules"])

    cold, _ = tune("cold", (320, 192, 256), empty, "--candidates=6", FACT_LEARN="0")
    assert not empty.exists()
    warm, _ = tune("warm", (320, 192, 256), known, "--candidates=6")
    assert warm["strategy"]["kind"] == "adapt" and cold["strategy"]["kind"] == "new"
    assert len(warm["attempts"]) < len(cold["attempts"])
    # It knows more now, and searches none of what was slow.
    assert len(entries(known)) == 2
    least = {each["key"]: each["us_low"] for each in entry["schedules"]}
    best = min(each["us"] for each in entry["schedules"])
    assert all(least.get(each["schedule"], best) <= 1.25 * best for each in warm["attempts"])
    assert len(set(least) & {each["schedule"] for each in warm["attempts"]}) <= (len(least) + 1) // 2


@pytest.mark.full
def test_the_same_kernel_is_reused(tune, tmp_path):
    known = tmp_path / "known"
    first, _ = tune("first", (128, 64, 128), known)
    again, _ = tune("again", (128, 64, 128), known)
    assert again["strategy"]["kind"] == "reuse"
    assert {each["schedule"] for each in again["attempts"]} <= {
        each["schedule"] for each in first["attempts"]}


@pytest.mark.full
def test_one_schedule_is_no_search(tune, tmp_path):
    known = tmp_path / "known"
    tune("first", (128, 64, 128), known, "--candidates=1")
    again, _ = tune("again", (128, 64, 128), known)
    assert again["strategy"]["kind"] == "adapt" and len(again["attempts"]) > 1


def test_nothing_is_learned_where_that_is_not_wanted(tune, tmp_path):
    known = tmp_path / "known"
    tune("one", (64, 32, 64), known, "--tuner-argument=--no-learn", FACT_LEARN="1")
    tune("two", (64, 32, 64), known, FACT_LEARN="0")
    assert not known.exists()


def test_a_registry_that_cannot_be_written_is_a_warning(tune, tmp_path):
    known = tmp_path / "known"
    known.write_text("a file")
    _, said = tune("one", (64, 32, 64), known)
    assert "warning: nothing was learned: " in said
