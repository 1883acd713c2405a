# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A bar for long work, in terminals and notebooks: what is being done, and the time left or, where
that is unknown, the time so far. Tools say how far they are; with `verbose`, they show it themselves."""

from __future__ import annotations

import contextlib
import html
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Shows a share between 0 and 1, or None where it is unknown, and a text; no text ends it.
Display = Callable[[float | None, str], None]

_WIDTH = 20
# Seconds between counts that are shown.
_COUNT_INTERVAL = 0.5

# Guards everything below: bars of several threads, and what else is printed.
_lock = threading.RLock()
# Work within work: the last bar is shown.
_bars: list[Bar] = []


class Bar:
    """What is being done, until the block of `showing` ends."""

    def __init__(self, display: Display | None):
        self._display = display
        self._share: float | None = None
        self._text = ""
        self._since = self._counting_since = time.monotonic()
        self._counted = 0.0
        self._is_over = False
        self._changed = threading.Condition(_lock)

    @property
    def is_shown(self) -> bool:
        """Whether there is somebody to see it: a terminal or a notebook."""
        return self._display is not None

    def say(self, text: str, share: float | None = None) -> None:
        """Shows a text, and the share that is done or the time that it takes."""
        if not self.is_shown:
            return
        with self._changed:
            had_share, self._share = self._share is not None, share
            is_new = text != self._text
            if is_new:
                self._text, self._since = text, time.monotonic()
            self._draw()
            if had_share != (share is not None) or (is_new and share is None):
                self._changed.notify_all()

    def count(self, done: int, whole: int, text: str) -> None:
        """Shows a text, and the time left if the rest takes as long as what is done since `done`
        was 0."""
        now = time.monotonic()
        if done == 0:
            self._counting_since = now
        # What is counted may be measured: terminals are busy after a change.
        if now - self._counted < _COUNT_INTERVAL:
            return
        self._counted = now
        if done:
            left = (now - self._counting_since) / done * (whole - done)
            text += f", {duration(math.ceil(left))} left"
        self.say(text, done / whole)

    def _draw(self) -> None:
        if self._display is None or not _bars or _bars[-1] is not self:
            return
        seconds = int(time.monotonic() - self._since)
        so_far = f", {duration(seconds)}" if self._share is None and seconds else ""
        self._display(self._share, self._text + so_far)

    def _tick(self) -> None:
        """Shows the time so far. Sleeps while a share is known: that may be a measurement, which
        a thread that wakes up would disturb."""
        with self._changed:
            while not self._is_over:
                # Until the next full second.
                left = 1.001 - (time.monotonic() - self._since) % 1
                if not self._changed.wait(None if self._share is not None else left):
                    self._draw()

    def _end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


def duration(seconds: int) -> str:
    """2:10, 1:02:10."""
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


@contextlib.contextmanager
def showing(what: str) -> Iterator[Bar]:
    """Shows what is being done inside, and for how long; the bar that it yields can say more."""
    with _lock:
        display = _bars[-1]._display if _bars else _find_display()
        bar = Bar(display)
        if display is not None:
            _bars.append(bar)
    if display is None:
        yield bar
        return
    bar.say(what)
    ticker = threading.Thread(target=bar._tick, daemon=True)
    ticker.start()
    try:
        yield bar
    finally:
        bar._end()
        ticker.join()
        with _lock:
            _bars.remove(bar)
            if _bars:
                _bars[-1]._draw()
            else:
                display(None, "")


@contextlib.contextmanager
def following(what: str) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Shows how far the tools are that run inside.

    what: the first text, before they say anything.
    Yields what they need: variables of the environment, and descriptors to pass on.
    """
    with showing(what) as bar:
        if not bar.is_shown:
            yield {}, ()
            return
        reader, writer = os.pipe()
        thread = threading.Thread(target=_follow, args=(reader, bar), daemon=True)
        thread.start()
        try:
            yield {"FACT_PROGRESS_FD": str(writer)}, (writer,)
        finally:
            # The tools have ended, so that this is the last writer.
            os.close(writer)
            thread.join()


def _follow(descriptor: int, bar: Bar) -> None:
    """Shows lines of "SHARE TEXT" until there are no more. A share of "-" is unknown."""
    with open(descriptor, encoding="utf-8", errors="replace") as lines:
        last = ""
        for line in lines:
            if line == last:
                continue
            last = line
            share, _, text = line.strip().partition(" ")
            with contextlib.suppress(ValueError):
                known = None if share == "-" else float(share)
                if text and (known is None or not math.isnan(known)):
                    bar.say(text, known if known is None else min(max(known, 0.0), 1.0))


def _find_display() -> Display | None:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return _Notebook()
    # Loggers and windows in place of stderr lack one or the other.
    try:
        os.get_terminal_size(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    return _Terminal()


class _Terminal:
    """The last line of a terminal. What the program prints meanwhile stands above it."""

    def __init__(self) -> None:
        self.stream = sys.stderr
        self.is_drawn = False
        # Nothing is drawn behind the beginning of a line, such as a question.
        self.is_at_left = True
        self.above: dict[str, _Above] = {}
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None and stream.isatty():
                self.above[name] = _Above(stream, self)
                setattr(sys, name, self.above[name])

    def __call__(self, share: float | None, text: str) -> None:
        if not text:
            self.clear()
            for name, above in self.above.items():
                if getattr(sys, name) is above:
                    setattr(sys, name, above.stream)
        elif self.is_at_left:
            filled = round((share or 0) * _WIDTH)
            bar = "" if share is None else f"[{'#' * filled}{'-' * (_WIDTH - filled)}] "
            # What programs print by themselves begins at the left.
            self.write(f"\r{(bar + text)[:self.columns() - 1]}\033[K\r")
            self.is_drawn = True

    def columns(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or 80
        except OSError:
            return 80

    def clear(self) -> None:
        if self.is_drawn:
            self.is_drawn = False
            self.write("\r\033[K")

    def write(self, text: str) -> None:
        # A terminal may be closed before the work ends.
        with contextlib.suppress(OSError):
            self.stream.write(text)
            self.stream.flush()


class _Above:
    """A stream of the terminal that removes the bar before it writes."""

    def __init__(self, stream: Any, terminal: _Terminal):
        self.stream, self.terminal = stream, terminal

    def write(self, text: str) -> int:
        with _lock:
            self.terminal.clear()
            if text:
                self.terminal.is_at_left = text.endswith("\n")
            return self.stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


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
