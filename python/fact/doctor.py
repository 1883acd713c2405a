# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is installed, what is missing, and the command that installs it."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import report, toolchain


@dataclasses.dataclass
class Finding:
    """A tool or package that FACT may need, for one purpose."""

    what: str
    purpose: str
    found: str | None
    fix: str
    required: bool = True


def examine() -> list[Finding]:
    return [*_python(), *_tools(), *_host(), *_gpu()]


def main() -> int:
    """Prints the table; the status is 1 when something that compiling needs is missing."""
    findings = examine()
    rows = []
    for f in findings:
        state = "ok" if f.found else ("missing" if f.required else "not here")
        rows.append([state, f.what, f.found or f.fix, f.purpose])
    report.table(["state", "what", "found, or how to get it", "needed to"], rows)
    missing = [f for f in findings if f.required and not f.found]
    if missing:
        names = ", ".join(f.what for f in missing)
        report.note(f"missing: {names}. Next step: {missing[0].fix}")
        return 1
    report.note("everything that compiling for the host needs is here")
    return 0


def _python() -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    found = [Finding("python", "run anything", version if sys.version_info >= (3, 11) else None,
                     "install Python 3.11 or newer")]
    packages = [("torch", "torch", "run anything", True), ("torch-mlir", "torch_mlir", "export", True),
                ("numpy", "numpy", "export", True), ("ml_dtypes", "ml_dtypes", "export", True),
                ("rich", "rich", "print tables in color", False)]
    tested = _tested_versions()
    for distribution, module, purpose, required in packages:
        version = None
        if importlib.util.find_spec(module):
            try:
                version = importlib.metadata.version(distribution)
            except importlib.metadata.PackageNotFoundError:
                version = "unknown version"
        if version and version != "unknown version" and version != tested.get(distribution, version):
            version += f" (tested with {tested[distribution]})"
        found.append(Finding(distribution, purpose, version, "make setup", required))
    return found


def _tested_versions() -> dict[str, str]:
    """The versions that requirements.txt pins, in a checkout."""
    root = toolchain.checkout()
    if root is None or not (root / "requirements.txt").exists():
        return {}
    pins = re.findall(r"^([\w-]+)==(\S+)", (root / "requirements.txt").read_text(), re.MULTILINE)
    return dict(pins)


def _tools() -> list[Finding]:
    found = []
    for tool, purpose in (("fact-compile", "compile"), ("fact-tune", "tune and link"),
                          ("fact-opt", "run passes alone")):
        path = toolchain.find_tool(tool)
        trouble = _trouble(path) if path else None
        found.append(Finding(tool, purpose, None if trouble or not path else str(path),
                             f"make build ({path} does not run: {trouble})" if trouble
                             else "make build", tool != "fact-opt"))
    return found


def _trouble(program: Path) -> str | None:
    """Why a program does not run: most often a shared library that is not installed."""
    try:
        done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = (done.stderr or done.stdout).strip().splitlines()
    return None if done.returncode == 0 else (lines or [f"status {done.returncode}"])[-1]


def _host() -> list[Finding]:
    found = [_work_folder()]
    for program, purpose in (("clang-22", "link host libraries"), ("cmake", "build FACT"),
                             ("ninja", "build FACT"), ("ccache", "build FACT again faster")):
        found.append(Finding(program, purpose, shutil.which(program), "make setup",
                             program == "clang-22"))
    mlir = Path("/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake")
    found.append(Finding("MLIR 22", "build FACT", str(mlir.parent) if mlir.exists() else None,
                         "make setup", False))
    return found


def _work_folder() -> Finding:
    """The folder for the files of compilations."""
    from .work import work_root

    root = existing = work_root()
    while not existing.exists():
        existing = existing.parent
    writable = os.access(existing, os.W_OK) and existing.is_dir()
    return Finding("work folder", "compile", str(root) if writable else None,
                   f"set FACT_WORK_DIR to a folder that can be written ({root} cannot)")


def _gpu() -> list[Finding]:
    nvcc, cutlass = toolchain.find_nvcc(), toolchain.find_cutlass()
    return [
        Finding("nvcc", "compile for a GPU", nvcc_description(nvcc), "make setup", False),
        Finding("CUTLASS", "compile for a GPU", str(cutlass) if cutlass else None,
                "make setup, or set FACT_CUTLASS_DIR", False),
        Finding("GPU", "tune and run on a GPU", _gpu_description(),
                "use a machine with an NVIDIA GPU; bundles can be carried there", False),
    ]


def nvcc_description(nvcc: Path | None) -> str | None:
    if nvcc is None:
        return None
    try:
        out = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = re.search(r"release ([0-9.]+)", out)
    return f"{nvcc} ({release.group(1)})" if release else None


def _gpu_description() -> str | None:
    try:
        import torch
    except ImportError:
        return None
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None
