# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine is, what is installed, what is missing, and the command that installs it."""

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
from .errors import FactError
from .torch_version import OLDEST_TORCH, is_too_old


@dataclasses.dataclass
class Finding:
    """A tool or package that FACT may need, for one purpose."""

    what: str
    purpose: str
    found: str | None
    fix: str
    required: bool = True


def examine() -> list[Finding]:
    return [*_python(), *_tools(), *_host(), *_gpu(_local_machine())]


def main() -> int:
    """Prints the tables; the status is 1 when something that compiling needs is missing."""
    findings = examine()
    rows = []
    for f in findings:
        state = "ok" if f.found else ("missing" if f.required else "not here")
        rows.append([state, f.what, f.found or f.fix, f.purpose])
    report.table(["state", "what", "found, or how to get it", "needed to"], rows)
    _print_families()
    missing = [f for f in findings if f.required and not f.found]
    if missing:
        names = ", ".join(f.what for f in missing)
        report.note(f"missing: {names}. Next step: {missing[0].fix}")
        return 1
    report.note("everything that compiling for this machine needs is here")
    return 0


def _local_machine() -> dict | FactError:
    """The compiler's description of the target `auto`, or why there is none."""
    try:
        from .machine import describe_target
    except ImportError:
        return FactError(toolchain.how_to_install("torch"))
    try:
        return describe_target("auto")
    except FactError as error:
        return error
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return FactError(f"{toolchain.how_to_get_tools()} (fact-compile --describe-target: {error})")


def _print_families() -> None:
    """The kernels that serve the target `auto`, and where cuBLAS competes with them."""
    found = _local_machine()
    if isinstance(found, FactError):
        return
    rules: dict[str, list[str]] = {}
    for family in found["families"]:
        text = f"{family['architecture']} ({', '.join(family['schedules'])})"
        rules.setdefault(family["rule"], []).append(text)
    machine = found["machine"]
    report.table(["rule", "kernels for (schedules)"],
                 [[rule, ", ".join(texts)] for rule, texts in rules.items()],
                 title=f"Kernels on {machine['name']} ({machine['architecture']})")


def _python() -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    found = [Finding("python", "run anything", version if sys.version_info >= (3, 11) else None,
                     "install Python 3.11 or newer"), _torch()]
    packages = [("torch-mlir", "torch_mlir", "export", True), ("numpy", "numpy", "export", True),
                ("ml_dtypes", "ml_dtypes", "export", True),
                ("rich", "rich", "tables that fit the terminal", False)]
    for distribution, module, purpose, required in packages:
        found.append(Finding(distribution, purpose, _installed_version(distribution, module),
                             toolchain.how_to_install(distribution), required))
    return found


def _torch() -> Finding:
    """PyTorch, and whether it is new enough."""
    version, fix = _installed_version("torch", "torch"), toolchain.how_to_install("torch")
    if version and is_too_old(version):
        version, fix = None, f"pip install --upgrade torch ({version} is older than {OLDEST_TORCH})"
    return Finding("torch", "run anything", version, fix)


def _installed_version(distribution: str, module: str) -> str | None:
    if not importlib.util.find_spec(module):
        return None
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown version"
    tested = _tested_versions().get(distribution, version)
    return version if version == tested else f"{version} (tested with {tested})"


def _tested_versions() -> dict[str, str]:
    """The versions that requirements.txt pins, in a checkout."""
    root = toolchain.checkout()
    if root is None or not (root / "requirements.txt").exists():
        return {}
    pins = re.findall(r"^([\w-]+)==(\S+)", (root / "requirements.txt").read_text(), re.MULTILINE)
    return dict(pins)


def _tools() -> list[Finding]:
    found = []
    tools = [("fact-compile", "compile"), ("fact-tune", "tune and link")]
    # Wheels do not have it.
    if toolchain.checkout():
        tools.append(("fact-opt", "run passes alone"))
    for tool, purpose in tools:
        path = toolchain.find_tool(tool)
        trouble = _trouble(path) if path else None
        fix = toolchain.how_to_get_tools()
        found.append(Finding(tool, purpose, None if trouble or not path else str(path),
                             f"{fix} ({path} does not run: {trouble})" if trouble else fix,
                             tool != "fact-opt"))
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
    found = [_work_folder(), _object_cache(), *_host_compiler()]
    if not toolchain.checkout():
        return found
    for program, purpose in (("cmake", "build FACT"), ("ninja", "build FACT"),
                             ("ccache", "build FACT again faster")):
        found.append(Finding(program, purpose, shutil.which(program), "make setup", False))
    mlir = Path("/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake")
    found.append(Finding("MLIR 22", "build FACT", str(mlir.parent) if mlir.exists() else None,
                         "make setup", False))
    return found


def _host_compiler() -> list[Finding]:
    """The C++ compiler that host bundles name, tried on a program. LLVM, inside of fact-compile,
    compiles the kernels; this one compiles the references and the runtime, and links."""
    try:
        from .machine import describe_target

        name = describe_target("host")["compiler"]
    except (ImportError, FactError, OSError, subprocess.SubprocessError, ValueError):
        return []  # fact-compile is missing, which is a finding of its own.
    compiler, fix = shutil.which(name), "install a C++17 compiler (Debian: apt-get install g++)"
    if compiler:
        done = subprocess.run([compiler, "-std=c++17", "-x", "c++", "-", "-o", os.devnull],
                              input="#include <filesystem>\nint main() {}", capture_output=True,
                              text=True)
        if done.returncode:
            error = next((line for line in done.stderr.splitlines() if "error" in line), "it failed")
            compiler, fix = None, f"{fix}; {compiler} does not compile: {error}"
    return [Finding("C++ compiler", "compile the runtime of host libraries, and link", compiler,
                    f"{fix}, or set FACT_HOST_COMPILER")]


def _work_folder() -> Finding:
    """The folder for the files of compilations."""
    from .work import work_root

    root = work_root()
    return Finding("work folder", "compile", str(root) if _is_writable(root) else None,
                   f"set FACT_WORK_DIR to a folder that can be written ({root} cannot)")


def _object_cache() -> Finding:
    """The folder of compiled kernels: as lib/Tuning/ObjectCache.cpp finds it."""
    named = os.environ.get("FACT_OBJECTS_DIR")
    cache = os.environ.get("FACT_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "fact")
    folder = Path(named or os.path.join(cache, "objects")).absolute()
    found = None
    if named != "none" and _is_writable(folder):
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        found = f"{folder} ({size / 2**20:.0f} MiB)"
    return Finding("object cache", "compile a kernel only once", found,
                   "unset FACT_OBJECTS_DIR" if named == "none" else
                   f"set FACT_OBJECTS_DIR to a folder that can be written ({folder} cannot)", False)


def _is_writable(folder: Path) -> bool:
    """Whether a folder, or the first one above it that exists, can be written."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK) and folder.is_dir()


def _gpu(local: dict | FactError) -> list[Finding]:
    """The target `auto`, and what a GPU needs; required where there is one."""
    machine = None if isinstance(local, FactError) else local["machine"]
    architecture = None if machine is None or machine["name"] == "host" else machine["architecture"]
    has_gpu = architecture is not None
    cublas, sanitizer = toolchain.find_cublas(), toolchain.find_sanitizer()
    toolkit = "install CUDA's toolkit (Debian, from NVIDIA's sources: apt-get install "
    return [
        _target(local),
        Finding("NVIDIA driver", "run on a GPU", driver_version(),
                "use a machine with an NVIDIA GPU, and install its driver (Debian: apt-get install "
                "nvidia-driver); bundles can be carried there", False),
        _nvcc(architecture),
        Finding("CUTLASS", "compile for a GPU", _cutlass_description(toolchain.find_cutlass()),
                f"{toolchain.how_to_install('nvidia-cutlass')}, or set FACT_CUTLASS_DIR", has_gpu),
        Finding("cuBLASLt", "let cuBLAS compete with kernels",
                _describe(cublas, "cublas_api.h", "CUBLAS_VER_"),
                toolkit + "libcublas-dev-13-0)", False),
        Finding("compute-sanitizer", "tune with --sanitize", str(sanitizer) if sanitizer else None,
                toolkit + "cuda-sanitizer-13-0)", False),
    ]


def _target(local: dict | FactError) -> Finding:
    """The target that `fact.compile` takes unless it is told another, and why."""
    purpose = "compile without a target"
    if isinstance(local, FactError):
        return Finding("target auto", purpose, None, str(local))
    import torch

    machine = local["machine"]
    found = f"{machine['name']} ({machine['architecture']}): {local['reason']}"
    if machine["name"] == "host":
        found = f"host: {local['reason']}"
    elif not torch.cuda.is_available():
        found = f"host: PyTorch {torch.__version__} does not see the GPU, {found}"
    elif toolchain.find_nvcc() is None:
        found = f"host: there is no nvcc for the GPU, {found}"
    return Finding("target auto", purpose, found, "")


def driver_version() -> str | None:
    """The version of NVIDIA's driver, from the kernel or from nvidia-smi."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
        found = re.search(r"Module\s+(?:for \S+\s+)?([0-9.]+)", text)
    except OSError:
        text = _output(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
        found = re.match(r"([0-9.]+)$", text, re.MULTILINE)
    return found.group(1) if found else None


def _nvcc(architecture: str | None) -> Finding:
    """nvcc, and whether it compiles for the local GPU."""
    nvcc = toolchain.find_nvcc()
    found, fix = nvcc_description(nvcc), toolchain.how_to_install(toolchain.NVCC_PACKAGES)
    if found and architecture:
        known = _output([nvcc, "--list-gpu-code"]).split()
        if known and architecture.rstrip("af") not in known:
            fix = f"{fix} ({found} does not know {architecture}, only {', '.join(known)})"
            found = None
    return Finding("nvcc", "compile for a GPU", found, fix, architecture is not None)


def _output(command: list) -> str:
    """What a program prints; nothing if it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def nvcc_description(nvcc: Path | None) -> str | None:
    release = re.search(r"release ([0-9.]+)", _output([nvcc, "--version"])) if nvcc else None
    return f"{nvcc} ({release.group(1)})" if release else None


def _cutlass_description(cutlass: Path | None) -> str | None:
    if cutlass is None:
        return None
    found = _describe(cutlass / "include" / "cutlass", "version.h", "CUTLASS_")
    return found and f"{cutlass} {found.rpartition(' ')[2]}"


def _describe(folder: Path | None, header: str, prefix: str) -> str | None:
    """A library's folder and the version that its header defines."""
    if folder is None:
        return None
    text = (folder / header).read_text(errors="replace") if (folder / header).exists() else ""
    parts = [re.search(rf"define {prefix}{part} (\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")]
    numbers = [part.group(1) for part in parts if part]
    version = ".".join(numbers) if len(numbers) == len(parts) else "unknown version"
    return f"{folder} ({version})"
