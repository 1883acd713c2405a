# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a person sees of long work: the bar in a terminal, and nothing of it elsewhere."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import types

import pytest

from fact import progress, toolchain
from hostile_server import Server, answer, later

needs_tuner = pytest.mark.skipif(toolchain.find_tool("fact-tune") is None,
                                 reason="fact-tune is not built")

COLUMNS = 132
PROGRAM = """
import torch, fact
module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())
fact.compile(module, (torch.randn(8, 64),), target="host", candidates=2)
print("done")
"""


def in_terminal(words, **variables):
    """What a program prints to a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(words[0], words, {**os.environ, **variables})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    printed = b""
    try:
        while data := os.read(terminal, 1 << 16):
            printed += data
    except OSError:  # The end, on Linux.
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, printed.decode()
    return printed.decode()


def bars(printed):
    """The bars, and the lines that remain on the screen, without their colors."""
    printed = re.sub(r"\x1b\[[\d;]*m", "", printed)
    drawn = re.findall(r"\r([^\r\n]+)\x1b\[K", printed)
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[K|[\r\n]|[^\r\n\x1b]+", printed):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        else:
            lines[-1] = lines[-1][:column].ljust(column) + part + lines[-1][column + len(part):]
            column += len(part)
    return drawn, lines


@needs_tuner
def test_a_bar_in_a_terminal(tmp_path):
    pytest.importorskip("torch_mlir")
    printed = in_terminal([sys.executable, "-c", PROGRAM], FACT_WORK_DIR=str(tmp_path))
    drawn, remaining = bars(printed)
    # Python and the tools take turns.
    steps = ["exporting sequential", "compiling sequential", "importing PyTorch's ops", "raising ops",
             "grouping ops into kernels", "writing the bundle", "candidates",
             "comparing sequential with the module in fp64"]
    first = [next(i for i, line in enumerate(drawn) if step in line) for step in steps]
    assert first == sorted(first) and first[0] == 0, drawn
    assert re.search(r"^\[#*-*\] \d of \d candidates, \d (compiling|measuring)", "\n".join(drawn), re.M)
    # The last state may be over before it is drawn.
    assert re.search(r"\] [12] of 2 candidates.* best [\d.]+ us \([\d.]+% of the speed of light\)$",
                     "\n".join(drawn), re.M)
    assert all(len(line) < COLUMNS for line in drawn)
    # Nothing of it is left.
    assert remaining == ["done", ""]

    # fact-tune draws it by itself, below its own lines.
    bundle, = tmp_path.glob("*/bundle")
    tuner = [str(toolchain.find_tool("fact-tune")), str(bundle)]
    drawn, remaining = bars(in_terminal([*tuner, "--retune"]))
    assert any("candidates" in line and " left" in line for line in drawn)
    assert not any(line.startswith("[") for line in remaining)
    assert sum(" tried #" in line for line in remaining) == 2

    # No bar where nobody looks.
    done = subprocess.run([*tuner, "--retune"], check=True, capture_output=True, text=True)
    assert "\r" not in done.stdout and "[#" not in done.stdout


@pytest.fixture
def server():
    """A model that takes its time, and answers with something else."""
    with Server(later(1.5, answer("no patterns"))) as server:
        yield server


def asking(server):
    return ["--agent=llm", f"--llm-url={server.url}", "--llm-model=small", "--llm-rounds=2"]


@needs_tuner
def test_requests_to_a_language_model(server, tmp_path):
    """The number of each, and the time so far; from Python, and by fact-compile itself."""
    pytest.importorskip("torch_mlir")
    program = PROGRAM.replace("candidates=2", f"candidates=1, options={asking(server)}")
    drawn, remaining = bars(in_terminal([sys.executable, "-c", program], FACT_WORK_DIR=str(tmp_path)))
    for number in (1, 2):
        text = f"grouping ops into kernels, request {number} of 2 to the language model"
        assert drawn.index(text) < drawn.index(text + ", 0:01")
    assert remaining == ["done", ""] and len(server.requests) == 2

    source, = tmp_path.glob("*/sequential.mlir")
    words = [str(toolchain.find_tool("fact-compile")), str(source), "--target=host",
             "--until=discover", "-o", str(tmp_path / "fused.mlir"), *asking(server)]
    printed = in_terminal(words)
    drawn, remaining = bars(printed)
    # By itself it draws nothing of what is short.
    assert drawn[0] == "grouping ops into kernels, request 1 of 2 to the language model"
    assert "grouping ops into kernels, request 2 of 2 to the language model, 0:01" in drawn
    # The warning has a line of its own, from which the bar was removed, and nothing else is left.
    assert "\r\x1b[K<unknown>:0: warning: " in re.sub(r"\x1b\[[\d;]*m", "", printed)
    assert len(remaining) == 2 and remaining[1] == ""
    assert remaining[0].startswith("<unknown>:0: warning: no usable answer from the language model: ")

    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert done.stdout == "" and done.stderr.splitlines() == [remaining[0]]


AFFINE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(4))
        self.bias = torch.nn.Parameter(torch.rand(4))

    def forward(self, x):
        return x * self.scale + self.bias

def get_inputs():
    return [torch.randn(2, 4)]
"""


@needs_tuner
def test_rounds_of_a_benchmark(tmp_path, fake_library):
    pytest.importorskip("torch_mlir")
    (tmp_path / "affine.py").write_text(AFFINE)
    words = [sys.executable, "-m", "fact", "bench", str(tmp_path / "affine.py"), "--device=cpu",
             "--compare=eager", "--repeats=1"]
    drawn, remaining = bars(in_terminal([*words, "--rounds=40000"], FACT_WORK_DIR=str(tmp_path / "work")))
    steps = ["computing the module in fp64", "preparing eager", "preparing fact", "exporting affine",
             "candidates", "comparing affine", "measuring 40000 rounds of eager, fact"]
    order = [next(i for i, line in enumerate(drawn) if step in line) for step in steps]
    assert order == sorted(order), drawn
    counted = [re.fullmatch(r"\[(#*)-*\] measuring (?:eager|fact), round (\d+) of 40000, \d:\d\d left", line)
               for line in drawn]
    counted = [(len(each[1]), int(each[2])) for each in counted if each]
    assert counted and counted == sorted(counted)
    assert all(abs(filled / 20 - number / 40000) <= 0.05 for filled, number in counted)
    # No bar is left above the table, and a pipe has the lines of before.
    assert remaining[0] == "" and "affine, fp32, inputs 2x4" in remaining[1]
    assert not any(word in line for line in remaining for word in ("measuring", "preparing", " left"))
    done = subprocess.run([*words, "--rounds=2", f"--library={fake_library()}"], check=True,
                          capture_output=True, text=True)
    assert done.stderr.splitlines() == ["... computing the module in fp64", "... preparing eager",
                                        "... preparing fact", "... measuring 2 rounds of eager, fact"]
    assert "\r" not in done.stdout


PRINTING = """
import logging, os, sys, time, warnings, torch
from fact import progress
before = sys.stdout, sys.stderr
with progress.showing("exporting a module with a long name"):
    print("a")
    print("no newline", end="")
    time.sleep(1.1)
    print(", and its end")
    warnings.warn("careful")
    logging.warning("logged")
    with progress.showing("something in it"):
        sys.stdout.writelines(["b\\n", "c\\n"])
    time.sleep(1.1)
    os.write(1, b"a program\\n")
assert (sys.stdout, sys.stderr) == before
try:
    with progress.showing("failing"):
        raise ValueError("wrong")
except ValueError as error:
    print(error)
"""


def test_what_is_printed_meanwhile_stays_readable(root):
    printed = in_terminal([sys.executable, "-c", PRINTING], PYTHONPATH=str(root / "python"))
    drawn, remaining = bars(printed)
    assert remaining[:2] == ["a", "no newline, and its end"]
    assert "UserWarning: careful" in remaining[2]
    assert remaining[-5:-3] == ["b", "c"] and remaining[-6] == "WARNING:root:logged"
    # What Python does not write begins at the left; what it does not cover of the bar stays.
    assert remaining[-3].startswith("a program") and remaining[-2:] == ["wrong", ""]
    # Nothing is drawn behind an unfinished line; the time so far follows what is printed.
    unfinished = printed.partition("no newline")[2].partition(", and its end")[0]
    assert unfinished == ""
    texts = [re.sub("0:0[123]", "TIME", text) for text in dict.fromkeys(drawn)]
    assert list(dict.fromkeys(texts)) == [
        "exporting a module with a long name", "something in it",
        "exporting a module with a long name, TIME", "failing"]


def test_without_a_terminal(capfd):
    with progress.following("compiling") as given:
        assert given == ({}, ())
    with progress.showing("exporting") as bar:
        assert not bar.is_shown
        bar.say("half", 0.5)
        bar.count(1, 2, "rounds")
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def display(monkeypatch):
    """What is shown, instead of a terminal."""
    seen = []
    monkeypatch.setattr(progress, "_find_display", lambda: lambda *what: seen.append(what))
    return seen


def test_time_so_far_and_time_left(display, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
    with progress.showing("exporting") as bar:
        clock[0] += 3725
        bar.say("exporting")
        for done in range(4):
            bar.count(done, 4, f"round {done + 1}")
            clock[0] += 0.2
            bar.count(done, 4, "too early to be shown")
            clock[0] += 40
        with progress.showing("inside"):
            pass
    assert display == [
        (None, "exporting"), (None, "exporting, 1:02:05"), (0.0, "round 1"),
        (0.25, "round 2, 2:00 left"), (0.5, "round 3, 1:21 left"), (0.75, "round 4, 0:41 left"),
        (None, "inside"), (0.75, "round 4, 0:41 left"), (None, "")]


def test_lines_that_are_none(display):
    """A tool of another version, or one that is killed within a line."""
    with progress.following("compiling") as (variables, descriptors):
        os.write(descriptors[0], b"0.5 half\n0.5 half\n- writing\nwhat is this\n-\n0.7\n\nnan nothing\n"
                                 b"7 too much\n\xff\n0.9 cut o")
        assert variables["FACT_PROGRESS_FD"] == str(descriptors[0])
    assert display == [(None, "compiling"), (0.5, "half"), (None, "writing"), (1.0, "too much"),
                       (0.9, "cut o"), (None, "")]
