# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bar for long work, in terminals and notebooks: what is being done, the time left, the best
so far. `fact-tune` says how far it is; the `fact` command leaves the bar to it."""

from __future__ import annotations

import contextlib
import html
import os
import sys
import threading
from collections.abc import Callable, Iterator

# Shows a share between 0 and 1, or None where it is unknown, and a text; no text ends it.
Display = Callable[[float | None, str], None]

_WIDTH = 20


@contextlib.contextmanager
def showing(what: str) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Shows how far the tools are that run inside.

    what: the first text, before they say anything.
    Yields what they need: variables of the environment, and descriptors to pass on.
    """
    display = _find_display()
    if display is None:
        yield {}, ()
        return
    reader, writer = os.pipe()
    display(None, what)
    thread = threading.Thread(target=_follow, args=(reader, display), daemon=True)
    thread.start()
    try:
        yield {"FACT_PROGRESS_FD": str(writer)}, (writer,)
    finally:
        # The tools have ended, so that this is the last writer.
        os.close(writer)
        thread.join()
        display(None, "")


def _follow(descriptor: int, display: Display) -> None:
    """Shows lines of "SHARE TEXT" until there are no more."""
    with open(descriptor, encoding="utf-8", errors="replace") as lines:
        last = ""
        for line in lines:
            if line == last:
                continue
            last = line
            share, _, text = line.strip().partition(" ")
            with contextlib.suppress(ValueError):
                display(min(max(float(share), 0.0), 1.0), text)


def _find_display() -> Display | None:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return _Notebook()
    # Loggers and windows in place of stderr lack one or the other.
    try:
        os.get_terminal_size(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    return _show_in_terminal


def _show_in_terminal(share: float | None, text: str) -> None:
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    filled = round((share or 0) * _WIDTH)
    bar = "" if share is None else f"[{'#' * filled}{'-' * (_WIDTH - filled)}] "
    print(f"\r{(bar + text)[:columns - 1]}\033[K", end="", file=sys.stderr, flush=True)


class _Notebook:
    """A line of output that is updated, and removed at the end."""

    def __init__(self) -> None:
        from IPython.display import display

        self.handle = display(self._bundle(None, ""), raw=True, display_id=True)

    def __call__(self, share: float | None, text: str) -> None:
        self.handle.update(self._bundle(share, text), raw=True)

    @staticmethod
    def _bundle(share: float | None, text: str) -> dict[str, str]:
        value = "" if share is None else f' value="{share:.3f}"'
        bar = f"<progress{value}></progress> {html.escape(text)}" if text else ""
        return {"text/plain": text, "text/html": bar}
