"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import os

from .errors import FactError


@contextlib.contextmanager
def writing(path: str | os.PathLike, mode: str = "w"):
    """Opens a file beside `path` that takes its place once all of it is written.

    A failure leaves what was there before. Devices and pipes have no beside.
    """
    path = os.fspath(path)
    aside = not os.path.exists(path) or os.path.isfile(path)
    target = f"{path}.partial" if aside else path
    try:
        with open(target, mode) as file:
            yield file
        if aside:
            os.replace(target, path)
    except BaseException as error:
        if aside:
            with contextlib.suppress(OSError):
                os.unlink(target)
        if isinstance(error, OSError):
            raise FactError(f"cannot write {path}: {error.strerror or error}") from None
        raise
