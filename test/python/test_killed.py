# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fact compile` of a small module, killed by SIGKILL at random moments.

    pytest test/python/test_killed.py --full [--random-seed=S]

A killed process is the whole group of the command, its driver alone (`fact`), or one of the tools
that it runs (fact-compile, fact-tune). Runs are killed one after another in the same folders, so
each continues what the one before left. After each kill:

- no process of the run is left, and none holds a lock;
- measurements and compiled objects that were there are there, and entries of the cache are whole;
- a library that was there is there, or a newer one: a whole one.

In the end one run is left alone. Its library, bundle and measurements are those of a run that
nobody disturbed, and nothing is left beside them. The module computes with small whole numbers, so
that every order of its sums has the same result, and the libraries agree in each bit, whichever
candidates are the fastest.
"""

import contextlib
import fcntl
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

import fact
from fact import toolchain
from fact.workload import load_workload

MODEL = """\
import torch
from torch import nn

def whole(*shape):
    return nn.Parameter(torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(1)).float())

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = whole(32, 48), whole(48, 32)

    def forward(self, x):
        return (torch.relu(x @ self.first) @ self.second + x).amax(-1)

def get_init_inputs():
    return []

def get_inputs():
    return [torch.randint(-4, 5, (64, 32)).float()]
"""
VICTIMS = ("group", "fact", "fact-compile", "fact-tune")
PATIENCE = 60


@dataclass
class Kept:
    """What no later kill may take away."""

    attempts: set[tuple] = field(default_factory=set)
    objects: dict[str, bytes] = field(default_factory=dict)
    has_library: bool = False


class Folder:
    """All that a run reads and writes, in one place of its own."""

    def __init__(self, path: Path, model: Path):
        self.path, self.model = path, model
        shutil.rmtree(path, ignore_errors=True)
        (path / "out").mkdir(parents=True)
        self.library = path / "out" / "model.so"
        self.command = [sys.executable, "-m", "fact", "compile", str(model), "--target=host",
                        "--candidates=2", "-o", str(self.library)]
        self.environment = {
            **toolchain.environment(), "FACT_WORK_DIR": str(path / "work"),
            "FACT_CACHE_DIR": str(path / "cache"), "LC_ALL": "C",
        }

    def start(self) -> subprocess.Popen:
        with open(self.path / "log", "w") as log:
            return subprocess.Popen(self.command, env=self.environment, stdout=log,
                                    stderr=subprocess.STDOUT, start_new_session=True)

    def log(self) -> str:
        return (self.path / "log").read_text(errors="replace")

    def finish(self) -> float:
        """A run to its end; how long it took."""
        began = time.monotonic()
        assert self.start().wait(timeout=600) == 0, self.log()
        return time.monotonic() - began

    def processes(self) -> dict[int, str]:
        """The processes of this folder's runs, with their names."""
        mark = f"FACT_WORK_DIR={self.path / 'work'}\0".encode()
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    name = (entry / "comm").read_text().strip()
                    found[int(entry.name)] = name
            except OSError:
                # It ended, or belongs to someone else.
                pass
        return found

    def kill(self, process: subprocess.Popen, victim: str) -> str | None:
        """Kills the victim, or the group where the victim does not run; says who was killed, None
        if the run ended just before."""
        tool = next((pid for pid, name in self.processes().items() if name == victim), None)
        with contextlib.suppress(ProcessLookupError):
            if victim == "fact":
                process.kill()
            elif tool is None:
                os.killpg(process.pid, signal.SIGKILL)
                victim = "group"
            else:
                os.kill(tool, signal.SIGKILL)
        status = process.wait(timeout=PATIENCE)
        if status == 0:
            assert self.library.exists(), self.log()
            return None
        assert status == -signal.SIGKILL or victim not in ("group", "fact"), self.log()
        return victim

    def await_end(self) -> None:
        until = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not left, f"still running: {left}"

    @property
    def bundle(self) -> Path | None:
        return next(self.path.glob("work/*/bundle"), None)

    def attempts(self) -> set[tuple]:
        """The rows of the tuning database that decide what the next run does. Read in a copy: the
        tools have to recover a log that a killed process left, not this test."""
        if self.bundle is None or not (self.bundle / "tuning.sqlite").exists():
            return set()
        copy = self.path / "rows"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file in self.bundle.glob("tuning.sqlite*"):
            shutil.copy(file, copy)
        database = sqlite3.connect(copy / "tuning.sqlite")
        try:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'attempts'").fetchone():
                return set()
            return set(database.execute(
                "SELECT kernel_hash, candidate, candidate_hash, status FROM attempts"))
        finally:
            database.close()

    def objects(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.glob("cache/objects/*.object")}

    def check(self, kept: Kept, expected: torch.Tensor) -> None:
        """Nothing is lost or half."""
        for lock in self.path.rglob("*.lock"):
            with open(lock) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        attempts, objects = self.attempts(), self.objects()
        assert kept.attempts <= attempts, f"lost attempts: {kept.attempts - attempts}"
        for name, content in kept.objects.items():
            assert objects.get(name) == content, f"lost object {name}"
        for name, content in objects.items():
            header, _, rest = content.partition(b"\n")
            digest = hashlib.sha256(len(rest).to_bytes(8, "little") + rest).hexdigest()
            assert header.split()[1] == digest.encode(), f"half of an object: {name}"
        assert self.library.exists() or not kept.has_library, "lost the library"
        if self.library.exists():
            assert torch.equal(self.results(), expected)
        kept.attempts, kept.objects = attempts, objects
        kept.has_library = self.library.exists()

    def results(self) -> torch.Tensor:
        workload = load_workload(str(self.model))
        weights = dict(workload.module.named_parameters())
        model = fact.load(self.library).create(weights)
        return model(sample())

    def leftovers(self) -> list[str]:
        """What only a killed run leaves: parts of files and folders, locks of bundles."""
        marks = (".partial-", ".writing-", ".replaced-")
        return [str(path.relative_to(self.path)) for path in self.path.rglob("*")
                if any(mark in path.name for mark in marks) or path.name == "bundle.lock"]

    def content(self) -> dict[str, bytes]:
        """What the compiler wrote, by name, without names of this folder."""
        assert self.bundle is not None
        files = [self.bundle / "bundle.json", self.path / "out" / "model.h",
                 *(file for name in ("kernels", "include", "runtime")
                   for file in (self.bundle / name).rglob("*") if file.is_file())]
        return {str(file.relative_to(self.path)): file.read_bytes().replace(
            str(self.path).encode(), b"") for file in files}


def sample() -> torch.Tensor:
    return torch.randint(-4, 5, (64, 32), generator=torch.Generator().manual_seed(2)).float()


@pytest.fixture(scope="module")
def undisturbed(root, tmp_path_factory, pytestconfig):
    """A run that nobody disturbed, how long it and the next one took, the module's results."""
    if not toolchain.find_tool("fact-compile"):
        if os.environ.get("FACT_REQUIRE_COMPILER"):
            raise FileNotFoundError("fact-compile is not built")
        pytest.skip("needs fact-compile")
    model = tmp_path_factory.mktemp("killed") / "model.py"
    model.write_text(MODEL)
    folder = Folder(model.parent / "undisturbed", model)
    if not pytestconfig.getoption("--full"):
        # Objects of the runtime, most of which other tests have compiled.
        shared = root / "build" / "python-tests" / "cache"
        subprocess.run(folder.command, env={**folder.environment, "FACT_CACHE_DIR": str(shared)},
                       check=True, capture_output=True)
        copy_objects(shared, folder.path / "cache")
    cold = folder.finish()
    warm = folder.finish() if pytestconfig.getoption("--full") else cold
    module = load_workload(str(model)).module
    expected = module(sample()).detach()
    folder.check(Kept(), expected)
    return folder, cold, warm, expected


def copy_objects(source: Path, target: Path) -> None:
    (target / "objects").mkdir(parents=True, mode=0o700)
    for path in source.glob("objects/*.object"):
        # Another test may be removing it.
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(path, target / "objects")


def run_killed(undisturbed, root: Path, kills: int, seed: int, from_nothing: bool) -> None:
    """`kills` runs in one folder that are killed, some of them after the library was made."""
    reference, cold, warm, expected = undisturbed
    generator = random.Random(seed)
    folder, kept = Folder(root, reference.model), Kept()
    if not from_nothing:
        copy_objects(reference.path / "cache", folder.path / "cache")
    left = cold if from_nothing else warm
    story = []
    try:
        while len(story) < kills:
            moment, victim = generator.uniform(0, max(left, warm)), generator.choice(VICTIMS)
            process = folder.start()
            try:
                assert process.wait(timeout=moment) == 0, folder.log()
            except subprocess.TimeoutExpired:
                if killed := folder.kill(process, victim):
                    story.append(f"{killed} after {moment:.2f} s")
                folder.await_end()
            folder.check(kept, expected)
            left -= moment
        folder.finish()
        folder.check(kept, expected)
        assert kept.attempts == reference.attempts()
        assert kept.objects.keys() == reference.objects().keys()
        assert folder.content() == reference.content()
        assert folder.leftovers() == []
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, killed: {', '.join(story)}: {error}") from error


def first_seed(config) -> int:
    given = config.getoption("--random-seed")
    return given if given is not None else int(os.environ.get("FACT_RANDOM_SEED", 0))


def test_killed_some_times(undisturbed, tmp_path, pytestconfig):
    seed = first_seed(pytestconfig)
    print(f"seed {seed}")
    run_killed(undisturbed, tmp_path / "run", 2, seed, from_nothing=False)


@pytest.mark.full
@pytest.mark.parametrize("chain", range(10))
def test_killed_anywhere(undisturbed, tmp_path, pytestconfig, chain):
    """50 kills in ten folders, four of them from nothing; the others know compiled objects."""
    seed = first_seed(pytestconfig) + chain
    print(f"seed {seed}")
    run_killed(undisturbed, tmp_path / "run", 5, seed, from_nothing=chain < 4)
