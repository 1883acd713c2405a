# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locates tools: FACT's own programs, nvcc, CUTLASS."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

# Also run as a script by scripts/setup.sh, before anything is installed: only the standard
# library is imported up here.

PACKAGE = Path(__file__).resolve().parent


def checkout() -> Path | None:
    """The source tree that contains this package, if any."""
    root = PACKAGE.parent.parent
    return root if (root / "python" / "fact").is_dir() and (root / "Makefile").exists() else None


def find_tool(name: str) -> Path | None:
    """A program of FACT: FACT_BIN_DIR, the installed package, the checkout, PATH."""
    folders = []
    if os.environ.get("FACT_BIN_DIR"):
        folders.append(Path(os.environ["FACT_BIN_DIR"]))
    # Installed: <prefix>/bin beside <prefix>/python/fact, or inside the package.
    folders += [PACKAGE / "bin", PACKAGE.parent.parent / "bin"]
    root = checkout()
    if root:
        folders.append(root / "build" / "bin")
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which(name)
    return Path(found) if found else None


def require_tool(name: str) -> Path:
    from .errors import FactError

    tool = find_tool(name)
    if tool is None:
        how = f"run `{how_to_get_tools()}`" if checkout() else how_to_get_tools()
        raise FactError(f"{name} is missing: {how}, or set FACT_BIN_DIR to its folder")
    return tool


def how_to_get_tools() -> str:
    if checkout():
        return "make build"
    return "this package was installed without tools: install a wheel of `make wheel`"


def run_tool() -> None:
    """The commands fact-compile, fact-tune and fact-registry of an installed package: this process
    becomes the tool, which finds the nvcc and the CUTLASS of this Python environment."""
    from .errors import FactError

    command = Path(sys.argv[0])
    try:
        tool = require_tool(command.name)
        if tool.samefile(command):
            raise FactError(f"{command.name} is missing: {how_to_get_tools()}")
    except FactError as error:
        sys.exit(f"{command.name}: error: {error}")
    os.execve(tool, [str(tool), *sys.argv[1:]], environment())


def how_to_install(*packages: str) -> str:
    """The command that installs Python packages, in a checkout and elsewhere."""
    return "make setup" if checkout() else f"pip install {' '.join(packages)}"


# nvcc and the headers that CUTLASS includes, of one version: that of PyTorch's CUDA, if it has any.
NVCC_PACKAGES = "'cuda-toolkit[nvcc,cccl]'"


def include_dir() -> Path:
    """The folder for a C or C++ compiler's `-I`: `#include "fact/Runtime/Library.h"` is the
    interface of compiled libraries, and the headers that are written beside them include it."""
    from .errors import FactError

    # Inside an installed package, beside <prefix>/python/fact, in the checkout.
    for folder in (PACKAGE / "include", PACKAGE.parent.parent / "include"):
        if (folder / "fact" / "Runtime" / "Library.h").exists():
            return folder
    raise FactError("this package was installed without the headers of compiled libraries: install a "
                    "wheel of `make wheel`, or take include/ of a checkout")


def find_nvcc() -> Path | None:
    """nvcc: CUDACXX, setup.sh's choice, PATH, the usual place, this Python environment."""
    candidates: list[str | Path | None] = [os.environ.get("CUDACXX")]
    root = checkout()
    if root and (root / ".cache" / "nvcc").exists():
        candidates.append((root / ".cache" / "nvcc").read_text().strip())
    candidates += [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    candidates += sorted(Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/cu*/bin/nvcc"))
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    return None


def find_cutlass() -> Path | None:
    """The folder with CUTLASS's `include`, `tools` and `examples`."""
    candidates = [Path(os.environ["FACT_CUTLASS_DIR"])] if os.environ.get("FACT_CUTLASS_DIR") else []
    candidates += [Path(p) / "cutlass_library" / "source" for p in sys.path if p]
    root = checkout()
    if root:
        candidates.append(root / "cutlass")
    for candidate in candidates:
        if (candidate / "include" / "cutlass" / "cutlass.h").exists():
            return candidate
    return None


def find_cublas() -> Path | None:
    """The folder with cuBLAS's headers: nvcc's own, this Python environment, setup.sh's."""
    candidates = []
    nvcc = find_nvcc()
    if nvcc:
        toolkit = nvcc.resolve().parent.parent
        candidates += [toolkit / "include", *toolkit.glob("targets/*/include")]
    candidates += Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/cu*/include")
    candidates.append(Path(sys.prefix) / "cublas" / "include")
    for candidate in candidates:
        if (candidate / "cublasLt.h").exists():
            return candidate
    return None


def find_sanitizer() -> Path | None:
    """compute-sanitizer, where `fact-tune --sanitize` looks for it."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep),
               os.path.join(os.environ.get("CUDA_HOME", ""), "bin"), "/usr/local/cuda/bin"]
    found = shutil.which("compute-sanitizer", path=os.pathsep.join(folders))
    return Path(found) if found else None


def environment() -> dict[str, str]:
    """The environment for FACT's programs: nvcc on PATH, the location of CUTLASS."""
    result = dict(os.environ)
    nvcc, cutlass = find_nvcc(), find_cutlass()
    if nvcc:
        result["PATH"] = f"{nvcc.parent}{os.pathsep}{result.get('PATH', '')}"
    if cutlass:
        result["FACT_CUTLASS_DIR"] = str(cutlass)
    return result


def main(what: str) -> int:
    """`toolchain.py nvcc`: prints a place, or fails."""
    found = {"nvcc": find_nvcc, "cutlass": find_cutlass, "cublas": find_cublas}[what]()
    if found:
        print(found)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
