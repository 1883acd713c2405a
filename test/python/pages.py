# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows a page of the documentation: runs its commands and its Python in order.

    python pages.py PAGE FOLDER

FOLDER stands in for the checkout: the files of the checkout are there as links, and what the page
writes stays in it. What follows a block's language says how it is tested:

    ```sh, ```python           run, in order; Python's variables live until the end of the page
    ```c, ```c++               compiles, as the body of a function
    ```text printed            is in the output of the last commands: numbers are any numbers, `...` anything
    ```LANGUAGE from FILE      each paragraph is in FILE of the checkout
    ```LANGUAGE file FILE      is written to FILE for the commands that follow
    ```LANGUAGE untested: WHY  none of these
    ```mlir, ```json           parses (mlir: the ctest `docs-examples`)
    ```LANGUAGE fact-...       printed by that tool (`docs-examples`)

A comment `<!-- sh ... -->` (or python, c++) is run like a block, and not shown.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
RUN = ("sh", "python")
COMPILED = ("c", "c++")
# How the other blocks may be marked: a file that is shown whole, and a tool's output.
PRINTED = re.compile(r"(mlir|c\+\+) fact-|\S+ examples/\S+$")


@dataclass
class Block:
    page: str
    line: int
    language: str
    marks: str
    text: str
    hidden: bool = False

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def untested(self) -> bool:
        return self.marks.startswith("untested:")

    @property
    def file(self) -> str:
        """The file that the block is written to."""
        return self.marks.removeprefix("file ") if self.marks.startswith("file ") else ""


def read_blocks(path: Path, name: str = "") -> list[Block]:
    blocks = []
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(path.read_text())
    for token in tokens:
        line = (token.map or [0])[0] + 1
        if token.type in ("fence", "code_block"):
            language, _, marks = token.info.strip().partition(" ")
            blocks.append(Block(name or str(path), line, language, marks.strip(), token.content))
        elif token.type == "html_block":
            if match := re.fullmatch(r"<!-- (sh|python|c|c\+\+)\n(.*?)-->\s*", token.content, re.S):
                blocks.append(Block(name or str(path), line, match[1], "", match[2], hidden=True))
    return blocks


def problem_of(block: Block) -> str:
    """Why a block is neither tested nor marked, or what is wrong with it."""
    if not block.language:
        return "a block without a language: sh, python, mlir, c++, ..., or text"
    if block.untested:
        return "" if block.marks.removeprefix("untested:").strip() else "untested, but why?"
    if block.file or PRINTED.match(f"{block.language} {block.marks}"):
        return ""
    if block.marks.startswith("from "):
        return quote_problem(block, ROOT / block.marks.removeprefix("from "))
    if block.language == "json":
        try:
            json.loads(block.text)
        except ValueError as error:
            return f"not JSON: {error}"
    elif block.language == "text":
        return "" if block.marks in ("", "printed") else f"unknown mark {block.marks!r}"
    elif block.language not in (*RUN, *COMPILED, "mlir"):
        return f"a block of {block.language} that no test reads: mark it `from FILE` or `untested: WHY`"
    return f"unknown mark {block.marks!r}" if block.marks else ""


def quotes(page: str) -> list[tuple[str, str]]:
    """The paragraphs that a page quotes: (file, text)."""
    return [(block.marks.removeprefix("from "), paragraph) for block in read_blocks(ROOT / page, page)
            if block.marks.startswith("from ")
            for paragraph in re.split(r"\n\s*\n", block.text.strip())]


def quote_problem(block: Block, file: Path) -> str:
    if not file.is_file():
        return f"from {file.name}, which is not a file"
    lines = lambda text: "\n".join(line.strip() for line in text.strip().splitlines())
    text = "\n" + lines(file.read_text()) + "\n"
    for paragraph in re.split(r"\n\s*\n", block.text.strip()):
        if "\n" + lines(paragraph) + "\n" not in text:
            return f"not in {file.relative_to(ROOT)}:\n{paragraph}"
    return ""


def expected_line(line: str) -> re.Pattern[str]:
    """A line that a page shows, with any numbers in it."""
    parts = re.split(r"(\.\.\.|\d[\d.,]*|\s+)", line.strip())
    return re.compile("".join(".*" if part == "..." else r"\d[\d.,]*" if part[:1].isdigit()
                              else r"\s+" if part.isspace() else re.escape(part) for part in parts if part))


def missing_line(shown: str, output: str) -> str:
    """The first line of what a page shows that is not in the output, after those before it."""
    lines = iter(output.splitlines())
    for line in filter(str.strip, shown.splitlines()):
        if not any(expected_line(line).search(each) for each in lines):
            return line
    return ""


class Reader:
    """Somebody who does what a page says."""

    # The beginning of the command that runs the page's.
    launcher: list[str] = []

    def __init__(self, folder: Path):
        self.folder = folder
        self.variables: dict = {"__name__": "__main__"}
        self.preludes: dict[str, str] = {}
        self.output = ""
        # The command of an installed package.
        self.state = folder / ".state"
        command = folder / ".bin" / "fact"
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fact "$@"\n')
        command.chmod(0o755)
        for entry in ROOT.iterdir():
            if entry.name not in (".git", ".cache", "out") and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)

    def environment(self) -> dict[str, str]:
        path = [self.folder / ".bin", ROOT / "build/bin", Path(sys.executable).parent, os.environ["PATH"]]
        return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "FACT_LEARN": "0",
                # Pages show what a machine without a GPU prints.
                "CUDA_VISIBLE_DEVICES": "",
                "FACT_PATTERNS": str(self.folder / ".patterns"),
                "PATH": ":".join(map(str, path))}

    def follow(self, blocks: list[Block]) -> str:
        """Empty, or what went wrong and where."""
        for block in blocks:
            problem = self._do(block)
            if problem:
                return f"{block.place}: {problem}"
        return ""

    def _do(self, block: Block) -> str:
        if block.untested or block.marks.startswith("from "):
            return ""
        if block.file:
            (self.folder / block.file).write_text(block.text)
        elif block.marks == "printed":
            line = missing_line(block.text, self.output)
            return line and f"the page shows {line.strip()!r}; printed was\n{self.output}"
        elif block.marks:
            return ""
        elif block.language == "sh":
            return self._shell(block.text)
        elif block.language == "python":
            return self._python(block)
        elif block.language in COMPILED and block.hidden:
            self.preludes[block.language] = block.text
        elif block.language in COMPILED:
            return self._compile(block)
        return ""

    def _shell(self, text: str) -> str:
        # What a block exports is there in the next one.
        script = f". {self.state} 2>/dev/null || true\n{text}\nexport -p > {self.state}\n"
        result = subprocess.run([*self.launcher, "bash", "-euo", "pipefail", "-c", script], cwd=self.folder,
                                text=True, env=self.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        self.output = result.stdout
        return f"status {result.returncode} of\n{text}\n{result.stdout}" if result.returncode else ""

    def _python(self, block: Block) -> str:
        try:
            # Errors have the page's own lines.
            code = compile("\n" * block.line + block.text, block.page, "exec")
            exec(code, self.variables)
        except Exception:
            return traceback.format_exc()
        return ""

    def _compile(self, block: Block) -> str:
        prelude = self.preludes.get(block.language, "")
        text = f"{prelude}\nvoid page() {{\n#line {block.line + 1} \"{block.page}\"\n{block.text}\n}}\n"
        words = ["cc" if block.language == "c" else "c++", "-fsyntax-only", "-x", block.language,
                 *(["-std=c++17"] if block.language == "c++" else []), "-I", str(ROOT / "include"),
                 *[f"-I{folder}" for folder in mlir_includes()], "-"]
        result = subprocess.run(words, input=text, text=True, capture_output=True)
        return result.stderr if result.returncode else ""


def mlir_includes() -> list[str]:
    """Where the headers of the MLIR are that FACT was built with."""
    cache = (ROOT / "build/CMakeCache.txt").read_text()
    found = re.findall(r"^MLIR_DIR:\w+=(.*)$", cache, re.M)
    return [str(Path(folder).parents[2] / "include") for folder in found]


def main(page: str, folder: str) -> int:
    reader = Reader(Path(folder).resolve())
    blocks = read_blocks(ROOT / page, page)
    # Python's blocks run here, where the page's commands run.
    os.chdir(reader.folder)
    os.environ.update(reader.environment())
    sys.path[:0] = [str(reader.folder), str(ROOT / "python")]
    problem = reader.follow(blocks)
    print(problem, file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
