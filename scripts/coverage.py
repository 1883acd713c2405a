# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how much of the tuner, the registry and the runtime their unit tests run.

    coverage.py [--html FOLDER] [SUITE ...]      default: Runtime Support Registry Tuning

Builds the suites of test/unit with counters (the CMake preset `coverage`) and runs them. The
last line has the lines of lib/ that are covered. What a tuned library or a worker runs in a
process of its own is compiled without counters, and does not count.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
PROFILES = BUILD / "profiles"
SUITES = ["Runtime", "Support", "Registry", "Tuning"]


def run(*command: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], cwd=ROOT, **options)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coverage", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--html", type=Path, metavar="FOLDER", help="also write a page per file there")
    parser.add_argument("suites", nargs="*", metavar="SUITE", default=SUITES)
    options = parser.parse_args(arguments)
    for old in PROFILES.glob("*.profraw"):
        old.unlink()
    # One file per program, to which its processes add.
    profile = f"LLVM_PROFILE_FILE={PROFILES / '%m.profraw'}"
    tested = run("env", profile, ROOT / "scripts" / "check-preset.sh", "coverage",
                 BUILD / "coverage.xml", *options.suites)
    profiles = sorted(PROFILES.glob("*.profraw"))
    if not profiles:
        print("coverage: no test ran; see above", file=sys.stderr)
        return 1
    data = BUILD / "coverage.profdata"
    run("llvm-profdata-22", "merge", "--sparse", "-o", data, *profiles, check=True)
    programs = [BUILD / "bin" / f"{suite}Tests" for suite in options.suites]
    if (BUILD / "bin" / "fact-tune").exists():
        programs.append(BUILD / "bin" / "fact-tune")
    objects = [f"--object={program}" for program in programs[1:]]
    common = [programs[0], *objects, f"--instr-profile={data}", "--sources", ROOT / "lib"]
    if options.html:
        run("llvm-cov-22", "show", "--format=html", f"--output-dir={options.html.absolute()}",
            *common, check=True)
    report = run("llvm-cov-22", "report", "--show-branch-summary=false",
                 "--show-region-summary=false", *common, check=True, text=True,
                 stdout=subprocess.PIPE).stdout
    print(report)
    total = next(line for line in report.splitlines() if line.startswith("TOTAL"))
    print(f"{total.split()[-1]} of the lines that these programs have of lib/ are covered")
    return tested.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
