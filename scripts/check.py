# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the test suites and adds up their results.

    check.py [--full] [SUITE ...]

Each suite uses all processors and writes a JUnit file, which is read rather than the text
it prints. A suite that dies before it writes one, or finds no test, counts as one failure.
`--full` adds the long tests: pytest's mark `full`, ctest's label `full`, lit's feature
`full`, clang-tidy, lit and unit tests under sanitizers, and coverage.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from fact import toolchain  # noqa: E402

BUILD = ROOT / "build"
REPORTS = BUILD / "reports"
PROCESSORS = len(os.sched_getaffinity(0))
# Seed of the operands that kernels are verified on. `--full` draws a fresh one.
SEED = "1"
# Percent of the lines of a library that its unit tests run at least: a little less than they do.
FLOORS = {"Registry": 91, "Runtime": 87, "Support": 80, "Tuning": 91}


def suites(full: bool) -> dict[str, tuple[list[str], dict[str, str]]]:
    """A command and what it adds to the environment, by name."""
    preset = str(ROOT / "scripts" / "check-preset.sh")
    small = ["Support", "Registry", "Runtime", "Tuning"]
    unit = {path.parent.name for path in (ROOT / "test" / "unit").glob("*/CMakeLists.txt")}
    sanitized = {
        name: ([preset, name, str(REPORTS / f"{name}.xml"), *parts], {})
        for name, parts in {
            "asan-ubsan": small,
            "tsan": small,
            "asan-ubsan-compiler": ["lit", *sorted(unit - {*small})],
        }.items()
    }
    coverage = [sys.executable, str(ROOT / "scripts" / "coverage.py"),
                "--junit", str(REPORTS / "coverage.xml"),
                *(f"--floor={library}={floor}" for library, floor in FLOORS.items())]
    lit_options = f"-v --xunit-xml-output={REPORTS / 'lit.xml'}"
    return {
        "style": (
            [sys.executable, str(ROOT / "scripts" / "style.py"), "--junit", str(REPORTS / "style.xml"),
             *(["--full"] if full else [])],
            {},
        ),
        "lit": (
            ["cmake", "--build", str(BUILD), "--target", "check-fact-lit"],
            {"LIT_OPTS": lit_options + (" --param full=1" if full else "")},
        ),
        "unit": (
            ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-j", str(PROCESSORS),
             *([] if full else ["--label-exclude", "full"]),
             "--output-junit", str(REPORTS / "unit.xml")],
            {},
        ),
        "mutants": (
            [sys.executable, str(ROOT / "test" / "mutants" / "run.py"), "host",
             "--junit", str(REPORTS / "mutants.xml"), *([] if full else ["--seed", SEED])],
            {},
        ),
        "python": (
            [sys.executable, "-m", "pytest", "-q", "--color=no", str(ROOT / "test" / "python"),
             "-n", str(PROCESSORS), "--dist=loadfile", "--durations=15",
             f"--junitxml={REPORTS / 'python.xml'}", *(["--full"] if full else [])],
            # Everything is built, so no test that needs the compiler may be skipped.
            {"FACT_REQUIRE_COMPILER": "1"},
        ),
        **({**sanitized, "coverage": (coverage, {})} if full else {}),
    }


def count(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a JUnit file."""
    passed = failed = skipped = 0
    for case in xml.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def run(name: str, command: list[str], extra: dict[str, str]) -> tuple[int, int, int]:
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    print(f"check: {name}", flush=True)
    start = time.monotonic()
    status = subprocess.run(command, env={**toolchain.environment(), **extra}, cwd=ROOT).returncode
    try:
        passed, failed, skipped = count(report)
    except (OSError, xml.ParseError):
        passed, failed, skipped = 0, 0, 0
    reason = ""
    if passed + failed == 0:
        failed, reason = 1, f" (no test ran, status {status})"
    elif status and not failed:
        failed, reason = 1, f" (status {status} without a failed test)"
    seconds = time.monotonic() - start
    print(f"check: {name}: {passed} passed, {failed} failed, {skipped} skipped in "
          f"{seconds:.0f} s{reason}", flush=True)
    return passed, failed, skipped


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="check")
    parser.add_argument("--full", action="store_true", help="the long tests too")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="default: all of them")
    options = parser.parse_args(arguments)
    known = suites(options.full)
    unknown = [name for name in options.suites if name not in known]
    if unknown:
        print(f"check: unknown suite {', '.join(unknown)}; known are {', '.join(known)}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    REPORTS.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    if not options.full:
        os.environ.setdefault("FACT_SEED", SEED)
    results = [run(name, *known[name]) for name in options.suites or known]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
