# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work folders: their location, owner and lock, and the tools that made a library."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from . import toolchain
from .errors import FactError
from .export import ExportedGraph
from .files import writing

# Variables that change the output of the tools, besides those that name files hashed below.
_VARIABLES = ("FACT_NUM_THREADS", "OMP_NUM_THREADS", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",
              "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "FACT_HOST_COMPILER")


def work_root() -> Path:
    """Where compilations keep their files: FACT_WORK_DIR, or the user's cache."""
    root = os.environ.get("FACT_WORK_DIR")
    if not root:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = os.path.join(cache, "fact")
    return Path(root).absolute()


def make_work_root() -> Path:
    """`work_root`, which nobody else may write."""
    root = work_root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        require_private(root, shared_by_sticky_bit=True)
    except OSError as error:
        raise FactError(f"cannot make the work folder {root}: {error.strerror}; "
                        "set FACT_WORK_DIR to a folder that can be written") from None
    return root


# The format of work folders; those of another format are left alone.
_FORMAT = 2


def work_folder(graph: ExportedGraph, target: str, options: Sequence[str] = ()) -> Path:
    """One folder per program, target and options, so that tuning resumes where it was."""
    # For a machine described by a JSON file, its content counts, not its name.
    own = target.endswith(".json") and Path(target).is_file()
    machine = Path(target).read_text(errors="replace") if own else target
    told = [option for option in options if not option.startswith("--summary=")]
    # A plug-in is code: its content counts too.
    told += [hash_file(Path(option.partition("=")[2])) for option in options
             if option.startswith("--load-dialect-plugin=") and Path(option.partition("=")[2]).is_file()]
    facts = [graph.text, machine, *told, f"format {_FORMAT}"]
    key = hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "_", f"{graph.name}-{Path(target).stem}")
    folder = make_work_root() / f"{name}-{key}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        require_private(folder)
    except OSError as error:
        raise FactError(f"cannot make the work folder {folder}: {error.strerror}; "
                        "set FACT_WORK_DIR to a folder that can be written") from None
    return folder


def require_private(folder: Path, *, shared_by_sticky_bit: bool = False) -> None:
    """Raises where somebody else could put a library into `folder`, which is then executed.

    With `shared_by_sticky_bit`, a folder like /tmp will do, in which only owners may replace
    what is theirs.
    """
    found = folder.stat() if shared_by_sticky_bit else folder.lstat()
    if shared_by_sticky_bit and found.st_mode & stat.S_ISVTX:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise FactError(f"{folder} is not a folder")
    if found.st_uid != os.geteuid():
        raise FactError(f"{folder} belongs to user {found.st_uid}, not to you ({os.geteuid()}), and "
                        "libraries in it would be executed: set FACT_WORK_DIR to a folder of your "
                        "own")
    writers = [who for who, bit in (("its group", stat.S_IWGRP), ("everybody", stat.S_IWOTH))
               if found.st_mode & bit and not (bit == stat.S_IWGRP and _is_own_group(found))]
    if writers:
        raise FactError(f"{folder} can be written by {' and '.join(writers)}, and libraries in it "
                        f"are executed: run `chmod go-w {folder}`, or set FACT_WORK_DIR to another "
                        "folder")


def _is_own_group(found: os.stat_result) -> bool:
    """Whether the folder's group is the owner's alone, as many systems make one per user."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(found.st_gid), pwd.getpwuid(found.st_uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Locks a work folder; yields whether another process or thread held it before."""
    path = folder.with_name(folder.name + ".lock")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise FactError(f"cannot open {path}: {error.strerror}") from None
    try:
        waited = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise FactError(f"cannot lock {path}: {error.strerror}") from None
            waited = True
            fcntl.flock(file, fcntl.LOCK_EX)
        yield waited
    finally:
        os.close(file)


class Stamp:
    """The tools that made the library of a work folder, and whether it was compared."""

    def __init__(self, folder: Path):
        self.path = folder / "stamp.json"

    def read(self) -> dict[str, Any]:
        try:
            data = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def matches(self, library: Path, identity: str) -> bool:
        """Whether `library` exists and was made by these tools."""
        found = self.read()
        return (library.is_file() and found.get("identity") == identity
                and found.get("library") == hash_file(library))

    def write(self, library: Path, identity: str, verified: bool = False) -> None:
        with writing(self.path) as file:
            json.dump({"identity": identity, "library": hash_file(library),
                       "verified": verified}, file)

    def is_verified(self, library: Path) -> bool:
        found = self.read()
        return found.get("verified") is True and found.get("library") == hash_file(library)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def identity(target: str) -> str:
    """A hash of everything outside of the program that a library depends on."""
    compiler, tuner = toolchain.require_tool("fact-compile"), toolchain.find_tool("fact-tune")
    facts: dict[str, Any] = {
        "tools": [_hash_unchanged_file(tool) for tool in (compiler, tuner) if tool],
        "cpu": _cpu(),
        "registry": [hash_folder(folder) for folder in _registries(compiler)],
        "variables": {name: os.environ.get(name) for name in _VARIABLES},
    }
    if target != "host":
        nvcc, cutlass = toolchain.find_nvcc(), toolchain.find_cutlass()
        facts |= {
            "nvcc": _version(nvcc) if nvcc else None,
            "cutlass": hash_folder(cutlass / "include") if cutlass else None,
            "driver": _driver(),
        }
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_unchanged_file(path: Path) -> str:
    found = path.stat()
    return _hash_version(path, found.st_size, found.st_mtime_ns, found.st_ino)


@functools.cache
def _hash_version(path: Path, *version: int) -> str:
    """The hash of a file, cached until the file changes."""
    return hash_file(path)


def hash_folder(folder: Path) -> str:
    """A hash of the names and contents of all files; constant for a missing folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\0{_hash_unchanged_file(path)}\n".encode())
    return digest.hexdigest()


def _registries(tool: Path) -> list[Path]:
    """The folders of the registry: the user's and the built-in one."""
    user = os.environ.get("FACT_PATTERNS")
    if not user:
        data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        user = os.path.join(data, "fact", "patterns")
    return [Path(user), tool.resolve().parent.parent / "share" / "fact" / "patterns"]


@functools.cache
def _cpu() -> list[str]:
    """The processor's model and features, all of which kernels may use."""
    keys = ("model name", "cpu family", "model", "stepping", "flags", "Features",
            "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision")
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return [platform.machine(), platform.processor()]
    found = {line.strip() for line in text.splitlines()
             if line.partition(":")[0].strip() in keys}
    return [platform.machine(), *sorted(re.sub(r"\s+", " ", line) for line in found)]


@functools.cache
def _version(program: Path) -> str:
    try:
        process = subprocess.run([str(program), "--version"], capture_output=True, text=True,
                                 timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return process.stdout


@functools.cache
def _driver() -> str:
    """The kernel's driver, and the GPU."""
    try:
        driver = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        driver = "unknown"
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return f"{driver} {gpu}"
