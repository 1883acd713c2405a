# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host kernels for a matrix of processors: emitted, linked, and executed where that is possible.

    run.py --work DIR [--bin build/bin] [--cpu NAME]... [--type f32]... [--emit-only]

Every family is compiled for each processor in each type. fact-tune then compares kernels with
their references: on this machine where it has the features, else in Debian's qemu-user, else the
library is linked only, and the table says so. Packages, beside those of the build: `qemu-user`,
and for the other architecture `libstdc++-12-dev-amd64-cross` or `libstdc++-12-dev-arm64-cross`.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import families

PROCESSORS = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "cooperlake", "neoverse-n1", "neoverse-v1"]
TYPES = ["f32", "bf16", "f16"]


def emit(tools: Path, folder: Path, cpu: str, types: list[str], candidates: int) -> dict:
    """The bundle of a processor; its bundle.json."""
    folder.mkdir(parents=True, exist_ok=True)
    source, bundle = folder / "families.mlir", folder / "bundle"
    source.write_text(families.module(cpu, types))
    run([tools / "fact-compile", source, "--until=bundle", f"--bundle={bundle}",
         f"--candidates={candidates}"])
    return json.loads((bundle / "bundle.json").read_text())


def link(folder: Path, description: dict) -> None:
    """All objects of a bundle as one library without the system's: LLVM's linker knows every
    architecture, and finds what is defined twice."""
    linker = shutil.which("ld.lld-22") or shutil.which("ld.lld")
    if not linker:
        sys.exit("run.py: error: no ld.lld on PATH; install lld-22")
    objects = [folder / "bundle" / source["object"] for kernel in description["kernels"]
               for source in kernel["candidates"]]
    run([linker, "-shared", "--no-allow-shlib-undefined", *objects, "-o", folder / "objects.so"])


def emulator(architecture: str) -> list[str] | None:
    """The words that run a program of an architecture, or none where no emulator is installed."""
    program = shutil.which(f"qemu-{architecture}")
    if not program:
        return None
    words = [program, "-cpu", "max"]
    if architecture != platform.machine():
        words += ["-L", f"/usr/{architecture}-linux-gnu"]
    return words


def execute(tools: Path, folder: Path, description: dict) -> str:
    """How the kernels ran, all of them right; or why they did not run."""
    cpu = description["target"]["cpu"]
    ways = {"emulated": emulator(cpu["architecture"])}
    if cpu["architecture"] == platform.machine():
        ways = {"native": [], **ways}
    reason = f"qemu-{cpu['architecture']} is not installed"
    for way, launcher in ways.items():
        if launcher is None:
            continue
        command = [tools / "fact-tune", folder / "bundle", "--run-timeout=600"]
        if launcher:
            command += ["--run-launcher", " ".join(launcher)]
        done = run(command, check=False)
        if done.returncode == 0:
            check(folder)
            return way
        lacks = [line for line in done.stdout.splitlines() if "which this one lacks" in line]
        if not lacks:
            fail(command, done)
        reason = lacks[0].partition("processor with ")[2].partition(", which")[0] + " is missing"
    return f"linked only: {reason}"


def check(folder: Path) -> None:
    """Every schedule that was tried is right, not only the winners."""
    report = json.loads((folder / "bundle" / "tuning.json").read_text())
    wrong = [f"{kernel['name']} {attempt['schedule']}: {attempt['status']}: {attempt.get('detail')}"
             for kernel in report["kernels"] for attempt in kernel["attempts"]
             if attempt["status"] != "ok"]
    if wrong:
        sys.exit("run.py: error: " + "\n  ".join([str(folder), *wrong]))


def run(command: list, check: bool = True) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        fail(words, done)
    return done


def fail(command: list, done: subprocess.CompletedProcess) -> None:
    sys.exit(f"run.py: error: exit status {done.returncode} of\n  "
             + " ".join(str(word) for word in command) + "\n" + done.stdout[-8000:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, help="where the tools are; on PATH by default")
    parser.add_argument("--work", type=Path, required=True, help="folder for bundles")
    parser.add_argument("--cpu", action="append", help="a processor; all of the matrix by default")
    parser.add_argument("--type", action="append", help="a type; f32, bf16 and f16 by default")
    parser.add_argument("--candidates", type=int, default=2, help="schedules of each kernel")
    parser.add_argument("--emit-only", action="store_true", help="neither link libraries nor run")
    options = parser.parse_args()
    found = shutil.which("fact-compile", path=options.bin)
    if not found:
        sys.exit("run.py: error: no fact-compile on PATH; name its folder with --bin")
    tools = Path(found).parent
    os.environ.setdefault("FACT_CACHE_DIR", str(options.work / "cache"))
    print(f"{'processor':16} {'architecture':13} {'kernels':>7} {'seconds':>8}  outcome")
    for cpu in options.cpu or PROCESSORS:
        begin = time.monotonic()
        folder = options.work / cpu
        description = emit(tools, folder, cpu, options.type or TYPES, options.candidates)
        link(folder, description)
        outcome = "emitted"
        if not options.emit_only:
            outcome = execute(tools, folder, description)
        print(f"{cpu:16} {description['target']['cpu']['architecture']:13} "
              f"{len(description['kernels']):7} {time.monotonic() - begin:8.1f}  {outcome}",
              flush=True)


if __name__ == "__main__":
    main()
