# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how much of the tuner, the registry and the runtime their unit tests run.

    coverage.py [--html FOLDER] [--floor LIBRARY=PERCENT ...] [--junit FILE] [SUITE ...]

Builds the suites of test/unit with counters (the CMake preset `coverage`) and runs them; by
default Runtime, Support, Registry and Tuning. The last lines have the share of the lines of each
library, a folder of lib/, and of all of them. A library below its floor fails, and `make
check-full` names the floors (scripts/check.py). What a tuned library or a worker runs in a
process of its own is compiled without counters, and does not count.
"""

import argparse
import json
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
PROFILES = BUILD / "profiles"
SUITES = ["Runtime", "Support", "Registry", "Tuning"]


def run(*command: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], cwd=ROOT, **options)


def parse_floor(text: str) -> tuple[str, float]:
    library, _, percent = text.partition("=")
    return library, float(percent)


def count_lines(files: list[dict]) -> dict[str, tuple[int, int]]:
    """Lines that run, and all that there are, of each library."""
    counts: dict[str, tuple[int, int]] = {}
    for file in files:
        library = Path(file["filename"]).relative_to(ROOT / "lib").parts[0]
        covered, all_lines = counts.get(library, (0, 0))
        lines = file["summary"]["lines"]
        counts[library] = covered + lines["covered"], all_lines + lines["count"]
    return dict(sorted(counts.items()))


def write_junit(path: Path, findings: dict[str, str]) -> None:
    """One test case per library, and one of the tests that ran."""
    suite = xml.Element("testsuite", name="coverage")
    for name, finding in findings.items():
        case = xml.SubElement(suite, "testcase", classname="coverage", name=name)
        if finding:
            xml.SubElement(case, "failure", message=finding)
    xml.ElementTree(suite).write(path, encoding="unicode")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coverage", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--html", type=Path, metavar="FOLDER", help="also write a page per file there")
    parser.add_argument("--floor", type=parse_floor, action="append", default=[],
                        metavar="LIBRARY=PERCENT", help="fail if less of a library is covered")
    parser.add_argument("--junit", type=Path, metavar="FILE",
                        help="write the results here, one test case per library")
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
    exported = run("llvm-cov-22", "export", "--summary-only", *common, check=True, text=True,
                   stdout=subprocess.PIPE).stdout
    counts = count_lines(json.loads(exported)["data"][0]["files"])
    shares = {library: 100 * covered / lines for library, (covered, lines) in counts.items() if lines}
    findings = {"tests": "a test fails" if tested.returncode else ""}
    for library, floor in options.floor:
        share = shares.get(library, 0)
        findings[library] = "" if share >= floor else (
            f"{share:.2f}% of the lines of lib/{library} are covered, but at least {floor:g}% must be")
    for library, (covered, lines) in counts.items():
        print(f"lib/{library}: {covered} of {lines} lines, {shares.get(library, 100):.2f}%")
    for finding in filter(None, findings.values()):
        print(f"coverage: {finding}", file=sys.stderr)
    if options.junit:
        write_junit(options.junit, findings)
    covered, lines = (sum(column) for column in zip(*counts.values()))
    print(f"{100 * covered / lines:.2f}% of the lines that these programs have of lib/ are covered")
    return 1 if any(findings.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
