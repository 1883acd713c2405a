# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines, as the compiler knows them, and the one that `auto` is."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import torch

from . import toolchain
from .errors import FactError
from .files import writing
from .work import work_root


def environment() -> dict[str, str]:
    """The environment for FACT's programs, which use the first GPU that they see: PyTorch's current
    one."""
    result = toolchain.environment()
    if torch.cuda.is_available() and torch.cuda.device_count() > 1:
        # Both number the GPUs that this variable shows, if it is set.
        shown = result.get("CUDA_VISIBLE_DEVICES", "").split(",")
        current = torch.cuda.current_device()
        result["CUDA_VISIBLE_DEVICES"] = shown[current] if shown != [""] else str(current)
    return result


def describe_target(target: str) -> dict[str, Any]:
    """What `fact-compile --describe-target` says of a target: `machine`, `built_in`,
    `families`, and for `auto` the `reason`."""
    tool = toolchain.require_tool("fact-compile")
    done = subprocess.run([str(tool), f"--target={target}", "--describe-target"],
                          env=environment(), capture_output=True, text=True, timeout=120)
    if done.returncode:
        message = done.stderr.strip() or f"{tool} failed with status {done.returncode}"
        raise FactError(message.removeprefix("error: "))
    return json.loads(done.stdout)


def resolve_target(target: str) -> str:
    """`auto` becomes PyTorch's current GPU, or `host` where PyTorch has no GPU or there is no nvcc."""
    if not target:
        raise FactError("target is empty: name a machine or an architecture, as in host, h200 or sm_80, or "
                        "auto")
    if target != "auto":
        return target
    if not torch.cuda.is_available() or toolchain.find_nvcc() is None:
        return "host"
    found = describe_target("auto")
    machine = found["machine"]
    if found["built_in"]:
        return machine["name"]
    # The file makes the command that compiles for this GPU work everywhere.
    file = work_root() / "machines" / f"{machine['name']}.json"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FactError(f"cannot make {file.parent}: {error.strerror}; set FACT_WORK_DIR to a "
                        "folder that can be written") from None
    with writing(file) as stream:
        json.dump(machine, stream, indent=2)
    return str(file)


def require_gpu(target: str, options: Sequence[str] = ()) -> None:
    """Raises where kernels for a GPU cannot be compiled, or verified and measured, on this machine:
    before the minutes that nvcc takes.

    options: of fact-compile. With `--run-launcher`, kernels run elsewhere.
    """
    if target == "host" or any("--run-launcher" in option for option in options):
        return
    if torch.cuda.is_available() and toolchain.find_nvcc():
        return
    if describe_target(target)["compiler"] != "nvcc":
        return
    if toolchain.find_nvcc() is None:
        raise FactError(f"target '{target}' needs nvcc, which is not installed: install the CUDA toolkit "
                        f"(`pip install {toolchain.NVCC_PACKAGES}` is enough), or compile with target 'host'")
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise FactError(f"target '{target}' needs a GPU to verify and measure kernels on, and this machine "
                        "has no CUDA driver (libcuda.so.1): write a bundle here (fact.bundle, `fact compile "
                        "--bundle-only DIR`) and run fact-tune on it where the GPU is, or compile with "
                        "target 'host'") from None


def require_host_compiler(target: str, options: Sequence[str] = ()) -> None:
    """Raises where the C++ compiler that a bundle of this target names is not installed: before any
    work is done. nvcc is `require_gpu`'s.

    options: of fact-compile. With `--launcher`, compilers run elsewhere.
    """
    if any("--launcher" in option for option in options):
        return
    compiler = describe_target(target)["compiler"]
    if compiler == "nvcc" or shutil.which(compiler, path=environment().get("PATH")):
        return
    raise FactError(f"target '{target}' needs a C++17 compiler for the runtime of the library, and there is "
                    f"no '{compiler}' on the PATH: install one (Debian: apt-get install g++), or set "
                    "FACT_HOST_COMPILER")
