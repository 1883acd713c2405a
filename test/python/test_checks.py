# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `make demo` builds, and how `make check` counts."""

import collections
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest


def test_the_demo_builds_what_it_runs_and_no_test(root):
    if not (root / "build" / "build.ninja").exists():
        pytest.skip("needs build/")
    printed = subprocess.run(["make", "--dry-run", "demo"], cwd=root, check=True, text=True,
                             capture_output=True).stdout
    command, = (line.split() for line in printed.splitlines() if "scripts/build.sh" in line)
    targets = command[1:]
    assert targets == ["fact-compile", "fact-tune"]
    inputs = subprocess.run(["ninja", "-C", "build", "-t", "inputs", *targets], cwd=root,
                            check=True, text=True, capture_output=True).stdout.splitlines()
    assert any("lib/Tuning" in path for path in inputs)
    assert [path for path in inputs if "test/" in path or "gtest" in path] == []


SUITE = """
import sys
from pathlib import Path
Path(sys.argv[1]).write_text('''<testsuites><testsuite>
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><skipped message="no GPU"/></testcase>
<testcase name="d"><failure/></testcase>
</testsuite></testsuites>''')
sys.exit(int(sys.argv[2]))
"""


def last_line(root, tmp_path, capsys, script, *arguments):
    check = runpy.run_path(str(root / "scripts" / "check.py"))
    check["main"].__globals__.update(
        REPORTS=tmp_path,
        suites=lambda full: {"one": ([sys.executable, "-c", script, *arguments], {})})
    status = check["main"]([])
    return status, capsys.readouterr().out.splitlines()[-1]


def test_skips_are_counted_on_the_last_line(root, tmp_path, capsys):
    report = str(tmp_path / "one.xml")
    assert last_line(root, tmp_path, capsys, SUITE, report, "1") == (
        1, "2 passed, 1 failed, 1 skipped")
    passing = SUITE.replace('<testcase name="d"><failure/></testcase>', "")
    assert last_line(root, tmp_path, capsys, passing, report, "0") == (
        0, "2 passed, 0 failed, 1 skipped")


def test_a_suite_that_dies_has_failed(root, tmp_path, capsys):
    report = str(tmp_path / "one.xml")
    assert last_line(root, tmp_path, capsys, "import os; os.abort()") == (
        1, "0 passed, 1 failed, 0 skipped")
    passing = SUITE.replace('<testcase name="d"><failure/></testcase>', "")
    assert last_line(root, tmp_path, capsys, passing, report, "3") == (
        1, "2 passed, 1 failed, 1 skipped")
    # The report of an earlier run is not read.
    assert last_line(root, tmp_path, capsys, "pass") == (1, "0 passed, 1 failed, 0 skipped")


def test_warnings_are_errors(root):
    """In every source that the build of `make` compiles."""
    database = root / "build" / "compile_commands.json"
    if not database.exists():
        pytest.skip("needs build/")
    own = [(Path(entry["file"]).relative_to(root), set(entry["command"].split()))
           for entry in json.loads(database.read_text()) if entry["file"].startswith(f"{root}/")]
    own = [(file, words) for file, words in own if file.parts[0] in ("dialects", "lib", "tools")]
    assert len(own) > 200
    assert [file for file, words in own if not {"-Wall", "-Wextra", "-Werror"} <= words] == []


def test_presets_that_pages_name_are_there(root):
    """And CMake reads them all."""
    printed = subprocess.run(["cmake", "--list-presets"], cwd=root, check=True, text=True,
                             capture_output=True).stdout
    presets = set(re.findall(r'^ *"([\w-]+)"', printed, re.M))
    page = (root / "CONTRIBUTING.md").read_text()
    named = re.search(r"`cmake --list-presets`\): (.*?), each", page, re.S)[1]
    assert presets == {"release", *re.findall(r"`([\w-]+)`", named)}


def test_every_release_has_its_notes(root):
    """The newest first, and what is not released yet belongs to a release that has no notes of its own."""
    from fact.version import RELEASE

    sections = re.split(r"^## (.*)$", (root / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    notes = dict(zip(sections[::2], sections[1::2]))
    released = [tuple(map(int, each.split()[0].split("."))) for each in notes if each != "Unreleased"]
    assert released == sorted(released, reverse=True)
    coming = tuple(map(int, RELEASE.split(".")))
    if notes.get("Unreleased", "").strip():
        assert coming not in released
    assert released[:1] <= [coming]


def test_unit_tests_have_names_of_their_own(root):
    """Tests of one name have each other's labels: `full` would keep all of them from `make check`."""
    if not (root / "build" / "build.ninja").exists():
        pytest.skip("nothing is built")
    listing = subprocess.run(["ctest", "--test-dir", "build", "--show-only=json-v1"], cwd=root, text=True,
                             stdout=subprocess.PIPE, check=True).stdout
    tests = json.loads(listing[listing.index("{"):])["tests"]
    names = collections.Counter(test["name"] for test in tests)
    assert [name for name, count in names.items() if count > 1] == []
