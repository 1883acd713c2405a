# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the documentation shows: each block is run, compiled, compared, or says why not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pages

ROOT = pages.ROOT
# Pages that a test of their own follows, command by command.
FOLLOWED = {"docs/cluster.md": "test_cluster.py", "docs/deploy.md": "test_deploy.py"}
PAGES = sorted(str(path.relative_to(ROOT)) for pattern in (
    "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/benchmarks/*.md", "patterns/*/README.md",
    "test/*/README.md")
    for path in ROOT.glob(pattern))
BLOCKS = {page: pages.read_blocks(ROOT / page, page) for page in PAGES if page not in FOLLOWED}
# Pages that `make check` follows too: the others compile more.
SHORT = ("docs/adding-a-target.md", "docs/agents.md", "docs/concepts.md", "docs/mlir.md",
         "docs/registry.md", "docs/start.md")


def test_followed():
    for page in set(PAGES) & set(FOLLOWED):
        assert Path(page).name in (ROOT / "test/python" / FOLLOWED[page]).read_text()


@pytest.mark.parametrize("page", [page for page in BLOCKS if BLOCKS[page]])
def test_blocks(page):
    problems = [f"{block.place}: {problem}" for block in BLOCKS[page] if (problem := pages.problem_of(block))]
    assert not problems, "\n".join(problems)


def test_every_schedule_has_an_example():
    """The schedule language on one page: each kind of the reference is written out there."""
    kinds = re.findall(r"^## (\w+)$", (ROOT / "docs/reference/Schedules.md").read_text(), re.M)
    page = (ROOT / "docs/schedules.md").read_text()
    assert len(kinds) > 10
    assert [kind for kind in kinds if not re.search(rf"= #fact\.{kind}\b", page)] == []


def test_adding_an_op_names_every_file():
    """`log1p`, which docs/adding-an-op.md follows, is in no file of which the page does not speak."""
    page = (ROOT / "docs/adding-an-op.md").read_text()
    # Scans compute with the function; kernels of the host may call any of C's library.
    others = {"LowerScans.cpp", "Scan.cuh", "ObjectEmitter.cpp"}
    found = [path for folder in ("dialects", "include", "lib") for path in (ROOT / folder).rglob("*.*")
             if path.name not in others and "log1p" in path.read_text().lower()]
    assert len(found) > 8
    assert [path.name for path in found if path.name not in page and f"{path.stem}::" not in page] == []
    # In the unit tests too, and those that it sends to know the op.
    tests = [path for path in (ROOT / "test/unit").rglob("*.cpp") if "fact.log1p" in path.read_text()]
    assert tests and [path.name for path in tests if path.name not in page] == []
    for folder in ("test/Conversion/TorchToFact", "test/python/execution"):
        assert folder in page and any("log1p" in path.read_text() for path in (ROOT / folder).glob("*.*"))


def test_adding_an_op_has_every_line():
    """Without the lines that the page shows, nothing knows `log1p` but lists that the page names."""
    texts = {path: path.read_text() for folder in ("dialects", "include", "lib")
             for path in (ROOT / folder).rglob("*.*") if path.suffix in (".h", ".cpp", ".td", ".cuh")}
    for file, paragraph in pages.quotes("docs/adding-an-op.md"):
        for line in paragraph.splitlines() if ROOT / file in texts else ():
            assert line.strip() in texts[ROOT / file]
            texts[ROOT / file] = texts[ROOT / file].replace(line.strip(), "")
    # The page says when an op is in these.
    named = {"Bands.cpp", "Decisions.cpp", "Magnitude.cpp", "HostMath.cpp", "ScalarFunction.cpp", "Math.cuh"}
    assert [name for name in named if name not in (ROOT / "docs/adding-an-op.md").read_text()] == []
    # Scans and softplus compute with the function, and kernels of the host may call any of C's library.
    others = {"LowerScans.cpp", "Scan.cuh", "ObjectEmitter.cpp", "FactScalars.cpp"}
    assert [path.name for path, text in texts.items() if path.name not in named | others
            and re.search(r"log1p(?!\(math::exp)", text, re.I)] == []


FOLDERS = ("cmake", "dialects", "docs", "examples", "include", "lib", "patterns", "python", "scripts",
           "test", "tools")
# Files that a page tells the reader of, but that are made by tools or by the reader.
MADE = {"-errors.mlir", "first.py", "kernels.h", "library.cpp", "linear_chain.h", "lib/cmake/FACT"}


@pytest.fixture(scope="module")
def names():
    """The names of all files."""
    return {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*")} | {
        path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("page", PAGES)
def test_files_exist(page, names):
    """Files and folders that a page names in its text."""
    text = re.sub(r"^ *```.*?^ *```", "", (ROOT / page).read_text(), flags=re.S | re.M)
    for word in set(re.findall(r"`([^`\s]+)`", text)) - MADE:
        if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./*{{}},-]*", word):
            assert list(ROOT.glob(re.sub(r"\{.*?\}", "*", word))), word
        elif re.fullmatch(r"[\w-]+\.(cpp|cuh?|h|md|mlir|py|sh|td|test)", word):
            assert word in names, word


@pytest.mark.parametrize("page", BLOCKS)
def test_commands_name_files(page):
    """Also commands that no test runs: those of docs/benchmarks repeat measurements."""
    shell = "\n".join(block.text for block in BLOCKS[page] if block.language == "sh")
    words = re.findall(rf"(?<![\w./=-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w\.\w+", shell)
    assert [word for word in words if word not in MADE and not (ROOT / word).exists()] == []


def is_followed(block: pages.Block) -> bool:
    return block.language in (*pages.RUN, *pages.COMPILED) and not block.marks


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[] if page in SHORT else pytest.mark.full)
    for page in BLOCKS if any(map(is_followed, BLOCKS[page]))])
def test_follow(page, tmp_path):
    result = subprocess.run([sys.executable, pages.__file__, page, tmp_path / "checkout"],
                            capture_output=True, text=True, timeout=1200)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("text, problem", [
    ("```sh\nfalse\n```", "page.md:1: status 1"),
    ("```python\nx = 1\n```\n\n```python\nassert x == 2\n```", 'File "page.md", line 6'),
    ("<!-- python\nx = 2\n-->\n\n```python\nassert x == 2\n```", ""),
    ("```sh\necho 12 of 30 ms, fast\n```\n\n```text printed\n7 of 9.5 ms, ...\n```", ""),
    ("```sh\necho 12 of 30 us\n```\n\n```text printed\n12 of 30 ms\n```", "the page shows '12 of 30 ms'"),
    ("```sh\necho a; echo b\n```\n\n```text printed\nb\na\n```", "the page shows 'a'"),
    ("```c++\nint x = y;\n```", "page.md:2:"),
    ("<!-- c++\nint y = 1;\n-->\n\n```c++\nint x = y;\n```", ""),
    ("```sh file run.sh\necho 5\n```\n\n```sh\nbash run.sh\n```\n\n```text printed\n5\n```", ""),
    ("```sh\nexport A=3\n```\n\n```sh\ntest $A = 3\n```", ""),
    ("```sh untested: no GPU\nfalse\n```", ""),
], ids=["status", "python", "hidden", "numbers", "words", "order", "c++", "prelude", "file",
        "export", "untested"])
def test_reader(tmp_path, text, problem):
    (tmp_path / "page.md").write_text(text)
    found = pages.Reader(tmp_path / "checkout").follow(pages.read_blocks(tmp_path / "page.md", "page.md"))
    assert problem in found if problem else not found


@pytest.mark.parametrize("text, problem", [
    ("```\nfact-opt\n```", "without a language"),
    ("    fact-opt\n", "without a language"),
    ("```sh skipped\ntrue\n```", "unknown mark 'skipped'"),
    ("```sh untested:\ntrue\n```", "why?"),
    ("```rust\nfn main() {}\n```", "a block of rust that no test reads"),
    ("```json\n{1}\n```", "not JSON"),
    ("```c++ from gone.cpp\nint x;\n```", "not a file"),
    ("```c++ from examples/cpp/main.cpp\nint x = 17;\n```", "not in examples/cpp/main.cpp"),
    ("```c++ from examples/cpp/main.cpp\nconst FactLibrary *library = fact_library();\n```", ""),
    ("```mlir fact-opt --cse\n```", ""),
], ids=["none", "indented", "mark", "why", "language", "json", "gone", "other", "quote", "printed"])
def test_marks(tmp_path, text, problem):
    (tmp_path / "page.md").write_text(text)
    [block] = pages.read_blocks(Path(tmp_path / "page.md"))
    found = pages.problem_of(block)
    assert problem in found if problem else not found
