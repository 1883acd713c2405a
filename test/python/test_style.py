# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `style` of scripts/check.py finds faults, in a small tree of its own."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def check(tmp_path):
    """Runs tools over files of a tree without git; returns what each one finds."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "style.py", tmp_path / "scripts")
    for name in ("pyproject.toml", ".clang-format", ".clang-tidy"):
        shutil.copy(ROOT / name, tmp_path)

    def run(tools: list[str], **files: str) -> dict[str, str | None]:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        report = tmp_path / "style.xml"
        status = subprocess.run([sys.executable, tmp_path / "scripts" / "style.py", "--junit", report,
                                 *tools], capture_output=True).returncode
        found = {case.get("name"): case.findtext("failure") for case in xml.parse(report).iter("testcase")}
        assert status == (1 if any(found.values()) else 0)
        return found

    return run


def test_what_is_well_written_passes(check):
    assert check(["clang-format", "ruff"], lib__a_cpp="int x;\n", test__b_py="X = 1\n") == {
        "clang-format": None, "ruff": None}


def test_each_tool_finds_its_fault(check):
    found = check(["clang-format", "ruff"], lib__a_cpp="int  x ;\n", test__b_py="import os\n")
    assert "lib/a.cpp:1:" in found["clang-format"]
    assert "test/b.py:1:8: F401" in found["ruff"]


@pytest.mark.full
def test_mypy_finds_a_wrong_type(check):
    found = check(["mypy"], python__fact__a_py='X: int = "one"\n')
    assert "python/fact/a.py:1: error: Incompatible types" in found["mypy"]


@pytest.mark.full
def test_clang_tidy_finds_its_fault(check, tmp_path):
    source = tmp_path / "lib" / "Tuning" / "a.cpp"
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(tmp_path), "file": str(source), "command": f"clang++ -c {source}"}]))
    right = check(["clang-tidy"], lib__Tuning__a_cpp="int *f() { return nullptr; }\n")
    assert right == {"clang-tidy": None}
    found = check(["clang-tidy"], lib__Tuning__a_cpp="int *f() { return 0; }\n")
    assert "lib/Tuning/a.cpp:1:" in found["clang-tidy"]


def test_each_check_has_its_tools():
    """`make check` runs the short ones, `make check-full` all."""
    default_tools = runpy.run_path(str(ROOT / "scripts" / "style.py"))["default_tools"]
    suites = runpy.run_path(str(ROOT / "scripts" / "check.py"))["suites"]
    for full, tools in {False: ["clang-format", "ruff", "mypy"],
                        True: ["clang-format", "ruff", "mypy", "clang-tidy"]}.items():
        command, _ = suites(full)["style"]
        assert Path(command[1]).name == "style.py" and ("--full" in command) == full
        assert default_tools(full) == tools


def test_clang_tidy_reads_what_the_page_says():
    """And all C++ but that of tests and examples."""
    style = runpy.run_path(str(ROOT / "scripts" / "style.py"))
    row, = re.findall(r"^\| `clang-tidy` \| (.*?) \|", (ROOT / "docs" / "testing.md").read_text(), re.M)
    folders = {name.split("/")[0] for name in style["sources"](".cpp")} - {"examples", "test"}
    assert set(re.findall(r"`(\w+)`", row)) == set(style["TIDY"]) == folders


def test_an_unknown_tool_is_named():
    process = subprocess.run([sys.executable, ROOT / "scripts" / "style.py", "flake8"],
                             capture_output=True, text=True)
    assert process.returncode == 2
    assert "unknown tool flake8; known are clang-format, ruff, mypy, clang-tidy" in process.stderr
