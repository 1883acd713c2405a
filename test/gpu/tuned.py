# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fact-tune and reads its report, so that no verdict is missed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

# A candidate whose registers spill is not measured while another one is left.
HARMLESS = ("ok", "spills")


def failures(report: dict) -> list[str]:
    """Attempts that should not have failed: wrong, crashed, hung, not compiled, too fast."""
    found = []
    for kernel in report["kernels"]:
        if not kernel["attempts"]:
            found.append(f"{kernel['name']}: nothing was tried")
        for attempt in kernel["attempts"]:
            if attempt["status"] not in HARMLESS:
                found.append(f"{kernel['name']} {attempt['schedule']}: {attempt['status']}: "
                             f"{attempt.get('detail', '')}")
    return found


def tune(tool, bundle: Path, *options: str, timeout: float = 1500) -> dict:
    """The report of a run; raises AssertionError with what fact-tune printed when it fails or
    does not end."""
    (bundle / "tuning.json").unlink(missing_ok=True)
    command = [str(tool), str(bundle), *options, *shlex.split(os.environ.get("TUNE_FLAGS", ""))]
    # A session of its own: what a timeout leaves behind is ended with it.
    process = subprocess.Popen(command, text=True, errors="replace", stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # fact-tune ends its own children on SIGTERM.
        process.terminate()
        output, _ = process.communicate(timeout=60)
        raise AssertionError(f"{' '.join(command)} ran for {timeout} s:\n{output[-4000:]}") from None
    assert process.returncode == 0, f"{' '.join(command)}: {process.returncode}\n{output[-4000:]}"
    return json.loads((bundle / "tuning.json").read_text())
