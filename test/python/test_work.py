# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work folders: whose they are, who holds them, and what makes a cached library stale."""

import os
import subprocess
import sys
import threading
import time

import pytest
import torch

import fact
from fact import toolchain, work

# Waits for the others at the door of the work folder, and says whether it compiles.
PROGRAM = """
import sys, torch, fact
from fact import compiler
drive, locked = compiler._drive, compiler.locked
def counted(*arguments):
    print("compiled")
    drive(*arguments)
def together(folder):
    compiler.locked = locked
    print("arrived", flush=True)
    sys.stdin.readline()
    return locked(folder)
compiler._drive, compiler.locked = counted, together
torch.manual_seed(0)
module, x = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()), torch.ones(2, 8)
print(fact.compile(module, (x,), target="host", candidates=1)(x).sum().item())
"""


@pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built")
def test_three_processes_compile_one_graph(tmp_path):
    environment = {**os.environ, "FACT_WORK_DIR": str(tmp_path)}
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for _ in range(3)]
    answers = []
    for process in processes:
        assert process.stdout.readline() == "arrived\n", process.stderr.read()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        output, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        answers.append(output.split())
    # One compiles, and the others wait and take what it made.
    assert sorted(words[:-1] for words in answers) == [[], [], ["compiled"]]
    assert len({words[-1] for words in answers}) == 1
    assert len(list(tmp_path.glob("sequential-host-*/"))) == 1


def test_a_folder_is_held_by_one_at_a_time(tmp_path):
    folder, order = tmp_path / "folder", []
    folder.mkdir()

    def hold(name):
        with work.locked(folder) as waited:
            order.append((name, waited))
            time.sleep(0.2)
            order.append((name, None))

    with work.locked(folder) as waited:
        assert not waited
        thread = threading.Thread(target=hold, args=("second",))
        thread.start()
        time.sleep(0.2)
        assert not order
    thread.join()
    assert order == [("second", True), ("second", None)]


def graph(name="program"):
    return fact.ExportedGraph(name, "module {}", {}, [], [], None)


def test_folders_are_for_their_owner_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "root"))
    folder = work.work_folder(graph(), "host")
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.parent.stat().st_mode & 0o022 == 0
    folder.chmod(0o777)
    with pytest.raises(fact.FactError, match="can be written by .*everybody.*chmod go-w"):
        work.work_folder(graph(), "host")
    folder.chmod(0o755)
    assert work.work_folder(graph(), "host") == folder
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(fact.FactError, match="belongs to user"):
        work.work_folder(graph(), "host")


def test_a_link_to_a_folder_of_others_is_refused(monkeypatch, tmp_path):
    """In a folder like /tmp anybody may make the work folder first."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    monkeypatch.setenv("FACT_WORK_DIR", str(root))
    folder = work.work_folder(graph(), "host")
    root.chmod(0o1777)
    assert work.work_folder(graph(), "host") == folder
    folder.rmdir()
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(fact.FactError, match="is not a folder"):
        work.work_folder(graph(), "host")
    root.chmod(0o777)
    with pytest.raises(fact.FactError, match="can be written by"):
        work.work_folder(graph(), "host")


@pytest.mark.full
@pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built")
def test_objects_are_kept_only_where_nobody_else_can_write(monkeypatch, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("FACT_CACHE_DIR", str(cache))
    for mode, kept in ((0o777, False), (0o700, True)):
        cache.chmod(mode)
        monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / f"work{mode}"))
        fact.compile(torch.nn.ReLU(), (torch.ones(2),), target="host", candidates=1)
        assert bool(list((cache / "objects").glob("*.object"))) == kept


@pytest.fixture
def tools(monkeypatch, tmp_path):
    """Everything that the identity of a library is made of, in files of this test."""
    for name in ("fact-compile", "fact-tune"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(name)
        (tmp_path / "bin" / name).chmod(0o755)
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho release 13.0\n")
    nvcc.chmod(0o755)
    (tmp_path / "cutlass" / "include" / "cutlass").mkdir(parents=True)
    (tmp_path / "cutlass" / "include" / "cutlass" / "cutlass.h").write_text("// one\n")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path / "bin"))
    monkeypatch.setenv("CUDACXX", str(nvcc))
    monkeypatch.setenv("FACT_CUTLASS_DIR", str(tmp_path / "cutlass"))
    monkeypatch.setenv("FACT_PATTERNS", str(tmp_path / "patterns"))
    return tmp_path


def test_what_a_cached_library_depends_on(tools, monkeypatch):
    seen = {work.identity("sm_90a")}
    assert seen == {work.identity("sm_90a")}

    def is_another(what):
        found = work.identity("sm_90a")
        assert found not in seen, what
        seen.add(found)

    # The same size, and perhaps the same time.
    for name in ("fact-compile", "fact-tune"):
        (tools / "bin" / name).write_text(name.upper())
        is_another(name)
    (tools / "patterns").mkdir()
    (tools / "patterns" / "entry.json").write_text("{}")
    is_another("the registry")
    (tools / "cutlass" / "include" / "cutlass" / "cutlass.h").write_text("// two\n")
    is_another("CUTLASS's content")
    monkeypatch.setattr(work, "_cpu", lambda: ["another processor"])
    is_another("the processor")
    monkeypatch.setattr(work, "_driver", lambda: "another driver")
    is_another("the driver")
    monkeypatch.setattr(work, "_version", lambda program: "release 14.0")
    is_another("nvcc")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-use_fast_math")
    is_another("flags of nvcc")
    host = work.identity("host")
    monkeypatch.setattr(work, "_driver", lambda: "a third driver")
    assert work.identity("host") == host


def test_this_processor_is_known():
    found = " ".join(work._cpu())
    assert "Features" in found or "flags" in found
