# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the .mlir files beside this one against their references, by fact-tune, and under
compute-sanitizer.

`make pack-gpu` puts the bundles into FACT_GPU_DIR. TUNE_FLAGS has more options.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(os.environ.get("FACT_GPU_DIR", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python"), str(Path(__file__).parent)]

from fact import toolchain  # noqa: E402
from tuned import failures, tune  # noqa: E402

BUNDLES = [ROOT / name for name in ("families", "float32", "strict_attention", "convolutions",
                                    "columns", "masks", "windows", "sm80", "sm80_attention", "generic",
                                    "rows", "sorts", "tiles", "reads", "siblings",
                                    "generic-families")]

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU"),
    pytest.mark.skipif(toolchain.find_tool("fact-tune") is None, reason="fact-tune is not here"),
    pytest.mark.skipif(not all((bundle / "bundle.json").exists() for bundle in BUNDLES),
                       reason="no bundle: make pack-gpu"),
]


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_kernels_agree_with_references(bundle):
    report = tune(toolchain.require_tool("fact-tune"), bundle, "--no-link", "--candidates", "2")
    assert not failures(report), "\n".join(failures(report))


@pytest.mark.parametrize("bundle", BUNDLES[:-1], ids=lambda bundle: bundle.name)
def test_kernels_pass_compute_sanitizer(bundle):
    """Each winner once under each of the four tools; objects are those of the test above."""
    assert shutil.which("compute-sanitizer") or os.path.exists(
        "/usr/local/cuda/bin/compute-sanitizer"), "compute-sanitizer is not installed"
    report = tune(toolchain.require_tool("fact-tune"), bundle, "--no-link", "--candidates", "2",
                  "--sanitize", "--run-timeout", "600", timeout=2400)
    assert not failures(report), "\n".join(failures(report))
    for kernel in report["kernels"]:
        assert kernel["sanitized"] == ["memcheck", "racecheck", "initcheck", "synccheck"], kernel["name"]
