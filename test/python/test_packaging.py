# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static tools, packages of a checkout, and the version of a commit; test_wheels.py has wheels."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from fact import toolchain
from fact.__main__ import main
from wheels import PLAIN, TOOLS, own_folders, run, sources, static_tools, without_llvm  # noqa: F401

# Every Linux has these, all of them part of glibc.
LIBC = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-.*\.so\.\d")


def test_static_tools_need_libc_alone(static_tools):
    for name in TOOLS:
        needed = re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", static_tools / name]))
        assert needed and not [each for each in needed if not LIBC.fullmatch(each)], (name, needed)
        # Of the version that the wheel's name promises: manylinux_2_36.
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run(["readelf", "-V", static_tools / name]))
        assert (2, 17) <= max((int(major), int(minor)) for major, minor in versions) <= (2, 36), name


def test_a_static_tool_refuses_plug_ins(static_tools):
    done = subprocess.run([static_tools / "fact-compile", "--load-dialect-plugin=some.so"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and "this one has MLIR linked into it" in done.stderr


def test_a_static_tool_loads_curl(static_tools, tmp_path, root):
    """It asks an endpoint that is not there, and says so, rather than that libcurl is missing."""
    done = subprocess.run(
        [static_tools / "fact-compile", root / "test" / "Driver" / "Inputs" / "small.mlir",
         "--until=discover",
         "-o", tmp_path / "out.mlir", "--agent=llm", "--llm-url=http://127.0.0.1:9/v1",
         "--llm-model=none"], capture_output=True, text=True)
    assert "connect" in done.stderr and "libcurl" not in done.stderr, done.stderr


@pytest.mark.parametrize("target", ["host", "sm_90a"])
def test_static_tools_write_bundles_without_llvm(static_tools, without_llvm, tmp_path, root, target):
    run([*without_llvm, static_tools / "fact-compile", root / "test" / "Driver" / "Inputs" / "small.mlir",
         f"--target={target}", "--until=bundle", f"--bundle={tmp_path / 'bundle'}"], env=PLAIN)
    assert (tmp_path / "bundle" / "bundle.json").exists()


@pytest.mark.full
def test_static_tools_are_small(static_tools, tmp_path):
    for name in TOOLS:
        shutil.copy(static_tools / name, tmp_path)
    packed = subprocess.run(f"tar -C {tmp_path} -c . | xz -6 | wc -c", shell=True,
                            capture_output=True, text=True, check=True)
    assert int(packed.stdout) < 30 << 20


def pack(folder, root, tools):
    """What scripts/pack-gpu.sh makes of tools and a registry: out/gpu/run.sh."""
    stage = folder / "fact-gpu"
    (stage / "programs").mkdir(parents=True)
    (stage / "bin").mkdir()
    for tool in tools:
        shutil.copy(tool, stage / "bin")
    shutil.copytree(root / "patterns", stage / "share" / "fact" / "patterns")
    run(["tar", "-C", folder, "-c", "-I", "xz -0", "-f", folder / "fact-gpu.tar.xz", "fact-gpu"])
    shutil.rmtree(stage)
    return shutil.copy(root / "scripts" / "gpu-run.sh", folder / "run.sh")


@pytest.mark.full
def test_a_pack_makes_text_a_bundle(static_tools, without_llvm, tmp_path, root):
    """In one command, on a machine that has neither LLVM nor nvcc nor Python."""
    script = pack(tmp_path, root, [static_tools / "fact-compile"])
    shutil.copy(root / "test" / "Driver" / "Inputs" / "small.mlir", tmp_path)
    run([*without_llvm, script, "compile", "small.mlir", "--until=bundle"],
        env={**PLAIN, "TARGET": "h200"}, cwd=tmp_path)
    assert (tmp_path / "fact-gpu" / "compiled" / "small" / "bundle.json").exists()
    done = subprocess.run([script, "compile", "other.mlir"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("no program other.mlir; known are: ")


def test_a_pack_without_the_compiler_says_so(tmp_path, root):
    script = pack(tmp_path, root, [])
    done = subprocess.run([script, "compile", "small.mlir"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "pack with TOOLS=1" in done.stderr


def test_static_tools_are_for_known_architectures(root):
    done = subprocess.run([root / "scripts" / "static.sh", "sparc"], capture_output=True, text=True)
    assert done.returncode == 1 and "'sparc' is neither x86_64 nor aarch64" in done.stderr
    assert not done.stdout


def pip(*words, environment=None):
    """Runs pip, which fetches nothing."""
    # The tools are to be found where the sources are.
    inherited = {name: value for name, value in os.environ.items() if name != "FACT_STATIC_DIR"}
    return subprocess.run([sys.executable, "-m", "pip", "--isolated", *map(str, words), "--no-deps",
                           "--no-build-isolation", "--no-index"], capture_output=True, text=True,
                          env={**inherited, **(environment or {})})


def test_pip_installs_a_checkout(sources, tmp_path):
    """With the tools of its build, which compile a module."""
    package = tmp_path / "package"
    # Nothing is compressed or compiled, to save seconds.
    done = pip("install", sources, "--target", package, "--no-compile",
               "--config-settings=--build-option=--compression=stored")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"fact-compiler-{(package / 'fact' / 'version.txt').read_text().strip()}" in done.stdout
    (tmp_path / "small.py").write_text(
        "import torch\nModel = torch.nn.ReLU\ndef get_init_inputs():\n    return []\n"
        "def get_inputs():\n    return [torch.randn(4, 16)]\n")
    printed = run([package / "bin" / "fact", "compile", "small.py", "--target=host", "--candidates=1",
                   "-o", "small.so"], stderr=subprocess.STDOUT, cwd=tmp_path,
                  # Objects are those of all tests.
                  env={**PLAIN, **own_folders(tmp_path), "FACT_CACHE_DIR": os.environ["FACT_CACHE_DIR"],
                       "PYTHONPATH": str(package)})
    assert f"+ {package / 'fact' / 'bin' / 'fact-compile'} " in printed and "library: " in printed


def test_a_checkout_that_cannot_be_built_says_so(sources, tmp_path):
    """And what to do; Python alone is packed where that is asked for."""
    shutil.copytree(sources, tmp_path / "unbuilt", symlinks=True)
    (tmp_path / "unbuilt" / "build").unlink()

    def build(**variables):
        # What pip runs to make the package.
        command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path / "package"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "unbuilt",
                              env={**PLAIN, **variables})

    done = build(MLIR_DIR="/nowhere")
    assert done.returncode == 1 and "no LLVM/MLIR 22 at /nowhere" in done.stderr
    assert "error: the tools were not built, see above: install what is missing with `make setup`" in (
        done.stderr)
    done = build(FACT_STATIC_DIR="none")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "package" / "fact" / "version.txt").exists()
    assert not (tmp_path / "package" / "fact" / "bin").exists()


def run_command(path, *words, **variables):
    """The command that an installed package puts on the PATH, as the script `path`."""
    path.write_text(f"#!{sys.executable}\nfrom fact.toolchain import run_tool\nrun_tool()\n")
    path.chmod(0o755)
    return subprocess.run([path, *words], capture_output=True, text=True, env={**os.environ, **variables})


def test_commands_of_a_package_become_its_tools(tmp_path):
    tool = toolchain.require_tool("fact-tune")
    done = run_command(tmp_path / "fact-tune", "--version", FACT_BIN_DIR=str(tool.parent))
    assert done.returncode == 0 and done.stdout == run([tool, "--version"])
    # One that finds but itself.
    done = run_command(tmp_path / "fact-tune", "--version", FACT_BIN_DIR=str(tmp_path))
    assert done.returncode == 1 and done.stderr.startswith("fact-tune: error: fact-tune is missing: ")


def test_host_bundles_name_a_compiler_that_is_there(tmp_path, root, monkeypatch):
    """The first of a list that is installed, or the one that a variable names."""
    import json

    from fact.machine import describe_target

    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "g++").symlink_to("/bin/true")
    monkeypatch.setattr(toolchain, "environment", lambda: {"PATH": str(tools)})
    assert describe_target("host")["compiler"] == "g++"
    monkeypatch.setattr(toolchain, "environment",
                        lambda: {"PATH": str(tools), "FACT_HOST_COMPILER": "my-c++"})
    assert describe_target("host")["compiler"] == "my-c++"
    bundle = tmp_path / "bundle"
    run([toolchain.require_tool("fact-compile"), root / "test" / "Driver" / "Inputs" / "small.mlir",
         "--target=host", "--until=bundle", f"--bundle={bundle}"], env={"PATH": str(tools)})
    commands = json.loads((bundle / "bundle.json").read_text())["commands"]
    assert commands["compile"][0] == commands["link"][0] == "g++"
    assert "-fuse-ld=lld" not in commands["link"]


def test_doctor_tries_the_compiler(monkeypatch, tmp_path):
    from fact import doctor

    def examined():
        return next(f for f in doctor.examine() if f.what == "C++ compiler")

    assert examined().found
    broken = tmp_path / "broken++"
    broken.write_text("#!/bin/sh\necho 'error: no <filesystem>' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("FACT_HOST_COMPILER", str(broken))
    finding = examined()
    assert finding.required and not finding.found and "no <filesystem>" in finding.fix
    monkeypatch.setenv("FACT_HOST_COMPILER", "nowhere++")
    assert "apt-get install g++" in examined().fix


def test_missing_packages_are_named_with_their_command(monkeypatch):
    """That of a checkout, and that of a wheel."""
    import torch

    import fact

    # Python's way of saying that a module cannot be imported.
    monkeypatch.setitem(sys.modules, "fact.importer", None)
    monkeypatch.delattr(fact, "importer", raising=False)
    with pytest.raises(fact.FactError, match="needs torch-mlir.*run `make setup`"):
        fact.export(torch.nn.ReLU(), (torch.ones(4),))
    monkeypatch.setattr(toolchain, "checkout", lambda: None)
    with pytest.raises(fact.FactError, match="needs torch-mlir.*run `pip install torch-mlir ml_dtypes"):
        fact.export(torch.nn.ReLU(), (torch.ones(4),))


def test_old_versions_of_torch_are_known():
    from fact.torch_version import is_too_old

    assert is_too_old("2.9.1+cu128") and is_too_old("1.13")
    assert not is_too_old("2.11.0") and not is_too_old("2.13.0+cpu") and not is_too_old("3.0.0a0")


def test_an_old_torch_is_named(root):
    """On import, before anything fails for it."""
    program = "import torch; torch.__version__ = '2.9.1+cu128'; import fact"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert done.returncode == 0, done.stderr
    assert ("FactWarning: PyTorch 2.9.1+cu128 is older than 2.11, the oldest that FACT works with: "
            "pip install --upgrade torch") in done.stderr


def test_a_torch_that_is_not_there_is_named(root):
    program = "import sys; sys.modules['torch'] = None; import fact"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "python")})
    assert done.returncode == 1
    assert re.search("ImportError: FACT needs PyTorch 2.11 or newer.*: pip install torch", done.stderr)


@pytest.fixture
def repository(tmp_path, root):
    """A checkout of one commit with nothing but the file that knows the version."""
    folder = tmp_path / "repository"
    package = folder / "python" / "fact"
    package.mkdir(parents=True)
    shutil.copy(root / "python" / "fact" / "version.py", package)

    def git(*words, cwd=folder):
        return run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=cwd).strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    return folder, git


def version_in(folder):
    return run([sys.executable, "python/fact/version.py"], cwd=folder).strip()


def test_each_commit_has_a_version(repository, tmp_path):
    folder, git = repository
    commit = git("rev-parse", "HEAD")[:7]
    assert version_in(folder) == f"0.1.0.dev1+g{commit}"
    git("commit", "-qm", "two", "--allow-empty")
    second = version_in(folder)
    assert second.startswith("0.1.0.dev2+g") and commit not in second
    # A clone that does not know all commits does not count them.
    run(["git", "clone", "-q", "--depth=1", f"file://{folder}", tmp_path / "shallow"])
    assert version_in(tmp_path / "shallow") == re.sub("dev2", "dev0", second)
    git("tag", "v0.1.0")
    assert version_in(folder) == "0.1.0"


def test_the_version_outlives_the_commit(repository):
    folder, _ = repository
    header = folder / "Version.inc"
    run([sys.executable, "python/fact/version.py", "--header", header], cwd=folder)
    version = version_in(folder)
    assert header.read_text() == f'"{version}"\n'
    written = header.stat().st_mtime_ns
    run([sys.executable, "python/fact/version.py", "--header", header], cwd=folder)
    assert header.stat().st_mtime_ns == written
    (folder / "python" / "fact" / "version.txt").write_text("0.1.0.dev7+gabcdef0\n")
    shutil.rmtree(folder / ".git")
    assert version_in(folder) == "0.1.0.dev7+gabcdef0"


def test_the_command_prints_the_version(capsys):
    from fact.version import version

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"fact {version()}\n"
