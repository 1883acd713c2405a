# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/coverage.py counts the lines that run, in a small tree of its own."""

import json
import re
import shutil
import subprocess
import sys

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
add_executable(SmallTests main.c ../../../lib/half.c)
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
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "half.c").write_text(HALF)
    cache = (root / "build" / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]

    def run(main, suite_name="Small"):
        (suite / "main.c").write_text(main)
        done = subprocess.run([sys.executable, tmp_path / "scripts" / "coverage.py", suite_name],
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
