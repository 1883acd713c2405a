# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets

from .errors import FactError


@contextlib.contextmanager
def writing(path: str | os.PathLike, mode: str = "w"):
    """Opens a file beside `path` that takes its place once all of it is written.

    A failure leaves the old file. Devices and pipes are opened directly.
    """
    path = os.fspath(path)
    aside = not os.path.exists(path) or os.path.isfile(path)
    # An unpredictable name, under which nobody can plant a link.
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
