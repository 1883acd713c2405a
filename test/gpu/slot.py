#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command when one of so many slots is free.

    slot.py FOLDER COUNT COMMAND ...

As a launcher of fact-tune it keeps several of them from starting more compilers together
than the machine has processors and memory for. The command inherits the slot's lock, so
the slot is free again when it ends, however it ends.
"""

import fcntl
import os
import sys
import time


def launcher(folder, count: int) -> str:
    """Words for --launcher and --run-launcher."""
    return f"{sys.executable} {os.path.abspath(__file__)} {os.path.abspath(folder)} {count}"


def main() -> None:
    folder, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    while True:
        for i in range(count):
            slot = os.open(os.path.join(folder, f"slot{i}"), os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(slot)
                continue
            os.set_inheritable(slot, True)
            os.execvp(command[0], command)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
