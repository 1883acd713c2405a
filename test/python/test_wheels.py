# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheels of scripts/wheel.sh: what is in them, where they run, and Start here with one of them."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

import pages
from wheels import (  # noqa: F401
    LLVM,
    PLAIN,
    STATIC,
    TOOLS,
    make_wheel,
    own_folders,
    platform_tag,
    run,
    skip_unless_required,
    sources,
    static_tools,
    without_llvm,
)

pytestmark = pytest.mark.full
MACHINE = platform.machine()
OTHER = {"x86_64": "aarch64"}.get(MACHINE, "x86_64")


@pytest.fixture(scope="module")
def wheel(sources):
    return make_wheel(sources, MACHINE, STATIC)


def check_contents(wheel, architecture):
    """Tools for one machine, Python for every version, and the glibc that docs/python.md names."""
    assert wheel.name.endswith(f"-py3-none-manylinux_2_36_{architecture}.whl")
    assert platform_tag(wheel) == f"manylinux_2_36_{architecture}"
    names = zipfile.ZipFile(wheel).namelist()
    for name in (*(f"fact/bin/{tool}" for tool in TOOLS), "fact/py.typed", "fact/version.txt",
                 "fact/include/fact/Runtime/Library.h", "fact/include/fact/Runtime/dlpack/dlpack.h"):
        assert name in names
    assert any(name.startswith("fact/share/fact/patterns/") for name in names)
    record = next(name for name in names if name.endswith("entry_points.txt"))
    commands = zipfile.ZipFile(wheel).read(record).decode()
    assert all(f"\n{name} = " in commands for name in ("fact", *TOOLS))


def test_a_wheel_has_the_tools(wheel):
    check_contents(wheel, MACHINE)


def test_a_wheel_compiles_where_llvm_is_not(wheel, without_llvm, tmp_path, root):
    """Installed into an environment that has PyTorch and torch-mlir from this one."""
    run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"])
    python = tmp_path / "env" / "bin" / "python"
    site = Path(run([python, "-c", "import site; print(site.getsitepackages()[0])"]).strip())
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index",
         wheel])
    (site / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    shutil.copy(root / "examples" / "workloads" / "linear_chain.py", tmp_path)
    variables = {**PLAIN, **own_folders(tmp_path)}
    fact = [*without_llvm, tmp_path / "env" / "bin" / "fact"]
    # The environment's own package, and its own tools.
    options = {"env": variables, "cwd": tmp_path}
    where = run([*without_llvm, python, "-c",
                 "from fact import toolchain; print(toolchain.find_tool('fact-compile'))"], **options)
    assert Path(where.strip()).resolve() == (site / "fact" / "bin" / "fact-compile").resolve()
    report = run([*fact, "doctor"], **options)
    assert "everything that compiling for this machine needs is here" in " ".join(report.split())
    run([*fact, "compile", "linear_chain.py", "--size", "small", "--target", "host", "--candidates",
         "1", "-o", "chain.so", "--save-weights", "chain.safetensors"], **options)
    assert "output" in run([*fact, "run", "chain.so", "--weights", "chain.safetensors"], **options)
    # The tools are commands too.
    tune = subprocess.run([*without_llvm, tmp_path / "env" / "bin" / "fact-tune", tmp_path],
                          capture_output=True, text=True, **options)
    assert "no bundle.json" in tune.stderr
    version = run([*fact, "--version"], **options).split()[1]
    tool = run([site / "fact" / "bin" / "fact-tune", "--version"]).split()[1].rstrip(",")
    assert version.startswith("0.") and tool.startswith(version.split(".dev")[0])


# What runs programs of the other architecture here: the emulator, and their C library.
EMULATOR = f"qemu-{OTHER}"
LIBRARIES = Path(f"/usr/{OTHER}-linux-gnu")


@pytest.fixture(scope="module")
def other_wheel(sources):
    """Some 250 files are compiled for it, unless they have been."""
    if not shutil.which("apt-get") or not (LLVM / "bin" / "mlir-tblgen").exists():
        pytest.skip("scripts/cross takes LLVM and MLIR 22 from Debian's packages")
    static = run([pages.ROOT / "scripts" / "static.sh", OTHER], cwd=pages.ROOT).strip()
    return make_wheel(sources, OTHER, pages.ROOT / static)


@pytest.fixture(scope="module")
def other_tools(other_wheel, tmp_path_factory):
    """The other machine's tools out of its wheel, and the words that run one here."""
    if not shutil.which(EMULATOR) or not LIBRARIES.is_dir():
        skip_unless_required(f"no {EMULATOR} or no {LIBRARIES}: run scripts/setup.sh --full")
    folder = tmp_path_factory.mktemp("other")
    zipfile.ZipFile(other_wheel).extractall(folder)
    for name in TOOLS:
        (folder / "fact" / "bin" / name).chmod(0o755)
    return [EMULATOR, "-L", LIBRARIES], folder / "fact" / "bin"


def test_a_wheel_of_the_other_architecture_has_its_tools(other_wheel, other_tools):
    check_contents(other_wheel, OTHER)
    launcher, tools = other_tools
    kind = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}[OTHER]
    for name in TOOLS:
        assert re.search(rf"Machine:\s+{kind}$", run(["readelf", "-h", tools / name]), re.M)
        assert run([*launcher, tools / name, "--version"], env=PLAIN).startswith(f"{name} 0.")


def files_of(folder):
    """Contents by name, without the commit that the tools are of."""
    return {str(path.relative_to(folder)): re.sub(rb"\.dev\d+\+g\w+", b"", path.read_bytes())
            for path in folder.rglob("*") if path.is_file()}


def test_tools_of_the_other_architecture_write_the_same_bundle(other_tools, static_tools, tmp_path, root):
    """For one GPU, file by file; for the host, kernels of the machine that it is emulated on."""
    launcher, tools = other_tools
    small = root / "test" / "Driver" / "Inputs" / "small.mlir"
    written = {}
    for kind, command in (("here", [static_tools / "fact-compile"]),
                          ("there", [*launcher, tools / "fact-compile"])):
        for target in ("sm_90a", "host"):
            folder = tmp_path / kind / target
            folder.mkdir(parents=True)
            run([*command, small, f"--target={target}", "--until=bundle", "--bundle=bundle"],
                env=PLAIN, cwd=folder)
            written[kind, target] = files_of(folder / "bundle")
    assert "bundle.json" in written["here", "sm_90a"]
    assert written["here", "sm_90a"] == written["there", "sm_90a"]
    cpu = {kind: json.loads(written[kind, "host"]["bundle.json"])["target"]["cpu"]["architecture"]
           for kind in ("here", "there")}
    assert cpu == {"here": MACHINE, "there": OTHER}


class Blocks(HTMLParser):
    """The blocks of a page of the site from a heading on: the line above each, and its text."""

    def __init__(self, page: str, anchor: str):
        super().__init__()
        self.anchor, self.begun = anchor, False
        self.found: list[list[str]] = []
        self.inside, self.part = False, -1
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.begun |= ("id", self.anchor) in attributes
        if self.begun and tag == "div" and ("class", "code") in attributes:
            self.found.append(["", ""])
            self.inside = True
        elif self.inside and tag in ("p", "pre"):
            self.part = ("p", "pre").index(tag)

    def handle_endtag(self, tag):
        if tag in ("p", "pre"):
            self.part = -1
        elif tag == "div":
            self.inside = False

    def handle_data(self, data):
        if self.part >= 0:
            self.found[-1][self.part] += data


# How this machine's pip reaches packages.
NETWORK = re.compile(r"(PIP|SSL|.*_CA_BUNDLE|.*_PROXY)(_|$)", re.I)

# What a newcomer might ask after the page's Python: whose package it was, and whether results agree.
QUESTIONS = """
import torch
print(fact.__file__)
with torch.no_grad():
    expected = module(*inputs)
torch.testing.assert_close(library(*inputs), expected, rtol=1e-4, atol=1e-4)
torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
# Ops that are written out on the way.
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.MaxPool2d(2)).eval()
images = torch.randn(2, 3, 8, 8)
with torch.no_grad():
    expected = net(images)
torch.testing.assert_close(fact.compile(net, (images,))(images), expected, rtol=1e-4, atol=1e-4)
"""


class Newcomer(pages.Reader):
    """Somebody with a wheel, an empty home, and one page of the site."""

    def __init__(self, folder: Path, wheel: Path, launcher: list[str]):
        self.folder, self.launcher = folder, launcher
        self.state = folder / ".state"
        self.output = ""
        (folder / "home").mkdir(parents=True)
        shutil.copy(wheel, folder)
        # Debian's Python, or the user's own where that cannot make environments, as in scripts/setup.sh.
        usable = "import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))"
        debian = subprocess.run(["/usr/bin/python3", "-c", usable], capture_output=True).returncode == 0
        self.path = PLAIN["PATH"] if debian else f"{sys.base_prefix}/bin:{PLAIN['PATH']}"

    def environment(self):
        network = {name: value for name, value in os.environ.items() if NETWORK.match(name)}
        for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
            if settings.exists():
                network.setdefault("PIP_CONFIG_FILE", str(settings))
        return {**network, "HOME": str(self.folder / "home"), "PATH": self.path, "LANG": "C.UTF-8",
                # The page shows what a machine without a GPU prints.
                "CUDA_VISIBLE_DEVICES": ""}

    def install(self, text):
        """The page's first block; and what the page says is to be installed before the wheel."""
        for command in text.splitlines():
            if match := re.match(r"sudo apt-get install ([^#]+)", command):
                problem = self.missing(match[1].split())
            elif command.startswith("pip install"):
                # PyTorch as pip got it for this checkout: its CPU build, where pip is told to.
                [torch] = re.findall(r"^torch==\S+$", (pages.ROOT / "requirements.txt").read_text(), re.M)
                problem = self._shell(f"pip install {torch}") or self._shell(command)
            else:
                problem = self._shell(command)
            if problem:
                return problem
        return ""

    def missing(self, packages):
        """Packages that only root can install: something has to stand for each of them already."""
        programs = {"python3-venv": "python3", "g++": "g++"}
        absent = [name for name in packages if not shutil.which(programs[name], path=self.path)]
        return f"{', '.join(absent)} not installed" if absent else ""

    def _python(self, block):
        (self.folder / "page.py").write_text(block.text + QUESTIONS)
        return self._shell("python page.py")


FIGURE = re.compile(r"^ *fact +[\d.e-]+ +\[[\d.e-]+, [\d.e-]+\] +([\d.]+)x \[([\d.]+), ([\d.]+)\] "
                    r".* ([\d.]+)x *$", re.M)


def test_start_here_leads_a_newcomer_to_a_figure(wheel, without_llvm, tmp_path, root):
    """With a wheel, the built site and real packages, from an empty environment where LLVM is not."""
    run([sys.executable, root / "docs" / "site" / "build.py", "-o", tmp_path / "site"])
    page = (tmp_path / "site" / "start.html").read_text()
    anchor = "a-wheel-in-place-of-the-checkout"
    assert f'#{anchor}"' in page.partition(f'id="{anchor}"')[0]
    # A reader sees which blocks are commands and which are output; the test is told by the source.
    source = {block.text.rstrip(): block
              for block in pages.read_blocks(root / "docs" / "start.md", "start.html")}
    blocks = []
    for note, text in Blocks(page, anchor).found:
        block = source[text.rstrip()]
        blocks.append(dataclasses.replace(block, marks=f"file {note}") if note else block)
    begin = time.monotonic()
    newcomer = Newcomer(tmp_path / "newcomer", wheel, list(without_llvm))
    problem = newcomer.install(blocks[0].text)
    assert not problem, problem
    figure = ""
    for block in blocks[1:]:
        problem = newcomer.follow([block])
        assert not problem, problem
        if not figure and " -m fact bench " in block.text:
            figure, seconds = newcomer.output, time.monotonic() - begin
    found = FIGURE.search(figure)
    assert found and "failed" not in figure, figure
    print(f"{seconds:.0f} seconds from the empty environment to\n{figure}")
    speedup, low, high, error = map(float, found.groups())
    assert 0 < low <= speedup <= high, figure
    # As exact as the module, and all that came after agreed with it.
    assert error <= 1.5, figure
    assert newcomer.output.startswith(str(newcomer.folder / "env" / "lib")), newcomer.output
