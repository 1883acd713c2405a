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

import pytest

from fact import progress, toolchain

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
    """The bars, and the lines that remain on the screen."""
    drawn = re.findall(r"\r([^\r\n]+)\x1b\[K", printed)
    remaining = [line.split("\x1b[K")[-1].split("\r")[-1]
                 for line in printed.replace("\r\n", "\n").split("\n")]
    return drawn, remaining


@needs_tuner
def test_a_bar_in_a_terminal(tmp_path):
    pytest.importorskip("torch_mlir")
    printed = in_terminal([sys.executable, "-c", PROGRAM], FACT_WORK_DIR=str(tmp_path))
    drawn, remaining = bars(printed)
    assert drawn[0] == "compiling sequential"
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


def test_without_a_terminal(capfd):
    with progress.showing("compiling") as given:
        assert given == ({}, ())
    assert capfd.readouterr() == ("", "")


def test_lines_that_are_none(monkeypatch):
    """A tool of another version, or one that is killed within a line."""
    seen = []
    monkeypatch.setattr(progress, "_find_display", lambda: lambda *what: seen.append(what))
    with progress.showing("compiling") as (variables, descriptors):
        os.write(descriptors[0], b"0.5 half\n0.5 half\nwhat is this\n\n7 too much\n\xff\n0.9 cut o")
        assert variables["FACT_PROGRESS_FD"] == str(descriptors[0])
    assert seen == [(None, "compiling"), (0.5, "half"), (1.0, "too much"), (0.9, "cut o"), (None, "")]
