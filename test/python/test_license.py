# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every source file names the license in one of its first lines."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SUFFIXES = {".cpp", ".h", ".c", ".cu", ".cuh", ".def", ".td", ".py", ".sh", ".cmake"}
NAMES = {"CMakeLists.txt", "Makefile", "run"}
FOLDERS = [".ci", "cmake", "dialects", "examples", "include", "lib", "patterns", "python",
           "scripts", "test", "tools"]


def sources():
    yield ROOT / "CMakeLists.txt"
    yield ROOT / "Makefile"
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and (
                    path.suffix in SUFFIXES or path.name in NAMES):
                yield path


def test_every_source_names_the_license():
    found = list(sources())
    assert len(found) > 500
    without = [str(path.relative_to(ROOT)) for path in found
               if LINE not in "\n".join(path.read_text().split("\n")[:3])]
    assert not without
