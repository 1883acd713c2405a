#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Right kernels with many seeds: the verifier may not refuse them by chance.

    seeds.py MODULE.mlir...     compiles each for the host, and lets fact-tune verify its
                                kernels, its program and its library with fresh seeds

Kernels are the compiler's own, so a refusal is a mistake of one of them or of the verifier.
--seed repeats the seeds of a run, which are printed.
"""

import argparse
import concurrent.futures
import os
import secrets
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import ROOT, MutantError, emit, run  # noqa: E402


def refusal(tools: Path, bundle: Path, seed: int) -> str:
    """What fact-tune finds wrong with operands of this seed, or "". The best predicted
    schedule of each kernel is verified by itself and as it is linked; nothing is timed."""
    done = run([tools / "fact-tune", bundle, "--untuned", "--retune", "--seed", seed,
                "-o", bundle.with_suffix(".so")], timeout=1800)
    (bundle / "fact-tune.log").write_text(done.stdout)
    return "" if done.returncode == 0 else done.stdout.strip()


def refusals(tools: Path, source: Path, work: Path, seeds: range) -> list[tuple[int, str]]:
    """The seeds with which a module's kernels are refused, and why."""
    bundle = work / source.stem
    emit(tools, source, "host", bundle)
    found = [(seed, refusal(tools, bundle, seed)) for seed in seeds]
    return [(seed, text) for seed, text in found if text]


def draw(first: int | None, count: int) -> range:
    first = secrets.randbelow(1 << 31) if first is None else first
    return range(first, first + count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", type=Path, metavar="MODULE.mlir")
    parser.add_argument("--seeds", type=int, default=20, help="for each module (default: 20)")
    parser.add_argument("--seed", type=int, help="the first one; fresh unless given")
    parser.add_argument("--tools", type=Path,
                        help="folder of fact-compile and fact-tune (default: build/bin)",
                        default=Path(os.environ.get("FACT_BIN_DIR", ROOT / "build" / "bin")))
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "seeds", help="folder for bundles")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds expects at least 1")
    seeds = draw(arguments.seed, arguments.seeds)
    print(f"seeds: --seed {seeds.start} --seeds {len(seeds)} repeats these operands", flush=True)
    refused = 0

    def one(source: Path) -> list[tuple[int, str]]:
        return refusals(arguments.tools, source, arguments.work, seeds)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for source, found in zip(arguments.modules, pool.map(one, arguments.modules)):
            refused += len(found)
            print(f"{len(seeds) - len(found):3} of {len(seeds)} accepted  {source.stem}", flush=True)
            for seed, text in found:
                print(f"REFUSED {source.stem} with seed {seed}:\n{text}", flush=True)
    print(f"seeds: {refused} of {len(seeds) * len(arguments.modules)} runs refused")
    return 1 if refused else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as problem:
        print(f"seeds: error: {problem}", file=sys.stderr)
        sys.exit(1)
