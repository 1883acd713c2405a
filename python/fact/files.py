# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
import secrets
from collections.abc import Iterator
from typing import IO, Any

from .errors import FactError


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Opens a file beside `path` that takes its place once all of it is written.

    A failure leaves the old file. What a killed process left is removed. Devices and pipes are
    opened directly.
    """
    path = os.fspath(path)
    aside = not os.path.exists(path) or os.path.isfile(path)
    target = None
    try:
        if aside:
            _remove_leftovers(path)
            target, file = _create_beside(path, mode)
        else:
            file = open(path, mode)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            # While it is locked: a complete file is no leftover either.
            if target:
                os.replace(target, path)
    except BaseException as error:
        if target:
            with contextlib.suppress(OSError):
                os.unlink(target)
        if isinstance(error, OSError):
            raise FactError(f"cannot write {path}: {error.strerror or error}") from None
        raise


def _create_beside(path: str, mode: str) -> tuple[str, IO[Any]]:
    """A new file, locked for as long as it is open: one without a lock has no writer."""
    while True:
        # An unpredictable name, under which nobody can plant a link.
        target = f"{path}.partial-{secrets.token_hex(6)}"
        file = open(target, mode.replace("w", "x"))
        # Some file systems have no locks; leftovers stay there.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have taken it for a leftover before it was locked.
        if os.fstat(file.fileno()).st_nlink:
            return target, file
        file.close()


def _remove_leftovers(path: str) -> None:
    for left in glob.glob(glob.escape(path) + ".partial-*"):
        if not re.fullmatch(r"\.partial-[0-9a-f]{12}", left[len(path):]):
            continue
        with contextlib.suppress(OSError):
            file = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(left)
            finally:
                os.close(file)
