# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the tools that fail, and processes that are killed.

test/faults/Faults.c is loaded into one tool and fails its n-th open, write, sync, rename or
start of a process, or an allocation, or kills it there. Whatever n is:

- the tool succeeds with the right result (some calls are not needed: a cache, the name in a
  lock), or it ends with an error status and a message. Without memory, LLVM's tools abort
  with a message, as LLVM does, or fail inside of LLVM; any other signal is a failure;
- nothing is lost: an earlier result is as it was or is the new one, the rows of the tuning
  database and the entries of the registry are there;
- the same command succeeds when nothing fails.

`make check` tries a few n of each kind, `make check-full` all of them (of allocations a
sample). Most faults leave a folder as another one has left it: that the same command succeeds
from there is then known.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from fact import toolchain

CALLS = ("open", "write", "sync", "rename", "start")
ALLOCATIONS = 12
ROWS = 20
SEED = 7
MODEL = Path(__file__).parents[1] / "Driver" / "Inputs" / "small.mlir"


@dataclass
class Scenario:
    """One command in one folder, and what must hold whatever happens to it."""

    tool: str
    arguments: list[str]
    # Fills the folder before each run.
    prepare: Callable[[Path], None]
    # What must hold after each run; the flag says whether it succeeded.
    check: Callable[[Path, bool], None]


@pytest.fixture(scope="module")
def tools(root):
    library = root / "build" / "lib" / "libFactFaults.so"
    names = ("fact-compile", "fact-tune", "fact-registry", "fact-opt", "fact-translate")
    found = {name: toolchain.find_tool(name) for name in names}
    if not library.exists() or not all(found.values()):
        if os.environ.get("FACT_REQUIRE_COMPILER"):
            raise FileNotFoundError(f"{library}, or one of {', '.join(names)}, is not built")
        pytest.skip("needs the tools and build/lib/libFactFaults.so")
    return {"faults": library, **found}


class Runner:
    """Runs a scenario's command, in a folder of its own for each worker."""

    def __init__(self, tools, cache: Path):
        self.tools = tools
        # Digests of folders from which the command succeeded.
        self.recovered: set[str] = set()
        self.environment = {
            **toolchain.environment(), "FACT_CACHE_DIR": str(cache), "LC_ALL": "C",
        }

    def command(self, scenario: Scenario) -> list[str]:
        return [str(self.tools[scenario.tool]), *scenario.arguments]

    def run(self, scenario: Scenario, folder: Path, kind: str = "", at: int = 0,
            log: Path | None = None):
        environment = dict(self.environment)
        if kind or log:
            environment.update(LD_PRELOAD=str(self.tools["faults"]), FACT_FAULT_KIND=kind,
                               FACT_FAULT_PROGRAM=scenario.tool, FACT_FAULT_AT=str(at))
        if log:
            environment["FACT_FAULT_LOG"] = str(log)
        return subprocess.run(self.command(scenario), cwd=folder, env=environment, text=True,
                              errors="replace", capture_output=True, timeout=240)

    def count(self, scenario: Scenario, folder: Path) -> dict[str, int]:
        """How many calls of each kind a run makes that nothing happens to."""
        fresh(scenario, folder)
        log = folder.with_suffix(".count")
        process = self.run(scenario, folder, log=log)
        assert process.returncode == 0, process.stderr
        scenario.check(folder, True)
        return {kind: int(count) for kind, count in map(str.split, log.read_text().splitlines())}

    def fail(self, scenario: Scenario, folder: Path, kind: str, at: int) -> None:
        """One run with one fault, and one without."""
        what = f"{scenario.tool}: {kind} {at}"
        fresh(scenario, folder)
        process = self.run(scenario, folder, kind, at)
        output = process.stdout + process.stderr
        if kind == "kill":
            assert process.returncode in (0, -signal.SIGKILL), f"{what}\n{output}"
        elif kind == "allocate":
            assert (process.returncode in (0, 1, 2, -signal.SIGABRT)
                    or is_within_llvm(process.returncode, output)), f"{what}\n{output}"
        else:
            assert process.returncode in (0, 1, 2), f"{what}\n{output}"
        if process.returncode != 0 and kind != "kill":
            assert process.stderr.strip(), f"{what}: {process.returncode} without a message"
        try:
            scenario.check(folder, process.returncode == 0)
            left = digest(scenario, folder)
            if left in self.recovered:
                return
            process = self.run(scenario, folder)
            assert process.returncode == 0, process.stdout + process.stderr
            scenario.check(folder, True)
            assert_clean(folder)
            self.recovered.add(left)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}\n{output}") from error


def is_within_llvm(status: int, output: str) -> bool:
    """Whether LLVM or MLIR used memory that it did not get: not all of its calls of malloc
    look. Frames before the first of a library are the signal's."""
    frames = re.findall(r"^ *#\d+ (.*)$", output.partition("RunSignalHandlers")[2], re.M)
    places = [frame for frame in frames[1:] if not re.search(r"vdso|libc\.so|restore_rt", frame)]
    return status == -signal.SIGSEGV and bool(places) and (
        "libMLIR" in places[0] or "libLLVM" in places[0])


def fresh(scenario: Scenario, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario.prepare(folder)


def digest(scenario: Scenario, folder: Path) -> str:
    """Of what is in a folder, but for times and for names that nobody can guess."""
    digest = hashlib.sha256(" ".join([scenario.tool, *scenario.arguments]).encode())
    for path in sorted(folder.rglob("*")):
        name = re.sub(r"-[0-9a-f]{12}\b", "-", str(path.relative_to(folder)))
        content = b""
        if path.suffix == ".sqlite":
            content = repr(read_database(path)).encode()
        elif path.is_file() and ".sqlite-" not in path.name:
            content = path.read_bytes().replace(str(folder).encode(), b"")
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def assert_clean(folder: Path) -> None:
    """Nothing is left beside results: bundles, locks, half of a library."""
    left = [entry.name for entry in folder.iterdir()
            if any(part in entry.name for part in (".writing-", ".replaced-", ".lock"))
            or (".partial-" in entry.name and ".so" in entry.name)]
    assert not left, f"left: {left}"


def positions(kind: str, count: int, full: bool) -> list[int]:
    """The n to try: all, of allocations and in `make check` a few over the whole range."""
    samples = ALLOCATIONS if kind == "allocate" else 2
    if count == 0:
        return []
    if (full and kind not in ("allocate", "kill")) or count <= samples:
        return list(range(1, count + 1))
    if kind == "kill":
        samples = 24 if full else 2
    if not full:
        return sorted({max(1, count * i // (samples + 1)) for i in range(1, samples + 1)})
    return sorted({1 + (count - 1) * i // (samples - 1) for i in range(samples)})


def run_all(runner: Runner, scenario: Scenario, tmp_path: Path, kinds, full: bool) -> int:
    counts = runner.count(scenario, tmp_path / "0")
    assert counts["open"] > 0, "the library of faults is not loaded"
    faults = [(kind, at) for kind in kinds for at in positions(kind, counts[kind], full)]
    workers = min(2, os.cpu_count() or 1)

    def work(worker: int) -> None:
        for kind, at in faults[worker::workers]:
            runner.fail(scenario, tmp_path / str(worker), kind, at)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    return len(faults)


# --------------------------------------------------------------------------------------
# What the tools work on
# --------------------------------------------------------------------------------------


def write_rows(database: Path) -> None:
    """Rows that are in the write-ahead log alone, as a process leaves them that was killed."""
    script = (
        "import os, sqlite3, sys\n"
        "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "d.execute('PRAGMA journal_mode = WAL')\n"
        "d.execute('CREATE TABLE kept (id INTEGER PRIMARY KEY)')\n"
        f"[d.execute('INSERT INTO kept DEFAULT VALUES') for _ in range({ROWS})]\n"
        "os._exit(0)\n")
    subprocess.run(["python3", "-c", script, str(database)], check=True)


def read_database(path: Path) -> list[tuple[str, tuple]]:
    """The rows of all tables, without times. Read in a copy: the test must not recover what a
    tool has to."""
    copy = path.parent.with_name(path.parent.name + ".rows")
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for end in ("", "-wal"):
        if path.with_name(path.name + end).exists():
            shutil.copy(path.with_name(path.name + end), copy)
    database = sqlite3.connect(copy / path.name)
    try:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [(name, row) for (name,) in tables.fetchall()
                for row in database.execute(f"SELECT {KEPT.get(name, '*')} FROM {name}")]
    finally:
        database.close()
        shutil.rmtree(copy)


# The columns of attempts that decide what the next run does.
KEPT = {"attempts": "kernel_hash, candidate, candidate_hash, machine, compiler, status, transient"}


def count_rows(folder: Path, table: str) -> int:
    """Different ones: candidates that are equally fast are measured twice."""
    return len({row for name, row in read_database(folder / "tuning.sqlite") if name == table})


@pytest.fixture(scope="module")
def runner(root, tools):
    # Objects of the runtime are compiled once for all runs of this test.
    return Runner(tools, root / "build" / "python-tests" / "cache")


@pytest.fixture(scope="module")
def made(runner, tmp_path_factory):
    """Results of tools that nothing happened to, to start from and to compare with."""
    folder = tmp_path_factory.mktemp("made")

    def run(*command):
        process = subprocess.run([str(word) for word in command], cwd=folder, text=True,
                                 env=runner.environment, capture_output=True)
        assert process.returncode == 0, process.stdout + process.stderr

    tools = runner.tools
    run(tools["fact-opt"], MODEL, "--fact-host", "-o", "fused.mlir")
    run(tools["fact-translate"], "fused.mlir", "--fact-to-host", "-o", "kernels.mlir")
    run(tools["fact-compile"], MODEL, "--until=bundle", "--bundle=bundle", "--candidates=2")
    run(tools["fact-tune"], "bundle", "-o", "model.so", "--candidates", "1")
    run(tools["fact-registry"], "add", "bundle", "--to", "layer")
    (folder / "kept").mkdir()
    write_rows(folder / "kept" / "tuning.sqlite")
    assert (folder / "kept" / "tuning.sqlite-wal").exists()
    return folder


def text_scenario(tool: str, arguments: list[str], made: Path, expected: str) -> Scenario:
    def prepare(folder: Path) -> None:
        shutil.copy(made / "fused.mlir", folder / "fused.mlir")
        (folder / "out.mlir").write_text("old")

    def check(folder: Path, succeeded: bool) -> None:
        text = (folder / "out.mlir").read_text()
        assert text == (made / expected).read_text() if succeeded else text == "old"
        assert sorted(os.listdir(folder)) == ["fused.mlir", "out.mlir"]

    return Scenario(tool, [*arguments, "-o", "out.mlir"], prepare, check)


def bundle_scenario(made: Path) -> Scenario:
    """A bundle with measurements, written again."""
    def prepare(folder: Path) -> None:
        for name in ("bundle.json", "kernels", "include", "runtime"):
            source, target = made / "bundle" / name, folder / "bundle" / name
            target.parent.mkdir(exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        for path in made.glob("kept/*"):
            shutil.copy(path, folder / "bundle")

    def check(folder: Path, succeeded: bool) -> None:
        # Never absent, never half of it: the old one, or a new one.
        kernel, = json.loads((folder / "bundle" / "bundle.json").read_text())["kernels"]
        assert len(kernel["candidates"]) == 1 if succeeded else len(kernel["candidates"]) in (1, 2)
        for candidate in kernel["candidates"]:
            assert (folder / "bundle" / candidate["object"]).stat().st_size > 0
        for name in ("include", "runtime"):
            assert (sorted(path.name for path in (folder / "bundle" / name).rglob("*"))
                    == sorted(path.name for path in (made / "bundle" / name).rglob("*")))
        assert count_rows(folder / "bundle", "kept") == ROWS

    arguments = [str(MODEL), "--until=bundle", "--bundle=bundle", "--candidates=1"]
    return Scenario("fact-compile", arguments, prepare, check)


def copy_tuned(made: Path, folder: Path) -> None:
    shutil.copytree(made / "bundle", folder / "bundle", symlinks=True)
    shutil.copy(made / "model.so", folder / "model.so")


def tune_scenario(made: Path) -> Scenario:
    """A bundle of which one candidate is known and one is not."""
    known = count_rows(made / "bundle", "attempts")

    def prepare(folder: Path) -> None:
        copy_tuned(made, folder)
        # Results of another reference with the same seed, as a process left them that was
        # killed: whoever compares with them finds every candidate wrong.
        kernel, = (path.parent for path in (folder / "bundle" / "build").glob("*/0.job"))
        for trial in range(20):
            (kernel / f"expected.{trial}").write_bytes(struct.pack("QQ1024f", SEED, 0, *[1e6] * 1024))

    def check(folder: Path, succeeded: bool) -> None:
        # What is known is not measured again, and no fault is held against a candidate.
        rows = count_rows(folder / "bundle", "attempts")
        assert rows == known + 1 if succeeded else known <= rows <= known + 1
        assert all(row[-2] == "ok" or row[-1] for name, row in
                   read_database(folder / "bundle" / "tuning.sqlite") if name == "attempts")
        # The old library, or a new one: a whole one.
        subprocess.run(["python3", "-c", "import ctypes; ctypes.CDLL('./model.so')"],
                       cwd=folder, check=True)

    arguments = ["bundle", "-o", "model.so", "--candidates", "2", "--jobs", "1",
                 "--seed", str(SEED)]
    return Scenario("fact-tune", arguments, prepare, check)


def whole_scenario(made: Path) -> Scenario:
    """From the model to the library: fact-compile starts fact-tune."""
    known = count_rows(made / "bundle", "attempts")

    def check(folder: Path, succeeded: bool) -> None:
        assert count_rows(folder / "bundle", "attempts") >= known
        if succeeded:
            assert (folder / "summary.json").stat().st_size > 0

    arguments = [str(MODEL), "-o", "model.so", "--bundle=bundle", "--candidates=1",
                 "--summary=summary.json", "--tuner-argument=--candidates=1"]
    return Scenario("fact-compile", arguments, lambda folder: copy_tuned(made, folder), check)


def registry_scenario(made: Path) -> Scenario:
    """Entries of a bundle for a layer that has others in the same file."""
    file, = made.glob("layer/*/*.json")

    def prepare(folder: Path) -> None:
        copy_tuned(made, folder)
        target = folder / "layer" / file.relative_to(made / "layer")
        target.parent.mkdir(parents=True)
        target.write_text(file.read_text().replace('"machine": "', '"machine": "another '))

    def check(folder: Path, succeeded: bool) -> None:
        text = (folder / "layer" / file.relative_to(made / "layer")).read_text()
        assert text.count('"machine": "another ') == 1 and text.endswith("]\n}\n")
        # What fails after the rename, as making it durable, leaves the new file.
        assert text.count('"machine": ') in ((2,) if succeeded else (1, 2))

    arguments = ["add", "bundle", "--to", "layer"]
    return Scenario("fact-registry", arguments, prepare, check)


def scenarios(made: Path) -> dict[str, Scenario]:
    return {
        "opt": text_scenario("fact-opt", [str(MODEL), "--fact-host"], made, "fused.mlir"),
        "translate": text_scenario("fact-translate", ["fused.mlir", "--fact-to-host"], made,
                                   "kernels.mlir"),
        "bundle": bundle_scenario(made),
        "tune": tune_scenario(made),
        "registry": registry_scenario(made),
    }


NAMES = ("opt", "translate", "bundle", "tune", "registry")


# --------------------------------------------------------------------------------------
# The tests
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_some_faults(runner, made, tmp_path, name):
    kinds = ("rename", "kill") if name == "tune" else ("open", "write", "sync", "rename", "kill")
    if name in ("opt", "translate"):
        kinds = CALLS
    assert run_all(runner, scenarios(made)[name], tmp_path, kinds, full=False) > 0


@pytest.mark.full
@pytest.mark.parametrize("kind", CALLS + ("allocate",))
@pytest.mark.parametrize("name", NAMES)
def test_every_fault(runner, made, tmp_path, name, kind):
    run_all(runner, scenarios(made)[name], tmp_path, [kind], full=True)


@pytest.mark.full
def test_every_fault_after_the_bundle(runner, made, tmp_path):
    """Of fact-compile from model to library, what follows the bundle: the tuner, the report."""
    scenario = whole_scenario(made)
    bundle = runner.count(bundle_scenario(made), tmp_path / "0")
    counts = runner.count(scenario, tmp_path / "0")
    for kind in CALLS:
        for at in range(bundle[kind] + 1, counts[kind] + 1):
            runner.fail(scenario, tmp_path / "0", kind, at)
    assert counts["start"] == 1


@pytest.mark.full
@pytest.mark.parametrize("name", ("bundle", "tune"))
def test_killed_anywhere(runner, made, tmp_path, name):
    run_all(runner, scenarios(made)[name], tmp_path, ["kill"], full=True)


@pytest.mark.full
def test_killed_between_compile_tune_and_compile(runner, made, tmp_path):
    """Killed while it tunes, compiled again, tuned: what was measured is not measured again."""
    scenario = tune_scenario(made)
    folder = tmp_path / "0"
    count = runner.count(scenario, folder)["kill"]
    known = count_rows(made / "bundle", "attempts")
    compiled = Scenario("fact-compile", [str(MODEL), "--until=bundle", "--bundle=bundle",
                                         "--candidates=2"], scenario.prepare, scenario.check)
    for at in positions("kill", count, True)[::3]:
        fresh(scenario, folder)
        assert runner.run(scenario, folder, "kill", at).returncode in (0, -signal.SIGKILL)
        rows = count_rows(folder / "bundle", "attempts")
        assert rows >= known
        for command in (compiled, scenario):
            process = runner.run(command, folder)
            assert process.returncode == 0, process.stdout + process.stderr
        assert process.stdout.count("known #") == rows, (at, process.stdout)
        assert_clean(folder)
