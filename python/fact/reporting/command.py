# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports from the command line: `fact report`, and the page of each `fact compile`."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from ..errors import FactError
from ..files import writing
from .collect import build_report, find_report, page_of, read
from .data import Report


def add_parser(commands) -> None:
    parser = commands.add_parser("report", help="show what a compilation did, as a page of HTML")
    parser.add_argument("path", metavar="LIB|BUNDLE|FOLDER|REPORT",
                        help="a library, a bundle, a work folder, or a report's page or JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there (default: the page "
                        "beside PATH; JSON and text are printed)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the same data as JSON")
    form.add_argument("--text", action="store_true", help="the same data as text")
    parser.set_defaults(function=run)


def run(options) -> int:
    report = find_report(options.path)
    if options.text:
        from . import text

        with _printing_to(options.output):
            text.show(report)
        return 0
    if options.json:
        written = json.dumps(report.to_json(), indent=2) + "\n"
        if not options.output:
            print(written, end="")
            return 0
    else:
        from .page import render

        written = render(report)
    output = Path(options.output) if options.output else _page_for(Path(options.path))
    _write(output, written)
    print(f"report: {output}")
    return 0


def _page_for(path: Path) -> Path:
    return path if path.name.endswith(".report.html") else page_of(path.resolve())


@contextlib.contextmanager
def _printing_to(output: str | None) -> Iterator[None]:
    if not output:
        yield
        return
    with writing(output) as file, contextlib.redirect_stdout(file):
        yield


def write_page(report: Report, path: Path) -> None:
    from .page import render

    _write(path, render(report))


def _write(path: Path, text: str) -> None:
    with writing(path) as file:
        file.write(text)


class CompilationReport:
    """Writes the page of a compilation when it ends, in success or failure.

        with CompilationReport(...) as report:
            report.verdict = ...
    """

    def __init__(self, name: str, page: Path, failed_page: Path, summary: Path,
                 transcript: str = ""):
        """page, failed_page: where the report is written after a success or a failure."""
        self.name, self.page, self.failed_page = name, page, failed_page
        self.summary, self.transcript = summary, transcript
        self.verdict = ""
        self._before = self._version()

    def _version(self) -> tuple[int, int] | None:
        try:
            found = self.summary.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino

    def __enter__(self) -> CompilationReport:
        return self

    def __exit__(self, kind, error, trace) -> None:
        if error is not None and not isinstance(error, FactError):
            return
        # Whatever is wrong with the page, the library is not.
        try:
            page = self.failed_page if error else self.page
            page.parent.mkdir(parents=True, exist_ok=True)
            write_page(self.collect([str(error)] if error else []), page)
            print(f"report: {page}", file=sys.stderr if error else sys.stdout)
        except FactError as problem:
            print(f"fact: warning: no report: {problem}", file=sys.stderr)
        except Exception:
            traceback.print_exc()
            print("fact: warning: the report was not written, because of the mistake above",
                  file=sys.stderr)

    def collect(self, errors: list[str]) -> Report:
        # A summary that an earlier compilation left says nothing about this one.
        summary = read(self.summary) if self._version() != self._before else {}
        bundle = Path(summary["bundle"]) if summary.get("bundle") else None
        return build_report(summary, bundle, name=self.name, errors=errors, verdict=self.verdict,
                            command="fact " + shlex.join(sys.argv[1:]), transcript=self.transcript)
