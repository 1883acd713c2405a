# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host kernels of every family for a matrix of processors, by test/matrix/run.py."""

import os
import subprocess
import sys

import pytest

from fact.toolchain import find_tool

pytestmark = pytest.mark.skipif(find_tool("fact-tune") is None, reason="fact-tune is not built")


@pytest.mark.full
@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "cooperlake",
                                 "neoverse-n1", "neoverse-v1"])
def test_kernels_agree_with_references(cpu, root, tmp_path):
    """Executed natively or in qemu; what neither can run is linked, and counted as skipped."""
    run = subprocess.run(
        [sys.executable, root / "test" / "matrix" / "run.py", f"--work={tmp_path}", f"--cpu={cpu}",
         f"--bin={find_tool('fact-tune').parent}"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "FACT_CACHE_DIR": str(root / "build" / "matrix-cache")})
    assert run.returncode == 0, run.stdout
    outcome = run.stdout.splitlines()[-1].split(maxsplit=4)[4]
    if outcome.startswith("linked only"):
        pytest.skip(f"{cpu}: {outcome}")
    assert outcome in ("native", "emulated"), run.stdout
