"""Kernels of families.mlir against their references, by fact-tune.

`make pack-gpu` puts the bundle into FACT_GPU_DIR/families. TUNE_FLAGS has more options.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(os.environ.get("FACT_GPU_DIR", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from fact import toolchain  # noqa: E402

BUNDLE = ROOT / "families"

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU"),
    pytest.mark.skipif(toolchain.find_tool("fact-tune") is None, reason="fact-tune is not here"),
    pytest.mark.skipif(not (BUNDLE / "bundle.json").exists(), reason="no bundle: make pack-gpu"),
]


def test_kernels_agree_with_references():
    command = [str(toolchain.require_tool("fact-tune")), str(BUNDLE), "--no-link",
               "--candidates", "2", *shlex.split(os.environ.get("TUNE_FLAGS", ""))]
    process = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.returncode == 0, process.stdout[-4000:]
    assert "wrong" not in process.stdout, process.stdout[-4000:]
