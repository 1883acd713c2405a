#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants mistakes in kernels and lets fact-tune judge them.

    run.py host            mutants of the host, here
    run.py pack FOLDER     bundles with the mutants of the GPU, for `run.py cuda`
    run.py cuda FOLDER     those bundles, on a machine with the GPU

A base is a region (NAME.mlir) whose bundle the compiler writes: reference, tolerances and
operands are the real ones. Its first candidate is right and must be accepted. Each file
NAME/*.mutant says in a sentence what is wrong, and then how to get there from the right
source: blocks of

    <<<< [file in the bundle]
    text that is there exactly once
    ====
    text in its place
    >>>>

On the host the right candidate is NAME.cpp, written by hand; on the GPU it is the
compiler's own, and a block that names no file changes the candidate's source. A mutant
race-*.mutant of the GPU is one whose results are right on most machines: it is alone in its
bundle, and `fact-tune --sanitize` has to reject it.

A mutant is rejected when the worker finds it wrong, crashing or hanging. One that does
not compile, or is refused for its speed, is a mistake in this test.

Operands are drawn from a fresh seed, which is printed; --seed N repeats it. --seeds N judges
each mutant with N seeds and prints how many of them detect it: all have to.
"""

import argparse
import concurrent.futures
import json
import os
import re
import secrets
import shutil
import sqlite3
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "test" / "gpu"))

from slot import launcher  # noqa: E402

RIGHT = "right"
REJECTED = ("wrong", "crash", "hang")


class MutantError(Exception):
    """A mistake in a base or in a mutant, not in the verifier."""


@dataclass
class Verdict:
    base: str
    mutant: str
    status: str
    detail: str = ""
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.base}/{self.mutant}"

    @property
    def good(self) -> bool:
        return self.status == "ok" if self.mutant == RIGHT else self.status in REJECTED

    @property
    def text(self) -> str:
        if self.mutant == RIGHT:
            return "accepted" if self.good else "NOT ACCEPTED"
        return "rejected" if self.good else "NOT REJECTED"


#===--------------------------------------------------------------------------===#
# Mutants
#===--------------------------------------------------------------------------===#


@dataclass
class Mutant:
    """What is wrong, and the replacements as (file or "", text, other text)."""

    name: str
    sentence: str
    changes: list[tuple[str, str, str]]

    def apply(self, file: str, text: str) -> str:
        for where, old, new in self.changes:
            if where != file:
                continue
            if text.count(old) != 1:
                raise MutantError(f"{self.name}: its text is in {file or 'the candidate'} "
                                  f"{text.count(old)} times; expected once:\n{old}")
            text = text.replace(old, new)
        return text

    @property
    def is_race(self) -> bool:
        return self.name.startswith("race-")

    @property
    def files(self) -> set[str]:
        return {where for where, _, _ in self.changes}


BLOCK = re.compile(r"^<<<<(.*?)\n(.*?)\n====\n(.*?)\n?>>>>$", re.DOTALL | re.MULTILINE)


def read_mutant(path: Path) -> Mutant:
    text = path.read_text()
    changes = [(where.strip(), old, new) for where, old, new in BLOCK.findall(text)]
    sentence = text.split("\n\n", 1)[0].strip()
    rest = BLOCK.sub("", text).strip()
    if not changes or rest != sentence or "\n" in sentence:
        raise MutantError(f"{path}: expected one sentence, an empty line, and blocks")
    return Mutant(path.stem, sentence, changes)


def read_mutants(folder: Path) -> list[Mutant]:
    return [read_mutant(path) for path in sorted(folder.glob("*.mutant"))]


#===--------------------------------------------------------------------------===#
# Bundles
#===--------------------------------------------------------------------------===#


def run(command: list, timeout: float) -> subprocess.CompletedProcess:
    environment = dict(os.environ)
    # Neither the user's entries nor the user's folder.
    environment["FACT_PATTERNS"] = str(HERE / "no-patterns")
    environment["FACT_LEARN"] = "0"
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=environment, timeout=timeout)


def emit(tools: Path, source: Path, target: str, bundle: Path) -> dict:
    """The compiler's bundle, with one candidate for each kernel."""
    shutil.rmtree(bundle, ignore_errors=True)
    done = run([tools / "fact-compile", source, f"--target={target}", "--until=bundle", "--candidates=1",
                f"--bundle={bundle}"], timeout=600)
    if done.returncode != 0:
        raise MutantError(f"{source} does not compile:\n{done.stdout}")
    return json.loads((bundle / "bundle.json").read_text())


def set_candidates(bundle: Path, description: dict, candidates: list[dict]) -> None:
    kernels = description["kernels"]
    if len(kernels) != 1:
        raise MutantError(f"{bundle.name}: a base is one kernel; this has {len(kernels)}")
    kernels[0]["candidates"] = [{"predicted_us": 1 + i, **each} for i, each in enumerate(candidates)]
    (bundle / "bundle.json").write_text(json.dumps(description, indent=1))


def write_host_bundle(tools: Path, base: Path, bundle: Path) -> list[str]:
    """Right first, then the mutants; their names."""
    description = emit(tools, base, "host", bundle)
    folder = bundle / "kernels" / "mutants"
    folder.mkdir(parents=True)
    shutil.copy(base.parent / "kernel.h", folder)
    right = base.with_suffix(".cpp").read_text()
    sources = {RIGHT: right}
    for mutant in read_mutants(base.with_suffix("")):
        if mutant.files != {""}:
            raise MutantError(f"{base.stem}/{mutant.name}: changes {mutant.files}; "
                              "there is only the candidate")
        sources[mutant.name] = mutant.apply("", right)
    for name, text in sources.items():
        (folder / f"{name}.cpp").write_text(text)
    set_candidates(bundle, description, [
        {"key": name, "source": f"kernels/mutants/{name}.cpp", "symbol": "candidate",
         "link": ["-lm", "-lpthread"]}
        for name in sources])
    return list(sources)


INCLUDE = re.compile(r'#include "fact/cutlass/')


def write_cuda_bundle(tools: Path, base: Path, bundle: Path, mutants: list[Mutant], with_right: bool) -> int:
    """Each mutant has its own copies of the headers, beside its source: quotes look there
    first. How many mutants there are."""
    description = emit(tools, base, "sm_90a", bundle)
    candidate = description["kernels"][0]["candidates"][0]
    headers = {str(path.relative_to(bundle)): path.read_text()
               for path in sorted((bundle / "include" / "fact" / "cutlass").glob("*.cuh"))}
    right = (bundle / candidate["source"]).read_text()
    candidates = [{**candidate, "key": RIGHT}] if with_right else []
    for mutant in mutants:
        unknown = mutant.files - {"", *headers}
        if unknown:
            raise MutantError(f"{base.stem}/{mutant.name}: the bundle has no {', '.join(sorted(unknown))}")
        folder = bundle / "kernels" / "mutants" / mutant.name
        folder.mkdir(parents=True)
        source = mutant.apply("", right)
        if mutant.files != {""}:
            source = INCLUDE.sub('#include "', source)
            for name, text in headers.items():
                (folder / Path(name).name).write_text(INCLUDE.sub('#include "', mutant.apply(name, text)))
        (folder / "candidate.cu").write_text(source)
        candidates.append({**candidate, "key": mutant.name,
                           "source": str((folder / "candidate.cu").relative_to(bundle))})
    set_candidates(bundle, description, candidates)
    (bundle / "mutants.json").write_text(json.dumps([each["key"] for each in candidates]))
    return len(mutants)


#===--------------------------------------------------------------------------===#
# Verdicts
#===--------------------------------------------------------------------------===#


def judge(arguments, bundle: Path, names: list[str], options: list[str], timeout: float) -> list[Verdict]:
    """What fact-tune says of each candidate, with each seed."""
    verdicts = []
    for seed in arguments.drawn:
        some = judge_with_seed(arguments.tools, bundle, names, seed, options, timeout)
        show(some if len(arguments.drawn) == 1 else [each for each in some if not each.good])
        verdicts += some
    return verdicts


def judge_with_seed(tools: Path, bundle: Path, names: list[str], seed: int, options: list[str],
                    timeout: float) -> list[Verdict]:
    (bundle / "tuning.sqlite").unlink(missing_ok=True)
    try:
        done = run([tools / "fact-tune", bundle, "--no-link", "--retune", "--seed", seed,
                    "--candidates", len(names), *options],
                   timeout)
        output = done.stdout
    except subprocess.TimeoutExpired as expired:
        output = f"fact-tune ran for {expired.timeout} s: {expired.stdout or ''}"
    (bundle / "fact-tune.log").write_text(output)
    found = {}
    if (bundle / "tuning.sqlite").exists():
        with sqlite3.connect(bundle / "tuning.sqlite") as database:
            found = {name: (status, detail) for name, status, detail in
                     database.execute("SELECT candidate, status, detail FROM attempts ORDER BY id")}
    missing = ("not judged", output.strip().splitlines()[-1] if output.strip() else "no output")
    return [Verdict(bundle.name, name, *found.get(name, missing), seed) for name in names]


def write_junit(path: str, kernels: dict[str, list[Verdict]]) -> None:
    suite = xml.Element("testsuite", name="mutants", tests=str(len(kernels)))
    failures = 0
    for verdicts in kernels.values():
        first = verdicts[0]
        case = xml.SubElement(suite, "testcase", classname=f"mutants.{first.base}", name=first.mutant)
        failed = [each for each in verdicts if not each.good]
        failures += bool(failed)
        if failed:
            xml.SubElement(case, "failure", message="; ".join(
                f"{each.text} with seed {each.seed}: {each.status}: {each.detail}" for each in failed))
    suite.set("failures", str(failures))
    xml.ElementTree(suite).write(path)


def report(verdicts: list[Verdict], seconds: float, junit: str | None) -> int:
    """A kernel is judged well when it is with every seed."""
    kernels: dict[str, list[Verdict]] = {}
    for each in verdicts:
        kernels.setdefault(each.name, []).append(each)
    if junit:
        write_junit(junit, kernels)
    if any(len(some) > 1 for some in kernels.values()):
        for name, some in kernels.items():
            print(f"{sum(each.good for each in some):3} of {len(some)} {some[0].text.lower():12} {name}")
    failed = [each for each in verdicts if not each.good]
    for each in failed:
        print(f"FAILED {each.name} with seed {each.seed}: {each.text}: {each.status} {each.detail}")
    right = [all(each.good for each in some) for some in kernels.values() if some[0].mutant == RIGHT]
    mutants = [all(each.good for each in some) for some in kernels.values() if some[0].mutant != RIGHT]
    print(f"right kernels: {sum(right)} of {len(right)} accepted; {seconds:.0f} s")
    print(f"mutants: {sum(mutants)} of {len(mutants)} rejected", flush=True)
    return 1 if failed or not mutants else 0


def show(verdicts: list[Verdict]) -> None:
    for each in verdicts:
        print(f"{each.text:13} {each.name:40} {each.status}: {each.detail[:150]}")
    sys.stdout.flush()


def chosen(bases: list[Path], names: list[str]) -> list[Path]:
    unknown = set(names) - {base.stem for base in bases}
    if unknown:
        raise MutantError(f"unknown base {', '.join(sorted(unknown))}; there are "
                          f"{', '.join(base.stem for base in bases)}")
    return [base for base in bases if not names or base.stem in names]


def run_host(arguments) -> list[Verdict]:
    work = Path(arguments.work or ROOT / "build" / "mutants")
    os.environ["FACT_CACHE_DIR"] = str(work / "cache")
    bases = chosen(sorted((HERE / "host").glob("*.mlir")), arguments.names)

    def one(base: Path) -> list[Verdict]:
        bundle = work / base.stem
        names = write_host_bundle(arguments.tools, base, bundle)
        return judge(arguments, bundle, names, ["--run-timeout", "60", "--jobs", "1"], timeout=900)

    # Those of the GPU are judged there; whether their texts are still found is seen here.
    if not arguments.names:
        pack(arguments, work / "cuda")
    # The first builds the worker, which the others share.
    verdicts = one(bases[0])
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for each in pool.map(one, bases[1:]):
            verdicts += each
    return verdicts


def pack(arguments, folder: Path) -> int:
    """Bundles for the GPU; how many mutants they have."""
    shutil.rmtree(folder, ignore_errors=True)
    count = 0
    for base in chosen(sorted((HERE / "cuda").glob("*.mlir")), arguments.names):
        mutants = read_mutants(base.with_suffix(""))
        plain = [each for each in mutants if not each.is_race]
        count += write_cuda_bundle(arguments.tools, base, folder / base.stem, plain, with_right=True)
        for race in (each for each in mutants if each.is_race):
            # Only winners are sanitized: it has to be one.
            count += write_cuda_bundle(arguments.tools, base, folder / f"{base.stem}.{race.name}", [race],
                                       with_right=False)
    print(f"mutants: {count} for the GPU in {folder}")
    return count


def run_cuda(arguments) -> list[Verdict]:
    """All bundles at once: times do not matter here."""
    folder = Path(arguments.folder)
    bundles = chosen(sorted(path.parent for path in folder.glob("*/mutants.json")), arguments.names)
    if not bundles:
        raise MutantError(f"no bundles in {folder}: run.py pack {folder}")
    def one(bundle: Path) -> list[Verdict]:
        names = json.loads((bundle / "mutants.json").read_text())
        options = ["--run-timeout", "120", "--jobs", len(names) + 1, "--compile-timeout", "1500",
                   "--launcher", launcher(folder / "compile", arguments.jobs),
                   "--run-launcher", launcher(folder / "run", 4)]
        if RIGHT not in names:
            options.append("--sanitize")
        return judge(arguments, bundle, names, options, timeout=1500)

    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(len(bundles)) as pool:
        for each in pool.map(one, bundles):
            verdicts += each
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("host", "pack", "cuda"))
    parser.add_argument("folder", nargs="?", help="of the GPU's bundles, for pack and cuda")
    parser.add_argument("--names", nargs="*", default=[], help="bases; all of them unless given")
    parser.add_argument("--tools", type=Path,
                        help="folder of fact-compile and fact-tune (default: build/bin)",
                        default=Path(os.environ.get("FACT_BIN_DIR", ROOT / "build" / "bin")))
    parser.add_argument("--work", help="folder for the host's bundles (default: build/mutants)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, help="of operands; a fresh one unless given")
    parser.add_argument("--seeds", type=int, default=1, help="judges with so many seeds (default: 1)")
    parser.add_argument("--junit", help="file for the verdicts")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds expects at least 1")
    if arguments.mode != "host" and not arguments.folder:
        parser.error(f"{arguments.mode} needs the folder of bundles")
    first = arguments.seed if arguments.seed is not None else secrets.randbelow(1 << 31)
    arguments.drawn = range(first, first + arguments.seeds)
    if arguments.mode != "pack":
        print(f"mutants: --seed {first} --seeds {arguments.seeds} repeats these operands", flush=True)
    begin = time.monotonic()
    try:
        if arguments.mode == "pack":
            return 0 if pack(arguments, Path(arguments.folder)) else 1
        verdicts = run_host(arguments) if arguments.mode == "host" else run_cuda(arguments)
    except MutantError as problem:
        print(f"mutants: error: {problem}", file=sys.stderr)
        return 1
    return report(verdicts, time.monotonic() - begin, arguments.junit)


if __name__ == "__main__":
    sys.exit(main())
