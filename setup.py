# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pyproject.toml cannot say: the version is the commit's, and the package brings the tools and
commands of their names.

The tools are those of `make tools`, which are built first, or of the folder that FACT_STATIC_DIR
names, such as build-x86_64/static. They run where LLVM is not installed. With FACT_STATIC_DIR=none,
and from a source distribution, the package is Python alone: it runs compiled libraries, and compiles
where FACT_BIN_DIR or PATH has the tools.
"""

import os
import platform
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
VERSION = runpy.run_path(str(ROOT / "python" / "fact" / "version.py"))
TOOLS = ("fact-compile", "fact-tune", "fact-registry")
# The C interface of libraries; `fact.include_dir` finds it.
HEADERS = ("fact/Runtime/Library.h", "fact/Runtime/dlpack/dlpack.h")


NAMED = os.environ.get("FACT_STATIC_DIR", "")
# A source distribution has no CMakeLists.txt.
HAS_TOOLS = NAMED != "none" and (NAMED != "" or (ROOT / "CMakeLists.txt").exists())


def tools() -> list[Path]:
    """The static tools, built first unless a folder is named."""
    if not NAMED:
        built = subprocess.run([ROOT / "scripts" / "static.sh", platform.machine()])
        if built.returncode:
            sys.exit("error: the tools were not built, see above: install what is missing with `make setup`, "
                     "or set FACT_STATIC_DIR to a folder whose bin/ has them, or to `none` for Python alone")
    folder = Path(NAMED) if NAMED else ROOT / "build" / "static"
    found = [folder / "bin" / name for name in TOOLS]
    missing = [str(tool) for tool in found if not tool.is_file()]
    if missing:
        sys.exit(f"error: there is no {', '.join(missing)}")
    return found


def commands() -> list[str]:
    """The programs that installing the package puts on the PATH."""
    names = TOOLS if HAS_TOOLS else ()
    return ["fact = fact.__main__:main", *(f"{name} = fact.toolchain:run_tool" for name in names)]


def record_version(package: Path) -> None:
    (package / VERSION["RECORD"]).write_text(VERSION["version"]() + "\n")


class BuildPackage(build_py):
    def run(self):
        package = Path(self.build_lib) / "fact"
        # Files of an earlier build would be taken along.
        shutil.rmtree(package, ignore_errors=True)
        super().run()
        # An editable package is the checkout, which has everything.
        if self.editable_mode:
            return
        record_version(package)
        for header in HEADERS:
            (package / "include" / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "include" / header, package / "include" / header)
        if not HAS_TOOLS:
            return
        (package / "bin").mkdir()
        for tool in tools():
            shutil.copy(tool, package / "bin")
        # Every tool finds the built-in registry beside its own folder.
        shutil.copytree(ROOT / "patterns", package / "share" / "fact" / "patterns",
                        ignore=shutil.ignore_patterns(".lock"))


class Sdist(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        record_version(Path(base_dir) / "python" / "fact")


class Package(Distribution):
    def has_ext_modules(self):
        """Whether there is anything but Python in the package."""
        return HAS_TOOLS


class Wheel(bdist_wheel):
    def get_tag(self):
        """Tools for one machine, and Python for every version."""
        return "py3", "none", super().get_tag()[2]


# build/ is CMake's.
setup(version=VERSION["version"](),
      distclass=Package,
      entry_points={"console_scripts": commands(), "torch_dynamo_backends": ["fact = fact.dynamo:backend"]},
      options={"build": {"build_base": "out/python"}},
      cmdclass={"build_py": BuildPackage, "sdist": Sdist, "bdist_wheel": Wheel})
