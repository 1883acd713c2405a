# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recorded answers of test/legality: what they prove, and that they still hold."""

import argparse
import sys
from pathlib import Path

import pytest

from agent_runs import needs_compiler

FOLDER = Path(__file__).resolve().parents[1] / "legality"
sys.path.insert(0, str(FOLDER))

import modules  # noqa: E402

import legality as run  # noqa: E402

TRANSCRIPTS = FOLDER / "transcripts"


def test_first_answers_are_legal(capsys):
    assert {path.stem for path in TRANSCRIPTS.glob("*.json")} == set(modules.MODULES)
    run.report(argparse.Namespace(folder=TRANSCRIPTS))
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| all"))
    patterns, legal, own, own_legal = (int(cell) for cell in total.split("|")[2:6])
    assert patterns >= 50 and own >= 20
    assert legal >= 0.9 * patterns and own_legal >= 0.9 * own


@needs_compiler
@pytest.mark.full
@pytest.mark.parametrize("name", modules.MODULES)
def test_replay(name, tmp_path):
    """The transcript is of the graph that the module has now, and all that it accepted holds."""
    ir = run.discover(run.write_graph(name, tmp_path),
                      {"agent": "replay", "transcript": TRANSCRIPTS / f"{name}.json"})
    assert "priority(10)" in ir
