# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of FACT, one for each commit; the tools, libraries and wheels have it from here.

A tagged release is `0.1.0`; any other commit is a development version before the next
release, with the number of commits and the commit: `0.1.0.dev210+g767cbf1`.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

# Run as a script by CMake and by setup.py too: only the standard library is imported.

# The next release.
RELEASE = "0.1.0"

PACKAGE = Path(__file__).resolve().parent
# Written where the package is built, since no commit is known after that.
RECORD = "version.txt"


@functools.cache
def version() -> str:
    record = PACKAGE / RECORD
    return record.read_text().strip() if record.exists() else _of_commit(PACKAGE.parent.parent)


def _of_commit(root: Path) -> str:
    """The version of the commit that is checked out, or of the release where there is no Git."""
    if not (root / ".git").exists():
        return RELEASE
    if f"v{RELEASE}" in _git(root, "tag", "--points-at", "HEAD").split():
        return RELEASE
    commit = _git(root, "rev-parse", "--short=7", "HEAD")
    if not commit:
        return RELEASE
    # A shallow clone does not know how many commits there are.
    shallow = _git(root, "rev-parse", "--is-shallow-repository") != "false"
    count = "0" if shallow else _git(root, "rev-list", "--count", "HEAD")
    return f"{RELEASE}.dev{count or 0}+g{commit[:7]}"


def _git(root: Path, *arguments: str) -> str:
    """The output of Git; nothing if it fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True,
                              timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def main(arguments: list[str]) -> int:
    """`version.py` prints the version; `version.py --header FILE` writes it as a C string."""
    if not arguments:
        print(version())
        return 0
    file, text = Path(arguments[1]), f'"{version()}"\n'
    # A file that has it already stays as it is, so that nothing is compiled again.
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
