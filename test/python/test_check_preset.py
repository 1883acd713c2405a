# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check-preset.sh builds and runs suites of a small tree of its own."""

import json
import os
import re
import runpy
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

PRESETS = {
    "version": 6,
    "configurePresets": [{
        "name": "small",
        "generator": "Ninja",
        "binaryDir": "${sourceDir}/build-${presetName}",
        "cacheVariables": {"CMAKE_C_FLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=all"}}]}

TREE = """
cmake_minimum_required(VERSION 3.25)
project(small C)
enable_testing()
foreach(suite Right Wrong Empty Unbuildable Hidden Greedy)
  add_subdirectory(test/unit/${suite})
endforeach()
"""

SUITES = {
    "Right": "add_test(NAME right COMMAND true)",
    "Wrong": "add_test(NAME wrong COMMAND false)",
    "Empty": "",
    "Unbuildable": "add_executable(unbuildable unbuildable.c)\n"
                   "add_test(NAME unbuildable COMMAND unbuildable)",
    # The test passes though a process it starts has a finding.
    "Hidden": "add_executable(faulty faulty.c)\n"
              "add_test(NAME hidden COMMAND faulty)\n"
              "set_tests_properties(hidden PROPERTIES WILL_FAIL ON)",
    # It is told that there is not so much memory.
    "Greedy": "add_executable(greedy greedy.c)\nadd_test(NAME greedy COMMAND greedy)",
}


@pytest.fixture(scope="module")
def check(root, tmp_path_factory):
    """Runs suites; returns whether the script is satisfied, the tests of its report, and what it prints."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "scripts").mkdir()
    shutil.copy(root / "scripts" / "check-preset.sh", tree / "scripts")
    (tree / "CMakePresets.json").write_text(json.dumps(PRESETS))
    (tree / "CMakeLists.txt").write_text(TREE)
    for name, text in SUITES.items():
        folder = tree / "test" / "unit" / name
        folder.mkdir(parents=True)
        (folder / "CMakeLists.txt").write_text(text)
    (tree / "test/unit/Unbuildable/unbuildable.c").write_text("#error\n")
    (tree / "test/unit/Hidden/faulty.c").write_text(
        "int main(int argc, char **argv) { return 0x7fffffff + argc; }\n")

    (tree / "test/unit/Greedy/greedy.c").write_text(
        "#include <stdlib.h>\n#include <string.h>\n"
        "int main(int argc, char **argv) { return malloc(strlen(argv[0]) << 46) != NULL; }\n")

    # The compiler of the build, and none of the caller's sanitizer options.
    cache = (root / "build" / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    environment = {name: value for name, value in os.environ.items() if not name.endswith("SAN_OPTIONS")}
    environment["CC"] = compiler[1]

    # A ninja that notes how it is called.
    (tree / "bin").mkdir()
    ninja = tree / "bin" / "ninja"
    ninja.write_text(f'#!/bin/sh\necho "$@" >> {tree}/calls.txt\nexec {shutil.which("ninja")} "$@"\n')
    ninja.chmod(0o755)
    environment["PATH"] = f"{ninja.parent}:{environment['PATH']}"

    def run(*suites, **variables):
        report = tree / "report.xml"
        report.unlink(missing_ok=True)
        done = subprocess.run([tree / "scripts" / "check-preset.sh", "small", report, *suites],
                              capture_output=True, text=True, env={**environment, **variables})
        tests = [case.get("name") for case in xml.parse(report).iter("testcase")] if report.exists() else []
        return done.returncode == 0, tests, done.stdout + done.stderr

    run.calls = tree / "calls.txt"
    return run


def test_a_suite_passes_or_fails(check):
    assert check("Right")[:2] == (True, ["right"])
    assert check("Wrong", "Right")[:2] == (False, ["wrong", "right"])


def test_a_suite_without_tests_fails(check):
    assert check("Empty", "Right")[:2] == (False, ["right"])
    assert check("Nowhere", "Right")[:2] == (False, ["right"])


def test_other_suites_run_after_one_that_cannot_be_built(check):
    assert check("Unbuildable", "Right")[:2] == (False, ["right"])


def test_a_finding_counts_where_a_test_expects_failure(check):
    satisfied, tests, output = check("Hidden")
    assert (satisfied, tests) == (False, ["hidden"])
    assert "runtime error: signed integer overflow" in output
    # That of an earlier run does not.
    assert check("Right")[0]


def test_files_compiled_at_once_are_the_users_choice(check):
    assert check("Right", CMAKE_BUILD_PARALLEL_LEVEL="3")[0]
    assert "-j 3 test/unit/Right/all" in check.calls.read_text()


def test_memory_that_is_not_there_is_no_finding(check):
    assert check("Greedy")[:2] == (True, ["greedy"])


def test_every_suite_runs_under_sanitizers(root):
    """Those that are built without the compiler under both presets, the others with it."""
    check = runpy.run_path(str(root / "scripts" / "check.py"))
    suites = {name: set(command[3:]) for name, (command, _) in check["suites"](full=True).items()}
    text = (root / "test" / "unit" / "CMakeLists.txt").read_text()
    without, others = (set(re.findall(r"add_subdirectory\((\w+)\)", part))
                       for part in text.split("if(FACT_BUILD_COMPILER)"))
    assert suites["asan-ubsan"] == suites["tsan"] == without
    assert suites["asan-ubsan-compiler"] == others | {"lit"}
