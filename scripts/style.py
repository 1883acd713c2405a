# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks how the sources are written: clang-format, ruff and mypy, and clang-tidy if asked.

    style.py [--fix] [--full] [--junit FILE] [TOOL ...]

Ruff and mypy are configured in pyproject.toml, the others in .clang-format and .clang-tidy.
clang-tidy takes minutes and reads build/compile_commands.json. `--fix` formats C++ and
applies what ruff fixes by itself.
"""

import argparse
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Other versions print some files differently.
CLANG_FORMAT, CLANG_TIDY = "clang-format-22", "run-clang-tidy-22"
# The folders that clang-tidy reads.
TIDY = ["dialects", "lib", "tools"]


def sources(*endings: str) -> list[str]:
    """Files that git does not ignore; of a tree without git, all but what is built or installed."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True) if shutil.which("git") else None
    if listed and listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:
        names = [str(path.relative_to(ROOT)) for folder in ROOT.iterdir()
                 if folder.is_dir() and not folder.name.startswith((".", "build", "out"))
                 for path in folder.rglob("*")]
    return sorted(name for name in names if name.endswith(endings) and (ROOT / name).is_file())


def clang_format(fix: bool) -> list[str]:
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return [CLANG_FORMAT, *mode, *sources(".cpp", ".h", ".cuh", ".cu", ".c")]


def ruff(fix: bool) -> list[str]:
    return [sys.executable, "-m", "ruff", "check", "--quiet", "--output-format=concise",
            *(["--fix"] if fix else []), *sources(".py")]


def mypy(fix: bool) -> list[str]:
    return [sys.executable, "-m", "mypy", "--no-error-summary"]


def clang_tidy(fix: bool) -> list[str]:
    return [CLANG_TIDY, "-quiet", "-p", str(ROOT / "build"), f"^{ROOT}/({'|'.join(TIDY)})/"]


TOOLS: dict[str, Callable[[bool], list[str]]] = {
    "clang-format": clang_format, "ruff": ruff, "mypy": mypy, "clang-tidy": clang_tidy}
LONG = {"clang-tidy"}


def default_tools(full: bool) -> list[str]:
    return [name for name in TOOLS if full or name not in LONG]


def check(command: list[str]) -> str:
    """What the tool finds; empty if nothing."""
    if not shutil.which(command[0]):
        return f"{command[0]} is not installed; 'make setup' installs it"
    process = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    return process.stdout + f"status {process.returncode}\n" if process.returncode else ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="style", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="mend what can be mended without thought")
    parser.add_argument("--full", action="store_true", help="clang-tidy too")
    parser.add_argument("--junit", type=Path, help="write the results here, one test case per tool")
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"of {', '.join(TOOLS)}")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.tools if name not in TOOLS]
    if unknown:
        parser.error(f"unknown tool {', '.join(unknown)}; known are {', '.join(TOOLS)}")
    suite = xml.Element("testsuite", name="style")
    failed = False
    for name in options.tools or default_tools(options.full):
        start = time.monotonic()
        findings = check(TOOLS[name](options.fix))
        case = xml.SubElement(suite, "testcase", classname="style", name=name,
                              time=f"{time.monotonic() - start:.2f}")
        if findings:
            failed = True
            print(f"style: {name}:\n{findings}", end="", flush=True)
            xml.SubElement(case, "failure", message=f"{name} finds faults").text = findings
    if options.junit:
        xml.ElementTree(suite).write(options.junit, encoding="unicode")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
