# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bundle's sources through the real nvcc, once for each content.

ccache keeps the objects, in the user's own cache, so that a source is compiled again only
when it, a header, CUTLASS or nvcc has changed. All paths are relative to the bundle, for
absolute ones are part of what is compiled.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

from fact import toolchain

COMPILE_SECONDS = 900


def link(folder: Path, name: str, target: Path | str) -> None:
    """A link that another thread may be making at the same time."""
    try:
        (folder / name).symlink_to(target)
    except FileExistsError:
        pass


def compile_source(folder: Path, source: dict, output: Path) -> subprocess.CompletedProcess:
    """The bundle's command, completed as fact-tune does."""
    folder = Path(folder).resolve()
    description = json.loads((folder / "bundle.json").read_text())
    link(folder, "cutlass", toolchain.find_cutlass())
    link(folder, "cublas", toolchain.find_cublas())
    flags = ["-Iinclude", "-Icublas", "-Xcompiler", "-fPIC", "-Xptxas", "-v",
             *source.get("flags", [])]
    words = []
    for word in description["commands"]["compile"]:
        words += flags if word == "{flags}" else [word]
    places = {"bundle": ".", "cutlass": "cutlass", "source": source["source"],
              "output": str(Path(output).resolve())}
    words = [re.sub(r"\{(\w+)\}", lambda match: places[match[1]], word) for word in words]
    if shutil.which("ccache"):
        words = ["ccache", *words]
    environment = {**toolchain.environment(), "CCACHE_NOHASHDIR": "1"}
    return subprocess.run(words, cwd=folder, env=environment, text=True, timeout=COMPILE_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
