# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static tools, wheels, and a machine without LLVM: what the tests of packages share."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pages

ROOT = pages.ROOT
STATIC = ROOT / "build" / "static"
LLVM = Path("/usr/lib/llvm-22")
TOOLS = ("fact-compile", "fact-tune", "fact-registry")
# What a user without LLVM has.
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}


def run(command, **options):
    done = subprocess.run([str(word) for word in command], text=True,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def skip_unless_required(reason):
    """`make check` has what tests need: there, what is missing is a failure."""
    if os.environ.get("FACT_REQUIRE_COMPILER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def static_tools():
    missing = [name for name in TOOLS if not (STATIC / "bin" / name).exists()]
    if missing:
        skip_unless_required(f"{', '.join(missing)} not built: ninja -C build fact-static-tools")
    return STATIC / "bin"


def places_of_llvm():
    """Folders and libraries: Debian's, of every version, and those that FACT was built with."""
    folders = {*Path("/usr/lib").glob("llvm-*")}
    libraries = {path for pattern in ("libLLVM*.so*", "libMLIR*.so*", "libclang*.so*")
                 for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/*-linux-gnu")
                 for path in Path("/").glob(f"{folder[1:]}/{pattern}")}
    if (ROOT / "build" / "CMakeCache.txt").exists():
        built = {Path(include).parent for include in pages.mlir_includes()}
        folders |= {folder for folder in built - {Path("/usr"), Path("/usr/local")} if folder.is_dir()}
    return sorted(folders), sorted(libraries)


# Mounts an empty folder over each folder and an empty file over each library, for one command. A link
# into a folder that is hidden leads nowhere by then.
HIDE = """
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs none "$1"
  elif [ -e "$1" ]; then mount --bind /dev/null "$1"
  fi
  shift
done
shift
exec "$@"
"""


@pytest.fixture(scope="module")
def without_llvm():
    """The beginning of a command that sees no LLVM."""
    folders, libraries = places_of_llvm()
    if not folders and not libraries:
        return []
    hide = ["unshare", "--map-root-user", "--mount", "sh", "-ec", HIDE, "sh", *map(str, folders),
            *map(str, libraries), "--"]
    tried = subprocess.run([*hide, "true"], capture_output=True, text=True)
    if tried.returncode:
        skip_unless_required(f"this process may not mount, so LLVM cannot be hidden: {tried.stderr.strip()}")
    for folder in folders:
        assert not run([*hide, "ls", folder]), folder
    # Empty, a device, or a link to what is hidden.
    for library in libraries:
        assert run([*hide, "sh", "-c", 'if [ -e "$1" ]; then wc -c < "$1"; else echo 0; fi', "sh",
                    library]).strip() == "0", library
    # A tool that is linked against LLVM starts here, and not there.
    shared = ROOT / "build" / "bin" / "fact-compile"
    if shared.exists():
        run([shared, "--version"])
        hidden = subprocess.run([*hide, shared, "--version"], capture_output=True, text=True)
        assert hidden.returncode and re.search("shared libraries: lib(LLVM|MLIR)", hidden.stderr), hidden
    return hide


@pytest.fixture(scope="module")
def sources(static_tools, tmp_path_factory, root):
    """A checkout that has been built: a copy, since setuptools writes beside its sources."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("python", "patterns", "include"):
        shutil.copytree(root / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(root / name, folder)
    for name in ("CMakeLists.txt", "scripts", "build"):
        (folder / name).symlink_to(root / name)
    return folder


def own_folders(folder):
    """Variables that keep what FACT writes inside of this folder."""
    return {"FACT_WORK_DIR": str(folder / "work"), "FACT_CACHE_DIR": str(folder / "cache"),
            "FACT_PATTERNS": str(folder / "patterns")}


def make_wheel(sources, architecture, static):
    """What `make wheel ARCH=...` makes of static tools, without writing into the checkout."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    for name in (".cache", ".git", ".venv", "requirements-wheels.txt"):
        if (ROOT / name).exists() and not (sources / name).exists():
            (sources / name).symlink_to(ROOT / name)
    run(["scripts/wheel.sh", architecture], cwd=sources, env={**os.environ, "FACT_STATIC_DIR": str(static)})
    [wheel] = (sources / "out" / "wheels").glob(f"*_{architecture}.whl")
    return wheel


def platform_tag(wheel):
    """What auditwheel finds a wheel to be good for, whatever it is called."""
    shown = run([ROOT / ".cache" / "wheel-tools" / "bin" / "auditwheel", "show", wheel])
    found = re.search(r'consistent with\s+the following platform tag:\s+"(\w+)"', shown)
    assert found, shown
    return found[1]
