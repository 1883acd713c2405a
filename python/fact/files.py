# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import secrets

from .errors import FactError


@contextlib.contextmanager
def writing(path: str | os.PathLike, mode: str = "w"):
    """Opens a file beside `path` that takes its place once all of it is written.

    A failure leaves what was there before. Devices and pipes have no beside.
    """
    path = os.fspath(path)
    aside = not os.path.exists(path) or os.path.isfile(path)
    # A new file of a name that nobody can prepare a link under.
    target = f"{path}.partial-{secrets.token_hex(6)}" if aside else path
    created = False
    try:
        with open(target, mode.replace("w", "x") if aside else mode) as file:
            created = aside
            yield file
        if aside:
            os.replace(target, path)
    except BaseException as error:
        if created:
            with contextlib.suppress(OSError):
                os.unlink(target)
        if isinstance(error, OSError):
            raise FactError(f"cannot write {path}: {error.strerror or error}") from None
        raise
