# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the GPU tests make of fact-tune's verdicts, without a GPU."""

import json
import os
import pickle
import stat
import subprocess
import sys

import pytest
import torch

from fact import toolchain


@pytest.fixture
def tuned(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "test" / "gpu"))
    import tuned

    return tuned


def report(*statuses):
    attempts = [{"candidate": i, "schedule": f"s{i}", "status": status, "detail": "why"}
                for i, status in enumerate(statuses)]
    return {"kernels": [{"name": "k", "attempts": attempts}]}


@pytest.fixture
def calls(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "test" / "gpu"))
    import calls

    return calls


def test_graphs_that_do_not_follow_are_found(calls):
    """Models as a library for the host has them; the second keeps the address of its first
    input, the third its first weights."""
    class Model:
        keeps = ""

        def __init__(self, module):
            self.set_weights(module)
            self.first = None

        def set_weights(self, module):
            if self.keeps != "weights" or not hasattr(self, "scale"):
                self.scale = module.scale.detach()

        def __call__(self, x):
            self.first = x if self.first is None else self.first
            y = (self.first if self.keeps == "input" else x) * self.scale
            return y - torch.softmax(y, 0)

        def close(self):
            pass

    def failures(kept):
        class Case(calls.Case):
            def __init__(self):
                self.name, self.cuda, self.device = "one", False, torch.device("cpu")
                self.shape, self.module = [5, 6], calls.Chain(1, 6)

            def model(self, setting):
                model = Model(self.module)
                model.keeps = kept
                return model

        return calls.check(Case(), "on")

    assert failures("") == []
    assert any("always others" in text for text in failures("input"))
    assert any("other weights" in text for text in failures("weights"))


@pytest.mark.parametrize("status", ["wrong", "crash", "hang", "compile_error", "compile_timeout",
                                    "link_error", "too_fast", "a status to come"])
def test_every_failed_attempt_is_a_failure(tuned, status):
    assert tuned.failures(report("ok", status)) == [f"k s1: {status}: why"]


def test_what_is_right_or_only_slow_is_none(tuned):
    assert tuned.failures(report("ok", "spills")) == []
    assert tuned.failures(report()) == ["k: nothing was tried"]


def tool(tmp_path, body):
    path = tmp_path / "fact-tune"
    path.write_text(f"#!{sys.executable}\nimport json, sys, time\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_report_is_read(tuned, tmp_path):
    body = f"open(sys.argv[1] + '/tuning.json', 'w').write({json.dumps(json.dumps(report('ok')))})"
    assert tuned.tune(tool(tmp_path, body), tmp_path) == report("ok")


def test_a_failing_fact_tune_is_shown(tuned, tmp_path):
    with pytest.raises(AssertionError, match="nvcc is not here"):
        tuned.tune(tool(tmp_path, "sys.exit('nvcc is not here')"), tmp_path)


def test_an_old_report_is_not_read_again(tuned, tmp_path):
    (tmp_path / "tuning.json").write_text(json.dumps(report("ok")))
    with pytest.raises(FileNotFoundError):
        tuned.tune(tool(tmp_path, ""), tmp_path)


def test_a_fact_tune_that_does_not_end_is_ended(tuned, tmp_path):
    with pytest.raises(AssertionError, match="ran for 2 s"):
        tuned.tune(tool(tmp_path, "print('begun', flush=True); time.sleep(60)"), tmp_path, timeout=2)


# Random graphs; the same script, for the host.


def graphs(root, *words, **extra):
    environment = {**toolchain.environment(), **extra, "FACT_BIN_DIR": str(root / "build" / "bin")}
    return subprocess.run([sys.executable, root / "test" / "gpu" / "graphs.py", *map(str, words)],
                          capture_output=True, text=True, timeout=900, env=environment)


@pytest.mark.skipif(toolchain.find_tool("fact-compile") is None
                    and not os.environ.get("FACT_REQUIRE_COMPILER"),
                    reason="fact-compile is not built")
def test_random_graphs_are_compared_and_a_mistake_is_found(root, tmp_path):
    folder = tmp_path / "graphs"
    done = graphs(root, "pack", folder, "--target", "host", "--graphs", "2", "--seed", "11",
                  FACT_WORK_DIR=str(tmp_path / "work"))
    assert done.returncode == 0 and "2 of seeds 11 to" in done.stdout, done.stdout + done.stderr
    done = graphs(root, "run", folder)
    assert done.returncode == 0 and "2 compared with PyTorch in fp64, 0 failures" in done.stdout, \
        done.stdout + done.stderr
    # The library now stands beside other graphs than it was made from.
    file = folder / "graphs00" / "graphs.pickle"
    made = pickle.loads(file.read_bytes())
    text = made[1].nodes[-1].text
    changed = made[1].nodes[:-1] + (type(made[1].nodes[-1])(f"({text}) * 3", made[1].nodes[-1].operands),)
    made[1] = type(made[1])(made[1].seed, made[1].leaves, changed, made[1].outputs)
    file.write_bytes(pickle.dumps(made))
    done = graphs(root, "run", folder)
    assert done.returncode == 1 and f"WRONG seed {made[1].seed}" in done.stdout, done.stdout
    (folder / "graphs00" / "graphs00.so").unlink()
    (folder / "graphs00" / "bundle.json").write_text("{}")
    done = graphs(root, "run", folder)
    assert done.returncode == 1 and "does not build" in done.stdout, done.stdout
