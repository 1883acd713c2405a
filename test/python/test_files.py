# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that cannot be written: an error that names them, and nothing half-written."""

import os
import resource
import signal
import stat
import subprocess
import sys

import pytest
import torch

from fact import FactError
from fact.files import writing
from fact.safetensors_file import read_safetensors, write_safetensors


def test_takes_the_place_of_the_old_when_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with writing(path) as file:
        file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_failure_leaves_the_old(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        with writing(path) as file:
            file.write("new")
            raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_killed_process_left_is_removed(root, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    script = ("import os, signal, sys; from fact.files import writing\n"
              "with writing(sys.argv[1]) as file:\n"
              "    file.write('half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n")
    killed = subprocess.run([sys.executable, "-c", script, str(path)])
    assert killed.returncode == -signal.SIGKILL
    assert path.read_text() == "old" and len(os.listdir(tmp_path)) == 2
    with writing(path) as outer:
        # A file that is being written is no leftover.
        with writing(path) as inner:
            inner.write("inner")
        outer.write("outer")
    assert path.read_text() == "outer"
    assert os.listdir(tmp_path) == ["file"]


def test_links_that_somebody_has_laid_are_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_text("mine")
    (tmp_path / "file.partial").symlink_to(victim)
    path.symlink_to(victim)
    with writing(path) as file:
        file.write("text")
        aside, = (entry for entry in tmp_path.iterdir() if ".partial-" in entry.name)
        assert not aside.is_symlink()
    assert victim.read_text() == "mine"
    assert path.read_text() == "text" and not path.is_symlink()


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(FactError, match="cannot write .*w.safetensors: Not a directory"):
        write_safetensors(tmp_path / "file" / "w.safetensors", {"w": torch.ones(1)})


@pytest.mark.skipif(not os.path.exists("/dev/full") or
                    not stat.S_ISCHR(os.stat("/dev/full").st_mode), reason="needs /dev/full")
def test_a_device_stays_one():
    with pytest.raises(FactError, match="cannot write /dev/full: No space left on device"):
        with writing("/dev/full") as file:
            file.write("text" * 10000)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_full_disk(root, tmp_path):
    """No file may be longer than 1 kB."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    old = tmp_path / "w.safetensors"
    write_safetensors(old, {"w": torch.ones(4)})
    workload = root / "examples" / "workloads" / "linear_chain.py"
    text = tmp_path / "chain.mlir"
    process = subprocess.run(
        [sys.executable, "-m", "fact", "export", workload, "--size", "small", "-o", text],
        capture_output=True, text=True, preexec_fn=limit)
    assert process.returncode == 1
    assert f"fact: error: cannot write {text}: File too large" in process.stderr
    assert "Traceback" not in process.stderr
    assert os.listdir(tmp_path) == ["w.safetensors"]
    assert torch.equal(read_safetensors(old)["w"], torch.ones(4))
