# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/coverage.py counts the lines that run, in a small tree of its own."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

PRESETS = {
    "version": 6,
    "configurePresets": [{
        "name": "coverage",
        "generator": "Ninja",
        "binaryDir": "${sourceDir}/build-${presetName}",
        "cacheVariables": {"CMAKE_C_FLAGS": "-fprofile-instr-generate -fcoverage-mapping"}}]}

TREE = """
cmake_minimum_required(VERSION 3.25)
project(small C)
enable_testing()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
add_subdirectory(test/unit/Small)
"""

SUITE = """
add_executable(SmallTests main.c ../../../lib/Half/half.c)
add_test(NAME small COMMAND SmallTests)
"""

# Each function has two lines.
HALF = """int seen(void) {
  return 0; }
int unseen(void) {
  return 1; }
"""


@pytest.fixture
def cover(root, tmp_path):
    """Runs the script on a test; returns its status, the last line and the errors."""
    (tmp_path / "scripts").mkdir()
    for name in ("check-preset.sh", "coverage.py"):
        shutil.copy(root / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "CMakePresets.json").write_text(json.dumps(PRESETS))
    (tmp_path / "CMakeLists.txt").write_text(TREE)
    suite = tmp_path / "test" / "unit" / "Small"
    suite.mkdir(parents=True)
    (suite / "CMakeLists.txt").write_text(SUITE)
    (tmp_path / "lib" / "Half").mkdir(parents=True)
    (tmp_path / "lib" / "Half" / "half.c").write_text(HALF)
    cache = (root / "build" / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]

    def run(main, suite_name="Small", *options):
        (suite / "main.c").write_text(main)
        done = subprocess.run([sys.executable, tmp_path / "scripts" / "coverage.py", suite_name, *options],
                              capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "CC": compiler})
        return done.returncode, done.stdout.splitlines()[-1:], done.stderr

    return run


def test_lines_that_run_are_counted(cover):
    """Those of lib/, not those of the tests."""
    sentence = "of the lines that these programs have of lib/ are covered"
    status, last, errors = cover("int seen(void); int main(void) { return seen(); }\n")
    assert (status, last) == (0, [f"50.00% {sentence}"]), errors
    status, last, errors = cover(
        "int seen(void); int unseen(void);\nint main(void) { return seen() + unseen() - 1; }\n")
    assert (status, last) == (0, [f"100.00% {sentence}"]), errors


def test_a_test_that_fails_and_one_that_is_not_there(cover):
    status, last, errors = cover("int unseen(void); int main(void) { return unseen(); }\n")
    assert status == 1 and last[0].startswith("50.00%"), errors
    status, _, errors = cover("", "Nowhere")
    assert status == 1 and "coverage: no test ran" in errors


def test_a_library_below_its_floor_fails(cover, tmp_path):
    """In the results too, which have each library that has a floor."""
    report = tmp_path / "floors.xml"

    def results(*floors):
        status, last, errors = cover("int seen(void); int main(void) { return seen(); }\n", "Small",
                                     "--junit", report, *(f"--floor={floor}" for floor in floors))
        assert last[0].startswith("50.00%"), errors
        failures = {case.get("name"): case.find("failure") for case in xml.parse(report).iter("testcase")}
        return status, {name: failure is not None and failure.get("message")
                        for name, failure in failures.items()}

    assert results("Half=50") == (0, {"tests": False, "Half": False})
    assert results("Half=50.5") == (1, {"tests": False, "Half":
        "50.00% of the lines of lib/Half are covered, but at least 50.5% must be"})
    status, found = results("Half=0", "Other=1")
    assert status == 1 and not found["Half"] and found["Other"]


def test_each_library_of_the_suite_has_a_floor(root):
    """`make check-full` runs what the script runs by itself, and no library is left out."""
    command, _ = runpy.run_path(str(root / "scripts" / "check.py"))["suites"](full=True)["coverage"]
    suites = runpy.run_path(str(root / "scripts" / "coverage.py"))["SUITES"]
    floors = dict(word.removeprefix("--floor=").split("=") for word in command if "--floor=" in word)
    assert sorted(floors) == sorted(suites) and all(float(floor) > 50 for floor in floors.values())
    assert not set(command) & set(suites)
